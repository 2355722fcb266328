//! The experiments of the paper "Energy Score-Guided Neural Gaussian Mixture Model for Predictive Uncertainty
//! Quantification", run with negmm and set beside the numbers that the paper prints.
//!
//! | experiment | module | what it does |
//! |---|---|---|
//! | `toy1`, `toy2` | [`toy`] | recovers a known distribution; settings chosen with the truth in hand, as in the paper, and without |
//! | `uci` | [`uci`] | ten data sets, six methods, the paper's random splits or the standard ones |
//! | `finance` | [`finance`] | tomorrow's closing price of three stocks |
//!
//! Each is a list of trials for [`negmm::tune::run`], so it can be stopped, continued and divided over machines, and a
//! [`Report`] made of their results.

mod entry;
pub mod finance;
mod grid;
mod printed;
mod report;
mod scores;
mod select;
pub mod toy;
pub mod uci;

pub use entry::{Entry, Mark};
pub use grid::{Effort, METHODS, Overrides};
pub use printed::Printed;
pub use report::{Block, Report};
pub use scores::Scores;
