"""Permutation importance of inputs by the held-out CRPS, and partial dependence of the whole distribution."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.model_selection import GroupKFold, KFold
from sklearn.utils import _safe_indexing

from negmm import _native
from negmm.distribution import Distribution
from negmm.table import is_pandas
from negmm.task import Dates
from negmm.validation import check_vector, weighted_mean

Numbers = NDArray[np.float64]


def importances(
    estimator: Any,
    X: Any,
    y: ArrayLike,
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
    and scored on the rows of the fold. About 0 for an input without information.

    Parameters
    ----------
    estimator : estimator of this package
        It need not be fitted, and is not changed.
    folds, repeats : int
        Number of folds, and of permutations of every input in each.
    sample_weight, groups, dates, time
        As for ``fit``; rows with the same label in ``groups`` are in the same fold.
    executor, engine
        Where the copies are trained, as for ``fit``.
    """
    targets, labels = check_vector(y), None if groups is None else np.asarray(groups)
    weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    X = X if is_pandas(X) else np.asarray(X)
    rng = np.random.default_rng(random_state)
    splitter = KFold(folds, shuffle=True, random_state=random_state) if groups is None else GroupKFold(folds)
    growth = np.zeros(X.shape[1])
    named = {"time": time} if isinstance(time, str) else {}
    times = None if time is None or named else np.asarray(time)
    for train, test in splitter.split(targets, groups=labels):
        own = {"sample_weight": weights, "groups": labels, "time": times}
        own = {name: column[train] for name, column in own.items() if column is not None}
        fitted = clone(estimator).fit(
            _safe_indexing(X, train), targets[train], **own, **named, dates=dates, executor=executor, engine=engine
        )
        held_out, scored = _safe_indexing(X, test), None if weights is None else weights[test]

        def crps(rows: Any, test: Any = test, scored: Any = scored, fitted: Any = fitted) -> float:
            return float(weighted_mean(fitted.predict_dist(rows).crps(targets[test]), True, scored))

        base = crps(held_out)
        for column in range(X.shape[1]):
            permuted = [crps(_permuted(held_out, column, rng.permutation(len(test)))) for _ in range(repeats)]
            growth[column] += (np.mean(permuted) - base) / folds
    return growth


def _permuted(X: Any, column: int, order: Any) -> Any:
    """The rows with the cells of one column permuted."""
    cells = X.iloc[order, column].set_axis(X.index) if is_pandas(X) else X[order, column]
    return _set(X, column, cells)


def _set(X: Any, column: int, cells: Any) -> Any:
    changed = X.copy()
    if is_pandas(X):
        changed.isetitem(column, cells)
    else:
        changed[:, column] = cells
    return changed


def partial_dependence(
    estimator: Any, X: Any, feature: int | str, *, grid: int | ArrayLike = 20, rows: int = 50, random_state: int = 0
) -> tuple[NDArray[Any], Distribution]:
    """Partial dependence of the whole distribution on one input: for each value the mixture of the distributions that
    are predicted for ``rows`` random rows with that value.

    Returns the values, between the 5 % and the 95 % quantile of the column or those of ``grid``, and one distribution
    for each.
    """
    X = X if is_pandas(X) else np.asarray(X)
    column = X.columns.get_loc(feature) if isinstance(feature, str) else int(feature)
    cells = X.iloc[:, column].to_numpy() if is_pandas(X) else X[:, column]
    if isinstance(grid, (int, np.integer)):
        numbers = np.asarray(cells, dtype=np.float64)
        low, high = np.nanquantile(numbers, [0.05, 0.95]).tolist()
        values = np.linspace(low, high, int(grid))
    else:
        values = np.asarray(grid)
    chosen = np.random.default_rng(random_state).permutation(len(cells))[:rows]
    some = _safe_indexing(X, np.sort(chosen))
    pooled = [_pooled(estimator.predict_dist(_set(some, column, np.full(len(some), value)))) for value in values]
    return values, Distribution.concat(pooled)


def _pooled(dist: Distribution) -> Distribution:
    """The equally weighted mixture of all rows."""
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
