//! The report of a model of several targets: scores, calibration of projections and regions, pairs of targets, single rows.

use negmm::joint::{FittedJoint, JointMetrics, REGION_COVERAGES};
use negmm::{JointModel, Result, Table};

use crate::joint_rows::JointRows;
use crate::page::{Page, Scores, Section};
use crate::plot::{self, TextTable};
use crate::report::Report;
use crate::text::{count, counted, html, name, num, percent};

/// The caption of the table of scores.
const SCORES_CAPTION: &str = "Lower is better for all errors; the constant baseline predicts the same distribution for every row. \
    Energy score, variogram score and sum are of targets divided by their standard deviations in training.";

impl Report {
    /// Reports on a model of several targets by its predictions for the rows of `table`, which come from a file called `source`.
    ///
    /// # Errors
    /// When an input or a target is missing, or no row has all targets.
    pub fn of_joint(model: &JointModel, table: &Table, source: &str) -> Result<Self> {
        Self::of_joint_rows(model, &JointRows::new(model, table)?, |rows| {
            let (all, file) = (table.rows(), html(&name(source)));
            match rows < all {
                true => format!("Scores and plots are of {} of the {} in {file}.", count(rows), counted(all, "row")),
                false => format!("Scores and plots are of the {} in {file}.", counted(all, "row")),
            }
        })
    }

    /// The same by the held-out rows of a fit to `table`.
    ///
    /// # Errors
    /// When no held-out row has all targets.
    pub fn of_joint_fit(fitted: &FittedJoint, table: &Table, source: &str) -> Result<Self> {
        Self::of_joint_rows(&fitted.model, &JointRows::of_fit(fitted, table)?, |rows| {
            format!(
                "Scores and plots are of {} of {}, each predicted by models that were not trained on it.",
                counted(rows, "held-out row"),
                html(&name(source))
            )
        })
    }

    fn of_joint_rows(model: &JointModel, rows: &JointRows, origin: impl Fn(usize) -> String) -> Result<Self> {
        let metrics = JointMetrics::new(&rows.predictions, &rows.y, None)?;
        let baseline = JointMetrics::new(&model.baseline(rows.predictions.len()), &rows.y, None)?;
        let singles = rows.singles().into_iter().map(|row| plot::joint_row(rows, row));
        let sections = vec![
            Section { id: "scores", heading: "Scores", plots: Vec::new() },
            Section { id: "pairs", heading: "Pairs of targets", plots: plot::pairs(rows) },
            Section {
                id: "calibration",
                heading: "Calibration of projections and regions",
                plots: vec![plot::joint_regions(rows), plot::projections(rows)],
            },
            Section { id: "single", heading: "Single rows", plots: singles.collect() },
        ];
        let targets: Vec<String> = model.names().into_iter().map(name).collect();
        let page = Page {
            target: targets.join(", "),
            facts: facts(model, origin(rows.numbers.len()), [&metrics, &baseline]),
            scores: vec![Scores::new(
                SCORES_CAPTION,
                score_table(model.method().name(), &targets, [&metrics, &baseline]),
            )],
            sections,
            rows: "{\"rows\":[]}".into(),
        };
        Ok(Self { page })
    }
}

/// Sentences about the model and the rows.
fn facts(model: &JointModel, origin: String, [own, baseline]: [&JointMetrics; 2]) -> Vec<String> {
    let mut facts = vec![format!(
        "Method <b>{}</b>, {}, trained on {}. It predicts one joint distribution of {} for every row.",
        model.method().name(),
        counted(model.encoder().inputs().len(), "input"),
        counted(model.record().rows, "row"),
        html(&model.names().into_iter().map(name).collect::<Vec<_>>().join(", ")),
    )];
    facts.push(origin);
    if model.parts().len() > 1 {
        let parts = model.parts().iter().map(|part| format!("{} {}", part.form.name(), percent(part.weight)));
        facts.push(format!("Stacking weights: {}.", parts.collect::<Vec<_>>().join(", ")));
    }
    let skill = 1.0 - own.energy / baseline.energy;
    if skill.is_finite() {
        let than = if skill >= 0.0 { "better" } else { "worse" };
        facts.push(format!(
            "Summary: the energy score of {} is {} {than} than that of the constant baseline, and {} of the rows lie in their \
             90 % highest-density region.",
            num(own.energy),
            percent(skill.abs()),
            percent(own.coverage[1]),
        ));
    }
    facts
}

fn score_table(method: &str, targets: &[String], [own, baseline]: [&JointMetrics; 2]) -> TextTable {
    let mut table = TextTable::new(["score", "model", "constant"]);
    table.header[1] = method.to_string();
    let mut push = |what: String, own: String, other: String| table.push([what, own, other]);
    let numbers = [
        ("energy score", own.energy, baseline.energy),
        ("joint NLL", own.nll, baseline.nll),
        ("variogram score (p = 0.5)", own.variogram, baseline.variogram),
        ("Dawid-Sebastiani score", own.dawid_sebastiani, baseline.dawid_sebastiani),
        ("CRPS of the sum", own.crps_of_sum, baseline.crps_of_sum),
    ];
    numbers.into_iter().for_each(|(what, own, other)| push(what.into(), num(own), num(other)));
    for (at, coverage) in REGION_COVERAGES.iter().enumerate() {
        let what = format!("in {} regions", percent(*coverage));
        push(what, percent(own.coverage[at]), percent(baseline.coverage[at]));
    }
    for (at, target) in targets.iter().enumerate() {
        push(format!("CRPS, {target}"), num(own.crps[at]), num(baseline.crps[at]));
        let inside = [own.coverage_of_targets[at], baseline.coverage_of_targets[at]].map(percent);
        let [own, other] = inside;
        push(format!("in 90 % intervals, {target}"), own, other);
    }
    table
}
