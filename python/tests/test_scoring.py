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
from negmm.scoring import BatchPredictor

X, Y = rows(300)
FRAME = pd.DataFrame(X, columns=["a", "b", "c"]).assign(id=[f"row {row}" for row in range(300)])
QUERY = {"interval": [0.5, 0.9], "quantiles": 0.05, "above": 2, "below": [-1.5], "equal": 0, "shortfall": 0.1}
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


def test_a_batch_is_predicted(model, tmp_path):
    predictor = BatchPredictor(model, **QUERY, keep=["id"])
    assert predictor.names == [*NAMES, "shortfall_0.1"]
    batch = pa.RecordBatch.from_pandas(FRAME)
    same(predictor(batch).to_pandas(), model)
    same(pickle.loads(pickle.dumps(predictor))(pa.Table.from_batches([batch])).to_pandas(), model)
    model.save(tmp_path / "model.negmm")
    same(BatchPredictor(tmp_path / "model.negmm", **QUERY, keep=["id"])(batch).to_pandas(), model)
    same(predictor.frame(FRAME.iloc[::-1]), model)


def test_parts_novelty_and_components(model):
    predictor = BatchPredictor(model, parts=True, novelty=True, components=True)
    found = predictor(pa.RecordBatch.from_pandas(FRAME)).to_pandas()
    dist = model.predict_dist(FRAME[["a", "b", "c"]])
    aleatoric, epistemic = dist.var_parts()
    np.testing.assert_array_equal(found["variance_aleatoric"], aleatoric)
    np.testing.assert_array_equal(found["variance_epistemic"], epistemic)
    np.testing.assert_array_equal(found["weight_1"], dist.weights[:, 0])
    assert found["novelty_input"].isna().all() and not found["novelty"].any()


def test_columns_have_the_types_of_the_core(model):
    predictor = BatchPredictor(model, region=0.9, novelty=True, keep=["id"])
    assert predictor.types == {
        "mean": float,
        "sd": float,
        "region_0.9": str,
        "region_0.9_length": float,
        "novelty": float,
        "novelty_input": str,
    }
    batch = pa.RecordBatch.from_pandas(FRAME)
    schema = predictor(batch).schema
    arrow = {float: pa.float64(), str: pa.string()}
    assert {name: schema.field(name).type for name in predictor.names} == {
        name: arrow[kind] for name, kind in predictor.types.items()
    }
    # No rows, the same schema.
    assert predictor(batch.slice(0, 0)).schema == schema


def test_below_equal_and_above_sum_to_one():
    y = np.round(np.abs(Y))
    predictor = BatchPredictor(quick("ne-gmm").fit(FRAME[["a", "b", "c"]], y), above=1, below=1, equal=1)
    found = predictor.frame(FRAME)
    assert (found["p_equal_1"] > 0).any()
    np.testing.assert_allclose(found["p_below_1"] + found["p_equal_1"] + found["p_above_1"], 1.0, rtol=1e-12)


def test_former_names_are_accepted_with_a_warning():
    import negmm.scoring

    with pytest.warns(FutureWarning, match="Answers is now called BatchPredictor"):
        assert negmm.scoring.Answers is BatchPredictor


def test_invalid_queries_are_refused(model):
    with pytest.raises(ValueError, match="interval must lie strictly between 0 and 1"):
        BatchPredictor(model, interval=1.0)
    with pytest.raises(ValueError, match="two columns of the output would be called 'mean'"):
        BatchPredictor(model, keep=["mean"])
    with pytest.raises(ValueError, match="found none called b"):
        BatchPredictor(model)(pa.RecordBatch.from_pandas(FRAME.drop(columns="b")))
    with pytest.raises(ValueError, match="components"):
        BatchPredictor(quick("sample-net").fit(X, Y), components=True)


def test_partitions_of_dask(model):
    dask = external.module("dask.dataframe")
    from negmm import dask as adapter

    frame = dask.from_pandas(FRAME, npartitions=4)
    predicted = adapter.predict(model, frame, **QUERY, region=0.8, keep=["id"])
    names = [*NAMES[:7], "region_0.8", "region_0.8_length", *NAMES[7:], "shortfall_0.1"]
    assert list(predicted.columns) == ["id", *names]
    found = predicted.compute()
    same(found, model)
    assert found.index.equals(FRAME.index)
    assert (found.dtypes == predicted.dtypes).all()


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
