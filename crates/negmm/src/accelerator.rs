//! Responsible for the seam between predicting and a device that does its heavy work: networks over many rows, and quantiles of many
//! mixtures.

use std::fmt;
use std::sync::Arc;

use crate::Mixtures;
use crate::net::{Network, Parameters};

/// Does a part of predicting, bit for bit as the processor would. Nothing, where it leaves a part to the processor: it never fails.
pub trait Accelerator: Send + Sync {
    /// The raw outputs of networks of one shape for all rows of `x`, each padded to `stride` floats: networks × panels × outputs × 32,
    /// where a panel is 32 rows and the last one need not be full.
    fn outputs(&self, network: &Network, parameters: &[&Parameters], x: &[f32], stride: usize) -> Option<Vec<f32>>;

    /// Each of these quantiles of each mixture, none of which has an atom: asked × rows.
    fn quantiles(&self, mixtures: &Mixtures, asked: &[TailQuantile]) -> Option<Vec<f64>>;
}

/// The quantile of a variable, or of minus the variable, at a mass.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct TailQuantile {
    /// Probability between the quantile and the end from which it is counted, above 0 and up to 1/2.
    pub mass: f64,
    /// 1: counted from the lower end; -1: from the upper one, as the lower end of minus the variable.
    pub sign: f64,
    /// The quantile of a standard normal variable at that mass.
    pub z: f64,
}

/// Who helps, if anybody. Answers do not depend on it: all are equal.
#[derive(Clone, Default)]
pub(crate) struct Helper(Option<Arc<dyn Accelerator>>);

impl Helper {
    pub(crate) fn new(accelerator: Arc<dyn Accelerator>) -> Self {
        Self(Some(accelerator))
    }

    pub(crate) fn accelerator(&self) -> Option<&dyn Accelerator> {
        self.0.as_deref()
    }
}

impl PartialEq for Helper {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl fmt::Debug for Helper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "accelerated" } else { "processor" })
    }
}
