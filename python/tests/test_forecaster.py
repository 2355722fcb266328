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


def test_an_index_of_times_is_the_time_column():
    frame = hours().set_index("ds")
    by_column = Forecaster(h=3, **QUICK).fit(hours()).predict(level=[80])
    forecasts = Forecaster(h=3, **QUICK).fit(frame).predict(level=[80])
    assert isinstance(forecasts.index, pd.DatetimeIndex) and forecasts.index.name == "ds"
    assert forecasts.reset_index()["mean"].equals(by_column["mean"])
    assert forecasts.index[0] == pd.Timestamp("2024-01-15")
    # Gaps are gaps, and rows that are not in order are refused or sorted.
    with pytest.warns(UserWarning, match="have gaps in one place"):
        Forecaster(h=3, **QUICK).fit(frame.drop(frame.index[100:105]))
    with pytest.raises(ValueError, match="sort the rows by time"):
        Forecaster(h=3, **QUICK).fit(frame.iloc[::-1])
    assert Forecaster(h=3, sort=True, **QUICK).fit(frame.iloc[::-1]).predict().equals(forecasts[["step", "mean", "sd"]])
    series = Forecaster(h=3, **QUICK).fit(hours().set_index("ds")["y"])
    assert series.predict()["mean"].tolist() == forecasts["mean"].tolist()
    panel = many().set_index(["unique_id", "ds"])
    indexed = Forecaster(h=3, **QUICK).fit(panel).predict()
    assert indexed.index.names == ["unique_id", "ds"] and indexed.loc["b"].shape == (3, 3)


def test_periods_and_zones_come_back():
    months = pd.period_range("2015-01", periods=60, freq="M")
    frame = pd.DataFrame({"y": 10 + np.arange(60) % 12}, index=months)
    forecasts = Forecaster(h=2, **QUICK).fit(frame).predict()
    assert list(forecasts.index) == [pd.Period("2020-01", "M"), pd.Period("2020-02", "M")]
    # Berlin puts its clocks back on 2024-10-27; the peak is at noon on the wall.
    times = pd.date_range("2024-10-10", periods=24 * 25, freq="h", tz="Europe/Berlin")
    zoned = pd.DataFrame({"ds": times, "y": np.where(times.hour == 12, 100.0, 10.0) + np.arange(len(times)) % 3})
    with pytest.warns(UserWarning, match="clocks were put back"):
        forecaster = Forecaster(h=24, seasonal_periods=24, **QUICK).fit(zoned)
    forecasts = forecaster.predict()
    assert str(forecasts["ds"].dt.tz) == "Europe/Berlin"
    assert forecasts["ds"].iloc[0] == times[-1] + pd.Timedelta("1h")
    assert forecasts.loc[forecasts["mean"].idxmax(), "ds"].hour == 12


def test_identifiers_keep_their_type():
    frame = many().assign(unique_id=lambda frame: frame["unique_id"].map({"a": 7, "b": 12}))
    forecasts = Forecaster(h=2, **QUICK).fit(frame).predict()
    assert forecasts["unique_id"].tolist() == [7, 7, 12, 12] and forecasts["unique_id"].dtype == frame["unique_id"].dtype
    with pytest.raises(ValueError, match='there is no column "shop", which id_col names'):
        Forecaster(h=2, id_col="shop", **QUICK).fit(frame)
    with pytest.raises(ValueError, match='there is no column "day", which time_col names'):
        Forecaster(h=2, time_col="day", **QUICK).fit(frame)


def test_the_callers_frame_is_not_kept():
    frame = hours()
    forecaster = Forecaster(h=2, **QUICK).fit(frame)
    before = forecaster.predict()
    frame["y"] = 0.0
    assert forecaster.predict().equals(before)


def test_what_is_loaded_has_its_settings(tmp_path):
    days = pd.DataFrame({"date": ["2024-01-06"], "name": ["feast"]})
    given = {"lower": 0, "sort": True, "holidays": days, "continuous": True, "preset": "fast", "random_state": 3}
    forecaster = Forecaster(h=2, **given, **QUICK).fit(hours())
    forecaster.save(tmp_path / "h.negmm")
    loaded = Forecaster.load(tmp_path / "h.negmm")
    kept = loaded.get_params()
    assert (kept["h"], kept["lower"], kept["sort"], kept["preset"], kept["random_state"]) == (2, 0, True, "fast", 3)
    assert kept["hidden"] == (16,) and kept["steps"] == 200 and kept["continuous"] is True
    assert loaded.fit(hours()).predict().equals(forecaster.predict())


def test_a_hierarchy_adds_up():
    frame = many().assign(region="north")
    forecaster = Forecaster(h=2, hierarchy=("region", "unique_id"), **QUICK).fit(frame)
    forecasts = forecaster.predict()
    assert forecasts["region"].tolist() == ["(all)"] * 2 + ["north"] * 6
    means = forecasts["mean"].to_numpy().reshape(4, 2)
    assert np.allclose(means[0], means[2] + means[3]) and np.allclose(means[1], means[0])
    paths = forecaster.simulate(paths=5).filter(like="path_").to_numpy().reshape(4, 2, 5)
    assert np.allclose(paths[0], paths[2] + paths[3])
    scores = forecaster.evaluate(frame, test_size=8)
    assert scores.attrs["energy_score"]["origins"] == 4


def test_a_backtest_has_forecasts_beside_observed_values():
    frame = many()
    forecaster = Forecaster(h=6, **QUICK).fit(frame)
    tested = forecaster.backtest(frame, test_size=12, level=[80])
    assert tested.columns.tolist() == ["unique_id", "cutoff", "ds", "step", "y", "mean", "sd", "lo-80", "hi-80"]
    assert len(tested) == 2 * 12
    joined = tested.merge(frame, on=["unique_id", "ds"])
    assert (joined["y_x"] == joined["y_y"]).all()
    assert tested["cutoff"].iloc[0] == tested["ds"].iloc[0] - pd.Timedelta("1h")


def test_networks_are_trained_by_an_executor():
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(2) as executor:
        elsewhere = Forecaster(h=2, **QUICK).fit(hours(), executor=executor)
    assert elsewhere.predict().equals(Forecaster(h=2, **QUICK).fit(hours()).predict())


def test_progress_shows_series(capsys):
    Forecaster(h=2, verbose=1, **QUICK).fit(many())
    shown = capsys.readouterr().err
    assert "series" in shown and "networks" in shown


def test_a_plot_has_history_and_fan():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    forecaster = Forecaster(h=6, **QUICK).fit(many())
    axes = forecaster.plot()
    assert [ax.get_title() for ax in axes] == ["a", "b"]
    assert len(axes[0].lines) == 2 and len(axes[0].collections) == 3
    assert len(forecaster.plot(ids=["b"], level=[90])) == 1
    with pytest.raises(ValueError, match="there is no series 'c'"):
        forecaster.plot(ids=["c"])
