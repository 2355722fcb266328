"""Coverage and size of conformal 90 % sets of negmm, MAPIE and crepes on the same rows: one line for each dataset and
method.

    conformal_sets.py PROGRAM DATA [--sets a,b] [--splits N] [--preset fast|medium|best] [--limit ROWS]

PROGRAM is the negmm program, DATA the folder with NAME.csv.gz and splits/NAME.txt.gz. Of each split the test rows are
its own, a quarter of the others (drawn with the split's number as seed) calibrates and the rest trains; with --limit at
most so many rows train.
Needs: pip install numpy pandas scikit-learn mapie crepes

    negmm interval, region   fit --preset, calibrate, predict --conformal
    mapie split              SplitConformalRegressor, absolute residuals, of HistGradientBoostingRegressor()
    mapie cqr                ConformalizedQuantileRegressor of three HistGradientBoostingRegressor(loss="quantile")
    crepes normalised        WrapRegressor of the same, with DifficultyEstimator by the residuals of 25 neighbours

Text is ordinal for the peers, missing numbers stay missing; nearest neighbours use the median instead. Size is the mean
width, or the length of the region, divided by the sd of the training targets.
"""

import argparse
import gzip
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from crepes import WrapRegressor
from crepes.extras import DifficultyEstimator
from mapie.regression import ConformalizedQuantileRegressor, SplitConformalRegressor
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder, StandardScaler

TARGETS = {
    "insurance": "charges",
    "life": "Life expectancy",
    "ames": "price",
    "abalone": "Rings",
    "california": "median_house_value",
}
COVERAGE = 0.9


def by_negmm(program, preset, target, train, calibration, test):
    with tempfile.TemporaryDirectory() as folder:
        paths = {name: str(Path(folder) / f"{name}.csv") for name in ("train", "calibration", "test", "out")}
        for name, rows in (("train", train), ("calibration", calibration), ("test", test)):
            rows.to_csv(paths[name], index=False)
        model = str(Path(folder) / "m.negmm")

        def run(*arguments):
            subprocess.run([program, *arguments, "--quiet"], check=True, stdout=subprocess.DEVNULL)

        run("fit", paths["train"], "--target", target, "-o", model, "--preset", preset)
        run("calibrate", model, paths["calibration"], "-o", model)
        level = str(COVERAGE)
        run("predict", model, paths["test"], "--interval", level, "--region", level, "--conformal", "-o", paths["out"])
        out = pd.read_csv(paths["out"])
    y = test[target].to_numpy()
    lower, upper = out[f"lower_{level}"].to_numpy(), out[f"upper_{level}"].to_numpy()
    yield "negmm interval", (lower <= y) & (y <= upper), upper - lower
    inside = [any(low <= one <= high for low, high in intervals(text)) for one, text in zip(y, out[f"region_{level}"])]
    yield "negmm region", np.array(inside), out[f"region_{level}_length"].to_numpy()


def intervals(text):
    return [tuple(map(float, part.strip("[]").split(","))) for part in text.split()]


class Difficulty:
    """Difficulty of rows by nearest neighbours, missing numbers imputed."""

    def __init__(self, estimator, near):
        self.estimator, self.near = estimator, near

    def apply(self, X):
        return self.estimator.apply(self.near.transform(X))


def by_peers(target, train, calibration, test):
    text = [name for name in train.columns if name != target and not pd.api.types.is_numeric_dtype(train[name])]
    encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1, encoded_missing_value=-1)
    frames = [rows.drop(columns=target) for rows in (train, calibration, test)]
    if text:
        encoder.fit(frames[0][text].astype(str))
        codes = [pd.DataFrame(encoder.transform(rows[text].astype(str)), rows.index, text) for rows in frames]
        frames = [rows.drop(columns=text).join(code) for rows, code in zip(frames, codes)]
    X, X_calibration, X_test = (frame.to_numpy(dtype=float) for frame in frames)
    y, y_calibration, y_test = (rows[target].to_numpy(dtype=float) for rows in (train, calibration, test))

    def boosted(**options):
        return HistGradientBoostingRegressor(random_state=0, **options)

    split = SplitConformalRegressor(boosted().fit(X, y), confidence_level=COVERAGE, prefit=True)
    split.conformalize(X_calibration, y_calibration)
    ends = split.predict_interval(X_test)[1][:, :, 0]
    yield "mapie split", (ends[:, 0] <= y_test) & (y_test <= ends[:, 1]), ends[:, 1] - ends[:, 0]
    alpha = 1 - COVERAGE
    models = [boosted(loss="quantile", quantile=level).fit(X, y) for level in (alpha / 2, 1 - alpha / 2, 0.5)]
    cqr = ConformalizedQuantileRegressor(models, confidence_level=COVERAGE, prefit=True)
    cqr.conformalize(X_calibration, y_calibration)
    ends = cqr.predict_interval(X_test)[1][:, :, 0]
    yield "mapie cqr", (ends[:, 0] <= y_test) & (y_test <= ends[:, 1]), ends[:, 1] - ends[:, 0]
    wrapped = WrapRegressor(boosted().fit(X, y))
    near = make_pipeline(SimpleImputer(strategy="median", keep_empty_features=True), StandardScaler()).fit(X)
    # Half of the calibration rows fit the difficulty, the other half calibrates: reusing the same rows would not be
    # valid.
    half = np.arange(len(X_calibration)) % 2 == 0
    difficulty = DifficultyEstimator()
    residuals = y_calibration[half] - wrapped.predict(X_calibration[half])
    difficulty.fit(near.transform(X_calibration[half]), residuals=residuals, k=25, scaler=True)
    wrapped.calibrate(X_calibration[~half], y_calibration[~half], de=Difficulty(difficulty, near))
    ends = wrapped.predict_int(X_test, confidence=COVERAGE)
    yield "crepes normalised", (ends[:, 0] <= y_test) & (y_test <= ends[:, 1]), ends[:, 1] - ends[:, 0]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("data", type=Path)
    parser.add_argument("--sets", default=",".join(TARGETS))
    parser.add_argument("--splits", type=int, default=1)
    parser.add_argument("--preset", default="fast")
    parser.add_argument("--limit", type=int)
    arguments = parser.parse_args()
    print("| set | split | rows | what | coverage | size |\n| --- | ---: | ---: | --- | ---: | ---: |")
    for name in arguments.sets.split(","):
        target = TARGETS[name]
        table = pd.read_csv(arguments.data / f"{name}.csv.gz", keep_default_na=True)
        table = table.rename(columns=str.strip)
        table = table[table[target].notna()].reset_index(drop=True)
        with gzip.open(arguments.data / "splits" / f"{name}.txt.gz", "rt") as lines:
            splits = [np.array(line.split(), dtype=int) for line in lines]
        for number, rows in enumerate(splits[: arguments.splits]):
            others = np.setdiff1d(np.arange(len(table)), rows)
            others = np.random.default_rng(number).permutation(others)
            cut = len(others) // 4
            calibration, train = table.iloc[others[:cut]], table.iloc[others[cut:][: arguments.limit]]
            test, unit = table.iloc[rows[rows < len(table)]], table.iloc[others[cut:]][target].std()
            for makers in (
                by_negmm(arguments.program, arguments.preset, target, train, calibration, test),
                by_peers(target, train, calibration, test),
            ):
                for what, inside, size in makers:
                    rows = f"{len(train)} + {len(calibration)}"
                    line = f"| {name} | {number} | {rows} | {what} | {100 * inside.mean():.1f} %"
                    print(f"{line} | {np.mean(size) / unit:.3f} |", flush=True)


if __name__ == "__main__":
    main()
