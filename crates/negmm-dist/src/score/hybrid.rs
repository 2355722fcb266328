//! The hybrid score of NE-GMM, S_h = eta S_l + (1 - eta) S_e with eta in [0, 1].

use super::{Gradient, energy, log};
use crate::mixture::Mixture;

/// The score of observing `y`.
pub fn value(mixture: Mixture<'_>, y: f64, eta: f64) -> f64 {
    mix(log::value(mixture, y), energy::value(mixture, y), eta)
}

/// Its derivatives.
pub fn gradient(mixture: Mixture<'_>, y: f64, eta: f64) -> Gradient {
    let (log, energy) = (log::gradient(mixture, y), energy::gradient(mixture, y));
    let each = |log: &[f64], energy: &[f64]| log.iter().zip(energy).map(|(&l, &e)| mix(l, e, eta)).collect();
    Gradient {
        weights: each(&log.weights, &energy.weights),
        means: each(&log.means, &energy.means),
        sds: each(&log.sds, &energy.sds),
    }
}

fn mix(log: f64, energy: f64, eta: f64) -> f64 {
    eta * log + (1.0 - eta) * energy
}
