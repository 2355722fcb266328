"""The estimators: one class for each method."""

from __future__ import annotations

import os
from typing import Any, Literal, TypeVar

import numpy as np

from negmm.parameters import described
from negmm.regressor import ESTIMATORS, DistributionRegressor, model_in
from negmm.renamed import accepting_former_names

Activation = Literal["relu", "tanh", "silu"]
Schedule = Literal["constant", "cosine", "warm-up"]
Optimiser = Literal["adam", "schedule-free", "muon"]
Selection = Literal["nll", "crps", "calibrated"]
Neural = Literal["ne-gmm", "mdn", "beta-nll", "sample-net"]
RandomState = int | np.random.RandomState | np.random.Generator | None
Units = tuple[int, ...] | int

Class = TypeVar("Class", bound=type[DistributionRegressor])


def _estimator(cls: Class) -> Class:
    """Registers the class as its method's estimator, documents its parameters, and accepts their former names."""
    ESTIMATORS[cls.method] = cls
    cls.__doc__ = described(cls)
    return accepting_former_names(cls)


@_estimator
class AutoRegressor(DistributionRegressor):
    """The default method: a calibrated pool of neural Gaussian mixtures, a linear model and a forest; no tuning needed.

    The rows are split into folds, and for each fold every member of the pool is trained on the other folds. The
    weights of the members and the factors of their sds are fitted to the out-of-fold predictions. Parameters that are
    None are chosen by the preset and the number of rows.

    Examples
    --------
    >>> import numpy as np
    >>> from negmm import AutoRegressor
    >>> x = np.linspace(-2, 2, 200)[:, np.newaxis]
    >>> y = np.sin(2 * x[:, 0]) + 0.1 * np.cos(40 * x[:, 0])
    >>> model = AutoRegressor(preset="fast", steps=300, hidden=(32,)).fit(x, y)
    >>> model.predict_dist(x)
    <Distribution of 200 rows: mixture of ... Gaussians>
    >>> model.score(x, y) > 0.9
    True
    """

    method = "auto"

    def __init__(
        self,
        *,
        preset: Literal["fast", "medium", "best"] = "medium",
        folds: int | None = None,
        n_repeats: int | None = None,
        ensemble_size: int | None = None,
        components: int = 8,
        eta: float = 0.5,
        sigma_min: float = 0.001,
        hidden: Units | None = None,
        residual: bool | None = None,
        embedding: float | None = None,
        quantile_transform: bool = False,
        batch_size: int | None = None,
        optimiser: Optimiser | None = None,
        learning_rate: float | None = None,
        steps: int | None = None,
        patience: int | None = None,
        dropout: float | None = None,
        weight_decay: float | None = None,
        density_networks: bool | None = None,
        short_networks: bool | None = None,
        dropout_networks: bool | None = None,
        linear: bool | None = None,
        forest: bool | None = None,
        boosted_trees: bool | None = None,
        lower: float | None = None,
        upper: float | None = None,
        continuous: bool = False,
        discrete: bool = False,
        step: float | None = None,
        random_state: RandomState = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self._store(locals())


@_estimator
class NEGMMRegressor(DistributionRegressor):
    """NE-GMM: a neural Gaussian mixture trained with eta · (logarithmic score) + (1 - eta) · (energy score).

    Examples
    --------
    >>> import numpy as np
    >>> from negmm import NEGMMRegressor
    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(-2, 2, (300, 1))
    >>> y = np.where(rng.random(300) < 0.5, 1, -1) * x[:, 0] ** 2 + 0.2 * rng.normal(size=300)
    >>> model = NEGMMRegressor(components=4, epochs=100).fit(x, y)
    >>> dist = model.predict_dist([[1.8]])
    >>> bool(dist.pdf(3.2)[0] > dist.pdf(0)[0])  # between the two branches there is little
    True
    """

    method = "ne-gmm"

    def __init__(
        self,
        *,
        eta: float = 0.5,
        components: int = 8,
        sigma_max: float | None = None,
        mean_bound: float | None = None,
        hidden: Units = (64, 64),
        residual: bool = False,
        activation: Activation = "silu",
        embedding: float | None = None,
        soft_clip: float | None = None,
        quantile_transform: bool = False,
        sigma_min: float = 0.001,
        epochs: int = 400,
        steps: int | None = None,
        check_every: int | None = None,
        batch_size: int = 32,
        optimiser: Optimiser = "adam",
        learning_rate: float = 0.005,
        schedule: Schedule = "cosine",
        patience: int = 0,
        validation_fraction: float = 0.15,
        select: Selection = "nll",
        ema_decay: float = 0.99,
        dropout: float = 0.0,
        weight_decay: float = 0.0,
        adversarial: float = 0.0,
        lower: float | None = None,
        upper: float | None = None,
        continuous: bool = False,
        discrete: bool = False,
        step: float | None = None,
        random_state: RandomState = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self._store(locals())


@_estimator
class MDNRegressor(DistributionRegressor):
    """A mixture density network (Bishop, 1994): a neural Gaussian mixture trained with the logarithmic score alone.

    Examples
    --------
    >>> import numpy as np
    >>> from negmm import MDNRegressor
    >>> x = np.linspace(-2, 2, 200)[:, np.newaxis]
    >>> y = np.sin(2 * x[:, 0]) + 0.1 * np.cos(40 * x[:, 0])
    >>> model = MDNRegressor(components=2, epochs=60).fit(x, y)
    >>> mean, sd = model.predict(x[:3], return_std=True)
    >>> mean.shape, bool((sd > 0).all())
    ((3,), True)
    """

    method = "mdn"

    def __init__(
        self,
        *,
        components: int = 8,
        sigma_max: float | None = None,
        mean_bound: float | None = None,
        hidden: Units = (64, 64),
        residual: bool = False,
        activation: Activation = "silu",
        embedding: float | None = None,
        soft_clip: float | None = None,
        quantile_transform: bool = False,
        sigma_min: float = 0.001,
        epochs: int = 400,
        steps: int | None = None,
        check_every: int | None = None,
        batch_size: int = 32,
        optimiser: Optimiser = "adam",
        learning_rate: float = 0.005,
        schedule: Schedule = "cosine",
        patience: int = 0,
        validation_fraction: float = 0.15,
        select: Selection = "nll",
        ema_decay: float = 0.99,
        dropout: float = 0.0,
        weight_decay: float = 0.0,
        adversarial: float = 0.0,
        lower: float | None = None,
        upper: float | None = None,
        continuous: bool = False,
        discrete: bool = False,
        step: float | None = None,
        random_state: RandomState = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self._store(locals())


@_estimator
class BetaNLLRegressor(DistributionRegressor):
    """One Gaussian for each row, trained with the logarithmic score weighted by variance^beta (Seitzer et al., 2022).

    Examples
    --------
    >>> import numpy as np
    >>> from negmm import BetaNLLRegressor
    >>> x = np.linspace(-2, 2, 200)[:, np.newaxis]
    >>> model = BetaNLLRegressor(epochs=30).fit(x, np.sin(2 * x[:, 0]))
    >>> model.predict_dist(x)
    <Distribution of 200 rows: Gaussian>
    """

    method = "beta-nll"

    def __init__(
        self,
        *,
        beta: float = 0.5,
        hidden: Units = (64, 64),
        residual: bool = False,
        activation: Activation = "silu",
        embedding: float | None = None,
        soft_clip: float | None = None,
        quantile_transform: bool = False,
        sigma_min: float = 0.001,
        epochs: int = 400,
        steps: int | None = None,
        check_every: int | None = None,
        batch_size: int = 32,
        optimiser: Optimiser = "adam",
        learning_rate: float = 0.005,
        schedule: Schedule = "cosine",
        patience: int = 0,
        validation_fraction: float = 0.15,
        select: Selection = "nll",
        ema_decay: float = 0.99,
        dropout: float = 0.0,
        weight_decay: float = 0.0,
        adversarial: float = 0.0,
        lower: float | None = None,
        upper: float | None = None,
        continuous: bool = False,
        discrete: bool = False,
        step: float | None = None,
        random_state: RandomState = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self._store(locals())


@_estimator
class EnsembleRegressor(DistributionRegressor):
    """A deep ensemble (Lakshminarayanan et al., 2017): networks with different random initialisations, pooled into one
    mixture.

    Parameters that are None have the member's defaults. Without ``member`` each member is a Gaussian: an mdn with 1
    component.

    Examples
    --------
    >>> import numpy as np
    >>> from negmm import EnsembleRegressor
    >>> x = np.linspace(-2, 2, 200)[:, np.newaxis]
    >>> model = EnsembleRegressor(ensemble_size=3, epochs=30).fit(x, np.sin(2 * x[:, 0]))
    >>> dist = model.predict_dist(x)
    >>> dist
    <Distribution of 200 rows: mixture of 3 Gaussians>
    >>> aleatoric, epistemic = dist.var_parts()
    >>> np.allclose(aleatoric + epistemic, dist.var())
    True
    """

    method = "ensemble"

    def __init__(
        self,
        *,
        member: Neural | None = None,
        ensemble_size: int = 5,
        pool: Literal["mixture", "gaussian"] = "mixture",
        eta: float | None = None,
        beta: float | None = None,
        components: int | None = None,
        sigma_max: float | None = None,
        mean_bound: float | None = None,
        samples: int | None = None,
        sinkhorn: float | None = None,
        prior: Literal["uniform", "normal"] | None = None,
        hidden: Units = (64, 64),
        residual: bool = False,
        activation: Activation = "silu",
        embedding: float | None = None,
        soft_clip: float | None = None,
        quantile_transform: bool = False,
        sigma_min: float = 0.001,
        epochs: int = 400,
        steps: int | None = None,
        check_every: int | None = None,
        batch_size: int = 32,
        optimiser: Optimiser = "adam",
        learning_rate: float = 0.005,
        schedule: Schedule = "cosine",
        patience: int = 0,
        validation_fraction: float = 0.15,
        select: Selection = "nll",
        ema_decay: float = 0.99,
        dropout: float = 0.0,
        weight_decay: float = 0.0,
        adversarial: float = 0.0,
        lower: float | None = None,
        upper: float | None = None,
        continuous: bool = False,
        discrete: bool = False,
        step: float | None = None,
        random_state: RandomState = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self._store(locals())


@_estimator
class NGBoostRegressor(DistributionRegressor):
    """NGBoost (Duan et al., 2020): a Gaussian for each row by natural-gradient boosting of trees; missing values need
    no imputation.

    Examples
    --------
    >>> import numpy as np
    >>> from negmm import NGBoostRegressor
    >>> x = np.linspace(-2, 2, 200)[:, np.newaxis]
    >>> model = NGBoostRegressor(n_estimators=100, learning_rate=0.05).fit(x, np.sin(2 * x[:, 0]))
    >>> model.score(x, np.sin(2 * x[:, 0])) > 0.9
    True
    """

    method = "ngboost"

    def __init__(
        self,
        *,
        n_estimators: int = 2000,
        max_depth: int = 3,
        learning_rate: float = 0.01,
        loss: Literal["log", "crps", "crps-original"] = "log",
        subsample: float = 1.0,
        colsample: float = 1.0,
        min_samples_leaf: int = 1,
        splits: Literal["auto", "exact", "histogram"] = "auto",
        sigma_min: float = 0.001,
        validation_fraction: float = 0.2,
        patience: int = 100,
        refit: bool = True,
        lower: float | None = None,
        upper: float | None = None,
        continuous: bool = False,
        discrete: bool = False,
        step: float | None = None,
        random_state: RandomState = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self._store(locals())


@_estimator
class SampleNetRegressor(DistributionRegressor):
    """SampleNet (Harakeh et al., 2023): equally likely samples for each row with no assumption about their shape,
    trained with their energy score.

    Examples
    --------
    >>> import numpy as np
    >>> from negmm import SampleNetRegressor
    >>> x = np.linspace(-2, 2, 200)[:, np.newaxis]
    >>> model = SampleNetRegressor(samples=50, epochs=30).fit(x, np.sin(2 * x[:, 0]))
    >>> model.predict_dist(x).samples.shape
    (200, 50)
    """

    method = "sample-net"

    def __init__(
        self,
        *,
        samples: int = 100,
        sinkhorn: float = 0.0,
        prior: Literal["uniform", "normal"] = "uniform",
        hidden: Units = (64, 64),
        residual: bool = False,
        activation: Activation = "silu",
        embedding: float | None = None,
        soft_clip: float | None = None,
        quantile_transform: bool = False,
        sigma_min: float = 0.001,
        epochs: int = 400,
        steps: int | None = None,
        check_every: int | None = None,
        batch_size: int = 32,
        optimiser: Optimiser = "adam",
        learning_rate: float = 0.005,
        schedule: Schedule = "cosine",
        patience: int = 0,
        validation_fraction: float = 0.15,
        select: Selection = "nll",
        ema_decay: float = 0.99,
        dropout: float = 0.0,
        weight_decay: float = 0.0,
        adversarial: float = 0.0,
        lower: float | None = None,
        upper: float | None = None,
        continuous: bool = False,
        discrete: bool = False,
        step: float | None = None,
        random_state: RandomState = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self._store(locals())


@_estimator
class ConstantRegressor(DistributionRegressor):
    """The constant baseline: a Gaussian with the mean and sd of the training targets, whatever the inputs.

    Examples
    --------
    >>> from negmm import ConstantRegressor
    >>> ConstantRegressor().fit([[0], [1]], [3.0, 5.0]).predict([[7]])
    array([4.])
    """

    method = "constant"

    def __init__(
        self,
        *,
        lower: float | None = None,
        upper: float | None = None,
        continuous: bool = False,
        discrete: bool = False,
        step: float | None = None,
        random_state: RandomState = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self._store(locals())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True
        return tags


#: The types of fitted estimators, for ``skops.io.load(..., trusted=)`` and MLflow's ``skops_trusted_types``: in their
#: files is nothing else that skops does not know.
TRUSTED_TYPES = [f"{estimator.__module__}.{estimator.__name__}" for estimator in ESTIMATORS.values()]


def load(path: str | os.PathLike[str]) -> DistributionRegressor:
    """Reads a model file, written by :meth:`DistributionRegressor.save` or by the command line, as a fitted estimator.

    Of a sequence (``negmm fit --sequence``) a table of n rows has n - window + 1 predictions: for the rows after the
    first window, and for the step after the last row.

    >>> import os, tempfile
    >>> import negmm
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = os.path.join(folder.name, "model.negmm")
    >>> negmm.ConstantRegressor().fit([[0], [1]], [3.0, 5.0]).save(path)
    >>> negmm.load(path).predict([[7]])
    array([4.])
    """
    model, description = model_in(path)
    return ESTIMATORS[description["method"]["name"]]._of_model(model, description)
