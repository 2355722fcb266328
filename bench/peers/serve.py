"""Servers side by side in one run: negmm serve, MLflow's scoring server and FastAPI with onnxruntime, each with the
same model on one core, and wrk on another.

    python serve.py PROGRAM MODEL DATA [--seconds 4] [--rounds 5] [--mlflow PYTHON]

All three run from the start and get requests in turn, round by round, so that other load on the machine affects all of
them. Prints medians over the rounds with minimum and maximum, and medians of ratios within a round. CPU time per
request does not depend on other load, as latencies do.

PROGRAM is negmm, MODEL a model file and DATA a CSV file with rows for it, of which the first is sent: mean, sd and a
central interval of 90 %. The package's extras of this script are in fastapi, uvicorn and onnxruntime; MLflow may live
in another interpreter. wrk (https://github.com/wg/wrk) must be installed.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import os
import pathlib
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

SERVER_CORE, CLIENT_CORE = "0", "1"
LEVELS = [0.05, 0.95]


def first_row(path: pathlib.Path) -> dict[str, str]:
    opened = gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else open(path, encoding="utf-8")
    with opened as file:
        return next(csv.DictReader(file))


def pinned(command: list[str], **more) -> subprocess.Popen:
    return subprocess.Popen(
        ["taskset", "-c", SERVER_CORE, *command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **more
    )


def wait_for(url: str, process: subprocess.Popen) -> None:
    for _ in range(600):
        if process.poll() is not None:
            raise SystemExit(f"{url}: the server ended with {process.returncode}")
        try:
            urllib.request.urlopen(url, timeout=1).read()
            return
        except OSError:
            time.sleep(0.1)
    raise SystemExit(f"{url} does not answer")


def load(url: str, body: bytes, connections: int, seconds: int, folder: pathlib.Path) -> dict[str, float]:
    """Measures with wrk: requests per second and latency percentiles."""
    (folder / "body").write_bytes(body)
    script = folder / "post.lua"
    script.write_text(
        'wrk.method = "POST"\nwrk.headers["Content-Type"] = "application/json"\n'
        f'local file = io.open("{folder / "body"}", "rb")\nwrk.body = file:read("*a")\n'
        "done = function(summary, latency, requests)\n"
        '  io.write(string.format("RESULT %d %d %d %d %d\\n", summary.requests, summary.duration, '
        "latency:percentile(50), latency:percentile(99), summary.errors.status + summary.errors.connect + "
        "summary.errors.read + summary.errors.timeout))\nend\n"
    )
    command = ["taskset", "-c", CLIENT_CORE, "wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "-s", str(script), url]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    requests, microseconds, p50, p99, errors = map(int, re.search(r"RESULT (.*)", text).group(1).split())
    return {
        "requests": requests,
        "rps": requests / microseconds * 1e6,
        "p50": p50 / 1000,
        "p99": p99 / 1000,
        "errors": errors,
    }


def used(process: subprocess.Popen) -> float:
    """CPU seconds of a server and its children."""
    ticks = 0
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if stat.parent.name == str(process.pid) or int(fields[3]) == process.pid:
            ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def spread(values: list[float], digits: int) -> str:
    """Median (minimum, maximum)."""
    low, middle, high = (f"{value:.{digits}f}" for value in (min(values), statistics.median(values), max(values)))
    return f"{middle} ({low} to {high})"


FASTAPI = """
import json, sys
import numpy as np, onnxruntime
from fastapi import FastAPI, Request
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = 1
session = onnxruntime.InferenceSession(sys.argv[1] if len(sys.argv) > 1 else "model.onnx", options)
notes = json.loads(session.get_modelmeta().custom_metadata_map["negmm.inputs"])
levels = np.array([0.05, 0.95])
app = FastAPI()

@app.get("/ping")
def ping():
    return {}

@app.post("/invocations")
async def invocations(request: Request):
    rows = (await request.json())["dataframe_records"]
    feeds = {"levels": levels}
    for note in notes:
        cells = [row.get(note["name"]) for row in rows]
        if note["holds"].startswith("text"):
            feeds[note["name"]] = np.array([cell or "" for cell in cells], dtype=object).reshape(-1, 1)
        else:
            numbers = [np.nan if cell is None else cell for cell in cells]
            feeds[note["name"]] = np.array(numbers, dtype=float).reshape(-1, 1)
    mean, sd, quantiles = session.run(["mean", "sd", "quantiles"], feeds)
    return {"predictions": [{"mean": m, "sd": s, "lower_0.9": q[0], "upper_0.9": q[1]}
                            for m, s, q in zip(mean.tolist(), sd.tolist(), quantiles.tolist())]}
"""

MLFLOW = """
import json, sys
import mlflow, numpy as np, onnxruntime

class Graph(mlflow.pyfunc.PythonModel):
    def load_context(self, context):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(context.artifacts["graph"], options)
        self.notes = json.loads(self.session.get_modelmeta().custom_metadata_map["negmm.inputs"])

    def predict(self, context, model_input, params=None):
        import pandas
        feeds = {"levels": np.array([0.05, 0.95])}
        for note in self.notes:
            column = model_input[note["name"]]
            if note["holds"].startswith("text"):
                feeds[note["name"]] = column.fillna("").to_numpy(dtype=object).reshape(-1, 1)
            else:
                feeds[note["name"]] = column.to_numpy(dtype=float).reshape(-1, 1)
        mean, sd, quantiles = self.session.run(["mean", "sd", "quantiles"], feeds)
        return pandas.DataFrame({"mean": mean, "sd": sd, "lower_0.9": quantiles[:, 0], "upper_0.9": quantiles[:, 1]})

mlflow.pyfunc.save_model(sys.argv[2], python_model=Graph(), artifacts={"graph": sys.argv[1]}, pip_requirements=[])
"""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("--seconds", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--mlflow", default=sys.executable)
    arguments = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="negmm-serve-"))
    graph = folder / "model.onnx"
    subprocess.run([arguments.program, "export", arguments.model, "-o", graph], check=True)
    import onnxruntime

    session = onnxruntime.InferenceSession(str(graph))
    notes = json.loads(session.get_modelmeta().custom_metadata_map["negmm.inputs"])
    cells, row = first_row(arguments.data), {}
    for note in notes:
        cell = cells[note["name"]]
        if note["holds"].startswith("text"):
            row[note["name"]] = cell or None
        elif note["holds"].startswith("numbers"):
            row[note["name"]] = float(cell) if cell else None
        else:
            raise SystemExit(f"{note['name']}: choose data without dates, which the graph takes as seconds")
    plain = json.dumps({"dataframe_records": [row]}).encode()
    asking = json.dumps({"dataframe_records": [row], "params": {"interval": 0.9}}).encode()
    one = {**os.environ, "OMP_NUM_THREADS": "1", "RAYON_NUM_THREADS": "1"}

    def negmm():
        return (
            pinned([arguments.program, "serve", str(arguments.model), "--address", "127.0.0.1:8601", "--threads", "1"]),
            asking,
            8601,
        )

    def fastapi():
        (folder / "app.py").write_text(
            FASTAPI.replace('sys.argv[1] if len(sys.argv) > 1 else "model.onnx"', repr(str(graph)))
        )
        command = [sys.executable, "-m", "uvicorn", "app:app", "--port", "8602", "--log-level", "warning"]
        return pinned(command, cwd=folder, env=one), plain, 8602

    def mlflow():
        (folder / "pack.py").write_text(MLFLOW)
        subprocess.run(
            [arguments.mlflow, folder / "pack.py", graph, folder / "packed"], check=True, capture_output=True
        )
        command = [
            arguments.mlflow,
            "-m",
            "mlflow",
            "models",
            "serve",
            "-m",
            str(folder / "packed"),
            "-p",
            "8603",
            "--env-manager",
            "local",
        ]
        return (
            pinned(
                command,
                env={**one, "PATH": f"{pathlib.Path(arguments.mlflow).parent}:{os.environ['PATH']}"},
                start_new_session=True,
            ),
            plain,
            8603,
        )

    names = {"negmm serve": negmm, "FastAPI, onnxruntime": fastapi, "MLflow, onnxruntime": mlflow}
    servers = {}
    found = {(name, connections): [] for name in names for connections in (1, 32)}
    try:
        for name, start in names.items():
            process, body, port = start()
            servers[name] = process, body, f"http://127.0.0.1:{port}/invocations"
            wait_for(f"http://127.0.0.1:{port}/ping", process)
            request = urllib.request.Request(servers[name][2], body, {"Content-Type": "application/json"})
            answer = json.loads(urllib.request.urlopen(request).read())["predictions"][0]
            print(name, {key: round(value, 6) for key, value in answer.items()})
            load(servers[name][2], body, 1, 2, folder)
        for number in range(arguments.rounds):
            print(f"round {number + 1}, load of the machine {os.getloadavg()[0]:.1f}", flush=True)
            for (name, connections), list_of in found.items():
                process, body, url = servers[name]
                before = used(process)
                list_of.append(load(url, body, connections, arguments.seconds, folder))
                list_of[-1]["cpu"] = 1000 * (used(process) - before) / list_of[-1]["requests"]
    finally:
        for name, (process, _, _) in servers.items():
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGTERM) if name.startswith("MLflow") else process.terminate()
                process.wait(30)
    print(
        "\n| server | connections | requests/s | p50 ms | p99 ms | CPU ms a request | errors |\n"
        "|---|---|---|---|---|---|---|"
    )
    for (name, connections), list_of in found.items():
        cells = [
            spread([one[what] for one in list_of], digits)
            for what, digits in (("rps", 0), ("p50", 2), ("p99", 2), ("cpu", 3))
        ]
        print(f"| {name} | {connections} | {' | '.join(cells)} | {sum(one['errors'] for one in list_of)} |")
    print("\n| beside | connections | times the requests/s | ratio of p99 | ratio of CPU time |\n|---|---|---|---|---|")
    for (name, connections), list_of in found.items():
        if name == "negmm serve":
            continue
        own = found["negmm serve", connections]
        more, later, cheaper = (
            [ours[what] / theirs[what] for ours, theirs in zip(own, list_of, strict=True)]
            for what in ("rps", "p99", "cpu")
        )
        print(f"| {name} | {connections} | {spread(more, 1)} | {spread(later, 2)} | {spread(cheaper, 3)} |")


main()
