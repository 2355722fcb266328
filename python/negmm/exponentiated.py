"""Distributions of ``shift + scale · exp(Z)``: of a target whose logarithm was predicted."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr

from negmm.by_quantiles import ByQuantiles, of_rows
from negmm.distribution import RowValues, Distribution, Numbers


class Exponentiated(ByQuantiles):
    """The distribution of ``shift + scale · exp(Z)`` for each row, exact: a mixture of shifted log-normal
    distributions.

    It has ``pdf``, ``cdf``, ``ppf``, ``mean``, ``crps`` and more, as :class:`negmm.Distribution` has. Moments and the
    CRPS are in closed form, and integrals over the quantiles where Z has bounds or a grid.

    Parameters
    ----------
    base : negmm.Distribution
        The distributions of Z, mixtures.
    shift, scale : float
        Infimum of the target, and the factor of the exponential, which is positive.

    Examples
    --------
    >>> from negmm import Distribution
    >>> one = Exponentiated(Distribution.of_mixtures([[1.0]], [[0.0]], [[1.0]]))
    >>> one.median(), one.mean().round(4), one.interval(0.9)[1].round(4)
    (array([1.]), array([1.6487]), array([5.1803]))
    """

    def __init__(self, base: Distribution, shift: float = 0.0, scale: float = 1.0) -> None:
        self.base, self.shift, self.scale = base, float(shift), float(scale)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.base.shape

    def __getitem__(self, rows: Any) -> Exponentiated:
        return Exponentiated(self.base[rows], self.shift, self.scale)

    def __repr__(self) -> str:
        shift = f"{self.shift:g} + " if self.shift else ""
        return f"<{shift}{self.scale:g} exp of {self.base!r}>"

    def support(self) -> tuple[float, float]:
        lower, upper = self.base.support()
        return self.shift + self.scale * float(np.exp(lower)), self.shift + self.scale * float(np.exp(upper))

    def _z(self, y: ArrayLike) -> Numbers:
        """Z where the target is ``y``; -inf at and below the infimum."""
        targets = of_rows(y, self.shape)
        with np.errstate(divide="ignore", invalid="ignore"):
            inside = (targets - self.shift) / self.scale
            return np.where(inside > 0, np.log(inside), np.where(np.isnan(inside), np.nan, -np.inf))

    def _y(self, z: RowValues) -> RowValues:
        return self.shift + self.scale * np.exp(z)

    def cdf(self, x: ArrayLike) -> RowValues:
        return self.base.cdf(self._z(x))

    def sf(self, x: ArrayLike) -> RowValues:
        return self.base.sf(self._z(x))

    def pit(self, y: ArrayLike) -> RowValues:
        return self.base.pit(self._z(y))

    def pmf(self, k: ArrayLike) -> RowValues:
        return self.base.pmf(self._z(k))

    def logpdf(self, x: ArrayLike) -> RowValues:
        z = self._z(x)
        # The density of Z times the slope of Z, which is exp(-Z) / scale.
        with np.errstate(invalid="ignore"):
            return np.where(np.isneginf(z), -np.inf, self.base.logpdf(z) - z - np.log(self.scale))[()]

    def pdf(self, x: ArrayLike) -> RowValues:
        return np.exp(self.logpdf(x))

    def nll(self, y: ArrayLike) -> RowValues:
        z = self._z(y)
        with np.errstate(invalid="ignore"):
            return np.where(np.isneginf(z), np.inf, self.base.nll(z) + z + np.log(self.scale))[()]

    def ppf(self, q: ArrayLike) -> RowValues:
        return self._y(self.base.ppf(q))

    def isf(self, q: ArrayLike) -> RowValues:
        return self._y(self.base.isf(q))

    def interval(self, confidence: ArrayLike = 0.95) -> tuple[RowValues, RowValues]:
        lower, upper = self.base.interval(confidence)
        return self._y(lower), self._y(upper)

    def rvs(self, size: Any = None, random_state: Any = None) -> RowValues:
        return self._y(self.base.rvs(size, random_state))

    def mean(self) -> RowValues:
        if not self._is_whole_line():
            return super().mean()
        weights, means, sds = self._components()
        return self.shift + self.scale * (weights * np.exp(means + 0.5 * sds**2)).sum(axis=-1)

    def var(self) -> RowValues:
        if not self._is_whole_line():
            return super().var()
        weights, means, sds = self._components()
        inside = np.exp(means + 0.5 * sds**2)
        mean = (weights * inside).sum(axis=-1, keepdims=True)
        within = inside**2 * np.expm1(sds**2)
        return self.scale**2 * (weights * (within + (inside - mean) ** 2)).sum(axis=-1)

    def crps(self, y: ArrayLike) -> RowValues:
        """E|Y - y| - E|Y - Y'| / 2, where for log-normal Y and X, or X = y (Baran and Lerch 2015)

        E|Y - X| = E Y (2 Phi((m_Y - m_X + s_Y²) / s) - 1) + E X (2 Phi((m_X - m_Y + s_X²) / s) - 1) with s² = s_Y² +
        s_X².
        """
        if not self._is_whole_line():
            return super().crps(y)
        weights, means, sds = self._components()
        z = self._z(y)
        if z.shape != self.shape:
            raise ValueError(f"expected a target for each row, found shape {z.shape}")
        # A target below the infimum: its distance from that is added to the score of the infimum.
        below = np.maximum(self.shift - np.asarray(y, dtype=np.float64).reshape(z.shape), 0.0)
        distance = (weights * _distance(means, sds, z[..., np.newaxis], np.zeros(1))).sum(axis=-1)
        spread = np.zeros(z.shape)
        for k in range(means.shape[-1]):
            here = np.s_[..., k : k + 1]
            pairs = weights * _distance(means, sds, means[here], sds[here])
            spread += weights[..., k] * pairs.sum(axis=-1)
        return self.scale * (distance - 0.5 * spread) + below

    def _is_whole_line(self) -> bool:
        """Whether Z has neither bounds nor a grid: else there are no closed forms, but integrals over the quantiles."""
        return self.base.support() == (-np.inf, np.inf) and self.base.measure != "discrete"

    def _components(self) -> tuple[Numbers, Numbers, Numbers]:
        return self.base.weights, self.base.means, self.base.sds


def _distance(mean: Numbers, sd: Numbers, other_mean: Numbers, other_sd: Numbers) -> Numbers:
    """E|exp(A) - exp(B)| of independent normal A and B; B may be one number, also minus infinity."""
    both = np.sqrt(sd**2 + other_sd**2)
    first, second = np.exp(mean + 0.5 * sd**2), np.exp(other_mean + 0.5 * other_sd**2)

    def twice(numerator: Numbers) -> Numbers:
        with np.errstate(divide="ignore", invalid="ignore"):
            at = np.where(both > 0, numerator / both, np.where(numerator == 0, 0.0, np.sign(numerator) * np.inf))
        return 2.0 * ndtr(at) - 1.0

    return first * twice(mean - other_mean + sd**2) + second * twice(other_mean - mean + other_sd**2)
