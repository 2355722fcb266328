//! Cross-fitting of checkpoints: each half of the validation rows selects the checkpoint that predicts the other half, so that a row
//! takes part neither in training nor in selecting the parameters that predict it.

use super::early_stopping::EarlyStopping;
use super::plan::Trainer;
use super::{NetworkJob, Selection, Validation};
use crate::net::Parameters;
use negmm_dist::math::lanes::Chunk;

/// The halves of the validation rows, each with its best checkpoint so far.
pub(super) struct CrossFitting<'a> {
    select: Selection,
    halves: [Half<'a>; 2],
}

struct Half<'a> {
    rows: &'a [u32],
    /// Its fraction of the total weight of the validation rows.
    weight: f64,
    stopping: EarlyStopping,
    kept: Vec<Chunk>,
}

impl<'a> CrossFitting<'a> {
    /// The cross-fitting of the job's plan, if there is any; `start` are the parameters before the first step.
    pub(super) fn new(job: &'a NetworkJob, start: &[Chunk]) -> Option<Self> {
        let (first, second) = job.validation.split_at_checked(job.plan.cross_fitting_split)?;
        if first.is_empty() || second.is_empty() {
            return None;
        }
        let weight =
            |rows: &[u32]| -> f64 { rows.iter().map(|row| f64::from(job.data.sample_weights()[*row as usize])).sum() };
        let total = weight(&job.validation);
        let half =
            |rows| Half { rows, weight: weight(rows) / total, stopping: EarlyStopping::new(0), kept: start.to_vec() };
        Some(Self { select: job.plan.select, halves: [half(first), half(second)] })
    }

    /// Scores both halves and updates their best checkpoints. Returns the scores of all rows, each half with its own best sd factor.
    pub(super) fn validate(&mut self, epoch: usize, trainer: &mut impl Trainer) -> Option<Validation> {
        let mut scores = [None; 2];
        for (half, scores) in self.halves.iter_mut().zip(&mut scores) {
            *scores = trainer.validate(half.rows);
            if scores.is_some_and(|scores| half.stopping.improves(epoch, self.select.score(&scores))) {
                half.kept.copy_from_slice(trainer.predicting_parameters());
            }
        }
        let [first, second] = [scores[0]?, scores[1]?];
        let both = |of: fn(&Validation) -> Option<f64>| {
            Some(self.halves[0].weight * of(&first)? + self.halves[1].weight * of(&second)?)
        };
        Some(Validation {
            nll: both(|scores| scores.nll),
            crps: both(|scores| scores.crps),
            calibrated: both(|scores| scores.calibrated),
        })
    }

    /// For each half the parameters that the other half selected.
    pub(super) fn parameters(self) -> [Parameters; 2] {
        let [first, second] = self.halves;
        [second.kept.into(), first.kept.into()]
    }
}
