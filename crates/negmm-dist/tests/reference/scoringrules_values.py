"""Writes scoringrules.csv: scores by scoringrules, SciPy and model-diagnostics, for verification.rs. Needs these and mpmath.

python tests/reference/scoringrules_values.py > tests/reference/scoringrules.csv
"""
import numpy as np
import scipy.stats as st
import scoringrules as sr
from model_diagnostics.scoring import ElementaryScore, SquaredError, decompose

print("score,what,y,value")
rows = []


def put(score, what, y, value):
    print(f"{score},{what},{float(y)!r},{float(value)!r}")


def family(name, params, crps, dist, ys):
    what = name + " " + " ".join(f"{key}={value!r}" for key, value in params.items())
    for y in ys:
        if crps is not None:
            put("crps", what, y, crps(y))
        put("cdf", what, y, dist.cdf(y))
        put("log_score", what, y, -(dist.logpmf(y) if hasattr(dist.dist, "logpmf") else dist.logpdf(y)))
    for level in (1e-6, 0.01, 0.3, 0.5, 0.9, 0.999):
        put("quantile", what, level, dist.ppf(level))
    put("mean", what, 0, dist.mean())
    put("variance", what, 0, dist.var())


line = [-3.0, -0.4, 0.0, 0.7, 1.9, 8.0]
positive = [0.01, 0.4, 1.0, 2.5, 9.0]
for loc, scale in ((0.0, 1.0), (1.5, 0.3)):
    p = dict(loc=loc, scale=scale)
    family("normal", p, lambda y: sr.crps_normal(y, loc, scale), st.norm(loc, scale), line)
    family("logistic", p, lambda y: sr.crps_logistic(y, loc, scale), st.logistic(loc, scale), line)
    family("laplace", p, lambda y: sr.crps_laplace(y, loc, scale), st.laplace(loc, scale), line)
    family("gumbel", p, None, st.gumbel_r(loc, scale), line)
    for df in (1.5, 2.5, 7.0, 300.0):
        q = dict(df=df, **p)
        family("student_t", q, lambda y: sr.crps_t(y, df, loc, scale), st.t(df, loc, scale), line)
family("uniform", dict(min=-1.0, max=2.0), lambda y: sr.crps_uniform(y, -1.0, 2.0), st.uniform(-1, 3), [-0.4, 0.0, 0.7, 1.9])
for rate in (0.2, 3.0):
    family("exponential", dict(rate=rate), lambda y: sr.crps_exponential(y, rate), st.expon(scale=1 / rate), positive)
for shape, rate in ((0.3, 1.0), (2.5, 0.5), (40.0, 8.0)):
    family("gamma", dict(shape=shape, rate=rate), lambda y: sr.crps_gamma(y, shape, rate), st.gamma(shape, scale=1 / rate), positive)
for mu, sigma in ((0.0, 1.0), (1.2, 0.25)):
    family("lognormal", dict(mulog=mu, sigmalog=sigma), lambda y: sr.crps_lognormal(y, mu, sigma),
           st.lognorm(sigma, scale=np.exp(mu)), positive)
for shape, scale in ((0.8, 1.0), (3.0, 2.0)):
    family("weibull", dict(shape=shape, scale=scale), None, st.weibull_min(shape, scale=scale), positive)
for a, b in ((0.7, 0.6), (2.0, 5.0), (30.0, 4.0)):
    family("beta", dict(a=a, b=b), lambda y: sr.crps_beta(y, a, b), st.beta(a, b), [0.02, 0.3, 0.55, 0.9])
for mean in (0.4, 6.0, 150.0):
    family("poisson", dict(mean=mean), lambda y: sr.crps_poisson(y, mean), st.poisson(mean), [0.0, 1.0, 7.0, 140.0])
for n, prob in ((0.7, 0.3), (5.0, 0.5), (20.0, 0.1)):
    family("negative_binomial", dict(n=n, prob=prob), lambda y: sr.crps_negbinom(y, n, prob), st.nbinom(n, prob), [0.0, 1.0, 7.0, 140.0])

rng = np.random.default_rng(7)
draws = rng.gamma(2.0, 2.0, 25).round(3)
what = "samples " + " ".join(map(repr, map(float, draws)))
for y in (-1.0, 2.2, 3.9, 30.0):
    put("crps", what, y, sr.crps_ensemble(y, draws, estimator="nrg"))
    for a, b in ((1.0, 4.0), (-np.inf, 3.0), (2.5, np.inf), (-5.0, 0.5)):
        put(f"between_{a}_{b}", what, y, sr.twcrps_ensemble(y, draws, a, b, estimator="nrg"))
    put("dawid_sebastiani", what, y, sr.dssuv_ensemble(y, draws))
m, s, w = [0.3, -1.1, 4.0], [0.5, 1.2, 0.2], [0.5, 0.3, 0.2]
what = "mixture " + " ".join(map(repr, w + m + s))
for y in (-3.0, 0.2, 4.1, 9.0):
    put("crps", what, y, sr.crps_mixnorm(y, np.array(m), np.array(s), np.array(w)))
    put("log_score", what, y, sr.logs_mixnorm(y, np.array(m), np.array(s), np.array(w)))
levels = [0.05, 0.25, 0.5, 0.75, 0.95]
values = [-1.2, 0.1, 0.6, 1.4, 3.5]
what = "quantiles " + " ".join(map(repr, levels + values))
for y in (-4.0, 0.1, 0.8, 5.0):
    for level, value in zip(levels, values):
        put(f"quantile_score_{level}", what, y, sr.quantile_score(y, value, level))
    put("crps_quantile", what, y, sr.crps_quantile(y, np.array(values), np.array(levels)))
    put("interval_score_0.9", what, y, sr.interval_score(y, values[0], values[-1], 0.1))
    # scoringrules 0.10.0 adds the median itself instead of its distance from y: the intervals are its own, the median's part is
    # Bracher et al.'s.
    intervals = sr.weighted_interval_score(
        y, 0.6, np.array([-1.2, 0.1]), np.array([3.5, 1.4]), np.array([0.1, 0.5]), w_median=0.0, w_alpha=np.array([0.05, 0.25]))
    put("weighted_interval_score", what, y, intervals + 0.5 * abs(y - 0.6) / 2.5)
for prob, event in ((0.3, 1), (0.8, 0)):
    put("brier_score", f"probability {prob}", event, sr.brier_score(event, prob))

# Several targets: draws × targets, one number after the other, then the observed vector.
for size, targets in ((12, 3), (40, 2), (30, 5)):
    draws, observed = rng.normal(size=(size, targets)).round(3), rng.normal(size=targets).round(3)
    if targets == 3:
        observed = np.array([0.4, -0.9, 1.3])
    what = f"vectors {targets} " + " ".join(map(repr, map(float, np.concatenate([draws.ravel(), observed]))))
    put("energy_score", what, 0, sr.es_ensemble(observed, draws, estimator="fair"))
    put("energy_score_nrg", what, 0, sr.es_ensemble(observed, draws, estimator="nrg"))
    for order in (0.5, 1.0, 2.0):
        put(f"variogram_score_{order}", what, 0, sr.vs_ensemble(observed, draws, p=order))
    put("dawid_sebastiani", what, 0, sr.dssmv_ensemble(observed, draws))

# Decomposition of a Brier score by isotonic regression (CORP), with weights; the same number of events, probabilities, weights.
events, weights = rng.integers(0, 2, 30), rng.uniform(0.5, 2.0, 30).round(2)
probabilities = np.clip(0.3 * events + rng.uniform(0, 0.8, 30), 0, 1).round(1)
parts = decompose(y_obs=events, y_pred=probabilities, weights=weights, scoring_function=SquaredError(), functional="mean")
what = "brier " + " ".join(map(repr, map(float, np.concatenate([events, probabilities, weights]))))
for name in ("miscalibration", "discrimination", "uncertainty", "score"):
    put(name, what, 0, parts[name][0])
# Murphy diagrams: elementary scores.
predicted, seen = rng.normal(size=15).round(2), rng.normal(size=15).round(2)
what = "murphy " + " ".join(map(repr, map(float, np.concatenate([predicted, seen]))))
for theta in (-0.755, 0.105, 0.805):
    put("mean", what, theta, ElementaryScore(theta, functional="mean")(seen, predicted))
    for level in (0.2, 0.9):
        put(str(level), what, theta, ElementaryScore(theta, functional="quantile", level=level)(seen, predicted))
# Equal accuracy of independent rows: a t test of differences.
for size in (12, 60):
    differences = rng.normal(0.3, 1.0, size).round(3)
    put("p_value", "differences " + " ".join(map(repr, map(float, differences))), 0, st.ttest_1samp(differences, 0.0).pvalue)
