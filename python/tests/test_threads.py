"""The GIL is released, fits in threads are safe, and forks work."""

from __future__ import annotations

import multiprocessing
import subprocess
import sys
import textwrap
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor

import external
import joblib
import numpy as np
import pytest
from quick import NAMES, quick, rows

import negmm


def turns_meanwhile(work) -> int:
    """Runs ``work`` in a thread; how often this thread had its turn meanwhile."""
    begun, done = threading.Event(), threading.Event()

    def run():
        begun.set()
        work()
        done.set()

    thread = threading.Thread(target=run)
    turns = 0
    thread.start()
    begun.wait()
    while not done.is_set():
        time.sleep(0.001)
        turns += 1
    thread.join()
    return turns


def test_others_work_during_fit_and_predict():
    X, y = rows(3000)
    model = negmm.NEGMMRegressor(epochs=200)
    assert turns_meanwhile(lambda: model.fit(X, y)) > 10
    many = np.tile(X, (100, 1))
    for method in (model.predict, model.predict_dist, model.predict_interval):
        assert turns_meanwhile(lambda method=method: method(many)) > 5, method


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


def test_one_model_predicts_in_many_threads():
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
        assert processes.map_async(_fit_in_child, range(3)).get(timeout=300) == expected


def _threads(n_jobs):
    return quick("ngboost", n_jobs=n_jobs)._threads()


@pytest.mark.filterwarnings("error")
def test_n_jobs_is_the_number_of_threads():
    """Threads may start threads, and processes that may start no processes too: nothing is odd about that."""
    assert [_threads(2), _threads(None), _threads(-1)] == [2, 1, joblib.cpu_count()]
    with ThreadPoolExecutor(1) as thread:
        assert thread.submit(_threads, 2).result() == 2
    with multiprocessing.get_context("spawn").Pool(1) as daemons:
        assert daemons.apply(_threads, (2,)) == 2
    with pytest.raises(ValueError, match="n_jobs must be a number other than 0"):
        quick("ngboost", n_jobs=0)._threads()


@pytest.mark.filterwarnings("error")
def test_n_jobs_respects_other_limits(monkeypatch):
    with joblib.parallel_config(n_jobs=2):
        assert [_threads(None), _threads(1)] == [2, 1]
    with joblib.parallel_config(backend="sequential"):
        assert [_threads(None), _threads(4), _threads(-1)] == [1, 1, 1]
    expected = max(joblib.cpu_count() // 2, 1)
    assert max(joblib.Parallel(n_jobs=2)(joblib.delayed(_threads)(-1) for _ in range(4))) == expected
    # As the workers of Dask, Ray and Spark have it.
    monkeypatch.setattr("negmm.threads.LIMIT", 1)
    assert [_threads(-1), _threads(None), _threads(3)] == [1, 1, 3]


def test_a_context_of_a_cluster_is_not_about_threads():
    distributed = external.module("distributed")
    with distributed.Client(n_workers=2, threads_per_worker=1, dashboard_address=None) as client:
        with joblib.parallel_config(backend="dask"), warnings.catch_warnings():
            warnings.simplefilter("error")
            assert _threads(None) == 1
            assert _threads(-1) <= joblib.cpu_count()
        # A worker has one thread, whatever the machine has.
        assert client.submit(_threads, -1).result() == 1


def test_distributions_have_the_threads_of_their_model(monkeypatch):
    X, y = rows()
    dist = quick("ngboost", n_jobs=3).fit(X, y).predict_dist(X)
    assert dist._threads() == dist[:5]._threads() == dist[0]._threads() == 3
    # None means the same as for estimators.
    assert quick("ngboost").fit(X, y).predict_dist(X)._threads() == 1
    free = quick("ngboost", n_jobs=-1).fit(X, y).predict_dist(X)
    assert free._threads() == joblib.cpu_count()
    monkeypatch.setattr("negmm.threads.LIMIT", 1)
    assert free._threads() == 1


@pytest.mark.skipif(sys.platform == "win32", reason="it counts memory otherwise")
def test_means_of_many_rows_need_little_memory():
    """The distributions of all rows would be 384 MB."""
    code = """
        import resource
        import numpy as np
        import negmm
        X = np.random.default_rng(0).normal(size=(400_000, 3))
        model = negmm.EnsembleRegressor(member="ne-gmm", ensemble_size=5, components=8, epochs=1, hidden=(8,))
        model.fit(X[:200], X[:200, 0])
        model.predict(X[:1000])
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        means, sds = model.predict(X, return_std=True)
        assert (means[-5:] == model.predict_dist(X[-5:]).mean()).all()
        print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
    """
    found = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True)
    assert int(found.stdout) < 150


@pytest.mark.parametrize("call", ["predict_interval(X)"])
def test_answers_of_many_rows_need_little_memory(call):
    """The distributions of all rows would be 576 MB."""
    external.module("polars")
    code = f"""
        import resource
        import numpy as np
        import polars
        import negmm
        X = np.random.default_rng(0).normal(size=(300_000, 3))
        frame = polars.DataFrame(X, schema=["a", "b", "c"])
        model = negmm.EnsembleRegressor(member="ne-gmm", ensemble_size=8, components=10, epochs=1, hidden=(8,))
        model.fit(frame[:200] if {"frame" in call} else X[:200], X[:200, 0])
        model.predict(frame[:1000] if {"frame" in call} else X[:1000])
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        found = model.{call}
        assert len(found) == 300_000
        print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
    """
    found = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True)
    assert int(found.stdout) < 200
