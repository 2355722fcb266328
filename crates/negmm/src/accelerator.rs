//! The interface of a device that predicts: networks over many rows, and quantiles of many mixtures.

use std::fmt;
use std::sync::Arc;

use negmm_dist::{Predictions, QuantileAccelerator};
use negmm_nn::net::{Network, Parameters};

/// Does a part of predicting, bit for bit as the CPU would. It returns nothing where it leaves a part to the CPU: it never fails.
pub trait Accelerator: QuantileAccelerator {
    /// The raw outputs of networks of one shape for all rows of `x`, each padded to `stride` floats: networks × panels × outputs × 32,
    /// where a panel is 32 rows and the last one need not be full.
    fn outputs(&self, network: &Network, parameters: &[&Parameters], x: &[f32], stride: usize) -> Option<Vec<f32>>;
}

/// An optional accelerator. Predictions do not depend on it, so all values are equal.
#[derive(Clone, Default)]
pub(crate) struct Helper(Option<Arc<dyn Accelerator>>);

impl Helper {
    pub(crate) fn new(accelerator: Arc<dyn Accelerator>) -> Self {
        Self(Some(accelerator))
    }

    pub(crate) fn accelerator(&self) -> Option<&dyn Accelerator> {
        self.0.as_deref()
    }

    /// The predictions with this accelerator, where there is one.
    pub(crate) fn accelerating(&self, predictions: Predictions) -> Predictions {
        match &self.0 {
            Some(accelerator) => predictions.accelerated(accelerator.clone()),
            None => predictions,
        }
    }
}

impl PartialEq for Helper {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl fmt::Debug for Helper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "accelerated" } else { "CPU" })
    }
}
