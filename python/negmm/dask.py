"""Predictions of a frame of Dask, partition by partition. Needs dask and pyarrow, and negmm on every worker.

from negmm import dask
predicted = dask.predict(model, frame, interval=0.9, keep=["id"])    # a lazy frame: id, mean, sd, lower_0.9, upper_0.9
"""

from __future__ import annotations

from typing import Any

from negmm.scoring import BatchPredictor


def predict(model: Any, frame: Any, **query: Any) -> Any:
    """The predicted columns of each row of a frame, as a frame; see :class:`negmm.scoring.BatchPredictor` for the
    query."""
    import pandas as pd

    predictor = BatchPredictor(model, **query)
    columns = {name: frame._meta[name] for name in predictor.keep}
    columns.update({name: pd.Series(dtype=kind) for name, kind in predictor.types.items()})
    return frame.map_partitions(predictor.frame, meta=pd.DataFrame(columns, index=frame._meta.index))
