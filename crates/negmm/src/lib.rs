//! Predicts a whole distribution for every row of a data set.

pub mod data;
mod error;
pub mod math;
pub mod method;
pub mod metrics;
pub mod mixture;
pub mod model;
pub mod net;
mod predictive;
pub mod score;
pub mod train;

pub use data::{Encoder, Table};
pub use error::{Error, ErrorKind, Result};
pub use method::Method;
pub use metrics::Metrics;
pub use mixture::{Mixture, Mixtures};
pub use model::{FitOptions, Model, fit, fit_with};
pub use predictive::Predictions;
