//! Plots of verification: Murphy diagrams, and reliability diagrams with the decomposition of the CRPS.

use negmm::verification::murphy::murphy_curve;
use negmm::verification::{Decomposition, decompose_brier, decompose_crps, isotonic_regression};
use negmm::{Distribution, Predictions};
use negmm_draw::{Axis, Colour, Figure, Mark, Panel};

use super::{Plot, TextTable, evenly_spaced};
use crate::evaluation_set::EvaluationSet;
use crate::text::{num, percent};

/// Rows of these plots, at most: evenly spaced ones of more.
const ROWS: usize = 4_000;
/// Thresholds θ of a Murphy diagram, and the part of the targets on each side that is beyond its axis.
const THETAS: usize = 121;
const BEYOND: f64 = 0.005;
/// The predictions of Murphy diagrams: their names, and levels where they are quantiles.
const FUNCTIONALS: [(&str, Option<f64>); 3] = [("mean", None), ("median", Some(0.5)), ("90 % quantile", Some(0.9))];
/// Fractions of the targets up to the thresholds of reliability diagrams.
const THRESHOLDS: [f64; 3] = [0.25, 0.5, 0.75];

/// Some rows: targets, weights and predictions.
struct Rows {
    y: Vec<f64>,
    weights: Vec<f64>,
    predictions: Predictions,
}

impl Rows {
    fn of(evaluation: &EvaluationSet) -> Self {
        let chosen = evenly_spaced(evaluation.len(), ROWS);
        Self {
            y: chosen.iter().map(|row| evaluation.y[*row]).collect(),
            weights: chosen.iter().map(|row| evaluation.weight(*row)).collect(),
            predictions: evaluation.predictions.select(&chosen),
        }
    }

    /// The targets in ascending order.
    fn sorted(&self) -> Vec<f64> {
        let mut sorted = self.y.clone();
        sorted.sort_by(f64::total_cmp);
        sorted
    }
}

/// The Murphy diagrams of mean, median and 90 % quantile, beside the baseline; none where the targets hardly differ.
pub fn murphy(target: &str, baseline: &Predictions, evaluation: &EvaluationSet) -> Option<Plot> {
    let rows = Rows::of(evaluation);
    let sorted = rows.sorted();
    let end = |level: f64| sorted[((sorted.len() - 1) as f64 * level).round() as usize];
    let (low, high) = (end(BEYOND), end(1.0 - BEYOND));
    if low >= high {
        return None;
    }
    let thetas: Vec<f64> = (0..THETAS).map(|at| low + (high - low) * at as f64 / (THETAS - 1) as f64).collect();
    let mut table = TextTable::new(["threshold", "of", "model", "constant"]);
    let mut figure = Figure::new("Murphy diagrams", "").columns(1).panel_size(400.0, 190.0);
    let (mut words, mut lines) = (Vec::new(), Vec::new());
    for (name, level) in FUNCTIONALS {
        let point = |predictions: &Predictions, row: usize| match level {
            Some(level) => predictions.row(row).quantile(level),
            None => predictions.row(row).mean(),
        };
        let curve = |x: &[f64]| murphy_curve(x, &rows.y, Some(&rows.weights), level, &thetas);
        let ours = curve(&(0..rows.y.len()).map(|row| point(&rows.predictions, row)).collect::<Vec<_>>());
        let constant = curve(&vec![point(baseline, 0); rows.y.len()]);
        let better = ours.iter().zip(&constant).filter(|(ours, constant)| ours <= constant).count();
        words.push(format!("{} ({name})", percent(better as f64 / THETAS as f64)));
        for at in (0..THETAS).step_by(12) {
            lines.push(vec![num(thetas[at]), name.to_string(), num(ours[at]), num(constant[at])]);
        }
        let panel = Panel::new(Axis::new(format!("threshold of {target}")), Axis::new("mean score").include(0.0))
            .title(name)
            .with(Mark::line(&thetas, &constant).colour(Colour::Orange).width(1.5).dashed().name("constant"))
            .with(Mark::line(&thetas, &ours).colour(Colour::Blue).width(2.0).name("model"));
        figure = figure.panel(panel);
    }
    table = table.filled(lines);
    let figure =
        figure.described(format!("No worse than the constant baseline at {} of the thresholds.", words.join(", ")));
    Some(Plot {
        name: "murphy".into(),
        caption: "Mean elementary scores: every score that is consistent for a mean or a quantile is a weighted mean of these \
            scores along the axis. Where the curve of the model is nowhere above that of the baseline, it is at least as good by \
            all of these scores; lower is better."
            .into(),
        figure,
        table,
    })
}

/// Reliability diagrams of the events that the target is at most its quartiles, and the decomposition of the CRPS; none where the
/// targets hardly differ.
pub fn reliability(target: &str, evaluation: &EvaluationSet) -> Option<Plot> {
    let rows = Rows::of(evaluation);
    let sorted = rows.sorted();
    let mut thresholds: Vec<f64> =
        THRESHOLDS.iter().map(|level| sorted[((sorted.len() - 1) as f64 * level) as usize]).collect();
    thresholds.dedup();
    thresholds.retain(|threshold| *threshold < sorted[sorted.len() - 1]);
    let cdf = |row: usize, at: f64| rows.predictions.row(row).cdf(at);
    let crps = decompose_crps(cdf, &rows.y, Some(&rows.weights))?;
    let mut table = TextTable::new(["score", "mean", "miscalibration", "discrimination", "uncertainty"]);
    let mut push = |name: String, parts: &Decomposition| {
        table.push([
            name,
            num(parts.score),
            num(parts.miscalibration),
            num(parts.discrimination),
            num(parts.uncertainty),
        ]);
    };
    push("CRPS within the range of the targets".into(), &crps);
    let mut panel = Panel::new(
        Axis::new("predicted probability").percent().range(0.0, 1.0),
        Axis::new("observed frequency").percent().range(0.0, 1.0),
    )
    .with(Mark::line(&[0.0, 1.0], &[0.0, 1.0]).colour(Colour::Orange).width(1.0).dashed().name("calibrated"));
    for (at, threshold) in thresholds.iter().enumerate() {
        let name = format!("{target} at most {}", num(*threshold));
        if let Some(parts) = decompose_brier(cdf, &rows.y, Some(&rows.weights), *threshold) {
            push(format!("Brier score, {name}"), &parts);
        }
        let mut events: Vec<(f64, f64, f64)> = (0..rows.y.len())
            .map(|row| {
                let event = f64::from(u8::from(rows.y[row] <= *threshold));
                (cdf(row, *threshold), event, rows.weights[row])
            })
            .collect();
        events.sort_by(|a, b| a.0.total_cmp(&b.0));
        let fitted = isotonic_regression(&events);
        // The ends of each flat piece.
        let is_end = |at: &usize| {
            *at == 0 || at + 1 == fitted.len() || fitted[*at] != fitted[at - 1] || fitted[*at] != fitted[at + 1]
        };
        let (x, y): (Vec<f64>, Vec<f64>) =
            (0..fitted.len()).filter(is_end).map(|at| (events[at].0, fitted[at])).unzip();
        panel = panel.with(Mark::line(&x, &y).colour(Colour::series(at)).width(2.0).name(name));
    }
    let gain = if crps.score > 0.0 { crps.miscalibration / crps.score } else { 0.0 };
    let description = format!("Miscalibration is {} of the CRPS.", percent(gain));
    Some(Plot {
        name: "reliability".into(),
        caption: format!(
            "How often the target was at most a threshold (its quartiles) among rows with that predicted probability, by \
             isotonic regression (CORP): on the diagonal the probabilities are right. The CRPS within the range of the targets, {}, \
             is {} miscalibration (what recalibration would gain) - {} discrimination (what the predictions know beyond the \
             observed frequencies) + {} uncertainty.",
            num(crps.score),
            num(crps.miscalibration),
            num(crps.discrimination),
            num(crps.uncertainty),
        ),
        figure: Figure::new("Reliability diagrams", description).panel(panel),
        table,
    })
}
