"""Processor time of entropy, mode and moment of 4,000 mixtures: on the whole line, capped, on a grid.

python bench/peers/shapes.py    (needs negmm alone)
"""

import time

import numpy as np

from negmm import Distribution

ROWS, COMPONENTS, REPEATS = 4000, 8, 5


def distributions():
    rng = np.random.default_rng(0)
    weights = rng.dirichlet(np.ones(COMPONENTS), ROWS)
    means, sds = rng.normal(20, 8, (ROWS, COMPONENTS)), rng.uniform(1, 5, (ROWS, COMPONENTS))
    capped = means.copy(), sds.copy()
    capped[0][:, 0], capped[1][:, 0] = 30.0, 0.0
    return {
        "continuous": Distribution.of_mixtures(weights, means, sds),
        "capped": Distribution.of_mixtures(weights, *capped, upper=30.0),
        "grid": Distribution.of_mixtures(weights, means, sds, lower=0.0, step=1.0),
    }


def fastest(call):
    times = []
    for _ in range(REPEATS):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return 1000 * min(times)


def main():
    print(f"{'ms of processor time':20} {'entropy':>8} {'mode':>8} {'moment(3)':>10}")
    for name, dist in distributions().items():
        found = fastest(dist.entropy), fastest(dist.mode), fastest(lambda dist=dist: dist.moment(3))
        print(f"{name:20} {found[0]:8.1f} {found[1]:8.1f} {found[2]:10.2f}")


if __name__ == "__main__":
    main()
