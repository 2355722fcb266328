"""The same frame as CSV, Parquet, pandas, polars, pyarrow and duckdb gives the same bits."""

from __future__ import annotations

import datetime
import decimal

import duckdb
import numpy as np
import pandas
import polars
import pyarrow
import pyarrow.parquet
import pytest
from program import run
from quick import quick

FIT = ["--method", "ne-gmm", "--components", 2, "--hidden", 16, "--epochs", 60, "--learning-rate", 0.03]


def frame(rows: int = 120) -> tuple[pandas.DataFrame, pandas.Series]:
    """A column of every type, each with gaps where it can have some, and a target."""
    step = np.arange(rows)
    gaps = step % 11 == 3
    size = np.where(gaps, np.nan, (step * 7919 % 101) / 8)
    moment = pandas.Timestamp("2024-01-01 10:00:00.25") + pandas.to_timedelta(step * 3607 % 9001, unit="min")
    X = pandas.DataFrame(
        {
            "size": size,
            "count": step % 7,
            "sold": step % 3 == 0,
            "maybe": pandas.array([None if gap else bool(at % 2) for at, gap in zip(step, gaps)], dtype="boolean"),
            "city": [["Oslo", "Rome", None, "Łódź"][at % 4] for at in step],
            "share": [f"{at % 13} %" for at in step],
            "code": [f"{at % 9:03}" for at in step],
            "grade": pandas.Categorical(
                [["low", "high"][at % 5 // 3] for at in step], categories=["low", "mid", "high"]
            ),
            "when": pandas.Series(moment).mask(gaps),
            "day": [datetime.date(2024, 1, 1) + datetime.timedelta(days=int(at % 100)) for at in step],
            "lasts": pandas.Series(pandas.to_timedelta(step * 37 % 1000 / 4, unit="s")).mask(gaps),
            "price": [decimal.Decimal(int(at * 31 % 977)).scaleb(-2) for at in step],
        }
    )
    y = pandas.Series(np.nan_to_num(size) + (step % 3 == 0) + 0.01 * step, name="y")
    return X, y


def test_every_type_of_frame_gives_the_same_bits(tmp_path):
    X, y = frame()
    model = quick("ne-gmm").fit(X, y)
    bits = model.model_.to_bytes()
    means = model.predict(X)
    arrow = pyarrow.Table.from_pandas(X, preserve_index=False)
    ways = {
        # Of a copy: converting fills the gaps of times in the frame itself (pandas 3.0).
        "pandas backed by Arrow": lambda: X.copy(deep=True).convert_dtypes(dtype_backend="pyarrow"),
        "pyarrow": lambda: arrow,
        "pyarrow in chunks": lambda: pyarrow.concat_tables([arrow.slice(0, 50), arrow.slice(50)]),
        "a stream of pyarrow": arrow.to_reader,
        "polars": lambda: polars.from_arrow(arrow),
        "duckdb": lambda: duckdb.from_arrow(arrow),
    }
    for name, way in ways.items():
        assert quick("ne-gmm").fit(way(), y).model_.to_bytes() == bits, name
        np.testing.assert_array_equal(model.predict(way()), means, err_msg=name)

    whole = X.assign(y=y)
    whole.to_csv(tmp_path / "f.csv", index=False)
    pyarrow.parquet.write_table(pyarrow.Table.from_pandas(whole, preserve_index=False), tmp_path / "f.parquet")
    polars.from_arrow(arrow).with_columns(y=polars.Series(y.to_numpy())).write_parquet(tmp_path / "polars.parquet")
    model.save(tmp_path / "m.negmm")
    for name in ("f.csv", "f.parquet", "polars.parquet"):
        run("fit", tmp_path / name, "--target", "y", *FIT, "-o", tmp_path / "again.negmm")
        assert (tmp_path / "again.negmm").read_bytes() == bits, name
        run("predict", tmp_path / "m.negmm", tmp_path / name, "-o", tmp_path / "p.parquet")
        predicted = pyarrow.parquet.read_table(tmp_path / "p.parquet")
        np.testing.assert_array_equal(predicted["mean"].to_numpy(), means, err_msg=name)


def test_kept_columns_keep_their_type(tmp_path):
    X, y = frame()
    quick("ne-gmm").fit(X[["size"]], y).save(tmp_path / "m.negmm")
    arrow = pyarrow.Table.from_pandas(X.assign(id=np.arange(120) + 2**60), preserve_index=False)
    pyarrow.parquet.write_table(arrow, tmp_path / "f.parquet")
    keep = ["id", "grade", "when", "price", "sold"]
    run("predict", tmp_path / "m.negmm", tmp_path / "f.parquet", "--keep", ",".join(keep), "-o", tmp_path / "p.parquet")
    kept = pyarrow.parquet.read_table(tmp_path / "p.parquet").select(keep)
    assert kept.to_pylist() == arrow.select(keep).to_pylist()
    assert [kept.schema.field(name).type for name in keep[2:]] == [arrow.schema.field(name).type for name in keep[2:]]


def test_names_of_streams_are_kept_and_checked():
    X, y = frame()
    arrow = pyarrow.Table.from_pandas(X[["size", "count"]], preserve_index=False)
    for way in (lambda table: table, lambda table: table.to_reader(), duckdb.from_arrow):
        model = quick("ngboost").fit(way(arrow), y)
        assert model.feature_names_in_.tolist() == ["size", "count"]
        with pytest.raises(ValueError, match="feature names should match"):
            model.predict(way(arrow.select(["count", "size"])))
        with pytest.raises(ValueError, match="feature names should match|1 features"):
            model.predict(way(arrow.select(["size"])))
        np.testing.assert_array_equal(model.predict(way(arrow)), model.predict(X[["size", "count"]]))


def test_text_in_arrays_of_numpy():
    X, y = frame()
    words = np.array([["a" if at % 3 else "b", at % 7] for at in range(120)], dtype=object)
    model = quick("ngboost").fit(words, y)
    assert model._description()["inputs"] == [["x0", "text"], ["x1", "number"]]
    np.testing.assert_array_equal(model.predict(words.astype(str)), model.predict(words))


def test_intervals_and_truth_of_objects(tmp_path):
    _, y = frame()
    X = pandas.DataFrame(
        {"range": pandas.cut(np.arange(120) % 30, 4), "truth": [None, True, False, True] * 30}, dtype=object
    )
    X["range"] = pandas.cut(np.arange(120) % 30, 4)
    model = quick("ngboost").fit(X, y)
    assert model._description()["inputs"] == [["range", "text"], ["truth", "number"]]
    model.save(tmp_path / "m.negmm")
    X.to_csv(tmp_path / "f.csv", index=False)
    run("predict", tmp_path / "m.negmm", tmp_path / "f.csv", "-o", tmp_path / "p.parquet")
    means = pyarrow.parquet.read_table(tmp_path / "p.parquet")["mean"].to_numpy()
    np.testing.assert_array_equal(means, model.predict(X))
    intervals = X.assign(range=pandas.array(X["range"].astype(pandas.IntervalDtype("float64"))))
    np.testing.assert_array_equal(model.predict(intervals), means)


def test_dates_given_by_the_caller():
    _, y = frame()
    days = [datetime.date(2024, 1, 1) + datetime.timedelta(days=at % 12) for at in range(120)]
    typed = quick("ngboost").fit(pandas.DataFrame({"day": pandas.to_datetime(days)}), y)
    numbers = pandas.DataFrame({"day": [int(day.strftime("%Y%m%d")) for day in days]})
    named = quick("ngboost").fit(numbers, y, dates=["day"])
    assert named.model_.to_bytes() == typed.model_.to_bytes()
    slashes = pandas.DataFrame({"day": [day.strftime("%d/%m/%Y") for day in days]})
    formatted = quick("ngboost").fit(slashes, y, dates={"day": "dmy"})
    np.testing.assert_array_equal(
        formatted.predict(slashes), typed.predict(pandas.DataFrame({"day": pandas.to_datetime(days)}))
    )
    with pytest.raises(ValueError, match="the format of a date must be one of"):
        quick("ngboost").fit(slashes, y, dates={"day": "ydm"})


def test_nested_columns_are_refused():
    nested = pyarrow.table({"a": [[1], [2]]})
    with pytest.raises(ValueError, match='column "a": expected numbers, times or text, found List'):
        quick("ngboost").fit(nested, [1.0, 2.0])
