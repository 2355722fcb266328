"""Training by an executor: jobs go to its workers as bytes, rows once to each worker or by a file in a shared folder, and
jobs of a worker that died are sent again."""

from __future__ import annotations

import asyncio
import os
import warnings
from collections import Counter
from collections.abc import Iterator
from concurrent import futures
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from negmm import leftovers, worker

#: How often a job is sent at most.
MAX_TRIES = 4
#: Seconds to wait for a job before checking for Ctrl-C and new jobs.
POLL_SECONDS = 0.05


@dataclass(frozen=True)
class SharedFolder:
    """An executor whose workers share a folder with the caller: they open the encoded rows there instead of having them sent.

    The file is named by the hash of its rows, and is removed when the fit is over; that of a process that was killed, by the next
    fit with the folder on the same machine. A worker that does not find it, or finds other rows in it, is sent the rows as without
    a folder.

    Parameters
    ----------
    executor : executor of concurrent.futures, client of Dask, or the module ray
    folder : path
        The same on every worker.

    Examples
    --------
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> from tempfile import mkdtemp
    >>> import negmm
    >>> with ThreadPoolExecutor(2) as pool:
    ...     shared = negmm.SharedFolder(pool, mkdtemp())
    ...     model = negmm.NEGMMRegressor(epochs=2).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0], executor=shared)
    """

    executor: Any
    folder: str | os.PathLike[str]


@dataclass
class PendingJob:
    """A job without a result so far: its number, the name of its rows, its bytes, how often it was sent, and how often
    the worker lacked its rows."""

    number: int
    rows: str
    job: bytes
    tries: int = 1
    misses: int = 0


class Exchange:
    """The library's interface to an executor: it sends up to ``capacity`` jobs at once and polls for results.

    A subclass defines how rows are distributed (``_scatter``), how a job is submitted (``_submit``), which jobs are
    done (``_done``), and the result of one (``_result``).
    """

    #: The folder that workers share with this process.
    folder: Path | None = None

    def __init__(self, workers: int, n_jobs: int | None) -> None:
        # Some jobs wait at the workers, so that none is idle.
        self.capacity = max(2 * workers, 4)
        self._n_jobs = n_jobs
        self._packed: dict[str, bytes] = {}
        self._files: dict[str, worker.RowsFile] = {}
        self._scattered: dict[str, Any] = {}
        self._pending: dict[Any, PendingJob] = {}

    def lacks(self, rows: str) -> bool:
        return rows not in self._packed

    def keep(self, rows: str, packed: bytes) -> None:
        self._packed[rows] = packed
        if self.folder is not None:
            path = self.folder / f".negmm-rows-{rows}-{leftovers.owner()}"
            self._files[rows] = worker.RowsFile.write(path, packed)

    def send(self, number: int, rows: str, job: bytes) -> None:
        self._start(PendingJob(number, rows, job))

    def _start(self, sent: PendingJob) -> None:
        file = self._files.get(sent.rows)
        if file is not None and sent.misses == 0:
            self._pending[self._submit_with(sent, file)] = sent
            return
        if sent.rows not in self._scattered:
            self._scattered[sent.rows] = self._scatter(self._packed[sent.rows])
        self._pending[self._submit(sent)] = sent

    def receive(self) -> list[tuple[int, bytes | str]]:
        """The results since the last call: a trained job, or why it failed."""
        results: list[tuple[int, bytes | str]] = []
        for future in self._done(list(self._pending)):
            sent = self._pending.pop(future)
            try:
                trained = self._result(future)
            except ValueError as refused:
                results.append((sent.number, str(refused)))
            except (Exception, asyncio.CancelledError) as error:
                if sent.tries >= MAX_TRIES:
                    raise RuntimeError(f"a job was sent {sent.tries} times, the last time: {error!r}") from error
                sent.tries += 1
                self._recover(error, sent.rows)
                self._start(sent)
            else:
                if trained is None:
                    sent.misses += 1
                    self._start(sent)
                else:
                    results.append((sent.number, trained))
        return results

    def stop(self) -> None:
        """Cancels the pending jobs."""
        for future in self._pending:
            self._cancel(future)
        self._pending.clear()
        for file in self._files.values():
            Path(file.path).unlink(missing_ok=True)

    def _scatter(self, packed: bytes) -> Any:
        return None

    def _submit(self, sent: PendingJob) -> Any:
        raise NotImplementedError

    def _submit_with(self, sent: PendingJob, file: worker.RowsFile) -> Any:
        """Submits a job whose rows are in a file."""
        raise NotImplementedError

    def _done(self, pending: list[Any]) -> Iterator[Any] | list[Any]:
        raise NotImplementedError

    def _result(self, future: Any) -> bytes | None:
        trained: bytes | None = future.result()
        return trained

    def _recover(self, error: BaseException, rows: str) -> None:
        """Prepares for sending a job again."""

    def _cancel(self, future: Any) -> None:
        future.cancel()


class FuturesExchange(Exchange):
    """An executor of ``concurrent.futures``. It cannot broadcast to its workers: a job is sent without its rows, and
    again with them where its worker lacks them. As many jobs carry rows as there are workers; a job whose second worker
    lacks them carries them too."""

    def __init__(self, executor: futures.Executor, n_jobs: int | None) -> None:
        self._workers: int = getattr(executor, "_max_workers", None) or os.cpu_count() or 1
        super().__init__(self._workers, n_jobs)
        #: How many jobs have carried each data set.
        self._carried: Counter[str] = Counter()
        self._executor = executor
        self._replacement: futures.Executor | None = None

    def _submit_with(self, sent: PendingJob, file: worker.RowsFile) -> Any:
        try:
            return self._executor.submit(worker.train, sent.rows, file, sent.job, self._n_jobs)
        except futures.BrokenExecutor as error:
            self._recover(error, sent.rows)
            return self._executor.submit(worker.train, sent.rows, file, sent.job, self._n_jobs)

    def _submit(self, sent: PendingJob) -> Any:
        carry = sent.misses > 1 or (sent.misses == 1 and self._carried[sent.rows] < self._workers)
        self._carried[sent.rows] += carry
        packed = self._packed[sent.rows] if carry else None
        try:
            return self._executor.submit(worker.train, sent.rows, packed, sent.job, self._n_jobs)
        except futures.BrokenExecutor as error:
            self._recover(error, sent.rows)
            return self._executor.submit(worker.train, sent.rows, packed, sent.job, self._n_jobs)

    def _done(self, pending: list[Any]) -> list[Any]:
        return list(futures.wait(pending, POLL_SECONDS, futures.FIRST_COMPLETED).done)

    def _recover(self, error: BaseException, rows: str) -> None:
        """A process pool is broken when one of its processes is: another pool replaces it."""
        if not isinstance(error, futures.BrokenExecutor) or not _is_broken(self._executor):
            return
        if self._replacement is not None:
            self._replacement.shutdown(wait=False)
        if isinstance(self._executor, futures.ProcessPoolExecutor):
            names = {"mp_context": None, "initializer": None, "initargs": ()}
            known: dict[str, Any] = {name: getattr(self._executor, f"_{name}", none) for name, none in names.items()}
            self._replacement = futures.ProcessPoolExecutor(self._workers, **known)
        else:
            warnings.warn(
                "the executor is broken: the remaining jobs are trained in this process", RuntimeWarning, stacklevel=2
            )
            self._replacement = futures.ThreadPoolExecutor(1)
        self._executor = self._replacement
        self._carried.clear()

    def stop(self) -> None:
        super().stop()
        if self._replacement is not None:
            self._replacement.shutdown(wait=False, cancel_futures=True)


class DaskExchange(Exchange):
    """A client of Dask: rows are scattered to all workers."""

    def __init__(self, client: Any, n_jobs: int | None) -> None:
        super().__init__(sum(client.nthreads().values()), n_jobs)
        self._client = client

    def _scatter(self, packed: bytes) -> Any:
        return self._client.scatter(packed, broadcast=True, hash=False)

    def _submit_with(self, sent: PendingJob, file: worker.RowsFile) -> Any:
        return self._client.submit(worker.train, sent.rows, file, sent.job, self._n_jobs, pure=False)

    def _submit(self, sent: PendingJob) -> Any:
        packed = self._scattered[sent.rows]
        return self._client.submit(worker.train, sent.rows, packed, sent.job, self._n_jobs, pure=False)

    def _done(self, pending: list[Any]) -> list[Any]:
        from distributed import wait

        # Before Python 3.11 a timeout is asyncio.TimeoutError.
        with suppress(TimeoutError, asyncio.TimeoutError, asyncio.CancelledError, futures.CancelledError):
            wait(pending, timeout=POLL_SECONDS, return_when="FIRST_COMPLETED")
        return [future for future in pending if future.done()]

    def _recover(self, error: BaseException, rows: str) -> None:
        # The workers that had the rows may have died.
        self._scattered.pop(rows, None)

    def stop(self) -> None:
        super().stop()
        self._scattered.clear()


class RayExchange(Exchange):
    """Ray: rows are put into its object store, and a worker gets them once."""

    def __init__(self, ray: Any, n_jobs: int | None) -> None:
        if not ray.is_initialized():
            ray.init()
        super().__init__(int(ray.cluster_resources().get("CPU", 1)), n_jobs)
        self._ray = ray
        self._train = ray.remote(max_retries=0)(_train_on_ray)

    def _scatter(self, packed: bytes) -> Any:
        return self._ray.put(packed)

    def _submit_with(self, sent: PendingJob, file: worker.RowsFile) -> Any:
        return self._train.remote(sent.rows, file, sent.job, self._n_jobs)

    def _submit(self, sent: PendingJob) -> Any:
        # Inside a list, Ray passes the reference and not the object.
        return self._train.remote(sent.rows, [self._scattered[sent.rows]], sent.job, self._n_jobs)

    def _done(self, pending: list[Any]) -> list[Any]:
        done: list[Any] = self._ray.wait(pending, num_returns=1, timeout=POLL_SECONDS)[0]
        return done

    def _result(self, future: Any) -> bytes | None:
        try:
            trained: bytes = self._ray.get(future)
        except self._ray.exceptions.RayTaskError as error:
            raise error.cause if isinstance(error.cause, ValueError) else error
        return trained

    def _recover(self, error: BaseException, rows: str) -> None:
        self._scattered.pop(rows, None)

    def _cancel(self, future: Any) -> None:
        self._ray.cancel(future)


def _train_on_ray(rows: str, packed: list[Any] | worker.RowsFile, job: bytes, n_jobs: int | None) -> bytes | None:
    import ray

    if isinstance(packed, worker.RowsFile):
        return worker.train(rows, packed, job, n_jobs)
    return worker.train(rows, None if worker.has(rows) else ray.get(packed[0]), job, n_jobs)


def _is_broken(executor: Any) -> bool:
    try:
        executor.submit(int).cancel()
    except (futures.BrokenExecutor, RuntimeError):
        return True
    return False


@contextmanager
def exchange_with(executor: Any, n_jobs: int | None) -> Iterator[Exchange | None]:
    """The exchange with an executor of ``concurrent.futures``, a client of Dask, or the module ``ray``, perhaps with a shared
    folder; None of None."""
    if isinstance(executor, SharedFolder):
        exchange = _exchange(executor.executor, n_jobs)
        if exchange is not None:
            exchange.folder = Path(executor.folder)
            if not exchange.folder.is_dir():
                raise ValueError(f"the shared folder {str(exchange.folder)!r} does not exist")
            leftovers.clear(exchange.folder, r"\.negmm-rows-.*-", r"(\.part)?")
    else:
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
        return FuturesExchange(executor, n_jobs)
    if getattr(executor, "__name__", None) == "ray":
        return RayExchange(executor, n_jobs)
    if all(hasattr(executor, name) for name in ("scatter", "submit", "nthreads")):
        return DaskExchange(executor, n_jobs)
    expected = "an executor of concurrent.futures, a client of Dask, or the module ray"
    raise TypeError(f"executor must be {expected}, found {type(executor).__name__}")
