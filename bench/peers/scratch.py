"""Fits of a table of many Parquet files, in memory and from scratch files: processor time, peak memory, and whether the models are the
same.

    python bench/peers/scratch.py target/release/negmm FOLDER --rows 4000000 --files 8 --steps 1000 --memory 2 [--lightgbm]

Makes the files in FOLDER unless they are there: ten columns, a target whose spread and skewness depend on them. Needs pyarrow;
LightGBM is fitted to 21 quantiles with --lightgbm.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

INPUTS = 10
GIGABYTE = 1 << 30


def rows(rng: np.random.Generator, count: int) -> pa.Table:
    """Rows with eight numbers, a category and a flag."""
    x = rng.normal(size=(count, INPUTS - 2)).astype(np.float64)
    kind = rng.integers(0, 12, count)
    flag = rng.random(count) < 0.3
    mean = np.sin(2 * x[:, 0]) + x[:, 1] * x[:, 2] + 0.3 * kind + flag * x[:, 3]
    y = mean + np.exp(0.5 * x[:, 4]) * rng.gamma(2.0, 0.5, count)
    columns = {f"x{at}": x[:, at] for at in range(x.shape[1])}
    kinds = pa.array([f"kind {number}" for number in range(12)]).take(pa.array(kind))
    return pa.table({**columns, "kind": kinds, "flag": flag, "y": y})


def make(folder: Path, count: int, files: int) -> Path:
    """The files of so many rows; each has its own random numbers."""
    data = folder / f"rows-{count}"
    data.mkdir(parents=True, exist_ok=True)
    for number in range(files):
        path = data / f"part-{number:03}.parquet"
        if not path.exists():
            part = rows(np.random.default_rng(number), count // files)
            pq.write_table(part, path.with_suffix(".part"))
            path.with_suffix(".part").rename(path)
    test = folder / "test.parquet"
    if not test.exists():
        pq.write_table(rows(np.random.default_rng(10**6), 50_000), test)
    return data


def run(command: list[str]) -> tuple[float, float, float]:
    """Seconds, processor seconds and peak gigabytes of a program."""
    start = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"{' '.join(command)}: exit code {process.returncode}")
    return time.perf_counter() - start, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024 / GIGABYTE


def lightgbm(data: Path, test: Path) -> None:
    """21 quantiles, sorted; the CRPS as twice the mean pinball loss."""
    import lightgbm as lgb

    def read(path: Path) -> tuple[np.ndarray, np.ndarray]:
        table = pq.read_table(path)
        kind = table["kind"].combine_chunks().dictionary_encode()
        order = np.argsort(kind.dictionary.to_numpy(zero_copy_only=False))
        rank = np.empty(len(order))
        rank[order] = np.arange(len(order))
        columns = [table[f"x{at}"].to_numpy() for at in range(INPUTS - 2)]
        columns += [rank[kind.indices.to_numpy()], table["flag"].to_numpy().astype(float)]
        return np.column_stack(columns).astype(np.float32), table["y"].to_numpy()

    start = time.process_time()
    x, y = read(data)
    levels = (np.arange(21) + 0.5) / 21
    params = {"objective": "quantile", "learning_rate": 0.1, "num_leaves": 63, "verbose": -1, "num_threads": 2}
    rows = lgb.Dataset(x, y, categorical_feature=[INPUTS - 2], free_raw_data=True)
    tested, truth = read(test)
    predicted = []
    for level in levels:
        booster = lgb.train({**params, "alpha": level}, rows, 100)
        predicted.append(booster.predict(tested))
    quantiles = np.sort(np.column_stack(predicted), axis=1)
    errors = truth[:, None] - quantiles
    crps = 2 * np.maximum(levels * errors, (levels - 1) * errors).mean()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / GIGABYTE
    print(f"| LightGBM, 21 quantiles | {time.process_time() - start:.0f} | {peak:.2f} | {crps:.4f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int, default=4_000_000)
    parser.add_argument("--files", type=int, default=8)
    parser.add_argument("--steps", type=int)
    parser.add_argument("--memory", default="2")
    parser.add_argument("--where", default="memory,disk")
    parser.add_argument("--options", default="")
    parser.add_argument("--lightgbm", action="store_true")
    chosen = parser.parse_args()
    data = make(chosen.folder, chosen.rows, chosen.files)
    options = chosen.options.split() + (["--steps", str(chosen.steps)] if chosen.steps else [])
    print(f"{chosen.rows} rows of {INPUTS} inputs in {chosen.files} files, {' '.join(options) or 'defaults'}")
    print("| fit | processor seconds | peak GB | seconds |\n|---|---|---|---|")
    models = []
    for where in chosen.where.split(","):
        model = chosen.folder / f"{where}.negmm"
        more = {"memory": [], "disk": ["--memory", chosen.memory, "--scratch", str(chosen.folder)]}[where]
        command = [chosen.program, "fit", str(data), "--target", "y", "-o", str(model), *options, *more]
        seconds, processor, peak = run(command)
        print(f"| {where} | {processor:.0f} | {peak:.2f} | {seconds:.0f} |", flush=True)
        models.append(model.read_bytes())
    if len(models) == 2:
        print(f"same model: {models[0] == models[1]}")
    if chosen.lightgbm:
        print("| | processor seconds | peak GB | CRPS |\n|---|---|---|---|")
        lightgbm(data, chosen.folder / "test.parquet")


if __name__ == "__main__":
    main()
