"""The user guide as a site: built offline, with checked links."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("markdown_it")
pytest.importorskip("mdit_py_plugins")
pytest.importorskip("latex2mathml")

SITE = Path(__file__).resolve().parents[2] / "docs" / "site"


@pytest.fixture(scope="module")
def build():
    sys.path.insert(0, str(SITE))
    import build

    yield build
    sys.path.remove(str(SITE))


def test_all_pages_are_made(tmp_path):
    done = subprocess.run([sys.executable, SITE / "build.py", tmp_path], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    names = {path.name for path in tmp_path.iterdir()}
    assert {"index.html", "tutorial.html", "python-reference.html", "search.js", "style.css"} <= names
    reference = (tmp_path / "python-reference.html").read_text(encoding="utf-8")
    assert "negmm.evaluate_vectors" in reference and "quantile_score" in reference
    for name in ("plots.reliability", "composite.concatenated", "spark.predict", "ray.predict", "sktime.NEGMMForecaster"):
        assert f"negmm.{name}<" in reference, name
    # Methods that an estimator or a distribution has from a base class without an entry.
    for name in ("DistributionRegressor.predict_interval", "DistributionRegressor.update", "Distribution.of_mixtures"):
        assert f">{name}<" in reference, name
    assert "<math" in (tmp_path / "derivations.html").read_text(encoding="utf-8")
    assert ".md\"" not in (tmp_path / "index.html").read_text(encoding="utf-8")


def test_wrong_links_are_named(build):
    text = "# One\n\n[a](nowhere.md) [b](#two) [c](#one) [d](../README.md#no-such-heading) [e](https://example.org)\n"
    pages = {"docs/one.md": build.Page(Path("docs/one.md"), text)}
    pages["README.md"] = build.Page(Path("README.md"), "# Read me\n")
    wrong = build.resolve(pages, {})
    assert wrong == [
        "docs/one.md: there is no nowhere.md",
        "docs/one.md: docs/one.md has no heading #two",
        "docs/one.md: README.md has no heading #no-such-heading",
    ]


def test_docstrings_become_markdown(build):
    import ast

    node = ast.parse(
        'def f(a, *, b=1):\n    """Of ``a`` and :func:`g`.\n\n    Parameters\n    ----------\n    a : int\n        It\'s a_b.\n    """'
    ).body[0]
    assert build.reference.signature(node) == "(a, *, b=1)"
    text = build.reference.docstring(node)
    assert "Of `a` and `g`." in text and "- `a` (int)" in text and "It's a\\_b." in text
