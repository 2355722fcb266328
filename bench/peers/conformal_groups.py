"""Coverage of conformal 90 % intervals by groups, and under covariate shift, of negmm, crepes and MAPIE on the same
simulated rows.

    conformal_groups.py PROGRAM [--repeats N]

Needs: pip install numpy mapie crepes scikit-learn

Groups: x uniform in 0..1, three groups whose noise has sds of 0.5, 1 and 2 around sin(6 x). The models do not get the
group, the calibration does: `negmm calibrate --by group` and the categories of crepes (Mondrian). MAPIE 1 has no
groups. 1,000 rows to train, 1,000 to calibrate, 5,000 new ones.

Shift: the noise grows with x, and the models are a constant and a mean, which do not know it. Calibration rows have the
density 2 (1 - x), new rows 2 x. `--towards` estimates the ratio from the inputs of 2,000 new rows, `--weight` has the
true ratio in a column. Neither crepes nor MAPIE has weights for the rows of a calibration set, so that their line is of
plain split conformal prediction. 400 rows to train, 2,000 to calibrate, 5,000 new ones.
"""

import argparse
import csv
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from crepes import WrapRegressor
from mapie.regression import SplitConformalRegressor
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import HistGradientBoostingRegressor

COVERAGE = 0.9
SDS = {"a": 0.5, "b": 1.0, "c": 2.0}


class Negmm:
    """The program in a folder of its own."""

    def __init__(self, program, folder):
        self.program, self.folder = str(Path(program).resolve()), Path(folder)

    def write(self, name, columns):
        with open(self.folder / name, "w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(columns)
            writer.writerows(zip(*columns.values()))

    def run(self, *arguments):
        subprocess.run([self.program, *arguments, "--quiet"], check=True, stdout=subprocess.DEVNULL, cwd=self.folder)

    def covered(self, model, y):
        self.run("predict", model, "new.csv", "--interval", str(COVERAGE), "--conformal", "-o", "out.csv")
        with open(self.folder / "out.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        ends = np.array([[float(row[f"{end}_{COVERAGE}"]) for end in ("lower", "upper")] for row in rows])
        return (ends[:, 0] <= y) & (y <= ends[:, 1])


def groups(negmm, rng):
    parts = {}
    for name, count in (("train", 1000), ("calibration", 1000), ("new", 5000)):
        x, group = rng.uniform(size=count), rng.choice(list(SDS), size=count)
        y = np.sin(6 * x) + np.array([SDS[one] for one in group]) * rng.normal(size=count)
        parts[name] = (x[:, None], group, y)
        negmm.write(f"{name}.csv", {"x": x, "group": group, "y": y})
    negmm.run("fit", "train.csv", "--target", "y", "--ignore", "group", "--preset", "fast", "-o", "m")
    negmm.run("calibrate", "m", "calibration.csv", "-o", "plain")
    negmm.run("calibrate", "m", "calibration.csv", "--by", "group", "-o", "by")
    (X, _, y), (X_calibration, categories, y_calibration), (X_new, group, y_new) = parts.values()
    yield "negmm calibrate", by_group(negmm.covered("plain", y_new), group)
    yield "negmm calibrate --by group", by_group(negmm.covered("by", y_new), group)
    learner = HistGradientBoostingRegressor(random_state=0).fit(X, y)
    mapie = SplitConformalRegressor(learner, confidence_level=COVERAGE, prefit=True)
    mapie.conformalize(X_calibration, y_calibration)
    yield "MAPIE split", by_group(inside(mapie.predict_interval(X_new)[1][:, :, 0], y_new), group)
    crepes = WrapRegressor(learner)
    numbers = {name: number for number, name in enumerate(SDS)}
    bins = [np.array([numbers[one] for one in names]) for names in (categories, group)]
    crepes.calibrate(X_calibration, y_calibration, mc=lambda _: bins[0])
    crepes.mc = lambda _: bins[1]
    yield "crepes Mondrian", by_group(inside(crepes.predict_int(X_new, confidence=COVERAGE), y_new), group)


def shift(negmm, rng):
    def rows(count, shifted):
        u = rng.uniform(size=count)
        x = np.sqrt(u) if shifted else 1 - np.sqrt(u)
        return x, (0.2 + 2 * x) * rng.uniform(-0.5, 0.5, size=count)

    parts = {}
    for name, count, shifted in (("train", 400, False), ("calibration", 2000, False), ("new", 5000, True)):
        x, y = rows(count, shifted)
        parts[name] = (x[:, None], y)
        # The ratio of the densities, bounded.
        negmm.write(f"{name}.csv", {"x": x, "ratio": np.clip(x / np.maximum(1 - x, 1e-9), 0.02, 50), "y": y})
    x, y = rows(2000, True)
    negmm.write("others.csv", {"x": x, "ratio": np.ones(len(x)), "y": y})
    negmm.run("fit", "train.csv", "--target", "y", "--ignore", "ratio", "--method", "constant", "-o", "m")
    negmm.run("calibrate", "m", "calibration.csv", "-o", "plain")
    negmm.run("calibrate", "m", "calibration.csv", "--towards", "others.csv", "-o", "towards")
    negmm.run("calibrate", "m", "calibration.csv", "--weight", "ratio", "-o", "weight")
    (X, y), (X_calibration, y_calibration), (X_new, y_new) = parts.values()
    for what, model in (("", "plain"), (" --towards", "towards"), (" --weight", "weight")):
        yield f"negmm calibrate{what}", [negmm.covered(model, y_new).mean()]
    learner = DummyRegressor().fit(X, y)
    mapie = SplitConformalRegressor(learner, confidence_level=COVERAGE, prefit=True)
    mapie.conformalize(X_calibration, y_calibration)
    yield "MAPIE split", [inside(mapie.predict_interval(X_new)[1][:, :, 0], y_new).mean()]
    crepes = WrapRegressor(learner)
    crepes.calibrate(X_calibration, y_calibration)
    yield "crepes", [inside(crepes.predict_int(X_new, confidence=COVERAGE), y_new).mean()]


def inside(ends, y):
    return (ends[:, 0] <= y) & (y <= ends[:, 1])


def by_group(covered, group):
    return [covered[group == name].mean() for name in SDS] + [covered.mean()]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--repeats", type=int, default=10)
    arguments = parser.parse_args()
    for title, simulate in ((f"groups {', '.join(SDS)}, all", groups), ("shift", shift)):
        print(f"coverage of 90 % intervals, {arguments.repeats} repeats: {title}")
        found = {}
        for seed in range(arguments.repeats):
            with tempfile.TemporaryDirectory() as folder:
                for what, coverages in simulate(Negmm(arguments.program, folder), np.random.default_rng(seed)):
                    found.setdefault(what, []).append(coverages)
        for what, coverages in found.items():
            mean, error = np.mean(coverages, axis=0), np.std(coverages, axis=0, ddof=1) / np.sqrt(len(coverages))
            print(f"  {what:28}", "  ".join(f"{m:.3f} ± {e:.3f}" for m, e in zip(mean, error)), flush=True)


if __name__ == "__main__":
    main()
