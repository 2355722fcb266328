"""Atomic writing of model files."""

from __future__ import annotations

import errno
import os
import secrets
from pathlib import Path


def write_whole(path: str | os.PathLike[str], content: bytes) -> None:
    """Writes a file that appears whole or not at all."""
    place = Path(path)
    if not place.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "There is no such folder to save a model in", str(place.parent))
    unfinished = place.with_name(f".negmm-{secrets.token_hex(8)}")
    try:
        with open(unfinished, "xb") as file:
            file.write(content)
        os.replace(unfinished, place)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise
