"""MAPIE takes the predicted standard deviation as the scale of its conformity score."""

from __future__ import annotations

import numpy as np
import pytest
from mapie.conformity_scores import StdConformityScore
from mapie.metrics.regression import regression_coverage_score
from mapie.regression import CrossConformalRegressor, SplitConformalRegressor
from quick import LEARNING, quick


def noisy(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Noise that grows with x: intervals of one width would be wrong nearly everywhere."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(0, 3, size=(count, 1))
    return x, np.sin(x[:, 0]) + (0.05 + 0.4 * x[:, 0]) * rng.normal(size=count)


@pytest.mark.parametrize("name", LEARNING)
def test_split_conformal_intervals_by_the_predicted_sd(name):
    (X, y), (X_conformal, y_conformal), (X_test, y_test) = noisy(600, 0), noisy(600, 1), noisy(2000, 2)
    model = quick(name).fit(X, y)
    mapie = SplitConformalRegressor(model, confidence_level=0.9, conformity_score=StdConformityScore(), prefit=True)
    mapie.conformalize(X_conformal, y_conformal)
    mean, intervals = mapie.predict_interval(X_test)
    np.testing.assert_array_equal(mean, model.predict(X_test))
    assert regression_coverage_score(y_test, intervals)[0] == pytest.approx(0.9, abs=0.035)
    width = intervals[:, 1, 0] - intervals[:, 0, 0]
    _, sd = model.predict(X_test, return_std=True)
    np.testing.assert_allclose(width / sd, (width / sd)[0], rtol=1e-6)
    wide, narrow = X_test[:, 0] > 2.5, X_test[:, 0] < 0.5
    assert width[wide].mean() > 2 * width[narrow].mean()


def test_split_conformal_fits_it_too():
    (X, y), (X_conformal, y_conformal), (X_test, y_test) = noisy(400, 0), noisy(400, 1), noisy(2000, 2)
    mapie = SplitConformalRegressor(quick("ne-gmm"), 0.8, conformity_score="std_normalized", prefit=False)
    _, intervals = mapie.fit(X, y).conformalize(X_conformal, y_conformal).predict_interval(X_test)
    assert regression_coverage_score(y_test, intervals)[0] == pytest.approx(0.8, abs=0.05)


def test_cross_conformal_intervals():
    (X, y), (X_test, y_test) = noisy(600, 0), noisy(2000, 2)
    mapie = CrossConformalRegressor(quick("ngboost"), confidence_level=0.9, cv=5, conformity_score=StdConformityScore())
    _, intervals = mapie.fit_conformalize(X, y).predict_interval(X_test)
    assert regression_coverage_score(y_test, intervals)[0] == pytest.approx(0.9, abs=0.05)
