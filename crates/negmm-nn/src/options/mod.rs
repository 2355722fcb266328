//! Responsible for options: what each is called, what it may be and what it means, and for reading and checking their values.
//!
//! A struct of settings lists its options once, by [`Options::each`]. Help, config files, searches, the Python package and
//! `docs/options.md` are made from these lists.

pub mod automatic;
mod range;
mod renamed;
mod shared;
mod slot;
mod spec;

use std::fmt;

use negmm_dist::{Error, Result};

pub use range::Range;
pub use renamed::RENAMED;
pub use shared::{PATIENCE, SIGMA_MIN, VALIDATION};
