"""Explanations: contributions add up and are those of the definition, for everything that ``fit`` takes and through
pipelines; explanations of whole tables, rows worth measuring, importances without another fit."""

from __future__ import annotations

import itertools
import os
import pickle
import subprocess
import sys
import types
import warnings

import external
import numpy as np
import pandas as pd
import pytest
from program import program
from quick import NAMES, quick, rows
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.ensemble import BaggingRegressor
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import RFE, SelectFromModel
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import negmm
from negmm import plots

X, Y = rows(200)


def frame(count: int = 200, seed: int = 1) -> tuple[pd.DataFrame, np.ndarray]:
    """Numbers with gaps, text, categories, dates and truth values; the place moves the mean, the size the spread."""
    rng = np.random.default_rng(seed)
    size = rng.uniform(size=count)
    place = rng.choice(["Oslo", "Rome", "Bern"], size=count)
    homes = pd.DataFrame(
        {
            "size": np.where(np.arange(count) % 17 == 5, np.nan, size),
            "place": place,
            "kind": pd.Categorical(rng.choice(["old", "new"], size=count)),
            "built": pd.Timestamp("2001-03-01") + pd.to_timedelta(rng.integers(0, 3000, size=count), unit="D"),
            "garden": rng.uniform(size=count) < 0.5,
        }
    )
    price = 3.0 * (place == "Rome") + homes["garden"] + (0.1 + 2.0 * size) * rng.normal(size=count)
    return homes, price.to_numpy()


def brute_force(predicted, one, background, answer):
    """Shapley values by the definition: the mean of the changes over all orders of the columns."""
    columns = one.shape[1]

    def value(chosen):
        mixed = background.copy()
        mixed[:, list(chosen)] = one[0, list(chosen)]
        return np.mean(answer(predicted(mixed)))

    values = {chosen: value(chosen) for size in range(columns + 1) for chosen in itertools.combinations(range(columns), size)}
    found = np.zeros(columns)
    orders = list(itertools.permutations(range(columns)))
    for order in orders:
        for at, column in enumerate(order):
            before, after = tuple(sorted(order[:at])), tuple(sorted(order[: at + 1]))
            found[column] += (values[after] - values[before]) / len(orders)
    return found, values[()]


@pytest.mark.parametrize("name", NAMES)
def test_contributions_add_up_for_every_method(name):
    model = quick(name).fit(X, Y)
    for answer in ("mean", "sd", "q0.9", "p_above_1"):
        found = model.explain(X[:4], answer)
        assert found.values.shape == found.data.shape == (4, 3) and found.exact
        np.testing.assert_allclose(found.values.sum(axis=1), found.predictions - found.base_values, atol=1e-9)
    np.testing.assert_array_equal(model.explain(X[:4], "sd").predictions, model.predict_dist(X[:4]).std())


def test_contributions_are_those_of_the_definition():
    model = quick("auto").fit(X, Y)
    background = X[20:32]
    answers = {
        "mean": lambda dist: dist.mean(),
        "sd": lambda dist: dist.std(),
        "q0.9": lambda dist: dist.ppf(0.9),
        "width_0.5": lambda dist: np.subtract(*dist.interval(0.5)[::-1]),
        "epistemic": lambda dist: np.sqrt(dist.var_parts()[1]),
        "p_below_0.5": lambda dist: dist.cdf(0.5),
    }
    found = model.explain(X[:3], list(answers), background=background)
    assert found.output_names == list(answers) and found.values.shape == (3, 3, len(answers))
    for at, (name, answer) in enumerate(answers.items()):
        assert np.array_equal(found[name].values, found.values[:, :, at])
        for row in range(3):
            expected, base = brute_force(model.predict_dist, X[row : row + 1], background, answer)
            np.testing.assert_allclose(found.values[row, :, at], expected, atol=1e-9)
            assert found.base_values[row, at] == pytest.approx(base, abs=1e-9)
    scores = model.explain(X[:3], ["crps", "nll"], y=Y[:3], background=background)
    expected, _ = brute_force(model.predict_dist, X[:1], background, lambda dist: dist.crps(np.full(12, Y[0])))
    np.testing.assert_allclose(scores.values[0, :, 0], expected, atol=1e-9)


def test_permutations_have_errors_of_the_right_size():
    wide = np.random.default_rng(3).normal(size=(150, 6))
    model = quick("mdn").fit(wide, wide[:, 0] * wide[:, 1] * wide[:, 2] + wide[:, 3])
    exact = model.explain(wide[:20], "sd", exact=True)
    walked = model.explain(wide[:20], "sd", permutations=2)
    assert exact.exact and not walked.exact and not exact.standard_errors.any()
    ratios = (walked.values - exact.values)[walked.standard_errors > 1e-12]
    ratios = ratios / walked.standard_errors[walked.standard_errors > 1e-12]
    assert 0.2 < np.mean(ratios**2) < 2.5
    np.testing.assert_allclose(walked.values.sum(axis=1), exact.values.sum(axis=1), atol=1e-9)
    np.testing.assert_array_equal(walked.values, model.explain(wide[:20], "sd", permutations=2).values)
    assert not np.array_equal(walked.values, model.explain(wide[:20], "sd", permutations=2, random_state=1).values)


def test_every_kind_of_input():
    homes, price = frame()
    model = quick("ngboost").fit(homes, price)
    whole = model.explain(homes[:30], ["mean", "sd"])
    assert whole.feature_names == list(homes.columns) and whole.data[0, 1] in ("Oslo", "Rome", "Bern")
    assert isinstance(whole.data[0, 3], np.datetime64)
    means = whole["mean"].mean_absolute()
    assert means.argmax() == 1 and whole["sd"].mean_absolute().argmax() == 0
    polars, pyarrow = external.module("polars"), external.module("pyarrow")
    arrow = pyarrow.Table.from_pandas(homes, preserve_index=False)
    for same in (polars.from_pandas(homes), arrow, polars.from_pandas(homes).lazy().collect()):
        other = quick("ngboost").fit(same, price)
        found = other.explain(same[:30], ["mean", "sd"])
        np.testing.assert_array_equal(found.values, whole.values)
        np.testing.assert_array_equal(other.feature_importances_, model.feature_importances_)
    # Strings of dates, lists of rows, a matrix of text.
    text = homes.assign(built=homes["built"].dt.strftime("%Y-%m-%d"))
    np.testing.assert_array_equal(quick("ngboost").fit(text, price).explain(text[:30], ["mean", "sd"]).values, whole.values)
    listed = quick("ngboost").fit(X.tolist(), Y.tolist()).explain(X[:2].tolist(), "mean")
    assert listed.values.shape == (2, 3) and listed.feature_names == ["x0", "x1", "x2"]
    matrix = np.array([["a", "1"], ["b", "2"]] * 40, dtype=object)
    assert quick("ngboost").fit(matrix, Y[:80]).explain(matrix[:2], "mean").values.shape == (2, 2)
    # A column that tells nothing is no input of the model, and contributes nothing.
    constant = homes.assign(same=1.0)
    found = quick("ngboost").fit(constant, price).explain(constant[:3], "mean")
    assert found.feature_names[-1] == "same" and not found.values[:, -1].any()
    # Cells that training had not seen.
    with pytest.warns(negmm.DataWarning, match="place"):
        model.explain(homes[:2].assign(place="Paris"), "sd")


def encoder() -> ColumnTransformer:
    steps = [("numbers", StandardScaler(), ["size"]), ("text", OneHotEncoder(sparse_output=False), ["place", "kind"])]
    return ColumnTransformer(steps, remainder="drop")


def test_pipelines_by_what_their_final_estimator_gets():
    homes, price = frame()
    homes["size"] = homes["size"].fillna(0.5)
    pipe = make_pipeline(encoder(), quick("ngboost")).fit(homes, price)
    found = pipe.explain(homes[:20], "mean")
    assert found.feature_names[0] == "numbers__size" and "text__place_Rome" in found.feature_names
    inner = pipe[-1].explain(pipe[:-1].transform(homes[:20]), "mean")
    np.testing.assert_array_equal(found.values, inner.values)
    search = GridSearchCV(pipe, {"ngboostregressor__max_depth": [2]}, cv=2).fit(homes, price)
    assert search.explain(homes[:2], "sd").feature_names == found.feature_names
    against = negmm.explain(pipe, homes[:20], "mean", background=homes[50:60])
    np.testing.assert_allclose(against.base_values, pipe.predict(homes[50:60]).mean())


def test_pipelines_by_their_own_columns():
    homes, price = frame()
    homes["size"] = homes["size"].fillna(0.5)
    pipe = make_pipeline(encoder(), quick("ngboost")).fit(homes, price)
    background = homes[40:60]
    found = pipe.explain(homes[:6], ["mean", "sd"], inputs="pipeline", background=background)
    assert found.feature_names == list(homes.columns) and found.exact
    sums = found.predictions - found.base_values
    np.testing.assert_allclose(found.values.sum(axis=1), sums, atol=1e-9)
    np.testing.assert_allclose(found["mean"].base_values, pipe.predict(background).mean())
    # The pipeline drops dates and gardens.
    assert not found.values[:, 3:].any() and found.values[:, :3].all()
    # Columns of the final estimator that come from one column are one player: the sums of independent parts agree.
    scaled = make_pipeline(StandardScaler(), quick("ngboost")).fit(X, Y)
    outer = scaled.explain(X[:6], "sd", inputs="pipeline", background=X[40:60])
    inner = scaled.explain(X[:6], "sd", background=X[40:60])
    np.testing.assert_allclose(outer.values, inner.values, atol=1e-9)
    walked = scaled.explain(X[:6], "sd", inputs="pipeline", background=X[40:60], permutations=3)
    assert not walked.exact
    np.testing.assert_allclose(walked.values.sum(axis=1), outer.values.sum(axis=1), atol=1e-9)
    polars = external.module("polars")
    own = make_pipeline(encoder().set_output(transform="polars"), quick("ngboost")).fit(polars.from_pandas(homes), price)
    again = own.explain(polars.from_pandas(homes[:6]), "mean", inputs="pipeline", background=polars.from_pandas(background))
    np.testing.assert_allclose(again.values, found["mean"].values, atol=1e-6)
    with pytest.raises(ValueError, match="compared with rows of its own kind: pass background"):
        pipe.explain(homes[:2], "sd", inputs="pipeline")


def test_transformed_targets_and_bags():
    positive = np.exp(Y / 3)
    logged = TransformedTargetRegressor(quick("ngboost"), func=np.log, inverse_func=np.exp).fit(X, positive)
    found = logged.explain(X[:3], ["mean", "sd", "q0.9", "p_above_2", "crps"], background=X[50:70], y=positive[:3])
    np.testing.assert_allclose(found.values.sum(axis=1), found.predictions - found.base_values, atol=1e-9)
    np.testing.assert_allclose(found["q0.9"].predictions, logged.predict_dist(X[:3]).ppf(0.9))
    with pytest.raises(ValueError, match="the answer epistemic is not available"):
        logged.explain(X[:2], "epistemic", background=X[:5])
    bag = BaggingRegressor(quick("ngboost"), n_estimators=2, random_state=0).fit(X, Y)
    parts = bag.explain(X[:2], ["epistemic", "region_0.5_length"], background=X[:5])
    assert parts.values.shape == (2, 3, 2)


def test_what_cannot_be_explained_is_refused():
    model = quick("ngboost").fit(X, Y)
    cases = {
        "there is no answer \"median\"": dict(of="median"),
        "needs several members": dict(of="epistemic"),
        "scores need the target of each row: pass y": dict(of="crps"),
        "permutations must be from 1 to 1000, found 0": dict(permutations=0),
        "exact=True takes all subsets": dict(exact=True, permutations=2),
        "background_rows must be at least 1": dict(background_rows=0),
        "X has 2 features": dict(background=X[:, :2]),
        "the answer sd is given twice": dict(of=["sd", "sd"]),
    }
    for message, arguments in cases.items():
        with pytest.raises(ValueError, match=message):
            model.explain(X[:2], **arguments)
    with pytest.raises(NotFittedError):
        quick("ngboost").explain(X)
    with pytest.raises(ValueError, match="disagreement of members"):
        model.acquire(X, 2)
    for estimator in (negmm.JointRegressor("ne-gmm"), negmm.Forecaster(h=2)):
        with pytest.raises(TypeError, match="cannot be explained"):
            negmm.explain(estimator, X)
    with pytest.raises(ValueError, match="up to 16 columns"):
        wide = np.random.default_rng(0).normal(size=(60, 17))
        quick("ngboost").fit(wide, wide[:, 0]).explain(wide[:1], exact=True)


def test_rows_answers_and_frames():
    model = quick("auto").fit(pd.DataFrame(X, columns=["a", "b", "c"]), Y)
    found = model.explain(pd.DataFrame(X[:5], columns=["a", "b", "c"]), ["mean", "sd"])
    assert repr(found) == "<Explanation of mean, sd: 5 rows × 3 columns, exact>"
    one = found["sd"][2]
    assert one.values.shape == (3,) and np.ndim(one.base_values) == 0 and one.data.tolist() == X[2].tolist()
    assert found[1:3].values.shape == (2, 3, 2) and len(found[np.array([True, False, True, False, False])]) == 2
    own = found.to_pandas(errors=True)
    expected = ["mean", "mean_base", "mean[a]", "mean[b]", "mean[c]", "mean[a]_error"]
    assert own.columns[:6].tolist() == expected and own.shape == (5, 16)
    np.testing.assert_array_equal(own["sd[b]"], found["sd"].values[:, 1])
    assert external.module("polars").from_pandas(found.to_pandas()).equals(found.to_polars())
    assert found.to_arrow().to_pandas().equals(found.to_pandas())
    sentence = found["sd"].sentences(top=1)[2]
    assert sentence.startswith(f"sd {one.predictions:.1f}"[:5]) and " is usual: " in sentence and ", the others " in sentence
    assert len(found.sentences()) == 10
    assert pickle.loads(pickle.dumps(found)).values.tolist() == found.values.tolist()
    for wrong in ("q0.5", 7):
        with pytest.raises((KeyError, IndexError), match="there is no"):
            found[wrong]


def test_sentences_are_those_of_the_program():
    values = np.array([1.9, 3.81, -0.51, 0.0]).reshape(1, 4, 1)
    data = np.array([[np.nan, 3.0, np.nan, np.nan]])
    parts = (values, np.array([[9.12]]), np.array([[14.32]]), np.zeros_like(values), data)
    found = negmm.Explanation(*parts, ["water", "age", "ash", "lime"], ["sd"], True)
    assert found.sentences(2) == ["sd 14.3 where 9.1 is usual: age +3.8 (3), water +1.9, the others -0.5"]
    assert found.sentences(0) == ["sd 14.3 where 9.1 is usual"]


def test_shap_gets_what_its_plots_take(monkeypatch):
    class Recorded:
        def __init__(self, **parts):
            self.parts = parts

    monkeypatch.setitem(sys.modules, "shap", types.SimpleNamespace(Explanation=Recorded))
    homes, price = frame()
    model = quick("ngboost").fit(homes, price)
    found = model.explain(homes[:6], ["mean", "sd"], permutations=1)
    parts = found["sd"].to_shap().parts
    np.testing.assert_array_equal(parts["values"], found["sd"].values)
    np.testing.assert_array_equal(parts["base_values"], found["sd"].base_values)
    assert parts["values"].shape == parts["data"].shape == parts["error_std"].shape == (6, 5)
    assert parts["feature_names"] == list(homes.columns) and parts["output_names"] is None
    assert parts["data"][0, 1] == homes["place"][0]
    # A waterfall takes one row, whose base is a number.
    one = found["sd"][2].to_shap().parts
    assert one["values"].shape == one["data"].shape == (5,) and type(one["base_values"]) is float
    assert one["values"].sum() + one["base_values"] == pytest.approx(found["sd"].predictions[2])
    several = found.to_shap().parts
    assert several["values"].shape == (6, 5, 2) and several["output_names"] == ["mean", "sd"]
    assert model.explain(homes[:2], "sd").to_shap().parts["error_std"] is None
    monkeypatch.setitem(sys.modules, "shap", None)
    with pytest.raises(ImportError, match="to_shap needs shap: pip install shap"):
        found.to_shap()


def test_verdicts_are_those_of_the_program(tmp_path):
    numbers = pd.DataFrame(X, columns=["a", "b", "c"])
    model = quick("ensemble").fit(numbers[:60], Y[:60])
    found = model.explain(numbers[60:90], ["mean", "sd"])
    model.save(tmp_path / "m.negmm")
    numbers[60:90].to_csv(tmp_path / "rows.csv", index=False)
    explain = [program(), "explain", "m.negmm", "rows.csv", "--of", "sd", "--top", "1", "-o", "e.csv", "-q"]
    subprocess.run(explain, cwd=tmp_path, check=True)
    assert found.verdicts == pd.read_csv(tmp_path / "e.csv")["verdict"].tolist()
    aleatoric, epistemic = model.predict_dist(numbers[60:90]).var_parts()
    would_help = [text == "more rows like this one would help" for text in found.verdicts]
    assert would_help == (epistemic / (aleatoric + epistemic) >= 0.3).tolist()
    assert found["sd"][5].verdicts == [found.verdicts[5]] and found[2:4].verdicts == found.verdicts[2:4]
    assert quick("ngboost").fit(X, Y).explain(X[:2]).verdicts is None


def test_an_impossible_target_is_told():
    model = quick("mdn", lower=0).fit(X, np.abs(Y))
    with pytest.warns(negmm.DataWarning, match="in 1 row the target is impossible for the model.*: nll is infinite there"):
        found = model.explain(X[:3], "nll", y=[1.0, -1.0, 2.0])
    assert np.isnan(found.values[1]).all() and np.isfinite(found.values[[0, 2]]).all()
    np.testing.assert_allclose(found.mean_absolute(), np.abs(found.values[[0, 2]]).mean(axis=0))
    assert found.sentences()[1] == "nll inf: the model takes the target for impossible"


def test_progress_is_shown(capsys):
    model = quick("ngboost", verbose=1).fit(X, Y)
    capsys.readouterr()
    model.explain(np.tile(X, (3, 1)), "sd", permutations=1)
    assert capsys.readouterr().err.splitlines()[-1] == "explain: 100 %, 600 of 600 rows"


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="there are no pseudo terminals here")
def test_the_program_shows_progress_in_a_terminal(tmp_path):
    def shown(*arguments):
        own, other = os.openpty()
        command = [program(), "explain", "m.negmm", *arguments]
        environment = {**os.environ, "TERM": "xterm"}
        with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=other, env=environment) as child:
            os.close(other)
            text = b""
            try:
                while more := os.read(own, 4096):
                    text += more
            except OSError:  # Linux says so where the other side is closed.
                pass
        os.close(own)
        assert child.returncode == 0, text
        return text.decode()

    quick("ensemble").fit(pd.DataFrame(X, columns=["a", "b", "c"]), Y).save(tmp_path / "m.negmm")
    count = 20_000
    wide = pd.DataFrame(np.random.default_rng(0).normal(size=(count, 3)), columns=["a", "b", "c"])
    wide.to_csv(tmp_path / "many.csv", index=False)
    of_rows = shown("many.csv", "--of", "sd", "-o", "e.csv")
    # How many rows a file has is not known before its end, that of a sample is.
    assert "explaining" in of_rows and " rows, " in of_rows and "/s" in of_rows
    sample = shown("many.csv", "--of", "sd", "--sample", "9000", "-o", "e.csv")
    assert " of 9000 rows, " in sample and " left" in sample
    assert "explaining" in shown("many.csv", "--global", "--sample", "5000", "-o", "g.csv")
    assert "explaining" in shown("many.csv", "--acquire", "300", "-o", "a.csv")
    # --quiet shows none.
    assert shown("many.csv", "--of", "sd", "--sample", "500", "-o", "e.csv", "--quiet") == ""


def test_threads_and_batches_change_no_bit():
    model = quick("auto").fit(X, Y)
    whole = model.explain(X[:150], "sd", permutations=1)
    other = quick("auto", n_jobs=2).fit(X, Y).explain(X[:150], "sd", permutations=1)
    parts = [model.explain(X[at : at + 50], "sd", permutations=1).values for at in (0, 50, 100)]
    np.testing.assert_array_equal(whole.values, other.values)
    np.testing.assert_array_equal(whole.values, np.concatenate(parts))
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(whole.values, again.explain(X[:150], "sd", permutations=1).values)


def test_what_matters_over_all_rows():
    homes, price = frame(300)
    model = quick("auto").fit(homes[:200], price[:200])
    found = model.explain_global(homes[200:], price[200:], ["mean", "sd"], rows=40, interaction_rows=5)
    table = found.to_pandas()
    assert table.index.tolist() == list(homes.columns)
    assert table["mean"].idxmax() == "place" and table["sd"].idxmax() == "size"
    assert table["permuted_crps"].idxmax() == "place" and (table["permuted_crps_error"] >= 0).all()
    pairs = found.interactions_to_pandas()
    assert pairs["strength"].iloc[0] > 0 and (pairs["error"] >= 0).all() and pairs["error"].max() > 0
    curve = found.dependence["size"]
    assert curve.partial["sd"].shape == curve.numbers.shape and curve.individual["sd"].shape[1] == len(curve.numbers)
    assert found.dependence["place"].numbers is None and set(found.dependence["place"].values) == {"Oslo", "Rome", "Bern"}
    assert found.dependence["built"].values[0].startswith("200")
    several = quick("ensemble").fit(homes[:200], price[:200])
    regions = several.explain_global(homes[200:], of="mean", rows=10, interaction_rows=0).regions
    assert {one["region"] for one in regions if one["column"] == "place"} == {"Oslo", "Rome", "Bern"}
    assert all("more rows like this one would" in one["verdict"] and one["aleatoric"] > 0 for one in regions)
    without = model.explain_global(homes[200:], of="sd", rows=10, interaction_rows=0, curves=0)
    assert without.permutation is None and not without.interactions and not without.dependence
    with pytest.raises(ValueError, match="is a score"):
        model.explain_global(homes, price, of="crps")


def test_rows_worth_measuring():
    model = quick("ensemble").fit(X[:60], Y[:60])
    found = model.acquire(X[60:], 5)
    assert len(found) == len(set(found.rows.tolist())) == 5 and found.rows.dtype == np.int64
    assert (np.diff(found.left) <= 0).all() and (found.reduction > 0).all()
    epistemic = np.sqrt(model.predict_dist(X[60:]).var_parts()[1])
    np.testing.assert_allclose(found.epistemic, epistemic[found.rows])
    assert found.to_pandas()["verdict"].str.contains("more rows like this one").all()
    assert len(model.acquire(X[60:], 3, of_interest=X[:10])) == 3
    with pytest.raises(ValueError, match="999 rows are to be chosen, and there are 140"):
        model.acquire(X[60:], 999)


def test_importances_without_another_fit():
    # The first input moves the mean, the second the spread, the third nothing.
    rng = np.random.default_rng(5)
    inputs = rng.uniform(-1, 1, size=(400, 3))
    targets = 2 * inputs[:, 0] + np.exp(1.5 * inputs[:, 1]) * rng.normal(size=400)
    model = quick("ngboost").fit(inputs, targets)
    found = model.feature_importances_
    assert found.shape == (3,) and found[:2].min() > 4 * found[2] >= 0
    assert model.feature_importances_ is found and "_own_importances" not in model.__getstate__()
    assert negmm.NGBoostRegressor._of_model(model.model_, model._description()).feature_importances_.tolist() == found.tolist()
    assert SelectFromModel(model, prefit=True, threshold="mean").get_support().tolist() == [True, True, False]
    assert RFE(quick("ngboost"), n_features_to_select=2).fit(inputs, targets).support_.tolist() == [True, True, False]
    assert quick("constant").fit(inputs, targets).feature_importances_.tolist() == [0, 0, 0]
    assert not hasattr(quick("ngboost"), "feature_importances_")


def test_what_moves_mean_spread_and_tail():
    """A column moves only the mean, one only the sd, one only the upper tail, one nothing."""
    rng = np.random.default_rng(11)
    inputs = rng.uniform(size=(900, 4))
    noise = rng.normal(size=900)
    noise = np.where(noise > 0.84, 0.84 + (noise - 0.84) * (1 + 10 * inputs[:, 2]), noise)
    targets = 2 * inputs[:, 0] + (0.6 + 0.6 * inputs[:, 1]) * noise
    model = negmm.AutoRegressor(preset="fast", steps=600).fit(inputs, targets)
    found = model.explain(inputs[:60], ["mean", "width_0.5", "q0.97", "q0.5"], permutations=1)
    # Contributions to a difference are differences of contributions.
    tail = found["q0.97"].values - found["q0.5"].values
    means = [np.abs(values).mean(axis=0) for values in (found["mean"].values, found["width_0.5"].values, tail)]
    assert [own.argmax() for own in means] == [0, 1, 2]
    assert np.sum([own / own.max() for own in means], axis=0).argmin() == 3


def test_pictures_of_explanations():
    pyplot = external.module("matplotlib.pyplot")
    homes, price = frame()
    model = quick("auto").fit(homes, price)
    found = model.explain(homes[:60], ["mean", "sd"], permutations=1)
    _, ax = pyplot.subplots(3, 2, figsize=(11, 12), layout="constrained")
    axes = plots.waterfall(found["sd"][3], ax=ax[0, 0])
    assert len(axes.patches) == 5 and axes.get_title(loc="left").startswith("sd ")
    assert len(plots.beeswarm(found["sd"], ax=ax[0, 1]).collections) == 5
    assert len(plots.contributions(found, ax=ax[1, 0]).patches) == 10
    overall = model.explain_global(homes, of=["mean", "sd"], rows=20, interaction_rows=0)
    plots.dependence(overall, "sd", "size", ax=ax[1, 1])
    plots.dependence(overall, "mean", "place", ax=ax[2, 0])
    plots.dependence(overall.dependence["built"], "sd", ax=ax[2, 1])
    plots.importances(model, ax=None)
    with pytest.raises(ValueError, match="choose one of the answers"):
        plots.beeswarm(found)
    with pytest.raises(ValueError, match="choose one row"):
        plots.waterfall(found["sd"])
    pyplot.close("all")


def test_no_warning_of_mixed_rows():
    homes, price = frame()
    model = quick("ngboost").fit(homes, price)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.explain(homes[:3], "sd")
        negmm.partial_dependence(model, homes, "size", grid=3)
