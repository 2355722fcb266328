//! Responsible for what comes in: tables with named columns, and how they become numbers a network can use.

mod calendar;
mod csv;
mod cursor;
mod dataset;
mod dialect;
mod difference;
mod encoder;
mod encoding;
mod extrapolation;
mod grid;
mod inputs;
mod levels;
mod message;
mod moments;
mod novelty;
mod oddities;
mod packed;
mod reading;
mod rows;
mod source;
pub mod split;
mod statistics;
mod stream;
mod table;
mod target;
pub mod time;
mod times;
mod warnings;
mod weights;
mod whole;
mod windows;

pub(crate) use message::quoted;

pub use dataset::{Dataset, ROW_ALIGN};
pub use dialect::Dialect;
pub use difference::Difference;
pub use encoder::Encoder;
pub use encoding::{
    ENCODED_LIMIT, Encoding, Input, Levels, MAX_LEVELS, NumberEncoding, TextEncoding, TimeEncoding, TimePart,
};
pub use extrapolation::Extrapolation;
pub use inputs::Inputs;
pub use levels::{LevelColumn, NO_LEVEL, STATISTICS};
pub use novelty::Novelty;
pub use reading::{ColumnReading, NumberForm, ReadAs, Reading};
pub use rows::PredictedRows;
pub use statistics::LevelStatistics;
pub use stream::{Chunk, CsvStream, KeptColumn, Kind, Schema};
pub use table::{Column, MISSING, Table};
pub use target::Target;
pub use time::TimeForm;
pub use warnings::Warnings;
pub use windows::{MOST_WINDOW, Sequence, windows};
