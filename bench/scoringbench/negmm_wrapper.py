"""Wrappers of negmm for ScoringBench: one target by exact quantiles or a histogram, several by draws.

Copy this file to `scoringbench/univariate/wrappers/` of a checkout of ScoringBench (and to `multivariate/wrappers/`), and
add the classes to its lists of models; README.md beside it has the steps.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from negmm import AutoRegressor
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
    """The default method of negmm for each target, joined by the empirical copula of the training rows.

    The probability integral transforms of the targets of a training row are one draw of the copula. For a new row,
    draws of these vectors are mapped by the quantile functions of its own margins.
    """

    def __init__(self, preset: str = "medium", draws: int = 1000, random_state: int = 0) -> None:
        self.preset, self.draws, self.random_state = preset, draws, random_state

    def fit(self, X: Any, Y: Any) -> NegmmMultivariateWrapper:
        targets = np.asarray(Y, dtype=np.float64)
        targets = targets[:, np.newaxis] if targets.ndim == 1 else targets
        self._models, ranks = [], []
        for target in targets.T:
            model = AutoRegressor(preset=self.preset, random_state=self.random_state).fit(X, target)
            pit = model.predict_dist(X).cdf(target)
            # Ranks make the margins of the copula uniform.
            ranks.append((np.argsort(np.argsort(pit)) + 0.5) / len(pit))
            self._models.append(model)
        self._copula = np.column_stack(ranks)
        return self

    def predict_ensemble(self, X: Any) -> MultivariateSamplePrediction:
        rng = np.random.default_rng(self.random_state)
        dists = [model.predict_dist(X) for model in self._models]
        chosen = self._copula[rng.integers(len(self._copula), size=(self.draws, len(dists[0])))]
        # draws × rows for each target, then rows × draws × targets.
        values = [dist.ppf(np.ascontiguousarray(chosen[:, :, at])) for at, dist in enumerate(dists)]
        samples = np.stack([value.T for value in values], axis=2)
        return MultivariateSamplePrediction(samples, np.column_stack([dist.mean() for dist in dists]))
