"""Progress display: a bar in a terminal or a notebook, lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

#: Characters of a bar.
WIDTH = 30
#: Seconds between two pictures of the bar.
PAUSE = 0.1


class Bar:
    """Told how many pieces are done, of how many, and the share of the work; shows it."""

    def __init__(self, what: str, pieces: str) -> None:
        self._what, self._pieces = what, pieces
        self._start = self._shown = time.monotonic()
        self._last = -1
        self._text = ""

    def __call__(self, done: int, of: int, share: float) -> None:
        now = time.monotonic()
        if now - self._shown < PAUSE and done < of:
            return
        self._shown, left = now, ""
        if 0 < share < 1:
            left = f", {(now - self._start) * (1 - share) / share:.0f} s left"
        self._show(share, f"{done} of {of} {self._pieces}{left}")

    def _show(self, share: float, text: str) -> None:
        filled = round(WIDTH * min(share, 1.0))
        text = f"{self._what} [{'#' * filled}{' ' * (WIDTH - filled)}] {text}"
        print("\r" + text.ljust(len(self._text)), end="", file=sys.stderr, flush=True)
        self._text = text

    def close(self) -> None:
        if self._text:
            print(file=sys.stderr, flush=True)


class Lines(Bar):
    """A line for every tenth of the work, where a bar could not move."""

    def _show(self, share: float, text: str) -> None:
        tenth = int(10 * share)
        if tenth > self._last:
            self._last = tenth
            print(f"{self._what}: {100 * share:.0f} %, {text}", file=sys.stderr, flush=True)


class Notebook(Bar):
    """A bar of the browser's."""

    def __init__(self, what: str, pieces: str, display: Any, html: Any) -> None:
        super().__init__(what, pieces)
        self._html = html
        self._handle = display(html(""), display_id=True)

    def _show(self, share: float, text: str) -> None:
        self._handle.update(self._html(f"{self._what} <progress value='{share:.4f}' max='1'></progress> {text}"))


def _bar(what: str, pieces: str) -> Bar:
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if type(shell).__name__ == "ZMQInteractiveShell":
        from IPython.display import HTML, display

        return Notebook(what, pieces, display, HTML)
    return Bar(what, pieces) if sys.stderr.isatty() else Lines(what, pieces)


@contextmanager
def progress(verbose: int | bool, what: str, pieces: str) -> Iterator[Bar | None]:
    """What is told how far it is; None where nobody wants to see it."""
    bar = _bar(what, pieces) if verbose else None
    try:
        yield bar
    finally:
        if bar is not None:
            bar.close()
