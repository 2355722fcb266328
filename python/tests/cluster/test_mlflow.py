"""MLflow: models as scikit-learn flavor with its defaults, and as a pyfunc that serves distributions."""

from __future__ import annotations

import mlflow
import numpy as np
import pandas as pd
import pytest
from quick import quick, rows

import negmm
import negmm.mlflow

X, Y = rows()
FRAME = pd.DataFrame(X, columns=["a", "b", "c"])


@pytest.fixture(autouse=True)
def run(tmp_path):
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path}/mlflow.db")
    mlflow.set_registry_uri(f"sqlite:///{tmp_path}/mlflow.db")
    experiment = mlflow.create_experiment("negmm", artifact_location=str(tmp_path / "artifacts"))
    with mlflow.start_run(experiment_id=experiment):
        yield


@pytest.mark.parametrize("name", ["auto", "ngboost", "sample-net"])
def test_scikit_learns_flavour(name):
    model = quick(name).fit(FRAME, Y)
    logged = mlflow.sklearn.log_model(
        model, name="model", input_example=FRAME[:3], skops_trusted_types=negmm.TRUSTED_TYPES
    )
    again = mlflow.sklearn.load_model(logged.model_uri)
    assert again.model_.to_bytes() == model.model_.to_bytes()
    np.testing.assert_array_equal(mlflow.pyfunc.load_model(logged.model_uri).predict(FRAME), model.predict(FRAME))


def test_a_served_model_accepts_parameters():
    model = quick("ngboost").fit(FRAME, Y)
    logged = negmm.mlflow.log_model(model, "model", FRAME[:3], interval=0.9)
    served = mlflow.pyfunc.load_model(logged.model_uri)
    dist = model.predict_dist(FRAME)
    plain = served.predict(FRAME)
    assert list(plain.columns) == ["mean", "sd", "lower_0.9", "upper_0.9"]
    np.testing.assert_array_equal(plain["upper_0.9"], dist.interval(0.9)[1])
    predicted = served.predict(FRAME, params={"quantiles": [0.1], "above": [1.0], "interval": [0.5]})
    assert list(predicted.columns) == ["mean", "sd", "q0.1", "lower_0.5", "upper_0.5", "p_above_1"]
    np.testing.assert_array_equal(predicted["p_above_1"], dist.sf(1))


def test_a_folder_and_columns_without_names(tmp_path):
    model = quick("ngboost").fit(X, Y)
    negmm.mlflow.save_model(model, tmp_path / "kept", X[:3], quantiles=[0.5])
    found = mlflow.pyfunc.load_model(str(tmp_path / "kept")).predict(pd.DataFrame(X, columns=["x0", "x1", "x2"]))
    np.testing.assert_array_equal(found["q0.5"], model.predict_dist(X).median())
