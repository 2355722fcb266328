//! `negmm evaluate` of models of several targets.

use negmm::by_group::{GroupScores, ScoresByGroup};
use negmm::data::{ColumnType, Warnings};
use negmm::joint::JointMetrics;
use negmm::{Error, JointModel, JointPredictions};
use serde_json::json;

use crate::arguments::{Evaluate, Shared};
use crate::command::evaluate;
use crate::command::joint::{schema, scores};
use crate::console::{print, print_json, warn};
use crate::{format, input, row_notes};

/// Rows that are read at once.
const EVALUATED: usize = 65_536;

/// Scores a joint model.
pub fn run(model: &JointModel, arguments: &Evaluate, shared: &Shared) -> Result<(), Error> {
    input::no_forecast(arguments.origins.first())?;
    let names = model.names();
    let mut schema = schema(model, &names, Vec::new());
    schema.columns.extend(arguments.weight.iter().map(|name| (name.clone(), ColumnType::number())));
    schema.keep.extend(arguments.by.clone());
    let mut stream = input::stream(&arguments.data, &schema.in_dialect(&arguments.file.dialect()?)?)?;
    let mut warnings = Warnings::default();
    let Some(chunk) = stream.next_chunk(EVALUATED)? else {
        return Err(Error::data("there is no row to score").in_file(&arguments.data));
    };
    warnings.merge(&chunk.warnings);
    let y = model.observed(&chunk.table)?;
    let weights = match &arguments.weight {
        Some(name) => Some(chunk.table.sample_weights(name)?.to_vec()),
        None => None,
    };
    let (predictions, odd) = model.predict_with_warnings(&chunk.table)?;
    warnings.merge(&odd);
    let score =
        |predictions| JointMetrics::new(predictions, &y, weights.as_deref()).map_err(|error| chunk.table.locate(error));
    let seen = model.seen_rows(&chunk.table)?;
    let groups = match chunk.kept.last() {
        Some(column) => {
            let cells: Vec<String> = column.cells().map(|cell| cell.to_string()).collect();
            by_group(&cells, (&predictions, &model.baseline(predictions.len())), &y, weights.as_deref())?
        }
        None => Vec::new(),
    };
    let (metrics, baseline) = (score(&predictions)?, score(&model.baseline(predictions.len()))?);
    let mut sentences = warnings.sentences();
    let incomplete = predictions.len() - metrics.rows;
    if incomplete > 0 {
        let (lack, are) = if incomplete == 1 { ("lacks", "is") } else { ("lack", "are") };
        sentences.push(format!("{} {lack} a target and {are} left out", format::counted(incomplete, "row")));
    }
    if stream.next_chunk(1)?.is_some() {
        sentences.push(format!("only the first {} are scored", format::counted(EVALUATED, "row")));
    }
    sentences.extend(seen.and_then(|seen| row_notes::seen(&seen, "row", "these scores are not of new rows")));
    warn(shared.quiet, &sentences);
    if shared.json {
        let training = seen.map(|seen| seen.training_rows().unwrap_or(0));
        let mut value = json!({"targets": names, "scores": metrics, "baseline": baseline, "training_rows": training});
        if let Some(by) = &arguments.by {
            let each = names.iter().zip(&groups).map(|(name, groups)| json!({"target": name, "groups": groups}));
            value["by"] = json!({"column": by, "targets": each.collect::<Vec<_>>()});
        }
        return print_json(&value);
    }
    let list: Vec<String> = names.iter().map(|name| format!("{name:?}")).collect();
    let by = arguments.by.iter().flat_map(|by| names.iter().zip(&groups).map(move |target| (by, target)));
    let by =
        by.map(|(by, (name, groups))| format!("\n\nby {by:?}, target {name:?}\n{}", evaluate::by_group(by, groups)));
    print(&format!(
        "{}, targets {}\n{}{}",
        format::counted(metrics.rows, "row"),
        list.join(", "),
        scores(&names, &[(model.method().name(), &metrics), ("constant", &baseline)]),
        by.collect::<String>(),
    ))
}

/// The scores of each target by groups of rows, whose cells these are.
fn by_group(
    cells: &[String],
    (predictions, baseline): (&JointPredictions, &JointPredictions),
    y: &[f64],
    weights: Option<&[f64]>,
) -> Result<Vec<Vec<GroupScores>>, Error> {
    let d = predictions.names().len();
    let of_target = |target: usize| {
        let known: Vec<usize> = (0..cells.len()).filter(|row| y[row * d + target].is_finite()).collect();
        let own: Vec<f64> = known.iter().map(|row| y[row * d + target]).collect();
        let weights = weights.map(|weights| known.iter().map(|row| weights[*row]).collect::<Vec<f64>>());
        let marginal = |predictions: &JointPredictions| predictions.marginal(target).select(&known);
        let mut scores = ScoresByGroup::default();
        let cells: Vec<String> = known.iter().map(|row| cells[*row].clone()).collect();
        scores.add(cells, (&marginal(predictions), &marginal(baseline)), &own, weights.as_deref())?;
        Ok(scores.finish())
    };
    (0..d).map(of_target).collect()
}
