"""Progress bars: in a terminal or a notebook, lines of text elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

#: Characters of a bar.
WIDTH = 30
#: Seconds between two updates of the bar.
PAUSE = 0.1


class Bar:
    """A progress bar in a terminal. It is called with the steps done, all steps, and the fraction of the work that is
    done."""

    def __init__(self, title: str, unit: str) -> None:
        self._title, self._unit = title, unit
        self._start = self._shown = time.monotonic()
        self._last = -1
        self._text = ""

    @property
    def unit(self) -> str:
        """What the steps are; with another unit the work begins again."""
        return self._unit

    @unit.setter
    def unit(self, unit: str) -> None:
        if unit != self._unit:
            self._unit, self._start, self._last = unit, time.monotonic(), -1

    def __call__(self, done: int, of: int, fraction: float) -> None:
        now = time.monotonic()
        if now - self._shown < PAUSE and done < of:
            return
        self._shown, left = now, ""
        if 0 < fraction < 1:
            left = f", {(now - self._start) * (1 - fraction) / fraction:.0f} s left"
        self._show(fraction, f"{done} of {of} {self._unit}{left}")

    def _show(self, fraction: float, text: str) -> None:
        filled = round(WIDTH * min(fraction, 1.0))
        text = f"{self._title} [{'#' * filled}{' ' * (WIDTH - filled)}] {text}"
        print("\r" + text.ljust(len(self._text)), end="", file=sys.stderr, flush=True)
        self._text = text

    def close(self) -> None:
        if self._text:
            print(file=sys.stderr, flush=True)


class Lines(Bar):
    """A line of text for every tenth of the work, where a bar cannot be redrawn."""

    def _show(self, fraction: float, text: str) -> None:
        tenth = int(10 * fraction)
        if tenth > self._last:
            self._last = tenth
            print(f"{self._title}: {100 * fraction:.0f} %, {text}", file=sys.stderr, flush=True)


class Notebook(Bar):
    """A progress bar in a notebook."""

    def __init__(self, title: str, unit: str, display: Any, html: Any) -> None:
        super().__init__(title, unit)
        self._html = html
        self._handle = display(html(""), display_id=True)

    def _show(self, fraction: float, text: str) -> None:
        self._handle.update(self._html(f"{self._title} <progress value='{fraction:.4f}' max='1'></progress> {text}"))


def _bar(title: str, unit: str) -> Bar:
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if type(shell).__name__ == "ZMQInteractiveShell":
        from IPython.display import HTML, display

        return Notebook(title, unit, display, HTML)
    return Bar(title, unit) if sys.stderr.isatty() else Lines(title, unit)


@contextmanager
def progress(verbose: int | bool, title: str, unit: str) -> Iterator[Bar | None]:
    """The progress bar of some work; None unless ``verbose``."""
    bar = _bar(title, unit) if verbose else None
    try:
        yield bar
    finally:
        if bar is not None:
            bar.close()
