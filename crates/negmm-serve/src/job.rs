//! A prediction job: parsing the body of a request into rows and a query, and encoding the response.

use std::sync::Arc;

use axum::body::Bytes;
use negmm::conformal::{LabelColumns, Labels};
use negmm::predict::{Batch, ConformalInputs, JointQuery};
use negmm::{JointModel, Loaded, Model, Predictions, Query};
use serde_json::{Map, Value as Json};
use tokio::sync::oneshot;

use crate::arrow_body::{self, too_many};
use crate::encode::{ResponseFormat, encode};
use crate::failure::Failure;
use crate::limits::Limits;
use crate::models::{ServedModel, joint_schema};
use crate::rows::{Rows, of_mlflow};
use crate::{csv_body, params, v2};

/// An encoded response.
pub struct Encoded {
    pub content_type: &'static str,
    pub bytes: Vec<u8>,
    /// A sentence for every parameter that was called by its former name.
    pub notices: Vec<String>,
}

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
    pub accepts: Option<ResponseFormat>,
    pub reply: oneshot::Sender<Result<Encoded, Failure>>,
}

/// A parsed request.
pub struct ParsedRequest {
    pub rows: Rows,
    pub query: Query,
    pub format: ResponseFormat,
    /// A sentence for every parameter that was called by its former name.
    pub notices: Vec<String>,
    /// Numbers of the response; 0 for a forecaster, where it depends on the series.
    pub numbers: usize,
    /// Inputs of conformal prediction sets, if requested.
    conformal: Option<ConformalInputs>,
    /// The query of a model of several targets, and the labels of its conformal sets.
    pub joint: Option<(JointQuery, Labels)>,
}

impl Job {
    /// Parses the body.
    ///
    /// # Errors
    /// When it is malformed, or exceeds the limits.
    pub fn parse(&self, limits: &Limits) -> Result<ParsedRequest, Failure> {
        let (used, name) = (&self.served.used, &self.served.name);
        let mut parameters = self.parameters.clone();
        let mut conformal = None;
        let several = matches!(self.served.loaded, Loaded::Joint(_));
        let query_of = |parameters: &Map<String, Json>| match several {
            true => params::joint_query(parameters).map(|joint| joint.query),
            false => params::query(parameters),
        };
        let (rows, query, format) = match self.format {
            BodyFormat::Tensors => {
                let request = v2::Request::parse(&self.body)?;
                let columns = request.columns(used)?;
                let (id, wanted) = (request.id.clone(), request.output_names());
                parameters.extend(request.parameters);
                let format = ResponseFormat::Tensors { model: name.clone(), id, wanted };
                (Rows::Columns(columns), query_of(&parameters)?, format)
            }
            BodyFormat::Mlflow => {
                let body = serde_json::from_slice::<Map<String, Json>>(&self.body);
                let body = body.map_err(|error| Failure::bad(format!("not a JSON object: {error}")))?;
                let (columns, more) = of_mlflow(body, used)?;
                parameters.extend(more);
                (Rows::Columns(columns), query_of(&parameters)?, ResponseFormat::Records)
            }
            BodyFormat::Csv => {
                let query = query_of(&parameters)?;
                let (rows, inputs) = self.csv(&query, limits.rows)?;
                conformal = inputs;
                (rows, query, ResponseFormat::Csv)
            }
            BodyFormat::Arrow => {
                let (table, groups) = arrow_body::table(&self.body, limits.rows, used.groups.as_deref())?;
                (Rows::Table(table, groups), query_of(&parameters)?, ResponseFormat::Arrow)
            }
        };
        let count = rows.len();
        if count == 0 {
            return Err(Failure::bad("there are no rows to predict"));
        }
        if count > limits.rows {
            return Err(Failure::too_large(too_many(limits.rows)));
        }
        let mut numbers = 0;
        if let Loaded::Model(model) = &self.served.loaded {
            let fields = query.output_fields(model, &[])?.len();
            numbers = fields.saturating_mul(count);
            if numbers > limits.numbers {
                let message = format!("{count} rows of {fields} columns are more than {} numbers", limits.numbers);
                return Err(Failure::too_large(message));
            }
            if query.conformal && conformal.is_none() {
                check_calibrated(&query, model)?;
                let groups = rows.groups().to_vec();
                conformal = ConformalInputs::of_table(&query, model, rows.table()?.as_ref(), groups)?;
            }
        }
        let joint = match &self.served.loaded {
            Loaded::Joint(model) => {
                let joint = params::joint_query(&parameters)?;
                joint.check(model)?;
                let columns = joint.most_columns(model);
                if columns.saturating_mul(count) > limits.numbers {
                    let message = format!("{count} rows of {columns} columns are more than {} numbers", limits.numbers);
                    return Err(Failure::too_large(message));
                }
                let labels = joint_labels(&joint, model, &rows)?;
                Some((joint, labels))
            }
            _ => None,
        };
        let format = match &self.accepts {
            // A request of tensors that accepts JSON gets tensors.
            Some(format) if self.format != BodyFormat::Tensors || *format != ResponseFormat::Records => format.clone(),
            _ => format,
        };
        Ok(ParsedRequest { rows, query, format, notices: params::notices(&parameters), numbers, conformal, joint })
    }

    /// The rows of a CSV body, read like the training file, and the inputs of conformal prediction sets, if requested.
    fn csv(&self, query: &Query, max_rows: usize) -> Result<(Rows, Option<ConformalInputs>), Failure> {
        let model = match &self.served.loaded {
            Loaded::Model(model) => model,
            Loaded::Joint(model) => {
                let columns = model.calibration().map(LabelColumns::of).unwrap_or_default();
                let known = csv_body::table(&self.body)?;
                let mut schema = joint_schema(model);
                // Targets are read where the body has them.
                let targets = model.names();
                schema.columns.retain(|(name, _)| !targets.contains(&name.as_str()) || known.column(name).is_some());
                let is_needed = params::joint_query(&self.parameters)?.conformal;
                let schema = if is_needed { columns.added_to(schema) } else { schema };
                let chunk = csv_body::chunk(&self.body, &schema, max_rows)?;
                let groups = if is_needed { columns.labels(&chunk)?.groups } else { Vec::new() };
                return Ok((Rows::Table(chunk.table, groups), None));
            }
            Loaded::Forecaster(_) => return Ok((Rows::Table(csv_body::table(&self.body)?, Vec::new()), None)),
        };
        check_calibrated(query, model)?;
        let chunk = csv_body::chunk(&self.body, &query.schema(model, Vec::new())?, max_rows)?;
        let conformal = ConformalInputs::of_chunk(query, model, &chunk)?;
        Ok((Rows::Table(chunk.table, Vec::new()), conformal))
    }
}

/// The labels of conformal sets of several targets, if requested.
fn joint_labels(joint: &JointQuery, model: &JointModel, rows: &Rows) -> Result<Labels, Failure> {
    let Some(calibration) = model.calibration().filter(|_| joint.conformal) else {
        return Ok(Labels::default());
    };
    let columns = LabelColumns::of(calibration);
    if let Some(name) = columns.by.filter(|_| rows.groups().is_empty()) {
        return Err(Failure::bad(format!(
            "conformal sets are by the groups of column {name:?}, which the rows do not have"
        )));
    }
    let table = rows.table()?;
    let labels = columns.with_groups(rows.groups().to_vec(), &table)?;
    if !calibration.is_shifted() {
        return Ok(labels);
    }
    let (data, _) = model.encoder().encode_features(&table)?;
    Ok(Labels { weights: calibration.shift_weights(&data).unwrap_or_default(), ..labels })
}

/// Asking an uncalibrated model for conformal sets is an error of the request, not of the server.
fn check_calibrated(query: &Query, model: &Model) -> Result<(), Failure> {
    if query.conformal && model.encoder().sequence().is_none() {
        model.known_calibration().map_err(|error| Failure::bad(error.to_string()))?;
    }
    Ok(())
}

impl ParsedRequest {
    /// The response, from a model's predictions for its rows.
    pub fn encode(&self, model: &Model, predictions: &Predictions) -> Result<Encoded, Failure> {
        let batch = Batch::new(model, predictions, self.rows.len()).conformal(self.conformal.as_ref());
        self.encoded(encode(&self.format, &self.query.batch_columns(&batch)?.columns)?)
    }

    /// The response with this body.
    pub fn encoded(&self, bytes: Vec<u8>) -> Result<Encoded, Failure> {
        Ok(Encoded { content_type: self.format.content_type(), bytes, notices: self.notices.clone() })
    }
}
