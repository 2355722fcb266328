"""Comparison and hyperparameter search: the numbers of the command line, as pandas tables."""

from __future__ import annotations

import json
import warnings

import external
import numpy as np
import pandas as pd
import pytest
from program import run
from quick import quick, rows
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import BayesianRidge, LinearRegression
from sklearn.neighbors import KNeighborsRegressor

import negmm

X, Y = rows()


def test_a_comparison_is_that_of_the_command_line(tmp_path):
    data = pd.DataFrame(X, columns=["a", "b", "c"]).assign(y=Y)
    data.to_csv(tmp_path / "data.csv", index=False)
    arguments = [
        "compare",
        tmp_path / "data.csv",
        "--target",
        "y",
        "--methods",
        "ngboost,constant",
        "--folds",
        "3",
        "--seed",
        "5",
    ]
    printed = run(*arguments, "--set", "n-estimators=40", "--json")
    found = negmm.compare(
        data[["a", "b", "c"]], data["y"], [negmm.NGBoostRegressor(n_estimators=40), "constant"], folds=3, random_state=5
    )
    for line in json.loads(printed)["table"]:
        if line["metric"] != "seconds":
            assert found.table.loc[line["method"], (line["metric"], "mean")] == pytest.approx(line["mean"], rel=1e-12)
            assert found.table.loc[line["method"], (line["metric"], "se")] == pytest.approx(line["se"], rel=1e-9)
            assert (found.best[line["metric"]] == line["method"]) == line["best"]


def test_names_splits_and_target_parameters():
    named = {"one": quick("ngboost", n_estimators=1), "forty": quick("ngboost")}
    found = negmm.compare(X, Y, named, repeats=4, test=0.3)
    assert list(found.table.index) == ["one", "forty"] and len(found.scores) == 8
    assert found.best["crps"] == "forty"
    twice = negmm.compare(X, Y, [quick("ngboost"), quick("ngboost", n_estimators=1)], folds=2)
    assert list(twice.table.index) == ["ngboost", "ngboost 2"]
    grouped = negmm.compare(X, Y, ["constant"], folds=3, groups=np.arange(120) % 3)
    assert len(grouped.scores) == 3
    forward = negmm.compare(X, Y, ["constant"], folds=3, time=np.arange(120))
    assert len(forward.scores) == 3
    with pytest.raises(ValueError, match="repeats cannot be used with time"):
        negmm.compare(X, Y, ["constant"], repeats=3, time=np.arange(120))
    weighted = negmm.compare(X, Y, ["constant"], folds=3, sample_weight=np.arange(120))
    assert weighted.table.loc["constant", ("crps", "mean")] != grouped.table.loc["constant", ("crps", "mean")]
    with pytest.raises(ValueError, match="must be the same for all estimators"):
        negmm.compare(X, Y, [quick("ngboost", lower=-9), quick("mdn")])
    with pytest.raises(ValueError, match="there is no method 'forest'"):
        negmm.compare(X, Y, ["forest"])


def test_censored_targets_have_their_scores():
    ends = np.stack([Y, np.where(np.arange(120) % 3, Y, np.inf)], axis=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = negmm.compare(X, ends, [quick("mdn"), "constant"], folds=2, censoring="interval")
    assert set(found.scores.columns) == {"nll", "integrated_brier", "concordance", "seconds"}
    search = negmm.tune(X, ends, quick("mdn"), {"components": [1, 2]}, by="nll", folds=2, censoring="interval")
    assert search.table["nll"].is_monotonic_increasing


class Peer(RegressorMixin, BaseEstimator):
    """An estimator of this package that is not known as one."""

    def __init__(self, inner=None):
        self.inner = inner

    def fit(self, X, y, sample_weight=None):
        self.fitted_ = clone(self.inner).fit(X, y, sample_weight)
        return self

    def predict(self, X):
        return self.fitted_.predict(X)


class PeerOfDistributions(Peer):
    def predict_dist(self, X):
        return self.fitted_.predict_dist(X)


class PeerOfQuantiles(Peer):
    """As ngboost has it."""

    def pred_dist(self, X):
        return Frozen(self.fitted_.predict_dist(X))


class Frozen:
    """A distribution of which only SciPy's functions are known."""

    def __init__(self, dist):
        self.ppf = dist.ppf


@pytest.mark.parametrize("case", ["folds", "weights", "counts", "time", "frame"])
def test_other_estimators_have_the_splits_and_scores_of_ours(case):
    more = {
        "weights": {"sample_weight": 1.0 + np.arange(120) % 3},
        "time": {"time": np.arange(120)},
    }.get(case, {})
    y = np.abs(np.round(3 * Y)) if case == "counts" else Y
    inputs = pd.DataFrame(X, columns=["a", "b", "c"]) if case == "frame" else X
    # Others are not told the times, by which ours choose validation rows.
    own = quick("constant" if case == "time" else "mdn")
    methods = {"ours": own, "theirs": PeerOfDistributions(own), "linear": LinearRegression()}
    found = negmm.compare(inputs, y, methods, folds=3, **more)
    assert list(found.table.index) == list(methods)
    ours, theirs = (found.scores.loc[name].drop(columns="seconds") for name in ("ours", "theirs"))
    # Each of our fits on a split has the seed of that split; here both have the same.
    assert set(ours) == ({"mass_nll"} if case == "counts" else set()) | {"rmse", "nll", "crps", "picp", "mpiw"}
    np.testing.assert_allclose(ours.iloc[0], theirs.iloc[0], rtol=1e-6)
    linear = found.scores.loc["linear"]
    assert linear["nll"].isna().all() and (linear["crps"] < linear["rmse"]).all()


def test_estimators_of_scikit_learn_alone():
    methods = [BayesianRidge(), DummyRegressor(), DummyRegressor(strategy="median"), PeerOfQuantiles(quick("ngboost"))]
    found = negmm.compare(X, Y, methods, folds=4)
    assert list(found.table.index) == ["BayesianRidge", "DummyRegressor", "DummyRegressor 2", "PeerOfQuantiles"]
    assert 0.8 < found.table.loc["BayesianRidge", ("picp", "mean")] <= 1
    assert found.best["rmse"] in ("BayesianRidge", "PeerOfQuantiles", None) and found.best["picp"] is None
    assert found.table.loc["DummyRegressor", ("crps", "mean")] > found.table.loc["PeerOfQuantiles", ("crps", "mean")]
    with pytest.raises(ValueError, match="cannot be compared on censored targets: LinearRegression"):
        negmm.compare(X, np.stack([Y, Y + 1], axis=1), [LinearRegression()], folds=2, censoring="interval")
    with pytest.raises(ValueError, match="KNeighborsRegressor takes no sample_weight"):
        negmm.compare(X, Y, [KNeighborsRegressor()], folds=2, sample_weight=np.ones(120))


def test_regressors_of_skpro_are_compared():
    external.module("skpro")
    from negmm.skpro import NEGMMProbaRegressor

    inputs = pd.DataFrame(X, columns=["a", "b", "c"])
    methods = {"ours": quick("mdn"), "skpro": NEGMMProbaRegressor(quick("mdn"))}
    found = negmm.compare(inputs, Y, methods, folds=2)
    ours, theirs = (found.scores.loc[name].iloc[0].drop("seconds") for name in methods)
    # By 203 quantiles.
    np.testing.assert_allclose(ours[["rmse", "crps", "mpiw"]], theirs[["rmse", "crps", "mpiw"]], rtol=0.01)


def test_a_search_by_time_learns_from_the_past_alone():
    drifting, space = Y + np.arange(120) / 4, {"max_depth": [1, 2]}
    random, forward = (
        negmm.tune(X, drifting, quick("ngboost"), space, folds=3, time=time) for time in (None, np.arange(120))
    )
    assert forward.table["crps"].min() > 1.5 * random.table["crps"].min()


def test_a_search_continues_from_its_journal(tmp_path):
    space = {"max_depth": [1, 2, 3], "learning_rate": [0.05, 0.1]}
    first = negmm.tune(X, Y, quick("ngboost"), space, folds=2, journal=tmp_path / "journal")
    kept = [path.read_bytes() for path in sorted((tmp_path / "journal").iterdir())]
    again = negmm.tune(X, Y, quick("ngboost"), space, folds=2, journal=tmp_path / "journal")
    assert [path.read_bytes() for path in sorted((tmp_path / "journal").iterdir())] == kept
    assert again.table.equals(first.table) and len(first.table) == 6
    assert first.best_estimator.get_params()["n_estimators"] == quick("ngboost").n_estimators
    with pytest.raises(ValueError):
        negmm.tune(X, Y, quick("ngboost"), {"max_depth": [1]}, folds=2, journal=tmp_path / "journal")


def test_ranges_halving_and_several_methods():
    halved = negmm.tune(
        *rows(900), quick("ngboost"), {"max_depth": (1, 4)}, search="halving", trials=4, factor=2, folds=2
    )
    assert halved.table["row_fraction"].iloc[0] == 1.0 > halved.table["row_fraction"].min()
    both = negmm.tune(X, Y, [quick("ngboost"), quick("ne-gmm")], {"hidden": [(4,), (8, 8)]}, folds=2, refit=False)
    assert set(both.table["method"]) == {"ngboost", "ne-gmm"}
    assert both.best_estimator.__sklearn_is_fitted__() is False
    with pytest.raises(ValueError, match="by must be one of nll, crps, rmse"):
        negmm.tune(X, Y, quick("ngboost"), {"max_depth": [1]}, by="r2")
    with pytest.raises(ValueError, match="leaves is not an option of ngboost"):
        negmm.tune(X, Y, quick("ngboost"), {"leaves": [1]})
    with pytest.raises(ValueError, match="a grid needs values"):
        negmm.tune(X, Y, quick("ngboost"), {"learning_rate": (0.1, 0.2)}, search="grid")
