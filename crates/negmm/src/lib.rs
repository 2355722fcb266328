//! Predicts a whole distribution for every row of a data set.

pub mod data;
mod error;
pub mod math;
pub mod metrics;
pub mod mixture;
mod predictive;
pub mod score;

pub use error::{Error, ErrorKind, Result};
pub use metrics::Metrics;
pub use mixture::{Mixture, Mixtures};
pub use predictive::Predictions;
