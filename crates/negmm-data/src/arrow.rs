//! Conversion of Arrow arrays to columns, for each Arrow type.
//!
//! | type | column |
//! |---|---|
//! | integers, floats, decimals, null | numbers |
//! | booleans | the numbers 1 and 0 |
//! | durations, intervals of days and less | numbers, in seconds |
//! | dates, timestamps | times, of UTC where there is a zone |
//! | strings, times of day | text, which [`Table::infer_types`] may find to be more |
//! | dictionaries of any of these | text: categories |
//!
//! Nulls and NaN are missing, and so is text that means missing in CSV.

use std::borrow::Cow;
use std::collections::BTreeMap;

use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{Array, ArrowPrimitiveType, PrimitiveArray, RecordBatch};
use arrow_schema::{ArrowError, DataType, Field, IntervalUnit, Schema, TimeUnit};

use crate::column::dictionary::Dictionary;
use crate::column::not_finite;
use crate::infer::TypedColumn;
use crate::infer::as_text;
use crate::infer::datetime::{clock, moment, seconds_of};
use crate::table::check_names;
use crate::{Column, ColumnType, Table};
use negmm_dist::{Error, Result};

/// A column that is being made of arrays of one type.
pub struct ArrowColumn {
    name: String,
    /// Rows of the file before the first, for messages.
    before: usize,
    data_type: DataType,
    cells: Cells,
    /// The column type, where it is more than number, time or text.
    column_type: Option<ColumnType>,
}

enum Cells {
    Numbers(Vec<f64>),
    Times(Vec<f64>),
    Text(Dictionary),
}

impl ArrowColumn {
    /// An empty one of that name.
    ///
    /// # Errors
    /// When the type is none of numbers, times or text.
    pub fn new(name: &str, data_type: &DataType) -> Result<Self> {
        let message = || format!("expected numbers, times or text, found {data_type}");
        let refuse = || Error::data(message()).in_column(name);
        let (cells, column_type) = match data_type {
            DataType::Boolean => (Cells::Numbers(Vec::new()), Some(ColumnType::truth())),
            DataType::Duration(_) | DataType::Interval(IntervalUnit::MonthDayNano) => {
                (Cells::Numbers(Vec::new()), Some(ColumnType::duration()))
            }
            DataType::Date32 | DataType::Date64 | DataType::Timestamp(..) => (Cells::Times(Vec::new()), None),
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View | DataType::Time32(_) | DataType::Time64(_) => {
                (Cells::Text(Dictionary::default()), None)
            }
            DataType::Dictionary(_, values) => {
                Self::new(name, values).map_err(|_| refuse())?;
                (Cells::Text(Dictionary::default()), Some(ColumnType::text()))
            }
            other if other.is_numeric() || other.is_null() => (Cells::Numbers(Vec::new()), None),
            _ => return Err(refuse()),
        };
        Ok(Self { name: name.to_string(), before: 0, data_type: data_type.clone(), cells, column_type })
    }

    /// The same after this many rows of the file.
    pub(crate) fn after(mut self, rows: usize) -> Self {
        self.before = rows;
        self
    }

    /// Rows so far.
    pub fn len(&self) -> usize {
        match &self.cells {
            Cells::Numbers(numbers) | Cells::Times(numbers) => numbers.len(),
            Cells::Text(dictionary) => dictionary.len(),
        }
    }

    /// Whether there is no row yet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds the cells of an array.
    ///
    /// # Errors
    /// When it is of another type, or a number is infinite.
    pub fn push(&mut self, array: &dyn Array) -> Result<()> {
        if *array.data_type() != self.data_type {
            let message = format!("expected {}, found {}", self.data_type, array.data_type());
            return Err(Error::data(message).in_column(&self.name));
        }
        match &mut self.cells {
            Cells::Numbers(numbers) => {
                let before = numbers.len();
                push_numbers(numbers, array);
                match numbers[before..].iter().position(|number| number.is_infinite()) {
                    Some(row) => {
                        let error = match self.data_type {
                            DataType::Interval(_) => Error::data("months have no fixed length of time"),
                            _ => not_finite(&numbers[before + row].to_string()),
                        };
                        let error = error.in_column(&self.name);
                        Err(error.at_row((self.before + before + row) as u64))
                    }
                    None => Ok(()),
                }
            }
            Cells::Times(times) => {
                push_times(times, array);
                Ok(())
            }
            Cells::Text(dictionary) => push_text(dictionary, array),
        }
    }

    /// The column, and its type where it is more than number, time or text.
    pub fn finish(self) -> (Column, Option<ColumnType>) {
        let column = match self.cells {
            Cells::Numbers(numbers) => Column::Numbers(numbers),
            Cells::Times(times) => Column::Times(times),
            Cells::Text(dictionary) => dictionary.finish(),
        };
        (column, self.column_type)
    }
}

impl Table {
    /// A table of record batches. Text is left as it is: [`Table::infer_types`] reads it as that of a CSV file.
    ///
    /// # Errors
    /// When a column has a type that is none of numbers, times or text, or a name that another has too.
    pub fn of_arrow(
        schema: &Schema,
        batches: impl Iterator<Item = std::result::Result<RecordBatch, ArrowError>>,
    ) -> Result<Self> {
        let names = names(schema);
        check_names(&names)?;
        let builder = |(field, name): (&std::sync::Arc<Field>, &String)| ArrowColumn::new(name, field.data_type());
        let mut builders = schema.fields().iter().zip(&names).map(builder).collect::<Result<Vec<_>>>()?;
        let mut rows = 0;
        for batch in batches {
            let batch = batch.map_err(|error| arrow_error(&error))?;
            for (builder, array) in builders.iter_mut().zip(batch.columns()) {
                builder.push(array.as_ref())?;
            }
            rows += batch.num_rows();
        }
        let mut column_types = BTreeMap::new();
        let mut columns = Vec::with_capacity(names.len());
        for (name, builder) in names.into_iter().zip(builders) {
            let (column, column_type) = builder.finish();
            column_types.extend(column_type.map(|column_type| (name.clone(), TypedColumn::of(column_type, ""))));
            columns.push((name, column));
        }
        Ok(Self::of_checked("", columns.into_iter(), 0, rows).with_typed_columns(column_types))
    }
}

/// The names of columns, as those of a CSV file: without blanks around them, by its position where one has none.
pub(crate) fn names(schema: &Schema) -> Vec<String> {
    let name = |(position, field): (usize, &std::sync::Arc<Field>)| match field.name().trim() {
        "" => format!("column {}", position + 1),
        name => name.to_string(),
    };
    schema.fields().iter().enumerate().map(name).collect()
}

/// What Arrow complains of, in one line.
pub(crate) fn arrow_error(error: &ArrowError) -> Error {
    let message = match error {
        ArrowError::ParquetError(message) => format!("cannot be read as Parquet: {message}"),
        other => other.to_string(),
    };
    Error::data(message.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Adds a number for each cell, NaN for a null.
fn extend<T: ArrowPrimitiveType>(numbers: &mut Vec<f64>, array: &dyn Array, number: impl Fn(T::Native) -> f64) {
    let Some(array) = array.as_primitive_opt::<T>() else { return };
    match array.null_count() {
        0 => numbers.extend(array.values().iter().map(|cell| number(*cell))),
        _ => numbers.extend(array.iter().map(|cell| cell.map_or(f64::NAN, &number))),
    }
}

fn push_numbers(numbers: &mut Vec<f64>, array: &dyn Array) {
    match array.data_type() {
        DataType::Int8 => extend::<Int8Type>(numbers, array, f64::from),
        DataType::Int16 => extend::<Int16Type>(numbers, array, f64::from),
        DataType::Int32 => extend::<Int32Type>(numbers, array, f64::from),
        DataType::Int64 => extend::<Int64Type>(numbers, array, |cell| cell as f64),
        DataType::UInt8 => extend::<UInt8Type>(numbers, array, f64::from),
        DataType::UInt16 => extend::<UInt16Type>(numbers, array, f64::from),
        DataType::UInt32 => extend::<UInt32Type>(numbers, array, f64::from),
        DataType::UInt64 => extend::<UInt64Type>(numbers, array, |cell| cell as f64),
        DataType::Float16 => extend::<Float16Type>(numbers, array, f64::from),
        DataType::Float32 => extend::<Float32Type>(numbers, array, f64::from),
        DataType::Float64 => extend::<Float64Type>(numbers, array, |cell| cell),
        DataType::Decimal32(..) => push_decimals::<Decimal32Type>(numbers, array),
        DataType::Decimal64(..) => push_decimals::<Decimal64Type>(numbers, array),
        DataType::Decimal128(..) => push_decimals::<Decimal128Type>(numbers, array),
        DataType::Decimal256(..) => push_decimals::<Decimal256Type>(numbers, array),
        DataType::Duration(unit) => {
            let parts = parts(*unit);
            match unit {
                TimeUnit::Second => extend::<DurationSecondType>(numbers, array, |cell| seconds_of(cell, parts)),
                TimeUnit::Millisecond => {
                    extend::<DurationMillisecondType>(numbers, array, |cell| seconds_of(cell, parts));
                }
                TimeUnit::Microsecond => {
                    extend::<DurationMicrosecondType>(numbers, array, |cell| seconds_of(cell, parts));
                }
                TimeUnit::Nanosecond => {
                    extend::<DurationNanosecondType>(numbers, array, |cell| seconds_of(cell, parts));
                }
            }
        }
        DataType::Interval(_) => extend::<IntervalMonthDayNanoType>(numbers, array, |length| match length.months {
            0 => seconds_of(i64::from(length.days) * 86_400, 1) + seconds_of(length.nanoseconds, 1_000_000_000),
            _ => f64::INFINITY,
        }),
        DataType::Boolean => {
            let cells = array.as_boolean().iter();
            numbers.extend(cells.map(|cell| cell.map_or(f64::NAN, |truth| f64::from(u8::from(truth)))));
        }
        _ => numbers.extend(std::iter::repeat_n(f64::NAN, array.len())),
    }
}

/// Decimals by their text: the number that a CSV file would give.
fn push_decimals<T: DecimalType + ArrowPrimitiveType>(numbers: &mut Vec<f64>, array: &dyn Array) {
    let Some(array) = array.as_primitive_opt::<T>() else { return };
    let number = |array: &PrimitiveArray<T>, row: usize| array.value_as_string(row).parse().unwrap_or(f64::NAN);
    numbers.extend((0..array.len()).map(|row| if array.is_null(row) { f64::NAN } else { number(array, row) }));
}

fn push_times(times: &mut Vec<f64>, array: &dyn Array) {
    match array.data_type() {
        DataType::Date32 => extend::<Date32Type>(times, array, |day| moment(i64::from(day) * 86_400, 1)),
        DataType::Date64 => extend::<Date64Type>(times, array, |time| moment(time, parts(TimeUnit::Millisecond))),
        DataType::Timestamp(unit, _) => {
            let parts = parts(*unit);
            match unit {
                TimeUnit::Second => extend::<TimestampSecondType>(times, array, |time| moment(time, parts)),
                TimeUnit::Millisecond => extend::<TimestampMillisecondType>(times, array, |time| moment(time, parts)),
                TimeUnit::Microsecond => extend::<TimestampMicrosecondType>(times, array, |time| moment(time, parts)),
                TimeUnit::Nanosecond => extend::<TimestampNanosecondType>(times, array, |time| moment(time, parts)),
            }
        }
        _ => times.extend(std::iter::repeat_n(f64::NAN, array.len())),
    }
}

/// Parts of a second that are counted.
fn parts(unit: TimeUnit) -> i64 {
    match unit {
        TimeUnit::Second => 1,
        TimeUnit::Millisecond => 1_000,
        TimeUnit::Microsecond => 1_000_000,
        TimeUnit::Nanosecond => 1_000_000_000,
    }
}

fn push_text(dictionary: &mut Dictionary, array: &dyn Array) -> Result<()> {
    match array.data_type() {
        DataType::Utf8 => array.as_string::<i32>().iter().for_each(|cell| dictionary.push_cell(cell)),
        DataType::LargeUtf8 => array.as_string::<i64>().iter().for_each(|cell| dictionary.push_cell(cell)),
        DataType::Utf8View => array.as_string_view().iter().for_each(|cell| dictionary.push_cell(cell)),
        DataType::Dictionary(..) => return push_categories(dictionary, array),
        _ => times_of_day(array).iter().for_each(|cell| dictionary.push_cell(cell.as_deref())),
    }
    Ok(())
}

/// The categories of a dictionary array; only those that a row has become levels.
fn push_categories(dictionary: &mut Dictionary, array: &dyn Array) -> Result<()> {
    let Some(array) = array.as_any_dictionary_opt() else { return Ok(()) };
    let mut values = ArrowColumn::new("categories", array.values().data_type())?;
    values.push(array.values().as_ref())?;
    let (values, _) = values.finish();
    let values = as_text(&values);
    let Column::Text { codes, levels } = values.as_ref() else { return Ok(()) };
    let keys = if codes.is_empty() { vec![0; array.len()] } else { array.normalized_keys() };
    for (row, key) in keys.into_iter().enumerate() {
        let text = codes.get(key).and_then(|code| levels.get(*code as usize)).filter(|_| array.keys().is_valid(row));
        dictionary.push_cell(text.map(String::as_str));
    }
    Ok(())
}

/// Times of day as a clock shows them.
fn times_of_day(array: &dyn Array) -> Vec<Option<String>> {
    let mut seconds = Vec::with_capacity(array.len());
    match array.data_type() {
        DataType::Time32(TimeUnit::Second) => extend::<Time32SecondType>(&mut seconds, array, f64::from),
        DataType::Time32(_) => {
            extend::<Time32MillisecondType>(&mut seconds, array, |time| seconds_of(i64::from(time), 1_000));
        }
        DataType::Time64(TimeUnit::Microsecond) => {
            extend::<Time64MicrosecondType>(&mut seconds, array, |time| seconds_of(time, 1_000_000));
        }
        _ => extend::<Time64NanosecondType>(&mut seconds, array, |time| seconds_of(time, 1_000_000_000)),
    }
    seconds.into_iter().map(|seconds| (!seconds.is_nan()).then(|| clock(seconds))).collect()
}

/// The cells of an array as text, in full; nothing where one is missing.
pub(crate) fn cells(array: &dyn Array) -> Vec<Cow<'_, str>> {
    let text =
        |cells: Vec<Option<String>>| cells.into_iter().map(|cell| Cow::Owned(cell.unwrap_or_default())).collect();
    match array.data_type() {
        DataType::Utf8 => array.as_string::<i32>().iter().map(|cell| cell.unwrap_or_default().into()).collect(),
        DataType::LargeUtf8 => array.as_string::<i64>().iter().map(|cell| cell.unwrap_or_default().into()).collect(),
        DataType::Utf8View => array.as_string_view().iter().map(|cell| cell.unwrap_or_default().into()).collect(),
        // Beyond 2^53 a float would have other digits.
        DataType::Int64 => text(in_full::<Int64Type>(array)),
        DataType::UInt64 => text(in_full::<UInt64Type>(array)),
        DataType::Decimal32(..) => text(decimals::<Decimal32Type>(array)),
        DataType::Decimal64(..) => text(decimals::<Decimal64Type>(array)),
        DataType::Decimal128(..) => text(decimals::<Decimal128Type>(array)),
        DataType::Decimal256(..) => text(decimals::<Decimal256Type>(array)),
        DataType::Boolean => {
            let cells = array.as_boolean().iter();
            text(cells.map(|cell| cell.map(|truth| truth.to_string())).collect())
        }
        data_type => {
            let Ok(mut column) = ArrowColumn::new("", data_type) else { return vec![Cow::Borrowed(""); array.len()] };
            if column.push(array).is_err() {
                return vec![Cow::Borrowed(""); array.len()];
            }
            let (column, _) = column.finish();
            let column = as_text(&column);
            let Column::Text { codes, levels } = column.as_ref() else { return Vec::new() };
            text(codes.iter().map(|code| levels.get(*code as usize).cloned()).collect())
        }
    }
}

fn in_full<T: ArrowPrimitiveType>(array: &dyn Array) -> Vec<Option<String>>
where
    T::Native: ToString,
{
    array.as_primitive::<T>().iter().map(|cell| cell.map(|cell| cell.to_string())).collect()
}

fn decimals<T: DecimalType + ArrowPrimitiveType>(array: &dyn Array) -> Vec<Option<String>> {
    let array = array.as_primitive::<T>();
    (0..array.len()).map(|row| array.is_valid(row).then(|| array.value_as_string(row))).collect()
}
