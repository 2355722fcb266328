//! Helpers shared by the test files.

#![allow(dead_code, unused_macros)]

#[macro_use]
#[path = "../../../negmm/tests/common/engine_suite.rs"]
pub mod engine_suite;
#[path = "../../../negmm/tests/common/external.rs"]
pub mod external;
pub mod jobs;
pub mod predictors;

use std::path::Path;

use negmm_cuda::EmulatedDevice;

/// An emulated device, where there is a C++ compiler; with `reverse_items` its work items run last to first, which reveals races.
pub fn emulated(reverse_items: bool) -> Option<EmulatedDevice> {
    external::tool("C++ compiler", EmulatedDevice::new(Path::new(env!("CARGO_TARGET_TMPDIR")), reverse_items))
}
