"""Predicted distributions, one for each row, with the interface of SciPy's frozen distributions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from negmm import _native, plots
from negmm.by_quantiles import summary_frame
from negmm.distribution_arrays import DistributionArrays, Numbers
from negmm.html_repr import html_table
from negmm.plotting import plot_row
from negmm.seed import seed_of
from negmm.threads import threads_of

#: An array with a number for each row (and more dimensions where arguments have more), or a number where the
#: distribution is that of one row.
RowValues = Any


class Distribution(DistributionArrays):
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
        check_probability("coverage", coverage)
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
        check_probability("confidence", confidence, closed=True)
        outside = 0.5 * (1.0 - np.asarray(confidence, dtype=np.float64))
        return self.ppf(outside), self.isf(outside)

    def shortfall(self, level: ArrayLike = 0.05) -> RowValues:
        """Expected shortfall: the mean of the lower tail with probability ``level``."""
        check_probability("level", level)
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


def check_probability(name: str, value: ArrayLike, closed: bool = False) -> None:
    """Refuses values outside of (0, 1), or if ``closed`` of [0, 1]."""
    values = np.asarray(value, dtype=np.float64)
    wrong = values[~((values >= 0) & (values <= 1) if closed else (values > 0) & (values < 1))]
    if wrong.size:
        between = "between 0 and 1" if closed else "strictly between 0 and 1"
        raise ValueError(f"expected a {name} {between}, found {wrong.flat[0]:g}")
