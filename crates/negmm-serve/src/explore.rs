//! Responsible for what the page asks: what a model's inputs are, and all about one row: its density, its sets, and how the prediction
//! changes when one input does.

use std::sync::Arc;

use axum::Json as AxumJson;
use axum::body::Body as HttpBody;
use axum::extract::{Path, State};
use negmm::data::time::{clock, iso};
use negmm::data::{Encoding, Input, NumberEncoding, TimeForm};
use serde_json::{Map, Value as Json, json};

use crate::app::App;
use crate::failure::Failure;
use crate::models::Served;
use crate::picture::Picture;
use crate::rows::Columns;

/// Places of an input at which the others stay.
const PLACES: usize = 25;
/// Levels of an input that are tried, at most.
const LEVELS: usize = 12;
/// Inputs that are tried, at most.
const MOST_INPUTS: usize = 100;
/// Levels of a text input that can be chosen from, at most.
const CHOICES: usize = 500;
/// Levels of the quantiles that are told.
const QUANTILES: [f64; 7] = [0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99];
/// Shares of the sets that are told.
const SHARES: [f64; 2] = [0.5, 0.9];

/// The inputs of a model: their kinds, ranges and levels, and a value to begin with.
pub async fn inputs(State(app): State<Arc<App>>, Path(model): Path<String>) -> Result<AxumJson<Json>, Failure> {
    let served = app.served(&model)?;
    let model = served.model()?;
    let encoder = model.encoder();
    let used = encoder.inputs().iter().filter(|input| input.encoding.features() > 0);
    Ok(AxumJson(json!({
        "model": served.name,
        "method": model.method().name(),
        "target": encoder.target().name,
        "support": encoder.target().support,
        "window": encoder.sequence().map(|sequence| sequence.window),
        "inputs": used.map(described).collect::<Vec<_>>(),
    })))
}

fn described(input: &Input) -> Json {
    match &input.encoding {
        Encoding::Number(number) => {
            let (low, high) = range(number);
            json!({"name": input.name, "kind": "number", "low": low, "high": high, "start": tidy(number.mean, high - low)})
        }
        Encoding::Time(time) => {
            let (low, high) = range(&time.seconds);
            let text = |seconds: f64| written(time.form, seconds.round());
            json!({"name": input.name, "kind": "time", "low": text(low), "high": text(high), "start": text(time.seconds.mean)})
        }
        Encoding::Text(text) => {
            let levels = choices(text);
            json!({"name": input.name, "kind": "text", "levels": levels, "start": levels.first()})
        }
    }
}

/// The levels of a text column, the most frequent first as far as that is known.
fn choices(text: &negmm::data::TextEncoding) -> Vec<&str> {
    let whole = text.statistics.iter().filter(|levels| levels.words.is_none()).flat_map(|levels| &levels.names);
    let mut levels: Vec<&str> = text.levels.iter().map(String::as_str).collect();
    levels.extend(whole.map(String::as_str).filter(|name| !text.levels.iter().any(|level| level == name)));
    levels.truncate(CHOICES);
    levels
}

/// A time as the model's files have it, in a form that it reads.
fn written(form: TimeForm, seconds: f64) -> Json {
    match form {
        TimeForm::Clock => json!(clock(seconds)),
        TimeForm::Seconds => json!(seconds),
        TimeForm::Milliseconds => json!(seconds * 1000.0),
        _ => json!(iso(seconds)),
    }
}

/// The range of training, or two sds around the mean where it was not kept.
fn range(number: &NumberEncoding) -> (f64, f64) {
    number.range.unwrap_or((number.mean - 2.0 * number.sd, number.mean + 2.0 * number.sd))
}

/// A number with as many digits as a thousandth of the range needs.
fn tidy(number: f64, range: f64) -> f64 {
    let digits = (3.0 - libm::log10(range.abs().max(f64::MIN_POSITIVE))).floor().clamp(-300.0, 300.0);
    let unit = libm::pow(10.0, digits);
    let rounded = (number * unit).round() / unit;
    if rounded.is_finite() { rounded } else { number }
}

/// All about one row: `{"row": {"size": 60, "place": "Oslo"}}`.
pub async fn explored(
    State(app): State<Arc<App>>,
    Path(model): Path<String>,
    body: HttpBody,
) -> Result<AxumJson<Json>, Failure> {
    let served = app.served(&model)?;
    let body = app.body(body).await?;
    let limit = app.limits.rows;
    let answer = tokio::task::spawn_blocking(move || answer(&served, &body, limit)).await;
    answer.unwrap_or_else(|_| Err(Failure::internal())).map(AxumJson)
}

/// How one input is varied.
struct Varied<'a> {
    input: &'a Input,
    values: Vec<Json>,
}

fn answer(served: &Served, body: &[u8], most_rows: usize) -> Result<Json, Failure> {
    let body: Json = serde_json::from_slice(body).map_err(|error| Failure::bad(format!("no JSON: {error}")))?;
    let Some(Json::Object(given)) = body.get("row") else {
        return Err(Failure::bad("expected {\"row\": {column: value, …}}"));
    };
    let model = served.model()?;
    let encoder = model.encoder();
    // A column that the row does not have is missing.
    let mut row: Map<String, Json> = served.used.names.iter().map(|name| (name.clone(), Json::Null)).collect();
    row.extend(given.clone());
    if encoder.sequence().is_some() {
        return Err(Failure::bad("rows of a sequence cannot be explored one by one: ask /infer for a table of steps"));
    }
    let used = encoder.inputs().iter().filter(|input| input.encoding.features() > 0);
    let varied: Vec<Varied<'_>> = used.take(MOST_INPUTS).map(|input| varied(input, &row)).collect();
    let mut records = vec![Json::Object(row.clone())];
    for Varied { input, values } in &varied {
        for value in values {
            let mut other = row.clone();
            other.insert(input.name.clone(), value.clone());
            records.push(Json::Object(other));
        }
    }
    records.truncate(most_rows);
    let table = Columns::of_records(&records, &served.used)?.table()?;
    let predictions = model.predict(&table)?;
    let (mean, low, high) = (predictions.mean(), predictions.quantile(0.05)?, predictions.quantile(0.95)?);
    let mut first = 1;
    let mut effects = Vec::new();
    for Varied { input, values } in &varied {
        let rows = first..(first + values.len()).min(predictions.len());
        first += values.len();
        if rows.start >= rows.end {
            break;
        }
        effects.push(json!({
            "input": input.name,
            "values": &values[..rows.len()],
            "mean": &mean[rows.clone()],
            "low": &low[rows.clone()],
            "high": &high[rows],
        }));
    }
    let law = predictions.row(0);
    let picture = Picture::new(&law);
    let novelty = model.novelty(&table.select_rows(&[0])).ok();
    Ok(json!({
        "target": encoder.target().name,
        "mean": law.mean(),
        "sd": law.sd(),
        "quantiles": QUANTILES.map(|level| (level, law.quantile(level))),
        "regions": SHARES.map(|share| (share, law.region(share).intervals().to_vec())),
        "curve": picture.curve,
        "values": picture.values,
        "grid": encoder.target().support.step,
        "novelty": novelty.as_ref().map(|novelty| novelty.distances()[0]),
        "novelty_input": novelty.as_ref().and_then(|novelty| novelty.inputs()[0].map(String::from)),
        "effects": effects,
    }))
}

/// The values that an input takes while the others stay.
fn varied<'a>(input: &'a Input, row: &Map<String, Json>) -> Varied<'a> {
    let spread = |(low, high): (f64, f64)| {
        (0..PLACES).map(move |place| low + (high - low) * place as f64 / (PLACES - 1) as f64).collect::<Vec<f64>>()
    };
    let values = match &input.encoding {
        Encoding::Number(number) => spread(range(number)).into_iter().map(|value| json!(value)).collect(),
        Encoding::Time(time) => {
            spread(range(&time.seconds)).into_iter().map(|seconds| written(time.form, seconds.round())).collect()
        }
        Encoding::Text(text) => {
            let mut levels: Vec<Json> = choices(text).into_iter().take(LEVELS).map(|level| json!(level)).collect();
            let own = row.get(&input.name).filter(|own| own.is_string() && !levels.contains(own));
            levels.extend(own.cloned());
            levels
        }
    };
    Varied { input, values }
}
