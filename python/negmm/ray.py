"""Predictions of a data set of Ray, batch by batch. Needs ray[data] and pyarrow, and negmm on every worker.

from negmm import ray
predicted = ray.predict(model, dataset, interval=0.9, keep=["id"])   # a data set: id, mean, sd, lower_0.9, upper_0.9
"""

from __future__ import annotations

from typing import Any

from negmm.scoring import BatchPredictor


def predict(model: Any, dataset: Any, **query: Any) -> Any:
    """The predicted columns of each row of a data set, as a data set; see :class:`negmm.scoring.BatchPredictor` for the
    query."""
    return dataset.map_batches(BatchPredictor(model, **query), batch_format="pyarrow")
