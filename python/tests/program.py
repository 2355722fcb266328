"""The negmm program: NEGMM_PROGRAM, else cargo's build."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import external

ROOT = Path(__file__).parents[2]


def program() -> str:
    if "NEGMM_PROGRAM" in os.environ:
        return os.environ["NEGMM_PROGRAM"]
    built = [path for path in (ROOT / "target/release/negmm", ROOT / "target/debug/negmm") if path.is_file()]
    if not built:
        external.missing("the command line is not built: cargo build")
    return str(max(built, key=lambda path: path.stat().st_mtime))


def run(*arguments: object) -> str:
    done = subprocess.run([program(), *map(str, arguments)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout
