"""Training on a worker: a job and its result are bytes; the rows of a fit are unpacked once."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock

from negmm import _native
from negmm.threads import threads_of

#: Sets of rows that a process keeps.
MOST_ROWS = 4

_kept: OrderedDict[str, _native.Rows] = OrderedDict()
_lock = Lock()


def has(name: str) -> bool:
    """Whether the rows of that name are here."""
    with _lock:
        return name in _kept


def train(name: str, packed: bytes | None, job: bytes, n_jobs: int | None) -> bytes | None:
    """Trains a job on the rows of that name; None where they are neither here nor in ``packed``."""
    with _lock:
        if name not in _kept:
            if packed is None:
                return None
            _kept[name] = _native.Rows.from_bytes(packed)
            while len(_kept) > MOST_ROWS:
                _kept.popitem(last=False)
        _kept.move_to_end(name)
        rows = _kept[name]
    return _native.train(rows, job, threads=threads_of(n_jobs))
