"""Docstrings of estimators: type and meaning of each parameter, from the library's table of options."""

from __future__ import annotations

import inspect
from typing import Any

from negmm.messages import option_of
from negmm.options import METHODS

#: Type and meaning of the parameters that are not options of a method.
OF_FITTING: dict[str, tuple[str, str]] = {
    "lower": ("float or None", "Lower bound of the target."),
    "upper": ("float or None", "Upper bound of the target."),
    "continuous": (
        "bool",
        "Predict a density even if the target looks discrete or has atoms (values of many rows).",
    ),
    "discrete": ("bool", "Predict probabilities of values on a grid even if the target does not look discrete."),
    "step": ("float or None", "Step of the grid of a discrete target; None: the largest that all targets share."),
    "random_state": (
        "int, RandomState, Generator or None",
        "Random seed; the same seed gives the same model, byte for byte.",
    ),
    "n_jobs": (
        "int or None",
        "Number of threads of fit and predict; None: 1, -1: all cores. Results do not depend on it. Distributions use "
        "all cores if it is None.",
    ),
    "verbose": (
        "int",
        "Progress of fit: 0 none; 1 a progress bar in a terminal or notebook, lines elsewhere.",
    ),
}


def option(method: str, name: str) -> dict[str, Any]:
    """The description of an option; of an option that only other members of an ensemble have, that of the first method
    with it."""
    methods = [METHODS[method], *METHODS.values()]
    return next(known for other in methods for known in other["options"] if known["name"] == name)


def described(cls: type) -> str:
    """The docstring of an estimator with the table of its parameters and its attributes before the examples."""
    table = ["Parameters", "----------"]
    for name, parameter in inspect.signature(cls).parameters.items():
        kind, meaning = OF_FITTING.get(name) or _of_option(option(cls.method, option_of(name)))
        table += [f"{name} : {kind}, default={parameter.default!r}", f"    {meaning}"]
    about, examples = inspect.cleandoc(cls.__doc__ or "").split("\n\nExamples\n", 1)
    attributes = inspect.cleandoc(cls.__base__.__doc__ or "").split("\n\n", 1)[1]
    return "\n\n".join([about, "\n".join(table), attributes, "Examples\n" + examples])


def _of_option(option: dict[str, Any]) -> tuple[str, str]:
    """The type of an option and what it does."""
    numbers = option["range"].removesuffix(f", or {option['none_word']}")
    kind = {
        "integer": f"int, {numbers}",
        "float": f"float, {numbers}",
        "integer list": "int or tuple of int",
        "bool": "bool",
        "choice": "{" + ", ".join(map(repr, option["words"])) + "}",
    }[option["kind"]]
    return kind, option["help"][0].upper() + option["help"][1:] + "."
