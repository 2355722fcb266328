"""Distributions of other libraries as distributions of negmm."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import norm

from negmm.distribution import Distribution

Numbers = NDArray[np.float64]

#: Levels at which a distribution without a closed form is asked for its quantiles.
LEVELS = np.concatenate([[1e-4, 1e-3], np.arange(1, 200) / 200, [1 - 1e-3, 1 - 1e-4]])

#: Levels of half-normal tails between which their density is taken as constant.
TAIL_LEVELS = np.array([0.0, 0.2, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.999, 0.9999, 1 - 1e-6])

#: SciPy's families: our name and the names of the shape parameters, as ours are called.
SCIPY = {
    "norm": ("normal", ()),
    "t": ("student_t", ("df",)),
    "logistic": ("logistic", ()),
    "laplace": ("laplace", ()),
    "gumbel_r": ("gumbel", ()),
    "poisson": ("poisson", ("mean",)),
    "nbinom": ("negative_binomial", ("n", "prob")),
}

#: torch.distributions: our name, and our parameters by the names of theirs.
TORCH = {
    "Normal": ("normal", {"loc": "loc", "scale": "scale"}),
    "StudentT": ("student_t", {"df": "df", "loc": "loc", "scale": "scale"}),
    "Laplace": ("laplace", {"loc": "loc", "scale": "scale"}),
    "Gumbel": ("gumbel", {"loc": "loc", "scale": "scale"}),
    "Uniform": ("uniform", {"min": "low", "max": "high"}),
    "Exponential": ("exponential", {"rate": "rate"}),
    "Gamma": ("gamma", {"shape": "concentration", "rate": "rate"}),
    "LogNormal": ("lognormal", {"mulog": "loc", "sigmalog": "scale"}),
    "Weibull": ("weibull", {"shape": "concentration", "scale": "scale"}),
    "Beta": ("beta", {"a": "concentration1", "b": "concentration0"}),
    "Poisson": ("poisson", {"mean": "rate"}),
}


def as_distribution(
    *, dist: Any = None, quantiles: Any = None, levels: ArrayLike | None = None, samples: Any = None
) -> Distribution:
    """The distributions given in one of these forms."""
    given = [
        name for name, form in (("dist", dist), ("quantiles", quantiles), ("samples", samples)) if form is not None
    ]
    if len(given) != 1:
        raise ValueError(f"expected one of dist, quantiles and samples, found {' and '.join(given) or 'none'}")
    if quantiles is not None:
        return of_quantiles(quantiles, levels)
    if samples is not None:
        return Distribution.of_samples(matrix(samples, "samples"))
    return of_object(dist)


def of_quantiles(quantiles: Any, levels: ArrayLike | None = None) -> Distribution:
    """Quantiles, rows × levels; of a frame without ``levels`` its columns are the levels."""
    names = column_names(quantiles)
    if levels is None:
        if names is None:
            raise ValueError("quantiles need levels, or a frame whose columns are levels such as q0.05")
        levels = [_level(name) for name in names]
    values, order = matrix(quantiles, "quantiles"), np.argsort(np.asarray(levels, dtype=np.float64), kind="stable")
    sorted_levels = np.asarray(levels, dtype=np.float64)[order]
    if values.shape[1] != len(sorted_levels):
        raise ValueError(f"expected {len(sorted_levels)} columns of quantiles, found {values.shape[1]}")
    dist = Distribution.of_quantiles(sorted_levels, values[:, order])
    crossing = dist._predictions.crossing
    if crossing:
        rows = "1 row has" if crossing == 1 else f"{crossing:,} rows have"
        warnings.warn(f"{rows} crossing quantiles, which were sorted (rearranged)", stacklevel=4)
    return dist


def of_object(dist: Any) -> Distribution:
    """A distribution object of another library."""
    if isinstance(dist, Distribution):
        return dist
    if isinstance(dist, Mapping):
        return _of_tabpfn(dist)
    module = type(dist).__module__
    if module.startswith("torch."):
        return _of_torch(dist)
    inner = getattr(dist, "dist", None)
    if hasattr(inner, "dist") and hasattr(inner, "kwds"):
        return _of_scipy(inner)  # ngboost keeps a frozen distribution of SciPy, whose attributes it has too
    if hasattr(dist, "dist") and hasattr(dist, "args") and hasattr(dist, "kwds"):
        return _of_scipy(dist)
    if hasattr(dist, "quantile") and hasattr(dist, "shape"):  # skpro
        return Distribution.of_quantiles(LEVELS, matrix(dist.quantile(list(LEVELS)), "quantiles"))
    if callable(getattr(dist, "ppf", None)):
        return _by_ppf(dist)
    raise TypeError(
        f"expected a distribution of negmm, SciPy, ngboost, skpro, torch or TabPFN, found {type(dist).__qualname__}"
    )


def _of_scipy(frozen: Any) -> Distribution:
    """A frozen distribution of SciPy, in closed form where its family has one here, else by its quantiles."""
    name = frozen.dist.name
    shapes, loc, scale = _scipy_parameters(frozen)
    if name in SCIPY:
        ours, names = SCIPY[name]
        parameters = dict(zip(names, shapes))
        if ours in ("poisson", "negative_binomial"):
            if np.any(np.asarray(loc) != 0):
                return _by_ppf(frozen)
        else:
            parameters |= {"loc": loc, "scale": scale}
        return Distribution.of_family(ours, **parameters)
    if name == "uniform":
        return Distribution.of_family("uniform", min=loc, max=np.asarray(loc) + scale)
    if name == "beta":
        return Distribution.of_family("beta", a=shapes[0], b=shapes[1], lower=loc, upper=np.asarray(loc) + scale)
    if np.all(np.asarray(loc) == 0):
        if name == "gamma":
            return Distribution.of_family("gamma", shape=shapes[0], scale=scale)
        if name == "expon":
            return Distribution.of_family("exponential", scale=scale)
        if name == "lognorm":
            return Distribution.of_family("lognormal", mulog=np.log(scale), sigmalog=shapes[0])
        if name == "weibull_min":
            return Distribution.of_family("weibull", shape=shapes[0], scale=scale)
    return _by_ppf(frozen)


def _scipy_parameters(frozen: Any) -> tuple[tuple[Any, ...], Any, Any]:
    parsed = frozen.dist._parse_args(*frozen.args, **frozen.kwds)
    return (parsed[0], parsed[1], parsed[2] if len(parsed) > 2 else 1.0)


def _by_ppf(dist: Any) -> Distribution:
    values = np.asarray(dist.ppf(LEVELS[:, np.newaxis]), dtype=np.float64)
    return Distribution.of_quantiles(LEVELS, np.atleast_2d(values.T))


def _of_torch(dist: Any) -> Distribution:
    name = type(dist).__name__
    if name == "MixtureSameFamily" and type(dist.component_distribution).__name__ == "Normal":
        normal = dist.component_distribution
        return Distribution.of_mixtures(
            _array(dist.mixture_distribution.probs), _array(normal.loc), _array(normal.scale)
        )
    if name == "NegativeBinomial":  # its probs are those of what is counted
        return Distribution.of_family("negative_binomial", n=_array(dist.total_count), prob=1 - _array(dist.probs))
    if name in TORCH:
        ours, names = TORCH[name]
        return Distribution.of_family(ours, **{own: _array(getattr(dist, theirs)) for own, theirs in names.items()})
    raise TypeError(f"torch's {name} has no closed form here: pass its samples, rows × samples, as samples=")


def _of_tabpfn(full: Mapping[str, Any]) -> Distribution:
    """TabPFN's dictionary: a histogram by its logits and borders, else its quantiles."""
    if "logits" in full and "criterion" in full:
        logits = _array(full["logits"])
        borders = _array(full["criterion"].borders)
        weights = np.exp(logits - logits.max(axis=1, keepdims=True))
        if "FullSupport" in type(full["criterion"]).__name__:
            borders, weights = _half_normal_ends(borders, weights)
        return Distribution.of_histograms(borders, weights)
    if "quantiles" in full:
        quantiles = np.column_stack([_array(quantile) for quantile in full["quantiles"]])
        levels = np.arange(1, quantiles.shape[1] + 1) / (quantiles.shape[1] + 1)
        return Distribution.of_quantiles(levels, quantiles)
    raise ValueError("expected a dictionary of TabPFN with logits and criterion, or with quantiles")


def _half_normal_ends(borders: Numbers, weights: Numbers) -> tuple[Numbers, Numbers]:
    """The histogram whose first and last bar are half-normal outwards, with half of the bar's probability within its
    width (TabPFN's full support), as bars between the levels ``TAIL_LEVELS``."""
    z = norm.ppf(0.5 + 0.5 * TAIL_LEVELS) / norm.ppf(0.75)
    parts = np.diff(np.append(TAIL_LEVELS[:-1], 1.0))
    low = borders[1] - (borders[1] - borders[0]) * z[::-1]
    high = borders[-2] + (borders[-1] - borders[-2]) * z
    return (
        np.concatenate([low[:-1], borders[1:-1], high[1:]]),
        np.concatenate([weights[:, :1] * parts[::-1], weights[:, 1:-1], weights[:, -1:] * parts], axis=1),
    )


def _array(value: Any) -> Numbers:
    value = value.detach().cpu() if hasattr(value, "detach") else value
    return np.asarray(value, dtype=np.float64)


def column_names(table: Any) -> list[Any] | None:
    """The names of the columns of a frame or an Arrow table."""
    names = getattr(table, "column_names", None)
    if names is None:
        names = getattr(table, "columns", None)
    return None if names is None else list(names)


def matrix(table: Any, what: str) -> Numbers:
    """A frame, an Arrow table or an array as a matrix."""
    if hasattr(table, "column_names") and hasattr(table, "column"):
        table = np.column_stack([np.asarray(table.column(name)) for name in table.column_names])
    values = np.ascontiguousarray(table, dtype=np.float64)
    if values.ndim != 2:
        raise ValueError(f"expected {what} of shape rows × columns, found {values.ndim} dimensions")
    return values


def _level(name: Any) -> float:
    text = str(name[-1] if isinstance(name, tuple) else name)
    for prefix in ("quantile_", "quantile", "q_", "q"):
        text = text.removeprefix(prefix)
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"expected columns that are levels of quantiles, such as q0.05, found {name!r}") from None
