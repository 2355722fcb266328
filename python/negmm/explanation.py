"""Explanations: contributions of columns to answers about distributions, and what they are over many rows."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]

#: Decimal digits of the numbers of a sentence.
DIGITS = 3


@dataclass(frozen=True, repr=False)
class Explanation:
    """What each column contributes to answers about the distribution of each row: Shapley values, which add up to the
    answer minus its mean over the background.

    ``explanation[3]`` is that of one row, ``explanation[:10]`` or a mask that of several, ``explanation["sd"]`` that of
    one of several answers.

    Attributes
    ----------
    values : array of shape (rows, columns), of several answers (rows, columns, answers)
        The contributions, in the unit of the answer. Those of a row add up to ``predictions - base_values``. NaN where
        a score is infinite, because the target is impossible for the model.
    base_values, predictions : array of shape (rows,), of several answers (rows, answers)
        The mean of the answer over the background; the answer itself.
    standard_errors : array with the shape of ``values``
        Of the contributions; 0 where they are exact.
    data : array of shape (rows, columns)
        The cells.
    feature_names : list of str
        The columns.
    output_names : list of str
        The answers.
    exact : bool
        Whether all subsets of the columns were taken rather than permutations.
    verdicts : list of str, or None
        What would narrow the prediction of each row, in plain words: "more rows like this one would help", "… would help
        a little", or "these inputs cannot tell: …". None where the model has one member, and where it is explained from
        outside (a TransformedTargetRegressor, a bag).
    """

    _values: Numbers = field()
    _base: Numbers = field()
    _predictions: Numbers = field()
    _errors: Numbers = field()
    _data: NDArray[Any] = field()
    feature_names: list[str] = field()
    output_names: list[str] = field()
    exact: bool = field()
    verdicts: list[str] | None = field(default=None)
    _several: bool = field(default=False)
    _one_row: bool = field(default=False)

    def _shaped(self, numbers: Numbers) -> Any:
        """Without the dimensions that there are not."""
        numbers = numbers if self._several else numbers[..., 0]
        return numbers[0] if self._one_row else numbers

    @property
    def values(self) -> Any:
        return self._shaped(self._values)

    @property
    def base_values(self) -> Any:
        return self._shaped(self._base)

    @property
    def predictions(self) -> Any:
        return self._shaped(self._predictions)

    @property
    def standard_errors(self) -> Any:
        return self._shaped(self._errors)

    @property
    def data(self) -> NDArray[Any]:
        return self._data[0] if self._one_row else self._data

    def __len__(self) -> int:
        return len(self._values)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(np.shape(self.values))

    def __repr__(self) -> str:
        rows = "1 row" if len(self) == 1 else f"{len(self)} rows"
        how = "exact" if self.exact else f"standard error {float(np.sqrt(np.nanmean(self._errors**2))):.2g}"
        return f"<Explanation of {', '.join(self.output_names)}: {rows} × {len(self.feature_names)} columns, {how}>"

    def __getitem__(self, chosen: Any) -> Explanation:
        if isinstance(chosen, str):
            return self._answer(chosen)
        if self._one_row:
            raise IndexError("this is the explanation of one row: choose an answer by its name")
        if isinstance(chosen, (int, np.integer)):
            if not -len(self) <= chosen < len(self):
                raise IndexError(f"there is no row {chosen}; there are {len(self)}")
            one = self[[int(chosen)]]
            return replace(one, _one_row=True)
        rows = chosen if isinstance(chosen, slice) else np.asarray(chosen)
        parts: dict[str, Any] = {name: getattr(self, name)[rows] for name in ("_values", "_base", "_predictions", "_errors", "_data")}
        if self.verdicts is not None:
            parts["verdicts"] = np.array(self.verdicts, dtype=object)[rows].tolist()
        return replace(self, **parts)

    def _answer(self, name: str) -> Explanation:
        if name not in self.output_names:
            raise KeyError(f"there is no answer {name!r}; there are {', '.join(self.output_names)}")
        at = slice(self.output_names.index(name), self.output_names.index(name) + 1)
        parts = {part: getattr(self, part)[..., at] for part in ("_values", "_base", "_predictions", "_errors")}
        return replace(self, **parts, output_names=[name], _several=False)

    def _each(self) -> list[Explanation]:
        """The explanations of the answers."""
        return [self._answer(name) for name in self.output_names]

    def mean_absolute(self) -> Any:
        """The mean |contribution| of each column over the rows that have some: one a column, of several answers columns ×
        answers."""
        known = np.isfinite(self._values).sum(axis=0)
        means = np.nansum(np.abs(self._values), axis=0) / np.maximum(known, 1)
        return means if self._several else means[:, 0]

    def to_shap(self) -> Any:
        """The same as a ``shap.Explanation``, which ``shap.plots`` takes: ``shap.plots.beeswarm(e.to_shap())``,
        ``shap.plots.waterfall(e[0].to_shap())``. Of several answers choose one for most plots: ``e["sd"].to_shap()``.

        Needs shap.
        """
        try:
            import shap
        except ImportError as error:
            raise ImportError("to_shap needs shap: pip install shap") from error
        base = self.base_values
        return shap.Explanation(
            values=self.values,
            base_values=float(base) if np.ndim(base) == 0 else base,
            data=self.data,
            feature_names=self.feature_names,
            output_names=self.output_names if self._several else None,
            error_std=None if self.exact else self.standard_errors,
        )

    def _columns(self, errors: bool) -> dict[str, Any]:
        columns: dict[str, Any] = {}
        for at, answer in enumerate(self.output_names):
            columns[answer], columns[f"{answer}_base"] = self._predictions[:, at], self._base[:, at]
            named = list(enumerate(self.feature_names))
            columns.update({f"{answer}[{name}]": self._values[:, column, at] for column, name in named})
            if errors:
                columns.update({f"{answer}[{name}]_error": self._errors[:, column, at] for column, name in named})
        return columns

    def to_pandas(self, errors: bool = False) -> Any:
        """A frame with a row for each row and the columns of ``negmm explain``: ``sd``, ``sd_base``, ``sd[age]`` …, and
        with ``errors`` ``sd[age]_error`` …"""
        import pandas

        return pandas.DataFrame(self._columns(errors))

    def to_polars(self, errors: bool = False) -> Any:
        """The same as a frame of polars."""
        import polars

        return polars.DataFrame(self._columns(errors))

    def to_arrow(self, errors: bool = False) -> Any:
        """The same as a table of pyarrow."""
        import pyarrow

        return pyarrow.table(self._columns(errors))

    def sentences(self, top: int = 5) -> list[str]:
        """A sentence for each row, of several answers for each row and answer, with the ``top`` largest contributions:
        ``sd 14.3 where 9.1 is usual: age +3.8 (3), water +1.9, the others -0.5``."""
        return [
            _sentence(one._values[row, :, 0], one._predictions[row, 0], one._base[row, 0], one, row, top)
            for row in range(len(self))
            for one in self._each()
        ]


def _sentence(own: Numbers, value: float, base: float, one: Explanation, row: int, top: int) -> str:
    """As the library words it."""
    name = one.output_names[0]
    if not np.isfinite(own).all():
        if math.isfinite(value):
            return f"{name} {value:.2f}: the target is impossible for rows that this one is compared with"
        return f"{name} {value}: the model takes the target for impossible"
    order = [column for column in np.argsort(-np.abs(own), kind="stable").tolist() if own[column] != 0]
    largest = max([abs(value), abs(base), *(abs(own[column]) for column in order[:1])])
    known = math.isfinite(largest) and largest > 0
    digits = min(max(DIGITS - 1 - math.floor(math.log10(largest)), 0), 12) if known else 0
    parts = []
    for column in order[:top]:
        cell = cell_text(one._data[row, column])
        parts.append(f"{one.feature_names[column]} {own[column]:+.{digits}f}" + (f" ({cell})" if cell else ""))
    if len(order) > top > 0:
        parts.append(f"the others {sum(own[column] for column in order[top:]):+.{digits}f}")
    start = f"{name} {value:.{digits}f} where {base:.{digits}f} is usual"
    return start + (": " + ", ".join(parts) if parts else "")


def cell_text(cell: Any) -> str:
    """A cell as text; nothing where it is missing."""
    if cell is None or cell != cell:
        return ""
    if isinstance(cell, (float, np.floating)):
        return f"{cell:.6g}"
    if isinstance(cell, np.datetime64):
        return str(cell).removesuffix("T00:00:00.000000").removesuffix(".000000")
    return str(cell)


@dataclass(frozen=True)
class Dependence:
    """Answers along a column.

    Attributes
    ----------
    column : str
    numbers : array, or None where the column is text
        The values: numbers, of dates seconds since 1970.
    values : list of str
        The values as text.
    partial : dict of array of values
        For each answer its mean over rows at each value (partial dependence).
    individual : dict of array of rows × values
        For each answer that of each row (individual conditional expectation).
    """

    column: str
    numbers: Numbers | None
    values: list[str]
    partial: dict[str, Numbers] = field(repr=False)
    individual: dict[str, Numbers] = field(repr=False)


@dataclass(frozen=True)
class GlobalExplanation:
    """How much each column matters over many rows.

    Attributes
    ----------
    columns, answers : list of str
    rows, background : int
        The rows whose contributions were averaged; background rows.
    base : array of answers
        The mean of each answer over the background.
    contributions : array of columns × answers
        The mean |contribution|.
    errors : array of answers
        The typical standard error of a contribution of one row.
    permutation : dict of array of columns, or None
        Where ``y`` was given: the increase of ``crps`` and ``nll`` when the column is permuted among the rows, without
        another fit, and their standard errors ``crps_error`` and ``nll_error``.
    interactions : list of dict
        The pairs of the five columns that contribute most to each answer, the strongest first: ``columns``, ``answer``,
        ``strength`` (mean |interaction|), ``mean``, and ``error``, the typical standard error of the interaction of one
        row (0 where it is exact).
    dependence : dict of Dependence
        By column: the answers along those that matter most.
    regions : list of dict
        What would narrow the predictions, by bins and categories of these columns: ``column``, ``region``, ``rows``,
        ``epistemic`` and ``aleatoric`` sd, and the ``verdict`` in plain words; none where the model has one member.
    """

    columns: list[str]
    answers: list[str]
    rows: int
    background: int
    base: Numbers = field(repr=False)
    contributions: Numbers = field(repr=False)
    errors: Numbers = field(repr=False)
    permutation: dict[str, Numbers] | None = field(repr=False)
    interactions: list[dict[str, Any]] = field(repr=False)
    dependence: dict[str, Dependence] = field(repr=False)
    regions: list[dict[str, Any]] = field(repr=False)

    def to_pandas(self) -> Any:
        """A frame with a row for each column of the inputs: the mean |contribution| to each answer, and the increase of
        the scores by permutation."""
        import pandas

        columns = {name: self.contributions[:, at] for at, name in enumerate(self.answers)}
        if self.permutation is not None:
            columns.update({f"permuted_{name}": growth for name, growth in self.permutation.items()})
        return pandas.DataFrame(columns, index=self.columns)

    def interactions_to_pandas(self) -> Any:
        """A frame with a row for each pair of columns and answer."""
        import pandas

        found = [
            {"answer": one["answer"], "first": one["columns"][0], "second": one["columns"][1]}
            | {name: one[name] for name in ("strength", "mean", "error")}
            for one in self.interactions
        ]
        return pandas.DataFrame(found, columns=["answer", "first", "second", "strength", "mean", "error"])


@dataclass(frozen=True)
class Acquisition:
    """Rows whose targets are worth measuring, the most useful first; each given those before it.

    Attributes
    ----------
    rows : array of int
        Their positions, from 0.
    reduction, left : array
        By how much each measurement is expected to reduce the mean epistemic variance of the rows of interest, and what
        is left of it.
    epistemic, aleatoric : array
        The sd of each row that more rows could reduce, and that of its noise.
    sentences : list of str
        What would help, in plain words.
    """

    rows: NDArray[np.int64]
    reduction: Numbers = field(repr=False)
    left: Numbers = field(repr=False)
    epistemic: Numbers = field(repr=False)
    aleatoric: Numbers = field(repr=False)
    sentences: list[str] = field(repr=False)

    def __len__(self) -> int:
        return len(self.rows)

    def to_pandas(self) -> Any:
        """A frame with one row for each chosen one."""
        import pandas

        names = ("reduction", "left", "epistemic", "aleatoric")
        columns = {"row": self.rows, **{name: getattr(self, name) for name in names}, "verdict": self.sentences}
        return pandas.DataFrame(columns)
