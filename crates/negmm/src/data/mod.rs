//! Responsible for what comes in: tables with named columns, and how they become numbers a network can use.

#[cfg(feature = "parquet")]
mod arrow;
mod atoms;
pub(crate) mod calendar;
mod column;
mod csv;
mod cursor;
mod dataset;
mod deciding;
mod decimal_mark;
mod dialect;
mod dictionary;
mod difference;
mod encoder;
mod encoding;
mod extrapolation;
mod format;
mod grid;
mod groups;
mod gzip;
mod inputs;
mod intervals;
mod kept;
mod known;
mod levels;
mod message;
mod moments;
mod novelty;
mod oddities;
mod outcome;
mod packed;
#[cfg(feature = "parquet")]
mod parquet;
#[cfg(feature = "parquet")]
mod parquet_writer;
mod reading;
mod room;
mod row_stream;
mod rows;
mod source;
pub mod split;
mod statistics;
mod stream;
mod table;
mod target;
pub mod time;
mod times;
mod understood;
mod warnings;
mod weights;
mod whole;
mod windows;

pub(crate) use message::{quoted, visible};
pub(crate) use weights::{check_weights, weight_of};

#[cfg(feature = "parquet")]
pub use arrow::ArrowColumn;
pub use atoms::Atoms;
pub use column::{Column, MISSING};
pub use dataset::{Dataset, ROW_ALIGN};
pub use dialect::Dialect;
pub use difference::Difference;
pub use encoder::Encoder;
pub use encoding::{
    ENCODED_LIMIT, Encoding, Input, Levels, MAX_LEVELS, NormalScores, NumberEncoding, TextEncoding, TimeEncoding,
    TimePart,
};
pub use extrapolation::Extrapolation;
pub use inputs::Inputs;
pub use intervals::Intervals;
pub use kept::KeptColumn;
pub use known::Known;
pub use levels::{LevelColumn, NO_LEVEL, STATISTICS};
pub use novelty::Novelty;
pub use outcome::Outcome;
#[cfg(feature = "parquet")]
pub use parquet::ParquetStream;
#[cfg(feature = "parquet")]
pub use parquet_writer::{ParquetWriter, Written};
pub use reading::{ColumnReading, NumberForm, ReadAs, Reading};
pub use row_stream::RowStream;
pub use rows::PredictedRows;
pub use statistics::LevelStatistics;
pub use stream::{Chunk, CsvStream, Kind, Schema};
pub use table::Table;
pub use target::Target;
pub use time::TimeForm;
pub use warnings::Warnings;
pub use windows::{MOST_WINDOW, Sequence, windows};
