//! Responsible for one request to predict: from the bytes that came to rows and questions, and from answers to the bytes that go.

use std::io::Cursor;
use std::sync::Arc;

use axum::body::Bytes;
use negmm::conformal::{Guard, Labels};
use negmm::data::CsvStream;
use negmm::{Model, Predictions, Questions, Table};
use serde_json::{Map, Value as Json};
use tokio::sync::oneshot;

use crate::arrow_body::{self, too_many};
use crate::asked::questions;
use crate::failure::Failure;
use crate::limits::Limits;
use crate::models::Served;
use crate::rows::{Rows, of_mlflow};
use crate::v2;
use crate::written::{Form, written};

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
    questions: Questions,
    form: Form,
}

impl Job {
    /// Reads the body.
    ///
    /// # Errors
    /// When it cannot be read, or asks for more than the limits allow.
    pub fn read(&self, limits: &Limits) -> Result<Read, Failure> {
        let (used, name) = (&self.served.used, &self.served.name);
        let mut parameters = self.parameters.clone();
        let (rows, form) = match self.written_as {
            Body::Tensors => {
                let request = v2::Request::read(&self.body)?;
                let columns = request.columns(used)?;
                let (id, wanted) = (request.id.clone(), request.wanted());
                parameters.extend(request.parameters);
                (Rows::Columns(columns), Form::Tensors { model: name.clone(), id, wanted })
            }
            Body::Mlflow => {
                let body = serde_json::from_slice::<Map<String, Json>>(&self.body);
                let body = body.map_err(|error| Failure::bad(format!("no JSON object: {error}")))?;
                let (columns, more) = of_mlflow(body, used)?;
                parameters.extend(more);
                (Rows::Columns(columns), Form::Records)
            }
            Body::Csv => (Rows::Table(self.csv(limits.rows)?), Form::Csv),
            Body::Arrow => (Rows::Table(arrow_body::table(&self.body, limits.rows)?), Form::Arrow),
        };
        let count = rows.len();
        if count == 0 {
            return Err(Failure::bad("there is no row to predict"));
        }
        if count > limits.rows {
            return Err(Failure::too_large(too_many(limits.rows)));
        }
        let questions = questions(&parameters)?;
        let names = questions.names(&self.served.model)?.len();
        if names.saturating_mul(count) > limits.numbers {
            let message = format!("{count} rows of {names} answers are more than {} numbers", limits.numbers);
            return Err(Failure::too_large(message));
        }
        let form = match &self.accepts {
            // Tensors are JSON too.
            Some(form) if self.written_as != Body::Tensors || *form != Form::Records => form.clone(),
            _ => form,
        };
        Ok(Read { rows, questions, form })
    }

    /// The rows of a CSV body, read as the model's own files are.
    fn csv(&self, most: usize) -> Result<Table, Failure> {
        let schema = self.served.model.encoder().schema();
        let mut stream = CsvStream::from_reader(Cursor::new(self.body.clone()), "body", &schema)?;
        let first = stream.next_chunk(most)?.ok_or_else(|| Failure::bad("there is no row to predict"))?;
        match stream.next_chunk(1)? {
            Some(_) => Err(Failure::too_large(too_many(most))),
            None => Ok(first.table),
        }
    }
}

/// What guarantees the sets of a model's rows, where these alone tell it.
fn guard(model: &Model) -> Result<Guard<'_>, Failure> {
    static NOTHING_MORE: Labels = Labels { groups: Vec::new(), weights: Vec::new() };
    let calibration = model.known_calibration()?;
    if model.encoder().sequence().is_some() || calibration.by().is_some() || calibration.weight().is_some() {
        return Err(Failure::bad(
            "guaranteed sets of sequences, by groups and with weights are those of negmm predict",
        ));
    }
    Ok(Guard::Calibrated(calibration, &NOTHING_MORE))
}

impl Read {
    /// The answer, of the predictions for its rows.
    pub fn answer(&self, served: &Served, predictions: &Predictions, table_rows: usize) -> Answer {
        let encoder = served.model.encoder();
        let mut answers = match self.questions.guaranteed {
            true => self.questions.answer_guaranteed(predictions, 0, guard(&served.model)?)?,
            false => self.questions.answer(predictions, 0)?,
        };
        if encoder.sequence().is_some() {
            let rows = encoder.predicted_rows(table_rows);
            answers = answers.after_whole("row", (0..predictions.len()).map(|at| rows.number(at) as i64).collect());
        }
        Ok((self.form.content_type(), written(&self.form, &answers)?))
    }
}
