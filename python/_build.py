"""The build backend: maturin's, and one sentence where Rust is missing."""

from __future__ import annotations

import shutil
import sys
from typing import Any

from maturin import *  # noqa: F403

if shutil.which("cargo") is None:
    sys.exit(
        "negmm is built from source with Rust 1.90 or newer, and cargo was not found: install Rust (https://rustup.rs), or "
        "install a wheel of a release, which needs none"
    )


def get_requires_for_build_wheel(config_settings: Any = None) -> list[str]:
    """Nothing: maturin's own would fetch a compiler where there is none."""
    return []


get_requires_for_build_editable = get_requires_for_build_wheel
