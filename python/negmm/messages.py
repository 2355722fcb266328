"""Responsible for what the core says, in Python's terms: parameters by their names here, rows from 0 and by their labels."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from negmm import _native

#: Options that have another name here, because estimators have a method of theirs.
RENAMED = {"loss": "score"}
#: What the core says of the command line, and what is meant here.
PHRASES = {
    r"name its column by the option group": "give its labels as groups",
    r"by the option (\w+) (\S+) and (\w+) (\S+)$": r"by \1=\2 and \3=\4",
    r"by the option (\w+) (\S+)$": r"by \1=\2",
    r"--date COL:(\w+)": r"dates={column: '\1'}",
    r"--date COL:FORM": "dates={column: form}",
    r"unless the option continuous is set": "unless continuous=True",
    r"--decimal \. or --decimal ,": "decimal=. or decimal=, where it is read",
}

_OPTIONS = {option["name"] for method in json.loads(_native.methods()) for option in method["options"]}
_HYPHENS = re.compile(r"\b(" + "|".join(sorted(name for name in _OPTIONS if "-" in name)) + r")\b")


class DataWarning(UserWarning):
    """Something odd about the data that is no error: a column that tells nothing, a category never seen in training."""


def option_of(parameter: str) -> str:
    """The name of a parameter on the command line."""
    return RENAMED.get(parameter, parameter.replace("_", "-"))


def parameters_in(message: str) -> str:
    """A message with the names that options have here.

    >>> parameters_in("learning-rate must be above 0, found -1")
    'learning_rate must be above 0, found -1'
    """
    message = _HYPHENS.sub(lambda found: found.group().replace("-", "_"), message)
    return re.sub(r"^score\b", "loss", spoken(message))


def spoken(sentence: str) -> str:
    """A sentence without the words of the command line."""
    for phrase, meant in PHRASES.items():
        sentence = re.sub(phrase, meant, sentence)
    return sentence


@contextmanager
def in_python_terms(X: Any = None) -> Iterator[None]:
    """What the core refuses is a ValueError that speaks of parameters, and of rows by their labels where ``X`` has labels."""
    try:
        yield
    except _native.OptionError as error:
        raise ValueError(parameters_in(str(error))) from None
    except ValueError as error:
        row, labels = getattr(error, "row", None), getattr(X, "index", None)
        if not (row is None or labels is None or type(labels).__name__ == "RangeIndex" or row >= len(labels)):
            error.args = (str(error).replace(f"row {row}", f"row {row} (index {labels[row]!r})", 1),)
        if type(error) is ValueError and len(error.args) == 1:
            error.args = (spoken(str(error)),)
        raise


def warn(sentences: list[str]) -> None:
    """Warns whoever called a method of an estimator."""
    for sentence in sentences:
        warnings.warn(spoken(sentence), DataWarning, stacklevel=3)
