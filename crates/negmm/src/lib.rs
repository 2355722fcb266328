//! Predicts a whole distribution for every row of a data set.

pub mod data;
mod error;
pub mod math;
pub mod mixture;

pub use error::{Error, ErrorKind, Result};
pub use mixture::{Mixture, Mixtures};
