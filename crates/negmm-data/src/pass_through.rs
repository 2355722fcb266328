//! Pass-through columns: cells are copied from the file unchanged.

use std::borrow::Cow;

use crate::column::missing::is_missing;
use crate::infer::datetime::TimeFormat;
use crate::infer::is_code;

/// Seconds of a day.
#[cfg(feature = "parquet")]
const DAY: f64 = 86_400.0;

/// A pass-through column.
#[derive(Clone, Debug)]
pub struct KeptColumn {
    name: String,
    cells: Cells,
    /// What text is in formats that have types.
    kept_as: KeptType,
}

/// What all cells of a pass-through column of text can be, in formats that have types. Digits with leading zeros are text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeptType {
    /// Anything.
    #[default]
    Text,
    /// Whole numbers.
    Integer,
    /// Numbers.
    Float,
    /// `true` and `false`.
    Boolean,
    /// Dates such as 2024-01-31.
    Date,
    /// Dates with a time of day, of no zone.
    Timestamp,
}

impl KeptType {
    /// The type of a cell that is not missing.
    fn of(cell: &str) -> Self {
        let first = cell.bytes().next().unwrap_or(b' ');
        let digits = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'-' | b'.');
        if is_code(cell.as_bytes()) {
            Self::Text
        } else if digits(first) && cell.parse::<i64>().is_ok() {
            Self::Integer
        } else if digits(first) && cell.parse::<f64>().is_ok_and(f64::is_finite) {
            Self::Float
        } else if cell.eq_ignore_ascii_case("true") || cell.eq_ignore_ascii_case("false") {
            Self::Boolean
        } else if first.is_ascii_digit() && cell.as_bytes().get(4) == Some(&b'-') && !cell.contains(['Z', '+']) {
            match (TimeFormat::Ymd.read(cell), cell.len()) {
                (Some(_), 10) => Self::Date,
                (Some(_), 16..) => Self::Timestamp,
                _ => Self::Text,
            }
        } else {
            Self::Text
        }
    }

    /// The type that has the values of both.
    fn or(self, other: Self) -> Self {
        match (self, other) {
            (one, other) if one == other => one,
            (Self::Integer | Self::Float, Self::Integer | Self::Float) => Self::Float,
            (Self::Date | Self::Timestamp, Self::Date | Self::Timestamp) => Self::Timestamp,
            _ => Self::Text,
        }
    }
}

#[derive(Clone, Debug)]
enum Cells {
    /// One after the other, and where each ends.
    Text { text: String, ends: Vec<usize> },
    /// Arrays of one type, one after the other.
    #[cfg(feature = "parquet")]
    Arrays(Vec<arrow_array::ArrayRef>),
}

impl KeptColumn {
    /// An empty one of text.
    pub(crate) fn of_text(name: &str) -> Self {
        let cells = Cells::Text { text: String::new(), ends: Vec::new() };
        Self { name: name.to_string(), cells, kept_as: KeptType::Text }
    }

    /// One of arrays of one type.
    #[cfg(feature = "parquet")]
    pub fn of_arrays(name: &str, arrays: Vec<arrow_array::ArrayRef>) -> Self {
        Self { name: name.to_string(), cells: Cells::Arrays(arrays), kept_as: KeptType::Text }
    }

    /// The name of the column.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The cells from the first row to the last as text; nothing where one is missing.
    pub fn cells(&self) -> Box<dyn Iterator<Item = Cow<'_, str>> + '_> {
        match &self.cells {
            Cells::Text { text, ends } => {
                let mut start = 0;
                Box::new(ends.iter().map(move |end| {
                    let cell = &text[start..*end];
                    start = *end;
                    Cow::Borrowed(cell)
                }))
            }
            #[cfg(feature = "parquet")]
            Cells::Arrays(arrays) => Box::new(arrays.iter().flat_map(|array| crate::arrow::cells(array.as_ref()))),
        }
    }

    /// The type of the cells of text, and of those before them, whose type is `before`; none where all are missing.
    pub fn type_of_cells(&self, before: Option<KeptType>) -> Option<KeptType> {
        if !matches!(self.cells, Cells::Text { .. }) {
            return Some(KeptType::Text);
        }
        let cells = self.cells();
        cells.filter(|cell| !is_missing(cell.trim_ascii().as_bytes())).fold(before, |before, cell| match before {
            Some(KeptType::Text) => before,
            Some(before) => Some(before.or(KeptType::of(cell.trim_ascii()))),
            None => Some(KeptType::of(cell.trim_ascii())),
        })
    }

    /// Gives cells of text that type in formats that have types; arrays keep their own.
    pub fn keep_as(&mut self, kept_as: KeptType) {
        self.kept_as = kept_as;
    }

    /// The cells of these rows, in this order.
    ///
    /// # Errors
    /// When arrays are not of one type, or there is no such row of them.
    pub fn select(&self, rows: &[usize]) -> negmm_dist::Result<Self> {
        let cells = match &self.cells {
            Cells::Text { text, ends } => {
                let (mut own, mut own_ends) = (String::new(), Vec::with_capacity(rows.len()));
                for row in rows {
                    let start = row.checked_sub(1).map_or(0, |before| ends[before]);
                    own.push_str(&text[start..ends[*row]]);
                    own_ends.push(own.len());
                }
                Cells::Text { text: own, ends: own_ends }
            }
            #[cfg(feature = "parquet")]
            Cells::Arrays(arrays) => {
                let arrays: Vec<_> = arrays.iter().map(AsRef::as_ref).collect();
                let rows: arrow_array::UInt64Array = rows.iter().map(|row| *row as u64).collect();
                let all = arrow_select::concat::concat(&arrays);
                let chosen = all.and_then(|all| arrow_select::take::take(&all, &rows, None));
                Cells::Arrays(vec![chosen.map_err(|error| crate::arrow::arrow_error(&error).in_column(&self.name))?])
            }
        };
        Ok(Self { name: self.name.clone(), cells, kept_as: self.kept_as })
    }

    /// One of the same cell in every row.
    pub(crate) fn repeated(name: &str, cell: &str, rows: usize) -> Self {
        let ends = (1..=rows).map(|row| row * cell.len()).collect();
        Self { cells: Cells::Text { text: cell.repeat(rows), ends }, ..Self::of_text(name) }
    }

    /// Adds the cells of the same column of another file, whose cells must be of the same type; text takes all.
    pub(crate) fn append(&mut self, more: Self) -> negmm_dist::Result<()> {
        match (&mut self.cells, more.cells) {
            (Cells::Text { .. }, cells) => {
                let more = Self { cells, ..Self::of_text(&more.name) };
                more.cells().for_each(|cell| self.push(&cell));
            }
            #[cfg(feature = "parquet")]
            (Cells::Arrays(arrays), Cells::Arrays(more)) => {
                let found = [arrays.first(), more.first()].map(|array| array.map(|array| array.data_type()));
                if let [Some(expected), Some(found)] = found
                    && expected != found
                {
                    return Err(disagreement(&self.name, &expected.to_string(), &found.to_string()));
                }
                arrays.extend(more);
            }
            #[cfg(feature = "parquet")]
            (Cells::Arrays(arrays), Cells::Text { .. }) => {
                let expected = arrays.first().map_or("text".into(), |array| array.data_type().to_string());
                return Err(disagreement(&self.name, &expected, "cells of CSV"));
            }
        }
        Ok(())
    }

    /// What the cells are, where that matters to what is written.
    pub(crate) fn empty(&self) -> Self {
        let cells = match &self.cells {
            Cells::Text { .. } => Cells::Text { text: String::new(), ends: Vec::new() },
            #[cfg(feature = "parquet")]
            Cells::Arrays(arrays) => Cells::Arrays(arrays.first().map(|array| array.slice(0, 0)).into_iter().collect()),
        };
        Self { name: self.name.clone(), cells, kept_as: self.kept_as }
    }

    /// Adds a cell of text.
    pub(crate) fn push(&mut self, cell: &str) {
        match &mut self.cells {
            Cells::Text { text, ends } => {
                text.push_str(cell);
                ends.push(text.len());
            }
            #[cfg(feature = "parquet")]
            Cells::Arrays(_) => {}
        }
    }

    /// The `rows` cells from a row on as an array; of text an empty cell is a missing one, and so are those after the last.
    ///
    /// # Errors
    /// When the arrays are not of one type.
    #[cfg(feature = "parquet")]
    pub fn array(&self, first: usize, rows: usize) -> negmm_dist::Result<arrow_array::ArrayRef> {
        use arrow_schema::DataType;

        let mut arrays = match &self.cells {
            Cells::Text { .. } => vec![self.text_array()],
            Cells::Arrays(arrays) => arrays.clone(),
        };
        let data_type = arrays.first().map_or(DataType::Utf8, |array| array.data_type().clone());
        arrays.push(arrow_array::new_null_array(&data_type, rows));
        let arrays: Vec<_> = arrays.iter().map(AsRef::as_ref).collect();
        let all = arrow_select::concat::concat(&arrays);
        Ok(all.map_err(|error| crate::arrow::arrow_error(&error).in_column(&self.name))?.slice(first, rows))
    }

    /// The cells of text as an array of their type.
    #[cfg(feature = "parquet")]
    fn text_array(&self) -> arrow_array::ArrayRef {
        use std::sync::Arc;

        use arrow_array::{
            BooleanArray, Date32Array, Float64Array, Int64Array, StringArray, TimestampMicrosecondArray,
        };

        let cells = || {
            self.cells().map(|cell| match is_missing(cell.trim_ascii().as_bytes()) {
                true => None,
                false => Some(cell),
            })
        };
        let time = |cell: &str| TimeFormat::Ymd.read(cell.trim_ascii());
        match self.kept_as {
            KeptType::Text => {
                let cells = self.cells().map(|cell| (!cell.is_empty()).then_some(cell));
                Arc::new(cells.collect::<StringArray>())
            }
            KeptType::Integer => {
                let number = |cell: Cow<'_, str>| cell.trim_ascii().parse().ok();
                Arc::new(cells().map(|cell| cell.and_then(number)).collect::<Int64Array>())
            }
            KeptType::Float => {
                let number = |cell: Cow<'_, str>| cell.trim_ascii().parse().ok();
                Arc::new(cells().map(|cell| cell.and_then(number)).collect::<Float64Array>())
            }
            KeptType::Boolean => {
                let truth = |cell: Cow<'_, str>| cell.trim_ascii().eq_ignore_ascii_case("true");
                Arc::new(cells().map(|cell| cell.map(truth)).collect::<BooleanArray>())
            }
            KeptType::Date => {
                let day = |cell: Cow<'_, str>| time(&cell).map(|seconds| (seconds / DAY) as i32);
                Arc::new(cells().map(|cell| cell.and_then(day)).collect::<Date32Array>())
            }
            KeptType::Timestamp => {
                let moment = |cell: Cow<'_, str>| time(&cell).map(|seconds| (seconds * 1e6).round() as i64);
                Arc::new(cells().map(|cell| cell.and_then(moment)).collect::<TimestampMicrosecondArray>())
            }
        }
    }
}

/// The error of a column whose cells are of one type in some files and of another in others.
#[cfg(feature = "parquet")]
fn disagreement(name: &str, expected: &str, found: &str) -> negmm_dist::Error {
    negmm_dist::Error::data(format!("expected {expected} as in the files before, found {found}")).in_column(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(cells: &[&str]) -> KeptColumn {
        let mut column = KeptColumn::of_text("x");
        cells.iter().for_each(|cell| column.push(cell));
        column
    }

    #[test]
    fn cells_of_some_rows_in_another_order() {
        let chosen = column(&["a", "", "bc", "d"]).select(&[2, 0, 1]).unwrap();
        assert_eq!(chosen.cells().collect::<Vec<_>>(), ["bc", "a", ""]);
        assert_eq!(column(&["a"]).select(&[]).unwrap().cells().count(), 0);
    }

    #[test]
    fn cells_have_one_type() {
        let of = |cells: &[&str]| column(cells).type_of_cells(None);
        assert_eq!(of(&["1", "", "-20", "NA"]), Some(KeptType::Integer));
        assert_eq!(of(&["1", "2.5"]), Some(KeptType::Float));
        assert_eq!(of(&["1", "a"]), Some(KeptType::Text));
        assert_eq!(of(&["007", "120"]), Some(KeptType::Text));
        assert_eq!(of(&["true", "False"]), Some(KeptType::Boolean));
        assert_eq!(of(&["2024-01-31", "2024-02-29"]), Some(KeptType::Date));
        assert_eq!(of(&["2024-01-31", "2024-02-29 10:30"]), Some(KeptType::Timestamp));
        assert_eq!(of(&["2024-01-31T10:30:00Z"]), Some(KeptType::Text));
        assert_eq!(of(&["", "NA"]), None);
        assert_eq!(column(&["2"]).type_of_cells(Some(KeptType::Boolean)), Some(KeptType::Text));
        assert_eq!(column(&["2"]).type_of_cells(Some(KeptType::Float)), Some(KeptType::Float));
    }
}
