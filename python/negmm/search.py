"""Comparison of methods and hyperparameter search, with tables of pandas.

Needs pandas (``pip install pandas``).
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypedDict

import numpy as np

from negmm import _native
from negmm.censored import Censoring
from negmm.executor import exchange_with
from negmm.messages import option_of, parameter_of, python_errors
from negmm.methods import ConstantRegressor, NEGMMRegressor
from negmm.options import METHODS, option_text
from negmm.progress import progress
from negmm.regressor import ESTIMATORS, DistributionRegressor
from negmm.renamed import with_current_names
from negmm.table import Streamed, is_files, with_target
from negmm.task import Dates, Splitting, Task, lengths_of_time
from negmm.threads import threads_of
from negmm.validation import check_vector, check_weights

Methods = Sequence[str | DistributionRegressor] | Mapping[str, DistributionRegressor] | str | DistributionRegressor
#: The same with estimators of other libraries.
Estimators = Sequence[Any] | Mapping[str, Any] | str | Any
#: Values to try, a uniform range (low, high), or a log-uniform range (low, high, "log").
Values = Sequence[Any]

#: The scores of which less is better.
LOSSES = ("rmse", "nll", "mass_nll", "crps", "integrated_brier", "seconds")
#: The scores in the order of the command line's tables.
SCORES = ("rmse", "nll", "mass_nll", "crps", "integrated_brier", "concordance", "picp", "mpiw", "seconds")


class SearchSettings(TypedDict):
    """The settings of a search beside its task."""

    tries: list[str]
    search: str | None
    trials: int | None
    factor: int
    by: str
    journal: str | None


@dataclass(frozen=True)
class Comparison:
    """Scores of several methods on the same splits.

    Attributes
    ----------
    table : pandas.DataFrame
        Mean of each score over the splits, one row per method, and under ``(score, "se")`` its standard error.
    scores : pandas.DataFrame
        The scores of each method and split.
    best : dict
        For each score the method that is better than every other that has it by more than two standard errors of the
        paired difference, or None.
    """

    table: Any
    scores: Any
    best: dict[str, str | None]

    def _repr_html_(self) -> str:
        html: str = self.table._repr_html_()
        return html


@dataclass(frozen=True)
class Tuning:
    """Result of a search.

    Attributes
    ----------
    table : pandas.DataFrame
        Every configuration, the best first: its method, its settings, the mean and the standard error of each score
        over the splits, the fraction of the rows that it was trained on, and its error where it failed.
    best_params : dict
        Parameters of the best configuration.
    best_estimator : DistributionRegressor
        The best configuration, fitted to all rows unless ``refit`` was False.
    """

    table: Any
    best_params: dict[str, Any]
    best_estimator: DistributionRegressor

    def _repr_html_(self) -> str:
        html: str = self.table._repr_html_()
        return html


def compare(
    X: Any,
    y: Any,
    methods: Estimators | None = None,
    *,
    folds: int = 5,
    repeats: int | None = None,
    test: float = 0.1,
    sample_weight: Any = None,
    groups: Any = None,
    dates: Dates = None,
    time: Any = None,
    censoring: Censoring | None = None,
    random_state: int = 0,
    n_jobs: int | None = None,
    executor: Any = None,
    verbose: int = 0,
    engine: str = "auto",
) -> Comparison:
    """Fits every method on every split and scores it on the test rows, as ``negmm compare`` does.

    Parameters
    ----------
    X, y, sample_weight, groups, dates, time, censoring
        As for ``fit``; with ``time`` each fold is predicted from what came before it.
    methods : names or estimators, optional
        Methods to compare; a dict gives them names. None: all methods with their default settings. Estimators of other
        libraries are cloned, fitted to the same rows (in this process, one after the other) and scored by
        :func:`negmm.evaluate`: what they predict may be distributions (``predict_dist``, ngboost's ``pred_dist``,
        skpro's ``predict_proba``, ``predict(X, return_std=True)``) or points, whose CRPS is their absolute error.
    folds : int
        Number of folds; each row is scored once.
    repeats, test : int, float
        Number of random test sets, instead of folds, and their fraction of the rows.
    random_state : int
        Random seed.
    n_jobs, executor, verbose, engine
        As for estimators.

    >>> import numpy as np
    >>> import negmm
    >>> x = np.linspace(-2, 2, 60)[:, np.newaxis]
    >>> found = negmm.compare(x, x[:, 0] ** 2, [negmm.NGBoostRegressor(n_estimators=30), "constant"], folds=3)
    >>> found.best["crps"]
    'ngboost'
    """
    import pandas as pd

    both = _named(list(METHODS) if methods is None else methods)
    named = {name: estimator for name, estimator in both.items() if isinstance(estimator, DistributionRegressor)}
    others = {name: estimator for name, estimator in both.items() if name not in named}
    splitting = Splitting(folds=folds, repeats=repeats, test=test)
    learner = ConstantRegressor(**_target_of(named.values()), random_state=random_state)
    with python_errors(X):
        task = learner._task(X, y, sample_weight, groups, dates, time, censoring)
        scores_of_others = _scores_of_others(others, X, y, sample_weight, task, splitting) if others else {}
        described = [_described(estimator) for estimator in named.values()]
        with exchange_with(executor, n_jobs) as exchange, progress(verbose, "compare", "fits") as bar:
            threads = threads_of(n_jobs)
            found = json.loads(
                _native.compare(
                    task, described, splitting, threads=threads, exchange=exchange, progress=bar, engine=engine
                )
            )
    by_name = {**dict(zip(named, found["scores"], strict=True)), **scores_of_others}
    rows = [{"method": name, "split": split, **scores} for name in both for split, scores in enumerate(by_name[name])]
    scores = pd.DataFrame(rows).set_index(["method", "split"])
    scores = scores[[score for score in SCORES if score in scores]]
    by_method = scores.groupby(level="method", sort=False)
    table = pd.concat({"mean": by_method.mean(), "se": by_method.sem()}, axis=1).swaplevel(axis=1)
    table = table[[(score, part) for score in scores.columns for part in ("mean", "se")]]
    return Comparison(table, scores, _winners(scores))


def _winners(scores: Any) -> dict[str, str | None]:
    """For each score the method that is better than all others by more than two standard errors of the paired
    difference; of coverage and width, which belong together, and of concordance none."""
    return {score: _winner(scores[score].unstack("split").dropna()) if score in LOSSES else None for score in scores}


def _winner(scores: Any) -> str | None:
    """The same of one score: methods × splits."""
    if len(scores) < 2 or scores.shape[1] < 2:
        return None
    best = scores.mean(axis=1).idxmin()
    ahead = scores.drop(index=best) - scores.loc[best]
    return str(best) if (ahead.mean(axis=1) > 2.0 * ahead.sem(axis=1)).all() else None


def _scores_of_others(
    others: Mapping[str, Any], X: Any, y: Any, sample_weight: Any, task: Task, splitting: Splitting
) -> dict[str, list[dict[str, float]]]:
    """The scores of estimators of other libraries on the splits of the task."""
    from negmm.peers import scores_of

    if task["censored"] is not None:
        raise ValueError(f"estimators of other libraries cannot be compared on censored targets: {', '.join(others)}")
    X, y = with_target(X, y)
    if is_files(X) or isinstance(X, Streamed):
        raise ValueError("estimators of other libraries need rows in memory, found files")
    splits, grid = _native.comparison_splits(task, splitting)
    targets = check_vector(lengths_of_time(y))
    weights = check_weights(sample_weight, targets)
    pairs = [(np.array(train), np.array(test)) for train, test in splits]
    return {name: scores_of(other, X, targets, weights, pairs, grid) for name, other in others.items()}


def tune(
    X: Any,
    y: Any,
    method: Methods | None = None,
    space: Mapping[str, Values] | None = None,
    *,
    search: Literal["grid", "random", "halving"] | None = None,
    trials: int | None = None,
    factor: int = 3,
    by: str = "crps",
    folds: int = 5,
    repeats: int | None = None,
    test: float = 0.1,
    journal: str | os.PathLike[str] | None = None,
    refit: bool = True,
    sample_weight: Any = None,
    groups: Any = None,
    dates: Dates = None,
    time: Any = None,
    censoring: Censoring | None = None,
    random_state: int = 0,
    n_jobs: int | None = None,
    executor: Any = None,
    verbose: int = 0,
    engine: str = "auto",
) -> Tuning:
    """Searches hyperparameters by their scores on validation rows and fits the best to all rows, as ``negmm tune``
    does.

    Parameters
    ----------
    method : estimator, name, or several
        Estimators to tune; parameters that are not in the space stay as they are. None: ``NEGMMRegressor()``.
    space : dict, optional
        For each parameter a list of values, a range ``(low, high)``, or ``(low, high, "log")``. None: the options that
        most often matter, see :func:`usual_space`.
    search, trials, factor
        Grid search, random search with ``trials`` draws, or successive halving by ``factor``.
    by : str
        Score by which configurations are ranked.
    journal : path of a folder, optional
        Folder that records every finished trial, so that an interrupted search can be resumed.
    X, y, sample_weight, groups, dates, time, censoring, folds, repeats, test, random_state, n_jobs, executor, verbose,
    engine
        As for :func:`compare`.

    >>> import numpy as np
    >>> import negmm
    >>> x = np.linspace(-2, 2, 60)[:, np.newaxis]
    >>> found = negmm.tune(x, x[:, 0] ** 2, negmm.NGBoostRegressor(n_estimators=30), {"max_depth": [1, 3]}, folds=2)
    >>> found.table["max_depth"].tolist(), found.best_params
    ([3, 1], {'max_depth': 3})
    """
    import pandas as pd

    named = _named(NEGMMRegressor() if method is None else method)
    parameters = {name for estimator in named.values() for name in estimator.get_params(deep=False)}
    tried = with_current_names(space or {}, parameters, stacklevel=2)
    tries = [f"{option_of(name)}={_tried(name, values)}" for name, values in tried.items()]
    kept = None if journal is None else os.fspath(journal)
    search_settings = SearchSettings(tries=tries, search=search, trials=trials, factor=factor, by=by, journal=kept)
    splitting = Splitting(folds=folds, repeats=repeats, test=test)
    target = _target_of(named.values())
    learner = ConstantRegressor(**target, random_state=random_state)
    with python_errors(X):
        task = learner._task(X, y, sample_weight, groups, dates, time, censoring)
        described = [_described(estimator) for estimator in named.values()]
        with exchange_with(executor, n_jobs) as exchange, progress(verbose, "tune", "fits") as bar:
            threads = threads_of(n_jobs)
            ranking = json.loads(
                _native.tune(
                    task,
                    described,
                    splitting,
                    search_settings,
                    threads=threads,
                    exchange=exchange,
                    progress=bar,
                    engine=engine,
                )
            )
    rows = []
    for entry in ranking:
        settings = {parameter_of(option): _read(entry["method"], option, text) for option, text in entry["settings"]}
        scores = {}
        for score, summary in sorted(entry["scores"].items(), key=lambda score: SCORES.index(score[0])):
            scores[score], scores[f"{score}_se"] = summary["mean"], summary["se"]
        rows.append(
            {
                "method": entry["method"],
                **settings,
                **scores,
                "row_fraction": entry["row_fraction"],
                "failed": entry["failed"],
            }
        )
    best = ranking[0]
    params = {parameter_of(option): _read(best["method"], option, text) for option, text in best["settings"]}
    base = next(estimator for estimator in named.values() if estimator.method == best["method"])
    estimator = type(base)(**{**base.get_params(), **params, "random_state": random_state, "n_jobs": n_jobs})
    if refit:
        known = {"sample_weight": sample_weight, "groups": groups, "dates": dates, "time": time, "censoring": censoring}
        estimator.fit(X, y, **known, executor=executor, engine=engine)
    return Tuning(pd.DataFrame(rows), params, estimator)


def usual_space(method: Methods) -> dict[str, Values]:
    """The default search space of a method: the options that most often matter, as :func:`tune` uses it.

    >>> usual_space("ngboost")["max_depth"]
    (2, 6)
    """
    described = [_described(estimator) for estimator in _named(method).values()]
    space: dict[str, Values] = {}
    for option, values in json.loads(_native.usual_space(described))["options"]:
        name = parameter_of(option)
        if isinstance(values, list):
            space[name] = [_read(described[0][0], option, text) for text in values]
            continue
        low, high = (float(end) for end in values.split(":")[0].split(" ")[0].split(".."))
        if values.endswith(":log"):
            space[name] = (low, high, "log")
        else:
            space[name] = (low, high) if values.endswith(" evenly") else (int(low), int(high))
    return space


def suggest(trial: Any, space: Mapping[str, Values]) -> dict[str, Any]:
    """The parameters that a trial of Optuna suggests from a space."""
    suggested: dict[str, Any] = {}
    for name, values in space.items():
        if isinstance(values, list):
            # Optuna takes only plain values.
            words = [repr(value) for value in values]
            suggested[name] = values[words.index(trial.suggest_categorical(name, words))]
        elif isinstance(values[0], int) and isinstance(values[1], int):
            suggested[name] = trial.suggest_int(name, values[0], values[1], log=len(values) == 3)
        else:
            suggested[name] = trial.suggest_float(name, values[0], values[1], log=len(values) == 3)
    return suggested


def _named(methods: Any) -> dict[str, Any]:
    """Estimators by name: the keys of a dict, else the names of their methods (of others: their classes), numbered
    where they repeat."""
    if isinstance(methods, Mapping):
        return dict(methods)
    named: dict[str, Any] = {}
    names: list[str] = []
    for method in [methods] if isinstance(methods, str) or hasattr(methods, "fit") else methods:
        if isinstance(method, str) and method not in ESTIMATORS:
            raise ValueError(f"there is no method {method!r}; there are {', '.join(ESTIMATORS)}")
        estimator = ESTIMATORS[method]() if isinstance(method, str) else method
        name = estimator.method if isinstance(estimator, DistributionRegressor) else type(estimator).__name__
        names.append(name)
        alike = names.count(name)
        named[f"{name} {alike}" if alike > 1 else name] = estimator
    return named


def _described(estimator: DistributionRegressor) -> tuple[str, list[tuple[str, str]]]:
    return estimator.method, estimator._options()


def _target_of(estimators: Any) -> dict[str, Any]:
    """The target parameters of the estimators, which must be equal."""
    names = ("lower", "upper", "continuous", "discrete", "step")
    targets = [{name: getattr(estimator, name) for name in names} for estimator in estimators] or [{}]
    if any(other != targets[0] for other in targets):
        raise ValueError("lower, upper, continuous, discrete and step must be the same for all estimators")
    return targets[0]


def _tried(name: str, values: Values) -> str:
    """The values to try, as the text of ``--try``."""
    if isinstance(values, tuple):
        low, high, *log = values
        return f"{option_text(name, low)}..{option_text(name, high)}{':log' if log else ''}"
    words = [option_text(name, value) for value in values]
    return ("/" if any("," in word for word in words) else ",").join(words)


def _read(method: str, option: str, text: str) -> Any:
    """The value of an option as a parameter."""
    kinds = {known["name"]: known["kind"] for known in METHODS[method]["options"]}
    match kinds.get(option):
        case "integer":
            return int(text) if text.isdigit() else None
        case "float":
            return None if text in ("none", "auto") else float(text)
        case "integer list":
            return tuple(int(part) for part in text.split(",")) if text != "none" else ()
        case "bool":
            return text == "true"
    return text
