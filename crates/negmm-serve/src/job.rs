//! Responsible for one request to predict: from the bytes that came to rows and questions, and from answers to the bytes that go.

use std::sync::Arc;

use axum::body::Bytes;
use negmm::conformal::LabelColumns;
use negmm::{Loaded, Model, Predictions, Questions};
use serde_json::{Map, Value as Json};
use tokio::sync::oneshot;

use crate::arrow_body::{self, too_many};
use crate::asked::questions;
use crate::failure::Failure;
use crate::guaranteed::Beside;
use crate::limits::Limits;
use crate::models::Served;
use crate::rows::{Rows, of_mlflow};
use crate::written::{Form, written};
use crate::{csv_body, v2};

/// What a request is answered with.
pub type Answer = Result<(&'static str, Vec<u8>), Failure>;

/// How a body is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body {
    /// JSON of the inference protocol.
    Tensors,
    /// JSON of MLflow.
    Mlflow,
    Csv,
    Arrow,
}

/// A request that waits for its answer.
pub struct Job {
    pub served: Arc<Served>,
    pub body: Bytes,
    pub written_as: Body,
    /// Parameters of the address.
    pub parameters: Map<String, Json>,
    /// The form that the answer shall have, where the request says so.
    pub accepts: Option<Form>,
    pub reply: oneshot::Sender<Answer>,
}

/// A request that was read.
pub struct Read {
    pub rows: Rows,
    pub questions: Questions,
    pub form: Form,
    /// Numbers of the answer, as far as the rows tell.
    pub numbers: usize,
    /// What guaranteed sets go by, where they are asked for.
    beside: Option<Beside>,
}

impl Job {
    /// Reads the body.
    ///
    /// # Errors
    /// When it cannot be read, or asks for more than the limits allow.
    pub fn read(&self, limits: &Limits) -> Result<Read, Failure> {
        let (used, name) = (&self.served.used, &self.served.name);
        let mut parameters = self.parameters.clone();
        let (rows, questions, form) = match self.written_as {
            Body::Tensors => {
                let request = v2::Request::read(&self.body)?;
                let columns = request.columns(used)?;
                let (id, wanted) = (request.id.clone(), request.wanted());
                parameters.extend(request.parameters);
                let form = Form::Tensors { model: name.clone(), id, wanted };
                (Rows::Columns(columns), questions(&parameters)?, form)
            }
            Body::Mlflow => {
                let body = serde_json::from_slice::<Map<String, Json>>(&self.body);
                let body = body.map_err(|error| Failure::bad(format!("no JSON object: {error}")))?;
                let (columns, more) = of_mlflow(body, used)?;
                parameters.extend(more);
                (Rows::Columns(columns), questions(&parameters)?, Form::Records)
            }
            Body::Csv => {
                let questions = questions(&parameters)?;
                (self.csv(&questions, limits.rows)?, questions, Form::Csv)
            }
            Body::Arrow => {
                let (table, groups) = arrow_body::table(&self.body, limits.rows, used.groups.as_deref())?;
                (Rows::Table(table, groups), questions(&parameters)?, Form::Arrow)
            }
        };
        let count = rows.len();
        if count == 0 {
            return Err(Failure::bad("there is no row to predict"));
        }
        if count > limits.rows {
            return Err(Failure::too_large(too_many(limits.rows)));
        }
        let (mut beside, mut numbers) = (None, 0);
        if let Loaded::Model(model) = &self.served.loaded {
            let names = questions.names(model)?.len();
            numbers = names.saturating_mul(count);
            if numbers > limits.numbers {
                let message = format!("{count} rows of {names} answers are more than {} numbers", limits.numbers);
                return Err(Failure::too_large(message));
            }
            beside = if questions.guaranteed { Some(Beside::of(model, &rows)?) } else { None };
        }
        let form = match &self.accepts {
            // Tensors are JSON too.
            Some(form) if self.written_as != Body::Tensors || *form != Form::Records => form.clone(),
            _ => form,
        };
        Ok(Read { rows, questions, form, numbers, beside })
    }

    /// The rows of a CSV body; of a model read as its own files are, with what guaranteed sets go by where they are asked for.
    fn csv(&self, questions: &Questions, most_rows: usize) -> Result<Rows, Failure> {
        let Loaded::Model(model) = &self.served.loaded else {
            return Ok(Rows::Table(csv_body::table(&self.body)?, Vec::new()));
        };
        let encoder = model.encoder();
        if !questions.guaranteed {
            return Ok(Rows::Table(csv_body::chunk(&self.body, &encoder.schema(), most_rows)?.table, Vec::new()));
        }
        let schema = if encoder.sequence().is_some() { encoder.schema_with_target() } else { encoder.schema() };
        let columns = model.calibration().map(LabelColumns::of).unwrap_or_default();
        let chunk = csv_body::chunk(&self.body, &columns.added_to(schema), most_rows)?;
        let groups = columns.labels(&chunk)?.groups;
        Ok(Rows::Table(chunk.table, groups))
    }
}

impl Read {
    /// The answer, of a model's predictions for its rows.
    pub fn answer(&self, model: &Model, predictions: &Predictions) -> Answer {
        let mut answers = match &self.beside {
            Some(beside) => beside.answer(model, &self.questions, predictions)?,
            None => self.questions.answer(predictions, 0)?,
        };
        let encoder = model.encoder();
        if encoder.sequence().is_some() {
            let rows = encoder.predicted_rows(self.rows.len());
            answers = answers.after_whole("row", (0..predictions.len()).map(|at| rows.number(at) as i64).collect());
        }
        Ok((self.form.content_type(), written(&self.form, &answers)?))
    }
}
