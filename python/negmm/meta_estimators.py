"""Distributions predicted by meta-estimators: pipelines, searches, and regressors of transformed targets."""

from __future__ import annotations

import warnings
from inspect import getattr_static
from typing import Any

import numpy as np
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import BaggingRegressor, VotingRegressor
from sklearn.model_selection._search import BaseSearchCV
from sklearn.multioutput import MultiOutputRegressor, RegressorChain
from sklearn.pipeline import Pipeline
from sklearn.utils.metaestimators import available_if

from negmm.composite import pooled
from negmm.distribution import Distribution, Numbers
from negmm.exponentiated import Exponentiated
from negmm.regressor import DistributionRegressor
from negmm.transformed import Transformed

#: Points at which the inverse of a transformation is evaluated, in units of the transformed target.
POINTS = np.array([0.0, 1.0, 2.0, -1.5, 0.25, 3.5, -4.0])
#: Relative tolerance within which it must be affine or exponential there.
TOLERANCE = 1e-9


def predict_dist(estimator: Any, X: Any) -> Any:
    """The predicted distribution of each row, of an estimator of this package or of one inside a ``Pipeline``, a search
    (``GridSearchCV`` and the like), a ``TransformedTargetRegressor``, or a ``BaggingRegressor`` or ``VotingRegressor``,
    whose members are pooled. Of a ``MultiOutputRegressor`` or a ``RegressorChain`` it is a list: the distributions of
    each target, in a chain given the predicted means of those before it.

    Where targets were transformed, it is the distribution of the targets themselves, by the exact change of variables
    where the inverse of the transformation is affine (scalers) or exponential (``np.log``, ``np.log1p``, ``np.log2``,
    ``np.log10``), else by :class:`negmm.transformed.Transformed`, which needs a monotone one.

    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> import negmm
    >>> model = make_pipeline(StandardScaler(), negmm.ConstantRegressor()).fit([[0.0], [1.0]], [3.0, 5.0])
    >>> negmm.predict_dist(model, [[7.0]]).mean()
    array([4.])
    """
    if isinstance(estimator, Pipeline):
        for _, _, step in estimator._iter(with_final=False):
            X = step.transform(X)
        return predict_dist(estimator[-1], X)
    if isinstance(estimator, TransformedTargetRegressor):
        return _inverse_transformed(predict_dist(estimator.regressor_, X), estimator.transformer_)
    if isinstance(estimator, BaggingRegressor):
        features = estimator.estimators_features_
        pairs = zip(estimator.estimators_, features, strict=True)
        return pooled([predict_dist(member, _columns(X, chosen)) for member, chosen in pairs])
    if isinstance(estimator, VotingRegressor):
        parts = [predict_dist(member, X) for member in estimator.estimators_]
        return pooled(parts, estimator._weights_not_none)
    if isinstance(estimator, MultiOutputRegressor):
        return [predict_dist(member, X) for member in estimator.estimators_]
    if isinstance(estimator, RegressorChain):
        return _of_chain(estimator, X)
    if isinstance(estimator, DistributionRegressor):
        return estimator.predict_dist(X)
    if hasattr(estimator, "best_estimator_"):
        return predict_dist(estimator.best_estimator_, X)
    own = getattr_static(type(estimator), "predict_dist", None)
    if own is not None and own not in _ADDED:
        return estimator.predict_dist(X)
    raise AttributeError(f"{type(estimator).__name__} predicts no distributions: it has no predict_dist")


def _columns(X: Any, chosen: Any) -> Any:
    """The columns that a member of a bag was fitted to."""
    every = len(chosen) == X.shape[1] and (np.asarray(chosen) == np.arange(X.shape[1])).all()
    if hasattr(X, "iloc"):
        # A bag takes data frames as arrays.
        X = X.to_numpy()
    return X if every else X[:, chosen]


def _of_chain(chain: RegressorChain, X: Any) -> list[Any]:
    """The distributions of the targets of a chain, in their own order."""
    rows = np.asarray(X, dtype=np.float64)
    found: list[Any] = [None] * len(chain.estimators_)
    for position, member in zip(chain.order_, chain.estimators_, strict=True):
        found[position] = predict_dist(member, rows)
        rows = np.column_stack([rows, found[position].mean()])
    return found


def _method(self: Any, X: Any) -> Any:
    """The predicted distribution of each row: see :func:`negmm.predict_dist`."""
    return predict_dist(self, X)


def _final(estimator: Any) -> Any:
    """The estimator that predicts inside a meta-estimator, fitted or not."""
    if isinstance(estimator, Pipeline):
        return _final(estimator[-1])
    for name in ("regressor", "estimator"):
        if (inner := getattr(estimator, name, None)) is not None and not isinstance(estimator, DistributionRegressor):
            return _final(inner)
    return estimator


def censoring_of(estimator: Any) -> str | None:
    """The ``censoring`` with which the estimator inside was fitted."""
    while not isinstance(estimator, DistributionRegressor):
        if isinstance(estimator, Pipeline):
            estimator = estimator[-1]
        elif (fitted := getattr(estimator, "best_estimator_", getattr(estimator, "regressor_", None))) is not None:
            estimator = fitted
        else:
            return None
    return estimator._censoring


def _predicts_distributions(estimator: Any) -> bool:
    return isinstance(_final(estimator), DistributionRegressor)


#: The method ``predict_dist`` that meta-estimators of scikit-learn get, where they hold an estimator of this package.
_ADDED: list[Any] = []
for _meta in (
    Pipeline,
    TransformedTargetRegressor,
    BaseSearchCV,
    BaggingRegressor,
    MultiOutputRegressor,
    RegressorChain,
):
    _added = available_if(_predicts_distributions)(_method)
    _ADDED.append(_added)
    if "predict_dist" not in vars(_meta):
        _meta.predict_dist = _added


def _inverse_transformed(dist: Any, transformer: Any) -> Any:
    def inverse(z: Numbers) -> Numbers:
        # Some inverses are not defined everywhere.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return np.asarray(transformer.inverse_transform(z.reshape(-1, 1)), dtype=np.float64).reshape(-1)

    y = inverse(POINTS)
    steps = np.diff(y[:3])
    if not np.isfinite(y).all() or not steps.all() or steps[0] * steps[1] < 0:
        return _monotone(dist, transformer)
    rate = np.log(steps[1] / steps[0])
    if abs(rate) < TOLERANCE:
        shift, scale = y[0], (y[2] - y[0]) / 2
        if np.allclose(y, shift + scale * POINTS, rtol=TOLERANCE, atol=TOLERANCE * abs(scale)):
            return _affine(dist, shift, scale)
        return _monotone(dist, transformer)
    # The base is nearly always e, 2 or 10.
    rate = min([1.0, np.log(2.0), np.log(10.0)], key=lambda known: abs(known - rate) > TOLERANCE)
    scale = steps[0] / np.expm1(rate)
    shift = y[0] - scale
    shift = 0.0 if abs(shift) < TOLERANCE * abs(scale) else shift
    if scale <= 0 or not np.allclose(y, shift + scale * np.exp(rate * POINTS), rtol=TOLERANCE, atol=TOLERANCE * scale):
        return _monotone(dist, transformer)
    base = _affine(dist, 0.0, rate) if isinstance(dist, Distribution) else dist
    if not isinstance(base, Distribution):
        return _monotone(dist, transformer)
    if base._predictions.components is None:
        return Distribution.of_samples(shift + scale * np.exp(base.samples))
    return Exponentiated(base, shift, scale)


def _affine(dist: Any, shift: float, scale: float) -> Any:
    if (shift, scale) == (0.0, 1.0):
        return dist
    if isinstance(dist, Transformed):
        return Transformed(dist, lambda z: shift + scale * z, lambda y: (y - shift) / scale)
    if isinstance(dist, Exponentiated):
        if scale <= 0:
            raise ValueError("a log-transformed target with a negative scale is not supported")
        return Exponentiated(dist.base, shift + scale * dist.shift, scale * dist.scale)
    return dist.rescaled(shift, scale)


def _monotone(dist: Any, transformer: Any) -> Transformed:
    """The distribution of a target whose transformation is neither affine nor a logarithm, but monotone."""

    def column(function: Any) -> Any:
        def of(numbers: Numbers) -> Numbers:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return np.asarray(function(numbers.reshape(-1, 1)), dtype=np.float64).reshape(-1)

        return of

    inverse = column(transformer.inverse_transform)
    row = dist if not dist.shape else dist[0]
    values = inverse(np.asarray(row.ppf(np.linspace(0.001, 0.999, 101)), dtype=np.float64))
    steps = np.diff(values[np.isfinite(values)])
    if not len(steps) or not ((steps >= 0).all() or (steps <= 0).all()) or not steps.any():
        raise _unsupported(transformer)
    return Transformed(dist, inverse, column(transformer.transform))


def _unsupported(transformer: Any) -> ValueError:
    return ValueError(f"expected a monotone transformer of the target, found {transformer!r}")
