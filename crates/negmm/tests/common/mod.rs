//! What several test files use.

#[macro_use]
pub mod engine_suite;
pub mod external;
pub mod quadrature;
