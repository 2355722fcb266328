"""Arrays and frames of numbers are copied once at most: by the core, into its columns."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

CODE = """
    import sys, tracemalloc
    import numpy as np
    from negmm import ConstantRegressor

    def peak():
        lines = open("/proc/self/status").read().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))

    rows, columns, dtype, question, kind = 150_000, 32, *sys.argv[1:]
    X = np.random.default_rng(0).random((rows, columns), dtype=dtype)
    y = X[:, 0].astype(np.float64)
    names = [f"x{column}" for column in range(columns)]
    if kind == "pandas":
        import pandas

        X = pandas.DataFrame(X, columns=names, copy=False)
    elif kind != "array":
        import polars

        X = polars.DataFrame(X, schema=names, orient="row")
        X = X.to_arrow() if kind == "pyarrow" else X
    model = ConstantRegressor().fit(X[:100], y[:100])
    before = peak()
    tracemalloc.start()
    model.fit(X, y) if question == "fit" else model.predict(X)
    python = tracemalloc.get_traced_memory()[1]
    print(python, (peak() - before) * 1024, rows * columns)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the peak of memory is read from /proc")
@pytest.mark.parametrize("question", ["fit", "predict"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("kind", ["array", "pandas", "polars", "pyarrow"])
def test_numbers_are_copied_once(dtype, question, kind):
    command = [sys.executable, "-c", textwrap.dedent(CODE), dtype, question, kind]
    python, peak, cells = map(int, subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())
    # Python makes no copy: what it holds is a few numbers a row.
    assert python < 0.2 * cells * 4
    # The core holds one copy, of 8 bytes a cell, and the encoded features, of 4; and some numbers a row.
    assert peak < (8 + 4 + 2) * cells
