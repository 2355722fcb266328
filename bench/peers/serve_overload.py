"""Overload test of the server: 503 for excess requests, answers for the rest, bounded memory, graceful shutdown.

    python serve_overload.py PROGRAM MODEL DATA [--seconds 20] [--requests 16] [--clients 160]

`--clients` clients send requests of 200 rows of DATA at once, ten times as many as the server admits (`--requests`); in
the last second the server gets a signal to stop. Prints counts of responses, latency percentiles of accepted requests,
and the server's memory at start and end.
"""

from __future__ import annotations

import argparse
import asyncio
import collections
import csv
import gzip
import json
import pathlib
import subprocess
import time

ROWS = 200


def rows(path: pathlib.Path) -> list[dict[str, str | None]]:
    opened = gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else open(path, encoding="utf-8")
    with opened as file:
        found = [
            {name: cell or None for name, cell in row.items()}
            for row, _ in zip(csv.DictReader(file), range(ROWS), strict=False)
        ]
    return found


def memory(process: subprocess.Popen) -> float:
    text = pathlib.Path(f"/proc/{process.pid}/statm").read_text().split()[1]
    return int(text) * 4096 / 2**20


class Client:
    """Sends requests over one connection and records the responses."""

    def __init__(self, port: int, request: bytes) -> None:
        self.port, self.request = port, request
        self.found: list[tuple[int, float]] = []
        self.cut = self.closed = 0

    async def run(self, until: float) -> None:
        reader = writer = None
        while time.monotonic() < until:
            try:
                if writer is None:
                    reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
            except OSError:
                return
            started, head = time.monotonic(), None
            try:
                writer.write(self.request)
                await writer.drain()
                head = await reader.readuntil(b"\r\n\r\n")
                length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
                await reader.readexactly(length)
                self.found.append((int(head.split(b" ")[1]), time.monotonic() - started))
                if b"connection: close" in head.lower():
                    writer.close()
                    writer = None
                if self.found[-1][0] == 503:
                    await asyncio.sleep(0.02)
            except (OSError, asyncio.IncompleteReadError):
                # A truncated response is lost; a clean close may be that of a connection that the server considered
                # idle.
                self.cut += head is not None
                self.closed += head is None
                writer = None


async def overload(port: int, request: bytes, clients: int, seconds: float, process: subprocess.Popen) -> None:
    everybody = [Client(port, request) for _ in range(clients)]
    until = time.monotonic() + seconds
    tasks = [asyncio.create_task(client.run(until)) for client in everybody]
    before = memory(process)
    await asyncio.sleep(seconds / 2)
    middle = memory(process)
    await asyncio.sleep(seconds / 2 - 1)
    after = memory(process)
    counted = await asyncio.to_thread(metrics, port)
    process.terminate()
    await asyncio.gather(*tasks)
    code = process.wait(30)
    statuses = collections.Counter(status for client in everybody for status, _ in client.found)
    accepted = sorted(took for client in everybody for status, took in client.found if status == 200)
    print("statuses", dict(statuses))
    at = lambda level: 1000 * accepted[int(level * (len(accepted) - 1))]  # noqa: E731
    print(
        f"accepted: {len(accepted) / (seconds - 1):.0f} requests/s of {ROWS} rows, "
        f"p50 {at(0.5):.0f} ms, p99 {at(0.99):.0f} ms, longest {at(1):.0f} ms"
    )
    print(f"memory: {before:.0f} MiB at the start, {middle:.0f} in the middle, {after:.0f} at the end")
    print("refused by its own count:", counted)
    print(
        "answers cut off:",
        sum(client.cut for client in everybody),
        "connections closed in silence:",
        sum(client.closed for client in everybody),
    )
    print("ended with", code)


def metrics(port: int) -> str:
    import urllib.request

    text = urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics").read().decode()
    return next(line for line in text.splitlines() if line.startswith("negmm_refused_total"))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--requests", type=int, default=16)
    parser.add_argument("--clients", type=int, default=160)
    arguments = parser.parse_args()
    command = [
        arguments.program,
        "serve",
        str(arguments.model),
        "--address",
        "127.0.0.1:0",
        "--threads",
        "1",
        "--json",
        "--max-requests",
        str(arguments.requests),
    ]
    process = subprocess.Popen(["taskset", "-c", "0", *command], stdout=subprocess.PIPE, text=True)
    address = json.loads(process.stdout.readline())["address"]
    body = json.dumps({"dataframe_records": rows(arguments.data), "params": {"interval": 0.9}}).encode()
    head = (
        "POST /invocations HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n"
        f"content-length: {len(body)}\r\n\r\n"
    )
    asyncio.run(
        overload(int(address.rsplit(":", 1)[1]), head.encode() + body, arguments.clients, arguments.seconds, process)
    )


main()
