"""Adapters for skpro: estimators of this package as probabilistic regressors of skpro, and its distributions as
skpro's.

Needs skpro (``pip install skpro``).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone
from skpro.distributions.base import BaseDistribution
from skpro.regression.base import BaseProbaRegressor

from negmm.distribution import Distribution
from negmm.methods import AutoRegressor, NEGMMRegressor, NGBoostRegressor, SampleNetRegressor
from negmm.regressor import DistributionRegressor


class NEGMMDistribution(BaseDistribution):
    """Predicted distributions as a distribution of skpro with one column. Everything but ``pdfnorm`` is exact.

    Its measure type is "discrete" on a grid, "mixed" where there are atoms, else "continuous".

    Parameters
    ----------
    distribution : negmm.Distribution
        One distribution for each row, or that of one row (then it is a scalar distribution).
    index : pandas index, optional
        Names of the rows.
    columns : pandas index, optional
        Name of the one column.

    Examples
    --------
    >>> from negmm import Distribution
    >>> from negmm.skpro import NEGMMDistribution
    >>> two = Distribution.of_mixtures(weights=[[0.5, 0.5], [1, 0]], means=[[-1, 1], [3, 0]], sds=[[1, 1], [2, 1]])
    >>> NEGMMDistribution(two, index=["first", "second"], columns=["y"]).mean()
              y
    first   0.0
    second  3.0
    """

    _tags = {
        "capabilities:approx": ["pdfnorm"],
        "capabilities:exact": ["mean", "var", "energy", "pdf", "log_pdf", "pmf", "log_pmf", "cdf", "ppf"],
        "distr:measuretype": "continuous",
        "distr:paramtype": "nonparametric",
    }

    def __init__(self, distribution: Distribution, index: Any = None, columns: Any = None) -> None:
        self.distribution = distribution
        if distribution.shape:
            index = pd.RangeIndex(len(distribution)) if index is None else index
            columns = pd.RangeIndex(1) if columns is None else columns
        super().__init__(index=index, columns=columns)
        self.set_tags(**{"distr:measuretype": distribution.measure})

    def _column(self, numbers: Any) -> Any:
        """Numbers, one for each row, as rows × 1."""
        return numbers if self.ndim == 0 else np.reshape(numbers, (-1, 1))

    def _at(self, question: str, x: Any) -> Any:
        at = np.asarray(x, dtype=np.float64)
        return self._column(getattr(self.distribution, question)(at[()] if self.ndim == 0 else at.reshape(-1)))

    def _mean(self) -> Any:
        return self._column(self.distribution.mean())

    def _var(self) -> Any:
        return self._column(self.distribution.var())

    def _pdf(self, x: Any) -> Any:
        return self._at("pdf", x)

    def _log_pdf(self, x: Any) -> Any:
        return self._at("logpdf", x)

    def _pmf(self, x: Any) -> Any:
        return self._at("pmf", x)

    def _log_pmf(self, x: Any) -> Any:
        with np.errstate(divide="ignore"):
            return np.log(self._pmf(x))

    def _cdf(self, x: Any) -> Any:
        return self._at("cdf", x)

    def _ppf(self, p: Any) -> Any:
        return self._at("ppf", p)

    def _energy_x(self, x: Any) -> Any:
        """E|X - x|: the CRPS at x and half of E|X - Y|, of which it is the difference."""
        return self._at("crps", x) + 0.5 * self._energy_self()

    def _energy_self(self) -> Any:
        """E|X - Y| = 2 (E|X - m| - CRPS(m)) at the mean m, and E|X - m| = 2 F(m) (m - mean of the lower tail with
        probability F(m))."""
        mean = self.distribution.mean()
        below = self.distribution.cdf(mean)
        distance = 2.0 * below * (mean - self.distribution._evaluate("shortfall", below))
        return self._column(2.0 * (distance - self.distribution.crps(mean)))

    def _sample(self, n_samples: int | None = None) -> Any:
        draws = 1 if n_samples is None else n_samples
        values = self.distribution.rvs((draws, *self.distribution.shape))
        if self.ndim == 0:
            return values[0] if n_samples is None else pd.DataFrame(values, columns=self.columns)
        index = self.index if n_samples is None else pd.MultiIndex.from_product([range(draws), self.index])
        return pd.DataFrame(values.reshape(-1, 1), index=index, columns=self.columns)

    def _iloc(self, rowidx: Any = None, colidx: Any = None) -> NEGMMDistribution:
        if np.ndim(rowidx) == 0 and np.ndim(colidx) == 0 and _is_number(rowidx) and _is_number(colidx):
            return self._iat(rowidx, colidx)
        rows, columns = np.arange(len(self.index)), np.arange(len(self.columns))
        rows = rows if rowidx is None else np.atleast_1d(rows[rowidx])
        columns = columns if colidx is None else np.atleast_1d(columns[colidx])
        return NEGMMDistribution(self.distribution[rows], index=self.index[rows], columns=self.columns[columns])

    def _iat(self, rowidx: Any = None, colidx: Any = None) -> NEGMMDistribution:
        if rowidx is None or colidx is None:
            raise ValueError("iat method requires both row and column index")
        return NEGMMDistribution(self.distribution[int(rowidx)])

    @classmethod
    def get_test_params(cls, parameter_set: str = "default") -> list[dict[str, Any]]:
        """Distributions for skpro's own tests."""
        weights = [[0.3, 0.7], [0.5, 0.5], [1.0, 0.0]]
        three = Distribution.of_mixtures(
            weights, [[0.0, 3.0], [1.0, 4.0], [2.0, 5.0]], [[1.0, 2.0], [1.0, 1.0], [2.0, 1.0]]
        )
        named = {"distribution": three, "index": pd.Index([1, 2, 5]), "columns": pd.Index(["a"])}
        counts = Distribution.of_mixtures([[0.3, 0.7]] * 2, [[1.0, 4.0]] * 2, [[1.0, 2.0]] * 2, lower=0.0, step=1.0)
        zeros = Distribution.of_mixtures([[0.3, 0.7]] * 2, [[0.0, 4.0]] * 2, [[0.0, 2.0]] * 2, lower=0.0)
        others = [{"distribution": other} for other in (three[1], counts, zeros)]
        return [{"distribution": three}, named, *others]


class NEGMMProbaRegressor(BaseProbaRegressor):
    """Any estimator of this package as a probabilistic regressor of skpro.

    Parameters
    ----------
    estimator : estimator of this package, default=AutoRegressor()
        Estimator to fit.

    Attributes
    ----------
    estimator_ : estimator of this package
        Fitted estimator.

    Examples
    --------
    >>> import pandas as pd
    >>> from negmm import NGBoostRegressor
    >>> from negmm.skpro import NEGMMProbaRegressor
    >>> X = pd.DataFrame({"x": range(100)})
    >>> y = pd.DataFrame({"y": [0.5 * x for x in range(100)]})
    >>> regressor = NEGMMProbaRegressor(NGBoostRegressor(n_estimators=100, learning_rate=0.1)).fit(X, y)
    >>> regressor.predict_interval(X[:2], coverage=0.9).columns.to_list()
    [('y', 0.9, 'lower'), ('y', 0.9, 'upper')]
    """

    _tags = {
        "capability:multioutput": False,
        "capability:missing": True,
        "X_inner_mtype": "pd_DataFrame_Table",
        "y_inner_mtype": "pd_DataFrame_Table",
    }

    def __init__(self, estimator: DistributionRegressor | None = None) -> None:
        self.estimator = estimator
        super().__init__()

    def _fit(self, X: pd.DataFrame, y: pd.DataFrame) -> NEGMMProbaRegressor:
        self._y_columns = y.columns
        self.estimator_ = AutoRegressor() if self.estimator is None else clone(self.estimator)
        self.estimator_.fit(_named(X), y.iloc[:, 0])
        return self

    def _predict(self, X: pd.DataFrame) -> pd.DataFrame:
        means = self.estimator_.predict(_named(X))
        return pd.DataFrame(means, index=X.index, columns=self._y_columns)

    def _predict_proba(self, X: pd.DataFrame) -> NEGMMDistribution:
        return NEGMMDistribution(self.estimator_.predict_dist(_named(X)), index=X.index, columns=self._y_columns)

    @classmethod
    def get_test_params(cls, parameter_set: str = "default") -> list[dict[str, Any]]:
        """Small estimators for skpro's own tests."""
        small = [
            NEGMMRegressor(components=2, hidden=(8,), epochs=10),
            NGBoostRegressor(n_estimators=20),
            SampleNetRegressor(samples=20, hidden=(8,), epochs=10),
        ]
        return [{"estimator": estimator} for estimator in small]


def _named(X: pd.DataFrame) -> pd.DataFrame:
    """The data frame with strings as column names: scikit-learn refuses a mixture of numbers and strings."""
    return X.set_axis([str(name) for name in X.columns], axis=1)


def _is_number(index: Any) -> bool:
    return index is not None and not isinstance(index, slice)
