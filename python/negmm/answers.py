"""Answers about distributions by the names that explanations have for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]

#: Answers without a number in their name.
PLAIN: dict[str, Callable[[Any], Any]] = {
    "mean": lambda dist: dist.mean(),
    "sd": lambda dist: dist.std(),
    "variance_aleatoric": lambda dist: dist.var_parts()[0],
    "variance_epistemic": lambda dist: dist.var_parts()[1],
    "aleatoric": lambda dist: np.sqrt(dist.var_parts()[0]),
    "epistemic": lambda dist: np.sqrt(dist.var_parts()[1]),
    "entropy": lambda dist: dist.entropy(),
}
#: Scores of the target.
SCORES: dict[str, Callable[[Any, Numbers], Any]] = {
    "crps": lambda dist, y: dist.crps(y),
    "nll": lambda dist, y: dist.nll(y),
}
#: Answers whose name ends with a number.
NUMBERED: dict[str, Callable[[Any, float], Any]] = {
    "width_": lambda dist, coverage: np.subtract(*dist.interval(coverage)[::-1]),
    "lower_": lambda dist, coverage: dist.interval(coverage)[0],
    "upper_": lambda dist, coverage: dist.interval(coverage)[1],
    "p_above_": lambda dist, value: dist.sf(value),
    # Strictly below.
    "p_below_": lambda dist, value: dist.cdf(np.nextafter(value, -np.inf)),
    "p_equal_": lambda dist, value: dist.pmf(value),
    "shortfall_": lambda dist, level: dist.shortfall(level),
    "q": lambda dist, level: dist.ppf(level),
}


def names_of(of: str | list[str] | tuple[str, ...]) -> list[str]:
    """The names of the answers, one or a list of them, also with commas between them."""
    names = [part.strip() for one in ([of] if isinstance(of, str) else of) for part in str(one).split(",")]
    if not names:
        raise ValueError("there is no answer to explain")
    return names


def needs_target(name: str) -> bool:
    """Whether the answer is a score of the row's target."""
    return name in SCORES


def answers_of(dist: Any, names: list[str], y: Numbers | None = None) -> Numbers:
    """The answers about each row: rows × answers."""
    return np.column_stack([np.asarray(_answer(dist, name, y), dtype=np.float64) for name in names])


def _answer(dist: Any, name: str, y: Numbers | None) -> Any:
    try:
        if name in PLAIN:
            return PLAIN[name](dist)
        if name in SCORES:
            if y is None:
                raise ValueError(f"the answer {name} needs the target of each row: pass y")
            return SCORES[name](dist, y)
        if name.startswith("region_") and name.endswith("_length"):
            coverage = float(name[len("region_") : -len("_length")])
            return np.array([float(np.sum(region[:, 1] - region[:, 0])) for region in dist.hdr(coverage)])
        for prefix, answer in NUMBERED.items():
            if name.startswith(prefix):
                return answer(dist, _number(name, name[len(prefix) :]))
    except AttributeError as error:
        kind = type(dist).__name__
        raise ValueError(f"the answer {name} is not available for distributions of type {kind} ({error})") from None
    known = [*PLAIN, *SCORES, "q0.95", "lower_0.9", "upper_0.9", "width_0.9", "region_0.9_length", "p_above_50"]
    raise ValueError(f"there is no answer {name!r} here; there are {', '.join(known)} and the like")


def _number(name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"the answer {name!r} needs a number where it has {text!r}") from None
