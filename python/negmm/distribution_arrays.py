"""The arrays that define distributions: made from arrays, joined, moved, compared and pickled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from negmm import _native

Numbers = NDArray[np.float64]
Self = TypeVar("Self", bound="DistributionArrays")


class DistributionArrays:
    """What a :class:`negmm.Distribution` consists of."""

    _predictions: _native.Predictions
    _index: Any
    _scalar: bool
    _n_jobs: int | None

    # Of the distribution itself.
    __init__: Any
    _rows: Any
    _threads: Any
    means: Any
    samples: Any
    shape: tuple[int, ...]
    support: Any
    var_parts: Any
    weights: Any

    @classmethod
    def of_mixtures(
        cls: type[Self],
        weights: ArrayLike,
        means: ArrayLike,
        sds: ArrayLike,
        lower: float | None = None,
        upper: float | None = None,
        step: float | None = None,
        origin: float = 0.0,
    ) -> Self:
        """Gaussian mixtures from weights, means and sds, each rows × components. Weights are divided by their sum.

        With ``lower`` or ``upper`` they are those between the bounds, with ``step`` those rounded to the grid of
        ``origin`` and all values a whole number of steps from it.
        """
        mixtures = _native.Predictions.of_mixtures(_matrix(weights), _matrix(means), _matrix(sds), members=[])
        return cls(mixtures.with_support(lower, upper, step, origin))

    @classmethod
    def of_samples(cls: type[Self], samples: ArrayLike) -> Self:
        """Sets of equally likely values, rows × samples."""
        least_sd = float(np.finfo(np.float64).tiny)
        return cls(_native.Predictions.of_samples(_matrix(samples), least_sd, 1, None))

    @classmethod
    def of_quantiles(cls: type[Self], levels: ArrayLike, quantiles: ArrayLike) -> Self:
        """Quantiles, rows × levels: the cdf is linear between them, and normal beyond the outer ones (levels 0 and 1
        end it). Crossing quantiles are sorted.

        >>> from negmm import Distribution
        >>> Distribution.of_quantiles([0.1, 0.5, 0.9], [[-1.0, 0.0, 2.0]]).ppf(0.7).round(3)
        array([1.])
        """
        numbers = np.asarray(levels, dtype=np.float64).ravel().tolist()
        return cls(_native.Predictions.of_quantiles(numbers, _matrix(quantiles)))

    @classmethod
    def of_histograms(cls: type[Self], edges: ArrayLike, probabilities: ArrayLike) -> Self:
        """Histograms: the edges of the bins, and the probability of each, rows × bins, divided by their sum."""
        numbers = np.asarray(edges, dtype=np.float64).ravel().tolist()
        return cls(_native.Predictions.of_histograms(numbers, _matrix(probabilities)))

    @classmethod
    def of_family(cls: type[Self], name: str, **parameters: ArrayLike) -> Self:
        """A parametric family whose parameters are numbers or arrays of rows: ``normal``, ``student_t``, ``logistic``,
        ``laplace``, ``gumbel`` (``loc``, ``scale``; ``df``), ``uniform`` (``min``, ``max``), ``exponential`` (``rate``),
        ``gamma`` (``shape``, ``rate`` or ``scale``), ``lognormal`` (``mulog``, ``sigmalog``), ``weibull`` (``shape``,
        ``scale``), ``beta`` (``a``, ``b``, ``lower``, ``upper``), ``poisson`` (``mean``), ``negative_binomial`` (``n``,
        ``prob`` or ``mu``).

        >>> from negmm import Distribution
        >>> Distribution.of_family("gamma", shape=[2.0, 3.0], rate=1.0).mean()
        array([2., 3.])
        """
        columns = [np.asarray(value, dtype=np.float64).ravel() for value in parameters.values()]
        rows = np.column_stack(np.broadcast_arrays(*columns)) if columns else np.empty((1, 0))
        return cls(_native.Predictions.of_family(name, list(parameters), np.ascontiguousarray(rows)))

    @classmethod
    def concat(cls: type[Self], parts: Sequence[Any]) -> Self:
        """The rows of several distributions one after the other; all mixtures or all samples, on one support and of as
        many members. Members with fewer components are padded with components of weight 0. ``np.concatenate`` also
        takes parts that differ (see :func:`negmm.composite.concatenated`)."""
        rows = [part._rows() for part in parts]
        if not cls._are_alike(parts):
            raise ValueError(
                "expected distributions of one kind: all mixtures or as many samples each, on one support and of as "
                "many members; np.concatenate also takes others"
            )
        members, samples_each = rows[0]._predictions.members, rows[0]._predictions.sample_count
        if samples_each is not None:
            floor = max(part._parts()[1] for part in rows)
            samples = np.concatenate([part.samples for part in rows])
            between = np.concatenate([part.var_parts()[1] for part in rows]) if members > 1 else None
            predictions = _native.Predictions.of_samples(samples, floor, members, between)
        else:
            each = [part._predictions.member_sizes or [part.means.shape[1]] for part in rows]
            sizes = [max(of_member) for of_member in zip(*each, strict=True)]
            weights, means, sds = (
                np.concatenate(
                    [_padded(getattr(part, name), own, sizes, filler) for part, own in zip(rows, each, strict=True)]
                )
                for name, filler in (("weights", 0.0), ("means", 0.0), ("sds", 1.0))
            )
            predictions = _native.Predictions.of_mixtures(weights, means, sds, sizes if members > 1 else [])
        indices = [part._index for part in rows]
        index = indices[0].append(indices[1:]) if all(index is not None for index in indices) else None
        return cls(predictions.with_support(*rows[0]._predictions.support()), index, rows[0]._n_jobs)

    @staticmethod
    def _are_alike(parts: Sequence[Any]) -> bool:
        """Whether all are of one kind, on one support and of as many members."""
        own = [part._predictions for part in parts]
        return len({(part.support(), part.sample_count, part.components is None, part.members) for part in own}) == 1

    @classmethod
    def pool(cls: type[Self], parts: Sequence[Any], weights: ArrayLike | None = None) -> Self:
        """The mixture of the predictions of several models for the same rows, each with a weight (equal ones by
        default). The models are its members: :meth:`var_parts` has the variance between them.

        >>> from negmm import Distribution
        >>> one, two = (Distribution.of_mixtures([[1.0]], [[mean]], [[1.0]]) for mean in (0.0, 2.0))
        >>> Distribution.pool([one, two]).var_parts()
        (array([1.]), array([1.]))
        """
        rows = [part._rows() for part in parts]
        supports = {part._predictions.support() for part in rows}
        if not rows or len({len(part) for part in rows}) != 1:
            raise ValueError("expected distributions of as many rows each")
        if len(supports) != 1 or any(part._predictions.components is None for part in rows):
            raise ValueError("expected mixtures on one support; negmm.composite.pooled also takes others")
        shares = np.ones(len(rows)) if weights is None else np.asarray(weights, dtype=np.float64)
        shares = shares / shares.sum()
        sizes = [part.means.shape[1] for part in rows]
        all_weights = [share * part.weights for share, part in zip(shares, rows, strict=True)]
        means, sds = ([getattr(part, name) for part in rows] for name in ("means", "sds"))
        arrays = (np.concatenate(arrays, axis=1) for arrays in (all_weights, means, sds))
        predictions = _native.Predictions.of_mixtures(*arrays, sizes if len(sizes) > 1 else [])
        return cls(predictions.with_support(*supports.pop()), rows[0]._index, rows[0]._n_jobs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """``np.concatenate`` of distributions, which functions such as ``cross_val_predict`` call."""
        from negmm.composite import concatenated

        if function is np.concatenate and len(args) == 1 and kwargs.get("axis", 0) == 0:
            return concatenated(list(args[0]))
        return NotImplemented

    def rescaled(self: Self, shift: float, scale: float) -> Self:
        """The distributions of ``shift + scale · value``, exactly."""
        first, second, third, fourth, (lower, upper, step, origin) = self._parts()
        ends = [None if end is None else shift + scale * end for end in (lower, upper)]
        lower, upper = ends if scale > 0 else reversed(ends)
        if self._predictions.components is None:
            moved = np.sort(shift + scale * first, axis=1)
            between = None if fourth is None else scale**2 * fourth
            predictions = _native.Predictions.of_samples(moved, abs(scale) * second, third, between)
        else:
            predictions = _native.Predictions.of_mixtures(first, shift + scale * second, abs(scale) * third, fourth)
        step = None if step is None else abs(scale) * step
        other = type(self)(
            predictions.with_support(lower, upper, step, shift + scale * origin), self._index, self._n_jobs
        )
        other._scalar = self._scalar
        return other

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DistributionArrays):
            return NotImplemented
        mine, theirs = self._parts(), other._parts()
        same = len(mine) == len(theirs) and self.shape == other.shape
        return same and all(np.array_equal(a, b) for a, b in zip(mine, theirs, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def _parts(self) -> tuple[Any, ...]:
        """The arrays that define the distributions: of mixtures, or of samples."""
        members, samples = self._predictions.members, self._predictions.samples()
        support = self._predictions.support()
        quantiles, families = self._predictions.quantile_parts(), self._predictions.family_parts()
        if quantiles is not None:
            return ("quantiles", *quantiles, None, support)
        if families is not None:
            return ("families", np.array(families[0]), families[1], None, support)
        if samples is None:
            sizes = self._predictions.member_sizes
            return (self._predictions.weights(), self._predictions.means(), self._predictions.sds(), sizes, support)
        between = self._predictions.variance_by_members(threads=self._threads())[1] if members > 1 else None
        return (*samples, members, between, support)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_predictions": self._parts()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        first, second, third, fourth, *rest = state["_predictions"]
        if isinstance(first, str):
            self.__dict__.update(state, _predictions=_of_named_parts(first, second, third))
            return
        mixtures = isinstance(second, np.ndarray)
        if mixtures and isinstance(fourth, int):
            # Earlier versions stored the number of members, each with as many components.
            fourth = [second.shape[1] // fourth] * fourth if fourth > 1 else []
        # Earlier versions stored no support.
        support = rest[0] if rest else (None, None, None, 0.0)
        make = _native.Predictions.of_mixtures if mixtures else _native.Predictions.of_samples
        self.__dict__.update(state, _predictions=make(first, second, third, fourth).with_support(*support))


def _padded(part: Numbers, own: Sequence[int], sizes: Sequence[int], filler: float) -> Numbers:
    """With as many columns for each member as ``sizes``."""
    blocks = np.split(part, np.cumsum(own)[:-1], axis=1)
    missing = (size - block.shape[1] for size, block in zip(sizes, blocks, strict=True))
    return np.concatenate(
        [
            np.pad(block, ((0, 0), (0, more)), constant_values=filler)
            for block, more in zip(blocks, missing, strict=True)
        ],
        axis=1,
    )


def _of_named_parts(kind: str, first: Any, second: Numbers) -> _native.Predictions:
    """Quantiles or families from the arrays that define them."""
    if kind == "families":
        return _native.Predictions.of_family_parts(first.tolist(), second)
    if (first == first[:1]).all():
        return _native.Predictions.of_quantiles(first[0].tolist(), second)
    return _native.Predictions.of_histograms(second[0].tolist(), np.ascontiguousarray(np.diff(first, axis=1)))


def _matrix(numbers: ArrayLike) -> Numbers:
    part = np.asarray(numbers, dtype=np.float64)
    if part.ndim != 2:
        raise ValueError(f"expected weights, means and sds of shape rows × components, found {part.ndim} dimensions")
    return part
