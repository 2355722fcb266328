"""Distributed training over executors and distributed prediction: times, and whether the results equal those of one
machine.

    python distributed.py train                                    # fits here, by processes, Dask and Ray
    python distributed.py score --program negmm [--rows 1000000]   # Spark, Dask and Ray beside `negmm predict`

`train` prints seconds and bytes; in one run of each a worker is killed.

Needs negmm with dask[distributed], ray[data] and pyspark (and a Java runtime) installed. Prints tables in Markdown.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import numpy as np

#: Rows and inputs of the fit, and its parameters: ten networks of about half a second at 300 steps.
ROWS, INPUTS = 2000, 8
FIT = {"preset": "fast", "folds": 10}


def rows(count: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(count, INPUTS))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=count)


def fitted(steps: int, executor=None) -> tuple[bytes, float]:
    import negmm

    X, y = rows(ROWS)
    start = time.perf_counter()
    model = negmm.AutoRegressor(**FIT, steps=steps).fit(X, y, executor=executor)
    return model.model_.to_bytes(), time.perf_counter() - start


@contextmanager
def processes(workers: int):
    with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn")) as pool:
        list(pool.map(_warm, range(4 * workers)))
        yield pool, lambda: next(iter(pool._processes))


@contextmanager
def dask(workers: int):
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        client.run(_warm, 0)
        yield client, lambda: next(iter(client.run(os.getpid).values()))


@contextmanager
def ray(workers: int):
    import ray

    ray.init(num_cpus=workers, include_dashboard=False, log_to_driver=False)
    pids = ray.get([ray.remote(_warm).remote(0) for _ in range(4 * workers)])
    yield ray, lambda: pids[0]
    ray.shutdown()


def _warm(_: int) -> int:
    import negmm  # noqa: F401

    time.sleep(0.2)
    return os.getpid()


def train(arguments: argparse.Namespace) -> None:
    expected, alone = fitted(arguments.steps)
    print("| engine | workers | seconds | speed-up | same bytes |\n|---|---|---|---|---|")
    print(f"| here, one thread | - | {alone:.1f} | 1.0 | |", flush=True)
    for name, engine in {"processes": processes, "Dask": dask, "Ray": ray}.items():
        for workers, killed in [
            *((workers, False) for workers in arguments.workers),
            (2, True),
        ]:
            with engine(workers) as (executor, victim):
                if killed:
                    pid = victim()
                    threading.Timer(0.3 * alone, os.kill, (pid, signal.SIGKILL)).start()
                found, seconds = fitted(arguments.steps, executor)
                note = ", one killed" if killed else ""
                same = "yes" if found == expected else "NO"
                print(
                    f"| {name} | {workers}{note} | {seconds:.1f} | {alone / seconds:.2f} | {same} |",
                    flush=True,
                )


def score(arguments: argparse.Namespace) -> None:
    import pandas as pd
    import pyarrow.parquet

    import negmm

    X, y = rows(ROWS)
    names = [f"x{column}" for column in range(INPUTS)]
    query = {"interval": 0.9, "above": 1}
    folder = Path(tempfile.mkdtemp())
    model = negmm.EnsembleRegressor(member="ne-gmm", ensemble_size=5, epochs=20).fit(X, y)
    model.save(folder / "model.negmm")
    many = pd.DataFrame(rows(arguments.rows, seed=1)[0], columns=names).assign(id=np.arange(arguments.rows))
    many.to_parquet(folder / "rows.parquet", row_group_size=50_000)
    start = time.perf_counter()
    command = [
        arguments.program,
        "predict",
        folder / "model.negmm",
        folder / "rows.parquet",
        "-o",
        folder / "out.parquet",
    ]
    subprocess.run(
        [*map(str, command), "--interval", "0.9", "--above", "1"],
        check=True,
        capture_output=True,
    )
    seconds = time.perf_counter() - start
    expected = pyarrow.parquet.read_table(folder / "out.parquet").to_pandas()
    print(f"| engine | seconds for {arguments.rows:,} rows | same numbers |\n|---|---|---|")
    print(f"| negmm predict | {seconds:.1f} | |", flush=True)
    for name, engine in {"Spark": _spark, "Dask": _dask, "Ray Data": _ray}.items():
        found, seconds = engine(model, folder / "rows.parquet", query)
        found = found.sort_values("id")
        columns = ["mean", "sd", "lower_0.9", "upper_0.9", "p_above_1"]
        same = all(np.array_equal(found[column], expected[column]) for column in columns)
        print(f"| {name} | {seconds:.1f} | {'yes' if same else 'NO'} |", flush=True)


def _spark(model, path, query):
    from pyspark.sql import SparkSession

    from negmm import spark

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = (
        SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config("spark.driver.memory", "4g")
    )
    session = builder.config("spark.sql.execution.arrow.pyspark.enabled", "true").getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    frame = session.read.parquet(str(path))
    start = time.perf_counter()
    found = spark.predict(model, frame, **query, keep=["id"]).toPandas()
    seconds = time.perf_counter() - start
    session.stop()
    return found, seconds


def _dask(model, path, query):
    import dask.dataframe
    from distributed import Client

    from negmm import dask as adapter

    with Client(n_workers=2, threads_per_worker=1, dashboard_address=None):
        frame = dask.dataframe.read_parquet(path, split_row_groups=True)
        start = time.perf_counter()
        found = adapter.predict(model, frame, **query, keep=["id"]).compute()
        return found, time.perf_counter() - start


def _ray(model, path, query):
    import ray

    from negmm import ray as adapter

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    dataset = ray.data.read_parquet(str(path))
    start = time.perf_counter()
    found = adapter.predict(model, dataset, **query, keep=["id"]).to_pandas()
    seconds = time.perf_counter() - start
    ray.shutdown()
    return found, seconds


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    training = commands.add_parser("train")
    training.set_defaults(run=train)
    training.add_argument("--steps", type=int, default=300)
    training.add_argument("--workers", type=int, nargs="*", default=[1, 2, 4])
    scoring = commands.add_parser("score")
    scoring.set_defaults(run=score)
    scoring.add_argument("--program", default="negmm")
    scoring.add_argument("--rows", type=int, default=1_000_000)
    chosen = parser.parse_args()
    chosen.run(chosen)
