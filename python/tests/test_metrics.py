"""Scores on plain arrays against scoringrules."""

from __future__ import annotations

import numpy as np
import pytest
import scoringrules
from quick import quick, rows

from negmm import metrics


def mixtures(count: int, components: int, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Mixtures at random, and targets around them: within a few sds of some component."""
    weights = rng.dirichlet(np.ones(components), size=count)
    means = rng.normal(scale=5.0, size=(count, components))
    sds = np.exp(rng.normal(size=(count, components)))
    near = np.arange(count), rng.integers(components, size=count)
    return means[near] + 3.0 * sds[near] * rng.normal(size=count), weights, means, sds


@pytest.mark.parametrize("components", range(1, 21))
def test_scoringrules_agrees(components):
    """10,000 mixtures in all, K from 1 to 20, to 1e-9 relative."""
    y, weights, means, sds = mixtures(500, components, np.random.default_rng(components))
    crps = scoringrules.crps_mixnorm(y, means, sds, weights)
    np.testing.assert_allclose(metrics.crps_mixture(y, weights, means, sds), crps, rtol=1e-9, atol=0)
    nll = scoringrules.logs_mixnorm(y, means, sds, weights)
    np.testing.assert_allclose(metrics.nll_mixture(y, weights, means, sds), nll, rtol=1e-9, atol=0)


def test_far_from_every_component_the_scores_are_numbers():
    assert metrics.nll_mixture([100.0], [[1.0]], [[0.0]], [[1.0]])[0] == pytest.approx(5000 + 0.5 * np.log(2 * np.pi))
    assert metrics.crps_mixture([100.0], [[1.0]], [[0.0]], [[1.0]])[0] == pytest.approx(100 - 1 / np.sqrt(np.pi))


def test_a_weight_counts_as_repeated_rows():
    y, weights, means, sds = mixtures(50, 3, np.random.default_rng(0))
    counts = np.arange(50) % 3
    repeated = [np.repeat(part, counts, axis=0) for part in (y, weights, means, sds)]
    for score in (metrics.crps_mixture, metrics.nll_mixture):
        weighted = score(y, weights, means, sds, average=True, sample_weight=counts)
        assert weighted == pytest.approx(score(*repeated).mean())
        assert score(y, weights, means, sds, average=True) == pytest.approx(score(y, weights, means, sds).mean())
        with pytest.raises(ValueError, match="sample_weight needs average=True"):
            score(y, weights, means, sds, sample_weight=counts)
    lower, upper = y - 0.5 * (counts + 0.1), y + counts - 1.0
    upper = np.maximum(lower, upper)
    again = [np.repeat(part, counts) for part in (y, lower, upper)]
    assert metrics.coverage(y, lower, upper, sample_weight=counts) == pytest.approx(metrics.coverage(*again))
    assert metrics.interval_width(lower, upper, sample_weight=counts) == pytest.approx(
        metrics.interval_width(*again[1:])
    )
    pit = metrics.pit(y, weights, means, sds)
    expected = metrics.pit_histogram(np.repeat(pit, counts))
    np.testing.assert_allclose(metrics.pit_histogram(pit, sample_weight=counts), expected)


def test_calibrated_predictions_look_calibrated():
    rng = np.random.default_rng(0)
    y = rng.normal(size=20_000)
    ones = np.ones((20_000, 1))
    counts = metrics.pit_histogram(metrics.pit(y, ones, 0 * ones, ones), bins=10)
    assert counts.sum() == 20_000
    assert np.abs(counts - 2000).max() < 200
    assert metrics.coverage(y, np.full_like(y, -1.6449), np.full_like(y, 1.6449)) == pytest.approx(0.9, abs=0.01)
    assert metrics.interval_width([1.0, 2.0], [2.0, 5.0]) == 2.0
    assert metrics.pit_histogram([0.0, 1.0], bins=4).tolist() == [1, 0, 0, 1]


def test_scorers_are_means_over_rows():
    X, y = rows()
    model, weights = quick("ne-gmm").fit(X, y), np.arange(len(y))
    dist = model.predict_dist(X)
    assert metrics.neg_crps(model, X, y) == pytest.approx(-dist.crps(y).mean())
    assert metrics.neg_nll(model, X, y, sample_weight=weights) == pytest.approx(
        -np.average(dist.nll(y), weights=weights)
    )


ONE = [[1.0]]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: metrics.crps_mixture([0.0, 1.0], ONE, ONE, ONE), "expected 1 values of y, one for each row, found 2"),
        (lambda: metrics.crps_mixture([np.nan], ONE, ONE, ONE), "row 0: expected a finite number, found nan"),
        (lambda: metrics.nll_mixture([np.inf], ONE, ONE, ONE), "row 0: expected a finite number, found inf"),
        (lambda: metrics.nll_mixture(0.0, ONE, ONE, ONE), "expected one number for each row"),
        (lambda: metrics.nll_mixture(["x"], ONE, ONE, ONE), "could not convert string"),
        (lambda: metrics.pit([0.0], ONE, ONE, [[-1.0]]), "expected a sd that is finite and not negative, found -1"),
        (
            lambda: metrics.crps_mixture([], np.ones((0, 1)), np.ones((0, 1)), np.ones((0, 1)), average=True),
            "at least 1 row",
        ),
        (
            lambda: metrics.crps_mixture([0.0], ONE, ONE, ONE, average=True, sample_weight=[-1]),
            "row 0: expected a weight",
        ),
        (lambda: metrics.crps_mixture([0.0], ONE, ONE, ONE, average=True, sample_weight=[0]), "all weights are 0"),
        (lambda: metrics.coverage([0.0], [0.0], [1.0, 2.0]), "one lower and one upper end for each row"),
        (lambda: metrics.coverage([0.0], [1.0], [0.0]), "row 0: expected a lower end that is at most the upper"),
        (
            lambda: metrics.coverage([0.0], [0.0], [1.0], sample_weight=[1, 2]),
            r"expected 1 weights, found shape \(2,\)",
        ),
        (lambda: metrics.interval_width([], []), "at least 1 row"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_no_rows_have_no_scores():
    none = np.ones((0, 2))
    assert metrics.crps_mixture([], none, none, none).shape == (0,)
