"""LightGBM, 21 quantiles, on the tables that `growth --keep FOLDER` leaves: rows, columns, rounds, wall-clock seconds
of the fit, CRPS on new rows, as a table. Needs lightgbm and what quality.py needs.

    python growth.py FOLDER [THREADS] [ROUNDS …]
"""

import glob
import os
import re
import sys
import time

import lightgbm
import numpy as np
from quality_distributions import Quantiles
from quality_peers import LEVELS

folder, threads = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else os.cpu_count()
rounds = [int(number) for number in sys.argv[3:]] or [100]


def read(path):
    table = np.loadtxt(path, delimiter=",", skiprows=1)
    return table[:, :-1], table[:, -1]


def size(path):
    return [int(number) for number in re.findall(r"\d+", os.path.basename(path))]


print("| rows | columns | rounds | seconds | CRPS |\n|---|---|---|---|---|", flush=True)
for path in sorted(glob.glob(f"{folder}/train-*.csv"), key=size):
    rows, columns = size(path)
    x, y = read(path)
    fresh, truth = read(f"{folder}/fresh-{columns}.csv")
    for count in rounds:
        start = time.perf_counter()
        train = lightgbm.Dataset(x, label=y, free_raw_data=False)
        parameters = {"objective": "quantile", "num_threads": threads, "seed": 0, "verbose": -1}
        models = [lightgbm.train(parameters | {"alpha": level}, train, num_boost_round=count) for level in LEVELS]
        seconds = time.perf_counter() - start
        answers = np.stack([model.predict(fresh, num_threads=threads) for model in models], axis=1)
        crps = Quantiles(LEVELS, answers).crps(truth).mean()
        print(f"| {rows} | {columns} | {count} | {seconds:.1f} | {crps:.4f} |", flush=True)
