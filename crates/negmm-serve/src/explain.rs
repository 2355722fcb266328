//! The endpoint of explanations: what each input contributes to answers about rows.

use std::sync::Arc;

use axum::Json as AxumJson;
use axum::body::Body as HttpBody;
use axum::extract::{Path, State};
use negmm::explain::{Answer, Effort, Explainer, Explanation, verdict};
use serde::Deserialize;
use serde_json::{Map, Value as Json, json};

use crate::arrow_body::too_many;
use crate::failure::Failure;
use crate::models::ServedModel;
use crate::rows::InputColumns;
use crate::state::AppState;

/// The answers where none are asked for.
const ANSWERS: &str = "mean,sd";
/// Predictions of mixed rows for one request at most.
const MOST_PREDICTIONS: usize = 1 << 20;
/// Contributions in the sentence of an answer where none are asked for.
const TOP: usize = 5;

/// What is asked for.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Question {
    row: Option<Map<String, Json>>,
    rows: Option<Vec<Map<String, Json>>>,
    #[serde(default = "answers")]
    of: String,
    permutations: Option<usize>,
    top: Option<usize>,
}

fn answers() -> String {
    ANSWERS.into()
}

/// Explains rows: `{"row": {"size": 60, "city": "Oslo"}, "of": "mean,sd"}`.
pub async fn explain(
    State(app): State<Arc<AppState>>,
    Path(model): Path<String>,
    body: HttpBody,
) -> Result<AxumJson<Json>, Failure> {
    let served = app.served(&model)?;
    let body = app.body(body).await?;
    let (rows, numbers) = (app.limits.rows, app.limits.numbers);
    let explained = tokio::task::spawn_blocking(move || explained(&served, &body, (rows, numbers))).await;
    explained.unwrap_or_else(|_| Err(Failure::internal())).map(AxumJson)
}

fn explained(served: &ServedModel, body: &[u8], (most_rows, most_numbers): (usize, usize)) -> Result<Json, Failure> {
    let question: Question = serde_json::from_slice(body).map_err(|error| {
        Failure::bad(format!(
            "expected {{\"row\": {{column: value, …}}}} or {{\"rows\": [{{…}}, …]}}, with \"of\", \"permutations\" \
             and \"top\" beside it: {error}"
        ))
    })?;
    let records = match (question.row, question.rows) {
        (Some(row), None) => vec![row],
        (None, Some(rows)) => rows,
        _ => return Err(Failure::bad("expected either \"row\" or \"rows\"")),
    };
    let model = served.model()?;
    if model.encoder().sequence().is_some() {
        return Err(Failure::bad("rows of a sequence cannot be explained one by one: they are steps"));
    }
    if records.is_empty() {
        return Err(Failure::bad("there are no rows in the body"));
    }
    if records.len() > most_rows {
        return Err(Failure::too_large(too_many(most_rows)));
    }
    let answers = Answer::list(&question.of)?;
    if let Some(answer) = answers.iter().find(|answer| answer.needs_target()) {
        let name = answer.name();
        return Err(Failure::bad(format!("the answer {name} needs targets, which this endpoint does not take")));
    }
    let background = model.background().cloned().ok_or_else(|| {
        Failure::bad("the model carries no training rows to compare with: fit it again, with --background above 0")
    })?;
    let explainer = Explainer::new(model, background, answers)?;
    let explainer = match question.permutations {
        Some(pairs) => explainer.with_effort(Effort::Permutations(pairs))?,
        None => explainer,
    };
    let columns = explainer.columns().len();
    if records.len().saturating_mul(explainer.answers().len() * (2 * columns + 2)) > most_numbers {
        let message = format!("the response would have more than {most_numbers} numbers: send fewer rows at once");
        return Err(Failure::too_large(message));
    }
    let subsets = 1usize.checked_shl(columns as u32).unwrap_or(usize::MAX);
    let each = match explainer.effort_for(records.len()) {
        Effort::Permutations(pairs) => (2 * pairs * columns.saturating_sub(1)).min(subsets),
        _ => subsets,
    };
    let predictions = records.len().saturating_mul(explainer.background().rows()).saturating_mul(each);
    if predictions > MOST_PREDICTIONS {
        return Err(Failure::too_large(format!(
            "these contributions take {predictions} predictions, and one request may take {MOST_PREDICTIONS}: send \
             fewer rows at once, or use `negmm explain`"
        )));
    }
    // A column that a row does not have is missing.
    let whole = |record: &Map<String, Json>| {
        let mut row: Map<String, Json> = served.used.names.iter().map(|name| (name.clone(), Json::Null)).collect();
        row.extend(record.clone());
        Json::Object(row)
    };
    let records: Vec<Json> = records.iter().map(whole).collect();
    let table = InputColumns::of_records(&records, &served.used)?.table()?;
    let (explanation, _) = explainer.explain(&table)?;
    let verdicts = (model.members() > 1).then(|| model.predict(&table)).transpose()?.map(|predictions| {
        let (aleatoric, epistemic) = predictions.variance_by_members();
        aleatoric.into_iter().zip(epistemic).map(|(within, between)| verdict(between.sqrt(), within.sqrt()))
    });
    let verdicts: Option<Vec<&str>> = verdicts.map(Iterator::collect);
    let top = question.top.unwrap_or(TOP);
    let rows: Vec<Json> = (0..explanation.rows())
        .map(|row| {
            let answers: Vec<Json> = (0..explanation.answers().len())
                .map(|answer| of_answer(&explanation, (row, answer), &records[row], top))
                .collect();
            json!({"answers": answers, "verdict": verdicts.as_ref().map(|verdicts| verdicts[row])})
        })
        .collect();
    Ok(json!({
        "model": served.name,
        "background": explainer.background().rows(),
        "exact": explanation.is_exact(),
        "columns": explanation.columns(),
        "rows": rows,
    }))
}

/// An answer for a row: contributions and errors are in the order of the columns.
fn of_answer(explanation: &Explanation, (row, answer): (usize, usize), record: &Json, top: usize) -> Json {
    let cell = |name: &str| match record.get(name) {
        None | Some(Json::Null) => Some("missing".to_string()),
        Some(Json::String(text)) => Some(text.clone()),
        Some(other) => Some(other.to_string()),
    };
    json!({
        "answer": explanation.answers()[answer],
        "value": explanation.value(row, answer),
        "base": explanation.base(row, answer),
        "contributions": explanation.contributions(row, answer),
        "errors": explanation.errors(row, answer),
        "sentence": explanation.sentence(row, answer, top, cell),
    })
}
