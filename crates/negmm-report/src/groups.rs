//! Scores by the categories and bins of the inputs: a table, and a sentence about coverage that is off.

use negmm::by_group::{GroupScores, ScoresByGroup, input_cells};
use negmm::{Model, Result};

use crate::evaluation_set::EvaluationSet;
use crate::importance::Importance;
use crate::plot::TextTable;
use crate::text::{count, counted, html, name, num, percent};

/// Groups whose coverage is off that are named.
const NAMED: usize = 5;
/// Inputs of the table, and groups of each: the largest.
const MOST_INPUTS: usize = 3;
const MOST_GROUPS: usize = 8;

/// What is shown of groups.
pub struct Groups {
    /// A sentence about those whose coverage is off by more than chance, if there are any.
    pub sentence: Option<String>,
    /// The scores by the most important inputs, and before them by those with such a group.
    pub table: Option<TextTable>,
}

/// The scores by the inputs of a model; a group counts as off only if it is so even though all inputs are looked at.
pub fn groups(model: &Model, evaluation: &EvaluationSet, importance: &[Importance]) -> Result<Groups> {
    let Some(table) = &evaluation.table else { return Ok(Groups { sentence: None, table: None }) };
    let mut scores = ScoresByGroup::default();
    let predictions = (&evaluation.predictions, &model.baseline(evaluation.len()));
    scores.add(Vec::new(), predictions, &evaluation.y, evaluation.weights.as_deref())?;
    let columns = scores.of_columns(&input_cells(model, table)?);
    let off = ScoresByGroup::off(&columns);
    let words: Vec<String> = off.iter().take(NAMED).filter_map(|(input, group)| words(input, group)).collect();
    let sentence = format!("Coverage is off by more than chance for {}.", words.join(", "));
    let mut inputs: Vec<&str> = Vec::new();
    let by_importance = importance.iter().map(|input| input.name.as_str());
    for input in off.iter().map(|(input, _)| input.as_str()).chain(by_importance) {
        if inputs.len() < MOST_INPUTS && !inputs.contains(&input) {
            inputs.push(input);
        }
    }
    let mut shown = TextTable::new(["group", "rows", "CRPS", "skill", "in 50 %", "in 90 %", "in 95 %"]);
    for input in inputs {
        let Some((_, groups)) = columns.iter().find(|(name, _)| name == input) else { continue };
        let mut sizes: Vec<usize> = groups.iter().map(|group| group.rows).collect();
        sizes.sort_unstable_by(|a, b| b.cmp(a));
        let least = sizes.get(MOST_GROUPS - 1).copied().unwrap_or(0);
        let large = groups.iter().filter(|group| group.rows >= least).take(MOST_GROUPS);
        large.for_each(|group| shown.push(line(input, group)));
    }
    let table = (shown.rows.len() > 1).then_some(shown);
    Ok(Groups { sentence: (!words.is_empty()).then_some(sentence), table })
}

/// The group whose coverage is off, in words.
fn words(input: &str, group: &GroupScores) -> Option<String> {
    let (nominal, covered) = group.worst()?;
    let place = format!("{} {}", html(&name(input)), html(&name(&group.group)));
    let rows = counted(group.rows, "row");
    Some(format!("{place} ({} intervals cover {} of {rows})", percent(nominal), percent(covered)))
}

/// The line of a group; a star is beside a coverage that is off.
fn line(input: &str, group: &GroupScores) -> Vec<String> {
    let place = format!("{}: {}", name(input), name(&group.group));
    let skill = group.skill.map_or_else(String::new, percent);
    let coverage = group.coverage.iter().zip(group.off);
    let coverage = coverage.map(|(covered, off)| format!("{}{}", percent(*covered), if off { " *" } else { "" }));
    [place, count(group.rows), num(group.crps), skill].into_iter().chain(coverage).collect()
}
