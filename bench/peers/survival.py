"""Censored targets beside survival packages: concordance and integrated Brier score over the same folds, as a Markdown
table.

    pip install scikit-survival negmm
    python survival.py [--folds 5] [--jobs 2]

The sets come with scikit-survival: GBSG2 (686 women, days until breast cancer returns, 56 % censored) and WHAS500 (500
heart attacks, days until death, 57 % censored). Both scores are scikit-survival's own, with the censoring estimated
from the training rows of a fold.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sksurv.datasets import load_gbsg2, load_whas500
from sksurv.ensemble import RandomSurvivalForest
from sksurv.linear_model import CoxPHSurvivalAnalysis
from sksurv.metrics import concordance_index_censored, integrated_brier_score
from sksurv.nonparametric import kaplan_meier_estimator

import negmm

#: Number of times of the Brier score, evenly spaced from the first of these percentiles of the test rows' times to the
#: last.
TIMES, PERCENTILES = 100, (5, 90)


class Auto:
    """negmm's default method on the columns as they are."""

    def __init__(self, jobs: int) -> None:
        self.model = negmm.AutoRegressor(n_jobs=jobs)

    def fit(self, X: pd.DataFrame, y: np.ndarray) -> None:
        self.model.fit(X, y)

    def predict(self, X: pd.DataFrame, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        dist = self.model.predict_dist(X)
        return -dist.median(), dist.sf(times[:, np.newaxis]).T


class Peer:
    """An estimator of scikit-survival on standardised numbers and categories as 0 and 1."""

    def __init__(self, estimator: object) -> None:
        categories = OneHotEncoder(drop="first", sparse_output=False, handle_unknown="ignore")
        columns = make_column_transformer(
            (StandardScaler(), make_column_selector(dtype_include="number")),
            (categories, make_column_selector(dtype_exclude="number")),
        )
        self.model = make_pipeline(columns, estimator)

    def fit(self, X: pd.DataFrame, y: np.ndarray) -> None:
        self.model.fit(X, y)

    def predict(self, X: pd.DataFrame, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        survival = [function(times) for function in self.model.predict_survival_function(X)]
        return self.model.predict(X), np.stack(survival)


class KaplanMeier:
    """The same curve for every row."""

    def fit(self, X: pd.DataFrame, y: np.ndarray) -> None:
        self.times, self.survival = kaplan_meier_estimator(y[y.dtype.names[0]], y[y.dtype.names[1]])

    def predict(self, X: pd.DataFrame, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        steps = np.searchsorted(self.times, times, side="right")
        return np.zeros(len(X)), np.tile(np.concatenate([[1.0], self.survival])[steps], (len(X), 1))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    methods = {
        "negmm auto": lambda: Auto(options.jobs),
        "Cox (CoxPHSurvivalAnalysis)": lambda: Peer(CoxPHSurvivalAnalysis(alpha=0.1)),
        "random survival forest": lambda: Peer(
            RandomSurvivalForest(n_estimators=300, min_samples_leaf=15, random_state=0, n_jobs=options.jobs)
        ),
        "Kaplan-Meier": KaplanMeier,
    }
    warnings.simplefilter("ignore")
    print("| set | method | concordance | integrated Brier score |\n|---|---|---|---|")
    for name, (X, y) in {"GBSG2": load_gbsg2(), "WHAS500": load_whas500()}.items():
        # Categories come as text to negmm, and both kinds of peers see them as 0 and 1; WHAS500 writes them as numbers.
        X = X.astype({column: str for column in X.select_dtypes("category")})
        for method, make in methods.items():
            scores = np.array([score(make(), X, y, *split) for split in folds(y, options.folds)])
            means, errors = scores.mean(axis=0), scores.std(axis=0, ddof=1) / len(scores) ** 0.5
            concordance, brier = f"{means[0]:.3f} ({errors[0]:.3f})", f"{means[1]:.4f} ({errors[1]:.4f})"
            print(f"| {name} | {method} | {concordance} | {brier} |", flush=True)


def folds(y: np.ndarray, count: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Folds stratified by censoring, the same for all methods."""
    return list(StratifiedKFold(count, shuffle=True, random_state=0).split(np.zeros(len(y)), y[y.dtype.names[0]]))


def score(model: object, X: pd.DataFrame, y: np.ndarray, train: np.ndarray, test: np.ndarray) -> tuple[float, float]:
    """Concordance and integrated Brier score on the test rows."""
    event, end = y.dtype.names
    model.fit(X.iloc[train], y[train])
    # The censoring is known up to the longest training time alone.
    test = test[y[test][end] < y[train][end].max()]
    times = np.linspace(*np.percentile(y[test][end], PERCENTILES), TIMES)
    risk, survival = model.predict(X.iloc[test], times)
    concordance = concordance_index_censored(y[test][event], y[test][end], risk)[0]
    return concordance, integrated_brier_score(y[train], y[test], survival, times)


if __name__ == "__main__":
    main()
