"""Packages and programs that tests need from outside. A test that finds one missing is skipped; where ``CI`` is set it
fails."""

from __future__ import annotations

import importlib
import os
from types import ModuleType

import pytest


def missing(what: str) -> None:
    """Ends the test: ``what`` is missing."""
    if "CI" in os.environ:
        pytest.fail(f"{what}, and with CI set nothing is skipped")
    pytest.skip(what)


def module(name: str) -> ModuleType:
    """An installed package."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        missing(f"{name} cannot be imported ({error})")
        raise
