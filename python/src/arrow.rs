//! Arrow streams by `__arrow_c_stream__`, read and written without a copy.

use arrow_array::ffi_stream::{ArrayStreamReader, FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_array::{ArrayReader, RecordBatch, RecordBatchIterator, RecordBatchReader};
use arrow_schema::{Schema, SchemaRef};
use negmm::data::{ArrowColumn, Column, ColumnType};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::error::exception;

/// The stream of an object.
fn stream(object: &Bound<'_, PyAny>) -> PyResult<FFI_ArrowArrayStream> {
    let capsule = object.call_method0("__arrow_c_stream__")?;
    let pointer = capsule.cast::<PyCapsule>()?.pointer_checked(Some(c"arrow_array_stream"))?;
    // SAFETY: a capsule of this name holds a valid stream (the Arrow PyCapsule interface), which is moved out of it here; what is
    // left there is marked as released, and the capsule lives until after that.
    Ok(unsafe { FFI_ArrowArrayStream::from_raw(pointer.as_ptr().cast()) })
}

fn stream_error(error: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// The table of an object that streams record batches.
pub fn table(object: &Bound<'_, PyAny>) -> PyResult<negmm::Table> {
    let batches = RecordBatchStreamReader::try_new(stream(object)?).map_err(stream_error)?;
    // A producer may need the interpreter's lock in a thread of its own.
    let schema = batches.schema();
    object.py().detach(|| negmm::Table::of_arrow(&schema, batches)).map_err(exception)
}

/// The column called `name` of an object that streams arrays.
pub fn column(name: &str, object: &Bound<'_, PyAny>) -> PyResult<(Column, Option<ColumnType>)> {
    let arrays = ArrayStreamReader::try_new(stream(object)?).map_err(stream_error)?;
    let mut column = ArrowColumn::new(name, arrays.field().data_type()).map_err(exception)?;
    object
        .py()
        .detach(|| {
            for array in arrays {
                column.push(array.map_err(|error| negmm::Error::data(error.to_string()))?.as_ref())?;
            }
            Ok(column.finish())
        })
        .map_err(exception)
}

/// Batches of Arrow that Python may stream.
#[pyclass(frozen, module = "negmm._native")]
pub struct ArrowBatches {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

impl ArrowBatches {
    pub fn new(schema: Schema, batches: Vec<RecordBatch>) -> Self {
        Self { schema: schema.into(), batches }
    }
}

#[pymethods]
impl ArrowBatches {
    /// The Arrow PyCapsule interface; another schema cannot be had.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        let batches = RecordBatchIterator::new(self.batches.clone().into_iter().map(Ok), self.schema.clone());
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(batches)), c"arrow_array_stream")
    }
}
