//! A prediction job: parsing the body of a request into rows and a query, and encoding the response.

use std::sync::Arc;

use axum::body::Bytes;
use negmm::conformal::LabelColumns;
use negmm::{Loaded, Model, Predictions, Questions};
use serde_json::{Map, Value as Json};
use tokio::sync::oneshot;

use crate::arrow_body::{self, too_many};
use crate::asked::questions;
use crate::conformal::ConformalInputs;
use crate::failure::Failure;
use crate::limits::Limits;
use crate::models::ServedModel;
use crate::rows::{Rows, of_mlflow};
use crate::written::{Form, written};
use crate::{csv_body, v2};

/// Content type and bytes of a response.
pub type Encoded = Result<(&'static str, Vec<u8>), Failure>;

/// The format of a request's body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyFormat {
    /// JSON of the Open Inference Protocol.
    Tensors,
    /// JSON of MLflow.
    Mlflow,
    Csv,
    Arrow,
}

/// A request that waits for its response.
pub struct Job {
    pub served: Arc<ServedModel>,
    pub body: Bytes,
    pub format: BodyFormat,
    /// Parameters of the query string.
    pub parameters: Map<String, Json>,
    /// The format of the response, where the header `Accept` names one.
    pub accepts: Option<Form>,
    pub reply: oneshot::Sender<Encoded>,
}

/// A parsed request.
pub struct ParsedRequest {
    pub rows: Rows,
    pub questions: Questions,
    pub form: Form,
    /// Numbers of the response; 0 for a forecaster, where it depends on the series.
    pub numbers: usize,
    /// What conformal sets need, where they are requested.
    conformal: Option<ConformalInputs>,
}

impl Job {
    /// Parses the body.
    ///
    /// # Errors
    /// When it is malformed, or exceeds the limits.
    pub fn parse(&self, limits: &Limits) -> Result<ParsedRequest, Failure> {
        let (used, name) = (&self.served.used, &self.served.name);
        let mut parameters = self.parameters.clone();
        let (rows, questions, form) = match self.format {
            BodyFormat::Tensors => {
                let request = v2::Request::parse(&self.body)?;
                let columns = request.columns(used)?;
                let (id, wanted) = (request.id.clone(), request.output_names());
                parameters.extend(request.parameters);
                let form = Form::Tensors { model: name.clone(), id, wanted };
                (Rows::Columns(columns), questions(&parameters)?, form)
            }
            BodyFormat::Mlflow => {
                let body = serde_json::from_slice::<Map<String, Json>>(&self.body);
                let body = body.map_err(|error| Failure::bad(format!("not a JSON object: {error}")))?;
                let (columns, more) = of_mlflow(body, used)?;
                parameters.extend(more);
                (Rows::Columns(columns), questions(&parameters)?, Form::Records)
            }
            BodyFormat::Csv => {
                let questions = questions(&parameters)?;
                (self.csv(&questions, limits.rows)?, questions, Form::Csv)
            }
            BodyFormat::Arrow => {
                let (table, groups) = arrow_body::table(&self.body, limits.rows, used.groups.as_deref())?;
                (Rows::Table(table, groups), questions(&parameters)?, Form::Arrow)
            }
        };
        let count = rows.len();
        if count == 0 {
            return Err(Failure::bad("there are no rows to predict"));
        }
        if count > limits.rows {
            return Err(Failure::too_large(too_many(limits.rows)));
        }
        let (mut conformal, mut numbers) = (None, 0);
        if let Loaded::Model(model) = &self.served.loaded {
            let names = questions.names(model)?.len();
            numbers = names.saturating_mul(count);
            if numbers > limits.numbers {
                let message = format!("{count} rows of {names} columns are more than {} numbers", limits.numbers);
                return Err(Failure::too_large(message));
            }
            conformal = if questions.guaranteed { Some(ConformalInputs::new(model, &rows)?) } else { None };
        }
        let form = match &self.accepts {
            // A request of tensors that accepts JSON gets tensors.
            Some(form) if self.format != BodyFormat::Tensors || *form != Form::Records => form.clone(),
            _ => form,
        };
        Ok(ParsedRequest { rows, questions, form, numbers, conformal })
    }

    /// The rows of a CSV body, read like the training file, with the columns that conformal sets need where they are requested.
    fn csv(&self, questions: &Questions, max_rows: usize) -> Result<Rows, Failure> {
        let Loaded::Model(model) = &self.served.loaded else {
            return Ok(Rows::Table(csv_body::table(&self.body)?, Vec::new()));
        };
        let encoder = model.encoder();
        if !questions.guaranteed {
            return Ok(Rows::Table(csv_body::chunk(&self.body, &encoder.schema(), max_rows)?.table, Vec::new()));
        }
        let schema = if encoder.sequence().is_some() { encoder.schema_with_target() } else { encoder.schema() };
        let columns = model.calibration().map(LabelColumns::of).unwrap_or_default();
        let chunk = csv_body::chunk(&self.body, &columns.added_to(schema), max_rows)?;
        let groups = columns.labels(&chunk)?.groups;
        Ok(Rows::Table(chunk.table, groups))
    }
}

impl ParsedRequest {
    /// The response, from a model's predictions for its rows.
    pub fn encode(&self, model: &Model, predictions: &Predictions) -> Encoded {
        let mut answers = match &self.conformal {
            Some(inputs) => inputs.answer(model, &self.questions, predictions)?,
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
