"""The examples in docstrings and pages run."""

from __future__ import annotations

import doctest
import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


#: What needs packages of ./check-cluster is tested there.
ELSEWHERE = {"dask", "mlflow", "ray", "spark", "sktime"}
FILES = sorted((ROOT / "python" / "negmm").glob("[a-z]*.py"))
MODULES = [path.stem for path in FILES if path.stem not in ELSEWHERE and ">>> " in path.read_text(encoding="utf-8")]


@pytest.mark.parametrize("name", ["", *(f".{name}" for name in MODULES)])
def test_docstrings(name):
    failed, _ = doctest.testmod(importlib.import_module(f"negmm{name}"), optionflags=FLAGS)
    assert failed == 0


@pytest.mark.parametrize("page", ["README.md", "docs/python.md"])
def test_pages(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    examples = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, page, page, 0)
    assert len(examples.examples) > 4
    assert doctest.DocTestRunner(optionflags=FLAGS).run(examples).failed == 0
