"""Attributes of a fitted estimator, permutation importance and partial dependence."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from quick import LEARNING, quick, rows
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectFromModel

import negmm

X, Y = rows(300)


def test_importances_are_of_rows_that_were_left_out():
    found = negmm.importances(quick("ngboost"), X, Y)
    assert found[0] > 0.5 > found[1] > 0.05 > abs(found[2])
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    np.testing.assert_array_equal(negmm.importances(quick("ngboost"), frame, Y), found)
    # With noise as large as that of a tree that knows the rows by heart, an input without information has no
    # importance.
    noise = np.random.default_rng(1).normal(size=300)
    known = negmm.importances(quick("ngboost", n_estimators=300, max_depth=6, validation_fraction=0.0), X, noise)
    assert np.abs(known).max() < 0.1


def test_importances_as_scikit_learn_has_them():
    model = quick("ngboost").fit(X, Y, importances=True)
    np.testing.assert_array_equal(model.feature_importances_, negmm.importances(quick("ngboost"), X, Y))
    selector = SelectFromModel(model, prefit=True, threshold=0.05)
    assert selector.get_support().tolist() == [True, True, False]
    plain = quick("ngboost").fit(X, Y)
    with pytest.raises(AttributeError, match=r"fit\(..., importances=True\)"):
        _ = plain.feature_importances_
    assert model.model_.to_bytes() == plain.model_.to_bytes()


def test_groups_are_left_out_together_and_weights_count():
    groups = np.arange(300) // 10
    weights = np.where(np.arange(300) < 150, 1.0, 0.0)
    grouped = negmm.importances(quick("ngboost"), X, Y, groups=groups)
    weighted = negmm.importances(quick("ngboost"), X, Y, sample_weight=weights)
    assert grouped.argmax() == weighted.argmax() == 0
    assert not np.array_equal(grouped, weighted)


@pytest.mark.parametrize("name", LEARNING)
def test_training_histories(name):
    model = quick(name).fit(X, Y, eval_set=[(X[:50], Y[:50]), (X[50:], Y[50:])])
    results = model.evals_result_
    networks = [results[key] for key in results if key.startswith("network")]
    assert len(networks) == len(model.record_["histories"])
    assert model.n_iter_ == max(len(network["loss"]) for network in networks) > 1
    assert all(len(scores) == len(network["loss"]) for network in networks for scores in network.values())
    assert networks[0]["nll"][0] > min(networks[0]["nll"])
    dist = model.predict_dist(X[:50])
    assert results["eval 0"]["crps"] == [pytest.approx(dist.crps(Y[:50]).mean())]
    assert results["eval 1"].keys() == {"crps", "nll", "rmse"}
    with pytest.raises(NotFittedError):
        _ = quick(name).evals_result_
    assert not hasattr(quick(name), "n_iter_")


@pytest.mark.parametrize("name", ["ne-gmm", "sample-net"])
def test_the_distribution_changes_with_an_input(name):
    model = quick(name).fit(X, Y)
    values, dist = negmm.partial_dependence(model, X, 0, grid=7)
    assert len(values) == len(dist) == 7
    assert np.diff(dist.mean()).min() > 0
    # The mixture of all rows: its mean is the mean of their means.
    values, dist = negmm.partial_dependence(model, X, 0, grid=[-1.0, 1.0], rows=len(X))
    moved = X.copy()
    moved[:, 0] = 1.0
    assert dist.mean()[1] == pytest.approx(model.predict(moved).mean())
    assert dist.cdf(2.0)[1] == pytest.approx(
        model.predict_dist(moved).cdf(2.0).mean(), abs=1e-6 if name == "ne-gmm" else 0.01
    )
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    by_name = negmm.partial_dependence(quick(name).fit(frame, Y), frame, "a", grid=[-1.0, 1.0], rows=len(X))[1]
    np.testing.assert_allclose(by_name.mean(), dist.mean())


def test_progress_is_shown(capsys, monkeypatch):
    quick("ensemble", verbose=1).fit(X, Y)
    assert capsys.readouterr().err.splitlines()[-1] == "fit: 100 %, 2 of 2 networks"
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    quick("ensemble", verbose=1).fit(X, Y)
    assert "\rfit [##############################] 2 of 2 networks" in capsys.readouterr().err
    quick("ensemble").fit(X, Y)
    assert capsys.readouterr().err == ""
