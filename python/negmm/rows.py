"""Rows of anything that ``fit`` takes, cell by cell: what importances, partial dependence and explanations exchange."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from negmm import _native
from negmm.table import Streamed, is_frame, is_pandas, table

Index = NDArray[np.int64]


class Rows:
    """Rows of an array, a list of rows, a pandas or polars frame, or of anything else with typed columns. What its
    methods return is of the same kind: an estimator that takes the one takes the other."""

    def __init__(self, X: Any) -> None:
        self._pandas, self._polars = is_pandas(X), type(X).__module__.startswith("polars")
        if type(X).__name__ == "LazyFrame":
            raise TypeError("X is a LazyFrame, which has no rows yet: pass X.collect()")
        if not self._pandas and not self._polars:
            X = (X if isinstance(X, Streamed) else Streamed(X)) if is_frame(X) else np.asarray(X)
            if isinstance(X, np.ndarray) and X.ndim != 2:
                raise ValueError(f"expected rows × columns, found {X.ndim} dimensions")
        self.X = X
        self._table: _native.Table | None = None

    def __len__(self) -> int:
        return int(self.X.shape[0])

    @property
    def width(self) -> int:
        """The number of columns."""
        return int(self.X.shape[1])

    @property
    def names(self) -> list[str]:
        """The names of the columns; without any ``x0``, ``x1`` …"""
        names = getattr(self.X, "columns", None)
        return [f"x{at}" for at in range(self.width)] if names is None else [str(name) for name in names]

    def position(self, column: int | str) -> int:
        """The position of a column by its name or its number."""
        if not isinstance(column, str):
            if not 0 <= int(column) < self.width:
                raise ValueError(f"there is no column {column}; there are {self.width}")
            return int(column)
        if column not in self.names:
            raise ValueError(f"there is no column {column!r}; the columns are {', '.join(self.names)}")
        return self.names.index(column)

    def take(self, rows: ArrayLike) -> Any:
        """Some of the rows."""
        rows = np.asarray(rows, dtype=np.int64)
        if self._pandas:
            return self.X.iloc[rows]
        if isinstance(self.X, Streamed):
            return Streamed(self.X.table.mixed(np.tile(rows[:, np.newaxis], (1, self.width))))
        return self.X[rows]

    def mixed(self, index: Index) -> Any:
        """Rows with the cells of each column from the rows of ``index``, rows × columns."""
        if self._pandas:
            import pandas

            columns = [self.X.iloc[:, at].take(index[:, at]).reset_index(drop=True) for at in range(self.width)]
            return pandas.concat(columns, axis=1).set_axis(self.X.columns, axis=1)
        if self._polars:
            import polars

            return polars.DataFrame([self.X.to_series(at).gather(index[:, at]) for at in range(self.width)])
        if isinstance(self.X, Streamed):
            return Streamed(self.X.table.mixed(np.ascontiguousarray(index)))
        return self.X[index, np.arange(self.width)]

    def same(self) -> Index:
        """The index of :meth:`mixed` that changes nothing."""
        return np.tile(np.arange(len(self))[:, np.newaxis], (1, self.width))

    def moved(self, column: int, rows: ArrayLike) -> Any:
        """The rows with the cells of one column from other rows."""
        index = self.same()
        index[:, column] = rows
        return self.mixed(index)

    def with_value(self, column: int, value: Any) -> Any:
        """The rows with one value in all cells of a column, of the column's type where it can be."""
        if self._pandas:
            import pandas

            own = self.X.dtypes.iloc[column]
            cells = pandas.Series([value] * len(self), index=self.X.index)
            if not self.is_number(column):
                try:
                    typed = cells.astype(own)
                    cells = cells if typed.isna().any() else typed
                except (TypeError, ValueError):
                    pass
            changed = self.X.copy()
            changed.isetitem(column, cells)
            return changed
        if self._polars:
            import polars

            own = self.X.to_series(column)
            dtype = polars.Float64 if self.is_number(column) else own.dtype
            return self.X.with_columns(polars.Series(own.name, [value] * len(self), dtype=dtype, strict=False))
        if isinstance(self.X, Streamed):
            names = self.X.columns
            rest = self.X.table.select([name for at, name in enumerate(names) if at != column])
            cells = [value] * len(self) if isinstance(value, str) else np.full(len(self), value)
            return Streamed(rest.renamed_with(rest.names, [(names[column], cells)]).select(names))
        changed = self.X.astype(object) if isinstance(value, str) and self.X.dtype.kind != "O" else self.X.copy()
        if changed.dtype.kind in "iub":
            changed = changed.astype(np.float64)
        changed[:, column] = value
        return changed

    def is_number(self, column: int) -> bool:
        """Whether a column has plain numbers, so that values between its own make sense."""
        if self._pandas:
            from pandas.api import types

            dtype = self.X.dtypes.iloc[column]
            if types.is_object_dtype(dtype):
                return self._kind(column) == "number"
            return bool(types.is_numeric_dtype(dtype) and not types.is_bool_dtype(dtype))
        if self._polars:
            return bool(self.X.dtypes[column].is_numeric())
        if isinstance(self.X, np.ndarray) and self.X.dtype.kind in "bmM":
            return False
        return self._kind(column) == "number"

    def _kind(self, column: int) -> str:
        _, words, times = self._cells(column)
        return "text" if words is not None else "time" if times else "number"

    def _cells(self, column: int) -> tuple[NDArray[Any], list[str] | None, bool]:
        if self._table is None:
            rows = Streamed(self.X) if self._polars else self.X
            if isinstance(rows, np.ndarray) and rows.dtype.kind in "biuf":
                rows = rows.astype(np.float64)
            self._table = table(rows, [f"x{at}" for at in range(self.width)], [])
        return self._table.cells(f"x{column}")

    def cells(self, column: int) -> NDArray[Any]:
        """The cells of a column as the library has them: numbers, datetime64, or text (None: missing)."""
        return plain_cells(*self._cells(column))

    def spread(self, column: int, count: int) -> Index:
        """Up to ``count`` rows whose cells are spread over those of a column: quantiles, or the most frequent texts."""
        cells, words, _ = self._cells(column)
        if words is not None:
            codes, first, counts = np.unique(cells, return_index=True, return_counts=True)
            order = [at for at in np.lexsort((first, -counts)) if codes[at] >= 0]
            return first[order][:count].astype(np.int64)
        known = np.flatnonzero(np.isfinite(cells))
        order = known[np.argsort(cells[known], kind="stable")]
        _, first = np.unique(cells[order], return_index=True)
        if len(first) > count:
            first = np.unique(np.linspace(0.05 * (len(order) - 1), 0.95 * (len(order) - 1), count).round().astype(int))
        return order[first].astype(np.int64)

    def __add__(self, other: Rows) -> Rows:
        """These rows and then those of ``other``, which are of the same kind."""
        if self.width != other.width:
            raise ValueError(f"expected {self.width} columns, found {other.width}")
        if self._pandas and other._pandas:
            import pandas

            return Rows(pandas.concat([self.X, other.X[list(self.X.columns)]], ignore_index=True))
        if self._polars and other._polars:
            import polars

            return Rows(polars.concat([self.X, other.X], how="vertical_relaxed"))
        if isinstance(self.X, np.ndarray) and isinstance(other.X, np.ndarray):
            return Rows(np.concatenate([self.X, other.X]))
        kinds = f"{type(self.X).__name__} and {type(other.X).__name__}"
        raise TypeError(f"expected X and background as two arrays, pandas frames or polars frames, found {kinds}")


def plain_cells(cells: NDArray[Any], words: list[str] | None, times: bool) -> NDArray[Any]:
    """Cells of a table: numbers, datetime64, or text (None: missing)."""
    if words is not None:
        return np.array([*words, None], dtype=object)[cells]
    if times:
        known = np.isfinite(cells)
        moments = np.where(known, np.round(np.where(known, cells, 0.0) * 1e6), 0).astype(np.int64)
        found = moments.astype("datetime64[us]")
        found[~known] = np.datetime64("NaT")
        return found
    return cells


def side_by_side(columns: list[NDArray[Any]]) -> NDArray[Any]:
    """Columns as a matrix: of numbers where all are, else of objects."""
    if all(column.dtype.kind == "f" for column in columns):
        return np.column_stack(columns)
    found = np.empty((len(columns[0]), len(columns)), dtype=object)
    for at, column in enumerate(columns):
        for row, cell in enumerate(column):
            found[row, at] = cell
    return found
