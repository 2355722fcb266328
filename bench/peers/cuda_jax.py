"""NE-GMM on a GPU with JAX: jit, a scan over whole epochs, vmap over networks. Prints steps per second of the workloads
that `bench/src/bin/cuda.rs` measures: 1,000 small networks and 10 large ones.

    python cuda_jax.py
"""

import time

import jax
import jax.numpy as jnp


def initial(key, sizes):
    layers = []
    for inputs, outputs in zip(sizes, sizes[1:]):
        key, weights, biases = jax.random.split(key, 3)
        bound = inputs**-0.5
        layers.append(
            (
                jax.random.uniform(weights, (inputs, outputs), minval=-bound, maxval=bound),
                jax.random.uniform(biases, (outputs,), minval=-bound, maxval=bound),
            )
        )
    return layers


def folded(mean, sd):
    """E|X| of a normal variable."""
    z = mean / sd
    return sd * 0.7978846 * jnp.exp(-0.5 * z * z) + mean * jax.scipy.special.erf(z * 0.70710678)


def loss(layers, x, y, eta):
    for weights, biases in layers[:-1]:
        x = jax.nn.relu(x @ weights + biases)
    raw = x @ layers[-1][0] + layers[-1][1]
    logits, means, sds = jnp.split(raw, 3, axis=1)
    log_weights, sds = jax.nn.log_softmax(logits), jax.nn.softplus(sds) + 1e-3
    weights, z = jnp.exp(log_weights), (y[:, None] - means) / sds
    log = -jax.scipy.special.logsumexp(log_weights - jnp.log(sds) - 0.5 * z * z - 0.9189385, axis=1)
    near = jnp.sum(weights * folded(y[:, None] - means, sds), axis=1)
    spread = jnp.sqrt(sds[:, :, None] ** 2 + sds[:, None, :] ** 2)
    pairs = folded(means[:, :, None] - means[:, None, :], spread)
    energy = near - 0.5 * jnp.einsum("ri,rij,rj->r", weights, pairs, weights)
    return jnp.mean(eta * log + (1 - eta) * energy)


def step(state, batch, eta, x, y):
    layers, first, second, count = state
    gradient = jax.grad(loss)(layers, x[batch], y[batch], eta)
    count = count + 1
    first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, gradient)
    second = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, second, gradient)
    size, correction = 1e-3 / (1 - 0.9**count), 1 / (1 - 0.999**count)
    layers = jax.tree.map(lambda w, m, v: w - size * m / (jnp.sqrt(v * correction) + 1e-8), layers, first, second)
    return layers, first, second, count


def measure(name, networks, rows, batch, sizes, epochs):
    steps = rows // batch
    x = jax.random.normal(jax.random.key(1), (rows, sizes[0]))
    y = jnp.sin(2 * x[:, 0]) + 0.3 * jax.random.normal(jax.random.key(2), (rows,))

    def epoch(state, key, eta):
        order = jax.random.permutation(key, rows)[: steps * batch].reshape(steps, batch)
        return jax.lax.scan(lambda state, batch: (step(state, batch, eta, x, y), None), state, order)[0]

    def run(keys, layers, etas):
        zeros = jax.tree.map(jnp.zeros_like, layers)
        state = (layers, zeros, zeros, jnp.zeros(networks))
        each = lambda state, keys: (jax.vmap(epoch)(state, keys, etas), None)
        return jax.lax.scan(each, state, keys)[0]

    layers = jax.vmap(lambda key: initial(key, sizes))(jax.random.split(jax.random.key(3), networks))
    etas = 0.2 + 0.2 * (jnp.arange(networks) % 4)
    keys = jax.random.split(jax.random.key(4), (epochs, networks))
    run = jax.jit(run)
    jax.block_until_ready(run(keys, layers, etas))
    start = time.perf_counter()
    jax.block_until_ready(run(keys, layers, etas))
    seconds = time.perf_counter() - start
    taken = networks * epochs * steps
    print(
        f"jax {jax.__version__}, {name}: {taken} steps, {seconds:.3f} s, {taken / seconds / 1e6:.4f} million steps/s, "
        f"{seconds / (epochs * steps) * 1e6:.1f} us a step of all"
    )


if __name__ == "__main__":
    measure("1000 small", 1000, 320, 32, (13, 50, 30), 100)
    measure("10 large", 10, 18000, 256, (13, 256, 256, 256, 30), 15)
