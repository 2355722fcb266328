//! The experiments of the paper "Energy Score-Guided Neural Gaussian Mixture Model for Predictive Uncertainty
//! Quantification", reproduced with negmm and compared with the published numbers.
//!
//! | experiment | module | task |
//! |---|---|---|
//! | `toy1`, `toy2` | [`toy`] | recovers a known distribution; settings selected with the truth, as in the paper, and by validation |
//! | `uci` | [`uci`] | ten data sets, six methods, the paper's random splits or the standard ones |
//! | `finance` | [`finance`] | one-day-ahead closing prices of three stocks |
//!
//! Each is a list of trials for [`negmm::tune::run`], which can be stopped, resumed and sharded over machines, and a [`Report`] of
//! their results.

mod entry;
pub mod finance;
mod grid;
mod published;
mod report;
mod scores;
mod select;
pub mod toy;
pub mod uci;

pub use entry::{Comparison, Entry};
pub use grid::{Effort, METHODS, Overrides};
pub use published::Published;
pub use report::{Report, ResultTable};
pub use scores::Scores;
