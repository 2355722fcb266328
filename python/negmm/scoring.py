"""Batch prediction where the data is: a function from a batch of Arrow to a batch of Arrow, with the columns of
``negmm predict``. Spark, Dask and Ray Data call it (``negmm.spark``, ``negmm.dask``, ``negmm.ray``).

Needs pyarrow (``pip install pyarrow``).
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from negmm import _native
from negmm.joint import JointRegressor
from negmm.messages import python_errors
from negmm.regressor import DistributionRegressor
from negmm.threads import threads_of

Levels = float | Sequence[float]
#: Types of columns, by their names in the core.
TYPES: dict[str, type] = {"float": float, "integer": int, "text": str}


class BatchPredictor:
    """A fitted model and a query of it; called with a batch or a table of Arrow it gives one with the columns of each
    row.

    It can be pickled, and is as large as the model file.

    Parameters
    ----------
    model : fitted estimator, or the path of a model file
    interval, quantiles : float or several
        Coverages of central intervals (``lower_0.9``, ``upper_0.9``), and levels of quantiles (``q0.05``).
    region : float or several
        Coverages of highest-density regions: as text (``region_0.9``, such as ``[-3,-1] [2,4]``), and
        ``region_0.9_length``.
    above, below, equal : float or several
        Values: the probability of a target above (``p_above_20``), below (``p_below_20``), and equal to it
        (``p_equal_20``).
    shortfall : float or several
        Fractions: the mean of the lowest targets (``shortfall_0.05``).
    parts, novelty, components : bool
        The parts of the variance, how far rows lie outside the ranges of training, the components of the mixtures.
    combine, given, box : str or several
        Of a model of several targets: linear combinations (``"profit = revenue - cost"``), targets that are known
        (``"cost"``, from the batch, or ``"cost=3"``), boxes (``"revenue > 100, cost < 50"``).
    correlation, density : bool
        Of several targets: their correlations; the log density of the row's own targets.
    joint_region, ellipsoid : float or several
        Of several targets: coverages of regions of all of them together.
    keep : names of columns
        Columns of the batch that come first, unchanged.
    n_jobs : int
        Threads of a batch; None: 1.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import negmm
    >>> model = negmm.ConstantRegressor().fit([[0.0], [1.0]], [3.0, 5.0])
    >>> predictor = BatchPredictor(model, interval=0.9, above=4, keep=["id"])
    >>> predictor(pa.record_batch({"id": ["a", "b"], "x0": [1.0, 2.0]})).schema.names
    ['id', 'mean', 'sd', 'lower_0.9', 'upper_0.9', 'p_above_4']
    """

    def __init__(
        self,
        model: DistributionRegressor | JointRegressor | str | os.PathLike[str],
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
        combine: str | Sequence[str] = (),
        given: str | Sequence[str] = (),
        box: str | Sequence[str] = (),
        correlation: bool = False,
        density: bool = False,
        joint_region: Levels = (),
        ellipsoid: Levels = (),
        keep: Sequence[str] = (),
        n_jobs: int | None = None,
    ) -> None:
        if not isinstance(model, (DistributionRegressor, JointRegressor)):
            model = _loaded(model)
        self._model: _native.Model | _native.JointModel = model.model_
        self._inputs: list[str] = list(model._names)
        numbers = {
            "quantiles": quantiles,
            "interval": interval,
            "region": region,
            "above": above,
            "below": below,
            "equal": equal,
            "shortfall": shortfall,
            "joint_region": joint_region,
            "ellipsoid": ellipsoid,
        }
        switches = {
            "parts": parts,
            "novelty": novelty,
            "components": components,
            "correlation": correlation,
            "density": density,
        }
        listed = [(name, _listed(values)) for name, values in numbers.items()]
        self._query = [(name, text) for name, text in listed if text]
        self._query += [(name, "true") for name, on in switches.items() if on]
        self._query += [("combine", text) for text in _texts(combine)] + [("box", text) for text in _texts(box)]
        self._query += [("given", ",".join(_texts(given)))] if _texts(given) else []
        self._n_jobs = n_jobs
        self.keep = list(keep)
        with python_errors():
            if isinstance(model, JointRegressor):
                self._inputs += [name for name in model.model_.needed(self._query) if name not in self._inputs]
            fields = self._model.fields(self._query)
        self.types: dict[str, type] = {name: TYPES[value_type] for name, value_type in fields}
        twice = sorted(set(self.keep) & set(self.types))
        if twice:
            raise ValueError(
                f"two columns of the output would be called {twice[0]!r}: the kept column and a predicted one"
            )

    @property
    def names(self) -> list[str]:
        """The names of the predicted columns."""
        return list(self.types)

    def __call__(self, batch: Any) -> Any:
        import pyarrow as pa

        missing = [name for name in [*self._inputs, *self.keep] if name not in batch.schema.names]
        if missing:
            raise ValueError(f"expected the columns {self._inputs}, found none called {', '.join(missing)}")
        kept = [batch.column(name) for name in self.keep]
        with python_errors():
            rows = _native.Table.of_stream(batch.select(self._inputs))
            predicted = self._model.columns(rows, self._query, threads=threads_of(self._n_jobs))
        columns = pa.RecordBatchReader.from_stream(predicted).read_all()
        arrays = [*kept, *(_whole(column) for column in columns.columns)]
        return type(batch).from_arrays(arrays, names=[*self.keep, *self.names])

    def frame(self, frame: Any) -> Any:
        """The columns of a frame of pandas, with its index."""
        import pyarrow as pa

        wanted = frame[[*self.keep, *(name for name in self._inputs if name not in self.keep)]]
        predicted = self(pa.RecordBatch.from_pandas(wanted, preserve_index=False)).to_pandas()
        predicted.index = frame.index
        return predicted.assign(**{name: frame[name] for name in self.keep})[[*self.keep, *self.names]]


def _whole(column: Any) -> Any:
    """A column of several chunks as one array."""
    import pyarrow as pa

    return column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays(column.chunks or [pa.array([], column.type)])


def _loaded(path: str | os.PathLike[str]) -> DistributionRegressor | JointRegressor:
    """The estimator of a model file, of one target or of several."""
    from negmm.methods import load

    try:
        return load(path)
    except ValueError as error:
        if "several targets" not in str(error):
            raise
    return JointRegressor.load(path)


def _texts(texts: str | Sequence[str]) -> list[str]:
    return [texts] if isinstance(texts, str) else list(texts)


def _listed(numbers: Levels) -> str:
    """Numbers as they name columns: 0.9, and 20 for 20.0."""
    listed = [repr(number).removesuffix(".0") for number in np.atleast_1d(np.asarray(numbers, dtype=float)).tolist()]
    return ",".join(listed)


def __getattr__(name: str) -> Any:
    if name == "Answers":
        message = "Answers is now called BatchPredictor; the old name will be removed in a later version"
        warnings.warn(message, FutureWarning, stacklevel=2)
        return BatchPredictor
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
