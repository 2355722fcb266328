//! Responsible for tables: NumPy arrays of numbers or times and lists of text as the core's columns, each number copied once.

use std::borrow::Cow;
use std::sync::Arc;

use negmm::data::Column;
use numpy::datetime::{Datetime, units};
use numpy::ndarray::ArrayView2;
use numpy::{Element, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};

use crate::error::raised;

/// Rows that are copied at a time: a block of a few hundred columns stays in the cache while it is turned into columns.
const BLOCK: usize = 512;

/// Named columns of equal length.
#[pyclass(frozen, module = "negmm._native")]
pub struct Table(pub Arc<negmm::Table>);

#[pymethods]
impl Table {
    /// A table of named columns: an array of float64 is numbers (NaN: missing), one of datetime64 (in microseconds or
    /// nanoseconds; NaT: missing) times, a list of str or None is text.
    #[new]
    fn new(columns: Vec<(String, Bound<'_, PyAny>)>) -> PyResult<Self> {
        let named = columns.into_iter().map(|(name, cells)| Ok((name, column(&cells)?)));
        Self::of(named.collect::<PyResult<_>>()?)
    }

    /// A table of a matrix (float32 or float64, rows × names, in any layout) and more columns after it.
    #[staticmethod]
    fn of_matrix(
        matrix: &Bound<'_, PyAny>,
        names: Vec<String>,
        columns: Vec<(String, Bound<'_, PyAny>)>,
    ) -> PyResult<Self> {
        let numbers = if let Ok(matrix) = matrix.extract::<PyReadonlyArray2<'_, f64>>() {
            in_columns(matrix.as_array())
        } else if let Ok(matrix) = matrix.extract::<PyReadonlyArray2<'_, f32>>() {
            in_columns(matrix.as_array())
        } else {
            return Err(PyTypeError::new_err("expected a matrix of float32 or float64"));
        };
        let mut named: Vec<_> = names.into_iter().zip(numbers.into_iter().map(Column::Numbers)).collect();
        for (name, cells) in columns {
            named.push((name, column(&cells)?));
        }
        Self::of(named)
    }

    fn __len__(&self) -> usize {
        self.0.rows()
    }
}

impl Table {
    fn of(columns: Vec<(String, Column)>) -> PyResult<Self> {
        negmm::Table::new(columns).map(|table| Self(Arc::new(table))).map_err(raised)
    }
}

/// The core's column of an array or a list.
fn column(cells: &Bound<'_, PyAny>) -> PyResult<Column> {
    if let Ok(numbers) = cells.extract::<PyReadonlyArray1<'_, f64>>() {
        return Ok(Column::Numbers(numbers.as_array().to_vec()));
    }
    if let Ok(times) = cells.extract::<PyReadonlyArray1<'_, Datetime<units::Microseconds>>>() {
        return Ok(Column::Times(times.as_array().iter().map(|time| seconds((*time).into(), 1_000_000)).collect()));
    }
    if let Ok(times) = cells.extract::<PyReadonlyArray1<'_, Datetime<units::Nanoseconds>>>() {
        return Ok(Column::Times(times.as_array().iter().map(|time| seconds((*time).into(), 1_000_000_000)).collect()));
    }
    let expected = |_| PyTypeError::new_err("expected a column of float64 or datetime64, or a list of str and None");
    let cells = cells.cast::<PyList>().map_err(|error| expected(error.into()))?;
    let words: Vec<Option<Bound<'_, PyString>>> = cells.extract().map_err(expected)?;
    let words: Vec<Option<Cow<'_, str>>> =
        words.iter().map(|word| word.as_ref().map(|word| word.to_cow()).transpose()).collect::<PyResult<_>>()?;
    Ok(Column::text(words.iter().map(Option::as_deref)))
}

/// Seconds of a time in parts of a second; the smallest number is NumPy's mark of a missing one. Whole seconds and the rest each
/// are exact, so that the same time as text gives the same number.
fn seconds(time: i64, parts: i64) -> f64 {
    match time {
        i64::MIN => f64::NAN,
        _ => time.div_euclid(parts) as f64 + time.rem_euclid(parts) as f64 / parts as f64,
    }
}

/// The columns of a matrix.
fn in_columns<T: Element + Copy + Into<f64>>(matrix: ArrayView2<'_, T>) -> Vec<Vec<f64>> {
    let (rows, width) = matrix.dim();
    let mut columns: Vec<Vec<f64>> = (0..width).map(|_| Vec::with_capacity(rows)).collect();
    for block in matrix.axis_chunks_iter(numpy::ndarray::Axis(0), BLOCK) {
        for (column, cells) in columns.iter_mut().zip(block.columns()) {
            column.extend(cells.iter().map(|cell| (*cell).into()));
        }
    }
    columns
}
