//! `negmm monitor`: a sequential test of calibration, from predictions and observed targets.

use std::fs;
use std::path::Path;

use negmm::data::Warnings;
use negmm::forecast::{BacktestOrigins, ForecastPoint, Forecaster, Forecasts};
use negmm::model::SeenRows;
use negmm::monitor::{Monitor, MonitorConfig};
use negmm::{Error, Loaded, Model};
use negmm_draw::Style;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::arguments::{self, Shared};
use crate::command::alarm_groups::{self, AlarmGroups};
use crate::command::verdict::{Subject, figure, words};
use crate::command::{monitor_joint, monitor_predictions};
use crate::console::{print, print_json, print_warnings, warn};
use crate::counted_rows::CountedRows;
use crate::input;
use crate::output::write;
use crate::output_paths::{OutputPath, check_distinct};
use crate::progress::Bar;
use crate::row_notes;
use crate::without_target::WithoutTarget;

/// Rows read at once.
const CHUNK: usize = 16_384;

/// What follows from rows that were learnt from.
pub const NOT_NEW: &str = "the calibration of new rows is not known from them";

/// The state of monitoring, as it is saved.
#[derive(Serialize, Deserialize)]
struct State {
    target: String,
    monitor: Monitor,
    /// The time of the last monitored step of a series, in seconds since 1970 if it has dates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    until: Option<f64>,
    /// The last monitored rows of a table, or of predictions.
    #[serde(default, skip_serializing_if = "CountedRows::is_empty")]
    counted: CountedRows,
}

/// Runs it; whether there is an alarm.
pub fn run(arguments: &arguments::Monitor, shared: &Shared) -> Result<bool, Error> {
    shared.threads();
    let arguments::Monitor { alpha, tolerance, seed, .. } = *arguments;
    let config = MonitorConfig::default().alpha(alpha).tolerance(tolerance).seed(seed);
    let new = Monitor::new(config)?;
    let state = arguments.state.as_ref().map(|path| path.display().to_string());
    let picture = arguments.svg.as_deref().map(|path| OutputPath { what: "plot", path, option: "--svg FILE" });
    let kept = state.as_deref().map(|path| OutputPath { what: "state", path, option: "--state FILE" });
    let outputs: Vec<OutputPath<'_>> = picture.into_iter().chain(kept).collect();
    let predictions = arguments.of_predictions.predictions.as_deref();
    let data = arguments.data.as_deref().or(predictions).unwrap_or_default();
    let model = arguments.model.as_deref().map(|model| ("model", model));
    let inputs: Vec<(&str, &Path)> = model.into_iter().chain([("data", Path::new(data))]).collect();
    check_distinct(shared.json, &outputs, &inputs)?;
    let loaded = arguments.model.as_deref().map(|model| input::model(model, Some(data))).transpose()?;
    if arguments.explain {
        alarm_groups::check(loaded.as_ref())?;
    }
    if let Some(Loaded::Joint(model)) = &loaded {
        return monitor_joint::run(arguments, config, (model, data), shared);
    }
    let subject = loaded.as_ref().map_or_else(|| Ok(monitor_predictions::subject(arguments)), subject)?;
    let before = arguments.state.as_deref().map(|path| before(path, &subject.target, config)).transpose()?.flatten();
    let mut seen = before.unwrap_or_else(|| State {
        target: subject.target.clone(),
        monitor: new,
        until: None,
        counted: CountedRows::default(),
    });
    let mut groups = arguments.explain.then(|| AlarmGroups::after(seen.monitor.status().rows));
    match &loaded {
        None => {
            input::no_forecast(arguments.forecaster.first())?;
            let State { monitor, counted, .. } = &mut seen;
            let counted = arguments.state.is_some().then_some(counted);
            monitor_predictions::see((monitor, counted), arguments, data, shared)?;
        }
        Some(Loaded::Model(model)) => {
            input::no_forecast(arguments.forecaster.first())?;
            see(&mut seen, arguments, (data, model, groups.as_mut()), shared)?;
        }
        Some(Loaded::Joint(_)) => {}
        Some(Loaded::Forecaster(forecaster)) => see_series(&mut seen, arguments, data, forecaster, shared)?,
    }
    if let Some(path) = &state {
        let text = serde_json::to_string(&seen).map_err(|error| Error::data(error.to_string()))?;
        write(path, text.as_bytes())?;
    }
    if let Some(path) = &arguments.svg {
        write(path, figure(&seen.monitor).svg(Style::File).as_bytes())?;
    }
    let verdict = seen.monitor.status();
    let off = groups.map(|groups| groups.of(&verdict));
    if shared.json {
        let value = json!({"target": subject.target, "training_crps": subject.training});
        let mut value = merged(serde_json::to_value(&verdict), value)?;
        value["since"] = json!(verdict.alarm.map(|alarm| alarm.since));
        value["alarm_row"] = json!(verdict.alarm.map(|alarm| alarm.row));
        value["alarm"] = json!(verdict.alarm.is_some());
        if let Some(off) = &off {
            value["groups"] = off.json();
        }
        print_json(&value)?;
    } else {
        let groups = off.as_ref().and_then(|off| off.words()).map_or(String::new(), |words| format!("\n\n{words}"));
        print(&format!("{}{groups}", words(&verdict, &subject)))?;
    }
    Ok(verdict.alarm.is_some())
}

/// What is monitored.
fn subject(loaded: &Loaded) -> Result<Subject, Error> {
    match loaded {
        Loaded::Model(model) if model.encoder().target().is_censored() => {
            Err(Error::options("monitoring needs observed targets, and those of this model may be censored"))
        }
        Loaded::Model(model) => Ok(Subject {
            target: model.encoder().target().name.clone(),
            baseline: "constant".into(),
            training: model.record().validation.as_ref().map(|scores| scores.crps),
        }),
        Loaded::Joint(model) => {
            Ok(Subject { target: model.names().join(", "), baseline: "constant".into(), training: None })
        }
        Loaded::Forecaster(forecaster) => {
            let roles = &forecaster.transform().spec;
            // The scores of training are averages over the horizon.
            let training = forecaster.scores().first().filter(|_| roles.horizon == 1);
            Ok(Subject {
                target: roles.target.clone(),
                baseline: forecaster.best_baseline().map_or(String::new(), |baseline| format!("{:?}", baseline.name)),
                training: training.map(|scores| scores.crps),
            })
        }
    }
}

/// The state of an earlier run, if its file exists.
fn before(path: &Path, target: &str, config: MonitorConfig) -> Result<Option<State>, Error> {
    if !path.exists() {
        return Ok(None);
    }
    let text = fs::read_to_string(path).map_err(|error| Error::io(path, error))?;
    let state: State = serde_json::from_str(&text)
        .map_err(|error| Error::data(format!("this is not a state file of `negmm monitor`: {error}")).in_file(path))?;
    if state.target != target {
        let of = &state.target;
        return Err(Error::data(format!(
            "this is the state of a model of {of:?}, and the target of this model is {target:?}"
        ))
        .in_file(path));
    }
    if state.monitor.config() != config {
        return Err(
            Error::options("--alpha, --tolerance and --seed must be the same as in the first run").in_file(path)
        );
    }
    Ok(Some(state))
}

/// Updates the monitor with the rows of a file. With a state, rows that were counted before are left out.
fn see(
    state: &mut State,
    arguments: &arguments::Monitor,
    (data, model, mut groups): (&str, &Model, Option<&mut AlarmGroups>),
    shared: &Shared,
) -> Result<(), Error> {
    let schema = model.encoder().schema_with_target();
    let mut stream = input::stream(data, &schema.in_dialect(&arguments.file.dialect()?)?)?;
    let (mut warnings, bar, mut without_target) = (Warnings::default(), Bar::rows(shared), WithoutTarget::new(model));
    // A sequence is read as a whole, because windows cross chunks.
    let at_once = if model.encoder().sequence().is_some() { usize::MAX } else { CHUNK };
    let mut seen = SeenRows::default();
    while let Some(chunk) = stream.next_chunk(at_once)? {
        warnings.merge(&chunk.warnings);
        let Some(table) = without_target.leave_out(chunk.table)? else { continue };
        let (predictions, odd) = model.predict_known(&table)?;
        warnings.merge(&odd);
        let more = model.seen_rows(&table)?.unwrap_or_default();
        seen.merge(more);
        let y = model.encoder().targets(&table)?;
        let new = match arguments.state {
            Some(_) => state.counted.new_rows(&model.row_hashes(&table)?, more.repeats),
            None => (0..y.len()).collect(),
        };
        let own: Vec<f64> = new.iter().map(|row| y[*row]).collect();
        let (predictions, baseline) = (predictions.select(&new), model.baseline(new.len()));
        state.monitor.update(&predictions, &baseline, &own)?;
        if let Some(groups) = &mut groups {
            groups.add(model, &table.select_rows(&new), (&predictions, &baseline), &own)?;
        }
        bar.add(table.rows());
    }
    bar.clear();
    warn(shared.quiet, &[without_target.finish()?, warnings.sentences()].concat());
    warn(shared.quiet, row_notes::seen(&seen, "row", NOT_NEW).as_slice());
    warn(shared.quiet, state.counted.sentence().as_slice());
    Ok(())
}

/// Updates the monitor with the steps of a series, each forecast one step ahead.
fn see_series(
    seen: &mut State,
    arguments: &arguments::Monitor,
    data: &str,
    forecaster: &Forecaster,
    shared: &Shared,
) -> Result<(), Error> {
    let last = arguments.forecaster.flags.last;
    let clock = forecaster.transform().frequency;
    if arguments.state.is_some() && forecaster.transform().spec.time.is_none() {
        let message = "--state needs timestamps (fit --time), so that no step of a series is counted twice";
        return Err(Error::options(message));
    }
    let table = input::table(data, &arguments.file.dialect()?)?;
    let histories = forecaster.histories(&table)?;
    let [series] = &histories.series[..] else {
        return Err(Error::data(format!(
            "there are {} series, whose errors are dependent: monitor one series at a time",
            histories.series.len()
        )));
    };
    if seen.until.is_none() {
        let mut origins = BacktestOrigins::default().stride(1);
        origins.test_size = last;
        let learnt = forecaster.seen_steps(&histories, origins);
        let sentence = learnt.and_then(|learnt| row_notes::seen(&learnt, "step", NOT_NEW));
        warn(shared.quiet, sentence.as_slice());
    }
    let is_new = |point: &ForecastPoint| seen.until.is_none_or(|until| series.time(point.step(), clock) > until);
    let points: Vec<ForecastPoint> = forecaster.next_steps(&histories, last).into_iter().filter(is_new).collect();
    print_warnings(shared.quiet, &histories.warnings);
    let Some(end) = points.last() else {
        warn(shared.quiet, &["there are no new steps".to_string()]);
        return Ok(());
    };
    seen.until = Some(series.time(end.step(), clock)).filter(|time| !time.is_nan());
    let y: Vec<f64> = points.iter().map(|point| series.values[point.step()]).collect();
    let best = forecaster.best_baseline().map(|baseline| baseline.name.clone());
    let baseline = forecaster.baselines(&histories, &points).into_iter().find(|own| Some(&own.name) == best.as_ref());
    let Forecasts { predictions, .. } = forecaster.predict(&table, &histories, points)?;
    seen.monitor.update(&predictions, &baseline.map_or_else(|| predictions.clone(), |own| own.predictions), &y)
}

fn merged(value: serde_json::Result<serde_json::Value>, more: serde_json::Value) -> Result<serde_json::Value, Error> {
    let mut value = value.map_err(|error| Error::data(error.to_string()))?;
    if let (Some(value), serde_json::Value::Object(more)) = (value.as_object_mut(), more) {
        value.extend(more);
    }
    Ok(value)
}
