"""Novelty of rows outside the ranges of training, and wider predictions there."""

from __future__ import annotations

import numpy as np
import pandas
import pytest
from quick import NAMES, quick
from test_model_file import people


def test_the_input_that_is_farthest_outside_is_named():
    frame = people()
    X, y = frame.drop(columns="price"), frame["price"]
    model = quick("ngboost").fit(X, y)
    distances, inputs = model.novelty(X)
    assert not distances.any() and set(inputs) == {None}
    inside = {"size": X["size"].median(), "age": X["age"].median(), "place": "Oslo"}
    far = pandas.DataFrame([inside, {**inside, "size": X["size"].max() + 2 * X["size"].std(ddof=0)}])
    distances, inputs = model.novelty(far)
    assert distances == pytest.approx([0, 2]) and inputs.tolist() == [None, "size"]


@pytest.mark.parametrize("name", [name for name in NAMES if name != "constant"])
def test_extrapolation_widens_every_method(name):
    x = np.linspace(-3, 3, 100)
    model = quick(name).fit(x[:, np.newaxis], 2 * x + np.sin(20 * x))
    _, sds = model.predict([[0.0], [100.0]], return_std=True)
    assert sds[1] > 20 and sds[1] > 5 * sds[0]
