//! Responsible for the picture of one prediction: its density on a grid, its values with a probability of their own, and the narrowest
//! sets that hold a share of it.

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
    /// Stretches in order, each with its probability.
    cells: Vec<Cell>,
}

#[derive(Clone, Copy)]
struct Cell {
    low: f64,
    high: f64,
    probability: f64,
    /// Probability for each unit of length.
    height: f64,
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
        let cell = |&(value, mass): &(f64, f64)| Cell { low: value, high: value, probability: mass, height: mass };
        Self { curve: Vec::new(), cells: values.iter().map(cell).collect(), values }
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
        let of_values = |from: f64, to: f64| -> f64 {
            values.iter().filter(|(value, _)| from < *value && *value <= to).map(|(_, mass)| mass).sum()
        };
        let mut cells: Vec<Cell> = (0..CELLS)
            .map(|at| {
                let (low, high) = (place(at), place(at + 1));
                let probability = (row.cdf(high) - row.cdf(low) - of_values(low, high)).max(0.0);
                Cell { low, high, probability, height: probability / (high - low) }
            })
            .collect();
        // A value with a probability of its own is denser than any stretch.
        let atom =
            |&(value, mass): &(f64, f64)| Cell { low: value, high: value, probability: mass, height: f64::INFINITY };
        cells.extend(values.iter().map(atom));
        cells.sort_by(|a, b| a.low.total_cmp(&b.low).then(a.high.total_cmp(&b.high)));
        Self { curve, values, cells }
    }

    /// The stretches where the prediction is densest, that hold at least `share` of it together.
    pub fn region(&self, share: f64) -> Vec<(f64, f64)> {
        let mut order: Vec<usize> = (0..self.cells.len()).collect();
        order.sort_by(|a, b| self.cells[*b].height.total_cmp(&self.cells[*a].height).then(a.cmp(b)));
        let (mut held, mut chosen) = (0.0, vec![false; self.cells.len()]);
        for at in order {
            if held >= share {
                break;
            }
            held += self.cells[at].probability;
            chosen[at] = true;
        }
        let mut stretches: Vec<(f64, f64, usize)> = Vec::new();
        for (at, cell) in self.cells.iter().enumerate().filter(|(at, _)| chosen[*at]) {
            match stretches.last_mut() {
                Some((_, high, last)) if *last + 1 == at => (*high, *last) = (cell.high.max(*high), at),
                _ => stretches.push((cell.low, cell.high, at)),
            }
        }
        stretches.into_iter().map(|(low, high, _)| (low, high)).collect()
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
    fn a_region_of_two_peaks_is_two_stretches() {
        let predictions = two_peaks();
        let picture = Picture::new(&predictions.row(0));
        let region = picture.region(0.9);
        assert_eq!(region.len(), 2, "{region:?}");
        // 90 % of each peak lies within 1.645 sds.
        let expected = [(-7.645, -4.355), (4.355, 7.645)];
        for (found, expected) in region.iter().zip(expected) {
            assert!((found.0 - expected.0).abs() < 0.05 && (found.1 - expected.1).abs() < 0.05, "{region:?}");
        }
        let row = predictions.row(0);
        let held: f64 = region.iter().map(|(low, high)| row.cdf(*high) - row.cdf(*low)).sum();
        assert!((0.9..0.91).contains(&held), "{held}");
    }

    #[test]
    fn values_of_a_grid_have_probabilities() {
        let counts = Support { lower: Some(0.0), step: Some(1.0), ..Support::default() };
        let predictions = two_peaks().with_support(counts).unwrap();
        let picture = Picture::new(&predictions.row(0));
        assert!(picture.curve.is_empty());
        assert_eq!(picture.values[0].0, 0.0);
        assert!((picture.values.iter().map(|(_, mass)| mass).sum::<f64>() - 1.0).abs() < 2e-3);
        assert_eq!(picture.region(0.4), [(0.0, 0.0)]);
    }
}
