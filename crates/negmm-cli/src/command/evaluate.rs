//! `negmm evaluate`: scores of predictions against observed targets, chunk by chunk.

use negmm::by_group::{GroupScores, ScoresByGroup};
use negmm::data::{Chunk, ColumnType, Warnings};
use negmm::metrics::MetricsAccumulator;
use negmm::model::SeenRows;
use negmm::{Error, Loaded, Metrics, Model, Skill, SkillAccumulator};
use serde_json::json;

use crate::arguments::{Evaluate, Shared};
use crate::command::{evaluate_joint, forecast};
use crate::console::{print, print_json, warn};
use crate::metrics_json::metrics_json;
use crate::progress::Bar;
use crate::without_target::WithoutTarget;
use crate::{format, input, row_notes, text_table};

/// Rows read at once.
const CHUNK: usize = 16_384;

/// Everything that is found out about the rows.
struct Evaluation {
    metrics: Metrics,
    baseline: Metrics,
    skill: Option<Skill>,
    seen: SeenRows,
    warnings: Warnings,
    groups: Vec<GroupScores>,
}

/// Runs it.
pub fn run(evaluate: &Evaluate, shared: &Shared) -> Result<(), Error> {
    shared.threads();
    let model = match shared.accelerated(input::model(&evaluate.model, Some(&evaluate.data))?)? {
        Loaded::Model(model) => *model,
        Loaded::Forecaster(forecaster) => return forecast::evaluate(&forecaster, evaluate, shared),
        Loaded::Joint(model) => return evaluate_joint::run(&model, evaluate, shared),
    };
    input::no_forecast(evaluate.origins.first())?;
    let sequence = model.encoder().sequence().is_some();
    if evaluate.by.is_some() && (sequence || model.encoder().target().is_censored()) {
        let what = if sequence { "the steps of a sequence" } else { "targets that may be censored" };
        return Err(Error::options(format!("--by is not available for {what}")));
    }
    let Evaluation { metrics, baseline, skill, seen, warnings, groups } = scored(evaluate, &model, shared)?;
    let sentence = row_notes::seen(&seen, "row", "these scores are not of new rows");
    warn(shared.quiet, &[row_notes::outside(&warnings), sentence].into_iter().flatten().collect::<Vec<_>>());
    if shared.json {
        let mut value = metrics_json(&metrics);
        value["baseline"] = metrics_json(&baseline);
        value["skill"] = json!(skill);
        value["outside"] = json!((warnings.rows() > 0).then(|| warnings.outside().values().sum::<u64>()));
        value["training_rows"] = json!((seen.rows > 0).then(|| seen.training_rows().unwrap_or(0)));
        if let Some(by) = &evaluate.by {
            value["by"] = json!({"column": by, "groups": groups});
        }
        return print_json(&value);
    }
    let scores = text_table::scores(&[(model.method().name(), &metrics), ("constant", &baseline)], skill.as_ref());
    let (rows, counts) = match &metrics.censored {
        Some(censored) => (censored.rows, &censored.calibration[..]),
        None => (metrics.rows, &metrics.pit[..]),
    };
    let by = evaluate.by.as_ref().map_or(String::new(), |by| format!("\n\n{}", by_group(by, &groups)));
    print(&format!(
        "{}, target {:?}{}\n{scores}\n\nPIT  {}  (flat: calibrated, U: too narrow, hump: too wide){by}",
        format::counted(rows as usize, "row"),
        model.encoder().target().name,
        text_table::of_target(model.encoder().target()),
        format::bars(counts),
    ))
}

/// Reads and scores the rows.
fn scored(evaluate: &Evaluate, model: &Model, shared: &Shared) -> Result<Evaluation, Error> {
    let mut schema = model.encoder().schema_with_target();
    schema.columns.extend(evaluate.weight.iter().map(|name| (name.clone(), ColumnType::number())));
    schema.keep.extend(evaluate.by.clone());
    let mut stream = input::stream(&evaluate.data, &schema.in_dialect(&evaluate.file.dialect()?)?)?;
    let grid = model.encoder().target().grid;
    let (mut tally, mut constant) = (MetricsAccumulator::new(grid), MetricsAccumulator::new(grid));
    let (mut skill, mut groups) = (SkillAccumulator::default(), ScoresByGroup::default());
    let (mut warnings, mut seen, bar) = (Warnings::default(), SeenRows::default(), Bar::rows(shared));
    // A sequence is read as a whole, because windows cross chunks, and so are censored targets, because the censoring distribution
    // is estimated from all rows.
    let encoder = model.encoder();
    let whole = encoder.sequence().is_some() || encoder.target().is_censored();
    let (mut without_target, mut of_whole) = (WithoutTarget::new(model), None);
    while let Some(chunk) = stream.next_chunk(if whole { usize::MAX } else { CHUNK })? {
        warnings.merge(&chunk.warnings);
        let cells = cells_with_target(&chunk, &encoder.target().name)?;
        let Some(table) = without_target.leave_out(chunk.table)? else { continue };
        let y = encoder.targets(&table)?;
        let weights = encoder.sample_weights(&table, evaluate.weight.as_deref())?;
        let (predictions, odd) = model.predict_known(&table)?;
        warnings.merge(&odd);
        if let Some(more) = model.seen_rows(&table)? {
            seen.merge(more);
        }
        let constantly = model.baseline(y.len());
        if let Some(known) = encoder.censored_targets(&table, &y)? {
            let score = |predictions| Metrics::of_known(predictions, &known, weights.as_deref(), grid);
            of_whole = Some((score(&predictions)?, score(&constantly)?));
        } else {
            let crps = tally.add_rows(&predictions, &y, weights.as_deref())?;
            skill.add(&crps, &constant.add_rows(&constantly, &y, weights.as_deref())?, weights.as_deref());
            if evaluate.by.is_some() {
                groups.add(cells, (&predictions, &constantly), &y, weights.as_deref())?;
            }
        }
        bar.add(y.len());
    }
    bar.clear();
    warn(shared.quiet, &[without_target.finish()?, warnings.sentences()].concat());
    let (metrics, baseline) = match of_whole {
        Some(scores) => scores,
        None => (tally.finish()?, constant.finish()?),
    };
    Ok(Evaluation { metrics, baseline, skill: skill.finish(), seen, warnings, groups: groups.finish() })
}

/// The cells of the column of groups, of the rows that have a target.
fn cells_with_target(chunk: &Chunk, target: &str) -> Result<Vec<String>, Error> {
    let Some(column) = chunk.kept.last() else { return Ok(Vec::new()) };
    let cells: Vec<String> = column.cells().map(|cell| cell.to_string()).collect();
    Ok(chunk.table.rows_with(target)?.into_iter().map(|row| cells[row].clone()).collect())
}

/// The scores of groups as a table, and a sentence for each whose coverage is off.
pub fn by_group(by: &str, groups: &[GroupScores]) -> String {
    let percent = |fraction: f64| format!("{:.1} %", 100.0 * fraction);
    let heading = [by, "rows", "CRPS", "skill", "in 50 %", "in 90 %", "in 95 %"];
    let mut lines = vec![heading.map(str::to_string).to_vec()];
    let mut sentences = Vec::new();
    for scores in groups {
        let GroupScores { group, rows, crps, skill, coverage, off, .. } = scores;
        let mut line = vec![group.clone(), format::count(*rows), format::number(*crps)];
        line.push(skill.map_or(String::new(), |skill| format!("{skill:.3}")));
        line.extend(
            coverage
                .iter()
                .zip(off)
                .map(|(coverage, off)| format!("{}{}", percent(*coverage), if *off { "*" } else { " " })),
        );
        lines.push(line);
        if let Some((nominal, covered)) = scores.worst() {
            sentences.push(format!(
                "\n* {by} {group:?}: {:.0} % intervals cover {} of {}, which is not chance",
                100.0 * nominal,
                percent(covered),
                format::counted(*rows, "row"),
            ));
        }
    }
    if sentences.is_empty() {
        sentences.push("\nno coverage is off by more than chance".into());
    }
    format!("{}{}", text_table::table(&lines), sentences.concat())
}
