"""Training tasks: a table, its target, and the roles of the other columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date, timedelta
from numbers import Real
from typing import Any, NamedTuple, TypedDict

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array, check_consistent_length
from sklearn.utils.validation import _check_sample_weight, column_or_1d

from negmm import _native
from negmm.censored import Censoring, declared_bounds
from negmm.table import NamedColumns, label_codes, table, unique_name

Dates = Iterable[str] | Mapping[str, str | None] | None


class Task(TypedDict):
    """The target column is predicted from all columns but ``weight``, ``group``, ``censored``, ``upper_end`` and those
    to ``ignore``; the newest rows by ``time`` are held out."""

    table: _native.Table
    target: str
    weight: str | None
    group: str | None
    time: str | None
    ignore: list[str]
    censored: str | None
    upper_end: str | None
    dates: list[tuple[str, str | None]]
    lower: float | None
    upper: float | None
    continuous: bool
    discrete: bool
    step: float | None
    seed: int


class TargetColumns(NamedTuple):
    """The target of a fit, and the columns that say where it is censored."""

    target: str
    censored: str | None
    upper_end: str | None


class Splitting(TypedDict):
    """The splits: ``folds``, or ``repeats`` random test sets with a fraction ``test`` of the rows."""

    folds: int
    repeats: int | None
    test: float


def task_of(
    X: Any,
    y: Any,
    names: list[str],
    sample_weight: ArrayLike | None,
    groups: ArrayLike | None,
    dates: Dates,
    time: str | ArrayLike | None,
    *,
    lower: float | None,
    upper: float | None,
    continuous: bool,
    discrete: bool = False,
    step: float | None = None,
    seed: int,
    censoring: Censoring | None = None,
    like: TargetColumns | None = None,
) -> Task:
    """The task of predicting ``y`` from validated inputs whose columns are called ``names``; ``like`` are the columns of
    the target of a fit that these rows belong to."""
    target_name, upper_bounds, left = getattr(y, "name", None), None, None
    if (known := declared_bounds(y, censoring)) is not None:
        target_name, lower_bounds, upper_bounds = known
        # What is left-censored stands for itself by its limit.
        y, left = np.where(np.isinf(lower_bounds), upper_bounds, lower_bounds), np.isinf(lower_bounds)
    truth = _is_truth(np.asarray(y).ravel())
    y = column_or_1d(lengths_of_time(y), warn=True)
    y = check_array(y, ensure_2d=False, dtype=np.float64, ensure_all_finite=False, input_name="y")
    check_consistent_length(X, y)
    target = unique_name(target_name, names, "y") if like is None else like.target
    # Of truth values the library knows that there is no third one.
    more: NamedColumns = [(target, y.astype(bool) if truth and not np.isnan(y).any() else y)]

    def added(name: str, column: Any) -> str:
        """Adds a column; returns the name that it got."""
        name = unique_name(None, [*names, *(other for other, _ in more)], name)
        more.append((name, column))
        return name

    censored = upper_end = weight = group = None
    if like is not None and like.censored is None and upper_bounds is not None:
        raise ValueError("y has censored targets, and those of the fit are not: fit anew")
    if like is not None and like.censored is not None and upper_bounds is None:
        upper_bounds = y
    if upper_bounds is not None:
        marks = np.isinf(upper_bounds).astype(np.float64)
        censored = added("censored", marks if left is None else np.where(left, -1.0, marks))
        has_ends = np.any(np.isfinite(upper_bounds) & (upper_bounds > y))
        if like is not None and has_ends and like.upper_end is None:
            raise ValueError("y has intervals with two ends, and that of the fit has none: fit anew")
        if has_ends if like is None else like.upper_end is not None:
            upper_end = added("upper_end", np.where(np.isinf(upper_bounds), np.nan, upper_bounds))
    if sample_weight is not None:
        weights = _check_sample_weight(sample_weight, X, dtype=np.float64)
        if not weights.any():
            raise ValueError("Sample weights must contain at least one non-zero number.")
        weight = added("sample_weight", weights)
    if groups is not None:
        labels = column_or_1d(groups, dtype=object, warn=True)
        check_consistent_length(X, labels)
        group = added("groups", label_codes(labels))
    ignore = []
    if time is not None and not isinstance(time, str):
        times = column_or_1d(time, warn=True)
        check_consistent_length(X, times)
        times = times.astype("datetime64[us]") if times.dtype.kind == "M" else times.astype(np.float64)
        time = added("time", times)
        ignore = [time]
    return Task(
        table=table(X, names, more),
        target=target,
        weight=weight,
        group=group,
        time=time,
        ignore=ignore,
        censored=censored,
        upper_end=upper_end,
        dates=_dates(dates),
        lower=_number("lower", lower),
        upper=_number("upper", upper),
        continuous=continuous,
        discrete=discrete,
        step=_number("step", step),
        seed=seed,
    )


def lengths_of_time(y: Any) -> Any:
    """Lengths of time in seconds, as among the inputs, NaT as missing; other targets as they are. A datetime is no
    number: what is learnt is the time since some moment."""
    cells = np.asarray(y)
    kind = cells.dtype.kind
    if kind == "O":
        present = [cell for cell in cells.ravel() if cell is not None and cell == cell]
        if present and all(isinstance(cell, timedelta) for cell in present):
            cells, kind = np.array([_timedelta(cell) for cell in cells.ravel()]).reshape(cells.shape), "m"
        elif present and all(isinstance(cell, date) for cell in present):
            kind = "M"
    if kind == "M" or "datetime64" in str(getattr(y, "dtype", "")):
        raise ValueError("y is a datetime: fit the time since some moment instead, such as y - X['start']")
    if kind != "m":
        return y
    return np.where(np.isnat(cells), np.nan, cells / np.timedelta64(1, "s"))


def _is_truth(y: NDArray[Any]) -> bool:
    """Whether all targets are True or False."""
    kind = y.dtype.kind
    return kind == "b" or (kind == "O" and len(y) > 0 and all(isinstance(cell, (bool, np.bool_)) for cell in y))


def _timedelta(cell: Any) -> np.timedelta64:
    missing = cell is None or cell != cell
    return np.timedelta64("NaT", "us") if missing else np.timedelta64(round(cell / timedelta(microseconds=1)), "us")


def _number(name: str, value: Any) -> float | None:
    if value is None or (isinstance(value, Real) and not isinstance(value, bool)):
        return None if value is None else float(value)
    raise TypeError(f"{name} must be a number or None, found {value!r}")


def _dates(dates: Dates) -> list[tuple[str, str | None]]:
    """Date columns, each with its format or None."""
    if isinstance(dates, Mapping):
        return [(name, format) for name, format in dates.items()]
    return [(name, None) for name in ([dates] if isinstance(dates, str) else dates or [])]
