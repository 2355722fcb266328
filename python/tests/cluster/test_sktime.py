"""The sktime adapter passes sktime's checks of forecasters."""

from __future__ import annotations

import warnings

import external


def test_sktimes_own_checks():
    external.module("sktime")
    from sktime.utils.estimator_checks import check_estimator

    from negmm.sktime import NEGMMForecaster

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_estimator(NEGMMForecaster, raise_exceptions=True, verbose=False)


def test_variances_and_distributions_are_those_of_the_model():
    external.module("sktime")
    import numpy as np
    import pandas as pd

    from negmm.sktime import NEGMMForecaster

    rng = np.random.default_rng(0)
    index = pd.period_range("2010-01", periods=120, freq="M")
    # Skewed, so that a normal distribution would have other quantiles.
    y = pd.Series(10 + rng.gamma(1.0, 2.0, 120), index=index, name="y")
    forecaster = NEGMMForecaster(preset="fast", folds=2, hidden=(8,), steps=20).fit(y, fh=[1, 2, 3])
    dist = forecaster.forecaster_.predict_dist(y.to_frame())
    np.testing.assert_allclose(forecaster.predict_var().to_numpy()[:, 0], dist.var())
    proba = forecaster.predict_proba()
    for level in (0.02, 0.3, 0.98):
        np.testing.assert_allclose(proba.ppf(level).to_numpy()[:, 0], dist.ppf(level))
    np.testing.assert_allclose(proba.mean().to_numpy()[:, 0], forecaster.predict().to_numpy())
