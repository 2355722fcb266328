"""Plots of distributions and of forecasts. They need matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from negmm.plot_style import BLUE, ORANGE, axes_of

if TYPE_CHECKING:
    from negmm.distribution import Distribution

#: Points of a density curve.
POINTS = 512
#: Series that are plotted where none are named.
MAX_FANS = 8
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


def plot_fans(dist: Distribution, frame: Any, panel: Any, target: str, how: tuple[Any, Any, Any, Any]) -> Any:
    """Plots the last values of each series and the central intervals of its forecasts; returns the axes. ``how`` has
    the identifiers of series, levels in per cent, the steps of history, and axes."""
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError("plot needs matplotlib: pip install matplotlib") from error
    ids, levels, history, axes = how
    keys = list(panel.keys)
    labels = frame[keys].astype(str).agg("/".join, axis=1) if keys else None
    groups = {"": np.arange(len(frame))} if labels is None else labels.groupby(labels, sort=False).indices
    if ids is not None:
        wanted = [str(name) for name in ids]
        if missing := [name for name in wanted if name not in groups]:
            raise ValueError(f"there is no series {missing[0]!r}; there are {', '.join(list(groups)[:5])} …")
        groups = {name: groups[name] for name in wanted}
    elif len(groups) > MAX_FANS:
        groups = dict(list(groups.items())[:MAX_FANS])
    if axes is None:
        size = (8, 3 * len(groups))
        _, axes = pyplot.subplots(len(groups), figsize=size, squeeze=False, layout="constrained")
    flat = np.ravel(np.asarray(axes))
    if len(flat) < len(groups):
        raise ValueError(f"there are {len(groups)} series to plot, and {len(flat)} axes")
    past = None
    if panel.values is not None and keys:
        past = panel.keys[keys[0]].astype(str)
        for name in keys[1:]:
            past = past + "/" + panel.keys[name].astype(str)
    time = panel.time or "row"
    for ax, (name, rows) in zip(flat, groups.items(), strict=False):
        ahead = _plain_times(frame[time].iloc[rows])
        if panel.values is not None:
            own = panel.values if past is None else panel.values[past == name]
            known = own.notna()
            before = _plain_times(panel.times[own.index]) if panel.times is not None else np.arange(len(own))
            shown = slice(-(history or 5 * len(rows)), None)
            ax.plot(np.asarray(before)[known][shown], own[known].to_numpy(dtype=float)[shown], color="C0", label=target)
        one = dist[rows]
        for level in sorted(levels, reverse=True):
            lower, upper = one.interval(level / 100)
            ax.fill_between(np.asarray(ahead), lower, upper, color="C1", alpha=0.2, linewidth=0, label=f"{level:g} %")
        ax.plot(np.asarray(ahead), one.median(), color="C1", label="median")
        ax.set_title(name)
        ax.legend(loc="upper left", fontsize="small")
    return flat[: len(groups)]


def _plain_times(times: Any) -> Any:
    """Times that matplotlib can place: without a zone, periods at their start."""
    if type(times.dtype).__name__ == "PeriodDtype":
        return times.dt.to_timestamp().to_numpy()
    return times.dt.tz_localize(None).to_numpy() if getattr(times.dtype, "tz", None) is not None else times.to_numpy()


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
    return f"{100 * interval:g} % interval"
