"""Forecasts of frames in the long format: the same as on the command line, and through sktime."""

from __future__ import annotations

import pickle
import subprocess

import numpy as np
import pandas as pd
import pytest
from program import program

from negmm import Forecaster

QUICK = {"hidden": (16,), "steps": 200}


def hours(count: int = 24 * 14) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    load = 100 + 30 * np.sin(np.arange(count) * 2 * np.pi / 24) + rng.normal(size=count)
    return pd.DataFrame({"ds": pd.date_range("2024-01-01", periods=count, freq="h"), "y": load})


def many() -> pd.DataFrame:
    return pd.concat([hours().assign(unique_id="a"), hours().assign(unique_id="b", y=lambda frame: 10 * frame["y"])])


def test_a_frame_of_many_series():
    frame = many()
    forecaster = Forecaster(h=24, **QUICK).fit(frame)
    assert forecaster.seasons_ == [24]
    forecasts = forecaster.predict(level=[80, 95], quantiles=[0.1])
    names = ["unique_id", "ds", "step", "mean", "sd", "lo-80", "hi-80", "lo-95", "hi-95", "q0.1"]
    assert forecasts.columns.tolist() == names
    assert forecasts["unique_id"].tolist() == ["a"] * 24 + ["b"] * 24
    assert forecasts["ds"].iloc[0] == pd.Timestamp("2024-01-15 00:00")
    assert forecasts["ds"].iloc[-1] == pd.Timestamp("2024-01-15 23:00")
    truth = 100 + 30 * np.sin((24 * 14 + np.arange(24)) * 2 * np.pi / 24)
    assert np.abs(forecasts["mean"][:24] - truth).mean() < 3
    assert np.allclose(forecasts["lo-80"], forecasts["q0.1"])
    dist = forecaster.predict_dist()
    assert np.array_equal(dist.mean(), forecasts["mean"])
    paths = forecaster.simulate(paths=7, random_state=1)
    assert paths.shape == (48, 3 + 7)
    assert paths.equals(forecaster.simulate(paths=7, random_state=1))
    assert not paths.equals(forecaster.simulate(paths=7, random_state=2))


def test_scores_by_step_beside_naive_forecasts():
    frame = hours()
    forecaster = Forecaster(h=6, **QUICK).fit(frame.iloc[:-48])
    scores = forecaster.evaluate(frame, test_size=48)
    overall = scores[scores["step"].isna()].set_index("name")
    assert overall.loc["forecast", "crps"] < 0.8 * overall.loc["last value", "crps"]
    assert scores["step"].dropna().tolist() == list(range(1, 7))
    inside = forecaster.predict(frame, test_size=12, stride=6)
    assert inside.columns.tolist() == ["cutoff", "ds", "step", "mean", "sd"]
    assert len(inside) == 12


def test_the_command_line_gives_the_same_forecasts(tmp_path):
    frame = many()
    frame.to_csv(tmp_path / "m.csv", index=False)
    run = [program(), "fit", "m.csv", "--sequence", "y", "--series", "unique_id", "--time", "ds", "--horizon", "3"]
    options = ["--hidden", "16", "--steps", "200", "-o", "m.negmm"]
    subprocess.run([*run, *options], cwd=tmp_path, check=True, capture_output=True)
    forecaster = Forecaster(h=3, **QUICK).fit(pd.read_csv(tmp_path / "m.csv", float_precision="round_trip"))
    forecaster.save(tmp_path / "p.negmm")
    assert (tmp_path / "p.negmm").read_bytes() == (tmp_path / "m.negmm").read_bytes()
    loaded = Forecaster.load(tmp_path / "m.negmm")
    assert loaded.predict(frame).equals(forecaster.predict())
    with pytest.raises(ValueError, match="needs the past of its series"):
        loaded.predict()
    again = pickle.loads(pickle.dumps(forecaster))
    assert again.predict(frame).equals(forecaster.predict())


def test_invalid_input_is_refused():
    frame = hours()
    with pytest.raises(ValueError, match="sort the rows by time"):
        Forecaster(**QUICK).fit(frame.iloc[::-1].reset_index(drop=True))
    with pytest.raises(ValueError, match="horizon must be from 1 to 1000"):
        Forecaster(h=0, **QUICK).fit(frame)
    with pytest.raises(ValueError, match="expected a frame"):
        Forecaster(**QUICK).fit(np.zeros((3, 2)))
    with pytest.raises(ValueError, match="there is no column"):
        Forecaster(target_col="load", **QUICK).fit(frame)
