"""Parameters are the core's options: the same names, the same defaults, each described."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
from quick import NAMES, quick, rows

from negmm.methods import ESTIMATORS
from negmm.parameters import MEANINGS
from negmm.regressor import METHODS, option_of

#: Options of the LSTM that reads a sequence, and sequences are the command line's.
OF_SEQUENCES = {"lstm-hidden", "lstm-layers"}
#: Parameters of every estimator that are no options of a method.
OF_FITTING = {"random_state", "n_jobs"}


def options(method: dict[str, Any]) -> dict[str, Any]:
    """The core's options of a method with their defaults; those of the members of an ensemble among them."""
    own = {name: value for name, value in method.items() if name not in ("name", "member")} | OF_MEMBERS.get(
        method["name"], {}
    )
    return own | (options(method["member"]) if "member" in method else {})


#: What an ensemble is made of, and what members of other kinds have: all left to the core.
OF_MEMBERS = {
    "ensemble": {
        "member": None,
        "eta": None,
        "beta": None,
        "components": None,
        "samples": None,
        "sinkhorn": None,
        "prior": None,
    }
}


@pytest.mark.parametrize("name", NAMES)
def test_names_and_defaults_are_the_cores(name):
    parameters = inspect.signature(ESTIMATORS[name]).parameters
    defaults = {option_of(key): value.default for key, value in parameters.items() if key not in OF_FITTING}
    core = {key: value for key, value in options(METHODS[name]["options"]).items() if key not in OF_SEQUENCES}
    assert defaults.keys() == core.keys()
    for option, default in defaults.items():
        if default is not None:
            expected = tuple(core[option]) if isinstance(core[option], list) else core[option]
            assert (default, type(default)) == (expected, type(expected)), option


@pytest.mark.parametrize("name", NAMES)
def test_the_defaults_train_the_cores_default_model(name):
    X, y = rows(20)
    model = ESTIMATORS[name]()
    given = dict(model._options())
    assert all(value != "None" for value in given.values())
    small = {key: value for key, value in quick(name).get_params().items() if key in ("epochs", "rounds", "steps")}
    fitted = model.set_params(**small).fit(X, y)
    expected = METHODS[name]["options"] | {option_of(key): value for key, value in small.items()}
    if "member" in expected:
        expected["member"] = expected["member"] | {option_of(key): value for key, value in small.items()}
        expected = {key: value for key, value in expected.items() if key in METHODS[name]["options"]}
    trained = fitted._description()["method"]
    # What follows from the data is filled in.
    assert {
        key: trained[key] if value == "auto" and key != "splits" else value for key, value in expected.items()
    } == trained


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_parameter_is_described(name):
    cls = ESTIMATORS[name]
    for parameter, default in inspect.signature(cls).parameters.items():
        assert f"{parameter} : {MEANINGS[parameter][0]}, default=" in cls.__doc__
        assert default.kind is inspect.Parameter.KEYWORD_ONLY
        assert default.annotation is not inspect.Parameter.empty
    assert ">>> " in cls.__doc__


def test_the_meaning_of_every_parameter_is_used():
    used = {parameter for cls in ESTIMATORS.values() for parameter in inspect.signature(cls).parameters}
    assert used == set(MEANINGS)


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
        ({"learning_rate": -1}, "learning-rate must be above 0 and at most 1000, found -1"),
        ({"learning_rate": float("inf")}, "learning-rate must be above 0 and at most 1000, found inf"),
        ({"weight_decay": -1.0}, "weight-decay must be at least 0, found -1"),
        ({"validation": 1.0}, "validation must be from 0 to 0.9, found 1"),
        ({"dropout": 1}, "dropout must be at least 0 and below 1, found 1"),
        ({"hidden": 0}, "hidden must be from 1 to 16384 units, found 0"),
        ({"hidden": (100_000_000,)}, "hidden must be from 1 to 16384 units, found 100000000"),
        ({"hidden": (16384, 16384)}, "a network may have 100000000 parameters at most"),
        ({"activation": "step"}, 'activation must be one of relu, tanh, silu, found "step"'),
        ({"epochs": 0}, "epochs must be from 1 to 10000000, found 0"),
        ({"epochs": 10**30}, "epochs must be"),
        ({"batch": 0}, "batch must be at least 1, found 0"),
        ({"random_state": -3}, "random_state must be from 0 to 2**64 - 1, found -3"),
        ({"random_state": 2**64}, "random_state must be from 0 to 2**64 - 1, found"),
        ({"random_state": "x"}, "'x' cannot be used to seed"),
        ({"n_jobs": 0}, "n_jobs == 0"),
    ],
)
def test_what_is_out_of_range_is_refused_in_the_cores_words(parameters, message):
    X, y = rows(20)
    model = quick("ne-gmm", **parameters)
    with pytest.raises(ValueError) as caught:
        model.fit(X, y)
    assert message in str(caught.value)


def test_an_option_that_the_member_has_not_is_refused():
    X, y = rows(20)
    with pytest.raises(ValueError, match='has no option "eta"'):
        quick("ensemble", member="beta-nll", eta=0.5).fit(X, y)
    with pytest.raises(ValueError, match="member must be a neural method"):
        quick("ensemble", member="ngboost").fit(X, y)
    assert repr(quick("ensemble", member="sample-net", samples=9).fit(X, y).predict_dist(X)).endswith("18 samples>")
