"""The learning task: a table, its target specification and its column roles."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypedDict

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array, check_consistent_length
from sklearn.utils.validation import _check_sample_weight, column_or_1d

from negmm import _native
from negmm.censored import ends
from negmm.table import NamedColumns, free_name, places, table

Dates = Iterable[str] | Mapping[str, str | None] | None


class Task(TypedDict):
    """What is to be learnt: ``target`` from all other columns but ``weight``, ``group``, ``censored`` and ``upper_end``."""

    table: _native.Table
    target: str
    weight: str | None
    group: str | None
    censored: str | None
    upper_end: str | None
    dates: list[tuple[str, str | None]]
    lower: float | None
    upper: float | None
    continuous: bool
    seed: int


class Splitting(TypedDict):
    """How rows are divided: into ``folds``, or ``repeats`` times a share ``test`` at random."""

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
    *,
    lower: float | None,
    upper: float | None,
    continuous: bool,
    seed: int,
) -> Task:
    """The task of learning ``y`` from checked inputs whose columns are called ``names``."""
    target_name, highest = getattr(y, "name", None), None
    if (known := ends(y)) is not None:
        target_name, y, highest = known
    y = column_or_1d(y, warn=True)
    y = check_array(y, ensure_2d=False, dtype=np.float64, ensure_all_finite=False, input_name="y")
    check_consistent_length(X, y)
    target = free_name(target_name, names, "y")
    more: NamedColumns = [(target, y)]

    def added(name: str, column: Any) -> str:
        """The name that a further column got."""
        name = free_name(None, [*names, *(other for other, _ in more)], name)
        more.append((name, column))
        return name

    censored = upper_end = weight = group = None
    if highest is not None:
        censored = added("censored", np.isinf(highest).astype(np.float64))
        if np.any(np.isfinite(highest) & (highest > y)):
            upper_end = added("upper_end", np.where(np.isinf(highest), np.nan, highest))
    if sample_weight is not None:
        weights = _check_sample_weight(sample_weight, X, dtype=np.float64)
        if not weights.any():
            raise ValueError("Sample weights must contain at least one non-zero number.")
        weight = added("sample_weight", weights)
    if groups is not None:
        labels = column_or_1d(groups, dtype=object, warn=True)
        check_consistent_length(X, labels)
        group = added("groups", places(labels))
    return Task(
        table=table(X, names, more),
        target=target,
        weight=weight,
        group=group,
        censored=censored,
        upper_end=upper_end,
        dates=_dates(dates),
        lower=lower,
        upper=upper,
        continuous=continuous,
        seed=seed,
    )


def _dates(dates: Dates) -> list[tuple[str, str | None]]:
    """Columns that are dates, each with its form or None."""
    if isinstance(dates, Mapping):
        return [(name, form) for name, form in dates.items()]
    return [(name, None) for name in ([dates] if isinstance(dates, str) else dates or [])]
