"""Models that go on learning from new rows, and rows that choose when to stop."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas
import pytest
from quick import quick, rows

import negmm

NETWORKS = ["ne-gmm", "mdn", "beta-nll", "sample-net", "ensemble"]
#: As many as a test can wait for.
TRAINING = {"hidden": (32,), "epochs": 60, "learning_rate": 0.01}


def drifting(count: int, part: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of a time between 0 and 1 at which the second input's effect has turned round by that part; where the third is
    negative nothing changes, and such rows are rare late."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(count, 3))
    if part > 0:
        X[:, 2] = np.abs(X[:, 2])
    slope = np.where(X[:, 2] < 0, 2.0, 2.0 - 4.0 * part)
    return X, X[:, 0] + slope * X[:, 1] + 0.3 * (1 + (X[:, 0] > 0)) * rng.normal(size=count)


def crps(model: negmm.DistributionRegressor, X: np.ndarray, y: np.ndarray) -> float:
    return float(np.mean(model.predict_dist(X).crps(y)))


def test_on_drifting_rows_an_update_is_nearly_as_good_as_a_new_fit():
    (old, old_y), (new, new_y) = drifting(1500, 0.0, 1), drifting(400, 0.25, 2)
    later, early = drifting(2000, 0.25, 3), drifting(2000, 0.0, 4)
    early = (early[0][early[0][:, 2] < 0], early[1][early[0][:, 2] < 0])
    model = negmm.BetaNLLRegressor(**TRAINING).fit(old, old_y)
    stale = crps(model, *later)
    kept = np.random.default_rng(0).choice(1500, 400, replace=False)
    updated = negmm.BetaNLLRegressor(**TRAINING).fit(old, old_y)
    updated.update(new, new_y, replay=(old[kept], old_y[kept]), replay_weight=0.2)
    weights = np.concatenate([np.full(400, 0.2), np.ones(400)])
    fresh = negmm.BetaNLLRegressor(**TRAINING)
    fresh.fit(np.concatenate([old[kept], new]), np.concatenate([old_y[kept], new_y]), sample_weight=weights)
    newest = negmm.BetaNLLRegressor(**TRAINING).fit(new, new_y)
    found = crps(updated, *later)
    assert found < 0.6 * stale, (found, stale)
    assert found < 1.05 * crps(fresh, *later), (found, crps(fresh, *later))
    # A fit to the new rows alone is a little better there, and useless where they are silent.
    assert found < 1.15 * crps(newest, *later), (found, crps(newest, *later))
    assert crps(updated, *early) < 0.8 * crps(newest, *early)
    # What is not in the new rows is not forgotten, as it is without old ones.
    alone = negmm.BetaNLLRegressor(**TRAINING).fit(old, old_y).update(new, new_y)
    assert crps(updated, *early) < 0.8 * crps(alone, *early)


@pytest.mark.parametrize("name", NETWORKS)
def test_an_update_starts_from_the_fitted_networks(name):
    X, y = rows(200)
    model = quick(name).fit(X, y)
    before, record = model.predict(X), model.record_
    model.update(X[:60], y[:60], epochs=1, learning_rate=1e-9)
    np.testing.assert_allclose(model.predict(X), before, atol=1e-4)
    assert model.record_["rows"] == 60 and record["rows"] == 200
    model.update(X[:60], y[:60] + 1.0, epochs=30)
    assert 0.5 < np.mean(model.predict(X[:60]) - before[:60]) < 1.5
    assert model.get_params()["epochs"] == quick(name).epochs
    assert len(model.held_out_.rows) < 60 and model.held_out_.rows.max() < 60


def test_the_same_bits_on_threads_and_elsewhere():
    X, y = rows(150)
    text = pandas.DataFrame(X, columns=["a", "b", "c"]).assign(place=np.where(X[:, 0] > 0, "Oslo", "Rome"))

    def updated(**more: object) -> bytes:
        model = quick("ensemble", n_jobs=more.pop("n_jobs", None)).fit(text, pandas.Series(y, name="price"))
        return model.update(text[:50], y[:50] + 1, replay=(text[50:], y[50:]), replay_weight=0.3, **more).model_.to_bytes()

    here = updated()
    assert updated(n_jobs=2) == here
    with ThreadPoolExecutor(2) as executor:
        assert updated(executor=executor) == here
    assert negmm.NEGMMRegressor(epochs=2).fit(text, y).update(text.iloc[:9], y[:9]).model_.to_bytes() != here


def test_what_cannot_go_on_learning_is_refused():
    X, y = rows()
    for name, message in (("auto", "auto is a pool of folds"), ("ngboost", "has no networks"), ("constant", "no networks")):
        with pytest.raises(ValueError, match=message):
            quick(name).fit(X, y).update(X, y)
    model = quick("mdn", lower=-20).fit(X, y)
    with pytest.raises(ValueError, match="the target must be from -20 to inf, as in training, found -21"):
        model.update(X, y - 21 - y[0])
    with pytest.raises(ValueError, match="replay_weight must be a number, at least 0"):
        model.update(X, y, replay=(X, y), replay_weight=-1)
    with pytest.raises(ValueError, match="has 2 features"):
        model.update(X[:, :2], y)
    with pytest.raises(ValueError, match="y has censored targets, and those of the fit are not"):
        model.update(X, np.stack([y, np.full(len(y), np.inf)], axis=1), censoring="interval")
    assert len(model.predict(X)) == len(X)


def test_censored_and_weighted_rows_are_updated():
    X, y = rows()
    ends = np.stack([y, np.where(np.arange(120) % 3, y, np.inf)], axis=1)
    model = quick("mdn").fit(X, ends, censoring="interval")
    model.update(X, y, replay=(X, ends), sample_weight=np.ones(120), censoring=None)
    assert model.record_["rows"] == 240


@pytest.mark.parametrize("name", [*NETWORKS, "ngboost"])
def test_rows_that_choose_when_to_stop(name):
    (X, y), (X_more, y_more) = rows(), rows(80, seed=1)
    model = quick(name).fit(X, y, eval_set=(X_more, y_more), stop_on_eval_set=True)
    assert model.record_["validation_rows"] == 80 and model.record_["rows"] == 200
    held_out = model.held_out_
    assert held_out.rows.tolist() == list(range(120, 200))
    np.testing.assert_array_equal(held_out.y, y_more)
    if name != "ngboost":
        np.testing.assert_allclose(held_out.dist.mean(), model.predict(X_more))
    # Other rows choose another checkpoint.
    other = quick(name).fit(X, y, eval_set=(X_more, y_more[::-1].copy()), stop_on_eval_set=True)
    assert (other.predict(X) != model.predict(X)).any()


def test_one_eval_set_is_needed_to_stop():
    X, y = rows()
    with pytest.raises(ValueError, match="auto holds out every row in turn"):
        quick("auto").fit(X, y, eval_set=(X, y), stop_on_eval_set=True)
    with pytest.raises(ValueError, match=r"needs one eval_set=\(X, y\), found 0"):
        quick("mdn").fit(X, y, stop_on_eval_set=True)
    with pytest.raises(ValueError, match="y has censored targets, and those of the fit are not"):
        both = np.stack([y, np.full(len(y), np.inf)], axis=1)
        quick("mdn").fit(X, y, eval_set=(X, both), stop_on_eval_set=True, censoring=None)
