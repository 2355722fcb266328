"""Spark in local mode: predictions of its frames are those of the model."""

from __future__ import annotations

import os
import sys

import numpy as np
import pandas as pd
import pytest
from pyspark.sql import SparkSession
from quick import quick, rows

from negmm import spark as adapter

X, Y = rows(200)
MANY = pd.DataFrame(np.random.default_rng(1).normal(size=(20_000, 3)), columns=["a", "b", "c"])


@pytest.fixture(scope="module")
def session():
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    session = builder.config("spark.sql.execution.arrow.pyspark.enabled", "true").getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


def test_frames_are_predicted_where_they_are(session):
    model = quick("ensemble").fit(pd.DataFrame(X, columns=["a", "b", "c"]), Y)
    frame = session.createDataFrame(MANY.assign(id=np.arange(len(MANY)), note="kept")).repartition(4)
    query = {"interval": 0.9, "quantiles": [0.5], "above": 1, "novelty": True, "keep": ["id", "note"]}
    predicted = adapter.predict(model, frame, **query)
    assert predicted.columns == [
        *("id", "note", "mean", "sd", "q0.5", "lower_0.9", "upper_0.9", "p_above_1", "novelty", "novelty_input")
    ]
    assert dict(predicted.dtypes)["mean"] == "double" and dict(predicted.dtypes)["novelty_input"] == "string"
    found = predicted.toPandas().sort_values("id")
    dist = model.predict_dist(MANY)
    for name, expected in {"mean": dist.mean(), "q0.5": dist.median(), "p_above_1": dist.sf(1)}.items():
        np.testing.assert_array_equal(found[name], expected)
    np.testing.assert_array_equal(found[["lower_0.9", "upper_0.9"]].to_numpy().T, dist.interval(0.9))
    assert set(found["note"]) == {"kept"}


def test_a_model_file_and_columns_of_text(session, tmp_path):
    rng = np.random.default_rng(0)
    homes = pd.DataFrame({"size": rng.uniform(30, 200, 400), "place": rng.choice(["Oslo", "Rome", "Bern"], 400)})
    model = quick("ngboost").fit(homes, 3 * homes["size"] + 60 * (homes["place"] == "Oslo"))
    model.save(tmp_path / "homes.negmm")
    found = adapter.predict(tmp_path / "homes.negmm", session.createDataFrame(homes), keep=["size"]).toPandas()
    pd.testing.assert_series_equal(
        found.sort_values("size")["mean"].reset_index(drop=True),
        pd.Series(model.predict(homes), name="mean").iloc[homes["size"].argsort()].reset_index(drop=True),
    )
