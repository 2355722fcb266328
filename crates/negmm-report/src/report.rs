//! The report of a model: its sections and their order.

use negmm::{Model, Result};
use negmm_draw::{Style, escaped};

use crate::diagnostics::Diagnostics;
use crate::evaluation_set::{EvaluationSet, RowOrigin};
use crate::explanation::explained;
use crate::groups::groups;
use crate::highlights::highlights;
use crate::importance::importance;
use crate::page::{Page, Scores, Section};
use crate::plot;
use crate::row_selector;
use crate::text::{count, counted, html, name, num, percent};

/// The caption of the table of scores.
const SCORES_CAPTION: &str = "Lower is better for all errors; the constant baseline predicts the same distribution for every row; \
    the coverage of an interval should be its nominal level.";
/// The caption of the table of groups.
const GROUPS_CAPTION: &str = "Categories and quantile bins of the inputs that matter most. Skill: 1 − CRPS / the constant's. *: the \
    coverage is off by more than chance, even though all inputs are looked at.";

/// A report of a model.
pub struct Report {
    pub(crate) page: Page,
}

impl Report {
    /// Reports on `model` by its predictions for `evaluation`, whose rows come from a file or table called `source`.
    ///
    /// # Errors
    /// When the rows cannot be scored.
    pub fn new(model: &Model, evaluation: &EvaluationSet, source: &str) -> Result<Self> {
        let (all, known) = (evaluation, evaluation.uncensored()?);
        let evaluation = known.as_ref().unwrap_or(all);
        let diagnostics = Diagnostics::new(model, evaluation, all)?;
        let importance = importance(model, evaluation)?;
        let explained = explained(model, evaluation)?;
        let highlights = highlights(evaluation, &diagnostics);
        let target = name(&model.encoder().target().name);
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
                    .chain(plot::murphy(&target, &model.baseline(1), evaluation))
                    .collect(),
            },
            Section { id: "fit", heading: "Predictions", plots: plot::fit(&target, evaluation, &diagnostics)? },
            Section {
                id: "inputs",
                heading: "Importance and effects of the inputs",
                plots: plot::inputs(model, evaluation, &importance)?,
            },
            Section {
                id: "explanation",
                heading: "What makes it sure or unsure",
                plots: explained.map_or(Vec::new(), |explained| plot::explanation(&explained, &target)),
            },
            Section {
                id: "calibration",
                heading: "Calibration",
                plots: plot::survival(all, &target)
                    .into_iter()
                    .chain(plot::calibration(evaluation, &diagnostics))
                    .chain(plot::reliability(&target, evaluation))
                    .collect(),
            },
            Section {
                id: "sharpness",
                heading: "Sharpness and sources of uncertainty",
                plots: plot::sharpness(&target, &model.baseline(1), evaluation, &diagnostics),
            },
            Section { id: "rows", heading: "Single rows", plots: singles.collect() },
            Section { id: "training", heading: "Training", plots: plot::training(model) },
        ];
        let rows = row_selector::rows(&target, evaluation, &diagnostics, &highlights, &importance);
        let held_out = model.record().validation.as_ref().filter(|_| evaluation.origin != RowOrigin::HeldOut);
        let groups = groups(model, evaluation, &importance)?;
        let page = Page {
            facts: facts(model, all, &diagnostics, source).into_iter().chain(groups.sentence).collect(),
            scores: [Scores::new(SCORES_CAPTION, plot::score_table(held_out, &diagnostics))]
                .into_iter()
                .chain(groups.table.map(|table| Scores { heading: "Scores by group", caption: GROUPS_CAPTION, table }))
                .collect(),
            sections: sections.into_iter().filter(|section| !section.plots.is_empty()).collect(),
            rows,
            target,
        };
        Ok(Self { page })
    }

    /// One self-contained HTML page.
    pub fn html(&self) -> String {
        self.page.html()
    }

    /// Every plot: its name and its SVG.
    pub fn svgs(&self) -> impl Iterator<Item = (&str, String)> {
        let plots = self.page.sections.iter().flat_map(|section| &section.plots);
        plots.map(|plot| (plot.name.as_str(), plot.figure.svg(Style::File)))
    }
}

/// Sentences about the model and the rows.
fn facts(model: &Model, evaluation: &EvaluationSet, diagnostics: &Diagnostics, source: &str) -> Vec<String> {
    let (encoder, record) = (model.encoder(), model.record());
    let window = match encoder.sequence() {
        Some(sequence) => format!(" and a window of {}", counted(sequence.window, "step")),
        None => String::new(),
    };
    let members = if model.members() > 1 { format!(", {} members", count(model.members())) } else { String::new() };
    let mut facts = vec![format!(
        "Method <b>{}</b>{members}, {}{window}, trained on {}. It predicts a whole distribution of {} for every row.",
        model.method().name(),
        counted(encoder.inputs().len(), "input"),
        counted(record.rows, "row"),
        html(&name(&encoder.target().name)),
    )];
    let (file, total) = (html(&name(source)), counted(evaluation.total(), "row"));
    let rows = match evaluation.origin {
        RowOrigin::HeldOut => format!("{total} in {file} that were held out in training"),
        _ => format!("{total} in {file}"),
    };
    facts.push(match evaluation.len() < evaluation.total() {
        true => format!(
            "All scores and plots are of a random sample of {} of the {rows}; plots with a dot for each row show \
             fewer.",
            count(evaluation.len()),
        ),
        false => format!("Scores are of the {rows}; plots with a dot for each row show at most a few hundred."),
    });
    match evaluation.origin {
        RowOrigin::Given => {}
        RowOrigin::HeldOut => facts.push(
            "These are out-of-sample predictions; but the same rows selected the weights (early stopping), so the scores are slightly \
             optimistic."
                .into(),
        ),
        RowOrigin::TrainingConfig => facts.push(
            "<b>The model was trained on these rows</b>, so everything here is optimistic: make a report of other rows.".into(),
        ),
    }
    // A sentence begins with a capital letter.
    let sentence = |words: &String| format!("{}{}.", words[..1].to_uppercase(), escaped(&words[1..]));
    facts.extend(encoder.target().notes().iter().map(sentence));
    if let Some(censored) = &diagnostics.metrics.censored {
        facts.push(format!(
            "{} of the targets are censored. The first scores and the survival plot are of all rows; <b>all else is of the {} \
             with uncensored targets</b>, which are not representative: large targets are missing among them.",
            percent(censored.censored_fraction),
            counted(diagnostics.metrics.rows as usize, "row"),
        ));
        return with_notes(facts, evaluation);
    }
    let coverage = diagnostics.metrics.coverage.get(0.9).unwrap_or(f64::NAN);
    let skill = 1.0 - diagnostics.metrics.crps / diagnostics.baseline.crps;
    if skill.is_finite() {
        let than = if skill >= 0.0 { "better" } else { "worse" };
        facts.push(format!(
            "Summary: the CRPS of {} is {} {than} than that of the constant baseline, and {} of the targets lie inside their \
             90 % interval.",
            num(diagnostics.metrics.crps),
            percent(skill.abs()),
            percent(coverage),
        ));
    }
    with_notes(facts, evaluation)
}

/// The facts, and warnings about the rows.
fn with_notes(mut facts: Vec<String>, evaluation: &EvaluationSet) -> Vec<String> {
    let note = |sentence: &String| format!("Note: {}.", html(&negmm_draw::shortened(sentence, 1.8, 200.0)));
    facts.extend(evaluation.warnings().sentences().iter().map(note));
    facts
}
