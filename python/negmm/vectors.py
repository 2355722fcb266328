"""Scores of predictions of several targets at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from negmm import _native
from negmm.distribution import Distribution
from negmm.evaluate import Evaluation, evaluate
from negmm.joint import JointDistribution
from negmm.threads import threads_of
from negmm.validation import Numbers, check_weights

__all__ = ["VectorEvaluation", "evaluate_vectors"]

#: The scores of all targets together.
NAMES = ("energy_score", "fair_energy_score", "variogram_score", "dawid_sebastiani")

#: Draws of a joint distribution for its scores.
DRAWS = 300


@dataclass(frozen=True)
class VectorEvaluation:
    """What :func:`evaluate_vectors` found.

    Attributes
    ----------
    scores : dict
        Mean energy score (of the draws as they are, and fair: of the distribution that they are from), variogram score
        and Dawid-Sebastiani score of all targets together.
    standard_errors : dict
        Standard error of each mean.
    rows : dict
        The scores of each row, as arrays.
    targets : dict
        The :class:`Evaluation` of each target, by its name.
    groups : dict
        The evaluation of each group, where there are groups.
    """

    scores: dict[str, float]
    standard_errors: dict[str, float]
    rows: dict[str, Numbers] = field(repr=False)
    targets: dict[str, Evaluation] = field(repr=False)
    groups: dict[Any, VectorEvaluation] = field(repr=False)

    def to_pandas(self) -> Any:
        """A frame with the mean and the standard error of each score; those of a target begin with its name."""
        import pandas as pd

        frames = [pd.DataFrame({"mean": self.scores, "se": self.standard_errors})]
        frames += [own.to_pandas().rename(index=lambda score: f"{name}_{score}") for name, own in self.targets.items()]
        return pd.concat(frames)

    def plot(self, axes: Any = None) -> Any:
        """Draws PIT histogram and coverage of each target with Matplotlib; returns the axes, targets × 2."""
        import matplotlib.pyplot as plt

        if axes is None:
            size = (9, 3.6 * len(self.targets))
            _, axes = plt.subplots(len(self.targets), 2, figsize=size, layout="constrained", squeeze=False)
        for own, (name, evaluation) in zip(axes, self.targets.items()):
            evaluation.plot(own)
            own[0].set_ylabel(f"{name}: fraction of rows")
        return axes


def evaluate_vectors(
    y: ArrayLike,
    *,
    dist: Any = None,
    samples: Any = None,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    coverages: Sequence[float] = (0.5, 0.9, 0.95),
    variogram_order: float = 0.5,
    scales: ArrayLike | None = None,
    targets: Sequence[str] | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
) -> VectorEvaluation:
    """Scores predictions of several targets at once, as :func:`negmm.evaluate` scores those of one.

    Parameters
    ----------
    y : array of rows × targets
        Observed targets; the columns of a frame name them.
    dist : JointDistribution, optional
        Its scores are those of 300 draws, and each target's those of its exact distribution.
    samples : rows × draws × targets, optional
        Draws of vectors.
    sample_weight, groups : array of rows, optional
    coverages : sequence of float
        Central intervals of each target.
    variogram_order : float
        Order of the variogram score.
    scales : array of targets, optional
        What each target is divided by for the scores of all together, such as its sd, so that no unit counts more.
    targets : sequence of str, optional
        Their names.

    Examples
    --------
    >>> import numpy as np
    >>> import negmm
    >>> draws = np.random.default_rng(0).normal(size=(3, 50, 2))
    >>> result = negmm.evaluate_vectors(np.zeros((3, 2)), samples=draws, targets=["a", "b"])
    >>> list(result.scores)
    ['energy_score', 'fair_energy_score', 'variogram_score', 'dawid_sebastiani']
    >>> sorted(result.targets)
    ['a', 'b']
    """
    names = [str(name) for name in getattr(y, "columns", [])] if targets is None else [str(name) for name in targets]
    vectors = _vectors(y)
    size = vectors.shape[1]
    names = names or [f"y{at}" for at in range(size)]
    if len(names) != size or len(set(names)) != size:
        raise ValueError(f"expected {size} different names of targets, found {names}")
    if (dist is None) == (samples is None):
        raise ValueError("several targets need samples, rows × draws × targets, or dist, a JointDistribution")
    marginals: list[Distribution] | None = None
    if dist is not None:
        if not isinstance(dist, JointDistribution):
            raise TypeError(f"expected a JointDistribution for several targets, found {type(dist).__qualname__}")
        samples = dist.rvs(DRAWS, random_state=seed).transpose(1, 0, 2)
        marginals = [dist.marginal(at) for at in range(size)]
    draws = np.ascontiguousarray(samples, dtype=np.float64)
    if draws.ndim != 3:
        raise ValueError(f"expected samples of rows × draws × targets, found {draws.ndim} dimensions")
    wrong = np.argwhere(~np.isfinite(draws))
    if wrong.size:
        row, draw, at = wrong[0]
        raise ValueError(f"row {row}, draw {draw}, target {names[at]}: expected a finite number, found {draws[row, draw, at]}")
    weights = check_weights(sample_weight, vectors[:, 0])
    divisors = [] if scales is None else [float(scale) for scale in np.asarray(scales, dtype=np.float64).ravel()]
    table = _native.score_vectors(draws, vectors, float(variogram_order), divisors, threads_of(n_jobs))
    if marginals is None:
        marginals = [Distribution.of_samples(np.ascontiguousarray(draws[:, :, at])) for at in range(size)]
    parts: dict[Any, VectorEvaluation] = {}
    if groups is not None:
        labels = np.asarray(groups)
        if labels.shape != (len(vectors),):
            raise ValueError(f"expected {len(vectors)} groups, one for each row, found shape {labels.shape}")
        for label in np.unique(labels):
            rows = np.flatnonzero(labels == label)
            own = None if weights is None else weights[rows]
            parts[label.item() if hasattr(label, "item") else label] = _collected(
                names, vectors[rows], table[rows], [dist[rows] for dist in marginals], own, coverages, seed, n_jobs, {}
            )
    return _collected(names, vectors, table, marginals, weights, coverages, seed, n_jobs, parts)


def _collected(
    names: list[str],
    y: Numbers,
    table: Numbers,
    marginals: list[Distribution],
    weights: Numbers | None,
    coverages: Sequence[float],
    seed: int,
    n_jobs: int | None,
    groups: dict[Any, VectorEvaluation],
) -> VectorEvaluation:
    singles = {
        name: evaluate(
            np.ascontiguousarray(y[:, at]),
            dist=marginals[at],
            sample_weight=weights,
            coverages=coverages,
            target=name,
            seed=seed,
            n_jobs=n_jobs,
        )
        for at, name in enumerate(names)
    }
    own = np.ones(len(y)) if weights is None else weights
    effective = own.sum() ** 2 / (own**2).sum()
    means = own @ table / own.sum()
    spread = own @ (table - means) ** 2 / own.sum()
    ses = np.sqrt(spread / (effective - 1)) if effective > 1 else np.full(len(NAMES), np.nan)
    return VectorEvaluation(
        scores={name: float(mean) for name, mean in zip(NAMES, means)},
        standard_errors={name: float(se) for name, se in zip(NAMES, ses)},
        rows=dict(zip(NAMES, table.T)),
        targets=singles,
        groups=groups,
    )


def _vectors(y: ArrayLike) -> Numbers:
    """``y`` as rows × targets of finite numbers."""
    vectors = np.ascontiguousarray(y, dtype=np.float64)
    if vectors.ndim != 2:
        raise ValueError(f"expected y of rows × targets, found {vectors.ndim} dimensions")
    wrong = np.argwhere(~np.isfinite(vectors))
    if wrong.size:
        row, at = wrong[0]
        raise ValueError(f"row {row}, target {at}: expected a finite number, found {vectors[row, at]}")
    return vectors
