"""Censored targets: their representations, fits and scores."""

from __future__ import annotations

import warnings

import external
import numpy as np
import pytest
from quick import quick
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import negmm
from negmm import load, metrics
from negmm.censored import censored_bounds


def times(count: int = 400, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """An input, targets around twice of it, what is seen of them below a limit, and whether that is all."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1, size=(count, 1))
    y = 2 * x[:, 0] + 0.5 * rng.normal(size=count)
    limit = rng.uniform(-0.2, 1.0, size=count)
    return x, y, np.minimum(y, limit), y <= limit


def structured(seen: np.ndarray, known: np.ndarray) -> np.ndarray:
    y = np.empty(len(seen), dtype=[("event", bool), ("time", np.float64)])
    y["event"], y["time"] = known, seen
    return y


def test_all_formats_of_targets_give_the_same_model():
    pd = external.module("pandas")
    x, _, seen, known = times()
    columns = np.column_stack([seen, np.where(known, seen, np.inf)])
    model = quick("mdn").fit(x, columns)
    dist = model.predict_dist(x)
    for y in (structured(seen, known), columns.tolist(), pd.DataFrame(columns, columns=["low", "high"])):
        assert quick("mdn").fit(x, y).predict_dist(x) == dist
    assert model.record_["validation"]["censored"]["nll"] < model.record_["baseline"]["censored"]["nll"]


def test_censored_targets_are_learnt():
    x, y, seen, known = times(1500)
    assert 0.25 < 1 - known.mean() < 0.5
    late = x[:, 0] > 0.3
    error = {}
    for name, targets in (("cut", seen), ("known", structured(seen, known))):
        predicted = quick("mdn", epochs=150).fit(x, targets).predict(x)
        error[name] = abs(predicted[late].mean() - y[late].mean())
    assert error["known"] < error["cut"] / 3


def test_censored_targets_have_scores_everywhere():
    x, _, seen, known = times()
    y = structured(seen, known)
    columns = np.column_stack([seen, np.where(known, seen, np.inf)])
    model = quick("mdn").fit(x, y, eval_set=(x[:99], y[:99]))
    dist = model.predict_dist(x)
    scores = metrics.log_score(y, dist=dist)
    np.testing.assert_allclose(scores[known], dist.nll(seen)[known])
    np.testing.assert_allclose(scores[~known], -np.log(dist.sf(seen))[~known])
    np.testing.assert_array_equal(metrics.log_score(columns, dist=dist), scores)
    # That of the record, of rows that were held out.
    held_out = model.held_out_
    own = metrics.log_score(y[held_out.rows], dist=held_out.dist, average=True)
    assert own == pytest.approx(model.record_["validation"]["censored"]["nll"])
    assert set(model.evals_result_["eval 0"]) == {"nll", "concordance"}
    assert model.evals_result_["eval 0"]["nll"] == [pytest.approx(scores[:99].mean())]
    assert model.evals_result_["eval 0"]["concordance"][0] > 0.7
    # Searches and cross-validation.
    assert metrics.neg_nll(model, x, y) == pytest.approx(-scores.mean())
    found = cross_val_score(quick("mdn"), x, y, cv=3, scoring="neg_log_likelihood")
    bounds = cross_val_score(
        quick("mdn"), x, columns, cv=3, scoring="neg_log_likelihood", params={"censoring": "interval"}
    )
    assert np.isfinite(found).all() and (found == bounds).all()
    search = GridSearchCV(quick("mdn"), {"epochs": [1, 60]}, cv=2, scoring="neg_log_likelihood").fit(x, y)
    assert search.best_params_ == {"epochs": 60}
    with pytest.raises(ValueError, match="score by neg_log_likelihood"):
        metrics.neg_crps(model, x, y)
    with pytest.raises(ValueError, match="y is censored: negmm.metrics has log_score"):
        negmm.evaluate(y, dist=dist)
    with pytest.raises(ValueError, match="calibrate needs observed targets"):
        model.calibrate(x, y)


def test_small_probabilities_of_intervals_keep_their_digits():
    dist = negmm.Distribution.of_mixtures([[1.0]] * 2, [[0.0]] * 2, [[1.0]] * 2)
    found = metrics.log_score([[20.0, 21.0], [-21.0, -20.0]], dist=dist)
    np.testing.assert_allclose(found, -dist.logsf(20.0), rtol=1e-6)


def test_intervals_with_two_ends():
    x, y, _, _ = times(600)
    lower = np.floor(2 * y) / 2
    model = quick("mdn").fit(x, np.column_stack([lower, lower + 0.5]), sample_weight=np.ones(len(y)))
    assert abs(model.predict(x).mean() - y.mean()) < 0.1
    assert "integrated_brier" not in (model.record_["validation"] or {}).get("censored", {})


def test_targets_that_are_all_known_are_those_of_one_column():
    x, y, _, _ = times()
    both = quick("mdn").fit(x, np.column_stack([y, y]))
    assert np.allclose(both.predict(x), quick("mdn").fit(x, y).predict(x))
    assert both.record_["validation"]["censored"]["share"] == 0


def test_the_model_file_keeps_the_columns(tmp_path):
    x, _, seen, known = times()
    model = quick("mdn").fit(x, structured(seen, known))
    model.save(tmp_path / "m.negmm")
    assert load(tmp_path / "m.negmm").predict_dist(x) == model.predict_dist(x)
    assert model._description()["target"] == "time"


def test_column_names_may_equal_those_of_the_target():
    pd = external.module("pandas")
    x, _, seen, known = times()
    frame = pd.DataFrame({"censored": x[:, 0], "time": x[:, 0] ** 2})
    model = quick("mdn").fit(frame, structured(seen, known))
    assert list(model.feature_names_in_) == ["censored", "time"] and model._description()["features"] == 2


#: The numbers of the core's tests, by lifelines 0.30.3 and scikit-survival 0.28.
TIME = np.array([2, 3, 3, 5, 5, 7, 8, 8, 11, 12, 14, 15], dtype=np.float64)
EVENT = np.array([1, 1, 0, 1, 0, 0, 1, 1, 0, 1, 0, 1], dtype=bool)
MEAN = np.array([3, 2, 6, 4, 9, 8, 8, 4, 12, 9, 10, 12], dtype=np.float64)


def test_scores_are_those_of_other_packages():
    assert metrics.concordance(structured(TIME, EVENT), MEAN) == pytest.approx(0.9615384615384616, abs=1e-15)
    apart = TIME + 0.5 * ((TIME < 6) & ~EVENT)
    times = np.array([2.5, 4, 6, 9, 13])
    dist = metrics.Distribution.of_mixtures(np.ones((12, 1)), MEAN[:, None], np.linspace(1, 3.2, 12)[:, None])
    survival = dist.sf(times[:, np.newaxis]).T
    score = metrics.integrated_brier(structured(apart, EVENT), survival, times)
    assert score == pytest.approx(0.08937558521038758, abs=1e-12)


def test_a_weight_counts_as_repeated_rows():
    counts = np.arange(12) % 3 + 1
    again = [np.repeat(part, counts, axis=0) for part in (structured(TIME, EVENT), MEAN)]
    weighted = metrics.concordance(structured(TIME, EVENT), MEAN, sample_weight=counts)
    assert weighted == pytest.approx(metrics.concordance(*again))
    assert np.isnan(metrics.concordance([[1.0, np.inf], [2.0, np.inf]], [1.0, 2.0]))
    assert metrics.concordance([1.0, 2.0], [1.0, 2.0]) == 1.0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: metrics.concordance([[1.0, 1.0]], [1.0, 2.0]), "expected 2 lower and 2 upper ends"),
        (lambda: metrics.concordance([[2.0, 1.0]], [1.0]), "row 0: y expects a lower bound that is at most the upper, one of them finite"),
        (lambda: metrics.integrated_brier([[1.0, 1.0]], [0.5], [1.0, 2.0]), "rows × times"),
        (lambda: metrics.integrated_brier([[1.0, 1.0]], [[0.5]], [1.0, 2.0]), "expected 1 times, found 2"),
        (lambda: metrics.integrated_brier([[1.0, 1.0]], [[0.5, 0.5]], [2.0, 1.0]), "ascending"),
        (lambda: metrics.integrated_brier([[1.0, 1.5]], [[0.5, 0.5]], [1.0, 2.0]), "an interval with two ends"),
        (lambda: censored_bounds(np.zeros(2, dtype=[("a", bool), ("b", bool)])), "a field of bool"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_two_columns_are_taken_as_bounds_with_a_warning():
    x, _, seen, known = times(120)
    columns = np.column_stack([seen, np.where(known, seen, np.inf)])
    with pytest.warns(UserWarning, match="y has two columns, which are taken as the lower and upper bound"):
        model = quick("constant").fit(x, columns)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = quick("constant").fit(x, columns, censoring="interval")
    assert model.predict_dist(x) == again.predict_dist(x)
    with pytest.raises(ValueError, match="needs a y of two columns"):
        quick("constant").fit(x, seen, censoring="interval")
    with pytest.raises(ValueError, match='censoring must be "interval", "left" or None'):
        quick("constant").fit(x, columns, censoring="right")


def below_a_limit(count: int = 400) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """As :func:`times`, mirrored: what lies below the limit is hidden."""
    x, y, seen, known = times(count)
    return -x, -y, -seen, known


def test_left_censored_targets_are_learnt():
    x, y, seen, known = below_a_limit(1500)
    columns = np.column_stack([np.where(known, seen, -np.inf), seen])
    low = x[:, 0] < -0.3
    model = quick("mdn", epochs=150).fit(x, structured(seen, known), censoring="left")
    again = quick("mdn", epochs=150).fit(x, columns, censoring="interval")
    cut = quick("mdn", epochs=150).fit(x, seen)
    assert model.predict_dist(x) == again.predict_dist(x)
    error = {name: abs(each.predict(x)[low].mean() - y[low].mean()) for name, each in (("left", model), ("cut", cut))}
    assert error["left"] < error["cut"] / 3


def test_left_censored_targets_have_scores():
    x, _, seen, known = below_a_limit()
    y, columns = structured(seen, known), np.column_stack([np.where(known, seen, -np.inf), seen])
    model = quick("mdn").fit(x, y, censoring="left", eval_set=(x, y))
    dist = model.predict_dist(x)
    expected = np.where(known, dist.nll(seen), -dist.logcdf(seen))
    np.testing.assert_allclose(metrics.log_score(y, dist=dist, censoring="left"), expected)
    np.testing.assert_allclose(metrics.log_score(columns, dist=dist), expected)
    assert model.evals_result_["eval 0"]["nll"] == [pytest.approx(expected.mean())]
    concordance = metrics.concordance(y, dist.median(), censoring="left")
    assert model.evals_result_["eval 0"]["concordance"] == [concordance] and concordance > 0.7
    # Read as right-censored, the score is another one.
    assert metrics.log_score(y, dist=dist).mean() != pytest.approx(expected.mean(), rel=0.01)
    compared = negmm.compare(x, y, ["mdn", "constant"], folds=2, censoring="left").table
    assert {"nll", "concordance"} <= set(compared.columns.get_level_values(0))
    model.update(x, y, censoring="left", epochs=2)
    with pytest.raises(ValueError, match="found a left-censored one"):
        metrics.integrated_brier(columns, np.full((len(y), 2), 0.5), [0.0, 1.0])
    with pytest.raises(ValueError, match='censoring="left" needs a structured y'):
        quick("mdn").fit(x, columns, censoring="left")


def test_scorers_know_that_targets_are_left_censored():
    x, _, seen, known = below_a_limit()
    y, columns = structured(seen, known), np.column_stack([np.where(known, seen, -np.inf), seen])
    model = quick("mdn").fit(x, y, censoring="left")
    expected = -metrics.log_score(columns, dist=model.predict_dist(x), average=True)
    assert metrics.neg_nll(model, x, y) == metrics.neg_nll(model, x, columns) == expected
    pipe = make_pipeline(StandardScaler(), quick("mdn")).fit(x, y, mdnregressor__censoring="left")
    assert metrics.neg_nll(pipe, x, y) == metrics.neg_nll(pipe, x, columns)
    search = GridSearchCV(quick("mdn"), {"epochs": [1, 60]}, cv=2, scoring="neg_log_likelihood")
    assert search.fit(x, y, censoring="left").best_params_ == {"epochs": 60}
    assert metrics.neg_nll(search, x, y) == metrics.neg_nll(search, x, columns)
