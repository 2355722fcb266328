"""Distributed training: the same bytes, rows once per worker, and workers that die."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor, ThreadPoolExecutor

import external
import numpy as np
import pytest
from quick import LEARNING, quick, rows

import negmm
from negmm import leftovers, worker
from negmm.executor import FuturesExchange

X, Y = rows(200)
SPAWN = multiprocessing.get_context("spawn")


def fitted(executor=None, name="auto", **parameters) -> bytes:
    return (
        quick(name, **{"folds": 4, **parameters} if name == "auto" else parameters)
        .fit(X, Y, executor=executor)
        .model_.to_bytes()
    )


@pytest.fixture(scope="module")
def pool():
    with ProcessPoolExecutor(2, mp_context=SPAWN) as pool:
        yield pool


@pytest.mark.parametrize("name", LEARNING)
def test_every_method_gives_the_same_bytes(name, pool):
    assert fitted(pool, name) == fitted(None, name)


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_any_number_of_workers_gives_the_same_bytes(workers):
    with ThreadPoolExecutor(workers) as threads:
        assert fitted(threads) == fitted()


class Counting(ThreadPoolExecutor):
    """Sees what travels, to workers that forget nothing."""

    def __init__(self, workers: int) -> None:
        super().__init__(workers)
        self.bytes: list[int] = []

    def submit(self, function, /, *arguments, **named):
        if function is worker.train:
            self.bytes.append(len(arguments[1] or b""))
        return super().submit(function, *arguments, **named)


def test_rows_travel_once():
    worker._cache.clear()
    with Counting(1) as executor:
        assert fitted(executor) == fitted()
    assert len(executor.bytes) > 4
    assert len([size for size in executor.bytes if size]) == 1


def _die_once(flag: str, *arguments):
    """As ``worker.train``, but the first who comes dies."""
    try:
        os.close(os.open(flag, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return worker.train(*arguments)
    os.kill(os.getpid(), signal.SIGKILL)


class Deadly(ProcessPoolExecutor):
    """A pool of whose processes one is killed in the middle of a job."""

    def __init__(self, flag: str) -> None:
        super().__init__(2, mp_context=SPAWN)
        self.flag = flag

    def submit(self, function, /, *arguments, **named) -> Future:
        if function is worker.train:
            return super().submit(_die_once, self.flag, *arguments, **named)
        return super().submit(function, *arguments, **named)


def test_a_worker_that_is_killed_costs_a_retry(tmp_path):
    with Deadly(str(tmp_path / "died")) as executor:
        assert fitted(executor) == fitted()
    assert (tmp_path / "died").exists()


def test_a_pool_that_is_broken_before_the_fit_is_replaced(tmp_path):
    with ProcessPoolExecutor(1, mp_context=SPAWN) as executor:
        with pytest.raises(BrokenExecutor):
            executor.submit(_die_once, str(tmp_path / "died")).result()
        assert fitted(executor) == fitted()


class Lost(ThreadPoolExecutor):
    """Loses what it is given."""

    def submit(self, function, /, *arguments, **named):
        return super().submit(_lose)


def _lose():
    raise ConnectionError("the cable is out")


def test_a_job_that_always_fails_is_given_up():
    with Lost(1) as executor, pytest.raises(RuntimeError, match="sent 4 times, the last time: ConnectionError"):
        fitted(executor)


def test_a_job_that_cannot_be_trained_says_why(monkeypatch):
    def refuse(*_):
        raise ValueError("these bytes are no job")

    monkeypatch.setattr(worker, "train", refuse)
    with ThreadPoolExecutor(1) as threads, pytest.raises(ValueError, match="these bytes are no job"):
        fitted(threads)


def test_ctrl_c_stops_training(pool, monkeypatch):
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    model = quick("auto", folds=2, steps=150_000)
    futures, submit = [], pool.submit

    def submitted(*arguments):
        futures.append(submit(*arguments))
        if len(futures) == 1:
            threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
        return futures[-1]

    monkeypatch.setattr(pool, "submit", submitted)
    try:
        with pytest.raises(KeyboardInterrupt):
            model.fit(*rows(2000), executor=pool)
        assert any(future.cancelled() or not future.done() for future in futures), "the work was waited for"
    finally:
        signal.signal(signal.SIGINT, before)
    assert fitted(pool) == fitted()


def test_progress_is_reported(pool, capsys):
    quick("auto", folds=4, verbose=1).fit(X, Y, executor=pool)
    lines = capsys.readouterr().err.splitlines()
    assert lines[-1].startswith("fit: 100 %, ") and "networks" in lines[-1]


def test_workers_have_one_thread_by_default():
    with ThreadPoolExecutor(1) as threads:
        exchange = FuturesExchange(threads, None)
        assert exchange._n_jobs is None
    assert fitted(None, n_jobs=2) == fitted()


def test_other_objects_are_refused_as_executors():
    with pytest.raises(TypeError, match="executor must be an executor of concurrent.futures"):
        fitted("four")


def test_comparisons_and_searches_are_the_same(pool):
    methods = [quick("ne-gmm"), quick("ngboost"), "constant"]
    here, there = (negmm.compare(X, Y, methods, folds=3, executor=executor) for executor in (None, pool))
    scores = [column for column in here.scores.columns if column != "seconds"]
    assert here.scores[scores].equals(there.scores[scores])
    space = {"components": [1, 2], "learning_rate": (0.01, 0.05, "log")}
    searches = [
        negmm.tune(X, Y, quick("ne-gmm"), space, trials=3, folds=2, executor=executor) for executor in (None, pool)
    ]
    assert searches[0].table.equals(searches[1].table)
    assert searches[0].best_estimator.model_.to_bytes() == searches[1].best_estimator.model_.to_bytes()
    np.testing.assert_array_equal(searches[0].table["crps"], np.sort(searches[0].table["crps"]))


class DeadlyClient:
    """A client of Dask of whose workers one is killed in the middle of a job."""

    def __init__(self, client, flag: str) -> None:
        self.client, self.flag = client, flag
        self.scatter, self.nthreads = client.scatter, client.nthreads

    def submit(self, function, *arguments, **named):
        return self.client.submit(_die_once, self.flag, *arguments, **named)


def test_dask_gives_the_same_bytes_also_where_a_worker_is_killed(tmp_path):
    distributed = external.module("distributed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        with distributed.Client(cluster) as client:
            assert fitted(client) == fitted()
            before = set(client.run(os.getpid).values())
            assert fitted(DeadlyClient(client, str(tmp_path / "died"))) == fitted()
            assert (tmp_path / "died").exists()
            client.wait_for_workers(2)
            assert before != set(client.run(os.getpid).values())
            with client.get_executor() as executor:
                assert fitted(executor) == fitted()


def test_workers_open_the_rows_in_a_shared_folder(tmp_path):
    worker._cache.clear()
    seen: list[list[str]] = []

    class Files(Counting):
        def submit(self, function, /, *arguments, **named):
            seen.append(os.listdir(tmp_path))
            return ThreadPoolExecutor.submit(self, function, *arguments, **named)

    with Files(1) as executor:
        assert fitted(negmm.SharedFolder(executor, tmp_path)) == fitted()
    assert all(len(names) == 1 for names in seen) and os.listdir(tmp_path) == []


@pytest.mark.parametrize("damage", ["removed", "others"])
def test_rows_are_sent_to_workers_that_do_not_find_them(tmp_path, monkeypatch, damage):
    worker._cache.clear()
    written = worker.RowsFile.write

    def damaged(path, packed):
        file = written(path, packed)
        path.unlink() if damage == "removed" else path.write_bytes(packed[:-1] + b"?")
        return file

    monkeypatch.setattr(worker.RowsFile, "write", damaged)
    with ThreadPoolExecutor(2) as executor:
        assert fitted(negmm.SharedFolder(executor, tmp_path)) == fitted()
    with pytest.raises(ValueError, match="does not exist"), ThreadPoolExecutor(1) as executor:
        fitted(negmm.SharedFolder(executor, tmp_path / "nowhere"))


def test_processes_open_the_rows_in_a_shared_folder(tmp_path, pool):
    assert fitted(negmm.SharedFolder(pool, tmp_path)) == fitted()
    assert os.listdir(tmp_path) == []


def test_dask_opens_the_rows_in_a_shared_folder(tmp_path):
    distributed = external.module("distributed")
    with distributed.Client(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None) as client:
        worker._cache.clear()
        assert fitted(negmm.SharedFolder(client, tmp_path)) == fitted()
    assert os.listdir(tmp_path) == []


#: A fit with a shared folder that takes for ever.
ENDLESS = """
import sys
from concurrent.futures import ThreadPoolExecutor
from quick import quick, rows
import negmm
model = quick("auto", steps=10**9)
model.fit(*rows(200), executor=negmm.SharedFolder(ThreadPoolExecutor(1), sys.argv[1]))
"""


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_rows_of_a_killed_fit_are_cleared_by_the_next(tmp_path):
    names = lambda: [name for name in os.listdir(tmp_path) if not name.endswith(".part")]  # noqa: E731
    with subprocess.Popen([sys.executable, "-c", ENDLESS, str(tmp_path)], cwd=os.path.dirname(__file__)) as process:
        end = time.monotonic() + 120
        while not names() and process.poll() is None and time.monotonic() < end:
            time.sleep(0.02)
        left = names()
        assert len(left) == 1
        # Of a process that lives nothing is removed, nor of other machines.
        leftovers.clear(tmp_path, r"\.negmm-rows-.*-", r"(\.part)?")
        assert names() == left
        process.kill()
    assert names() == left
    elsewhere = tmp_path / ".negmm-rows-x-1@elsewhere"
    elsewhere.touch()
    with ThreadPoolExecutor(1) as executor:
        assert fitted(negmm.SharedFolder(executor, tmp_path)) == fitted()
    assert names() == [elsewhere.name]
