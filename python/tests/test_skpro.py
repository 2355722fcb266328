"""skpro's estimator checks, and agreement of the adapter with the estimator."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from quick import NAMES, quick, rows
from scipy import integrate
from skpro.metrics import CRPS, LogLoss
from skpro.utils import check_estimator

from negmm import Distribution
from negmm.skpro import NEGMMDistribution, NEGMMProbaRegressor


def failures(results: dict[str, object]) -> dict[str, object]:
    return {name: result for name, result in results.items() if result != "PASSED"}


def test_the_class_passes_skpros_checks():
    results = check_estimator(NEGMMProbaRegressor, verbose=False)
    assert len(results) > 20
    assert not failures(results)


@pytest.mark.parametrize("name", NAMES)
def test_every_method_passes_skpros_checks(name):
    assert not failures(check_estimator(NEGMMProbaRegressor(quick(name)), verbose=False))


def test_the_distribution_passes_skpros_checks():
    results = check_estimator(NEGMMDistribution, verbose=False)
    assert len(results) > 20
    assert not failures(results)


def frames() -> tuple[pd.DataFrame, pd.DataFrame]:
    X, y = rows()
    index = pd.Index([f"row {row}" for row in range(len(y))])
    return pd.DataFrame(X, columns=["a", "b", "c"], index=index), pd.DataFrame({"y": y}, index=index)


@pytest.mark.parametrize("name", NAMES)
def test_the_adapter_predicts_what_the_estimator_predicts(name):
    X, y = frames()
    adapter, plain = NEGMMProbaRegressor(quick(name)).fit(X, y), quick(name).fit(X, y["y"])
    new = X[:7]
    dist = plain.predict_dist(new)
    pd.testing.assert_frame_equal(adapter.predict(new), pd.DataFrame({"y": dist.mean()}, index=new.index))
    proba = adapter.predict_proba(new)
    assert proba.distribution == dist
    np.testing.assert_array_equal(proba.cdf(y[:7])["y"], dist.cdf(y["y"][:7]))
    np.testing.assert_array_equal(adapter.predict_var(new)["y"], dist.var())
    interval = adapter.predict_interval(new, coverage=0.8)
    np.testing.assert_allclose(interval, plain.predict_interval(new, coverage=0.8))
    quantiles = adapter.predict_quantiles(new, alpha=[0.2, 0.7])
    np.testing.assert_allclose(quantiles, plain.predict_quantiles(new, alpha=[0.2, 0.7]))


def test_skpros_scores_are_ours():
    X, y = frames()
    adapter = NEGMMProbaRegressor(quick("ne-gmm")).fit(X, y)
    proba = adapter.predict_proba(X)
    assert CRPS()(y, proba) == pytest.approx(proba.distribution.crps(y["y"]).mean(), rel=1e-9)
    assert LogLoss()(y, proba) == pytest.approx(proba.distribution.nll(y["y"]).mean(), rel=1e-9)


def test_the_energy_is_that_of_quadrature():
    mixture = Distribution.of_mixtures([[0.3, 0.7]], [[-1.0, 2.0]], [[0.5, 1.5]])
    skpro = NEGMMDistribution(mixture)
    # E|X - Y| = 2 ∫ F (1 - F), E|X - x| = ∫ |t - x| dF
    expected = 2 * integrate.quad(lambda t: mixture[0].cdf(t) * mixture[0].sf(t), -20, 20, limit=200)[0]
    assert skpro.energy().iloc[0, 0] == pytest.approx(expected, rel=1e-8)
    expected = integrate.quad(lambda t: abs(t - 0.7) * mixture[0].pdf(t), -20, 20, points=[0.7], limit=200)[0]
    assert skpro.energy(pd.DataFrame([[0.7]])).iloc[0, 0] == pytest.approx(expected, rel=1e-8)


def test_the_measure_type_is_that_of_the_target():
    parts = {"weights": [[0.25, 0.75]] * 2, "means": [[0.0, 3.0]] * 2}
    density = NEGMMDistribution(Distribution.of_mixtures(**parts, sds=[[1.0, 1.0]] * 2))
    counts = NEGMMDistribution(Distribution.of_mixtures(**parts, sds=[[1.0, 1.0]] * 2, lower=0, step=1))
    zeros = NEGMMDistribution(Distribution.of_mixtures(**parts, sds=[[0.0, 1.0]] * 2, lower=0))
    for skpro, measure in ((density, "continuous"), (counts, "discrete"), (zeros, "mixed")):
        assert skpro.get_tag("distr:measuretype") == measure
        assert skpro.iloc[[0], :].get_tag("distr:measuretype") == measure
    at = pd.DataFrame([[0.0], [2.0]])
    assert not density.pmf(at).to_numpy().any()
    np.testing.assert_array_equal(counts.pmf(at)[0], counts.distribution.pmf([0.0, 2.0]))
    np.testing.assert_array_equal(counts.log_pmf(at)[0], np.log(counts.distribution.pmf([0.0, 2.0])))
    assert not counts.pdf(at).to_numpy().any()
    assert zeros.pmf(at)[0].to_list() == [zeros.distribution[0].pmf(0), 0]
    assert zeros.log_pmf(at).iloc[1, 0] == -np.inf
