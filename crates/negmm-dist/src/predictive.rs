//! Predictions: one predictive distribution for each row, and everything that can be computed of them.

mod members;

use std::sync::Arc;

use crate::accelerator::{Accelerated, QuantileAccelerator};
use crate::distribution::Distribution;
use crate::distribution_ref::{DistributionKind, DistributionRef};
use crate::highest_density::HighestDensityRegion;
use crate::math::rng::Rng;
use crate::mixture::{Mixtures, QuantileLevel, TailQuantile, rows_of};
use crate::samples::SampleSets;
use crate::support::Support;
use crate::{CensoredTargets, Novelty};
use crate::{Error, Result, streams};
use rayon::prelude::*;

/// A predicted distribution for each row, in the target's own unit.
///
/// Every answer has one value for each row, in order, and does not depend on the number of threads.
///
/// ```
/// use negmm_dist::{Mixtures, Predictions};
///
/// let weights = vec![0.5, 0.5, 1.0, 0.0];
/// let predictions = Predictions::from(Mixtures::new(2, weights, vec![-3.0, 3.0, 7.0, 0.0], vec![1.0; 4])?);
/// assert_eq!(predictions.mean(), [0.0, 7.0]);
/// let (lower, upper) = predictions.interval(0.9)?;
/// assert!(lower[0] < -3.0 && 3.0 < upper[0]);
/// # Ok::<(), negmm_dist::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Predictions {
    form: Form,
    /// Components or samples of each model that was pooled; empty: of one model.
    members: Vec<usize>,
    novelty: Option<Novelty>,
    support: Support,
    accelerated: Accelerated,
}

/// What the distributions are.
#[derive(Clone, Debug, PartialEq)]
enum Form {
    Mixtures(Mixtures),
    Samples {
        /// Those of all members.
        pooled: SampleSets,
        /// The part of each row's variance that is between members; empty for one member.
        between_members: Vec<f64>,
    },
}

impl From<Mixtures> for Predictions {
    fn from(mixtures: Mixtures) -> Self {
        Self {
            form: Form::Mixtures(mixtures),
            members: Vec::new(),
            novelty: None,
            support: Support::default(),
            accelerated: Accelerated::default(),
        }
    }
}

impl From<SampleSets> for Predictions {
    fn from(pooled: SampleSets) -> Self {
        let form = Form::Samples { pooled, between_members: Vec::new() };
        Self {
            form,
            members: Vec::new(),
            novelty: None,
            support: Support::default(),
            accelerated: Accelerated::default(),
        }
    }
}

impl Predictions {
    /// Rows.
    pub fn len(&self) -> usize {
        match &self.form {
            Form::Mixtures(mixtures) => mixtures.len(),
            Form::Samples { pooled, .. } => pooled.len(),
        }
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The mixture of each row, where the predictions are mixtures.
    pub fn mixtures(&self) -> Option<&Mixtures> {
        match &self.form {
            Form::Mixtures(mixtures) => Some(mixtures),
            Form::Samples { .. } => None,
        }
    }

    /// The samples of each row, where the predictions are samples.
    pub fn samples(&self) -> Option<&SampleSets> {
        match &self.form {
            Form::Mixtures(_) => None,
            Form::Samples { pooled, .. } => Some(pooled),
        }
    }

    /// The distribution of one row.
    ///
    /// # Panics
    /// When there is no row `row`.
    #[inline]
    pub fn row(&self, row: usize) -> DistributionRef<'_> {
        let kind = match &self.form {
            Form::Mixtures(mixtures) => DistributionKind::Mixture(mixtures.row(row)),
            Form::Samples { pooled, .. } => DistributionKind::Samples(pooled.row(row)),
        };
        DistributionRef { kind, support: self.support }
    }

    /// The distributions, one after the other.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = DistributionRef<'_>> {
        (0..self.len()).map(|row| self.row(row))
    }

    /// Those of some rows, in this order.
    ///
    /// # Panics
    /// When there is no such row.
    #[must_use]
    pub fn select(&self, rows: &[usize]) -> Self {
        let form = match &self.form {
            Form::Mixtures(mixtures) => {
                let pick = |values| rows_of(values, mixtures.components(), rows);
                let (weights, means, sds) = (pick(mixtures.weights()), pick(mixtures.means()), pick(mixtures.sds()));
                Form::Mixtures(Mixtures::from_parts_unchecked(mixtures.components(), weights, means, sds))
            }
            Form::Samples { pooled, between_members } => Form::Samples {
                pooled: SampleSets::from_finite(
                    pooled.samples(),
                    rows_of(pooled.values(), pooled.samples(), rows),
                    pooled.sd_floor(),
                ),
                between_members: rows_of(between_members, usize::from(!between_members.is_empty()), rows),
            },
        };
        let novelty = self.novelty.as_ref().map(|novelty| novelty.select(rows.iter().copied()));
        Self {
            form,
            members: self.members.clone(),
            novelty,
            support: self.support,
            accelerated: self.accelerated.clone(),
        }
    }

    /// Says how far each row lies outside the ranges of training.
    #[must_use]
    pub fn with_novelty(mut self, novelty: Option<Novelty>) -> Self {
        self.novelty = novelty;
        self
    }

    /// With an accelerator that finds quantiles. The bits stay as they are.
    #[must_use]
    pub fn accelerated(mut self, accelerator: Arc<dyn QuantileAccelerator>) -> Self {
        self.accelerated = Accelerated(Some(accelerator));
        self
    }

    /// Says which values the target can take, in the unit of the predictions. Mixtures stay as they are, and answers are of what
    /// the support makes of them; each sample moves to the possible value that is nearest.
    ///
    /// # Errors
    /// When [`Support::check`] finds something wrong.
    pub fn with_support(self, support: Support) -> Result<Self> {
        support.check()?;
        Ok(self.with_sound_support(support))
    }

    /// As [`Predictions::with_support`], for a support that was checked.
    #[must_use]
    pub fn with_sound_support(mut self, support: Support) -> Self {
        if let Form::Samples { pooled, .. } = &mut self.form {
            pooled.restrict(&support);
        }
        self.support = support;
        self
    }

    /// With each atom of the mixtures moved to the nearest of these values, so that units do not move it by a rounding.
    #[must_use]
    pub fn with_atoms_at(mut self, values: &[f64]) -> Self {
        if let (Form::Mixtures(mixtures), false) = (&mut self.form, values.is_empty()) {
            mixtures.move_atoms(values);
        }
        self
    }

    /// The values that the target can take.
    pub fn support(&self) -> Support {
        self.support
    }

    /// How far each row lies outside the ranges of training; none where that is not known.
    pub fn novelty(&self) -> Option<&Novelty> {
        self.novelty.as_ref()
    }

    /// Each of these rows with so much more variance: of mixtures every component, and of samples each moves by as many sds
    /// from the mean as its rank tells.
    #[must_use]
    pub fn widened(mut self, variances: impl Iterator<Item = (usize, f64)>) -> Self {
        match &mut self.form {
            Form::Mixtures(mixtures) => mixtures.widen(variances),
            Form::Samples { pooled, .. } => pooled.widen(variances),
        }
        self
    }

    /// In another unit: every value y becomes y · `scale` + `shift`, and so do the values that are possible.
    #[must_use]
    pub fn rescale(self, shift: f64, scale: f64) -> Self {
        let form = match self.form {
            Form::Mixtures(mixtures) => Form::Mixtures(mixtures.rescale(shift, scale)),
            Form::Samples { pooled, mut between_members } => {
                between_members.iter_mut().for_each(|part| *part *= scale * scale);
                Form::Samples { pooled: pooled.rescale(shift, scale), between_members }
            }
        };
        Self { form, support: self.support.rescale(shift, scale), ..self }
    }

    /// The Gaussian with the mean and sd of each row, on the whole line.
    #[must_use]
    pub fn moment_matched(&self) -> Self {
        Mixtures::from_parts_unchecked(1, vec![1.0; self.len()], self.mean(), self.each(|row| row.normal_sd())).into()
    }

    /// Mean.
    pub fn mean(&self) -> Vec<f64> {
        self.each(|row| row.mean())
    }

    /// Standard deviation.
    pub fn sd(&self) -> Vec<f64> {
        self.each(|row| row.sd())
    }

    /// Variance.
    pub fn variance(&self) -> Vec<f64> {
        self.each(|row| row.variance())
    }

    /// The two parts of the variance: within the components (local noise) and between them (their disagreement). All of the
    /// variance of samples is within.
    pub fn variance_parts(&self) -> (Vec<f64>, Vec<f64>) {
        (self.each(|row| row.variance_within()), self.each(|row| row.variance_between()))
    }

    /// The value that the target stays below with probability `level`.
    ///
    /// # Errors
    /// When `level` is not strictly between 0 and 1.
    pub fn quantile(&self, level: f64) -> Result<Vec<f64>> {
        check_share("level", level)?;
        Ok(self.quantiles(&[QuantileLevel::Below(level)]).remove(0))
    }

    /// Lower and upper ends of the central interval that holds the target with probability `coverage`.
    ///
    /// # Errors
    /// When `coverage` is not strictly between 0 and 1.
    pub fn interval(&self, coverage: f64) -> Result<(Vec<f64>, Vec<f64>)> {
        check_share("coverage", coverage)?;
        let [lower, upper] = QuantileLevel::around(coverage).map(|level| self.quantiles(&[level]).remove(0));
        Ok((lower, upper))
    }

    /// The quantiles of all rows at each of these levels, which lie strictly between 0 and 1.
    pub fn quantiles(&self, levels: &[QuantileLevel]) -> Vec<Vec<f64>> {
        if let Some(quantiles) = self.accelerated_quantiles(levels) {
            return quantiles;
        }
        let of_level = |level: &QuantileLevel| match *level {
            QuantileLevel::Below(level) => self.each(|row| row.quantile(level)),
            QuantileLevel::Above(level) => self.each(|row| row.quantile_above(level)),
        };
        levels.iter().map(of_level).collect()
    }

    /// The same by an accelerator; with mixtures on the whole line that have no atoms.
    fn accelerated_quantiles(&self, levels: &[QuantileLevel]) -> Option<Vec<Vec<f64>>> {
        let (accelerator, mixtures) = (self.accelerated.0.as_deref()?, self.mixtures()?);
        let smooth = self.support.is_whole_line() && !mixtures.sds().contains(&0.0);
        if levels.is_empty() || self.is_empty() || !smooth {
            return None;
        }
        let asked: Vec<TailQuantile> = levels.iter().map(|level| level.nearer_end()).collect();
        let quantiles = accelerator.quantiles(mixtures, &asked)?;
        (quantiles.len() == levels.len() * self.len())
            .then(|| quantiles.chunks_exact(self.len()).map(<[f64]>::to_vec).collect())
    }

    /// The smallest set of values that holds the target with probability `coverage`: where the density is highest, one interval or
    /// several. For samples the mixture that a normal kernel makes of them stands in.
    ///
    /// # Errors
    /// When `coverage` is not strictly between 0 and 1.
    pub fn hdr(&self, coverage: f64) -> Result<Vec<HighestDensityRegion>> {
        check_share("coverage", coverage)?;
        Ok(self.each(|row| row.hdr(coverage)))
    }

    /// Density at a value for each row; for samples that of the normal distribution with their mean and sd.
    ///
    /// # Errors
    /// When `y` does not have one number for each row.
    pub fn pdf(&self, y: &[f64]) -> Result<Vec<f64>> {
        self.each_with(y, |row, y| row.pdf(y))
    }

    /// Probability of a target up to a value for each row.
    ///
    /// # Errors
    /// When `y` does not have one number for each row.
    pub fn cdf(&self, y: &[f64]) -> Result<Vec<f64>> {
        self.each_with(y, |row, y| row.cdf(y))
    }

    /// Probability of a target above `threshold`.
    ///
    /// # Errors
    /// When `threshold` is not a number.
    pub fn above(&self, threshold: f64) -> Result<Vec<f64>> {
        check_threshold(threshold)?;
        Ok(self.each(|row| row.survival(threshold)))
    }

    /// Probability of a target strictly below `threshold`: with [`Predictions::point_probability`] and [`Predictions::above`] of the
    /// same number it sums to 1.
    ///
    /// # Errors
    /// When `threshold` is not a number.
    pub fn below(&self, threshold: f64) -> Result<Vec<f64>> {
        check_threshold(threshold)?;
        Ok(self.each(|row| row.below(threshold)))
    }

    /// Expected shortfall: the mean of the lowest `level` share of targets.
    ///
    /// # Errors
    /// When `level` is not strictly between 0 and 1.
    pub fn shortfall(&self, level: f64) -> Result<Vec<f64>> {
        check_share("level", level)?;
        Ok(self.each(|row| row.shortfall_below(level)))
    }

    /// The mean of the highest `level` share of targets.
    ///
    /// # Errors
    /// When `level` is not strictly between 0 and 1.
    pub fn shortfall_above(&self, level: f64) -> Result<Vec<f64>> {
        check_share("level", level)?;
        Ok(self.each(|row| row.shortfall_above(level)))
    }

    /// Probability of exactly `value`: positive on a grid, at an atom and where a sample is.
    ///
    /// # Errors
    /// When `value` is not a number.
    pub fn point_probability(&self, value: f64) -> Result<Vec<f64>> {
        check_threshold(value)?;
        Ok(self.each(|row| row.point_probability(value)))
    }

    /// Random targets: rows × `draws`, row after row.
    ///
    /// Each row has its own random stream, numbered from `first_row` on: rows predicted in chunks get the same draws as all
    /// at once, when `first_row` is the number of rows before the chunk.
    pub fn sample(&self, draws: usize, seed: u64, first_row: u64) -> Vec<f64> {
        let mut samples = vec![0.0; self.len() * draws];
        if draws > 0 {
            samples.par_chunks_exact_mut(draws).enumerate().for_each(|(row, samples)| {
                let mut rng = Rng::new(seed, streams::DRAWS.wrapping_add(first_row).wrapping_add(row as u64));
                self.row(row).fill(samples, &mut rng);
            });
        }
        samples
    }

    /// Logarithm of the likelihood of the target of each row: of its probability on a grid and at an atom, elsewhere of its
    /// density.
    ///
    /// # Errors
    /// When `y` does not have one number for each row.
    pub fn log_likelihood(&self, y: &[f64]) -> Result<Vec<f64>> {
        self.each_with(y, |row, y| row.log_likelihood(y))
    }

    /// Logarithmic score (negative log likelihood) of the target of each row: by its probability at an atom, elsewhere by
    /// [`Predictions::pdf`]'s density, also on a grid, whose own score is [`Predictions::mass_nll`].
    ///
    /// # Errors
    /// When `y` does not have one number for each row.
    pub fn nll(&self, y: &[f64]) -> Result<Vec<f64>> {
        self.each_with(y, |row, y| row.nll(y))
    }

    /// Logarithmic score of what is known of the target of each row: [`Predictions::nll`] of a value, and minus the logarithm of the
    /// probability of an interval.
    ///
    /// # Errors
    /// When there is not one sound interval for each row.
    pub fn censored_nll(&self, known: &CensoredTargets) -> Result<Vec<f64>> {
        known.check(self.len(), None)?;
        let rows = (0..self.len()).into_par_iter().with_min_len(LEAST_ROWS);
        Ok(rows.map(|row| self.row(row).censored_nll(known.lower[row], known.upper[row])).collect())
    }

    /// Logarithmic score of a discrete target with values `step` apart: minus the logarithm of the predicted probability
    /// within `step` / 2 of the target of each row, or, where the support is a grid, of the value nearest to it. Unlike [`Predictions::nll`] it is never negative, and spikes on the values
    /// do not make it small without end.
    ///
    /// # Errors
    /// When `step` is not finite and positive, or `y` does not have one number for each row.
    pub fn mass_nll(&self, y: &[f64], step: f64) -> Result<Vec<f64>> {
        check_step(step)?;
        self.each_with(y, |row, y| 0.0 - row.log_mass(y, step))
    }

    /// Continuous ranked probability score, which is the energy score in one dimension, of the target of each row.
    ///
    /// # Errors
    /// When `y` does not have one number for each row.
    pub fn crps(&self, y: &[f64]) -> Result<Vec<f64>> {
        self.each_with(y, |row, y| row.crps(y))
    }

    /// Probability integral transform: the predicted probability of a target up to the one observed. Uniform over the rows
    /// when the predictions are calibrated. Of a target that itself has a probability half of that counts.
    ///
    /// # Errors
    /// When `y` does not have one number for each row.
    pub fn pit(&self, y: &[f64]) -> Result<Vec<f64>> {
        self.each_with(y, |row, y| row.pit(y))
    }

    /// One answer for each row, over all cores, in order.
    pub fn each<T: Send>(&self, answer: impl Fn(DistributionRef<'_>) -> T + Sync) -> Vec<T> {
        (0..self.len()).into_par_iter().with_min_len(LEAST_ROWS).map(|row| answer(self.row(row))).collect()
    }

    /// One answer for each row and its value.
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
        let rows = y.par_iter().with_min_len(LEAST_ROWS).enumerate();
        Ok(rows.map(|(row, &y)| answer(self.row(row), y)).collect())
    }
}

/// Fewer rows than this are not worth another thread.
const LEAST_ROWS: usize = 256;

fn check_share(name: &str, share: f64) -> Result<()> {
    if share > 0.0 && share < 1.0 {
        Ok(())
    } else {
        Err(Error::options(format!("expected a {name} strictly between 0 and 1, found {share}")))
    }
}

/// Whether values of a discrete target can be so far apart.
pub(crate) fn check_step(step: f64) -> Result<()> {
    if step > 0.0 && step.is_finite() {
        Ok(())
    } else {
        Err(Error::options(format!("expected a step that is finite and positive, found {step}")))
    }
}

fn check_threshold(threshold: f64) -> Result<()> {
    if threshold.is_nan() { Err(Error::options("expected a number as threshold, found NaN")) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;

    fn predictions(rows: usize) -> Predictions {
        let means = (0..2 * rows).map(|value| (value % 7) as f64).collect();
        Mixtures::new(2, vec![0.5; 2 * rows], means, vec![1.5; 2 * rows]).unwrap().into()
    }

    #[test]
    fn some_rows_answer_as_among_all() {
        let samples =
            Predictions::of_sample_members(2, 3, (0..24).map(|value| f64::from(value * value % 11)).collect(), 0.1);
        for all in [predictions(4).of_members(2), samples] {
            let some = all.select(&[3, 1, 1]);
            let pick = |values: Vec<f64>| vec![values[3], values[1], values[1]];
            assert_eq!((some.len(), some.members()), (3, 2));
            assert_eq!(some.quantile(0.3).unwrap(), pick(all.quantile(0.3).unwrap()));
            let (within, between) = all.variance_by_members();
            assert_eq!(some.variance_by_members(), (pick(within), pick(between)));
        }
    }

    #[test]
    fn the_parts_of_members_add_up_to_the_variance() {
        let weights = vec![0.1, 0.4, 0.3, 0.2];
        let mixtures = Mixtures::new(4, weights, vec![0.0, 1.0, 5.0, -2.0], vec![1.0, 0.5, 0.2, 2.0]).unwrap();
        let predictions = Predictions::from(mixtures).of_members(2);
        let (aleatoric, epistemic) = predictions.variance_by_members();
        assert!((aleatoric[0] + epistemic[0] - predictions.variance()[0]).abs() < 1e-12);
        // Member means 0.8 and 2.2, each with half of the weight.
        assert!((epistemic[0] - 0.49).abs() < 1e-12, "{epistemic:?}");
        assert_eq!(predictions.clone().of_members(1).variance_by_members().1, [0.0]);
        let matched = predictions.moment_matched();
        assert_eq!((matched.mean(), matched.sd()), (predictions.mean(), predictions.sd()));
    }

    #[test]
    fn rows_are_selected_with_their_members() {
        let mixtures = predictions(5);
        let some = mixtures.select(&[4, 0, 4]);
        assert_eq!(some.mean(), [4, 0, 4].map(|row| mixtures.mean()[row]));
        let values: Vec<f64> = (0..24).map(|value| f64::from(value * value % 11)).collect();
        let samples = Predictions::of_sample_members(2, 4, values, 1e-3);
        let some = samples.select(&[2, 0]);
        let (all, part) = (samples.variance_by_members(), some.variance_by_members());
        assert_eq!(part, (vec![all.0[2], all.0[0]], vec![all.1[2], all.1[0]]));
        let plain = Predictions::from(samples.samples().unwrap().clone());
        assert_ne!(plain, samples);
        assert_eq!(plain.clone().with_between_members(2, all.1).unwrap(), samples);
        assert!(plain.clone().with_between_members(3, vec![0.0; 3]).is_err());
        assert!(plain.with_between_members(2, vec![f64::NAN; 3]).is_err());
        assert!(mixtures.with_between_members(2, vec![0.0; 5]).is_err());
        let alone = predictions(0).select(&[]);
        assert!(alone.is_empty());
    }

    #[test]
    fn below_equal_and_above_sum_to_1() {
        let atom_at_0 = || Predictions::from(Mixtures::new(2, vec![0.3, 0.7], vec![0.0, 2.0], vec![0.0, 1.0]).unwrap());
        let from_0 = Support { lower: Some(0.0), ..Support::default() };
        let counts = Support { step: Some(1.0), ..from_0 };
        let tenths = Support { step: Some(0.1), ..Support::default() };
        let samples = || Predictions::from(SampleSets::new(4, vec![0.0, 1.0, 1.0, 3.0], 0.1).unwrap());
        let all = [
            atom_at_0(),
            atom_at_0().with_support(from_0).unwrap(),
            atom_at_0().with_support(counts).unwrap(),
            atom_at_0().with_support(tenths).unwrap(),
            samples(),
            samples().with_support(counts).unwrap(),
        ];
        for (at, predictions) in all.iter().enumerate() {
            for value in [-1.0, 0.0, 0.1 + 0.2, 0.5, 1.0, 3.0, 7.0] {
                let [below, equal, above] =
                    [predictions.below(value), predictions.point_probability(value), predictions.above(value)]
                        .map(|p| p.unwrap()[0]);
                assert!((below + equal + above - 1.0).abs() < 1e-14, "{at} {value}: {below} {equal} {above}");
            }
        }
        // Nothing lies below the lowest value, without the rounding of a difference.
        assert_eq!([all[1].below(0.0).unwrap(), all[2].below(0.0).unwrap()], [[0.0], [0.0]]);
        assert_eq!(samples().below(1.0).unwrap(), [0.25]);
    }

    #[test]
    fn mass_is_the_probability_within_half_a_step() {
        let mixtures = predictions(3);
        let y = [0.0, 2.5, 1e4];
        let nll = mixtures.mass_nll(&y, 0.5).unwrap();
        for row in 0..2 {
            let probability = mixtures.row(row).cdf(y[row] + 0.25) - mixtures.row(row).cdf(y[row] - 0.25);
            assert!((nll[row] + probability.ln()).abs() < 1e-12, "{nll:?}");
        }
        assert!(nll[2].is_finite() && nll[2] > 1e6, "{nll:?}");
        let samples: Predictions = SampleSets::new(2, vec![1.0, 3.0], 1e-3).unwrap().into();
        let y = [2.5];
        assert_eq!(samples.mass_nll(&y, 0.5).unwrap(), samples.moment_matched().mass_nll(&y, 0.5).unwrap());
        for step in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(samples.mass_nll(&y, step).unwrap_err().kind(), ErrorKind::Options);
        }
        assert!(samples.mass_nll(&[], 1.0).is_err());
    }

    #[test]
    fn shares_lie_strictly_between_0_and_1() {
        let predictions = predictions(3);
        for share in [0.0, 1.0, -0.5, 1.5, f64::NAN] {
            assert_eq!(predictions.quantile(share).unwrap_err().kind(), ErrorKind::Options);
            assert_eq!(predictions.interval(share).unwrap_err().kind(), ErrorKind::Options);
            assert_eq!(predictions.shortfall(share).unwrap_err().kind(), ErrorKind::Options);
            assert_eq!(predictions.shortfall_above(share).unwrap_err().kind(), ErrorKind::Options);
        }
        assert_eq!(predictions.above(f64::NAN).unwrap_err().kind(), ErrorKind::Options);
        assert_eq!(predictions.below(f64::NAN).unwrap_err().kind(), ErrorKind::Options);
    }

    #[test]
    fn y_has_one_number_for_each_row() {
        let predictions = predictions(3);
        type Question = fn(&Predictions, &[f64]) -> Result<Vec<f64>>;
        let questions: [Question; 5] =
            [Predictions::pdf, Predictions::cdf, Predictions::nll, Predictions::crps, Predictions::pit];
        for question in questions {
            assert_eq!(question(&predictions, &[1.0; 2]).unwrap_err().kind(), ErrorKind::Data);
            let error = question(&predictions, &[0.0, f64::NAN, 0.0]).unwrap_err();
            assert!(error.to_string().starts_with("row 2:"), "{error}");
            assert_eq!(question(&predictions, &[1.0; 3]).unwrap().len(), 3);
        }
    }

    #[test]
    fn answers_are_those_of_the_rows_in_order() {
        let predictions = predictions(1000);
        let quantiles = predictions.quantile(0.2).unwrap();
        let y: Vec<f64> = (0..1000).map(|row| (row % 5) as f64).collect();
        let (nll, crps, above) =
            (predictions.nll(&y).unwrap(), predictions.crps(&y).unwrap(), predictions.above(1.0).unwrap());
        for (row, mixture) in predictions.mixtures().unwrap().rows().enumerate() {
            assert_eq!(quantiles[row], mixture.quantile(0.2));
            assert_eq!(nll[row], -mixture.log_pdf(y[row]));
            assert_eq!(crps[row], mixture.crps(y[row]));
            assert_eq!(above[row], mixture.survival(1.0));
        }
    }

    #[test]
    fn draws_do_not_depend_on_chunks() {
        let whole = predictions(14).sample(3, 42, 0);
        // Seven rows on, the means repeat.
        let second = predictions(7).sample(3, 42, 7);
        assert_eq!(whole[21..], second);
        assert_ne!(whole[..21], whole[21..]);
        assert!(predictions(2).sample(0, 42, 0).is_empty());
    }
}
