"""Checks the scores of quality_distributions.py against quadrature and each other; prints the largest differences.

python quality_check.py
"""

import numpy as np
from quality_distributions import NormalMixture, Quantiles, WeightedPoints
from scipy.special import ndtr

random = np.random.default_rng(0)
rows, normals = 20, 4
means, sds, y = random.normal(size=(rows, normals)), random.uniform(0.2, 1, (rows, normals)), random.normal(size=rows)
mixture = NormalMixture(means, sds)

grid = np.linspace(-12, 12, 400_001)
width = grid[1] - grid[0]
cdf = np.array([ndtr((grid[:, None] - mean) / sd).mean(axis=1) for mean, sd in zip(means, sds)])
density = np.diff(cdf, axis=1) / width
middle = 0.5 * (grid[:-1] + grid[1:])
points, weights = random.normal(size=(rows, 9)), random.dirichlet(np.ones(9), rows)
pairs = np.abs(points[:, :, None] - points[:, None, :])
by_pairs = np.einsum("rp,rp->r", weights, np.abs(points - y[:, None])) - 0.5 * np.einsum(
    "rp,rpq,rq->r", weights, pairs, weights
)
levels, quantiles = np.linspace(0.1, 0.9, 5), np.sort(random.normal(size=(rows, 5)), axis=1)
fine = (np.arange(200_000) + 0.5) / 200_000
between = np.array([np.interp(fine, levels, row) for row in quantiles]) - y[:, None]

checks = {
    "crps of normals": (mixture.crps(y), ((cdf - (grid >= y[:, None])) ** 2).sum(axis=1) * width),
    "mean": (mixture.mean(), (density * middle).sum(axis=1) * width),
    "nll": (mixture.nll(y), -np.log([np.interp(y[row], middle, density[row]) for row in range(rows)])),
    "mass nll": (mixture.mass_nll(y, 0.3), -np.log(mixture.cdf(y + 0.15) - mixture.cdf(y - 0.15))),
    "quantile": (mixture.cdf(mixture.quantile(0.975)), np.full(rows, 0.975)),
    "crps of quantiles": (Quantiles(levels, quantiles).crps(y), 2 * (((between > 0) - fine) * between).mean(axis=1)),
    "mean of quantiles": (Quantiles(levels, quantiles).mean(), between.mean(axis=1) + y),
    "crps of points": (WeightedPoints(points, weights, None).crps(y), by_pairs),
}
for name, (closed, reference) in checks.items():
    difference = np.max(np.abs(closed - reference))
    print(f"{name}: {difference:.1e}")
    assert difference < 1e-4, name
far = NormalMixture([0.0], [1.0]).mass_nll(np.array([30.0]), 1.0)[0]
assert 435 < far < 445, far
