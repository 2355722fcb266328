"""Errors and warnings of the library in Python's words: parameters for options, rows from 0 and by their labels."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypedDict

#: Options that have another name here, because estimators have a method of theirs.
RENAMED = {"loss": "score"}
#: Options of columns that are an argument of another kind here.
COLUMNS = {"group": "pass their labels as groups", "series": "name their column by id_col"}


class DataWarning(UserWarning):
    """Something odd about the data that is no error: a column without information, a category never seen in
    training."""


class Details(TypedDict):
    """An error or a warning of the library."""

    file: str | None
    row: int | None
    column: str | None
    #: From the outside in; the flag marks the row.
    location: list[tuple[bool, str]]
    #: The option at fault, of which the message is a predicate.
    option: str | None
    message: str
    #: Each with its ``kind``, as ``negmm::Hint`` is serialised.
    hints: list[dict[str, Any]]


def option_of(parameter: str) -> str:
    """The library's name of a parameter."""
    return RENAMED.get(parameter, parameter.replace("_", "-"))


def parameter_of(option: str) -> str:
    """The name of an option here.

    >>> parameter_of("learning-rate"), parameter_of("score")
    ('learning_rate', 'loss')
    """
    return next((parameter for parameter, other in RENAMED.items() if other == option), option.replace("-", "_"))


def worded(details: Details, labels: Any = None) -> str:
    """The text of an error or a warning; ``labels`` has one label for each row, where rows have labels."""
    parts = []
    for is_row, text in details["location"]:
        row = details["row"]
        known = is_row and labels is not None and row is not None and row < len(labels)
        parts.append(f"{text} (index {labels[row]!r})" if known else text)
    sentence = f"{', '.join(parts)}: " if parts else ""
    if details["option"] is not None:
        sentence += f"{parameter_of(details['option'])} "
    sentence += details["message"]
    remarks = [hint for hint in details["hints"] if hint["kind"] in ("similar_option", "related_option")]
    advice = [hint for hint in details["hints"] if hint not in remarks]
    sentence += "".join(f" ({_hint(remark)})" for remark in remarks)
    return sentence + ("; " + " or ".join(map(_hint, advice)) if advice else "")


def _hint(hint: dict[str, Any]) -> str:
    match hint:
        case {"kind": "when", "case": case, "hint": advice}:
            return f"{case}, {_hint(advice)}"
        case {"kind": "set_options", "settings": settings}:
            return "pass " + " and ".join(_argument(option, value) for option, value in settings)
        case {"kind": "choose_value", "option": option, "values": values}:
            return "pass " + " or ".join(_argument(option, value) for value in values)
        case {"kind": "raise_option", "option": option}:
            return f"raise {parameter_of(option)}"
        case {"kind": "name_column", "option": option}:
            return COLUMNS.get(option, f"name a column by {parameter_of(option)}")
        case {"kind": "date_format", "column": column, "formats": []}:
            return f"pass dates={{{column!r}: format}}"
        case {"kind": "date_format", "column": column, "formats": formats}:
            return "pass " + " or ".join(f"dates={{{column!r}: {format!r}}}" for format in formats)
        case {"kind": "calibrate"}:
            return "call calibrate with rows that it was not fitted to"
        case {"kind": "similar_option", "option": option}:
            return f"did you mean {parameter_of(option)}?"
        case {"kind": "related_option", "option": option}:
            return f"see {parameter_of(option)}"
    raise NotImplementedError(f"a hint of the kind {hint['kind']!r}")


def _argument(option: str, value: str) -> str:
    """An argument as it is typed.

    >>> _argument("lower", "0"), _argument("continuous", "true"), _argument("decimal", ",")
    ('lower=0', 'continuous=True', 'decimal=","')
    """
    if value in ("true", "false"):
        return f"{parameter_of(option)}={value.capitalize()}"
    try:
        float(value)
    except ValueError:
        value = json.dumps(value)
    return f"{parameter_of(option)}={value}"


@contextmanager
def python_errors(X: Any = None) -> Iterator[None]:
    """Words errors of the library for Python, with rows by their labels where ``X`` has labels."""
    try:
        yield
    except ValueError as error:
        if (details := getattr(error, "details", None)) is not None:
            labels = getattr(X, "index", None)
            # Paths and lists have a method of that name.
            unlabelled = callable(labels) or type(labels).__name__ == "RangeIndex"
            error.args = (worded(details, None if unlabelled else labels),)
        raise


def warn_of_seen(rows: int) -> None:
    """Warns the caller of ``calibrate`` where so many of its rows were training rows."""
    if rows:
        sentence = (
            f"{rows:,} of the rows {'was' if rows == 1 else 'were'} in the training data: "
            "coverage is guaranteed only if the model has not seen the calibration rows"
        )
        warnings.warn(sentence, DataWarning, stacklevel=3)


def warn(found: Sequence[Details | str]) -> None:
    """Warns the caller of a method of an estimator."""
    for warning in found:
        sentence = warning if isinstance(warning, str) else worded(warning)
        warnings.warn(sentence, DataWarning, stacklevel=3)
