"""Errors and warnings of the library in Python's words; subclasses, folders and copies."""

from __future__ import annotations

import pickle

import external
import numpy as np
import pandas as pd
import pytest
from quick import LEARNING, QUICK, quick, rows

import negmm

X, Y = rows()


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (quick("ne-gmm", learning_rate=-1), "learning_rate must be above 0"),
        (quick("auto", weight_decay=-1), "weight_decay must be"),
        (quick("ngboost", loss="brier"), 'loss must be one of log, crps, crps-original, found "brier"'),
        (quick("ngboost", subsample=2.0), "subsample must be"),
        (quick("ne-gmm", n_jobs=0), "n_jobs must be a number other than 0"),
    ],
)
def test_parameters_have_their_names(model, message):
    with pytest.raises(ValueError) as caught:
        model.fit(X, Y)
    assert str(caught.value).startswith(message)


def test_errors_have_their_structure():
    with pytest.raises(ValueError) as caught:
        quick("ne-gmm", sigma_min=0.5, sigma_max=0.25).fit(X, Y)
    assert str(caught.value) == "sigma_max must be larger than 0.5, found 0.25 (see sigma_min)"
    assert type(caught.value) is ValueError
    assert caught.value.option == "sigma-max"
    assert caught.value.hints == [{"kind": "related_option", "option": "sigma-min"}]
    wrong = X.copy()
    wrong[7, 1] = np.inf
    with pytest.raises(ValueError) as caught:
        quick("ngboost").fit(wrong, Y)
    assert (caught.value.row, caught.value.column, caught.value.file) == (7, "x1", None)
    assert (caught.value.option, caught.value.hints) == (None, [])


def test_errors_about_ambiguous_dates_name_the_parameter():
    days = pd.DataFrame({"when": [f"{1 + row % 12:02}/{1 + row % 7:02}/2019" for row in range(len(Y))], "x": Y})
    with pytest.raises(ValueError) as caught:
        quick("ngboost").fit(days, Y)
    assert str(caught.value).endswith("; pass dates={'when': 'dmy'} or dates={'when': 'mdy'}")
    numbers = pd.DataFrame({"when": np.arange(len(Y)) + 0.5, "x": Y})
    with pytest.raises(ValueError, match=r"; pass dates=\{'when': 'seconds'\} or dates=\{'when': 'milliseconds'\}$"):
        quick("ngboost").fit(numbers, Y, dates=["when"])


def test_rows_are_counted_from_0_and_have_labels():
    wrong = X.copy()
    wrong[7, 1] = np.inf
    with pytest.raises(ValueError, match='column "x1", row 7: the number "inf" is not finite'):
        quick("ngboost").fit(wrong, Y)
    frame = pd.DataFrame(wrong, columns=list("abc"))
    with pytest.raises(ValueError, match='column "b", row 7: the number'):
        quick("ngboost").fit(frame, Y)
    frame.index = [f"patient {row}" for row in range(len(Y))]
    with pytest.raises(ValueError, match=r'column "b", row 7 \(index \'patient 7\'\): the number'):
        quick("ngboost").fit(frame, Y)
    model = quick("ngboost").fit(frame.replace(np.inf, 0), Y)
    with pytest.raises(ValueError, match=r"row 7 \(index 'patient 7'\)"):
        model.predict(frame)
    weights = np.ones(len(Y))
    weights[4] = -1
    with pytest.raises(ValueError, match='row 4, column "sample_weight"'):
        quick("ngboost").fit(X, Y, sample_weight=weights)


def test_hints_name_parameters():
    repeated = np.tile(rows(30)[0], (4, 2))
    with pytest.warns(negmm.DataWarning, match="batch together, pass their labels as groups$"):
        quick("ngboost").fit(repeated, Y)
    with pytest.warns(negmm.DataWarning, match="if none can be there, pass lower=0$"):
        quick("ngboost").fit(X, np.exp(2 * Y))
    censored = np.array(list(zip(Y > 0, Y, strict=True)), dtype=[("event", bool), ("time", float)])
    with pytest.raises(ValueError, match='; pass loss="log"$'):
        quick("ngboost", loss="crps").fit(X, censored)


def test_warnings_count_rows_from_0():
    far = X.copy()
    far[7, 1] = 1e30
    with pytest.warns(negmm.DataWarning, match='^row 7, column "x1": 1e30 is so far from all other rows'):
        quick("ngboost").fit(far, Y)


def test_errors_about_mixed_series_name_the_column():
    frame = pd.DataFrame({"ds": [0, 1, 1, 2], "y": [1.0, 2.0, 3.0, 4.0]})
    with pytest.raises(ValueError, match="occurs twice; if there are several series, name their column by id_col$"):
        negmm.Forecaster(1).fit(frame)


def test_a_missing_folder_is_named(tmp_path):
    model = quick("ngboost").fit(X, Y)
    with pytest.raises(FileNotFoundError) as caught:
        model.save(tmp_path / "nowhere" / "model.negmm")
    assert caught.value.filename == str(tmp_path / "nowhere")
    assert list(tmp_path.iterdir()) == []


class Own(negmm.NGBoostRegressor):
    """A subclass with fewer parameters, and one of its own."""

    def __init__(self, *, n_estimators: int = 30, learning_rate: float = 0.1, team: str = "blue") -> None:
        super().__init__(n_estimators=n_estimators, learning_rate=learning_rate)
        self.team = team


def test_subclasses_may_have_further_parameters(tmp_path):
    model = Own(team="red").fit(X, Y)
    assert model.get_params() == {"n_estimators": 30, "learning_rate": 0.1, "team": "red"}
    same = negmm.NGBoostRegressor(n_estimators=30, learning_rate=0.1).fit(X, Y)
    assert model.model_.to_bytes() == same.model_.to_bytes()
    model.save(tmp_path / "own.negmm")
    loaded = Own.load(tmp_path / "own.negmm")
    assert isinstance(loaded, Own) and loaded.team == "blue"
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    with pytest.raises(ValueError, match="expected a model of MDNRegressor, found NGBoostRegressor"):
        negmm.MDNRegressor.load(tmp_path / "own.negmm")


@pytest.mark.parametrize("name", LEARNING)
def test_skops_keeps_models(name):
    skops = external.module("skops.io")
    model = quick(name).fit(X, Y)
    kept = skops.dumps(model)
    unknown = skops.get_untrusted_types(data=kept)
    assert unknown == [f"negmm.methods.{type(model).__name__}"]
    again = skops.loads(kept, trusted=unknown)
    assert again.model_.to_bytes() == model.model_.to_bytes()
    assert again.get_params() == model.get_params()


def test_pickles_contain_the_model_file():
    model = quick("ngboost", **QUICK["ngboost"]).fit(X, Y)
    assert isinstance(model.__getstate__()["model_"], bytes)
    assert pickle.loads(pickle.dumps(model)).predict_dist(X) == model.predict_dist(X)
