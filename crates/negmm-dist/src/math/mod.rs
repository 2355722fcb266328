//! Arithmetic: vector lanes, elementary functions, matrix products, the normal distribution, integrals, random
//! streams. All `unsafe` code of the library lives here.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
pub mod beta;
pub mod counter;
pub mod functions;
pub mod gamma;
pub mod lanes;
pub mod matmul;
pub mod normal;
pub mod normal_interval;
pub mod quadrature;
pub mod rng;
pub(crate) mod tail_series;
pub mod truncated;
