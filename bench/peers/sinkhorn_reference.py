#!/usr/bin/env python3
"""Write reference numbers of the Sinkhorn divergence, made by geomloss.

Each case is two clouds in one dimension with geomloss' value of
SamplesLoss("sinkhorn", p=2, blur=0.05, scaling=0.1) and its gradient with
respect to the first cloud, in float64. `scaled` cases also hold raw samples
z: the first cloud is z after SampleNet's scaling, and the gradient is with
respect to z, through the scaling.

    pip install torch geomloss
    python sinkhorn_reference.py > ../../crates/negmm-nn/tests/reference/sinkhorn.json
"""

import json

import numpy as np
import torch
from geomloss import SamplesLoss

DIVERGENCE = SamplesLoss("sinkhorn", p=2, blur=0.05, scaling=0.1, backend="tensorized")
RNG = np.random.default_rng(7)


def differentiate(z, y, scale):
    z = torch.tensor(z, dtype=torch.float64, requires_grad=True)
    x = scale(z)
    value = DIVERGENCE(x[:, None], torch.tensor(y, dtype=torch.float64)[:, None])
    (gradient,) = torch.autograd.grad(value, z)
    return value.item(), gradient.tolist()


def clouds():
    """Clouds of several shapes, sizes and diameters, compared as they are."""
    for x, y in [
        (RNG.uniform(size=5), RNG.uniform(size=5)),
        (RNG.uniform(size=20), RNG.uniform(size=20) ** 3),
        (RNG.standard_normal(30), RNG.standard_normal(30)),
        (3.0 * RNG.standard_normal(11) + 2.0, RNG.standard_normal(17)),
        (np.array([0.0, 0.0, 1.0]), np.array([0.5, 0.5, 0.5])),
        (np.array([0.0]), np.array([4.0])),
        (0.2 + 0.1 * RNG.uniform(size=8), 0.2 + 0.1 * RNG.uniform(size=8)),
    ]:
        value, gradient = differentiate(x, y, lambda z: z)
        yield {"x": list(x), "y": list(y), "value": value, "gradient": gradient}


def uniform(z):
    return (z - z.amin()) / (z.amax() - z.amin())


def normal(z):
    return (z - z.mean()) / torch.sqrt(z.var(unbiased=True) + 1e-8)


def scaled():
    """Samples of a row, scaled as SampleNet scales them, against sorted draws from the prior."""
    for name, scale, draw in [("uniform", uniform, RNG.uniform), ("normal", normal, RNG.standard_normal)]:
        for z in [RNG.standard_normal(20), 5.0 + 0.01 * RNG.uniform(size=20) ** 4, RNG.standard_cauchy(20)]:
            z = z.astype(np.float32).astype(np.float64)  # exact in the lanes, ties included
            y = np.sort(draw(size=20))
            value, gradient = differentiate(z, y, scale)
            yield {"prior": name, "z": list(z), "y": list(y), "value": value, "gradient": gradient}


print(json.dumps({"clouds": list(clouds()), "scaled": list(scaled())}, indent=1))
