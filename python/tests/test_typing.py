"""Types of the package: mypy --strict passes on the examples of the documentation."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import external

ROOT = Path(__file__).parents[2]
#: Packages without types of their own.
UNTYPED = ["dask", "distributed", "mapie", "mlflow", "optuna", "pyspark", "ray", "scipy", "sklearn", "skpro"]


PAGES = ["README.md", "docs/python.md", "docs/distributed.md", "docs/mlflow.md"]


def examples(page: str) -> str:
    text = (ROOT / page).read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    lines = [line[4:] for block in blocks for line in block.splitlines() if line.startswith((">>> ", "... "))]
    return "\n".join(lines) + "\n"


def test_documented_examples_have_types(tmp_path):
    external.module("mypy")
    for number, page in enumerate(PAGES):
        (tmp_path / f"page{number}.py").write_text(examples(page), encoding="utf-8")
    ignored = "".join(f"[mypy-{name}.*]\nignore_missing_imports = True\n" for name in UNTYPED)
    (tmp_path / "mypy.ini").write_text(
        f"[mypy]\nstrict = True\nuntyped_calls_exclude = dask,distributed\n{ignored}", encoding="utf-8"
    )
    found = subprocess.run(
        [sys.executable, "-m", "mypy", "."], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert found.returncode == 0, found.stdout
