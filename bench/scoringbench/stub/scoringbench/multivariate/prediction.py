"""The published interface of ScoringBench's predictions of several targets, as far as ours uses it. Written for tests."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class MultivariateSamplePrediction:
    """Draws, rows × draws × targets, and means."""

    samples: np.ndarray
    mean: np.ndarray
