"""Estimators of other libraries in comparisons: fitted to the training rows of each split, and scored by what they
predict for its test rows, a distribution or a number."""

from __future__ import annotations

import time as clock
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.ensemble import VotingRegressor
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import has_fit_parameter

from negmm.distribution import Distribution
from negmm.evaluate import evaluate
from negmm.meta_estimators import predict_dist
from negmm.validation import Numbers, check_vector

#: A split: the positions of its training and its test rows.
Split = tuple[NDArray[np.int64], NDArray[np.int64]]
#: The coverage of the intervals that comparisons score.
COVERAGE = 0.95


def scores_of(
    estimator: Any, X: Any, y: Numbers, weights: Numbers | None, splits: list[Split], grid: float | None
) -> list[dict[str, float]]:
    """The scores of an estimator on each split, with the names of comparisons; of points those that points have."""
    return [_score_of(estimator, X, y, weights, split, grid) for split in splits]


def _score_of(
    estimator: Any, X: Any, y: Numbers, weights: Numbers | None, split: Split, grid: float | None
) -> dict[str, float]:
    train, test = split
    fitted = clone(estimator)
    given = {}
    if weights is not None:
        if not has_fit_parameter(fitted, "sample_weight"):
            raise ValueError(f"{type(estimator).__name__} takes no sample_weight, and so cannot be compared with weights")
        given = {"sample_weight": weights[train]}
    start = clock.perf_counter()
    fitted.fit(_safe_indexing(X, train), _targets(estimator, y[train]), **given)
    seconds = clock.perf_counter() - start
    dist, points = _predicted(fitted, _safe_indexing(X, test))
    own = None if weights is None else weights[test]
    if dist is None:
        errors = check_vector(points) - y[test]
        # The CRPS of a point is its absolute error.
        crps, squared = np.average(np.abs(errors), weights=own), np.average(errors**2, weights=own)
        return {"rmse": float(np.sqrt(squared)), "crps": float(crps), "seconds": seconds}
    found = evaluate(y[test], dist=dist, sample_weight=own, coverages=[COVERAGE], step=grid).scores
    scores = {
        "rmse": float(np.sqrt(found["squared_error"])),
        "nll": found["log_score"],
        "crps": found["crps"],
        "picp": found[f"coverage_{COVERAGE}"],
        "mpiw": found[f"width_{COVERAGE}"],
        "seconds": seconds,
    }
    return scores if grid is None else {**scores, "mass_nll": found["mass_log_score"]}


def _targets(estimator: Any, y: Numbers) -> Any:
    """Targets as the estimator takes them: skpro wants frames."""
    if not type(estimator).__module__.startswith("skpro") and not _is_skpro(estimator):
        return y
    import pandas as pd

    return pd.DataFrame({"y": y})


def _is_skpro(estimator: Any) -> bool:
    return any(own.__module__.startswith("skpro.regression") for own in type(estimator).__mro__)


def _predicted(fitted: Any, X: Any) -> tuple[Any, Any]:
    """The distributions that an estimator predicts, or else its points."""
    if _is_skpro(fitted):
        return fitted.predict_proba(X), None
    voting = isinstance(fitted, VotingRegressor) and all(hasattr(own, "predict_dist") for own in fitted.estimators_)
    if voting or hasattr(fitted, "predict_dist"):
        return predict_dist(fitted, X), None
    if hasattr(fitted, "pred_dist"):  # ngboost
        return fitted.pred_dist(X), None
    if is_classifier(fitted):
        raise ValueError(f"{type(fitted).__name__} is a classifier: expected a regressor")
    if "return_std" in signature(fitted.predict).parameters:  # Gaussian processes, Bayesian linear models
        mean, sd = fitted.predict(X, return_std=True)
        # Of a dummy the sd is 0: that is a point.
        return (Distribution.of_family("normal", loc=mean, scale=sd), None) if np.all(sd > 0) else (None, mean)
    return None, fitted.predict(X)
