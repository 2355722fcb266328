"""Distributions put together from others that differ in kind, support or number of members: rows of several one after
the other, and pools of several for the same rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from negmm.by_quantiles import ByQuantiles, Numbers, of_rows
from negmm.distribution import Distribution
from negmm.seed import seed_of

Rows = NDArray[np.int64]

#: Halvings of the bracket of a quantile of a pool.
HALVINGS = 64
#: The distance from a value of a grid, in steps, within which the library takes a number for that value.
GRID_ERROR = 1e-3


def concatenated(parts: Sequence[Any]) -> Any:
    """The rows of several distributions one after the other: one :class:`negmm.Distribution` where all parts are of
    one kind, on one support and of as many members, else a :class:`Stacked`.

    >>> counts = Distribution.of_mixtures([[1.0]], [[3.0]], [[1.0]], lower=0.0, step=1.0)
    >>> both = np.concatenate([counts, Distribution.of_mixtures([[1.0]], [[3.0]], [[1.0]])])
    >>> both, both.cdf(3.0).round(3)
    (<Stacked distributions of 2 rows from 2 parts>, array([0.691, 0.5  ]))
    """
    parts = [part._rows() if isinstance(part, Distribution) else part for part in parts]
    if all(isinstance(part, Distribution) for part in parts) and Distribution._are_alike(parts):
        return Distribution.concat(parts)
    flat: list[Any] = []
    for part in parts:
        flat += [of[rows] for _, of, rows in part._pieces()] if isinstance(part, Stacked) else [part]
    lengths = [len(part) for part in flat]
    part_of = np.repeat(np.arange(len(flat)), lengths)
    return Stacked(flat, part_of, np.concatenate([np.arange(length) for length in lengths]))


def pooled(parts: Sequence[Any], weights: ArrayLike | None = None) -> Any:
    """The mixture of the predictions of several models for the same rows: one :class:`negmm.Distribution` where all are
    mixtures on one support, else a :class:`Pooled`."""
    mixtures = all(isinstance(part, Distribution) and part._predictions.components is not None for part in parts)
    if mixtures and len({part._predictions.support() for part in parts}) == 1:
        return Distribution.pool(parts, weights)
    return Pooled(parts, weights)


class Stacked(ByQuantiles):
    """Rows of several distributions, each of any kind: every answer about a row is that of the distribution it is from.

    Parameters
    ----------
    parts : distributions
    part_of : array of rows
        The position of each row's part.
    row_of : array of rows
        Its row there.
    """

    def __init__(self, parts: Sequence[Any], part_of: Rows, row_of: Rows) -> None:
        self.parts, self.part_of, self.row_of = list(parts), part_of, row_of

    @property
    def shape(self) -> tuple[int, ...]:
        return self.part_of.shape

    def __getitem__(self, rows: Any) -> Any:
        part_of, row_of = self.part_of[rows], self.row_of[rows]
        return self.parts[part_of][row_of] if part_of.ndim == 0 else Stacked(self.parts, part_of, row_of)

    def __repr__(self) -> str:
        return f"<Stacked distributions of {len(self)} rows from {len(self.parts)} parts>"

    def _pieces(self) -> list[tuple[Rows, Any, Rows]]:
        """The rows of each part that is used: their positions, the part, and their rows there."""
        here = [np.flatnonzero(self.part_of == at) for at in range(len(self.parts))]
        return [(rows, part, self.row_of[rows]) for rows, part in zip(here, self.parts, strict=True) if len(rows)]

    def _each(self, answer: Callable[[Any], Any]) -> Any:
        """An answer of one number for each row."""
        found = np.empty(self.shape)
        for positions, part, rows in self._pieces():
            found[positions] = answer(part[rows])
        return found

    def _at(self, name: str, at: ArrayLike) -> Any:
        """A function at numbers that broadcast with the rows."""
        numbers = np.asarray(at, dtype=np.float64)
        shape = np.broadcast_shapes(numbers.shape, self.shape)
        if shape[-1] != len(self):
            raise ValueError(f"expected numbers that broadcast with {len(self)} rows, found shape {numbers.shape}")
        numbers, found = np.broadcast_to(numbers, shape), np.empty(shape)
        for positions, part, rows in self._pieces():
            found[..., positions] = getattr(part[rows], name)(numbers[..., positions])
        return found

    def support(self) -> tuple[float, float]:
        """The least lower and the largest upper bound of all rows."""
        lower, upper = zip(*(part.support() for _, part, _ in self._pieces()))
        return min(lower), max(upper)

    def mean(self) -> Any:
        return self._each(lambda part: part.mean())

    def var(self) -> Any:
        return self._each(lambda part: part.var())

    def std(self) -> Any:
        return self._each(lambda part: part.std())

    def mode(self) -> Any:
        return self._each(lambda part: part.mode())

    def entropy(self) -> Any:
        return self._each(lambda part: part.entropy())

    def moment(self, order: int) -> Any:
        return self._each(lambda part: part.moment(order))

    def var_parts(self) -> tuple[Any, Any]:
        return self._each(lambda part: part.var_parts()[0]), self._each(lambda part: part.var_parts()[1])

    def hdr(self, coverage: float = 0.9) -> list[Numbers]:
        found: list[Any] = [None] * len(self)
        for positions, part, rows in self._pieces():
            for position, region in zip(positions, part[rows].hdr(coverage), strict=True):
                found[position] = region
        return found

    def cdf(self, x: ArrayLike) -> Any:
        return self._at("cdf", x)

    def sf(self, x: ArrayLike) -> Any:
        return self._at("sf", x)

    def pdf(self, x: ArrayLike) -> Any:
        return self._at("pdf", x)

    def logpdf(self, x: ArrayLike) -> Any:
        return self._at("logpdf", x)

    def pmf(self, k: ArrayLike) -> Any:
        return self._at("pmf", k)

    def ppf(self, q: ArrayLike) -> Any:
        return self._at("ppf", q)

    def isf(self, q: ArrayLike) -> Any:
        return self._at("isf", q)

    def crps(self, y: ArrayLike) -> Any:
        return self._at("crps", of_rows(y, self.shape))

    def nll(self, y: ArrayLike) -> Any:
        return self._at("nll", of_rows(y, self.shape))

    def pit(self, y: ArrayLike) -> Any:
        return self._at("pit", of_rows(y, self.shape))

    def rvs(self, size: int | Sequence[int] | None = None, random_state: Any = None) -> Any:
        """Random values of shape ``size``, which ends with the rows; each part has a seed of its own."""
        shape = self.shape if size is None else (size,) if isinstance(size, (int, np.integer)) else tuple(size)
        if tuple(shape[-1:]) != self.shape:
            raise ValueError(f"expected a size that ends with the {len(self)} rows, found {size}")
        found = np.empty(shape)
        pieces = self._pieces()
        seeds = np.random.default_rng(seed_of(random_state)).integers(2**31, size=len(pieces)).tolist()
        for seed, (positions, part, rows) in zip(seeds, pieces, strict=True):
            found[..., positions] = part[rows].rvs((*shape[:-1], len(rows)), random_state=seed)
        return found


class Pooled(ByQuantiles):
    """The mixture of several distributions of the same rows, each with a weight: of any kind and on any support.

    Probabilities, densities, mean and variance are exact, quantiles are those of the mixed cdf, and the CRPS is an
    integral over them.
    """

    def __init__(self, parts: Sequence[Any], weights: ArrayLike | None = None) -> None:
        if not parts or len({part.shape for part in parts}) != 1:
            raise ValueError("expected distributions of as many rows each")
        shares = np.ones(len(parts)) if weights is None else np.asarray(weights, dtype=np.float64)
        self.parts, self.weights = list(parts), shares / shares.sum()

    @property
    def shape(self) -> tuple[int, ...]:
        shape: tuple[int, ...] = self.parts[0].shape
        return shape

    def __getitem__(self, rows: Any) -> Pooled:
        return Pooled([part[rows] for part in self.parts], self.weights)

    def __repr__(self) -> str:
        return f"<Pool of {len(self.parts)} distributions of {len(self) if self.shape else 1} rows>"

    def _mean_of(self, answers: Sequence[Any]) -> Any:
        return sum(weight * answer for weight, answer in zip(self.weights, answers, strict=True))

    def _mixed(self, name: str, *arguments: Any) -> Any:
        return self._mean_of([getattr(part, name)(*arguments) for part in self.parts])

    def support(self) -> tuple[float, float]:
        """The least lower and the largest upper bound."""
        lower, upper = zip(*(part.support() for part in self.parts))
        return min(lower), max(upper)

    def mean(self) -> Any:
        """Mean."""
        return self._mixed("mean")

    def var_parts(self) -> tuple[Any, Any]:
        """The mean variance of the parts, and the variance between their means."""
        means = [part.mean() for part in self.parts]
        middle = self._mean_of(means)
        return self._mixed("var"), self._mean_of([(mean - middle) ** 2 for mean in means])

    def var(self) -> Any:
        """Variance."""
        within, between = self.var_parts()
        return within + between

    def cdf(self, x: ArrayLike) -> Any:
        """Probability of a value up to ``x``."""
        return self._mixed("cdf", x)

    def sf(self, x: ArrayLike) -> Any:
        """Probability of a value above ``x``."""
        return self._mixed("sf", x)

    def pmf(self, k: ArrayLike) -> Any:
        """Probability of exactly ``k``."""
        return self._mixed("pmf", k)

    def pdf(self, x: ArrayLike) -> Any:
        """Density."""
        return self._mixed("pdf", x)

    def logpdf(self, x: ArrayLike) -> Any:
        """Logarithm of the density."""
        return self._log_mixed([part.logpdf(x) for part in self.parts])

    def nll(self, y: ArrayLike) -> Any:
        """Logarithmic score."""
        return -self._log_mixed([-np.asarray(part.nll(y)) for part in self.parts])

    def _log_mixed(self, logs: Sequence[Any]) -> Any:
        with np.errstate(divide="ignore"):
            return np.logaddexp.reduce([np.log(w) + part for w, part in zip(self.weights, logs, strict=True)])

    def pit(self, y: ArrayLike) -> Any:
        """Probability integral transform."""
        return self._mixed("pit", y)

    def ppf(self, q: ArrayLike) -> Any:
        """Quantile: the least value whose probability of not being exceeded is at least ``q``."""
        return self._quantile(q, "ppf", lambda x, levels: self.cdf(x) >= levels)

    def isf(self, q: ArrayLike) -> Any:
        """The least value that is exceeded with at most probability ``q``."""
        return self._quantile(q, "isf", lambda x, levels: self.sf(x) <= levels)

    def _quantile(self, q: ArrayLike, name: str, reached: Callable[[Any, Any], Any]) -> Any:
        """Between the least and the largest quantile of the parts, by halving; on a grid one of its values."""
        levels = np.broadcast_to(np.asarray(q, dtype=np.float64), np.broadcast_shapes(np.shape(q), self.shape))
        ends = np.array([getattr(part, name)(levels) for part in self.parts])
        low, high = ends.min(axis=0), ends.max(axis=0)
        known = np.isfinite(low) & np.isfinite(high)
        outermost = np.where(np.isfinite(low), high, np.where(np.isfinite(high), low, high))
        # Where the levels are 0 or 1, ends of the supports: the outermost.
        outermost = np.where(levels == (0 if name == "ppf" else 1), low, np.where(known, high, outermost))
        low, high = np.where(known, low, 0.0), np.where(known, high, 0.0)
        at_low = reached(low, levels)
        low, high = low, np.where(at_low, low, high)
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            inside = reached(middle, levels)
            low, high = np.where(inside, low, middle), np.where(inside, middle, high)
        for step, origin in self._grids():
            value = origin + step * np.round((high - origin) / step)
            # Numbers a little below a value of the grid count as that value: its probability is there from there on.
            at_jump = np.abs(high - (value - GRID_ERROR * step)) <= 1e-9 * np.maximum(np.abs(high), step)
            near = np.abs(value - high) <= 1e-9 * np.maximum(np.abs(high), step)
            high = np.where((near | at_jump) & reached(value, levels), value, high)
        inner = known & (levels > 0) & (levels < 1)
        return np.where(inner, high, np.where(np.isnan(levels), np.nan, outermost))[()]

    def _grids(self) -> list[tuple[float, float]]:
        """Step and origin of each part that is on a grid."""
        supports = [part._predictions.support() for part in self.parts if isinstance(part, Distribution)]
        return [(step, origin) for _, _, step, origin in supports if step is not None]

    def rvs(self, size: int | Sequence[int] | None = None, random_state: Any = None) -> Any:
        """Random values: of each part with the probability of its weight."""
        generator = np.random.default_rng(seed_of(random_state))
        seeds = generator.integers(2**31, size=len(self.parts)).tolist()
        draws = np.array([part.rvs(size, random_state=seed) for seed, part in zip(seeds, self.parts, strict=True)])
        chosen = generator.choice(len(self.parts), size=draws.shape[1:], p=self.weights)
        return np.take_along_axis(draws, np.asarray(chosen)[np.newaxis], axis=0)[0]

    @property
    def measure(self) -> Literal["discrete", "mixed", "continuous"]:
        """Measure type, "mixed" where the parts differ."""
        kinds = {getattr(part, "measure", "continuous") for part in self.parts}
        return kinds.pop() if len(kinds) == 1 else "mixed"
