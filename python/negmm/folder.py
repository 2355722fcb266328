"""Predictions of a folder of Parquet files as a folder: each file becomes a file of the same name, on any executor.

Needs pyarrow (``pip install pyarrow``). Workers open the files themselves, so both folders must be where they are too.
"""

from __future__ import annotations

import os
from concurrent import futures
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from negmm import leftovers
from negmm.scoring import BatchPredictor

#: Rows that are predicted at once.
BATCH_ROWS = 1 << 16
#: How Hive names a folder of rows in which the column is missing.
HIVE_MISSING = "__HIVE_DEFAULT_PARTITION__"


def predict_folder(
    model: Any, source: str | os.PathLike[str], target: str | os.PathLike[str], *, executor: Any = None, **query: Any
) -> list[str]:
    """Predicts all Parquet files below the folder ``source`` into files of the same names below ``target``, and gives these
    names.

    The columns are those of :class:`negmm.scoring.BatchPredictor`, which has the query. Folders called ``year=2025`` are a
    column. A file appears when it is complete; what a process left that was killed, the next call on that machine removes.
    ``executor`` predicts files elsewhere: an executor of ``concurrent.futures``, a client of Dask, or the module ``ray``;
    the bytes are the same.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> import pyarrow as pa, pyarrow.parquet as pq
    >>> import negmm
    >>> model = negmm.ConstantRegressor().fit([[0.0], [1.0]], [3.0, 5.0])
    >>> folder = Path(mkdtemp())
    >>> (folder / "new").mkdir()
    >>> pq.write_table(pa.table({"x0": [1.0, 2.0]}), folder / "new" / "part-0.parquet")
    >>> negmm.predict_folder(model, folder / "new", folder / "predicted", interval=0.9)
    ['part-0.parquet']
    >>> pq.read_table(folder / "predicted").column_names
    ['mean', 'sd', 'lower_0.9', 'upper_0.9']
    """
    source, target = Path(source), Path(target)
    hidden = (".", "_")
    files = sorted(file.relative_to(source) for file in source.rglob("*.parquet"))
    files = [file for file in files if not any(part.startswith(hidden) for part in file.parts)]
    if not files:
        raise ValueError(f"there is no Parquet file in the folder {str(source)!r}")
    if target.resolve() == source.resolve():
        raise ValueError("the predictions need a folder of their own")
    predictor = BatchPredictor(model, **query)
    for folder in {(target / file).parent for file in files}:
        leftovers.clear(folder, r"\..*\.parquet\.", r"\.part")
    _predict_all(executor, predictor, [(str(source / file), str(target / file), _folders(file)) for file in files])
    return [str(file) for file in files]


def _folders(file: Path) -> dict[str, str | None]:
    """The columns of the folders that a file is in."""
    pairs = (part.split("=", 1) for part in file.parts[:-1] if "=" in part)
    return {unquote(name): None if cell == HIVE_MISSING else unquote(cell) for name, cell in pairs}


def predict_file(predictor: BatchPredictor, source: str, target: str, folders: dict[str, str | None]) -> None:
    """Predicts a Parquet file into another, in pieces."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    goal = Path(target)
    goal.parent.mkdir(parents=True, exist_ok=True)
    part = goal.with_name(f".{goal.name}.{leftovers.owner()}.part")
    writer = None
    try:
        with pq.ParquetFile(source) as file:
            schema = file.schema_arrow
            batches: Any = file.iter_batches(BATCH_ROWS)
            if file.metadata.num_rows == 0:
                batches = [pa.RecordBatch.from_pylist([], schema)]
            for batch in batches:
                for name, cell in folders.items():
                    if name not in batch.schema.names:
                        batch = batch.append_column(name, pa.array([cell] * batch.num_rows, pa.string()))
                predicted = predictor(batch)
                writer = writer or pq.ParquetWriter(part, predicted.schema)
                writer.write_batch(predicted)
        if writer is not None:
            writer.close()
        part.replace(goal)
    except BaseException:
        if writer is not None:
            with suppress(Exception):
                writer.close()
        part.unlink(missing_ok=True)
        raise


def _predict_all(executor: Any, predictor: BatchPredictor, files: list[Any]) -> None:
    """Predicts files, each when there is a worker for it."""
    if executor is None:
        for file in files:
            predict_file(predictor, *file)
    elif isinstance(executor, futures.Executor):
        sent = [executor.submit(predict_file, predictor, *file) for file in files]
        try:
            for future in sent:
                future.result()
        finally:
            for future in sent:
                future.cancel()
    elif getattr(executor, "__name__", None) == "ray":
        remote, shared = executor.remote(predict_file), executor.put(predictor)
        executor.get([remote.remote(shared, *file) for file in files])
    else:
        shared = executor.scatter(predictor, broadcast=True, hash=False)
        executor.gather([executor.submit(predict_file, shared, *file, pure=False) for file in files])
