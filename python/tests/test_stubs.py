"""The stubs of the native module match it."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import negmm
from negmm import _native

STUBS = Path(negmm.__file__).with_name("_native.pyi")


def public(names) -> set[str]:
    return {name for name in names if not name.startswith("_")}


def test_the_stubs_have_the_names_of_the_module():
    body = ast.parse(STUBS.read_text(encoding="utf-8")).body
    stubs = {item.name: item for item in body if isinstance(item, (ast.ClassDef, ast.FunctionDef))}
    assert stubs.keys() == public(dir(_native))
    for name, stub in stubs.items():
        if isinstance(stub, ast.FunctionDef):
            own, function = stub, getattr(_native, name)
            assert arguments(own) == list(inspect.signature(function).parameters)
            continue
        methods = {item.name: item for item in stub.body if isinstance(item, ast.FunctionDef)}
        cls = getattr(_native, name)
        if issubclass(cls, Exception):
            continue
        assert public(methods) == public(dir(cls))
        for method in public(methods):
            attribute = inspect.getattr_static(cls, method)
            if not isinstance(attribute, property) and not inspect.isgetsetdescriptor(attribute):
                assert arguments(methods[method]) == list(inspect.signature(getattr(cls, method)).parameters)


def arguments(function: ast.FunctionDef) -> list[str]:
    return [argument.arg for argument in [*function.args.args, *function.args.kwonlyargs]]


def test_the_package_is_typed():
    assert STUBS.with_name("py.typed").exists()
