#!/usr/bin/env python3
"""Write outputs and gradients of a tiny torch.nn.LSTM, for a test of the library to match.

    python lstm_reference.py > ../../crates/negmm-nn/tests/reference/lstm.json

The loss is the sum over rows and units of coefficient * (last hidden state of
the last layer). The two biases of a layer are given as their sum, and the
gradient of that sum is the gradient of either.
"""

import json

import torch

CHANNELS, WINDOW, HIDDEN, LAYERS, ROWS = 2, 4, 3, 2, 3


def numbers(tensor):
    """A flat list; nine significant digits hold an f32 exactly."""
    return [float(f"{value:.9g}") for value in tensor.detach().flatten().tolist()]


def main():
    torch.manual_seed(1)
    lstm = torch.nn.LSTM(CHANNELS, HIDDEN, LAYERS, batch_first=True)
    with torch.no_grad():
        for parameter in lstm.parameters():
            parameter.mul_(2.0)  # away from the linear part of the gates
    x = torch.randn(ROWS, WINDOW, CHANNELS)
    coefficients = torch.randn(ROWS, HIDDEN)
    _, (h, _) = lstm(x)
    outputs = h[-1]
    (coefficients * outputs).sum().backward()

    layers = []
    for l in range(LAYERS):
        get = lambda name: getattr(lstm, f"{name}_l{l}")
        layers.append(
            {
                "weight_hh": numbers(get("weight_hh")),
                "weight_ih": numbers(get("weight_ih")),
                "bias": numbers(get("bias_ih") + get("bias_hh")),
                "gradient": {
                    "weight_hh": numbers(get("weight_hh").grad),
                    "weight_ih": numbers(get("weight_ih").grad),
                    "bias": numbers(get("bias_ih").grad),
                },
            }
        )
    print(
        json.dumps(
            {
                "made_by": f"bench/peers/lstm_reference.py, torch {torch.__version__}",
                "lstm": {"channels": CHANNELS, "window": WINDOW, "hidden": HIDDEN, "layers": LAYERS},
                "rows": ROWS,
                "x": numbers(x),
                "coefficients": numbers(coefficients),
                "outputs": numbers(outputs),
                "layers": layers,
            }
        )
    )


if __name__ == "__main__":
    main()
