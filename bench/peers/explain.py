"""Explanations beside shap: the same function, the same background, the same rows.

    python explain.py [--rows 30] [--background 32] [--train 1000] [--repeats 3] [--sets concrete,insurance,diamonds]
                      [--pictures FOLDER]

On each table `AutoRegressor(preset="fast")` is fitted to some rows, and the sd of others is explained: by `model.explain` with all
subsets of the columns and with one and four pairs of walks, and by shap's KernelExplainer (of up to 11 columns all subsets) and
PermutationExplainer, which call `model.predict_dist(...).std()`. Text goes to shap as codes. Printed: the largest and the root mean
square difference from all subsets relative to the largest contribution, for sampled values the root mean square of the differences in
standard errors, CPU seconds, the fastest of `--repeats`, and their ratio to one pair of walks and to all subsets. One thread each.
`--pictures` saves shap's waterfall, beeswarm, bar and heatmap of `to_shap()`. Data: `NEGMM_DATA`, else ../shared/data. Needs shap,
pandas and matplotlib.
"""

import argparse
import os
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import shap

import negmm

TARGETS = {"concrete": ("uci", "compressive_strength"), "insurance": ("tables", "charges"), "diamonds": ("tables", "price")}


def read(name):
    folder, target = TARGETS[name]
    root = Path(os.environ.get("NEGMM_DATA", "../shared/data"))
    table = pd.read_csv(root / folder / f"{name}.csv.gz")
    target = target if target in table else table.columns[-1]
    return table.drop(columns=[target]), table[target].to_numpy(dtype=float)


def coded(frame, levels):
    """The cells as numbers, text as the numbers of its levels."""
    columns = [frame[name].map({level: at for at, level in enumerate(levels[name])}) if name in levels else frame[name] for name in frame]
    return np.column_stack([column.to_numpy(dtype=float) for column in columns])


def decoded(cells, columns, levels):
    frame = pd.DataFrame(cells, columns=columns)
    for name, own in levels.items():
        frame[name] = np.array(own, dtype=object)[frame[name].to_numpy(dtype=int)]
    return frame


def timed(function, repeats=1):
    seconds = []
    for _ in range(repeats):
        start = time.process_time()
        found = function()
        seconds.append(time.process_time() - start)
    return found, min(seconds)


parser = argparse.ArgumentParser()
parser.add_argument("--rows", type=int, default=30)
parser.add_argument("--repeats", type=int, default=3)
parser.add_argument("--background", type=int, default=32)
parser.add_argument("--train", type=int, default=1000)
parser.add_argument("--pictures", type=Path)
parser.add_argument("--sets", default=",".join(TARGETS))
options = parser.parse_args()
warnings.simplefilter("ignore")


def pictures(explanation, name):
    """shap's own plots of an explanation of ours."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    options.pictures.mkdir(parents=True, exist_ok=True)
    plots = {"beeswarm": explanation, "bar": explanation, "heatmap": explanation, "waterfall": explanation[0]}
    for kind, shown in plots.items():
        getattr(shap.plots, kind)(shown.to_shap(), show=False)
        pyplot.savefig(options.pictures / f"{name}-{kind}.png", bbox_inches="tight")
        pyplot.close("all")


print(f"shap {shap.__version__}, {options.rows} rows of each set\n")
print("| set | columns | explainer | predictions a row | largest difference | RMS difference | RMS / errors | CPU s | x walks | x subsets |")
print("|---|---|---|---|---|---|---|---|---|---|")
for name in options.sets.split(","):
    X, y = read(name)
    order = np.random.default_rng(0).permutation(len(X))
    train, test = order[: options.train], order[-options.rows :]
    model = negmm.AutoRegressor(preset="fast").fit(X.iloc[train], y[train])
    rows, background = X.iloc[test], X.iloc[train[: options.background]]
    levels = {column: sorted(X[column].unique()) for column in X if not pd.api.types.is_numeric_dtype(X[column])}
    called = 0

    def sd(cells):
        global called
        called += len(cells)
        return np.asarray(model.predict_dist(decoded(cells, X.columns, levels)).std())

    z, others = coded(rows, levels), coded(background, levels)
    exact, exact_time = timed(lambda: model.explain(rows, "sd", background=background, exact=True), options.repeats)
    walked, walked_time = timed(lambda: model.explain(rows, "sd", background=background, permutations=1), options.repeats)
    four, four_time = timed(lambda: model.explain(rows, "sd", background=background, permutations=4), options.repeats)
    size = np.abs(exact.values).max()

    def line(explainer, values, errors, seconds, predictions):
        known = np.full_like(values, False, dtype=bool) if errors is None else errors > 1e-9 * size
        ratio = "-" if not known.any() else f"{np.sqrt(np.mean(((values - exact.values)[known] / errors[known]) ** 2)):.2f}"
        differences = np.abs(values - exact.values) / size
        print(
            f"| {name} | {X.shape[1]} | {explainer} | {predictions} | {differences.max():.1e} | {np.sqrt(np.mean(differences**2)):.1e} "
            f"| {ratio} | {seconds:.2f} | {seconds / walked_time:.1f} | {seconds / exact_time:.1f} |",
            flush=True,
        )

    columns = X.shape[1]
    line("negmm, all subsets", exact.values, None, exact_time, (2**columns - 1) * options.background)
    walk = 2 * (columns - 1) * options.background
    line("negmm, one pair of walks", walked.values, walked.standard_errors, walked_time, walk)
    line("negmm, four pairs", four.values, four.standard_errors, four_time, 4 * walk)
    called = 0
    kernel = shap.KernelExplainer(sd, others)
    values, seconds = timed(lambda: kernel.shap_values(z, silent=True), options.repeats)
    line("KernelExplainer", np.asarray(values), None, seconds, called // options.rows // options.repeats)
    called = 0
    masker = shap.maskers.Independent(others, max_samples=options.background)
    permutation = shap.PermutationExplainer(sd, masker, seed=0)
    found, seconds = timed(lambda: permutation(z, error_bounds=True, silent=True), options.repeats)
    # shap gives the spread of single walks, of which it takes as many as its 500 evaluations allow.
    walks = 2 * (500 // (2 * columns + 1))
    errors = np.asarray(found.error_std) / np.sqrt(walks)
    line("PermutationExplainer", found.values, errors, seconds, called // options.rows // options.repeats)
    if options.pictures is not None:
        pictures(exact, name)
    # What a background row cannot tell apart is told apart by neither.
    np.testing.assert_allclose(found.values.sum(axis=1), exact.values.sum(axis=1), atol=1e-6 * size)
