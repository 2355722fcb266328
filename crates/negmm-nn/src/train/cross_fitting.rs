//! Cross-fitting of checkpoints: each half of the validation rows selects the checkpoint that predicts the other half, so that what is said
//! of a row was neither learnt nor chosen by it.

use super::early_stopping::EarlyStopping;
use super::plan::Trainer;
use super::{NetworkJob, Selection, Validation};
use crate::net::Parameters;
use negmm_dist::math::lanes::Chunk;

/// The halves, and the best checkpoint so far by each.
pub(super) struct Halves<'a> {
    select: Selection,
    halves: [Half<'a>; 2],
}

struct Half<'a> {
    rows: &'a [u32],
    /// Its part of the weight of all validation rows.
    share: f64,
    stopping: EarlyStopping,
    kept: Vec<Chunk>,
}

impl<'a> Halves<'a> {
    /// Those that the course of the job asks for, if it does; `start` are the parameters before the first step.
    pub(super) fn new(job: &'a NetworkJob, start: &[Chunk]) -> Option<Self> {
        let (first, second) = job.validation.split_at_checked(job.course.halves)?;
        if first.is_empty() || second.is_empty() {
            return None;
        }
        let weight =
            |rows: &[u32]| -> f64 { rows.iter().map(|row| f64::from(job.data.sample_weights()[*row as usize])).sum() };
        let total = weight(&job.validation);
        let half =
            |rows| Half { rows, share: weight(rows) / total, stopping: EarlyStopping::new(0), kept: start.to_vec() };
        Some(Self { select: job.course.select, halves: [half(first), half(second)] })
    }

    /// Scores both, keeps what is the best so far, and gives the scores of all rows: each half by the sd factor that suits it.
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
            Some(self.halves[0].share * of(&first)? + self.halves[1].share * of(&second)?)
        };
        Some(Validation {
            nll: both(|scores| scores.nll),
            crps: both(|scores| scores.crps),
            calibrated: both(|scores| scores.calibrated),
        })
    }

    /// For each half what the other chose.
    pub(super) fn crossed(self) -> [Parameters; 2] {
        let [first, second] = self.halves;
        [second.kept.into(), first.kept.into()]
    }
}
