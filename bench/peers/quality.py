"""Scores peers on the sets and splits that `quality --export FOLDER` wrote: one JSON line for each set, peer and split.

    quality.py FOLDER RESULTS [--sets a,b] [--peers a,b] [--splits N] [--jobs N] [--limit SECONDS]

A line is added to the file RESULTS as soon as it is known; what the file has already is not run again. Each fit is a
process of its own with one thread; one that takes longer than --limit is ended, and the other splits of that set and
peer are skipped, which their lines say. `quality --table RESULTS,...` makes the tables.
Needs: pip install -r quality-requirements.txt (or the lines of it that the chosen peers import; lightgbmlss alone)

The peers, near their defaults; the seed of split s is s:

    python-ngboost       NGBRegressor()
    catboost             RMSEWithUncertainty with posterior sampling, 1000 rounds; mean and total variance of a virtual
                         ensemble of 10
    catboost-stopped     RMSEWithUncertainty, stopped early by its score on a tenth of the training rows
    lightgbmlss          Gaussian, 100 rounds, started at the mean and sd of the training targets
    lightgbmlss-stopped  the same, at most 1000 rounds, stopped early by its score on a tenth of the training rows
    lightgbm-quantiles   LightGBM with 100 rounds for each of 21 levels from 0.025 to 0.975, predictions sorted;
                         between the levels linear, beyond them constant. It has no density
    quantile-forest      RandomForestQuantileRegressor(): its weights on the training targets are the distribution.
                         They have no density: nll and mass_nll are null. The 95 % interval is its predicted quantiles
    realmlp, tabm        RealMLP_TD_Regressor and TabM_D_Regressor of pytabkit at their defaults, trained and stopped
                         by the pinball loss of 50 levels from 0.01 to 0.99; missing numbers are the median, with a
                         flag
    torch-ensemble       five networks, 2 x 64 ReLU, mean and variance, Adam 1e-3, batch 64, at most 500 epochs, stopped
                         early by a tenth of the training rows; a mixture of five normals

The boosters are there twice because at their defaults they are sharp but too sure of themselves (better CRPS, bad NLL),
and stopped early it is the other way round. Early stopping waits for 50 rounds or epochs.

Sets with text are for catboost (its own categories), lightgbm-quantiles, realmlp and tabm (pandas categories) and
quantile-forest (target means of the levels, cross-fitted; missing numbers are the median, with a flag); the others want
numbers alone and leave them out. All get dates as parts: seconds since 1970, year, month, day, day of the week, hour,
minute, and the seconds between two dates.

Seconds are CPU time of the fit and of predicting the test rows.
"""

import argparse
import importlib
import itertools
import json
import math
import multiprocessing
import os
import time
import traceback
import warnings
from multiprocessing.connection import wait

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import numpy as np
import pandas as pd
from quality_peers import PEERS


def scores(distribution, y, step, new):
    """Means over all test rows and, under "new", over those with new inputs."""
    lower, upper = distribution.interval()
    rows = {
        "nll": distribution.nll(y),
        "mass_nll": distribution.mass_nll(y, step) if step else None,
        "crps": distribution.crps(y),
        "rmse": (distribution.mean() - y) ** 2,
        "coverage95": (lower <= y) & (y <= upper),
        "width95": upper - lower,
    }

    def means(chosen):
        result = {name: None if numbers is None else float(np.mean(numbers[chosen])) for name, numbers in rows.items()}
        if bad := [name for name, mean in result.items() if mean is not None and not math.isfinite(mean)]:
            raise ArithmeticError(f"{', '.join(bad)} not finite")
        return {"rows": int(chosen.sum())} | result | {"rmse": math.sqrt(result["rmse"])}

    return means(np.full(len(y), True)) | {"new": means(new) if new.any() else None}


class Set:
    """Rows and splits of one set, as exported."""

    def __init__(self, folder, name):
        with open(os.path.join(folder, name + ".json")) as file:
            described = json.load(file)
        self.step, self.splits, self.text = described["step"], described["splits"], described["text"]
        x = pd.read_csv(
            os.path.join(folder, name + ".csv"),
            dtype=dict.fromkeys(self.text, str),
            keep_default_na=False,
            na_values=[""],
        )
        self.y = x.pop(x.columns[-1]).to_numpy(dtype=float)
        dates = {date: pd.to_datetime(x.pop(date), format=form) for date, form in described["dates"].items()}
        for text in x.columns.intersection(self.text):
            x[text] = x[text].astype("category")
        numbers = x.columns.difference(self.text)
        x = x.astype(dict.fromkeys(numbers, float))
        self.x = pd.concat([x, *(parts(date, times) for date, times in dates.items())], axis=1)
        for first, second in itertools.combinations(dates, 2):
            self.x[f"{second} - {first}"] = (dates[second] - dates[first]).dt.total_seconds()


def parts(name, times):
    """The parts of dates that vary, as numbers."""
    fields = ["year", "month", "day", "day_of_week", "hour", "minute"]
    parts = {f"{name} {field}": getattr(times.dt, field).astype(float) for field in fields}
    parts[f"{name} seconds"] = (times - pd.Timestamp(0)).dt.total_seconds()
    return pd.DataFrame({part: numbers for part, numbers in parts.items() if numbers.nunique() > 1})


def run(data, task, results):
    """One fit: adds its line to the results."""
    _, peer, split = task
    warnings.simplefilter("ignore")
    test, new = np.array(data.splits[split]["test"]), np.array(data.splits[split]["new"])
    train = np.setdiff1d(np.arange(len(data.y)), test)
    fit, _, takes_text = PEERS[peer]
    x_train, x_test = data.x.iloc[train], data.x.iloc[test]
    if not takes_text:
        x_train, x_test = x_train.to_numpy(), x_test.to_numpy()
    try:
        start = time.process_time()
        predict = fit(x_train, data.y[train], split)
        fitted = time.process_time()
        distribution = predict(x_test)
        predicted = time.process_time()
        outcome = scores(distribution, data.y[test], data.step, new)
    except Exception as error:
        traceback.print_exc()
        outcome = {"skipped": f"failed: {error!r}"[:200]}
    else:
        outcome |= {"seconds": fitted - start, "seconds_predict": predicted - fitted}
    append(results, task, outcome)


def append(results, task, outcome):
    line = dict(zip(("set", "method", "split"), task)) | outcome
    with open(results, "a") as file:
        file.write(json.dumps(line, allow_nan=False) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("results")
    parser.add_argument("--sets", help="default: all in the folder")
    parser.add_argument("--peers", default=",".join(PEERS))
    parser.add_argument("--splits", type=int, default=20, help="at most this number")
    parser.add_argument("--jobs", type=int, default=1, help="fits at once")
    parser.add_argument("--limit", type=float, default=1200, help="seconds that one fit may take")
    arguments = parser.parse_args()
    if unknown := set(arguments.peers.split(",")) - set(PEERS):
        parser.error(f"there is no peer {', '.join(unknown)}; the peers are {', '.join(PEERS)}")
    for module in {module for peer in arguments.peers.split(",") for module in PEERS[peer][1]}:
        importlib.import_module(module)
    names = sorted(name[:-5] for name in os.listdir(arguments.folder) if name.endswith(".json"))
    names = arguments.sets.split(",") if arguments.sets else names

    done = set()
    if os.path.exists(arguments.results):
        with open(arguments.results) as file:
            done = {(line["set"], line["method"], line["split"]) for line in map(json.loads, file)}
    # Worker processes fork from this one before it has computed anything.
    context = multiprocessing.get_context("fork")
    too_slow = set()
    for name in names:
        data = Set(arguments.folder, name)
        splits = range(min(arguments.splits, len(data.splits)))
        tasks = [(name, peer, split) for split in splits for peer in arguments.peers.split(",")]
        tasks = [task for task in tasks if task not in done and (PEERS[task[1]][2] or not data.text)]
        running = {}
        while tasks or running:
            while tasks and len(running) < arguments.jobs:
                task = tasks.pop(0)
                if task[:2] in too_slow:
                    append(arguments.results, task, {"skipped": f"a fit takes more than {arguments.limit:g} s"})
                    continue
                process = context.Process(target=run, args=(data, task, arguments.results))
                process.start()
                running[process] = (task, time.monotonic() + arguments.limit)
            wait([process.sentinel for process in running], timeout=1)
            for process, (task, deadline) in list(running.items()):
                if not process.is_alive():
                    process.join()
                    if process.exitcode != 0:
                        append(arguments.results, task, {"skipped": f"ended with exit code {process.exitcode}"})
                elif time.monotonic() > deadline:
                    process.kill()
                    process.join()
                    too_slow.add(task[:2])
                    append(arguments.results, task, {"skipped": f"a fit takes more than {arguments.limit:g} s"})
                else:
                    continue
                del running[process]


if __name__ == "__main__":
    main()
