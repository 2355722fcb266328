"""Explanations of anything that predicts distributions: estimators, pipelines, searches, transformed targets."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import BaggingRegressor
from sklearn.model_selection._search import BaseSearchCV
from sklearn.multioutput import MultiOutputRegressor, RegressorChain
from sklearn.pipeline import Pipeline
from sklearn.utils.metaestimators import available_if

from negmm.answers import answers_of, names_of, needs_target
from negmm.explainable import ExplainableMixin
from negmm.explanation import Explanation
from negmm.forecaster import Forecaster
from negmm.joint import JointRegressor
from negmm.messages import DataWarning
from negmm.meta_estimators import _predicts_distributions, predict_dist
from negmm.rows import Rows, side_by_side
from negmm.seed import seed_of
from negmm.shapley import shapley_values
from negmm.task import lengths_of_time
from negmm.validation import check_vector


def explain(
    estimator: Any,
    X: Any,
    of: str | list[str] = "sd",
    *,
    inputs: Literal["final", "pipeline"] = "final",
    y: ArrayLike | None = None,
    background: Any = None,
    background_rows: int = 100,
    exact: bool = False,
    permutations: int | None = None,
    random_state: Any = 0,
) -> Explanation:
    """What each column contributes to an answer about each row's distribution, as ``model.explain`` has it, also of an
    estimator inside a ``Pipeline``, a search, a ``TransformedTargetRegressor`` or a ``BaggingRegressor``.

    Parameters
    ----------
    inputs : "final" or "pipeline"
        Whose columns: what the final estimator of a pipeline gets (fast, and needs no background), or those that the
        pipeline itself gets, with all of its steps in what is explained. The latter needs ``background``, and each of
        its mixed rows goes through all steps. Other meta-estimators are always explained by their own columns.
    background : rows, optional
        As ``X``: what the rows are compared with.
    of, y, background_rows, exact, permutations, random_state
        As for ``model.explain``.

    Examples
    --------
    >>> import numpy as np
    >>> import negmm
    >>> from sklearn.decomposition import PCA
    >>> from sklearn.pipeline import make_pipeline
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 3))
    >>> y = X[:, 0] + rng.normal(size=300)
    >>> pipe = make_pipeline(PCA(2), negmm.NGBoostRegressor(n_estimators=50, learning_rate=0.1)).fit(X, y)
    >>> negmm.explain(pipe, X[:5], "mean").feature_names  # what the final estimator gets
    ['pca0', 'pca1']
    >>> negmm.explain(pipe, X[:5], "mean", inputs="pipeline", background=X[:20]).feature_names
    ['x0', 'x1', 'x2']
    """
    if inputs not in ("final", "pipeline"):
        raise ValueError(f'inputs must be "final" or "pipeline", found {inputs!r}')
    if isinstance(estimator, (JointRegressor, Forecaster)):
        raise TypeError(f"a {type(estimator).__name__} cannot be explained: fit an estimator of one target")
    if isinstance(estimator, (MultiOutputRegressor, RegressorChain)):
        name = type(estimator).__name__
        raise TypeError(f"a {name} predicts several targets: explain its estimators_ one by one")
    effort = {"background_rows": background_rows, "exact": exact, "permutations": permutations}
    effort["random_state"] = random_state
    if inputs == "final":
        return _of_final(estimator, X, of, y, background, effort)
    return _of_any(estimator, X, of, y, background, **effort)


def _of_final(estimator: Any, X: Any, of: Any, y: Any, background: Any, effort: dict[str, Any]) -> Explanation:
    """By the columns of the final estimator."""
    if isinstance(estimator, ExplainableMixin):
        return estimator.explain(X, of, y=y, background=background, **effort)
    if isinstance(estimator, Pipeline):
        for _, _, step in estimator._iter(with_final=False):
            X = step.transform(X)
            background = None if background is None else step.transform(background)
        found = _of_final(estimator[-1], X, of, y, background, effort)
        names = _names_after(estimator[:-1])
        unnamed = found.feature_names == [f"x{at}" for at in range(len(found.feature_names))]
        return replace(found, feature_names=names) if unnamed and len(names) == len(found.feature_names) else found
    if isinstance(estimator, BaseSearchCV):
        return _of_final(estimator.best_estimator_, X, of, y, background, effort)
    return _of_any(estimator, X, of, y, background, **effort)


def _names_after(steps: Pipeline) -> list[str]:
    """The names of the columns that steps make, where they tell; unnamed where they do not."""
    try:
        return [str(name) for name in steps.get_feature_names_out()]
    except Exception:  # Any step may lack the method, or refuse for reasons of its own.
        return []


def _of_any(
    estimator: Any,
    X: Any,
    of: Any,
    y: Any,
    background: Any,
    *,
    background_rows: int,
    exact: bool,
    permutations: int | None,
    random_state: Any,
) -> Explanation:
    """By the columns of ``X``, whatever happens to them inside."""
    if background is None:
        name = type(estimator).__name__
        raise ValueError(f"the columns of a {name} are compared with rows of its own kind: pass background")
    names, rows, others = names_of(of), Rows(X), Rows(background)
    if exact and permutations is not None:
        raise ValueError("exact=True takes all subsets of the columns: pass no permutations")
    if not len(others) or background_rows < 1:
        raise ValueError("the background has no rows")
    if not len(rows):
        raise ValueError("expected at least 1 row to explain, found none")
    seed = seed_of(random_state)
    if len(others) > background_rows:
        chosen = np.random.default_rng(seed).permutation(len(others))[:background_rows]
        others = Rows(others.take(np.sort(chosen)))
    targets = None
    if any(map(needs_target, names)):
        if y is None:
            raise ValueError("scores need the target of each row: pass y")
        targets = check_vector(lengths_of_time(y))
        if len(targets) != len(rows):
            raise ValueError(f"expected {len(rows)} values of y, one for each row, found {len(targets)}")

    def answers(mixed: Any, y: Any) -> Any:
        with warnings.catch_warnings():
            # The same odd cells would be named for each block.
            warnings.simplefilter("ignore", DataWarning)
            return answers_of(predict_dist(estimator, mixed), names, y)

    found = shapley_values(
        answers, rows, others, y=targets, exact=exact, permutations=permutations, seed=seed
    )
    return Explanation(
        found["contributions"],
        found["base"],
        found["values"],
        found["errors"],
        side_by_side([rows.cells(at) for at in range(rows.width)]),
        rows.names,
        names,
        found["exact"],
        _several=not isinstance(of, str) or len(names) > 1,
    )


def _method(self: Any, X: Any, of: Any = "sd", **how: Any) -> Explanation:
    """The contributions of columns: see :func:`negmm.explain`."""
    return explain(self, X, of, **how)


# The method ``explain`` that meta-estimators of scikit-learn get, where they hold an estimator of this package.
for _meta in (Pipeline, TransformedTargetRegressor, BaseSearchCV, BaggingRegressor):
    if "explain" not in vars(_meta):
        _meta.explain = available_if(_predicts_distributions)(_method)
