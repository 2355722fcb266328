"""A report: one HTML page that loads nothing, shown in notebooks and saved as a file."""

from __future__ import annotations

import os
from html import escape

from negmm.files import write_atomically

#: Pixels of the frame in a notebook.
HEIGHT = 640


class Report:
    """A report as one HTML page."""

    def __init__(self, html: str) -> None:
        self.html = html

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the page; the write is atomic."""
        write_atomically(path, self.html.encode())

    def _repr_html_(self) -> str:
        """The page in a frame of its own, so that its style is not the notebook's."""
        return f'<iframe srcdoc="{escape(self.html)}" width="100%" height="{HEIGHT}" style="border: 0"></iframe>'

    def __repr__(self) -> str:
        return f"<Report of {len(self.html) // 1000} kB: .save(path) writes it, notebooks show it>"
