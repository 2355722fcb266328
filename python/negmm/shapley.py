"""Shapley values of the columns of anything that predicts distributions: rows are mixed as they are, before any step of
a pipeline.

For a row x and background rows b the game of the columns S is v(S) = mean over b of the answer for the row that has the
columns S of x and all others of b. All subsets are taken, or permutations that are walked in both directions, the same
ones for every row.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from negmm.rows import Rows

Numbers = NDArray[np.float64]
Masks = NDArray[np.bool_]

#: Columns up to which all subsets are taken of themselves, and up to which they may be; predictions up to which.
EXACT, MOST_EXACT, EVALUATIONS = 10, 16, 1 << 19
#: Pairs of walks at least, which their errors need, and at most.
LEAST_PAIRS, MOST_PAIRS = 2, 16
#: Mixed rows that are predicted at once.
BLOCK = 8192


def shapley_values(
    answers: Callable[[Any, Any], Numbers],
    X: Rows,
    background: Rows,
    *,
    y: Numbers | None,
    exact: bool,
    permutations: int | None,
    seed: int,
) -> dict[str, Any]:
    """``values`` and ``base``, rows × answers, ``contributions`` and ``errors``, rows × columns × answers, and ``exact``.
    ``answers`` has those of rows of the kind of ``X``, and is given a target for each where there is ``y``."""
    masks, pairs = _design(len(X), len(background), X.width, exact, permutations, seed)
    values = _game(answers, X, background, masks, y)
    none, all_ = _find(masks, np.zeros(X.width, bool)), _find(masks, np.ones(X.width, bool))
    if pairs is None:
        contributions = _exact(values, masks)
        errors = np.zeros_like(contributions)
    else:
        contributions, errors = _walked(values, masks, pairs)
    return {
        "values": values[:, all_],
        "base": values[:, none],
        "contributions": contributions,
        "errors": errors,
        "exact": pairs is None,
    }


def _design(
    rows: int, background: int, columns: int, exact: bool, permutations: int | None, seed: int
) -> tuple[Masks, NDArray[np.int64] | None]:
    """The different subsets, and the permutations; None where these are all subsets."""
    if exact and columns > MOST_EXACT:
        raise ValueError(
            f"exact contributions are possible for up to {MOST_EXACT} columns, and there are {columns}: use permutations"
        )
    few = columns <= EXACT and rows * background * 2**columns <= EVALUATIONS
    if exact or (permutations is None and few):
        return (np.arange(2**columns)[:, np.newaxis] >> np.arange(columns) & 1).astype(bool), None
    if permutations is None:
        walk = rows * background * 2 * max(columns - 1, 1)
        permutations = min(max(EVALUATIONS // walk, LEAST_PAIRS), MOST_PAIRS)
    if permutations < 1:
        raise ValueError(f"permutations must be at least 1, found {permutations}")
    rng = np.random.default_rng(seed)
    forward = np.array([rng.permutation(columns) for _ in range(permutations)]).reshape(permutations, columns)
    pairs = np.stack([forward, forward[:, ::-1]], axis=1)
    # position[walk, column] < steps: the column is taken over within so many steps.
    position = np.argsort(pairs.reshape(-1, columns), axis=1)
    masks = position[:, np.newaxis, :] < np.arange(columns + 1)[:, np.newaxis]
    return np.unique(masks.reshape(-1, columns), axis=0), pairs


def _find(masks: Masks, mask: Masks) -> int:
    return int(np.flatnonzero((masks == mask).all(axis=1))[0])


def _game(
    answers: Callable[[Any, Any], Numbers], X: Rows, background: Rows, masks: Masks, y: Numbers | None
) -> Numbers:
    """v of each row and subset: rows × subsets × answers."""
    both, size = X + background, len(background)
    others = len(X) + np.arange(size)
    found = []
    units = max(BLOCK // size, 1)
    for first in range(0, len(X) * len(masks), units):
        unit = np.arange(first, min(first + units, len(X) * len(masks)))
        row, mask = unit // len(masks), masks[unit % len(masks)]
        index = np.where(mask[:, np.newaxis, :], row[:, np.newaxis, np.newaxis], others[:, np.newaxis])
        targets = None if y is None else np.repeat(y[row], size)
        of_rows = answers(both.mixed(index.reshape(-1, X.width)), targets)
        found.append(of_rows.reshape(len(unit), size, -1).mean(axis=1))
    return np.concatenate(found).reshape(len(X), len(masks), -1)


def _exact(values: Numbers, masks: Masks) -> Numbers:
    """|S|! (d - |S| - 1)! / d! (v(S and j) - v(S)) over all subsets S without j, which are numbered by their bits."""
    columns = masks.shape[1]
    sizes = masks.sum(axis=1)
    weights = np.array([1 / (columns * math.comb(columns - 1, size)) for size in range(columns)])
    contributions = np.empty((len(values), columns, values.shape[2]))
    for column in range(columns):
        without = np.flatnonzero(~masks[:, column])
        change = values[:, without | 1 << column] - values[:, without]
        contributions[:, column] = np.einsum("rsa,s->ra", change, weights[sizes[without]])
    return contributions


def _walked(values: Numbers, masks: Masks, pairs: NDArray[np.int64]) -> tuple[Numbers, Numbers]:
    """The means of the changes along the walks, and their standard errors by the spread of pairs: of a single pair it is
    not known (NaN)."""
    count, _, columns = pairs.shape
    place = {mask.tobytes(): at for at, mask in enumerate(masks)}
    changes = np.zeros((count, len(values), columns, values.shape[2]))
    for pair, walks in enumerate(pairs):
        for walk in walks:
            mask = np.zeros(columns, bool)
            before = values[:, place[mask.tobytes()]]
            for column in walk:
                mask[column] = True
                after = values[:, place[mask.tobytes()]]
                changes[pair, :, column] += 0.5 * (after - before)
                before = after
    mean = changes.mean(axis=0)
    errors = changes.std(axis=0, ddof=1) / np.sqrt(count) if count > 1 else np.full_like(mean, np.nan)
    return mean, errors
