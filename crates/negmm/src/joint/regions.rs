//! Regions of several targets: of highest density, and ellipsoids by the Mahalanobis distance; the model's own, or conformal.
//!
//! Both are {y: s(y) >= border} for a statistic s: the log density, or minus the squared Mahalanobis distance from the mean. The
//! probability that a region leaves outside is the fraction of a row's own draws with a smaller statistic. Its value at the observed
//! vector is the conformity score of the row, so that a threshold of it from rows that the model has not seen gives conformal sets.
//!
//! Beyond the draws that fraction falls exponentially, as it does for Gaussians (of the log density and of the squared distance): else
//! all vectors out there would have the score 0, and the sets of an overconfident model would be unbounded.

use rayon::prelude::*;

use super::{JointPredictions, SCORE_DRAWS};
use crate::conformal::{Calibration, CalibrationSet, Labels, SetKind};
use negmm_dist::joint::squared_mahalanobis;
use negmm_dist::{Error, JointMixture, Result, Rng, streams};

/// The kind of a region of several targets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegionKind {
    /// Highest density: the smallest region of its coverage.
    HighestDensity,
    /// An ellipsoid around the mean, along the covariance matrix.
    Ellipsoid,
}

impl RegionKind {
    /// The conformal sets of this kind.
    fn sets(self) -> SetKind {
        match self {
            Self::HighestDensity => SetKind::Regions,
            Self::Ellipsoid => SetKind::Ellipsoids,
        }
    }
}

/// The region of one row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JointRegion {
    /// The log density at the border, or the Mahalanobis distance of the border from the mean.
    pub border: f64,
    /// Its volume, in the product of the targets' units; infinite where the region is unbounded.
    pub volume: f64,
}

impl JointRegion {
    /// Whether a vector with this log density, or at this Mahalanobis distance, lies in the region.
    pub fn contains(&self, kind: RegionKind, at: f64) -> bool {
        match kind {
            RegionKind::HighestDensity => at >= self.border,
            RegionKind::Ellipsoid => at <= self.border,
        }
    }
}

/// The statistic of a row's vectors.
struct Statistic<'a> {
    row: JointMixture<'a>,
    /// Mean and covariance, for distances.
    moments: Option<(Vec<f64>, Vec<f64>)>,
}

impl<'a> Statistic<'a> {
    fn new(row: JointMixture<'a>, kind: RegionKind) -> Self {
        let moments = (kind == RegionKind::Ellipsoid).then(|| (row.mean(), row.covariance()));
        Self { row, moments }
    }

    fn of(&self, y: &[f64]) -> f64 {
        match &self.moments {
            Some((mean, covariance)) => -squared_mahalanobis(mean, covariance, y),
            None => self.row.log_pdf(y),
        }
    }

    /// Those of the row's own draws, in increasing order.
    fn of_draws(&self, number: u64) -> Vec<f64> {
        let rng = &mut Rng::new(0, streams::JOINT_DRAWS + number);
        let draws = self.row.samples(SCORE_DRAWS, rng);
        let draws = draws.chunks_exact(self.row.targets);
        let mut list: Vec<f64> = match self.moments {
            Some(_) => draws.map(|draw| self.of(draw)).collect(),
            None => {
                let mut densities = self.row.densities();
                draws.map(|draw| densities.at(draw)).collect()
            }
        };
        list.sort_unstable_by(f64::total_cmp);
        list
    }
}

/// The statistic's distribution under a row's own prediction: sorted draws, and an exponential tail below them.
struct Levels {
    draws: Vec<f64>,
    /// The mean excess over the lowest [`TAIL`] of the draws.
    scale: f64,
}

/// The fraction of the draws that the scale of the tail comes from.
const TAIL: f64 = 0.1;

impl Levels {
    fn new(draws: Vec<f64>) -> Self {
        let count = ((TAIL * draws.len() as f64) as usize).clamp(1, draws.len() - 1);
        let excess = draws[..count].iter().map(|draw| draws[count] - draw).sum::<f64>() / count as f64;
        Self { draws, scale: excess.max(f64::MIN_POSITIVE) }
    }

    /// The probability of a smaller or equal statistic; above 0.
    fn below(&self, at: f64) -> f64 {
        let count = self.draws.len() as f64;
        match self.draws.partition_point(|draw| *draw <= at) {
            0 => (libm::exp((at - self.draws[0]) / self.scale) / count).max(f64::MIN_POSITIVE),
            inside => inside as f64 / count,
        }
    }

    /// The smallest statistic with a probability of at least `outside` below it.
    fn border(&self, outside: f64) -> f64 {
        let count = self.draws.len() as f64;
        let rank = outside * count;
        if rank < 1.0 {
            return self.draws[0] + self.scale * libm::log(rank.max(f64::MIN_POSITIVE));
        }
        self.draws[(rank * (1.0 - 1e-12)).ceil().clamp(1.0, count) as usize - 1]
    }

    /// The volume where the log density is at least `border`: the mean of 1 / p(Y) over draws inside, and the same of the tail.
    fn volume(&self, border: f64) -> f64 {
        let count = self.draws.len() as f64;
        let first = self.draws.partition_point(|draw| *draw < border);
        let inside = self.draws[first..].iter().map(|log| libm::exp(-log)).sum::<f64>() / count;
        let beyond = (self.draws[0] - border).max(0.0);
        let rate = 1.0 - 1.0 / self.scale;
        let length = if rate.abs() < 1e-9 { beyond } else { libm::expm1(rate * beyond) / rate };
        inside + libm::exp(-self.draws[0]) * length / (count * self.scale)
    }
}

impl JointPredictions {
    /// For each row the model's own probability outside the region through `y`: the conformity score. `first_row` rows come before
    /// these.
    ///
    /// # Errors
    /// When there is not one vector for each row.
    pub fn region_tails(&self, kind: RegionKind, y: &[f64], first_row: u64) -> Result<Vec<f64>> {
        let d = self.targets().len();
        if y.len() != self.len() * d {
            return Err(Error::data(format!(
                "expected {d} targets for each of {} rows, found {}",
                self.len(),
                y.len()
            )));
        }
        let of_row = |row: usize| {
            let statistic = Statistic::new(self.mixtures().row(row), kind);
            let here = statistic.of(&y[row * d..][..d]);
            Levels::new(statistic.of_draws(first_row + row as u64)).below(here)
        };
        Ok((0..self.len()).into_par_iter().map(of_row).collect())
    }

    /// The region of each row that leaves this much of the model's own probability outside; 0: unbounded.
    ///
    /// # Errors
    /// When there is not one number for each row.
    pub fn regions_leaving(&self, kind: RegionKind, outside: &[f64], first_row: u64) -> Result<Vec<JointRegion>> {
        if outside.len() != self.len() {
            return Err(Error::data(format!("expected {} probabilities, found {}", self.len(), outside.len())));
        }
        let of_row = |row: usize| self.region_of(row, kind, outside[row], first_row + row as u64);
        Ok((0..self.len()).into_par_iter().map(of_row).collect())
    }

    /// The model's own region of each row with this coverage.
    ///
    /// # Errors
    /// When `coverage` is not strictly between 0 and 1.
    pub fn regions(&self, kind: RegionKind, coverage: f64, first_row: u64) -> Result<Vec<JointRegion>> {
        if !(coverage > 0.0 && coverage < 1.0) {
            return Err(Error::options(format!("expected a coverage strictly between 0 and 1, found {coverage}")));
        }
        self.regions_leaving(kind, &vec![1.0 - coverage; self.len()], first_row)
    }

    /// The conformal region of each row with this coverage.
    ///
    /// # Errors
    /// As [`Calibration::outside`].
    pub fn conformal_regions(
        &self,
        kind: RegionKind,
        coverage: f64,
        (calibration, labels): (&Calibration, &Labels),
        first_row: u64,
    ) -> Result<Vec<JointRegion>> {
        let outside = calibration.outside(kind.sets(), coverage, self.len(), labels)?;
        self.regions_leaving(kind, &outside, first_row)
    }

    /// For each row the log density at `y`, or its Mahalanobis distance from the mean: what [`JointRegion::contains`] asks for.
    ///
    /// # Errors
    /// When there is not one vector for each row.
    pub fn region_statistic(&self, kind: RegionKind, y: &[f64]) -> Result<Vec<f64>> {
        let d = self.targets().len();
        if y.len() != self.len() * d {
            return Err(Error::data(format!(
                "expected {d} targets for each of {} rows, found {}",
                self.len(),
                y.len()
            )));
        }
        let of_row = |row: usize| {
            let here = Statistic::new(self.mixtures().row(row), kind).of(&y[row * d..][..d]);
            if kind == RegionKind::Ellipsoid { (-here).max(0.0).sqrt() } else { here }
        };
        Ok((0..self.len()).map(of_row).collect())
    }

    /// Adds these rows, which were not used for training, to a calibration set; `y` is rows × targets.
    ///
    /// # Errors
    /// When there is not one vector for each row, or a target is missing.
    pub fn add_to(&self, set: &mut CalibrationSet, y: &[f64], labels: Labels) -> Result<()> {
        if let Some(at) = y.iter().position(|y| y.is_nan()) {
            let row = (at / self.targets().len()) as u64;
            return Err(Error::data("conformal regions need all targets, and one is missing").at_row(row));
        }
        let first_row = set.rows() as u64;
        let ellipsoids = self.region_tails(RegionKind::Ellipsoid, y, first_row)?;
        let regions = self.region_tails(RegionKind::HighestDensity, y, first_row)?;
        set.add_scores(ellipsoids.into_iter().zip(regions), labels);
        Ok(())
    }

    fn region_of(&self, row: usize, kind: RegionKind, outside: f64, number: u64) -> JointRegion {
        let statistic = Statistic::new(self.mixtures().row(row), kind);
        // A region that leaves nothing outside has no border.
        if outside <= 0.0 {
            let border = if kind == RegionKind::Ellipsoid { f64::INFINITY } else { f64::NEG_INFINITY };
            return JointRegion { border, volume: f64::INFINITY };
        }
        let levels = Levels::new(statistic.of_draws(number));
        let border = levels.border(outside);
        match &statistic.moments {
            None => JointRegion { border, volume: levels.volume(border) },
            Some((_, covariance)) => {
                let radius = (-border).max(0.0).sqrt();
                JointRegion { border: radius, volume: ellipsoid_volume(covariance, self.targets().len(), radius) }
            }
        }
    }
}

/// π^(d/2) / Γ(d/2 + 1) · radius^d · √det S.
fn ellipsoid_volume(covariance: &[f64], targets: usize, radius: f64) -> f64 {
    let half = 0.5 * targets as f64;
    let ball = half * libm::log(std::f64::consts::PI) - libm::lgamma(half + 1.0);
    let log_det = negmm_dist::joint::log_det(covariance, targets);
    libm::exp(ball + targets as f64 * libm::log(radius) + 0.5 * log_det)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_and_borders_are_inverse_beyond_the_draws_too() {
        // Minus an exponential variable with mean 2: the squared distance of two normal variables.
        let quantile = |at: usize| 2.0 * libm::log((at as f64 + 0.5) / 300.0);
        let levels = Levels::new((0..300).map(quantile).collect());
        assert!((levels.scale / 2.0 - 1.0).abs() < 0.05, "{}", levels.scale);
        for outside in [0.9, 0.1, 0.01, 1.0 / 300.0, 1e-3, 1e-6, 1e-30] {
            let border = levels.border(outside);
            let below = levels.below(border);
            assert!(below >= outside * (1.0 - 1e-9) && below < outside + 1.0 / 300.0, "{outside}: {below}");
            assert!(levels.below(border - 0.05) < outside + 1e-12, "{outside}");
            assert!((border / (2.0 * libm::log(outside)) - 1.0).abs() < 0.2, "{outside}: {border}");
        }
        assert!(levels.below(-1e9) > 0.0 && levels.below(f64::NEG_INFINITY) > 0.0);
    }
}
