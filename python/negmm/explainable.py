"""Explanations of estimators: contributions of their columns, how much these matter, rows worth measuring."""

from __future__ import annotations

import json
from typing import Any, TypedDict

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from negmm import _native
from negmm.answers import names_of, needs_target
from negmm.explanation import Acquisition, Dependence, Explanation, GlobalExplanation
from negmm.messages import python_errors, warn
from negmm.progress import progress
from negmm.rows import plain_cells, side_by_side
from negmm.seed import seed_of
from negmm.table import NamedColumns, table
from negmm.task import lengths_of_time
from negmm.validation import check_vector

#: Quantiles whose mean contributions are ``feature_importances_``, and permutations of the columns for each background
#: row.
LEVELS, PERMUTATIONS = (0.05, 0.25, 0.5, 0.75, 0.95), 2


class Request(TypedDict):
    """Answers, background and effort of an explanation."""

    answers: str
    background: _native.Table | None
    background_rows: int
    exact: bool
    permutations: int | None
    seed: int


class Sizes(TypedDict):
    """How much of a table is looked at."""

    rows: int
    permuted_rows: int
    repeats: int
    interaction_rows: int
    curves: int


class ExplainableMixin:
    """Explanations of a fitted estimator, for estimators that predict by one native model."""

    def explain(
        self,
        X: Any,
        of: str | list[str] = "sd",
        *,
        y: ArrayLike | None = None,
        background: Any = None,
        background_rows: int = 100,
        exact: bool = False,
        permutations: int | None = None,
        random_state: Any = 0,
    ) -> Explanation:
        """What each column contributes to an answer about each row's distribution: Shapley values, which add up exactly
        to the answer minus its mean over background rows.

        They say what the model does: where columns are correlated, what a column tells about another one is not its
        contribution (interventional values). A text column or a date is one column.

        Parameters
        ----------
        X : rows
            As for ``predict``.
        of : str or list of str
            The answers: "mean", "sd", "q0.95", "lower_0.9", "upper_0.9", "width_0.9", "region_0.9_length",
            "p_above_50", "p_below_50", "p_equal_50", "shortfall_0.05", "epistemic", "aleatoric", "entropy", "novelty",
            "crps", "nll".
        y : array of shape (rows,), optional
            The targets, for "crps" and "nll".
        background : rows, optional
            What the rows are compared with, as ``X``; by default 32 training rows that the model carries.
        background_rows : int
            Of more rows in ``background`` so many are drawn.
        exact : bool
            Take all subsets of the columns, of which there may be 16. By default this is done for up to 10 columns where
            it is at most half a million predictions.
        permutations : int, optional
            Else permutations of the columns for each background row, each walked in both directions.
        random_state : int, RandomState, Generator or None
            Seed of the permutations and of the drawn background.

        Examples
        --------
        >>> import numpy as np
        >>> from negmm import NGBoostRegressor
        >>> rng = np.random.default_rng(0)
        >>> X = rng.uniform(size=(400, 2))
        >>> y = 3 * X[:, 0] + (0.1 + X[:, 1]) * rng.normal(size=400)
        >>> model = NGBoostRegressor(n_estimators=100, learning_rate=0.05).fit(X, y)
        >>> found = model.explain(X[:50], of="sd")
        >>> bool(np.allclose(found.values.sum(axis=1), found.predictions - found.base_values))
        True
        >>> bool(found.mean_absolute()[1] > 2 * found.mean_absolute()[0])  # what makes it sure or unsure
        True
        """
        names = names_of(of)
        with python_errors(X):
            request = self._request(names, background, background_rows, exact, permutations, random_state)
            rows = self._target_too(X, y) if any(map(needs_target, names)) else self._rows(X)
            with progress(getattr(self, "verbose", 0), "explain", "rows") as bar:
                found, odd = self.model_.explain(rows, request, threads=self._threads(), progress=bar)
        warn(odd)
        at, width = self._positions(found["columns"]), len(self._names)
        values = np.zeros((len(rows), width, len(names)))
        errors = np.zeros_like(values)
        values[:, at] = found["contributions"].transpose(0, 2, 1)
        errors[:, at] = found["errors"].transpose(0, 2, 1)
        return Explanation(
            values,
            found["base"],
            found["values"],
            errors,
            side_by_side([plain_cells(*rows.cells(name)) for name in self._names]),
            list(self._names),
            found["answers"],
            found["exact"],
            found["verdicts"],
            _several=not isinstance(of, str) or len(names) > 1,
        )

    def explain_global(
        self,
        X: Any,
        y: ArrayLike | None = None,
        of: str | list[str] = ("mean", "sd", "q0.95"),  # type: ignore[assignment]
        *,
        rows: int = 200,
        permuted_rows: int = 2000,
        repeats: int = 3,
        interaction_rows: int = 30,
        curves: int = 8,
        background: Any = None,
        background_rows: int = 100,
        random_state: Any = 0,
    ) -> GlobalExplanation:
        """How much each column matters for the mean, the spread and the tails: mean |contribution|, the increase of the
        scores when a column is permuted (no other fit is needed), interactions, and the answers along columns.

        Parameters
        ----------
        X, y : rows and targets
            Best rows that the fit has not seen. Without targets there is no permutation.
        of : str or list of str
            The answers, as for :meth:`explain`, but no scores.
        rows, permuted_rows, interaction_rows : int
            Rows of contributions, of permutations and of interactions, drawn at random from more. 0 interaction rows:
            no interactions.
        repeats : int
            Permutations of each column.
        curves : int
            Columns with dependence: those that matter most for any answer.
        background, background_rows, random_state
            As for :meth:`explain`.
        """
        names = names_of(of)
        for name in filter(needs_target, names):
            raise ValueError(f"the answer {name} is a score: pass y, and see permutation")
        with python_errors(X):
            request = self._request(names, background, background_rows, False, None, random_state)
            sizes = Sizes(
                rows=rows,
                permuted_rows=permuted_rows,
                repeats=repeats,
                interaction_rows=interaction_rows,
                curves=curves,
            )
            whole = self._rows(X) if y is None else self._target_too(X, y)
            text, odd = self.model_.explain_global(whole, request, sizes, threads=self._threads())
        warn(odd)
        return _global(json.loads(text))

    def acquire(self, X: Any, n: int, *, of_interest: Any = None) -> Acquisition:
        """The ``n`` rows of ``X`` whose targets are most worth measuring: those that are expected to reduce the
        epistemic variance of all rows the most, one after the other, each given those before it.

        Parameters
        ----------
        X : rows
            Rows without targets.
        n : int
        of_interest : rows, optional
            The rows for which the model is to become better; by default ``X``.
        """
        with python_errors(X):
            pool = self._rows(X)
            reference = None if of_interest is None else self._rows(of_interest)
            found, odd = self.model_.acquire(pool, reference, int(n), threads=self._threads())
        warn(odd)
        return Acquisition(**found)

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """How much each column moves the distribution: the mean |contribution| (:meth:`explain`) to the quantiles of
        5, 25, 50, 75 and 95 %, over the training rows that the model carries, in the unit of the target. No fit is
        needed for it. After ``fit(..., importances=True)`` it is the permutation importance of the CRPS on rows that
        were left out, see :func:`negmm.importances`."""
        check_is_fitted(self)
        if "_importances" in self.__dict__:
            return self._importances
        if "_own_importances" not in self.__dict__:
            answers = [f"q{level}" for level in LEVELS]
            try:
                request = self._request(answers, None, 1, False, PERMUTATIONS, 0)
                columns, means = self.model_.explain_background(request, threads=self._threads())
            except ValueError as error:
                raise AttributeError(f"feature_importances_ are not available: {error}") from None
            importances = np.zeros(len(self._names))
            importances[self._positions(columns)] = np.mean(means, axis=0)
            self._own_importances = importances
        return self._own_importances

    def _request(
        self,
        names: list[str],
        background: Any,
        background_rows: int,
        exact: bool,
        permutations: int | None,
        random_state: Any,
    ) -> Request:
        check_is_fitted(self)
        if exact and permutations is not None:
            raise ValueError("exact=True takes all subsets of the columns: pass no permutations")
        if background_rows < 1:
            raise ValueError(f"background_rows must be at least 1, found {background_rows}")
        return Request(
            answers=",".join(names),
            background=None if background is None else self._rows(background),
            background_rows=int(background_rows),
            exact=bool(exact),
            permutations=None if permutations is None else int(permutations),
            seed=seed_of(random_state),
        )

    def _positions(self, columns: list[str]) -> list[int]:
        """The positions in ``X`` of columns of the model."""
        return [self._names.index(name) for name in columns]

    def _target_too(self, X: Any, y: ArrayLike | None) -> _native.Table:
        """The table of the rows and their targets."""
        if y is None:
            raise ValueError("scores need the target of each row: pass y")
        rows = self._check_X(X, reset=False, least_rows=1)
        more: NamedColumns = [(self._description()["target"], check_vector(lengths_of_time(y)))]
        check_consistent_length(rows, more[0][1])
        return table(rows, self._names, more)


def _global(found: dict[str, Any]) -> GlobalExplanation:
    """From the library's own words."""

    def numbers(list: Any) -> NDArray[np.float64]:
        return np.array(list, dtype=np.float64)

    losses, answers = found["permutation"], found["answers"]
    scores = ("crps", "crps_error", "nll", "nll_error")

    def dependence(one: dict[str, Any]) -> Dependence:
        return Dependence(
            one["column"],
            None if one["numbers"] is None else numbers(one["numbers"]),
            one["values"],
            {name: numbers(part) for name, part in zip(one["answers"], one["partial"], strict=True)},
            {name: numbers(part) for name, part in zip(one["answers"], one["individual"], strict=True)},
        )

    return GlobalExplanation(
        columns=found["columns"],
        answers=answers,
        rows=found["rows"],
        background=found["background"],
        base=numbers(found["base"]),
        contributions=numbers(found["contributions"]).T,
        errors=numbers(found["errors"]),
        permutation=None if losses is None else {name: numbers([loss[name] for loss in losses]) for name in scores},
        interactions=found["interactions"],
        dependence={one["column"]: dependence(one) for one in found["dependence"]},
        regions=found["regions"],
    )
