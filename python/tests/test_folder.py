"""Predictions of a folder of files as a folder."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import external
import numpy as np
import pytest

import negmm

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


@pytest.fixture
def model():
    rng = np.random.default_rng(0)
    table = pa.table({"x": rng.normal(size=80), "year": [2024 + row % 2 for row in range(80)]})
    return negmm.NGBoostRegressor(n_estimators=5).fit(table, np.arange(80.0) % 7)


@pytest.fixture
def source(tmp_path):
    for number, year in enumerate([2024, 2025, 2025]):
        folder = tmp_path / "new" / f"year={year}"
        folder.mkdir(parents=True, exist_ok=True)
        rows = pa.table({"id": [f"{number}-{row}" for row in range(30)], "x": np.linspace(-1, number, 30)})
        pq.write_table(rows.slice(0, 0 if number == 2 else 30), folder / f"part-{number}.parquet")
    (tmp_path / "new" / "_SUCCESS").write_bytes(b"")
    return tmp_path / "new"


def test_each_file_becomes_a_file(model, source, tmp_path):
    names = negmm.predict_folder(model, source, tmp_path / "out", interval=0.9, keep=["id"])
    assert names == ["year=2024/part-0.parquet", "year=2025/part-1.parquet", "year=2025/part-2.parquet"]
    for name, year in zip(names, [2024, 2025, 2025]):
        rows = pq.ParquetFile(source / name).read()
        predicted = pq.ParquetFile(tmp_path / "out" / name).read()
        assert predicted.column_names == ["id", "mean", "sd", "lower_0.9", "upper_0.9"]
        assert predicted["id"].equals(rows["id"])
        if len(rows) > 0:
            known = pa.table({"x": rows["x"], "year": [year] * len(rows)})
            assert predicted["mean"].to_pylist() == model.predict(known).tolist()
    with ThreadPoolExecutor(2) as executor:
        assert negmm.predict_folder(model, source, tmp_path / "same", executor=executor, interval=0.9, keep=["id"]) == names
    for name in names:
        assert (tmp_path / "same" / name).read_bytes() == (tmp_path / "out" / name).read_bytes()


def test_what_goes_wrong_leaves_no_incomplete_file(model, source, tmp_path):
    with pytest.raises(ValueError, match="no Parquet file"):
        negmm.predict_folder(model, tmp_path / "out", tmp_path / "out")
    with pytest.raises(ValueError, match="folder of their own"):
        negmm.predict_folder(model, source, source)
    pq.write_table(pa.table({"z": [1.0]}), source / "year=2024" / "part-9.parquet")
    with pytest.raises(ValueError, match="none called x"):
        negmm.predict_folder(model, source, tmp_path / "out")
    assert sorted(file.name for file in (tmp_path / "out").rglob("*") if file.is_file()) == ["part-0.parquet"]


@pytest.mark.skipif(os.name != "posix", reason="processes are looked up by signals")
def test_what_a_killed_process_left_is_removed(model, source, tmp_path):
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        pass
    host = socket.gethostname()
    left, lives = (f".part-0.parquet.{pid}@{host}.part" for pid in (process.pid, os.getppid()))
    folder = tmp_path / "out" / "year=2024"
    folder.mkdir(parents=True)
    for name in (left, lives, f".part-0.parquet.{process.pid}@elsewhere.part"):
        (folder / name).touch()
    negmm.predict_folder(model, source, tmp_path / "out")
    assert sorted(os.listdir(folder)) == sorted([lives, f".part-0.parquet.{process.pid}@elsewhere.part", "part-0.parquet"])


def test_dask_writes_the_same_folder(model, source, tmp_path):
    distributed = external.module("distributed")
    negmm.predict_folder(model, source, tmp_path / "out")
    with distributed.Client(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None) as client:
        names = negmm.predict_folder(model, source, tmp_path / "dask", executor=client)
    for name in names:
        assert (tmp_path / "dask" / name).read_bytes() == (tmp_path / "out" / name).read_bytes()
