"""Ctrl-C stops a fit within a second of work and leaves the estimator unfitted, and it stops predictions too.

Times are the processor's, so that a machine with much to do changes nothing.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from contextlib import contextmanager

import numpy as np
import pytest
from quick import LEARNING, quick, rows
from sklearn.exceptions import NotFittedError

import negmm

#: Far more than a test waits for.
LONG = {
    "auto": {"steps": 1_000_000, "hidden": (256, 256)},
    "ngboost": {"n_estimators": 10_000_000, "learning_rate": 1e-6, "patience": 0},
    None: {"epochs": 10_000_000},
}


@pytest.fixture(autouse=True)
def interruptible():
    """A shell starts what runs in its background with Ctrl-C ignored; here it counts."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@contextmanager
def pressed_after(seconds: float):
    """Presses Ctrl-C once after this number of seconds; gives the list of CPU times at which it was pressed."""
    pressed = []

    def press():
        pressed.append(time.process_time())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(seconds, press)
    timer.start()
    yield pressed
    timer.join()


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("name", LEARNING)
def test_a_fit_is_stopped(name, jobs):
    X, y = rows(2000)
    model = quick(name).fit(X, y)
    model.set_params(n_jobs=jobs, **LONG.get(name, LONG[None]))
    with pressed_after(0.2) as pressed, pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert time.process_time() - pressed[0] < 1.0 * jobs
    with pytest.raises(NotFittedError):
        model.predict(X)
    # It can be fitted again.
    assert quick(name).fit(X, y).predict(X).shape == y.shape


def test_a_handler_that_does_not_raise_does_not_stop_a_fit():
    X, y = rows()
    heard = []
    before = signal.signal(signal.SIGINT, lambda *_: heard.append(time.monotonic()))
    try:
        timer = threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        model = quick("ne-gmm", epochs=3000).fit(X, y)
        timer.join()
    finally:
        signal.signal(signal.SIGINT, before)
    assert model.predict(X).shape == y.shape
    assert len(heard) == 1


@pytest.mark.skipif(sys.platform == "win32", reason="a signal to a process is not the same there")
def test_an_interrupted_program_ends_by_the_signal():
    code = """
        import numpy as np
        from negmm import NEGMMRegressor
        X = np.random.default_rng(0).normal(size=(2000, 3))
        print("ready", flush=True)
        NEGMMRegressor(epochs=10_000_000).fit(X, X[:, 0])
    """
    child = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert child.stdout.readline() == "ready\n"
    time.sleep(0.2)
    child.send_signal(signal.SIGINT)
    _, errors = child.communicate(timeout=300)
    assert child.returncode == -signal.SIGINT
    assert errors.rstrip().endswith("KeyboardInterrupt")
    assert "panic" not in errors


def test_a_step_that_takes_seconds_is_not_waited_for():
    """One step on all rows of a wide network: the work ends by itself, later."""
    X, y = rows(60_000)
    model = quick("ne-gmm", hidden=(1024, 1024), batch_size=60_000, validation_fraction=0, epochs=2, learning_rate=1e-4)
    with pressed_after(0.5) as pressed, pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert time.process_time() - pressed[0] < 1.0
    with pytest.raises(NotFittedError):
        model.predict(X)


def wide(count: int) -> negmm.Distribution:
    """Mixtures that take a while, on one thread."""
    rng = np.random.default_rng(0)
    parts = rng.random((count, 40)) + 0.01, rng.normal(size=(count, 40)), np.exp(rng.normal(size=(count, 40)))
    dist = negmm.Distribution.of_mixtures(*parts)
    dist._n_jobs = 1
    return dist


#: Computations of about a second.
LONG_COMPUTATIONS = {
    "crps": lambda: (wide(200_000), lambda dist: dist.crps(0.3)),
    "interval": lambda: (wide(120_000), lambda dist: dist.interval(0.9)),
    "predict": lambda: (
        quick("ensemble", ensemble_size=20, n_jobs=1).fit(*rows()),
        lambda model: model.predict(rows(800_000)[0]),
    ),
}


@pytest.mark.parametrize("name", LONG_COMPUTATIONS)
def test_a_computation_is_stopped(name):
    subject, compute = LONG_COMPUTATIONS[name]()
    start = time.process_time()
    compute(subject)
    whole = time.process_time() - start
    start = time.process_time()
    with pressed_after(0.2 * whole), pytest.raises(KeyboardInterrupt):
        compute(subject)
    assert time.process_time() - start < 0.7 * whole
