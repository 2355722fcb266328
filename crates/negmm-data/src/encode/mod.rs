//! Encodings of input columns: how cells become features. A kind of column is a file here and a line in [`Encoding`] and
//! `Encoding::of_kind`.

mod categorical;
mod categories;
pub(crate) mod cells;
pub(crate) mod data_warnings;
mod datetime;
pub(crate) mod difference;
pub(crate) mod encoder;
pub(crate) mod extrapolation;
pub(crate) mod fit;
mod numeric;
mod parsed_column;
mod quantile_transform;
pub(crate) mod time_order;
mod transform;

use serde::{Deserialize, Serialize};

pub use categorical::{MAX_CATEGORIES, TextEncoding};
pub use categories::Categories;
pub use datetime::{TimeEncoding, TimePart};
pub use numeric::NumberEncoding;
pub(crate) use numeric::NumberOptions;
pub(crate) use parsed_column::ParsedColumn;
pub use quantile_transform::QuantileTransform;
pub(crate) use transform::parse;

use super::{ColumnType, Kind};
use negmm_dist::Result;
use negmm_dist::novelty::Beyond;

/// How one input column becomes features.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Encoding {
    /// A standardised number.
    Number(NumberEncoding),
    /// A 0/1 feature for each level.
    Text(TextEncoding),
    /// A standardised number and periodic parts: of the year, the week, the day.
    Time(TimeEncoding),
}

/// The encoding of one kind of column.
pub(crate) trait ColumnEncoding {
    /// The kind of column that it encodes.
    fn kind(&self) -> Kind;

    /// Number of features.
    fn features(&self) -> usize;

    /// Indices of its features that are numbers that vary; the others are 0 or 1.
    fn numbers(&self) -> Vec<usize>;

    /// A name for each feature of the column called `column`.
    fn names(&self, column: &str) -> Vec<String>;

    /// Validates an encoding from a file.
    fn check(&self) -> Result<()>;

    /// Writes the features of all cells.
    fn encode(&self, column: &ParsedColumn<'_>, features: Features<'_>, options: NumberOptions) -> Unseen;

    /// Calls `note` for the rows, in order, whose cells are outside the training range, or were not seen in training.
    fn beyond(&self, column: &ParsedColumn<'_>, note: &mut dyn FnMut(usize, Beyond));

    /// Whether the training range is stored.
    fn knows_range(&self) -> bool;
}

/// Cells that training had not seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Unseen {
    pub categories: u64,
    pub missing: u64,
}

/// The features of one column, all zero: `x` begins at the first of them in the first row, and rows are `stride` floats apart.
pub(crate) struct Features<'a> {
    pub x: &'a mut [f32],
    pub stride: usize,
}

impl Features<'_> {
    /// One feature of all rows.
    fn column(&mut self, feature: usize) -> impl Iterator<Item = &mut f32> {
        self.x[feature..].iter_mut().step_by(self.stride)
    }

    fn set(&mut self, row: usize, feature: usize, value: f32) {
        self.x[row * self.stride + feature] = value;
    }
}

impl Encoding {
    /// Learns from a column of the training table of this kind. With `target_encoding`, text with many categories has
    /// features that are statistics of the target.
    pub(crate) fn learn(column: &ParsedColumn<'_>, kind: Kind, weights: Option<&[f64]>, target_encoding: bool) -> Self {
        match kind {
            Kind::Number => Self::Number(NumberEncoding::learn(column.numbers(), weights)),
            Kind::Time(format) => Self::Time(TimeEncoding::learn(column.numbers(), format, weights)),
            Kind::Text => {
                let (codes, levels) = column.text();
                Self::Text(TextEncoding::learn(codes, levels, weights, target_encoding))
            }
        }
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
    /// The type of the column, where it is not plain numbers or text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_as: Option<ColumnType>,
}

impl Input {
    /// The type of the column.
    pub fn column_type(&self) -> ColumnType {
        self.read_as.clone().unwrap_or_else(|| self.encoding.of_kind().kind().into())
    }

    /// Whether it has features: a constant column has none.
    pub(crate) fn is_used(&self) -> bool {
        self.encoding.features() > 0
    }
}
