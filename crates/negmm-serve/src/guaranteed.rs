//! Responsible for guaranteed sets of a request: what its rows say beside their inputs, and the answers by that.

use negmm::conformal::{Adaptive, Guard, LabelColumns, Labels};
use negmm::{Answers, Model, Predictions, Questions};

use crate::failure::Failure;
use crate::rows::Rows;

/// What guaranteed sets of some rows go by.
pub enum Beside {
    /// Groups and weights, where the calibration asks for them.
    Labels(Labels),
    /// The targets of a sequence, which its sets adapt to.
    Targets(Vec<f64>),
}

impl Beside {
    /// What these rows say.
    ///
    /// # Errors
    /// When the model has no guaranteed sets, or the rows lack what these go by.
    pub fn of(model: &Model, rows: &Rows) -> Result<Self, Failure> {
        if model.encoder().sequence().is_some() {
            return Ok(Self::Targets(model.encoder().targets(rows.table()?.as_ref())?.into_owned()));
        }
        // That of somebody who asks for what is not there, not of the model.
        let calibration = model.known_calibration().map_err(|error| Failure::bad(error.to_string()))?;
        let columns = LabelColumns::of(calibration);
        if let Some(name) = columns.by.filter(|_| rows.groups().is_empty()) {
            return Err(Failure::bad(format!("guaranteed sets go by column {name:?}, which the rows do not have")));
        }
        Ok(Self::Labels(match columns.weight {
            Some(_) => columns.with_groups(rows.groups().to_vec(), rows.table()?.as_ref())?,
            None => Labels { groups: rows.groups().to_vec(), weights: Vec::new() },
        }))
    }

    /// The answers about predictions of the same rows.
    pub fn answer<'a>(
        &self,
        model: &Model,
        questions: &Questions,
        predictions: &'a Predictions,
    ) -> Result<Answers<'a>, Failure> {
        match self {
            Self::Labels(labels) => {
                let guard = Guard::Calibrated(model.known_calibration()?, labels);
                Ok(questions.answer_guaranteed(predictions, 0, guard)?)
            }
            Self::Targets(targets) => {
                let mut targets = targets.clone();
                targets.resize(predictions.len(), f64::NAN);
                let adaptive = Adaptive::of_sequence(&questions.sets(), predictions, &targets)?;
                Ok(questions.answer_guaranteed(predictions, 0, Guard::Adaptive(&adaptive))?)
            }
        }
    }
}
