"""The wrappers on public tables, in the protocol of ScoringBench: shuffled folds with seed 42, at most 3,000 rows.

python bench/scoringbench/run_sets.py FOLDER [--preset fast] [--folds 5] [--sets concrete,abalone] [--joint abalone,enb]

FOLDER has tables as NAME.csv.gz whose last column is the target, in any subfolder. Of those of `--joint` abalone and cpuact
have the targets that ScoringBench takes, others are in the subfolder `joint` with `targets.json`, the list of the targets of
each. The interface is that of an installed ScoringBench, else
the stub of the tests. Scores are those of what the wrapper hands over: 199 quantiles, a histogram, or draws.
"""

import argparse
import json
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.model_selection import KFold

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
try:
    import scoringbench  # noqa: F401
except ImportError:
    sys.path.insert(0, str(HERE / "stub"))

import negmm  # noqa: E402
from negmm import ConstantRegressor, Distribution  # noqa: E402
from negmm_wrapper import LEVELS, NegmmMultivariateWrapper, NegmmWrapper  # noqa: E402

ROWS, SEED = 3_000, 42

#: Targets and left-out columns of ScoringBench's multivariate sets.
SEVERAL = {
    "abalone": (["Diameter", "Shucked_weight", "Length", "Height", "Shell_weight"], ["Whole_weight"]),
    "cpuact": (
        ["sread", "swrite", "lread", "lwrite", "scall", "fork", "exec", "rchar", "wchar"],
        ["pgout", "ppgout"],
    ),
}


def folds(frame, count):
    """Training and test rows of each fold, of at most ROWS rows."""
    frame = frame.sample(min(len(frame), ROWS), random_state=SEED).reset_index(drop=True)
    for train, test in KFold(count, shuffle=True, random_state=SEED).split(frame):
        yield frame.iloc[train], frame.iloc[test]


def of_histogram(prediction):
    """The distribution of a histogram with bins of its own for each row: a piecewise linear cdf."""
    levels = np.concatenate([np.zeros((len(prediction.mean), 1)), np.cumsum(prediction.probabilities, axis=1)], axis=1)
    at = np.concatenate([[0.0], LEVELS, [1.0]])
    values = [np.interp(at, own, edges) for own, edges in zip(np.minimum(levels, 1.0), prediction.support)]
    return Distribution.of_quantiles(at, np.array(values))


def one_target(name, frame, options):
    target = frame.columns[-1]
    found, seconds = {"quantiles": [], "histogram": [], "constant": []}, 0.0
    for train, test in folds(frame, options.folds):
        X, y, X_test, y_test = train.drop(columns=target), train[target], test.drop(columns=target), test[target]
        start = time.process_time()
        model = NegmmWrapper(preset=options.preset).fit(X, y)
        prediction = model.predict_distribution(X_test)
        seconds += time.process_time() - start
        histogram = NegmmWrapper(preset=options.preset, form="histogram")
        histogram._model, histogram._y_train_range = model._model, model._y_train_range
        dists = {
            "quantiles": Distribution.of_quantiles(LEVELS, prediction.support),
            "histogram": of_histogram(histogram.predict_distribution(X_test)),
            "constant": ConstantRegressor().fit(X, y).predict_dist(X_test),
        }
        for form, dist in dists.items():
            scores = negmm.evaluate(y_test.to_numpy(), dist=dist).scores
            found[form].append([scores[score] for score in ("crps", "log_score", "squared_error", "coverage_0.9")])
    for form, scores in found.items():
        crps, log_score, square, coverage = np.mean(scores, axis=0)
        print(
            f"{name:20} {form:10} CRPS {crps:10.5g}  log score {log_score:7.4f}  RMSE {square**0.5:10.5g}  "
            f"in 90 % {100 * coverage:5.1f} %",
            flush=True,
        )
    print(f"{name:20} {seconds / options.folds:.1f} s of CPU for a fold", flush=True)


def several_targets(name, frame, targets, options):
    found, seconds = {"joint": [], "shuffled": []}, 0.0
    for train, test in folds(frame.dropna(subset=targets), options.folds):
        X, Y, X_test, Y_test = train.drop(columns=targets), train[targets], test.drop(columns=targets), test[targets]
        start = time.process_time()
        samples = NegmmMultivariateWrapper(preset=options.preset, draws=200).fit(X, Y).predict_ensemble(X_test).samples
        seconds += time.process_time() - start
        # The same draws of each target without their dependence.
        rng = np.random.default_rng(SEED)
        apart = np.stack([rng.permuted(samples[:, :, at], axis=1) for at in range(len(targets))], axis=2)
        scales = Y.std().to_numpy()
        for form, draws in (("joint", samples), ("shuffled", apart)):
            scores = negmm.evaluate_vectors(Y_test, samples=draws, scales=scales).scores
            names = ("fair_energy_score", "variogram_score", "dawid_sebastiani")
            found[form].append([scores[score] for score in names])
    for form, scores in found.items():
        energy, variogram, moments = np.mean(scores, axis=0)
        print(
            f"{name:20} {form:10} fair energy score {energy:.4f}  variogram score {variogram:.4f}  "
            f"Dawid-Sebastiani score {moments:.4f}",
            flush=True,
        )
    print(f"{name:20} {seconds / options.folds:.1f} s of CPU for a fold", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--preset", default="fast")
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--sets", default="concrete,abalone,boston,kin8nm,puma8nh,cpuact,wine_red")
    parser.add_argument("--joint", default="abalone,cpuact,enb")
    options = parser.parse_args()
    for name in filter(None, options.sets.split(",")):
        one_target(name, pd.read_csv(next(options.folder.rglob(f"{name}.csv.gz"))), options)
    for name in filter(None, options.joint.split(",")):
        if name in SEVERAL:
            targets, dropped = SEVERAL[name]
            frame = pd.read_csv(next(options.folder.rglob(f"{name}.csv.gz")))
            frame = frame.rename(columns=lambda own: own.replace(" ", "_")).drop(columns=dropped)
        else:
            folder = options.folder / "joint"
            targets = json.loads((folder / "targets.json").read_text())[name]
            frame = pd.read_csv(folder / f"{name}.csv.gz")
        several_targets(name, frame, targets, options)


if __name__ == "__main__":
    main()
