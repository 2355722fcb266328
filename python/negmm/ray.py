"""Predictions of a data set of Ray, batch by batch. Needs ray[data] and pyarrow, and negmm on every worker.

from negmm import ray
answers = ray.predict(model, dataset, interval=0.9, keep=["id"])     # a data set: id, mean, sd, lower_0.9, upper_0.9
"""

from __future__ import annotations

from typing import Any

from negmm.scoring import Answers


def predict(model: Any, dataset: Any, **asked: Any) -> Any:
    """The answers about each row of a data set, as a data set; see :class:`negmm.scoring.Answers` for what may be asked."""
    return dataset.map_batches(Answers(model, **asked), batch_format="pyarrow")
