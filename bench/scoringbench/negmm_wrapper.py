"""Wrappers of negmm for ScoringBench: one target by exact quantiles or a histogram, several by draws.

Copy this file into the root of a clone of ScoringBench, and add factories of the classes to its lists of models; README.md
beside it has the steps.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from negmm import AutoRegressor, JointRegressor
from scoringbench.multivariate.prediction import MultivariateSamplePrediction
from scoringbench.multivariate.wrappers.base import MultivariateWrapper
from scoringbench.univariate.wrappers.base import DistributionPrediction, ProbabilisticWrapper

#: Levels of the quantiles: 0.005, 0.01 … 0.995.
LEVELS = np.arange(1, 200) / 200


class NegmmWrapper(ProbabilisticWrapper):
    """The default method of negmm, by exact quantiles or as a histogram.

    Parameters
    ----------
    preset : str
        ``"fast"``, ``"medium"`` or ``"best"``.
    form : str
        ``"quantiles"`` at 199 levels, or ``"histogram"`` with ``bins`` bins of each row.
    bins : int
        Bins of the histogram.
    random_state : int
        Seed.
    """

    def __init__(self, preset: str = "medium", form: str = "quantiles", bins: int = 200, random_state: int = 0) -> None:
        if form not in ("quantiles", "histogram"):
            raise ValueError(f"expected the form quantiles or histogram, found {form!r}")
        self.preset, self.form, self.bins, self.random_state = preset, form, bins, random_state

    def fit(self, X: Any, y: Any) -> NegmmWrapper:
        self._set_train_range(y)
        self._model = AutoRegressor(preset=self.preset, random_state=self.random_state)
        self._model.fit(X, np.asarray(y, dtype=np.float64).ravel())
        return self

    def predict(self, X: Any) -> np.ndarray:
        return self._model.predict(X)

    def predict_distribution(self, X: Any) -> DistributionPrediction:
        dist = self._model.predict_dist(X)
        if self.form == "quantiles":
            quantiles = dist.ppf(LEVELS[:, np.newaxis]).T
            return DistributionPrediction.from_multi_quantile(
                quantiles, LEVELS, mean=dist.mean(), train_range=self._y_train_range
            )
        # Bins from one far quantile to the other, of each row; the first and the last take the tails.
        low, high = dist.ppf(1e-4), dist.ppf(1 - 1e-4)
        steps = np.linspace(0.0, 1.0, self.bins + 1)
        edges = low[:, np.newaxis] + (high - low)[:, np.newaxis] * steps
        below = dist.cdf(edges.T).T
        below[:, 0], below[:, -1] = 0.0, 1.0
        return DistributionPrediction.from_histogram(
            edges, np.diff(below, axis=1), mean=dist.mean(), train_range=self._y_train_range
        )


class NegmmMultivariateWrapper(MultivariateWrapper):
    """The default method of negmm for several targets: draws of one joint distribution for each row."""

    def __init__(self, preset: str = "medium", draws: int = 1000, random_state: int = 0) -> None:
        self.preset, self.draws, self.random_state = preset, draws, random_state

    def fit(self, X: Any, Y: Any) -> NegmmMultivariateWrapper:
        model = JointRegressor("auto", options={"preset": self.preset}, random_state=self.random_state)
        self._model = model.fit(X, np.asarray(Y, dtype=np.float64))
        return self

    def predict_ensemble(self, X: Any) -> MultivariateSamplePrediction:
        dist = self._model.predict_dist(X)
        # draws × rows × targets, as rows × draws × targets.
        samples = dist.rvs(self.draws, random_state=self.random_state).transpose(1, 0, 2)
        return MultivariateSamplePrediction(samples, dist.mean())
