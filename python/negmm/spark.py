"""Predictions of a frame of Spark, where its rows are. Needs pyspark and pyarrow, and negmm on every worker.

from negmm import spark
answers = spark.predict(model, frame, interval=0.9, keep=["id"])     # a frame: id, mean, sd, lower_0.9, upper_0.9
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pyspark.sql.types import DoubleType, StringType, StructField, StructType

from negmm.scoring import Answers


def predict(model: Any, frame: Any, **asked: Any) -> Any:
    """The answers about each row of a frame, as a frame; see :class:`negmm.scoring.Answers` for what may be asked.

    The model travels once to each worker.
    """
    answers = Answers(model, **asked)
    kinds = {float: DoubleType(), str: StringType()}
    named = [StructField(name, kinds[answers.kind(name)]) for name in answers.names]
    schema = StructType([*(frame.schema[name] for name in answers.keep), *named])
    sent = frame.sparkSession.sparkContext.broadcast(answers)

    def score(batches: Iterator[Any]) -> Iterator[Any]:
        return map(sent.value, batches)

    return frame.mapInArrow(score, schema)
