//! `negmm monitor` of models of several targets: a monitor for each target and for each of some directions.

use std::fs;
use std::path::Path;

use negmm::data::Warnings;
use negmm::model::SeenRows;
use negmm::monitor::{JointMonitor, JointMonitorStatus, MonitorConfig};
use negmm::{Error, JointModel};
use negmm_draw::Style;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::arguments::{self, Shared};
use crate::command::monitor::NOT_NEW;
use crate::command::verdict::figure;
use crate::console::{print, print_json, warn};
use crate::counted_rows::CountedRows;
use crate::output::write;
use crate::progress::Bar;
use crate::{format, input, row_notes, text_table};

/// Rows read at once.
const CHUNK: usize = 1_024;

/// The state of monitoring, as it is saved.
#[derive(Serialize, Deserialize)]
struct State {
    #[serde(flatten)]
    monitor: JointMonitor,
    #[serde(default, skip_serializing_if = "CountedRows::is_empty")]
    counted: CountedRows,
}

/// Runs it; whether there is an alarm.
pub fn run(
    arguments: &arguments::Monitor,
    config: MonitorConfig,
    (model, data): (&JointModel, &str),
    shared: &Shared,
) -> Result<bool, Error> {
    input::no_forecast(arguments.forecaster.first())?;
    let before = arguments.state.as_deref().map(|path| before(path, model, config)).transpose()?.flatten();
    let State { mut monitor, mut counted } = match before {
        Some(state) => state,
        None => State { monitor: JointMonitor::new(config, model.targets())?, counted: CountedRows::default() },
    };
    let schema = super::joint::schema(model, &model.names(), Vec::new());
    let mut stream = input::stream(data, &schema.in_dialect(&arguments.file.dialect()?)?)?;
    let (mut warnings, bar, mut left_out, mut rows) = (Warnings::default(), Bar::rows(shared), 0, 0);
    let mut seen = SeenRows::default();
    while let Some(chunk) = stream.next_chunk(CHUNK)? {
        warnings.merge(&chunk.warnings);
        rows += chunk.table.rows();
        bar.add(chunk.table.rows());
        let more = model.seen_rows(&chunk.table)?.unwrap_or_default();
        seen.merge(more);
        let table = match arguments.state {
            Some(_) => chunk.table.select_rows(&counted.new_rows(&model.row_hashes(&chunk.table)?, more.repeats)),
            None => chunk.table,
        };
        if table.rows() == 0 {
            continue;
        }
        let (predictions, odd) = model.predict_with_warnings(&table)?;
        warnings.merge(&odd);
        left_out += monitor.update(&predictions, &model.baseline(predictions.len()), &model.observed(&table)?)?;
    }
    bar.clear();
    if rows == left_out {
        return Err(Error::data("no row has all targets: there is nothing to monitor").in_file(data));
    }
    let mut sentences = warnings.sentences();
    if left_out > 0 {
        let (lack, are) = if left_out == 1 { ("lacks", "is") } else { ("lack", "are") };
        sentences.push(format!("{} {lack} a target and {are} left out", format::counted(left_out, "row")));
    }
    sentences.extend(row_notes::seen(&seen, "row", NOT_NEW));
    sentences.extend(counted.sentence());
    warn(shared.quiet, &sentences);
    let state = State { monitor, counted };
    if let Some(path) = &arguments.state {
        let text = serde_json::to_string(&state).map_err(|error| Error::data(error.to_string()))?;
        write(&path.display().to_string(), text.as_bytes())?;
    }
    if let (Some(path), Some((_, strongest))) = (&arguments.svg, state.monitor.strongest()) {
        write(path, figure(strongest).svg(Style::File).as_bytes())?;
    }
    let status = state.monitor.status();
    if shared.json {
        let alarm = !status.alarms.is_empty();
        print_json(&json!({
            "targets": model.names(), "rows": status.rows, "alpha": status.alpha, "alarm": alarm, "alarms": status.alarms,
            "evidence": status.evidence, "parts": status.parts,
        }))?;
    } else {
        print(&words(&status, &model.names()))?;
    }
    Ok(!status.alarms.is_empty())
}

/// The state of an earlier run, if its file exists.
fn before(path: &Path, model: &JointModel, config: MonitorConfig) -> Result<Option<State>, Error> {
    if !path.exists() {
        return Ok(None);
    }
    let text = fs::read_to_string(path).map_err(|error| Error::io(path, error))?;
    let state: State = serde_json::from_str(&text).map_err(|error| {
        Error::data(format!("this is not a state file of `negmm monitor` for several targets: {error}")).in_file(path)
    })?;
    let monitor = &state.monitor;
    if monitor.targets() != model.names() {
        let message = format!(
            "this is the state of a model of {}, and the targets of this model are {}",
            monitor.targets().join(", "),
            model.names().join(", ")
        );
        return Err(Error::data(message).in_file(path));
    }
    if monitor.config() != config {
        return Err(
            Error::options("--alpha, --tolerance and --seed must be the same as in the first run").in_file(path)
        );
    }
    Ok(Some(state))
}

/// The result as text.
fn words(status: &JointMonitorStatus, targets: &[&str]) -> String {
    let percent = format!("{}", 100.0 * status.alpha);
    let heading = match &status.alarms[..] {
        [] => format!("no alarm (false-alarm probability at most {percent} %)"),
        alarms => format!("ALARM: not calibrated: {} (false-alarm probability at most {percent} %)", alarms.join("; ")),
    };
    let mut lines =
        vec![["", "evidence, log10", "score mean", "score sd", "in 90 %", "since row"].map(str::to_string).to_vec()];
    for part in &status.parts {
        let own = &part.status;
        let number = |value: Option<f64>| value.map_or("-".into(), format::number);
        let inside = own.coverage.iter().find(|coverage| coverage.coverage == 0.9);
        lines.push(vec![
            part.name.clone(),
            format::number(own.evidence),
            number(own.score_mean),
            number(own.score_sd),
            inside.map_or("-".into(), |inside| format!("{:.1} %", 100.0 * inside.empirical)),
            own.alarm.map_or(String::new(), |alarm| format::count(alarm.since as usize)),
        ]);
    }
    format!(
        "{}, targets {}\n{heading}\n\n{}\n(targets, then directions of standardised targets; normal scores have mean 0 and sd 1 if calibrated)",
        format::counted(status.rows as usize, "row"),
        targets.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", "),
        text_table::table(&lines)
    )
}
