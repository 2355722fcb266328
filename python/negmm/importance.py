"""Permutation importance of inputs by the held-out CRPS, and partial dependence of the whole distribution."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.model_selection import GroupKFold, KFold
from sklearn.pipeline import Pipeline

from negmm import _native
from negmm.distribution import Distribution
from negmm.exponentiated import Exponentiated
from negmm.messages import DataWarning
from negmm.meta_estimators import predict_dist
from negmm.rows import Rows
from negmm.table import with_target
from negmm.task import Dates, lengths_of_time
from negmm.transformed import Transformed
from negmm.validation import check_vector, weighted_mean

Numbers = NDArray[np.float64]


def importances(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    dates: Dates = None,
    time: str | ArrayLike | None = None,
    folds: int = 3,
    repeats: int = 5,
    random_state: int = 0,
    executor: Any = None,
    engine: str = "auto",
) -> Numbers:
    """Permutation importance of the CRPS for each column of ``X``: a copy of the estimator is fitted to the other folds
    and scored on the rows of the fold. About 0 for an input without information. ``model.explain_global(X, y)`` has it
    without another fit, for rows that the fit has not seen.

    Parameters
    ----------
    estimator : estimator of this package, or a pipeline, a search and the like around one
        It need not be fitted, and is not changed. Of a pipeline it is the importance of the columns that it gets.
    X, y : rows and targets
        As for ``fit``, observed targets alone.
    folds, repeats : int
        Number of folds, and of permutations of every input in each.
    sample_weight, groups, dates, time
        As for ``fit``; rows with the same label in ``groups`` are in the same fold.
    executor, engine
        Where the copies are trained, as for ``fit``.
    """
    X, y = with_target(X, y)
    if getattr(getattr(y, "dtype", None), "names", None) is not None:
        raise ValueError("importances need observed targets, and these are censored")
    targets, labels = check_vector(lengths_of_time(y)), None if groups is None else np.asarray(groups)
    weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    all_rows = Rows(X)
    if len(all_rows) != len(targets):
        raise ValueError(f"expected {len(all_rows)} values of y, one for each row, found {len(targets)}")
    rng = np.random.default_rng(random_state)
    splitter = KFold(folds, shuffle=True, random_state=random_state) if groups is None else GroupKFold(folds)
    growth = np.zeros(all_rows.width)
    fixed = {"dates": dates, "executor": executor, "engine": None if engine == "auto" else engine}
    fixed["time"] = time if isinstance(time, str) else None
    times = None if time is None or isinstance(time, str) else np.asarray(time)
    for train, test in splitter.split(targets, groups=labels):
        own = {"sample_weight": weights, "groups": labels, "time": times}
        own = {name: column[train] for name, column in own.items() if column is not None}
        own.update({name: value for name, value in fixed.items() if value is not None})
        fitted = clone(estimator).fit(all_rows.take(train), targets[train], **_routed(estimator, own))
        held_out, scored = Rows(all_rows.take(test)), None if weights is None else weights[test]

        def crps(rows: Any, test: Any = test, scored: Any = scored, fitted: Any = fitted) -> float:
            with warnings.catch_warnings():
                # The same odd cells would be named for each permutation.
                warnings.simplefilter("ignore", DataWarning)
                return float(weighted_mean(predict_dist(fitted, rows).crps(targets[test]), True, scored))

        base = crps(held_out.X)
        for column in range(all_rows.width):
            permuted = [crps(held_out.moved(column, rng.permutation(len(test)))) for _ in range(repeats)]
            growth[column] += (np.mean(permuted) - base) / folds
    return growth


def _routed(estimator: Any, arguments: dict[str, Any]) -> dict[str, Any]:
    """Arguments of ``fit`` by the names that a pipeline knows them by."""
    if isinstance(estimator, Pipeline):
        inner = _routed(estimator[-1], arguments)
        return {f"{estimator.steps[-1][0]}__{name}": value for name, value in inner.items()}
    return arguments


def partial_dependence(
    estimator: Any, X: Any, feature: int | str, *, grid: int | ArrayLike = 20, rows: int = 50, random_state: int = 0
) -> tuple[NDArray[Any], Any]:
    """Partial dependence of the whole distribution on one input: for each value the mixture of the distributions that
    are predicted for ``rows`` random rows with that value.

    Returns the values and one distribution for each. The values are those of ``grid``, or so many: of numbers evenly
    spaced between the 5 % and the 95 % quantile, of dates quantiles, of text the most frequent ones. The estimator may
    be a pipeline; the input is then one of its own.
    """
    all_rows = Rows(X)
    column = all_rows.position(feature)
    chosen = np.sort(np.random.default_rng(random_state).permutation(len(all_rows))[:rows])
    some = Rows(all_rows.take(chosen))
    if not isinstance(grid, (int, np.integer)):
        values = np.asarray(grid)
        # Of nanoseconds a list would have numbers.
        listed = list(values) if values.dtype.kind in "mM" else values.tolist()
        moved = (some.with_value(column, value) for value in listed)
    elif all_rows.is_number(column):
        low, high = np.nanquantile(all_rows.cells(column), [0.05, 0.95]).tolist()
        values = np.linspace(low, high, int(grid))
        moved = (some.with_value(column, value) for value in values)
    else:
        # Cells that are there, as they are: the column keeps its type.
        spread = all_rows.spread(column, int(grid))
        values = all_rows.cells(column)[spread]
        both = Rows(all_rows.take(np.concatenate([chosen, spread])))
        index = np.tile(np.arange(len(chosen))[:, np.newaxis], (1, both.width))

        def at(row: int) -> Any:
            own = index.copy()
            own[:, column] = len(chosen) + row
            return both.mixed(own)

        moved = (at(row) for row in range(len(spread)))
    if not len(values):
        raise ValueError(f"the column {all_rows.names[column]!r} has no value")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        pooled = [_pooled(predict_dist(estimator, rows)) for rows in moved]
    return values, _joined(pooled)


def _joined(parts: list[Any]) -> Any:
    """The rows of several distributions, which are of one kind."""
    if isinstance(parts[0], Distribution):
        return Distribution.concat(parts)
    return _with_base(parts[0], _joined([part.base for part in parts]))


def _with_base(dist: Any, base: Any) -> Any:
    """The distribution of the same function of another variable."""
    if isinstance(dist, Exponentiated):
        return Exponentiated(base, dist.shift, dist.scale)
    return Transformed(base, dist.inverse, dist.forward, dist.domain)


def _pooled(dist: Any) -> Any:
    """The equally weighted mixture of all rows."""
    if not isinstance(dist, Distribution):
        return _with_base(dist, _pooled(dist.base))
    if dist._predictions.components is None:
        return Distribution.of_samples(np.sort(dist.samples.reshape(1, -1)))
    # Of each member the components of all rows, one member after the other.
    sizes = dist._predictions.member_sizes
    blocks = [np.split(part, np.cumsum(sizes)[:-1], axis=1) for part in (dist.weights / len(dist), dist.means, dist.sds)]
    weights, means, sds = (
        np.concatenate([block.reshape(1, -1) for block in of_members], axis=1) for of_members in blocks
    )
    predictions = _native.Predictions.of_mixtures(weights, means, sds, [size * len(dist) for size in sizes])
    return Distribution(predictions.with_support(*dist._predictions.support()), n_jobs=dist._n_jobs)
