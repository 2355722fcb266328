"""Censored targets: the lower and upper bound of each, from structured arrays or two columns."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from negmm.messages import DataWarning

Numbers = NDArray[np.float64]


def censored_bounds(y: Any, declared: bool = False) -> tuple[str | None, Numbers, Numbers] | None:
    """The name of the target, where it has one, and the lower and upper bound of each row; None for one number a row.

    A structured array has a field of bool, whether the target is observed, and one of numbers: the target, or the time
    of censoring. Two columns are the bounds themselves: equal where the target is observed, the upper one infinite
    where it is right-censored. That they are is to be ``declared``, else there is a warning.

    >>> censored_bounds(np.array([(True, 3.0), (False, 5.0)], dtype=[("event", bool), ("time", float)]))
    ('time', array([3., 5.]), array([ 3., inf]))
    >>> censored_bounds([[3.0, 3.0], [5.0, np.inf]], declared=True)
    (None, array([3., 5.]), array([ 3., inf]))
    """
    fields = getattr(getattr(y, "dtype", None), "names", None)
    if fields is not None:
        return _from_fields(np.asarray(y), fields)
    columns, cells = getattr(y, "columns", None), np.asarray(y)
    if cells.shape[1:] != (2,):
        return None
    lower, upper = cells.astype(np.float64).T
    if not declared:
        warnings.warn(
            "y has two columns, which are taken as the lower and upper bound of each target: pass censoring='interval' to "
            "say so, or fit a JointRegressor if they are two targets",
            DataWarning,
            stacklevel=5,
        )
    wrong = np.flatnonzero(~(np.isfinite(lower) & (lower <= upper)))
    if wrong.size:
        row = wrong[0]
        found = f"found {lower[row]} and {upper[row]}"
        raise ValueError(f"row {row}: y expects a finite lower bound that is at most the upper, {found}")
    return None if columns is None else str(columns[0]), np.ascontiguousarray(lower), np.ascontiguousarray(upper)


def _from_fields(y: NDArray[Any], fields: tuple[str, ...]) -> tuple[str, Numbers, Numbers]:
    events = [name for name in fields if y.dtype[name].kind == "b"]
    times = [name for name in fields if y.dtype[name].kind in "fiu"]
    if y.ndim != 1 or len(fields) != 2 or len(events) != 1 or len(times) != 1:
        raise ValueError(f"y expects a field of bool (observed or not) and one of numbers, found {y.dtype}")
    lower = y[times[0]].astype(np.float64)
    return times[0], lower, np.where(y[events[0]], lower, np.inf)
