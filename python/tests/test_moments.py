"""Shape of distributions: modes, highest-density regions, entropy, moments, and mixtures of distributions."""

from __future__ import annotations

import time

import external
import numpy as np
import pytest
from quick import quick, rows
from scipy import stats

from negmm import Distribution


def mixtures(count: int = 12, components: int = 4, **support) -> Distribution:
    rng = np.random.default_rng(components)
    parts = (
        rng.random((count, components)),
        3 * rng.normal(size=(count, components)),
        rng.uniform(0.3, 2, (count, components)),
    )
    return Distribution.of_mixtures(*parts, **support)


#: Wide enough for all of them, and dense.
GRID = np.linspace(-30, 30, 60_001)[:, np.newaxis]
KINDS = {
    "the whole line": {},
    "between bounds": {"lower": -1.0, "upper": 2.5},
    "above 0": {"lower": 0.0},
}


@pytest.mark.parametrize("kind", KINDS)
def test_densities_beside_quadrature(kind):
    dist = mixtures(**KINDS[kind])
    density = dist.pdf(GRID)
    peak = density.max(axis=0)
    np.testing.assert_allclose(dist.pdf(dist.mode()), peak, rtol=1e-6)
    with np.errstate(divide="ignore", invalid="ignore"):
        surprise = np.where(density > 0, -density * np.log(density), 0)
    np.testing.assert_allclose(dist.entropy(), np.trapezoid(surprise, GRID, axis=0), atol=2e-3)
    for order in (1, 2, 3, 4):
        expected = np.trapezoid(density * GRID**order, GRID, axis=0)
        np.testing.assert_allclose(dist.moment(order), expected, rtol=2e-3, atol=2e-3)
    np.testing.assert_allclose(dist.moment(1), dist.mean(), atol=1e-12)
    np.testing.assert_allclose(dist.moment(2) - dist.mean() ** 2, dist.var(), rtol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("coverage", [0.5, 0.9])
def test_regions_are_the_smallest(kind, coverage):
    dist = mixtures(**KINDS[kind])
    lower, upper = dist.interval(coverage)
    for row, region in enumerate(dist.hdr(coverage)):
        one = dist[row]
        assert (np.diff(region.ravel()) > 0).all()
        assert np.sum(one.cdf(region[:, 1]) - one.cdf(region[:, 0])) == pytest.approx(coverage, abs=1e-9)
        assert np.sum(region[:, 1] - region[:, 0]) <= upper[row] - lower[row] + 1e-9
        # Inside it is higher than outside, but for a piece at each end.
        inside = np.any((GRID >= region[:, 0] + 0.05) & (GRID <= region[:, 1] - 0.05), axis=1)
        outside = ~np.any((GRID >= region[:, 0] - 0.05) & (GRID <= region[:, 1] + 0.05), axis=1)
        density = one.pdf(GRID[:, 0])
        if inside.any():
            assert density[inside].min() > 0.9 * density[outside].max()
    np.testing.assert_array_equal(dist[0].hdr(coverage), dist.hdr(coverage)[0])


def test_one_gaussian_is_scipys():
    one = Distribution.of_mixtures([[1.0]], [[2.0]], [[3.0]])[0]
    normal = stats.norm(2, 3)
    assert one.entropy() == pytest.approx(normal.entropy())
    assert [one.moment(order) for order in range(1, 7)] == pytest.approx(
        [normal.moment(order) for order in range(1, 7)]
    )
    assert one.mode() == pytest.approx(2.0, abs=1e-8)
    np.testing.assert_allclose(one.hdr(0.9), [normal.interval(0.9)], rtol=2e-3)
    # Far out, where a probability is 0 and its logarithm is not.
    np.testing.assert_allclose(one.logcdf([-200.0, 0, 500]), normal.logcdf([-200.0, 0, 500]), rtol=1e-9)
    np.testing.assert_allclose(one.logsf([-200.0, 0, 500]), normal.logsf([-200.0, 0, 500]), rtol=1e-9)


def test_counts():
    dist = mixtures(8, lower=0.0, step=1.0)
    values = np.arange(60.0)
    masses = dist.pmf(values[:, np.newaxis])
    np.testing.assert_array_equal(dist.mode(), masses.argmax(axis=0))
    np.testing.assert_allclose(dist.entropy(), stats.entropy(masses, axis=0), rtol=1e-9)
    np.testing.assert_allclose(dist.moment(2), (values[:, np.newaxis] ** 2 * masses).sum(axis=0), rtol=1e-9)
    for row, region in enumerate(dist.hdr(0.8)):
        inside = np.any((values[:, np.newaxis] >= region[:, 0]) & (values[:, np.newaxis] <= region[:, 1]), axis=1)
        assert masses[inside, row].sum() >= 0.8 > masses[inside, row].sum() - masses[inside, row].min()
        assert masses[inside, row].min() >= masses[~inside, row].max()


def test_atoms_beside_a_density():
    dist = Distribution.of_mixtures([[0.4, 0.6]], [[0.0, 3.0]], [[0.0, 1.0]])
    assert dist.mode()[0] == 0.0
    assert dist.moment(2)[0] == pytest.approx(0.6 * 10)
    expected = -0.4 * np.log(0.4) + 0.6 * (stats.norm.entropy() - np.log(0.6))
    assert dist.entropy()[0] == pytest.approx(expected, rel=1e-6)
    np.testing.assert_array_equal(dist.hdr(0.3)[0], [[0.0, 0.0]])


def test_samples():
    X, y = rows()
    dist = quick("sample-net", continuous=True).fit(X, y).predict_dist(X)
    np.testing.assert_allclose(dist.moment(2), (dist.samples**2).mean(axis=1))
    np.testing.assert_allclose(dist.entropy(), stats.norm(scale=dist.std()).entropy())
    assert all(len(region) >= 1 for region in dist.hdr(0.5))


def test_concat():
    X, y = rows()
    for name in ("ne-gmm", "sample-net"):
        dist = quick(name).fit(X, y).predict_dist(X)
        again = Distribution.concat([dist[:50], dist[50], dist[51:]])
        np.testing.assert_array_equal(again.ppf(0.3), dist.ppf(0.3))
        np.testing.assert_array_equal(again.crps(y), dist.crps(y))
    one, two = mixtures(3, 2), mixtures(4, 5)
    both = Distribution.concat([one, two])
    np.testing.assert_array_equal(both.cdf(0.5), np.concatenate([one.cdf(0.5), two.cdf(0.5)]))
    with pytest.raises(ValueError, match="expected distributions of one kind: all mixtures or as many samples each"):
        Distribution.concat([one, mixtures(3, 2, lower=0.0)])


def test_values_out_of_range_are_refused():
    with pytest.raises(ValueError, match="strictly between 0 and 1"):
        mixtures().hdr(1.0)
    with pytest.raises(ValueError, match="order must be a whole number"):
        mixtures().moment(0)


def test_html_of_notebooks():
    pandas = external.module("pandas")
    X, y = rows()
    frame = pandas.DataFrame(X, columns=["a", "b", "c"], index=[f"<{row}>" for row in range(len(y))])
    html = quick("ngboost").fit(frame, y).predict_dist(frame)._repr_html_()
    assert html.count("<svg") == 5 and "&lt;0&gt;" in html and "mean" in html
    assert mixtures()[0]._repr_html_().count("<svg") == 1
    assert "0 rows" in mixtures()[:0]._repr_html_()


def test_an_atom_is_the_mode_where_it_is_not_rare():
    rare, common = (
        Distribution.of_mixtures([[1 - mass, mass]], [[3.0, 12.0]], [[1.0, 0.0]], upper=12.0)[0] for mass in (1e-4, 0.4)
    )
    assert rare.mode() == pytest.approx(3.0) and common.mode() == 12.0
    assert len(rare.hdr(0.9)) == 1 and len(common.hdr(0.9)) == 2
    low, high = rare.hdr(0.9)[0]
    assert rare.cdf(high) - rare.cdf(low) == pytest.approx(0.9)


def test_rows_far_outside_take_no_longer():
    far = np.array([[0.0, 1e9], [5.0, 1e12]])
    for support in ({"lower": 0.0, "step": 1.0}, {"lower": 0.0}, {"step": 1.0}):
        dist = Distribution.of_mixtures([[0.5, 0.5]] * 2, far, [[2.0, 1e7], [3.0, 1e11]], **support)
        begin = time.perf_counter()
        for values in (dist.entropy(), dist.moment(3), dist.mode()):
            assert np.isfinite(values).all()
        assert time.perf_counter() - begin < 5.0


def test_capped_rows_take_little_longer_than_others():
    rng = np.random.default_rng(0)
    parts = np.full((2000, 16), 1 / 16), rng.normal(20, 8, (2000, 16)), rng.uniform(1, 5, (2000, 16))
    seconds = {}
    for name, support in (("line", {}), ("capped", {"lower": 0.0, "upper": 30.0})):
        dist = Distribution.of_mixtures(*parts, **support)
        for what in (dist.entropy, dist.mode, lambda dist=dist: dist.moment(3)):
            begin = time.perf_counter()
            what()
            seconds[name] = seconds.get(name, 0.0) + time.perf_counter() - begin
    # At most 3 times as long, and as much again for a machine under load.
    assert seconds["capped"] < 6 * seconds["line"], seconds


def test_families_and_quantiles_have_a_shape():
    gamma = Distribution.of_family("gamma", shape=3.0, rate=2.0)[0]
    known = stats.gamma(3.0, scale=0.5)
    assert gamma.entropy() == pytest.approx(known.entropy(), rel=1e-4)
    assert gamma.moment(3) == pytest.approx(known.moment(3), rel=1e-4)
    assert gamma.mode() == pytest.approx(1.0, abs=0.01)
    levels = np.linspace(0.01, 0.99, 99)
    normal = Distribution.of_quantiles(levels, stats.norm.ppf(levels)[np.newaxis])[0]
    assert normal.entropy() == pytest.approx(stats.norm.entropy(), abs=0.02)
    assert normal.moment(2) == pytest.approx(1.0, abs=0.02)
