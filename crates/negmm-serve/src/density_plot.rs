//! The plot of one predicted distribution: its density on a grid, and its point probabilities.

use negmm::Distribution;
use negmm::{DistributionKind, DistributionRef};

/// Intervals between the points of the curve.
const INTERVALS: usize = 600;
/// The probability outside each end of the plot.
const TAIL: f64 = 0.0005;
/// Values of a discrete distribution that are shown, at most.
const MAX_VALUES: f64 = 400.0;

/// The data of the plot.
pub struct DensityPlot {
    /// Values and densities of the continuous part; empty for a discrete distribution.
    pub curve: Vec<(f64, f64)>,
    /// Values and their point probabilities.
    pub values: Vec<(f64, f64)>,
}

impl DensityPlot {
    pub fn new(row: &DistributionRef<'_>) -> Self {
        let (low, high) = (row.quantile(TAIL), row.quantile_above(TAIL));
        match row.support.step {
            Some(step) if (high - low) / step <= MAX_VALUES => Self::discrete(row, step, low, high),
            _ => Self::continuous(row, low, high),
        }
    }

    /// Point probabilities of the values from `low` to `high`.
    fn discrete(row: &DistributionRef<'_>, step: f64, low: f64, high: f64) -> Self {
        let count = ((high - low) / step).round() as usize;
        let values = (0..=count).map(|at| row.support.nearest(low + at as f64 * step));
        let values: Vec<(f64, f64)> = values.map(|value| (value, row.point_probability(value))).collect();
        Self { curve: Vec::new(), values }
    }

    /// The density from `low` to `high`, and the atoms.
    fn continuous(row: &DistributionRef<'_>, low: f64, high: f64) -> Self {
        let width = (high - low).max(f64::MIN_POSITIVE.max(1e-9 * high.abs()));
        let point = |at: usize| low + width * at as f64 / INTERVALS as f64;
        let curve = (0..=INTERVALS).map(|at| (point(at), row.pdf(point(at)))).collect();
        let values: Vec<(f64, f64)> = match row.kind {
            DistributionKind::Mixture(mixture) => {
                let mut atoms: Vec<f64> = mixture
                    .means
                    .iter()
                    .zip(mixture.sds)
                    .filter(|(_, sd)| **sd == 0.0)
                    .map(|(value, _)| *value)
                    .collect();
                atoms.sort_by(f64::total_cmp);
                atoms.dedup();
                atoms
                    .into_iter()
                    .map(|value| (value, row.point_probability(value)))
                    .filter(|(_, mass)| *mass > 0.0)
                    .collect()
            }
            _ => Vec::new(),
        };
        Self { curve, values }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use negmm::{Mixtures, Predictions, Support};

    fn two_peaks() -> Predictions {
        Mixtures::new(2, vec![0.5, 0.5], vec![-6.0, 6.0], vec![1.0, 1.0]).unwrap().into()
    }

    #[test]
    fn the_curve_integrates_to_all_but_the_tails() {
        let predictions = two_peaks();
        let curve = DensityPlot::new(&predictions.row(0)).curve;
        let area: f64 = curve.windows(2).map(|pair| (pair[1].0 - pair[0].0) * 0.5 * (pair[0].1 + pair[1].1)).sum();
        assert!((area - (1.0 - 2.0 * TAIL)).abs() < 1e-3, "{area}");
    }

    #[test]
    fn values_of_a_discrete_distribution_have_probabilities() {
        let counts = Support { lower: Some(0.0), step: Some(1.0), ..Support::default() };
        let predictions = two_peaks().with_support(counts).unwrap();
        let plot = DensityPlot::new(&predictions.row(0));
        assert!(plot.curve.is_empty());
        assert_eq!(plot.values[0].0, 0.0);
        assert!((plot.values.iter().map(|(_, mass)| mass).sum::<f64>() - 1.0).abs() < 2e-3);
    }
}
