"""Arrays and frames of numbers are copied once at most: by the core, into its columns."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from functools import cache

import pytest

CODE = """
    import sys, tracemalloc
    import numpy as np
    from negmm import ConstantRegressor

    def peak():
        lines = open("/proc/self/status").read().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))

    def table(dtype):
        X = np.random.default_rng(0).random((rows, columns), dtype=dtype)
        names = [f"x{column}" for column in range(columns)]
        if kind == "pandas":
            import pandas

            X = pandas.DataFrame(X, columns=names, copy=False)
        elif kind != "array":
            import polars

            X = polars.DataFrame(X, schema=names, orient="row")
            X = X.to_arrow() if kind == "pyarrow" else X
        return X

    rows, columns, kind = 200_000, 32, sys.argv[1]
    y = np.random.default_rng(0).random(rows)
    for dtype in ("float32", "float64"):
        X = table(dtype)
        for method in ("fit", "predict"):
            model = ConstantRegressor().fit(X[:100], y[:100])
            # From here on the peak counts anew.
            open("/proc/self/clear_refs", "w").write("5")
            before = peak()
            tracemalloc.start()
            model.fit(X, y) if method == "fit" else model.predict(X)
            python = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            print(dtype, method, python, (peak() - before) * 1024, rows * columns)
"""


@cache
def measured(kind: str) -> dict[tuple[str, str], list[int]]:
    """Bytes that Python holds, bytes more than before at the peak, and cells, for each type of number and each
    method."""
    # What is freed goes back to the system, so that each peak counts alone.
    environment = {**os.environ, "MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_TRIM_THRESHOLD_": "0"}
    command = [sys.executable, "-c", textwrap.dedent(CODE), kind]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    lines = [line.split() for line in done.stdout.splitlines()]
    return {(dtype, method): [int(number) for number in numbers] for dtype, method, *numbers in lines}


@pytest.mark.skipif(sys.platform != "linux", reason="the peak of memory is read from /proc")
@pytest.mark.parametrize("method", ["fit", "predict"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("kind", ["array", "pandas", "polars", "pyarrow"])
def test_numbers_are_copied_once(dtype, method, kind):
    python, peak, cells = measured(kind)[dtype, method]
    # Python makes no copy: what it holds is a few numbers a row.
    assert python < 0.2 * cells * 4
    # The core holds one copy, of 8 bytes a cell, and the encoded features, of 4; and some numbers a row.
    assert peak < (8 + 4 + 2) * cells
