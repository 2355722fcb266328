"""The base class of all estimators: scikit-learn's interface to the models of the library."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from negmm import _native
from negmm.conformal import ConformalMixin
from negmm.distribution import Distribution
from negmm.explainable import ExplainableMixin
from negmm.files import write_atomically
from negmm.fitting import FitMixin, numbered
from negmm.messages import option_of, python_errors, warn
from negmm.options import option_text, parameter_value
from negmm.renamed import with_current_names
from negmm.report import Report
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
)
from negmm.task import lengths_of_time
from negmm.threads import threads_of
from negmm.updates import UpdatesMixin
from negmm.validation import check_vector

Self = TypeVar("Self", bound="DistributionRegressor")

#: Parameters that are not options of a method: bounds of the target, and how to fit.
FIT_PARAMETERS = ("lower", "upper", "continuous", "discrete", "step", "random_state", "n_jobs", "verbose")

#: The estimator of each method, by the method's name.
ESTIMATORS: dict[str, type[DistributionRegressor]] = {}


class DistributionRegressor(FitMixin, ConformalMixin, ExplainableMixin, UpdatesMixin, RegressorMixin, BaseEstimator):
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
        if estimator._names != numbered(estimator.n_features_in_):
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
            if is_pandas(X) and not X.columns.is_unique:
                name = X.columns[X.columns.duplicated()][0]
                raise ValueError(f"the column name {str(name)!r} occurs more than once")
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


def model_in(path: str | os.PathLike[str]) -> tuple[_native.Model, dict[str, Any]]:
    """The model in a file, and its description."""
    file = os.fspath(path)
    try:
        model = _native.Model.from_bytes(Path(file).read_bytes())
    except ValueError as error:
        raise ValueError(f"{file}: {error}") from None
    return model, json.loads(model.describe())
