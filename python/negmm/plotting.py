"""The plot of one row's distribution. Needs matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from negmm.plots import BLUE, ORANGE, axes_of

if TYPE_CHECKING:
    from negmm.distribution import Distribution

#: Points of a density curve.
POINTS = 512
#: A grid with more values is plotted as a density.
MAX_BARS = 200


def plot_row(one: Distribution, ax: Any, interval: float) -> Any:
    """Plots the distribution of one row with its mean and central interval; returns the axes."""
    ax = axes_of(ax)
    values = _values(one)
    if len(values):
        _bars(one, ax, interval, values)
    elif one._predictions.components is None:
        lower, upper = one.interval(interval)
        ax.hist(one.samples, bins="auto", density=True, color=BLUE, alpha=0.5, label="samples")
        ax.axvspan(lower, upper, color=BLUE, alpha=0.15, label=_label(interval))
    else:
        _curve(one, ax, interval)
    ax.axvline(one.mean(), color=ORANGE, linestyle="--", label="mean")
    ax.set_xlabel("y")
    ax.set_ylabel("probability" if len(values) else "density")
    ax.legend()
    return ax


def _values(one: Distribution) -> Any:
    """The values of the grid inside the 99.8 % interval; empty without a grid or with too many values."""
    step = one._predictions.support()[2]
    start, end = one.interval(0.998)
    count = 0 if step is None else round((end - start) / step) + 1
    return start + step * np.arange(count) if 0 < count <= MAX_BARS else np.array([])


def _bars(one: Distribution, ax: Any, interval: float, values: Any) -> None:
    """A bar for each value of the grid."""
    lower, upper = one.interval(interval)
    step = one._predictions.support()[2]
    masses, inside = one.pmf(values), (values >= lower) & (values <= upper)
    ax.bar(values, masses, 0.9 * step, color=BLUE, alpha=0.35, label="probability")
    ax.bar(values[inside], masses[inside], 0.9 * step, color=BLUE, alpha=0.35, label=_label(interval))


def _curve(one: Distribution, ax: Any, interval: float) -> None:
    """The density, and a vertical line for each atom, labelled with its probability."""
    (lower, upper), (start, end) = one.interval(interval), one.interval(0.998)
    margin = 0.1 * (end - start)
    points = np.clip(np.linspace(start - margin, end + margin, POINTS), *one.support())
    density = one.pdf(points)
    ax.plot(points, density, color=BLUE, label="density")
    inside = (points >= lower) & (points <= upper)
    ax.fill_between(points, density, where=inside, color=BLUE, alpha=0.25, label=_label(interval))
    atoms = np.unique(one.means[(one.sds == 0) & (one.weights > 0)])
    masses = one.pmf(atoms)
    # Probabilities cannot be read from an axis of densities: the most probable atom is drawn as high as the density.
    tops = masses / max(masses, default=1.0) * (density.max() or 1.0)
    if len(atoms):
        ax.vlines(atoms, 0, tops, color=BLUE, linewidth=3, label="atom")
    for atom, top, mass in zip(atoms, tops, masses, strict=True):
        ax.annotate(f"{100 * mass:.1f} %", (atom, top), (4, 2), textcoords="offset points")


def _label(interval: float) -> str:
    return f"{interval:g} interval"
