//! The report of anybody's predictions: what can be said without a model and inputs.

use negmm::quantiles::QuantileSets;
use negmm::{Error, Predictions, Result};

use crate::diagnostics::Diagnostics;
use crate::evaluation_set::EvaluationSet;
use crate::highlights::highlights;
use crate::page::{Page, Scores, Section};
use crate::plot;
use crate::report::Report;
use crate::reservoir::Reservoir;
use crate::row_selector;
use crate::text::{count, counted, html, name, num, percent};

/// Rows of the report, at most: a random sample of more.
const MAX_ROWS: usize = 20_000;

/// Quantiles of the baseline.
const BASELINE_QUANTILES: usize = 99;

/// The caption of the table of scores.
const SCORES_CAPTION: &str = "Lower is better for all errors; the constant baseline predicts the observed distribution of these \
    targets for every row (climatology); the coverage of an interval should be its nominal level.";

/// Rows of a file of predictions, from which a random sample is drawn.
#[derive(Default)]
pub struct PredictionSetBuilder {
    reservoir: Option<Reservoir>,
    rows: Vec<SampledRow>,
}

struct SampledRow {
    number: usize,
    predictions: Predictions,
    y: f64,
    weight: Option<f64>,
}

impl PredictionSetBuilder {
    /// An empty set.
    pub fn new() -> Self {
        Self { reservoir: Some(Reservoir::new(MAX_ROWS)), rows: Vec::new() }
    }

    /// Adds rows with their targets, weights and numbers in the file.
    pub fn add(&mut self, predictions: &Predictions, y: &[f64], weights: Option<&[f64]>, numbers: &[usize]) {
        let reservoir = self.reservoir.get_or_insert_with(|| Reservoir::new(MAX_ROWS));
        for (at, y) in y.iter().enumerate() {
            let Some(slot) = reservoir.next_slot() else { continue };
            let row = SampledRow {
                number: numbers[at],
                predictions: predictions.select(&[at]),
                y: *y,
                weight: weights.map(|weights| weights[at]),
            };
            match self.rows.get_mut(slot) {
                Some(old) => *old = row,
                None => self.rows.push(row),
            }
        }
    }

    /// The rows, in the order of the file.
    ///
    /// # Errors
    /// When there is none, or they are of several kinds.
    pub fn finish(mut self) -> Result<EvaluationSet> {
        if self.rows.is_empty() {
            return Err(Error::data("expected at least 1 row with a known target, found none"));
        }
        self.rows.sort_by_key(|row| row.number);
        let total = self.reservoir.as_ref().map_or(0, Reservoir::seen);
        let predictions = Predictions::concatenate(self.rows.iter().map(|row| &row.predictions))?;
        let weights: Option<Vec<f64>> = self.rows.iter().map(|row| row.weight).collect();
        let (numbers, y) = self.rows.iter().map(|row| (row.number, row.y)).unzip();
        Ok(EvaluationSet::of_predictions(total, numbers, y, weights, predictions))
    }
}

impl Report {
    /// Reports on predictions of `target` in the form `form`, of a file called `source`, with sentences about its rows.
    ///
    /// # Errors
    /// When the rows cannot be scored.
    pub fn of_predictions(
        evaluation: &EvaluationSet,
        target: &str,
        form: &str,
        source: &str,
        notes: &[String],
    ) -> Result<Self> {
        let baseline = climatology(&evaluation.y, evaluation.len())?;
        let diagnostics = Diagnostics::against(&baseline, None, evaluation, evaluation)?;
        let highlights = highlights(evaluation, &diagnostics);
        let target = name(target);
        let singles = highlights.iter().filter_map(|(kind, rows)| {
            let at = *rows.first()?;
            Some(plot::row(evaluation, &diagnostics.rows[at], at, *kind, &target))
        });
        let sections = vec![
            Section {
                id: "scores",
                heading: "Scores",
                plots: [plot::scores(&diagnostics)]
                    .into_iter()
                    .chain(plot::murphy(&target, &baseline, evaluation))
                    .collect(),
            },
            Section { id: "fit", heading: "Predictions", plots: plot::fit(&target, evaluation, &diagnostics)? },
            Section {
                id: "calibration",
                heading: "Calibration",
                plots: plot::calibration(evaluation, &diagnostics)
                    .into_iter()
                    .chain(plot::reliability(&target, evaluation))
                    .collect(),
            },
            Section {
                id: "sharpness",
                heading: "Sharpness and sources of uncertainty",
                plots: plot::sharpness(&target, &baseline, evaluation, &diagnostics),
            },
            Section { id: "rows", heading: "Single rows", plots: singles.collect() },
        ];
        let page = Page {
            facts: facts(evaluation, &diagnostics, &target, form, source, notes),
            scores: vec![Scores::new(SCORES_CAPTION, plot::score_table(None, &diagnostics))],
            rows: row_selector::rows(&target, evaluation, &diagnostics, &highlights, &[]),
            sections: sections.into_iter().filter(|section| !section.plots.is_empty()).collect(),
            target,
        };
        Ok(Self { page })
    }
}

/// The empirical distribution of the targets, for each of some rows.
fn climatology(y: &[f64], rows: usize) -> Result<Predictions> {
    let mut sorted = y.to_vec();
    sorted.sort_by(f64::total_cmp);
    let knots = sorted.len().min(BASELINE_QUANTILES);
    let levels: Vec<f64> = (0..knots).map(|at| (at as f64 + 0.5) / knots as f64).collect();
    let value = |level: &f64| sorted[((level * sorted.len() as f64) as usize).min(sorted.len() - 1)];
    let values: Vec<f64> = levels.iter().map(value).collect();
    Ok(QuantileSets::new(levels, values.repeat(rows))?.into())
}

/// Sentences about the rows.
fn facts(
    evaluation: &EvaluationSet,
    diagnostics: &Diagnostics,
    target: &str,
    form: &str,
    source: &str,
    notes: &[String],
) -> Vec<String> {
    let file = html(&name(source));
    let mut facts = vec![format!("Predictions of {} in {file}: {}.", html(target), html(form))];
    facts.push(match evaluation.len() < evaluation.total() {
        true => format!(
            "All scores and plots are of a random sample of {} of the {}; plots with a dot for each row show fewer.",
            count(evaluation.len()),
            counted(evaluation.total(), "row"),
        ),
        false => format!(
            "Scores are of the {}; plots with a dot for each row show at most a few hundred.",
            counted(evaluation.total(), "row")
        ),
    });
    let skill = 1.0 - diagnostics.metrics.crps / diagnostics.baseline.crps;
    if skill.is_finite() {
        let than = if skill >= 0.0 { "better" } else { "worse" };
        facts.push(format!(
            "Summary: the CRPS of {} is {} {than} than that of the observed distribution of all these targets, and {} of the \
             targets lie inside their 90 % interval.",
            num(diagnostics.metrics.crps),
            percent(skill.abs()),
            percent(diagnostics.metrics.coverage.get(0.9).unwrap_or(f64::NAN)),
        ));
    }
    facts.extend(notes.iter().map(|note| format!("Note: {}.", html(note))));
    facts
}
