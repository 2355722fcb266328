//! The training plan and the training loop, the same for every engine: mini-batches, learning rate, when
//! validation rows are scored, which checkpoint is kept, and when to stop.

use serde::{Deserialize, Serialize};

use super::batches::Batches;
use super::cross_fitting::Halves;
use super::early_stopping::EarlyStopping;
use super::{Epoch, History, NetworkJob, Optimiser, Schedule, Selection, TrainedNetwork, Validation};
use crate::callbacks::{Callbacks, Progress};
use negmm_dist::math::lanes::Chunk;
use negmm_dist::{Error, Result};

/// How a training runs, with nothing left to be decided: what [`TrainingConfig`](super::TrainingConfig) means for so many rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TrainingPlan {
    /// Steps, if it does not stop early.
    pub steps: usize,
    /// Steps of an epoch: from one validation check to the next.
    pub epoch: usize,
    /// Rows of one step.
    #[serde(rename = "batch")]
    pub batch_size: usize,
    /// Whether rows that do not fill a batch wait for the next pass.
    pub whole_batches: bool,
    /// What turns gradients into steps.
    #[serde(default)]
    pub optimiser: Optimiser,
    /// The learning rate at its highest.
    pub learning_rate: f64,
    /// How it moves.
    pub schedule: Schedule,
    /// Epochs without a better validation score before it stops; 0: never.
    pub patience: usize,
    /// The validation score that chooses the checkpoint.
    pub select: Selection,
    /// Decay of the running average of the parameters.
    #[serde(rename = "averaging")]
    pub ema_decay: f64,
    /// Share of hidden units switched off in each step.
    pub dropout: f64,
    /// Decoupled weight decay.
    pub weight_decay: f64,
    /// Share of each input's range by which adversarial inputs are moved.
    pub adversarial: f64,
    /// Epochs from one snapshot of the parameters to the next; 0: none are kept.
    pub snapshots: usize,
    /// Where the second half of the validation rows begins, where each half is to be predicted by what the other chose; 0: nowhere.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub halves: usize,
    /// Whether the last checkpoint is kept, whatever validation rows say.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub keeps_last: bool,
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl TrainingPlan {
    /// Epochs, if it does not stop early.
    pub fn epochs(&self) -> usize {
        self.steps.div_ceil(self.epoch)
    }

    /// Says what is out of range, if something is.
    pub(super) fn check(&self, rows: usize) -> Result<()> {
        let shares = [self.ema_decay, self.dropout].iter().all(|share| (0.0..1.0).contains(share));
        let sound = self.steps > 0
            && (1..=self.steps).contains(&self.epoch)
            && (1..=rows).contains(&self.batch_size)
            && self.learning_rate > 0.0
            && self.learning_rate <= 1000.0
            && shares
            && (0.0..=1.0).contains(&self.adversarial)
            && self.weight_decay >= 0.0
            && self.weight_decay.is_finite();
        if sound { Ok(()) } else { Err(Error::options("a setting of the training is out of range")) }
    }
}

/// What an engine has for one network: its parameters, and how they change.
pub trait Trainer {
    /// One step on `rows` of the data. Gives their mean loss, or nothing if it or a gradient is not finite: then nothing has
    /// changed.
    fn step(&mut self, rows: &[u32], rate: f64) -> Option<f32>;

    /// Mean scores of `rows`; nothing where there are none or where a score is not finite.
    fn validate(&mut self, rows: &[u32]) -> Option<Validation>;

    /// The parameters that would predict now.
    fn predicting_parameters(&self) -> &[Chunk];
}

/// A job, its number in its queue, and who watches.
pub struct TrainingLoop<'a> {
    /// The job.
    pub job: &'a NetworkJob,
    /// Its number.
    pub number: usize,
    /// Who watches.
    pub watch: &'a Callbacks<'a>,
}

impl TrainingLoop<'_> {
    /// The training from the first step to the last.
    #[inline(always)]
    ///
    /// # Errors
    /// When the caller asks to stop.
    pub fn run(self, trainer: &mut impl Trainer) -> Result<TrainedNetwork> {
        let Self { job, number: job_number, watch } = self;
        let course = &job.course;
        let mut batches = Batches::new(job);
        let mut stopping = EarlyStopping::new(course.patience);
        let mut history = History::default();
        let mut kept = trainer.predicting_parameters().to_vec();
        let mut halves = Halves::new(job, &kept);
        let mut snapshots = Vec::new();
        let epochs = course.epochs();
        for number in 0..epochs {
            let (mut losses, mut taken, mut skipped, mut rate) = (0.0, 0, 0, 0.0);
            for step in number * course.epoch..course.steps.min((number + 1) * course.epoch) {
                watch.check_cancelled()?;
                rate = course.learning_rate * course.schedule.factor(step, course.steps);
                match trainer.step(batches.next_batch(), rate) {
                    Some(loss) => {
                        losses += f64::from(loss);
                        taken += 1;
                    }
                    None => skipped += 1,
                }
            }
            let validation = match &mut halves {
                Some(halves) => halves.validate(number, trainer),
                None => trainer.validate(&job.validation),
            };
            history.epochs.push(Epoch {
                loss: (taken > 0).then(|| losses / taken as f64),
                validation,
                learning_rate: rate,
                skipped,
            });
            // Without validation rows the last checkpoint is the one to keep.
            let better = if job.validation.is_empty() || course.keeps_last {
                stopping.improves(number, -(number as f64))
            } else {
                validation.is_some_and(|scores| stopping.improves(number, course.select.score(&scores)))
            };
            if better {
                kept.copy_from_slice(trainer.predicting_parameters());
            }
            if course.snapshots > 0 && (number + 1) % course.snapshots == 0 {
                snapshots.push(trainer.predicting_parameters().to_vec().into());
            }
            let last = number + 1 == epochs || stopping.exhausted(number);
            let best = history.epochs[stopping.best_epoch()].validation.map(|scores| course.select.score(&scores));
            (watch.progress)(&Progress { job: job_number, epoch: number + 1, epochs, best, last });
            if last {
                break;
            }
        }
        history.best_epoch = stopping.best_epoch();
        Ok(TrainedNetwork { parameters: kept.into(), history, snapshots, crossed: halves.map(Halves::crossed) })
    }
}
