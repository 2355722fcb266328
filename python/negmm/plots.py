"""Pictures of predictions with Matplotlib, in the style of the report. Needs ``pip install negmm[plot]``.

Each function draws into ``ax``, or into the current axes, and returns them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from negmm.explanation_plots import beeswarm, contributions, dependence, waterfall
from negmm.plot_style import BLUE, GREY, ORANGE, SKY, TEXT, axes_of

if TYPE_CHECKING:
    from negmm.distribution import Distribution

__all__ = [
    "beeswarm",
    "contributions",
    "densities",
    "dependence",
    "fan",
    "importances",
    "observed",
    "pit",
    "reliability",
    "waterfall",
]

#: Bins of PIT histograms.
BINS = 20
#: Coverages of the bands of a fan.
FAN = (0.9, 0.5)


def pit(dist: Distribution, y: ArrayLike, *, ax: Any = None) -> Any:
    """Histogram of the probability integral transforms of targets: flat where the distributions are calibrated, U-shaped
    where they are too narrow, a hump where they are too wide."""
    ax = axes_of(ax)
    values = np.atleast_1d(dist.pit(y))
    values = values[np.isfinite(values)]
    expected = len(values) / BINS
    # Two binomial standard errors around a uniform one.
    spread = 2 * np.sqrt(expected * (1 - 1 / BINS))
    ax.axhspan(max(expected - spread, 0), expected + spread, color=GREY, alpha=0.2, label="calibrated, 95 %")
    heights, _, _ = ax.hist(values, bins=BINS, range=(0, 1), color=BLUE, alpha=0.75, edgecolor="white")
    # Room for the legend above the bars.
    ax.set_ylim(0, 1.2 * max(heights.max(initial=0), expected + spread, 1))
    ax.axhline(expected, color=ORANGE, linestyle="--")
    ax.set(xlabel="probability integral transform", ylabel="rows", xlim=(0, 1))
    ax.legend(frameon=False)
    return ax


def reliability(dist: Distribution, y: ArrayLike, *, ax: Any = None) -> Any:
    """The fraction of targets that central intervals contain, against their nominal coverage."""
    ax = axes_of(ax)
    values = np.atleast_1d(dist.pit(y))
    values = values[np.isfinite(values)]
    nominal = np.linspace(0, 1, 101)
    empirical = (np.abs(2 * values - 1)[:, np.newaxis] <= nominal).mean(axis=0)
    spread = 2 * np.sqrt(nominal * (1 - nominal) / max(len(values), 1))
    ax.fill_between(nominal, nominal - spread, nominal + spread, color=GREY, alpha=0.2, label="calibrated, 95 %")
    ax.plot([0, 1], [0, 1], color=ORANGE, linestyle="--")
    ax.plot(nominal, empirical, color=BLUE, label="these predictions")
    ax.set(xlabel="nominal coverage", ylabel="fraction of targets inside", xlim=(0, 1), ylim=(0, 1))
    ax.legend(frameon=False, loc="upper left")
    return ax


def observed(dist: Distribution, y: ArrayLike, *, interval: float = 0.9, most: int = 300, ax: Any = None) -> Any:
    """Targets against the predicted means, with the central interval of each row; of more than ``most`` rows as many,
    evenly spaced."""
    ax = axes_of(ax)
    targets = np.asarray(y, dtype=np.float64).ravel()
    if len(targets) > most:
        rows = np.linspace(0, len(targets) - 1, most).astype(int)
        dist, targets = dist[rows], targets[rows]
    mean, (lower, upper) = np.asarray(dist.mean()), dist.interval(interval)
    ax.vlines(mean, lower, upper, color=SKY, alpha=0.5, linewidth=1, label=f"{100 * interval:g} % interval")
    ax.scatter(mean, targets, s=9, color=TEXT, alpha=0.6, label="observed", zorder=3)
    ends = min(mean.min(), targets.min()), max(mean.max(), targets.max())
    ax.plot(ends, ends, color=ORANGE, linestyle="--", zorder=2)
    ax.set(xlabel="predicted mean", ylabel="observed")
    ax.legend(frameon=False)
    return ax


def importances(estimator: Any, values: ArrayLike | None = None, *, most: int = 12, ax: Any = None) -> Any:
    """The inputs by their importance: ``feature_importances_``, or ``values``, those of :func:`negmm.importances`."""
    ax = axes_of(ax)
    growth = np.asarray(estimator.feature_importances_ if values is None else values, dtype=np.float64)
    permuted = values is not None or "_importances" in vars(estimator)
    names = np.asarray(getattr(estimator, "feature_names_in_", [f"x{at}" for at in range(len(growth))]))
    order = np.argsort(growth)[::-1][:most][::-1]
    ax.barh([str(name) for name in names[order]], growth[order], color=BLUE)
    label = "increase of the CRPS when the input is permuted"
    ax.set(xlabel=label if permuted else "mean |contribution| to quantiles")
    return ax


def fan(
    dist: Distribution,
    x: ArrayLike | None = None,
    *,
    history: tuple[ArrayLike, ArrayLike] | None = None,
    coverages: Sequence[float] = FAN,
    ax: Any = None,
) -> Any:
    """Medians and central intervals of rows in order, such as the steps of a forecast, after a ``history`` of times and
    values."""
    ax = axes_of(ax)
    at = np.arange(len(dist)) if x is None else np.asarray(x)
    if history is not None:
        ax.plot(np.asarray(history[0]), np.asarray(history[1]), color=TEXT, linewidth=1, label="history")
    for coverage in sorted(coverages, reverse=True):
        lower, upper = dist.interval(coverage)
        ax.fill_between(at, lower, upper, color=BLUE, alpha=0.22, linewidth=0, label=f"{100 * coverage:g} %")
    ax.plot(at, dist.median(), color=BLUE, label="median")
    ax.legend(frameon=False)
    return ax


def densities(dist: Distribution, rows: Sequence[int], *, ax: Any = None) -> Any:
    """The densities of several rows in one picture; on a grid their probabilities."""
    ax = axes_of(ax)
    parts = [dist[int(row)] for row in rows]
    ends = [part.interval(0.998) for part in parts]
    low, high = min(low for low, _ in ends), max(high for _, high in ends)
    step = dist._predictions.support()[2]
    names = dist._index if dist._index is not None else np.arange(len(dist))
    if step is not None:
        low = parts[0].support()[0] if np.isfinite(parts[0].support()[0]) else low
        points = low + step * np.arange(min(int(round((high - low) / step)) + 1, 400))
    else:
        margin = 0.05 * (high - low)
        points = np.clip(np.linspace(low - margin, high + margin, 512), *dist.support())
    for row, part in zip(rows, parts, strict=True):
        heights = part.pdf(points) if step is None else part.pmf(points)
        (line,) = ax.plot(points, heights, label=str(names[int(row)]), drawstyle="default" if step is None else "steps-mid")
        ax.fill_between(points, heights, color=line.get_color(), alpha=0.12, step=None if step is None else "mid")
    ax.set(xlabel="y", ylabel="density" if step is None else "probability", ylim=(0, None))
    ax.legend(title="row", frameon=False)
    return ax
