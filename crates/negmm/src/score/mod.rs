//! Responsible for scores.

mod panel;

pub use panel::{Scratch, Wanted};
