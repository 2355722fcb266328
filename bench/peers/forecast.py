"""Forecasts of statsforecast's models and of negmm on the same origins, as a table.

    python bench/peers/forecast.py [pjm24] [hufl24] [m4-40] [--arima] [--nhits]

Needs negmm, statsforecast and pandas; for --nhits neuralforecast. Data from the folder NEGMM_DATA, else ../shared/data.

CRPS is twice the mean pinball loss over 19 levels, for all models; the quantile loss is that of nine deciles, divided
by the size of the values. `pjm24` and `hufl24`: 24 steps from 41 daily origins at the end; models are fitted once, on
what comes before the first origin. `m4-40`: the last 48 hours of the first 40 series of M4; AutoARIMA, which takes
minutes, only with --arima.
"""

from __future__ import annotations

import os
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from statsforecast import StatsForecast
from statsforecast.models import MSTL, AutoARIMA, AutoETS, SeasonalNaive

from negmm import Forecaster

warnings.filterwarnings("ignore")
DATA = Path(os.environ.get("NEGMM_DATA", "../shared/data"))
LEVELS = [10, 20, 30, 40, 50, 60, 70, 80, 90]
QUANTILES = np.arange(1, 20) / 20
DECILES = np.isclose((QUANTILES * 10) % 1, 0) | np.isclose((QUANTILES * 10) % 1, 1)


def scores(y: np.ndarray, quantiles: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> str:
    """CRPS, quantile loss and coverage, as cells of a line."""
    missed = y[:, None] - quantiles
    pinball = np.maximum(QUANTILES * missed, (QUANTILES - 1) * missed)
    crps = 2 * pinball.mean()
    loss = 2 * pinball[:, DECILES].mean(axis=1).sum() / np.abs(y).sum()
    return f"{crps:.5g} | {loss:.4f} | {100 * np.mean((lower <= y) & (y <= upper)):.0f} %"


def quantiles_of(frame: pd.DataFrame, name: str) -> np.ndarray:
    """The quantiles of a model of statsforecast, by its intervals."""
    low = [frame[f"{name}-lo-{level}"].to_numpy() for level in reversed(LEVELS)]
    high = [frame[f"{name}-hi-{level}"].to_numpy() for level in LEVELS]
    return np.column_stack([*low, frame[name].to_numpy(), *high])


def line(name: str, seconds: float, cells: str) -> None:
    print(f"| {name} | {cells} | {seconds:.0f} |", flush=True)


def hourly(name: str, file: str, time_col: str, target: str) -> None:
    frame = pd.read_csv(DATA / "series" / file)
    frame = pd.DataFrame({"unique_id": "a", "ds": pd.to_datetime(frame[time_col]), "y": frame[target]})
    last = 24 * 41
    heading(name)
    begin = time.time()
    forecaster = Forecaster(h=24, n_jobs=-1).fit(frame.iloc[:-last])
    dist = forecaster.predict_dist(frame, test_size=last)
    y = frame["y"].to_numpy()[-last:]
    own = np.column_stack([dist.ppf(level) for level in QUANTILES])
    line("negmm", time.time() - begin, scores(y, own, *dist.interval(0.95)))
    models = [SeasonalNaive(24, alias="SeasonalNaive"), AutoETS(season_length=24), MSTL([24, 168], alias="MSTL")]
    for model in models:
        begin = time.time()
        # Each origin sees two months: more takes these models minutes an origin.
        short = frame.iloc[-(last + 24 * 60) :]
        rolled = StatsForecast([model], freq="h").cross_validation(
            df=short, h=24, step_size=24, n_windows=41, level=[*LEVELS, 95]
        )
        found = quantiles_of(rolled, repr(model))
        bounds = rolled[f"{model!r}-lo-95"].to_numpy(), rolled[f"{model!r}-hi-95"].to_numpy()
        line(repr(model), time.time() - begin, scores(rolled["y"].to_numpy(), found, *bounds))
    if "--nhits" in sys.argv:
        nhits(frame)


def nhits(frame: pd.DataFrame) -> None:
    """NHITS of neuralforecast, trained once on what comes before the first origin and stopped by the last 41 days of
    it."""
    from neuralforecast import NeuralForecast
    from neuralforecast.losses.pytorch import MQLoss
    from neuralforecast.models import NHITS

    begin = time.time()
    loss = MQLoss(quantiles=[0.025, *QUANTILES.round(2).tolist(), 0.975])
    quiet = {"enable_progress_bar": False, "logger": False, "enable_model_summary": False}
    # All 1,000 steps of its default learn PJM's past by heart: 19 % of the values are then within 95 %.
    stopped = {"max_steps": 1000, "val_check_steps": 25, "early_stop_patience_steps": 4}
    model = NHITS(h=24, input_size=7 * 24, loss=loss, scaler_type="robust", random_seed=1, **stopped, **quiet)
    rolled = NeuralForecast([model], freq="h").cross_validation(
        df=frame, n_windows=41, step_size=24, val_size=24 * 41, refit=False
    )
    # Quantiles that cross are put in order.
    found = np.sort(rolled.filter(like="NHITS").to_numpy(), axis=1)
    cells = scores(rolled["y"].to_numpy(), found[:, 1:-1], found[:, 0], found[:, -1])
    line("NHITS", time.time() - begin, cells)


def m4(arima: bool) -> None:
    frame = pd.read_csv(DATA / "series" / "m4_hourly40.csv.gz")
    frame = frame.rename(columns={"series": "unique_id", "hour": "ds"})
    train = frame[frame["part"] == "train"].drop(columns="part")
    test = frame[frame["part"] == "test"]
    heading("M4 hourly, the first 40 series")
    begin = time.time()
    forecaster = Forecaster(h=48, n_jobs=-1).fit(train)
    dist = forecaster.predict_dist()
    own = np.column_stack([dist.ppf(level) for level in QUANTILES])
    line("negmm", time.time() - begin, scores(test["y"].to_numpy(), own, *dist.interval(0.95)))
    models = [SeasonalNaive(24, alias="SeasonalNaive"), AutoETS(season_length=24)]
    for model in models + ([AutoARIMA(season_length=24)] if arima else []):
        begin = time.time()
        answers = StatsForecast([model], freq=1).forecast(df=train, h=48, level=[*LEVELS, 95])
        merged = test.merge(answers, on=["unique_id", "ds"])
        found = quantiles_of(merged, repr(model))
        bounds = merged[f"{model!r}-lo-95"].to_numpy(), merged[f"{model!r}-hi-95"].to_numpy()
        line(repr(model), time.time() - begin, scores(merged["y"].to_numpy(), found, *bounds))


def heading(name: str) -> None:
    print(f"\n{name}\n\n| | CRPS | quantile loss | in 95 % | seconds |\n|---|---|---|---|---|", flush=True)


if __name__ == "__main__":
    wanted = [name for name in sys.argv[1:] if not name.startswith("--")] or ["pjm24", "hufl24", "m4-40"]
    if "pjm24" in wanted:
        hourly("PJM load, 24 hours from 41 origins", "pjm_load.csv.gz", "datetime", "load_mw")
    if "hufl24" in wanted:
        hourly("ETTh1 HUFL, 24 hours from 41 origins", "etth1.csv.gz", "date", "HUFL")
    if "m4-40" in wanted:
        m4("--arima" in sys.argv)
