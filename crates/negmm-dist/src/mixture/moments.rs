//! Moments of truncated and rounded mixtures, from those of their components.

use super::Mixtures;
use crate::distribution::Distribution;

/// The moments of a distribution whose components are no Gaussians.
///
/// They are those of the Gaussian mixture whose components have the same weights, means and variances.
pub(super) struct Moments {
    /// One row.
    gaussians: Mixtures,
    /// The smallest and the largest value.
    range: (f64, f64),
}

impl Moments {
    /// `components` are (weight, (mean, sd)).
    pub(super) fn new(components: impl Iterator<Item = (f64, (f64, f64))>, range: (f64, f64)) -> Self {
        let (weights, moments): (Vec<f64>, Vec<(f64, f64)>) = components.unzip();
        let (means, sds) = moments.into_iter().unzip();
        Self { gaussians: Mixtures::from_parts_unchecked(weights.len(), weights, means, sds), range }
    }

    pub(super) fn mean(&self) -> f64 {
        let (lowest, highest) = self.range;
        self.gaussians.row(0).mean().clamp(lowest, highest)
    }

    pub(super) fn variance(&self) -> f64 {
        self.gaussians.row(0).variance()
    }

    pub(super) fn sd(&self) -> f64 {
        self.gaussians.row(0).sd()
    }

    pub(super) fn mean_and_sd(&self) -> (f64, f64) {
        let (lowest, highest) = self.range;
        let (mean, sd) = self.gaussians.row(0).mean_and_sd();
        (mean.clamp(lowest, highest), sd)
    }

    pub(super) fn variance_within(&self) -> f64 {
        self.gaussians.row(0).variance_within()
    }

    pub(super) fn variance_between(&self) -> f64 {
        self.gaussians.row(0).variance_between()
    }
}
