//! Responsible for the report as a whole: which sections there are, what stands in them, and in which order.

use negmm::{Model, Result};
use negmm_draw::{Style, escaped};

use crate::answers::Answers;
use crate::cases::{Cases, Origin};
use crate::importance::importance;
use crate::notable::notable;
use crate::picture::{self, Grid, Picture};
use crate::text::{count, counted, html, name, num, percent};
use crate::{page, picker};

/// What the page says of scores.
const READING: &str = "Less is better for all errors; the constant baseline predicts the same mean and spread for every row, and \
    shares inside an interval should be what it says.";

/// A model explained by pictures.
pub struct Report {
    pub(crate) target: String,
    /// Sentences about model and rows, as HTML.
    pub(crate) facts: Vec<String>,
    pub(crate) scores: Grid,
    /// How to read them.
    pub(crate) scores_reading: &'static str,
    pub(crate) sections: Vec<Section>,
    /// Single rows, as JSON for the page's script.
    pub(crate) rows: String,
}

/// A part of the report.
pub(crate) struct Section {
    pub id: &'static str,
    pub heading: &'static str,
    pub pictures: Vec<Picture>,
}

impl Report {
    /// Explains `model` by its predictions for `cases`, which come from a file or table called `source`.
    ///
    /// # Errors
    /// When the rows cannot be scored.
    pub fn new(model: &Model, cases: &Cases, source: &str) -> Result<Self> {
        let (all, known) = (cases, cases.with_known_targets()?);
        let cases = known.as_ref().unwrap_or(all);
        let answers = Answers::new(model, cases, all)?;
        let importance = importance(model, cases)?;
        let notable = notable(cases, &answers);
        let target = name(&model.encoder().target().name);
        let singles = notable.iter().filter_map(|(kind, rows)| {
            let at = *rows.first()?;
            Some(picture::row(cases, &answers.rows[at], at, *kind, &target))
        });
        let sections = vec![
            Section { id: "scores", heading: "Is it any good?", pictures: vec![picture::scores(&answers)] },
            Section { id: "fit", heading: "What does it predict?", pictures: picture::fit(model, cases, &answers)? },
            Section {
                id: "inputs",
                heading: "What does it learn from the inputs?",
                pictures: picture::inputs(model, cases, &importance)?,
            },
            Section {
                id: "calibration",
                heading: "Can its probabilities be trusted?",
                pictures: picture::survival(all, &target)
                    .into_iter()
                    .chain(picture::calibration(cases, &answers))
                    .collect(),
            },
            Section {
                id: "sharpness",
                heading: "How sure is it, and why not surer?",
                pictures: picture::sharpness(model, cases, &answers),
            },
            Section { id: "rows", heading: "Single rows", pictures: singles.collect() },
            Section { id: "training", heading: "How did the training go?", pictures: picture::training(model) },
        ];
        let rows = picker::rows(model, cases, &answers, &notable, &importance);
        Ok(Self {
            facts: facts(model, all, &answers, source),
            scores: picture::score_lines(model, cases, &answers),
            scores_reading: READING,
            sections: sections.into_iter().filter(|section| !section.pictures.is_empty()).collect(),
            rows,
            target,
        })
    }

    /// One page that needs nothing else.
    pub fn html(&self) -> String {
        page::html(self)
    }

    /// Every picture: its name, and the text of its SVG file.
    pub fn svgs(&self) -> impl Iterator<Item = (&str, String)> {
        let pictures = self.sections.iter().flat_map(|section| &section.pictures);
        pictures.map(|picture| (picture.file.as_str(), picture.figure.svg(Style::File)))
    }
}

/// What the model is and which rows these are.
fn facts(model: &Model, cases: &Cases, answers: &Answers, source: &str) -> Vec<String> {
    let (encoder, record) = (model.encoder(), model.record());
    let window = match encoder.sequence() {
        Some(sequence) => format!(" over the {} before", counted(sequence.window, "step")),
        None => String::new(),
    };
    let members = if model.members() > 1 { format!(", {} members", count(model.members())) } else { String::new() };
    let mut facts = vec![format!(
        "Method <b>{}</b>{members}, {}{window}, learnt from {}. Every row gets a whole distribution of {}, not just a number.",
        model.method().name(),
        counted(encoder.inputs().len(), "input"),
        counted(record.rows, "row"),
        html(&name(&encoder.target().name)),
    )];
    let (file, total) = (html(&name(source)), counted(cases.total(), "row"));
    let rows = match cases.origin {
        Origin::HeldOut => format!("{total} in {file} that were held out in training"),
        _ => format!("{total} in {file}"),
    };
    facts.push(match cases.len() < cases.total() {
        true => format!(
            "All scores and pictures are of a random sample of {} of the {rows}; pictures with a dot for each row show fewer \
             still.",
            count(cases.len()),
        ),
        false => format!("Scores are of the {rows}; pictures with a dot for each row show at most a few hundred."),
    });
    match cases.origin {
        Origin::Given => {}
        Origin::HeldOut => facts.push(
            "Whatever predicts one of these rows had not learnt from it; but they chose the weights, so the scores are a little \
             too good."
                .into(),
        ),
        Origin::LearntFrom => facts.push(
            "<b>The model learnt from these rows</b>, so everything here flatters it: make a report of other rows.".into(),
        ),
    }
    // A sentence begins with a capital letter.
    let sentence = |words: &String| format!("{}{}.", words[..1].to_uppercase(), escaped(&words[1..]));
    facts.extend(encoder.target().words().iter().map(sentence));
    if let Some(censored) = &answers.metrics.censored {
        facts.push(format!(
            "{} of the targets are not known. The first scores and the picture of survival are of all rows; <b>all else is of the {} \
             whose target is known</b>, which are not like the others: large targets are missing among them.",
            percent(censored.share),
            counted(answers.metrics.rows as usize, "row"),
        ));
        return with_notes(facts, cases);
    }
    let inside = answers.metrics.coverage.get("0.9").copied().unwrap_or(f64::NAN);
    let saved = 1.0 - answers.metrics.crps / answers.baseline.crps;
    if saved.is_finite() {
        let than = if saved >= 0.0 { "better" } else { "worse" };
        facts.push(format!(
            "In short: its CRPS of {} is {} {than} than that of the constant baseline, and {} of the targets lie inside their \
             90 % interval.",
            num(answers.metrics.crps),
            percent(saved.abs()),
            percent(inside),
        ));
    }
    with_notes(facts, cases)
}

/// The facts, and what is odd about the rows.
fn with_notes(mut facts: Vec<String>, cases: &Cases) -> Vec<String> {
    let note = |sentence: &String| format!("Note: {}.", html(&negmm_draw::shortened(sentence, 1.8, 200.0)));
    facts.extend(cases.warnings().sentences().iter().map(note));
    facts
}
