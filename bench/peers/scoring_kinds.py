"""The CRPS and other scores of families, samples, mixtures and draws of vectors: `negmm.metrics` beside scoringrules, in one run.

python bench/peers/scoring_kinds.py    (needs negmm, numpy, scipy and scoringrules; with numba its faster backend too)

One thread each; processor seconds, the smallest of three runs, from arrays to scores; and the largest difference of the scores.
"""

import os
import time

os.environ.setdefault("RAYON_NUM_THREADS", "1")
os.environ.setdefault("NUMBA_NUM_THREADS", "1")

import numpy as np  # noqa: E402
import scoringrules as sr  # noqa: E402

from negmm import Distribution, metrics  # noqa: E402

rng = np.random.default_rng(0)


def timed(run):
    """The result, and the smallest processor time of three runs after one that compiles what has to be."""
    run()
    seconds = []
    for _ in range(3):
        start = time.process_time()
        result = run()
        seconds.append(time.process_time() - start)
    return np.asarray(result), min(seconds)


def row(what, ours, theirs):
    """A line of the table; `theirs` takes a backend, and those that it lacks are left out."""
    own, seconds = timed(ours)
    times, differences = [], []
    for backend in ("numpy", "numba"):
        try:
            found, taken = timed(lambda: theirs(backend))
        except Exception as error:
            times.append(f"({type(error).__name__})")
            continue
        times.append(f"{1e3 * taken:.1f} ms ({taken / seconds:.1f})")
        differences.append(np.max(np.abs(own - found) / (1 + np.abs(found))))
    print(f"| {what} | {1e3 * seconds:.1f} ms | {' | '.join(times)} | {max(differences):.0e} |", flush=True)


def main():
    n = 100_000
    loc, scale, y = rng.normal(size=n), rng.uniform(0.5, 2, n), rng.normal(size=n)
    positive, counts = rng.gamma(2.0, 1.0, n), rng.poisson(5.0, n).astype(float)
    print("| score | negmm | scoringrules, numpy (ratio) | numba (ratio) | largest relative difference |")
    print("|---|---|---|---|---|")

    def only(name, at, **parameters):
        return lambda: Distribution.of_family(name, **parameters).crps(at)

    row("CRPS, normal, 10^5 rows", only("normal", y, loc=loc, scale=scale), lambda b: sr.crps_normal(y, loc, scale, backend=b))
    row("CRPS, Student's t, 10^5 rows", only("student_t", y, df=5.0, loc=loc, scale=scale), lambda b: sr.crps_t(y, 5.0, loc, scale, backend=b))
    row("CRPS, gamma, 10^5 rows", only("gamma", positive, shape=2.0, scale=scale), lambda b: sr.crps_gamma(positive, 2.0, scale=scale, backend=b))
    # scoringrules' NumPy backend holds all pairs of samples: 10^5 rows would take 8 GB.
    m = 10_000
    row(
        "CRPS, negative binomial, 10^4 rows",
        only("negative_binomial", counts[:m], n=np.full(m, 5.0), prob=0.5),
        lambda b: sr.crps_negbinom(counts[:m], 5.0, 0.5, backend=b),
    )
    draws = loc[:m, None] + scale[:m, None] * rng.standard_normal((m, 100))
    row(
        "CRPS, 10^4 rows of 100 samples",
        lambda: Distribution.of_samples(draws).crps(y[:m]),
        lambda b: sr.crps_ensemble(y[:m], draws, estimator="nrg" if b == "numpy" else "qd", backend=b),
    )
    weights = np.full((m, 5), 0.2)
    means, sds = rng.normal(size=(m, 5)), rng.uniform(0.5, 2, (m, 5))
    row(
        "CRPS, 10^4 mixtures of 5",
        lambda: metrics.crps_mixture(y[:m], weights, means, sds),
        lambda b: sr.crps_mixnorm(y[:m], means, sds, weights, backend=b),
    )
    k = 500
    vectors, targets = rng.normal(size=(k, 100, 5)), rng.normal(size=(k, 5))
    row(
        "energy score, 500 rows of 100 vectors of 5",
        lambda: metrics.energy_score(targets, vectors),
        lambda b: sr.es_ensemble(targets, vectors, estimator="nrg", backend=b),
    )
    row(
        "variogram score, the same",
        lambda: metrics.variogram_score(targets, vectors),
        lambda b: sr.vs_ensemble(targets, vectors, backend=b),
    )


if __name__ == "__main__":
    main()
