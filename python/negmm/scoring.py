"""Batch prediction on clusters: one function from an Arrow batch to an Arrow batch, with the columns of ``negmm predict``. Spark, Dask and Ray Data call it (``negmm.spark``, ``negmm.dask``, ``negmm.ray``).

Needs pyarrow (``pip install pyarrow``).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, TypedDict

import numpy as np

from negmm import _native
from negmm.messages import python_errors
from negmm.regressor import DistributionRegressor
from negmm.threads import threads_of

Levels = float | Sequence[float]


class Asked(TypedDict):
    """What is asked of every row, numbers as the command line has them."""

    quantiles: str | None
    intervals: str | None
    regions: str | None
    above: str | None
    below: str | None
    equal: str | None
    shortfall: str | None
    parts: bool
    novelty: bool
    components: bool


class Answers:
    """A fitted model and what is asked of it; called with a batch or a table of Arrow it gives one with a row of answers for each row.

    It can be pickled, and is as large as the model file.

    Parameters
    ----------
    model : fitted estimator, or the path of a model file
    interval, quantiles : float or several
        Coverages of central intervals (``lower_0.9``, ``upper_0.9``), and levels of quantiles (``q0.05``).
    region : float or several
        Coverages of regions: the most likely values as text (``region_0.9``, such as ``[-3,-1] [2,4]``), ``region_0.9_length``.
    above, below, equal : float or several
        Thresholds: the probability of more (``p_above_20``), of at most so much (``p_below_20``), of exactly so much (``p_equal_20``).
    shortfall : float or several
        Shares: the mean of the lowest targets (``shortfall_0.05``).
    parts, novelty, components : bool
        The parts of the variance, how far rows lie outside the ranges of training, the components of the mixtures.
    keep : names of columns
        Columns that stand before the answers as they are.
    n_jobs : int
        Threads of a batch; None: 1.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import negmm
    >>> model = negmm.ConstantRegressor().fit([[0.0], [1.0]], [3.0, 5.0])
    >>> answers = Answers(model, interval=0.9, above=4, keep=["id"])
    >>> answers(pa.record_batch({"id": ["a", "b"], "x0": [1.0, 2.0]})).schema.names
    ['id', 'mean', 'sd', 'lower_0.9', 'upper_0.9', 'p_above_4']
    """

    def __init__(
        self,
        model: DistributionRegressor | str | os.PathLike[str],
        *,
        interval: Levels = (),
        quantiles: Levels = (),
        region: Levels = (),
        above: Levels = (),
        below: Levels = (),
        equal: Levels = (),
        shortfall: Levels = (),
        parts: bool = False,
        novelty: bool = False,
        components: bool = False,
        keep: Sequence[str] = (),
        n_jobs: int | None = None,
    ) -> None:
        if not isinstance(model, DistributionRegressor):
            from negmm.methods import load

            model = load(model)
        self._model: _native.Model = model.model_
        self._inputs: list[str] = list(model._names)
        self._asked = Asked(
            quantiles=_listed(quantiles),
            intervals=_listed(interval),
            regions=_listed(region),
            above=_listed(above),
            below=_listed(below),
            equal=_listed(equal),
            shortfall=_listed(shortfall),
            parts=parts,
            novelty=novelty,
            components=components,
        )
        self._n_jobs = n_jobs
        self.keep = list(keep)
        with python_errors():
            self.names = self._model.names(self._asked)
        twice = sorted(set(self.keep) & set(self.names))
        if twice:
            raise ValueError(f"a column that is kept has the name of an answer: {', '.join(twice)}")

    def __call__(self, batch: Any) -> Any:
        import pyarrow as pa

        missing = [name for name in [*self._inputs, *self.keep] if name not in batch.schema.names]
        if missing:
            raise ValueError(f"expected the columns {self._inputs}, found none called {', '.join(missing)}")
        kept = [batch.column(name) for name in self.keep]
        with python_errors():
            rows = _native.Table.of_stream(batch.select(self._inputs))
            columns = self._model.answers(rows, self._asked, threads=threads_of(self._n_jobs))
        return type(batch).from_arrays([*kept, *map(pa.array, columns)], names=[*self.keep, *self.names])

    def frame(self, frame: Any) -> Any:
        """The answers about a frame of pandas, with its index."""
        import pyarrow as pa

        wanted = frame[[*self.keep, *(name for name in self._inputs if name not in self.keep)]]
        answers = self(pa.RecordBatch.from_pandas(wanted, preserve_index=False)).to_pandas()
        answers.index = frame.index
        return answers.assign(**{name: frame[name] for name in self.keep})[[*self.keep, *self.names]]

    def kind(self, name: str) -> type:
        """What an answer is: a number, or the name of an input."""
        return str if name == "novelty_input" else float


def _listed(numbers: Levels) -> str | None:
    """Numbers as they name columns: 0.9, and 20 for 20.0."""
    listed = [repr(number).removesuffix(".0") for number in np.atleast_1d(np.asarray(numbers, dtype=float)).tolist()]
    return ",".join(listed) or None
