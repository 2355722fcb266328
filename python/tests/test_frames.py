"""Frames of pandas and polars: names, text, missing cells, and unsupported types."""

from __future__ import annotations

import datetime
import decimal

import numpy as np
import pandas
import polars
import pytest
from quick import NAMES, quick
from test_model_file import people

import negmm


def split(frame):
    return frame.drop(columns="price"), frame["price"]


@pytest.mark.parametrize("name", NAMES)
def test_pandas_and_polars_give_the_same_model(name):
    frame = people()
    X, y = split(frame)
    bits = quick(name).fit(X, y).model_.to_bytes()
    cells = {
        name: [None if gap else cell for cell, gap in zip(frame[name], frame[name].isna(), strict=True)]
        for name in frame
    }
    other = polars.DataFrame(cells)
    kinds = [
        (X.convert_dtypes(), y),
        (X.astype({"place": "category"}), y),
        (X.astype({"place": object, "size": object}), y),
        (other.drop("price"), other["price"]),
        (other.drop("price").with_columns(polars.col("place").cast(polars.Categorical)), other["price"]),
    ]
    for X, y in kinds:
        assert quick(name).fit(X, y).model_.to_bytes() == bits


def test_text_columns_are_informative():
    X, y = split(people(300))
    model = quick("ngboost").fit(X, y)
    places = pandas.DataFrame({"size": 60.0, "age": 40.0, "place": ["Oslo", "Rome", "Łódź", "Atlantis", None]})
    with pytest.warns(negmm.DataWarning, match='column "place": 1 cell holds a category never seen in training'):
        oslo, rome, lodz, *_ = model.predict(places)
    assert oslo > rome + 25
    assert oslo > lodz + 25


def test_names_are_kept_and_checked():
    X, y = split(people())
    model = quick("mdn").fit(X, y)
    assert model.feature_names_in_.tolist() == ["size", "age", "place"]
    assert model._description()["target"] == "price"
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(X[["age", "size", "place"]])
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(X.rename(columns={"age": "years"}))
    with pytest.raises(ValueError, match="feature names"):
        model.predict(X[["size", "age"]])
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        numeric = quick("mdn").fit(X[["size", "age"]], y).predict(X[["size", "age"]].to_numpy())
    assert numeric.shape == y.shape


def test_column_names_may_equal_those_of_target_and_weight():
    frame = people()
    X = pandas.DataFrame({"y": frame["size"], "sample_weight": frame["age"], "y_": 1.0 * np.arange(80)})
    for y in (
        frame["price"].rename("y"),
        frame["price"].to_numpy(),
        frame["price"].rename(7),
        frame["price"].rename("sample_weight"),
    ):
        model = quick("ngboost").fit(X, y, sample_weight=np.ones(80))
        assert [name for name, _ in model._description()["inputs"]] == ["y", "sample_weight", "y_"]
        assert model.score(X, y) > 0.5


def test_columns_without_text_as_names():
    X, y = split(people())
    numbered = X.set_axis([0, 1, 2], axis=1)
    model = quick("ngboost").fit(numbered, y)
    assert not hasattr(model, "feature_names_in_")
    assert model._description()["inputs"] == [["x0", "number"], ["x1", "number"], ["x2", "text"]]
    assert model.predict(numbered).shape == y.shape
    twice = X.set_axis(["a", "b", "b"], axis=1)
    with pytest.raises(ValueError, match="the column name .b. occurs more than once"):
        quick("ngboost").fit(twice, y)
    with pytest.raises(TypeError, match="feature names"):
        quick("ngboost").fit(X.set_axis(["a", 1, "b"], axis=1), y)


def test_kinds_of_numbers():
    _, y = split(people())
    numbers = np.arange(80) % 7
    expected = quick("ngboost").fit(pandas.DataFrame({"a": numbers.astype(float)}), y).model_.to_bytes()
    columns = [
        pandas.Series(numbers.astype(np.int8)),
        pandas.Series(numbers.astype(np.float32)),
        pandas.Series(numbers, dtype="Int64"),
        pandas.Series(list(numbers), dtype=object),
        pandas.Series([decimal.Decimal(int(number)) for number in numbers]).astype(float),
        polars.Series(numbers, dtype=polars.UInt16),
        polars.Series(numbers).cast(polars.Decimal(10, 2)),
    ]
    for column in columns:
        frame = (
            polars.DataFrame({"a": column}) if isinstance(column, polars.Series) else pandas.DataFrame({"a": column})
        )
        assert quick("ngboost").fit(frame, y).model_.to_bytes() == expected
    truth = numbers % 2 == 0
    bits = {
        quick("ngboost").fit(frame, y).model_.to_bytes()
        for frame in (
            pandas.DataFrame({"a": truth}),
            pandas.DataFrame({"a": truth}, dtype="boolean"),
            polars.DataFrame({"a": truth}),
            pandas.DataFrame({"a": [str(cell) for cell in truth]}),
        )
    }
    assert len(bits) == 1
    model = quick("ngboost").fit(pandas.DataFrame({"a": truth}), y)
    plain = pandas.DataFrame({"a": truth.astype(float)})
    np.testing.assert_array_equal(model.predict(plain), quick("ngboost").fit(plain, y).predict(plain))


def test_numbers_among_text_are_text():
    _, y = split(people())
    mixed = pandas.DataFrame({"code": [[7, "seven", 7.5, None][row % 4] for row in range(80)]}, dtype=object)
    words = pandas.DataFrame({"code": [["7", "seven", "7.5", None][row % 4] for row in range(80)]}, dtype=object)
    category = pandas.DataFrame({"code": pandas.Categorical([row % 4 for row in range(80)])})
    assert quick("ngboost").fit(mixed, y).model_.to_bytes() == quick("ngboost").fit(words, y).model_.to_bytes()
    model = quick("ngboost").fit(category, y)
    assert model._description()["inputs"] == [["code", "text"]]
    # Where a file has numbers, the core writes them as text in the same way.
    plain = pandas.DataFrame({"code": [row % 4 for row in range(80)]})
    np.testing.assert_array_equal(model.predict(plain), model.predict(category))


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (pandas.Series(np.arange(80) * 1j), "expected numbers, times or text, found complex128"),
        (pandas.Series([{"a": 1}] * 80), 'column "a", row 0: expected a number or text, found dict'),
        (
            pandas.Series([1.0, None, datetime.date(2024, 1, 1)] * 26 + [1.0, 2.0]),
            'column "a", row 2: expected a number or text, found date',
        ),
        (polars.Series([[1, 2]] * 80), 'column "a": expected numbers, times or text, found LargeList'),
        (pandas.Series([1.0] * 79 + [np.inf]), 'column "a", row 79: the number "inf" is not finite'),
    ],
)
def test_unsupported_columns_are_refused(column, message):
    frame = polars.DataFrame({"a": column}) if isinstance(column, polars.Series) else pandas.DataFrame({"a": column})
    with pytest.raises(ValueError) as caught:
        quick("ngboost").fit(frame, split(people())[1])
    assert message in str(caught.value)


def test_a_column_that_is_missing_throughout_is_not_used():
    _, y = split(people())
    for frame in (
        pandas.DataFrame({"a": [None] * 80, "b": np.arange(80)}),
        polars.DataFrame({"a": [None] * 80, "b": np.arange(80)}),
    ):
        with pytest.warns(negmm.DataWarning, match='column "a" is missing in every row and not used'):
            quick("ngboost").fit(frame, y)


def test_text_where_there_were_numbers():
    X, y = split(people())
    model = quick("ngboost").fit(X, y)
    with pytest.raises(ValueError, match='row 1, column "size": expected a number, found "big"'):
        model.predict(pandas.DataFrame({"size": ["1", "big"], "age": [1.0, 2.0], "place": ["Oslo", "Rome"]}))
    digits = pandas.DataFrame({"size": ["1", "2"], "age": [1.0, 2.0], "place": ["Oslo", "Rome"]})
    np.testing.assert_array_equal(model.predict(digits), model.predict(digits.astype({"size": float})))
