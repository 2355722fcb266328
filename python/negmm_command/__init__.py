"""The command ``negmm`` of the wheel. It loads the native module alone: importing scikit-learn would take a second."""

import sys
from importlib.machinery import ExtensionFileLoader, PathFinder
from importlib.util import module_from_spec, spec_from_file_location
from typing import Any


def main() -> int:
    """Runs the program with the arguments of this process; returns its exit code."""
    code: int = _native().run_program(["negmm", *sys.argv[1:]])
    return code


def _native() -> Any:
    """The native module of the package ``negmm``, without the package."""
    package = PathFinder.find_spec("negmm")
    found = None if package is None else PathFinder.find_spec("_native", package.submodule_search_locations)
    if found is None or not isinstance(found.loader, ExtensionFileLoader):
        raise ImportError("the native module of negmm is not installed: pip install --force-reinstall negmm")
    spec = spec_from_file_location("negmm._native", found.origin, loader=ExtensionFileLoader("negmm._native", found.origin))
    if spec is None or spec.loader is None:
        raise ImportError(f"cannot load {found.origin}")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
