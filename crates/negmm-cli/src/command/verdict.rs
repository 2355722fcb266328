//! Responsible for what a watch says to a person: its verdict in words, and the course of the evidence as a picture.

use negmm::monitor::{Monitor, Verdict};
use negmm_draw::{Axis, Colour, Figure, Mark, Panel};

use crate::report::{count, counted, number};

/// Evidence: as it is, or as a power of ten.
fn evidence(log10: f64) -> String {
    if log10.abs() < 4.0 { number(10f64.powf(log10)) } else { format!("10^{log10:.0}") }
}

/// What was watched.
pub struct Subject {
    /// The target.
    pub target: String,
    /// What the CRPS stands beside.
    pub beside: String,
    /// The CRPS of held-out rows in training.
    pub training: Option<f64>,
}

/// A verdict in words.
pub fn words(verdict: &Verdict, Subject { target, beside, training }: &Subject) -> String {
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
        lines.push(("CRPS".into(), format!("{}, by {beside} {}{before}", number(crps), number(constant))));
    }
    let width = lines.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let mut text = format!("{}, target {target:?}", counted(verdict.rows as usize, "row"));
    lines.iter().for_each(|(name, said)| text.push_str(&format!("\n{name:<width$}  {said}")));
    text
}

/// The course of the evidence as a picture.
pub fn figure(monitor: &Monitor) -> Figure {
    let verdict = monitor.verdict();
    let (rows, logs): (Vec<f64>, Vec<f64>) =
        monitor.course().iter().map(|(rows, log)| (*rows as f64, log / std::f64::consts::LN_10)).unzip();
    let mut panel = Panel::new(Axis::new("rows"), Axis::new("evidence (powers of ten)"))
        .with(Mark::line(&rows, &logs).colour(Colour::Blue).name("evidence against calibration"))
        .with(Mark::horizontal_rule(-verdict.alpha.log10()).colour(Colour::Text).dashed().name("alarm"));
    if let Some(alarm) = verdict.alarm {
        panel = panel.with(Mark::vertical_rule(alarm.since as f64).colour(Colour::Text).dashed().name("since"));
    }
    let words = if verdict.alarm.is_some() { "the alarm is on" } else { "no alarm" };
    Figure::new("Is the model calibrated?", format!("{}: {words}.", counted(verdict.rows as usize, "row"))).panel(panel)
}
