"""Attributes of a fitted estimator, permutation importance and partial dependence."""

from __future__ import annotations

import external
import numpy as np
import pandas as pd
import pytest
from quick import LEARNING, quick, rows
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectFromModel
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

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
    assert not np.array_equal(plain.feature_importances_, model.feature_importances_)
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


def test_partial_dependence_keeps_the_members():
    model = quick("ensemble").fit(X, Y)
    _, dist = negmm.partial_dependence(model, X, 0, grid=[0.0], rows=len(X))
    moved = X.copy()
    moved[:, 0] = 0.0
    members = model.predict_dist(moved)
    assert dist._predictions.members == 2 and dist.var_parts()[1][0] > 0
    # The variance between the members' means over all rows is at most the mean of that of single rows.
    assert dist.var_parts()[1][0] <= members.var_parts()[1].mean()


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


def homes(count: int = 240) -> tuple[pd.DataFrame, np.ndarray]:
    """Text, categories, dates and numbers with gaps; the place and the year matter."""
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(
        {
            "size": np.where(np.arange(count) % 13 == 4, np.nan, rng.uniform(size=count)),
            "place": rng.choice(["Oslo", "Rome", "Bern"], size=count, p=[0.5, 0.3, 0.2]),
            "kind": pd.Categorical(rng.choice(["old", "new"], size=count)),
            "built": pd.Timestamp("1990-01-01") + pd.to_timedelta(rng.integers(0, 9000, size=count), unit="D"),
        }
    )
    year = frame["built"].dt.year + frame["built"].dt.dayofyear / 365
    return frame, (2.0 * (frame["place"] == "Rome") + 0.1 * (year - 2000) + 0.2 * rng.normal(size=count)).to_numpy()


def test_importances_of_text_and_dates_by_every_kind_of_frame():
    frame, price = homes()
    found = negmm.importances(quick("ngboost"), frame, price, repeats=2)
    assert np.argsort(found)[-2:].tolist() in ([1, 3], [3, 1]) and np.abs(found[[0, 2]]).max() < 0.1 * found.max()
    polars, pyarrow = external.module("polars"), external.module("pyarrow")
    arrow = pyarrow.Table.from_pandas(frame, preserve_index=False)
    for same in (polars.from_pandas(frame), arrow):
        np.testing.assert_allclose(negmm.importances(quick("ngboost"), same, price, repeats=2), found)
    named = negmm.importances(quick("ngboost"), frame.assign(price=price), "price", repeats=2)
    np.testing.assert_array_equal(named, found)
    fitted = quick("ngboost").fit(frame, price, importances=True)
    assert fitted.feature_importances_.shape == (4,)


def test_importances_of_pipelines():
    frame, price = homes()
    steps = ColumnTransformer([("text", OneHotEncoder(), ["place", "kind"])], remainder="drop", sparse_threshold=0)
    pipe = make_pipeline(steps, quick("ngboost"))
    weights = np.where(np.arange(240) % 2, 1.0, 0.5)
    found = negmm.importances(pipe, frame, price, repeats=2, sample_weight=weights)
    assert found.argmax() == 1 and found[[0, 3]].tolist() == [0, 0]
    logged = TransformedTargetRegressor(quick("ngboost"), func=np.log, inverse_func=np.exp)
    assert negmm.importances(logged, X[:90], np.exp(Y[:90]), repeats=1).argmax() == 0
    with pytest.raises(ValueError, match="expected 240 values of y, one for each row, found 3"):
        negmm.importances(pipe, frame, price[:3])


def test_dependence_on_text_and_dates():
    frame, price = homes()
    model = quick("ngboost").fit(frame, price)
    values, dist = negmm.partial_dependence(model, frame, "place")
    assert values.tolist() == ["Oslo", "Rome", "Bern"] and dist.mean().argmax() == 1
    # The mean over rows that have the place.
    values, dist = negmm.partial_dependence(model, frame, "place", rows=len(frame), grid=["Rome"])
    assert dist.mean()[0] == pytest.approx(model.predict(frame.assign(place="Rome")).mean())
    values, dist = negmm.partial_dependence(model, frame, "built", grid=5)
    assert values.dtype.kind == "M" and (np.diff(values) > np.timedelta64(0)).all() and np.diff(dist.mean()).min() > 0
    values, dist = negmm.partial_dependence(model, frame, "kind", grid=["new", "old"])
    assert np.abs(np.diff(dist.mean())) < 0.2
    polars, pyarrow = external.module("polars"), external.module("pyarrow")
    arrow = pyarrow.Table.from_pandas(frame, preserve_index=False)
    for same in (polars.from_pandas(frame), arrow):
        for name in frame.columns:
            expected, own = negmm.partial_dependence(model, frame, name, grid=4)
            values, dist = negmm.partial_dependence(model, same, name, grid=4)
            assert values.tolist() == expected.tolist()
            np.testing.assert_allclose(dist.mean(), own.mean())
    pipe = make_pipeline(StandardScaler(), quick("ngboost")).fit(X, Y)
    values, dist = negmm.partial_dependence(pipe, X, 0, grid=4)
    assert np.diff(dist.mean()).min() > 0
    logged = TransformedTargetRegressor(quick("ngboost"), func=np.log, inverse_func=np.exp).fit(X, np.exp(Y))
    values, dist = negmm.partial_dependence(logged, X, 0, grid=4)
    assert np.diff(dist.mean()).min() > 0
    with pytest.raises(ValueError, match="there is no column 'garden'; the columns are size, place, kind, built"):
        negmm.partial_dependence(model, frame, "garden")


def test_progress_is_shown(capsys, monkeypatch):
    quick("ensemble", verbose=1).fit(X, Y)
    assert capsys.readouterr().err.splitlines()[-1] == "fit: 100 %, 2 of 2 networks"
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    quick("ensemble", verbose=1).fit(X, Y)
    assert "\rfit [##############################] 2 of 2 networks" in capsys.readouterr().err
    quick("ensemble").fit(X, Y)
    assert capsys.readouterr().err == ""
