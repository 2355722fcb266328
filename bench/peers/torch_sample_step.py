#!/usr/bin/env python3
"""Time one SampleNet training step written in PyTorch, on one CPU core.

A multilayer perceptron puts out M samples; the loss is their energy score
over all M x M pairs, as the paper prints it; Adam updates the weights. Eager
PyTorch, with the data already in tensors (no DataLoader). With --sorted the
pairs are replaced by a sort. With --regularise the Sinkhorn divergence of
geomloss is added, as SampleNet uses it.

    python torch_sample_step.py            # prints one JSON line
"""

import argparse
import json
import os
import time

# One core. A mask given by taskset is respected: the lowest core of it is used.
if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
os.environ["OMP_NUM_THREADS"] = "1"
os.environ["CUDA_VISIBLE_DEVICES"] = ""

import torch
from torch import nn

from torch_step import make_data, make_network

torch.set_num_threads(1)


def pairs_loss(z, y):
    """mean |z - y| - 1/2 mean over pairs |z - z'|, averaged over the batch."""
    apart = (z[:, :, None] - z[:, None, :]).abs().mean((1, 2))
    return ((z - y[:, None]).abs().mean(1) - 0.5 * apart).mean()


def sorted_loss(z, y):
    """The same by order statistics."""
    m = z.shape[1]
    coefficient = 2.0 * torch.arange(1, m + 1) - m - 1
    apart = (coefficient * z.sort(1).values).sum(1) / m**2
    return ((z - y[:, None]).abs().mean(1) - apart).mean()


def regulariser(batch, samples):
    """Sinkhorn divergence between samples scaled to their range and uniform draws."""
    from geomloss import SamplesLoss

    divergence = SamplesLoss("sinkhorn", p=2, blur=0.05, scaling=0.1, backend="tensorized")

    def loss(z):
        low, high = z.amin(1, keepdim=True), z.amax(1, keepdim=True)
        draws = torch.rand(samples).sort().values[None, :, None].expand(batch, samples, 1).contiguous()
        return divergence(((z - low) / (high - low))[:, :, None], draws).mean()

    return loss


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--inputs", type=int, default=13)
    p.add_argument("--hidden", default="50", help="units of each hidden layer, comma separated")
    p.add_argument("--samples", type=int, default=200)
    p.add_argument("--batch", type=int, default=32)
    p.add_argument("--rows", type=int, default=512)
    p.add_argument("--seconds", type=float, default=3.0, help="time given to the timing")
    p.add_argument("--sorted", action="store_true", help="sort instead of all pairs")
    p.add_argument("--regularise", action="store_true", help="add the Sinkhorn divergence (needs geomloss)")
    a = p.parse_args()

    x, y = map(torch.from_numpy, make_data(a.rows, a.inputs))
    network = make_network([a.inputs, *map(int, a.hidden.split(",")), a.samples], nn.ReLU)
    optimiser = torch.optim.Adam(network.parameters(), lr=1e-3, fused=True)
    energy = sorted_loss if a.sorted else pairs_loss
    divergence = regulariser(a.batch, a.samples) if a.regularise else None

    def epoch():
        """Shuffled mini-batches; the short last batch is dropped."""
        for index in torch.randperm(a.rows)[: a.rows // a.batch * a.batch].split(a.batch):
            optimiser.zero_grad()
            z = network(x[index])
            loss = energy(z, y[index])
            if divergence:
                loss = loss + divergence(z)
            loss.backward()
            optimiser.step()

    torch.manual_seed(3)
    epoch()
    best, repeats, end = float("inf"), 0, time.perf_counter() + a.seconds
    while repeats < 3 or time.perf_counter() < end:
        start = time.perf_counter()
        epoch()
        best = min(best, time.perf_counter() - start)
        repeats += 1
    variant = ("sorted" if a.sorted else "pairs") + (" sinkhorn" if a.regularise else "")
    print(
        json.dumps(
            {
                "peer": "torch",
                "version": torch.__version__,
                "step_us": round(best / (a.rows // a.batch) * 1e6, 1),
                "step": f"d={a.inputs} hidden={a.hidden} M={a.samples} batch={a.batch} {variant}",
            }
        )
    )


if __name__ == "__main__":
    main()
