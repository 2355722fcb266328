"""Probabilistic forecasts of series from data frames in the long format."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from negmm import _native
from negmm.distribution import Distribution
from negmm.files import write_atomically
from negmm.messages import option_of, python_errors, warn
from negmm.renamed import accepting_former_arguments
from negmm.seed import seed_of
from negmm.table import Streamed, is_frame, is_pandas, table
from negmm.threads import threads_of

Self = TypeVar("Self", bound="Forecaster")

#: Parameters that are options of ``auto``.
OPTIONS = ("preset", "folds", "components", "hidden", "steps", "dropout")


class Forecaster(BaseEstimator):
    """A global model that forecasts series, with a predictive distribution for each step ahead.

    Data frames are in the long format of statsforecast and neuralforecast: one row for each series and time. The pool
    of networks of ``AutoRegressor`` predicts the difference from a naive forecast, in units of the recent changes of
    the series. Beside them stand classical methods (exponential smoothing, Theta, autoregressions) and the naive
    forecast; stacking weights are fitted on the last part of each series, forecast by models of what came before.

    Parameters
    ----------
    h : int
        Horizon: steps ahead, 1 … 1000.
    seasonal_periods : int, sequence of int, or None
        Seasonal periods in steps; None: found in the data.
    id_col : str or None
        Column of series identifiers; None, or a column that does not exist: all rows are one series.
    time_col : str or None
        Timestamp column: dates, times or increasing numbers; None, or a column that does not exist: rows are in order.
    target_col : str
        Column to forecast.
    features : sequence of str
        Past covariates: columns that are known up to the last step.
    future_covariates : sequence of str
        Future covariates, such as prices or holidays: ``predict`` takes them from rows whose target is missing.
    lower, upper : float or None
        Bounds of the target.
    preset : {"fast", "medium", "best"}
        Training effort.
    folds, components, hidden, steps, dropout
        Options of ``auto``; None: defaults for forecasts.
    random_state : int, RandomState, Generator or None
        Random seed; the same number gives the same bits.
    n_jobs : int or None
        Threads; None: 1, -1: all cores. It changes no result.

    Attributes
    ----------
    model_ : native forecaster
        The fitted forecaster; pickle and joblib store it as the bytes of the model file.
    seasons_ : list of int
        Seasonal periods in steps.
    scores_ : list of dict
        CRPS and NLL from origins in the last part of each series, by models of what came before: of the forecaster
        first, then of the baselines.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from negmm import Forecaster
    >>> hours = pd.date_range("2024-01-01", periods=24 * 14, freq="h")
    >>> load = 100 + 30 * np.sin(np.arange(336) * 2 * np.pi / 24) + np.random.default_rng(0).normal(size=336)
    >>> frame = pd.DataFrame({"unique_id": "a", "ds": hours, "y": load})
    >>> forecaster = Forecaster(h=24, steps=200, hidden=(16,)).fit(frame)
    >>> forecaster.seasons_
    [24]
    >>> forecaster.predict(level=[90]).columns.tolist()
    ['unique_id', 'ds', 'step', 'mean', 'sd', 'lo-90', 'hi-90']
    >>> forecaster.simulate(paths=50).shape
    (24, 53)
    """

    @accepting_former_arguments(season="seasonal_periods", known="future_covariates")
    def __init__(
        self,
        h: int = 1,
        seasonal_periods: int | Sequence[int] | None = None,
        *,
        id_col: str | None = "unique_id",
        time_col: str | None = "ds",
        target_col: str = "y",
        features: Sequence[str] = (),
        future_covariates: Sequence[str] = (),
        lower: float | None = None,
        upper: float | None = None,
        preset: str = "medium",
        folds: int | None = None,
        components: int = 8,
        hidden: Sequence[int] | None = None,
        steps: int | None = None,
        dropout: float | None = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.h = h
        self.seasonal_periods = seasonal_periods
        self.id_col = id_col
        self.time_col = time_col
        self.target_col = target_col
        self.features = features
        self.future_covariates = future_covariates
        self.lower = lower
        self.upper = upper
        self.preset = preset
        self.folds = folds
        self.components = components
        self.hidden = hidden
        self.steps = steps
        self.dropout = dropout
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self: Self, df: Any) -> Self:
        """Fits to the series in ``df``, which ``predict`` continues unless it is given others."""
        rows, names = _rows(df)
        present = set(names)
        periods = self.seasonal_periods
        seasons = periods if periods is None or isinstance(periods, Sequence) else [periods]
        columns = {
            "target": self.target_col,
            "time": self.time_col if self.time_col in present else None,
            "series": self.id_col if self.id_col in present else None,
            "past": list(self.features),
            "known": list(self.future_covariates),
            "horizon": int(self.h),
            "seasons": None if seasons is None else [int(season) for season in seasons],
            "lower": self.lower,
            "upper": self.upper,
        }
        given = {name: getattr(self, name) for name in OPTIONS if getattr(self, name) is not None}
        options = [(option_of(name), _text(value)) for name, value in given.items()]
        with python_errors(df):
            self.model_, found = _native.fit_forecaster(
                rows, columns, options, seed=seed_of(self.random_state), threads=threads_of(self.n_jobs)
            )
        self._frame = df
        self._read_description()
        warn(found)
        return self

    @accepting_former_arguments(last="test_size", every="stride")
    def predict(
        self, df: Any = None, *, level: Sequence[float] = (), quantiles: Sequence[float] = (), **origins: int | None
    ) -> Any:
        """Forecasts after the end of each series, as a pandas data frame: mean, sd, and optionally central intervals of
        ``level`` per cent (``lo-90``, ``hi-90``) and quantiles (``q0.1``).

        ``df`` holds the past (and what is known ahead); without it that is what ``fit`` was given. With ``test_size=N``
        (and ``stride=K``) forecasts start inside it, so that its last N steps are forecast from what came before them.
        """
        dist, frame = self._predicted(df, **origins)
        frame["mean"], frame["sd"] = dist.mean(), dist.std()
        for coverage in level:
            lower, upper = dist.interval(coverage / 100)
            frame[f"lo-{coverage:g}"], frame[f"hi-{coverage:g}"] = lower, upper
        for quantile in quantiles:
            frame[f"q{quantile:g}"] = dist.ppf(quantile)
        return frame

    @accepting_former_arguments(last="test_size", every="stride")
    def predict_dist(self, df: Any = None, **origins: int | None) -> Distribution:
        """The distributions of the forecasts, one for each row of ``predict``."""
        return self._predicted(df, **origins)[0]

    def simulate(self, df: Any = None, *, paths: int = 100, random_state: Any = 0) -> Any:
        """Sample paths through the steps ahead of each series, as a pandas data frame: ``path_1`` … beside series, time
        and step."""
        import pandas

        rows = self._table(df)
        _, frame = self._predicted(df)
        threads = threads_of(self.n_jobs)
        with python_errors(df):
            values = self.model_.paths(rows, count=int(paths), seed=seed_of(random_state), threads=threads)
        named = pandas.DataFrame(values.reshape(-1, paths), columns=[f"path_{path + 1}" for path in range(paths)])
        return pandas.concat([frame, named], axis=1)

    @accepting_former_arguments(last="test_size", every="stride")
    def evaluate(self, df: Any, *, test_size: int | None = None, stride: int | None = None) -> Any:
        """Backtest on the last steps of ``df`` (all where ``test_size`` is not given) with this stride, as a pandas
        data frame: scores of the forecaster over all steps, of the baselines, and of the forecaster at each step
        ahead."""
        import pandas

        with python_errors(df):
            text = self.model_.backtest(
                self._table(df), test_size=test_size, stride=stride, threads=threads_of(self.n_jobs)
            )
        backtest = json.loads(text)
        return pandas.DataFrame(backtest["scores"] + backtest["steps"])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model file, which the command line reads too; the write is atomic."""
        check_is_fitted(self, "model_")
        write_atomically(path, self.model_.to_bytes())

    @classmethod
    def load(cls: type[Self], path: str | os.PathLike[str]) -> Self:
        """Reads a model file, written here or by the command line."""
        model = _native.Forecaster.from_bytes(Path(path).read_bytes())
        roles = json.loads(model.describe())["transform"]["roles"]
        forecaster = cls(
            h=roles["horizon"],
            seasonal_periods=roles["seasons"],
            id_col=roles["series"],
            time_col=roles["time"],
            target_col=roles["target"],
            features=tuple(roles["past"]),
            future_covariates=tuple(roles["known"]),
        )
        forecaster.model_ = model
        forecaster._frame = None
        forecaster._read_description()
        return forecaster

    def _read_description(self) -> None:
        """Sets the attributes that the native forecaster describes."""
        description = json.loads(self.model_.describe())
        self.seasons_ = description["transform"]["seasons"]
        self.scores_ = description["held_out"]
        self._roles = description["transform"]["roles"]
        self._dates = description["dates"]

    def _table(self, df: Any) -> _native.Table:
        check_is_fitted(self, "model_")
        df = self._frame if df is None else df
        if df is None:
            raise ValueError("a loaded forecaster needs the past of its series: predict(df)")
        return _rows(df)[0]

    def _predicted(
        self, df: Any, *, test_size: int | None = None, stride: int | None = None
    ) -> tuple[Distribution, Any]:
        """The distributions, and a data frame with the series, time and step of each."""
        import pandas

        rows, threads = self._table(df), threads_of(self.n_jobs)
        with python_errors(df):
            predictions, series, times, origins, steps = self.model_.predict(
                rows, test_size=test_size, stride=stride, threads=threads
            )
        columns: dict[str, Any] = {}
        if self._roles["series"] is not None:
            columns[self._roles["series"]] = series
        if test_size is not None or stride is not None:
            columns["cutoff"] = self._times(origins)
        columns[self._roles["time"] or "row"] = self._times(times)
        columns["step"] = steps
        return Distribution(predictions), pandas.DataFrame(columns)

    def _times(self, seconds: NDArray[np.float64]) -> Any:
        """Timestamps of pandas, or integers where times are whole numbers."""
        if self._dates:
            return np.round(seconds * 1e6).astype("int64").astype("datetime64[us]")
        whole = seconds.astype("int64")
        return whole if np.array_equal(whole, seconds) else seconds


def _rows(df: Any) -> tuple[_native.Table, list[str]]:
    """The native table of a data frame, and the names of its columns."""
    if not is_frame(df):
        raise ValueError(f"expected a frame with named columns, such as unique_id, ds, y, found {type(df).__name__}")
    if is_pandas(df):
        names = [str(name) for name in df.columns]
        return table(df, names, []), names
    streamed = df if isinstance(df, Streamed) else Streamed(df)
    return streamed.table, list(streamed.columns)


def _text(value: Any) -> str:
    """An option as text."""
    return ",".join(map(str, value)) if isinstance(value, (tuple, list)) else str(value)
