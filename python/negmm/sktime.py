"""A forecaster for sktime. Needs ``pip install sktime``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from sktime.forecasting.base import BaseForecaster

from negmm.distribution import Distribution
from negmm.forecaster import Forecaster
from negmm.renamed import accepting_former_arguments


class NEGMMForecaster(BaseForecaster):
    """:class:`negmm.Forecaster` of one series: means, quantiles and intervals of each step ahead.

    Parameters
    ----------
    seasonal_periods : int, sequence of int, or None
        Seasonal periods in steps; None: found in the data.
    preset : {"fast", "medium", "best"}
        Training effort.
    folds, hidden, steps : int, sequence of int, int, or None
        Options of ``auto``; None: defaults for forecasts.
    random_state : int
        Random seed.
    n_jobs : int or None
        Threads.

    Examples
    --------
    >>> from sktime.datasets import load_airline
    >>> from negmm.sktime import NEGMMForecaster
    >>> forecaster = NEGMMForecaster(seasonal_periods=12, folds=2, hidden=(8,), steps=20)
    >>> forecaster.fit(load_airline(), fh=[1, 2, 3])
    NEGMMForecaster(...)
    >>> y_pred = forecaster.predict()
    """

    _tags = {
        "authors": ["negmm"],
        "y_inner_mtype": "pd.Series",
        "X_inner_mtype": "pd.DataFrame",
        "capability:multivariate": False,
        "capability:exogenous": False,
        "capability:missing_values": True,
        "requires-fh-in-fit": True,
        "capability:insample": False,
        "capability:pred_int": True,
        "capability:pred_int:insample": False,
        "capability:random_state": True,
        "property:randomness": "derandomized",
        "tests:core": False,
    }

    @accepting_former_arguments(season="seasonal_periods")
    def __init__(
        self,
        seasonal_periods: int | Sequence[int] | None = None,
        preset: str = "medium",
        folds: int | None = None,
        hidden: Sequence[int] | None = None,
        steps: int | None = None,
        random_state: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.seasonal_periods = seasonal_periods
        self.preset = preset
        self.folds = folds
        self.hidden = hidden
        self.steps = steps
        self.random_state = random_state
        self.n_jobs = n_jobs
        super().__init__()

    def _fit(self, y: Any, X: Any, fh: Any) -> NEGMMForecaster:
        steps = np.asarray(fh.to_relative(self.cutoff))
        self.forecaster_ = Forecaster(
            h=int(max(steps)),
            seasonal_periods=self.seasonal_periods,
            id_col=None,
            preset=self.preset,
            folds=self.folds,
            hidden=self.hidden,
            steps=self.steps,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
        ).fit(_frame(y))
        self._past = y
        return self

    def _ahead(self, fh: Any) -> tuple[Distribution, Any]:
        """The distributions of the steps of ``fh``, and their index."""
        positions = np.asarray(fh.to_relative(self.cutoff)).astype(int) - 1
        dist = self.forecaster_.predict_dist(_frame(self._past))
        return dist[positions], fh.to_absolute_index(self.cutoff)

    def _predict(self, fh: Any, X: Any) -> Any:
        dist, index = self._ahead(fh)
        return pd.Series(dist.mean(), index=index, name=self._past.name)

    def _predict_quantiles(self, fh: Any, X: Any, alpha: Any) -> Any:
        dist, index = self._ahead(fh)
        names = self._get_varnames()
        columns = pd.MultiIndex.from_product([names, alpha])
        return pd.DataFrame(np.column_stack([dist.ppf(level) for level in alpha]), index=index, columns=columns)

    def _predict_var(self, fh: Any, X: Any = None, cov: bool = False) -> Any:
        if cov:
            raise NotImplementedError("covariances between steps ahead are not available: see Forecaster.simulate")
        dist, index = self._ahead(fh)
        return pd.DataFrame(dist.var(), index=index, columns=self._get_varnames())

    def _predict_proba(self, fh: Any, X: Any, marginal: bool = True) -> Any:
        """The distributions themselves, one for each step ahead. Needs skpro."""
        if not marginal:
            raise NotImplementedError("joint distributions of steps ahead are not available: see Forecaster.simulate")
        from negmm.skpro import NEGMMDistribution

        dist, index = self._ahead(fh)
        return NEGMMDistribution(dist, index=index, columns=pd.Index(self._get_varnames()))

    def _update(self, y: Any, X: Any = None, update_params: bool = True) -> NEGMMForecaster:
        """Appends new steps to the past of the series; networks are not trained again."""
        self._past = y.combine_first(self._past)
        return self

    @classmethod
    def get_test_params(cls, parameter_set: str = "default") -> list[dict[str, Any]]:
        """Small settings for sktime's checks."""
        return [
            {"preset": "fast", "folds": 2, "hidden": (8,), "steps": 20},
            {"seasonal_periods": 4, "folds": 2, "hidden": (8,), "steps": 20},
        ]


def _frame(y: Any) -> Any:
    """A series as a frame; its dates or periods are those of the steps."""
    dated = isinstance(y.index, (pd.DatetimeIndex, pd.PeriodIndex))
    return pd.DataFrame({"y": y.to_numpy(dtype=float)}, index=y.index if dated else pd.RangeIndex(len(y)))
