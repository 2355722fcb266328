"""NE-GMM on a GPU with plain PyTorch: eager, one network after the other. Prints steps per second of the workloads that
`bench/src/bin/cuda.rs` measures.

    python cuda_torch.py
"""

import time

import torch


def folded(mean, sd):
    """E|X| of a normal variable."""
    z = mean / sd
    return sd * 0.7978846 * torch.exp(-0.5 * z * z) + mean * torch.erf(z * 0.70710678)


def loss(raw, y, eta):
    logits, means, sds = raw.chunk(3, dim=1)
    log_weights, sds = torch.log_softmax(logits, 1), torch.nn.functional.softplus(sds) + 1e-3
    weights, z = log_weights.exp(), (y[:, None] - means) / sds
    log = -torch.logsumexp(log_weights - sds.log() - 0.5 * z * z - 0.9189385, 1)
    near = (weights * folded(y[:, None] - means, sds)).sum(1)
    spread = (sds[:, :, None] ** 2 + sds[:, None, :] ** 2).sqrt()
    pairs = folded(means[:, :, None] - means[:, None, :], spread)
    energy = near - 0.5 * torch.einsum("ri,rij,rj->r", weights, pairs, weights)
    return (eta * log + (1 - eta) * energy).mean()


def measure(name, rows, batch, sizes, steps):
    torch.manual_seed(1)
    x = torch.randn(rows, sizes[0], device="cuda")
    y = torch.sin(2 * x[:, 0]) + 0.3 * torch.randn(rows, device="cuda")
    layers = []
    for inputs, outputs in zip(sizes, sizes[1:]):
        layers += [torch.nn.Linear(inputs, outputs), torch.nn.ReLU()]
    network = torch.nn.Sequential(*layers[:-1]).cuda()
    optimiser = torch.optim.Adam(network.parameters(), lr=1e-3)
    a_pass = rows // batch

    def run(steps):
        for at in range(steps):
            if at % a_pass == 0:
                order = torch.randperm(rows, device="cuda")
            rows_now = order[at % a_pass * batch :][:batch]
            optimiser.zero_grad()
            loss(network(x[rows_now]), y[rows_now], 0.5).backward()
            optimiser.step()
        torch.cuda.synchronize()

    run(50)
    start = time.perf_counter()
    run(steps)
    seconds = time.perf_counter() - start
    print(
        f"torch {torch.__version__}, {name}: {steps} steps, {seconds:.3f} s, "
        f"{steps / seconds / 1e6:.6f} million steps/s, "
        f"{seconds / steps * 1e6:.1f} us a step of one network"
    )


if __name__ == "__main__":
    measure("small", 320, 32, (13, 50, 30), 1000)
    measure("large", 18000, 256, (13, 256, 256, 256, 30), 1000)
