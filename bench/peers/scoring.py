"""Scores of 10^6 rows × 99 quantiles: `negmm score` beside scoringrules, from the same Parquet file, in one run.

python bench/peers/scoring.py target/release/negmm [ROWS]    (needs numpy, pandas, pyarrow, scipy, scoringrules)
"""

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
import scipy.stats as st
import scoringrules as sr

program, rows = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000
levels = np.arange(1, 100) / 100
rng = np.random.default_rng(0)
mean, sd = rng.normal(size=rows), rng.uniform(0.5, 2.0, rows)
names = [f"q{level}" for level in levels]
folder = Path(tempfile.mkdtemp())
path = folder / "quantiles.parquet"
table = pd.DataFrame(mean[:, None] + sd[:, None] * st.norm.ppf(levels), columns=names)
table.insert(0, "y", mean + sd * rng.standard_normal(rows))
table.to_parquet(path, row_group_size=100_000)
del table
print(f"{rows:,} rows x {len(levels)} quantiles, {path.stat().st_size / 1e6:.0f} MB of Parquet")

# A small process starts the program: the peak memory of a child of this one would be that of this one before the program began.
LAUNCH = """
import resource, subprocess, sys
print(subprocess.run(sys.argv[1:], check=True, capture_output=True, text=True).stdout.strip())
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
print(usage.ru_maxrss / 1024, usage.ru_utime + usage.ru_stime)
"""
start = time.perf_counter()
done = subprocess.run(
    [sys.executable, "-c", LAUNCH, program, "score", str(path), "--target", "y", "--json", "--quiet"],
    check=True,
    capture_output=True,
    text=True,
)
ours = time.perf_counter() - start
printed, used = done.stdout.strip().rsplit("\n", 1)
peak, our_cpu = map(float, used.split())
scores = json.loads(printed)["scores"]
print(
    f"negmm score: {ours:.1f} s ({our_cpu:.1f} s of CPU), peak memory {peak:.0f} MB, all {len(scores)} scores and the calibration test"
)

start, cpu = time.perf_counter(), time.process_time()
table = pd.read_parquet(path)
read = time.perf_counter() - start
y, q = table["y"].to_numpy(), table[names].to_numpy()
start = time.perf_counter()
pinball = sr.crps_quantile(y, q, levels)
one = time.perf_counter() - start
for low, high, alpha in ((24, 74, 0.5), (4, 94, 0.1)):
    sr.interval_score(y, q[:, low], q[:, high], alpha)
theirs, their_cpu = read + time.perf_counter() - start, time.process_time() - cpu
print(
    f"scoringrules: {theirs:.1f} s ({their_cpu:.1f} s of CPU), of which reading {read:.1f} s and crps_quantile {one:.1f} s; "
    f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB"
)
print(f"ratio scoringrules / negmm: {theirs / ours:.2f} of time, {their_cpu / our_cpu:.2f} of CPU time")
found, expected = 2 * scores["quantile_score"]["mean"], float(np.mean(pinball))
print(
    f"mean of twice the quantile score: {found:.12f}, scoringrules {expected:.12f}, difference {abs(found - expected):.1e}"
)
path.unlink()
