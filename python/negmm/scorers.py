"""Scorers: proper scores of distributions for ``scoring=`` of scikit-learn, by object or by name."""

from __future__ import annotations

import copy
import sys
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn import model_selection
from sklearn.metrics import _scorer

from negmm.censored import censored_bounds, log_scores
from negmm.meta_estimators import censoring_of, predict_dist
from negmm.validation import check_vector, weighted_mean


class DistributionScorer(_scorer._BaseScorer):  # type: ignore[misc]
    """Scores the distributions that an estimator or a meta-estimator predicts; weights come by metadata routing or by
    ``sample_weight``."""

    def __init__(self, score: Any) -> None:
        super().__init__(score, 1, {}, "predict_dist")

    def _score(self, method_caller: Any, estimator: Any, X: Any, y_true: Any, **kwargs: Any) -> float:
        if censoring_of(estimator) == "left" and getattr(getattr(y_true, "dtype", None), "names", None) is not None:
            y_true = np.column_stack(censored_bounds(y_true, "left")[1:])
        score: float = self._score_func(y_true, predict_dist(estimator, X), **kwargs)
        return score

    def __call__(
        self, estimator: Any, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, **kwargs: Any
    ) -> float:
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        score: float = super().__call__(estimator, X, y, **weights, **kwargs)
        return score

    def set_score_request(self, **kwargs: Any) -> DistributionScorer:
        """A copy that requests these metadata; the scorer itself, which the whole process shares, stays as it is."""
        requesting = copy.deepcopy(self)
        _scorer._BaseScorer.set_score_request(requesting, **kwargs)
        return requesting

    def __repr__(self) -> str:
        return f"negmm.metrics.{self._score_func.__name__.strip('_')}"


def _neg_crps(y_true: ArrayLike, y_pred: Any, sample_weight: ArrayLike | None = None) -> float:
    if censored_bounds(y_true, "interval") is not None:
        raise ValueError("the CRPS of a censored target is not known: score by neg_log_likelihood")
    return -float(weighted_mean(y_pred.crps(check_vector(y_true)), True, sample_weight))


def _neg_nll(y_true: ArrayLike, y_pred: Any, sample_weight: ArrayLike | None = None) -> float:
    return -float(weighted_mean(log_scores(y_true, y_pred), True, sample_weight))


#: Minus the mean CRPS.
neg_crps = DistributionScorer(_neg_crps)
#: Minus the mean logarithmic score, also of censored targets.
neg_nll = neg_log_likelihood = DistributionScorer(_neg_nll)

#: Their names in ``scoring=``.
NAMES = {"neg_crps": neg_crps, "neg_log_likelihood": neg_nll, "neg_nll": neg_nll}
#: Methods of estimators here that ``cross_val_predict`` may call.
METHODS = {"predict_dist", "predict_interval", "predict_quantiles", "predict_var"}


def _register_names() -> None:
    """Registers ``scoring="neg_crps"`` and ``method="predict_interval"`` with scikit-learn. It has no public way to do
    so, and its functions and classes have their own lists of allowed values."""
    getattr(_scorer, "_SCORERS", {}).update(NAMES)
    _allow(model_selection, "method", METHODS)
    for module in ("metrics", "model_selection", "inspection", "feature_selection"):
        # Modules that are imported later read the names of the scorers.
        if f"sklearn.{module}" in sys.modules:
            _allow(sys.modules[f"sklearn.{module}"], "scoring", set(NAMES))


def _allow(module: Any, parameter: str, words: set[str]) -> None:
    for thing in vars(module).values():
        known = getattr(thing, "_parameter_constraints", getattr(thing, "_skl_parameter_constraints", {}))
        for allowed in known.get(parameter, ()) if isinstance(known, dict) else ():
            if isinstance(getattr(allowed, "options", None), set):
                allowed.options.update(words)


_register_names()
