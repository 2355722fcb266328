"""Highest-density regions and conformal prediction sets: exact, with nominal coverage, by groups and weights."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from quick import quick
from scipy import stats

from negmm import Distribution


def rows(count, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3, 3, (count, 1))
    return X, np.sign(rng.uniform(-1, 1, count)) * (5 + X[:, 0]) + rng.normal(0, 0.5, count)


def fitted():
    return quick("ne-gmm", continuous=True).fit(*rows(300))


def coverage(sets, y):
    return np.mean([np.any((region[:, 0] <= one) & (one <= region[:, 1])) for region, one in zip(sets, y, strict=True)])


def test_regions_are_exact():
    dist = Distribution.of_mixtures([[0.5, 0.5], [1.0, 0.0]], [[-20, 20], [3, 0]], [[1, 1], [2, 1]])
    two, one = dist.hdr(0.9)
    z = stats.norm.ppf(0.95)
    np.testing.assert_allclose(two, [[-20 - z, -20 + z], [20 - z, 20 + z]], rtol=1e-12)
    np.testing.assert_allclose(one, [[3 - 2 * z, 3 + 2 * z]], rtol=1e-12)


def test_calibrated_sets_have_their_coverage():
    model = fitted()
    with pytest.raises(ValueError, match="no conformal sets; call calibrate with rows that it was not fitted to"):
        model.predict_interval([[0.0]], 0.9, conformal=True)
    assert model.calibrate(*rows(400, 1)) is model
    assert model.guarantee(0.9).startswith(
        "at least 90 % on average; for this model at least 88 % with 90 % confidence"
    )
    X, y = rows(2000, 2)
    lower, upper = model.predict_interval(X, 0.9, conformal=True).T
    assert 0.85 < np.mean((lower <= y) & (y <= upper)) < 0.95
    assert 0.85 < coverage(model.predict_region(X, 0.9, conformal=True), y) < 0.95
    both = model.predict_interval(X, [0.5, 0.9], conformal=True)
    assert both.shape == (2000, 2, 2)
    np.testing.assert_array_equal(both[:, :, 1], np.stack([lower, upper], axis=1))
    with pytest.warns(FutureWarning, match="guaranteed is now called conformal"):
        np.testing.assert_array_equal(model.predict_interval(X, 0.9, guaranteed=True), np.stack([lower, upper], axis=1))
    plain = model.predict_region(X[:5], 0.9)
    np.testing.assert_array_equal(plain[0], model.predict_dist(X[:5]).hdr(0.9)[0])


def test_training_rows_are_no_calibration_rows():
    model, (X, y) = fitted(), rows(300)
    with pytest.warns(UserWarning, match="300 of the rows were in the training data: coverage is guaranteed only if"):
        model.calibrate(X, y)
    new_X, new_y = rows(50, 1)
    with pytest.warns(UserWarning, match="^1 of the rows was in the training data"):
        model.calibrate(np.concatenate([new_X, X[:1]]), np.append(new_y, y[0]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.calibrate(new_X, new_y)


def test_groups_and_weights(tmp_path):
    X, y = rows(300, 1)
    kind = np.where(np.arange(300) < 295, "often", "rare")
    model = fitted().calibrate(X, y, by=kind)
    guarantees = model.guarantee(0.9)
    assert guarantees["often"].startswith("at least 90 %") and guarantees["rare"].startswith("unbounded")
    ends = model.predict_interval(X[:3], 0.9, conformal=True, by=["often", "rare", "never"])
    assert np.isfinite(ends[0]).all() and np.isinf(ends[1:]).all()
    with pytest.raises(ValueError, match="expected 3 groups"):
        model.predict_interval(X[:3], 0.9, conformal=True)
    weighted = fitted().calibrate(X, y, sample_weight=np.ones(300))
    assert "if the weights are right" in weighted.guarantee(0.9)
    regions = weighted.predict_region(X[:2], 0.9, conformal=True, sample_weight=[1.0, 1e9])
    np.testing.assert_array_equal(regions[1], [[-np.inf, np.inf]])
    # The file keeps it.
    model.save(tmp_path / "m.negmm")
    again = type(model).load(tmp_path / "m.negmm")
    assert again.guarantee(0.9) == guarantees


def test_weights_towards_other_inputs():
    X, y = rows(600, 1)
    model = fitted()
    towards = X[X[:, 0] > 1]
    shifted = model.calibrate(X, y, towards=towards)
    low, high = shifted.predict_interval([[-2.5], [2.5]], 0.9, conformal=True)
    assert np.isfinite(high).all() and np.isfinite(low).all()
    weights = np.asarray(shifted.model_.shift_weights(shifted._rows(np.array([[-2.5], [2.5]]))))
    assert weights[0] < 0.1 and weights[1] > 2
    by_hand = fitted().calibrate(X, y, sample_weight=shifted.model_.shift_weights(shifted._rows(X)))
    np.testing.assert_allclose(
        by_hand.predict_interval([[2.5]], 0.9, conformal=True, sample_weight=weights[1:]), [high], rtol=1e-9
    )
    with pytest.raises(ValueError, match="weights are given by sample_weight, or estimated from the rows of towards"):
        model.calibrate(X, y, sample_weight=np.ones(600), towards=towards)


def test_with_too_few_rows_sets_are_unbounded():
    model = fitted().calibrate(*rows(8, 1))
    assert model.guarantee(0.9) == "unbounded: 90 % needs at least 9 rows, and there are 8"
    assert np.isinf(model.predict_interval([[0.0]], 0.9, conformal=True)).all()


def test_intervals_of_many_rows_are_computed_in_pieces(monkeypatch):
    X, y = rows(120)
    model = quick("ngboost").fit(X, y)
    whole = model.predict_interval(X, [0.5, 0.9])
    predicted = []
    predict_dist = type(model).predict_dist
    monkeypatch.setattr("negmm.conformal.AT_ONCE", 50)
    monkeypatch.setattr(type(model), "predict_dist", lambda self, X: predicted.append(len(X)) or predict_dist(self, X))
    np.testing.assert_array_equal(model.predict_interval(X, [0.5, 0.9]), whole)
    assert predicted == [50, 50, 20]
