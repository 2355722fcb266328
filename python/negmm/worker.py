"""Training on a worker: jobs come and go as bytes, and the rows of a data set are unpacked once."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock

from negmm import _native
from negmm.threads import threads_of

#: Data sets that a process caches.
MAX_DATASETS = 4

_cache: OrderedDict[str, _native.Rows] = OrderedDict()
_lock = Lock()


def has(name: str) -> bool:
    """Whether the rows of that name are in the cache."""
    with _lock:
        return name in _cache


def train(name: str, packed: bytes | None, job: bytes, n_jobs: int | None) -> bytes | None:
    """Trains a job on the rows of that name; None where they are neither cached nor in ``packed``."""
    with _lock:
        if name not in _cache:
            if packed is None:
                return None
            _cache[name] = _native.Rows.from_bytes(packed)
            while len(_cache) > MAX_DATASETS:
                _cache.popitem(last=False)
        _cache.move_to_end(name)
        rows = _cache[name]
    return _native.train(rows, job, threads=threads_of(n_jobs))
