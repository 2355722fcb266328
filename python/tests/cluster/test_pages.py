"""The pages about clusters and MLflow run."""

from __future__ import annotations

import doctest
import os
import re
import sys
import warnings
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


@pytest.mark.parametrize("page", ["docs/distributed.md", "docs/mlflow.md"])
def test_pages(page):
    os.environ["PYSPARK_PYTHON"] = sys.executable
    text = (ROOT / page).read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    examples = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, page, page, 0)
    assert len(examples.examples) > 15
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert doctest.DocTestRunner(optionflags=FLAGS).run(examples).failed == 0
