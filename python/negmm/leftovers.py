"""Names of files that belong to a process, and removal of those that a process left behind which was killed."""

from __future__ import annotations

import os
import re
import socket
from contextlib import suppress
from pathlib import Path


def owner() -> str:
    """This process, as a part of a file's name."""
    return f"{os.getpid()}@{socket.gethostname()}"


def clear(folder: Path, before: str, after: str) -> None:
    """Removes the files of a folder called ``before``, an owner, ``after`` (regular expressions) whose owner was a process
    of this machine that has ended. Files of other machines stay."""
    if os.name != "posix" or not folder.is_dir():
        return
    name = re.compile(rf"{before}(\d+)@{re.escape(socket.gethostname())}{after}")
    for path in folder.iterdir():
        found = name.fullmatch(path.name)
        if found and not _lives(int(found[1])):
            path.unlink(missing_ok=True)


def _lives(process: int) -> bool:
    try:
        with suppress(PermissionError):
            os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    return True
