"""Predictions of a frame of Spark, where its rows are. Needs pyspark and pyarrow, and negmm on every worker.

from negmm import spark
predicted = spark.predict(model, frame, interval=0.9, keep=["id"])   # a frame: id, mean, sd, lower_0.9, upper_0.9
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pyspark.sql.types import DoubleType, LongType, StringType, StructField, StructType

from negmm.scoring import BatchPredictor


def predict(model: Any, frame: Any, **query: Any) -> Any:
    """The predicted columns of each row of a frame, as a frame; see :class:`negmm.scoring.BatchPredictor` for the
    query.

    The model travels once to each worker.
    """
    predictor = BatchPredictor(model, **query)
    types = {float: DoubleType(), int: LongType(), str: StringType()}
    named = [StructField(name, types[kind]) for name, kind in predictor.types.items()]
    schema = StructType([*(frame.schema[name] for name in predictor.keep), *named])
    sent = frame.sparkSession.sparkContext.broadcast(predictor)

    def score(batches: Iterator[Any]) -> Iterator[Any]:
        return map(sent.value, batches)

    return frame.mapInArrow(score, schema)
