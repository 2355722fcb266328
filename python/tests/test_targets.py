"""Target specification: counts, zeros beside a density, bounds; and groups of rows."""

from __future__ import annotations

import datetime
import pickle

import external
import numpy as np
import pandas
import pytest
from program import run
from quick import LEARNING, NAMES, quick, rows

import negmm
from negmm import Distribution

#: Methods whose mixtures may have atoms.
MIXTURES = ["auto", "ne-gmm", "mdn", "ensemble", "constant"]
#: What ``quick("ne-gmm")`` is on the command line.
QUICK_FLAGS = [
    "--method",
    "ne-gmm",
    "--components",
    2,
    "--hidden",
    16,
    "--epochs",
    60,
    "--learning-rate",
    0.03,
    "--quiet",
]


def inputs(rows: int) -> tuple[np.random.Generator, pandas.DataFrame]:
    rng = np.random.default_rng(0)
    return rng, pandas.DataFrame(rng.normal(size=(rows, 2)).round(3), columns=["a", "b"])


def counts(rows: int = 200) -> tuple[pandas.DataFrame, pandas.Series]:
    rng, X = inputs(rows)
    return X, pandas.Series(rng.poisson(np.exp(0.5 + 0.5 * X["a"])).astype(float), name="visits")


def zeros(rows: int = 200) -> tuple[pandas.DataFrame, pandas.Series]:
    """Two fifths are zero, the others log-normal."""
    rng, X = inputs(rows)
    amounts = np.exp(1 + 0.3 * X["a"] + 0.4 * rng.normal(size=rows)).round(4)
    return X, pandas.Series(np.where(rng.random(rows) < 0.4, 0.0, amounts), name="claim")


def fractions(rows: int = 200) -> tuple[pandas.DataFrame, pandas.Series]:
    rng, X = inputs(rows)
    middle = 1 / (1 + np.exp(-X["a"]))
    return X, pandas.Series(rng.beta(1 + 4 * middle, 5 - 4 * middle).round(5), name="share")


@pytest.mark.parametrize("name", NAMES)
def test_counts_are_on_a_grid(name):
    X, y = counts()
    dist = quick(name).fit(X, y).predict_dist(X[:20])
    assert dist.measure == "discrete"
    assert dist.support() == (0, np.inf)
    values = np.arange(200.0)[:, np.newaxis]
    masses = dist.pmf(values)
    np.testing.assert_allclose(masses.sum(axis=0), 1, rtol=1e-9)
    np.testing.assert_allclose((values * masses).sum(axis=0), dist.mean(), rtol=1e-9)
    np.testing.assert_allclose(np.cumsum(masses, axis=0)[:20], dist.cdf(values[:20]), atol=1e-12)
    quantiles = dist.ppf(np.linspace(0.01, 0.99, 25)[:, np.newaxis])
    np.testing.assert_array_equal(quantiles, quantiles.round())
    assert quantiles.min() >= 0
    assert not dist.pmf(1.5).any()
    draws = dist.rvs((50, 20), random_state=1)
    np.testing.assert_array_equal(draws, np.abs(draws.round()))


@pytest.mark.parametrize("name", MIXTURES)
def test_zeros_have_a_probability(name):
    X, y = zeros()
    dist = quick(name).fit(X, y).predict_dist(X[:20])
    assert dist.measure == "mixed"
    assert dist.support() == (0, np.inf)
    assert np.all((dist.pmf(0) > 0.05) & (dist.pmf(0) < 0.95))
    np.testing.assert_allclose(dist.cdf(0), dist.pmf(0), rtol=1e-9)
    assert not dist.pmf(1.25).any()
    np.testing.assert_array_equal(dist.ppf(0.5 * dist.pmf(0)), 0)


@pytest.mark.parametrize("name", NAMES)
def test_predictions_stay_within_bounds(name):
    X, y = fractions()
    dist = quick(name, lower=0, upper=1).fit(X, y).predict_dist(X[:20])
    assert dist.measure == "continuous"
    assert dist.support() == (0, 1)
    np.testing.assert_array_equal(dist.sf(1), 0)
    np.testing.assert_array_equal(dist.cdf(-1e-9), 0)
    levels = np.array([0, 1e-6, 0.5, 1 - 1e-6, 1])[:, np.newaxis]
    assert np.all((dist.ppf(levels) >= 0) & (dist.ppf(levels) <= 1))


@pytest.mark.parametrize("name", NAMES)
def test_continuous_is_a_density(name):
    X, y = counts()
    dist = quick(name, continuous=True).fit(X, y).predict_dist(X[:5])
    assert dist.measure == "continuous"
    assert dist.support() == (-np.inf, np.inf)


def answers(rows: int = 200) -> tuple[pandas.DataFrame, pandas.Series]:
    """Yes or no."""
    rng, X = inputs(rows)
    return X, pandas.Series(rng.random(rows) < 1 / (1 + np.exp(-2 * X["a"])), name="bought")


FORMS = {
    "pandas": lambda X, y: (X, y),
    "nullable": lambda X, y: (X, y.astype("boolean")),
    "numpy": lambda X, y: (X, y.to_numpy()),
    "list": lambda X, y: (X, y.tolist()),
    "objects": lambda X, y: (X, y.astype(object)),
    "polars": lambda X, y: (X, external.module("polars").Series("bought", y.to_numpy())),
    "a column": lambda X, y: (X.assign(bought=y), "bought"),
    "a column of polars": lambda X, y: (external.module("polars").from_pandas(X.assign(bought=y)), "bought"),
}


@pytest.mark.parametrize("form", FORMS)
def test_truth_values_have_no_third_value(form):
    X, y = answers()
    dist = quick("ngboost").fit(*FORMS[form](X, y)).predict_dist(X[:30])
    assert dist.support() == (0, 1) and dist.measure == "discrete"
    np.testing.assert_allclose(dist.pmf(0) + dist.pmf(1), 1)
    np.testing.assert_allclose(dist.mean(), dist.pmf(1))


def test_truth_values_of_a_file_have_no_third_value(tmp_path):
    X, y = answers()
    X.assign(bought=y.map({True: "yes", False: "no"})).to_csv(tmp_path / "rows.csv", index=False)
    model = quick("ngboost").fit(tmp_path / "rows.csv", "bought")
    assert model.predict_dist(X).support() == (0, 1)


@pytest.mark.parametrize("name", MIXTURES)
def test_two_values_have_no_third(name):
    X, y = counts()
    dist = quick(name).fit(X, (y > 1).astype(float)).predict_dist(X[:20])
    assert dist.support() == (0, 1)
    np.testing.assert_allclose(dist.pmf(0) + dist.pmf(1), 1, rtol=1e-9)
    assert not dist.pmf(2).any() and not dist.pmf(-1).any()


def test_discrete_is_a_grid():
    X, y = fractions()
    dist = quick("ne-gmm", discrete=True, step=1e-5).fit(X, y).predict_dist(X[:5])
    assert dist.measure == "discrete"
    np.testing.assert_allclose(dist.ppf(0.3) * 1e5, np.round(dist.ppf(0.3) * 1e5), atol=1e-6)
    assert quick("constant", discrete=True).fit(X, y).predict_dist(X[:5]).pmf(y[0]).all()


CASES = {
    "truth": (answers, {}, []),
    "counts": (counts, {}, []),
    "zeros": (zeros, {}, []),
    "bounds": (fractions, {"lower": 0.0, "upper": 1.0}, ["--lower", 0, "--upper", 1]),
    "continuous": (counts, {"continuous": True}, ["--continuous"]),
    "discrete": (fractions, {"discrete": True, "step": 1e-5}, ["--discrete", "--step", 1e-5]),
}


@pytest.mark.parametrize("case", CASES)
def test_the_command_line_gives_the_same_model(case, tmp_path):
    make, parameters, flags = CASES[case]
    X, y = make()
    data, ours, theirs, out = (tmp_path / name for name in ("data.csv", "ours.negmm", "theirs.negmm", "out.csv"))
    X.assign(**{y.name: y}).to_csv(data, index=False)
    model = quick("ne-gmm", **parameters).fit(X, y)
    model.save(ours)
    run("fit", data, "--target", y.name, "-o", theirs, *QUICK_FLAGS, *flags)
    assert ours.read_bytes() == theirs.read_bytes()
    run("predict", ours, data, "-o", out, "--equal", "0,1", "--above", "0.5", "--interval", "0.9", "--quiet")
    printed = pandas.read_csv(out, float_precision="round_trip")
    dist = model.predict_dist(X)
    expected = dist.to_pandas(interval=[0.9])
    expected["p_above_0.5"] = dist.sf(0.5)
    expected["p_equal_0"], expected["p_equal_1"] = dist.pmf(0), dist.pmf(1)
    pandas.testing.assert_frame_equal(printed[expected.columns.to_list()], expected, check_exact=True)


def test_a_loaded_model_has_the_bounds(tmp_path):
    X, y = fractions()
    model = quick("ngboost", lower=0, upper=1).fit(X, y)
    model.save(tmp_path / "model.negmm")
    loaded = negmm.load(tmp_path / "model.negmm")
    assert (loaded.lower, loaded.upper) == (0, 1)
    assert loaded.fit(X, y).model_.to_bytes() == model.model_.to_bytes()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"lower": 1, "upper": 0}, "lower must be below upper, found 1 and 0"),
        ({"discrete": True, "step": 0.3}, 'column "share": the target must be a whole number of steps of 0.3 from'),
        ({"discrete": True, "continuous": True}, "discrete contradicts continuous"),
        ({"step": 0.1}, "step is of a grid"),
        ({"upper": np.nan}, "a bound must be a finite number, found NaN"),
        ({"lower": 0.5}, 'column "share": the target must be at least 0.5, found'),
    ],
)
def test_invalid_bounds_are_refused(parameters, message):
    X, y = fractions()
    with pytest.raises(ValueError) as caught:
        quick("ngboost", **parameters).fit(X, y)
    assert message in str(caught.value)


@pytest.mark.parametrize("name", LEARNING)
def test_groups_are_held_out_together(name, tmp_path):
    X, y = fractions(60)
    groups = np.arange(60) // 6
    apart, together = quick(name).fit(X, y), quick(name).fit(X, y, groups=groups)
    assert together.n_features_in_ == 2
    if apart.record_["validation_rows"]:
        assert apart.model_.to_bytes() != together.model_.to_bytes()
    kinds = [groups.tolist(), [f"no {group}" for group in groups], pandas.Series(groups).astype("category")]
    for labels in (*kinds, groups + 2**60, np.array(["2020-01-01"], dtype="datetime64[D]") + groups):
        assert quick(name).fit(X, y, groups=labels).model_.to_bytes() == together.model_.to_bytes()
    if name == "ne-gmm":
        data, theirs = tmp_path / "data.csv", tmp_path / "theirs.negmm"
        X.assign(share=y, patient=groups).to_csv(data, index=False)
        run("fit", data, "--target", "share", "--group", "patient", "-o", theirs, *QUICK_FLAGS)
        assert theirs.read_bytes() == together.model_.to_bytes()


@pytest.mark.parametrize("name", LEARNING)
def test_the_newest_rows_are_held_out(name, tmp_path):
    X, y = fractions(60)
    when = (np.arange(60) * 37) % 60
    dated = X.assign(when=when)
    random, forward = quick(name).fit(dated, y), quick(name).fit(dated, y, time="when")
    assert forward.n_features_in_ == 3 and forward.record_["time"] == "when"
    if random.record_["validation_rows"]:
        assert forward.model_.to_bytes() != random.model_.to_bytes()
    days = np.datetime64("2020-01-01") + when
    beside = [quick(name).fit(X, y, time=times).model_.to_bytes() for times in (when, when.tolist(), days)]
    assert beside[0] == beside[1] == beside[2]
    if name == "ne-gmm":
        data, theirs = tmp_path / "data.csv", tmp_path / "theirs.negmm"
        dated.assign(share=y).to_csv(data, index=False)
        run("fit", data, "--target", "share", "--time", "when", "-o", theirs, *QUICK_FLAGS)
        assert theirs.read_bytes() == forward.model_.to_bytes()


def test_drift_is_reported():
    X, y = fractions(200)
    order = np.arange(200)
    X["a"] += 0.1 * order
    drift = quick("ngboost").fit(X, y + 0.05 * order, time=order).drift_
    assert drift["rows"] == 20 and drift["inputs"][0]["name"] == "a" and drift["inputs"][0]["shift"] > 2
    plain = quick("ngboost").fit(*fractions(200))
    assert plain.drift_ is None


def test_times_that_do_not_fit_are_refused():
    X, y = fractions(60)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        quick("ne-gmm").fit(X, y, time=np.arange(59))
    with pytest.raises(ValueError, match='row 0, column "time": the time is missing'):
        quick("ne-gmm").fit(X, y, time=[np.nan, *range(59)])
    with pytest.raises(ValueError, match="either by time or by group"):
        quick("ne-gmm").fit(X, y, time=np.arange(60), groups=np.arange(60) // 6)


def test_groups_that_do_not_fit_are_refused():
    X, y = fractions(60)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        quick("ne-gmm").fit(X, y, groups=np.arange(59))
    with pytest.raises(ValueError, match='row 2, column "groups": the group is missing'):
        quick("ne-gmm").fit(X, y, groups=["a", "b", None] * 20)


def test_a_column_name_may_equal_that_of_the_groups():
    X, y = fractions(60)
    X = X.rename(columns={"a": "groups"})
    model = quick("ngboost").fit(X, y, groups=np.arange(60) // 6)
    assert [name for name, _ in model._description()["inputs"]] == ["groups", "b"]


def test_pickles_of_earlier_versions_load():
    weights, means, sds = np.full((3, 4), 0.25), np.arange(12.0).reshape(3, 4), np.ones((3, 4))
    now = Distribution.of_mixtures(weights, means, sds)
    state = {**now.__dict__, "_index": None, "_scalar": False}

    def loaded(*parts: object) -> Distribution:
        dist = Distribution.__new__(Distribution)
        dist.__setstate__({**state, "_predictions": parts})
        return dist

    assert loaded(weights, means, sds, 1) == now
    pool = loaded(weights, means, sds, 2)
    assert pool._predictions.member_sizes == [2, 2]
    assert loaded(weights, means, sds, [2, 2]) == pool == loaded(weights, means, sds, 2, (None, None, None, 0.0))
    samples = loaded(np.sort(means), 0.1, 1, None)
    np.testing.assert_array_equal(samples.samples, means)
    rounded = Distribution.of_mixtures(weights, means, sds, lower=0, step=1)
    assert pickle.loads(pickle.dumps(rounded)) == rounded != now


def test_plots_of_values_with_point_probabilities():
    pyplot = external.module("matplotlib.pyplot")
    grid = Distribution.of_mixtures([[1.0]], [[2.0]], [[1.5]], lower=0, step=1)
    axes = grid.plot(0)
    heights = {round(bar.get_x() + 0.45): bar.get_height() for bar in axes.patches}
    assert heights[2] == pytest.approx(grid[0].pmf(2))
    assert min(heights) == 0
    assert axes.get_ylabel() == "probability"
    pyplot.close("all")
    axes = Distribution.of_mixtures([[0.25, 0.75]], [[0.0, 3.0]], [[0.0, 1.0]], lower=0).plot(0)
    assert {text.get_text() for text in axes.get_legend().get_texts()} >= {"density", "atom"}
    assert [text.get_text() for text in axes.texts] == ["25.0 %"]
    assert axes.lines[0].get_xdata().min() == 0
    pyplot.close("all")
    fine = Distribution.of_mixtures([[1.0]], [[2.0]], [[1.5]], step=1e-4)
    assert fine.plot(0).get_ylabel() == "density"
    pyplot.close("all")
    assert Distribution.of_mixtures([[1.0]], [[2.0]], [[0.0]]).plot(0).texts[0].get_text() == "100.0 %"
    pyplot.close("all")


def test_lengths_of_time_are_learnt_in_seconds():
    X, y = rows()
    seconds = np.round(60 * y)
    expected = quick("ngboost").fit(X, seconds).predict(X)
    lengths = seconds.astype("timedelta64[s]").astype("timedelta64[ns]")
    for targets in (lengths, [datetime.timedelta(seconds=second) for second in seconds.tolist()]):
        np.testing.assert_array_equal(quick("ngboost").fit(X, targets).predict(X), expected)
    np.testing.assert_array_equal(quick("ngboost").fit(X, pandas.Series(lengths, name="y")).predict(X), expected)
    lengths[3] = np.timedelta64("NaT")
    with pytest.raises(ValueError, match="row 3.*the target is missing"):
        quick("ngboost").fit(X, lengths)


def test_datetimes_are_no_targets():
    X, y = rows(30)
    moments = np.datetime64("2024-01-01") + (100 * y).astype("timedelta64[s]")
    zoned = pandas.Series(pandas.to_datetime(moments).tz_localize("Europe/Berlin"))
    for targets in (moments, pandas.Series(moments), moments.tolist(), zoned):
        with pytest.raises(ValueError, match="y is a datetime: fit the time since some moment instead"):
            quick("ngboost").fit(X, targets)


def test_warnings_and_errors_count_rows_alike():
    X, y = rows(60)
    X[7, 1] = 1e30
    with pytest.warns(UserWarning, match="row 7"):
        quick("ngboost").fit(X, y)
    y[7] = np.nan
    with pytest.raises(ValueError, match="row 7"):
        quick("ngboost").fit(rows(60)[0], y)
