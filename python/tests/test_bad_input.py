"""Invalid input: a ValueError with the library's message, never a panic."""

from __future__ import annotations

import warnings

import external
import numpy as np
import pytest
from quick import NAMES, quick, rows
from scipy import sparse
from sklearn.exceptions import NotFittedError

X, Y = rows(20)


def changed(array: np.ndarray, position: object, value: float) -> np.ndarray:
    array = array.copy()
    array[position] = value
    return array


BAD = {
    "no row": (X[:0], Y[:0], None, "0 sample(s)"),
    "no column": (X[:, :0], Y, None, "0 feature(s)"),
    "one dimension": (X[:, 0], Y, None, "Expected 2D array"),
    "three dimensions": (X[np.newaxis], Y, None, "dim 3"),
    "infinite input": (changed(X, (6, 1), np.inf), Y, None, 'column "x1", row 6: the number "inf" is not finite'),
    "infinite input of 32 bits": (
        changed(X, (6, 1), -np.inf).astype(np.float32),
        Y,
        None,
        'column "x1", row 6: the number "-inf" is not finite',
    ),
    "missing target": (X, changed(Y, 6, np.nan), None, 'row 6, column "y": the target is missing'),
    "all targets missing": (X, np.full(20, np.nan), None, 'row 0, column "y": the target is missing'),
    "infinite target": (X, changed(Y, 6, np.inf), None, 'column "y", row 6: the number "inf" is not finite'),
    "huge target": (
        X,
        changed(Y, 6, 1e101),
        None,
        'row 6, column "y": the target must lie between -1e100 and 1e100, found 1e101',
    ),
    "target of text": (X, np.array(["high"] * 20), None, "could not convert string to float"),
    "no target": (X, None, None, "the target y is None"),
    "three targets": (X, np.stack([Y, Y, Y], axis=1), None, "y should be a 1d array"),
    "ends that are not in order": (X, np.stack([Y, Y - 1], axis=1), None, "row 0: y expects a lower bound that is at most the upper"),
    "a lower end that is missing": (
        X,
        np.stack([Y * np.nan, Y], axis=1),
        None,
        "row 0: y expects a lower bound that is at most the upper",
    ),
    "fields of numbers": (X, np.zeros(len(Y), dtype=[("a", float), ("b", float)]), None, "y expects a field of bool"),
    "too few targets": (X, Y[:19], None, "inconsistent numbers of samples"),
    "complex": (X * 1j, Y, None, "Complex data not supported"),
    "negative weight": (
        X,
        Y,
        changed(np.ones(20), 4, -1.0),
        'row 4, column "sample_weight": expected a weight, at least 0, found -1',
    ),
    "missing weight": (X, Y, changed(np.ones(20), 4, np.nan), "Input sample_weight contains NaN"),
    "infinite weight": (X, Y, changed(np.ones(20), 4, np.inf), "Input sample_weight contains infinity"),
    "no weight": (X, Y, np.zeros(20), "at least one non-zero number"),
    "too few weights": (X, Y, np.ones(19), "sample_weight.shape"),
}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("bad", BAD)
def test_fit_refuses(name, bad):
    inputs, y, weights, message = BAD[bad]
    model = quick(name)
    with pytest.raises(ValueError) as caught:
        model.fit(inputs, y, sample_weight=weights)
    assert message in str(caught.value)
    with pytest.raises(NotFittedError):
        model.predict(X)


@pytest.mark.parametrize("name", NAMES)
def test_predict_refuses(name):
    model = quick(name).fit(X, Y)
    for inputs, message in [
        (X[:0], "0 sample(s)"),
        (X[:, :2], "X has 2 features"),
        (X[0], "Expected 2D array"),
        (changed(X, (6, 1), np.inf), 'column "x1", row 6: the number "inf" is not finite'),
        (np.full((2, 3), "a"), 'row 0, column "x0": expected a number, found "a"'),
    ]:
        with pytest.raises(ValueError) as caught:
            model.predict(inputs)
        assert message in str(caught.value)
    for coverage in (-0.5, float("nan"), [0.5, 1.5]):
        with pytest.raises(ValueError, match="between 0 and 1"):
            model.predict_interval(X, coverage=coverage)
    for alpha in (0.0, 1.0, -0.5, float("nan"), [0.5, 1.0]):
        with pytest.raises(ValueError, match="strictly between 0 and 1"):
            model.predict_quantiles(X, alpha=alpha)


@pytest.mark.parametrize("name", NAMES)
def test_unfitted_estimators_are_refused(name):
    model = quick(name)
    for method in (
        model.predict,
        model.predict_dist,
        model.pred_dist,
        model.predict_interval,
        model.predict_quantiles,
        model.predict_var,
    ):
        with pytest.raises(NotFittedError):
            method(X)


@pytest.mark.parametrize("name", NAMES)
def test_sparse_input_is_refused(name):
    with pytest.raises(TypeError, match="[Ss]parse data"):
        quick(name).fit(sparse.csr_array(X), Y)


@pytest.mark.parametrize("name", NAMES)
def test_degenerate_input_is_accepted(name):
    """Constant and huge columns, constant targets, two rows, far inputs, repeated rows: a finite prediction and without
    a panic."""
    odd = [
        (np.ones((20, 1)), Y),
        (X, np.full(20, 5.0)),
        (X, np.full(20, 1e99)),
        (X[:2], Y[:2]),
        (np.repeat(X[:1], 20, axis=0), Y),
        (np.full((20, 3), np.nan), Y),
        (X * 1e300, Y),
        (X * 1e-300, Y * 1e-300),
        (changed(X, (3, 0), 1e308), Y),
        (X, changed(Y, 3, 1e99)),
        (X.astype(np.float16), Y.astype(np.float16)),
        (X > 0, Y > 0),
        (np.ones((20, 300)) * X[:, :1], Y),
    ]
    for inputs, y in odd:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = quick(name).fit(inputs, y)
            mean, sd = model.predict(inputs, return_std=True)
        assert np.isfinite(mean).all()
        assert np.isfinite(sd).all()


def test_a_lazy_frame_has_no_rows():
    polars = external.module("polars")
    X, y = rows(20)
    lazy = polars.DataFrame(X).lazy()
    with pytest.raises(TypeError, match=r"X is a LazyFrame, which has no rows yet: pass X.collect\(\)"):
        quick("constant").fit(lazy, y)


def test_bounds_are_numbers():
    X, y = rows(20)
    with pytest.raises(TypeError, match="upper must be a number or None, found 'high'"):
        quick("constant", upper="high").fit(X, y)


def test_one_pair_may_be_the_whole_eval_set():
    X, y = rows()
    alone, listed = (quick("ngboost").fit(X, y, eval_set=rows_of) for rows_of in ((X, y), [(X, y)]))
    assert alone.evals_result_["eval 0"] == listed.evals_result_["eval 0"]
    with pytest.raises(ValueError, match=r"eval_set must be a list of \(X, y\)"):
        quick("ngboost").fit(X, y, eval_set=[X])


def test_errors_of_files_keep_their_words(tmp_path):
    (tmp_path / "ragged.csv").write_text("x,y\n" + "1,2\n" * 20 + "1,2,3\n")
    for files in (tmp_path / "ragged.csv", str(tmp_path / "ragged.csv"), [str(tmp_path / "ragged.csv")]):
        with pytest.raises(ValueError, match=r"ragged.csv, row 20, line 22: expected 2 cells, found 3"):
            quick("constant").fit(files, "y")


def test_columns_of_frames_are_named():
    pandas = external.module("pandas")
    frame = pandas.DataFrame(X[:, :2], columns=["a", "a"])
    with pytest.raises(ValueError, match="the column name 'a' occurs more than once"):
        quick("constant").fit(frame, Y)
    frame.columns = ["a", "b"]
    with pytest.raises(ValueError, match='there is no column "c"; the columns are "a", "b"'):
        quick("constant").fit(frame, "c")


def test_a_coverage_is_called_so():
    with pytest.raises(ValueError, match="expected a coverage between 0 and 1, found 90"):
        quick("constant").fit(X, Y).predict_interval(X, coverage=90)
