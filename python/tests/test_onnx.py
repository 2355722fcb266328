"""ONNX export: onnxruntime agrees with `negmm predict` for all methods, column types and targets."""

from __future__ import annotations

import json
import re

import numpy as np
import onnx
import onnxruntime
import pandas
import pytest
from program import program, run
from quick import quick

#: Rows that are predicted.
ROWS = 3_000
#: Levels of quantiles, and how far the level of a quantile may be off instead: in the valley between two peaks, and on
#: a grid.
LEVELS = [0.001, 0.05, 0.3, 0.5, 0.9, 0.999]
NEAR = 1e-7
#: Differences, in parts of the number or of the row's sd, whichever is larger.
TOLERANCE = 1e-5

QUICK = "--epochs 30 --hidden 24 --patience 0"
NETWORK = f"--components 3 {QUICK}"
AUTO = "--preset fast --folds 2 --steps 150 --hidden 24"
#: Small networks, so that linear models and forests have weight in the pool.
POOL = "--folds 2 --n-repeats 1 --steps 100 --hidden 8 --short-networks false --dropout-networks false"

#: The targets.
TARGETS = ("plain", "counts", "tens", "rainy", "share", "steps", "mixed", "mixed_tens", "mixed_zero", "peaked")

#: Name, method and options, target, options of the data.
MODELS = [
    ("ne-gmm", f"ne-gmm {NETWORK}", "plain", "--features size,age"),
    ("ne-gmm-tanh", f"ne-gmm {NETWORK} --activation tanh", "plain", "--ignore when,until"),
    ("ne-gmm-bounded", f"ne-gmm {NETWORK} --sigma-max 2 --mean-bound 3", "plain", "--ignore when,until"),
    ("mdn", f"mdn {NETWORK}", "plain", "--ignore when,until"),
    ("mdn-text", f"mdn {NETWORK}", "plain", "--features place,street"),
    ("beta-nll", f"beta-nll {QUICK}", "plain", "--ignore when,until"),
    ("sample-net", f"sample-net --samples 30 {QUICK}", "plain", ""),
    ("sample-net-counts", f"sample-net --samples 30 {QUICK}", "counts", "--ignore when,until"),
    ("ensemble", f"ensemble --ensemble-size 3 {NETWORK}", "plain", ""),
    ("ensemble-gaussian", f"ensemble --ensemble-size 3 --pool gaussian {NETWORK}", "plain", ""),
    (
        "ensemble-samples",
        f"ensemble --member sample-net --ensemble-size 2 --samples 20 --pool gaussian {QUICK}",
        "plain",
        "",
    ),
    ("ngboost", "ngboost --n-estimators 60", "plain", ""),
    ("constant", "constant", "rainy", ""),
    ("auto", f"auto {AUTO}", "plain", ""),
    ("auto-trees", "auto --preset best --folds 2 --steps 150 --hidden 24", "steps", "--features size,age,place,when"),
    ("auto-pool", f"auto {POOL}", "mixed", ""),
    ("auto-pool-grid", f"auto {POOL}", "mixed_tens", ""),
    ("auto-pool-atoms", f"auto {POOL}", "mixed_zero", ""),
    ("auto-alone", f"auto {POOL} --linear false --forest false", "mixed", "--features size,age,place"),
    ("auto-tilted", f"auto {POOL} --components 1 --forest false", "peaked", "--features size"),
    ("auto-counts", f"auto {AUTO}", "counts", ""),
    ("counts-capped", f"ne-gmm {NETWORK}", "counts", "--lower 0 --upper 12 --ignore when,until"),
    ("auto-atoms", f"auto {AUTO}", "rainy", ""),
    ("auto-positive", f"auto {AUTO}", "plain", "--lower 0"),
    ("auto-between", f"auto {AUTO}", "share", "--lower 0 --upper 1"),
    ("grid-wide", f"mdn {NETWORK}", "tens", "--ignore when,until"),
    ("first-words", f"auto {AUTO}", "plain", "--features car,size"),
    ("quantile-transform", f"auto {AUTO} --quantile-transform true", "plain", "--features size,age"),
]


def rows(count: int, seed: int) -> pandas.DataFrame:
    """Numbers, text of few and of many levels, times, and targets of several kinds."""
    rng = np.random.default_rng(seed)
    frame = pandas.DataFrame(
        {
            "size": rng.normal(60, 20, count).round(3),
            "age": rng.integers(0, 90, count).astype(float),
            "place": rng.choice(["Oslo", "Łódź", "Rome", "São Paulo"], count),
            "street": rng.choice([f"street {number}" for number in range(150)], count),
            "car": [f"make{rng.integers(12)} model{rng.integers(9)} trim{rng.integers(5)}" for _ in range(count)],
        }
    )
    seconds = rng.integers(1_500_000_000, 1_700_000_000, count)
    frame["when"] = pandas.to_datetime(seconds, unit="s").strftime("%Y-%m-%d %H:%M:%S")
    frame["until"] = pandas.to_datetime(seconds + rng.integers(60, 90_000, count), unit="s").strftime(
        "%Y-%m-%d %H:%M:%S"
    )
    centre = 3 * frame["size"] + 40 * (frame["place"] == "Oslo") + frame["age"]
    noise = rng.normal(0, 1, count) * (5 + frame["age"] / 5) + 60 * rng.choice([-1, 1], count)
    frame["plain"] = (centre + noise).clip(lower=1).round(4)
    frame["counts"] = rng.poisson((frame["size"].clip(lower=1) / 20).to_numpy()).clip(0, 12)
    frame["tens"] = ((centre + noise) / 10).round() * 10
    frame["rainy"] = np.where(rng.random(count) < 0.4, 0.0, np.abs(centre * rng.gamma(2, 1, count)).round(4))
    frame["share"] = (1 / (1 + np.exp(-(frame["size"] - 60) / 15 - rng.normal(0, 1, count)))).round(6)
    frame["steps"] = (40 * (frame["size"] > 60) + 30 * np.sin(frame["age"] / 10) + rng.normal(0, 8, count)).round(4)
    mixed = 60 * (frame["size"] > 60) + frame["age"] + 30 * (frame["place"] == "Oslo") + rng.normal(0, 8, count)
    frame["mixed"] = mixed.round(4)
    frame["mixed_tens"] = (mixed / 10).round() * 10
    frame["mixed_zero"] = np.where(rng.random(count) < 0.3, 0.0, (mixed - 60).round(4))
    frame["peaked"] = (frame["size"] + rng.normal(0, 1, count) * np.where(rng.random(count) < 0.3, 9, 0.5)).round(4)
    return frame


def strange(frame: pandas.DataFrame, seed: int) -> pandas.DataFrame:
    """The same rows with missing cells, categories that training has not seen, and numbers outside its range."""
    rng = np.random.default_rng(seed)
    frame = frame.copy()
    for name in ["size", "age", "place", "street", "car", "when", "until"]:
        frame[name] = frame[name].astype(object)
        frame.loc[rng.random(len(frame)) < 0.04, name] = None
    frame.loc[rng.random(len(frame)) < 0.03, "place"] = "Atlantis"
    frame.loc[rng.random(len(frame)) < 0.03, "street"] = "nowhere"
    frame.loc[rng.random(len(frame)) < 0.03, "car"] = "make3 new"
    frame.loc[rng.random(len(frame)) < 0.02, "size"] = 400.5
    return frame


def feeds(session: onnxruntime.InferenceSession, frame: pandas.DataFrame) -> dict[str, np.ndarray]:
    """The columns as the graph wants them."""
    notes = json.loads(session.get_modelmeta().custom_metadata_map["negmm.inputs"])
    fed = {"levels": np.array(LEVELS)}
    for note in notes:
        column = frame[note["name"]]
        if note["holds"].startswith("text"):
            fed[note["name"]] = column.fillna("").to_numpy(dtype=object).reshape(-1, 1)
        elif note["holds"].startswith("seconds"):
            times = pandas.to_datetime(column)
            seconds = (times - pandas.Timestamp(0)) / pandas.Timedelta(seconds=1)
            fed[note["name"]] = seconds.to_numpy(dtype=float).reshape(-1, 1)
        else:
            fed[note["name"]] = pandas.to_numeric(column).to_numpy(dtype=float).reshape(-1, 1)
    return fed


def outputs(graph, frame: pandas.DataFrame) -> dict[str, np.ndarray]:
    session = onnxruntime.InferenceSession(graph)
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, feeds(session, frame)), strict=True))


def differences(found: dict[str, np.ndarray], expected: pandas.DataFrame) -> dict[str, float]:
    """The largest difference of each output."""
    sd = expected["sd"].to_numpy()

    def largest(found_values: np.ndarray, name: str, scale: np.ndarray) -> float:
        return float(np.max(np.abs(found_values - expected[name].to_numpy()) / np.maximum(scale, 1e-300)))

    found_largest = {
        "mean": largest(found["mean"], "mean", np.maximum(np.abs(expected["mean"]), sd)),
        "sd": largest(found["sd"], "sd", np.maximum(sd, 1e-12 * np.abs(expected["mean"]))),
    }
    for at, level in enumerate(LEVELS):
        found_values, exact = found["quantiles"][:, at], expected[f"q{level}"].to_numpy()
        low, high = expected[f"q{level - NEAR:.8f}"].to_numpy(), expected[f"q{level + NEAR:.8f}"].to_numpy()
        difference = np.abs(found_values - exact) / np.maximum(np.maximum(np.abs(exact), sd), 1e-300)
        assert np.mean(difference <= TOLERANCE) > 0.999
        difference[(difference > TOLERANCE) & (low <= found_values) & (found_values <= high)] = 0
        found_largest[f"q{level}"] = float(np.max(difference))
    return found_largest


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("onnx")
    rows(700, 0).to_csv(folder / "train.csv", index=False)
    strange(rows(ROWS, 1), 2).to_csv(folder / "new.csv", index=False)
    return folder


def levels() -> str:
    """The levels of the quantiles."""
    return ",".join(
        [str(level) for level in LEVELS] + [f"{level + side:.8f}" for level in LEVELS for side in (-NEAR, NEAR)]
    )


def exported_and_predicted(
    files, name: str, method: str, target: str, options: str
) -> tuple[str, str, pandas.DataFrame]:
    """Fits, exports and predicts; what `fit` says comes first."""
    model, graph, out = files / f"{name}.negmm", files / f"{name}.onnx", files / f"{name}.csv"
    others = [other for other in TARGETS if other != target]
    words = options.split()
    if "--features" not in words:
        at = words.index("--ignore") + 1 if "--ignore" in words else None
        words = (
            words[:at] + [words[at] + "," + ",".join(others)] + words[at + 1 :]
            if at
            else [*words, "--ignore", ",".join(others)]
        )
    fitted = ["--target", target, "-o", model, "--method", *method.split(), *words]
    said = run("fit", files / "train.csv", *fitted)
    run("export", model, "-o", graph)
    run("predict", model, files / "new.csv", "-o", out, "--quiet", "--quantiles", levels())
    return said, str(graph), pandas.read_csv(out)


@pytest.mark.parametrize(("name", "method", "target", "options"), MODELS, ids=[model[0] for model in MODELS])
def test_the_graph_predicts_what_predict_predicts(files, name, method, target, options):
    said, graph, expected = exported_and_predicted(files, name, method, target, options)
    onnx.checker.check_model(graph, full_check=True)
    new = pandas.read_csv(files / "new.csv", keep_default_na=False, na_values=[""])
    found = outputs(graph, new)
    assert found["mean"].shape == (ROWS,) and found["quantiles"].shape == (ROWS, len(LEVELS))
    largest = differences(found, expected)
    print(name, {found_values: f"{difference:.1e}" for found_values, difference in largest.items()})
    assert max(largest.values()) < TOLERANCE, largest
    if name in ("ngboost", "auto-trees"):
        operators = {node.op_type for node in onnx.load(graph).graph.node}
        assert "TreeEnsembleRegressor" in operators and ("Gemm" in operators) == (name == "auto-trees")
    if name.startswith("auto-pool"):
        assert re.search(r"stacking weights: networks .*linear .*forest .*of which tails", said), said
        trees = [node for node in onnx.load(graph).graph.node if node.op_type == "TreeEnsembleRegressor"]
        # Five forests of all rows, with a target for each component.
        counts = [attribute.i for node in trees for attribute in node.attribute if attribute.name == "n_targets"]
        assert len(counts) == 5 and min(counts) > 2
    if name == "auto-alone":
        assert re.search(r"stacking weights: networks 1.00, of which tails", said), said
    if name == "auto-tilted":
        assert re.search(r"of which tails .*, tilted towards the (mean|peak) ", said), said
    if "samples" not in found:
        assert np.allclose(found["weights"].sum(axis=1), 1)
        assert np.all(found["sds"] >= 0)


def test_a_graph_has_the_components_of_the_mixture(files):
    run(
        "fit",
        files / "train.csv",
        "--target",
        "rainy",
        "-o",
        files / "m.negmm",
        "--quiet",
        "--method",
        "auto",
        *AUTO.split(),
        "--features",
        "size,place",
    )
    run("export", files / "m.negmm", "-o", files / "m.onnx")
    run("predict", files / "m.negmm", files / "new.csv", "-o", files / "m.csv", "--quiet", "--components")
    expected = pandas.read_csv(files / "m.csv")
    new = pandas.read_csv(files / "new.csv", keep_default_na=False, na_values=[""])
    found = outputs(str(files / "m.onnx"), new)
    for part in ("weight", "mean", "sd"):
        columns = expected.filter(regex=rf"^{part}_\d+$").to_numpy()
        assert columns.shape == found[part + "s"].shape
        assert np.allclose(columns, found[part + "s"], rtol=1e-4, atol=1e-4 * expected["sd"].max())
    assert np.any(found["sds"] == 0)


@pytest.mark.parametrize(
    "options", ["ne-gmm --lstm-hidden 12 --lstm-layers 2 --components 2 --epochs 5", "ngboost --n-estimators 20"]
)
def test_windows_of_a_sequence(tmp_path, options):
    rng = np.random.default_rng(5)
    frame = pandas.DataFrame(
        {"close": np.cumsum(rng.normal(0, 1, 400)).round(4), "volume": rng.gamma(2, 1, 400).round(4)}
    )
    frame.to_csv(tmp_path / "data.csv", index=False)
    run(
        "fit",
        tmp_path / "data.csv",
        "--sequence",
        "close",
        "--window",
        8,
        "--features",
        "close,volume",
        "-o",
        tmp_path / "m.negmm",
        "--quiet",
        "--method",
        *options.split(),
    )
    run("export", tmp_path / "m.negmm", "-o", tmp_path / "m.onnx")
    run(
        "predict",
        tmp_path / "m.negmm",
        tmp_path / "data.csv",
        "-o",
        tmp_path / "out.csv",
        "--quiet",
        "--quantiles",
        levels(),
    )
    onnx.checker.check_model(str(tmp_path / "m.onnx"), full_check=True)
    expected = pandas.read_csv(tmp_path / "out.csv")
    found = outputs(str(tmp_path / "m.onnx"), frame)
    assert len(found["mean"]) == len(expected) == 400 - 8 + 1
    assert max(differences(found, expected).values()) < TOLERANCE


def test_from_python(tmp_path):
    frame = rows(300, 3)
    model = quick("auto", random_state=1).fit(frame[["size", "place"]], frame["plain"])
    model.to_onnx(tmp_path / "model.onnx")
    onnx.checker.check_model(str(tmp_path / "model.onnx"), full_check=True)
    found = outputs(str(tmp_path / "model.onnx"), frame)
    np.testing.assert_allclose(found["mean"], model.predict(frame[["size", "place"]]), rtol=1e-5)


def test_what_cannot_be_exported_is_named(files, tmp_path):
    import subprocess

    def refused(*arguments: object) -> str:
        done = subprocess.run([program(), *map(str, arguments)], capture_output=True, text=True, check=False)
        assert done.returncode == 2, (done.returncode, done.stderr)
        assert not (tmp_path / "m.onnx").exists()
        return done.stderr

    frame = rows(60, 4)[["size", "age", "plain"]].rename(columns={"age": "mean"})
    frame.to_csv(tmp_path / "data.csv", index=False)
    run(
        "fit",
        tmp_path / "data.csv",
        "--target",
        "plain",
        "-o",
        tmp_path / "m.negmm",
        "--quiet",
        "--method",
        "ngboost",
        "--n-estimators",
        5,
    )
    assert 'column "mean"' in refused("export", tmp_path / "m.negmm", "-o", tmp_path / "m.onnx")
    assert "replace the model" in refused("export", tmp_path / "m.negmm", "-o", tmp_path / "m.negmm")
