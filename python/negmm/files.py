"""Atomic writes of model files."""

from __future__ import annotations

import errno
import os
import secrets
from pathlib import Path


def write_atomically(path: str | os.PathLike[str], content: bytes) -> None:
    """Writes a file that appears whole or not at all."""
    target = Path(path)
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "There is no such folder to save a model in", str(target.parent))
    temporary = target.with_name(f".negmm-{secrets.token_hex(8)}")
    try:
        with open(temporary, "xb") as file:
            file.write(content)
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
