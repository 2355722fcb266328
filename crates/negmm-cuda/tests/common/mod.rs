//! What several test files use.

#![allow(dead_code, unused_macros)]

#[macro_use]
#[path = "../../../negmm/tests/common/engine_suite.rs"]
pub mod engine_suite;
#[path = "../../../negmm/tests/common/external.rs"]
pub mod external;
pub mod jobs;
pub mod predictors;

use std::path::Path;

use negmm_cuda::Emulated;

/// A device whose kernels are compiled for the processor, where there is a C++ compiler; its items are done first to last, or last
/// to first where `turned_around`.
pub fn emulated(turned_around: bool) -> Option<Emulated> {
    external::tool("C++ compiler", Emulated::new(Path::new(env!("CARGO_TARGET_TMPDIR")), turned_around))
}
