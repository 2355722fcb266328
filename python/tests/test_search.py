"""Comparison and hyperparameter search: the numbers of the command line, as pandas tables."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from program import run
from quick import quick, rows

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
    found = negmm.compare(X, ends, [quick("mdn"), "constant"], folds=2)
    assert set(found.scores.columns) == {"nll", "integrated_brier", "concordance", "seconds"}
    search = negmm.tune(X, ends, quick("mdn"), {"components": [1, 2]}, by="nll", folds=2)
    assert search.table["nll"].is_monotonic_increasing


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
