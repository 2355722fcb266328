//! Tables from NumPy arrays, lists of text and Arrow streams, with one copy of each cell.

use std::borrow::Cow;
use std::sync::Arc;

use negmm::data::time::{moment, seconds_of};
use negmm::data::{Column, ColumnType, Dialect, MISSING};
use numpy::datetime::{Datetime, Timedelta, units};
use numpy::ndarray::ArrayView2;
use numpy::{Element, PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};

use crate::arrow;
use crate::error::exception;

/// Rows that are copied at a time: a block of a few hundred columns stays in the cache while it is transposed.
const BLOCK: usize = 512;

/// Named columns of equal length.
#[pyclass(frozen, module = "negmm._native")]
pub struct Table(pub Arc<negmm::Table>);

/// A column and its type, where that is more than number, time or text.
type Typed = (Column, Option<ColumnType>);

/// Columns with their names, as Python has them.
type Named<'py> = Vec<(String, Bound<'py, PyAny>)>;

#[pymethods]
impl Table {
    /// A table of named columns. An array of numbers is numbers (NaN: missing), one of bool booleans, one of datetime64 (in
    /// microseconds or nanoseconds; NaT: missing) times, one of timedelta64 (likewise) durations; a list of str or None is
    /// text; an array of int64 and a list of str are codes (negative: missing) and categories; an Arrow stream has the
    /// type of its arrays.
    #[new]
    fn new(columns: Named<'_>) -> PyResult<Self> {
        Self::of(typed(columns)?)
    }

    /// A table of a matrix (float32 or float64, rows × names, in any layout) and more columns after it.
    #[staticmethod]
    fn of_matrix(matrix: &Bound<'_, PyAny>, names: Vec<String>, columns: Named<'_>) -> PyResult<Self> {
        let numbers = if let Ok(matrix) = matrix.extract::<PyReadonlyArray2<'_, f64>>() {
            in_columns(matrix.as_array())
        } else if let Ok(matrix) = matrix.extract::<PyReadonlyArray2<'_, f32>>() {
            in_columns(matrix.as_array())
        } else {
            return Err(PyTypeError::new_err("expected a matrix of float32 or float64"));
        };
        let mut named: Vec<_> =
            names.into_iter().zip(numbers.into_iter().map(|numbers| (Column::Numbers(numbers), None))).collect();
        named.extend(typed(columns)?);
        Self::of(named)
    }

    /// The table of an object that streams record batches of Arrow.
    #[staticmethod]
    fn of_stream(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        arrow::table(object).map(|table| Self(Arc::new(table)))
    }

    /// The table of files, patterns and folders; `sample` rows of it, drawn at random by `seed`, where not all are wanted.
    #[staticmethod]
    fn of_files(py: Python<'_>, paths: Vec<String>, sample: Option<usize>, seed: u64) -> PyResult<Self> {
        let dialect = Dialect::default();
        let table = py.detach(|| match sample {
            Some(rows) => negmm::Table::read_sample(&paths, &dialect, rows, seed).map(|(table, _)| table),
            None => negmm::Table::read_files(&paths, &dialect),
        });
        table.map(|table| Self(Arc::new(table))).map_err(exception)
    }

    /// The columns of these names, in this order.
    fn select(&self, names: Vec<String>) -> PyResult<Self> {
        self.0.select_columns(&names).map(|table| Self(Arc::new(table))).map_err(exception)
    }

    /// The numbers in the column called `name`, NaN where one is missing; bools where all are truth values.
    fn numbers<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let column = self.0.select_columns(&[name]).and_then(|column| column.infer_types(&Dialect::default()));
        let column = column.map_err(exception)?;
        let absent = || negmm::Error::data(self.0.absent(&[name]));
        let numbers = column.numbers(name).ok_or_else(absent).and_then(|numbers| numbers).map_err(exception)?;
        let truth = column.typed_column(name).is_some_and(|typed| typed.column_type.is_truth());
        if truth && !numbers.iter().any(|number| number.is_nan()) {
            let values: Vec<bool> = numbers.iter().map(|number| *number != 0.0).collect();
            return Ok(PyArray1::from_vec(py, values).into_any());
        }
        Ok(PyArray1::from_slice(py, &numbers).into_any())
    }

    /// These rows, then those of another table with the same columns.
    fn followed_by(&self, other: &Self) -> PyResult<Self> {
        self.0.followed_by(&other.0).map(|table| Self(Arc::new(table))).map_err(exception)
    }

    /// The same with other names and more columns; the others are shared.
    fn renamed_with(&self, names: Vec<String>, columns: Named<'_>) -> PyResult<Self> {
        let more = Self::of(typed(columns)?)?;
        let more = Arc::unwrap_or_clone(more.0);
        self.0.renamed_with(names, more).map(|table| Self(Arc::new(table))).map_err(exception)
    }

    /// A table with the cells of each column from the rows of an index, rows × columns.
    fn mixed(&self, index: PyReadonlyArray2<'_, i64>) -> PyResult<Self> {
        let (index, rows, names) = (index.as_array(), self.0.rows(), self.0.names());
        if index.ncols() != names.len() {
            let message = format!("expected an index of {} columns, found {}", names.len(), index.ncols());
            return Err(PyValueError::new_err(message));
        }
        if let Some(row) = index.iter().find(|row| usize::try_from(**row).map_or(true, |row| row >= rows)) {
            return Err(PyValueError::new_err(format!("expected rows below {rows}, found {row}")));
        }
        let mut columns = names.iter().zip(index.columns()).map(|(name, index)| {
            let chosen: Vec<usize> = index.iter().map(|row| *row as usize).collect();
            self.0.select_columns(&[name]).map(|column| column.select_rows(&chosen))
        });
        let first = columns.next().unwrap_or_else(|| Ok(negmm::Table::clone(&self.0)));
        let joined = columns.try_fold(first.map_err(exception)?, |table, column| {
            let names = table.names().to_vec();
            column.and_then(|column| table.renamed_with(names, column)).map_err(exception)
        });
        joined.map(|table| Self(Arc::new(table)))
    }

    /// The cells of the column called `name`: numbers, times in seconds, or codes (-1: missing) and texts; and whether they are times.
    fn cells<'py>(&self, py: Python<'py>, name: &str) -> PyResult<(Bound<'py, PyAny>, Option<Vec<String>>, bool)> {
        let absent = || exception(negmm::Error::data(self.0.absent(&[name])));
        Ok(match self.0.column(name).ok_or_else(absent)? {
            Column::Numbers(numbers) => (PyArray1::from_slice(py, numbers).into_any(), None, false),
            Column::Times(seconds) => (PyArray1::from_slice(py, seconds).into_any(), None, true),
            Column::Text { codes, levels } => {
                let code = |code: &u32| if *code == MISSING { -1 } else { i64::from(*code) };
                let codes: Vec<i64> = codes.iter().map(code).collect();
                (PyArray1::from_vec(py, codes).into_any(), Some(levels.clone()), false)
            }
        })
    }

    /// The names of the columns.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.0.names().to_vec()
    }

    fn __len__(&self) -> usize {
        self.0.rows()
    }
}

impl Table {
    fn of(columns: Vec<(String, Typed)>) -> PyResult<Self> {
        let mut readings = Vec::new();
        let mut named = Vec::with_capacity(columns.len());
        for (name, (column, reading)) in columns {
            readings.extend(reading.map(|reading| (name.clone(), reading)));
            named.push((name, column));
        }
        let table = negmm::Table::new(named).map_err(exception)?;
        let table = readings.into_iter().fold(table, |table, (name, reading)| table.with_column_type(&name, reading));
        Ok(Self(Arc::new(table)))
    }
}

fn typed(columns: Named<'_>) -> PyResult<Vec<(String, Typed)>> {
    columns.into_iter().map(|(name, cells)| column(&name, &cells).map(|column| (name, column))).collect()
}

/// The column of an array, a list or a stream.
fn column(name: &str, cells: &Bound<'_, PyAny>) -> PyResult<Typed> {
    if let Some(typed) = numbers(cells).or_else(|| times(cells)) {
        return Ok(typed);
    }
    if cells.hasattr("__arrow_c_stream__")? {
        return arrow::column(name, cells);
    }
    if let Ok((codes, words)) = cells.extract::<(PyReadonlyArray1<'_, i64>, Vec<String>)>() {
        let word = |code: &i64| usize::try_from(*code).ok().and_then(|code| words.get(code)).map(String::as_str);
        return Ok((Column::of_cells(codes.as_array().iter().map(word)), Some(ColumnType::text())));
    }
    let expected = |_| {
        PyTypeError::new_err(
            "expected an array of numbers, bool, datetime64 or timedelta64, a list of str and None, or Arrow",
        )
    };
    let cells = cells.cast::<PyList>().map_err(|error| expected(error.into()))?;
    let words: Vec<Option<Bound<'_, PyString>>> = cells.extract().map_err(expected)?;
    let words: Vec<Option<Cow<'_, str>>> =
        words.iter().map(|word| word.as_ref().map(|word| word.to_cow()).transpose()).collect::<PyResult<_>>()?;
    Ok((Column::of_cells(words.iter().map(Option::as_deref)), None))
}

/// An array of numbers or booleans.
fn numbers(cells: &Bound<'_, PyAny>) -> Option<Typed> {
    let numbers = of::<f64>(cells, |cell| cell)
        .or_else(|| of::<f32>(cells, f64::from))
        .or_else(|| of::<i64>(cells, |cell| cell as f64))
        .or_else(|| of::<i32>(cells, f64::from))
        .or_else(|| of::<i16>(cells, f64::from))
        .or_else(|| of::<i8>(cells, f64::from))
        .or_else(|| of::<u64>(cells, |cell| cell as f64))
        .or_else(|| of::<u32>(cells, f64::from))
        .or_else(|| of::<u16>(cells, f64::from))
        .or_else(|| of::<u8>(cells, f64::from))
        .map(|numbers| (Column::Numbers(numbers), None));
    let truth = || of::<bool>(cells, |cell| f64::from(u8::from(cell)));
    numbers.or_else(|| truth().map(|numbers| (Column::Numbers(numbers), Some(ColumnType::truth()))))
}

/// An array of datetimes or durations.
fn times(cells: &Bound<'_, PyAny>) -> Option<Typed> {
    let times = of::<Datetime<units::Microseconds>>(cells, |time| present(time.into(), 1_000_000, moment))
        .or_else(|| of::<Datetime<units::Nanoseconds>>(cells, |time| present(time.into(), 1_000_000_000, moment)))
        .map(|times| (Column::Times(times), None));
    times.or_else(|| {
        of::<Timedelta<units::Microseconds>>(cells, |time| present(time.into(), 1_000_000, seconds_of))
            .or_else(|| {
                of::<Timedelta<units::Nanoseconds>>(cells, |time| present(time.into(), 1_000_000_000, seconds_of))
            })
            .map(|lengths| (Column::Numbers(lengths), Some(ColumnType::duration())))
    })
}

/// The numbers of an array of that type, in any layout.
fn of<T: Element + Copy>(cells: &Bound<'_, PyAny>, number: impl Fn(T) -> f64) -> Option<Vec<f64>> {
    let cells = cells.extract::<PyReadonlyArray1<'_, T>>().ok()?;
    Some(cells.as_array().iter().map(|cell| number(*cell)).collect())
}

/// Seconds; the smallest number is NumPy's mark of a missing one.
fn present(time: i64, parts: i64, seconds: impl Fn(i64, i64) -> f64) -> f64 {
    if time == i64::MIN { f64::NAN } else { seconds(time, parts) }
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
