//! Responsible for `negmm monitor`: watch a model at work, by what it predicted and what really happened.

use std::fs;
use std::path::Path;

use negmm::data::Warnings;
use negmm::monitor::{Monitor, Verdict, Watching};
use negmm::{Error, Loaded, Model};
use negmm_draw::{Axis, Figure, Ink, Mark, Panel, Style};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::arguments::{self, Shared};
use crate::output::write;
use crate::places::{Written, apart};
use crate::progress::Bar;
use crate::report::{count, counted, number};
use crate::say::{say, say_json, warn};
use crate::without_target::WithoutTarget;
use crate::{input, report};

/// Rows read at once.
const CHUNK: usize = 16_384;

/// What was seen before, as a file has it.
#[derive(Serialize, Deserialize)]
struct State {
    target: String,
    monitor: Monitor,
}

/// Runs it; says whether the alarm is on.
pub fn run(arguments: &arguments::Monitor, shared: &Shared) -> Result<bool, Error> {
    shared.threads(None)?;
    let share = |name: &str, text: &str| {
        text.trim().parse::<f64>().map_err(|_| Error::options(format!("{name} must be a number, found {text:?}")))
    };
    let watching = Watching {
        alpha: share("alpha", &arguments.alpha)?,
        tolerance: share("tolerance", &arguments.tolerance)?,
        seed: input::number("seed", &arguments.seed)?,
    };
    let new = Monitor::new(watching)?;
    let state = arguments.state.as_ref().map(|path| path.display().to_string());
    let picture = arguments.svg.as_deref().map(|place| Written { what: "picture", place, option: "--svg FILE" });
    let kept = state.as_deref().map(|place| Written { what: "state", place, option: "--state FILE" });
    let outputs: Vec<Written<'_>> = picture.into_iter().chain(kept).collect();
    apart(shared.json, &outputs, &[("model", &*arguments.model), ("data", Path::new(&arguments.data))])?;
    let Loaded::Model(model) = input::model(&arguments.model, Some(&arguments.data))? else {
        return Err(Error::options(
            "the model is a forecaster, and monitor watches models of rows: see negmm evaluate",
        ));
    };
    if model.encoder().target().is_censored() {
        return Err(Error::options("a watch needs targets that are known, and those of this model may be censored"));
    }
    let monitor = arguments.state.as_deref().map(|path| before(path, &model, watching)).transpose()?.flatten();
    let mut monitor = monitor.unwrap_or(new);
    see(&mut monitor, arguments, &model, shared)?;
    if let Some(place) = &state {
        let state = State { target: model.encoder().target().name.clone(), monitor: monitor.clone() };
        let text = serde_json::to_string(&state).map_err(|error| Error::data(error.to_string()))?;
        write(place, text.as_bytes())?;
    }
    if let Some(place) = &arguments.svg {
        write(place, figure(&monitor).svg(Style::File).as_bytes())?;
    }
    let verdict = monitor.verdict();
    let training = model.record().validation.as_ref().map(|scores| scores.crps);
    if shared.json {
        let value = json!({"target": model.encoder().target().name, "training_crps": training});
        let mut value = merged(serde_json::to_value(&verdict), value)?;
        value["since"] = json!(verdict.alarm.map(|alarm| alarm.since));
        value["alarm_row"] = json!(verdict.alarm.map(|alarm| alarm.row));
        value["alarm"] = json!(verdict.alarm.is_some());
        say_json(&value)?;
    } else {
        say(&words(&verdict, &model, training))?;
    }
    Ok(verdict.alarm.is_some())
}

/// What a file says was seen before, where there is one.
fn before(path: &Path, model: &Model, watching: Watching) -> Result<Option<Monitor>, Error> {
    if !path.exists() {
        return Ok(None);
    }
    let text = fs::read_to_string(path).map_err(|error| Error::io(path, error))?;
    let state: State = serde_json::from_str(&text)
        .map_err(|error| Error::data(format!("this is not what `negmm monitor` has seen: {error}")).in_file(path))?;
    let target = &model.encoder().target().name;
    if state.target != *target {
        let of = &state.target;
        return Err(
            Error::data(format!("this is of a model of {of:?}, and the model is one of {target:?}")).in_file(path)
        );
    }
    if state.monitor.watching() != watching {
        return Err(
            Error::options("alpha, tolerance and seed must stay as they were when the watch began").in_file(path)
        );
    }
    Ok(Some(state.monitor))
}

fn see(monitor: &mut Monitor, arguments: &arguments::Monitor, model: &Model, shared: &Shared) -> Result<(), Error> {
    let schema = model.encoder().schema_with_target();
    let mut stream = input::stream(&arguments.data, &schema.in_dialect(&input::dialect(&arguments.file)?)?)?;
    let (mut warnings, bar, mut without_target) = (Warnings::default(), Bar::rows(shared), WithoutTarget::new(model));
    // A sequence is read whole: windows do not end where chunks do.
    let at_once = if model.encoder().sequence().is_some() { usize::MAX } else { CHUNK };
    while let Some(chunk) = stream.next_chunk(at_once)? {
        warnings.merge(&chunk.warnings);
        let Some(table) = without_target.leave_out(chunk.table)? else { continue };
        let (predictions, odd) = model.predict_known(&table)?;
        warnings.merge(&odd);
        monitor.see(&predictions, &model.baseline(predictions.len()), &model.encoder().targets(&table)?)?;
        bar.add(table.rows());
    }
    bar.clear();
    warn(shared.quiet, &[without_target.finish()?, warnings.sentences()].concat());
    Ok(())
}

fn merged(value: serde_json::Result<serde_json::Value>, more: serde_json::Value) -> Result<serde_json::Value, Error> {
    let mut value = value.map_err(|error| Error::data(error.to_string()))?;
    if let (Some(value), serde_json::Value::Object(more)) = (value.as_object_mut(), more) {
        value.extend(more);
    }
    Ok(value)
}

/// A number of evidence: as it is, or as a power of ten.
fn evidence(log10: f64) -> String {
    if log10.abs() < 4.0 { number(10f64.powf(log10)) } else { format!("10^{log10:.0}") }
}

fn words(verdict: &Verdict, model: &Model, training: Option<f64>) -> String {
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    let short = |number: f64| format!("{number:.3}").trim_end_matches('0').trim_end_matches('.').to_string();
    let (at, alpha) = (short(1.0 / verdict.alpha), short(100.0 * verdict.alpha));
    let tolerated = match verdict.tolerance {
        0.0 => String::new(),
        tolerance => format!("; {} % off is tolerated", short(100.0 * tolerance)),
    };
    let rare = format!("the alarm is at {at}, and false with probability {alpha} % at most{tolerated}");
    let against = evidence(verdict.evidence);
    let mut lines: Vec<(String, String)> = Vec::new();
    match verdict.alarm {
        None => lines.push(("calibrated?".into(), format!("nothing speaks against it: evidence {against} ({rare})"))),
        Some(alarm) => {
            let (row, since) = (count(alarm.row as usize), count(alarm.since as usize));
            lines.push(("ALARM".into(), format!("not calibrated: evidence {against} ({rare})")));
            lines.push(("since".into(), format!("about row {since}, found at row {row}")));
        }
    }
    if let (Some(mean), Some(sd)) = (verdict.score_mean, verdict.score_sd) {
        let text = format!("mean {}, sd {} (0 and 1 when calibrated)", number(mean), number(sd));
        lines.push(("normal scores".into(), text));
    }
    for share in &verdict.coverage {
        let [held, lower, upper] = [share.held, share.lower, share.upper].map(percent);
        let text = format!("{held} held, between {lower} and {upper} at every moment");
        lines.push((format!("{} % intervals", 100.0 * share.coverage), text));
    }
    if let (Some(crps), Some(constant)) = (verdict.crps, verdict.constant_crps) {
        let before = training.map_or(String::new(), |training| format!(", in training {}", number(training)));
        lines.push(("CRPS".into(), format!("{}, by a constant {}{before}", number(crps), number(constant))));
    }
    let width = lines.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let mut text = format!("{}, target {:?}", counted(verdict.rows as usize, "row"), model.encoder().target().name);
    lines.iter().for_each(|(name, said)| text.push_str(&format!("\n{name:<width$}  {said}")));
    text
}

/// The course of the evidence.
fn figure(monitor: &Monitor) -> Figure {
    let verdict = monitor.verdict();
    let (rows, logs): (Vec<f64>, Vec<f64>) =
        monitor.course().iter().map(|(rows, log)| (*rows as f64, log / std::f64::consts::LN_10)).unzip();
    let mut panel = Panel::new(Axis::new("rows"), Axis::new("evidence (powers of ten)"))
        .with(Mark::line(&rows, &logs).ink(Ink::Blue).name("evidence against calibration"))
        .with(Mark::lying_rule(-verdict.alpha.log10()).ink(Ink::Text).dashed().name("alarm"));
    if let Some(alarm) = verdict.alarm {
        panel = panel.with(Mark::upright_rule(alarm.since as f64).ink(Ink::Text).dashed().name("since"));
    }
    let words = if verdict.alarm.is_some() { "the alarm is on" } else { "no alarm" };
    Figure::new("Is the model calibrated?", format!("{}: {words}.", report::counted(verdict.rows as usize, "row")))
        .panel(panel)
}
