//! The values that single series can take: grids of their own, and ends of the range that occur often.

use super::Series;
use super::atoms::{Components, leave_rest};
use negmm_dist::{Distribution, DistributionKind, DistributionRef, Mixtures, Support};

/// An end needs so many steps there, and this fraction of them.
const LEAST_HITS: usize = 3;
const LEAST_FRACTION: f64 = 0.03;
/// A distribution is put on a grid of its own if all but this probability lies on so many values at most.
const NEGLIGIBLE: f64 = 1e-6;
const MOST_VALUES: f64 = 200.0;
/// The part of the golden ratio after its point: its multiples are evenly spread.
const GOLDEN_RATIO: f64 = 0.618_033_988_749_894_9;
/// Powers of ten that numbers may be rounded to.
const DECIMALS: std::ops::RangeInclusive<i32> = 0..=6;
pub(super) const WRITTEN: f64 = 1e-6;

/// What is known about the values of one series.
#[derive(Clone, Debug, Default)]
pub(super) struct OwnSupport {
    /// The support of all series.
    shared: Support,
    /// Its own grid, where all series together have none.
    pub(super) grid: Option<Support>,
    /// The distance of its values as they were written; 0 where they have more decimals.
    pub(super) resolution: f64,
    /// Ends of the range with a point probability, the lower first.
    pub(super) ends: Vec<f64>,
}

/// Where in its rounding interval a number is taken to be, in units of the interval: evenly spread over these numbers.
pub(super) fn jitter(number: usize) -> f64 {
    ((number as f64 + 0.5) * GOLDEN_RATIO).fract() - 0.5
}

pub(super) fn is_common(hits: usize, steps: usize) -> bool {
    hits >= LEAST_HITS && hits as f64 >= LEAST_FRACTION * steps as f64 && hits < steps
}

impl OwnSupport {
    /// Of a series among others with this support; `continuous`: no grid is looked for.
    pub(super) fn of(series: &Series, shared: Support, continuous: bool) -> Self {
        let known: Vec<f64> = series.values.iter().copied().filter(|value| !value.is_nan()).collect();
        let ends = [shared.lower, shared.upper].into_iter().flatten();
        let hits = |end: f64| known.iter().filter(|value| **value == end).count();
        let ends = ends.filter(|end| is_common(hits(*end), known.len())).collect();
        let is_constant = known.iter().all(|value| *value == known[0]);
        let resolution = if is_constant { 0.0 } else { shared.step.unwrap_or_else(|| resolution(&known)) };
        if continuous || shared.step.is_some() {
            return Self { shared, grid: None, resolution, ends };
        }
        let origin = known.iter().copied().fold(f64::INFINITY, f64::min);
        let grid = negmm_data::grid_step(known).map(|step| Support { step: Some(step), origin, ..shared });
        let grid = grid.filter(|grid| grid.check().is_ok());
        Self { shared, resolution: grid.and_then(|grid| grid.step).unwrap_or(resolution), grid, ends }
    }

    /// The grid, or the bounds.
    pub(super) fn support(&self) -> Support {
        self.grid.unwrap_or(self.shared)
    }

    /// The distribution of a row of these mixtures on the grid, or as it is without one.
    pub(super) fn rounded<'a>(&self, mixtures: &'a Mixtures, row: usize) -> DistributionRef<'a> {
        let support = self.support();
        let support = if support.step.is_some() { support } else { Support::default() };
        DistributionRef { kind: DistributionKind::Mixture(mixtures.row(row)), support }
    }

    /// The logarithm of the probability of a value as it was written; its log density where it has all its decimals.
    pub(super) fn log_likelihood(&self, mixtures: &Mixtures, row: usize, value: f64) -> f64 {
        match self.resolution {
            0.0 => mixtures.row(row).log_pdf(value),
            resolution => self.rounded(mixtures, row).log_mass(value, resolution),
        }
    }

    /// Whether a value is an end that has its probability beside the pool's.
    pub(super) fn is_apart(&self, value: f64) -> bool {
        self.support().step.is_none() && self.ends.contains(&value)
    }

    /// A distribution on the grid, as atoms; `None` without a grid of its own, or where it would have too many values.
    pub(super) fn on_grid(&self, distribution: &Mixtures, row: usize) -> Option<Components> {
        let support = self.grid?;
        let step = support.step?;
        let rounded = DistributionRef { kind: DistributionKind::Mixture(distribution.row(row)), support };
        let (low, high) = (rounded.quantile(NEGLIGIBLE), rounded.quantile_above(NEGLIGIBLE));
        let count = ((high - low) / step).round();
        if !(0.0..MOST_VALUES).contains(&count) {
            return None;
        }
        let values = (0..=count as usize).map(|at| support.nearest(low + at as f64 * step));
        let mut atoms: Components = values.map(|value| (rounded.point_probability(value), value, 0.0)).collect();
        normalise(&mut atoms);
        if atoms.is_empty() {
            return None;
        }
        let whole = distribution.row(row);
        leave_rest(&mut atoms, whole.mean(), whole.sd().max(step));
        Some(atoms)
    }
}

/// Makes the weights sum to 1, without those of 0.
pub(super) fn normalise(components: &mut Components) {
    components.retain(|(weight, ..)| *weight > 0.0);
    let sum: f64 = components.iter().map(|(weight, ..)| weight).sum();
    components.iter_mut().for_each(|(weight, ..)| *weight /= sum);
}

/// The power of ten that all values are whole multiples of; 0 without one.
fn resolution(values: &[f64]) -> f64 {
    let mut units = DECIMALS.map(|decimals| (decimals, 10.0_f64.powi(decimals)));
    let is_whole = |parts: f64| values.iter().all(|value| (value * parts - (value * parts).round()).abs() < WRITTEN);
    units.find(|(_, parts)| is_whole(*parts)).map_or(0.0, |(decimals, _)| 10.0_f64.powi(-decimals))
}

#[cfg(test)]
mod tests {
    use super::super::shared_support::shared_support;
    use super::*;

    fn series(values: Vec<f64>) -> Series {
        Series { filled: values.clone(), rows: (0..values.len()).collect(), values, ..Series::default() }
    }

    #[test]
    fn a_series_has_its_own_grid_and_ends() {
        let counts = series((0..60).map(|step| f64::from(1 + step % 3)).collect());
        let smooth = series((0..60).map(|step| 100.0 + f64::from(step).sin()).collect());
        let shared = shared_support(Support::default(), &[counts.clone(), smooth.clone()]);
        assert_eq!(shared, Support::default());
        let own = OwnSupport::of(&counts, shared, false);
        assert_eq!((own.grid.unwrap().step, own.resolution), (Some(1.0), 1.0));
        let normal = Mixtures::new(1, vec![1.0], vec![2.2], vec![0.8]).unwrap();
        let atoms = own.on_grid(&normal, 0).unwrap();
        let of_atoms = atoms.iter().filter(|(_, value, sd)| value.fract() == 0.0 && *sd == 0.0);
        assert!((of_atoms.map(|(weight, ..)| weight).sum::<f64>() - 1.0).abs() < 2e-6, "{atoms:?}");
        assert!((atoms.iter().map(|(weight, value, _)| weight * value).sum::<f64>() - 2.2).abs() < 0.01);
        assert!(OwnSupport::of(&smooth, shared, false).grid.is_none());
        assert!(OwnSupport::of(&counts, shared, true).grid.is_none());
        let nights = series((0..60).map(|step| (f64::from(step).sin() + 0.01).max(0.0)).collect());
        let shared = shared_support(Support::default(), std::slice::from_ref(&nights));
        assert_eq!(shared, Support { lower: Some(0.0), ..Support::default() });
        let own = OwnSupport::of(&nights, shared, false);
        assert!(own.is_apart(0.0) && !own.is_apart(1.0) && own.grid.is_none() && own.resolution == 0.0);
    }

    #[test]
    fn values_are_rounded_as_they_were_written() {
        assert_eq!(resolution(&[1.0, 7.0, 250.0]), 1.0);
        assert_eq!(resolution(&[1.25, 7.0, 0.1 + 0.2]), 0.01);
        assert_eq!(resolution(&[std::f64::consts::PI]), 0.0);
    }
}
