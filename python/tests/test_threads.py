"""The interpreter's lock is released, fits in threads are safe, and forks work."""

from __future__ import annotations

import multiprocessing
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from quick import NAMES, quick, rows

import negmm


def longest_silence(work) -> tuple[float, float]:
    """Runs ``work`` in a thread; gives its time and the longest time that this thread was not let in meanwhile."""
    done = threading.Event()

    def run():
        work()
        done.set()

    thread = threading.Thread(target=run)
    start = last = time.perf_counter()
    silence = 0.0
    thread.start()
    while not done.is_set():
        time.sleep(0.001)
        now = time.perf_counter()
        silence, last = max(silence, now - last), now
    thread.join()
    return time.perf_counter() - start, silence


def test_others_work_during_fit_and_predict():
    X, y = rows(3000)
    model = negmm.NEGMMRegressor(epochs=200)
    total, silence = longest_silence(lambda: model.fit(X, y))
    assert total > 0.1
    assert silence < 0.5 * total
    many = np.tile(X, (100, 1))
    for question in (model.predict, model.predict_dist, model.predict_interval):
        total, silence = longest_silence(lambda question=question: question(many))
        assert total > 0.05
        assert silence < 0.6 * total, question


@pytest.mark.parametrize("name", NAMES)
def test_fits_in_threads_give_the_bits_of_fits_alone(name):
    X, y = rows()

    def fit(seed: int) -> bytes:
        model = quick(name, random_state=seed, n_jobs=1 + seed % 2).fit(X, y)
        model.predict_dist(X).ppf(0.3)
        return model.model_.to_bytes()

    alone = [fit(seed) for seed in range(8)]
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(fit, range(8))) == alone


def test_one_model_answers_in_many_threads():
    X, y = rows(400)
    model = quick("ensemble").fit(X, y)
    dist = model.predict_dist(X)
    expected = dist.ppf(0.9)
    with ThreadPoolExecutor(4) as threads:
        for found in threads.map(lambda _: model.predict_dist(X).ppf(0.9), range(16)):
            np.testing.assert_array_equal(found, expected)
        for found in threads.map(lambda _: dist.ppf(0.9), range(16)):
            np.testing.assert_array_equal(found, expected)


def _fit_in_child(seed: int) -> list[float]:
    X, y = rows()
    return quick("ensemble", random_state=seed, n_jobs=2).fit(X, y).predict_dist(X).ppf(0.9).tolist()


@pytest.mark.skipif(sys.platform != "linux", reason="there processes are not forked by default")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_fork_works_after_threads_have_been_used():
    expected = [_fit_in_child(seed) for seed in range(3)]
    with multiprocessing.get_context("fork").Pool(2) as processes:
        assert processes.map_async(_fit_in_child, range(3)).get(timeout=60) == expected
