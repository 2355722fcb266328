//! What recalibration learns: a map of normal scores, a factor, or tail probabilities.

use std::fmt;

use negmm_dist::math::normal;
use negmm_dist::{Distribution, DistributionRef, Error, Result};
use serde::{Deserialize, Serialize};

use super::{GroupRows, RecalibrationMethod};
use crate::conformal::ConformityScores;

/// Rows for each knot of the map, and knots, at least and at most.
const ROWS_PER_KNOT: usize = 20;
const KNOTS: (usize, usize) = (3, 50);

/// Factors that are tried: from 1/16 to 16 in steps of 2^(1/8).
const FACTOR_STEPS: i32 = 32;
const STEPS_PER_DOUBLING: f64 = 8.0;

/// The smallest probability of a tail that has a quantile.
const LEAST: f64 = 1e-300;

/// What was learnt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) enum Map {
    /// Standard normal quantiles and the normal scores of the model's PIT there, both in ascending order; and the root mean square of
    /// all scores, the slope beyond them.
    Pit { knots: Vec<(f64, f64)>, slope: f64 },
    /// The factor of distances from the mean.
    Scale { factor: f64 },
    /// Tail probabilities of the targets, in ascending order, and their weights.
    Conformal(ConformityScores),
}

/// The factors that are tried.
pub(super) fn factors() -> Vec<f64> {
    (-FACTOR_STEPS..=FACTOR_STEPS).map(|step| libm::exp2(f64::from(step) / STEPS_PER_DOUBLING)).collect()
}

impl Map {
    pub(super) fn learn(method: RecalibrationMethod, rows: GroupRows) -> Self {
        match method {
            RecalibrationMethod::Pit => pit(rows.scores),
            RecalibrationMethod::Scale => Self::Scale { factor: best_factor(&rows.crps) },
            RecalibrationMethod::Conformal => {
                Self::Conformal(ConformityScores::new(rows.tails.into_iter().map(|tail| (tail, 1.0)).collect()))
            }
        }
    }

    /// Checks numbers that were read from a file.
    pub(super) fn is_sound(&self) -> bool {
        match self {
            Self::Pit { knots, slope } => {
                let finite = knots.iter().all(|(x, z)| x.is_finite() && z.is_finite());
                finite && !knots.is_empty() && knots.is_sorted_by(|a, b| a.0 < b.0 && a.1 <= b.1) && *slope > 0.0
            }
            Self::Scale { factor } => *factor > 0.0 && factor.is_finite(),
            Self::Conformal(ConformityScores { scores, weights }) => {
                scores.len() == weights.len()
                    && scores.is_sorted()
                    && scores.iter().all(|score| (0.0..=1.0).contains(score))
                    && weights.iter().all(|weight| *weight > 0.0 && weight.is_finite())
            }
        }
    }

    /// The lowest level of a quantile that there are enough rows for.
    pub(super) fn lowest_level(&self) -> f64 {
        match self {
            // At least one of n + 1 rows lies outside the conformal interval.
            Self::Conformal(list) => 0.5 / (list.total() + 1.0),
            _ => 0.0,
        }
    }

    /// The recalibrated quantile of a row.
    pub(super) fn quantile(&self, row: DistributionRef<'_>, level: f64) -> Result<f64> {
        match self {
            Self::Pit { knots, slope } => Ok(at_score(row, mapped(knots, *slope, normal::quantile(level)))),
            Self::Scale { factor } => {
                let mean = row.mean();
                Ok(mean + factor * (row.quantile(level) - mean))
            }
            Self::Conformal(list) => {
                let outside = list.threshold((2.0 * level - 1.0).abs(), 1.0).outside;
                if outside <= 0.0 && level.min(1.0 - level) < self.lowest_level() {
                    return Err(Error::options(format!(
                        "the {} calibration rows are too few for a conformal quantile of level {level}",
                        list.total()
                    )));
                }
                let interval = row.interval_leaving(outside);
                // The median is the middle of an interval that excludes nearly everything.
                Ok(if level < 0.5 {
                    interval.lower
                } else if level > 0.5 {
                    interval.upper
                } else {
                    row.quantile(0.5)
                })
            }
        }
    }
}

/// `a factor of 2.1 for distances from the mean`
impl fmt::Display for Map {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pit { knots, slope } => {
                write!(f, "a map of {} knots; normal scores of the PIT had a spread of {slope:.3}", knots.len())
            }
            Self::Scale { factor } => write!(f, "distances from the mean are multiplied by {factor:.3}"),
            Self::Conformal(list) => write!(f, "conformal intervals by {} tail probabilities", list.total()),
        }
    }
}

/// The map through quantiles of the scores: at rank j of n rows the standard normal quantile of (j - 1/2) / n.
fn pit(mut scores: Vec<f64>) -> Map {
    scores.sort_unstable_by(f64::total_cmp);
    let rows = scores.len();
    let slope = (scores.iter().map(|score| score * score).sum::<f64>() / rows as f64).sqrt().clamp(1e-3, 1e3);
    let count = (rows / ROWS_PER_KNOT).clamp(KNOTS.0, KNOTS.1);
    let knot = |at: usize| {
        // Levels in the middle of equal parts of the rows; the mean of the scores around is less noisy than one of them.
        let (low, high) = (at * rows / count, ((at + 1) * rows / count).max(at * rows / count + 1));
        let mean = scores[low..high].iter().sum::<f64>() / (high - low) as f64;
        // The mean of standard normal scores in the same part.
        let edge = |rank: usize| normal::quantile((rank as f64 / rows as f64).clamp(LEAST, 1.0 - f64::EPSILON));
        let share = (high - low) as f64 / rows as f64;
        let x = (normal::pdf(edge(low)) * f64::from(u8::from(low > 0))
            - normal::pdf(edge(high)) * f64::from(u8::from(high < rows)))
            / share;
        (x, mean)
    };
    Map::Pit { knots: (0..count).map(knot).collect(), slope }
}

/// The map at x: linear between knots, with the slope of the spread beyond them.
fn mapped(knots: &[(f64, f64)], slope: f64, x: f64) -> f64 {
    let after = knots.partition_point(|knot| knot.0 <= x);
    match (after.checked_sub(1).map(|before| knots[before]), knots.get(after)) {
        (Some(low), Some(high)) => low.1 + (high.1 - low.1) * (x - low.0) / (high.0 - low.0),
        (Some(last), None) => last.1 + slope * (x - last.0),
        (None, Some(first)) => first.1 + slope * (x - first.0),
        (None, None) => x,
    }
}

/// The value of a distribution at a normal score, from the nearer tail.
fn at_score(row: DistributionRef<'_>, z: f64) -> f64 {
    if z < 0.0 { row.quantile(normal::cdf(z).max(LEAST)) } else { row.quantile_above(normal::cdf(-z).max(LEAST)) }
}

/// The factor with the smallest CRPS, by a parabola through the best and its neighbours.
fn best_factor(crps: &[f64]) -> f64 {
    let best = (0..crps.len()).min_by(|a, b| crps[*a].total_cmp(&crps[*b])).unwrap_or(0);
    let step = best as f64 - f64::from(FACTOR_STEPS);
    let shift = match (best.checked_sub(1).map(|at| crps[at]), crps.get(best + 1)) {
        (Some(left), Some(right)) if left + right > 2.0 * crps[best] => {
            (0.5 * (left - right) / (left + right - 2.0 * crps[best])).clamp(-0.5, 0.5)
        }
        _ => 0.0,
    };
    libm::exp2((step + shift) / STEPS_PER_DOUBLING)
}

#[cfg(test)]
mod tests {
    use super::*;
    use negmm_dist::{Mixtures, Predictions};

    #[test]
    fn a_map_is_linear_between_its_knots() {
        let knots = [(-1.0, -3.0), (1.0, 2.0)];
        let at = |x: f64| mapped(&knots, 2.0, x);
        assert_eq!([-2.0, -1.0, 0.0, 1.0, 3.0].map(at), [-5.0, -3.0, -0.5, 2.0, 6.0]);
    }

    #[test]
    fn far_tails_of_a_map_are_finite() {
        let predictions = Predictions::from(Mixtures::new(1, vec![1.0], vec![0.0], vec![1.0]).unwrap());
        for z in [-30.0, -9.0, 9.0, 30.0] {
            assert!((at_score(predictions.row(0), z) - z).abs() < 1e-6);
        }
    }

    #[test]
    fn the_best_factor_is_found_between_those_tried() {
        let at = |factor: f64| {
            factors().iter().map(|own| (libm::log2(*own) - libm::log2(factor)).powi(2)).collect::<Vec<_>>()
        };
        for factor in [0.3, 1.0, 2.9] {
            assert!((best_factor(&at(factor)) / factor - 1.0).abs() < 1e-9);
        }
    }
}
