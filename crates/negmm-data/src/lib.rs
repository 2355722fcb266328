//! Tables and how they become numbers: CSV and Parquet readers, type inference, encoding of columns and targets, windows of
//! sequences. An internal crate of `negmm`: no promise is made about its interface.

mod agreement;
#[cfg(feature = "parquet")]
pub mod arrow;
pub mod column;
pub mod csv;
pub mod encode;
mod files;
pub mod infer;
mod message;
#[cfg(feature = "parquet")]
pub mod parquet;
mod pass_through;
mod read;
mod roles;
mod schema;
mod scratch;
mod source;
pub mod table;
pub mod target;
mod warnings;
mod windows;

pub use negmm_dist::{CensoredTargets, Novelty};
pub use negmm_nn::dataset::{
    CategoricalColumn, Dataset, Intervals, NO_CATEGORY, ROW_ALIGN, STATISTICS, TargetEncoding, split,
};

#[cfg(feature = "parquet")]
pub use crate::arrow::ArrowColumn;
pub use crate::csv::stream::CsvStream;
#[cfg(feature = "parquet")]
pub use crate::parquet::{ParquetStream, writer::ParquetWriter};
pub use column::{Column, MISSING};
pub use encode::cells::{CellParts, Cells, ColumnBlocks};
pub use encode::difference::TimeDifference;
pub use encode::encoder::Encoder;
pub use encode::extrapolation::Extrapolation;
pub use encode::fit::{EncodedTable, EncoderOptions};
pub use encode::time_order::TimeOrder;
pub use encode::{
    Categories, Encoding, Input, MAX_CATEGORIES, NumberEncoding, QuantileTransform, TextEncoding, TimeEncoding,
    TimePart,
};
pub use files::files_of;
pub use infer::Kind;
pub use infer::datetime as time;
pub use infer::datetime::TimeFormat;
pub use infer::dialect::Dialect;
pub use infer::{CellType, ColumnType, NumberFormat, TypedColumn};
pub use pass_through::{KeptColumn, KeptType};
pub use read::drawn_rows::DrawnRows;
pub use read::files_stream::FilesStream;
pub use read::row_stream::RowStream;
pub use roles::ColumnRoles;
pub use schema::{Chunk, Schema};
pub use scratch::{ScratchTable, TableSize, table_size};
pub use source::memory_limit::memory_limit;
pub use table::Table;
pub use table::predicted_rows::PredictedRows;
pub use target::atoms::Atoms;
pub use target::discrete::repeated_step as grid_step;
pub use target::discrete::{common_step, on_grid};
pub use target::specification::TargetSpec;
pub use target::{ENCODED_LIMIT, Target};
pub use warnings::Warnings;
pub use windows::{MOST_WINDOW, Sequence, windows};
