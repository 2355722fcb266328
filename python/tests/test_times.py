"""Dates and times: every type gives the model of the same times as text, and the program reads them."""

from __future__ import annotations

import datetime

import numpy as np
import pandas
import polars
import pytest
from program import run
from quick import quick


def rides(rows: int = 120) -> tuple[pandas.Series, np.ndarray]:
    """Times, one of them missing, and what depends on their hour."""
    minutes = np.arange(rows) * 7919 % 100_003
    when = pandas.Series(pandas.Timestamp("2024-01-01") + pandas.to_timedelta(minutes, unit="min"), name="when")
    y = np.sin(2 * np.pi * (when.dt.hour + when.dt.minute / 60) / 24).to_numpy() + 0.01 * np.arange(rows)
    when[3] = pandas.NaT
    return when, y


def text_of(when: pandas.Series) -> list[str | None]:
    return [None if gap else str(cell) for cell, gap in zip(when, when.isna(), strict=True)]


@pytest.mark.parametrize("name", ["ne-gmm", "ngboost"])
def test_every_type_of_time_gives_the_same_model(name):
    when, y = rides()
    words = pandas.DataFrame({"when": pandas.Series(text_of(when), dtype=object)})
    model = quick(name).fit(words, y)
    assert model._description()["inputs"] == [["when", "time"]]
    bits = model.model_.to_bytes()
    objects = [None if gap else cell.to_pydatetime() for cell, gap in zip(when, when.isna(), strict=True)]
    zoned = when.dt.tz_localize("UTC")
    frames = [
        pandas.DataFrame({"when": when}),
        pandas.DataFrame({"when": when.astype("datetime64[s]")}),
        pandas.DataFrame({"when": zoned}),
        pandas.DataFrame({"when": zoned.dt.tz_convert("Asia/Tokyo")}),
        pandas.DataFrame({"when": pandas.Series(objects, dtype=object)}),
        polars.DataFrame({"when": objects}),
        polars.DataFrame(
            {"when": polars.Series(objects).dt.replace_time_zone("UTC").dt.convert_time_zone("Asia/Tokyo")}
        ),
        polars.DataFrame({"when": text_of(when)}),
    ]
    for frame in frames:
        assert quick(name).fit(frame, y).model_.to_bytes() == bits
        np.testing.assert_array_equal(model.predict(frame), model.predict(words))


def test_a_matrix_of_times():
    when, y = rides()
    frame = pandas.DataFrame({"x0": when, "x1": when + pandas.Timedelta("3h")})
    matrix = frame.to_numpy()
    assert matrix.dtype.kind == "M"
    model = quick("ngboost").fit(matrix, y)
    assert model._description()["inputs"] == [["x0", "time"], ["x1", "time"]]
    assert model.model_.to_bytes() == quick("ngboost").fit(frame, y).model_.to_bytes()
    np.testing.assert_array_equal(model.predict(matrix), model.predict(matrix.astype("datetime64[us]")))


def test_lengths_of_time_are_seconds():
    _, y = rides()
    seconds = np.arange(120.0) * 90
    numbers = pandas.DataFrame({"a": seconds})
    expected = quick("ngboost").fit(numbers, y).predict(numbers)
    lengths = pandas.Series(pandas.to_timedelta(seconds, unit="s"))
    frames = (
        pandas.DataFrame({"a": lengths}),
        pandas.DataFrame({"a": [str(length) for length in lengths]}),
        polars.DataFrame({"a": polars.Series(seconds * 1e6).cast(polars.Duration("us"))}),
    )
    assert len({quick("ngboost").fit(frame, y).model_.to_bytes() for frame in frames}) == 1
    for frame in frames:
        np.testing.assert_array_equal(quick("ngboost").fit(frame, y).predict(numbers), expected)
    plain = quick("ngboost").fit(seconds[:, np.newaxis], y)
    np.testing.assert_array_equal(
        plain.predict(lengths.to_numpy()[:, np.newaxis]), plain.predict(seconds[:, np.newaxis])
    )


def test_dates_and_times_of_day():
    _, y = rides()
    days = [datetime.date(2024, 1, 1) + datetime.timedelta(days=row) for row in range(120)]
    bits = {
        quick("ngboost").fit(frame, y).model_.to_bytes()
        for frame in (
            pandas.DataFrame({"day": pandas.Series(days, dtype=object)}),
            pandas.DataFrame({"day": [str(day) for day in days]}),
            pandas.DataFrame({"day": pandas.to_datetime(days)}),
            pandas.DataFrame({"day": pandas.PeriodIndex(days, freq="D")}),
            polars.DataFrame({"day": days}),
        )
    }
    assert len(bits) == 1
    clock = [datetime.time(row % 24, row % 60) for row in range(120)]
    bits = {
        quick("ngboost").fit(frame, y).model_.to_bytes()
        for frame in (
            pandas.DataFrame({"at": pandas.Series(clock, dtype=object)}),
            pandas.DataFrame({"at": [time.strftime("%H:%M") for time in clock]}),
            polars.DataFrame({"at": clock}),
        )
    }
    assert len(bits) == 1


def test_the_program_predicts_the_same_from_a_file(tmp_path):
    when, y = rides()
    frame = pandas.DataFrame({"when": when, "x": np.arange(120.0)})
    model = quick("ngboost").fit(frame, pandas.Series(y, name="y"))
    model.save(tmp_path / "m.negmm")
    frame.to_csv(tmp_path / "f.csv", index=False)
    run("predict", tmp_path / "m.negmm", tmp_path / "f.csv", "-o", tmp_path / "p.csv")
    np.testing.assert_array_equal(
        pandas.read_csv(tmp_path / "p.csv", float_precision="round_trip")["mean"], model.predict(frame)
    )


def test_ambiguous_dates_are_refused():
    frame = pandas.DataFrame({"when": ["01/02/2012", "03/04/2012"] * 20})
    with pytest.raises(ValueError, match='"01/02/2012" may be dmy or mdy'):
        quick("ngboost").fit(frame, np.arange(40.0))
