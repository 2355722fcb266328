//! Ends of the range of series with a point probability: zeros of a series that is never negative, a stated bound.
//!
//! The probability is a weighted mean of estimates: how often past steps were there, all of them, the latest ones and those
//! of the same phase of each season, and what the pool has at or beyond it. The weights maximise the likelihood of held-out
//! steps.

use serde::{Deserialize, Serialize};

use super::atoms::{Components, has_atoms};
use super::stacking::Stacking;
use super::supports::{OwnSupport, normalise};
use super::{ForecastPoint, Series};
use negmm_dist::{Distribution, DistributionKind, DistributionRef, Mixtures};

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

/// How likely ends are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct Ends {
    /// Weights of the estimates.
    weights: Vec<f64>,
    /// Whether what lies above zero is scaled to keep the mean.
    scaled: bool,
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

/// These components as the only row.
fn alone(components: &Components) -> Mixtures {
    let list = |part: fn(&(f64, f64, f64)) -> f64| components.iter().map(part).collect::<Vec<f64>>();
    Mixtures::from_parts_unchecked(components.len(), list(|c| c.0), list(|c| c.1), list(|c| c.2))
}

#[cfg(test)]
mod tests {
    use super::*;
    use negmm_dist::Support;

    fn series(values: Vec<f64>) -> Series {
        Series { filled: values.clone(), rows: (0..values.len()).collect(), values, ..Series::default() }
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
