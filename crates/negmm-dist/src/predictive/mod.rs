//! Predictions: one predictive distribution for each row.

mod members;
mod scores;
mod summaries;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use crate::accelerator::{Accelerated, QuantileAccelerator};
use crate::distribution_ref::{DistributionKind, DistributionRef};
use crate::family::Family;
use crate::mixture::{Mixtures, rows_of};
use crate::quantiles::QuantileSets;
use crate::samples::SampleSets;
use crate::support::Support;
use crate::{Error, Novelty, Result};
pub use members::MemberMoments;
use rayon::prelude::*;
pub(crate) use scores::check_step;

/// A predicted distribution for each row, in the unit of the target.
///
/// Methods return one value for each row, in order; results do not depend on the number of threads.
///
/// ```
/// use negmm_dist::{Interval, Mixtures, Predictions};
///
/// let weights = vec![0.5, 0.5, 1.0, 0.0];
/// let predictions = Predictions::from(Mixtures::new(2, weights, vec![-3.0, 3.0, 7.0, 0.0], vec![1.0; 4])?);
/// assert_eq!(predictions.mean(), [0.0, 7.0]);
/// let Interval { lower, upper } = predictions.interval(0.9)?;
/// assert!(lower[0] < -3.0 && 3.0 < upper[0]);
/// # Ok::<(), negmm_dist::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Predictions {
    kind: PredictionsKind,
    /// Components or samples of each member; empty for a single model.
    members: Vec<usize>,
    novelty: Option<Novelty>,
    support: Support,
    accelerated: Accelerated,
}

/// What the distributions are.
#[derive(Clone, Debug, PartialEq)]
enum PredictionsKind {
    Mixtures(Mixtures),
    Quantiles(QuantileSets),
    Families(Vec<Family>),
    Samples {
        /// The samples of all members.
        pooled: SampleSets,
        /// The part of each row's variance that is between members; empty for one member.
        between_members: Vec<f64>,
    },
}

impl From<PredictionsKind> for Predictions {
    fn from(kind: PredictionsKind) -> Self {
        Self {
            kind,
            members: Vec::new(),
            novelty: None,
            support: Support::default(),
            accelerated: Accelerated::default(),
        }
    }
}

impl From<Mixtures> for Predictions {
    fn from(mixtures: Mixtures) -> Self {
        PredictionsKind::Mixtures(mixtures).into()
    }
}

impl From<SampleSets> for Predictions {
    fn from(pooled: SampleSets) -> Self {
        PredictionsKind::Samples { pooled, between_members: Vec::new() }.into()
    }
}

impl From<QuantileSets> for Predictions {
    fn from(quantiles: QuantileSets) -> Self {
        PredictionsKind::Quantiles(quantiles).into()
    }
}

/// Families of counts alone are on the grid of whole numbers.
impl From<Vec<Family>> for Predictions {
    fn from(families: Vec<Family>) -> Self {
        let counts = families.iter().all(|family| family.shape().is_discrete() && family.scale() == 1.0);
        let whole = Support { lower: Some(0.0), step: Some(1.0), ..Support::default() };
        let support = if counts && !families.is_empty() { whole } else { Support::default() };
        Self { support, ..PredictionsKind::Families(families).into() }
    }
}

impl Predictions {
    /// Rows.
    pub fn len(&self) -> usize {
        match &self.kind {
            PredictionsKind::Mixtures(mixtures) => mixtures.len(),
            PredictionsKind::Samples { pooled, .. } => pooled.len(),
            PredictionsKind::Quantiles(quantiles) => quantiles.len(),
            PredictionsKind::Families(families) => families.len(),
        }
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The mixture of each row, if the predictions are mixtures.
    pub fn mixtures(&self) -> Option<&Mixtures> {
        match &self.kind {
            PredictionsKind::Mixtures(mixtures) => Some(mixtures),
            _ => None,
        }
    }

    /// The mixture of each row without its support, if the predictions are mixtures.
    pub fn into_mixtures(self) -> Option<Mixtures> {
        match self.kind {
            PredictionsKind::Mixtures(mixtures) => Some(mixtures),
            _ => None,
        }
    }

    /// The samples of each row, if the predictions are samples.
    pub fn samples(&self) -> Option<&SampleSets> {
        match &self.kind {
            PredictionsKind::Samples { pooled, .. } => Some(pooled),
            _ => None,
        }
    }

    /// The quantiles of each row, if the predictions are quantiles or histograms.
    pub fn quantile_sets(&self) -> Option<&QuantileSets> {
        match &self.kind {
            PredictionsKind::Quantiles(quantiles) => Some(quantiles),
            _ => None,
        }
    }

    /// The family of each row, if the predictions are parametric families.
    pub fn families(&self) -> Option<&[Family]> {
        match &self.kind {
            PredictionsKind::Families(families) => Some(families),
            _ => None,
        }
    }

    /// The distribution of one row.
    ///
    /// # Panics
    /// When there is no row `row`.
    #[inline]
    pub fn row(&self, row: usize) -> DistributionRef<'_> {
        let kind = match &self.kind {
            PredictionsKind::Mixtures(mixtures) => DistributionKind::Mixture(mixtures.row(row)),
            PredictionsKind::Samples { pooled, .. } => DistributionKind::Samples(pooled.row(row)),
            PredictionsKind::Quantiles(quantiles) => DistributionKind::Quantiles(quantiles.row(row)),
            PredictionsKind::Families(families) => DistributionKind::Family(families[row]),
        };
        DistributionRef { kind, support: self.support }
    }

    /// The distributions, one after the other.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = DistributionRef<'_>> {
        (0..self.len()).map(|row| self.row(row))
    }

    /// The predictions of some rows, in this order.
    ///
    /// # Panics
    /// When there is no such row.
    #[must_use]
    pub fn select(&self, rows: &[usize]) -> Self {
        let kind = match &self.kind {
            PredictionsKind::Mixtures(mixtures) => {
                let pick = |values| rows_of(values, mixtures.components(), rows);
                let (weights, means, sds) = (pick(mixtures.weights()), pick(mixtures.means()), pick(mixtures.sds()));
                PredictionsKind::Mixtures(Mixtures::from_parts_unchecked(mixtures.components(), weights, means, sds))
            }
            PredictionsKind::Samples { pooled, between_members } => PredictionsKind::Samples {
                pooled: SampleSets::from_finite(
                    pooled.samples(),
                    rows_of(pooled.values(), pooled.samples(), rows),
                    pooled.sd_floor(),
                ),
                between_members: rows_of(between_members, usize::from(!between_members.is_empty()), rows),
            },
            PredictionsKind::Quantiles(quantiles) => PredictionsKind::Quantiles(quantiles.select(rows)),
            PredictionsKind::Families(families) => {
                PredictionsKind::Families(rows.iter().map(|row| families[*row]).collect())
            }
        };
        let novelty = self.novelty.as_ref().map(|novelty| novelty.select(rows.iter().copied()));
        Self {
            kind,
            members: self.members.clone(),
            novelty,
            support: self.support,
            accelerated: self.accelerated.clone(),
        }
    }

    /// The rows of several predictions of one kind and support, one after the other.
    ///
    /// # Errors
    /// When they are of several kinds, or have several numbers of components, samples or levels.
    pub fn concatenate<'p>(parts: impl IntoIterator<Item = &'p Self>) -> Result<Self> {
        let mut parts = parts.into_iter();
        let Some(first) = parts.next() else { return Err(Error::data("expected at least 1 prediction, found none")) };
        let mut whole = first.clone();
        for part in parts {
            let same = whole.support == part.support
                && match (&mut whole.kind, &part.kind) {
                    (PredictionsKind::Mixtures(mixtures), PredictionsKind::Mixtures(more)) => mixtures.append(more),
                    (PredictionsKind::Samples { pooled, .. }, PredictionsKind::Samples { pooled: more, .. }) => {
                        pooled.append(more)
                    }
                    (PredictionsKind::Quantiles(quantiles), PredictionsKind::Quantiles(more)) => quantiles.append(more),
                    (PredictionsKind::Families(families), PredictionsKind::Families(more)) => {
                        families.extend_from_slice(more);
                        true
                    }
                    _ => false,
                };
            if !same {
                return Err(Error::data("expected predictions of one kind, with the same number of parts in each row"));
            }
        }
        whole.novelty = None;
        Ok(whole)
    }

    /// Sets the novelty of each row: how far it lies outside the training ranges.
    #[must_use]
    pub fn with_novelty(mut self, novelty: Option<Novelty>) -> Self {
        self.novelty = novelty;
        self
    }

    /// Sets an accelerator that finds quantiles. It gives the same bits.
    #[must_use]
    pub fn accelerated(mut self, accelerator: Arc<dyn QuantileAccelerator>) -> Self {
        self.accelerated = Accelerated(Some(accelerator));
        self
    }

    /// Sets the support of the target, in the unit of the predictions. Mixtures are truncated or rounded to it; each sample and
    /// quantile moves to the nearest value of the support; families have their own support and stay as they are.
    ///
    /// # Errors
    /// When [`Support::check`] finds something wrong.
    pub fn with_support(self, support: Support) -> Result<Self> {
        support.check()?;
        Ok(self.with_sound_support(support))
    }

    /// As [`Predictions::with_support`], for a support that has been checked.
    #[must_use]
    pub fn with_sound_support(mut self, support: Support) -> Self {
        match &mut self.kind {
            PredictionsKind::Samples { pooled, .. } => pooled.restrict(&support),
            PredictionsKind::Quantiles(quantiles) => quantiles.restrict(&support),
            PredictionsKind::Mixtures(_) => {}
            PredictionsKind::Families(_) => return self,
        }
        self.support = support;
        self
    }

    /// Moves each atom of the mixtures to the nearest of these values, to undo the rounding errors of changes of units.
    #[must_use]
    pub fn with_atoms_at(mut self, values: &[f64]) -> Self {
        if let (PredictionsKind::Mixtures(mixtures), false) = (&mut self.kind, values.is_empty()) {
            mixtures.move_atoms(values);
        }
        self
    }

    /// The support of the target.
    pub fn support(&self) -> Support {
        self.support
    }

    /// The novelty of each row, if it is known.
    pub fn novelty(&self) -> Option<&Novelty> {
        self.novelty.as_ref()
    }

    /// Adds a variance to each of these rows: to every component of a mixture; samples are moved away from their mean in proportion to
    /// the normal quantiles of their ranks. Quantiles and families stay as they are: no method predicts them.
    #[must_use]
    pub fn widened(mut self, variances: impl Iterator<Item = (usize, f64)>) -> Self {
        match &mut self.kind {
            PredictionsKind::Mixtures(mixtures) => mixtures.widen(variances),
            PredictionsKind::Samples { pooled, .. } => pooled.widen(variances),
            PredictionsKind::Quantiles(_) | PredictionsKind::Families(_) => {}
        }
        self
    }

    /// In another unit: every value y, also of the support, becomes y · `scale` + `shift`.
    #[must_use]
    pub fn rescale(self, shift: f64, scale: f64) -> Self {
        let kind = match self.kind {
            PredictionsKind::Mixtures(mixtures) => PredictionsKind::Mixtures(mixtures.rescale(shift, scale)),
            PredictionsKind::Samples { pooled, mut between_members } => {
                between_members.iter_mut().for_each(|part| *part *= scale * scale);
                PredictionsKind::Samples { pooled: pooled.rescale(shift, scale), between_members }
            }
            PredictionsKind::Quantiles(quantiles) => PredictionsKind::Quantiles(quantiles.rescale(shift, scale)),
            PredictionsKind::Families(families) => {
                PredictionsKind::Families(families.into_iter().map(|family| family.rescale(shift, scale)).collect())
            }
        };
        Self { kind, support: self.support.rescale(shift, scale), ..self }
    }

    /// The Gaussian with the mean and sd of each row, without bounds.
    #[must_use]
    pub fn moment_matched(&self) -> Self {
        Mixtures::from_parts_unchecked(1, vec![1.0; self.len()], self.mean(), self.each(|row| row.normal_sd())).into()
    }

    /// One result for each row, in order, computed on all cores.
    pub fn each<T: Send>(&self, answer: impl Fn(DistributionRef<'_>) -> T + Sync) -> Vec<T> {
        (0..self.len()).into_par_iter().with_min_len(MIN_ROWS).map(|row| answer(self.row(row))).collect()
    }

    /// One result for each row and its value `y`.
    ///
    /// # Errors
    /// When `y` does not have one number for each row.
    pub fn each_with<T: Send>(
        &self,
        y: &[f64],
        answer: impl Fn(DistributionRef<'_>, f64) -> T + Sync,
    ) -> Result<Vec<T>> {
        if y.len() != self.len() {
            return Err(Error::data(format!(
                "expected {} values of y, one for each row, found {}",
                self.len(),
                y.len()
            )));
        }
        if let Some(row) = y.iter().position(|y| y.is_nan()) {
            return Err(Error::data("expected a number as y, found NaN").at_row(row as u64));
        }
        let rows = y.par_iter().with_min_len(MIN_ROWS).enumerate();
        Ok(rows.map(|(row, &y)| answer(self.row(row), y)).collect())
    }
}

/// The smallest number of rows per thread.
const MIN_ROWS: usize = 256;
