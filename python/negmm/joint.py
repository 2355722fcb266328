"""Several targets at once: an estimator of their joint distribution, and the distribution."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import check_array, check_consistent_length
from sklearn.utils.validation import check_is_fitted

from negmm import _native
from negmm.distribution import Distribution
from negmm.files import write_atomically
from negmm.messages import option_of, python_errors, warn, warn_of_seen
from negmm.options import option_text
from negmm.regressor import DistributionRegressor
from negmm.seed import seed_of
from negmm.table import NamedColumns, table, unique_name
from negmm.task import Dates, task_of
from negmm.threads import threads_of

Numbers = NDArray[np.float64]
Self = TypeVar("Self", bound="JointRegressor")


class JointDistribution:
    """The joint distribution of several targets, one for each row: Gaussian mixtures over vectors.

    Marginals, conditionals, linear combinations, densities, means and covariances are in closed form.

    Attributes
    ----------
    targets : list of str
        The names of the targets.
    """

    def __init__(self, predictions: _native.JointPredictions, index: Any = None, n_jobs: int | None = None) -> None:
        self._predictions = predictions
        self._index = index
        self._n_jobs = n_jobs
        self.targets: list[str] = predictions.names

    def __len__(self) -> int:
        return len(self._predictions)

    def __repr__(self) -> str:
        rows = "1 row" if len(self) == 1 else f"{len(self)} rows"
        mixture = f"mixture of {self._predictions.components} Gaussians"
        return f"<JointDistribution of {rows}, targets {', '.join(self.targets)}: {mixture}>"

    def __getitem__(self, rows: Any) -> JointDistribution:
        """The distributions of some rows."""
        chosen = np.atleast_1d(np.arange(len(self))[rows])
        index = None if self._index is None else self._index[chosen]
        return JointDistribution(self._predictions.select(chosen.tolist()), index, self._n_jobs)

    def _target(self, target: int | str) -> int:
        if isinstance(target, str):
            if target not in self.targets:
                raise ValueError(f"{target!r} is not a target; the targets are {', '.join(self.targets)}")
            return self.targets.index(target)
        return range(len(self.targets))[target]

    def _of_one(self, predictions: _native.Predictions) -> Distribution:
        return Distribution(predictions, index=self._index, n_jobs=self._n_jobs)

    def marginal(self, target: int | str) -> Distribution:
        """The exact distribution of one target, by name or number."""
        return self._of_one(self._predictions.marginal(self._target(target)))

    def conditional(self, given: Mapping[int | str, ArrayLike]) -> JointDistribution:
        """The joint distribution of the other targets when these are known: a number for all rows, or one for each."""
        targets = [self._target(target) for target in given]
        values = [np.broadcast_to(np.asarray(value, dtype=np.float64), (len(self),)) for value in given.values()]
        columns = np.column_stack(values) if values else np.empty((len(self), 0))
        conditional = self._predictions.conditional(targets, np.ascontiguousarray(columns).ravel())
        return JointDistribution(conditional, self._index, self._n_jobs)

    def linear(
        self, coefficients: str | Mapping[int | str, float] | Sequence[float], offset: float = 0.0
    ) -> Distribution:
        """The exact distribution of a linear combination: coefficients of all targets, a dict of some, or a text such
        as ``"profit = revenue - cost"``."""
        if isinstance(coefficients, str):
            return self._of_one(self._predictions.combine(coefficients)[1])
        if isinstance(coefficients, Mapping):
            numbers = [0.0] * len(self.targets)
            for target, coefficient in coefficients.items():
                numbers[self._target(target)] = float(coefficient)
        else:
            numbers = [float(coefficient) for coefficient in coefficients]
        return self._of_one(self._predictions.linear(numbers, float(offset)))

    def mean(self) -> Numbers:
        """Means, rows × targets."""
        return self._predictions.mean().reshape(len(self), len(self.targets))

    def cov(self) -> Numbers:
        """Covariance matrices, rows × targets × targets."""
        size = len(self.targets)
        return self._predictions.cov().reshape(len(self), size, size)

    def corr(self) -> Numbers:
        """Correlation matrices, rows × targets × targets."""
        cov = self.cov()
        sds = np.sqrt(np.diagonal(cov, axis1=1, axis2=2))
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.nan_to_num(cov / (sds[:, :, np.newaxis] * sds[:, np.newaxis, :]))

    def std(self) -> Numbers:
        """Standard deviations, rows × targets."""
        return np.sqrt(np.diagonal(self.cov(), axis1=1, axis2=2))

    def logpdf(self, y: ArrayLike) -> Numbers:
        """The logarithm of the joint density at ``y``, rows × targets."""
        return self._predictions.logpdf(self._vectors(y).ravel())

    def pdf(self, y: ArrayLike) -> Numbers:
        """The joint density at ``y``, rows × targets."""
        return np.exp(self.logpdf(y))

    def rvs(self, size: int | None = None, random_state: Any = None) -> Numbers:
        """Random vectors: rows × targets, or size × rows × targets."""
        count = 1 if size is None else int(size)
        draws = self._predictions.sample(count, seed_of(random_state))
        draws = draws.reshape(len(self), count, len(self.targets)).transpose(1, 0, 2)
        return np.ascontiguousarray(draws[0] if size is None else draws)

    def probability(
        self, lower: Mapping[int | str, float], upper: Mapping[int | str, float]
    ) -> tuple[Numbers, Numbers]:
        """The probability that all targets lie above ``lower`` and up to ``upper``, and its standard error."""
        below, above = [-np.inf] * len(self.targets), [np.inf] * len(self.targets)
        for target, bound in lower.items():
            below[self._target(target)] = float(bound)
        for target, bound in upper.items():
            above[self._target(target)] = float(bound)
        return self._predictions.probability(below, above)

    def region(self, coverage: float = 0.9, kind: str = "density") -> tuple[Numbers, Numbers]:
        """The border of the region of this coverage in each row, and its volume.

        ``kind="density"``: the highest-density region {y: logpdf(y) >= border}; ``kind="ellipsoid"``: all vectors whose
        Mahalanobis distance from the mean is at most the border.
        """
        if not 0 < coverage < 1:
            raise ValueError(f"expected a coverage strictly between 0 and 1, found {coverage}")
        return self._predictions.regions(kind, np.full(len(self), 1.0 - coverage))

    def contains(self, y: ArrayLike, border: ArrayLike, kind: str = "density") -> NDArray[np.bool_]:
        """Whether the regions with these borders contain ``y``, rows × targets."""
        at = self._predictions.region_statistic(kind, self._vectors(y).ravel())
        return at <= np.asarray(border) if kind == "ellipsoid" else at >= np.asarray(border)

    def scores(self, y: ArrayLike) -> dict[str, Any]:
        """Mean scores of the observed ``y``, rows × targets: those of ``negmm evaluate``."""
        return json.loads(self._predictions.scores(self._vectors(y).ravel()))

    def components(self) -> tuple[Numbers, Numbers, Numbers]:
        """Weights (rows × components), means (… × targets) and Cholesky factors (… × targets × targets)."""
        rows, count, size = len(self), self._predictions.components, len(self.targets)
        factors = np.zeros((rows, count, size, size))
        below = np.tril_indices(size)
        factors[:, :, below[0], below[1]] = self._predictions.factors().reshape(rows, count, -1)
        means = self._predictions.means().reshape(rows, count, size)
        return self._predictions.weights().reshape(rows, count), means, factors

    def _vectors(self, y: ArrayLike) -> Numbers:
        numbers = np.ascontiguousarray(np.asarray(y, dtype=np.float64))
        if numbers.ndim == 1 and len(self) == 1:
            numbers = numbers[np.newaxis]
        if numbers.shape != (len(self), len(self.targets)):
            raise ValueError(f"expected shape {(len(self), len(self.targets))}, found {numbers.shape}")
        return numbers


class JointRegressor(RegressorMixin, BaseEstimator):
    """Predicts the joint distribution of several targets.

    Parameters
    ----------
    method : str
        "auto", "ne-gmm", "mdn" or "ensemble".
    options : dict, optional
        Options of the method, by the names of its own estimator: ``{"preset": "fast"}``.
    random_state : int, RandomState or None
        Seed of all random choices.
    n_jobs : int, optional
        Threads; None: all cores that this process may use.

    Attributes
    ----------
    model_ : native model
        The fitted model; pickle stores it as the bytes of the model file.
    targets_ : list of str
        The names of the targets: the columns of a data frame, else y0, y1 …
    n_features_in_ : int
        Columns of X.
    record_ : dict
        Training record with held-out scores.

    Examples
    --------
    >>> import numpy as np
    >>> from negmm import JointRegressor
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(200, 1))
    >>> noise = rng.normal(size=200)
    >>> y = np.column_stack([x[:, 0] + noise, x[:, 0] - noise])
    >>> model = JointRegressor("ne-gmm", options={"epochs": 30}, random_state=0).fit(x, y)
    >>> dist = model.predict_dist(x[:2])
    >>> dist.mean().shape, dist.cov().shape
    ((2, 2), (2, 2, 2))
    >>> bool((dist.corr()[:, 0, 1] < -0.5).all())
    True
    """

    def __init__(
        self,
        method: str = "auto",
        options: Mapping[str, Any] | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.method = method
        self.options = options
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(
        self: Self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        dates: Dates = None,
        engine: str = "auto",
    ) -> Self:
        """Fits the joint distribution of the columns of ``y`` given ``X``; NaN in ``y`` is a target that is not known.

        ``X`` is what the other estimators take; ``y`` is an array or a data frame of shape (rows, targets), or (rows,)
        of one target.
        """
        if y is None:
            raise ValueError("This JointRegressor estimator requires y to be passed, but the target y is None.")
        for name in ("model_", "targets_", "_names", "_one_dimensional", "n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
        with python_errors(X):
            X = self._check_X(X, reset=True, least_rows=2)
            columns = getattr(y, "columns", None)
            values = check_array(y, dtype=np.float64, ensure_all_finite="allow-nan", ensure_2d=False, input_name="y")
            self._one_dimensional = values.ndim == 1
            values = values[:, np.newaxis] if values.ndim == 1 else values
            if values.ndim != 2 or values.shape[1] < 1:
                raise ValueError(f"expected targets of shape (rows, targets), found {values.shape}")
            check_consistent_length(X, values)
            width = self.n_features_in_
            self._names = [str(n) for n in getattr(self, "feature_names_in_", [f"x{i}" for i in range(width)])]
            names: list[str] = []
            for at in range(values.shape[1]):
                wanted = f"y{at}" if columns is None else str(columns[at])
                names.append(unique_name(wanted, [*self._names, *names], wanted))
            seed = seed_of(self.random_state)
            nothing = np.zeros(len(values))
            task = task_of(
                X,
                nothing,
                self._names,
                sample_weight,
                groups,
                dates,
                None,
                lower=None,
                upper=None,
                continuous=False,
                discrete=False,
                step=None,
                seed=seed,
            )
            more: NamedColumns = [(name, np.ascontiguousarray(values[:, at])) for at, name in enumerate(names)]
            # The column of the one target that a task has is not used.
            unused = unique_name(None, [*task["table"].names, *names], "unused")
            columns_of_task = [unused if name == task["target"] else name for name in task["table"].names]
            task["ignore"] = [*task["ignore"], unused]
            task["table"] = task["table"].renamed_with(columns_of_task, more)
            given = self.options or {}
            options = [
                (option_of(name), option_text(name, value)) for name, value in given.items() if value is not None
            ]
            self.model_, found = _native.fit_joint(
                task, names, (self.method, options), threads=threads_of(self.n_jobs), engine=engine
            )
        self.targets_ = names
        warn(found)
        return self

    def predict(self, X: Any) -> Numbers:
        """The mean of each target, rows × targets; rows where ``y`` had one dimension."""
        means = self.predict_dist(X).mean()
        return means[:, 0] if self.__dict__.get("_one_dimensional", False) else means

    def predict_dist(self, X: Any) -> JointDistribution:
        """The joint distribution of each row."""
        check_is_fitted(self)
        with python_errors(X):
            rows = table(self._check_X(X, reset=False, least_rows=1), self._names, [])
            predictions, found = self.model_.predict(rows, threads=threads_of(self.n_jobs))
        warn(found)
        index = getattr(X, "index", None)
        index = index if index is not None and not callable(index) and len(index) == len(predictions) else None
        return JointDistribution(predictions, index=index, n_jobs=self.n_jobs)

    def calibrate(
        self: Self, X: Any, y: ArrayLike, by: Sequence[Any] | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Calibrates conformal regions on rows that the model was not fitted to; by the groups ``by``, where given."""
        check_is_fitted(self)
        with python_errors(X):
            rows = table(self._check_X(X, reset=False, least_rows=1), self._names, [])
            values = check_array(y, dtype=np.float64, input_name="y")
            check_consistent_length(X, values)
            if values.shape[1] != len(self.targets_):
                raise ValueError(f"expected {len(self.targets_)} targets for each row, found {values.shape[1]}")
            weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64).tolist()
            groups = None if by is None else [str(name) for name in by]
            self.model_, seen = self.model_.calibrated(
                rows,
                np.ascontiguousarray(values).ravel(),
                by=groups,
                weights=weights,
                threads=threads_of(self.n_jobs),
            )
        warn_of_seen(seen)
        return self

    def conformal_region(
        self,
        X: Any,
        coverage: float = 0.9,
        kind: str = "density",
        by: Sequence[Any] | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> tuple[Numbers, Numbers]:
        """Border and volume of the conformal region of each row, as :meth:`JointDistribution.region`; after
        :meth:`calibrate`."""
        dist = self.predict_dist(X)
        weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64).tolist()
        groups = None if by is None else [str(name) for name in by]
        with python_errors(X):
            outside = self.model_.outside(kind, coverage, len(dist), by=groups, weights=weights)
            return dist._predictions.regions(kind, outside)

    def guarantees(self, coverage: float = 0.9, kind: str = "density") -> dict[str, str]:
        """The coverage guarantee of conformal regions in each group, as a sentence; without groups that of all rows,
        under an empty name."""
        check_is_fitted(self)
        with python_errors():
            return dict(self.model_.guarantees(kind, coverage))

    def to_onnx(self, path: str | os.PathLike[str]) -> None:
        """Writes an ONNX graph from named columns to weights, means and factors of the mixtures, and to mean, sd and
        quantiles of each target. Not of copulas and chains: these are parts of most fits of "auto"."""
        check_is_fitted(self)
        write_atomically(path, self.model_.to_onnx())

    @property
    def record_(self) -> dict[str, Any]:
        """Training record: rows, seed, held-out scores of the model and of the baseline."""
        check_is_fitted(self)
        return json.loads(self.model_.describe())["record"]

    @property
    def forms_(self) -> list[tuple[str, float]]:
        """The forms of the joint distribution that are pooled, with their weights."""
        check_is_fitted(self)
        return [tuple(form) for form in json.loads(self.model_.describe())["forms"]]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model file, which the command line reads too; the write is atomic."""
        check_is_fitted(self)
        write_atomically(path, self.model_.to_bytes())

    @classmethod
    def load(cls: type[Self], path: str | os.PathLike[str]) -> Self:
        """Reads a model file of several targets, written here or by the command line."""
        file = os.fspath(path)
        try:
            model = _native.JointModel.from_bytes(Path(file).read_bytes())
        except ValueError as error:
            raise ValueError(f"{file}: {error}") from None
        description = json.loads(model.describe())
        estimator = cls(method=description["method"]["name"], random_state=description["record"]["seed"])
        estimator.model_ = model
        estimator.targets_ = description["targets"]
        estimator._names = description["inputs"]
        estimator.n_features_in_ = len(estimator._names)
        if estimator._names != [f"x{at}" for at in range(estimator.n_features_in_)]:
            estimator.feature_names_in_ = np.array(estimator._names, dtype=object)
        return estimator

    def __sklearn_is_fitted__(self) -> bool:
        return "model_" in self.__dict__

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.target_tags.multi_output = True
        return tags

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = dict(super().__getstate__())
        if "model_" in state:
            state["model_"] = state["model_"].to_bytes()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        if isinstance(state.get("model_"), bytes):
            state = {**state, "model_": _native.JointModel.from_bytes(state["model_"])}
        super().__setstate__(state)

    _check_X = DistributionRegressor._check_X
    _check_names = DistributionRegressor._check_names
