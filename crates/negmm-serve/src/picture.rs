//! Responsible for the picture of one prediction: its density at many places, and its values with a probability of their own.

use negmm::{Law, Row};

/// Cells of a picture.
const CELLS: usize = 600;
/// The probability beyond each end of a picture.
const BEYOND: f64 = 0.0005;
/// Values of a grid that are shown, at most.
const MOST_VALUES: f64 = 400.0;

/// A prediction as a picture shows it.
pub struct Picture {
    /// Places and densities of all but the atoms; empty on a grid.
    pub curve: Vec<(f64, f64)>,
    /// Values with a probability of their own.
    pub values: Vec<(f64, f64)>,
}

impl Picture {
    pub fn new(row: &Row<'_>) -> Self {
        let (low, high) = (row.quantile(BEYOND), row.quantile_above(BEYOND));
        match row.support.step {
            Some(step) if (high - low) / step <= MOST_VALUES => Self::of_grid(row, step, low, high),
            _ => Self::of_density(row, low, high),
        }
    }

    /// Probabilities of the values from `low` to `high`.
    fn of_grid(row: &Row<'_>, step: f64, low: f64, high: f64) -> Self {
        let count = ((high - low) / step).round() as usize;
        let values = (0..=count).map(|at| row.support.nearest(low + at as f64 * step));
        let values: Vec<(f64, f64)> = values.map(|value| (value, row.mass(value))).collect();
        Self { curve: Vec::new(), values }
    }

    /// The density between `low` and `high`.
    fn of_density(row: &Row<'_>, low: f64, high: f64) -> Self {
        let width = (high - low).max(f64::MIN_POSITIVE.max(1e-9 * high.abs()));
        let place = |at: usize| low + width * at as f64 / CELLS as f64;
        let curve = (0..=CELLS).map(|at| (place(at), row.pdf(place(at)))).collect();
        let values: Vec<(f64, f64)> = match row.law {
            Law::Mixture(mixture) => {
                let mut places: Vec<f64> = mixture
                    .means
                    .iter()
                    .zip(mixture.sds)
                    .filter(|(_, sd)| **sd == 0.0)
                    .map(|(place, _)| *place)
                    .collect();
                places.sort_by(f64::total_cmp);
                places.dedup();
                places.into_iter().map(|place| (place, row.mass(place))).filter(|(_, mass)| *mass > 0.0).collect()
            }
            Law::Samples(_) => Vec::new(),
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
    fn a_curve_holds_all_but_the_ends() {
        let predictions = two_peaks();
        let curve = Picture::new(&predictions.row(0)).curve;
        let area: f64 = curve.windows(2).map(|pair| (pair[1].0 - pair[0].0) * 0.5 * (pair[0].1 + pair[1].1)).sum();
        assert!((area - (1.0 - 2.0 * BEYOND)).abs() < 1e-3, "{area}");
    }

    #[test]
    fn values_of_a_grid_have_probabilities() {
        let counts = Support { lower: Some(0.0), step: Some(1.0), ..Support::default() };
        let predictions = two_peaks().with_support(counts).unwrap();
        let picture = Picture::new(&predictions.row(0));
        assert!(picture.curve.is_empty());
        assert_eq!(picture.values[0].0, 0.0);
        assert!((picture.values.iter().map(|(_, mass)| mass).sum::<f64>() - 1.0).abs() < 2e-3);
    }
}
