"""Distributions of g(Z) for a monotone g: of a target that was transformed before it was predicted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from negmm.by_quantiles import ByQuantiles, of_rows
from negmm.distribution import Distribution, Numbers, RowValues
from negmm.exponentiated import Exponentiated

Function = Callable[[Numbers], Numbers]

#: The furthest that a domain is looked for, in interquartile ranges, and the relative error of going there and back.
REACH, ROUND_TRIP = 1e4, 1e-4
#: The step of a numerical derivative, relative to the argument.
STEP = 1e-5


class Transformed(ByQuantiles):
    """The distribution of g(Z) for each row, where g is monotone: F(y) = F_Z(g⁻¹(y)), or 1 - F_Z(g⁻¹(y)) where g
    decreases.

    Quantiles and probabilities are exact, densities are divided by the numerical derivative of g, and mean, variance and
    CRPS are integrals over the quantiles.

    Parameters
    ----------
    base : negmm.Distribution
        The distributions of Z.
    inverse : function
        From Z to the target, vectorised: the inverse of the transformation.
    forward : function
        From the target to Z.
    domain : (float, float), optional
        The values of Z for which g is monotone: found by itself. What is predicted beyond it counts at its end.

    Examples
    --------
    >>> from negmm import Distribution
    >>> normal = Distribution.of_mixtures([[1.0]], [[2.0]], [[0.1]])
    >>> squared = Transformed(normal, inverse=np.square, forward=np.sqrt)
    >>> squared.median().round(6), squared.mean().round(4), squared.cdf(4.0).round(6)
    (array([4.]), array([4.01]), array([0.5]))
    """

    def __init__(
        self,
        base: Distribution | Exponentiated,
        inverse: Function,
        forward: Function,
        domain: tuple[float, float] | None = None,
    ) -> None:
        self.base, self.inverse, self.forward = base, inverse, forward
        self.domain = _domain(base, inverse, forward) if domain is None else domain
        ends = self._y(np.array(self.domain))
        self.increasing = bool(ends[0] <= ends[1])
        self._ends = (float(ends.min()), float(ends.max()))

    @property
    def shape(self) -> tuple[int, ...]:
        return self.base.shape

    def __getitem__(self, rows: Any) -> Transformed:
        return Transformed(self.base[rows], self.inverse, self.forward, self.domain)

    def __repr__(self) -> str:
        return f"<monotone transform of {self.base!r}>"

    def _y(self, z: ArrayLike) -> Numbers:
        """The target where Z is ``z``; beyond the domain of g that of its end."""
        numbers = np.clip(np.asarray(z, dtype=np.float64), *self.domain)
        known = ~np.isnan(numbers)
        y = np.full(numbers.shape, np.nan)
        y[known] = _applied(self.inverse, numbers[known])
        return y[()]

    def _z(self, y: ArrayLike) -> Numbers:
        """Z where the target is ``y``; a target beyond all that g gives has an infinite one."""
        numbers = of_rows(y, self.shape)
        low, high = self._ends
        z = np.full(numbers.shape, np.nan)
        inside = (numbers >= low) & (numbers < high)
        z[inside] = _applied(self.forward, numbers[inside])
        below, above = (-np.inf, np.inf) if self.increasing else (np.inf, -np.inf)
        z[numbers < low] = below
        z[numbers >= high] = above
        return z[()]

    def support(self) -> tuple[float, float]:
        """Lower and upper bound of the target."""
        low, high = np.sort(self._y(np.array(self.base.support()))).tolist()
        return low, high

    def cdf(self, x: ArrayLike) -> RowValues:
        """Probability of a value up to ``x``."""
        return self.base.cdf(self._z(x)) if self.increasing else self.base.sf(self._z(x))

    def sf(self, x: ArrayLike) -> RowValues:
        """Probability of a value above ``x``."""
        return self.base.sf(self._z(x)) if self.increasing else self.base.cdf(self._z(x))

    def pit(self, y: ArrayLike) -> RowValues:
        """Probability integral transform."""
        return self.base.pit(self._z(y)) if self.increasing else 1.0 - self.base.pit(self._z(y))

    def logpdf(self, x: ArrayLike) -> RowValues:
        """Logarithm of the density at ``x``: that of Z, divided by the slope of g there."""
        z = np.asarray(self._z(x))
        step = STEP * np.maximum(np.abs(z), 1.0)
        with np.errstate(all="ignore"):
            slope = np.abs(self._y(z + step) - self._y(z - step)) / (2 * step)
            return np.where(np.isfinite(z), self.base.logpdf(z) - np.log(slope), -np.inf)[()]

    def pdf(self, x: ArrayLike) -> RowValues:
        """Density at ``x``."""
        return np.exp(self.logpdf(x))

    def nll(self, y: ArrayLike) -> RowValues:
        """Logarithmic score of observing ``y``."""
        return -self.logpdf(y)

    def ppf(self, q: ArrayLike) -> RowValues:
        """Quantile."""
        return self._y(self.base.ppf(q) if self.increasing else self.base.isf(q))

    def isf(self, q: ArrayLike) -> RowValues:
        """The value that is exceeded with probability ``q``."""
        return self._y(self.base.isf(q) if self.increasing else self.base.ppf(q))

    def rvs(self, size: Any = None, random_state: Any = None) -> RowValues:
        """Random values."""
        return self._y(self.base.rvs(size, random_state))

    def pmf(self, k: ArrayLike) -> RowValues:
        """Probability of exactly ``k``."""
        return self.base.pmf(self._z(k))


def _applied(function: Function, numbers: Numbers) -> Numbers:
    with np.errstate(all="ignore"):
        return np.asarray(function(numbers.reshape(-1)), dtype=np.float64).reshape(numbers.shape)


def _domain(base: Distribution | Exponentiated, inverse: Function, forward: Function) -> tuple[float, float]:
    """The interval around the medians in which g is monotone and ``forward`` undoes it."""
    middle = float(np.median(base.median()))
    lower, upper = base.interval(0.5)
    scale = float(np.max(np.abs(np.asarray(upper) - np.asarray(lower)))) or 1.0
    start, beside = _applied(inverse, np.array([middle, middle + 1e-3 * scale]))
    sign = 1.0 if beside >= start else -1.0

    def is_valid(z: float) -> bool:
        y = _applied(inverse, np.array([z]))
        if not np.isfinite(y[0]) or sign * (y[0] - start) * (z - middle) < 0:
            return False
        again = _applied(forward, y)[0]
        return bool(abs(again - z) <= ROUND_TRIP * (1.0 + abs(z)))

    ends = []
    for side in (-1.0, 1.0):
        inside, outside = middle, middle + side * REACH * scale
        if is_valid(outside):
            ends.append(outside)
            continue
        for _ in range(120):
            between = 0.5 * (inside + outside)
            inside, outside = (between, outside) if is_valid(between) else (inside, between)
        ends.append(inside)
    return ends[0], ends[1]
