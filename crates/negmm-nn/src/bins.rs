//! Bins of a sorted sample, as components of a Gaussian mixture.

/// How much the variance within a bin is widened: a sum of narrower components has gaps between them.
const WIDENING: f64 = 1.5;
/// The number of bins is the number of values to this power.
const BINS_POWER: f64 = 0.4;
/// The smallest sd of a component, as a fraction of the sample's sd.
const LEAST_SD: f64 = 1e-3;

/// A component: weight, mean and sd.
pub type Component = [f64; 3];

/// Bins of about equal weight as components with the variance of the sample.
pub(crate) fn bins(sorted: &[(f64, f64)], most: usize) -> Vec<Component> {
    let [_, mean, sd] = moments(sorted);
    let count = (libm::pow(sorted.len() as f64, BINS_POWER) as usize).clamp(1, most);
    let total: f64 = sorted.iter().map(|(_, weight)| weight).sum();
    let mut components = Vec::with_capacity(count);
    let (mut first, mut below) = (0, 0.0);
    for at in 0..sorted.len() {
        below += sorted[at].1;
        let last = at + 1 == sorted.len();
        if last || below >= total * (components.len() + 1) as f64 / count as f64 {
            let [weight, mean, sd] = moments(&sorted[first..=at]);
            components.push([weight / total, mean, sd * WIDENING.sqrt()]);
            first = at + 1;
        }
    }
    let variance: f64 =
        components.iter().map(|[weight, center, sd]| weight * (sd * sd + (center - mean) * (center - mean))).sum();
    let shrink = if variance > 0.0 { sd / variance.sqrt() } else { 1.0 };
    for component in &mut components {
        component[1] = mean + (component[1] - mean) * shrink;
        component[2] = (component[2] * shrink).max(LEAST_SD * sd);
    }
    components
}

/// Total weight, mean and sd.
pub(crate) fn moments(sample: &[(f64, f64)]) -> Component {
    let total: f64 = sample.iter().map(|(_, weight)| weight).sum();
    let mean = sample.iter().map(|(y, weight)| weight * y).sum::<f64>() / total;
    let variance = sample.iter().map(|(y, weight)| weight * (y - mean) * (y - mean)).sum::<f64>() / total;
    [total, mean, variance.sqrt()]
}
