//! Models that go on learning from new rows.

use std::sync::Arc;

use super::{FitPlan, Model};
use crate::method::Predictor;
use negmm_data::{ColumnRoles, EncodedTable, Table};
use negmm_dist::{Error, Result, Rng, streams};
use negmm_nn::dataset::split::holdout;

/// Part of the epochs of the fit that an update takes.
const PART_OF_EPOCHS: usize = 4;

/// Options of an update.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct UpdateOptions {
    /// Which column has weights, and what is known of the target.
    pub inputs: ColumnRoles,
    /// How many rows at the end of the table are old ones, which the model has learnt from before: they are learnt from again, and none
    /// of them is a validation row.
    pub replayed: usize,
    /// Epochs; `None`: a quarter of those of the fit.
    pub epochs: Option<usize>,
    /// Peak learning rate; `None`: that of the fit.
    pub learning_rate: Option<f64>,
    /// Seed of validation rows, order and dropout.
    pub seed: u64,
}

impl Model {
    /// Plans an update: the networks go on from their parameters, with the encoding of the rows that they were fitted to. The result of
    /// [`FitPlan::finish`] has no calibration, and the record of the update.
    ///
    /// # Errors
    /// When the model has other parts than networks, or the rows do not fit it.
    pub fn plan_update(&self, table: &Table, options: &UpdateOptions) -> Result<FitPlan> {
        let UpdateOptions { inputs, replayed, epochs, learning_rate, seed } = options;
        if self.method.as_auto().is_some() {
            return Err(Error::options(
                "auto is a pool of folds that is weighted by rows which none of them has seen, so it cannot go on learning: \
                 fit it anew, or use ensemble",
            ));
        }
        let mut encoded = EncodedTable::by(&self.encoder, table, inputs)?;
        let new = encoded.data.len().checked_sub(*replayed).filter(|new| *new > 0);
        let Some(new) = new else { return Err(table.locate(Error::data("an update needs at least one new row"))) };
        let mut method = self.method.clone();
        let fraction = method.training_mut().map(|training| {
            training.epochs = epochs.unwrap_or(training.epochs.div_ceil(PART_OF_EPOCHS));
            training.steps = training.steps.map(|steps| steps.div_ceil(PART_OF_EPOCHS)).filter(|_| epochs.is_none());
            training.learning_rate = learning_rate.unwrap_or(training.learning_rate);
            training.validation_fraction
        });
        method.check()?;
        let (_, validation) = holdout(new, fraction.unwrap_or(0.0), &mut Rng::new(*seed, streams::VALIDATION));
        if let Predictor::Networks { members, .. } = &self.predictor
            && let Some(first) = members.first()
        {
            encoded.data = Arc::new(first.statistics.of_rows(&encoded.data)?.into_owned());
        }
        encoded.data = Arc::new(Arc::unwrap_or_clone(encoded.data).with_held_out(validation));
        let plan = FitPlan::of(table, &method, *seed, || Ok(Arc::new(encoded)))?;
        plan.going_on_from(self)
    }
}
