//! Errors of different series at the same time: whether they are alike.
//!
//! With the normal score z of each forecast's PIT, c_ij = Σ z_i z_j is the sum over the times and steps ahead that the
//! series i and j share. For independent series its mean is 0, and the sums of two pairs are uncorrelated, however alike
//! the errors of one series are: Σ c_ij / sqrt(Σ c_ij²) is about standard normal.

use std::cmp::Ordering;

use super::ForecastPoint;

/// Series that are compared at most: 4,950 pairs.
const MOST_SERIES: usize = 100;
/// Standard errors and correlation from which on errors count as alike: with ten series such a correlation nearly doubles
/// the variance of a mean score.
const CLEAR: f64 = 3.0;
const LEAST: f64 = 0.1;

/// How alike the errors of different series are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SharedErrors {
    pub(super) correlation: f64,
    /// The same in standard errors.
    errors: f64,
}

impl SharedErrors {
    /// From the normal scores of forecasts, NaN where one does not count, and the times of their targets. `None` where no
    /// series share times.
    pub(super) fn of(points: &[ForecastPoint], times: &[f64], scores: &[f64]) -> Option<Self> {
        let mut series: Vec<Vec<(f64, usize, f64)>> = Vec::new();
        let mut first = 0;
        for own in points.chunk_by(|a, b| a.series == b.series) {
            let rows = first..first + own.len();
            let known = rows.filter(|row| scores[*row].is_finite() && !times[*row].is_nan());
            let mut of_series: Vec<_> = known.map(|row| (times[row], points[row].ahead, scores[row])).collect();
            of_series.sort_by(order);
            series.push(of_series);
            first += own.len();
        }
        let every = series.len().div_ceil(MOST_SERIES).max(1);
        let chosen: Vec<_> = series.iter().step_by(every).collect();
        let (mut sum, mut squares, mut sizes) = (0.0, 0.0, 0.0);
        for (at, one) in chosen.iter().enumerate() {
            for other in &chosen[..at] {
                let [product, own, of_other] = products(one, other);
                sum += product;
                squares += product * product;
                sizes += (own * of_other).sqrt();
            }
        }
        (squares > 0.0).then(|| Self { correlation: sum / sizes, errors: sum / squares.sqrt() })
    }

    pub(super) fn are_alike(self) -> bool {
        self.errors > CLEAR && self.correlation > LEAST
    }
}

fn order(a: &(f64, usize, f64), b: &(f64, usize, f64)) -> Ordering {
    a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))
}

/// Sums of products and of squares of two series over what they share.
fn products(one: &[(f64, usize, f64)], other: &[(f64, usize, f64)]) -> [f64; 3] {
    let (mut sums, mut at) = ([0.0; 3], 0);
    for own in one {
        while at < other.len() && order(&other[at], own).is_lt() {
            at += 1;
        }
        if let Some(same) = other.get(at).filter(|same| order(same, own).is_eq()) {
            sums[0] += own.2 * same.2;
            sums[1] += own.2 * own.2;
            sums[2] += same.2 * same.2;
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use negmm_dist::math::normal;
    use negmm_dist::math::rng::Rng;

    /// Scores with a part that all series share, and with a memory.
    fn alike(seed: u64, series: usize, common: f64) -> Option<SharedErrors> {
        let mut rng = Rng::new(seed, 0);
        let mut walk = || {
            let mut last = 0.0;
            let mut next = || {
                last = 0.9 * last + 0.19_f64.sqrt() * normal::quantile(rng.uniform());
                last
            };
            (0..30).map(|_| next()).collect::<Vec<f64>>()
        };
        let shared = walk();
        let (mut points, mut times, mut scores) = (Vec::new(), Vec::new(), Vec::new());
        for number in 0..series {
            for (step, own) in walk().into_iter().enumerate() {
                points.push(ForecastPoint { series: number, origin: step, ahead: 1 });
                times.push(step as f64);
                scores.push((1.0 - common).sqrt() * own + common.sqrt() * shared[step]);
            }
        }
        SharedErrors::of(&points, &times, &scores)
    }

    #[test]
    fn shared_errors_are_found_and_memory_alone_is_none() {
        let found = alike(3, 20, 0.4).unwrap();
        assert!(found.are_alike() && (0.2..0.9).contains(&found.correlation), "{found:?}");
        let alarms = (0..400).filter(|seed| alike(*seed, 12, 0.0).unwrap().are_alike()).count();
        assert!(alarms <= 16, "{alarms} of 400");
        assert_eq!(alike(1, 1, 0.0), None);
    }
}
