//! Training log of a job on the device, rebuilt from epoch records: the same history and progress as on the CPU.

use negmm::train::{Callbacks, Epoch, History, NetworkJob, Progress, Selection, Validation};
use negmm::{Error, Result};
use negmm_nn::train::EarlyStopping;

use crate::record::EpochRecord;

/// History and early-stopping state of a job.
pub(crate) struct TrainingLog {
    history: History,
    stopping: EarlyStopping,
}

impl TrainingLog {
    pub(crate) fn new(job: &NetworkJob) -> Self {
        Self { history: History::default(), stopping: EarlyStopping::new(job.plan.patience) }
    }

    /// Epochs logged so far.
    pub(crate) fn epochs(&self) -> usize {
        self.history.epochs.len()
    }

    /// Logs an epoch and calls the progress callback.
    ///
    /// # Errors
    /// When training was cancelled.
    pub(crate) fn push(
        &mut self,
        job: &NetworkJob,
        number: usize,
        record: &EpochRecord,
        callbacks: &Callbacks<'_>,
    ) -> Result<()> {
        check_cancelled(callbacks)?;
        let plan = &job.plan;
        let (epoch, epochs) = (self.epochs(), plan.epochs());
        let last_step = plan.steps.min((epoch + 1) * plan.epoch) - 1;
        let validation = (record.finite != 0).then(|| Validation {
            nll: Some(record.nll),
            crps: (record.has_crps != 0).then_some(record.crps),
            calibrated: (plan.select == Selection::Calibrated).then_some(record.calibrated),
        });
        self.history.epochs.push(Epoch {
            loss: (record.steps_taken > 0).then(|| record.loss_sum / f64::from(record.steps_taken)),
            validation,
            learning_rate: plan.learning_rate * plan.schedule.factor(last_step, plan.steps),
            skipped: record.steps_skipped as usize,
        });
        if job.validation.is_empty() || plan.keep_last_checkpoint {
            self.stopping.improves(epoch, -(epoch as f64));
        } else if let Some(scores) = validation {
            self.stopping.improves(epoch, plan.select.score(&scores));
        }
        let best = self.history.epochs[self.stopping.best_epoch()].validation.map(|scores| plan.select.score(&scores));
        let last = epoch + 1 == epochs || self.stopping.exhausted(epoch);
        (callbacks.progress)(&Progress { job: number, epoch: epoch + 1, epochs, best, last });
        Ok(())
    }

    /// The complete history.
    pub(crate) fn history(self) -> History {
        History { best_epoch: self.stopping.best_epoch(), ..self.history }
    }
}

/// An error when training was cancelled.
pub(crate) fn check_cancelled(callbacks: &Callbacks<'_>) -> Result<()> {
    if callbacks.cancel.load(std::sync::atomic::Ordering::Relaxed) { Err(Error::cancelled()) } else { Ok(()) }
}
