"""Responsible for what comes in: arrays and frames as tables of the core, numbers as numbers, times as times, text as text."""

from __future__ import annotations

from datetime import date, datetime, time, timezone
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import _get_feature_names

from negmm import _native

Times = NDArray[np.datetime64]
Column = NDArray[np.float64] | Times | list[str | None]
NamedColumns = list[tuple[str, Column]]


def is_frame(X: object) -> bool:
    """Whether ``X`` is a data frame of pandas or polars: columns that know what they hold."""
    return type(X).__module__.split(".")[0] in ("pandas", "polars") and hasattr(X, "columns")


class _Names:
    """The names of a frame, told in the way that older versions of scikit-learn listen to."""

    def __init__(self, X: Any) -> None:
        self.shape, self._names = X.shape, X.columns

    def __dataframe__(self) -> _Names:
        return self

    def column_names(self) -> list[str]:
        return self._names


def named(X: Any) -> Any:
    """A frame whose column names scikit-learn finds: older versions of it do not see those of newer versions of polars."""
    return X if _get_feature_names(X) is not None or hasattr(X, "iloc") else _Names(X)


def table(X: Any, names: list[str], more: NamedColumns) -> _native.Table:
    """The table of a frame or of a matrix (float32, float64 or datetime64), its columns called ``names``, and of more columns."""
    if not is_frame(X) and X.dtype.kind == "M":
        return _native.Table([(name, _times(X[:, at])) for at, name in enumerate(names)] + more)
    if not is_frame(X):
        return _native.Table.of_matrix(X, names, more)
    of_series = _of_pandas if type(X).__module__.startswith("pandas") else _of_polars
    series = [X.iloc[:, at] if hasattr(X, "iloc") else X.to_series(at) for at in range(len(names))]
    return _native.Table([(name, of_series(name, one)) for name, one in zip(names, series, strict=True)] + more)


def _of_pandas(name: str, series: Any) -> Column:
    from pandas.api import types

    dtype = series.dtype
    if types.is_numeric_dtype(dtype) and not types.is_complex_dtype(dtype):
        return np.ascontiguousarray(series.to_numpy(dtype=np.float64, na_value=np.nan))
    if type(dtype).__name__ == "PeriodDtype":
        series = series.dt.to_timestamp()
    if types.is_datetime64_any_dtype(series.dtype):
        local = series if series.dt.tz is None else series.dt.tz_convert("UTC").dt.tz_localize(None)
        return _times(local.to_numpy(dtype="datetime64[ns]" if str(local.dtype) == "datetime64[ns]" else "datetime64[us]"))
    if types.is_timedelta64_dtype(dtype):
        return np.ascontiguousarray(series.dt.total_seconds().to_numpy(dtype=np.float64))
    if not (types.is_object_dtype(dtype) or types.is_string_dtype(dtype) or hasattr(dtype, "categories")):
        raise ValueError(f'column "{name}": expected numbers, times or text, found {dtype}')
    cells = series.astype(object)
    missing = cells.isna().to_numpy()
    cells = [None if gap else cell for cell, gap in zip(cells, missing, strict=True)]
    if types.is_object_dtype(dtype) and all(cell is None or isinstance(cell, Real) for cell in cells):
        return np.array(cells, dtype=np.float64)
    if all(cell is None or isinstance(cell, date) for cell in cells):
        return np.array([_moment(cell) for cell in cells], dtype="datetime64[us]")
    return [None if cell is None else _word(name, row, cell) for row, cell in enumerate(cells)]


def _of_polars(name: str, series: Any) -> Column:
    import polars

    if series.dtype.is_numeric() or series.dtype in (polars.Boolean, polars.Null):
        return np.ascontiguousarray(series.cast(polars.Float64).to_numpy())
    if series.dtype in (polars.String, polars.Categorical, polars.Enum):
        return series.cast(polars.String).to_list()
    if series.dtype == polars.Datetime and series.dtype.time_zone is not None:
        series = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
    if series.dtype in (polars.Date, polars.Datetime):
        return _times(series.cast(polars.Datetime("us") if series.dtype == polars.Date else series.dtype).to_numpy())
    if series.dtype == polars.Duration:
        return np.ascontiguousarray((series.dt.total_nanoseconds() / 1e9).to_numpy())
    if series.dtype == polars.Time:
        return [None if cell is None else cell.isoformat() for cell in series.to_list()]
    raise ValueError(f'column "{name}": expected numbers, times or text, found {series.dtype}')


def _times(times: Times) -> Times:
    """Times as the core takes them: in nanoseconds where they are, else in microseconds."""
    return np.ascontiguousarray(times if times.dtype == "datetime64[ns]" else times.astype("datetime64[us]"))


def _moment(cell: date | None) -> datetime | date | None:
    """A date or time without a zone, that of UTC where it had one."""
    if isinstance(cell, datetime) and cell.tzinfo is not None:
        return cell.astimezone(timezone.utc).replace(tzinfo=None)
    return cell


def _word(name: str, row: int, cell: object) -> str:
    """A cell of a text column as the core writes it: a whole number without decimals."""
    if isinstance(cell, str):
        return cell
    if isinstance(cell, time):
        return cell.isoformat()
    if isinstance(cell, Real):
        number = float(cell)
        return str(int(number)) if number.is_integer() else repr(number)
    raise ValueError(f'column "{name}", row {row + 1}: expected a number or text, found {type(cell).__name__}')


def free_name(name: object, taken: list[str], otherwise: str) -> str:
    """``name`` where it is a text that no column has, else ``otherwise`` with as many underscores as it takes."""
    if isinstance(name, str) and name not in taken:
        return name
    while otherwise in taken:
        otherwise += "_"
    return otherwise
