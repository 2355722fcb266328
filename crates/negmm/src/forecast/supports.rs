//! The values that single series can take: grids of their own, and ends of the range with a point probability.
//!
//! The probability of an end (zeros of a series that is never negative, a stated bound) is a weighted mean of estimates:
//! how often past steps were there, all of them, the latest ones and those of the same phase of each season, and what the
//! pool has at or beyond it. The weights maximise the likelihood of held-out steps.

use serde::{Deserialize, Serialize};

use super::forecaster::has_atoms;
use super::intermittent::Components;
use super::stacking::Stacking;
use super::{ForecastPoint, Series};
use negmm_dist::{Distribution, DistributionKind, DistributionRef, Mixtures, Predictions, Support};

/// An end needs so many steps there, and this fraction of them.
const LEAST_HITS: usize = 3;
const LEAST_FRACTION: f64 = 0.03;
/// Latest steps in the estimates: of all phases, and of one phase of a season, few and many.
const MOST_STEPS: usize = 1_000;
const RECENT_STEPS: usize = 12;
const SEASONS: [usize; 2] = [6, 40];
/// Steps that the fraction of all steps counts as among those of a phase.
const SHARED_STEPS: f64 = 0.5;
/// Ends are this far from certain.
const CERTAIN: f64 = 1e-6;
/// Held-out ends that weights are fitted to, at most.
const MOST_ROWS: usize = 4_000;
/// Range of the factor that keeps the mean beside a point probability of zero.
const FACTOR: (f64, f64) = (0.5, 2.0);
/// A distribution is put on a grid of its own if all but this probability lies on so many values at most.
const NEGLIGIBLE: f64 = 1e-6;
const MOST_VALUES: f64 = 200.0;
/// The part of the golden ratio after its point: its multiples are evenly spread.
const GOLDEN_RATIO: f64 = 0.618_033_988_749_894_9;
/// A grid of sums is at most so much finer than that of the values.
const MOST_PARTS: usize = 100;
/// Digits of draws without a grid, and the largest power of ten of which they are kept.
const DIGITS: i32 = 12;
const MOST_EXPONENT: f64 = 100.0;
/// Powers of ten that numbers may be rounded to.
const DECIMALS: std::ops::RangeInclusive<i32> = 0..=6;
const WRITTEN: f64 = 1e-6;

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
    ends: Vec<f64>,
}

/// Where in its rounding interval a number is taken to be, in units of the interval: evenly spread over these numbers.
pub(super) fn jitter(number: usize) -> f64 {
    ((number as f64 + 0.5) * GOLDEN_RATIO).fract() - 0.5
}

/// How likely ends are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct Ends {
    /// Weights of the estimates.
    weights: Vec<f64>,
    /// Whether what lies above zero is scaled to keep the mean.
    scaled: bool,
}

/// The support of these series: what was stated, the grid of all of them, and zero as the lower bound where none is
/// negative and zeros are common.
pub(super) fn shared_support(bounds: Support, series: &[Series]) -> Support {
    let values = || series.iter().flat_map(|series| &series.values).copied().filter(|value| !value.is_nan());
    let zeros = values().filter(|value| *value == 0.0).count();
    let positive = values().all(|value| value >= 0.0);
    let origin = values().fold(f64::INFINITY, f64::min);
    if let Some(step) = negmm_data::grid_step(values().collect()) {
        let zero = (zeros > 1 && positive).then_some(0.0);
        let gridded = Support { lower: bounds.lower.or(zero), step: Some(step), origin, ..bounds };
        if gridded.check().is_ok() {
            return gridded;
        }
    }
    let common = |series: &Series| is_common(series.values.iter().filter(|value| **value == 0.0).count(), series.len());
    match positive && bounds.lower.is_none() && series.iter().any(common) {
        true if bounds.upper.is_none_or(|upper| upper >= 0.0) => Support { lower: Some(0.0), ..bounds },
        _ => bounds,
    }
}

/// The support of draws from predictions on a common support, or of sums of such draws: their grid, on which quantiles are
/// values that occur. With atoms alone the grid is that of all digits.
pub(super) fn support_of_draws(predictions: &Predictions, shared: Support, summed: bool, draws: &[f64]) -> Support {
    let common =
        |step: f64| (1..=MOST_PARTS).map(|parts| step / parts as f64).find(|part| is_multiple(shared.origin, *part));
    let all = Support { lower: shared.lower.filter(|lower| *lower == 0.0), ..Support::default() };
    let found = match shared.step {
        Some(_) if !summed => shared,
        Some(step) => match common(step) {
            Some(part) => Support { step: Some(part), ..all },
            None => return all,
        },
        None => {
            let atoms = predictions.mixtures().is_none_or(|all| (0..all.len()).any(|row| has_atoms(all, row)));
            let largest = draws.iter().fold(0.0_f64, |largest, draw| largest.max(draw.abs()));
            let exponent = libm::log10(largest).ceil();
            if !atoms || !exponent.is_finite() || exponent.abs() > MOST_EXPONENT {
                return all;
            }
            Support { step: Some(10.0_f64.powi(exponent as i32 - DIGITS)), ..all }
        }
    };
    if found.check().is_ok() { found } else { all }
}

fn is_multiple(value: f64, step: f64) -> bool {
    (value / step - (value / step).round()).abs() < WRITTEN
}

fn is_common(hits: usize, steps: usize) -> bool {
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
        (!atoms.is_empty()).then_some(atoms)
    }
}

/// Makes the weights sum to 1, without those of 0.
fn normalise(components: &mut Components) {
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

/// The estimates of the probability of an end after a history.
fn estimates(history: &[f64], end: f64, ahead: usize, periods: &[usize], of_pool: f64) -> Vec<f64> {
    let fraction = |hits: f64, steps: f64, shared: f64| (hits + SHARED_STEPS * shared) / (steps + SHARED_STEPS);
    let latest = |steps: usize| {
        let last = &history[history.len().saturating_sub(steps)..];
        (last.iter().filter(|value| **value == end).count() as f64, last.len() as f64)
    };
    let (hits, steps) = latest(MOST_STEPS);
    let all = fraction(hits, steps, 0.5);
    let (hits, steps) = latest(RECENT_STEPS);
    let mut each = vec![all, fraction(hits, steps, all)];
    for period in periods {
        let back = period * ahead.div_ceil(*period);
        for seasons in SEASONS {
            let steps =
                (0..seasons).map_while(|season| (history.len() + ahead - 1).checked_sub(back + season * period));
            let (hits, steps) = steps.fold((0.0, 0.0), |(hits, steps), step| {
                (hits + f64::from(u8::from(history[step] == end)), steps + 1.0)
            });
            each.push(fraction(hits, steps, all));
        }
    }
    each.push(of_pool);
    each
}

impl Ends {
    /// Learns from held-out points, their values and the pool's distributions; `None` where no series has such an end.
    pub(super) fn fit(
        (points, y, pooled): (&[ForecastPoint], &[f64], &Mixtures),
        series: &[&Series],
        own: &[OwnSupport],
        periods: &[usize],
    ) -> Option<Self> {
        if own.iter().all(|own| own.ends.is_empty()) {
            return None;
        }
        let by_pool = |row: &usize| !own[points[*row].series].ends.is_empty() && !has_atoms(pooled, *row);
        let rows: Vec<usize> = (0..points.len()).filter(by_pool).collect();
        let every = rows.len().div_ceil(MOST_ROWS).max(1);
        let rows: Vec<usize> = rows.into_iter().step_by(every).collect();
        let count = 3 + SEASONS.len() * periods.len();
        let mut likelihoods = vec![Vec::new(); count];
        for row in &rows {
            let own = &own[points[*row].series];
            for end in &own.ends {
                let each = own.estimates(*end, (series, periods), points[*row], pooled, *row);
                for (list, probability) in likelihoods.iter_mut().zip(each) {
                    let probability = probability.clamp(CERTAIN, 1.0 - CERTAIN);
                    list.push(libm::log(if y[*row] == *end { probability } else { 1.0 - probability }));
                }
            }
        }
        let mut weights = vec![1.0 / count as f64; count];
        if !rows.is_empty() {
            let ones = vec![1.0; likelihoods[0].len()];
            weights = Stacking::new(&likelihoods, &vec![0; ones.len()], &ones).weights();
        }
        let mut fitted = Self { weights, scaled: false };
        let crps = |fitted: &Self| -> f64 {
            let of_row = |row: &usize| {
                let own = &own[points[*row].series];
                let components = fitted.components(own, (series, periods), points[*row], pooled, *row);
                let mixture = alone(&components.unwrap_or_default());
                DistributionRef { kind: DistributionKind::Mixture(mixture.row(0)), support: own.support() }
                    .crps(y[*row])
            };
            rows.iter().map(of_row).sum()
        };
        fitted.scaled = crps(&Self { scaled: true, ..fitted.clone() }) < crps(&fitted);
        Some(fitted)
    }

    /// Whether the parameters are valid.
    pub(super) fn is_sound(&self, periods: &[usize]) -> bool {
        self.weights.len() == 3 + SEASONS.len() * periods.len()
            && self.weights.iter().all(|weight| *weight >= 0.0)
            && (self.weights.iter().sum::<f64>() - 1.0).abs() < 1e-6
    }

    /// The pool of a row with the probabilities of its ends; `None` where its series has none.
    pub(super) fn components(
        &self,
        own: &OwnSupport,
        (series, periods): (&[&Series], &[usize]),
        point: ForecastPoint,
        pooled: &Mixtures,
        row: usize,
    ) -> Option<Components> {
        if own.ends.is_empty() {
            return None;
        }
        let probability = |end: &f64| {
            let each = own.estimates(*end, (series, periods), point, pooled, row);
            each.iter().zip(&self.weights).map(|(estimate, weight)| estimate * weight).sum::<f64>()
        };
        let most = (1.0 - CERTAIN) / own.ends.len() as f64;
        let ends: Vec<(f64, f64)> = own.ends.iter().map(|end| (probability(end).clamp(0.0, most), *end)).collect();
        let support = own.support();
        let pool = pooled.row(row);
        let on_support = DistributionRef { kind: DistributionKind::Mixture(pool), support };
        let mut all: Components = Vec::with_capacity(pool.weights.len() + ends.len());
        let mut rest = 1.0;
        for (probability, end) in &ends {
            // On a grid the pool has a probability of its own there.
            let known = if support.step.is_some() { on_support.point_probability(*end) } else { 0.0 };
            let added = if known < 1.0 { ((probability - known) / (1.0 - known)).max(0.0) } else { 0.0 };
            all.push((added, *end, 0.0));
            rest -= added;
        }
        // What truncation takes from the pool, it takes from the ends as well.
        let (lower, upper) = support.bounds();
        let inside = if support.step.is_some() { 1.0 } else { pool.cdf(upper) - pool.cdf(lower) };
        let rest = rest.max(0.0);
        if inside < CERTAIN {
            normalise(&mut all);
            return (!all.is_empty()).then_some(all);
        }
        all.iter_mut().for_each(|(weight, ..)| *weight *= inside);
        let mut factor = 1.0;
        if self.scaled && ends.len() == 1 && ends[0].1 == 0.0 && lower == 0.0 {
            let free = pool.mean().max(0.0);
            factor = (free / (rest * on_support.mean()).max(f64::MIN_POSITIVE)).clamp(FACTOR.0, FACTOR.1);
        }
        let parts = pool.weights.iter().zip(pool.means).zip(pool.sds);
        all.extend(parts.map(|((weight, mean), sd)| (rest * weight, factor * mean, factor * sd)));
        normalise(&mut all);
        Some(all)
    }
}

impl OwnSupport {
    /// The estimates of the probability of one of its ends at a point.
    fn estimates(
        &self,
        end: f64,
        (series, periods): (&[&Series], &[usize]),
        point: ForecastPoint,
        pooled: &Mixtures,
        row: usize,
    ) -> Vec<f64> {
        let pool = pooled.row(row);
        let support = self.support();
        let of_pool = match support.step {
            Some(_) => DistributionRef { kind: DistributionKind::Mixture(pool), support }.point_probability(end),
            None if support.lower == Some(end) => pool.cdf(end),
            None => pool.survival(end),
        };
        estimates(series[point.series].history(point.origin), end, point.ahead, periods, of_pool)
    }
}

/// These components as the only row.
fn alone(components: &Components) -> Mixtures {
    let list = |part: fn(&(f64, f64, f64)) -> f64| components.iter().map(part).collect::<Vec<f64>>();
    Mixtures::from_parts_unchecked(components.len(), list(|c| c.0), list(|c| c.1), list(|c| c.2))
}

#[cfg(test)]
mod tests {
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
        assert!(atoms.iter().all(|(_, value, sd)| value.fract() == 0.0 && *sd == 0.0), "{atoms:?}");
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

    #[test]
    fn an_end_keeps_its_probability_beside_what_is_truncated() {
        let values: Vec<f64> =
            (0..96).map(|step| if step % 4 == 3 { 0.0 } else { 2.0 + f64::from(step).sin() }).collect();
        let nights = series(values);
        let shared = Support { lower: Some(0.0), ..Support::default() };
        let own = OwnSupport::of(&nights, shared, false);
        // All weight on the last six seasons.
        let ends = Ends { weights: vec![0.0, 0.0, 1.0, 0.0, 0.0], scaled: false };
        let pool = Mixtures::new(1, vec![1.0; 2], vec![0.5; 2], vec![1.0; 2]).unwrap();
        for (ahead, expected) in [(3, 0.02), (4, 0.94)] {
            let point = ForecastPoint { series: 0, origin: 95, ahead };
            let found = ends.components(&own, (&[&nights], &[4]), point, &pool, 0).unwrap();
            let mixture = alone(&found);
            let row = DistributionRef { kind: DistributionKind::Mixture(mixture.row(0)), support: shared };
            assert!((row.point_probability(0.0) - expected).abs() < 0.03, "{}", row.point_probability(0.0));
        }
    }
}
