"""Predicted distributions of peers and their scores: mixtures of normals, weighted points, quantiles."""

import math

import numpy as np
from scipy.special import log_ndtr, logsumexp, ndtr, ndtri


class NormalMixture:
    """For each row equally likely normals. means, sds: rows x normals."""

    def __init__(self, means, sds):
        self.means, self.sds = np.asarray(means, dtype=float), np.asarray(sds, dtype=float)
        if self.means.ndim == 1:
            self.means, self.sds = self.means[:, None], self.sds[:, None]

    def mean(self):
        return self.means.mean(axis=1)

    def cdf(self, y):
        return ndtr((y[:, None] - self.means) / self.sds).mean(axis=1)

    def quantile(self, level):
        """By bisection between the smallest and the largest quantile of the normals."""
        quantiles = self.means + self.sds * ndtri(level)
        low, high = quantiles.min(axis=1), quantiles.max(axis=1)
        for _ in range(100):
            middle = 0.5 * (low + high)
            below = self.cdf(middle) < level
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        return 0.5 * (low + high)

    def interval(self):
        return self.quantile(0.025), self.quantile(0.975)

    def nll(self, y):
        z = (y[:, None] - self.means) / self.sds
        log_densities = -0.5 * z * z - np.log(self.sds) - 0.5 * math.log(2 * math.pi)
        return math.log(self.means.shape[1]) - logsumexp(log_densities, axis=1)

    def mass_nll(self, y, step):
        """-log of the probability within half a step of y, each normal from the side where nothing cancels."""
        above = (y[:, None] + 0.5 * step - self.means) / self.sds
        below = (y[:, None] - 0.5 * step - self.means) / self.sds
        upper = above + below > 0
        more, less = np.where(upper, -below, above), np.where(upper, -above, below)
        log_masses = log_ndtr(more) + np.log1p(-np.exp(log_ndtr(less) - log_ndtr(more)))
        return math.log(self.means.shape[1]) - logsumexp(log_masses, axis=1)

    def crps(self, y):
        """E|Y - y| - E|Y - Y'| / 2 in closed form (Grimit et al. 2006)."""
        to_y = expected_distance(y[:, None] - self.means, self.sds).mean(axis=1)
        differences = self.means[:, :, None] - self.means[:, None, :]
        sds = np.hypot(self.sds[:, :, None], self.sds[:, None, :])
        return to_y - 0.5 * expected_distance(differences, sds).mean(axis=(1, 2))


def expected_distance(mean, sd):
    """E|Z| of a normal Z."""
    z = mean / sd
    return mean * (2 * ndtr(z) - 1) + 2 * sd * np.exp(-0.5 * z * z) / math.sqrt(2 * math.pi)


class WeightedPoints:
    """For each row points and their weights; the interval is given."""

    def __init__(self, points, weights, interval):
        self.points, self.weights, self.given_interval = points, weights, interval

    def mean(self):
        return np.array([weights @ points for points, weights in zip(self.points, self.weights)])

    def interval(self):
        return self.given_interval

    def nll(self, y):
        return None

    def mass_nll(self, y, step):
        return None

    def crps(self, y):
        scores = np.empty(len(y))
        for row, (points, weights) in enumerate(zip(self.points, self.weights)):
            order = np.argsort(points)
            points, weights = points[order], weights[order]
            below = np.cumsum(weights) - weights
            # Half of E|Y - Y'| is the sum over sorted points of weight x point x (weight below - weight above).
            spread = np.sum(weights * points * (2 * below + weights - 1))
            scores[row] = weights @ np.abs(points - y[row]) - spread
        return scores


class Quantiles:
    """For each row quantiles at increasing levels: linear between them, constant beyond. quantiles: rows x levels."""

    def __init__(self, levels, quantiles):
        self.levels = np.concatenate([[0.0], levels, [1.0]])
        quantiles = np.sort(quantiles, axis=1)
        self.quantiles = np.concatenate([quantiles[:, :1], quantiles, quantiles[:, -1:]], axis=1)

    def mean(self):
        return np.trapezoid(self.quantiles, self.levels, axis=1)

    def interval(self):
        return self.quantiles[:, 1], self.quantiles[:, -2]

    def nll(self, y):
        return None

    def mass_nll(self, y, step):
        return None

    def crps(self, y):
        """Twice the integral over the levels t of (1{y < q(t)} - t)(q(t) - y), piece by piece, each cut where q passes
        y."""
        low, high = self.levels[:-1], self.levels[1:]
        from_y, to_y = self.quantiles[:, :-1] - y[:, None], self.quantiles[:, 1:] - y[:, None]
        passes = (from_y < 0) & (to_y > 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            cut = np.where(passes, low + (high - low) * -from_y / (to_y - from_y), np.where(from_y < 0, high, low))
        zero = np.where(passes, 0.0, np.where(from_y < 0, to_y, from_y))

        def integral(low, high, start, end, above):
            """Of (above - t) times what is linear from start to end: Simpson's rule is exact for it."""
            middle, centre = 0.5 * (low + high), 0.5 * (start + end)
            return (high - low) / 6 * ((above - low) * start + 4 * (above - middle) * centre + (above - high) * end)

        pieces = integral(low, cut, from_y, zero, 0.0) + integral(cut, high, zero, to_y, 1.0)
        return 2 * pieces.sum(axis=1)
