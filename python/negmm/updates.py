"""Rows beside those of the fit: new ones to go on learning from, and those that choose when to stop."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from negmm import _native
from negmm.censored import Censoring
from negmm.executor import exchange_with
from negmm.messages import python_errors, warn
from negmm.progress import progress
from negmm.seed import seed_of
from negmm.table import with_target
from negmm.task import Dates, TargetColumns, Task, task_of

Self = TypeVar("Self", bound="UpdatesMixin")


class UpdatesMixin:
    """The method ``update`` of estimators."""

    model_: Any
    n_jobs: int | None
    random_state: Any
    verbose: int
    _names: list[str]

    # Of the base class of estimators.
    _check_X: Any
    _description: Any
    _keep_held_out: Any
    _threads: Any

    def _append(self, task: Task, X: Any, y: Any, dates: Dates, censoring: Censoring | None, weight: float) -> int:
        """Appends rows to those of a task, each with that weight; returns how many."""
        X, y = with_target(X, y)
        X = self._check_X(X, reset=False, least_rows=1)
        known = {name: getattr(self, name) for name in ("lower", "upper", "continuous")}
        weights = None if task["weight"] is None else np.full(X.shape[0], weight)
        like = TargetColumns(task["target"], task["censored"], task["upper_end"])
        more = task_of(X, y, self._names, weights, None, dates, None, **known, seed=0, censoring=censoring, like=like)
        task["table"] = task["table"].followed_by(more["table"])
        return len(more["table"])

    def update(
        self: Self,
        X: Any,
        y: Any,
        *,
        replay: tuple[Any, Any] | None = None,
        replay_weight: float = 1.0,
        sample_weight: ArrayLike | None = None,
        dates: Dates = None,
        censoring: Censoring | None = None,
        epochs: int | None = None,
        learning_rate: float | None = None,
        executor: Any = None,
        engine: str = "auto",
    ) -> Self:
        """Goes on learning from new rows: the networks start from their fitted parameters, for a short training.

        The model keeps nothing of the rows that it was fitted to. So that it does not forget them, give them, or a sample
        of them, as ``replay``. Validation rows are drawn from the new ones. What was learnt about the columns stays: their
        types, scales and categories, and the scale, grid and bounds of the target; where these have changed, fit anew.
        Conformal calibration is dropped, as it was that of the old model. For ``NEGMMRegressor``, ``MDNRegressor``,
        ``BetaNLLRegressor``, ``SampleNetRegressor`` and ``EnsembleRegressor``.

        Parameters
        ----------
        X, y, sample_weight, dates, censoring, executor, engine
            New rows, as for ``fit``.
        replay : (X, y), optional
            Old rows to learn from again.
        replay_weight : float
            Weight of each of them; new rows have 1, or their ``sample_weight``.
        epochs : int, optional
            Passes over the rows; None: a quarter of those of the fit.
        learning_rate : float, optional
            Peak learning rate; None: that of the fit.

        Returns
        -------
        self

        >>> import numpy as np
        >>> from negmm import BetaNLLRegressor
        >>> x = np.linspace(-1, 1, 80)[:, np.newaxis]
        >>> model = BetaNLLRegressor(hidden=(8,), epochs=60).fit(x, x[:, 0])
        >>> moved = model.update(x, x[:, 0] + 1, epochs=120).predict([[0.0]])
        >>> bool(abs(moved[0] - 1) < 0.3)
        True
        """
        check_is_fitted(self)
        if not (np.isfinite(replay_weight) and replay_weight >= 0):
            raise ValueError(f"replay_weight must be a number, at least 0, found {replay_weight!r}")
        with python_errors(X):
            X, y = with_target(X, y)
            rows = self._check_X(X, reset=False, least_rows=1)
            known = {name: getattr(self, name) for name in ("lower", "upper", "continuous")}
            weights = np.ones(rows.shape[0]) if sample_weight is None and replay_weight != 1.0 else sample_weight
            described, seed = self._description(), seed_of(self.random_state)
            like = TargetColumns(described["target"], described["censored"], described["upper_end"])
            task = task_of(
                rows, y, self._names, weights, None, dates, None, **known, seed=seed, censoring=censoring, like=like
            )
            replayed = 0 if replay is None else self._append(task, *replay, dates, censoring, float(replay_weight))
            with exchange_with(executor, self.n_jobs) as exchange, progress(self.verbose, "update", "networks") as bar:
                model, held_out, found, self._drift = _native.update(
                    self.model_,
                    task,
                    replayed,
                    epochs,
                    learning_rate,
                    threads=self._threads(),
                    exchange=exchange,
                    progress=bar,
                    engine=engine,
                )
        self.model_ = model
        for name in ("_evaluations", "_importances", "_own_importances"):
            self.__dict__.pop(name, None)
        self._keep_held_out(held_out, X)
        warn(found)
        return self
