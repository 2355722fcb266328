//! The report of a model of several targets: scores, calibration of projections and regions, pairs of targets, single rows.

use negmm::joint::{JointMetrics, REGION_COVERAGES, RegionKind, directions};
use negmm::{Error, JointModel, JointPredictions, Result, Table};

use crate::page::{Page, Section};
use crate::plot::{self, TextTable, evenly_spaced};
use crate::report::Report;
use crate::text::{count, counted, html, name, num, percent};

/// The caption of the table of scores.
const SCORES_CAPTION: &str = "Lower is better for all errors; the constant baseline predicts the same distribution for every row. \
    Energy score, variogram score and sum are of targets divided by their standard deviations in training.";
/// Rows that are evaluated at most.
const MOST_ROWS: usize = 2_000;
/// Rows that are shown one by one.
const SINGLE_ROWS: usize = 3;
/// Pairs of targets that are drawn at most.
const MOST_PAIRS: usize = 6;
/// Directions of projections at least.
const DIRECTIONS: usize = 4;

/// The rows of a report: predictions, observed vectors, and what is asked of each.
pub struct JointRows {
    pub predictions: JointPredictions,
    /// rows × targets
    pub y: Vec<f64>,
    /// The number of each row in the file, from 1.
    pub numbers: Vec<usize>,
    /// PIT values of each target and each direction, with its name.
    pub projections: Vec<(String, Vec<f64>)>,
    /// For both kinds of regions the smallest coverage whose region contains the row.
    pub levels: [(&'static str, Vec<f64>); 2],
}

impl JointRows {
    fn new(model: &JointModel, table: &Table) -> Result<Self> {
        let y = model.observed(table)?;
        let d = model.targets().len();
        let complete = |row: &usize| y[row * d..][..d].iter().all(|y| y.is_finite());
        let known: Vec<usize> = (0..table.rows()).filter(complete).collect();
        if known.is_empty() {
            return Err(table.locate(Error::data("no row has all targets: there is nothing to report")));
        }
        let chosen: Vec<usize> = evenly_spaced(known.len(), MOST_ROWS).into_iter().map(|at| known[at]).collect();
        let predictions = model.predict(&table.select_rows(&chosen))?;
        let y: Vec<f64> = chosen.iter().flat_map(|row| &y[row * d..][..d]).copied().collect();
        let mut projections = Vec::new();
        for (target, of_target) in predictions.targets().iter().enumerate() {
            let own: Vec<f64> = y.iter().skip(target).step_by(d).copied().collect();
            projections.push((name(&of_target.name), predictions.marginal(target).pit(&own)?));
        }
        for (number, direction) in directions(d, DIRECTIONS).chunks_exact(d).enumerate() {
            let along: Vec<f64> =
                direction.iter().zip(predictions.targets()).map(|(u, target)| u / target.scale).collect();
            let dot = |row: &[f64]| row.iter().zip(&along).map(|(y, u)| y * u).sum::<f64>();
            let own: Vec<f64> = y.chunks_exact(d).map(dot).collect();
            let predicted = negmm::Predictions::from(predictions.mixtures().linear(&along, 0.0));
            projections.push((format!("direction {}", number + 1), predicted.pit(&own)?));
        }
        let level = |kind| {
            let tails = predictions.region_tails(kind, &y, 0)?;
            Ok::<Vec<f64>, Error>(tails.into_iter().map(|tail| 1.0 - tail).collect())
        };
        let levels = [
            ("highest-density regions", level(RegionKind::HighestDensity)?),
            ("ellipsoids", level(RegionKind::Ellipsoid)?),
        ];
        let numbers = chosen.iter().map(|row| table.row_number(*row)).collect();
        Ok(Self { predictions, y, numbers, projections, levels })
    }

    /// Pairs of targets that are drawn.
    pub fn pairs(&self) -> Vec<(usize, usize)> {
        let d = self.predictions.targets().len();
        (0..d).flat_map(|first| (first + 1..d).map(move |second| (first, second))).take(MOST_PAIRS).collect()
    }

    /// The observed values of a target.
    pub fn of_target(&self, target: usize) -> Vec<f64> {
        self.y.iter().skip(target).step_by(self.predictions.targets().len()).copied().collect()
    }

    /// Rows that are shown one by one: from a likely to an unlikely observation.
    fn singles(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.numbers.len()).collect();
        order.sort_by(|a, b| self.levels[0].1[*a].total_cmp(&self.levels[0].1[*b]));
        let middle = |at: usize| order[(2 * at + 1) * order.len() / (2 * SINGLE_ROWS)];
        let mut rows: Vec<usize> = (0..SINGLE_ROWS.min(order.len())).map(middle).collect();
        rows.dedup();
        rows
    }
}

impl Report {
    /// Reports on a model of several targets by its predictions for the rows of `table`, which come from a file called `source`.
    ///
    /// # Errors
    /// When an input or a target is missing, or no row has all targets.
    pub fn of_joint(model: &JointModel, table: &Table, source: &str) -> Result<Self> {
        let rows = JointRows::new(model, table)?;
        let metrics = JointMetrics::new(&rows.predictions, &rows.y, None)?;
        let baseline = JointMetrics::new(&model.baseline(rows.predictions.len()), &rows.y, None)?;
        let singles = rows.singles().into_iter().map(|row| plot::joint_row(&rows, row));
        let sections = vec![
            Section { id: "scores", heading: "Scores", plots: Vec::new() },
            Section { id: "pairs", heading: "Pairs of targets", plots: plot::pairs(&rows) },
            Section {
                id: "calibration",
                heading: "Calibration of projections and regions",
                plots: vec![plot::joint_regions(&rows), plot::projections(&rows)],
            },
            Section { id: "single", heading: "Single rows", plots: singles.collect() },
        ];
        let targets: Vec<String> = model.names().into_iter().map(name).collect();
        let page = Page {
            target: targets.join(", "),
            facts: facts(model, &rows, table, source, [&metrics, &baseline]),
            scores: score_table(model.method().name(), &targets, [&metrics, &baseline]),
            scores_caption: SCORES_CAPTION,
            sections,
            rows: "{\"rows\":[]}".into(),
        };
        Ok(Self { page })
    }
}

/// Sentences about the model and the rows.
fn facts(
    model: &JointModel,
    rows: &JointRows,
    table: &Table,
    source: &str,
    [own, baseline]: [&JointMetrics; 2],
) -> Vec<String> {
    let mut facts = vec![format!(
        "Method <b>{}</b>, {}, trained on {}. It predicts one joint distribution of {} for every row.",
        model.method().name(),
        counted(model.encoder().inputs().len(), "input"),
        counted(model.record().rows, "row"),
        html(&model.names().into_iter().map(name).collect::<Vec<_>>().join(", ")),
    )];
    let (shown, total) = (rows.numbers.len(), table.rows());
    let file = html(&name(source));
    facts.push(match shown < total {
        true => format!("Scores and plots are of {} of the {} in {file}.", count(shown), counted(total, "row")),
        false => format!("Scores and plots are of the {} in {file}.", counted(total, "row")),
    });
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
