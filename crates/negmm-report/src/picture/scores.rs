//! Responsible for scores beside those of the constant baseline.

use negmm::censored::Censored;
use negmm::{Metrics, Model};
use negmm_draw::{Axis, Figure, Ink, Mark, Panel};

use super::{Grid, Picture};
use crate::answers::Answers;
use crate::cases::{Cases, Origin};
use crate::text::{num, percent};

/// A score of both, and the share of the baseline's that is saved.
fn lines(metrics: &Metrics, baseline: &Metrics) -> [(&'static str, f64, f64); 3] {
    [("CRPS", metrics.crps, baseline.crps), ("RMSE", metrics.rmse, baseline.rmse), ("MAE", metrics.mae, baseline.mae)]
}

fn saved(ours: f64, theirs: f64) -> f64 {
    if theirs > 0.0 { 1.0 - ours / theirs } else { 0.0 }
}

/// The table of all scores: name, model, constant, improvement, and those of the rows held out in training.
pub fn score_lines(model: &Model, cases: &Cases, answers: &Answers) -> Grid {
    let (ours, theirs) = (&answers.metrics, &answers.baseline);
    let held_out = model.record().validation.as_ref().filter(|_| cases.origin != Origin::HeldOut);
    let mut grid = Grid::new(["score", "model", "constant", "improvement"]);
    if held_out.is_some() {
        grid.heading.push("held out in training".into());
    }
    let mut line = |name: &str, cells: [String; 3], held: Option<String>| {
        let mut line = vec![name.to_string()];
        line.extend(cells);
        line.extend(held);
        grid.lines.push(line);
    };
    let gain = |ours: f64, theirs: f64| {
        let better = if theirs >= ours { "better" } else { "worse" };
        [num(ours), num(theirs), format!("{} {better}", num((theirs - ours).abs()))]
    };
    if let (Some(ours), Some(theirs)) = (&ours.censored, &theirs.censored) {
        let held = held_out.map(|metrics| metrics.censored.as_ref());
        let cell = |score: Option<f64>| score.map_or(String::new(), num);
        let held_cell = |of: fn(&Censored) -> Option<f64>| held.map(|held| cell(held.and_then(of)));
        line("NLL of all rows", gain(ours.nll, theirs.nll), held_cell(|scores| Some(scores.nll)));
        if let (Some(ours), Some(theirs)) = (ours.integrated_brier, theirs.integrated_brier) {
            let cells = [num(ours), num(theirs), percent(saved(ours, theirs))];
            line("integrated Brier score of all rows", cells, held_cell(|scores| scores.integrated_brier));
        }
        let cells = [cell(ours.concordance), cell(theirs.concordance), String::new()];
        line("concordance of all rows", cells, held_cell(|scores| scores.concordance));
    }
    line("NLL (log score)", gain(ours.nll, theirs.nll), held_out.map(|metrics| num(metrics.nll)));
    if let (Some(ours), Some(theirs)) = (ours.mass_nll, theirs.mass_nll) {
        let held = held_out.map(|metrics| metrics.mass_nll.map_or(String::new(), num));
        line("mass NLL (discrete target)", gain(ours, theirs), held);
    }
    let held = held_out.map(|metrics| lines(metrics, metrics).map(|(_, score, _)| num(score)));
    for (at, (name, ours, theirs)) in lines(ours, theirs).into_iter().enumerate() {
        let cells = [num(ours), num(theirs), percent(saved(ours, theirs))];
        line(name, cells, held.as_ref().map(|held| held[at].clone()));
    }
    for level in ["0.5", "0.9", "0.95"] {
        let share = |metrics: &Metrics| percent(metrics.coverage.get(level).copied().unwrap_or(f64::NAN));
        let name = format!("inside the {} % interval", level.parse::<f64>().unwrap_or(0.0) * 100.0);
        line(&name, [share(ours), share(theirs), String::new()], held_out.map(share));
    }
    let width = |metrics: &Metrics| num(metrics.width.get("0.95").copied().unwrap_or(f64::NAN));
    line("width of the 95 % interval", [width(ours), width(theirs), String::new()], held_out.map(width));
    grid
}

/// The picture of improvements.
pub fn scores(answers: &Answers) -> Picture {
    let lines = lines(&answers.metrics, &answers.baseline);
    let names = lines.map(|(name, _, _)| name.to_string());
    let shares = lines.map(|(_, ours, theirs)| saved(ours, theirs));
    let mut table = Grid::new(["score", "model", "constant", "improvement"]);
    for (name, ours, theirs) in lines {
        table.push([name.into(), num(ours), num(theirs), percent(saved(ours, theirs))]);
    }
    let told: Vec<String> =
        names.iter().zip(shares).map(|(name, share)| format!("{name} {}", percent(share))).collect();
    let x = Axis::new("error saved").percent().include(0.0).include(1.0);
    let panel = Panel::new(x, Axis::words("", &told).range(2.5, -0.5))
        .with(Mark::lying_bars(&[0.0; 3], &shares).ink(Ink::Blue));
    Picture {
        file: "scores".into(),
        reading: "How much of the constant baseline's error the model saves: 100 % would be perfect, 0 % is no better \
            than predicting the same mean and spread for every row, less is worse than that."
            .into(),
        figure: Figure::new("Improvement over the constant baseline", format!("Error saved: {}.", told.join(", ")))
            .panel_size(400.0, 170.0)
            .panel(panel),
        table,
    }
}
