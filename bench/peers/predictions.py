"""Predictions of known quality through the program: two equally good models compared, and recalibration on fresh rows.

python bench/peers/predictions.py target/release/negmm [RUNS]    (needs numpy and scipy)
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import scipy.stats as st

program, runs = Path(sys.argv[1]).resolve(), int(sys.argv[2]) if len(sys.argv) > 2 else 500
folder = Path(tempfile.mkdtemp())


def negmm(*arguments):
    done = subprocess.run([program, *map(str, arguments), "-q"], cwd=folder, check=True, capture_output=True, text=True)
    return json.loads(done.stdout) if "--json" in arguments else None


def write(name, y, centre, sd, levels):
    table = np.column_stack([np.arange(len(y)), y, centre[:, None] + sd * st.norm.ppf(levels)])
    header = ",".join(["id", "y", *(f"q{level}" for level in levels)])
    np.savetxt(folder / name, table, fmt="%.10g", delimiter=",", header=header, comments="")


def equal_models(rows, correlation, *time):
    """The share of runs in which two models that are off by as much, in opposite directions, are no different at 5 %."""
    same = 0
    for seed in range(runs):
        rng, y, error = np.random.default_rng(seed), np.empty(rows + 50), 0.0
        for row in range(rows + 50):
            error = correlation * error + np.sqrt(1 - correlation**2) * rng.standard_normal()
            y[row] = error
        for name, shift in (("a.csv", 0.3), ("b.csv", -0.3)):
            write(name, y[50:], np.full(rows, shift), 1.0, [0.05, 0.25, 0.5, 0.75, 0.95])
        files = negmm("compare", "--predictions", "a.csv,b.csv", "--target", "y", "--json", *time)["files"]
        tests = (file["scores"]["crps"].get("against_best") for file in files)
        same += next(test["p_value"] for test in tests if test) >= 0.05
    share = same / runs
    test = "Diebold-Mariano (`--time`)" if time else "paired t"
    print(f"| {rows} | {correlation} | {test} | {100 * share:.1f} ± {100 * (share * (1 - share) / runs) ** 0.5:.1f} % |")


def recalibration(methods, bias, repeats=20, rows=2000):
    """Scores of fresh rows before and after: a model whose sd is 0.4 times the right one; means and errors over repeats."""
    levels = [0.025, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.975]
    found = {method: [] for method in ("none", *methods)}
    for seed in range(repeats):
        rng = np.random.default_rng(1000 + seed)
        for name in ("old.csv", "new.csv"):
            centre = rng.uniform(0, 4, rows)
            write(name, centre + rng.standard_normal(rows), centre + bias, 0.4, levels)
        for method in found:
            file = "new.csv"
            if method != "none":
                negmm("calibrate", "--predictions", "old.csv", "--target", "y", "--recalibration", method, "-o", "cal.negmm")
                negmm("recalibrate", "cal.negmm", "new.csv", "--keep", "y", "-o", "re.csv")
                file = "re.csv"
            scores = negmm("score", file, "--target", "y", "--json")["scores"]
            names = ("coverage_0.5", "coverage_0.9", "coverage_0.95", "crps", "log_score")
            found[method].append([scores[name]["mean"] for name in names])
    for method, values in found.items():
        mean, se = np.mean(values, axis=0), np.std(values, axis=0, ddof=1) / repeats**0.5
        covered = " | ".join(f"{100 * m:.1f} ± {100 * s:.1f} %" for m, s in zip(mean[:3], se))
        print(f"| {bias} | {method} | {covered} | {mean[3]:.4f} | {mean[4]:.3f} |", flush=True)


print("| rows | autocorrelation | test | no difference |")
for setting in ((120, 0.0), (120, 0.0, "--time", "id"), (300, 0.6, "--time", "id"), (300, 0.6)):
    equal_models(*setting)
print("| bias | recalibration | in 50 % | in 90 % | in 95 % | CRPS | log score |")
for bias in (0.0, 0.3):
    recalibration(("pit", "scale", "conformal"), bias)
