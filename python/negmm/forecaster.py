"""Probabilistic forecasts of series from data frames in the long format."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from negmm import _native
from negmm.distribution import Distribution
from negmm.executor import exchange_with
from negmm.files import write_atomically
from negmm.messages import option_of, python_errors, warn
from negmm.panel import Panel, holidays_of
from negmm.progress import progress
from negmm.renamed import accepting_former_arguments
from negmm.seed import seed_of
from negmm.threads import threads_of

Self = TypeVar("Self", bound="Forecaster")

#: Parameters that are options of ``auto``.
OPTIONS = ("preset", "folds", "components", "hidden", "steps", "dropout")
#: Names of columns that may be absent: the defaults.
ID, TIME = "unique_id", "ds"


class Forecaster(BaseEstimator):
    """A global model that forecasts series, with a predictive distribution for each step ahead.

    Data frames are in the long format of statsforecast and neuralforecast: one row for each series and time. A
    DatetimeIndex or PeriodIndex is the time column, a MultiIndex of series and times is both, and forecasts are indexed
    alike. The pool of networks of ``AutoRegressor`` predicts the difference from a naive forecast, in units of the
    recent changes of the series. Beside them stand classical methods (exponential smoothing, Theta, autoregressions) and the
    naive forecast; stacking weights are fitted on the last part of each series, forecast by models of what came before.

    Parameters
    ----------
    h : int
        Horizon: steps ahead, 1 … 1000.
    seasonal_periods : int, sequence of int, or None
        Seasonal periods in steps; None: found in the data.
    id_col : str or None
        Column of series identifiers; None, or no column "unique_id" (the default): all rows are one series.
    time_col : str or None
        Timestamp column: dates, times or increasing numbers; None, or no column "ds" (the default): rows are in order.
        Zoned times come back in their zone; their seasons are those of the clock on the wall.
    target_col : str
        Column to forecast.
    hierarchy : sequence of str
        Columns by which series are summed, the coarsest first, such as ``("region", "store")``: sums are forecast too
        (with ``"(all)"`` in the columns that they are taken over), and all forecasts add up.
    features : sequence of str
        Past covariates: columns that are known up to the last step.
    future_covariates : sequence of str
        Future covariates, such as prices or holidays: ``predict`` takes them from rows whose target is missing.
    holidays : data frame, sequence of dates, mapping of dates to names, or None
        Days that differ from others, with the two days before and after them. A data frame has the column ``date``, and
        optionally ``name`` and a column called as ``id_col``.
    sort : bool
        Sort the rows of each series by time; otherwise times that decrease are refused.
    lower, upper : float or None
        Bounds of the target.
    continuous : bool
        Predict a density even if the target looks discrete.
    discrete : bool
        Predict probabilities of values on a grid even if the target does not look discrete.
    step : float or None
        Step of the grid of a discrete target; None: the largest that all values share.
    preset : {"fast", "medium", "best"}
        Training effort.
    folds, components, hidden, steps, dropout
        Options of ``auto``; None: defaults for forecasts.
    random_state : int, RandomState, Generator or None
        Random seed; the same number gives the same bits.
    n_jobs : int or None
        Threads; None: 1, -1: all cores. It changes no result.
    verbose : int
        1: show the progress of series and networks.

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
        hierarchy: Sequence[str] = (),
        features: Sequence[str] = (),
        future_covariates: Sequence[str] = (),
        holidays: Any = None,
        sort: bool = False,
        lower: float | None = None,
        upper: float | None = None,
        continuous: bool = False,
        discrete: bool = False,
        step: float | None = None,
        preset: str = "medium",
        folds: int | None = None,
        components: int = 8,
        hidden: Sequence[int] | None = None,
        steps: int | None = None,
        dropout: float | None = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.h = h
        self.seasonal_periods = seasonal_periods
        self.id_col = id_col
        self.time_col = time_col
        self.target_col = target_col
        self.hierarchy = hierarchy
        self.features = features
        self.future_covariates = future_covariates
        self.holidays = holidays
        self.sort = sort
        self.lower = lower
        self.upper = upper
        self.continuous = continuous
        self.discrete = discrete
        self.step = step
        self.preset = preset
        self.folds = folds
        self.components = components
        self.hidden = hidden
        self.steps = steps
        self.dropout = dropout
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self: Self, df: Any, *, executor: Any = None, engine: str = "auto") -> Self:
        """Fits to the series in ``df``, which ``predict`` continues unless it is given others.

        ``executor`` trains the networks elsewhere: an executor of ``concurrent.futures``, a client of Dask, or the
        module ``ray``; ``engine`` is "auto", "cpu" or "cuda".
        """
        panel = self._panel(df)
        periods = self.seasonal_periods
        seasons = periods if periods is None or isinstance(periods, Sequence) else [periods]
        columns = {
            "target": self.target_col,
            "time": panel.time,
            "series": panel.series,
            "hierarchy": [str(name) for name in self.hierarchy],
            "past": list(self.features),
            "known": list(self.future_covariates),
            "horizon": int(self.h),
            "seasons": None if seasons is None else [int(season) for season in seasons],
            "holidays": holidays_of(self.holidays, panel.series),
            "sort": bool(self.sort),
            "lower": self.lower,
            "upper": self.upper,
            "continuous": bool(self.continuous),
            "discrete": bool(self.discrete),
            "step": self.step,
        }
        given = {name: getattr(self, name) for name in OPTIONS if getattr(self, name) is not None}
        options = [(option_of(name), _text(value)) for name, value in given.items()]
        work = exchange_with(executor, self.n_jobs), progress(self.verbose, "fit", "series")
        with python_errors(df), work[0] as exchange, work[1] as bar:
            self.model_, found = _native.fit_forecaster(
                panel.table,
                columns,
                options,
                seed=seed_of(self.random_state),
                threads=threads_of(self.n_jobs),
                exchange=exchange,
                progress=bar,
                engine=engine,
            )
        self._past = panel
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
        dist, frame, _, panel = self._predicted(df, **origins)
        return panel.indexed(_summarised(dist, frame, level, quantiles))

    @accepting_former_arguments(last="test_size", every="stride")
    def predict_dist(self, df: Any = None, **origins: int | None) -> Distribution:
        """The distributions of the forecasts, one for each row of ``predict``."""
        return self._predicted(df, **origins)[0]

    def simulate(self, df: Any = None, *, paths: int = 100, random_state: Any = 0) -> Any:
        """Sample paths through the steps ahead of each series, as a pandas data frame: ``path_1`` … beside series, time
        and step. Of a hierarchy the n-th paths of all series add up."""
        import pandas

        _, frame, _, panel = self._predicted(df)
        threads = threads_of(self.n_jobs)
        with python_errors(df):
            values = self.model_.paths(panel.table, count=int(paths), seed=seed_of(random_state), threads=threads)
        named = pandas.DataFrame(values.reshape(-1, paths), columns=[f"path_{path + 1}" for path in range(paths)])
        return panel.indexed(pandas.concat([frame, named], axis=1))

    @accepting_former_arguments(last="test_size", every="stride")
    def evaluate(self, df: Any, *, test_size: int | None = None, stride: int | None = None) -> Any:
        """Backtest on the last steps of ``df`` (all where ``test_size`` is not given) with this stride, as a pandas
        data frame: scores of the forecaster over all steps, of the baselines, and of the forecaster at each step
        ahead."""
        import pandas

        panel = self._given(df)
        with python_errors(df):
            text = self.model_.backtest(
                panel.table, test_size=test_size, stride=stride, threads=threads_of(self.n_jobs)
            )
        backtest = json.loads(text)
        scores = pandas.DataFrame(backtest["scores"] + backtest["steps"])
        if (whole := backtest.get("whole")) is not None:
            scores.attrs["energy_score"] = whole
        return scores

    def backtest(
        self,
        df: Any,
        *,
        test_size: int | None = None,
        stride: int | None = None,
        level: Sequence[float] = (),
        quantiles: Sequence[float] = (),
    ) -> Any:
        """Forecasts from origins inside ``df`` beside what was observed, as a pandas data frame: series, ``cutoff``
        (the time of the origin), time, step, the observed value under its name, mean, sd, intervals and quantiles.

        The forecaster is not fitted again: to judge it, fit it to what comes before the last ``test_size`` steps.
        """
        size = self.h if test_size is None and stride is None else test_size
        dist, frame, observed, panel = self._predicted(df, test_size=size, stride=stride)
        frame[self.target_col] = observed
        return panel.indexed(_summarised(dist, frame, level, quantiles))

    def plot(
        self,
        df: Any = None,
        *,
        ids: Sequence[Any] | None = None,
        level: Sequence[float] = (50, 80, 95),
        history: int | None = None,
        axes: Any = None,
    ) -> Any:
        """Plots the history and the fan of forecasts of each series with matplotlib, at most eight unless ``ids`` names
        them; ``history`` is the number of last steps that are shown. Returns the axes."""
        from negmm.plotting import plot_fans

        dist, frame, _, panel = self._predicted(df)
        return plot_fans(dist, frame, panel, self.target_col, (ids, level, history, axes))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model file, which the command line reads too; the write is atomic."""
        check_is_fitted(self, "model_")
        write_atomically(path, self.model_.to_bytes())

    @classmethod
    def load(cls: type[Self], path: str | os.PathLike[str]) -> Self:
        """Reads a model file, written here or by the command line, with its settings."""
        model = _native.Forecaster.from_bytes(Path(path).read_bytes())
        description = json.loads(model.describe())
        roles, method = description["transform"]["roles"], description["method"]
        given = {name: method[option_of(name)] for name in OPTIONS if method.get(option_of(name)) is not None}
        given = {name: tuple(value) if isinstance(value, list) else value for name, value in given.items()}
        named = [(holiday["day"], holiday["name"], holiday.get("series")) for holiday in roles.get("holidays", [])]
        forecaster = cls(
            h=roles["horizon"],
            seasonal_periods=roles["seasons"],
            id_col=roles["series"],
            time_col=roles["time"],
            target_col=roles["target"],
            hierarchy=tuple(roles.get("hierarchy", [])),
            features=tuple(roles["past"]),
            future_covariates=tuple(roles["known"]),
            holidays=named or None,
            sort=roles.get("sort", False),
            lower=description["support"].get("lower"),
            upper=description["support"].get("upper"),
            continuous=description["continuous"],
            random_state=description["seed"],
            **given,
        )
        forecaster.model_ = model
        forecaster._past = None
        forecaster._read_description()
        return forecaster

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        # A stream of Arrow can be read only once.
        if (past := state.get("_past")) is not None and past.rows is None:
            state["_past"] = None
        return state

    def _read_description(self) -> None:
        """Sets the attributes that the native forecaster describes."""
        description = json.loads(self.model_.describe())
        self.seasons_ = description["transform"]["seasons"]
        self.scores_ = description["held_out"]
        self._roles = description["transform"]["roles"]
        self._dates = description["dates"]

    def _panel(self, df: Any) -> Panel:
        names = {"id_col": (self.id_col, ID), "time_col": (self.time_col, TIME)}
        return Panel.of(df, self.target_col, names, [str(name) for name in self.hierarchy])

    def _given(self, df: Any) -> Panel:
        """The series of ``df``, or those of the fit."""
        check_is_fitted(self, "model_")
        if df is not None:
            return self._panel(df)
        if self._past is None:
            raise ValueError("a loaded forecaster needs the past of its series: predict(df)")
        return self._past

    def _predicted(
        self, df: Any, *, test_size: int | None = None, stride: int | None = None
    ) -> tuple[Distribution, Any, Any, Panel]:
        """The distributions, a data frame with series, time and step of each, observed values, and the series."""
        import pandas

        panel, threads = self._given(df), threads_of(self.n_jobs)
        with python_errors(df):
            predictions, (rows, named), (times, origins), steps, observed, (found, wall) = self.model_.predict(
                panel.table, test_size=test_size, stride=stride, threads=threads
            )
        if df is not None:
            warn(found)
        columns: dict[str, Any] = panel.keys_of(rows, named)
        if test_size is not None or stride is not None:
            columns["cutoff"] = panel.times_of(origins, self._dates, wall)
        columns[self._roles["time"] or "row"] = panel.times_of(times, self._dates, wall)
        columns["step"] = steps
        return Distribution(predictions), pandas.DataFrame(columns), observed, panel


def _summarised(dist: Distribution, frame: Any, level: Sequence[float], quantiles: Sequence[float]) -> Any:
    """The frame with means, sds, intervals and quantiles."""
    frame["mean"], frame["sd"] = dist.mean(), dist.std()
    for coverage in level:
        if not 0 < coverage < 100:
            raise ValueError(f"level is in per cent, between 0 and 100, found {coverage}")
        lower, upper = dist.interval(coverage / 100)
        frame[f"lo-{coverage:g}"], frame[f"hi-{coverage:g}"] = lower, upper
    for quantile in quantiles:
        frame[f"q{quantile:g}"] = dist.ppf(quantile)
    return frame


def _text(value: Any) -> str:
    """An option as text."""
    return ",".join(map(str, value)) if isinstance(value, (tuple, list)) else str(value)
