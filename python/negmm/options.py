"""The methods of the library and the values of their options, as text and as parameters."""

from __future__ import annotations

import json
from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any

import numpy as np

from negmm import _native

#: The methods of the library: name, table of options, settings, minimum number of rows.
METHODS: dict[str, dict[str, Any]] = {method["name"]: method for method in json.loads(_native.methods())}


def option_text(name: str, value: object) -> str:
    """A parameter as the text of an option."""
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, Integral):
        return str(int(value))
    if isinstance(value, Real):
        return repr(float(value))
    if isinstance(value, str):
        return value
    if isinstance(value, Iterable):
        return ",".join(option_text(name, item) for item in value) or "none"
    raise ValueError(f"{name} must be a number, text or a list, found {type(value).__name__}")


def parameter_value(value: Any) -> Any:
    """A value of the model file as a parameter; of a member method its name."""
    if isinstance(value, dict):
        return value["name"]
    return tuple(value) if isinstance(value, list) else value
