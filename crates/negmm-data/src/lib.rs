//! Tables and how they become numbers: CSV and Parquet readers, type inference, encoding of columns and targets, windows of
//! sequences. An internal crate of `negmm`: no promise is made about its interface.

pub mod csv;
pub mod encode;
pub mod infer;
mod message;
#[cfg(feature = "parquet")]
pub mod parquet;
mod roles;
pub mod table;
pub mod target;
mod warnings;
mod windows;

pub use negmm_dist::{CensoredTargets, Novelty};
pub use negmm_nn::dataset::{
    CategoricalColumn, Dataset, Intervals, NO_CATEGORY, ROW_ALIGN, STATISTICS, TargetEncoding, split,
};

pub use crate::csv::dialect::Dialect;
pub use crate::csv::stream::{Chunk, CsvStream, Kind, Schema};
#[cfg(feature = "parquet")]
pub use crate::parquet::{
    ParquetStream,
    arrow::ArrowColumn,
    writer::{ParquetWriter, Written},
};
pub use encode::difference::TimeDifference;
pub use encode::encoder::Encoder;
pub use encode::extrapolation::Extrapolation;
pub use encode::{
    Categories, ENCODED_LIMIT, Encoding, Input, MAX_CATEGORIES, NumberEncoding, QuantileTransform, TextEncoding,
    TimeEncoding, TimePart,
};
pub use infer::datetime as time;
pub use infer::datetime::TimeForm;
pub use infer::{CellType, ColumnType, NumberForm, TypedColumn};
pub use roles::ColumnRoles;
pub use table::Table;
pub use table::column::{Column, MISSING};
pub use table::pass_through::KeptColumn;
pub use table::predicted_rows::PredictedRows;
pub use table::row_stream::RowStream;
pub use target::Target;
pub use target::atoms::Atoms;
pub use target::specification::TargetSpec;
pub use warnings::Warnings;
pub use windows::{MOST_WINDOW, Sequence, windows};
