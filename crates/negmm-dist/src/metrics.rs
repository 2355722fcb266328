//! Metrics of predictions against known targets: errors, proper scores, calibration and sharpness.

use crate::CensoredTargets;
use crate::by_coverage::{ByCoverage, COVERAGES};
use crate::censored::Censored;
use crate::distribution_ref::DistributionRef;
use crate::mixture::QuantileLevel;
use crate::predictive::{Predictions, check_step};
use crate::weights::{check_weights, weight_of};
use crate::{Error, Result};
use serde::{Deserialize, Serialize, Serializer};

/// Bins of the histogram of the probability integral transform.
pub const PIT_BINS: usize = 20;

/// Scores of predictions, averaged over rows. Where no target is observed, all but `censored` are 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Metrics {
    /// Rows scored.
    pub rows: u64,
    /// Root of the mean squared error of the predicted mean.
    pub rmse: f64,
    /// Mean absolute error of the predicted median.
    pub mae: f64,
    /// Mean logarithmic score: negative log likelihood of a row, by the probability at an atom, otherwise by the density.
    pub nll: f64,
    /// Mean negative log probability within half a step of the target, for discrete targets: use it instead of `nll`, which narrow peaks
    /// at the values can make arbitrarily small.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mass_nll: Option<f64>,
    /// Mean continuous ranked probability score.
    pub crps: f64,
    /// Fraction of targets inside the central interval of each coverage: equal to it if calibrated.
    pub coverage: ByCoverage,
    /// Mean width of the central interval of each coverage.
    pub width: ByCoverage,
    /// How many targets fall into each twentieth of their predicted distribution: equal counts when calibrated.
    /// With weights, the weight that falls there.
    #[serde(serialize_with = "whole_where_whole")]
    pub pit: [f64; PIT_BINS],
    /// Scores of all rows, if some targets are censored: the other scores are then of the rows with observed targets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub censored: Option<Censored>,
}

/// Counts are written as whole numbers; sums of weights may have decimals.
fn whole_where_whole<S: Serializer>(counts: &[f64; PIT_BINS], serializer: S) -> std::result::Result<S::Ok, S::Error> {
    if counts.iter().all(|count| count.fract() == 0.0 && *count < 9e15) {
        counts.map(|count| count as u64).serialize(serializer)
    } else {
        counts.serialize(serializer)
    }
}

impl Metrics {
    /// Scores `predictions` against the target `y` of each row.
    ///
    /// # Errors
    /// When `y` does not have one finite number for each row, or there is no row.
    pub fn of(predictions: &Predictions, y: &[f64]) -> Result<Self> {
        Self::weighted(predictions, y, None, None)
    }

    /// As [`Metrics::of`], with sample weights; with `grid`, the step of a discrete target, also the mass NLL.
    ///
    /// # Errors
    /// Also when a weight is negative or not finite, or all are 0, and when the step is not finite and positive.
    pub fn weighted(predictions: &Predictions, y: &[f64], weights: Option<&[f64]>, grid: Option<f64>) -> Result<Self> {
        Self::with_crps(predictions, y, weights, grid).map(|(metrics, _)| metrics)
    }

    /// As [`Metrics::weighted`], with the CRPS of each row.
    pub fn with_crps(
        predictions: &Predictions,
        y: &[f64],
        weights: Option<&[f64]>,
        grid: Option<f64>,
    ) -> Result<(Self, Vec<f64>)> {
        let mut accumulator = MetricsAccumulator::new(grid);
        let crps = accumulator.add_rows(predictions, y, weights)?;
        Ok((accumulator.finish()?, crps))
    }

    /// As [`Metrics::weighted`] for censored targets: [`Censored`] of all rows, the other scores of the rows with observed targets. These
    /// rows are not representative, so no model should be chosen by their scores.
    ///
    /// # Errors
    /// Also when there is not one valid interval for each row.
    pub fn of_known(
        predictions: &Predictions,
        known: &CensoredTargets,
        weights: Option<&[f64]>,
        grid: Option<f64>,
    ) -> Result<Self> {
        let censored = Censored::of(predictions, known, weights)?;
        let counts = |row: &usize| weight_of(weights, *row) > 0.0;
        let rows: Vec<usize> = known.values().into_iter().filter(counts).collect();
        if rows.is_empty() {
            return Ok(Self { censored: Some(censored), ..Self::of_no_rows(grid) });
        }
        let pick = |list: &[f64]| rows.iter().map(|row| list[*row]).collect::<Vec<_>>();
        let (y, weights) = (pick(&known.lower), weights.map(pick));
        let metrics = Self::weighted(&predictions.select(&rows), &y, weights.as_deref(), grid)?;
        Ok(Self { censored: Some(censored), ..metrics })
    }

    fn of_no_rows(grid: Option<f64>) -> Self {
        let zeros = ByCoverage::new([0.0; COVERAGES.len()]);
        Self {
            rows: 0,
            rmse: 0.0,
            mae: 0.0,
            nll: 0.0,
            mass_nll: grid.map(|_| 0.0),
            crps: 0.0,
            coverage: zeros,
            width: zeros,
            pit: [0.0; PIT_BINS],
            censored: None,
        }
    }

    /// Checks scores that were read from a file.
    pub fn check(&self) -> std::result::Result<(), String> {
        let fractions = self.coverage.values().iter().all(|fraction| (0.0..=1.0).contains(fraction));
        let counts = self.pit.iter().all(|count| count.is_finite() && *count >= 0.0);
        if fractions && counts && self.is_finite() {
            return self.censored.as_ref().map_or(Ok(()), Censored::check);
        }
        Err("its scores are out of range".into())
    }

    /// Whether every score is finite: squares of errors beyond 1e154 are not, and JSON has only finite numbers.
    pub fn is_finite(&self) -> bool {
        let more = self.width.values().into_iter().chain(self.mass_nll);
        let more = more.chain(self.censored.iter().flat_map(Censored::scores));
        [self.rmse, self.mae, self.nll, self.crps].into_iter().chain(more).all(f64::is_finite)
    }
}

/// A running sum of scores, for predictions in chunks. The result does not depend on the chunks.
#[derive(Clone, Debug, Default)]
pub struct MetricsAccumulator {
    grid: Option<f64>,
    rows: u64,
    weight: f64,
    squared_error: f64,
    absolute_error: f64,
    nll: f64,
    mass_nll: f64,
    crps: f64,
    inside: [f64; COVERAGES.len()],
    width: [f64; COVERAGES.len()],
    pit: [f64; PIT_BINS],
}

/// The index of the median among the quantiles of a row: after the ends of all intervals.
const MEDIAN: usize = 2 * COVERAGES.len();

/// The scores of one row.
struct RowScores {
    /// Of the mean.
    error: f64,
    nll: f64,
    /// 0 without a grid.
    mass_nll: f64,
    crps: f64,
    pit: f64,
}

impl RowScores {
    fn of(row: DistributionRef<'_>, y: f64, grid: Option<f64>) -> Self {
        row.without_empty(|row| {
            row.on_support(|found| Self {
                error: found.mean() - y,
                nll: row.nll_on(found, y),
                mass_nll: grid.map_or(0.0, |step| -found.log_mass(y, step)),
                crps: found.crps(y),
                pit: found.pit(y),
            })
        })
    }
}

impl MetricsAccumulator {
    /// No rows yet; `grid` is the step of a discrete target, by default that of the predictions' support.
    pub fn new(grid: Option<f64>) -> Self {
        Self { grid, ..Self::default() }
    }

    /// Adds rows with their targets and sample weights (1 without weights).
    ///
    /// # Errors
    /// When `y` does not have one finite number for each row, or `weights` one that is not negative, or the step of the grid
    /// is not finite and positive; then nothing is added.
    pub fn add(&mut self, predictions: &Predictions, y: &[f64], weights: Option<&[f64]>) -> Result<()> {
        self.add_rows(predictions, y, weights).map(drop)
    }

    /// As [`MetricsAccumulator::add`]; returns the CRPS of each row.
    ///
    /// # Errors
    /// As [`MetricsAccumulator::add`].
    pub fn add_rows(&mut self, predictions: &Predictions, y: &[f64], weights: Option<&[f64]>) -> Result<Vec<f64>> {
        if let Some(row) = y.iter().position(|y| !y.is_finite()) {
            return Err(Error::data(format!("expected a finite target, found {}", y[row])).at_row(row as u64));
        }
        weights.map_or(Ok(()), |weights| check_weights(weights, y.len()))?;
        self.grid = self.grid.or(predictions.support().step);
        self.grid.map_or(Ok(()), check_step)?;
        let scores = predictions.each_with(y, |row, y| RowScores::of(row, y, self.grid))?;
        let levels = COVERAGES.iter().flat_map(|coverage| QuantileLevel::around(*coverage));
        let levels: Vec<QuantileLevel> = levels.chain([QuantileLevel::Below(0.5)]).collect();
        let ends = predictions.quantiles(&levels);
        // Summed row by row, in order, so that neither threads nor chunks change a bit.
        for (number, (row, &y)) in scores.iter().zip(y).enumerate() {
            let weight = weights.map_or(1.0, |weights| weights[number]);
            self.rows += 1;
            self.weight += weight;
            self.squared_error += weight * (row.error * row.error);
            self.absolute_error += weight * (ends[MEDIAN][number] - y).abs();
            self.nll += weight * row.nll;
            self.mass_nll += weight * row.mass_nll;
            self.crps += weight * row.crps;
            for (at, ends) in ends.chunks_exact(2).enumerate() {
                let (lower, upper) = (ends[0][number], ends[1][number]);
                self.inside[at] += if lower <= y && y <= upper { weight } else { 0.0 };
                self.width[at] += weight * (upper - lower);
            }
            self.pit[((row.pit * PIT_BINS as f64) as usize).min(PIT_BINS - 1)] += weight;
        }
        Ok(scores.iter().map(|row| row.crps).collect())
    }

    /// The means over all rows added.
    ///
    /// # Errors
    /// When no row was added.
    pub fn finish(&self) -> Result<Metrics> {
        if self.rows == 0 {
            return Err(Error::data("expected at least 1 row with a known target, found none"));
        }
        if self.weight == 0.0 {
            return Err(Error::data("all weights are 0"));
        }
        let mean = |sum: f64| sum / self.weight;
        Ok(Metrics {
            rows: self.rows,
            rmse: mean(self.squared_error).sqrt(),
            mae: mean(self.absolute_error),
            nll: mean(self.nll),
            mass_nll: self.grid.map(|_| mean(self.mass_nll)),
            crps: mean(self.crps),
            coverage: ByCoverage::new(self.inside.map(mean)),
            width: ByCoverage::new(self.width.map(mean)),
            pit: self.pit,
            censored: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::normal;
    use crate::mixture::Mixtures;
    use crate::{ErrorKind, Support};

    /// `rows` standard normal predictions.
    fn standard(rows: usize) -> Predictions {
        Mixtures::new(1, vec![1.0; rows], vec![0.0; rows], vec![1.0; rows]).unwrap().into()
    }

    /// Targets spread evenly over their predicted distribution.
    fn calibrated(rows: usize) -> Vec<f64> {
        (0..rows).map(|row| normal::quantile((row as f64 + 0.5) / rows as f64)).collect()
    }

    #[test]
    fn calibrated_predictions_have_the_expected_scores() {
        let rows = 2000;
        let metrics = Metrics::of(&standard(rows), &calibrated(rows)).unwrap();
        assert_eq!(metrics.rows, 2000);
        assert!((metrics.rmse - 1.0).abs() < 2e-3);
        // E|Z| = sqrt(2 / pi), entropy ln(2 pi e) / 2, expected CRPS 1 / sqrt(pi).
        assert!((metrics.mae - 0.797_885).abs() < 1e-3);
        assert!((metrics.nll - 1.418_939).abs() < 2e-3);
        assert!((metrics.crps - 0.564_190).abs() < 1e-3);
        for (at, coverage) in COVERAGES.into_iter().enumerate() {
            assert!((metrics.coverage.values()[at] - coverage).abs() < 1e-3);
            assert!((metrics.width.values()[at] - 2.0 * normal::quantile(0.5 + 0.5 * coverage)).abs() < 1e-12);
        }
        assert_eq!(metrics.pit, [100.0; PIT_BINS]);
    }

    #[test]
    fn absolute_errors_are_of_the_median_and_squares_of_the_mean() {
        // A tenth of the probability lies far away: the mean is 10, the median near 0.
        let mixtures = Mixtures::new(2, vec![0.9, 0.1], vec![0.0, 100.0], vec![1.0, 1.0]).unwrap();
        let metrics = Metrics::of(&mixtures.into(), &[0.0]).unwrap();
        assert!((metrics.rmse - 10.0).abs() < 1e-12 && metrics.mae < 0.2, "{metrics:?}");
    }

    #[test]
    fn intervals_alone_are_scored() {
        let known = CensoredTargets { lower: vec![-1.0, 0.0], upper: vec![1.0, f64::INFINITY] };
        let metrics = Metrics::of_known(&standard(2), &known, None, None).unwrap();
        let expected = -0.5 * (libm::log(normal::cdf(1.0) - normal::cdf(-1.0)) + libm::log(0.5));
        assert!((metrics.censored.as_ref().unwrap().nll - expected).abs() < 1e-12);
        assert_eq!((metrics.rows, metrics.crps), (0, 0.0));
        assert!(metrics.check().is_ok());
    }

    #[test]
    fn an_integer_weight_counts_as_repeated_rows() {
        let weighted = Metrics::weighted(&standard(3), &[0.1, -2.0, 1.0], Some(&[2.0, 1.0, 0.0]), None).unwrap();
        let repeated = Metrics::of(&standard(3), &[0.1, 0.1, -2.0]).unwrap();
        assert_eq!(weighted, repeated);
        assert!(Metrics::weighted(&standard(1), &[0.1], Some(&[0.0]), None).is_err());
    }

    #[test]
    fn chunks_change_nothing() {
        let y = calibrated(100);
        let mut accumulator = MetricsAccumulator::default();
        for chunk in y.chunks(7) {
            accumulator.add(&standard(chunk.len()), chunk, None).unwrap();
        }
        assert_eq!(accumulator.finish().unwrap(), Metrics::of(&standard(100), &y).unwrap());
    }

    #[test]
    fn a_discrete_target_has_a_mass_nll() {
        let y = [0.0, 1.0, -2.0];
        let metrics = Metrics::weighted(&standard(3), &y, None, Some(1.0)).unwrap();
        let each = standard(3).mass_nll(&y, 1.0).unwrap();
        assert_eq!(metrics.mass_nll, Some(each.iter().sum::<f64>() / 3.0));
        assert_eq!(Metrics { mass_nll: None, ..metrics.clone() }, Metrics::of(&standard(3), &y).unwrap());
        let text = serde_json::to_string(&metrics).unwrap();
        assert!(text.contains("\"mass_nll\":1."), "{text}");
        assert_eq!(serde_json::from_str::<Metrics>(&text).unwrap(), metrics);
        assert!(!Metrics { mass_nll: Some(f64::INFINITY), ..metrics }.is_finite());
        assert!(Metrics::weighted(&standard(3), &y, None, Some(0.0)).is_err());
    }

    #[test]
    fn grids_are_scored_by_the_probabilities_of_their_values() {
        // Counts that follow their prediction: each value as often as it is probable, of 10,000 rows.
        let support = Support { lower: Some(0.0), step: Some(1.0), ..Support::default() };
        let predictions_of = |rows: usize| {
            let mixtures = Mixtures::new(1, vec![1.0; rows], vec![6.0; rows], vec![4.0; rows]).unwrap();
            Predictions::from(mixtures).with_support(support).unwrap()
        };
        let times =
            |value: &u32| (1e4 * predictions_of(1).point_probability(f64::from(*value)).unwrap()[0]).round() as usize;
        let y: Vec<f64> = (0..40).flat_map(|value| vec![f64::from(value); times(&value)]).collect();
        let metrics = Metrics::of(&predictions_of(y.len()), &y).unwrap();
        assert!((metrics.rmse - predictions_of(1).sd()[0]).abs() < 1e-2, "{}", metrics.rmse);
        for (found, coverage) in metrics.coverage.values().into_iter().zip(COVERAGES) {
            assert!(found >= coverage - 1e-3, "{coverage}: {found}");
        }
        // The step comes with the predictions, and the entropy of the cells is their score.
        let entropy: f64 = (0..40)
            .map(|value| predictions_of(1).point_probability(f64::from(value)).unwrap()[0])
            .map(|p| -p * libm::log(p))
            .sum();
        assert!((metrics.mass_nll.unwrap() - entropy).abs() < 1e-3);
        assert!((metrics.nll - Metrics::of(&predictions_of(y.len()).moment_matched(), &y).unwrap().nll).abs() < 0.1);
        // PITs are the middles of jumps: 1/2 on average.
        let each = predictions_of(y.len()).pit(&y).unwrap();
        let mean = each.iter().sum::<f64>() / each.len() as f64;
        assert!((mean - 0.5).abs() < 1e-3, "{mean}");
    }

    #[test]
    fn a_target_at_an_atom_is_scored_by_its_probability() {
        let mixtures = Mixtures::new(2, vec![0.25, 0.75], vec![0.0, 3.0], vec![0.0, 1.0]).unwrap();
        let (row, y) = (Predictions::from(mixtures), [0.0]);
        let metrics = Metrics::of(&row, &y).unwrap();
        assert_eq!(metrics.nll, -libm::log(0.25));
        assert!((row.pit(&y).unwrap()[0] - (0.125 + 0.75 * normal::cdf(-3.0))).abs() < 1e-15);
        assert_eq!(row.log_likelihood(&y).unwrap(), [libm::log(0.25)]);
    }

    #[test]
    fn json_has_exactly_these_fields() {
        let metrics = Metrics::of(&standard(4), &[0.0, 0.1, -3.0, 100.0]).unwrap();
        let json = serde_json::to_value(&metrics).unwrap();
        let keys = |value: &serde_json::Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        let text = serde_json::to_string(&metrics).unwrap();
        let order = [
            "{\"rows\":4,",
            "\"rmse\":",
            "\"mae\":",
            "\"nll\":",
            "\"crps\":",
            "\"coverage\":",
            "\"width\":",
            "\"pit\":",
        ];
        assert!(order.map(|key| text.find(key).expect(key)).is_sorted());
        assert_eq!(keys(&json).len(), order.len());
        assert_eq!(keys(&json["coverage"]), ["0.5", "0.9", "0.95"]);
        assert_eq!(keys(&json["width"]), ["0.5", "0.9", "0.95"]);
        assert_eq!(json["coverage"]["0.9"], 0.5);
        assert_eq!(json["pit"].as_array().unwrap().len(), 20);
        assert_eq!(json["pit"][19], 1);
        assert_eq!(serde_json::from_str::<Metrics>(&text).unwrap(), metrics);
    }

    #[test]
    fn invalid_targets_and_weights_are_refused() {
        assert_eq!(MetricsAccumulator::default().finish().unwrap_err().kind(), ErrorKind::Data);
        let mut accumulator = MetricsAccumulator::default();
        assert!(accumulator.add(&standard(2), &[0.0], None).is_err());
        assert!(accumulator.add(&standard(2), &[0.0, f64::INFINITY], None).is_err());
        assert!(accumulator.add(&standard(2), &[0.0, 0.0], Some(&[1.0])).is_err());
        assert!(accumulator.add(&standard(2), &[0.0, 0.0], Some(&[1.0, -1.0])).is_err());
        assert_eq!(accumulator.rows, 0);
    }
}
