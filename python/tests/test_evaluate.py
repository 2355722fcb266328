"""Anybody's predictions: evaluate, adapters, metrics and reports."""

import numpy as np
import pytest
import scipy.stats as st

import negmm
from negmm import Distribution, metrics
from negmm.adapters import LEVELS, as_distribution

RNG = np.random.default_rng(4)
LOC, SCALE = RNG.normal(size=200), RNG.uniform(0.5, 2, 200)
Y = LOC + SCALE * RNG.normal(size=200)
NORMAL = st.norm(LOC, SCALE)


def test_every_form_has_nearly_the_same_scores():
    exact = negmm.evaluate(Y, dist=NORMAL)
    levels = np.arange(1, 100) / 100
    quantiles = NORMAL.ppf(levels[:, np.newaxis]).T
    forms = [
        negmm.evaluate(Y, dist=Distribution.of_mixtures(np.ones((200, 1)), LOC[:, None], SCALE[:, None])),
        negmm.evaluate(Y, quantiles=quantiles, levels=levels),
        negmm.evaluate(Y, samples=NORMAL.ppf(np.linspace(0.0005, 0.9995, 1000)[:, np.newaxis]).T),
    ]
    for form in forms:
        for name in ("crps", "log_score", "interval_score_0.9", "absolute_error"):
            assert form.scores[name] == pytest.approx(exact.scores[name], rel=0.01, abs=0.01)
    assert exact.pit_test["p_value"] > 1e-3
    assert exact.rows["crps"].shape == (200,)
    assert exact.rows["crps"].mean() == pytest.approx(exact.scores["crps"])


@pytest.mark.parametrize(
    "frozen",
    [
        st.norm(LOC, SCALE),
        st.t(4, LOC, SCALE),
        st.logistic(LOC, SCALE),
        st.laplace(LOC, scale=SCALE),
        st.gumbel_r(LOC, SCALE),
        st.uniform(LOC, SCALE),
        st.gamma(2.5, scale=SCALE),
        st.expon(scale=SCALE),
        st.lognorm(0.4, scale=SCALE),
        st.weibull_min(1.7, scale=SCALE),
        st.beta(2.0, SCALE),
        st.poisson(SCALE),
        st.nbinom(3.0, 0.3),
        st.gamma(2.5, LOC, SCALE),
        st.skewnorm(2.0, LOC, SCALE),
    ],
    ids=lambda frozen: frozen.dist.name,
)
def test_scipy_distributions(frozen):
    ours = as_distribution(dist=frozen)
    rows = len(ours)
    at = np.broadcast_to(frozen.ppf(0.7), rows).copy()
    assert ours.cdf(at) == pytest.approx(np.broadcast_to(frozen.cdf(at), rows), abs=2e-3)
    assert ours.ppf(0.2) == pytest.approx(np.broadcast_to(frozen.ppf(0.2), rows), abs=2e-2)


class _Tensor(np.ndarray):
    """An array with the methods of a tensor that adapters call."""

    def detach(self):
        return self

    def cpu(self):
        return np.asarray(self)


def _tensor(values):
    return np.asarray(values, dtype=np.float64).view(_Tensor)


def test_tabpfn_dictionaries_and_ngboost_objects():
    borders = np.linspace(-6, 6, 121)
    logits = np.log(np.diff(st.norm(LOC[:5, None], 1.0).cdf(borders)) + 1e-300)
    criterion = type("Criterion", (), {"borders": _tensor(borders)})()
    histogram = as_distribution(dist={"logits": _tensor(logits), "criterion": criterion})
    assert histogram.mean() == pytest.approx(LOC[:5], abs=1e-2)
    quantiles = as_distribution(dist={"quantiles": [LOC - 1, LOC, LOC + 1]})
    assert quantiles.ppf(0.5) == pytest.approx(LOC)
    # As ngboost's distributions, it has the attributes of the frozen distribution too.
    forwarded = {"dist": NORMAL, "__getattr__": lambda self, name: getattr(NORMAL, name)}
    ngboost = type("NGBoostNormal", (), forwarded)()
    assert as_distribution(dist=ngboost).ppf(0.9) == pytest.approx(NORMAL.ppf(0.9))


def test_the_outer_bars_of_tabpfn_are_half_normal():
    borders, logits = np.array([-2.0, -1.0, 1.0, 3.0]), np.log([[0.3, 0.5, 0.2]])
    criterion = type("FullSupportBarDistribution", (), {"borders": _tensor(borders)})()
    dist = as_distribution(dist={"logits": _tensor(logits), "criterion": criterion})
    # Half of the probability of the bar lies within its width.
    assert dist.cdf(np.array([-2.0])) == pytest.approx(0.15) and dist.cdf(np.array([3.0])) == pytest.approx(0.9)
    assert dist.cdf(np.array([1.0])) == pytest.approx(0.8)
    tail = 0.2 * st.halfnorm(1.0, 2.0 / st.norm.ppf(0.75)).sf([2.0, 5.0, 8.0])
    assert 1 - dist.cdf(np.array([[2.0], [5.0], [8.0]])).ravel() == pytest.approx(tail, rel=0.1, abs=1e-3)
    assert negmm.metrics.log_score([7.0], dist=dist)[0] < 10
    criterion = type("BarDistribution", (), {"borders": _tensor(borders)})()
    assert as_distribution(dist={"logits": _tensor(logits), "criterion": criterion}).ppf(1.0) == 3.0


def test_skpro_distributions():
    from skpro.distributions import Normal, TDistribution

    column = LOC[:, np.newaxis], SCALE[:, np.newaxis]
    for theirs, frozen in (
        (Normal(mu=column[0], sigma=column[1]), NORMAL),
        (TDistribution(mu=column[0], sigma=column[1], df=5.0), st.t(5, LOC, SCALE)),
    ):
        ours = as_distribution(dist=theirs)
        at = frozen.ppf(0.7)
        assert ours.ppf(0.2) == pytest.approx(frozen.ppf(0.2), abs=1e-6)
        assert ours.cdf(at) == pytest.approx(frozen.cdf(at), abs=1e-4)
        exact = negmm.evaluate(Y, dist=frozen)
        assert negmm.evaluate(Y, dist=theirs).scores["crps"] == pytest.approx(exact.scores["crps"], rel=1e-3)


def test_ngboost_distributions():
    pytest.importorskip("ngboost")
    from ngboost import NGBRegressor
    from ngboost.distns import LogNormal, Normal, Poisson, T

    X = np.column_stack([LOC, SCALE])
    for kind, y in ((Normal, Y), (LogNormal, np.exp(Y)), (T, Y), (Poisson, np.round(np.abs(Y)))):
        theirs = NGBRegressor(Dist=kind, n_estimators=20, verbose=False, random_state=0).fit(X, y).pred_dist(X)
        ours = as_distribution(dist=theirs)
        assert len(ours) == 200, kind
        assert ours.cdf(y) == pytest.approx(theirs.cdf(y), abs=1e-6), kind
        if kind is not Poisson:
            assert metrics.log_score(y, dist=theirs) == pytest.approx(-theirs.logpdf(y), rel=1e-6, abs=1e-6), kind


def test_torch_distributions():
    torch = pytest.importorskip("torch")
    loc, scale = torch.tensor(LOC), torch.tensor(SCALE)
    d = torch.distributions
    for theirs in (
        d.Normal(loc, scale),
        d.StudentT(torch.full_like(loc, 4.0), loc, scale),
        d.Laplace(loc, scale),
        d.Gumbel(loc, scale),
        d.Uniform(loc - 10, loc + 10 * scale),
        d.LogNormal(loc, scale),
        d.Exponential(scale),
        d.Gamma(scale + 1, scale),
        d.Weibull(scale, scale + 1),
        d.Beta(scale + 1, scale),
        d.Poisson(scale),
        d.NegativeBinomial(scale, probs=torch.full_like(loc, 0.3)),
        d.MixtureSameFamily(
            d.Categorical(torch.full((200, 2), 0.5, dtype=loc.dtype)),
            d.Normal(torch.stack([loc, loc + 1], 1), torch.stack([scale, scale], 1)),
        ),
    ):
        name = type(theirs).__name__
        y = Y
        if name in ("Exponential", "Gamma", "Weibull", "LogNormal"):
            y = np.exp(Y)
        elif name in ("Poisson", "NegativeBinomial"):
            y = np.round(np.abs(Y))
        elif name == "Beta":
            y = 1 / (1 + np.exp(-Y))
        elif name == "Uniform":
            y = LOC
        expected = -theirs.log_prob(torch.tensor(y)).numpy()
        assert metrics.log_score(y, dist=theirs) == pytest.approx(expected, rel=1e-6, abs=1e-6), name


def test_crossing_quantiles_are_said():
    crossing = np.column_stack([LOC, LOC - 1, LOC + 1])
    crossing[1:] = np.sort(crossing[1:], axis=1)
    with pytest.warns(UserWarning, match="^1 row has crossing quantiles, which were sorted") as caught:
        negmm.evaluate(Y, quantiles=crossing, levels=[0.1, 0.5, 0.9])
    assert caught[0].filename == __file__


def test_frames_and_arrow_tables_have_their_levels_as_columns():
    pd, pa = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    frame = pd.DataFrame({"q0.9": LOC + 1, "q0.1": LOC - 1, "q0.5": LOC})
    named = negmm.evaluate(Y, quantiles=frame)
    array = negmm.evaluate(Y, quantiles=frame[["q0.1", "q0.5", "q0.9"]].to_numpy(), levels=[0.1, 0.5, 0.9])
    arrow = negmm.evaluate(Y, quantiles=pa.Table.from_pandas(frame))
    assert named.scores == array.scores == arrow.scores
    assert list(named.to_pandas().columns) == ["mean", "se"]


def test_groups_weights_and_options():
    groups = np.where(np.arange(200) < 50, "a", "b")
    result = negmm.evaluate(
        Y, dist=NORMAL, groups=groups, thresholds=[0.0], between=(0.0, np.inf), quantile_weight="tails", step=0.1
    )
    mean = 0.25 * result.groups["a"].scores["crps"] + 0.75 * result.groups["b"].scores["crps"]
    assert mean == pytest.approx(result.scores["crps"])
    assert {"brier_0", "crps_between_0_inf", "crps_quantiles_tails", "mass_log_score"} <= set(result.scores)
    weighted = negmm.evaluate(Y, dist=NORMAL, sample_weight=groups == "a")
    assert weighted.scores["crps"] == pytest.approx(result.groups["a"].scores["crps"])


def test_wrong_input_is_named():
    with pytest.raises(ValueError, match="expected one of dist, quantiles and samples, found none"):
        negmm.evaluate(Y)
    with pytest.raises(ValueError, match="expected 200 values of y, one for each row, found 3"):
        negmm.evaluate(Y[:3], dist=NORMAL)
    with pytest.raises(ValueError, match="quantiles need levels"):
        negmm.evaluate(Y, quantiles=np.zeros((200, 3)))
    with pytest.raises(TypeError, match="found object"):
        negmm.evaluate(Y, dist=object())
    with pytest.raises(ValueError, match="row 1: expected a quantile of level 0.9 that is finite"):
        negmm.evaluate([0.0, 1.0], quantiles=[[0.0, 1.0], [0.0, np.nan]], levels=[0.1, 0.9])


def test_distributions_are_distributions():
    quantiles = Distribution.of_quantiles([0.1, 0.5, 0.9], np.column_stack([LOC - 1, LOC, LOC + 1]))
    assert repr(quantiles) == "<Distribution of 200 rows: 3 quantiles>"
    assert quantiles[3].ppf(0.5) == LOC[3]
    import pickle

    again = pickle.loads(pickle.dumps(quantiles))
    assert (again.crps(Y) == quantiles.crps(Y)).all()
    family = Distribution.of_family("student_t", df=5.0, loc=LOC, scale=1.0)
    assert repr(family) == "<Distribution of 200 rows: student_t>"
    assert (pickle.loads(pickle.dumps(family)).crps(Y) == family.crps(Y)).all()
    assert Distribution.of_family("poisson", mean=3.0).pmf(2) == pytest.approx(st.poisson(3).pmf(2))


def test_metrics_take_all_forms():
    levels = [0.05, 0.5, 0.95]
    quantiles = NORMAL.ppf(np.array(levels)[:, np.newaxis]).T
    rows = metrics.crps(Y, dist=NORMAL)
    assert rows == pytest.approx(negmm.evaluate(Y, dist=NORMAL).rows["crps"])
    assert metrics.crps(Y, dist=NORMAL, average=True) == pytest.approx(rows.mean())
    assert metrics.log_score(Y, dist=NORMAL) == pytest.approx(-NORMAL.logpdf(Y))
    pinball = np.where(Y[:, None] < quantiles, 1.0, 0.0) - levels
    assert metrics.quantile_score(Y, quantiles, levels) == pytest.approx(pinball * (quantiles - Y[:, None]))
    interval = metrics.interval_score(Y, quantiles[:, 0], quantiles[:, 2], alpha=0.1)
    score = metrics.weighted_interval_score(Y, quantiles=quantiles, levels=levels)
    assert score == pytest.approx((0.5 * abs(Y - quantiles[:, 1]) + 0.05 * interval) / 1.5)
    assert metrics.brier_score(Y, 0.5, dist=NORMAL) == pytest.approx((NORMAL.cdf(0.5) - (Y <= 0.5)) ** 2)
    moments = (Y - LOC) ** 2 / SCALE**2 + 2 * np.log(SCALE)
    assert metrics.dawid_sebastiani_score(Y, dist=NORMAL) == pytest.approx(moments)
    assert metrics.cde_loss(Y, dist=NORMAL).shape == (200,)
    mass = NORMAL.cdf(Y + 0.25) - NORMAL.cdf(Y - 0.25)
    assert metrics.mass_log_score(Y, 0.5, dist=NORMAL) == pytest.approx(-np.log(mass), rel=1e-9)
    assert metrics.pit(Y, dist=NORMAL) == pytest.approx(NORMAL.cdf(Y), abs=1e-12)
    poisson = metrics.pit([0.0, 2.0], dist=st.poisson([1.0, 3.0]), seed=3)
    assert (poisson >= st.poisson([1.0, 3.0]).cdf([-1, 1])).all() and (poisson <= st.poisson([1, 3]).cdf([0, 2])).all()
    inside = (NORMAL.ppf(0.05) <= Y) & (Y <= NORMAL.ppf(0.95))
    assert metrics.coverage(Y, level=0.9, dist=NORMAL) == inside.mean()
    assert metrics.coverage(Y, level=0.9, quantiles=quantiles, levels=levels) == inside.mean()
    with pytest.raises(ValueError, match="with dist, expected level"):
        metrics.coverage(Y, dist=NORMAL)
    with pytest.raises(ValueError, match="expected weights, means and sds of mixtures, or one of dist"):
        metrics.pit(Y)


def test_a_report_and_a_plot(tmp_path):
    result = negmm.evaluate(Y, dist=NORMAL, target="price")
    page = result.report(tmp_path / "report.html")
    assert page.startswith("<!doctype html>") and "price" in page and "PIT histogram" in page
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == page
    pyplot = pytest.importorskip("matplotlib.pyplot")
    axes = result.plot()
    assert axes[0].get_xlabel() == "PIT"
    pyplot.close("all")


def test_levels_of_the_fallback_increase():
    assert (np.diff(LEVELS) > 0).all()


def test_a_murphy_diagram_integrates_to_the_score():
    result = negmm.evaluate(Y, dist=NORMAL, thresholds=[0.0])
    thetas = np.linspace(-12, 12, 24_001)
    at, median = result.murphy(0.5, thetas)
    assert (at == thetas).all()
    assert np.trapezoid(median, thetas) == pytest.approx(0.5 * result.scores["absolute_error"], rel=1e-3)
    _, mean = result.murphy(None, thetas)
    assert np.trapezoid(mean, thetas) == pytest.approx(0.5 * result.scores["squared_error"], rel=1e-3)
    assert (metrics.murphy_curve(Y, LOC, thetas, sample_weight=np.full(200, 3.0)) == pytest.approx(mean)) is True
    parts = result.decompositions_of_thresholds[0.0]
    whole = parts["miscalibration"] - parts["discrimination"] + parts["uncertainty"]
    assert whole == pytest.approx(parts["score"]) and parts["score"] == pytest.approx(result.scores["brier_0"])


def test_several_targets_have_joint_scores():
    y = np.column_stack([Y, Y + 0.1 * RNG.normal(size=200)])
    noise = RNG.normal(size=(200, 40, 1)) * SCALE[:, None, None]
    joint = LOC[:, None, None] + noise + 0.1 * RNG.normal(size=(200, 40, 2)) * [0.0, 1.0]
    apart = joint.copy()
    apart[:, :, 1] = RNG.permuted(apart[:, :, 1], axis=1)
    good, bad = (negmm.evaluate_vectors(y, samples=draws, targets=["a", "b"]) for draws in (joint, apart))
    for name in ("energy_score", "fair_energy_score", "variogram_score", "dawid_sebastiani"):
        assert good.scores[name] < bad.scores[name]
    assert good.targets["b"].scores["crps"] == pytest.approx(bad.targets["b"].scores["crps"])
    assert good.targets["a"].scores["crps"] == pytest.approx(negmm.evaluate(Y, samples=joint[:, :, 0]).scores["crps"])
    # By hand for one row; of one target it is the CRPS.
    distance = np.linalg.norm(joint[0][:, None] - joint[0][None], axis=2)
    near = np.linalg.norm(joint[0] - y[0], axis=1).mean()
    assert good.rows["energy_score"][0] == pytest.approx(near - distance.mean() / 2)
    assert metrics.energy_score(y, joint, fair=True)[0] == pytest.approx(near - distance.sum() / 2 / 40 / 39)
    assert metrics.energy_score(y[:, :1], joint[:, :, :1]) == pytest.approx(metrics.crps(Y, samples=joint[:, :, 0]))
    gap = abs(joint[0][:, 0] - joint[0][:, 1]) ** 0.5
    assert metrics.variogram_score(y, joint)[0] == pytest.approx(2 * (abs(y[0, 0] - y[0, 1]) ** 0.5 - gap.mean()) ** 2)
    halves = np.arange(200) < 100
    result = negmm.evaluate_vectors(y, samples=joint, groups=halves, sample_weight=np.where(halves, 1.0, 3.0), scales=[2, 2])
    means = [result.groups[key].scores["energy_score"] for key in (True, False)]
    assert result.scores["energy_score"] == pytest.approx((means[0] + 3 * means[1]) / 4)
    assert len(result.to_pandas()) == 4 + 2 * len(result.targets["y0"].scores)
    with pytest.raises(ValueError, match="y has 2 targets: negmm.evaluate_vectors"):
        negmm.evaluate(y, samples=joint)
    with pytest.raises(ValueError, match="expected samples of shape 200 rows"):
        negmm.evaluate_vectors(y, samples=joint[:, :, :1])
    with pytest.raises(ValueError, match="row 3, draw 1, target y0: expected a finite number, found nan"):
        joint[3, 1, 0] = np.nan
        negmm.evaluate_vectors(y, samples=joint)


def test_torch_distributions_by_their_arrays():
    def of_torch(name, **arrays):
        kind = type(name, (), {"__module__": "torch.distributions"})
        own = kind()
        for key, value in arrays.items():
            setattr(own, key, _tensor(value) if isinstance(value, np.ndarray | float | list) else value)
        return own

    normal = as_distribution(dist=of_torch("Normal", loc=LOC, scale=SCALE))
    assert normal.ppf(0.3) == pytest.approx(NORMAL.ppf(0.3))
    gamma = as_distribution(dist=of_torch("Gamma", concentration=np.full(200, 2.5), rate=1 / SCALE))
    assert gamma.mean() == pytest.approx(2.5 * SCALE)
    counts = as_distribution(dist=of_torch("NegativeBinomial", total_count=np.full(3, 3.0), probs=np.full(3, 0.7)))
    assert counts.pmf(2) == pytest.approx(st.nbinom(3.0, 0.3).pmf(2))
    mixture = of_torch(
        "MixtureSameFamily",
        component_distribution=of_torch("Normal", loc=np.array([[0.0, 4.0]]), scale=np.array([[1.0, 2.0]])),
        mixture_distribution=of_torch("Categorical", probs=np.array([[0.25, 0.75]])),
    )
    assert as_distribution(dist=mixture).mean() == pytest.approx(3.0)
    with pytest.raises(TypeError, match="torch's VonMises has no closed form here: pass its samples"):
        as_distribution(dist=of_torch("VonMises", loc=LOC))


def test_a_joint_distribution_is_scored_by_draws_and_exact_margins():
    y = np.column_stack([Y, Y + 0.1 * RNG.normal(size=200)])
    X = LOC[:, np.newaxis]
    model = negmm.JointRegressor("ne-gmm", options={"epochs": 15}, random_state=0).fit(X, y)
    dist = model.predict_dist(X)
    result = negmm.evaluate_vectors(y, dist=dist, targets=["a", "b"])
    assert result.targets["a"].scores["crps"] == pytest.approx(dist.marginal(0).crps(y[:, 0]).mean())
    draws = dist.rvs(300, random_state=0).transpose(1, 0, 2)
    assert result.scores == pytest.approx(negmm.evaluate_vectors(y, samples=draws).scores)
    assert result.scores["variogram_score"] < 1.0
