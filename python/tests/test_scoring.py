"""Batch prediction of Arrow batches and Dask partitions: the values of the distributions."""

from __future__ import annotations

import pickle

import external
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from quick import quick, rows

import negmm
from negmm.scoring import Answers

X, Y = rows(300)
FRAME = pd.DataFrame(X, columns=["a", "b", "c"]).assign(id=[f"row {row}" for row in range(300)])
ASKED = {"interval": [0.5, 0.9], "quantiles": 0.05, "above": 2, "below": [-1.5], "equal": 0, "shortfall": 0.1}
NAMES = [
    "mean",
    "sd",
    "q0.05",
    "lower_0.5",
    "upper_0.5",
    "lower_0.9",
    "upper_0.9",
    "p_above_2",
    "p_below_-1.5",
    "p_equal_0",
]


@pytest.fixture(scope="module")
def model():
    return quick("ensemble").fit(FRAME[["a", "b", "c"]], Y)


def expected(model) -> pd.DataFrame:
    dist = model.predict_dist(FRAME[["a", "b", "c"]])
    columns = {"id": FRAME["id"], "mean": dist.mean(), "sd": dist.std(), "q0.05": dist.ppf(0.05)}
    for coverage in (0.5, 0.9):
        columns[f"lower_{coverage}"], columns[f"upper_{coverage}"] = dist.interval(coverage)
    columns |= {"p_above_2": dist.sf(2), "p_below_-1.5": dist.cdf(-1.5), "p_equal_0": dist.pmf(0)}
    return pd.DataFrame(columns | {"shortfall_0.1": dist.shortfall(0.1)})


def same(found: pd.DataFrame, model) -> None:
    """To the last bit, in whatever order the rows came."""
    wanted = expected(model)
    found = found.set_index("id").loc[wanted["id"]].reset_index()[wanted.columns]
    for name in wanted.columns:
        np.testing.assert_array_equal(found[name], wanted[name])


def test_a_batch_is_answered(model, tmp_path):
    answers = Answers(model, **ASKED, keep=["id"])
    assert answers.names == [*NAMES, "shortfall_0.1"]
    batch = pa.RecordBatch.from_pandas(FRAME)
    same(answers(batch).to_pandas(), model)
    same(pickle.loads(pickle.dumps(answers))(pa.Table.from_batches([batch])).to_pandas(), model)
    model.save(tmp_path / "model.negmm")
    same(Answers(tmp_path / "model.negmm", **ASKED, keep=["id"])(batch).to_pandas(), model)
    same(answers.frame(FRAME.iloc[::-1]), model)


def test_parts_novelty_and_components(model):
    answers = Answers(model, parts=True, novelty=True, components=True)
    found = answers(pa.RecordBatch.from_pandas(FRAME)).to_pandas()
    dist = model.predict_dist(FRAME[["a", "b", "c"]])
    aleatoric, epistemic = dist.var_parts()
    np.testing.assert_array_equal(found["variance_aleatoric"], aleatoric)
    np.testing.assert_array_equal(found["variance_epistemic"], epistemic)
    np.testing.assert_array_equal(found["weight_1"], dist.weights[:, 0])
    assert set(found["novelty_input"]) == {""} and not found["novelty"].any()
    assert answers.kind("novelty_input") is str and answers.kind("mean") is float


def test_what_cannot_be_asked_is_refused(model):
    with pytest.raises(ValueError, match="interval must lie strictly between 0 and 1"):
        Answers(model, interval=1.0)
    with pytest.raises(ValueError, match="has the name of an answer: mean"):
        Answers(model, keep=["mean"])
    with pytest.raises(ValueError, match="found none called b"):
        Answers(model)(pa.RecordBatch.from_pandas(FRAME.drop(columns="b")))
    with pytest.raises(ValueError, match="components"):
        Answers(quick("sample-net").fit(X, Y), components=True)


def test_partitions_of_dask(model):
    dask = external.module("dask.dataframe")
    from negmm import dask as adapter

    frame = dask.from_pandas(FRAME, npartitions=4)
    answers = adapter.predict(model, frame, **ASKED, keep=["id"])
    assert list(answers.columns) == ["id", *NAMES, "shortfall_0.1"]
    found = answers.compute()
    same(found, model)
    assert found.index.equals(FRAME.index)
    assert (found.dtypes == answers.dtypes).all()


def test_optuna_over_the_usual_space():
    optuna = external.module("optuna")
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    from sklearn.model_selection import cross_val_score

    space = {**negmm.usual_space("ngboost"), "loss": ["log", "crps"]}

    def objective(trial) -> float:
        tried = negmm.NGBoostRegressor(n_estimators=20, **negmm.suggest(trial, space) | {"learning_rate": 0.1})
        return cross_val_score(tried, X, Y, cv=2, scoring="neg_crps").mean()

    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.RandomSampler(0))
    study.optimize(objective, n_trials=5)
    assert np.isfinite(study.best_value) and set(study.best_params) == set(space)
    assert {type(trial.params["max_depth"]) for trial in study.trials} == {int}
