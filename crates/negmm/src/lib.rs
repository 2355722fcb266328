//! Predicts a whole distribution for every row of a data set.

pub mod data;
mod error;
pub mod math;
pub mod net;
pub mod score;
pub mod train;

pub use data::{Encoder, Table};
pub use error::{Error, ErrorKind, Result};
