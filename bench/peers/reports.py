"""Reports of four models' predictions of the same rows: LightGBM's quantiles, ngboost, posterior draws, and negmm's own model.

python bench/peers/reports.py target/release/negmm ../shared/data/uci/concrete.csv.gz FOLDER [--shots]

Needs numpy, pandas, lightgbm and ngboost. FOLDER gets the predictions (quantiles, mean and sd, draws, quantiles) and a
page of each, the page of negmm's model without the detour, and with --shots screenshots by Chromium. The scores of all are printed.
"""

import argparse
import subprocess
import sys
from pathlib import Path

import lightgbm
import numpy as np
import pandas as pd
from ngboost import NGBRegressor

LEVELS = [0.01, 0.025, *(round(0.05 * at, 2) for at in range(1, 20)), 0.975, 0.99]
SEED = 0


def lightgbm_quantiles(X, y, X_test):
    """One model for each level; their quantiles may cross."""
    options = dict(objective="quantile", n_estimators=200, learning_rate=0.05, num_leaves=15, verbose=-1, n_jobs=1)
    models = (lightgbm.LGBMRegressor(alpha=level, random_state=SEED, **options) for level in LEVELS)
    return pd.DataFrame({f"q{level}": model.fit(X, y).predict(X_test) for level, model in zip(LEVELS, models)})


def ngboost_normal(X, y, X_test):
    found = NGBRegressor(n_estimators=500, learning_rate=0.02, verbose=False, random_state=SEED).fit(X, y).pred_dist(X_test)
    return pd.DataFrame({"mean": found.params["loc"], "sd": found.params["scale"]})


def posterior_draws(X, y, X_test, draws=400):
    """Draws of the posterior predictive distribution of a Bayesian linear regression on squares and products, as a sampler
    such as NumPyro's would give them: normal prior of the coefficients, flat prior of the logarithm of the noise."""
    rng = np.random.default_rng(SEED)
    centre, scale = X.mean(), X.std()

    def features(table):
        z = ((table - centre) / scale).to_numpy()
        products = [z[:, i] * z[:, j] for i in range(z.shape[1]) for j in range(i + 1)]
        return np.column_stack([np.ones(len(z)), z, *products, np.log1p(table["age_days"])])

    F, G = features(X), features(X_test)
    precision = F.T @ F + 0.1 * np.eye(F.shape[1])
    mean = np.linalg.solve(precision, F.T @ y)
    rest = float(y @ y - mean @ precision @ mean)
    variance = rest / rng.chisquare(len(y), draws)
    noise = np.linalg.solve(np.linalg.cholesky(precision).T, rng.standard_normal((F.shape[1], draws)))
    coefficients = mean[:, None] + noise * np.sqrt(variance)
    values = G @ coefficients + rng.standard_normal((len(G), draws)) * np.sqrt(variance)
    return pd.DataFrame(values, columns=[f"draw_{at}" for at in range(1, draws + 1)])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("program", "data", "folder"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--shots", action="store_true")
    options = parser.parse_args()
    program, folder = options.program.resolve(), options.folder
    folder.mkdir(parents=True, exist_ok=True)

    def negmm(*arguments):
        subprocess.run([program, *map(str, arguments)], cwd=folder, check=True)

    table = pd.read_csv(options.data)
    target = table.columns[-1]
    order = np.random.default_rng(SEED).permutation(len(table))
    test, train = table.iloc[order[: len(table) // 5]], table.iloc[order[len(table) // 5 :]]
    train.to_csv(folder / "train.csv", index=False)
    test.to_csv(folder / "test.csv", index=False)
    X, y, X_test = train.drop(columns=target), train[target].to_numpy(), test.drop(columns=target)
    for name, model in (("lightgbm", lightgbm_quantiles), ("ngboost", ngboost_normal), ("draws", posterior_draws)):
        predicted = model(X, y, X_test)
        predicted.insert(0, target, test[target].to_numpy())
        predicted.to_csv(folder / f"{name}.csv", index=False)
    negmm("fit", "train.csv", "--target", target, "--preset", "fast", "--threads", 1, "-o", "own.negmm", "-q")
    levels = ",".join(map(str, LEVELS))
    negmm("predict", "own.negmm", "test.csv", "--quantiles", levels, "--keep", target, "-o", "own.csv", "-q")
    files = ("lightgbm", "ngboost", "draws", "own")
    for name in files:
        negmm("report", "--predictions", f"{name}.csv", "--target", target, "-o", f"{name}.html")
    negmm("report", "own.negmm", "test.csv", "-o", "direct.html")
    negmm("compare", "--predictions", ",".join(f"{name}.csv" for name in files), "--target", target)
    if options.shots:
        sys.path.insert(0, str(Path(__file__).parents[2] / "crates/negmm-report/tests/browser"))
        from driver import Browser

        with Browser() as browser:
            for name in (*files, "direct"):
                browser.look(1280, 900, "light")
                browser.open((folder / f"{name}.html").resolve())
                length = browser.run("return document.documentElement.scrollHeight")
                browser.screenshot(folder / f"{name}.png", 1280, length)


if __name__ == "__main__":
    main()
