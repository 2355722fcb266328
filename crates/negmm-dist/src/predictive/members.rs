//! Pooled predictions: the components or samples of each member, and the variance between members.

use crate::accelerator::Accelerated;
use rayon::prelude::*;

use super::{MIN_ROWS, Predictions, PredictionsKind};
use crate::distribution::Distribution;
use crate::distribution_ref::{DistributionKind, DistributionRef};
use crate::mixture::{Mixture, Mixtures};
use crate::samples::SampleSets;
use crate::support::Support;
use crate::{Error, Result};

impl Predictions {
    /// The number of members.
    pub fn members(&self) -> usize {
        self.members.len().max(1)
    }

    /// Declares that the components are those of `members` members, one after the other, the same number of each.
    ///
    /// # Panics
    /// When these are no mixtures, or the number of components is no multiple of `members`.
    #[must_use]
    pub fn of_members(mut self, members: usize) -> Self {
        let components = self.mixtures().map_or(1, Mixtures::components);
        assert!(members > 0 && components.is_multiple_of(members), "as many components for each member");
        self.members = vec![components / members; members];
        self
    }

    /// Declares the number of components of each member, one after the other.
    ///
    /// # Panics
    /// When these are no mixtures, or have another number of components.
    #[must_use]
    pub fn of_members_of(mut self, sizes: Vec<usize>) -> Self {
        assert_eq!(
            self.mixtures().map(Mixtures::components),
            Some(sizes.iter().sum()),
            "every component belongs to a member"
        );
        self.members = sizes;
        self
    }

    /// The number of components of each member.
    pub fn member_sizes(&self) -> &[usize] {
        &self.members
    }

    /// The pooled samples of several members with `samples` each: rows × members × samples, finite.
    pub fn of_sample_members(members: usize, samples: usize, values: Vec<f64>, sd_floor: f64) -> Self {
        if members == 1 {
            return SampleSets::from_finite(samples, values, sd_floor).into();
        }
        let each = SampleSets::from_finite(samples, values.clone(), sd_floor);
        let means: Vec<f64> = each.rows().map(|member| member.mean()).collect();
        let pooled = SampleSets::from_finite(members * samples, values, sd_floor);
        let between = |(row, means): (usize, &[f64])| {
            let mean = pooled.row(row).mean();
            let squares: f64 = means.iter().map(|member| (member - mean) * (member - mean)).sum();
            squares * samples as f64 / (members * samples - 1) as f64
        };
        let between_members = means.chunks_exact(members).enumerate().map(between).collect();
        let kind = PredictionsKind::Samples { pooled, between_members };
        Self {
            kind,
            members: vec![samples; members],
            novelty: None,
            support: Support::default(),
            accelerated: Accelerated::default(),
        }
    }

    /// Declares that the samples are those of `members` members, the same number of each, and sets the variance between members of
    /// each row, as returned by [`Predictions::variance_by_members`].
    ///
    /// # Errors
    /// When these are no samples, their number is no multiple of `members`, or there is not one finite number, at least 0, for each row.
    pub fn with_between_members(mut self, members: usize, between: Vec<f64>) -> Result<Self> {
        let rows = self.len();
        let PredictionsKind::Samples { pooled, between_members } = &mut self.kind else {
            return Err(Error::data("expected samples, found other distributions"));
        };
        let sound = between.len() == rows && between.iter().all(|part| part.is_finite() && *part >= 0.0);
        if members < 2 || !pooled.samples().is_multiple_of(members) || !sound {
            return Err(Error::data(format!("expected {rows} parts of a variance between at least 2 members")));
        }
        let each = pooled.samples() / members;
        *between_members = between;
        self.members = vec![each; members];
        Ok(self)
    }

    /// The variance in two parts: the mean of the members' variances (aleatoric: noise that every member expects) and
    /// the variance of their means (epistemic: their disagreement; 0 for one member).
    ///
    /// For T members with M samples each, v_t and m_t their unbiased variances and means, m the mean of all samples:
    ///
    /// ```text
    /// aleatoric = sum_t (M - 1) v_t / (T M - 1)        epistemic = sum_t M (m_t - m)² / (T M - 1)
    /// ```
    ///
    /// which add up to the unbiased variance of all samples.
    pub fn variance_by_members(&self) -> (Vec<f64>, Vec<f64>) {
        let mixtures = match &self.kind {
            PredictionsKind::Mixtures(mixtures) => mixtures,
            PredictionsKind::Samples { between_members, .. } if !between_members.is_empty() => {
                let variance = self.variance();
                let within = variance.iter().zip(between_members).map(|(all, between)| (all - between).max(0.0));
                return (within.collect(), between_members.clone());
            }
            _ => {
                let variance = self.variance();
                let nothing = vec![0.0; variance.len()];
                return (variance, nothing);
            }
        };
        let split = |row: usize| {
            let mean = self.row(row).mean();
            let (mut aleatoric, mut epistemic) = (0.0, 0.0);
            for MemberMoments { weight, mean: own, variance } in self.members_of(mixtures, row) {
                aleatoric += weight * variance;
                epistemic += weight * (own - mean) * (own - mean);
            }
            (aleatoric, epistemic)
        };
        (0..self.len()).into_par_iter().with_min_len(MIN_ROWS).map(split).unzip()
    }

    /// Weight, mean and variance of each member for each row, in the order of the members; `None` where predictions are no
    /// mixtures. The weights of a row sum to 1; a member without weight in a row has the row's moments.
    pub fn member_moments(&self) -> Option<Vec<Vec<MemberMoments>>> {
        let mixtures = self.mixtures()?;
        let of = |row: usize| self.members_of(mixtures, row);
        Some((0..self.len()).into_par_iter().with_min_len(MIN_ROWS).map(of).collect())
    }

    /// The members of one row of mixtures.
    fn members_of(&self, mixtures: &Mixtures, row: usize) -> Vec<MemberMoments> {
        let alone = [mixtures.components()];
        let sizes = if self.members.is_empty() { &alone[..] } else { &self.members };
        let (whole, row) = (self.row(row), mixtures.row(row));
        let mut first = 0;
        let member = |size: &usize| {
            let part = first..first + size;
            first += size;
            let total: f64 = row.weights[part.clone()].iter().sum();
            if total == 0.0 {
                return MemberMoments { weight: 0.0, mean: whole.mean(), variance: whole.variance() };
            }
            let weights: Vec<f64> = row.weights[part.clone()].iter().map(|weight| weight / total).collect();
            let member = Mixture { weights: &weights, means: &row.means[part.clone()], sds: &row.sds[part] };
            let member = DistributionRef { kind: DistributionKind::Mixture(member), support: self.support };
            // A member is weighted by its probability on the support.
            let inside = member.log_inside() - whole.log_inside();
            let weight = if inside.is_nan() { total } else { total * libm::exp(inside) };
            MemberMoments { weight, mean: member.mean(), variance: member.variance() }
        };
        sizes.iter().map(member).collect()
    }
}

/// Weight, mean and variance of a member of a pool, for one row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MemberMoments {
    /// The weight of the member; those of all members sum to 1.
    pub weight: f64,
    /// Its mean.
    pub mean: f64,
    /// Its variance.
    pub variance: f64,
}
