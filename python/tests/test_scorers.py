"""Scorers through pipelines, searches, transformed targets, weights and names."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
import sklearn
from quick import quick, rows
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import BaggingRegressor, VotingRegressor
from sklearn.feature_selection import RFE, SelectFromModel
from sklearn.linear_model import LinearRegression
from sklearn.metrics import get_scorer
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict, cross_val_score, cross_validate
from sklearn.multioutput import MultiOutputRegressor, RegressorChain
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, PowerTransformer, QuantileTransformer, RobustScaler, StandardScaler

import negmm
from negmm import metrics

X, Y = rows(200)
POSITIVE = np.exp(0.5 * Y)


@pytest.fixture(autouse=True)
def nothing_is_odd():
    """A score that fails is a warning of scikit-learn's, and the first grid point wins."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", negmm.DataWarning)
        yield


@pytest.mark.parametrize("scoring", ["neg_crps", "neg_log_likelihood", metrics.neg_crps, metrics.neg_nll])
def test_a_search_over_a_pipeline_finds_the_better_one(scoring):
    pipeline = make_pipeline(StandardScaler(), quick("ngboost"))
    search = GridSearchCV(pipeline, {"ngboostregressor__n_estimators": [1, 40]}, cv=3, scoring=scoring).fit(X, Y)
    assert search.best_params_ == {"ngboostregressor__n_estimators": 40}
    worse, better = search.cv_results_["mean_test_score"]
    assert worse < better < 0 or scoring not in ("neg_crps", metrics.neg_crps)
    score = get_scorer(scoring) if isinstance(scoring, str) else scoring
    assert search.score(X, Y) == score(search, X, Y) == score(search.best_estimator_, X, Y)


def test_several_scores_by_name():
    scores = cross_validate(quick("ngboost"), X, Y, cv=2, scoring=["neg_crps", "neg_log_likelihood", "r2"])
    assert all(np.isfinite(scores[f"test_{name}"]).all() for name in ("neg_crps", "neg_log_likelihood", "r2"))
    assert pickle.loads(pickle.dumps(metrics.neg_crps))(quick("ngboost").fit(X, Y), X, Y) < 0
    assert repr(metrics.neg_crps) == "negmm.metrics.neg_crps"


def test_distributions_through_pipelines_and_searches():
    alone = quick("ngboost").fit(StandardScaler().fit_transform(X), Y)
    pipeline = make_pipeline(StandardScaler(), quick("ngboost")).fit(X, Y)
    expected = alone.predict_dist(StandardScaler().fit_transform(X))
    assert negmm.predict_dist(pipeline, X) == expected
    search = GridSearchCV(make_pipeline(StandardScaler(), quick("ngboost")), {"ngboostregressor__max_depth": [3]}, cv=2)
    assert negmm.predict_dist(search.fit(X, Y), X) == expected
    with pytest.raises(AttributeError, match="StandardScaler predicts no distributions"):
        negmm.predict_dist(StandardScaler(), X)


@pytest.mark.parametrize("scaler", [StandardScaler(), MinMaxScaler((3, -3 + 7)), RobustScaler()])
@pytest.mark.parametrize("name", ["ne-gmm", "sample-net"])
def test_an_affine_target_is_the_same_target(scaler, name):
    model = TransformedTargetRegressor(quick(name), transformer=scaler).fit(X, POSITIVE)
    dist = negmm.predict_dist(model, X)
    np.testing.assert_allclose(dist.mean(), model.predict(X), rtol=1e-9)
    inner = model.regressor_.predict_dist(X)
    scale = 1 / (scaler.fit(POSITIVE[:, np.newaxis]).transform([[1.0]]) - scaler.transform([[0.0]]))[0, 0]
    np.testing.assert_allclose(dist.std(), scale * inner.std(), rtol=1e-9)
    scaled = scaler.transform(POSITIVE[:, np.newaxis])[:, 0]
    np.testing.assert_allclose(dist.crps(POSITIVE), scale * inner.crps(scaled), rtol=1e-6)
    np.testing.assert_allclose(dist.nll(POSITIVE), inner.nll(scaled) + np.log(scale), rtol=1e-9)
    assert np.isfinite(cross_val_score(model, X, POSITIVE, cv=2, scoring="neg_crps")).all()


LOGARITHMS = {
    "log": (np.log, np.exp),
    "log1p": (np.log1p, np.expm1),
    "log2": (np.log2, np.exp2),
    "log10": (np.log10, lambda z: 10**z),
}


@pytest.mark.parametrize("name", LOGARITHMS)
def test_the_logarithm_of_a_target_is_a_log_normal_mixture(name):
    func, inverse = LOGARITHMS[name]
    model = TransformedTargetRegressor(quick("ne-gmm", continuous=True), func=func, inverse_func=inverse)
    dist = negmm.predict_dist(model.fit(X, POSITIVE), X)[:20]
    y = POSITIVE[:20]
    # By quadrature of the distribution function: nothing of the closed forms is used.
    low, high = dist.ppf(1e-12), dist.ppf(1 - 1e-12)
    grid = low + (high - low) * np.linspace(0, 1, 100_001)[:, np.newaxis] ** 3
    cdf = dist.cdf(grid)
    np.testing.assert_allclose(dist.mean(), high - np.trapezoid(cdf, grid, axis=0), rtol=1e-4)
    crps = np.trapezoid((cdf - (grid >= y)) ** 2, grid, axis=0)
    np.testing.assert_allclose(dist.crps(y), crps + np.maximum(low - y, 0) + np.maximum(y - high, 0), rtol=2e-3)
    np.testing.assert_allclose(np.trapezoid(dist.pdf(grid), grid, axis=0), 1, rtol=1e-4)
    np.testing.assert_allclose(dist.nll(y), -np.log(dist.pdf(y)))
    np.testing.assert_allclose(dist.cdf(dist.ppf(0.3)), 0.3)
    second = np.trapezoid(2 * (grid - low) * (1 - cdf), grid, axis=0)
    np.testing.assert_allclose(dist.var(), second - (dist.mean() - low) ** 2, rtol=1e-3)
    below = dist.support()[0] - 1.0
    assert dist.cdf(below).max() == dist.pdf(below).max() == 0 and np.isinf(dist.nll(np.full(20, below))).all()
    assert np.isfinite(cross_val_score(model, X, POSITIVE, cv=2, scoring="neg_log_likelihood")).all()


def test_samples_of_a_logarithm_are_samples():
    model = TransformedTargetRegressor(quick("sample-net"), func=np.log, inverse_func=np.exp).fit(X, POSITIVE)
    inner = model.regressor_.predict_dist(X)
    np.testing.assert_allclose(negmm.predict_dist(model, X).samples, np.exp(inner.samples))


MONOTONE = {
    "yeo-johnson": {"transformer": PowerTransformer()},
    "quantiles": {"transformer": QuantileTransformer(n_quantiles=60, output_distribution="normal")},
    "root": {"func": np.sqrt, "inverse_func": np.square},
    "decreasing": {"func": lambda y: 1 / (1 + y), "inverse_func": lambda z: 1 / z - 1},
}


@pytest.mark.parametrize("name", MONOTONE)
def test_any_monotone_transformation_of_the_target(name):
    regressor = quick("ne-gmm", continuous=True)
    model = TransformedTargetRegressor(regressor, check_inverse=False, **MONOTONE[name]).fit(X, POSITIVE)
    dist = negmm.predict_dist(model, X)[:20]
    median, y = dist.median(), POSITIVE[:20]
    np.testing.assert_allclose(dist.cdf(median), 0.5, atol=1e-6)
    lower, upper = dist.interval(0.8)
    assert (lower < median).all() and (median < upper).all()
    np.testing.assert_allclose(dist.cdf(upper) - dist.cdf(lower), 0.8, atol=1e-6)
    np.testing.assert_allclose(dist.cdf(y) + dist.sf(y), 1.0)
    # Means and scores beside those of many draws.
    draws = dist.rvs((4000, 20), random_state=0)
    spread = draws.std(axis=0) / np.sqrt(4000)
    clipped = np.clip(draws, *np.quantile(draws, [0.001, 0.999], axis=0))
    np.testing.assert_array_less(np.abs(np.median(draws, axis=0) - median), 6 * spread + 0.02)
    error = np.abs(draws - y).mean(axis=0) - 0.5 * np.abs(draws - draws[::-1]).mean(axis=0)
    # Where the mean of the target is finite, which a power of what is normal need not have.
    light = dist.isf(1e-7) - dist.ppf(1e-7) < 100
    assert light.sum() > 5
    np.testing.assert_array_less(np.abs(dist.crps(y) - error)[light], (8 * spread + 0.02)[light])
    assert clipped.min() >= dist.support()[0] - 1e-9


def test_transformations_that_are_not_monotone_are_refused():
    model = TransformedTargetRegressor(
        quick("ngboost"), func=lambda y: y, inverse_func=lambda z: np.cos(9 * z), check_inverse=False
    ).fit(X, POSITIVE)
    with pytest.raises(ValueError, match="expected a monotone transformer of the target"):
        negmm.predict_dist(model, X)


def test_meta_estimators_have_predict_dist():
    model = quick("ngboost")
    piped = make_pipeline(StandardScaler(), model).fit(X, Y)
    assert piped.predict_dist(X) == negmm.predict_dist(piped, X)
    search = GridSearchCV(model, {"n_estimators": [5, 10]}, cv=2).fit(X, Y)
    assert search.predict_dist(X) == search.best_estimator_.predict_dist(X)
    # Not where something else predicts.
    assert not hasattr(make_pipeline(StandardScaler(), LinearRegression()), "predict_dist")
    with pytest.raises(AttributeError, match="LinearRegression predicts no distributions"):
        negmm.predict_dist(LinearRegression().fit(X, Y), X)


def test_bags_are_pooled_and_their_members_kept():
    bag = BaggingRegressor(quick("ngboost"), n_estimators=3, max_features=0.7, random_state=0).fit(X, Y)
    dist = bag.predict_dist(X)
    np.testing.assert_allclose(dist.mean(), bag.predict(X))
    assert (dist.var_parts()[1] > 0).all()
    voting = VotingRegressor([("a", quick("ngboost")), ("b", quick("mdn"))], weights=[1, 3]).fit(X, Y)
    np.testing.assert_allclose(negmm.predict_dist(voting, X).mean(), voting.predict(X))


def test_several_targets_of_scikit_learn_give_a_list():
    both = np.column_stack([Y, -2 * Y])
    for meta in (MultiOutputRegressor(quick("ngboost")), RegressorChain(quick("ngboost"), order=[1, 0])):
        predicted = meta.fit(X, both).predict(X)
        for target, dist in enumerate(meta.predict_dist(X)):
            np.testing.assert_allclose(dist.mean(), predicted[:, target])


def test_distributions_of_rows_that_were_left_out():
    dist = cross_val_predict(quick("ngboost"), X, Y, cv=3, method="predict_dist")
    assert isinstance(dist, negmm.Distribution) and len(dist) == len(Y)
    intervals = cross_val_predict(quick("ngboost"), X, Y, cv=3, method="predict_interval")
    np.testing.assert_allclose(np.stack(dist.interval(0.9), axis=-1), intervals)


@pytest.mark.parametrize("target", ["counts", "capped", "truth"])
def test_distributions_of_rows_that_were_left_out_of_any_target(target):
    # A cap or a step is not found in every fold, and folds of ``auto`` have pools of different sizes.
    y = {"counts": np.round(np.abs(Y) * 2), "capped": np.minimum(Y, np.quantile(Y, 0.93)), "truth": Y > Y.mean()}[target]
    y = np.where(np.arange(len(y)) == 0, 0.37, y) if target == "counts" else y
    splits = list(KFold(3).split(X))
    dist = cross_val_predict(quick("auto"), X, y, cv=splits, method="predict_dist")
    for train, test in splits:
        own = quick("auto").fit(X[train], y[train]).predict_dist(X[test])
        np.testing.assert_allclose(dist[test].ppf([[0.1], [0.8]]), own.ppf([[0.1], [0.8]]))
        np.testing.assert_allclose(dist[test].crps(y[test]), own.crps(y[test]))


@pytest.mark.parametrize("func", [(np.log, np.exp), (np.sqrt, np.square)])
def test_distributions_of_transformed_targets_that_were_left_out(func):
    model = TransformedTargetRegressor(quick("ngboost"), func=func[0], inverse_func=func[1], check_inverse=False)
    dist = cross_val_predict(model, X, POSITIVE, cv=3, method="predict_dist")
    assert len(dist) == len(X)
    train, test = next(KFold(3).split(X))
    own = negmm.predict_dist(clone(model).fit(X[train], POSITIVE[train]), X[test])
    np.testing.assert_allclose(dist[test].median(), own.median())
    np.testing.assert_allclose(dist[test].crps(POSITIVE[test]), own.crps(POSITIVE[test]))
    assert dist.to_pandas().shape == (len(X), 4)


def test_bags_of_transformed_targets_are_pooled():
    model = TransformedTargetRegressor(quick("ngboost"), func=np.log, inverse_func=np.exp)
    bag = BaggingRegressor(model, n_estimators=3, random_state=0).fit(X, POSITIVE)
    dist = negmm.predict_dist(bag, X)
    parts = [negmm.predict_dist(member, X) for member in bag.estimators_]
    np.testing.assert_allclose(dist.mean(), np.mean([part.mean() for part in parts], axis=0))
    np.testing.assert_allclose(dist.cdf(dist.median()), 0.5)


def test_features_are_selected_by_their_importance():
    model = quick("ngboost")
    chosen = SelectFromModel(model, max_features=2, threshold=-np.inf).fit(X, Y, importances=True)
    assert chosen.get_support().tolist() == [True, True, False]
    assert RFE(model, n_features_to_select=2).fit(X, Y, importances=True).support_.tolist() == [True, True, False]


def test_requesting_weights_leaves_the_scorer_of_the_process_alone():
    with sklearn.config_context(enable_metadata_routing=True):
        requesting = metrics.neg_crps.set_score_request(sample_weight=True)
        assert requesting is not metrics.neg_crps
        assert requesting.get_metadata_routing().score.requests == {"sample_weight": True}
        assert metrics.neg_crps.get_metadata_routing().score.requests.get("sample_weight") is None


def test_weights_reach_the_scorer():
    weights = np.where(np.arange(len(Y)) % 2, 1.0, 0.0)
    model = quick("ngboost").fit(X, Y)
    odd = metrics.neg_crps(model, X[1::2], Y[1::2])
    assert metrics.neg_crps(model, X, Y, sample_weight=weights) == pytest.approx(odd)
    with sklearn.config_context(enable_metadata_routing=True):
        scorer = pickle.loads(pickle.dumps(metrics.neg_crps)).set_score_request(sample_weight=True)
        weighted = quick("ngboost").set_fit_request(sample_weight=True)
        routed = cross_val_score(weighted, X, Y, cv=2, scoring=scorer, params={"sample_weight": weights})
        plain = cross_val_score(quick("ngboost"), X, Y, cv=2, scoring="neg_crps")
    assert np.isfinite(routed).all() and not np.allclose(routed, plain)


def test_a_column_of_targets_is_one_target_for_each_row():
    dist = quick("ngboost").fit(X, Y).predict_dist(X)
    for score in (dist.crps, dist.nll, dist.pit):
        np.testing.assert_array_equal(score(Y[:, np.newaxis]), score(Y))
    parts = dist.weights, dist.means, dist.sds
    np.testing.assert_array_equal(metrics.crps_mixture(Y[:, np.newaxis], *parts), metrics.crps_mixture(Y, *parts))
    np.testing.assert_array_equal(metrics.pit(Y[:, np.newaxis], *parts), metrics.pit(Y, *parts))
    assert metrics.neg_crps(quick("ngboost").fit(X, Y), X, Y[:, np.newaxis]) < 0
    # A grid for every row is still a grid for every row.
    assert dist.pdf(np.linspace(-3, 3, len(Y))[:, np.newaxis]).shape == (len(Y), len(Y))


def test_intervals_of_rows_that_were_left_out():
    intervals = cross_val_predict(quick("ngboost"), X, Y, cv=3, method="predict_interval")
    assert intervals.shape == (len(Y), 2)
    assert 0.6 < metrics.coverage(Y, *intervals.T) <= 1
