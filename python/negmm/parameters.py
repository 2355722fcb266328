"""Responsible for the docstrings of estimators: what each parameter may be and means, in the words of the core's table of options."""

from __future__ import annotations

import inspect
from typing import Any

from negmm.messages import option_of
from negmm.regressor import METHODS

#: What the parameters that are no options mean: type and sentence.
OF_FITTING: dict[str, tuple[str, str]] = {
    "lower": ("float or None", "The target cannot be smaller than this."),
    "upper": ("float or None", "The target cannot be larger than this."),
    "continuous": (
        "bool",
        "Predict a density, also where the target looks like whole numbers or has values that many rows share.",
    ),
    "random_state": (
        "int, RandomState, Generator or None",
        "Starts all random choices; the same number gives the same bits.",
    ),
    "n_jobs": (
        "int or None",
        "Threads of fit and predict; None: 1, -1: all cores. It changes no result. Distributions use all cores where it is None.",
    ),
    "verbose": (
        "int",
        "Whether fit shows how far it is: 0 not at all, 1 by a bar in a terminal or a notebook, else by lines.",
    ),
}


def option(method: str, name: str) -> dict[str, Any]:
    """What the core says of an option; of an ensemble's that its usual members have not, what the first method says that has it."""
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
