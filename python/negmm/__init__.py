"""A whole predictive distribution for every row of a data set, as scikit-learn estimators.

>>> import numpy as np
>>> from negmm import NEGMMRegressor
>>> rng = np.random.default_rng(0)
>>> x = rng.uniform(-2, 2, (400, 1))
>>> y = np.where(rng.random(400) < 0.7, 1, -1) * x[:, 0] ** 3 + 0.3 * rng.normal(size=400)
>>> model = NEGMMRegressor(epochs=100).fit(x, y)
>>> model.predict_dist([[1.8]])  # two answers are possible, so neither is the mean
<Distribution of 1 row: mixture of 8 Gaussians>
>>> model.predict_interval([[0.0], [1.8]], coverage=0.9).shape
(2, 2)

``AutoRegressor`` is the one to start with. Each estimator has ``fit``, ``predict``, ``predict_dist``,
``predict_interval``, ``predict_quantiles``, ``predict_var``, ``save`` and ``load``; ``negmm.metrics`` has scores on
plain arrays.
"""

from importlib.metadata import version as _version

from negmm import metrics, plots
from negmm.distribution import Distribution
from negmm.evaluate import Evaluation, evaluate
from negmm.executor import SharedFolder
from negmm.explain import explain
from negmm.explanation import Acquisition, Dependence, Explanation, GlobalExplanation
from negmm.folder import predict_folder
from negmm.forecaster import Forecaster
from negmm.importance import importances, partial_dependence
from negmm.joint import JointDistribution, JointRegressor
from negmm.messages import DataWarning
from negmm.meta_estimators import predict_dist
from negmm.methods import (
    TRUSTED_TYPES,
    AutoRegressor,
    BetaNLLRegressor,
    ConstantRegressor,
    EnsembleRegressor,
    MDNRegressor,
    NEGMMRegressor,
    NGBoostRegressor,
    SampleNetRegressor,
    load,
)
from negmm.regressor import DistributionRegressor
from negmm.search import Comparison, Tuning, compare, suggest, tune, usual_space
from negmm.table import read_files
from negmm.vectors import VectorEvaluation, evaluate_vectors

__version__ = _version("negmm")

__all__ = [
    "TRUSTED_TYPES",
    "Acquisition",
    "AutoRegressor",
    "BetaNLLRegressor",
    "Comparison",
    "ConstantRegressor",
    "DataWarning",
    "Dependence",
    "Distribution",
    "DistributionRegressor",
    "EnsembleRegressor",
    "Evaluation",
    "Explanation",
    "Forecaster",
    "GlobalExplanation",
    "JointDistribution",
    "JointRegressor",
    "MDNRegressor",
    "NEGMMRegressor",
    "NGBoostRegressor",
    "SampleNetRegressor",
    "SharedFolder",
    "Tuning",
    "VectorEvaluation",
    "compare",
    "evaluate",
    "evaluate_vectors",
    "explain",
    "importances",
    "load",
    "metrics",
    "partial_dependence",
    "plots",
    "predict_dist",
    "predict_folder",
    "read_files",
    "suggest",
    "tune",
    "usual_space",
]
