"""Pictures of explanations with Matplotlib, in the style of the report; `negmm.plots` has them too."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

import numpy as np

from negmm.explanation import Dependence, Explanation, GlobalExplanation, cell_text
from negmm.plot_style import BLUE, GREY, ORANGE, TEXT, axes_of


def _one(explanation: Explanation) -> Explanation:
    """The explanation of one answer."""
    if len(explanation.output_names) > 1:
        names = ", ".join(explanation.output_names)
        raise ValueError(f"choose one of the answers: explanation[name], of {names}")
    return explanation


def waterfall(explanation: Explanation, *, most: int = 10, ax: Any = None) -> Any:
    """How the answer for one row comes about: from the mean over the background, column by column, to the answer."""
    one, ax = _one(explanation), axes_of(ax)
    if len(one) != 1:
        raise ValueError(f"choose one row: explanation[3]; there are {len(one)}")
    own, names, cells = one._values[0, :, 0], one.feature_names, one._data[0]
    order = np.argsort(-np.abs(own), kind="stable")
    shown, rest = order[:most], order[most:]
    labels, steps = [_label(names[at], cells[at]) for at in shown], own[shown].tolist()
    if len(rest):
        labels.append(f"{len(rest)} others")
        steps.append(float(own[rest].sum()))
    # From below: the smallest first.
    labels, steps = labels[::-1], steps[::-1]
    start = float(one._base[0, 0])
    ends = start + np.cumsum(steps)
    starts = np.concatenate([[start], ends[:-1]])
    width = max(starts.max(), ends.max()) - min(starts.min(), ends.min()) or 1.0
    digits = max(2 - int(np.floor(np.log10(width))), 0)
    for at, (begin, step) in enumerate(zip(starts, steps, strict=True)):
        ax.barh(at, step, left=begin, color=ORANGE if step > 0 else BLUE, height=0.65)
        end = begin + max(step, 0.0)
        ax.text(end + 0.015 * width, at, f"{step:+.{digits}f}", va="center", color=TEXT, fontsize="small")
        if at + 1 < len(steps):
            ax.plot([begin + step] * 2, [at - 0.33, at + 1.33], color=GREY, linewidth=0.8)
    ax.axvline(start, color=GREY, linestyle="--", linewidth=1)
    ax.set_yticks(range(len(labels)), labels)
    ax.set_xlim(min(starts.min(), ends.min()) - 0.05 * width, max(starts.max(), ends.max()) + 0.16 * width)
    ax.set(xlabel=one.output_names[0])
    ax.set_title(
        f"{one.output_names[0]} {one._predictions[0, 0]:.{digits}f}, where {start:.{digits}f} is usual", loc="left"
    )
    return ax


def _label(name: str, cell: Any) -> str:
    text = cell_text(cell)
    return f"{name} = {text[:24]}" if text else name


def beeswarm(explanation: Explanation, *, most: int = 10, ax: Any = None) -> Any:
    """The contributions of all rows, a line of points for each column, orange where the column's number is high and blue
    where it is low; columns without numbers are grey."""
    one, ax = _one(explanation), axes_of(ax)
    order = np.argsort(-np.abs(one._values[..., 0]).mean(axis=0), kind="stable")[:most][::-1]
    span = np.ptp(one._values[:, order, 0]) or 1.0
    for at, column in enumerate(order):
        values = one._values[:, column, 0]
        colours: Any = _colours(one._data[:, column])
        ax.scatter(values, at + _swarm(values, span), c=colours, s=9, alpha=0.8, linewidth=0, rasterized=True)
    ax.axvline(0, color=GREY, linewidth=1)
    ax.set_yticks(range(len(order)), [one.feature_names[column] for column in order])
    ax.set(xlabel=f"contribution to {one.output_names[0]}", ylim=(-0.6, len(order) - 0.4))
    return ax


def _swarm(values: Any, span: float) -> Any:
    """Heights that put points of about the same value beside each other, the first in the middle."""
    bins = np.round(60 * values / span).astype(int)
    place = np.zeros(len(values))
    sizes: dict[int, int] = {}
    for at, own in enumerate(bins.tolist()):
        count = sizes.get(own, 0)
        sizes[own] = count + 1
        place[at] = (count + 1) // 2 * (-1 if count % 2 else 1)
    return 0.4 * place / max(np.abs(place).max(), 8.0)


def _colours(cells: Any) -> Any:
    """From blue to orange by the ranks of numbers; grey for missing ones and text."""
    from matplotlib.colors import LinearSegmentedColormap, to_rgba

    grey = np.tile(to_rgba(GREY), (len(cells), 1))
    if any(isinstance(cell, str) for cell in cells):
        return grey
    # A missing cell is None or not equal to itself.
    known_cells = [None if cell is None or cell != cell else cell for cell in cells]
    plain = [cell.astype(np.int64) if isinstance(cell, np.datetime64) else cell for cell in known_cells]
    numbers = np.array([np.nan if cell is None else float(cell) for cell in plain])
    known = np.isfinite(numbers)
    low, high = np.nanquantile(numbers, [0.05, 0.95]) if known.any() else (0.0, 0.0)
    if not high > low:
        return grey
    scale = LinearSegmentedColormap.from_list("explanations", [BLUE, "#b8c4cc", ORANGE])
    grey[known] = scale(np.clip((numbers[known] - low) / (high - low), 0, 1))
    return grey


def contributions(found: Explanation | GlobalExplanation, *, most: int = 12, ax: Any = None) -> Any:
    """The mean |contribution| of each column, of several answers beside each other, each relative to the largest."""
    ax = axes_of(ax)
    if isinstance(found, GlobalExplanation):
        means, names, answers = found.contributions, found.columns, found.answers
    else:
        means, names, answers = np.abs(found._values).mean(axis=0), found.feature_names, found.output_names
    several = len(answers) > 1
    heights = means / np.maximum(means.max(axis=0), np.finfo(float).tiny) if several else means
    order = np.argsort(-heights.max(axis=1), kind="stable")[:most][::-1]
    thick = 0.8 / len(answers)
    for at, answer in enumerate(answers):
        places = np.arange(len(order)) + 0.4 - (at + 0.5) * thick
        ax.barh(places, heights[order, at], thick, color=f"C{at}" if several else BLUE, label=answer)
    ax.set_yticks(range(len(order)), [names[column] for column in order])
    ax.set(xlabel="mean |contribution|, relative to the largest" if several else f"mean |contribution| to {answers[0]}")
    if several:
        ax.legend(frameon=False)
    return ax


def dependence(found: Dependence | GlobalExplanation, answer: str, column: str | None = None, *, ax: Any = None) -> Any:
    """An answer along a column: its mean over rows (partial dependence), and that of each row."""
    if isinstance(found, GlobalExplanation):
        if column not in found.dependence:
            raise ValueError(f"there is no dependence on {column!r}; there is on {', '.join(found.dependence)}")
        found = found.dependence[column]
    if answer not in found.partial:
        raise ValueError(f"there is no answer {answer!r}; there are {', '.join(found.partial)}")
    ax = axes_of(ax)
    partial, individual = found.partial[answer], found.individual[answer]
    if found.numbers is None:
        places: Any = np.arange(len(partial))
        ax.plot(np.tile(places, (len(individual), 1)).T, individual.T, "o", color=BLUE, alpha=0.15, markersize=3)
        ax.plot(places, partial, "D", color=ORANGE, label="mean of the rows")
        ax.set_xticks(places, [value[:16] for value in found.values], rotation=45, ha="right")
    else:
        places = found.numbers
        if not _is_number(found.values[0]):
            from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

            places, locator = _dates(found.numbers), AutoDateLocator()
            ax.xaxis.set_major_locator(locator)
            ax.xaxis.set_major_formatter(ConciseDateFormatter(locator))
        ax.plot(places, individual.T, color=BLUE, alpha=0.18, linewidth=0.8)
        ax.plot(places, partial, color=ORANGE, linewidth=2, label="mean of the rows")
    ax.set(xlabel=found.column, ylabel=answer)
    ax.legend(frameon=False)
    return ax


def _is_number(value: str) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    return True


def _dates(seconds: Any) -> list[datetime]:
    return [datetime.fromtimestamp(second, timezone.utc).replace(tzinfo=None) for second in seconds]
