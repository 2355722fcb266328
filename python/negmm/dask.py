"""Predictions of a frame of Dask, partition by partition. Needs dask and pyarrow, and negmm on every worker.

from negmm import dask
answers = dask.predict(model, frame, interval=0.9, keep=["id"])      # a lazy frame: id, mean, sd, lower_0.9, upper_0.9
"""

from __future__ import annotations

from typing import Any

from negmm.scoring import Answers


def predict(model: Any, frame: Any, **asked: Any) -> Any:
    """The answers about each row of a frame, as a frame; see :class:`negmm.scoring.Answers` for what may be asked."""
    import pandas as pd

    answers = Answers(model, **asked)
    columns = {name: frame._meta[name] for name in answers.keep}
    columns.update({name: pd.Series(dtype=answers.kind(name)) for name in answers.names})
    return frame.map_partitions(answers.frame, meta=pd.DataFrame(columns, index=frame._meta.index))
