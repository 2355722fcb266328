"""Comparison of two versions of the Python package, each in its own processes: time of the CRPS of mixtures, memory of
predictions.

    pip install --no-deps --target OLD negmm-….whl
    python negmm_versions.py OLD

Prints a table in Markdown: CPU seconds of the CRPS of 100,000 mixtures of 40 components (the least of five), its mean,
and by how many megabytes ``predict`` of a million rows of an ensemble with 40 components raises the peak.
"""

from __future__ import annotations

import os
import subprocess
import sys

CRPS = """
import time, numpy, negmm
rng = numpy.random.default_rng(0)
parts = rng.random((100_000, 40)) + 0.01, rng.normal(size=(100_000, 40)), numpy.exp(rng.normal(size=(100_000, 40)))
dist, y, least = negmm.Distribution.of_mixtures(*parts), rng.normal(size=100_000), numpy.inf
for _ in range(5):
    start = time.process_time()
    score = dist.crps(y).mean()
    least = min(least, time.process_time() - start)
print(least, repr(float(score)))
"""
MEMORY = """
import resource, numpy, negmm
X = numpy.random.default_rng(0).normal(size=(1_000_000, 3))
model = negmm.EnsembleRegressor(member="ne-gmm", members=5, components=8, epochs=1, hidden=(8,))
model.fit(X[:200], X[:200, 0])
model.predict(X[:1000])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
model.predict(X)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024)
"""


def printed(code: str, package: str) -> list[str]:
    environment = {**os.environ, "PYTHONPATH": package} if package else dict(os.environ)
    return subprocess.run(
        [sys.executable, "-c", code],
        env=environment,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split()


def main() -> None:
    print("| package | CRPS, seconds | mean CRPS | predict, MB |\n|---|---|---|---|")
    for package in ("", *sys.argv[1:]):
        seconds, mean = printed(CRPS, package)
        (memory,) = printed(MEMORY, package)
        print(
            f"| {package or 'this'} | {float(seconds):.3f} | {mean} | {float(memory):.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
