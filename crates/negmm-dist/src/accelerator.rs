//! The interface of a device that finds quantiles of many mixtures at once.

use std::fmt;
use std::sync::Arc;

use crate::mixture::{Mixtures, TailQuantile};

/// Finds quantiles, bit for bit as the CPU would. It returns nothing where it leaves the work to the CPU: it never fails.
pub trait QuantileAccelerator: Send + Sync {
    /// Each of these quantiles of each mixture, none of which has an atom: quantiles × rows.
    fn quantiles(&self, mixtures: &Mixtures, quantiles: &[TailQuantile]) -> Option<Vec<f64>>;
}

/// The accelerator of some predictions, if there is one. Results do not depend on it: all are equal.
#[derive(Clone, Default)]
pub(crate) struct Accelerated(pub(crate) Option<Arc<dyn QuantileAccelerator>>);

impl PartialEq for Accelerated {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl fmt::Debug for Accelerated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "accelerated" } else { "CPU" })
    }
}
