"""Random seeds: from ``random_state`` to the library's seed."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils import check_random_state


def seed_of(random_state: Any) -> int:
    """The library's seed. A number is used as it is, so that ``--seed`` on the command line gives the same model."""
    if isinstance(random_state, Integral):
        seed = int(random_state)
        if not 0 <= seed < 2**64:
            raise ValueError(f"random_state must be from 0 to 2**64 - 1, found {seed}")
        return seed
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**63))
    return int(check_random_state(random_state).randint(2**31))
