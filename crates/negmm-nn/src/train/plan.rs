//! The training plan and the training loop, the same for every engine: mini-batches, learning rate, when
//! validation rows are scored, which checkpoint is kept, and when to stop.

use serde::{Deserialize, Serialize};

use super::batches::Batches;
use super::cross_fitting::CrossFitting;
use super::early_stopping::EarlyStopping;
use super::{Epoch, History, NetworkJob, Optimiser, Schedule, Selection, TrainedNetwork, Validation};
use crate::callbacks::{Callbacks, Progress};
use negmm_dist::math::lanes::Chunk;
use negmm_dist::{Error, Result};

/// A resolved training plan: what [`TrainingConfig`](super::TrainingConfig) means for a given number of rows. Files store some fields
/// by former names.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TrainingPlan {
    /// Number of steps without early stopping.
    pub steps: usize,
    /// Steps per epoch, that is between two validation checks.
    pub epoch: usize,
    /// Rows per step.
    #[serde(rename = "batch")]
    pub batch_size: usize,
    /// Whether the rows of an incomplete batch are left out of the pass.
    pub whole_batches: bool,
    /// The optimiser.
    #[serde(default)]
    pub optimiser: Optimiser,
    /// Peak learning rate.
    pub learning_rate: f64,
    /// Learning rate schedule.
    pub schedule: Schedule,
    /// Epochs without a better validation score before training stops; 0: never.
    pub patience: usize,
    /// The validation score that chooses the checkpoint.
    pub select: Selection,
    /// Decay of the exponential moving average of the parameters.
    #[serde(rename = "averaging")]
    pub ema_decay: f64,
    /// Dropout probability of the hidden units.
    pub dropout: f64,
    /// Decoupled weight decay.
    pub weight_decay: f64,
    /// Size of adversarial perturbations, as a fraction of each input's range.
    pub adversarial: f64,
    /// Epochs between snapshots of the parameters; 0: no snapshots.
    pub snapshots: usize,
    /// Cross-fitting: the index in the validation rows at which their second half begins; each half is predicted by the checkpoint
    /// that the other half selects. 0: no cross-fitting.
    #[serde(rename = "halves", default, skip_serializing_if = "is_zero")]
    pub cross_fitting_split: usize,
    /// Whether the last checkpoint is kept instead of the one with the best validation score.
    #[serde(rename = "keeps_last", default, skip_serializing_if = "std::ops::Not::not")]
    pub keep_last_checkpoint: bool,
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl TrainingPlan {
    /// Number of epochs without early stopping.
    pub fn epochs(&self) -> usize {
        self.steps.div_ceil(self.epoch)
    }

    /// Checks the range of every field for a number of training rows.
    pub(super) fn check(&self, rows: usize) -> Result<()> {
        let fractions = [self.ema_decay, self.dropout].iter().all(|fraction| (0.0..1.0).contains(fraction));
        let sound = self.steps > 0
            && (1..=self.steps).contains(&self.epoch)
            && (1..=rows).contains(&self.batch_size)
            && self.learning_rate > 0.0
            && self.learning_rate <= 1000.0
            && fractions
            && (0.0..=1.0).contains(&self.adversarial)
            && self.weight_decay >= 0.0
            && self.weight_decay.is_finite();
        if sound { Ok(()) } else { Err(Error::options("a setting of the training is out of range")) }
    }
}

/// The part of the training loop that an engine implements: steps and validation of one network.
pub trait Trainer {
    /// One step on `rows` of the data. Returns their mean loss; `None` if it or a gradient is not finite, and then the step is skipped.
    fn step(&mut self, rows: &[u32], rate: f64) -> Option<f32>;

    /// Mean scores of `rows`; `None` without rows or if a score is not finite.
    fn validate(&mut self, rows: &[u32]) -> Option<Validation>;

    /// The current parameters for prediction.
    fn predicting_parameters(&self) -> &[Chunk];
}

/// The training loop of one job.
pub struct TrainingLoop<'a> {
    /// The job.
    pub job: &'a NetworkJob,
    /// Its number in the queue.
    pub number: usize,
    /// Progress and cancellation.
    pub callbacks: &'a Callbacks<'a>,
}

impl TrainingLoop<'_> {
    /// Runs the training from the first step to the last.
    ///
    /// # Errors
    /// When the caller cancels it.
    #[inline(always)]
    pub fn run(self, trainer: &mut impl Trainer) -> Result<TrainedNetwork> {
        let Self { job, number: job_number, callbacks } = self;
        let plan = &job.plan;
        let mut batches = Batches::new(job);
        let mut stopping = EarlyStopping::new(plan.patience);
        let mut history = History::default();
        let mut kept = trainer.predicting_parameters().to_vec();
        let mut cross_fitting = CrossFitting::new(job, &kept);
        let mut snapshots = Vec::new();
        let epochs = plan.epochs();
        for number in 0..epochs {
            let (mut losses, mut taken, mut skipped, mut rate) = (0.0, 0, 0, 0.0);
            for step in number * plan.epoch..plan.steps.min((number + 1) * plan.epoch) {
                callbacks.check_cancelled()?;
                rate = plan.learning_rate * plan.schedule.factor(step, plan.steps);
                match trainer.step(batches.next_batch(), rate) {
                    Some(loss) => {
                        losses += f64::from(loss);
                        taken += 1;
                    }
                    None => skipped += 1,
                }
            }
            job.data.check_read()?;
            let validation = match &mut cross_fitting {
                Some(cross_fitting) => cross_fitting.validate(number, trainer),
                None => trainer.validate(&job.validation),
            };
            history.epochs.push(Epoch {
                loss: (taken > 0).then(|| losses / taken as f64),
                validation,
                learning_rate: rate,
                skipped,
            });
            // Without validation rows the last checkpoint is kept.
            let better = if job.validation.is_empty() || plan.keep_last_checkpoint {
                stopping.improves(number, -(number as f64))
            } else {
                validation.is_some_and(|scores| stopping.improves(number, plan.select.score(&scores)))
            };
            if better {
                kept.copy_from_slice(trainer.predicting_parameters());
            }
            if plan.snapshots > 0 && (number + 1) % plan.snapshots == 0 {
                snapshots.push(trainer.predicting_parameters().to_vec().into());
            }
            let last = number + 1 == epochs || stopping.exhausted(number);
            let best = history.epochs[stopping.best_epoch()].validation.map(|scores| plan.select.score(&scores));
            (callbacks.progress)(&Progress { job: job_number, epoch: number + 1, epochs, best, last });
            if last {
                break;
            }
        }
        history.best_epoch = stopping.best_epoch();
        Ok(TrainedNetwork {
            parameters: kept.into(),
            history,
            snapshots,
            cross_fitted: cross_fitting.map(CrossFitting::parameters),
        })
    }
}
