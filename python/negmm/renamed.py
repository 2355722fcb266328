"""Former names of parameters: still accepted, with a FutureWarning that names the new one."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeVar, cast

from negmm import _native

Class = TypeVar("Class", bound=type)
Function = TypeVar("Function", bound=Callable[..., Any])
Value = TypeVar("Value")

#: The current name of a parameter by its former one, as the core has them.
RENAMED: dict[str, str] = {
    former.replace("-", "_"): current.replace("-", "_") for former, current in _native.renamed_options()
}


def with_current_names(
    given: Mapping[str, Value],
    parameters: Collection[str],
    *,
    stacklevel: int | None = None,
    former: Mapping[str, str] = RENAMED,
) -> dict[str, Value]:
    """What is given by name, with the current names where a former one of these parameters is used. With ``stacklevel``
    it warns."""
    renamed: dict[str, Value] = {}
    for name, value in given.items():
        current = former.get(name, name)
        if name not in parameters and current in parameters and current != name:
            if current in given:
                raise TypeError(f"{name} is a former name of {current}, which is given too")
            if stacklevel is not None:
                message = f"{name} is now called {current}; the old name will be removed in a later version"
                warnings.warn(message, FutureWarning, stacklevel=stacklevel + 1)
            name = current
        renamed[name] = value
    return renamed


def accepting_former_names(cls: Class) -> Class:
    """Lets the constructor of an estimator take its parameters by former names too."""
    init = cls.__init__  # type: ignore[misc]

    @functools.wraps(init)
    def __init__(self: Any, *args: Any, **parameters: Any) -> None:
        names = cls._get_param_names()  # type: ignore[attr-defined]
        init(self, *args, **with_current_names(parameters, names, stacklevel=2))

    cls.__init__ = __init__  # type: ignore[misc]
    return cls


def accepting_former_arguments(**former: str) -> Callable[[Function], Function]:
    """Lets a function take arguments by former names too, each given with its current name."""

    def accepting(function: Function) -> Function:
        @functools.wraps(function)
        def called(*args: Any, **arguments: Any) -> Any:
            current = with_current_names(arguments, former.values(), stacklevel=2, former=former)
            return function(*args, **current)

        return cast(Function, called)

    return accepting
