"""The notebook of the user guide: its cells run one after the other and draw."""

from __future__ import annotations

import json
from pathlib import Path

import external
import pytest

NOTEBOOK = Path(__file__).parents[2] / "docs" / "notebook" / "deliveries.ipynb"


def test_its_cells_run_and_draw(monkeypatch):
    external.module("pandas")
    matplotlib = external.module("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    plt.close("all")
    monkeypatch.chdir(NOTEBOOK.parent)
    cells = [cell for cell in json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]
    names: dict[str, object] = {}
    for number, cell in enumerate(cells):
        assert cell["outputs"] == [] and cell["execution_count"] is None, "committed without outputs"
        exec(compile("".join(cell["source"]), f"cell {number}", "exec"), names)
    figures = [plt.figure(number) for number in plt.get_fignums()]
    plt.close("all")
    assert len(figures) >= 5
    for figure in figures:
        assert figure.axes and all(ax.lines or ax.collections or ax.patches for ax in figure.axes)
    promise = names["promise"]
    assert (promise["promise"] > promise["mean"]).mean() > 0.9
    assert names["held_out"].dist.cdf(names["held_out"].y).mean() == pytest.approx(0.5, abs=0.05)
