"""Numbers of threads: ``n_jobs``, within the limits that joblib, Dask, Ray and loky set for this process."""

from __future__ import annotations

import os

from joblib import cpu_count
from joblib.parallel import get_active_backend

#: Backends of joblib whose workers are threads or processes on this machine.
LOCAL = ("LokyBackend", "ThreadingBackend", "MultiprocessingBackend")
#: The limit of OpenMP. As OpenMP does, it is read once: a local cluster of Dask sets it later, for its workers.
LIMIT = int(_limit) if (_limit := os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()).isdigit() else 0


def threads_of(n_jobs: int | None) -> int:
    """The threads that ``n_jobs`` means: None is 1, or that of ``joblib.parallel_config``; -1 all cores that this
    process may use, -2 all but one. Within joblib's own workers it is as joblib nests: 1 below the second level.

    >>> threads_of(3), threads_of(None)
    (3, 1)
    """
    if n_jobs == 0:
        raise ValueError("n_jobs must be a number other than 0, found 0")
    backend, configured = get_active_backend()
    if type(backend).__name__ == "SequentialBackend":
        return 1
    if n_jobs is None:
        # The ``n_jobs`` of a cluster backend is no number of threads of this process.
        n_jobs = configured if type(backend).__name__ in LOCAL and configured is not None else 1
    return n_jobs if n_jobs > 0 else max(cores() + 1 + n_jobs, 1)


def cores() -> int:
    """Cores that this process may use: as joblib counts them, and no more than ``OMP_NUM_THREADS`` at the start, which
    loky, Dask, Ray and Spark set for their workers."""
    counted = int(cpu_count())
    return min(counted, LIMIT) if LIMIT else counted
