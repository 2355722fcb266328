"""What follows from the quantiles of a distribution alone: mean, variance and CRPS, as integrals over the levels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Numbers = NDArray[np.float64]

#: Levels and weights of integrals over the quantiles: Gauss-Legendre on panels that are narrower towards 0 and 1.
_EDGES = np.concatenate([[0.0], 2.0 ** np.arange(-24, 0), 1 - 2.0 ** np.arange(-2, -25, -1), [1.0]])
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(8)
_HALVES = 0.5 * np.diff(_EDGES)
LEVELS = (_EDGES[:-1, np.newaxis] + _HALVES[:, np.newaxis] * (1 + _NODES)).ravel()
LEVEL_WEIGHTS = (_HALVES[:, np.newaxis] * _WEIGHTS).ravel()


class ByQuantiles:
    """Base of distributions, one for each row, that have ``shape``, ``ppf`` and ``isf`` of their own."""

    #: As for :class:`negmm.Distribution`, whose rows may be named.
    _index: Any = None

    @property
    def shape(self) -> tuple[int, ...]:
        raise NotImplementedError

    def ppf(self, q: ArrayLike) -> Any:
        raise NotImplementedError

    def isf(self, q: ArrayLike) -> Any:
        raise NotImplementedError

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("the distribution of one row has no length")
        return self.shape[0]

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """``np.concatenate``, as :class:`negmm.Distribution` has it."""
        from negmm.composite import concatenated

        if function is np.concatenate and len(args) == 1 and kwargs.get("axis", 0) == 0:
            return concatenated(list(args[0]))
        return NotImplemented

    def median(self) -> Any:
        """Median."""
        return self.ppf(0.5)

    def interval(self, confidence: ArrayLike = 0.95) -> tuple[Any, Any]:
        """Lower and upper bound of the central interval."""
        outside = 0.5 * (1.0 - np.asarray(confidence, dtype=np.float64))
        return self.ppf(outside), self.isf(outside)

    def _quantiles(self) -> Numbers:
        """Quantiles of all :data:`LEVELS`, levels × rows."""
        return np.asarray(self.ppf(LEVELS[:, np.newaxis] if self.shape else LEVELS))

    def mean(self) -> Any:
        """Mean."""
        return np.tensordot(LEVEL_WEIGHTS, self._quantiles(), axes=1)[()]

    def var(self) -> Any:
        """Variance."""
        values = self._quantiles()
        mean = np.tensordot(LEVEL_WEIGHTS, values, axes=1)
        return np.tensordot(LEVEL_WEIGHTS, (values - mean) ** 2, axes=1)[()]

    def std(self) -> Any:
        """Standard deviation."""
        return np.sqrt(self.var())

    def crps(self, y: ArrayLike) -> Any:
        """Continuous ranked probability score: twice the integral of the quantile losses over all levels."""
        targets = of_rows(y, self.shape)
        values = self._quantiles()
        levels = LEVELS[:, np.newaxis] if self.shape else LEVELS
        losses = ((targets < values) - levels) * (values - targets)
        return 2.0 * np.tensordot(LEVEL_WEIGHTS, losses, axes=1)[()]

    def to_pandas(self, interval: Sequence[float] = (0.9,), quantiles: Sequence[float] = ()) -> Any:
        """A frame with ``mean``, ``sd`` and optionally quantiles and interval ends, named as the command line names
        them."""
        return summary_frame(self, interval, quantiles)


def summary_frame(dist: Any, interval: Sequence[float], quantiles: Sequence[float]) -> Any:
    """Mean, sd, quantiles and interval ends of each row as a frame."""
    import pandas

    columns: dict[str, Any] = {"mean": np.atleast_1d(dist.mean()), "sd": np.atleast_1d(dist.std())}
    for level in quantiles:
        columns[f"q{level:g}"] = np.atleast_1d(dist.ppf(level))
    for coverage in interval:
        lower, upper = dist.interval(coverage)
        columns[f"lower_{coverage:g}"], columns[f"upper_{coverage:g}"] = np.atleast_1d(lower), np.atleast_1d(upper)
    return pandas.DataFrame(columns, index=dist._index)


def of_rows(y: ArrayLike, shape: tuple[int, ...]) -> Numbers:
    """Targets, one for each row, which may also be a column."""
    targets = np.asarray(y, dtype=np.float64)
    return targets[:, 0] if targets.shape == (*shape, 1) else targets
