"""Ctrl-C stops a fit within a second and leaves the estimator unfitted, and it stops questions too."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest
from quick import LEARNING, quick, rows
from sklearn.exceptions import NotFittedError

import negmm

#: Far more than a test waits for.
LONG = {
    "auto": {"steps": 1_000_000, "hidden": (256, 256)},
    "ngboost": {"rounds": 10_000_000, "learning_rate": 1e-6, "patience": 0},
    None: {"epochs": 10_000_000},
}


@pytest.fixture(autouse=True)
def interruptible():
    """A shell starts what runs in its background with Ctrl-C ignored; here it counts."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("name", LEARNING)
def test_a_fit_is_stopped(name, jobs):
    X, y = rows(2000)
    model = quick(name).fit(X, y)
    model.set_params(n_jobs=jobs, **LONG.get(name, LONG[None]))
    pressed = []

    def press():
        pressed.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(0.5, press)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert time.monotonic() - pressed[0] < 1.0
    timer.join()
    with pytest.raises(NotFittedError):
        model.predict(X)
    # It can be fitted again.
    assert quick(name).fit(X, y).predict(X).shape == y.shape


def test_a_handler_that_does_not_raise_stops_nothing():
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
def test_a_program_ends_as_programs_do():
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
    time.sleep(0.5)
    start = time.monotonic()
    child.send_signal(signal.SIGINT)
    _, errors = child.communicate(timeout=10)
    assert time.monotonic() - start < 1.5
    assert child.returncode == -signal.SIGINT
    assert errors.rstrip().endswith("KeyboardInterrupt")
    assert "panic" not in errors


def test_a_step_that_takes_seconds_is_not_waited_for():
    """One step on all rows of a wide network: the work ends by itself, later."""
    X, y = rows(60_000)
    model = quick("ne-gmm", hidden=(1024, 1024), batch=60_000, validation=0, epochs=2, learning_rate=1e-4)
    pressed = []

    def press():
        pressed.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    threading.Timer(0.5, press).start()
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert time.monotonic() - pressed[0] < 1.0
    with pytest.raises(NotFittedError):
        model.predict(X)


def wide(count: int) -> negmm.Distribution:
    """Mixtures that take a while, on one thread."""
    rng = np.random.default_rng(0)
    parts = rng.random((count, 40)) + 0.01, rng.normal(size=(count, 40)), np.exp(rng.normal(size=(count, 40)))
    dist = negmm.Distribution.of_mixtures(*parts)
    dist._n_jobs = 1
    return dist


#: Questions of some seconds.
LONG_QUESTIONS = {
    "crps": lambda: (wide(600_000), lambda dist: dist.crps(0.3)),
    "interval": lambda: (wide(300_000), lambda dist: dist.interval(0.9)),
    "predict": lambda: (quick("ensemble", members=20).fit(*rows()), lambda model: model.predict(rows(2_000_000)[0])),
}


@pytest.mark.parametrize("name", LONG_QUESTIONS)
def test_a_question_is_stopped(name):
    asked, question = LONG_QUESTIONS[name]()
    pressed = []

    def press():
        pressed.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    threading.Timer(1.0, press).start()
    with pytest.raises(KeyboardInterrupt):
        question(asked)
    assert time.monotonic() - pressed[0] < 1.0
