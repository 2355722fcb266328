"""Predicted distributions, one for each row, with the interface of SciPy's frozen distributions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from negmm import _native, plots
from negmm.by_quantiles import summary_frame
from negmm.html_repr import html_table
from negmm.plotting import plot_row
from negmm.seed import seed_of
from negmm.threads import threads_of

Numbers = NDArray[np.float64]
#: An array with a number for each row (and more dimensions where arguments have more), or a number where the
#: distribution is that of one row.
RowValues = Any


class Distribution:
    """Predicted distributions, one for each row: Gaussian mixtures, or sets of equally likely samples.

    Named like a frozen distribution of SciPy with array parameters: an argument of shape (rows,) is taken row by row,
    a number holds for every row, and shapes broadcast: ``dist.pdf(grid[:, np.newaxis])`` is grid × rows. ``dist[i]`` is
    the distribution of one row (its results are numbers), ``dist[2:5]``, ``dist[mask]`` and ``dist[rows]`` those of
    some.

    A component whose sd is 0 is an atom: it has all its weight at its mean. Where the target has bounds or is on a
    grid, everything is computed for the distribution truncated to the bounds, or rounded to the grid (see
    :meth:`support` and :meth:`pmf`).

    Results are exact and computed by the native library. A set of samples has no density: for ``pdf``, ``logpdf`` and
    ``nll`` the normal distribution with the same mean and sd is used instead.

    Parameters
    ----------
    predictions : native predictions
        What a model predicts; :meth:`of_mixtures` makes them from arrays.
    index : pandas index, optional
        Names of the rows, for :meth:`to_pandas`.
    n_jobs : int, optional
        Threads of the computations, as for estimators: None is 1, or that of ``joblib.parallel_config``.

    Examples
    --------
    >>> from negmm import Distribution
    >>> weights, means = [[0.5, 0.5], [0.9, 0.1]], [[-3, 3], [0, 10]]
    >>> dist = Distribution.of_mixtures(weights=weights, means=means, sds=[[1, 1], [1, 2]])
    >>> dist
    <Distribution of 2 rows: mixture of 2 Gaussians>
    >>> dist.mean()
    array([0., 1.])
    >>> dist.cdf(0).round(3)
    array([0.5 , 0.45])
    >>> lower, upper = dist[1].interval(0.8)
    >>> round(float(dist[1].cdf(upper)), 6)
    0.9
    """

    #: Pickles of earlier versions have none.
    _n_jobs: int | None = None

    def __init__(self, predictions: _native.Predictions, index: Any = None, n_jobs: int | None = None) -> None:
        self._predictions = predictions
        self._index = index
        self._scalar = False
        self._n_jobs = n_jobs

    @classmethod
    def of_mixtures(
        cls,
        weights: ArrayLike,
        means: ArrayLike,
        sds: ArrayLike,
        lower: float | None = None,
        upper: float | None = None,
        step: float | None = None,
        origin: float = 0.0,
    ) -> Distribution:
        """Gaussian mixtures from weights, means and sds, each rows × components. Weights are divided by their sum.

        With ``lower`` or ``upper`` they are those between the bounds, with ``step`` those rounded to the grid of
        ``origin`` and all values a whole number of steps from it.
        """
        mixtures = _native.Predictions.of_mixtures(_matrix(weights), _matrix(means), _matrix(sds), members=[])
        return cls(mixtures.with_support(lower, upper, step, origin))

    @classmethod
    def of_samples(cls, samples: ArrayLike) -> Distribution:
        """Sets of equally likely values, rows × samples."""
        least_sd = float(np.finfo(np.float64).tiny)
        return cls(_native.Predictions.of_samples(_matrix(samples), least_sd, 1, None))

    @classmethod
    def of_quantiles(cls, levels: ArrayLike, quantiles: ArrayLike) -> Distribution:
        """Quantiles, rows × levels: the cdf is linear between them, and normal beyond the outer ones (levels 0 and 1
        end it). Crossing quantiles are sorted.

        >>> Distribution.of_quantiles([0.1, 0.5, 0.9], [[-1.0, 0.0, 2.0]]).ppf(0.7).round(3)
        array([1.])
        """
        numbers = np.asarray(levels, dtype=np.float64).ravel().tolist()
        return cls(_native.Predictions.of_quantiles(numbers, _matrix(quantiles)))

    @classmethod
    def of_histograms(cls, edges: ArrayLike, probabilities: ArrayLike) -> Distribution:
        """Histograms: the edges of the bins, and the probability of each, rows × bins, divided by their sum."""
        numbers = np.asarray(edges, dtype=np.float64).ravel().tolist()
        return cls(_native.Predictions.of_histograms(numbers, _matrix(probabilities)))

    @classmethod
    def of_family(cls, name: str, **parameters: ArrayLike) -> Distribution:
        """A parametric family whose parameters are numbers or arrays of rows: ``normal``, ``student_t``, ``logistic``,
        ``laplace``, ``gumbel`` (``loc``, ``scale``; ``df``), ``uniform`` (``min``, ``max``), ``exponential`` (``rate``),
        ``gamma`` (``shape``, ``rate`` or ``scale``), ``lognormal`` (``mulog``, ``sigmalog``), ``weibull`` (``shape``,
        ``scale``), ``beta`` (``a``, ``b``, ``lower``, ``upper``), ``poisson`` (``mean``), ``negative_binomial`` (``n``,
        ``prob`` or ``mu``).

        >>> Distribution.of_family("gamma", shape=[2.0, 3.0], rate=1.0).mean()
        array([2., 3.])
        """
        columns = [np.asarray(value, dtype=np.float64).ravel() for value in parameters.values()]
        rows = np.column_stack(np.broadcast_arrays(*columns)) if columns else np.empty((1, 0))
        return cls(_native.Predictions.of_family(name, list(parameters), np.ascontiguousarray(rows)))

    @classmethod
    def concat(cls, parts: Sequence[Distribution]) -> Distribution:
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
    def _are_alike(parts: Sequence[Distribution]) -> bool:
        """Whether all are of one kind, on one support and of as many members."""
        own = [part._predictions for part in parts]
        return len({(part.support(), part.sample_count, part.components is None, part.members) for part in own}) == 1

    @classmethod
    def pool(cls, parts: Sequence[Distribution], weights: ArrayLike | None = None) -> Distribution:
        """The mixture of the predictions of several models for the same rows, each with a weight (equal ones by
        default). The models are its members: :meth:`var_parts` has the variance between them.

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

    def rescaled(self, shift: float, scale: float) -> Distribution:
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
        other = Distribution(
            predictions.with_support(lower, upper, step, shift + scale * origin), self._index, self._n_jobs
        )
        other._scalar = self._scalar
        return other

    @property
    def shape(self) -> tuple[int, ...]:
        """(rows,), or () for one row."""
        return () if self._scalar else (len(self._predictions),)

    def __len__(self) -> int:
        if self._scalar:
            raise TypeError("the distribution of one row has no length")
        return len(self._predictions)

    def __getitem__(self, rows: Any) -> Distribution:
        if self._scalar:
            raise TypeError("the distribution of one row has no rows to choose from")
        numbers = np.arange(len(self._predictions))[rows]
        if numbers.ndim > 1:
            raise IndexError("rows have one dimension")
        some = Distribution(self._predictions.select(np.atleast_1d(numbers)), n_jobs=self._n_jobs)
        some._scalar = numbers.ndim == 0
        some._index = None if self._index is None else self._index[np.atleast_1d(numbers)]
        return some

    def __repr__(self) -> str:
        rows = len(self._predictions)
        count = "1 row" if rows == 1 else f"{rows} rows"
        components = self._predictions.components
        quantiles, families = self._predictions.quantile_parts(), self._predictions.family_parts()
        if quantiles is not None:
            kind = f"{quantiles[0].shape[1]} quantiles"
        elif families is not None:
            kind = ", ".join(sorted(set(families[0])))
        elif components is None:
            kind = f"{self._predictions.sample_count} samples"
        else:
            kind = "Gaussian" if components == 1 else f"mixture of {components} Gaussians"
        return f"<Distribution of {count}: {kind}>"

    def _repr_html_(self) -> str:
        return html_table(self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Distribution):
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

    @property
    def weights(self) -> Numbers:
        """Weights of the components, rows × components; those of a row sum to 1."""
        return self._of_components(self._predictions.weights())

    @property
    def means(self) -> Numbers:
        """Means of the components, rows × components."""
        return self._of_components(self._predictions.means())

    @property
    def sds(self) -> Numbers:
        """Standard deviations of the components, rows × components."""
        return self._of_components(self._predictions.sds())

    def _of_components(self, numbers: Numbers | None) -> Numbers:
        if numbers is None:
            raise AttributeError("these distributions are samples and have no components; see .samples")
        return self._each(numbers)

    @property
    def samples(self) -> Numbers:
        """Samples, rows × samples, each row in ascending order, where the distributions are sets of samples."""
        samples = self._predictions.samples()
        if samples is None:
            raise AttributeError(
                "these distributions are mixtures and have no samples; see .weights, .means, .sds and .rvs"
            )
        return self._each(samples[0])

    def mean(self) -> RowValues:
        """Mean."""
        return self._each(self._predictions.mean(threads=self._threads()))

    def std(self) -> RowValues:
        """Standard deviation."""
        return self._each(self._predictions.sd(threads=self._threads()))

    def var(self) -> RowValues:
        """Variance."""
        return self._each(self._predictions.variance(threads=self._threads()))

    def var_parts(self) -> tuple[RowValues, RowValues]:
        """The variance in two parts: aleatoric (the mean variance of the members of an ensemble) and epistemic (the
        variance between their means; 0 for one model)."""
        aleatoric, epistemic = self._predictions.variance_by_members(threads=self._threads())
        return self._each(aleatoric), self._each(epistemic)

    def median(self) -> RowValues:
        """Median."""
        return self.ppf(0.5)

    def mode(self) -> RowValues:
        """Mode: the maximum of the density; on a grid the most probable value; with atoms the most probable atom, unless
        the most probable interval of a tenth of the sd has more probability."""
        return self._each(self._predictions.modes(threads=self._threads()))

    def hdr(self, coverage: float = 0.9) -> list[Numbers] | Numbers:
        """Highest-density region: the smallest set of values that contains the target with probability ``coverage``.
        For each row an array of intervals × 2, several where the distribution has several peaks; on a grid both ends of
        an interval are in it. Atoms that are rare beside a density are left out. Exact; of samples that of their normal
        kernel density estimate."""
        _check_probability("coverage", coverage)
        found = self._predictions.highest_density(float(coverage), threads=self._threads())
        return found[0] if self._scalar else found

    def entropy(self) -> RowValues:
        """Differential entropy in nats; of a grid that of the probabilities, beside atoms the sum of both. For samples
        that of the normal distribution with their mean and sd."""
        return self._each(self._predictions.entropies(threads=self._threads()))

    def moment(self, order: int) -> RowValues:
        """Raw moment of the given order."""
        if not isinstance(order, (int, np.integer)) or order < 1:
            raise ValueError(f"order must be a whole number, at least 1, found {order}")
        return self._each(self._predictions.raw_moments(int(order), threads=self._threads()))

    def _rows(self) -> Distribution:
        """With a dimension of rows, also for one row."""
        return Distribution(self._predictions, self._index, self._n_jobs) if self._scalar else self

    def support(self) -> tuple[float, float]:
        """Lower and upper bound of the target; -inf and inf where there is none."""
        lower, upper, _, _ = self._predictions.support()
        return (-np.inf if lower is None else lower, np.inf if upper is None else upper)

    @property
    def measure(self) -> Literal["discrete", "mixed", "continuous"]:
        """Measure type: "discrete" (a grid), "mixed" (a density with atoms) or "continuous"."""
        if self._predictions.support()[2] is not None:
            return "discrete"
        sds = self._predictions.sds()
        return "continuous" if sds is None or sds.all() else "mixed"

    def pmf(self, k: ArrayLike) -> RowValues:
        """Probability of exactly ``k``: positive on a grid, at an atom and where a sample is."""
        return self._evaluate("pmf", k)

    def pdf(self, x: ArrayLike) -> RowValues:
        """Density at ``x`` of all but the atoms; on a grid that of the mixture which is rounded."""
        return self._evaluate("pdf", x)

    def logpdf(self, x: ArrayLike) -> RowValues:
        """Logarithm of that density."""
        return self._evaluate("logpdf", x)

    def cdf(self, x: ArrayLike) -> RowValues:
        """Probability of a value up to ``x``."""
        return self._evaluate("cdf", x)

    def sf(self, x: ArrayLike) -> RowValues:
        """Probability of a value above ``x``: 1 - cdf without its cancellation."""
        return self._evaluate("sf", x)

    def logcdf(self, x: ArrayLike) -> RowValues:
        """Logarithm of the probability of a value up to ``x``, a number also where the probability is too small for
        one."""
        return self._evaluate("logcdf", x)

    def logsf(self, x: ArrayLike) -> RowValues:
        """Logarithm of the probability of a value above ``x``."""
        return self._evaluate("logsf", x)

    def ppf(self, q: ArrayLike) -> RowValues:
        """Quantile: the value that is not exceeded with probability ``q``; NaN outside [0, 1]."""
        return self._evaluate("ppf", q)

    def isf(self, q: ArrayLike) -> RowValues:
        """The value that is exceeded with probability ``q``; NaN outside [0, 1]."""
        return self._evaluate("isf", q)

    def interval(self, confidence: ArrayLike = 0.95) -> tuple[RowValues, RowValues]:
        """Lower and upper bound of the central interval with probability ``confidence``: as in SciPy the median twice
        for 0, and the ends of the support for 1."""
        _check_probability("confidence", confidence, closed=True)
        outside = 0.5 * (1.0 - np.asarray(confidence, dtype=np.float64))
        return self.ppf(outside), self.isf(outside)

    def shortfall(self, level: ArrayLike = 0.05) -> RowValues:
        """Expected shortfall: the mean of the lower tail with probability ``level``."""
        _check_probability("level", level)
        return self._evaluate("shortfall", level)

    def crps(self, y: ArrayLike) -> RowValues:
        """Continuous ranked probability score of observing ``y``; the lower the better."""
        return self._score("crps", y)

    def nll(self, y: ArrayLike) -> RowValues:
        """Logarithmic score (negative log likelihood) of observing ``y``; the lower the better. At an atom it is that
        of the probability, elsewhere of the density; on a grid ``-np.log(dist.pmf(y))`` is the score to compare."""
        return self._score("nll", y)

    def pit(self, y: ArrayLike) -> RowValues:
        """Probability integral transform: the probability of a value up to ``y``, where half of the probability of
        ``y`` itself counts, on a grid and at an atom. Uniform over the rows when the distributions are calibrated."""
        return self._score("pit", y)

    def rvs(self, size: int | Sequence[int] | None = None, random_state: Any = None) -> RowValues:
        """Random values of shape ``size``, which ends with the rows as in scipy: None gives one for each row,
        ``(m, rows)`` gives m for each. A number as ``random_state`` gives the draws of the command line's
        ``--seed``."""
        rows = self.shape
        shape = rows if size is None else (int(size),) if isinstance(size, (int, np.integer)) else tuple(size)
        if shape[len(shape) - len(rows) :] != rows:
            raise ValueError(f"expected a size that ends with the {rows[0]} rows, found {size}")
        outer = shape[: len(shape) - len(rows)]
        count = int(np.prod(outer, dtype=np.int64))
        draws = self._predictions.sample(count, seed_of(random_state), threads=self._threads())
        values = np.ascontiguousarray(draws.T).reshape(shape)
        return values[()] if values.ndim == 0 else values

    def to_pandas(
        self, interval: Sequence[float] = (0.9,), quantiles: Sequence[float] = (), components: bool = False
    ) -> Any:
        """A frame with ``mean``, ``sd`` and optionally quantiles, interval ends and components, named as the
        command line names them: ``q0.05``, ``lower_0.9``, ``upper_0.9``, ``weight_1``, ``mean_1``, ``sd_1``."""
        frame = summary_frame(self, interval, quantiles)
        if components:
            parts = {"weight": self.weights, "mean": self.means, "sd": self.sds}
            for name, part in parts.items():
                part = np.atleast_2d(part)
                for k in range(part.shape[1]):
                    frame[f"{name}_{k + 1}"] = part[:, k]
        return frame

    def plot(self, row: int | Sequence[int] = 0, ax: Any = None, interval: float = 0.9) -> Any:
        """Plots the density of one row with its mean and central interval; returns the axes. Of samples it is their
        histogram, on a grid there is a bar for each value, and an atom is an upright line with its probability beside
        it. Of several rows it is their densities in one picture. ``negmm.plots`` has calibration, fans and more.

        Needs matplotlib.
        """
        if isinstance(row, (int, np.integer)) or self._scalar:
            return plot_row(self if self._scalar else self[row], ax, interval)
        return plots.densities(self, row, ax=ax)

    def _evaluate(self, function: str, at: ArrayLike) -> RowValues:
        """Values of a function at numbers that broadcast with the rows."""
        numbers = np.asarray(at, dtype=np.float64)
        if self._scalar:
            flat = self._predictions.evaluate(function, numbers.reshape(-1, 1), threads=self._threads())
            values = flat.reshape(numbers.shape)
            return values[()] if values.ndim == 0 else values
        rows = len(self._predictions)
        try:
            shape = np.broadcast_shapes(numbers.shape, (rows,))
        except ValueError:
            raise ValueError(f"expected numbers that broadcast with {rows} rows, found shape {numbers.shape}") from None
        if shape[-1] != rows:
            raise ValueError(f"expected numbers that broadcast with {rows} rows, found shape {numbers.shape}")
        outer = int(np.prod(shape[:-1], dtype=np.int64))
        flat = np.broadcast_to(numbers, shape).reshape(outer, rows)
        return self._predictions.evaluate(function, flat, threads=self._threads()).reshape(shape)

    def _score(self, function: str, y: ArrayLike) -> RowValues:
        """As :meth:`_evaluate`, for targets, which may also be a column of one per row."""
        targets = np.asarray(y, dtype=np.float64)
        return self._evaluate(function, targets[:, 0] if targets.shape == (*self.shape, 1) else targets)

    def _threads(self) -> int:
        return threads_of(self._n_jobs)

    def _each(self, numbers: Numbers) -> RowValues:
        return numbers[0] if self._scalar else numbers


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


def _check_probability(name: str, value: ArrayLike, closed: bool = False) -> None:
    values = np.asarray(value, dtype=np.float64)
    wrong = values[~((values >= 0) & (values <= 1) if closed else (values > 0) & (values < 1))]
    if wrong.size:
        between = "between 0 and 1" if closed else "strictly between 0 and 1"
        raise ValueError(f"expected a {name} {between}, found {wrong.flat[0]:g}")
