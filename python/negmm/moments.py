"""Mode, moments and entropy of distributions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from negmm.distribution import Distribution

Numbers = NDArray[np.float64]

#: Standard deviations from a component's mean at which panels of an integral end: within a panel a mixture is smooth.
BREAKS = np.array([-9.0, -6.5, -5, -4, -3.25, -2.5, -2, -1.5, -1, -0.5, 0, 0.5, 1, 1.5, 2, 2.5, 3.25, 4, 5, 6.5, 9])
#: Nodes and weights of Gauss-Legendre quadrature on a panel.
NODES, QUADRATURE_WEIGHTS = np.polynomial.legendre.leggauss(8)
#: Numbers in memory at once.
MAX_NUMBERS = 4_000_000
#: Mean-shift iterations at most.
MAX_ITERATIONS = 500
#: Tail probability that is left out of sums over a grid.
TAIL = 1e-14


def modes(dist: Distribution) -> Numbers:
    """The mode of each row: the maximum of the density; on a grid the most probable value; with atoms the most probable
    atom."""
    if dist.measure == "discrete":
        return _by_row(dist, lambda one: _values(one)[np.argmax(one.pmf(_values(one)))])
    if dist._predictions.components is None:
        return np.asarray(dist.mean())
    weights, means, sds = dist.weights, dist.means, dist.sds
    candidates = np.stack([_mean_shift(*parts, dist.support()) for parts in zip(weights, means, sds, strict=True)])
    density = dist.pdf(candidates.T).T
    found: Numbers = np.take_along_axis(candidates, density.argmax(axis=1)[:, np.newaxis], axis=1)[:, 0]
    atoms = np.where(sds == 0, weights, 0.0)
    heaviest = np.take_along_axis(means, atoms.argmax(axis=1)[:, np.newaxis], axis=1)[:, 0]
    return np.where(atoms.max(axis=1) > 0, heaviest, found)


def _mean_shift(weights: Numbers, means: Numbers, sds: Numbers, support: tuple[float, float]) -> Numbers:
    """The mode next to each component of one row, by mean shift (Carreira-Perpiñán 2000). Each step goes to the mean of
    the components, weighted by their density there and their precision, which never lowers the density."""
    smooth = (sds > 0) & (weights > 0)
    if not smooth.any():
        return means
    weights, centres, sds = weights[smooth], means[smooth], sds[smooth]
    x = np.clip(centres, *support)
    for _ in range(MAX_ITERATIONS):
        logs = np.log(weights / sds) - 0.5 * ((x[:, np.newaxis] - centres) / sds) ** 2
        weight = np.exp(logs - logs.max(axis=1, keepdims=True)) / sds**2
        moved = np.clip((weight @ centres) / weight.sum(axis=1), *support)
        done = np.abs(moved - x).max() <= 1e-13 * (np.abs(x).max() + sds.min())
        x = moved
        if done:
            break
    # As many for each row.
    return np.concatenate([x, np.full(len(means) - len(x), x[0])])


def moments(dist: Distribution, order: int) -> Numbers:
    """The raw moment of an order."""
    if dist._predictions.components is None:
        powers: Numbers = (dist.samples**order).mean(axis=1)
        return powers
    if dist.measure == "discrete":
        return _by_row(dist, lambda one: float((one.pmf(_values(one)) * _values(one) ** order).sum()))
    if dist.support() == (-np.inf, np.inf):
        # E Xⁿ = mean E Xⁿ⁻¹ + (n - 1) sd² E Xⁿ⁻².
        before, power = np.zeros_like(dist.means), np.ones_like(dist.means)
        for n in range(1, order + 1):
            before, power = power, dist.means * power + (n - 1) * dist.sds**2 * before
        closed: Numbers = (dist.weights * power).sum(axis=1)
        return closed
    atoms = np.where(dist.sds == 0, dist.weights, 0.0)
    return _integrate(dist, lambda y, density: y**order * density) + _sum_over_atoms(
        dist, atoms, lambda a, p: p * a**order
    )


def entropies(dist: Distribution) -> Numbers:
    """Differential entropy -∫ p log p of the density, plus -Σ p log p of grids and atoms."""
    if dist.measure == "discrete":
        return _by_row(dist, lambda one: float(_entropy_terms(one.pmf(_values(one))).sum()))
    if dist._predictions.components is None:
        normal: Numbers = np.log(np.asarray(dist.std()) * np.sqrt(2 * np.pi * np.e))
        return normal
    atoms = np.where(dist.sds == 0, dist.weights, 0.0)
    return _integrate(dist, lambda _, density: _entropy_terms(density)) + _sum_over_atoms(
        dist, atoms, lambda _, p: _entropy_terms(p)
    )


def _entropy_terms(density: Numbers) -> Numbers:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(density > 0, -density * np.log(density), 0.0)


def _sum_over_atoms(dist: Distribution, weights: Numbers, of: Callable[[Numbers, Numbers], Numbers]) -> Numbers:
    """The sum over the atoms, each once."""
    total = np.zeros(len(dist))
    for row in np.flatnonzero(weights.any(axis=1)):
        values = np.unique(dist.means[row][weights[row] > 0])
        total[row] = of(values, dist[int(row)].pmf(values)).sum()
    return total


def _integrate(dist: Distribution, of: Callable[[Numbers, Numbers], Numbers]) -> Numbers:
    """The integral of a function of value and density over each row's support, panel by panel."""
    found = np.empty(len(dist))
    components = dist.means.shape[1]
    for rows in _slices(len(dist), MAX_NUMBERS // (components * len(BREAKS) * len(NODES)) + 1):
        part = dist[rows]
        ends = part.means[:, :, np.newaxis] + part.sds[:, :, np.newaxis] * BREAKS
        ends = np.sort(np.clip(ends.reshape(len(part), -1), *dist.support()), axis=1)
        halves = 0.5 * np.diff(ends, axis=1)[:, :, np.newaxis]
        points = ends[:, :-1, np.newaxis] + halves * (1 + NODES)
        flat = points.reshape(len(part), -1)
        values = of(flat, part.pdf(flat.T).T).reshape(points.shape)
        found[rows] = (values * QUADRATURE_WEIGHTS * halves).sum(axis=(1, 2))
    return found


def _slices(rows: int, count: int) -> Iterator[slice]:
    return (slice(start, min(start + count, rows)) for start in range(0, rows, count))


def _by_row(dist: Distribution, of: Callable[[Distribution], float]) -> Numbers:
    return np.array([of(dist[row]) for row in range(len(dist))])


def _values(one: Distribution) -> Numbers:
    """The values of the grid of one row between its extreme quantiles."""
    step = one._predictions.support()[2] or 1.0
    low, high = one.ppf(TAIL), one.isf(TAIL)
    values: Numbers = low + step * np.arange(round((high - low) / step) + 1)
    return values
