"""Distributions predicted by meta-estimators: pipelines, searches, and regressors of transformed targets."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.compose import TransformedTargetRegressor
from sklearn.pipeline import Pipeline

from negmm.distribution import Distribution, Numbers
from negmm.exponentiated import Exponentiated

#: Points at which the inverse of a transformation is evaluated, in units of the transformed target.
POINTS = np.array([0.0, 1.0, 2.0, -1.5, 0.25, 3.5, -4.0])
#: Relative tolerance within which it must be affine or exponential there.
TOLERANCE = 1e-9


def predict_dist(estimator: Any, X: Any) -> Distribution | Exponentiated:
    """The predicted distribution of each row, of an estimator of this package or of one inside a ``Pipeline``, a search
    (``GridSearchCV`` and the like) or a ``TransformedTargetRegressor``.

    Where targets were transformed, it is the distribution of the targets themselves, by the exact change of variables:
    the inverse of the transformation must be affine (scalers) or exponential (``np.log``, ``np.log1p``, ``np.log2``,
    ``np.log10``).

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
    if hasattr(estimator, "predict_dist"):
        found: Distribution | Exponentiated = estimator.predict_dist(X)
        return found
    if hasattr(estimator, "best_estimator_"):
        return predict_dist(estimator.best_estimator_, X)
    raise AttributeError(f"{type(estimator).__name__} predicts no distributions: it has no predict_dist")


def _inverse_transformed(dist: Distribution | Exponentiated, transformer: Any) -> Distribution | Exponentiated:
    def inverse(z: Numbers) -> Numbers:
        # Some inverses are not defined everywhere.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return np.asarray(transformer.inverse_transform(z.reshape(-1, 1)), dtype=np.float64).reshape(-1)

    y = inverse(POINTS)
    steps = np.diff(y[:3])
    if not np.isfinite(y).all() or not steps.all() or steps[0] * steps[1] < 0:
        raise _unsupported(transformer)
    rate = np.log(steps[1] / steps[0])
    if abs(rate) < TOLERANCE:
        shift, scale = y[0], (y[2] - y[0]) / 2
        if np.allclose(y, shift + scale * POINTS, rtol=TOLERANCE, atol=TOLERANCE * abs(scale)):
            return _affine(dist, shift, scale)
        raise _unsupported(transformer)
    # The base is nearly always e, 2 or 10.
    rate = min([1.0, np.log(2.0), np.log(10.0)], key=lambda known: abs(known - rate) > TOLERANCE)
    scale = steps[0] / np.expm1(rate)
    shift = y[0] - scale
    shift = 0.0 if abs(shift) < TOLERANCE * abs(scale) else shift
    if scale <= 0 or not np.allclose(y, shift + scale * np.exp(rate * POINTS), rtol=TOLERANCE, atol=TOLERANCE * scale):
        raise _unsupported(transformer)
    base = _affine(dist, 0.0, rate)
    if not isinstance(base, Distribution):
        raise _unsupported(transformer)
    if base._predictions.components is None:
        return Distribution.of_samples(shift + scale * np.exp(base.samples))
    return Exponentiated(base, shift, scale)


def _affine(dist: Distribution | Exponentiated, shift: float, scale: float) -> Distribution | Exponentiated:
    if (shift, scale) == (0.0, 1.0):
        return dist
    if isinstance(dist, Exponentiated):
        if scale <= 0:
            raise ValueError("a log-transformed target with a negative scale is not supported")
        return Exponentiated(dist.base, shift + scale * dist.shift, scale * dist.scale)
    return dist.rescaled(shift, scale)


def _unsupported(transformer: Any) -> ValueError:
    return ValueError(f"expected a transformer of the target that is affine or a logarithm, found {transformer!r}")
