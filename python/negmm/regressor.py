"""The base class of all estimators: scikit-learn's interface to the models of the library."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from negmm import _native
from negmm.censored import censored_bounds, log_scores
from negmm.conformal import ConformalMixin
from negmm.distribution import Distribution
from negmm.executor import exchange_with
from negmm.explainable import ExplainableMixin
from negmm.files import write_atomically
from negmm.messages import Details, option_of, python_errors, warn
from negmm.options import METHODS, option_text, parameter_value
from negmm.progress import progress
from negmm.renamed import with_current_names
from negmm.report import Report
from negmm.seed import seed_of
from negmm.table import (
    NamedColumns,
    Streamed,
    has_text,
    is_files,
    is_frame,
    is_pandas,
    known_names,
    table,
    unique_name,
    with_target,
)
from negmm.task import Dates, Task, lengths_of_time, task_of
from negmm.threads import threads_of
from negmm.updates import UpdatesMixin
from negmm.validation import check_vector

Self = TypeVar("Self", bound="DistributionRegressor")

#: Parameters that are not options of a method: bounds of the target, and how to fit.
FIT_PARAMETERS = ("lower", "upper", "continuous", "discrete", "step", "random_state", "n_jobs", "verbose")

#: The estimator of each method, by the method's name.
ESTIMATORS: dict[str, type[DistributionRegressor]] = {}


class HeldOut(NamedTuple):
    """Predictions of rows by models that were not trained on them."""

    #: Positions of the rows in the training data, from 0.
    rows: NDArray[np.int64]
    #: Their targets.
    y: NDArray[np.float64]
    #: Their distributions.
    dist: Distribution


class DistributionRegressor(ConformalMixin, ExplainableMixin, UpdatesMixin, RegressorMixin, BaseEstimator):
    """Base class of the estimators; each method is a subclass with its own parameters.

    Attributes
    ----------
    model_ : native model
        The fitted model; pickle and joblib store it as the bytes of the model file.
    n_features_in_ : int
        Columns of X.
    feature_names_in_ : ndarray of str
        Names of the columns of X, where X had some.
    record_ : dict
        Training record: rows, seed, held-out scores of the model and of the constant baseline, losses.
    n_iter_ : int
        Epochs, or rounds of boosting, of the network that was trained longest.
    evals_result_ : dict
        Losses and validation scores of each network, epoch by epoch, and the scores of ``eval_set``.
    feature_importances_ : ndarray of shape (n_features_in_,)
        The mean |contribution| of each column to quantiles over training rows that the model carries; after
        ``fit(..., importances=True)`` the permutation importance of the CRPS on rows that were left out.
    """

    #: The name of the method on the command line and in model files.
    method: ClassVar[str]

    def _store(self, parameters: dict[str, Any]) -> None:
        """Stores the parameters of ``__init__`` unchanged; a subclass stores its additional parameters itself."""
        for name in ESTIMATORS[self.method]._get_param_names():
            setattr(self, name, parameters[name])

    def set_params(self: Self, **params: Any) -> Self:
        """Sets parameters, as scikit-learn has it; former names are accepted with a warning."""
        super().set_params(**with_current_names(params, self._get_param_names(), stacklevel=2))
        return self

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
        censoring: Literal["interval"] | None = None,
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
            right-censored. Lengths of time (timedelta) are learnt in seconds, as among the inputs.
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
        censoring : "interval", optional
            Says that the two columns of ``y`` are the bounds of each target.

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
        self._evaluations = [_scores(self.predict_dist(rows), targets) for rows, targets in eval_set]
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
        censoring: str | None = None,
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
        censoring: str | None = None,
    ) -> Task:
        """The training task; sets the names of the columns of ``X``."""
        if y is None:
            name = type(self).__name__
            raise ValueError(f"This {name} estimator requires y to be passed, but the target y is None.")
        if self.method not in METHODS:
            raise ValueError(f"this version of the native module has no method {self.method}")
        X, y = with_target(X, y)
        X = self._check_X(X, reset=True, least_rows=METHODS[self.method]["least_rows"])
        self._names = [str(name) for name in getattr(self, "feature_names_in_", _numbered(self.n_features_in_))]
        known = {name: getattr(self, name) for name in ("lower", "upper", "continuous", "discrete", "step")}
        seed = seed_of(self.random_state)
        return task_of(X, y, self._names, sample_weight, groups, dates, time, **known, seed=seed, censoring=censoring)

    def _forget(self) -> None:
        names = ("model_", "_drift", "_names", "n_features_in_", "feature_names_in_", "_evaluations", "_held_out")
        for name in (*names, "_importances", "_own_importances"):
            self.__dict__.pop(name, None)

    def __sklearn_is_fitted__(self) -> bool:
        return "model_" in self.__dict__

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    @overload
    def predict(self, X: Any, return_std: Literal[False] = False) -> NDArray[np.float64]: ...
    @overload
    def predict(self, X: Any, return_std: Literal[True]) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...

    def predict(
        self, X: Any, return_std: bool = False
    ) -> NDArray[np.float64] | tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The mean of each row's distribution, and with ``return_std`` its standard deviation too."""
        with python_errors(X):
            rows = self._rows(X)
            means, sds, found = self.model_.moments(rows, sds=bool(return_std), threads=self._threads())
        warn(found)
        return means if sds is None else (means, sds)

    def predict_dist(self, X: Any) -> Distribution:
        """The predicted distribution of each row: see :class:`negmm.Distribution`."""
        with python_errors(X):
            rows = self._rows(X)
            predictions, found = self.model_.predict(rows, threads=self._threads())
        warn(found)
        index = getattr(X, "index", None) if is_frame(X) else None
        index = index if index is not None and len(index) == len(predictions) else None
        return Distribution(predictions, index=index, n_jobs=self.n_jobs)

    def pred_dist(self, X: Any) -> Distribution:
        """The same as :meth:`predict_dist`."""
        return self.predict_dist(X)

    def predict_quantiles(self, X: Any, alpha: float | Sequence[float] = (0.05, 0.5, 0.95)) -> NDArray[np.float64]:
        """The values that the target stays below with probability ``alpha``: one a row, or rows × alphas."""
        levels = np.asarray(alpha, dtype=np.float64)
        if not np.all((levels > 0) & (levels < 1)):
            raise ValueError(f"expected an alpha strictly between 0 and 1, found {alpha}")
        if len(pieces := self._pieces_of(X)) > 1:
            return np.concatenate([self.predict_quantiles(piece, alpha) for piece in pieces])
        distribution = self.predict_dist(X)
        return distribution.ppf(levels) if levels.ndim == 0 else distribution.ppf(levels[:, np.newaxis]).T

    def predict_var(self, X: Any) -> NDArray[np.float64]:
        """The variance of each row's distribution."""
        return np.concatenate([self.predict_dist(piece).var() for piece in self._pieces_of(X)])

    def novelty(self, X: Any) -> tuple[NDArray[np.float64], NDArray[np.object_]]:
        """How far each row lies outside the ranges of the training rows, and the input responsible (None inside).

        0 inside all ranges; else the largest distance beyond the smallest or largest number of training, in standard
        deviations of that input. A category that training had not seen counts as 1.
        """
        with python_errors(X):
            distances, inputs = self.model_.novelty(self._rows(X))
        return distances, np.array(inputs, dtype=object)

    @property
    def record_(self) -> dict[str, Any]:
        """Training record: rows, seed, held-out scores of the model and of the constant baseline, losses."""
        check_is_fitted(self)
        return self._description()["record"]

    @property
    def n_iter_(self) -> int:
        """Epochs, or rounds of boosting, of the network that was trained longest."""
        return max((len(history["epochs"]) for history in self.record_["histories"]), default=0)

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

    def report(
        self,
        X: Any,
        y: ArrayLike,
        path: str | os.PathLike[str] | None = None,
        *,
        sample_weight: ArrayLike | None = None,
        source: str = "these rows",
    ) -> Report:
        """The report on rows with known targets, as one HTML page that loads nothing: scores, the effect of each input
        on the whole distribution, calibration, and single rows to pick. Notebooks show it.

        Parameters
        ----------
        X, y : rows and targets
            As for ``fit``; best rows that the fit has not seen.
        path : path, optional
            Where to write the page as well.
        sample_weight : array of shape (rows,), optional
            Weights of the rows.
        source : str
            What the page calls the rows.
        """
        check_is_fitted(self)
        with python_errors(X):
            rows = self._check_X(X, reset=False, least_rows=1)
            target = self._description()["target"]
            more: NamedColumns = [(target, check_vector(lengths_of_time(y)))]
            weight = None
            if sample_weight is not None:
                weight = unique_name(None, [*self._names, target], "sample_weight")
                more.append((weight, check_vector(sample_weight)))
            check_consistent_length(rows, more[0][1])
            page = Report(self.model_.report(table(rows, self._names, more), weight, source))
        if path is not None:
            page.save(path)
        return page

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model file, which the command line reads too; the write is atomic."""
        check_is_fitted(self)
        write_atomically(path, self.model_.to_bytes())

    def to_onnx(self, path: str | os.PathLike[str]) -> None:
        """Writes an ONNX graph from named columns to the distribution, for runtimes without negmm; the write is atomic.

        Inputs and outputs are described in ``docs/onnx.md``.
        """
        check_is_fitted(self)
        write_atomically(path, self.model_.to_onnx())

    @classmethod
    def load(cls: type[Self], path: str | os.PathLike[str]) -> Self:
        """Reads a model file of this method, written here or by the command line. ``negmm.load`` reads that of any."""
        model, description = model_in(path)
        method = description["method"]["name"]
        if method != cls.method:
            found = ESTIMATORS[method].__name__
            raise ValueError(f"{os.fspath(path)}: expected a model of {cls.__name__}, found {found}")
        return cls._of_model(model, description)

    @classmethod
    def _of_model(cls: type[Self], model: _native.Model, description: dict[str, Any]) -> Self:
        """A fitted estimator around a model with that description, with the parameters that it was trained with."""
        options = description["method"]
        options = {**options.get("member", {}), **options}
        known = cls._get_param_names()
        values = {name: parameter_value(options[option_of(name)]) for name in known if option_of(name) in options}
        values.update({name: description["support"].get(name) for name in ("lower", "upper") if name in known})
        estimator = cls(**values)
        estimator.model_ = model
        estimator.random_state = description["record"]["seed"]
        estimator._names = [name for name, _ in description["inputs"]]
        estimator.n_features_in_ = len(estimator._names)
        if estimator._names != _numbered(estimator.n_features_in_):
            estimator.feature_names_in_ = np.array(estimator._names, dtype=object)
        return estimator

    def _description(self) -> dict[str, Any]:
        return json.loads(self.model_.describe())

    def _rows(self, X: Any) -> _native.Table:
        """The rows to predict, as a table."""
        check_is_fitted(self)
        X = self._check_X(X, reset=False, least_rows=1)
        return table(X, self._names, [])

    def _check_X(self, X: Any, *, reset: bool, least_rows: int) -> Any:
        """A data frame as it is, anything else as an array. NaN is missing; the library refuses infinity."""
        if type(X).__name__ == "LazyFrame":
            raise TypeError("X is a LazyFrame, which has no rows yet: pass X.collect()")
        if is_frame(X):
            rows = X if is_pandas(X) or isinstance(X, Streamed) else Streamed(X)
            if not reset and is_files(X):
                rows = rows.select(list(getattr(self, "feature_names_in_", rows.columns)))
                X = rows
            self._check_names(known_names(X, rows), rows, reset)
            return rows
        if has_text(X):
            validate_data(self, X, reset=reset, skip_check_array=True)
            return X
        kind = getattr(getattr(X, "dtype", None), "kind", None)
        if kind == "M" and getattr(X, "ndim", None) == 2:
            validate_data(self, X, reset=reset, skip_check_array=True)
            return X
        if kind == "m":
            X = np.where(np.isnat(X), np.nan, X / np.timedelta64(1, "s"))
        return validate_data(
            self,
            X,
            reset=reset,
            dtype=[np.float64, np.float32],
            ensure_all_finite=False,
            ensure_min_samples=least_rows,
        )

    def _check_names(self, known: Any, rows: Any, reset: bool) -> None:
        """Checks number and names of the columns as scikit-learn does; by the same rules where it does not know the
        type of data frame."""
        if known is not None:
            validate_data(self, known, reset=reset, skip_check_array=True)
        elif reset:
            self.n_features_in_ = rows.shape[1]
            self.feature_names_in_ = np.array(rows.columns, dtype=object)
        elif rows.shape[1] != self.n_features_in_:
            expected = f"{type(self).__name__} is expecting {self.n_features_in_} features as input"
            raise ValueError(f"X has {rows.shape[1]} features, but {expected}.")
        elif rows.columns != list(getattr(self, "feature_names_in_", rows.columns)):
            expected = f"expected {self.feature_names_in_.tolist()}, found {rows.columns}"
            raise ValueError(f"The feature names should match those that were passed during fit: {expected}.")

    def _options(self) -> list[tuple[str, str]]:
        """The options that are not None, as text."""
        own = [name for name in ESTIMATORS[self.method]._get_param_names() if name not in FIT_PARAMETERS]
        given = [(name, getattr(self, name)) for name in own]
        return [(option_of(name), option_text(name, value)) for name, value in given if value is not None]

    def _threads(self) -> int:
        return threads_of(self.n_jobs)

    def __getstate__(self) -> dict[str, Any]:
        """The state for pickle, joblib and skops: plain values, and the model as the bytes of its file."""
        state: dict[str, Any] = dict(super().__getstate__())
        # The distributions of all rows would be many times as large as the model.
        state.pop("_held_out", None)
        state.pop("_own_importances", None)
        if "model_" in state:
            state["model_"] = state["model_"].to_bytes()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = with_current_names(state, self._get_param_names())
        if isinstance(state.get("model_"), bytes):
            state = {**state, "model_": _native.Model.from_bytes(state["model_"])}
        super().__setstate__(state)


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


def _scores(dist: Distribution, y: ArrayLike) -> dict[str, float]:
    """Scores of the rows of an ``eval_set``; of censored targets those that are defined."""
    if censored_bounds(y, declared=True) is not None:
        from negmm.metrics import concordance

        known = np.asarray(y)
        return {"nll": float(np.mean(log_scores(known, dist))), "concordance": concordance(known, dist.median())}
    targets = check_vector(y)
    error = np.sqrt(np.mean((np.asarray(dist.mean()) - targets) ** 2))
    return {"crps": float(np.mean(dist.crps(targets))), "nll": float(np.mean(dist.nll(targets))), "rmse": float(error)}


def model_in(path: str | os.PathLike[str]) -> tuple[_native.Model, dict[str, Any]]:
    """The model in a file, and its description."""
    file = os.fspath(path)
    try:
        model = _native.Model.from_bytes(Path(file).read_bytes())
    except ValueError as error:
        raise ValueError(f"{file}: {error}") from None
    return model, json.loads(model.describe())


def _numbered(count: int) -> list[str]:
    """Names of unnamed columns in model files."""
    return [f"x{column}" for column in range(count)]
