"""Scores, calibration and reports of anybody's predictive distributions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from negmm import _native
from negmm.adapters import as_distribution
from negmm.distribution import Distribution
from negmm.plot_style import BLUE, ORANGE, SKY
from negmm.threads import threads_of
from negmm.validation import Numbers, check_vector, check_weights

__all__ = ["Evaluation", "evaluate"]


@dataclass(frozen=True)
class Evaluation:
    """What :func:`evaluate` found.

    Attributes
    ----------
    scores : dict
        Mean of each score, by name.
    standard_errors : dict
        Standard error of each mean.
    rows : dict
        The scores of each row, as arrays.
    pit : array
        The PIT of each row, randomised where targets have point probabilities.
    pit_test : dict
        ``statistic``, ``df`` and ``p_value`` of the test of uniformity; ``mean`` (0.5 if calibrated) and ``dispersion``
        (1 if calibrated) of the PIT.
    decomposition : dict
        ``score``, ``miscalibration``, ``discrimination`` and ``uncertainty`` of the CRPS within the range of the
        targets; None where all targets are equal.
    decompositions_of_thresholds : dict
        The same of the Brier score of each threshold.
    groups : dict
        The evaluation of each group, where there are groups.
    """

    scores: dict[str, float]
    standard_errors: dict[str, float]
    rows: dict[str, Numbers] = field(repr=False)
    pit: Numbers = field(repr=False)
    pit_test: dict[str, float]
    decomposition: dict[str, float] | None
    decompositions_of_thresholds: dict[float, dict[str, float]]
    groups: dict[Any, Evaluation] = field(repr=False)
    _dist: Distribution = field(repr=False)
    _y: Numbers = field(repr=False)
    _weights: Numbers | None = field(repr=False)
    _target: str = field(repr=False)

    def to_pandas(self) -> Any:
        """A frame with the mean and the standard error of each score."""
        import pandas as pd

        return pd.DataFrame({"mean": self.scores, "se": self.standard_errors})

    def plot(self, axes: Any = None) -> Any:
        """Draws the PIT histogram and the coverage of central intervals with Matplotlib; returns the two axes."""
        import matplotlib.pyplot as plt

        if axes is None:
            _, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
        weights = np.ones_like(self.pit) if self._weights is None else self._weights
        total = weights.sum()
        axes[0].hist(self.pit, bins=20, range=(0, 1), weights=weights / total, color=SKY, edgecolor="white")
        axes[0].axhline(0.05, color=ORANGE, linestyle="--")
        axes[0].set(xlabel="PIT", ylabel="fraction of rows", title=f"PIT (p = {self.pit_test['p_value']:.3g})")
        nominal = np.linspace(0.01, 0.99, 99)
        inside = np.abs(2 * self.pit - 1)[:, np.newaxis] <= nominal
        axes[1].plot([0, 1], [0, 1], color=ORANGE, linestyle="--")
        axes[1].plot(nominal, (inside * weights[:, np.newaxis]).sum(axis=0) / total, color=BLUE)
        axes[1].set(xlabel="nominal coverage", ylabel="empirical coverage", title="Central intervals")
        return axes

    def murphy(self, level: float | None = 0.5, thetas: ArrayLike | None = None) -> tuple[Numbers, Numbers]:
        """The Murphy diagram of the quantile of this level, or of the mean where it is None: thresholds, and the mean
        elementary score at each; by default 121 thresholds over the range of the targets."""
        predicted = self._dist.mean() if level is None else self._dist.ppf(level)
        if thetas is None:
            thetas = np.linspace(self._y.min(), self._y.max(), 121)
        at = np.ascontiguousarray(thetas, dtype=np.float64)
        curve = _native.murphy_curve(np.ascontiguousarray(predicted), self._y, self._weights, level, at)
        return at, np.asarray(curve)

    def report(self, path: str | Path | None = None) -> str:
        """The report as one self-contained HTML page; written to ``path`` where it is given."""
        kind = repr(self._dist).removeprefix("<Distribution of ").rstrip(">").split(": ")[-1]
        page = _native.report_predictions(
            self._dist._predictions, self._y, self._weights, self._target, kind, "these rows"
        )
        if path is not None:
            Path(path).write_text(page, encoding="utf-8")
        return page


def evaluate(
    y: ArrayLike,
    *,
    dist: Any = None,
    quantiles: Any = None,
    levels: ArrayLike | None = None,
    samples: Any = None,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    coverages: Sequence[float] = (0.5, 0.9, 0.95),
    thresholds: Sequence[float] = (),
    between: tuple[float, float] | None = None,
    quantile_weight: str | None = None,
    step: float | None = None,
    target: str = "y",
    seed: int = 0,
    n_jobs: int | None = None,
) -> Evaluation:
    """Scores predictive distributions of any model against observed targets.

    Parameters
    ----------
    y : array of rows
        Observed targets; for several targets at once see :func:`negmm.evaluate_vectors`.
    dist : distributions, optional
        A :class:`negmm.Distribution`, a frozen distribution of SciPy, a distribution of ngboost, skpro or torch, or the
        dictionary of TabPFN's ``predict(output_type="full")``.
    quantiles : rows × levels, optional
        Quantiles, as an array with ``levels``, or as a frame whose columns are levels (``0.05`` or ``q0.05``).
        Crossing quantiles are sorted.
    levels : array of levels, optional
    samples : rows × samples, optional
        Samples.
    sample_weight, groups : array of rows, optional
    coverages, thresholds, between, quantile_weight, step
        Central intervals; thresholds of Brier scores; the thresholds of a threshold-weighted CRPS; ``"centre"``,
        ``"tails"``, ``"left"`` or ``"right"`` for a quantile-weighted CRPS; the distance of values of a discrete
        target.

    Examples
    --------
    >>> import numpy as np
    >>> import negmm
    >>> y = np.array([0.1, -0.4, 1.2, 0.3])
    >>> result = negmm.evaluate(y, quantiles=np.tile([-1.28, 0.0, 1.28], (4, 1)), levels=[0.1, 0.5, 0.9])
    >>> round(result.scores["crps"], 4)
    0.4025
    >>> result.scores["coverage_0.9"]
    1.0
    """
    if getattr(getattr(y, "dtype", None), "names", None) is not None:
        raise ValueError("y is censored: negmm.metrics has log_score, concordance and integrated_brier for such targets")
    if _is_matrix(y):
        raise ValueError(f"y has {np.shape(y)[1]} targets: negmm.evaluate_vectors scores several targets at once")
    y = check_vector(y)
    own = as_distribution(dist=dist, quantiles=quantiles, levels=levels, samples=samples)
    if len(own) != len(y):
        raise ValueError(f"expected {len(own)} values of y, one for each row, found {len(y)}")
    weights = check_weights(sample_weight, y)
    found = _native.score_predictions(
        own._predictions,
        y,
        weights,
        list(coverages),
        [],
        list(thresholds),
        between,
        quantile_weight,
        step,
        seed,
        threads=threads_of(n_jobs),
    )
    names: list[str] = found["names"]
    parts: dict[Any, Evaluation] = {}
    if groups is not None:
        labels = np.asarray(groups)
        if labels.shape != y.shape:
            raise ValueError(f"expected {len(y)} groups, one for each row, found shape {labels.shape}")
        for label in np.unique(labels):
            rows = np.flatnonzero(labels == label)
            parts[label.item() if hasattr(label, "item") else label] = evaluate(
                y[rows],
                dist=own[rows],
                sample_weight=None if weights is None else weights[rows],
                coverages=coverages,
                thresholds=thresholds,
                between=between,
                quantile_weight=quantile_weight,
                step=step,
                target=target,
                seed=seed,
                n_jobs=n_jobs,
            )
    test = ("statistic", "df", "p_value", "mean", "dispersion")
    decomposition = ("score", "miscalibration", "discrimination", "uncertainty")
    split = found["decomposition"]
    return Evaluation(
        scores=dict(zip(names, found["means"])),
        standard_errors=dict(zip(names, found["ses"])),
        rows=dict(zip(names, found["scores"].T)),
        pit=found["pit"],
        pit_test=dict(zip(test, found["pit_test"])),
        decomposition=None if split is None else dict(zip(decomposition, split)),
        decompositions_of_thresholds={
            float(threshold): dict(zip(decomposition, own_split))
            for threshold, own_split in zip(thresholds, found["decompositions_of_thresholds"])
            if own_split is not None
        },
        groups=parts,
        _dist=own,
        _y=y,
        _weights=weights,
        _target=target,
    )


def _is_matrix(y: Any) -> bool:
    """Whether ``y`` has several columns."""
    shape = np.shape(y)
    return len(shape) == 2 and shape[1] > 1
