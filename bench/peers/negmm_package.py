"""The Python side of the benchmark `python_package`: reads requests, prints the CPU seconds of each.

Arguments: folder with the data, rows, features, rows to train with, method, the name of its length, its length.
"""

import sys
import time

import numpy as np

from negmm.methods import ESTIMATORS

folder, rows, features, train, method, length, epochs = sys.argv[1:]
rows, features, train = int(rows), int(features), int(train)
data = np.fromfile(f"{folder}/data").reshape(rows, features + 1)
inputs = {"float64": np.ascontiguousarray(data[:, :-1])}
inputs["float32"] = inputs["float64"].astype(np.float32)
y = np.ascontiguousarray(data[:train, -1])
model = ESTIMATORS[method](n_jobs=1, **{length: int(epochs)})
model.fit(inputs["float64"][:train], y)

for line in sys.stdin:
    question, kind = line.split()
    X = inputs[kind]
    start = time.process_time()
    if question == "fit":
        model.fit(X[:train], y)
    elif question == "predict":
        model.predict(X)
    else:
        model.fit(X[:train], y).save(f"{folder}/model")
    print(time.process_time() - start, flush=True)
