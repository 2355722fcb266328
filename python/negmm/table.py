"""Conversion of arrays and data frames to tables of the library, by the types of their columns."""

from __future__ import annotations

import os
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import _get_feature_names

from negmm import _native

#: Numbers, bools, datetimes, durations; text; categories; Arrow streams.
Column = NDArray[Any] | list[str | None] | tuple[NDArray[np.int64], list[str]] | Any
NamedColumns = list[tuple[str, Column]]


def is_pandas(X: object) -> bool:
    """Whether ``X`` is a pandas data frame."""
    return type(X).__module__.split(".")[0] == "pandas" and hasattr(X, "columns")


def is_frame(X: object) -> bool:
    """Whether ``X`` has typed columns: a pandas data frame, or an Arrow stream with named columns."""
    named = any(hasattr(X, name) for name in ("columns", "schema"))
    return is_pandas(X) or isinstance(X, Streamed) or is_files(X) or (named and hasattr(X, "__arrow_c_stream__"))


def is_files(X: object) -> bool:
    """Whether ``X`` is a path, a list of paths, or a dataset of pyarrow: files that may have more columns than needed."""
    if isinstance(X, (list, tuple)):
        return len(X) > 0 and all(isinstance(path, (str, os.PathLike)) for path in X)
    return isinstance(X, (str, os.PathLike)) or _is_dataset(X)


def _is_dataset(X: object) -> bool:
    return type(X).__module__.startswith("pyarrow") and hasattr(X, "scanner")


class Streamed:
    """The table of files or of an Arrow stream, which can be read only once, with the shape of a data frame."""

    def __init__(self, X: Any) -> None:
        if isinstance(X, _native.Table):
            self._set(X)
            return
        if _is_dataset(X):
            X = X.scanner().to_reader()
        elif is_files(X):
            paths = X if isinstance(X, (list, tuple)) else [X]
            self._set(_native.Table.of_files([os.fspath(path) for path in paths], None, 0))
            return
        if type(X).__module__.startswith("polars"):
            import polars

            # Other readers refuse the layout of its null columns.
            X = X.cast({polars.Null: polars.Float64})
        self._set(_native.Table.of_stream(X))

    def _set(self, table: _native.Table) -> None:
        self.table = table
        self.columns = self.table.names
        self.shape = (len(self.table), len(self.columns))

    def __dataframe__(self) -> Streamed:
        """For older versions of scikit-learn, which get column names this way."""
        return self

    def column_names(self) -> list[str]:
        return self.columns

    def select(self, names: list[str]) -> Streamed:
        """The columns of these names; all where one is absent."""
        return Streamed(self.table.select(names)) if set(names) <= set(self.columns) else self


class _Target(np.ndarray):
    """Targets with the name of their column."""

    name: str


def with_target(X: Any, y: Any) -> tuple[Any, Any]:
    """``X`` and ``y``, where ``y`` may be the name of a column of ``X``."""
    if not isinstance(y, str):
        return X, y
    if not is_frame(X):
        raise ValueError("y may be the name of a column only where X is files or a data frame")
    rows = X if is_pandas(X) or isinstance(X, Streamed) else Streamed(X)
    if y not in rows.columns:
        columns = ", ".join(f'"{name}"' for name in rows.columns)
        raise ValueError(f'there is no column "{y}"; the columns are {columns}')
    if is_pandas(X):
        return X.drop(columns=[y]), X[y]
    target = rows.table.numbers(y).view(_Target)
    target.name = y
    return rows.select([name for name in rows.columns if name != y]), target


def read_files(
    files: Any, target: str | None = None, *, sample: int | None = None, random_state: int = 0
) -> Any:
    """Files as one table for estimators, as the program reads them.

    Parameters
    ----------
    files : path or list of paths
        CSV files (plain, gzip or zstd) and Parquet files with the same columns, folders of them, or patterns such as
        ``"sales/*.parquet"``. Folders called ``year=2025`` are a column ``year``.
    target : str, optional
        The column to predict.
    sample : int, optional
        Rows to draw at random by ``random_state``; only these are held in memory.

    Returns
    -------
    X, or X and y where there is a ``target``
    """
    paths = files if isinstance(files, (list, tuple)) else [files]
    X = Streamed(_native.Table.of_files([os.fspath(path) for path in paths], sample, random_state))
    return X if target is None else with_target(X, target)


def known_names(X: Any, rows: Any) -> Any:
    """``X`` or its ``rows``, whichever scikit-learn finds column names of; None where it finds none."""
    return next((frame for frame in (X, rows) if _get_feature_names(frame) is not None), X if is_pandas(X) else None)


def table(X: Any, names: list[str], more: NamedColumns) -> _native.Table:
    """The table of a data frame or matrix (numbers, datetime64 or text) with columns called ``names``, and of more
    columns."""
    if isinstance(X, Streamed):
        return X.table.renamed_with(names, more)
    if is_pandas(X):
        columns = [_of_pandas(name, X.iloc[:, at]) for at, name in enumerate(names)]
    elif X.dtype.kind == "M":
        columns = [_times(X[:, at]) for at in range(len(names))]
    elif X.dtype.kind in "OU":
        columns = [_of_objects(name, _with_none(X[:, at].tolist())) for at, name in enumerate(names)]
    else:
        return _native.Table.of_matrix(X, names, more)
    return _native.Table(list(zip(names, columns, strict=True)) + more)


def has_text(X: object) -> bool:
    """Whether ``X`` is a matrix with at least one text cell."""
    if not isinstance(X, np.ndarray) or X.ndim != 2:
        return False
    return X.dtype.kind == "U" or (X.dtype.kind == "O" and any(isinstance(cell, str) for cell in X.flat))


def _of_pandas(name: str, series: Any) -> Column:
    from pandas.api import types

    dtype = series.dtype
    if type(series.array).__name__.startswith("Arrow"):
        return series.array.__arrow_array__()
    if hasattr(dtype, "categories"):
        categories = series.cat.categories
        if types.is_datetime64_any_dtype(categories.dtype) or types.is_timedelta64_dtype(categories.dtype):
            return _of_pandas(name, series.astype(categories.dtype))
        words = [_text(name, row, cell) for row, cell in enumerate(categories)]
        return series.cat.codes.to_numpy(dtype=np.int64), words
    if dtype == np.bool_:
        return series.to_numpy()
    if types.is_numeric_dtype(dtype) and not types.is_complex_dtype(dtype) and not types.is_bool_dtype(dtype):
        plain = isinstance(dtype, np.dtype) and dtype.itemsize <= 8 and dtype != np.float16
        return series.to_numpy() if plain else series.to_numpy(dtype=np.float64, na_value=np.nan)
    if type(dtype).__name__ == "PeriodDtype":
        series = series.dt.to_timestamp()
    if types.is_datetime64_any_dtype(series.dtype):
        local = series if series.dt.tz is None else series.dt.tz_convert("UTC").dt.tz_localize(None)
        return _times(local.to_numpy())
    if types.is_timedelta64_dtype(dtype):
        return _times(series.to_numpy())
    known = types.is_object_dtype(dtype) or types.is_string_dtype(dtype) or types.is_bool_dtype(dtype)
    if not known and type(dtype).__name__ != "IntervalDtype":
        raise ValueError(f'column "{name}": expected numbers, times or text, found {dtype}')
    cells = series.astype(object)
    missing = cells.isna().to_numpy()
    return _of_objects(name, [None if gap else cell for cell, gap in zip(cells, missing, strict=True)])


def _of_objects(name: str, cells: list[Any]) -> Column:
    """A column of Python objects, None where missing."""

    def all_are(*kinds: type) -> bool:
        return all(cell is None or isinstance(cell, kinds) for cell in cells)

    if all_are(Real, Decimal) and (not all_are(bool, np.bool_) or all(cell is None for cell in cells)):
        return np.array([np.nan if cell is None else float(cell) for cell in cells])
    if all_are(date):
        return np.array([_without_zone(cell) for cell in cells], dtype="datetime64[us]")
    if all_are(timedelta):
        return np.array(cells, dtype="timedelta64[us]")
    return [None if cell is None else _text(name, row, cell) for row, cell in enumerate(cells)]


def _with_none(cells: list[Any]) -> list[Any]:
    """Cells with None for missing values of NumPy and pandas, which are not equal to themselves."""
    return [None if cell is None or type(cell).__name__ == "NAType" or cell != cell else cell for cell in cells]


def _times(times: NDArray[Any]) -> NDArray[Any]:
    """Datetimes or durations as the library takes them: in nanoseconds where they are, else in microseconds."""
    kind = {"M": "datetime64", "m": "timedelta64"}[times.dtype.kind]
    return times if times.dtype == f"{kind}[ns]" else times.astype(f"{kind}[us]")


def _without_zone(cell: date | None) -> datetime | date | None:
    """A date or time without a time zone, converted to UTC."""
    if isinstance(cell, datetime) and cell.tzinfo is not None:
        return cell.astimezone(timezone.utc).replace(tzinfo=None)
    return cell


def _text(name: str, row: int, cell: object) -> str:
    """A cell of a text column as the library formats it: whole numbers without decimals."""
    if isinstance(cell, (str, bool, np.bool_)) or type(cell).__name__ == "Interval":
        return str(cell)
    if isinstance(cell, time):
        return cell.isoformat()
    if isinstance(cell, (Real, Decimal)):
        number = float(cell)
        return str(int(number)) if number.is_integer() else repr(number)
    raise ValueError(f'column "{name}", row {row}: expected a number or text, found {type(cell).__name__}')


def label_codes(labels: Any) -> NDArray[np.float64]:
    """Labels of any type as integer codes, equal for equal labels; NaN where missing."""
    codes: dict[Any, int] = {}
    cells = _with_none(labels.tolist())
    return np.array([np.nan if cell is None else codes.setdefault(cell, len(codes)) for cell in cells], dtype=float)


def unique_name(name: object, taken: list[str], otherwise: str) -> str:
    """``name`` where it is a string that no column has, else ``otherwise``, with underscores appended until it is
    unique."""
    if isinstance(name, str) and name not in taken:
        return name
    while otherwise in taken:
        otherwise += "_"
    return otherwise
