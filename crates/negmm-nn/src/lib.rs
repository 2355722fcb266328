//! Networks and boosted trees: layers in one flat buffer, losses in `f32` lanes, optimisers, training jobs and the engines that run
//! them, and the encoded rows that they are trained on. An internal crate of `negmm` without a stable interface.

pub mod atomic_file;
mod bins;
pub mod callbacks;
pub mod dataset;
pub mod empirical;
pub mod forest;
pub mod frequencies;
pub mod linear;
pub mod loss;
pub mod net;
pub mod ngboost;
pub mod options;
pub mod scratch;
pub mod tensors;
pub mod threads;
pub mod train;
