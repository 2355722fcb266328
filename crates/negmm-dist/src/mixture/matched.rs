//! Responsible for the moments of laws made of components that are no Gaussians: they are those of the mixture of Gaussians
//! whose components have the same means and sds.

use super::Mixtures;

/// A law whose components have means and sds.
pub(crate) trait Matched {
    /// One row: the mixture of Gaussians with the components' weights, means and sds.
    fn matched(&self) -> Mixtures;

    /// The lowest and the highest value.
    fn ends(&self) -> (f64, f64);

    /// Mean.
    fn mean(&self) -> f64 {
        let (lowest, highest) = self.ends();
        self.matched().row(0).mean().clamp(lowest, highest)
    }

    /// Variance within the components.
    fn variance_within(&self) -> f64 {
        self.matched().row(0).variance_within()
    }

    /// Variance between the components.
    fn variance_between(&self) -> f64 {
        self.matched().row(0).variance_between()
    }

    /// Variance: within plus between.
    fn variance(&self) -> f64 {
        self.matched().row(0).variance()
    }
}
