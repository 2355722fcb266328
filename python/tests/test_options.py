"""Parameters of the estimators: the names, types and defaults of the library's options, each documented."""

from __future__ import annotations

import inspect
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np
import pytest
from quick import NAMES, quick, rows

import negmm
from negmm.messages import option_of
from negmm.methods import ESTIMATORS
from negmm.options import METHODS
from negmm.parameters import OF_FITTING, option

#: Options of the LSTM that reads a sequence, and sequences are the command line's.
OF_SEQUENCES = {"lstm-hidden", "lstm-layers"}
#: Options of an ensemble that are left to the core: what it is made of, and how many components each member has.
LEFT = {"ensemble": {"member", "components"}}


def own(name: str) -> dict[str, dict[str, Any]]:
    """The core's table of a method's options, by name."""
    return {option["name"]: option for option in METHODS[name]["options"]}


def options(name: str) -> set[str]:
    """All options of a method; those of an ensemble whatever its members are."""
    members = own(name)["member"]["words"] if "member" in own(name) else []
    return {option for method in [name, *members] for option in own(method)} - OF_SEQUENCES


def value(option: dict[str, Any]) -> Any:
    """The core's default of an option."""
    text = option["default"]
    if text == option["none_word"]:
        return None
    read = {"integer": int, "float": float, "bool": "true".__eq__, "choice": str}
    return tuple(map(int, text.split(","))) if option["kind"] == "integer list" else read[option["kind"]](text)


@pytest.mark.parametrize("name", NAMES)
def test_names_and_defaults_are_the_cores(name):
    parameters = inspect.signature(ESTIMATORS[name]).parameters
    defaults = {option_of(key): value.default for key, value in parameters.items() if key not in OF_FITTING}
    assert defaults.keys() == options(name)
    for option, default in defaults.items():
        left = option not in own(name) or option in LEFT.get(name, ())
        expected = None if left else value(own(name)[option])
        assert (default, type(default)) == (expected, type(expected)), option


@pytest.mark.parametrize("name", NAMES)
def test_the_kinds_of_parameters_are_the_cores(name):
    cls = ESTIMATORS[name]
    hints = get_type_hints(cls.__init__)
    for key, parameter in inspect.signature(cls).parameters.items():
        if key not in OF_FITTING:
            known = option(name, option_of(key))
            kinds = {
                "integer": {int},
                "float": {float},
                "bool": {bool},
                "integer list": {int, tuple[int, ...]},
                "choice": {Literal[tuple(known["words"])]},
            }[known["kind"]]
            hint = hints[key]
            found = set(get_args(hint)) if get_origin(hint) in (Union, UnionType) else {hint}
            assert found == (kinds | {NoneType} if parameter.default is None else kinds), key


@pytest.mark.parametrize("name", NAMES)
def test_the_defaults_train_the_cores_default_model(name):
    X, y = rows(20)
    model = ESTIMATORS[name]()
    given = dict(model._options())
    assert all(value != "None" for value in given.values())
    small = {
        key: value for key, value in quick(name).get_params().items() if key in ("epochs", "n_estimators", "steps")
    }
    fitted = model.set_params(**small).fit(X, y)
    expected = METHODS[name]["settings"] | {option_of(key): value for key, value in small.items()}
    if "member" in expected:
        expected["member"] = expected["member"] | {option_of(key): value for key, value in small.items()}
        expected = {key: value for key, value in expected.items() if key in METHODS[name]["settings"]}
    trained = fitted._description()["method"]
    # What follows from the data is filled in.
    assert {
        key: trained[key] if value == "auto" and key != "splits" else value for key, value in expected.items()
    } == trained


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_parameter_is_described(name):
    cls = ESTIMATORS[name]
    for key, parameter in inspect.signature(cls).parameters.items():
        meaning = OF_FITTING[key][1] if key in OF_FITTING else option(name, option_of(key))["help"]
        assert f"\n{key} : " in cls.__doc__ and meaning[1:] in cls.__doc__, key
        assert parameter.kind is inspect.Parameter.KEYWORD_ONLY
        assert parameter.annotation is not inspect.Parameter.empty
    assert ">>> " in cls.__doc__


def test_every_method_of_the_core_has_an_estimator():
    assert set(METHODS) <= set(ESTIMATORS)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"components": 0}, "components must be from 1 to 1000, found 0"),
        ({"components": -1}, 'components must be a whole number, at least 0, found "-1"'),
        ({"components": 2.5}, 'components must be a whole number, at least 0, found "2.5"'),
        ({"components": "two"}, 'components must be a number, found "two"'),
        ({"components": {}}, 'components must be a number, found "none"'),
        ({"components": object()}, "components must be a number, text or a list, found object"),
        ({"eta": 1.5}, "eta must be from 0 to 1, found 1.5"),
        ({"eta": float("nan")}, "eta must be from 0 to 1, found NaN"),
        ({"learning_rate": -1}, "learning_rate must be above 0 and at most 1000, found -1"),
        ({"learning_rate": float("inf")}, "learning_rate must be above 0 and at most 1000, found inf"),
        ({"weight_decay": -1.0}, "weight_decay must be at least 0, found -1"),
        ({"validation_fraction": 1.0}, "validation_fraction must be from 0 to 0.9, found 1"),
        ({"dropout": 1}, "dropout must be at least 0 and below 1, found 1"),
        ({"hidden": 0}, "hidden must be from 1 to 16384 units, found 0"),
        ({"hidden": (100_000_000,)}, "hidden must be from 1 to 16384 units, found 100000000"),
        ({"hidden": (16384, 16384)}, "a network may have 100000000 parameters at most"),
        ({"activation": "step"}, 'activation must be one of relu, tanh, silu, found "step"'),
        ({"epochs": 0}, "epochs must be from 1 to 10000000, found 0"),
        ({"epochs": 10**30}, "epochs must be"),
        ({"batch_size": 0}, "batch_size must be at least 1, found 0"),
        ({"random_state": -3}, "random_state must be from 0 to 2**64 - 1, found -3"),
        ({"random_state": 2**64}, "random_state must be from 0 to 2**64 - 1, found"),
        ({"random_state": "x"}, "'x' cannot be used to seed"),
        ({"n_jobs": 0}, "n_jobs must be a number other than 0"),
    ],
)
def test_values_out_of_range_are_refused_with_the_librarys_message(parameters, message):
    X, y = rows(20)
    model = quick("ne-gmm", **parameters)
    with pytest.raises(ValueError) as caught:
        model.fit(X, y)
    assert message in str(caught.value)


def test_an_option_that_the_member_lacks_is_refused():
    X, y = rows(20)
    with pytest.raises(ValueError, match="eta is not an option of ensemble"):
        quick("ensemble", member="beta-nll", eta=0.5).fit(X, y)
    with pytest.raises(ValueError, match="member must be a neural method"):
        quick("ensemble", member="ngboost").fit(X, y)
    assert repr(quick("ensemble", member="sample-net", samples=9).fit(X, y).predict_dist(X)).endswith("18 samples>")


def test_former_names_are_accepted_with_a_warning():
    with pytest.warns(
        FutureWarning, match="^rounds is now called n_estimators; the old name will be removed"
    ) as caught:
        model = negmm.NGBoostRegressor(rounds=7, subsample=0.5)
    assert [warning.filename for warning in caught] == [__file__]
    assert (model.n_estimators, model.subsample) == (7, 0.5) and "rounds" not in model.get_params()
    with pytest.warns(FutureWarning, match="^depth is now called max_depth") as caught:
        model.set_params(depth=2)
    assert [warning.filename for warning in caught] == [__file__]
    assert model.max_depth == 2
    with pytest.raises(TypeError, match="rounds is a former name of n_estimators, which is given too"):
        negmm.NGBoostRegressor(rounds=7, n_estimators=7)
    with pytest.raises(TypeError, match="batch_size|batch"):
        negmm.NGBoostRegressor(batch=7)
    X, y = rows(40)
    with pytest.warns(FutureWarning, match="^depth is now called max_depth"):
        found = negmm.tune(X, y, quick("ngboost"), {"depth": [1, 2]}, folds=2)
    assert found.best_params.keys() == {"max_depth"}


def test_estimators_that_were_pickled_with_former_names_are_read():
    X, y = rows(40)
    model = quick("ngboost").fit(X, y)
    state = model.__getstate__()
    state["rounds"], state["rows_share"] = state.pop("n_estimators"), state.pop("subsample")
    same = negmm.NGBoostRegressor.__new__(negmm.NGBoostRegressor)
    same.__setstate__(state)
    assert same.get_params() == model.get_params() and "rounds" not in same.__dict__
    np.testing.assert_array_equal(same.predict(X), model.predict(X))
