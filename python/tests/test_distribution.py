"""The distribution object: SciPy's interface, exact values, slices."""

from __future__ import annotations

import copy
import pickle

import external
import numpy as np
import pytest
from quick import NAMES, quick, rows
from scipy import integrate, stats

import negmm
from negmm import Distribution, composite

WEIGHTS = np.array([[0.2, 0.5, 0.3], [1.0, 0.0, 0.0], [0.1, 0.1, 0.8], [0.3, 0.3, 0.4]])
MEANS = np.array([[-3.0, 0.0, 4.0], [1.0, 9.0, 9.0], [0.0, 0.5, 1.0], [1e6, 1e6 + 1, 1e6 + 2]])
SDS = np.array([[0.5, 1.0, 2.0], [2.0, 1.0, 1.0], [0.1, 3.0, 0.2], [1.0, 2.0, 0.5]])


@pytest.fixture
def dist() -> Distribution:
    return Distribution.of_mixtures(WEIGHTS, MEANS, SDS)


def scipys(function: str, x: np.ndarray) -> np.ndarray:
    """The same of scipy: the weighted sum over normal distributions."""
    return (WEIGHTS * getattr(stats.norm(MEANS, SDS), function)(x[..., np.newaxis])).sum(axis=-1)


@pytest.mark.parametrize("function", ["pdf", "cdf", "sf"])
def test_functions_agree_with_scipy(dist, function):
    for x in (
        np.array([-2.0, 1.5, 0.9, 1e6]),
        np.linspace(-5, 5, 7)[:, np.newaxis] + np.zeros(4),
        np.float64(0.3) + np.zeros(4),
    ):
        np.testing.assert_allclose(getattr(dist, function)(x), scipys(function, x), rtol=1e-12, atol=1e-300)
    np.testing.assert_allclose(
        dist.logpdf(x), np.log(scipys("pdf", x), where=scipys("pdf", x) > 0, out=dist.logpdf(x)), rtol=1e-12
    )


def test_moments(dist):
    mean = (WEIGHTS * MEANS).sum(axis=1)
    var = (WEIGHTS * (SDS**2 + (MEANS - mean[:, np.newaxis]) ** 2)).sum(axis=1)
    np.testing.assert_allclose(dist.mean(), mean, rtol=1e-14)
    np.testing.assert_allclose(dist.var(), var, rtol=1e-12)
    np.testing.assert_allclose(dist.std(), np.sqrt(var), rtol=1e-12)
    aleatoric, epistemic = dist.var_parts()
    np.testing.assert_allclose(aleatoric, var, rtol=1e-12)
    np.testing.assert_array_equal(epistemic, 0)


def test_quantiles_are_the_inverse_of_the_cdf(dist):
    levels = np.array([1e-12, 0.01, 0.3, 0.5, 0.9, 1 - 1e-12])[:, np.newaxis]
    assert dist.ppf(levels).shape == (6, 4)
    np.testing.assert_allclose(dist[:3].cdf(dist[:3].ppf(levels)), levels + np.zeros(3), rtol=1e-9)
    np.testing.assert_allclose(dist.isf(levels[1:5]), dist.ppf(1 - levels[1:5]), rtol=1e-12)
    np.testing.assert_allclose(dist[:3].sf(dist[:3].isf(1e-14)), 1e-14, rtol=1e-9)
    np.testing.assert_array_equal(dist.ppf([0, 1, np.nan, 2]), [-np.inf, np.inf, np.nan, np.nan])
    np.testing.assert_array_equal(dist.isf([0, 1, -1, np.nan]), [np.inf, -np.inf, np.nan, np.nan])
    lower, upper = dist.interval(0.9)
    np.testing.assert_allclose(lower, dist.ppf(0.05), rtol=1e-12)
    np.testing.assert_allclose(upper, dist.ppf(0.95), rtol=1e-12)
    np.testing.assert_array_equal(dist.median(), dist.ppf(0.5))


def test_scores_and_tails_are_those_of_quadrature(dist):
    one = dist[0]
    for y in (-4.0, 0.1, 7.0):
        crps = integrate.quad(lambda t: one.cdf(t) ** 2, -30, y, limit=200)[0]
        crps += integrate.quad(lambda t: one.sf(t) ** 2, y, 40, limit=200)[0]
        assert one.crps(y) == pytest.approx(crps, rel=1e-8)
        assert one.nll(y) == -one.logpdf(y)
    tail = integrate.quad(lambda t: t * one.pdf(t), -30, one.ppf(0.1), limit=200)[0] / 0.1
    assert one.shortfall(0.1) == pytest.approx(tail, rel=1e-8)


def test_far_tails_are_finite(dist):
    far = np.array([np.inf, -np.inf, 1e300, np.nan])
    np.testing.assert_array_equal(dist.pdf(far), [0, 0, 0, np.nan])
    np.testing.assert_array_equal(dist.cdf(far), [1, 0, 1, np.nan])
    np.testing.assert_array_equal(dist.sf(far), [0, 1, 0, np.nan])
    np.testing.assert_array_equal(dist.crps(far), [np.inf, np.inf, 1e300, np.nan])
    np.testing.assert_array_equal(dist.logpdf(far)[:2], [-np.inf, -np.inf])


def test_shapes_broadcast_as_in_scipy(dist):
    frozen = stats.norm(np.zeros(4), 1)
    for shape in ((), (1,), (4,), (5, 1), (5, 4), (2, 3, 1), (2, 1, 4), (0, 4)):
        x = np.zeros(shape)
        assert np.shape(dist.pdf(x)) == np.shape(frozen.pdf(x)), shape
        assert np.shape(dist[2].pdf(x)) == np.shape(stats.norm(0, 1).pdf(x)), shape
    for shape in ((3,), (4, 3), (5,)):
        with pytest.raises(ValueError, match="broadcast with 4 rows"):
            dist.pdf(np.zeros(shape))
    one_row = dist[:1]
    with pytest.raises(ValueError, match="broadcast with 1 rows"):
        one_row.pdf(np.zeros(3))


def test_rows_are_chosen_as_in_numpy(dist):
    for chosen in (
        slice(1, 3),
        slice(None, None, -1),
        [3, 0, 0],
        np.array([True, False, True, False]),
        slice(0, 0),
        -1,
        2,
        np.int64(1),
    ):
        part = dist[chosen]
        np.testing.assert_array_equal(part.mean(), dist.mean()[chosen])
        np.testing.assert_array_equal(part.weights, dist.weights[chosen])
        assert part.shape == dist.mean()[chosen].shape
    assert len(dist[1:3]) == 2
    assert isinstance(dist[1].mean(), float)
    assert isinstance(dist[1].cdf(0.0), float)
    for wrong in (4, -5, [0, 4]):
        with pytest.raises(IndexError):
            dist[wrong]
    with pytest.raises(TypeError):
        dist[0][0]
    with pytest.raises(TypeError):
        len(dist[0])
    assert [one.mean() for one in dist] == dist.mean().tolist()


def test_random_values_follow_the_distribution(dist):
    draws = dist.rvs(size=(4000, 4), random_state=1)
    assert draws.shape == (4000, 4)
    for row in range(4):
        assert stats.kstest(draws[:, row], dist[row].cdf).pvalue > 1e-3
    np.testing.assert_array_equal(draws, dist.rvs(size=(4000, 4), random_state=1))
    assert not np.array_equal(draws, dist.rvs(size=(4000, 4), random_state=2))
    assert dist.rvs().shape == (4,)
    assert dist.rvs(size=4).shape == (4,)
    assert dist.rvs(size=(2, 3, 4), random_state=np.random.default_rng(0)).shape == (2, 3, 4)
    assert dist[0].rvs(size=7, random_state=np.random.RandomState(0)).shape == (7,)
    assert isinstance(dist[0].rvs(), float)
    assert not np.array_equal(dist.rvs(), dist.rvs())
    for size in (3, (4, 3), (4, 4, 1)):
        with pytest.raises(ValueError, match="ends with the 4 rows"):
            dist.rvs(size=size)


@pytest.mark.parametrize("name", [*NAMES, "ensemble of samplers"])
def test_pickled_distributions_are_the_same(name):
    X, y = rows(40)
    model = quick("ensemble", member="sample-net", samples=9) if name not in NAMES else quick(name)
    if name == "auto":
        # A linear model is as good for so few rows, and would predict alone.
        model.set_params(linear=False)
    dist = model.fit(X, y).predict_dist(X)
    for part in (dist, dist[3:9], dist[5]):
        for other in (pickle.loads(pickle.dumps(part)), copy.deepcopy(part)):
            assert other == part
            assert repr(other) == repr(part)
            for mine, theirs in zip(part.var_parts(), other.var_parts(), strict=True):
                np.testing.assert_array_equal(mine, theirs)
    assert dist != dist[1:]
    assert dist != "dist"
    aleatoric, epistemic = dist.var_parts()
    np.testing.assert_allclose(aleatoric + epistemic, dist.var(), rtol=1e-9)
    pooled = model.method == "ensemble" or model.method == "auto"
    assert (epistemic > 0).all() if pooled else (epistemic == 0).all()


def test_samples_have_the_same_methods():
    X, y = rows(40)
    dist = quick("sample-net").fit(X, y).predict_dist(X)
    samples = dist.samples
    assert samples.shape == (40, 20)
    np.testing.assert_allclose(dist.mean(), samples.mean(axis=1))
    np.testing.assert_allclose(dist.std(), samples.std(axis=1, ddof=1))
    np.testing.assert_allclose(dist.ppf(0.3), np.quantile(samples, 0.3, axis=1))
    np.testing.assert_allclose(dist.cdf(y), (samples <= y[:, np.newaxis]).mean(axis=1))
    spread = np.abs(samples[:, :, np.newaxis] - samples[:, np.newaxis, :]).mean(axis=(1, 2))
    np.testing.assert_allclose(dist.crps(y), np.abs(samples - y[:, np.newaxis]).mean(axis=1) - spread / 2)
    assert set(np.unique(dist[0].rvs(500, random_state=0))) <= set(samples[0])
    for name in ("weights", "means", "sds"):
        with pytest.raises(AttributeError, match="are samples and have no components"):
            getattr(dist, name)
    with pytest.raises(AttributeError, match="are mixtures and have no samples"):
        _ = Distribution.of_mixtures(WEIGHTS, MEANS, SDS).samples


def test_repr(dist):
    assert repr(dist) == "<Distribution of 4 rows: mixture of 3 Gaussians>"
    assert repr(dist[0]) == "<Distribution of 1 row: mixture of 3 Gaussians>"
    assert (
        repr(Distribution.of_mixtures(np.ones((2, 1)), np.ones((2, 1)), np.ones((2, 1))))
        == "<Distribution of 2 rows: Gaussian>"
    )
    assert repr(dist[0:0]) == "<Distribution of 0 rows: mixture of 3 Gaussians>"


def test_to_pandas(dist):
    pandas = external.module("pandas")
    frame = dist.to_pandas(interval=[0.5, 0.9], quantiles=[0.05, 0.5], components=True)
    columns = ["mean", "sd", "q0.05", "q0.5", "lower_0.5", "upper_0.5", "lower_0.9", "upper_0.9"]
    assert list(frame.columns) == columns + [f"{part}_{k}" for part in ("weight", "mean", "sd") for k in (1, 2, 3)]
    np.testing.assert_array_equal(frame["upper_0.9"], dist.interval(0.9)[1])
    np.testing.assert_array_equal(frame["sd_2"], dist.sds[:, 1])
    assert list(dist[1].to_pandas().columns) == ["mean", "sd", "lower_0.9", "upper_0.9"]
    X, y = rows(30)
    X = pandas.DataFrame(X, columns=list("abc"), index=pandas.date_range("2024-01-01", periods=30))
    dist = quick("ngboost").fit(X, y).predict_dist(X)
    pandas.testing.assert_index_equal(dist.to_pandas().index, X.index)
    pandas.testing.assert_index_equal(dist[5:7].to_pandas().index, X.index[5:7])


@pytest.mark.parametrize("name", ["ne-gmm", "sample-net"])
def test_plot(name):
    pyplot = external.module("matplotlib.pyplot")
    X, y = rows(40)
    dist = quick(name).fit(X, y).predict_dist(X)
    axes = dist.plot(3)
    assert axes.get_xlabel() == "y"
    assert {text.get_text() for text in axes.get_legend().get_texts()} >= {"mean", "90 % interval"}
    _, other = pyplot.subplots()
    assert dist[3].plot(ax=other, interval=0.5) is other
    pyplot.close("all")


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        (
            (WEIGHTS, MEANS[:3], SDS),
            r"expected weights, means and sds of one shape, rows × components, found \[4, 3\], \[3, 3\]",
        ),
        ((WEIGHTS[0], MEANS[0], SDS[0]), "rows × components, found 1 dimensions"),
        (
            (-WEIGHTS, MEANS, SDS),
            "mixture 0, component 0: expected a weight that is finite and not negative, found -0.2",
        ),
        ((WEIGHTS, MEANS, -SDS), "mixture 0, component 0: expected a sd that is finite and not negative, found -0.5"),
        ((WEIGHTS, MEANS - np.inf, SDS), "mixture 0, component 0: expected a mean that is finite, found -inf"),
        ((0 * WEIGHTS, MEANS, SDS), "mixture 0: expected weights with a positive finite sum, found 0"),
        ((np.ones((2, 0)), np.ones((2, 0)), np.ones((2, 0))), "a mixture has at least 1 component, found 0"),
        ((WEIGHTS, MEANS, "x"), "could not convert string to float"),
    ],
)
def test_invalid_mixtures_are_refused(parts, message):
    with pytest.raises(ValueError, match=message):
        Distribution.of_mixtures(*parts)


def test_levels_lie_strictly_between_0_and_1(dist):
    for level in (0, 1, -0.1, np.nan, [0.5, 1.5]):
        with pytest.raises(ValueError, match="strictly between 0 and 1"):
            dist.shortfall(level)


def test_between_bounds_it_is_scipys_truncated_normal():
    lower, upper, mean, sd = 0.0, 2.5, -1.0, 1.5
    dist = Distribution.of_mixtures([[1.0]], [[mean]], [[sd]], lower=lower, upper=upper)[0]
    expected = stats.truncnorm((lower - mean) / sd, (upper - mean) / sd, loc=mean, scale=sd)
    x = np.linspace(-0.5, 3.0, 15)
    for function in ("pdf", "cdf", "sf"):
        np.testing.assert_allclose(getattr(dist, function)(x), getattr(expected, function)(x), atol=1e-12)
    levels = np.array([0.0, 0.01, 0.5, 0.99, 1.0])
    np.testing.assert_allclose(dist.ppf(levels), expected.ppf(levels), atol=1e-9)
    np.testing.assert_allclose([dist.mean(), dist.std()], [expected.mean(), expected.std()], rtol=1e-9)
    score = integrate.quad(lambda t: (expected.cdf(t) - (t >= 1.0)) ** 2, lower, upper, points=[1.0])[0]
    np.testing.assert_allclose(dist.crps(1.0), score, rtol=1e-7)
    np.testing.assert_allclose(dist.nll(1.0), -expected.logpdf(1.0), rtol=1e-9)
    assert dist.support() == (0.0, 2.5) and dist.pmf(1.0) == 0.0 and dist.nll(3.0) == np.inf
    draws = dist.rvs(200, random_state=1)
    assert draws.min() >= lower and draws.max() <= upper


def test_on_a_grid_values_have_probabilities():
    dist = Distribution.of_mixtures([[1.0], [0.2]], [[3.0], [0.4]], [[2.0], [0.1]], lower=0, step=1)
    values = np.arange(40.0)
    pmf = dist.pmf(values[:, np.newaxis])
    np.testing.assert_allclose(pmf.sum(axis=0), 1.0, rtol=1e-12)
    np.testing.assert_allclose(pmf[3, 0], stats.norm(3, 2).cdf(3.5) - stats.norm(3, 2).cdf(2.5), rtol=1e-12)
    np.testing.assert_allclose(pmf[0, 0], stats.norm(3, 2).cdf(0.5), rtol=1e-12)
    np.testing.assert_allclose(dist.mean(), (pmf * values[:, np.newaxis]).sum(axis=0), rtol=1e-12)
    np.testing.assert_allclose(dist.cdf(3.7), pmf[:4].sum(axis=0), rtol=1e-12)
    assert dist[0].pmf(2.5) == 0.0 and dist.support() == (0.0, np.inf)
    assert set(dist[0].ppf([0.01, 0.3, 0.9])) <= set(values) and set(dist[0].rvs(50, random_state=0)) <= set(values)


def test_a_component_with_sd_0_is_an_atom():
    dist = Distribution.of_mixtures([[0.25, 0.75]], [[0.0, 2.0]], [[0.0, 1.0]])[0]
    assert dist.pmf(0) == 0.25 and dist.pmf(0.1) == 0.0
    assert dist.cdf(0) - dist.cdf(-1e-9) == pytest.approx(0.25, abs=1e-9)
    assert dist.ppf(0.1) == 0.0 and dist.nll(0) == -np.log(0.25)
    assert dist.pit(0) == dist.cdf(0) - 0.125 and dist.pit(1) == dist.cdf(1)
    assert dist.pdf(2.0) == pytest.approx(0.75 * stats.norm.pdf(0))


@pytest.mark.parametrize("support", [{"lower": 0.0}, {"lower": 0, "upper": 9, "step": 0.5}])
def test_a_support_is_kept_by_slices_and_copies(support):
    dist = Distribution.of_mixtures(WEIGHTS[:3], MEANS[:3], SDS[:3], **support)
    for same in (pickle.loads(pickle.dumps(dist)), copy.deepcopy(dist)):
        assert same == dist and same.support() == dist.support()
        np.testing.assert_array_equal(same.mean(), dist.mean())
    assert dist[1:].support() == dist.support() and dist[1].mean() == dist.mean()[1]
    assert dist != Distribution.of_mixtures(WEIGHTS[:3], MEANS[:3], SDS[:3])
    with pytest.raises(ValueError, match="from low to high"):
        Distribution.of_mixtures(WEIGHTS, MEANS, SDS, lower=1, upper=0)


def test_intervals_of_nothing_and_of_everything():
    dist = Distribution.of_mixtures(WEIGHTS, MEANS, SDS)
    for end in dist.interval(0):
        np.testing.assert_allclose(end, dist.median())
    lower, upper = dist.interval(1)
    assert (lower == -np.inf).all() and (upper == np.inf).all()
    bounded = Distribution.of_mixtures(WEIGHTS, MEANS, SDS, lower=-1.0, upper=5.0)
    lower, upper = bounded.interval(1.0)
    assert (lower == -1).all() and (upper == 5).all()
    with pytest.raises(ValueError, match="expected a confidence between 0 and 1, found 1.5"):
        dist.interval(1.5)


def test_concatenation_keeps_members():
    one, two = (Distribution.of_mixtures([[1.0], [1.0]], [[mean], [mean]], [[1.0], [2.0]]) for mean in (0.0, 3.0))
    pool = Distribution.pool([one, two])
    both = np.concatenate([pool, pool[1:]])
    assert isinstance(both, Distribution) and len(both) == 3
    np.testing.assert_allclose(both.var_parts()[1], 2.25)
    # Members of other sizes: each is padded by itself.
    wide = Distribution.of_mixtures([[0.5, 0.5]], [[1.0, 3.0]], [[1.0, 1.0]])
    mixed = Distribution.concat([pool, Distribution.pool([wide, two[:1]])])
    np.testing.assert_allclose(mixed.var_parts()[1], [2.25, 2.25, 0.25])
    np.testing.assert_allclose(mixed.mean(), [1.5, 1.5, 2.5])
    with pytest.raises(ValueError, match="of as many members; np.concatenate also takes others"):
        Distribution.concat([one, pool])
    different = np.concatenate([one, pool])
    np.testing.assert_allclose(different.var_parts()[1], [0, 0, 2.25, 2.25])


def test_rows_of_different_supports_are_concatenated():
    counts = Distribution.of_mixtures([[1.0]] * 3, [[1.0], [2.0], [9.0]], [[1.0]] * 3, lower=0.0, step=1.0)
    plain = Distribution.of_mixtures([[1.0]] * 2, [[1.0], [5.0]], [[2.0]] * 2)
    both = np.concatenate([counts, plain, Distribution.of_samples([[1.0, 2.0, 4.0]])])
    assert len(both) == 6 and both.support() == (-np.inf, np.inf)
    shuffled = both[[5, 3, 0, 4, 1, 2]]
    back = shuffled[np.argsort([5, 3, 0, 4, 1, 2])]
    for answers in (both, back):
        np.testing.assert_array_equal(answers.ppf([[0.2], [0.9]])[:, :3], counts.ppf([[0.2], [0.9]]))
        np.testing.assert_array_equal(answers.crps(np.ones(6))[3:5], plain.crps(np.ones(2)))
    np.testing.assert_array_equal(both.mean()[:3], counts.mean())
    np.testing.assert_array_equal(both.pmf(1.0)[:3], counts.pmf(1.0))
    assert both[1].cdf(2.0) == counts[1].cdf(2.0)
    again = np.concatenate([both[:2], plain])
    np.testing.assert_array_equal(again.std(), [*counts.std()[:2], *plain.std()])
    assert both.rvs((7, 6), random_state=0).shape == (7, 6)
    assert both.to_pandas(quantiles=[0.5]).shape == (6, 5)
    assert negmm.evaluate(np.ones(6), dist=both).scores["crps"] == pytest.approx(both.crps(np.ones(6)).mean(), rel=0.01)


def test_models_of_different_supports_are_pooled():
    counts = Distribution.of_mixtures([[1.0]] * 2, [[3.0], [2.0]], [[2.0]] * 2, lower=0.0, step=1.0)
    capped = Distribution.of_mixtures([[0.7, 0.3]] * 2, [[3.0, 6.0]] * 2, [[1.0, 0.0]] * 2, upper=6.0)
    pool = composite.pooled([counts, capped], [1, 3])
    np.testing.assert_allclose(pool.cdf(3.0), 0.25 * counts.cdf(3.0) + 0.75 * capped.cdf(3.0))
    draws = np.concatenate([counts.rvs((20_000, 2), random_state=0), capped.rvs((60_000, 2), random_state=1)])
    np.testing.assert_allclose(pool.mean(), draws.mean(axis=0), atol=0.03)
    np.testing.assert_allclose(pool.std(), draws.std(axis=0), atol=0.03)
    levels = np.array([[0.02], [0.3], [0.5], [0.9], [0.97]])
    np.testing.assert_allclose(pool.ppf(levels), np.quantile(draws, levels[:, 0], axis=0), atol=0.06)
    # The least value that is reached with that probability.
    assert (pool.cdf(pool.ppf(levels)) > levels - 1e-12).all()
    np.testing.assert_array_equal(pool.ppf(0.999), counts.ppf(0.996))
    np.testing.assert_array_equal(pool.ppf(1.0), [np.inf] * 2)
    y = np.array([2.5, 5.0])
    pairs = np.random.default_rng(0).permutation(draws)
    expected = np.abs(draws - y).mean(axis=0) - 0.5 * np.abs(draws - pairs).mean(axis=0)
    np.testing.assert_allclose(pool.crps(y), expected, atol=0.02)
    assert pool.rvs(random_state=0).shape == (2,) and pool[0].ppf(0.5) == pool.ppf(0.5)[0]


def test_the_density_of_several_rows_is_one_picture():
    pyplot = external.module("matplotlib.pyplot")
    dist = Distribution.of_mixtures(WEIGHTS, MEANS, SDS)
    axes = dist.plot([0, 2, 3])
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["0", "2", "3"]
    pyplot.close("all")
