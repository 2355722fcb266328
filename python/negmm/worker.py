"""Training on a worker: jobs come and go as bytes, and the rows of a data set are unpacked once."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
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


@dataclass(frozen=True)
class RowsFile:
    """A file of packed rows in a folder that workers share, and the hash of its bytes."""

    path: str
    digest: str

    @classmethod
    def write(cls, path: Path, packed: bytes) -> RowsFile:
        """Writes the file completely or not at all."""
        part = path.with_name(path.name + ".part")
        try:
            part.write_bytes(packed)
            part.replace(path)
        except OSError:
            part.unlink(missing_ok=True)
            raise
        return cls(str(path), _digest(packed))

    def read(self) -> bytes | None:
        """The packed rows; None where this process cannot read the file, or it has others."""
        try:
            packed = Path(self.path).read_bytes()
        except OSError:
            return None
        return packed if _digest(packed) == self.digest else None


def _digest(packed: bytes) -> str:
    return hashlib.blake2b(packed, digest_size=16).hexdigest()


def train(name: str, packed: bytes | RowsFile | None, job: bytes, n_jobs: int | None) -> bytes | None:
    """Trains a job on the rows of that name; None where they are neither cached nor in ``packed``, which has them or is
    a file that does."""
    with _lock:
        if name not in _cache:
            if isinstance(packed, RowsFile):
                packed = packed.read()
            if packed is None:
                return None
            _cache[name] = _native.Rows.from_bytes(packed)
            while len(_cache) > MAX_DATASETS:
                _cache.popitem(last=False)
        _cache.move_to_end(name)
        rows = _cache[name]
    return _native.train(rows, job, threads=threads_of(n_jobs))
