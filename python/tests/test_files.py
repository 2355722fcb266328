"""Files as tables of estimators: paths, patterns, lists, datasets of pyarrow, and samples of rows."""

from __future__ import annotations

import numpy as np
import pandas
import pyarrow.dataset
import pytest
from quick import quick

import negmm


@pytest.fixture
def frame():
    rng = np.random.default_rng(3)
    x = rng.normal(size=90)
    towns = np.array(["Oslo", "Rome", "Bern"])[rng.integers(0, 3, 90)]
    return pandas.DataFrame({"x": x, "town": towns, "price": 2 * x + (towns == "Rome") + 0.1 * rng.normal(size=90)})


@pytest.fixture
def folder(frame, tmp_path):
    parts = tmp_path / "parts"
    parts.mkdir()
    frame[:40].to_csv(parts / "1.csv", index=False)
    frame[40:70][["town", "price", "x"]].to_csv(parts / "2.csv.gz", index=False)
    frame[70:].to_parquet(parts / "3.parquet", index=False)
    return parts


def test_files_give_the_model_of_the_frame(frame, folder):
    X = frame[["x", "town"]]
    expected = quick("mdn").fit(X, frame["price"])
    parts = sorted(folder.iterdir())
    for files in [folder, str(folder), f"{folder}/*", parts, [str(part) for part in parts]]:
        model = quick("mdn").fit(files, "price")
        assert model.model_.to_bytes() == expected.model_.to_bytes()
    assert model._description()["target"] == "price"
    assert model.feature_names_in_.tolist() == ["x", "town"]
    # Of files the columns of the model are taken, in any order and among others.
    np.testing.assert_array_equal(expected.predict(folder), expected.predict(X))
    assert expected.predict(parts[1]).shape == (30,)
    assert quick("mdn").fit(frame, "price").model_.to_bytes() == expected.model_.to_bytes()


def test_datasets_of_pyarrow(frame, tmp_path):
    frame.assign(year=np.repeat([2024, 2025], 45)).to_parquet(tmp_path / "sales", partition_cols=["year"], index=False)
    dataset = pyarrow.dataset.dataset(tmp_path / "sales", partitioning="hive")
    model = quick("mdn").fit(dataset, "price")
    assert model.feature_names_in_.tolist() == ["x", "town", "year"]
    assert model.predict(dataset).shape == (90,)
    # Folders are columns for files, too.
    np.testing.assert_array_equal(model.predict(tmp_path / "sales"), model.predict(dataset))


def test_a_table_is_read_and_a_sample_drawn(frame, folder):
    X, y = negmm.read_files(folder, target="price")
    assert X.shape == (90, 2)
    np.testing.assert_array_equal(y, frame["price"])
    assert quick("mdn").fit(X, y).predict(X).shape == (90,)
    X, y = negmm.read_files([folder], "price", sample=20)
    assert (X.shape, y.shape) == ((20, 2), (20,))
    assert set(y) < set(frame["price"])
    again, other = (negmm.read_files(folder, "price", sample=20, random_state=seed)[1] for seed in (0, 1))
    np.testing.assert_array_equal(y, again)
    assert set(y) != set(other)


def test_errors_name_the_file_and_the_column(folder):
    with pytest.raises(ValueError, match='there is no column "cost"; the columns are "x", "town", "price"'):
        quick("mdn").fit(folder, "cost")
    with pytest.raises(ValueError, match="no file has a name of this pattern"):
        quick("mdn").fit(f"{folder}/*.txt", "price")
    (folder / "4.csv").write_text("x,town\n1,2\n")
    with pytest.raises(ValueError, match=r'4\.csv, column "price": is absent, but .*1\.csv has it'):
        quick("mdn").fit(folder, "price")
    with pytest.raises(ValueError, match="y may be the name of a column only where X is files or a data frame"):
        quick("mdn").fit(np.zeros((9, 1)), "price")
