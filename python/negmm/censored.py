"""Censored targets: the lower and upper bound of each, from structured arrays or two columns."""

from __future__ import annotations

import warnings
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from negmm.messages import DataWarning
from negmm.validation import check_vector

Numbers = NDArray[np.float64]
#: What a censored ``y`` says: its two columns are bounds, or what is not observed lies below the limit.
Censoring = Literal["interval", "left"]


def censored_bounds(y: Any, censoring: Censoring | None = None) -> tuple[str | None, Numbers, Numbers] | None:
    """The name of the target, where it has one, and the lower and upper bound of each row; None for one number a row.

    A structured array has a field of bool, whether the target is observed, and one of numbers: the target, or the limit
    that it exceeds, or with ``censoring="left"`` the limit that it lies below. Two columns are the bounds themselves:
    equal where the target is observed, the upper one infinite where it is right-censored, the lower one where it is
    left-censored. That they are is said by ``censoring="interval"``, else there is a warning.

    >>> censored_bounds(np.array([(True, 3.0), (False, 5.0)], dtype=[("event", bool), ("time", float)]))
    ('time', array([3., 5.]), array([ 3., inf]))
    >>> censored_bounds([[3.0, 3.0], [-np.inf, 5.0]], censoring="interval")
    (None, array([  3., -inf]), array([3., 5.]))
    """
    fields = getattr(getattr(y, "dtype", None), "names", None)
    if fields is not None:
        return _from_fields(np.asarray(y), fields, left=censoring == "left")
    columns, cells = getattr(y, "columns", None), np.asarray(y)
    if cells.shape[1:] != (2,):
        return None
    lower, upper = cells.astype(np.float64).T
    if censoring is None:
        warnings.warn(
            "y has two columns, which are taken as the lower and upper bound of each target: pass censoring='interval' to "
            "say so, or fit a JointRegressor if they are two targets",
            DataWarning,
            stacklevel=7,
        )
    wrong = np.flatnonzero(~((np.isfinite(lower) | np.isfinite(upper)) & (lower <= upper)))
    if wrong.size:
        row = wrong[0]
        found = f"found {lower[row]} and {upper[row]}"
        raise ValueError(f"row {row}: y expects a lower bound that is at most the upper, one of them finite, {found}")
    return None if columns is None else str(columns[0]), np.ascontiguousarray(lower), np.ascontiguousarray(upper)


def declared_bounds(y: Any, censoring: Censoring | None) -> tuple[str | None, Numbers, Numbers] | None:
    """As :func:`censored_bounds`, of a ``y`` that has the format which ``censoring`` says."""
    if censoring not in (None, "interval", "left"):
        raise ValueError(f'censoring must be "interval", "left" or None, found {censoring!r}')
    fields = getattr(getattr(y, "dtype", None), "names", None) is not None
    if censoring == "interval" and np.ndim(y) != 2 and not fields:
        raise ValueError('censoring="interval" needs a y of two columns: the lower and upper bound of each target')
    if censoring == "left" and not fields:
        raise ValueError(
            'censoring="left" needs a structured y with a field of bool (observed or not) and one of numbers; bounds '
            'are two columns with censoring="interval", the lower one -inf'
        )
    return censored_bounds(y, censoring)


def censored_log_score(dist: Any, lower: Numbers, upper: Numbers) -> Numbers:
    """The logarithmic score of each row: of the density at an observed target, of the probability of the interval of a
    censored one.

    >>> from negmm import Distribution
    >>> dist = Distribution.of_mixtures([[1.0]] * 3, [[0.0]] * 3, [[1.0]] * 3)
    >>> censored_log_score(dist, np.array([0.0, 0.0, -1.0]), np.array([0.0, np.inf, 1.0])).round(3)
    array([0.919, 0.693, 0.382])
    """
    observed = lower == upper
    found = np.asarray(dist.nll(np.where(observed, lower, 0.0)), dtype=np.float64)
    with np.errstate(divide="ignore"):
        # The difference of the smaller tails, so that a small probability keeps its digits.
        above = np.asarray(dist.sf(lower)) - np.asarray(dist.sf(upper))
        below = np.asarray(dist.cdf(upper)) - np.asarray(dist.cdf(lower))
        within = -np.log(np.where(np.asarray(dist.cdf(lower)) > 0.5, above, below))
    return np.where(observed, found, within)


def log_scores(y: ArrayLike, dist: Any, censoring: Censoring = "interval") -> Any:
    """The logarithmic score of each row, of targets in any format that ``fit`` accepts."""
    known = censored_bounds(y, censoring)
    return np.asarray(dist.nll(check_vector(y))) if known is None else censored_log_score(dist, *known[1:])


def _from_fields(y: NDArray[Any], fields: tuple[str, ...], left: bool) -> tuple[str, Numbers, Numbers]:
    events = [name for name in fields if y.dtype[name].kind == "b"]
    times = [name for name in fields if y.dtype[name].kind in "fiu"]
    if y.ndim != 1 or len(fields) != 2 or len(events) != 1 or len(times) != 1:
        raise ValueError(f"y expects a field of bool (observed or not) and one of numbers, found {y.dtype}")
    limit, observed = y[times[0]].astype(np.float64), y[events[0]]
    return (
        times[0],
        np.where(observed, limit, -np.inf) if left else limit,
        limit if left else np.where(observed, limit, np.inf),
    )
