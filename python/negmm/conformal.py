"""Intervals and regions of estimators, and conformal prediction sets: calibration and coverage guarantees."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from negmm import _native
from negmm.censored import censored_bounds
from negmm.distribution import Distribution, check_probability
from negmm.messages import python_errors, warn_of_seen
from negmm.renamed import accepting_former_arguments
from negmm.table import is_pandas
from negmm.validation import check_vector

#: Rows whose distributions are in memory at once where only their intervals are wanted.
AT_ONCE = 20_000

Self = TypeVar("Self", bound="ConformalMixin")


class ConformalMixin:
    """The methods of estimators about intervals, regions and conformal prediction sets."""

    if TYPE_CHECKING:
        model_: _native.Model

        def predict_dist(self, X: Any) -> Distribution: ...
        def _rows(self, X: Any) -> _native.Table: ...
        def _threads(self) -> int: ...
        def _description(self) -> dict[str, Any]: ...

    @accepting_former_arguments(guaranteed="conformal")
    def predict_interval(
        self,
        X: Any,
        coverage: float | Sequence[float] = 0.9,
        *,
        conformal: bool = False,
        by: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> NDArray[np.float64]:
        """The central interval that contains the target with probability ``coverage``.

        Gives rows × 2 (lower, upper); for several coverages rows × 2 × coverages. With ``conformal`` it is a conformal
        prediction set: its coverage is guaranteed by the rows of :meth:`calibrate`. If these had groups or weights,
        ``by`` and ``sample_weight`` are those of ``X``.
        """
        check_probability("coverage", coverage, closed=not conformal)
        if not conformal and len(pieces := self._pieces_of(X)) > 1:
            # Of many rows the intervals are kept, not the distributions.
            return np.concatenate([self.predict_interval(piece, coverage) for piece in pieces])
        distribution = self.predict_dist(X)
        if conformal:
            levels = np.atleast_1d(np.asarray(coverage, dtype=np.float64))
            sets = [
                np.stack(
                    distribution._predictions.intervals(
                        self._outside((X, distribution), False, level, by, sample_weight), threads=self._threads()
                    ),
                    axis=-1,
                )
                for level in levels
            ]
            return sets[0] if np.ndim(coverage) == 0 else np.stack(sets, axis=-1)
        if np.ndim(coverage) == 0:
            return np.stack(distribution.interval(coverage), axis=-1)
        return np.moveaxis(np.stack(distribution.interval(np.asarray(coverage)[:, np.newaxis])), -1, 0)

    @accepting_former_arguments(guaranteed="conformal")
    def predict_region(
        self,
        X: Any,
        coverage: float = 0.9,
        *,
        conformal: bool = False,
        by: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> list[NDArray[np.float64]]:
        """The smallest set of values that contains the target with probability ``coverage``: for each row intervals ×
        2, several where its distribution has several peaks. With ``conformal`` it is a conformal prediction set, as in
        :meth:`predict_interval`."""
        distribution = self.predict_dist(X)
        if not conformal:
            return list(distribution.hdr(coverage))
        outside = self._outside((X, distribution), True, coverage, by, sample_weight)
        return distribution._predictions.regions(outside, threads=self._threads())

    def calibrate(
        self: Self,
        X: Any,
        y: ArrayLike,
        *,
        by: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        towards: Any = None,
    ) -> Self:
        """Calibrates conformal prediction sets by rows that ``fit`` has not seen (split conformal prediction).

        Parameters
        ----------
        X, y : rows that the estimator was not fitted to
            As for ``fit``.
        by : array of groups, optional
            One for each row: coverage is then guaranteed in each group, and ``predict_interval(..., conformal=True)``
            needs the groups of its rows.
        sample_weight : array of numbers, optional
            Likelihood ratios for covariate shift: how many times as likely each row is among new rows. New rows need
            them too.
        towards : rows as ``X``, optional
            Such weights are estimated instead from the inputs of these rows: coverage is then for rows with inputs such as
            theirs, off by at most half the mean absolute error of the weights.

        Returns
        -------
        The estimator itself; :meth:`guarantee` describes the coverage of its sets.
        """
        if censored_bounds(y, "interval") is not None:
            raise ValueError(
                "calibrate needs observed targets: whether an interval contains a censored one is not known"
            )
        if sample_weight is not None and towards is not None:
            raise ValueError("weights are given by sample_weight, or estimated from the rows of towards: not both")
        with python_errors(X):
            rows = self._rows(X)
            self.model_, seen = self.model_.calibrated(
                rows,
                check_vector(y),
                by=_labels(by),
                weights=_listed(sample_weight),
                towards=None if towards is None else self._rows(towards),
                threads=self._threads(),
            )
        warn_of_seen(seen)
        return self

    def _pieces_of(self, X: Any) -> list[Any]:
        """Pieces of many rows; the windows of a sequence stay together."""
        check_is_fitted(self)
        return [X] if self._description()["window"] is not None else _pieces(X)

    def guarantee(self, coverage: float = 0.9, *, region: bool = False) -> str | dict[str, str]:
        """The guaranteed coverage of conformal intervals (or regions) in words; of groups a sentence for each."""
        check_is_fitted(self)
        with python_errors():
            guarantees = self.model_.guarantees(region, float(coverage))
        return guarantees[0][1] if len(guarantees) == 1 and not guarantees[0][0] else dict(guarantees)

    def _outside(
        self,
        rows: tuple[Any, Distribution],
        region: bool,
        coverage: float,
        by: ArrayLike | None,
        sample_weight: ArrayLike | None,
    ) -> NDArray[np.float64]:
        X, distribution = rows
        with python_errors():
            weights = _listed(sample_weight)
            if weights is None and self.model_.is_shifted:
                weights = self.model_.shift_weights(self._rows(X))
            return self.model_.outside(region, float(coverage), len(distribution), by=_labels(by), weights=weights)


def _pieces(X: Any) -> list[Any]:
    """Pieces of an array or a data frame (pandas, polars, pyarrow) of many rows; anything else, such as files, as it
    is."""
    sliced = hasattr(X, "slice") and hasattr(X, "__arrow_c_stream__")
    rows = len(X) if isinstance(X, np.ndarray) and X.ndim == 2 or is_pandas(X) or sliced else 0
    if rows <= AT_ONCE:
        return [X]
    if sliced:
        return [X.slice(first, AT_ONCE) for first in range(0, rows, AT_ONCE)]
    of = X.iloc if is_pandas(X) else X
    return [of[first : first + AT_ONCE] for first in range(0, rows, AT_ONCE)]


def _labels(labels: ArrayLike | None) -> list[str] | None:
    return None if labels is None else [str(label) for label in np.asarray(labels, dtype=object).ravel()]


def _listed(numbers: ArrayLike | None) -> list[float] | None:
    return None if numbers is None else [float(number) for number in np.asarray(numbers).ravel()]
