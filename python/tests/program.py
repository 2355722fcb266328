"""The command line, where it has been built: the folder that holds it is that of cargo, or NEGMM_PROGRAM names it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def program() -> str:
    places = [os.environ.get("NEGMM_PROGRAM"), ROOT / "target/release/negmm", ROOT / "target/debug/negmm"]
    for place in places:
        if place and Path(place).is_file():
            return str(place)
    pytest.skip("the command line is not built: cargo build")


def run(*arguments: object) -> str:
    done = subprocess.run([program(), *map(str, arguments)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout
