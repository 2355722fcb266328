"""Fits Python ngboost on the first standard split of UCI sets: reference predictions for the tests, seconds for the
bench.

    ngboost_reference.py [--out FOLDER] SET ...

Depth 3, 500 rounds, learning rate 0.01, y as it is. Prints one line a set: name, CPU seconds of training and of
predicting all rows of the set. With --out, writes FOLDER/ngboost_SET.csv: row number, mean and sd of up to 300 test
rows. Data from NEGMM_DATA, else ../shared/data. Needs: pip install ngboost==0.5.11
"""

import argparse
import gzip
import os
import time

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import numpy as np
from ngboost import NGBRegressor

ROUNDS = 500
MOST_ROWS = 300


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out")
    parser.add_argument("sets", nargs="+")
    arguments = parser.parse_args()
    folder = os.path.join(os.environ.get("NEGMM_DATA", "../shared/data"), "uci")
    for name in arguments.sets:
        table = np.loadtxt(os.path.join(folder, name + ".csv.gz"), delimiter=",", skiprows=1)
        x, y = table[:, :-1], table[:, -1]
        with gzip.open(os.path.join(folder, "splits", name + ".txt.gz"), "rt") as file:
            test = np.array([int(row) for row in file.readline().split()])
        train = np.setdiff1d(np.arange(len(y)), test)
        model = NGBRegressor(n_estimators=ROUNDS, learning_rate=0.01, verbose=False, random_state=0)
        start = time.process_time()
        model.fit(x[train], y[train])
        trained = time.process_time()
        prediction = model.pred_dist(x).params
        predicted = time.process_time()
        print(name, f"{trained - start:.4f}", f"{predicted - trained:.4f}", flush=True)
        if arguments.out:
            with open(os.path.join(arguments.out, f"ngboost_{name}.csv"), "w") as file:
                file.write("row,mean,sd\n")
                for row in test[:MOST_ROWS]:
                    file.write(f"{row},{prediction['loc'][row]:.6g},{prediction['scale'][row]:.6g}\n")


main()
