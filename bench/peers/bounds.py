"""A positive target unbounded, bounded below by 0 (`--lower 0`), and log-transformed: CRPS (99 quantiles for all three)
and NLL in the target's unit, on the splits that `quality --export FOLDER` wrote.

    bounds.py NEGMM FOLDER [--sets a,b] [--splits N] [--preset NAME]

Needs nothing but Python.
"""

import argparse
import csv
import json
import math
import os
import subprocess
import tempfile

LEVELS = [level / 100 for level in range(1, 100)]
SETS = "insurance,ames,cardekho,diamonds,airbnb,california,taxis,life"
WAYS = ("as it is", "lower 0", "logarithm")

arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
arguments.add_argument("negmm")
arguments.add_argument("folder")
arguments.add_argument("--sets", default=SETS)
arguments.add_argument("--splits", type=int, default=1)
arguments.add_argument("--preset", default="fast")
arguments = arguments.parse_args()


def run(*words):
    return subprocess.run([arguments.negmm, *words], check=True, capture_output=True, text=True).stdout


def write(path, header, rows):
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows([header, *rows])


def scores(way, header, train, test, work):
    """Mean CRPS and NLL of the test rows."""
    if way == "logarithm":
        train, test_rows = ([[*row[:-1], math.log(float(row[-1]))] for row in rows] for rows in (train, test))
    else:
        test_rows = test
    paths = [os.path.join(work, name) for name in ("train.csv", "test.csv", "model.negmm", "answers.csv")]
    write(paths[0], header, train)
    write(paths[1], header, test_rows)
    bound = ["--lower", "0"] if way == "lower 0" else []
    run("fit", paths[0], "--target", header[-1], "--preset", arguments.preset, "-q", "-o", paths[2], *bound)
    nll = json.loads(run("evaluate", paths[2], paths[1], "--json"))["nll"]
    run("predict", paths[2], paths[1], "--quantiles", ",".join(map(str, LEVELS)), "-o", paths[3], "-q")
    with open(paths[3], newline="") as file:
        answers = list(csv.DictReader(file))
    names = [name for name in answers[0] if name.startswith("q")]
    assert len(names) == len(LEVELS), list(answers[0])
    total = 0.0
    for answer, row in zip(answers, test, strict=True):
        y = float(row[-1])
        for name, level in zip(names, LEVELS):
            quantile = float(answer[name])
            quantile = math.exp(quantile) if way == "logarithm" else quantile
            total += 2 * max(level * (y - quantile), (level - 1) * (y - quantile)) / len(LEVELS)
    if way == "logarithm":
        # The density of y is that of its logarithm over y.
        nll += sum(math.log(float(row[-1])) for row in test) / len(test)
    return total / len(test), nll


print("| set | split | " + " | ".join(f"{way}: CRPS | NLL" for way in WAYS) + " |")
print("|---" * (2 + 2 * len(WAYS)) + "|")
for name in arguments.sets.split(","):
    with open(os.path.join(arguments.folder, f"{name}.csv"), newline="") as file:
        header, *rows = csv.reader(file)
    with open(os.path.join(arguments.folder, f"{name}.json")) as file:
        splits = json.load(file)["splits"]
    if not all(float(row[-1]) > 0 for row in rows):
        print(f"| {name} | has targets that are not positive |")
        continue
    for split, known in enumerate(splits[: arguments.splits]):
        test_rows = set(known["test"])
        train, test = ([row for at, row in enumerate(rows) if (at in test_rows) == which] for which in (False, True))
        with tempfile.TemporaryDirectory() as work:
            found = [scores(way, header, train, test, work) for way in WAYS]
        first = found[0]
        cells = [f"{crps:.5g} ({crps / first[0]:.3f}) | {nll:.3f} ({nll - first[1]:+.3f})" for crps, nll in found]
        print(f"| {name} | {split} | " + " | ".join(cells) + " |", flush=True)
