"""Pictures, reports and held-out predictions of estimators."""

from __future__ import annotations

import pickle

import external
import numpy as np
import pytest
from quick import NAMES, quick, rows

from negmm import Distribution, plots


def test_every_picture_is_drawn():
    matplotlib = external.module("matplotlib")
    matplotlib.use("Agg")
    pyplot = external.module("matplotlib.pyplot")
    X, y = rows()
    model = quick("ngboost").fit(X, y, importances=True)
    dist = model.predict_dist(X)
    figure, axes = pyplot.subplots(2, 3, figsize=(12, 7))
    ax = axes.ravel()
    assert plots.pit(dist, y, ax=ax[0]) is ax[0]
    counts = [patch.get_height() for patch in ax[0].patches if patch.get_width() < 0.1]
    assert sum(counts) == len(y)
    plots.reliability(dist, y, ax=ax[1])
    curve = ax[1].lines[-1].get_xydata()
    inside = (np.abs(2 * dist.pit(y) - 1) <= 0.5).mean()
    assert curve[50] == pytest.approx([0.5, inside])
    # The legend covers no bar.
    assert max(bar.get_height() for bar in ax[0].patches) < 0.9 * ax[0].get_ylim()[1]
    plots.observed(dist, y, ax=ax[2], most=50)
    assert len(ax[2].collections[-1].get_offsets()) == 50
    plots.importances(model, ax=ax[3])
    assert [label.get_text() for label in ax[3].get_yticklabels()][-1] in ("x0", "x1")
    plots.fan(dist[:12], history=(np.arange(-5, 0), y[:5]), ax=ax[4])
    plots.densities(Distribution.of_mixtures([[1.0]] * 2, [[3.0], [5.0]], [[1.0]] * 2, lower=0.0, step=1.0), [0, 1], ax=ax[5])
    figure.canvas.draw()
    assert np.asarray(figure.canvas.buffer_rgba()).std() > 10
    pyplot.close("all")


def test_the_report_is_one_page(tmp_path):
    X, y = rows()
    model = quick("ngboost").fit(X, y)
    page = model.report(X, y, tmp_path / "report.html", source="my rows")
    html = (tmp_path / "report.html").read_text()
    assert html == page.html and html.startswith("<!doctype html>") and "my rows" in html
    assert page._repr_html_().startswith('<iframe srcdoc="&lt;!doctype html&gt;') and "kB" in repr(page)
    weighted = model.report(X, y, sample_weight=np.arange(len(y)))
    assert weighted.html != page.html
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.report(X, y[:-1])


@pytest.mark.parametrize("name", NAMES)
def test_held_out_predictions_are_those_of_the_scores(name):
    X, y = rows()
    model = quick(name).fit(X, y)
    held_out, validation = model.held_out_, model.record_["validation"]
    np.testing.assert_array_equal(held_out.y, y[held_out.rows])
    if validation is None:
        assert len(held_out.rows) == 0
    else:
        assert held_out.dist.crps(held_out.y).mean() == pytest.approx(validation["crps"], rel=1e-6)
    if name == "auto":
        assert sorted(held_out.rows.tolist()) == list(range(len(y)))
        # Not by the model that has seen them.
        assert held_out.dist.crps(held_out.y).mean() > model.predict_dist(X).crps(y).mean()
    with pytest.raises(AttributeError, match="held_out_ is there after fit"):
        pickle.loads(pickle.dumps(model)).held_out_
