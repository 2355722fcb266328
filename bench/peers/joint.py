"""Peers of several targets on the tables of `bench/src/bin/joint.rs`: NGBoost's multivariate normal, a random
forest whose weights of training rows are the distribution, and treeffuser (diffusion with boosted trees). Prints lines
like those of `joint`.

    python joint.py [--sets enb,jura] [--splits 5] [--estimators 500] [--peers mvn,forest,treeffuser]

Needs ngboost, scikit-learn and treeffuser, each for its peer. Data from the folder NEGMM_DATA, else ../shared/data.
Dates are numbers of days, other inputs of text are one-hot.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import os
import time
from datetime import datetime
from pathlib import Path

import numpy as np

DRAWS = 300


def table(path: Path, targets: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """Inputs as numbers, and targets."""
    with gzip.open(path, "rt") as file:
        header, *rows = list(csv.reader(file))
    columns = dict(zip(header, zip(*rows, strict=True), strict=True))
    inputs = []
    for name in header:
        if name in targets:
            continue
        cells = columns[name]
        try:
            inputs.append(np.array([float(cell) if cell else np.nan for cell in cells]))
            continue
        except ValueError:
            pass
        try:
            inputs.append(np.array([datetime.strptime(cell, "%Y%m%dT%H%M%S").toordinal() for cell in cells], float))
        except ValueError:
            inputs += [np.array([float(cell == level) for cell in cells]) for level in sorted(set(cells))]
    x = np.column_stack(inputs)
    x = np.where(np.isnan(x), np.nanmean(x, axis=0), x)
    return x, np.column_stack([np.array(columns[name], dtype=float) for name in targets])


def energy(draws: np.ndarray, y: np.ndarray) -> float:
    """The fair energy score; draws: rows × draws × targets."""
    scores = []
    for own, observed in zip(draws, y, strict=True):
        count = len(own)
        apart = np.sqrt(((own[:, None] - own[None]) ** 2).sum(-1)).sum() / (2 * count * (count - 1))
        scores.append(np.sqrt(((own - observed) ** 2).sum(-1)).mean() - apart)
    return float(np.mean(scores))


def variogram(draws: np.ndarray, y: np.ndarray) -> float:
    """The variogram score of order 0.5."""
    total = 0.0
    for i in range(y.shape[1]):
        for j in range(i):
            predicted = (np.abs(draws[..., i] - draws[..., j]) ** 0.5).mean(axis=1)
            total = total + 2 * (np.abs(y[:, i] - y[:, j]) ** 0.5 - predicted) ** 2
    return float(np.mean(total))


def crps_of_sum(draws: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """CRPS of the sum (fair), and coverage of its 90 % interval."""
    sums, observed = np.sort(draws.sum(-1), axis=1), y.sum(-1)
    count = sums.shape[1]
    ranks = 2 * np.arange(count) - count + 1
    apart = (sums * ranks).sum(axis=1) / (count * (count - 1))
    crps = np.abs(sums - observed[:, None]).mean(axis=1) - apart
    low, high = np.quantile(sums, [0.05, 0.95], axis=1)
    return float(crps.mean()), float(((low <= observed) & (observed <= high)).mean())


def mvn(train, test, estimators: int, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Draws and log densities of NGBoost's multivariate normal; early stopping on a tenth of the rows."""
    from ngboost import NGBRegressor
    from ngboost.distns import MultivariateNormal

    (x, y), (x_test, y_test) = train, test
    order = random.permutation(len(x))
    held_out, rest = order[: len(x) // 10], order[len(x) // 10 :]
    model = NGBRegressor(
        Dist=MultivariateNormal(y.shape[1]), n_estimators=estimators, learning_rate=0.05, verbose=False, random_state=0
    )
    model.fit(x[rest], y[rest], X_val=x[held_out], Y_val=y[held_out], early_stopping_rounds=20)
    dist = model.pred_dist(x_test)
    means, covariances = np.asarray(dist.mean()), np.asarray(dist.cov)
    factors = np.linalg.cholesky(covariances)
    normal = random.normal(size=(len(x_test), DRAWS, y.shape[1]))
    draws = means[:, None] + np.einsum("rij,rdj->rdi", factors, normal)
    z = np.linalg.solve(factors, (y_test - means)[..., None])[..., 0]
    log_det = np.log(np.diagonal(factors, axis1=1, axis2=2)).sum(-1)
    logs = -0.5 * (z**2).sum(-1) - log_det - 0.5 * y.shape[1] * np.log(2 * np.pi)
    return draws, logs


def forest(train, test, estimators: int, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Draws of training rows by the weights of a random forest (Meinshausen, 2006); it has no density."""
    from sklearn.ensemble import RandomForestRegressor

    (x, y), (x_test, _) = train, test
    model = RandomForestRegressor(
        n_estimators=min(estimators, 200), min_samples_leaf=3, max_features=0.5, random_state=0, n_jobs=1
    ).fit(x, y)
    leaves, own = model.apply(x), model.apply(x_test)
    rows = [[np.flatnonzero(leaves[:, tree] == leaf) for leaf in own[:, tree]] for tree in range(own.shape[1])]
    draws = np.empty((len(x_test), DRAWS, y.shape[1]))
    for row in range(len(x_test)):
        trees = random.integers(own.shape[1], size=DRAWS)
        draws[row] = [y[random.choice(rows[tree][row])] for tree in trees]
    return draws, np.full(len(x_test), np.nan)


def treeffuser(train, test, estimators: int, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Draws of treeffuser with its defaults; it has no density."""
    from treeffuser import Treeffuser

    (x, y), (x_test, _) = train, test
    model = Treeffuser(seed=0, n_jobs=1, verbose=-1).fit(x, y)
    draws = model.sample(x_test, n_samples=DRAWS, seed=int(random.integers(2**31)), verbose=False)
    return np.moveaxis(np.asarray(draws), 0, 1), np.full(len(x_test), np.nan)


PEERS = {"mvn": mvn, "forest": forest, "treeffuser": treeffuser}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--sets", default="enb,jura,slump,births")
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--estimators", type=int, default=500)
    parser.add_argument("--peers", default="mvn,forest")
    options = parser.parse_args()
    folder = Path(os.environ.get("NEGMM_DATA", "../shared/data")) / "joint"
    targets = json.loads((folder / "targets.json").read_text())
    print("| set | split | what | energy | NLL | variogram | CRPS of sum | sum in 90 % | seconds |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name in options.sets.split(","):
        x, y = table(folder / f"{name}.csv.gz", targets[name])
        with gzip.open(folder / "splits" / f"{name}.txt.gz", "rt") as file:
            splits = [np.array(line.split(), dtype=int) for line in file]
        for number, test in enumerate(splits[: options.splits]):
            is_test = np.zeros(len(x), dtype=bool)
            is_test[test] = True
            mean, sd = y[~is_test].mean(axis=0), y[~is_test].std(axis=0)
            z = (y - mean) / sd
            for peer in options.peers.split(","):
                random = np.random.default_rng(number)
                start = time.perf_counter()
                data = (x[~is_test], z[~is_test]), (x[test], z[test])
                draws, logs = PEERS[peer](*data, options.estimators, random)
                seconds = time.perf_counter() - start
                nll = float(np.mean(np.log(sd).sum() - logs))
                crps, covered = crps_of_sum(draws, z[test])
                scores = f"{energy(draws, z[test]):.4f} | {nll:.3f} | {variogram(draws, z[test]):.4f} | {crps:.4f}"
                print(f"| {name} | {number} | {peer} | {scores} | {100 * covered:.1f} | {seconds:.1f} |", flush=True)


if __name__ == "__main__":
    main()
