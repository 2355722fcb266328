"""Shape of distributions: modes, highest-density regions, moments and entropy."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from negmm.distribution import Distribution

Numbers = NDArray[np.float64]

#: Sds of a component from its mean at which pieces of an integral end: within one a mixture is smooth.
BREAKS = np.array([-9.0, -6.5, -5, -4, -3.25, -2.5, -2, -1.5, -1, -0.5, 0, 0.5, 1, 1.5, 2, 2.5, 3.25, 4, 5, 6.5, 9])
#: Points of a piece, and their weights, by Gauss and Legendre.
POINTS, SHARES = np.polynomial.legendre.leggauss(8)
#: Numbers that are held at once.
MOST = 4_000_000
#: Steps from a component's mean to the mode next to it, at most.
CLIMBS = 500
#: What lies beyond is left out of sums over a grid.
TINY = 1e-14


def modes(dist: Distribution) -> Numbers:
    """The most likely value of each row: where the density is highest; on a grid the most probable value, where there are atoms the
    heaviest."""
    if dist.measure == "discrete":
        return _of_rows(dist, lambda one: _values(one)[np.argmax(one.pmf(_values(one)))])
    if dist._predictions.components is None:
        return np.asarray(dist.mean())
    weights, means, sds = dist.weights, dist.means, dist.sds
    heights = np.stack([_climbed(*parts, dist.support()) for parts in zip(weights, means, sds, strict=True)])
    density = dist.pdf(heights.T).T
    found: Numbers = np.take_along_axis(heights, density.argmax(axis=1)[:, np.newaxis], axis=1)[:, 0]
    atoms = np.where(sds == 0, weights, 0.0)
    heaviest = np.take_along_axis(means, atoms.argmax(axis=1)[:, np.newaxis], axis=1)[:, 0]
    return np.where(atoms.max(axis=1) > 0, heaviest, found)


def _climbed(weights: Numbers, means: Numbers, sds: Numbers, support: tuple[float, float]) -> Numbers:
    """Where the density is highest near each component of one row. Each step goes to the mean of the components, weighed by what they
    have there and by their precision: it never goes down (mean shift, Carreira-Perpiñán 2000)."""
    smooth = (sds > 0) & (weights > 0)
    if not smooth.any():
        return means
    weights, centres, sds = weights[smooth], means[smooth], sds[smooth]
    x = np.clip(centres, *support)
    for _ in range(CLIMBS):
        logs = np.log(weights / sds) - 0.5 * ((x[:, np.newaxis] - centres) / sds) ** 2
        pull = np.exp(logs - logs.max(axis=1, keepdims=True)) / sds**2
        higher = np.clip((pull @ centres) / pull.sum(axis=1), *support)
        done = np.abs(higher - x).max() <= 1e-13 * (np.abs(x).max() + sds.min())
        x = higher
        if done:
            break
    # As many for each row.
    return np.concatenate([x, np.full(len(means) - len(x), x[0])])


def moments(dist: Distribution, order: int) -> Numbers:
    """The mean of the ``order``-th power of the values."""
    if dist._predictions.components is None:
        powers: Numbers = (dist.samples**order).mean(axis=1)
        return powers
    if dist.measure == "discrete":
        return _of_rows(dist, lambda one: float((one.pmf(_values(one)) * _values(one) ** order).sum()))
    if dist.support() == (-np.inf, np.inf):
        # E Xⁿ = mean E Xⁿ⁻¹ + (n - 1) sd² E Xⁿ⁻².
        before, power = np.zeros_like(dist.means), np.ones_like(dist.means)
        for n in range(1, order + 1):
            before, power = power, dist.means * power + (n - 1) * dist.sds**2 * before
        closed: Numbers = (dist.weights * power).sum(axis=1)
        return closed
    atoms = np.where(dist.sds == 0, dist.weights, 0.0)
    return _integrated(dist, lambda y, density: y**order * density) + _of_atoms(dist, atoms, lambda a, p: p * a**order)


def entropies(dist: Distribution) -> Numbers:
    """-∫ p log p of the density, and -Σ p log p of what has a probability."""
    if dist.measure == "discrete":
        return _of_rows(dist, lambda one: float(_surprise(one.pmf(_values(one))).sum()))
    if dist._predictions.components is None:
        normal: Numbers = np.log(np.asarray(dist.std()) * np.sqrt(2 * np.pi * np.e))
        return normal
    atoms = np.where(dist.sds == 0, dist.weights, 0.0)
    return _integrated(dist, lambda _, density: _surprise(density)) + _of_atoms(dist, atoms, lambda _, p: _surprise(p))


def _surprise(density: Numbers) -> Numbers:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(density > 0, -density * np.log(density), 0.0)


def _of_atoms(dist: Distribution, weights: Numbers, of: Callable[[Numbers, Numbers], Numbers]) -> Numbers:
    """The sum over the values that have a probability of their own, each once."""
    total = np.zeros(len(dist))
    for row in np.flatnonzero(weights.any(axis=1)):
        values = np.unique(dist.means[row][weights[row] > 0])
        total[row] = of(values, dist[int(row)].pmf(values)).sum()
    return total


def _integrated(dist: Distribution, of: Callable[[Numbers, Numbers], Numbers]) -> Numbers:
    """The integral of a function of value and density over each row's support, by pieces within which the mixture is smooth."""
    found = np.empty(len(dist))
    components = dist.means.shape[1]
    for rows in _some(len(dist), MOST // (components * len(BREAKS) * len(POINTS)) + 1):
        part = dist[rows]
        ends = part.means[:, :, np.newaxis] + part.sds[:, :, np.newaxis] * BREAKS
        ends = np.sort(np.clip(ends.reshape(len(part), -1), *dist.support()), axis=1)
        halves = 0.5 * np.diff(ends, axis=1)[:, :, np.newaxis]
        places = ends[:, :-1, np.newaxis] + halves * (1 + POINTS)
        flat = places.reshape(len(part), -1)
        values = of(flat, part.pdf(flat.T).T).reshape(places.shape)
        found[rows] = (values * SHARES * halves).sum(axis=(1, 2))
    return found


def _some(rows: int, count: int) -> Iterator[slice]:
    return (slice(start, min(start + count, rows)) for start in range(0, rows, count))


def _of_rows(dist: Distribution, of: Callable[[Distribution], float]) -> Numbers:
    return np.array([of(dist[row]) for row in range(len(dist))])


def _values(one: Distribution) -> Numbers:
    """The values of the grid of one row that have nearly all probability."""
    step = one._predictions.support()[2] or 1.0
    low, high = one.ppf(TINY), one.isf(TINY)
    values: Numbers = low + step * np.arange(round((high - low) / step) + 1)
    return values
