//! Losses in `f32` lanes: scores of panels of rows with gradients, as training needs them. The same formulas in f64,
//! which these are tested against, are in [`negmm_dist::score`].

pub mod beta_nll;
mod known;
mod mixture;
pub mod sample_energy;
pub mod sample_log;
pub mod sinkhorn;

pub use known::ObservedTargets;
pub use mixture::{Scratch, Wanted};
