"""Validation of vectors with one number for each row, and weighted means."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Numbers = NDArray[np.float64]


def check_vector(y: ArrayLike) -> Numbers:
    """``y`` as a vector of finite numbers, one for each row."""
    numbers = np.asarray(y, dtype=np.float64)
    if numbers.ndim == 2 and numbers.shape[1] == 1:
        numbers = numbers[:, 0]
    if numbers.ndim != 1:
        raise ValueError(f"expected one number for each row, found shape {numbers.shape}")
    wrong = np.flatnonzero(~np.isfinite(numbers))
    if wrong.size:
        raise ValueError(f"row {wrong[0]}: expected a finite number, found {numbers[wrong[0]]}")
    return numbers


def check_weights(sample_weight: ArrayLike | None, values: Numbers) -> Numbers | None:
    """Weights of ``values``, finite and not negative; None where all rows count alike."""
    if sample_weight is None:
        return None
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.shape != values.shape:
        raise ValueError(f"expected {values.size} weights, found shape {weights.shape}")
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if wrong.size:
        raise ValueError(f"row {wrong[0]}: expected a weight, at least 0, found {weights[wrong[0]]}")
    if values.size and not weights.any():
        raise ValueError("all weights are 0")
    return weights


def weighted_mean(values: Any, average: bool, sample_weight: ArrayLike | None) -> Any:
    """The weighted mean of ``values``, or the values themselves where no average is wanted."""
    if not average:
        if sample_weight is not None:
            raise ValueError("sample_weight needs average=True: a score of one row has no weight")
        return values
    weights = check_weights(sample_weight, values)
    if values.size == 0:
        raise ValueError("expected at least 1 row with a known target, found none")
    return float(np.average(values, weights=weights))
