"""The style of pictures: the colours of the report, and axes."""

from __future__ import annotations

from typing import Any

#: The colours of the report.
BLUE, ORANGE, SKY, GREY, TEXT = "#0072b2", "#d55e00", "#56b4e9", "#6e7781", "#1a1f26"


def axes_of(ax: Any) -> Any:
    """The axes to draw into."""
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError("plots need matplotlib: pip install matplotlib") from error
    if ax is None:
        ax = pyplot.gca()
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    return ax
