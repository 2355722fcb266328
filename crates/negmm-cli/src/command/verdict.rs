//! The result of monitoring as text, and the e-process as a figure.

use negmm::monitor::{Monitor, MonitorStatus};
use negmm_draw::{Axis, Colour, Figure, Mark, Panel};

use crate::format::{count, counted, number};

/// An e-value, large ones as powers of ten.
fn e_value(log10: f64) -> String {
    if log10.abs() < 4.0 { number(10f64.powf(log10)) } else { format!("10^{log10:.0}") }
}

/// What is monitored.
pub struct Subject {
    /// The target.
    pub target: String,
    /// The baseline of the CRPS.
    pub baseline: String,
    /// The CRPS of the held-out rows of training.
    pub training: Option<f64>,
}

/// The result as text.
pub fn words(verdict: &MonitorStatus, Subject { target, baseline, training }: &Subject) -> String {
    let percent = |fraction: f64| format!("{:.1} %", 100.0 * fraction);
    let short = |number: f64| format!("{number:.3}").trim_end_matches('0').trim_end_matches('.').to_string();
    let (at, alpha) = (short(1.0 / verdict.alpha), short(100.0 * verdict.alpha));
    let tolerated = match verdict.tolerance {
        0.0 => String::new(),
        tolerance => format!(", tolerance {} %", short(100.0 * tolerance)),
    };
    let test = format!("alarm at {at}, false-alarm probability at most {alpha} %{tolerated}");
    let e_value = e_value(verdict.evidence);
    let mut lines: Vec<(String, String)> = Vec::new();
    match verdict.alarm {
        None => lines.push(("no alarm".into(), format!("e-value {e_value} against calibration ({test})"))),
        Some(alarm) => {
            let (row, since) = (count(alarm.row as usize), count(alarm.since as usize));
            lines.push(("ALARM".into(), format!("not calibrated: e-value {e_value} ({test})")));
            lines.push(("change point".into(), format!("about row {since}, detected at row {row}")));
        }
    }
    if let (Some(mean), Some(sd)) = (verdict.score_mean, verdict.score_sd) {
        let text = format!("mean {}, sd {} (0 and 1 if calibrated)", number(mean), number(sd));
        lines.push(("normal scores".into(), text));
    }
    for coverage in &verdict.coverage {
        let [observed, lower, upper] = [coverage.empirical, coverage.lower, coverage.upper].map(percent);
        let text = format!("coverage {observed}, confidence sequence {lower} to {upper}");
        lines.push((format!("{} % intervals", 100.0 * coverage.coverage), text));
    }
    if let (Some(crps), Some(constant)) = (verdict.crps, verdict.constant_crps) {
        let before = training.map_or(String::new(), |training| format!(", in training {}", number(training)));
        let beside = match baseline.as_str() {
            "" => String::new(),
            baseline => format!(", baseline ({baseline}) {}", number(constant)),
        };
        lines.push(("CRPS".into(), format!("{}{beside}{before}", number(crps))));
    }
    let width = lines.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let mut text = format!("{}, target {target:?}", counted(verdict.rows as usize, "row"));
    lines.iter().for_each(|(name, line)| text.push_str(&format!("\n{name:<width$}  {line}")));
    text
}

/// The e-process as a figure.
pub fn figure(monitor: &Monitor) -> Figure {
    let verdict = monitor.status();
    let (rows, logs): (Vec<f64>, Vec<f64>) =
        monitor.evidence().map(|point| (point.rows as f64, point.log / std::f64::consts::LN_10)).unzip();
    let mut panel = Panel::new(Axis::new("rows"), Axis::new("e-value (log10)"))
        .with(Mark::line(&rows, &logs).colour(Colour::Blue).name("e-process against calibration"))
        .with(Mark::horizontal_rule(-verdict.alpha.log10()).colour(Colour::Text).dashed().name("alarm"));
    if let Some(alarm) = verdict.alarm {
        panel = panel.with(Mark::vertical_rule(alarm.since as f64).colour(Colour::Text).dashed().name("change point"));
    }
    let words = if verdict.alarm.is_some() { "alarm" } else { "no alarm" };
    Figure::new("Is the model calibrated?", format!("{}: {words}.", counted(verdict.rows as usize, "row"))).panel(panel)
}
