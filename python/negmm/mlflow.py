"""Models of this package in MLflow: a ``pyfunc`` that serves means, intervals, quantiles and tail probabilities. Needs
mlflow.

    import negmm.mlflow
    logged = negmm.mlflow.log_model(model, "prices", X[:5], interval=0.9)
    mlflow.pyfunc.load_model(logged.model_uri).predict(X, params={"quantiles": [0.05, 0.95]})

``mlflow.sklearn.log_model(model, name="prices", skops_trusted_types=negmm.TRUSTED_TYPES)`` works too; what it serves is
``predict``, the means.
"""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

import mlflow
import numpy as np
import pandas as pd
from mlflow.models import ModelSignature, infer_signature
from mlflow.types import ParamSchema, ParamSpec

from negmm.methods import load
from negmm.regressor import DistributionRegressor
from negmm.scoring import BatchPredictor

#: Parameters of the query that every request may set, beside those that were set when the model was logged.
NUMBERS = ("interval", "quantiles", "above", "below", "equal", "shortfall")
#: The model file, and the query of it.
FILE, QUERY = "model.negmm", "asked.json"


class Served:
    """What MLflow serves: the predicted columns of each row, as a frame, by the query that was logged with the model
    and the request."""

    def __init__(self, model: DistributionRegressor, query: dict[str, Any]) -> None:
        self._model, self._query = model, query

    def predict(self, rows: Any, params: dict[str, Any] | None = None) -> Any:
        given = {name: list(numbers) for name, numbers in (params or {}).items() if len(numbers)}
        return BatchPredictor(self._model, **{**self._query, **given}).frame(_frame(rows, self._model._names))


def _load_pyfunc(path: str) -> Served:
    """What MLflow calls to load a model."""
    folder = Path(path)
    return Served(load(folder / FILE), json.loads((folder / QUERY).read_text(encoding="utf-8")))


def log_model(
    model: DistributionRegressor,
    name: str,
    input_example: Any = None,
    *,
    arguments: dict[str, Any] | None = None,
    **query: Any,
) -> Any:
    """Logs a fitted model as a ``pyfunc`` under ``name``; see :class:`negmm.scoring.BatchPredictor` for the query.

    ``arguments`` are further ones of ``mlflow.pyfunc.log_model``.
    """
    with tempfile.TemporaryDirectory() as folder:
        described = _described(model, folder, input_example, query)
        return mlflow.pyfunc.log_model(name=name, **described, **(arguments or {}))


def save_model(
    model: DistributionRegressor,
    path: str | os.PathLike[str],
    input_example: Any = None,
    *,
    arguments: dict[str, Any] | None = None,
    **query: Any,
) -> None:
    """As :func:`log_model`, into a folder."""
    with tempfile.TemporaryDirectory() as folder:
        described = _described(model, folder, input_example, query)
        mlflow.pyfunc.save_model(path=path, **described, **(arguments or {}))


def _described(model: DistributionRegressor, folder: str, input_example: Any, query: dict[str, Any]) -> dict[str, Any]:
    """The arguments of MLflow for a model whose files are written into ``folder``."""
    predictor = BatchPredictor(model, **query)
    model.save(Path(folder) / FILE)
    (Path(folder) / QUERY).write_text(json.dumps(query), encoding="utf-8")
    described = {"loader_module": "negmm.mlflow", "data_path": folder}
    if input_example is None:
        return described
    example = _frame(input_example, model._names)
    numbers = ParamSchema([ParamSpec(name, "double", np.array([]), shape=(-1,)) for name in NUMBERS])
    # Requests may ask for other columns than the example has: the signature leaves the outputs open.
    inputs = infer_signature(example, predictor.frame(example)).inputs
    return {**described, "signature": ModelSignature(inputs=inputs, params=numbers), "input_example": example}


def _frame(rows: Any, names: list[str]) -> Any:
    """Rows as a frame with the names of the model's inputs."""
    if isinstance(rows, pd.DataFrame):
        return rows if set(names) <= set(rows.columns) else rows.set_axis(names, axis=1)
    return pd.DataFrame(np.asarray(rows), columns=names)
