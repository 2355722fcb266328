//! Conformal prediction sets of a request: the columns they need beside the model's inputs, and their dispatch.

use negmm::conformal::{AdaptiveConformal, ConformalPredictor, LabelColumns, Labels};
use negmm::{Answers, Model, Predictions, Questions};

use crate::failure::Failure;
use crate::rows::Rows;

/// What conformal prediction sets of some rows need beside the predictions.
pub enum ConformalInputs {
    /// Groups and weights, where the calibration uses them.
    Labels(Labels),
    /// Past targets of a sequence, for adaptive conformal inference.
    Targets(Vec<f64>),
}

impl ConformalInputs {
    /// Reads them from the rows of a request.
    ///
    /// # Errors
    /// When the model is not calibrated, or the rows lack a column that the calibration uses.
    pub fn new(model: &Model, rows: &Rows) -> Result<Self, Failure> {
        if model.encoder().sequence().is_some() {
            return Ok(Self::Targets(model.encoder().targets(rows.table()?.as_ref())?.into_owned()));
        }
        // Asking an uncalibrated model is an error of the request, not of the server.
        let calibration = model.known_calibration().map_err(|error| Failure::bad(error.to_string()))?;
        let columns = LabelColumns::of(calibration);
        if let Some(name) = columns.by.filter(|_| rows.groups().is_empty()) {
            return Err(Failure::bad(format!(
                "conformal sets are calibrated by column {name:?}, which the rows do not have"
            )));
        }
        Ok(Self::Labels(match columns.weight {
            Some(_) => columns.with_groups(rows.groups().to_vec(), rows.table()?.as_ref())?,
            None => Labels { groups: rows.groups().to_vec(), weights: Vec::new() },
        }))
    }

    /// The output columns for predictions of the same rows.
    pub fn answer<'a>(
        &self,
        model: &Model,
        questions: &Questions,
        predictions: &'a Predictions,
    ) -> Result<Answers<'a>, Failure> {
        match self {
            Self::Labels(labels) => {
                let guard = ConformalPredictor::Calibrated(model.known_calibration()?, labels);
                Ok(questions.answer_guaranteed(predictions, 0, guard)?)
            }
            Self::Targets(targets) => {
                let mut targets = targets.clone();
                targets.resize(predictions.len(), f64::NAN);
                let adaptive = AdaptiveConformal::of_sequence(&questions.sets(), predictions, &targets)?;
                Ok(questions.answer_guaranteed(predictions, 0, ConformalPredictor::AdaptiveConformal(&adaptive))?)
            }
        }
    }
}
