//! The table and plot of scores, compared with the constant baseline.

use negmm::Metrics;
use negmm::censored::Censored;
use negmm::metrics::COVERAGES;
use negmm_draw::{Axis, Colour, Figure, Mark, Panel};

use super::{Plot, TextTable};
use crate::diagnostics::Diagnostics;
use crate::text::{num, percent};

/// Name, score of the model and score of the baseline.
fn scored(metrics: &Metrics, baseline: &Metrics) -> [(&'static str, f64, f64); 3] {
    [("CRPS", metrics.crps, baseline.crps), ("RMSE", metrics.rmse, baseline.rmse), ("MAE", metrics.mae, baseline.mae)]
}

/// The skill score: the relative improvement over the baseline.
fn skill(ours: f64, theirs: f64) -> f64 {
    if theirs > 0.0 { 1.0 - ours / theirs } else { 0.0 }
}

/// The table of all scores: name, model, constant, improvement, and those of the rows held out in training.
pub fn score_table(held_out: Option<&Metrics>, diagnostics: &Diagnostics) -> TextTable {
    let (ours, theirs) = (&diagnostics.metrics, &diagnostics.baseline);
    let mut table = TextTable::new(["score", "model", "constant", "improvement"]);
    if held_out.is_some() {
        table.header.push("held out in training".into());
    }
    let mut push = |name: &str, cells: [String; 3], held_out: Option<String>| {
        let mut row = vec![name.to_string()];
        row.extend(cells);
        row.extend(held_out);
        table.rows.push(row);
    };
    let gain = |ours: f64, theirs: f64| {
        let better = if theirs >= ours { "better" } else { "worse" };
        [num(ours), num(theirs), format!("{} {better}", num((theirs - ours).abs()))]
    };
    if let (Some(ours), Some(theirs)) = (&ours.censored, &theirs.censored) {
        let censored = held_out.map(|metrics| metrics.censored.as_ref());
        let cell = |score: Option<f64>| score.map_or(String::new(), num);
        let held_out_cell = |of: fn(&Censored) -> Option<f64>| censored.map(|censored| cell(censored.and_then(of)));
        push("NLL of all rows", gain(ours.nll, theirs.nll), held_out_cell(|scores| Some(scores.nll)));
        if let (Some(ours), Some(theirs)) = (ours.integrated_brier, theirs.integrated_brier) {
            let cells = [num(ours), num(theirs), percent(skill(ours, theirs))];
            push("integrated Brier score of all rows", cells, held_out_cell(|scores| scores.integrated_brier));
        }
        let cells = [cell(ours.concordance), cell(theirs.concordance), String::new()];
        push("concordance of all rows", cells, held_out_cell(|scores| scores.concordance));
    }
    push("NLL (log score)", gain(ours.nll, theirs.nll), held_out.map(|metrics| num(metrics.nll)));
    if let (Some(ours), Some(theirs)) = (ours.mass_nll, theirs.mass_nll) {
        let held_out = held_out.map(|metrics| metrics.mass_nll.map_or(String::new(), num));
        push("mass NLL (discrete target)", gain(ours, theirs), held_out);
    }
    let held_out_scores = held_out.map(|metrics| scored(metrics, metrics).map(|(_, score, _)| num(score)));
    for (at, (name, ours, theirs)) in scored(ours, theirs).into_iter().enumerate() {
        let cells = [num(ours), num(theirs), percent(skill(ours, theirs))];
        push(name, cells, held_out_scores.as_ref().map(|scores| scores[at].clone()));
    }
    for level in COVERAGES {
        let coverage = |metrics: &Metrics| percent(metrics.coverage.get(level).unwrap_or(f64::NAN));
        let name = format!("coverage of the {} % interval", level * 100.0);
        push(&name, [coverage(ours), coverage(theirs), String::new()], held_out.map(coverage));
    }
    let width = |metrics: &Metrics| num(metrics.width.get(0.95).unwrap_or(f64::NAN));
    push("width of the 95 % interval", [width(ours), width(theirs), String::new()], held_out.map(width));
    table
}

/// The plot of skill scores.
pub fn scores(diagnostics: &Diagnostics) -> Plot {
    let scores = scored(&diagnostics.metrics, &diagnostics.baseline);
    let names = scores.map(|(name, _, _)| name.to_string());
    let skills = scores.map(|(_, ours, theirs)| skill(ours, theirs));
    let mut table = TextTable::new(["score", "model", "constant", "improvement"]);
    for (name, ours, theirs) in scores {
        table.push([name.into(), num(ours), num(theirs), percent(skill(ours, theirs))]);
    }
    let labels: Vec<String> =
        names.iter().zip(skills).map(|(name, skill)| format!("{name} {}", percent(skill))).collect();
    let x = Axis::new("skill score").percent().include(0.0).include(1.0);
    let panel = Panel::new(x, Axis::categories("", &labels).range(2.5, -0.5))
        .with(Mark::horizontal_bars(&[0.0; 3], &skills).colour(Colour::Blue));
    Plot {
        name: "scores".into(),
        caption: "The relative improvement over the constant baseline, which predicts the same distribution for every row: 100 % is \
            perfect, 0 % is no better than the baseline, below 0 % is worse."
            .into(),
        figure: Figure::new("Improvement over the constant baseline", format!("Skill scores: {}.", labels.join(", ")))
            .panel_size(400.0, 170.0)
            .panel(panel),
        table,
    }
}
