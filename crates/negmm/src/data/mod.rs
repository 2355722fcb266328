//! Responsible for what comes in: tables with named columns, and how they become numbers a network can use.

mod csv;
mod dataset;
mod encode;
mod grid;
mod learn;
mod message;
mod rows;
mod source;
pub mod split;
mod stream;
mod table;
mod warnings;
mod windows;

pub(crate) use message::quoted;

pub use dataset::{Dataset, ROW_ALIGN};
pub use encode::{ENCODED_LIMIT, Encoder, Encoding, Input, Inputs, MAX_LEVELS, Target};
pub use rows::PredictedRows;
pub use stream::{Chunk, CsvStream, KeptColumn, Kind, Schema};
pub use table::{Column, MISSING, Table};
pub use warnings::Warnings;
pub use windows::{MOST_WINDOW, Sequence, windows};
