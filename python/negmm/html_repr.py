"""The HTML that a notebook shows for distributions: numbers and a small density plot for each of the first rows."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from negmm.distribution import Distribution

#: Rows in the table, and the points and size of a density plot.
ROWS, POINTS, WIDTH, HEIGHT = 5, 80, 160, 28


def html_table(dist: Distribution) -> str:
    """The distributions as an HTML table."""
    rows = dist._rows()
    few = rows[: min(ROWS, len(rows))]
    if not len(few):
        return f"<p>{escape(repr(dist))}</p>"
    labels = range(len(few)) if few._index is None else few._index
    (lower, upper), (start, end) = few.interval(0.9), (few.ppf(0.001), few.isf(0.001))
    # One axis for all, so that rows can be compared.
    edges = np.linspace(start.min(), end.max(), POINTS)
    masses = few.cdf(edges[1:, np.newaxis]) - few.cdf(edges[:-1, np.newaxis])
    cells = zip(labels, few.mean(), few.std(), lower, upper, masses.T, strict=True)
    lines = "".join(
        f"<tr><th>{escape(str(label))}</th><td>{mean:.4g}</td><td>{sd:.4g}</td><td>{low:.4g} … {high:.4g}</td>"
        f"<td>{_histogram(mass)}</td></tr>"
        for label, mean, sd, low, high, mass in cells
    )
    head = "<tr><th></th><th>mean</th><th>sd</th><th>90 %</th>"
    axis = f"<th>{edges[0]:.4g} … {edges[-1]:.4g}</th></tr>"
    return f"<p>{escape(repr(dist))}</p><table><thead>{head}{axis}</thead><tbody>{lines}</tbody></table>"


def _histogram(masses: np.ndarray) -> str:
    """A histogram of probabilities as an SVG polygon."""
    across = np.linspace(0, WIDTH, len(masses))
    up = HEIGHT - (HEIGHT - 2) * masses / (masses.max() or 1.0)
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in zip(across, up, strict=True))
    size = f'width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}"'
    shape = f'<polygon points="0,{HEIGHT} {points} {WIDTH},{HEIGHT}" fill="currentColor" fill-opacity="0.35"/>'
    return f"<svg {size}>{shape}</svg>"
