"""The plot of one predicted distribution; needs matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from negmm.distribution import Distribution

#: Points of a density.
POINTS = 512
#: More values of a grid than this are shown by a density.
MOST_BARS = 200


def draw(one: Distribution, ax: Any, interval: float) -> Any:
    """Draws the distribution of one row with its mean and central interval; gives the axes."""
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError("plot needs matplotlib: pip install matplotlib") from error
    ax = pyplot.gca() if ax is None else ax
    values = _values(one)
    if len(values):
        _bars(one, ax, interval, values)
    elif one._predictions.components is None:
        lower, upper = one.interval(interval)
        ax.hist(one.samples, bins="auto", density=True, color="C0", alpha=0.5, label="samples")
        ax.axvspan(lower, upper, color="C0", alpha=0.15, label=_name(interval))
    else:
        _curve(one, ax, interval)
    ax.axvline(one.mean(), color="C1", linestyle="--", label="mean")
    ax.set_xlabel("y")
    ax.set_ylabel("probability" if len(values) else "density")
    ax.legend()
    return ax


def _values(one: Distribution) -> Any:
    """The values of the grid that hold nearly everything, where there is a grid and they are not too many."""
    step = one._predictions.support()[2]
    start, end = one.interval(0.998)
    count = 0 if step is None else round((end - start) / step) + 1
    return start + step * np.arange(count) if 0 < count <= MOST_BARS else np.array([])


def _bars(one: Distribution, ax: Any, interval: float, values: Any) -> None:
    """A bar for each value of the grid."""
    lower, upper = one.interval(interval)
    step = one._predictions.support()[2]
    masses, inside = one.pmf(values), (values >= lower) & (values <= upper)
    ax.bar(values, masses, 0.9 * step, color="C0", alpha=0.35, label="probability")
    ax.bar(values[inside], masses[inside], 0.9 * step, color="C0", alpha=0.35, label=_name(interval))


def _curve(one: Distribution, ax: Any, interval: float) -> None:
    """The density, and an upright line for each atom with its probability."""
    (lower, upper), (start, end) = one.interval(interval), one.interval(0.998)
    reach = 0.1 * (end - start)
    places = np.clip(np.linspace(start - reach, end + reach, POINTS), *one.support())
    density = one.pdf(places)
    ax.plot(places, density, color="C0", label="density")
    inside = (places >= lower) & (places <= upper)
    ax.fill_between(places, density, where=inside, color="C0", alpha=0.25, label=_name(interval))
    atoms = np.unique(one.means[(one.sds == 0) & (one.weights > 0)])
    masses = one.pmf(atoms)
    # A probability has no place on an axis of densities: the most probable atom is as high as the density.
    tops = masses / max(masses, default=1.0) * (density.max() or 1.0)
    if len(atoms):
        ax.vlines(atoms, 0, tops, color="C0", linewidth=3, label="one value")
    for atom, top, mass in zip(atoms, tops, masses, strict=True):
        ax.annotate(f"{100 * mass:.1f} %", (atom, top), (4, 2), textcoords="offset points")


def _name(interval: float) -> str:
    return f"{interval:g} interval"
