//! The endpoints of the page: a model's inputs, and the prediction of one row with its density, its highest-density regions and the
//! effect of each input.

use negmm::Distribution;
use negmm::HighestDensityRegion;
use std::sync::Arc;

use axum::Json as AxumJson;
use axum::body::Body as HttpBody;
use axum::extract::{Path, State};
use negmm::data::time::{clock, iso};
use negmm::data::{Encoding, Input, NumberEncoding, TimeFormat};
use serde_json::{Map, Value as Json, json};

use crate::density_plot::DensityPlot;
use crate::failure::Failure;
use crate::models::ServedModel;
use crate::rows::InputColumns;
use crate::state::AppState;

/// Values of a numeric input in its effect plot.
const GRID_POINTS: usize = 25;
/// Categories of an input in its effect plot, at most.
const MAX_CATEGORIES: usize = 12;
/// Inputs with an effect plot, at most.
const MAX_INPUTS: usize = 100;
/// Categories of a text input to choose from, at most.
const MAX_CHOICES: usize = 500;
/// Levels of the quantiles in the table.
const QUANTILES: [f64; 7] = [0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99];
/// Coverages of the highest-density regions.
const COVERAGES: [f64; 2] = [0.5, 0.9];

/// The inputs of a model: their types, ranges and categories, and an initial value.
pub async fn inputs(State(app): State<Arc<AppState>>, Path(model): Path<String>) -> Result<AxumJson<Json>, Failure> {
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
            json!({"name": input.name, "kind": "number", "low": low, "high": high, "start": rounded_to_range(number.mean, high - low)})
        }
        Encoding::Time(time) => {
            let (low, high) = range(&time.seconds);
            let text = |seconds: f64| format_time(time.format, seconds.round());
            json!({"name": input.name, "kind": "time", "low": text(low), "high": text(high), "start": text(time.seconds.mean)})
        }
        Encoding::Text(text) => {
            let levels = categories(text);
            json!({"name": input.name, "kind": "text", "levels": levels, "start": levels.first()})
        }
    }
}

/// The categories of a text column, the most frequent first as far as known.
fn categories(text: &negmm::data::TextEncoding) -> Vec<&str> {
    let more = text.statistics.iter().filter(|levels| levels.words.is_none()).flat_map(|levels| &levels.names);
    let mut levels: Vec<&str> = text.levels.iter().map(String::as_str).collect();
    levels.extend(more.map(String::as_str).filter(|name| !text.levels.iter().any(|level| level == name)));
    levels.truncate(MAX_CHOICES);
    levels
}

/// A time in the format of the training file.
fn format_time(format: TimeFormat, seconds: f64) -> Json {
    match format {
        TimeFormat::TimeOfDay => json!(clock(seconds)),
        TimeFormat::Seconds => json!(seconds),
        TimeFormat::Milliseconds => json!(seconds * 1000.0),
        _ => json!(iso(seconds)),
    }
}

/// The range in training, or two sds around the mean where the model file lacks it.
fn range(number: &NumberEncoding) -> (f64, f64) {
    number.range.unwrap_or((number.mean - 2.0 * number.sd, number.mean + 2.0 * number.sd))
}

/// A number rounded to a thousandth of the range.
fn rounded_to_range(number: f64, range: f64) -> f64 {
    let digits = (3.0 - libm::log10(range.abs().max(f64::MIN_POSITIVE))).floor().clamp(-300.0, 300.0);
    let unit = libm::pow(10.0, digits);
    let rounded = (number * unit).round() / unit;
    if rounded.is_finite() { rounded } else { number }
}

/// The prediction of one row: `{"row": {"size": 60, "city": "Oslo"}}`.
pub async fn explore(
    State(app): State<Arc<AppState>>,
    Path(model): Path<String>,
    body: HttpBody,
) -> Result<AxumJson<Json>, Failure> {
    let served = app.served(&model)?;
    let body = app.body(body).await?;
    let limit = app.limits.rows;
    let explored = tokio::task::spawn_blocking(move || explore_row(&served, &body, limit)).await;
    explored.unwrap_or_else(|_| Err(Failure::internal())).map(AxumJson)
}

/// The values of one input in its effect plot.
struct Varied<'a> {
    input: &'a Input,
    values: Vec<Json>,
}

fn explore_row(served: &ServedModel, body: &[u8], max_rows: usize) -> Result<Json, Failure> {
    let body: Json = serde_json::from_slice(body).map_err(|error| Failure::bad(format!("not JSON: {error}")))?;
    let Some(Json::Object(given)) = body.get("row") else {
        return Err(Failure::bad("expected {\"row\": {column: value, …}}"));
    };
    let model = served.model()?;
    let encoder = model.encoder();
    // A column that the row does not have is missing.
    let mut row: Map<String, Json> = served.used.names.iter().map(|name| (name.clone(), Json::Null)).collect();
    row.extend(given.clone());
    if encoder.sequence().is_some() {
        return Err(Failure::bad("rows of a sequence cannot be explored one by one: send a table of steps to /infer"));
    }
    let used = encoder.inputs().iter().filter(|input| input.encoding.features() > 0);
    let varied: Vec<Varied<'_>> = used.take(MAX_INPUTS).map(|input| varied(input, &row)).collect();
    let mut records = vec![Json::Object(row.clone())];
    for Varied { input, values } in &varied {
        for value in values {
            let mut other = row.clone();
            other.insert(input.name.clone(), value.clone());
            records.push(Json::Object(other));
        }
    }
    records.truncate(max_rows);
    let table = InputColumns::of_records(&records, &served.used)?.table()?;
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
    let distribution = predictions.row(0);
    let plot = DensityPlot::new(&distribution);
    let novelty = model.novelty(&table.select_rows(&[0])).ok();
    Ok(json!({
        "target": encoder.target().name,
        "mean": distribution.mean(),
        "sd": distribution.sd(),
        "quantiles": QUANTILES.map(|level| (level, distribution.quantile(level))),
        "regions": COVERAGES.map(|coverage| (coverage, ends(&distribution.hdr(coverage)))),
        "curve": plot.curve,
        "values": plot.values,
        "grid": encoder.target().support.step,
        "novelty": novelty.as_ref().map(|novelty| novelty.distances()[0]),
        "novelty_input": novelty.as_ref().and_then(|novelty| novelty.inputs()[0].map(String::from)),
        "effects": effects,
    }))
}

/// The values of one input while the others stay.
fn varied<'a>(input: &'a Input, row: &Map<String, Json>) -> Varied<'a> {
    let spread = |(low, high): (f64, f64)| {
        (0..GRID_POINTS)
            .map(move |point| low + (high - low) * point as f64 / (GRID_POINTS - 1) as f64)
            .collect::<Vec<f64>>()
    };
    let values = match &input.encoding {
        Encoding::Number(number) => spread(range(number)).into_iter().map(|value| json!(value)).collect(),
        Encoding::Time(time) => {
            spread(range(&time.seconds)).into_iter().map(|seconds| format_time(time.format, seconds.round())).collect()
        }
        Encoding::Text(text) => {
            let mut levels: Vec<Json> =
                categories(text).into_iter().take(MAX_CATEGORIES).map(|level| json!(level)).collect();
            let own = row.get(&input.name).filter(|own| own.is_string() && !levels.contains(own));
            levels.extend(own.cloned());
            levels
        }
    };
    Varied { input, values }
}

/// The ends of each interval of a region.
fn ends(region: &HighestDensityRegion) -> Vec<(f64, f64)> {
    region.intervals().iter().map(|interval| (*interval).into()).collect()
}
