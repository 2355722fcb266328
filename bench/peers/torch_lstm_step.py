#!/usr/bin/env python3
"""Time one training step of an LSTM with a mixture head in PyTorch, on one CPU core.

torch.nn.LSTM reads a window of steps; a linear layer turns its last hidden
state into K mixture weights, means and standard deviations; the loss is
0.5 * NLL + 0.5 * closed-form energy score; Adam updates the weights. Eager
PyTorch, with the data already in tensors. On the CPU torch.nn.LSTM runs one
fused oneDNN primitive where it can; the step is also timed without it. Each
step is timed by itself in CPU time (on a busy machine a step this long
is rarely left alone), and the shortest counts.

    python torch_lstm_step.py            # prints one JSON line
"""

import argparse
import json
import time

from torch_step import VARIANTS  # first: it sets the one-core options

import numpy as np
import torch
from torch import nn


def make_data(rows, window, channels, seed=1):
    """Autoregressive series, one coefficient for each row; the target is the next value of channel 0."""
    rng = np.random.default_rng(seed)
    keep = rng.uniform(0.5, 0.9, (rows, channels))
    x = np.zeros((rows, window + 1, channels))
    for step in range(window):
        x[:, step + 1] = keep * x[:, step] + rng.uniform(-1, 1, (rows, channels))
    return x[:, :window].astype(np.float32), x[:, window, 0].astype(np.float32)


class Forecaster(nn.Module):
    def __init__(self, a):
        super().__init__()
        self.lstm = nn.LSTM(a.channels, a.hidden, a.layers, batch_first=not a.time_first)
        self.linear = nn.Linear(a.hidden, 3 * a.components)
        self.time_first = a.time_first

    def forward(self, x):
        _, (h, _) = self.lstm(x.transpose(0, 1) if self.time_first else x)
        return self.linear(h[-1])


def measure(a, onednn):
    torch.manual_seed(3)
    x, y = map(torch.from_numpy, make_data(a.rows, a.window, a.channels))
    model = Forecaster(a)
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-3, fused=a.adam == "fused")
    loss_of = lambda x, y: VARIANTS[a.variant](model(x), y)[0]

    def step(index):
        optimiser.zero_grad()
        loss_of(x[index], y[index]).backward()
        optimiser.step()

    with torch.backends.mkldnn.flags(enabled=onednn, allow_tf32=None):
        first = loss_of(x, y).item()
        best, epochs, end = float("inf"), 0, time.perf_counter() + a.seconds
        while epochs < 5 or time.perf_counter() < end:
            for index in torch.randperm(a.rows)[: a.rows // a.batch * a.batch].split(a.batch):
                start = time.process_time()
                step(index)
                best = min(best, time.process_time() - start)
            epochs += 1
        return round(best * 1e6, 1), round(first, 4), round(loss_of(x, y).item(), 4)


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--channels", type=int, default=1)
    p.add_argument("--window", type=int, default=30)
    p.add_argument("--hidden", type=int, default=64)
    p.add_argument("--layers", type=int, default=2)
    p.add_argument("--components", type=int, default=5)
    p.add_argument("--batch", type=int, default=32)
    p.add_argument("--rows", type=int, default=512)
    p.add_argument("--seconds", type=float, default=5.0, help="time given to each of the timings")
    p.add_argument("--variant", choices=sorted(VARIANTS), default="plain", help="how the loss is written")
    p.add_argument("--adam", choices=["default", "fused"], default="fused", help="Adam kernel")
    p.add_argument("--time-first", action="store_true", help="hand the LSTM window x batch x channels")
    a = p.parse_args()
    fused, first, last = measure(a, onednn=True)
    plain, _, _ = measure(a, onednn=False)
    print(
        json.dumps(
            {
                "peer": "torch",
                "version": torch.__version__,
                "step_us": fused,
                "step_without_onednn_us": plain,
                "loss_first": first,
                "loss_last": last,
                "step": f"window={a.window} channels={a.channels} hidden={a.hidden} layers={a.layers}"
                f" K={a.components} batch={a.batch}" + ("" if a.variant == "plain" else f" {a.variant}"),
            }
        )
    )


if __name__ == "__main__":
    main()
