"""Fits of a table of many Parquet files, in memory and from scratch files: processor time, peak memory, CRPS of other rows, and whether
the models are the same.

    python bench/peers/scratch.py target/release/negmm FOLDER --rows 4000000 --files 8 --steps 1000 --memory 2
        [--where memory,disk] [--threads 1] [--lightgbm memory,two_round] [--levels 21]

Makes the files in FOLDER unless they are there: ten columns, a target whose spread and skewness depend on them. A table that is larger
than --memory gigabytes goes into scratch files in FOLDER. Needs pyarrow; LightGBM is fitted to 21 quantiles with --lightgbm, in memory
or from a text file in two rounds. With fewer --levels only so many of the 21 are fitted, those in the middle first: their time tells that
of all, and there is no CRPS.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import resource
import subprocess
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import csv

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


def encoded(path: Path) -> pa.Table:
    """The columns as LightGBM takes them: the target first, the category by its number, the flag as 0 or 1."""
    table = pq.read_table(path)
    kind = table["kind"].combine_chunks().dictionary_encode()
    order = np.argsort(kind.dictionary.to_numpy(zero_copy_only=False))
    rank = np.empty(len(order))
    rank[order] = np.arange(len(order))
    numbers = {f"x{at}": table[f"x{at}"].to_numpy().astype(np.float32) for at in range(INPUTS - 2)}
    flag = table["flag"].to_numpy().astype(np.float32)
    return pa.table({"y": table["y"], **numbers, "kind": rank[kind.indices.to_numpy()], "flag": flag})


def write_text(data: Path, file: Path) -> None:
    """All rows as one CSV file without a header, part by part."""
    with open(file, "wb") as out:
        for part in sorted(data.glob("*.parquet")):
            csv.write_csv(encoded(part), out, csv.WriteOptions(include_header=False))


def lightgbm(data: Path, test: Path, file: Path | None, threads: int, fitted: int) -> None:
    """Quantiles of 21 levels, sorted; the CRPS as twice the mean pinball loss. From `file` in two rounds, or in memory."""
    import lightgbm as lgb

    def matrix(table: pa.Table) -> np.ndarray:
        return np.column_stack([table[name].to_numpy() for name in table.column_names[1:]]).astype(np.float32)

    start = time.process_time()
    params = {"objective": "quantile", "learning_rate": 0.1, "num_leaves": 63, "verbose": -1, "num_threads": threads}
    if file is None:
        # Part by part, so that there is one copy of all rows.
        paths = sorted(data.glob("*.parquet"))
        ends = np.cumsum([0] + [pq.read_metadata(path).num_rows for path in paths])
        x, y = np.empty((ends[-1], INPUTS), np.float32), np.empty(ends[-1], np.float32)
        for path, first, last in zip(paths, ends, ends[1:]):
            part = encoded(path)
            x[first:last], y[first:last] = matrix(part), part["y"].to_numpy()
        rows = lgb.Dataset(x, y, categorical_feature=[INPUTS - 2])
        del x, y
    else:
        # The categorical column is counted without the target.
        params |= {"two_round": True, "header": False, "label_column": 0}
        rows = lgb.Dataset(str(file), params=params, categorical_feature=[INPUTS - 2])
    rows.construct()
    constructed = time.process_time() - start
    tested = encoded(test)
    x, truth = matrix(tested), tested["y"].to_numpy()
    levels = (np.arange(21) + 0.5) / 21
    levels = levels[np.sort(np.argsort(np.abs(levels - 0.5), kind="stable")[:fitted])]
    predicted = [lgb.train({**params, "alpha": level}, rows, 100).predict(x) for level in levels]
    processor = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / GIGABYTE
    score = ""
    if fitted == 21:
        quantiles = np.sort(np.column_stack(predicted), axis=1)
        errors = truth[:, None] - quantiles
        score = f"{2 * np.maximum(levels * errors, (levels - 1) * errors).mean():.4f}"
    how = "in memory" if file is None else "two_round"
    what = f"LightGBM, {fitted} of 21 quantiles, {how}, {constructed:.0f} s before the first"
    print(f"| {what} | {processor:.0f} | {peak:.2f} | {score} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int, default=4_000_000)
    parser.add_argument("--files", type=int, default=8)
    parser.add_argument("--steps", type=int)
    parser.add_argument("--memory", default="2")
    parser.add_argument("--where", default="memory,disk")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--options", default="")
    parser.add_argument("--lightgbm", default="", help="memory, two_round, or both with a comma between them")
    parser.add_argument("--levels", type=int, default=21)
    chosen = parser.parse_args()
    data = make(chosen.folder, chosen.rows, chosen.files)
    test = chosen.folder / "test.parquet"
    options = chosen.options.split() + (["--steps", str(chosen.steps)] if chosen.steps else [])
    options += ["--threads", str(chosen.threads)]
    print(f"{chosen.rows} rows of {INPUTS} inputs in {chosen.files} files, {' '.join(options)}")
    print("| fit | processor seconds | peak GB | CRPS |\n|---|---|---|---|")
    models = []
    # Scratch files go where temporary files go.
    os.environ["TMPDIR"] = str(chosen.folder)
    for where in filter(None, chosen.where.split(",")):
        model = chosen.folder / f"{where}.negmm"
        more = {"memory": ["--memory", "1000"], "disk": ["--memory", chosen.memory]}[where]
        command = [chosen.program, "fit", str(data), "--target", "y", "-o", str(model), *options, *more]
        _, processor, peak = run(command)
        scores = subprocess.run(
            [chosen.program, "evaluate", str(model), str(test), "--json"], check=True, capture_output=True
        )
        print(f"| {where} | {processor:.0f} | {peak:.2f} | {json.loads(scores.stdout)['crps']:.4f} |", flush=True)
        models.append(model.read_bytes())
    if len(models) == 2:
        print(f"same model: {models[0] == models[1]}")
    for how in filter(None, chosen.lightgbm.split(",")):
        file = chosen.folder / "rows.csv" if how == "two_round" else None
        if file is not None:
            write_text(data, file)
        # A process of its own, so that its peak is its own.
        process = multiprocessing.get_context("spawn").Process(
            target=lightgbm, args=(data, test, file, chosen.threads, chosen.levels)
        )
        process.start()
        process.join()
        if file is not None:
            file.unlink()


if __name__ == "__main__":
    main()
