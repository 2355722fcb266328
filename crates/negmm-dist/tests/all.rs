//! The tests of the crate from outside, in one program.

mod families;
mod quantile_sets;
mod score_quadrature;
mod verification;
