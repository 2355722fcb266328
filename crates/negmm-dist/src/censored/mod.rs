//! Scores of predictions of censored targets: some are only known to lie in an interval, most often to exceed a limit.

mod brier;
mod concordance;
mod kaplan_meier;

pub use brier::{brier_times, integrated_brier};
pub use concordance::concordance;
pub use kaplan_meier::KaplanMeier;

use crate::CensoredTargets;
use crate::distribution::Distribution;
use crate::distribution_ref::DistributionRef;
use crate::weights::weight_of;
use crate::{Error, Predictions, Result};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Bins of the D-calibration histogram.
pub const CALIBRATION_BINS: usize = 10;

/// Scores of predictions of censored targets. Files store some fields by former names.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Censored {
    /// Rows scored.
    pub rows: u64,
    /// Fraction of the rows whose target is censored.
    #[serde(rename = "share")]
    pub censored_fraction: f64,
    /// Mean logarithmic score: of the density at an observed target, of the probability of the interval of a censored one.
    pub nll: f64,
    /// [`integrated_brier`] at [`brier_times`]; `None` if there are no times, or if a target is left-censored or an interval with two
    /// finite ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub integrated_brier: Option<f64>,
    /// [`concordance`] of the predicted medians.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub concordance: Option<f64>,
    /// D-calibration: how many targets fall into each tenth of their predicted distribution, equal counts when calibrated. A censored
    /// target is spread evenly between the probabilities of its ends.
    pub calibration: [f64; CALIBRATION_BINS],
}

/// The scores of one row.
struct CensoredRowScores {
    nll: f64,
    median: f64,
    /// Probabilities up to the two ends.
    ends: (f64, f64),
}

impl CensoredRowScores {
    fn of(row: DistributionRef<'_>, (lower, upper): (f64, f64)) -> Self {
        let ends = match upper {
            f64::INFINITY => (row.cdf(lower), 1.0),
            _ if lower < upper => (row.cdf(lower), row.cdf(upper)),
            _ => (row.pit(lower), row.pit(lower)),
        };
        Self { nll: row.censored_nll(lower, upper), median: row.quantile(0.5), ends }
    }
}

impl Censored {
    /// Scores `predictions` against the targets, with sample weights.
    ///
    /// # Errors
    /// When there is not one valid interval, and one weight, for each row, or all weights are 0.
    pub fn of(predictions: &Predictions, known: &CensoredTargets, weights: Option<&[f64]>) -> Result<Self> {
        known.check(predictions.len(), weights)?;
        let ends = |row: usize| (known.lower[row], known.upper[row]);
        let scores: Vec<CensoredRowScores> = (0..predictions.len())
            .into_par_iter()
            .map(|row| CensoredRowScores::of(predictions.row(row), ends(row)))
            .collect();
        let (mut total, mut censored, mut nll, mut calibration) = (0.0, 0.0, 0.0, [0.0; CALIBRATION_BINS]);
        // Row by row, in order, so that threads do not change a bit.
        for (row, score) in scores.iter().enumerate() {
            let weight = weight_of(weights, row);
            if weight > 0.0 {
                total += weight;
                nll += weight * score.nll;
                censored += if known.is_value(row) { 0.0 } else { weight };
                spread(&mut calibration, score.ends, weight);
            }
        }
        if total <= 0.0 {
            return Err(Error::data("expected at least 1 row that counts, found none"));
        }
        let right_censored = known.first_interval().is_none();
        let times = right_censored.then(|| brier_times(known, weights)).flatten();
        let brier = times.map(|times| {
            integrated_brier(known, weights, &times, |row, time| predictions.row(row).survival(times[time]))
        });
        let medians: Vec<f64> = scores.iter().map(|score| score.median).collect();
        Ok(Self {
            rows: known.lower.len() as u64,
            censored_fraction: censored / total,
            nll: nll / total,
            integrated_brier: brier.transpose()?,
            concordance: concordance(known, &medians, weights),
            calibration,
        })
    }

    /// The scores that may be infinite; files have only finite ones.
    pub(crate) fn scores(&self) -> impl Iterator<Item = f64> {
        [self.nll].into_iter().chain(self.integrated_brier)
    }

    /// Checks scores that were read from a file.
    pub(crate) fn check(&self) -> std::result::Result<(), String> {
        let mut fractions = [self.censored_fraction].into_iter().chain(self.concordance);
        let fractions = fractions.all(|fraction| (0.0..=1.0).contains(&fraction));
        let counts = self.calibration.iter().all(|count| count.is_finite() && *count >= 0.0);
        if fractions && counts { Ok(()) } else { Err("its scores of censored targets are out of range".into()) }
    }
}

/// Adds `weight` evenly between two probabilities, or at one.
fn spread(bins: &mut [f64; CALIBRATION_BINS], (from, to): (f64, f64), weight: f64) {
    let count = CALIBRATION_BINS as f64;
    if to <= from {
        bins[((from * count) as usize).min(CALIBRATION_BINS - 1)] += weight;
        return;
    }
    for (number, bin) in bins.iter_mut().enumerate() {
        let (low, high) = (number as f64 / count, (number + 1) as f64 / count);
        *bin += weight * (to.min(high) - from.max(low)).max(0.0) / (to - from);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::normal;
    use crate::{Mixtures, Rng, Support};

    /// Numbers, and whether they are observed targets (else limits); some of both are equal.
    pub(super) const TIES: [(f64, bool); 12] = [
        (2.0, true),
        (3.0, true),
        (3.0, false),
        (5.0, true),
        (5.0, false),
        (7.0, false),
        (8.0, true),
        (8.0, true),
        (11.0, false),
        (12.0, true),
        (14.0, false),
        (15.0, true),
    ];
    /// The same without a target that is equal to a limit.
    pub(super) const APART: [(f64, bool); 12] = [
        (2.0, true),
        (3.0, true),
        (3.5, false),
        (5.0, true),
        (5.5, false),
        (7.0, false),
        (8.0, true),
        (8.0, true),
        (11.0, false),
        (12.0, true),
        (14.0, false),
        (15.0, true),
    ];
    pub(super) const MEANS: [f64; 12] = [3.0, 2.0, 6.0, 4.0, 9.0, 8.0, 8.0, 4.0, 12.0, 9.0, 10.0, 12.0];

    pub(super) fn known(rows: &[(f64, bool)]) -> CensoredTargets {
        let upper = |&(number, is_known): &(f64, bool)| if is_known { number } else { f64::INFINITY };
        CensoredTargets { lower: rows.iter().map(|row| row.0).collect(), upper: rows.iter().map(upper).collect() }
    }

    /// Normal predictions with these means and sds from 1 to 3.2.
    pub(super) fn predictions() -> Predictions {
        let sds = (0..12).map(|row| 1.0 + 0.2 * f64::from(row)).collect();
        Mixtures::new(1, vec![1.0; 12], MEANS.to_vec(), sds).unwrap().into()
    }

    #[test]
    fn scipy_has_the_same_logarithmic_score() {
        // scipy: mean of -norm.logpdf(time, mean, sd) where known, of -norm.logsf(time, mean, sd) else.
        let scores = Censored::of(&predictions(), &known(&APART), None).unwrap();
        assert!((scores.nll - 1.470_433_035_829_187_5).abs() < 1e-14, "{}", scores.nll);
        assert_eq!((scores.rows, scores.censored_fraction), (12, 5.0 / 12.0));
        assert_eq!(scores.concordance, concordance(&known(&APART), &MEANS, None));
    }

    #[test]
    fn observed_targets_have_their_usual_scores() {
        let y = MEANS.map(|mean| mean + 0.7);
        let scores =
            Censored::of(&predictions(), &CensoredTargets { lower: y.to_vec(), upper: y.to_vec() }, None).unwrap();
        let nll = predictions().nll(&y).unwrap().iter().sum::<f64>() / 12.0;
        assert_eq!((scores.nll, scores.censored_fraction), (nll, 0.0));
        let mut bins = [0.0; CALIBRATION_BINS];
        predictions().pit(&y).unwrap().iter().for_each(|pit| bins[(10.0 * pit) as usize] += 1.0);
        assert_eq!(scores.calibration, bins);
    }

    #[test]
    fn the_truth_is_calibrated_and_has_the_best_scores() {
        let mut rng = Rng::new(2, 0);
        let (mut means, mut rows) = (Vec::new(), Vec::new());
        for _ in 0..20_000 {
            let mean = 3.0 * rng.uniform();
            let y = mean + normal::quantile(rng.uniform());
            let limit = 1.0 + 3.0 * rng.uniform();
            means.push(mean);
            rows.push((y.min(limit), y <= limit));
        }
        let known = known(&rows);
        let score = |shift: f64, sd: f64| {
            let means: Vec<f64> = means.iter().map(|mean| mean + shift).collect();
            let predicted = Mixtures::new(1, vec![1.0; means.len()], means, vec![sd; rows.len()]).unwrap();
            Censored::of(&predicted.into(), &known, None).unwrap()
        };
        let truth = score(0.0, 1.0);
        assert!((0.2..0.5).contains(&truth.censored_fraction), "{}", truth.censored_fraction);
        assert!(truth.calibration.iter().all(|count| (count - 2000.0).abs() < 200.0), "{:?}", truth.calibration);
        for (shift, sd) in [(0.2, 1.0), (-0.2, 1.0), (0.0, 1.3), (0.0, 0.75)] {
            let other = score(shift, sd);
            assert!(other.nll > truth.nll, "{shift} {sd}");
            assert!(other.integrated_brier > truth.integrated_brier, "{shift} {sd}");
            assert!(other.calibration.iter().any(|count| (count - 2000.0).abs() > 200.0), "{shift} {sd}");
        }
    }

    #[test]
    fn intervals_have_a_probability_whatever_the_prediction_is() {
        let known = CensoredTargets { lower: vec![1.0, 1.0, 0.0], upper: vec![2.0, f64::INFINITY, 1.0] };
        let predicted = || Predictions::from(Mixtures::new(1, vec![1.0; 3], vec![1.0; 3], vec![2.0; 3]).unwrap());
        let above_zero = Support { lower: Some(0.0), ..Support::default() };
        let counts = Support { step: Some(1.0), ..above_zero };
        for support in [Support::default(), above_zero, counts] {
            let predicted = predicted().with_support(support).unwrap();
            let scores = Censored::of(&predicted, &known, None).unwrap();
            let ends =
                |row: usize| (predicted.row(row).cdf(known.lower[row]), predicted.row(row).cdf(known.upper[row]));
            let expected: f64 = (0..3).map(ends).map(|(from, to)| -libm::log(to - from)).sum();
            assert!((scores.nll - expected / 3.0).abs() < 1e-12, "{support:?}");
            assert!((scores.calibration.iter().sum::<f64>() - 3.0).abs() < 1e-12);
            assert_eq!((scores.integrated_brier, scores.censored_fraction), (None, 1.0));
        }
    }

    #[test]
    fn left_censored_targets_are_right_censored_ones_mirrored() {
        // But for a target at its median, on the edge of two bins.
        let rows: Vec<usize> = (0..12).filter(|row| APART[*row].0 != MEANS[*row]).collect();
        let (right, predicted) = (known(&APART).select(&rows), predictions().select(&rows));
        let negative = |numbers: &[f64]| numbers.iter().map(|number| -number).collect::<Vec<f64>>();
        let left = CensoredTargets { lower: negative(&right.upper), upper: negative(&right.lower) };
        let (means, sds) = (negative(&predicted.mean()), predicted.sd());
        let mirrored = Mixtures::new(1, vec![1.0; rows.len()], means, sds).unwrap();
        let expected = Censored::of(&predicted, &right, None).unwrap();
        let found = Censored::of(&mirrored.into(), &left, None).unwrap();
        assert!((found.nll - expected.nll).abs() < 1e-14, "{} {}", found.nll, expected.nll);
        let counts = found.calibration.iter().zip(expected.calibration.iter().rev());
        assert!(counts.clone().all(|(found, expected)| (found - expected).abs() < 1e-9), "{counts:?}");
        assert_eq!(found.concordance, expected.concordance);
        assert_eq!((found.integrated_brier, found.censored_fraction), (None, 5.0 / 11.0));
        let refused = integrated_brier(&left, None, &[1.0, 2.0], |_, _| 0.5).unwrap_err().to_string();
        assert!(refused.ends_with("found a left-censored one"), "{refused}");
    }

    #[test]
    fn invalid_targets_and_weights_are_refused() {
        let refused = |lower: [f64; 2], upper: [f64; 2], weights: &[f64]| {
            let predicted = predictions().select(&[0, 1]);
            let known = CensoredTargets { lower: lower.to_vec(), upper: upper.to_vec() };
            Censored::of(&predicted, &known, Some(weights)).unwrap_err().to_string()
        };
        for (lower, upper) in [(f64::NAN, 2.0), (f64::NEG_INFINITY, f64::INFINITY), (f64::INFINITY, f64::INFINITY)] {
            let message = refused([1.0, lower], [1.0, upper], &[1.0, 1.0]);
            assert!(message.starts_with("row 2: expected an interval with a finite end"), "{message}");
        }
        assert!(refused([1.0, 3.0], [1.0, 2.0], &[1.0, 1.0]).starts_with("row 2: the upper end 2 is below"));
        assert!(refused([1.0, 3.0], [1.0, 3.0], &[1.0]).contains("expected 2 weights"));
        assert!(refused([1.0, 3.0], [1.0, 3.0], &[0.0, 0.0]).contains("found none"));
        assert!(Censored::of(&predictions(), &known(&TIES[..3]), None).is_err());
    }
}
