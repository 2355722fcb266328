"""The published interface of ScoringBench's wrappers of one target, as far as ours uses it. Written for tests."""

from dataclasses import dataclass

import numpy as np


@dataclass
class DistributionPrediction:
    """What was handed over."""

    source: str
    support: np.ndarray
    probabilities: np.ndarray
    mean: np.ndarray
    train_range: tuple

    @classmethod
    def from_multi_quantile(cls, q, alphas, mean=None, *, train_range):
        return cls("quantiles", np.asarray(q), np.asarray(alphas), np.asarray(mean), train_range)

    @classmethod
    def from_histogram(cls, bin_edges, probas, mean=None, *, train_range, is_grid_native=False):
        return cls("histogram", np.asarray(bin_edges), np.asarray(probas), np.asarray(mean), train_range)


class ProbabilisticWrapper:
    """The base class."""

    _y_train_range = None

    def _set_train_range(self, y):
        self._y_train_range = (float(np.min(y)), float(np.max(y)))
        return self._y_train_range
