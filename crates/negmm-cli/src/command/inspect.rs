//! `negmm inspect`: a description of a model and its training data.

use negmm::data::time::{clock, iso};
use negmm::data::{
    Categories, Encoding, Input, NumberEncoding, TextEncoding, TimeDifference, TimeEncoding, TimeFormat, TimePart,
};
use negmm::train::History;
use negmm::{Error, Loaded};
use serde_json::{Value, json};

use crate::arguments::{Inspect, Shared};
use crate::column_summary::counted_categories;
use crate::command::{fit, forecast};
use crate::console::{print, print_json};
use crate::{format, input, text_table};

/// Categories to show of a text column.
const CATEGORIES_SHOWN: usize = 8;

/// Runs it.
pub fn run(inspect: &Inspect, shared: &Shared) -> Result<(), Error> {
    let Some(model) = &inspect.model else { return engines(shared) };
    let loaded = input::model(model, None)?;
    if shared.json { print_json(&object(&loaded)) } else { print(&text(&loaded)) }
}

/// The engines, and why some cannot be used.
fn engines(shared: &Shared) -> Result<(), Error> {
    let engines = crate::engine::engines();
    if shared.json {
        let object = engines.into_iter().map(|(name, found)| match found {
            Ok(found) => (name.to_string(), json!({ "usable": true, "found": found })),
            Err(error) => (name.to_string(), json!({ "usable": false, "reason": error.to_string() })),
        });
        return print_json(&Value::Object(object.collect()));
    }
    let line = |(name, found): (&str, Result<String, Error>)| match found {
        Ok(found) => vec![name.to_string(), found],
        Err(error) => vec![name.to_string(), format!("not available: {error}")],
    };
    print(&text_table::left_aligned(&engines.map(line)))
}

/// The description as JSON.
pub fn object(loaded: &Loaded) -> Value {
    let model = match loaded {
        Loaded::Model(model) => model,
        Loaded::Forecaster(forecaster) => return forecast::object(forecaster),
        Loaded::Joint(model) => return super::joint::object(model),
    };
    let encoder = model.encoder();
    let (epochs, best_epoch) = fit::epochs(model);
    json!({
        "method": model.method().to_json(),
        "target": encoder.target(),
        "inputs": encoder.inputs(),
        "features": encoder.feature_names(),
        "parameters": model.predictor().parameters(),
        "components": model.components(),
        "epochs": epochs,
        "best_epoch": best_epoch,
        "record": model.record(),
        "calibration": model.calibration().map(|calibration| json!({
            "rows": calibration.rows(),
            "out_of_fold": calibration.is_out_of_fold(),
            "by": calibration.by(),
            "weight": calibration.weight(),
        })),
    })
}

/// The description as text.
pub fn text(loaded: &Loaded) -> String {
    let model = match loaded {
        Loaded::Model(model) => model,
        Loaded::Forecaster(forecaster) => return forecast::text(forecaster),
        Loaded::Joint(model) => return super::joint::text(model),
    };
    let (encoder, record) = (model.encoder(), model.record());
    let mut text = fit::summary(model);
    let target = encoder.target();
    text.push_str(&format!(
        "\ntrained by negmm {}, seed {}; target mean {}, sd {}\n\n",
        record.version,
        record.seed,
        format::number(target.mean),
        if target.constant { "0 (constant)".into() } else { format::number(target.scale) },
    ));
    let inputs = encoder.inputs().iter().map(|input| vec![input.name.clone(), describe(input)]);
    let inputs =
        inputs.chain(encoder.differences().iter().map(|difference| vec![difference.name(), length(difference)]));
    text.push_str(&text_table::left_aligned(&inputs.collect::<Vec<_>>()));
    if !record.histories.is_empty() {
        let settings = model.method().options().into_iter().map(|option| vec![option.name.to_string(), option.value]);
        text.push_str(&format!("\n\n{}", text_table::left_aligned(&settings.collect::<Vec<_>>())));
    }
    if let (epochs, Some(best)) = fit::epochs(model) {
        let skipped: usize = record.histories.iter().map(|history| history.skipped()).sum();
        text.push_str(&match &record.histories[..] {
            [_] => format!("\n\n{}, best epoch {best}", format::counted(epochs, "epoch")),
            histories => format!("\n\n{}", kept(histories)),
        });
        if skipped > 0 {
            text.push_str(&format!(", {} skipped (not finite)", format::counted(skipped, "step")));
        }
    }
    if let Some(scores) = fit::held_out_scores(model) {
        text.push_str(&format!("\n\n{scores}"));
    }
    if let Some(calibration) = model.calibration() {
        let how = if calibration.is_out_of_fold() { "predicted out of fold" } else { "of a calibration set" };
        let by = calibration.by().map_or(String::new(), |by| format!(", by {by:?}"));
        text.push_str(&format!(
            "\n\nconformal prediction sets from {} {how}{by}",
            format::counted(calibration.rows(), "row")
        ));
    }
    text
}

/// When the best checkpoints were found.
fn kept(histories: &[History]) -> String {
    let mut best: Vec<usize> = histories.iter().map(|history| history.best_epoch + 1).collect();
    best.sort_unstable();
    let checks = histories.iter().map(|history| history.epochs.len()).max().unwrap_or(0);
    let (first, middle, last) = (best[0], best[best.len() / 2], best[best.len() - 1]);
    let networks = format::counted(best.len(), "network");
    let found = match first == last {
        true => format!("at check {first}"),
        false => format!("at checks {first} to {last} (median {middle})"),
    };
    format!("{networks}, best checkpoint {found} of at most {checks} on the held-out rows")
}

/// How an input is encoded.
pub fn describe(input: &Input) -> String {
    let (encoding, read_as) = (&input.encoding, input.column_type());
    match encoding {
        Encoding::Number(NumberEncoding { sd: 0.0, missing_flag: false, .. }) => "constant, not used".into(),
        Encoding::Number(NumberEncoding { mean, sd, missing_flag, .. }) => {
            let flag = if *missing_flag { ", with missing cells" } else { "" };
            format!("{read_as}, mean {}, sd {}{flag}", format::number(*mean), format::number(*sd))
        }
        Encoding::Text(_) if encoding.features() == 0 => "constant, not used".into(),
        Encoding::Text(TextEncoding { levels, pooled, missing, statistics }) => {
            let mut parts = Vec::new();
            if !levels.is_empty() {
                let shown: Vec<&str> = levels.iter().take(CATEGORIES_SHOWN).map(String::as_str).collect();
                let more = if levels.len() > shown.len() { ", …" } else { "" };
                let pooled = if *pooled { ", others pooled" } else { "" };
                parts.push(format!("{}: {}{more}{pooled}", counted_categories(levels.len()), shown.join(", ")));
            }
            if !statistics.is_empty() {
                let of: Vec<String> = statistics.iter().map(Categories::describe).collect();
                parts.push(format!("target encoding (mean, spread and count) of {}", of.join(", ")));
            }
            let missing = if *missing { ", with missing cells" } else { "" };
            format!("text, {}{missing}", parts.join("; "))
        }
        Encoding::Time(_) if encoding.features() == 0 => "constant, not used".into(),
        Encoding::Time(TimeEncoding { format, seconds, parts }) => {
            let mean =
                if *format == TimeFormat::TimeOfDay { clock(seconds.mean.round()) } else { iso(seconds.mean.round()) };
            let parts: String = parts.iter().map(|part| format!(", {}", part_name(part))).collect();
            let missing = if seconds.missing_flag { ", with missing cells" } else { "" };
            format!("time ({format}), mean {mean}, sd {}{parts}{missing}", duration(seconds.sd))
        }
    }
}

fn part_name(part: &TimePart) -> &'static str {
    match part {
        TimePart::TimeOfYear => "time of year",
        TimePart::DayOfWeek(_) => "day of week",
        TimePart::TimeOfDay => "time of day",
    }
}

fn length(difference: &TimeDifference) -> String {
    let NumberEncoding { mean, sd, .. } = difference.seconds;
    format!("difference, mean {}, sd {}", duration(mean), duration(sd))
}

/// Seconds in a suitable unit.
fn duration(seconds: f64) -> String {
    let units = [("days", 86_400.0), ("hours", 3600.0), ("minutes", 60.0)];
    let unit = units.into_iter().find(|(_, length)| seconds.abs() >= 2.0 * length);
    let (name, length) = unit.unwrap_or(("seconds", 1.0));
    format!("{} {name}", format::number(seconds / length))
}
