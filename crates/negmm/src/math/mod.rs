//! Responsible for arithmetic: vector lanes, elementary functions, matrix products, the normal distribution, random streams.
//! All `unsafe` code of the library lives here.

pub mod normal;
pub mod rng;
