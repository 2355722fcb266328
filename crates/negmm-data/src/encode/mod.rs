//! How an input column becomes features, whatever its kind. A kind of column is a file here and a line in
//! [`Encoding`] and `Encoding::of_kind`.

mod categorical;
mod categories;
pub(crate) mod data_warnings;
mod datetime;
pub(crate) mod difference;
pub(crate) mod encoder;
pub(crate) mod extrapolation;
mod numeric;
mod quantile_transform;

use serde::{Deserialize, Serialize};

pub use categorical::{MAX_CATEGORIES, TextEncoding};
pub use categories::Categories;
pub use datetime::{TimeEncoding, TimePart};
pub use numeric::NumberEncoding;
pub(crate) use numeric::NumberOptions;
pub use quantile_transform::QuantileTransform;

use super::{Column, ColumnType, Kind, TimeForm};
use crate::infer::column_numbers;
use crate::infer::time_columns::seconds;
use negmm_dist::novelty::Beyond;
use negmm_dist::{Error, Result};

/// How one input column becomes features.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Encoding {
    /// A standardised number.
    Number(NumberEncoding),
    /// A 0/1 feature for each level.
    Text(TextEncoding),
    /// A standardised number and parts that return: of the year, the week, the day.
    Time(TimeEncoding),
}

/// What every kind of column does.
pub(crate) trait ColumnEncoding {
    /// What the column must hold.
    fn kind(&self) -> Kind;

    /// Features that it becomes.
    fn features(&self) -> usize;

    /// Those of its features, counted from its first, that are numbers that vary; the others are 0 or 1.
    fn numbers(&self) -> Vec<usize>;

    /// A name for each feature of the column called `column`.
    fn names(&self, column: &str) -> Vec<String>;

    /// Says what is wrong with an encoding that came from a file.
    fn check(&self) -> Result<()>;

    /// Writes the features of every cell. The error comes with the row that is at fault.
    fn encode(
        &self,
        column: &Column,
        features: Features<'_>,
        options: NumberOptions,
    ) -> std::result::Result<Unseen, (usize, Error)>;

    /// Notes the rows, in order, whose cells lie outside what training had. Of a column that cannot be encoded it notes nothing.
    fn beyond(&self, column: &Column, note: &mut dyn FnMut(usize, Beyond));

    /// Whether it was kept what training had.
    fn knows_range(&self) -> bool;
}

/// Cells that training had not seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Unseen {
    pub categories: u64,
    pub missing: u64,
}

/// Where the features of one column go: `x` begins at the first of them in the first row, and rows are `stride` floats apart.
/// All are zero.
pub(crate) struct Features<'a> {
    pub x: &'a mut [f32],
    pub stride: usize,
}

impl Features<'_> {
    /// The places of one feature, row by row.
    fn places(&mut self, feature: usize) -> impl Iterator<Item = &mut f32> {
        self.x[feature..].iter_mut().step_by(self.stride)
    }

    fn set(&mut self, row: usize, feature: usize, value: f32) {
        self.x[row * self.stride + feature] = value;
    }
}

impl Encoding {
    /// Learns from a column of the training table, which holds times where `form` says how they are written; `weights` say how
    /// much each row counts, and `statistics` whether text with many levels may have features that are statistics of the
    /// target. The error comes with the row that is at fault.
    pub(crate) fn learn(
        column: &Column,
        form: Option<TimeForm>,
        weights: Option<&[f64]>,
        statistics: bool,
    ) -> std::result::Result<Self, (usize, Error)> {
        Ok(match (form, column) {
            (Some(form), column) => Self::Time(TimeEncoding::learn(&seconds(column, form)?, form, weights)),
            (None, Column::Text { codes, levels }) => {
                Self::Text(TextEncoding::learn(codes, levels, weights, statistics))
            }
            (None, column) => Self::Number(NumberEncoding::learn(&column_numbers(column)?, weights)),
        })
    }

    pub(crate) fn of_kind(&self) -> &dyn ColumnEncoding {
        match self {
            Self::Number(encoding) => encoding,
            Self::Text(encoding) => encoding,
            Self::Time(encoding) => encoding,
        }
    }

    /// Features that the column becomes.
    pub fn features(&self) -> usize {
        self.of_kind().features()
    }

    /// The levels with statistics of the target; the features of the first are followed by those of the next, and all are the
    /// column's last.
    pub(crate) fn statistics(&self) -> &[Categories] {
        match self {
            Self::Number(_) | Self::Time(_) => &[],
            Self::Text(encoding) => &encoding.statistics,
        }
    }
}

/// An input column and how it becomes features.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Input {
    /// The name of the column.
    pub name: String,
    /// How it becomes features.
    #[serde(flatten)]
    pub encoding: Encoding,
    /// How its cells are understood, where that is more than plain numbers or text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_as: Option<ColumnType>,
}

impl Input {
    /// How its cells are understood.
    pub fn reading(&self) -> ColumnType {
        self.read_as.clone().unwrap_or_else(|| self.encoding.of_kind().kind().into())
    }

    /// Whether it has features: a column that tells nothing has none.
    pub(crate) fn is_used(&self) -> bool {
        self.encoding.features() > 0
    }
}
