#!/usr/bin/env python3
"""Time one NE-GMM training step written in JAX, on one CPU core.

A multilayer perceptron puts out K mixture weights, means and standard
deviations; the loss is 0.5 * NLL + 0.5 * closed-form energy score; Adam
updates the weights. Whole epochs (shuffle, gather, gradient, update) run
inside one jitted `lax.scan`, so no step goes back to Python.

    python jax_step.py            # prints one JSON line
    python jax_step.py --check    # loss of a fixed tiny problem, not timed
"""

import argparse
import json
import os
import time

# One core, set before XLA starts. A mask given by taskset is respected: the
# lowest core of it is used.
if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
os.environ["OMP_NUM_THREADS"] = "1"
os.environ["JAX_PLATFORMS"] = "cpu"
ONE_CORE = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
os.environ["XLA_FLAGS"] = (os.environ.get("XLA_FLAGS", "") + " " + ONE_CORE).strip()

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.flatten_util import ravel_pytree
from jax.scipy.special import erf, logsumexp
from jax.tree_util import tree_map

SD_FLOOR = 1e-3
ETA = 0.5  # weight of the NLL; the energy score gets 1 - ETA
SQRT_HALF, SQRT_2_OVER_PI = np.float32(np.sqrt(0.5)), np.float32(np.sqrt(2 / np.pi))
SQRT_1_OVER_PI, HALF_LOG_2PI = np.float32(np.sqrt(1 / np.pi)), np.float32(0.5 * np.log(2 * np.pi))
LR, BETA1, BETA2, EPS = 1e-3, 0.9, 0.999, 1e-8
ACTIVATIONS = {"relu": jax.nn.relu, "tanh": jnp.tanh, "silu": jax.nn.silu}


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


def make_embedding(inputs, frequency, seed=5):
    """Frequencies, phases and output weights of each input's periodic embedding with 16 frequencies, initialised as in
    negmm."""
    rng = np.random.default_rng(seed)
    w = rng.standard_normal((inputs, 16)) * frequency
    b = rng.uniform(-np.pi, np.pi, (inputs, 16))
    c = rng.uniform(-0.25, 0.25, (inputs, 16, 3))
    return tuple(v.astype(np.float32) for v in (w, b, c, np.zeros((inputs, 3))))


# ---- model and loss ---------------------------------------------------------


def embed(embedding, x, low, high):
    """Every input and the three outputs of its periodic embedding, clamped to its range."""
    w, b, c, d = embedding
    seen = jnp.clip(x, low, high)[:, :, None]
    mixes = jnp.einsum("nik,ikm->nim", jnp.cos(2 * np.pi * seen * w + b), c) + d
    return jnp.concatenate([x, mixes.reshape(len(x), -1)], axis=1)


def network(params, x, activation):
    for w, b in params[:-1]:
        x = activation(x @ w + b)
    w, b = params[-1]
    return x @ w + b


def expected_abs(m, s):
    """E|z| for z ~ Normal(m, s^2)."""
    u = m / s
    return s * SQRT_2_OVER_PI * jnp.exp(-0.5 * u * u) + m * erf(u * SQRT_HALF)


@jax.custom_jvp
def expected_abs_tuned(m, s):
    """The same with its derivative in closed form: erf in m, the exp term in s."""
    return expected_abs(m, s)


@expected_abs_tuned.defjvp
def _(primals, tangents):
    (m, s), (dm, ds) = primals, tangents
    u = m / s
    by_m = erf(u * SQRT_HALF)
    by_s = SQRT_2_OVER_PI * jnp.exp(-0.5 * u * u)
    return s * by_s + m * by_m, by_m * dm + by_s * ds


def plain_loss(out, y):
    """Batch means of 0.5 NLL + 0.5 ES, of the NLL and of the ES; K x K pairs."""
    logits, mu, raw = jnp.split(out, 3, axis=1)
    log_w = jax.nn.log_softmax(logits, axis=1)
    sd = jax.nn.softplus(raw) + SD_FLOOR
    err = mu - y[:, None]

    z = err / sd
    nll = -logsumexp(log_w - 0.5 * z * z - jnp.log(sd), axis=1) + HALF_LOG_2PI

    w = jnp.exp(log_w)
    var = sd * sd
    pair_sd = jnp.sqrt(var[:, :, None] + var[:, None, :])
    pair = expected_abs(mu[:, :, None] - mu[:, None, :], pair_sd)
    pair_w = w[:, :, None] * w[:, None, :]
    es = jnp.sum(w * expected_abs(err, sd), axis=1) - 0.5 * jnp.sum(pair_w * pair, axis=(1, 2))

    nll, es = nll.mean(), es.mean()
    return ETA * nll + (1 - ETA) * es, nll, es


def tuned_loss(out, y):
    """The same values: batch on the last axis, each pair once, own derivative."""
    logits, mu, raw = jnp.split(out.T, 3, axis=0)
    log_w = jax.nn.log_softmax(logits, axis=0)
    sd = jax.nn.softplus(raw) + SD_FLOOR
    err = mu - y

    z = err / sd
    nll = -logsumexp(log_w - 0.5 * z * z - jnp.log(sd), axis=0) + HALF_LOG_2PI

    w = jnp.exp(log_w)
    var = sd * sd
    i, j = np.triu_indices(mu.shape[0], 1)
    pair = expected_abs_tuned(mu[i] - mu[j], jnp.sqrt(var[i] + var[j]))
    es = (
        jnp.sum(w * expected_abs_tuned(err, sd), axis=0)
        - jnp.sum(w[i] * w[j] * pair, axis=0)
        - jnp.sum(w * w * sd, axis=0) * SQRT_1_OVER_PI  # pairs of a component with itself
    )

    nll, es = nll.mean(), es.mean()
    return ETA * nll + (1 - ETA) * es, nll, es


VARIANTS = {"plain": plain_loss, "tuned": tuned_loss}


# ---- training ---------------------------------------------------------------


def adam(params, grads, m, v, t):
    t = t + 1
    c1 = 1 - BETA1 ** t.astype(jnp.float32)
    c2 = 1 - BETA2 ** t.astype(jnp.float32)
    m = tree_map(lambda m, g: BETA1 * m + (1 - BETA1) * g, m, grads)
    v = tree_map(lambda v, g: BETA2 * v + (1 - BETA2) * g * g, v, grads)
    params = tree_map(lambda p, m, v: p - LR * (m / c1) / (jnp.sqrt(v / c2) + EPS), params, m, v)
    return params, m, v, t


def make_train(x, y, batch, loss_of):
    """A jitted function (state, key, epochs) -> state. The short last batch is dropped."""
    rows = x.shape[0]
    steps = rows // batch

    def step(state, index):
        grad = jax.grad(loss_of)(state[0], x[index], y[index])
        return adam(state[0], grad, *state[1:]), None

    def epoch(state, key):
        order = jax.random.permutation(key, rows)[: steps * batch]
        return lax.scan(step, state, order.reshape(steps, batch))

    def train(state, key, epochs):
        return lax.scan(epoch, state, jax.random.split(key, epochs))[0]

    return jax.jit(train, static_argnums=2)


def time_step(run, steps, seconds):
    """Minimal CPU microseconds per step over at least 5 repeats of `run`."""
    best, repeats, end = float("inf"), 0, time.perf_counter() + seconds
    while repeats < 5 or time.perf_counter() < end:
        start = time.process_time()
        run()
        best = min(best, time.process_time() - start)
        repeats += 1
    return best / steps * 1e6


def check(hybrid_loss):
    """Loss and gradient norm of a fixed tiny problem; both peers must agree to 1e-5."""
    x, y = make_data(8, 3)
    params = make_weights([3, 4, 3 * 3])
    loss, nll, es = hybrid_loss(network(params, x, jnp.tanh), y)
    grads = jax.grad(lambda p: hybrid_loss(network(p, x, jnp.tanh), y)[0])(params)
    norm = jnp.linalg.norm(ravel_pytree(grads)[0])
    values = {"loss": loss, "nll": nll, "es": es, "grad_norm": norm}
    print(json.dumps({"peer": "jax", **{k: round(float(v), 7) for k, v in values.items()}}))


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--inputs", type=int, default=13)
    p.add_argument("--hidden", default="50", help="units of each hidden layer, comma separated")
    p.add_argument("--components", type=int, default=10)
    p.add_argument("--batch", type=int, default=32)
    p.add_argument("--activation", choices=sorted(ACTIVATIONS), default="relu")
    p.add_argument(
        "--embedding",
        type=float,
        default=0.0,
        help="sd of the starting frequencies of a periodic embedding of every input",
    )
    p.add_argument("--rows", type=int, default=506)
    p.add_argument("--epochs", type=int, default=500, help="training before the converged timing")
    p.add_argument("--seconds", type=float, default=3.0, help="time given to each of the timings")
    p.add_argument("--variant", choices=sorted(VARIANTS), default="plain", help="how the loss is written")
    p.add_argument("--check", action="store_true", help="print the loss of a fixed tiny problem")
    a = p.parse_args()
    if a.check:
        return check(VARIANTS[a.variant])
    if not 1 <= a.batch <= a.rows:
        p.error("--batch must be between 1 and --rows")

    hidden = [int(h) for h in a.hidden.split(",")]
    activation = ACTIVATIONS[a.activation]
    x, y = (jnp.asarray(v) for v in make_data(a.rows, a.inputs))
    first = 4 * a.inputs if a.embedding else a.inputs
    embedding = make_embedding(a.inputs, a.embedding) if a.embedding else None
    params = tree_map(jnp.asarray, (embedding, make_weights([first, *hidden, 3 * a.components])))
    low, high = x.min(0), x.max(0)
    layers = lambda params: params
    if a.variant == "tuned":  # Adam on one flat vector: a tenth faster there, slower in "plain"
        params, layers = ravel_pytree(params)
    zeros = tree_map(jnp.zeros_like, params)
    fresh = (params, zeros, zeros, jnp.int32(0))

    def loss_of(params, x, y):
        embedding, dense = layers(params)
        x = x if embedding is None else embed(embedding, x, low, high)
        return VARIANTS[a.variant](network(dense, x, activation), y)[0]

    full_loss = jax.jit(loss_of)
    train = make_train(x, y, a.batch, loss_of)
    steps_per_epoch = a.rows // a.batch
    epochs = -(-200 // steps_per_epoch)  # a timed run: whole epochs, at least 200 steps
    key = jax.random.key(3)

    def microseconds(state):
        run = lambda: jax.block_until_ready(train(state, key, epochs))
        run()  # compile and warm up
        return time_step(run, epochs * steps_per_epoch, a.seconds)

    fresh_us = microseconds(fresh)
    converged = train(fresh, jax.random.key(4), a.epochs)
    converged_us = microseconds(converged)
    print(
        json.dumps(
            {
                "peer": "jax",
                "version": jax.__version__,
                "fresh_us": round(fresh_us, 1),
                "converged_us": round(converged_us, 1),
                "loss_first": round(float(full_loss(fresh[0], x, y)), 6),
                "loss_last": round(float(full_loss(converged[0], x, y)), 6),
                "step": f"d={a.inputs} hidden={a.hidden} K={a.components} batch={a.batch}"
                + ("" if a.activation == "relu" else f" {a.activation}")
                + (f" embedding {a.embedding}" if a.embedding else "")
                + ("" if a.variant == "plain" else f" {a.variant}"),
            }
        )
    )


if __name__ == "__main__":
    main()
