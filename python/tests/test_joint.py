"""Several targets at once."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.multioutput import MultiOutputRegressor

from negmm import Distribution, JointDistribution, JointRegressor, NEGMMRegressor
from negmm.scoring import BatchPredictor


def rows(count: int = 300, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Two targets around (x, -x) whose errors have a correlation of 0.8."""
    rng = np.random.default_rng(seed)
    x, common, own = rng.normal(size=(3, count))
    y = np.column_stack([x + 0.5 * common, -x + 0.5 * (0.8 * common + 0.6 * own)])
    return x[:, np.newaxis], y


def quick(**options: object) -> JointRegressor:
    return JointRegressor("ne-gmm", options={"epochs": 40, "hidden": [16], **options}, random_state=0)


def test_the_joint_distribution_has_the_dependence() -> None:
    x, y = rows(800)
    dist = quick().fit(x, y).predict_dist(x)
    assert isinstance(dist, JointDistribution) and dist.targets == ["y0", "y1"]
    assert dist.mean().shape == (800, 2) and dist.cov().shape == (800, 2, 2)
    assert abs(dist.corr()[:, 0, 1].mean() - 0.8) < 0.12
    difference = dist.linear([1, -1])
    assert isinstance(difference, Distribution)
    np.testing.assert_allclose(difference.mean(), dist.mean() @ [1, -1])
    np.testing.assert_allclose(dist.linear("d = y0 - y1").std(), difference.std())
    np.testing.assert_allclose(dist.linear({"y1": -1, "y0": 1}).std(), difference.std())
    variance = np.einsum("i,rij,j->r", [1, -1], dist.cov(), [1, -1])
    np.testing.assert_allclose(difference.var(), variance)
    conditional = dist.conditional({"y0": y[:, 0]})
    assert conditional.targets == ["y1"]
    assert conditional.std().mean() < 0.8 * dist.marginal("y1").std().mean()
    # p(y0, y1) = p(y0) p(y1 | y0)
    np.testing.assert_allclose(
        dist.logpdf(y), dist.marginal(0).logpdf(y[:, 0]) + conditional.logpdf(y[:, 1:]), rtol=1e-9
    )
    scores = dist.scores(y)
    assert scores["rows"] == 800 and 0 < scores["energy"] < 1


def test_draws_components_and_boxes_agree() -> None:
    x, y = rows()
    dist = quick().fit(x, y).predict_dist(x[:3])
    draws = dist.rvs(4000, random_state=1)
    assert draws.shape == (4000, 3, 2) and dist.rvs(random_state=1).shape == (3, 2)
    np.testing.assert_allclose(draws.mean(axis=0), dist.mean(), atol=0.1)
    probability, error = dist.probability({"y0": 0.0}, {"y1": 0.5})
    inside = ((draws[..., 0] > 0) & (draws[..., 1] <= 0.5)).mean(axis=0)
    np.testing.assert_allclose(probability, inside, atol=0.04)
    assert (error < 1e-3).all()
    weights, means, factors = dist.components()
    np.testing.assert_allclose(np.einsum("rk,rkt->rt", weights, means), dist.mean())
    assert factors.shape == (3, 8, 2, 2) and np.triu(factors[0, 0], 1).sum() == 0
    assert len(dist[:2]) == 2 and repr(dist[0]).startswith("<JointDistribution of 1 row, targets y0, y1")


def test_models_are_copied_pickled_and_saved(tmp_path) -> None:
    x, y = rows(120)
    model = quick(epochs=3).fit(x, y)
    expected = model.predict(x)
    assert expected.shape == (120, 2)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(x), expected)
    model.save(tmp_path / "joint.negmm")
    loaded = JointRegressor.load(tmp_path / "joint.negmm")
    np.testing.assert_array_equal(loaded.predict(x), expected)
    assert loaded.targets_ == ["y0", "y1"] and loaded.forms_ == [("joint networks", 1.0)]
    np.testing.assert_array_equal(clone(model).fit(x, y).predict(x), expected)
    with pytest.raises(ValueError, match="several targets, not of one"):
        NEGMMRegressor.load(tmp_path / "joint.negmm")


def test_frames_give_their_names_and_nan_is_a_target_that_is_not_known() -> None:
    pandas = pytest.importorskip("pandas")
    x, y = rows(120)
    y[::3, 0] = np.nan
    frame = pandas.DataFrame(y, columns=["y", "cost"], index=np.arange(120) + 5)
    with pytest.warns(UserWarning, match="40 of 120 rows lack some targets"):
        model = quick(epochs=3).fit(pandas.DataFrame({"x": x[:, 0]}), frame)
    dist = model.predict_dist(pandas.DataFrame({"x": x[:4, 0]}))
    assert dist.targets == ["y", "cost"]
    assert dist.linear("profit = y - cost").mean().shape == (4,)


def test_bad_input_has_a_clear_error() -> None:
    x, y = rows(60)
    with pytest.raises(ValueError, match="shape"):
        quick().fit(x, np.zeros((60, 0)))
    with pytest.raises(ValueError, match="are identical: leave one out"):
        quick().fit(x, np.column_stack([y[:, 0], y[:, 0]]))
    with pytest.raises(ValueError, match="predicts one target: for several use"):
        JointRegressor("ngboost").fit(x, y)
    dist = quick(epochs=2).fit(x, y).predict_dist(x)
    with pytest.raises(ValueError, match="'z' is not a target"):
        dist.marginal("z")
    with pytest.raises(ValueError, match="nothing is left to predict"):
        dist.conditional({0: 1.0, 1: 2.0})
    with pytest.raises(ValueError, match="expected shape"):
        dist.logpdf(y[:, 0])


def test_one_target_may_have_one_dimension() -> None:
    x, y = rows(80)
    flat, column = quick(epochs=3).fit(x, y[:, 0]), quick(epochs=3).fit(x, y[:, :1])
    assert flat.predict(x).shape == (80,) and column.predict(x).shape == (80, 1)
    np.testing.assert_array_equal(flat.predict(x), column.predict(x)[:, 0])
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(flat)).predict(x), flat.predict(x))


def test_regions_are_conformal_after_calibration() -> None:
    x, y = rows(900)
    model = quick(epochs=5).fit(x[:300], y[:300])
    dist = model.predict_dist(x[600:])
    border, volume = dist.region(0.9)
    assert border.shape == (300,) and (volume > 0).all()
    held = dist.contains(y[600:], border).mean()
    distance, _ = dist.region(0.5, kind="ellipsoid")
    assert 0.2 < dist.contains(y[600:], distance, kind="ellipsoid").mean() < held
    with pytest.raises(ValueError, match="has no calibration"):
        model.conformal_region(x)
    model.calibrate(x[300:600], y[300:600])
    for kind in ("density", "ellipsoid"):
        border, _ = model.conformal_region(x[600:], 0.9, kind=kind)
        assert abs(dist.contains(y[600:], border, kind=kind).mean() - 0.9) < 0.06
        assert "at least 90 % on average" in model.guarantees(0.9, kind=kind)[""]
    with pytest.raises(ValueError, match="density or ellipsoid"):
        dist.region(0.9, kind="box")


def test_batches_of_arrow_are_scored(tmp_path) -> None:
    pa = pytest.importorskip("pyarrow")
    x, y = rows(100)
    model = quick(epochs=3).fit(x, y)
    model.save(tmp_path / "joint.negmm")
    batch = pa.record_batch({"x0": x[:5, 0], "y0": y[:5, 0], "id": list("abcde")})
    asked = {"combine": "s = y0 + y1", "interval": 0.9, "correlation": True, "joint_region": 0.5}
    predictor = BatchPredictor(str(tmp_path / "joint.negmm"), keep=["id"], **asked)
    scored = predictor(batch)
    assert scored.schema.names == ["id", *predictor.names]
    dist = model.predict_dist(x[:5])
    np.testing.assert_allclose(scored.column("s_mean").to_numpy(), dist.linear("s = y0 + y1").mean())
    np.testing.assert_allclose(scored.column("joint_region_0.5_log_density").to_numpy(), dist.region(0.5)[0])
    given = BatchPredictor(model, given="y0")(batch)
    expected = dist.conditional({"y0": y[:5, 0]}).mean()[:, 0]
    np.testing.assert_allclose(given.column("y1_mean").to_numpy(), expected)
    with pytest.raises(ValueError, match="found none called y0"):
        BatchPredictor(model, given="y0")(pa.record_batch({"x0": x[:5, 0]}))


def test_onnx_graphs_have_the_same_answers(tmp_path) -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    x, y = rows(200)
    y[:, 1] = np.round(4 * y[:, 1]) / 4
    model = quick(epochs=5).fit(x, y)
    model.to_onnx(tmp_path / "joint.onnx")
    session = onnxruntime.InferenceSession(str(tmp_path / "joint.onnx"))
    levels = np.array([0.1, 0.5, 0.9])
    names = ["weights", "means", "factors", "mean", "sd", "quantiles"]
    found = dict(zip(names, session.run(names, {"x0": x[:40], "levels": levels}), strict=True))
    dist = model.predict_dist(x[:40])
    weights, means, factors = dist.components()
    np.testing.assert_allclose(found["weights"], weights, atol=1e-5)
    np.testing.assert_allclose(found["means"], means, rtol=1e-4, atol=1e-4)
    below = np.tril_indices(2)
    np.testing.assert_allclose(found["factors"], factors[:, :, below[0], below[1]], rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(found["mean"], dist.mean(), rtol=1e-4, atol=1e-4)
    sds = np.column_stack([dist.marginal(target).std() for target in range(2)])
    np.testing.assert_allclose(found["sd"], sds, rtol=1e-4, atol=1e-4)
    first = np.column_stack([dist.marginal(0).ppf(level) for level in levels])
    np.testing.assert_allclose(found["quantiles"][:, 0], first, rtol=1e-3, atol=1e-3)


def test_it_follows_the_conventions_of_multioutput_regressors() -> None:
    x, y = rows(200)
    tags = JointRegressor().__sklearn_tags__()
    assert tags.target_tags.multi_output and tags.target_tags.single_output
    ours = quick().fit(x, y)
    theirs = MultiOutputRegressor(NEGMMRegressor(epochs=40, hidden=[16])).fit(x, y)
    assert ours.predict(x).shape == theirs.predict(x).shape
    assert abs(ours.score(x, y) - theirs.score(x, y)) < 0.1
