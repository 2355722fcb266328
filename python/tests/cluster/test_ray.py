"""Ray: training on its workers, one of which is killed, and predictions of its data sets."""

from __future__ import annotations

import os
import signal

import numpy as np
import pandas as pd
import pytest
import ray
from quick import quick, rows

import negmm
from negmm import ray as adapter
from negmm import worker
from negmm.executor import RayExchange

X, Y = rows(200)


@pytest.fixture(scope="module", autouse=True)
def cluster():
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    yield
    ray.shutdown()


def fitted(executor=None, **parameters) -> bytes:
    return quick("auto", **{"folds": 4, **parameters}).fit(X, Y, executor=executor).model_.to_bytes()


def test_training_gives_the_same_bytes():
    assert fitted(ray) == fitted()
    assert fitted(ray, n_jobs=2) == fitted()


def test_workers_open_the_rows_in_a_shared_folder(tmp_path):
    assert fitted(negmm.SharedFolder(ray, tmp_path)) == fitted()
    assert os.listdir(tmp_path) == []


def test_a_folder_becomes_a_folder(tmp_path):
    source = tmp_path / "new"
    source.mkdir()
    for part in range(2):
        pd.DataFrame(X[part::2], columns=["a", "b", "c"]).to_parquet(source / f"part-{part}.parquet")
    model = quick("ngboost").fit(pd.DataFrame(X, columns=["a", "b", "c"]), Y)
    negmm.predict_folder(model, source, tmp_path / "here")
    names = negmm.predict_folder(model, source, tmp_path / "there", executor=ray)
    assert names == ["part-0.parquet", "part-1.parquet"]
    for name in names:
        assert (tmp_path / "there" / name).read_bytes() == (tmp_path / "here" / name).read_bytes()


def test_a_worker_that_is_killed_costs_a_retry(tmp_path, monkeypatch):
    begin, flag = RayExchange.__init__, str(tmp_path / "died")

    def die_once(rows, packed, job, n_jobs):
        try:
            os.close(os.open(flag, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return worker.train(rows, ray.get(packed[0]), job, n_jobs)
        os.kill(os.getpid(), signal.SIGKILL)

    def deadly(self, module, n_jobs):
        begin(self, module, n_jobs)
        self._train = module.remote(max_retries=0)(die_once)

    monkeypatch.setattr(RayExchange, "__init__", deadly)
    assert fitted(ray) == fitted()
    assert (tmp_path / "died").exists()


def test_a_job_that_cannot_be_trained_says_why(monkeypatch):
    send = RayExchange.send
    monkeypatch.setattr(RayExchange, "send", lambda self, number, rows, job: send(self, number, rows, b"no job"))
    with pytest.raises(ValueError, match="these bytes are no job"):
        fitted(ray)


def test_data_sets_are_predicted_where_they_are():
    model = quick("ensemble").fit(X, Y)
    many = np.random.default_rng(1).normal(size=(20_000, 3))
    columns = {f"x{column}": many[:, column] for column in range(3)} | {"id": np.arange(20_000)}
    dataset = ray.data.from_pandas(pd.DataFrame(columns)).repartition(4)
    found = adapter.predict(model, dataset, interval=0.9, above=1, keep=["id"]).to_pandas().sort_values("id")
    dist = model.predict_dist(many)
    assert list(found.columns) == ["id", "mean", "sd", "lower_0.9", "upper_0.9", "p_above_1"]
    np.testing.assert_array_equal(found["mean"], dist.mean())
    np.testing.assert_array_equal(found["upper_0.9"], dist.interval(0.9)[1])
    np.testing.assert_array_equal(found["p_above_1"], dist.sf(1))
