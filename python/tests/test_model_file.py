"""Model files: Python and the command line read each other's, bit for bit."""

from __future__ import annotations

import numpy as np
import pandas
import pytest
from program import run
from quick import NAMES, QUICK, quick, rows
from sklearn.exceptions import NotFittedError

import negmm
from negmm.messages import option_of


def people(count: int = 80, seed: int = 0) -> pandas.DataFrame:
    """Numbers, text, missing cells, and a target called price."""
    rng = np.random.default_rng(seed)
    size, place = rng.normal(60, 20, count).round(3), rng.choice(["Oslo", "Łódź", "Rome"], count)
    frame = pandas.DataFrame({"size": size, "age": rng.integers(0, 90, count).astype(float), "place": place})
    frame["price"] = (3 * size + 50 * (place == "Oslo") + rng.normal(0, 9, count)).round(3)
    frame.loc[::9, "age"] = np.nan
    frame.loc[::11, "place"] = None
    return frame


def flags(name: str) -> list[str]:
    texts = quick(name)._options()
    given = {option_of(parameter) for parameter in QUICK[name]}
    return [word for option, text in texts if option in given for word in (f"--{option}", text)]


@pytest.mark.parametrize("name", NAMES)
def test_models_round_trip_to_the_last_bit(name, tmp_path):
    data, ours, theirs = tmp_path / "data.csv", tmp_path / "ours.negmm", tmp_path / "theirs.negmm"
    frame = people()
    frame.to_csv(data, index=False)
    X, y = frame.drop(columns="price"), frame["price"]
    model = quick(name, random_state=3).fit(X, y)
    model.save(ours)
    run("fit", data, "--target", "price", "-o", theirs, "--method", name, "--seed", 3, "--quiet", *flags(name))
    assert ours.read_bytes() == theirs.read_bytes()

    loaded = negmm.load(theirs)
    assert type(loaded) is type(model)
    assert loaded.predict_dist(X) == model.predict_dist(X)
    assert list(loaded.feature_names_in_) == ["size", "age", "place"]
    out = tmp_path / "out.csv"
    run("predict", ours, data, "-o", out, "--interval", 0.9, "--quantiles", 0.05, "--quiet")
    printed = pandas.read_csv(out, float_precision="round_trip")
    frame = model.predict_dist(X).to_pandas(interval=[0.9], quantiles=[0.05])
    pandas.testing.assert_frame_equal(printed, frame, check_exact=True)


@pytest.mark.parametrize("name", NAMES)
def test_a_loaded_estimator_is_the_saved_one(name, tmp_path):
    frame = people()
    X, y = frame[["size", "age"]], frame["price"]
    model = quick(name, random_state=11).fit(X, y)
    model.save(tmp_path / "model.negmm")
    loaded = type(model).load(str(tmp_path / "model.negmm"))
    own = {key: value for key, value in model.get_params().items() if value is not None}
    assert {key: value for key, value in loaded.get_params().items() if key in own} == own
    assert loaded.fit(X, y).model_.to_bytes() == model.model_.to_bytes()


def test_draws_are_those_of_the_command_line(tmp_path):
    frame = people()
    data, out = tmp_path / "data.csv", tmp_path / "out.csv"
    frame.to_csv(data, index=False)
    model = quick("ne-gmm").fit(frame.drop(columns="price"), frame["price"])
    model.save(tmp_path / "model.negmm")
    run("predict", tmp_path / "model.negmm", data, "--draws", 3, "--seed", 8, "-o", out, "--quiet")
    printed = pandas.read_csv(out, float_precision="round_trip").filter(like="draw").to_numpy()
    draws = model.predict_dist(frame.drop(columns="price")).rvs(size=(3, 80), random_state=8)
    np.testing.assert_array_equal(printed, draws.T)


def test_a_model_of_nameless_columns_predicts_nameless_columns(tmp_path, recwarn):
    X, y = rows(120)
    X = X[:, :2]
    quick("ngboost").fit(X, y).save(tmp_path / "model.negmm")
    loaded = negmm.load(tmp_path / "model.negmm")
    assert not hasattr(loaded, "feature_names_in_")
    assert loaded.n_features_in_ == 2
    expected = quick("ngboost").fit(X, y).predict(X)
    np.testing.assert_array_equal(loaded.predict(X), expected)
    assert not recwarn.list
    with pytest.raises(ValueError, match="X has 1 features, but NGBoostRegressor is expecting 2 features"):
        loaded.predict(X[:, :1])


def test_a_model_of_a_sequence_predicts(tmp_path):
    close = pandas.DataFrame({"close": 10 + np.sin(np.arange(60) / 3)})
    data, model, out = tmp_path / "close.csv", tmp_path / "model.negmm", tmp_path / "out.csv"
    close.to_csv(data, index=False)
    options = ["--method", "mdn", "--sequence", "close", "--window", 5, "--epochs", 5, "--lstm-hidden", 8, "--quiet"]
    run("fit", data, "--target", "close", "-o", model, *options)
    run("predict", model, data, "-o", out, "--quiet")
    dist = negmm.load(model).predict_dist(close)
    assert len(dist) == 60 - 5 + 1
    np.testing.assert_array_equal(pandas.read_csv(out, float_precision="round_trip")["mean"], dist.mean())


def test_invalid_model_files_are_refused(tmp_path):
    with pytest.raises(NotFittedError):
        quick("mdn").save(tmp_path / "model.negmm")
    with pytest.raises(FileNotFoundError):
        negmm.load(tmp_path / "none.negmm")
    with pytest.raises(IsADirectoryError):
        negmm.load(tmp_path)
    X, y = np.random.default_rng(0).normal(size=(30, 2)), np.arange(30.0)
    model = quick("mdn").fit(X, y)
    with pytest.raises(FileNotFoundError):
        model.save(tmp_path / "none" / "model.negmm")
    model.save(tmp_path / "model.negmm")
    with pytest.raises(ValueError, match="expected a model of NGBoostRegressor, found MDNRegressor"):
        negmm.NGBoostRegressor.load(tmp_path / "model.negmm")
    whole = (tmp_path / "model.negmm").read_bytes()
    assert [path.name for path in tmp_path.iterdir()] == ["model.negmm"]
    flipped = [whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :] for at in range(0, len(whole), 97)]
    for wrong in (b"", b"hello", whole[:4], whole[:1000], whole[:-1], b"x,y\n1,2\n", *flipped):
        (tmp_path / "bad").write_bytes(wrong)
        with pytest.raises(ValueError, match="bad: "):
            negmm.load(tmp_path / "bad")
