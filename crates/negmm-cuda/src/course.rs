//! Responsible for the record of a training that runs on a device, as the processor's engine would have written it.

use negmm::train::{Callbacks, Epoch, History, NetworkJob, Progress, Selection, Validation};
use negmm::{Error, Result};
use negmm_nn::train::EarlyStopping;

use crate::record::EpochRecord;

/// What is known of a training so far.
pub(crate) struct Told {
    history: History,
    stopping: EarlyStopping,
}

impl Told {
    pub(crate) fn new(job: &NetworkJob) -> Self {
        Self { history: History::default(), stopping: EarlyStopping::new(job.course.patience) }
    }

    /// Epochs that were told.
    pub(crate) fn epochs(&self) -> usize {
        self.history.epochs.len()
    }

    /// Takes in an epoch, and tells who watches.
    ///
    /// # Errors
    /// When the caller asks to stop.
    pub(crate) fn tell(
        &mut self,
        job: &NetworkJob,
        number: usize,
        record: &EpochRecord,
        watch: &Callbacks<'_>,
    ) -> Result<()> {
        check_cancelled(watch)?;
        let course = &job.course;
        let (epoch, epochs) = (self.epochs(), course.epochs());
        let last_step = course.steps.min((epoch + 1) * course.epoch) - 1;
        let validation = (record.sound != 0).then(|| Validation {
            nll: Some(record.nll),
            crps: (record.has_crps != 0).then_some(record.crps),
            calibrated: (course.select == Selection::Calibrated).then_some(record.calibrated),
        });
        self.history.epochs.push(Epoch {
            loss: (record.taken > 0).then(|| record.losses / f64::from(record.taken)),
            validation,
            learning_rate: course.learning_rate * course.schedule.factor(last_step, course.steps),
            skipped: record.skipped as usize,
        });
        if job.validation.is_empty() || course.keeps_last {
            self.stopping.improves(epoch, -(epoch as f64));
        } else if let Some(scores) = validation {
            self.stopping.improves(epoch, course.select.score(&scores));
        }
        let best =
            self.history.epochs[self.stopping.best_epoch()].validation.map(|scores| course.select.score(&scores));
        let last = epoch + 1 == epochs || self.stopping.exhausted(epoch);
        (watch.progress)(&Progress { job: number, epoch: epoch + 1, epochs, best, last });
        Ok(())
    }

    /// All epochs.
    pub(crate) fn history(self) -> History {
        History { best_epoch: self.stopping.best_epoch(), ..self.history }
    }
}

/// Fails where the caller asked to stop.
pub(crate) fn check_cancelled(watch: &Callbacks<'_>) -> Result<()> {
    if watch.cancel.load(std::sync::atomic::Ordering::Relaxed) { Err(Error::cancelled()) } else { Ok(()) }
}
