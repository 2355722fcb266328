"""Series in data frames: their columns or index as a table of the library, and forecasts with the same names, types,
zones and index."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from negmm import _native
from negmm.table import Streamed, is_frame, is_pandas, table

#: What the columns of a hierarchy have for sums.
ALL = "(all)"


@dataclass(frozen=True)
class Panel:
    """The rows of some series."""

    table: _native.Table
    #: The time and the series column, where there are any.
    time: str | None
    series: str | None
    #: The columns that name series, with their cells (copies).
    keys: dict[str, Any]
    #: The time column, without rows: its time zone or frequency.
    zone: Any
    period: Any
    #: The names of the index that forecasts have.
    index: tuple[str, ...]
    #: Times and values of the rows, for plots.
    times: Any
    values: Any
    #: The data frame that the table is of (a copy), to be pickled; None of a stream.
    rows: Any

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "table"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.__dict__["table"] = table(self.rows, [str(name) for name in self.rows.columns], [])

    @classmethod
    def of(
        cls, df: Any, target: str, columns: Mapping[str, tuple[str | None, str]], hierarchy: Sequence[str]
    ) -> Panel:
        """The series of a frame; ``columns`` has the series and the time column, each with its default, which may be
        absent."""
        (series, default_series), (time, default_time) = columns["id_col"], columns["time_col"]
        df, index, (series_level, time_level) = _without_index(
            df, target, series or default_series, time or default_time
        )
        if not is_frame(df):
            found = type(df).__name__
            raise ValueError(f"expected a frame with named columns, such as unique_id, ds, y, found {found}")
        streamed = None if is_pandas(df) else df if isinstance(df, Streamed) else Streamed(df)
        names = [str(name) for name in (df.columns if streamed is None else streamed.columns)]
        time, series = time_level or time, series_level or series
        for parameter, (name, default) in columns.items():
            if name is not None and name != default and name not in names:
                raise ValueError(f'there is no column "{name}", which {parameter} names; there are {", ".join(names)}')
        time = time if time in names else None
        series = series if series in names else None
        key_names = [*hierarchy, *([series] if series is not None and series not in hierarchy else [])]
        if streamed is not None:
            keys = {name: _streamed_cells(df, name) for name in key_names if name in names}
            return cls(streamed.table, time, series, keys, None, None, (), None, None, None)
        at = {name: df.iloc[:, number] for number, name in enumerate(names)}
        zone = period = None
        if time is not None:
            zone = getattr(at[time].dtype, "tz", None)
            period = getattr(at[time].dtype, "freq", None) if type(at[time].dtype).__name__ == "PeriodDtype" else None
        rows = df
        if zone is not None:
            # With offsets from UTC, seasons are those of the clock on the wall.
            rows = df.copy(deep=False)
            written = at[str(time)].map(lambda moment: moment.isoformat(), na_action="ignore")
            rows.isetitem(names.index(str(time)), written.astype(object))
        keys = {name: at[name].reset_index(drop=True).copy() for name in key_names if name in names}
        times = at[time].reset_index(drop=True).copy() if time is not None else None
        values = at[target].reset_index(drop=True).copy() if target in names else None
        rows = rows.copy()
        return cls(table(rows, names, []), time, series, keys, zone, period, index, times, values, rows)

    def keys_of(self, rows: NDArray[np.int64], named: NDArray[np.int64]) -> dict[str, Any]:
        """The cells that name the series of forecasts: each has a row of its series, and so many columns name it."""
        cells: dict[str, Any] = {}
        for number, (name, column) in enumerate(self.keys.items()):
            own = column.take(rows) if isinstance(column, np.ndarray) else column.iloc[rows].reset_index(drop=True)
            sums = named <= number
            if sums.any():
                own = own.astype(object)
                own[sums] = ALL
            cells[name] = own
        return cells

    def times_of(self, seconds: NDArray[np.float64], dates: bool, wall: bool) -> Any:
        """Times in the type and zone of the time column; numbers as integers where they are whole."""
        if not dates:
            whole = seconds.astype("int64")
            return whole if np.array_equal(whole, seconds) else seconds
        times = np.round(seconds * 1e6).astype("int64").astype("datetime64[us]")
        if self.zone is None and self.period is None:
            return times
        import pandas

        index = pandas.DatetimeIndex(times)
        if self.period is not None:
            return index.to_period(self.period)
        if not wall:
            return index.tz_localize("UTC").tz_convert(self.zone)
        return index.tz_localize(self.zone, ambiguous=np.zeros(len(index), dtype=bool), nonexistent="shift_forward")

    def indexed(self, frame: Any) -> Any:
        """A frame of forecasts with the index of the rows."""
        return frame.set_index(list(self.index)) if self.index else frame


def _without_index(
    df: Any, target: str, series: str, time: str
) -> tuple[Any, tuple[str, ...], tuple[str | None, str | None]]:
    """The frame with an index of times, or of series and times, as columns; the names of the index, and the series and
    time columns among them."""
    if type(df).__module__.split(".")[0] != "pandas":
        return df, (), (None, None)
    import pandas

    if isinstance(df, pandas.Series):
        df = df.to_frame(target)
    if not isinstance(df, pandas.DataFrame):
        return df, (), (None, None)
    times = (pandas.DatetimeIndex, pandas.PeriodIndex)
    found: tuple[str | None, str | None]
    if isinstance(df.index, pandas.MultiIndex):
        is_time = [isinstance(level, times) for level in df.index.levels]
        if not is_time[-1] or len(is_time) < 2:
            return df, (), (None, None)
        usual = [series] if len(is_time) == 2 else [f"level_{number}" for number in range(len(is_time) - 1)]
        names = [str(name or other) for name, other in zip(df.index.names, [*usual, time], strict=True)]
        found = (names[0] if len(names) == 2 else None, names[-1])
    elif isinstance(df.index, times) and time not in df.columns:
        names = [str(df.index.name or time)]
        found = (None, names[0])
    else:
        return df, (), (None, None)
    if taken := [name for name in names if name in df.columns]:
        raise ValueError(f'the index and a column are both called "{taken[0]}": rename one')
    return df.rename_axis(index=names).reset_index(), tuple(names), found


def _streamed_cells(df: Any, name: str) -> NDArray[Any]:
    """The cells of a column of a frame that streams Arrow."""
    column = df[name] if hasattr(df, "__getitem__") else None
    if column is None:
        raise ValueError(f'the column "{name}" of {type(df).__name__} cannot be read twice: pass a data frame')
    return np.asarray(column.to_numpy() if hasattr(column, "to_numpy") else column)


def holidays_of(holidays: Any, series: str | None) -> list[tuple[int, str, str | None]]:
    """Days since 1970, names, and series of holidays."""
    if holidays is None:
        return []
    if is_pandas(holidays):
        if "date" not in holidays.columns:
            raise ValueError('holidays need a column "date", and may have a column "name"')
        dates = list(holidays["date"])
        names = list(holidays["name"]) if "name" in holidays.columns else ["holiday"] * len(dates)
        own = list(holidays[series]) if series is not None and series in holidays.columns else [None] * len(dates)
        rows = list(zip(dates, names, own, strict=True))
    elif isinstance(holidays, Mapping):
        rows = [(date, name, None) for date, name in holidays.items()]
    else:
        rows = [day if isinstance(day, tuple) else (day, "holiday", None) for day in holidays]
    return [(_day(date), str(name), None if own is None or own != own else str(own)) for date, name, own in rows]


def _day(date: Any) -> int:
    """Days since 1970."""
    if isinstance(date, (int, np.integer)):
        return int(date)
    try:
        day = np.datetime64(date, "D") if not hasattr(date, "to_datetime64") else date.to_datetime64().astype("M8[D]")
    except ValueError as error:
        raise ValueError(f"expected the date of a holiday, found {date!r}") from error
    if np.isnat(day):
        raise ValueError("the date of a holiday is missing")
    return int(day.astype("int64"))
