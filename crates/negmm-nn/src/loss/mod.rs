//! Losses in `f32` lanes: scores of panels of rows with gradients, as training needs them. The same formulas in f64,
//! which these are tested against, are in [`negmm_dist::score`].

pub mod beta_nll;
pub mod joint;
mod mixture;
mod observed_targets;
pub mod sample_energy;
pub mod sample_log;
pub mod sinkhorn;

pub use mixture::{Scratch, Wanted};
pub use observed_targets::ObservedTargets;
