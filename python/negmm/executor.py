"""Distributed training: the jobs of a fit are submitted to an executor as bytes, with the rows once per worker; jobs of a worker
that dies are resubmitted."""

from __future__ import annotations

import asyncio
import os
import warnings
from collections import Counter
from collections.abc import Iterator
from concurrent import futures
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from negmm import worker

#: How often a job is sent at most.
TRIES = 4
#: Seconds to wait for a job before Ctrl-C and new jobs are looked at.
MOMENT = 0.05


@dataclass
class Sent:
    """A job that is not back: its number, its rows, its bytes, how often it was sent, and how often its rows were not where it came."""

    number: int
    rows: str
    job: bytes
    tries: int = 1
    misses: int = 0


class Exchange:
    """What the core hands jobs to: it sends as many as there is ``room`` for, and asks for what came back.

    A kind of executor says how rows are given out (``_scatter``), how a job is begun (``_submit``), which are over (``_over``), and
    what came of one (``_result``).
    """

    def __init__(self, workers: int, n_jobs: int | None) -> None:
        # Some wait at the workers, so that none has nothing to do.
        self.room = max(2 * workers, 4)
        self._n_jobs = n_jobs
        self._packed: dict[str, bytes] = {}
        self._given: dict[str, Any] = {}
        self._begun: dict[Any, Sent] = {}

    def lacks(self, rows: str) -> bool:
        return rows not in self._packed

    def keep(self, rows: str, packed: bytes) -> None:
        self._packed[rows] = packed

    def send(self, number: int, rows: str, job: bytes) -> None:
        self._begin(Sent(number, rows, job))

    def _begin(self, sent: Sent) -> None:
        if sent.rows not in self._given:
            self._given[sent.rows] = self._scatter(self._packed[sent.rows])
        self._begun[self._submit(sent)] = sent

    def receive(self) -> list[tuple[int, bytes | str]]:
        """What came back within a moment: what was trained, or why it cannot be."""
        back: list[tuple[int, bytes | str]] = []
        for future in self._over(list(self._begun)):
            sent = self._begun.pop(future)
            try:
                trained = self._result(future)
            except ValueError as refused:
                back.append((sent.number, str(refused)))
            except (Exception, asyncio.CancelledError) as error:
                if sent.tries >= TRIES:
                    raise RuntimeError(f"a job was sent {sent.tries} times, the last time: {error!r}") from error
                sent.tries += 1
                self._recover(error, sent.rows)
                self._begin(sent)
            else:
                if trained is None:
                    sent.misses += 1
                    self._begin(sent)
                else:
                    back.append((sent.number, trained))
        return back

    def stop(self) -> None:
        """Gives up what is not back."""
        for future in self._begun:
            self._cancel(future)
        self._begun.clear()

    def _scatter(self, packed: bytes) -> Any:
        return None

    def _submit(self, sent: Sent) -> Any:
        raise NotImplementedError

    def _over(self, begun: list[Any]) -> Iterator[Any] | list[Any]:
        raise NotImplementedError

    def _result(self, future: Any) -> bytes | None:
        trained: bytes | None = future.result()
        return trained

    def _recover(self, error: BaseException, rows: str) -> None:
        """Gets ready to send a job again."""

    def _cancel(self, future: Any) -> None:
        future.cancel()


class OfFutures(Exchange):
    """Over an executor of ``concurrent.futures``. It cannot be told to give something to every worker: a job goes without its rows, and
    again with them where the worker that took it had none. As many take rows along as there are workers; who finds none again takes
    them too."""

    def __init__(self, executor: futures.Executor, n_jobs: int | None) -> None:
        self._workers: int = getattr(executor, "_max_workers", None) or os.cpu_count() or 1
        super().__init__(self._workers, n_jobs)
        #: How many jobs have taken each set of rows along.
        self._along: Counter[str] = Counter()
        self._executor = executor
        self._own: futures.Executor | None = None

    def _submit(self, sent: Sent) -> Any:
        along = sent.misses > 1 or (sent.misses == 1 and self._along[sent.rows] < self._workers)
        self._along[sent.rows] += along
        packed = self._packed[sent.rows] if along else None
        try:
            return self._executor.submit(worker.train, sent.rows, packed, sent.job, self._n_jobs)
        except futures.BrokenExecutor as error:
            self._recover(error, sent.rows)
            return self._executor.submit(worker.train, sent.rows, packed, sent.job, self._n_jobs)

    def _over(self, begun: list[Any]) -> list[Any]:
        return list(futures.wait(begun, MOMENT, futures.FIRST_COMPLETED).done)

    def _recover(self, error: BaseException, rows: str) -> None:
        """A pool of processes is broken when one of them is: another takes its place until the end."""
        if not isinstance(error, futures.BrokenExecutor) or not _is_broken(self._executor):
            return
        if self._own is not None:
            self._own.shutdown(wait=False)
        if isinstance(self._executor, futures.ProcessPoolExecutor):
            names = {"mp_context": None, "initializer": None, "initargs": ()}
            known: dict[str, Any] = {name: getattr(self._executor, f"_{name}", none) for name, none in names.items()}
            self._own = futures.ProcessPoolExecutor(self._workers, **known)
        else:
            warnings.warn("the executor is broken: what is left is trained here", RuntimeWarning, stacklevel=2)
            self._own = futures.ThreadPoolExecutor(1)
        self._executor = self._own
        self._along.clear()

    def stop(self) -> None:
        super().stop()
        if self._own is not None:
            self._own.shutdown(wait=False, cancel_futures=True)


class OfDask(Exchange):
    """Over a client of Dask: rows are scattered to all workers."""

    def __init__(self, client: Any, n_jobs: int | None) -> None:
        super().__init__(sum(client.nthreads().values()), n_jobs)
        self._client = client

    def _scatter(self, packed: bytes) -> Any:
        return self._client.scatter(packed, broadcast=True, hash=False)

    def _submit(self, sent: Sent) -> Any:
        packed = self._given[sent.rows]
        return self._client.submit(worker.train, sent.rows, packed, sent.job, self._n_jobs, pure=False)

    def _over(self, begun: list[Any]) -> list[Any]:
        from distributed import wait

        # Before Python 3.11 the time that is out is asyncio's.
        with suppress(TimeoutError, asyncio.TimeoutError, asyncio.CancelledError, futures.CancelledError):
            wait(begun, timeout=MOMENT, return_when="FIRST_COMPLETED")
        return [future for future in begun if future.done()]

    def _recover(self, error: BaseException, rows: str) -> None:
        # The workers that had the rows may be gone.
        self._given.pop(rows, None)

    def stop(self) -> None:
        super().stop()
        self._given.clear()


class OfRay(Exchange):
    """Over Ray: rows are put into its store, and a worker gets them once."""

    def __init__(self, ray: Any, n_jobs: int | None) -> None:
        if not ray.is_initialized():
            ray.init()
        super().__init__(int(ray.cluster_resources().get("CPU", 1)), n_jobs)
        self._ray = ray
        self._train = ray.remote(max_retries=0)(_train_on_ray)

    def _scatter(self, packed: bytes) -> Any:
        return self._ray.put(packed)

    def _submit(self, sent: Sent) -> Any:
        # In a list, what is put is got when it is needed.
        return self._train.remote(sent.rows, [self._given[sent.rows]], sent.job, self._n_jobs)

    def _over(self, begun: list[Any]) -> list[Any]:
        done: list[Any] = self._ray.wait(begun, num_returns=1, timeout=MOMENT)[0]
        return done

    def _result(self, future: Any) -> bytes | None:
        try:
            trained: bytes = self._ray.get(future)
        except self._ray.exceptions.RayTaskError as error:
            raise error.cause if isinstance(error.cause, ValueError) else error
        return trained

    def _recover(self, error: BaseException, rows: str) -> None:
        self._given.pop(rows, None)

    def _cancel(self, future: Any) -> None:
        self._ray.cancel(future)


def _train_on_ray(rows: str, packed: list[Any], job: bytes, n_jobs: int | None) -> bytes | None:
    import ray

    return worker.train(rows, None if worker.has(rows) else ray.get(packed[0]), job, n_jobs)


def _is_broken(executor: Any) -> bool:
    try:
        executor.submit(int).cancel()
    except (futures.BrokenExecutor, RuntimeError):
        return True
    return False


@contextmanager
def exchange_with(executor: Any, n_jobs: int | None) -> Iterator[Exchange | None]:
    """The exchange with an executor of ``concurrent.futures``, a client of Dask, or the module ``ray``; None of None."""
    exchange = _exchange(executor, n_jobs)
    try:
        yield exchange
    finally:
        if exchange is not None:
            exchange.stop()


def _exchange(executor: Any, n_jobs: int | None) -> Exchange | None:
    if executor is None:
        return None
    if isinstance(executor, futures.Executor):
        return OfFutures(executor, n_jobs)
    if getattr(executor, "__name__", None) == "ray":
        return OfRay(executor, n_jobs)
    if all(hasattr(executor, name) for name in ("scatter", "submit", "nthreads")):
        return OfDask(executor, n_jobs)
    expected = "an executor of concurrent.futures, a client of Dask, or the module ray"
    raise TypeError(f"executor must be {expected}, found {type(executor).__name__}")
