"""Scores of predictions against known targets, on plain arrays.

Mixtures are given as ``weights``, ``means`` and ``sds``, each rows × components; scores come one a row, or with
``average=True`` as their mean, weighted by ``sample_weight``.

>>> from negmm import metrics
>>> metrics.crps_mixture([0.0, 1.0], weights=[[1.0], [1.0]], means=[[0.0], [0.0]], sds=[[1.0], [1.0]]).round(4)
array([0.2337, 0.6024])
>>> metrics.coverage([1.0, 5.0], lower=[0.0, 0.0], upper=[2.0, 2.0], sample_weight=[3, 1])
0.75

``neg_crps`` and ``neg_log_likelihood`` (also ``neg_nll``) are scorers for ``scoring=`` of scikit-learn, by object or by
name: minus the mean score of the distributions that an estimator predicts, also within a pipeline, a search or a
``TransformedTargetRegressor``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from negmm import _native
from negmm.adapters import as_distribution
from negmm.censored import Censoring, censored_bounds, censored_log_score
from negmm.distribution import Distribution
from negmm.scorers import neg_crps, neg_log_likelihood, neg_nll
from negmm.validation import Numbers, check_vector, check_weights, weighted_mean

__all__ = [
    "brier_score",
    "cde_loss",
    "concordance",
    "coverage",
    "crps",
    "crps_mixture",
    "dawid_sebastiani_score",
    "energy_score",
    "integrated_brier",
    "interval_score",
    "interval_width",
    "log_score",
    "mass_log_score",
    "murphy_curve",
    "neg_crps",
    "neg_log_likelihood",
    "neg_nll",
    "nll_mixture",
    "pit",
    "pit_histogram",
    "quantile_score",
    "quantile_weighted_crps",
    "threshold_weighted_crps",
    "variogram_score",
    "weighted_interval_score",
]


def crps(y: ArrayLike, *, average: bool = False, sample_weight: ArrayLike | None = None, **form: Any) -> Any:
    """Continuous ranked probability score of distributions in any form: ``dist=``, ``quantiles=`` with ``levels=``, or
    ``samples=``, as in :func:`negmm.evaluate`.

    >>> crps([0.3], quantiles=[[-1.0, 0.0, 1.0]], levels=[0.1, 0.5, 0.9]).round(4)
    array([0.2467])
    """
    return _scored(y, "crps", average, sample_weight, form)


def log_score(
    y: ArrayLike,
    *,
    average: bool = False,
    sample_weight: ArrayLike | None = None,
    censoring: Censoring | None = None,
    **form: Any,
) -> Any:
    """Logarithmic score of distributions in any form (see :func:`crps`): minus the log density, or log probability; of a
    censored ``y``, in any format that ``fit`` accepts (with its ``censoring``), minus the log probability of its
    interval.

    >>> log_score([[0.0, np.inf]], samples=[[-1.0, 1.0, 2.0, 3.0]]).round(3)
    array([0.288])
    """
    if (known := censored_bounds(y, censoring or "interval")) is not None:
        dist = as_distribution(**form)
        if len(dist) != len(known[1]):
            raise ValueError(f"expected {len(dist)} values of y, one for each row, found {len(known[1])}")
        return weighted_mean(censored_log_score(dist, *known[1:]), average, sample_weight)
    return _scored(y, "log_score", average, sample_weight, form)


def dawid_sebastiani_score(
    y: ArrayLike, *, average: bool = False, sample_weight: ArrayLike | None = None, **form: Any
) -> Any:
    """Dawid-Sebastiani score of distributions in any form (see :func:`crps`): (y - mean)²/variance + ln variance."""
    return _scored(y, "dawid_sebastiani", average, sample_weight, form)


def cde_loss(y: ArrayLike, *, average: bool = False, sample_weight: ArrayLike | None = None, **form: Any) -> Any:
    """CDE loss of distributions in any form (see :func:`crps`): ∫ f² - 2 f(y)."""
    return _scored(y, "cde_loss", average, sample_weight, form)


def mass_log_score(
    y: ArrayLike, step: float, *, average: bool = False, sample_weight: ArrayLike | None = None, **form: Any
) -> Any:
    """Minus the log probability within ``step`` / 2 of the target, for targets with values that far apart; of
    distributions in any form (see :func:`crps`)."""
    return _scored(y, "mass_log_score", average, sample_weight, form, step=float(step))


def weighted_interval_score(
    y: ArrayLike, *, average: bool = False, sample_weight: ArrayLike | None = None, **form: Any
) -> Any:
    """Weighted interval score (Bracher et al., 2021) of distributions in any form (see :func:`crps`): of the levels of
    quantiles, else of 23 usual ones."""
    return _scored(y, "weighted_interval_score", average, sample_weight, form)


def brier_score(
    y: ArrayLike, threshold: float, *, average: bool = False, sample_weight: ArrayLike | None = None, **form: Any
) -> Any:
    """Brier score of the event y <= ``threshold`` by distributions in any form (see :func:`crps`)."""
    return _scored(y, "brier", average, sample_weight, form, thresholds=[float(threshold)])


def threshold_weighted_crps(
    y: ArrayLike,
    lower: float,
    upper: float,
    *,
    average: bool = False,
    sample_weight: ArrayLike | None = None,
    **form: Any,
) -> Any:
    """The part of the CRPS between two thresholds, of distributions in any form (see :func:`crps`)."""
    return _scored(y, "crps_between", average, sample_weight, form, between=(float(lower), float(upper)))


def quantile_weighted_crps(
    y: ArrayLike, weight: str, *, average: bool = False, sample_weight: ArrayLike | None = None, **form: Any
) -> Any:
    """CRPS with a weight of levels (Gneiting and Ranjan, 2011): ``"centre"``, ``"tails"``, ``"left"`` or ``"right"``;
    of distributions in any form (see :func:`crps`)."""
    return _scored(y, f"crps_quantiles_{weight}", average, sample_weight, form, quantile_weight=weight)


def quantile_score(y: ArrayLike, quantiles: ArrayLike, levels: ArrayLike) -> Numbers:
    """Quantile score (pinball loss) of each quantile, rows × levels.

    >>> quantile_score([3.0], [[1.0, 4.0]], [0.75, 0.9]).round(3)
    array([[1.5, 0.1]])
    """
    q, u = np.asarray(quantiles, dtype=np.float64), np.asarray(levels, dtype=np.float64)
    y = check_vector(y)[:, np.newaxis]
    return ((y < q) - u) * (q - y)


def interval_score(y: ArrayLike, lower: ArrayLike, upper: ArrayLike, alpha: float) -> Numbers:
    """Interval score of central intervals with coverage 1 - ``alpha``, one a row.

    >>> interval_score([3.0], [0.0], [2.0], alpha=0.1)
    array([22.])
    """
    y = check_vector(y)
    lower, upper = _ends(lower, upper, y.shape)
    return upper - lower + 2 / alpha * (np.maximum(lower - y, 0) + np.maximum(y - upper, 0))


def crps_mixture(
    y: ArrayLike,
    weights: ArrayLike,
    means: ArrayLike,
    sds: ArrayLike,
    *,
    average: bool = False,
    sample_weight: ArrayLike | None = None,
) -> Any:
    """Continuous ranked probability score of Gaussian mixtures, which is their energy score; the lower the better."""
    y = check_vector(y)
    return weighted_mean(_mixtures(y, weights, means, sds).crps(y), average, sample_weight)


def nll_mixture(
    y: ArrayLike,
    weights: ArrayLike,
    means: ArrayLike,
    sds: ArrayLike,
    *,
    average: bool = False,
    sample_weight: ArrayLike | None = None,
) -> Any:
    """Logarithmic score (negative log likelihood) of Gaussian mixtures; the lower the better."""
    y = check_vector(y)
    return weighted_mean(_mixtures(y, weights, means, sds).nll(y), average, sample_weight)


def pit(
    y: ArrayLike,
    weights: ArrayLike | None = None,
    means: ArrayLike | None = None,
    sds: ArrayLike | None = None,
    *,
    seed: int = 0,
    **form: Any,
) -> Numbers:
    """Probability integral transform of each row: the predicted probability of a target up to the one observed. Uniform
    when the predictions are calibrated. Of mixtures, or of distributions in any form (see :func:`crps`), then
    randomised by ``seed`` where targets have point probabilities.

    >>> pit([0.0, 1.0], quantiles=[[-1.0, 0.0, 1.0]] * 2, levels=[0.1, 0.5, 0.9]).round(3)
    array([0.5, 0.9])
    """
    y = check_vector(y)
    if not form:
        if weights is None or means is None or sds is None:
            raise ValueError("expected weights, means and sds of mixtures, or one of dist, quantiles and samples")
        return _mixtures(y, weights, means, sds).pit(y)
    if weights is not None or means is not None or sds is not None:
        raise ValueError(f"expected mixtures or {next(iter(form))}, found both")
    from negmm.evaluate import evaluate

    return evaluate(y, dist=as_distribution(**form), coverages=(), seed=seed).pit


def pit_histogram(values: ArrayLike, bins: int = 20, sample_weight: ArrayLike | None = None) -> Numbers:
    """Histogram of :func:`pit` with ``bins`` equal bins on [0, 1], or with weights the weight in each bin: flat when
    the predictions are calibrated."""
    values = check_vector(values)
    bin_of = np.minimum((values * bins).astype(np.int64), bins - 1)
    return np.bincount(bin_of, weights=check_weights(sample_weight, values), minlength=bins).astype(np.float64)


def energy_score(
    y: ArrayLike,
    samples: ArrayLike,
    *,
    fair: bool = False,
    average: bool = False,
    sample_weight: ArrayLike | None = None,
) -> Any:
    """Energy score of draws of several targets: ``y`` is rows × targets, ``samples`` rows × draws × targets.

    ``fair`` estimates the score of the distribution that the draws are from (Ferro, 2014); otherwise it is that of the
    draws themselves. Of one target it is the CRPS. Targets count by their units: divide them by their scales first.

    >>> energy_score([[0.0, 0.0]], [[[0.0, 0.0], [3.0, 4.0]]])
    array([1.25])
    """
    return weighted_mean(_of_vectors(y, samples)[:, 1 if fair else 0].copy(), average, sample_weight)


def variogram_score(
    y: ArrayLike, samples: ArrayLike, p: float = 0.5, *, average: bool = False, sample_weight: ArrayLike | None = None
) -> Any:
    """Variogram score of order ``p`` of draws of several targets (see :func:`energy_score`), with equal weights."""
    return weighted_mean(_of_vectors(y, samples, p)[:, 2].copy(), average, sample_weight)


def murphy_curve(
    y: ArrayLike,
    predicted: ArrayLike,
    thetas: ArrayLike,
    level: float | None = None,
    sample_weight: ArrayLike | None = None,
) -> Numbers:
    """Murphy diagram: the mean elementary score at each of ``thetas`` of predicted means, or of quantiles of a level
    (Ehm, Gneiting, Jordan and Krüger, 2016).

    >>> murphy_curve([0.0, 1.0], [1.0, 1.0], thetas=[0.5, 2.0])
    array([0.25, 0.  ])
    """
    y = check_vector(y)
    weights = check_weights(sample_weight, y)
    at = np.ascontiguousarray(thetas, dtype=np.float64).ravel()
    return np.asarray(_native.murphy_curve(check_vector(predicted), y, weights, level, at))


def coverage(
    y: ArrayLike,
    lower: ArrayLike | None = None,
    upper: ArrayLike | None = None,
    *,
    level: float | None = None,
    sample_weight: ArrayLike | None = None,
    **form: Any,
) -> float:
    """Empirical coverage: the fraction of targets inside their interval, bounds included. The intervals are ``lower``
    and ``upper``, or the central ones with the coverage ``level`` of distributions in any form (see :func:`crps`).

    >>> coverage([0.0, 3.0], level=0.8, quantiles=[[-1.0, 0.0, 1.0]] * 2, levels=[0.1, 0.5, 0.9])
    0.5
    """
    y = check_vector(y)
    if form:
        if level is None or lower is not None or upper is not None:
            raise ValueError(f"with {next(iter(form))}, expected level, the coverage, and neither lower nor upper")
        lower, upper = as_distribution(**form).interval(level)
    elif lower is None or upper is None:
        raise ValueError("expected lower and upper, or level and one of dist, quantiles and samples")
    lower, upper = _ends(lower, upper, y.shape)
    return weighted_mean((lower <= y) & (y <= upper), True, sample_weight)


def interval_width(lower: ArrayLike, upper: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    """Mean width of intervals."""
    lower, upper = _ends(lower, upper, None)
    return weighted_mean(upper - lower, True, sample_weight)


def concordance(
    y: Any, predicted: ArrayLike, *, sample_weight: ArrayLike | None = None, censoring: Censoring | None = None
) -> float:
    """Harrell's concordance index: how often of two rows the one with the larger prediction has the larger target, of
    all pairs whose order is known; NaN where there is none. Equal predictions count half, and 0.5 is chance.

    ``y`` may have any format that ``fit`` accepts (with its ``censoring``), ``predicted`` is one number a row, such as
    the median.

    >>> concordance([[1, 1], [2, np.inf], [3, 3]], [0.5, 2.5, 2.0])
    1.0
    """
    lower, upper = _known(y, censoring)
    predicted = check_vector(predicted)
    index = _native.concordance(lower, upper, predicted, check_weights(sample_weight, predicted))
    return float("nan") if index is None else index


def integrated_brier(y: Any, survival: ArrayLike, times: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    """Integrated Brier score with weights by the inverse probability of censoring, estimated from the same rows; the
    lower the better.

    ``y`` may have any format that ``fit`` accepts, but only right-censored targets; ``survival`` is the predicted
    probability of a target beyond each of ``times``, rows × times, such as ``dist.sf(times[:, np.newaxis]).T``.

    >>> integrated_brier([[1, 1], [2, np.inf], [3, 3]], [[0.5, 0.0], [1.0, 0.5], [1.0, 0.5]], [1.0, 2.5])
    0.125
    """
    lower, upper = _known(y)
    survival = np.ascontiguousarray(survival, dtype=np.float64)
    if survival.ndim != 2:
        raise ValueError(f"expected a survival of rows × times, found shape {survival.shape}")
    return _native.integrated_brier(lower, upper, check_vector(times), survival, check_weights(sample_weight, lower))


def _known(y: Any, censoring: Censoring | None = None) -> tuple[Numbers, Numbers]:
    known = censored_bounds(y, censoring or "interval")
    if known is None:
        y = check_vector(y)
        return y, y
    return known[1:]


def _mixtures(y: Numbers, weights: ArrayLike, means: ArrayLike, sds: ArrayLike) -> Distribution:
    mixtures = Distribution.of_mixtures(weights, means, sds)
    if len(mixtures) != len(y):
        raise ValueError(f"expected {len(mixtures)} values of y, one for each row, found {len(y)}")
    return mixtures


def _ends(lower: ArrayLike, upper: ArrayLike, shape: tuple[int, ...] | None) -> tuple[Numbers, Numbers]:
    lower, upper = np.asarray(lower, dtype=np.float64), np.asarray(upper, dtype=np.float64)
    if lower.shape != upper.shape or lower.ndim != 1 or (shape is not None and lower.shape != shape):
        raise ValueError(
            f"expected one lower and one upper end for each row, found shapes {lower.shape} and {upper.shape}"
        )
    wrong = np.flatnonzero(~(lower <= upper))
    if wrong.size:
        row = wrong[0]
        raise ValueError(
            f"row {row}: expected a lower end that is at most the upper, found {lower[row]} and {upper[row]}"
        )
    return lower, upper


def _scored(
    y: ArrayLike, name: str, average: bool, sample_weight: ArrayLike | None, form: dict[str, Any], **options: Any
) -> Any:
    """The score of that name of each row, or its mean."""
    from negmm.evaluate import evaluate

    y = check_vector(y)
    rows = evaluate(y, dist=as_distribution(**form), coverages=(), **options).rows
    scores = next(rows[own] for own in rows if own == name or own.startswith(f"{name}_"))
    return weighted_mean(scores, average, sample_weight)


def _of_vectors(y: ArrayLike, samples: ArrayLike, order: float = 0.5) -> Numbers:
    """The scores of draws of vectors, rows × scores."""
    vectors, draws = (np.ascontiguousarray(array, dtype=np.float64) for array in (y, samples))
    if vectors.ndim != 2 or draws.ndim != 3:
        raise ValueError(
            "expected y of rows × targets and samples of rows × draws × targets, "
            f"found shapes {vectors.shape} and {draws.shape}"
        )
    for what, array in (("y", vectors), ("samples", draws)):
        wrong = np.argwhere(~np.isfinite(array))
        if wrong.size:
            raise ValueError(f"{what}, row {wrong[0][0]}: expected a finite number, found {array[tuple(wrong[0])]}")
    return _native.score_vectors(draws, vectors, float(order), [], 1)
