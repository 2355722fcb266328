"""The wrappers against a stub of ScoringBench's published interface: `pytest bench/scoringbench`."""

import re
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE / "stub")]

import negmm_wrapper as wrapper  # noqa: E402

RNG = np.random.default_rng(0)
X = RNG.uniform(-2, 2, (300, 2))
NOISE = RNG.multivariate_normal([0, 0], [[1, 0.9], [0.9, 1]], 300)
Y = np.column_stack([X[:, 0], X[:, 1]]) + 0.5 * NOISE


@pytest.fixture(scope="module")
def quantiles():
    return wrapper.NegmmWrapper(preset="fast").fit(X, Y[:, 0])


def test_quantiles_are_exact_and_in_order(quantiles):
    prediction = quantiles.predict_distribution(X[:20])
    assert prediction.source == "quantiles" and prediction.support.shape == (20, 199)
    assert (np.diff(prediction.support, axis=1) >= 0).all()
    assert prediction.train_range == (Y[:, 0].min(), Y[:, 0].max())
    dist = quantiles._model.predict_dist(X[:20])
    assert dist.cdf(prediction.support[:, 9].copy()) == pytest.approx(0.05, abs=1e-9)
    assert quantiles.predict(X[:20]) == pytest.approx(prediction.mean)


def test_the_histogram_has_all_probability(quantiles):
    histogram = wrapper.NegmmWrapper(preset="fast", form="histogram", bins=50)
    histogram._model, histogram._y_train_range = quantiles._model, quantiles._y_train_range
    prediction = histogram.predict_distribution(X[:20])
    assert prediction.support.shape == (20, 51) and prediction.probabilities.shape == (20, 50)
    assert prediction.probabilities.sum(axis=1) == pytest.approx(1.0)
    with pytest.raises(ValueError, match="quantiles or histogram"):
        wrapper.NegmmWrapper(form="samples")


def test_draws_of_several_targets_keep_their_dependence():
    model = wrapper.NegmmMultivariateWrapper(preset="fast", draws=400).fit(X, Y)
    prediction = model.predict_ensemble(X[:30])
    assert prediction.samples.shape == (30, 400, 2)
    centred = prediction.samples - prediction.samples.mean(axis=1, keepdims=True)
    correlation = np.corrcoef(centred[:, :, 0].ravel(), centred[:, :, 1].ravel())[0, 1]
    assert correlation > 0.6
    assert model.predict(X[:30]).shape == (30, 2)


def test_the_lines_of_the_readme_register_factories():
    """ScoringBench calls a factory without arguments for each fold, then `fit` and `predict_distribution`."""
    (lines,) = re.findall(r"```python\n(.*?)```", (HERE / "README.md").read_text(), flags=re.DOTALL)
    for name in ("NegmmWrapper", "NegmmMultivariateWrapper"):
        models, kind = {}, getattr(wrapper, name)
        exec(textwrap.dedent(lines).replace("NegmmWrapper", name), {"MODELS": models})
        first, second = models["negmm"](), models["negmm"]()
        assert type(first) is kind and first is not second
