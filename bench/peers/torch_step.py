#!/usr/bin/env python3
"""Time one NE-GMM training step written in PyTorch, on one CPU core.

A multilayer perceptron puts out K mixture weights, means and standard
deviations; the loss is 0.5 * NLL + 0.5 * closed-form energy score; Adam
updates the weights. Eager PyTorch, with the data already in tensors (no
DataLoader); with --compile the loss and gradient also go through
torch.compile and are timed a second time.

    python torch_step.py            # prints one JSON line
    python torch_step.py --check    # loss of a fixed tiny problem, not timed
"""

import argparse
import copy
import json
import os
import time

# One core. A mask given by taskset is respected: the lowest core of it is used.
if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
os.environ["OMP_NUM_THREADS"] = "1"
os.environ["CUDA_VISIBLE_DEVICES"] = ""

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

torch.set_num_threads(1)

SD_FLOOR = 1e-3
ETA = 0.5  # weight of the NLL; the energy score gets 1 - ETA
SQRT_HALF, SQRT_2_OVER_PI = float(np.sqrt(0.5)), float(np.sqrt(2 / np.pi))
SQRT_1_OVER_PI, HALF_LOG_2PI = float(np.sqrt(1 / np.pi)), float(0.5 * np.log(2 * np.pi))
ACTIVATIONS = {"relu": nn.ReLU, "tanh": nn.Tanh, "silu": nn.SiLU}


# ---- data and starting weights: the same NumPy code in both peers ----------


def make_data(rows, inputs, seed=1):
    """Nonlinear regression with noise that depends on the input, standardised."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((rows, inputs))
    linear = x @ rng.standard_normal(inputs) / np.sqrt(inputs)
    noise = (0.2 + 0.3 / (1.0 + np.exp(-2.0 * x[:, 0]))) * rng.standard_normal(rows)
    y = linear + np.sin(2.0 * x[:, 0]) + 0.5 * x[:, -1] ** 2 + noise
    x = (x - x.mean(0)) / x.std(0)
    y = (y - y.mean()) / y.std()
    return x.astype(np.float32), y.astype(np.float32)


def make_weights(sizes, seed=2):
    """One (weight [in, out], bias [out]) per layer, uniform in +-1/sqrt(in)."""
    rng = np.random.default_rng(seed)
    layers = []
    for n_in, n_out in zip(sizes[:-1], sizes[1:]):
        bound = n_in**-0.5
        w = rng.uniform(-bound, bound, (n_in, n_out)).astype(np.float32)
        b = rng.uniform(-bound, bound, n_out).astype(np.float32)
        layers.append((w, b))
    return layers


# ---- model and loss ---------------------------------------------------------


def make_network(sizes, activation):
    modules = []
    for n_in, n_out in zip(sizes[:-1], sizes[1:]):
        modules += [nn.Linear(n_in, n_out), activation()]
    network = nn.Sequential(*modules[:-1])
    linear = [m for m in network if isinstance(m, nn.Linear)]
    with torch.no_grad():
        for layer, (w, b) in zip(linear, make_weights(sizes)):
            layer.weight.copy_(torch.from_numpy(w.T))
            layer.bias.copy_(torch.from_numpy(b))
    return network


def expected_abs(m, s):
    """E|z| for z ~ Normal(m, s^2)."""
    u = m / s
    return s * SQRT_2_OVER_PI * torch.exp(-0.5 * u * u) + m * torch.erf(u * SQRT_HALF)


class ExpectedAbs(torch.autograd.Function):
    """The same with its derivative in closed form: erf in m, the exp term in s."""

    @staticmethod
    def forward(ctx, m, s):
        u = m / s
        by_m = torch.erf(u * SQRT_HALF)
        by_s = torch.exp(-0.5 * u * u) * SQRT_2_OVER_PI
        ctx.save_for_backward(by_m, by_s)
        return s * by_s + m * by_m

    @staticmethod
    def backward(ctx, grad):
        by_m, by_s = ctx.saved_tensors
        return grad * by_m, grad * by_s


def plain_loss(out, y):
    """Batch means of 0.5 NLL + 0.5 ES, of the NLL and of the ES; K x K pairs."""
    logits, mu, raw = out.chunk(3, dim=1)
    log_w = F.log_softmax(logits, dim=1)
    sd = F.softplus(raw) + SD_FLOOR
    err = mu - y[:, None]

    z = err / sd
    nll = -torch.logsumexp(log_w - 0.5 * z * z - torch.log(sd), dim=1) + HALF_LOG_2PI

    w = log_w.exp()
    var = sd * sd
    pair_sd = torch.sqrt(var[:, :, None] + var[:, None, :])
    pair = expected_abs(mu[:, :, None] - mu[:, None, :], pair_sd)
    pair_w = w[:, :, None] * w[:, None, :]
    es = (w * expected_abs(err, sd)).sum(1) - 0.5 * (pair_w * pair).sum((1, 2))

    nll, es = nll.mean(), es.mean()
    return ETA * nll + (1 - ETA) * es, nll, es


def tuned_loss(out, y):
    """The same values with few kernels: the error and pair terms in one call, own derivative."""
    k = out.shape[1] // 3
    logits, mu, raw = out.chunk(3, dim=1)
    log_w = F.log_softmax(logits, dim=1)
    sd = F.softplus(raw) + SD_FLOOR

    # Row k of the K + 1 "centres" is the observation: mean y, variance 0.
    var = sd * sd
    centre = torch.cat((mu, y[:, None]), 1)
    spread = F.pad(var, (0, 1))
    m = mu[:, :, None] - centre[:, None, :]
    s = torch.sqrt(var[:, :, None] + spread[:, None, :])
    distance = ExpectedAbs.apply(m, s)

    z = m[:, :, k] / sd
    nll = -torch.logsumexp(log_w - 0.5 * z * z - torch.log(sd), dim=1) + HALF_LOG_2PI
    w = log_w.exp()
    against = F.pad(-0.5 * w, (0, 1), value=1.0)
    es = (w * torch.bmm(distance, against[:, :, None])[:, :, 0]).sum(1)

    nll, es = nll.mean(), es.mean()
    return ETA * nll + (1 - ETA) * es, nll, es


VARIANTS = {"plain": plain_loss, "tuned": tuned_loss}


# ---- training ---------------------------------------------------------------


def train(network, optimiser, loss_of, x, y, batch, epochs):
    """Shuffled mini-batches; the short last batch is dropped."""
    rows = len(x)
    for _ in range(epochs):
        for index in torch.randperm(rows)[: rows // batch * batch].split(batch):
            optimiser.zero_grad()
            loss_of(x[index], y[index]).backward()
            optimiser.step()


def check(hybrid_loss):
    """Loss and gradient norm of a fixed tiny problem; both peers must agree to 1e-5."""
    x, y = map(torch.from_numpy, make_data(8, 3))
    network = make_network([3, 4, 3 * 3], nn.Tanh)
    loss, nll, es = hybrid_loss(network(x), y)
    loss.backward()
    norm = torch.cat([p.grad.flatten() for p in network.parameters()]).norm()
    values = {"loss": loss, "nll": nll, "es": es, "grad_norm": norm}
    print(json.dumps({"peer": "torch", **{k: round(v.item(), 7) for k, v in values.items()}}))


def measure(a, compiled):
    hidden = [int(h) for h in a.hidden.split(",")]
    x, y = map(torch.from_numpy, make_data(a.rows, a.inputs))
    network = make_network([a.inputs, *hidden, 3 * a.components], ACTIVATIONS[a.activation])
    optimiser = torch.optim.Adam(network.parameters(), lr=1e-3, fused=a.adam == "fused")
    eager_loss = lambda x, y: VARIANTS[a.variant](network(x), y)[0]
    loss_of = torch.compile(eager_loss, dynamic=False) if compiled else eager_loss
    torch.manual_seed(3)

    steps_per_epoch = a.rows // a.batch
    epochs = -(-200 // steps_per_epoch)  # a timed run: whole epochs, at least 200 steps

    def full_loss():
        with torch.no_grad():
            return round(float(eager_loss(x, y)), 6)

    def microseconds():
        """Minimal CPU time; every repeat starts from the current weights and moments."""
        weights = {k: v.clone() for k, v in network.state_dict().items()}
        moments = copy.deepcopy(optimiser.state_dict())
        best, repeats, end = float("inf"), 0, 0.0
        train(network, optimiser, loss_of, x, y, a.batch, 2)  # compile and warm up
        end = time.perf_counter() + a.seconds
        while repeats < 5 or time.perf_counter() < end:
            network.load_state_dict(weights)
            optimiser.load_state_dict(copy.deepcopy(moments))
            start = time.process_time()
            train(network, optimiser, loss_of, x, y, a.batch, epochs)
            best = min(best, time.process_time() - start)
            repeats += 1
        network.load_state_dict(weights)
        optimiser.load_state_dict(moments)
        return round(best / (epochs * steps_per_epoch) * 1e6, 1)

    result = {"loss_first": full_loss()}
    result["fresh_us"] = microseconds()
    torch.manual_seed(4)  # the number of timed repeats must not change the training
    train(network, optimiser, loss_of, x, y, a.batch, a.epochs)
    result["loss_last"] = full_loss()
    result["converged_us"] = microseconds()
    return result


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--inputs", type=int, default=13)
    p.add_argument("--hidden", default="50", help="units of each hidden layer, comma separated")
    p.add_argument("--components", type=int, default=10)
    p.add_argument("--batch", type=int, default=32)
    p.add_argument("--activation", choices=sorted(ACTIVATIONS), default="relu")
    p.add_argument("--rows", type=int, default=506)
    p.add_argument("--epochs", type=int, default=500, help="training before the converged timing")
    p.add_argument("--seconds", type=float, default=3.0, help="time given to each of the timings")
    p.add_argument("--variant", choices=sorted(VARIANTS), default="plain", help="how the loss is written")
    p.add_argument("--check", action="store_true", help="print the loss of a fixed tiny problem")
    p.add_argument("--adam", choices=["default", "fused"], default="fused", help="Adam kernel")
    p.add_argument("--flush-denormals", action="store_true", help="torch.set_flush_denormal(True)")
    p.add_argument("--compile", action="store_true", help="also time it under torch.compile")
    a = p.parse_args()
    torch.set_flush_denormal(a.flush_denormals)
    if a.check:
        return check(VARIANTS[a.variant])
    if not 1 <= a.batch <= a.rows:
        p.error("--batch must be between 1 and --rows")

    eager = measure(a, compiled=False)
    line = {
        "peer": "torch",
        "version": torch.__version__,
        "fresh_us": eager["fresh_us"],
        "converged_us": eager["converged_us"],
        "loss_first": eager["loss_first"],
        "loss_last": eager["loss_last"],
        "step": f"d={a.inputs} hidden={a.hidden} K={a.components} batch={a.batch}"
        + ("" if a.activation == "relu" else f" {a.activation}")
        + ("" if a.variant == "plain" else f" {a.variant}"),
    }
    if a.compile:
        compiled = measure(a, compiled=True)
        line["compile_fresh_us"] = compiled["fresh_us"]
        line["compile_converged_us"] = compiled["converged_us"]
        line["compile_loss_last"] = compiled["loss_last"]
    print(json.dumps(line))


if __name__ == "__main__":
    main()
