"""Fits of estimators: the training task, the rows held out, and scores of further rows."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from negmm import _native
from negmm.censored import Censoring, censored_bounds, log_scores
from negmm.distribution import Distribution
from negmm.executor import exchange_with
from negmm.messages import Details, python_errors, warn
from negmm.options import METHODS
from negmm.progress import progress
from negmm.seed import seed_of
from negmm.table import is_pandas, with_target
from negmm.task import Dates, Task, task_of
from negmm.validation import check_vector

Self = TypeVar("Self", bound="FitMixin")


class HeldOut(NamedTuple):
    """Predictions of rows by models that were not trained on them."""

    #: Positions of the rows in the training data, from 0.
    rows: NDArray[np.int64]
    #: Their targets.
    y: NDArray[np.float64]
    #: Their distributions.
    dist: Distribution


class FitMixin:
    """The method ``fit`` of estimators, and what it leaves about the training."""

    method: ClassVar[str]
    model_: Any
    n_features_in_: int
    n_jobs: int | None
    random_state: Any
    verbose: int
    #: How targets of the fit were censored; pickles of earlier versions and models from files say nothing of it.
    _censoring: Censoring | None = None

    # Of the base class of estimators, and of the mixin of updates.
    _append: Any
    _check_X: Any
    _options: Any
    _threads: Any
    predict_dist: Any
    record_: Any

    def fit(
        self: Self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        dates: Dates = None,
        executor: Any = None,
        eval_set: Sequence[tuple[Any, ArrayLike]] = (),
        stop_on_eval_set: bool = False,
        importances: bool = False,
        engine: str = "auto",
        time: str | ArrayLike | None = None,
        censoring: Censoring | None = None,
    ) -> Self:
        """Fits the conditional distribution of ``y`` given ``X``.

        Parameters
        ----------
        X : array, pandas data frame, Arrow stream (polars, pyarrow, duckdb), or files, of shape (rows, features)
            Numbers (NaN: missing), datetime64 (NaT: missing) or text. Columns of data frames may have any of these
            types; types of text columns are inferred as for a CSV file. Files are a path, a pattern such as
            ``"sales/*.parquet"``, a folder, a list of these, or a dataset of pyarrow.
        y : array of shape (rows,), censored targets, or the name of a column of files or of a data frame
            Targets. Censored targets are a structured array with a field of bool (event observed) and one of numbers
            (time of the event or of censoring), as in scikit-survival, or with ``censoring="interval"`` two columns:
            the lower and upper bound of each target, equal where it is observed, the upper one infinite where it is
            right-censored, the lower one where it is left-censored. Lengths of time (timedelta) are learnt in seconds, as among the inputs.
        sample_weight : array of shape (rows,), optional
            Weights of the rows: 2 counts as two equal rows, 0 as none.
        groups : array of shape (rows,), optional
            Labels of any kind: rows with the same one belong together (one patient, one machine) and are held out
            together.
        dates : names of columns, or a dict from them to formats, optional
            Date columns that are not recognised as such: numbers such as 20121231, or text that is ambiguous between
            day and month. Formats are those of ``--date``: "ymd", "dmy", "mdy", "named", "clock", "seconds",
            "milliseconds", or None, to infer it.
        executor : executor of concurrent.futures, client of Dask, or the module ray, optional
            Trains the networks, each on one thread of a worker unless ``n_jobs`` is given; the model is the same, byte
            for byte. Rows are sent once to each worker, and a job whose worker dies is sent again.
        eval_set : list of (X, y)
            Rows that are scored after the fit, see ``evals_result_``. They are not used for validation, unless:
        stop_on_eval_set : bool
            Whether the rows of ``eval_set`` are the validation rows: they choose the checkpoint and when to stop, the fit
            holds out none of its own, and all of ``X`` is trained on. The model's held-out scores are then those of
            ``eval_set``. Not for ``AutoRegressor``, which holds out every row in turn.
        importances : bool
            Whether ``feature_importances_`` are those of rows that were left out, which takes three more fits on parts
            of the rows.
        engine : str
            Engine of this process: "cpu", "cuda" (an NVIDIA GPU), or "auto", a GPU where it is faster; the model is the
            same, byte for byte.
        time : name of a column, or array of shape (rows,), optional
            When each row was: dates or numbers. The newest rows are held out, block by block, each predicted from what
            came before. A named column is an input too, an array is none.
        censoring : "interval" or "left", optional
            "interval": the two columns of ``y`` are the bounds of each target. "left": the number of a structured ``y``
            is a limit that the target lies below where it is not observed (a limit of detection), not one that it
            exceeds.

        Returns
        -------
        self
        """
        self._forget()
        eval_set = _pairs(eval_set)
        try:
            validation = _validation_of(eval_set) if stop_on_eval_set else None
            found = self._fit(X, y, sample_weight, groups, dates, time, executor, engine, censoring, validation)
        except BaseException:
            self._forget()
            raise
        warn(found)
        self._censoring = censoring
        self._evaluations = [_scores(self.predict_dist(rows), targets, censoring) for rows, targets in eval_set]
        if importances:
            from negmm.importance import importances as importances_of

            arguments = {
                "sample_weight": sample_weight,
                "groups": groups,
                "dates": dates,
                "time": time,
                "executor": executor,
                "engine": engine,
            }
            self._importances = importances_of(self, X, y, **arguments)
        return self

    def _fit(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None,
        groups: ArrayLike | None,
        dates: Dates,
        time: str | ArrayLike | None,
        executor: Any,
        engine: str,
        censoring: Censoring | None = None,
        validation: tuple[Any, Any] | None = None,
    ) -> list[Details]:
        """Fits; returns warnings about the data."""
        with python_errors(X):
            if validation is not None:
                # These rows are held out whatever their groups and times.
                groups, time = None, None
            task = self._task(X, y, sample_weight, groups, dates, time, censoring)
            rows = None if validation is None else self._append(task, *validation, dates, censoring, 1.0)
            described = (self.method, self._options())
            with exchange_with(executor, self.n_jobs) as exchange, progress(self.verbose, "fit", "networks") as bar:
                self.model_, held_out, found, self._drift = _native.fit(
                    task, described, rows, threads=self._threads(), exchange=exchange, progress=bar, engine=engine
                )
        self._keep_held_out(held_out, None if validation is not None else X)
        return found

    def _keep_held_out(self, held_out: tuple[list[int], list[float], _native.Predictions], X: Any) -> None:
        """Keeps the held-out predictions, with the index of ``X`` where it has one."""
        rows, targets, predictions = held_out
        index = getattr(X, "index", None) if is_pandas(X) else None
        index = None if index is None or max(rows, default=0) >= len(index) else index[rows]
        dist = Distribution(predictions, index=index, n_jobs=self.n_jobs)
        self._held_out = HeldOut(np.array(rows, dtype=np.int64), np.array(targets), dist)

    def _task(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None,
        groups: ArrayLike | None,
        dates: Dates,
        time: str | ArrayLike | None = None,
        censoring: Censoring | None = None,
    ) -> Task:
        """The training task; sets the names of the columns of ``X``."""
        if y is None:
            name = type(self).__name__
            raise ValueError(f"This {name} estimator requires y to be passed, but the target y is None.")
        if self.method not in METHODS:
            raise ValueError(f"this version of the native module has no method {self.method}")
        X, y = with_target(X, y)
        X = self._check_X(X, reset=True, least_rows=METHODS[self.method]["least_rows"])
        self._names = [str(name) for name in getattr(self, "feature_names_in_", numbered(self.n_features_in_))]
        known = {name: getattr(self, name) for name in ("lower", "upper", "continuous", "discrete", "step")}
        seed = seed_of(self.random_state)
        return task_of(X, y, self._names, sample_weight, groups, dates, time, **known, seed=seed, censoring=censoring)

    def _forget(self) -> None:
        names = ("model_", "_drift", "_names", "n_features_in_", "feature_names_in_", "_evaluations", "_held_out")
        for name in (*names, "_censoring", "_importances", "_own_importances"):
            self.__dict__.pop(name, None)

    @property
    def evals_result_(self) -> dict[str, dict[str, list[float]]]:
        """Training history of each network by epoch: under "network 0" and so on its training ``loss`` and the ``nll``
        and ``crps`` of its validation rows, in units of the standardised target. Under "eval 0" and so on the scores of
        ``eval_set``, in the target's own."""
        results: dict[str, dict[str, list[float]]] = {}
        for number, history in enumerate(self.record_["histories"]):
            epochs = history["epochs"]
            history_of = {"loss": [epoch["loss"] for epoch in epochs]}
            for score in ("nll", "crps"):
                scores = [(epoch["validation"] or {}).get(score) for epoch in epochs]
                if any(found is not None for found in scores):
                    history_of[score] = scores
            results[f"network {number}"] = history_of
        for number, scores in enumerate(getattr(self, "_evaluations", [])):
            results[f"eval {number}"] = {score: [found] for score, found in scores.items()}
        return results

    @property
    def held_out_(self) -> HeldOut:
        """The rows that were held out in the fit (with ``auto`` all of them, fold by fold), their targets, and their
        distributions as predicted by models that were not trained on them. Copies by pickle have none."""
        check_is_fitted(self)
        if "_held_out" not in self.__dict__:
            raise AttributeError("held_out_ is there after fit, not in models that were loaded or unpickled")
        return self._held_out

    @property
    def drift_(self) -> dict[str, Any] | None:
        """How the oldest and the newest tenth of the rows of the fit differ, in their inputs and in the target given the
        inputs, where rows have an order in time (``time=``, or a column of dates); None where nothing differs by more
        than chance, and in models that were loaded from a file."""
        check_is_fitted(self)
        drift = self.__dict__.get("_drift")
        return None if drift is None else json.loads(drift)


def _pairs(eval_set: Any) -> list[tuple[Any, Any]]:
    """The pairs of X and y; a single one may come without its list."""
    if isinstance(eval_set, tuple) and len(eval_set) == 2 and not isinstance(eval_set[0], tuple):
        return [eval_set]
    pairs = list(eval_set)
    for pair in pairs:
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise ValueError(f"eval_set must be a list of (X, y), found {type(pair).__name__} in it")
    return pairs


def _validation_of(eval_set: list[tuple[Any, Any]]) -> tuple[Any, Any]:
    if len(eval_set) != 1:
        raise ValueError(f"stop_on_eval_set needs one eval_set=(X, y), found {len(eval_set)}")
    return eval_set[0]


def _scores(dist: Distribution, y: Any, censoring: Censoring | None) -> dict[str, float]:
    """Scores of the rows of an ``eval_set``; of censored targets those that are defined."""
    if (known := censored_bounds(y, censoring or "interval")) is not None:
        from negmm.metrics import concordance

        bounds = np.column_stack(known[1:])
        return {"nll": float(np.mean(log_scores(bounds, dist))), "concordance": concordance(bounds, dist.median())}
    targets = check_vector(y)
    error = np.sqrt(np.mean((np.asarray(dist.mean()) - targets) ** 2))
    return {"crps": float(np.mean(dist.crps(targets))), "nll": float(np.mean(dist.nll(targets))), "rmse": float(error)}


def numbered(count: int) -> list[str]:
    """Names of unnamed columns in model files."""
    return [f"x{column}" for column in range(count)]
