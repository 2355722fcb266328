//! Predictive distributions and their scores: Gaussian mixtures and sets of samples, exactly, in `f64`; bounded, rounded and
//! atomic targets; quantiles, highest-density regions, CRPS, log score, energy score, coverage, censored scores.
//!
//! Nothing here reads or writes files. `math` is also what `negmm-nn` trains with.

pub mod accelerator;
pub mod censored;
mod error;
mod grid;
pub mod known;
#[doc(hidden)]
pub mod math;
pub mod metrics;
pub mod mixture;
#[doc(hidden)]
pub mod near;
pub mod novelty;
mod place;
pub mod predictive;
#[doc(hidden)]
pub mod quote;
pub mod region;
pub mod row;
pub mod samples;
pub mod score;
#[doc(hidden)]
pub mod streams;
pub mod support;
#[doc(hidden)]
pub mod weights;

pub use accelerator::QuantileAccelerator;
pub use error::{Error, ErrorKind, Result};
pub use known::CensoredTargets;
pub use math::rng::Rng;
pub use metrics::Metrics;
pub use mixture::{Mixture, Mixtures, TailQuantile};
pub use novelty::Novelty;
pub use place::Place;
pub use predictive::Predictions;
pub use region::HighestDensityRegion;
pub use row::{DistributionKind, DistributionRef};
pub use support::Support;
