"""Small, fast instances of every estimator."""

from __future__ import annotations

import numpy as np

import negmm
from negmm.methods import ESTIMATORS
from negmm.options import METHODS

#: Enough to learn a line, in a few milliseconds.
QUICK = {
    "auto": {"preset": "fast", "folds": 2, "components": 2, "hidden": (16,), "batch_size": 16, "steps": 200},
    "ne-gmm": {"components": 2, "hidden": (16,), "epochs": 60, "learning_rate": 0.03},
    "mdn": {"components": 2, "hidden": (16,), "epochs": 60, "learning_rate": 0.03},
    "beta-nll": {"hidden": (16,), "epochs": 60, "learning_rate": 0.03},
    "sample-net": {"samples": 20, "hidden": (16,), "epochs": 60, "learning_rate": 0.03},
    "ensemble": {"ensemble_size": 2, "hidden": (16,), "epochs": 60, "learning_rate": 0.03},
    "ngboost": {"n_estimators": 40, "learning_rate": 0.1, "subsample": 0.8},
    "constant": {},
}


def quick(method: str, **parameters: object) -> negmm.DistributionRegressor:
    return ESTIMATORS[method](**{**QUICK[method], **parameters})


#: The methods that the core has.
NAMES = [name for name in ESTIMATORS if name in METHODS]
#: Those that learn.
LEARNING = [name for name in NAMES if name != "constant"]


def rows(count: int = 120, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Three inputs, of which the first two matter for y."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(count, 3))
    return X, 2.0 * X[:, 0] + np.abs(X[:, 1]) + 0.3 * rng.normal(size=count)
