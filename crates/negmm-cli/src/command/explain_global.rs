//! `negmm explain --global`: how much each column matters for each answer, the loss by permutation, interactions, dependence and
//! what would narrow the predictions, as text, as JSON, or as a table of the columns.

use negmm::data::Warnings;
use negmm::explain::{Dependence, Explainer, GlobalExplanation, GlobalOptions, Region, explain_globally};
use negmm::{Columns, Error, Table};
use serde_json::json;

use crate::arguments::{Explain, Shared};
use crate::console::{print, print_json, warn};
use crate::format::{count, counted, number};
use crate::output::Output;
use crate::predictions::{Encoded, Format, PredictionFile};
use crate::progress::Bar;
use crate::{input, text_table};

/// Columns of the inputs that are printed.
const SHOWN: usize = 20;
/// Interactions of each answer that are printed.
const INTERACTIONS: usize = 3;
/// Columns whose regions are printed.
const REGIONS: usize = 3;

/// Explains a table as a whole.
pub fn run(explain: &Explain, explainer: &Explainer<'_>, shared: &Shared) -> Result<(), Error> {
    if let Some(answer) = explainer.answers().iter().find(|answer| answer.needs_target()) {
        return Err(Error::options(format!(
            "--global shows what CRPS and NLL lose without each column by itself: leave {} out of --of",
            answer.name()
        )));
    }
    let format = Format::of(&explain.output, false)?.digits(explain.digits);
    let options = GlobalOptions { seed: explain.seed, ..GlobalOptions::default() };
    let options = match explain.sample {
        Some(rows) => GlobalOptions { rows, permuted_rows: rows, ..options },
        None => options,
    };
    let (table, of, mut warnings) = rows(explain, explainer, options.permuted_rows.max(options.rows), shared)?;
    // The file is opened first, so that a wrong name costs no time.
    let path = &explain.output;
    let as_json = path.to_ascii_lowercase().ends_with(".json");
    let whole = as_json.then(|| Output::create(path)).transpose()?;
    let columns_file = (!as_json && path != "-").then(|| PredictionFile::create(path, format)).transpose()?;
    let bar = Bar::whole(shared);
    let (found, odd) = explain_globally(explainer, &table, &options)?;
    bar.clear();
    warnings.merge(&odd);
    warn(shared.quiet, &warnings.sentences());
    if let Some(mut file) = whole {
        let text = serde_json::to_string(&found).map_err(|error| Error::data(error.to_string()))?;
        file.write(format!("{text}\n").as_bytes())?;
        file.finish()?;
    } else if let Some(mut file) = columns_file {
        file.write(&Encoded::new(&columns(&found)?, format)?)?;
        file.finish()?;
    } else {
        return if shared.json { print_json(&found) } else { print(&text(&found, of, explainer)) };
    }
    match shared.json {
        true => print_json(&json!({"rows": of, "sample": found.rows, "output": explain.output})),
        false => Ok(()),
    }
}

/// At most so many rows of the data, with their targets where these are there, and how many there are.
fn rows(
    explain: &Explain,
    explainer: &Explainer<'_>,
    most: usize,
    shared: &Shared,
) -> Result<(Table, usize, Warnings), Error> {
    let (encoder, dialect) = (explainer.model().encoder(), explain.file.dialect()?);
    // Standard input is read once, and whether the target is there is known only then.
    if explain.data == "-" {
        let table = input::table(&explain.data, &dialect)?;
        return Ok((table.sample(most, explain.seed), table.rows(), Warnings::default()));
    }
    let without = input::stream(&explain.data, &encoder.schema().in_dialect(&dialect)?)?;
    let has_target = without.header().iter().any(|name| name.trim() == encoder.target().name);
    let mut stream = match has_target {
        true => input::stream(&explain.data, &encoder.schema_with_target().in_dialect(&dialect)?)?,
        false => without,
    };
    let bar = Bar::rows(shared);
    let drawn = stream.draw(most, explain.seed, |rows| bar.add(rows))?;
    bar.clear();
    let drawn = drawn.ok_or_else(|| Error::data("there is no row of data").in_file(&explain.data))?;
    Ok((drawn.chunk.table, drawn.of, drawn.chunk.warnings))
}

/// A row for each input: its name, the mean |contribution| to each answer, and the scores lost by permutation.
fn columns(found: &GlobalExplanation) -> Result<Columns<'static>, Error> {
    let mut names = found.answers.clone();
    if found.permutation.is_some() {
        names.extend(["crps_loss", "crps_loss_error", "nll_loss", "nll_loss_error"].map(String::from));
    }
    let mut values = Vec::new();
    for column in 0..found.columns.len() {
        values.extend(found.contributions.iter().map(|own| own[column]));
        if let Some(losses) = &found.permutation {
            let loss = &losses[column];
            values.extend([loss.crps, loss.crps_error, loss.nll, loss.nll_error]);
        }
    }
    Columns::of_numbers(&[], &names, values)?.labelled("input", found.columns.clone())
}

/// The explanation as text.
fn text(found: &GlobalExplanation, of: usize, explainer: &Explainer<'_>) -> String {
    let target = &explainer.model().encoder().target().name;
    let rows = match found.rows < of {
        true => format!("a sample of {} of {}", count(found.rows), counted(of, "row")),
        false => counted(of, "row"),
    };
    let base: Vec<String> =
        found.answers.iter().zip(&found.base).map(|(answer, base)| format!("{answer} {}", number(*base))).collect();
    let mut parts = vec![format!(
        "{rows}, target {target:?}, compared with {} (where {})",
        counted(found.background, "background row"),
        base.join(", ")
    )];
    let errors = found.answers.iter().zip(&found.errors).filter(|(_, error)| **error > 0.0);
    let errors: Vec<String> = errors.map(|(answer, error)| format!("{} of {answer}", number(*error))).collect();
    let errors = match errors.is_empty() {
        true => String::new(),
        false => format!(" (standard error of that of one row: {})", errors.join(", ")),
    };
    let others = found.columns.len().saturating_sub(SHOWN);
    let others = match others {
        0 => String::new(),
        _ => format!("\nand {} that matter less (--json and -o FILE have all)", counted(others, "column")),
    };
    let table = text_table::table(&contributions(found));
    parts.push(format!("mean |contribution|{errors}\n{}{others}", table.trim_end()));
    if let Some(losses) = &found.permutation {
        let mut lines = vec![["", "CRPS", "NLL"].map(String::from).to_vec()];
        for loss in order(found).into_iter().take(SHOWN).map(|column| &losses[column]) {
            let with_error = |value: f64, error: f64| format!("{} ± {}", number(value), number(error));
            lines.push(vec![
                loss.column.clone(),
                with_error(loss.crps, loss.crps_error),
                with_error(loss.nll, loss.nll_error),
            ]);
        }
        let without = match losses.first().map_or(0, |loss| loss.impossible) {
            0 => String::new(),
            rows => format!(" (NLL without {} whose target is impossible for the model)", counted(rows, "row")),
        };
        parts.push(format!("loss when the column is permuted{without}\n{}", text_table::table(&lines)));
    }
    let interactions: Vec<String> = found.answers.iter().filter_map(|answer| interactions(found, answer)).collect();
    if !interactions.is_empty() {
        let sampled = found.interactions.iter().any(|one| one.error > 0.0);
        let errors = if sampled { " (standard error of that of one row)" } else { "" };
        parts.push(format!("strongest interactions, mean |interaction|{errors}\n{}", interactions.join("\n")));
    }
    let along: Vec<Vec<String>> = found.dependence.iter().flat_map(along).collect();
    if !along.is_empty() {
        parts.push(format!("along a column, all else as it is\n{}", text_table::left_aligned(&along)));
    }
    if !found.regions.is_empty() {
        parts.push(format!("what would narrow the predictions\n{}", regions(found)));
    }
    parts.join("\n\n")
}

/// The largest part that a column has of all contributions to an answer.
fn part_of(found: &GlobalExplanation, column: usize) -> f64 {
    let of = |own: &Vec<f64>| own[column] / own.iter().sum::<f64>().max(f64::MIN_POSITIVE);
    found.contributions.iter().map(of).fold(0.0, f64::max)
}

/// The columns, those that matter most for any answer first.
fn order(found: &GlobalExplanation) -> Vec<usize> {
    let mut order: Vec<usize> = (0..found.columns.len()).collect();
    order.sort_by(|a, b| part_of(found, *b).total_cmp(&part_of(found, *a)));
    order
}

fn contributions(found: &GlobalExplanation) -> Vec<Vec<String>> {
    let mut lines = vec![[String::new()].into_iter().chain(found.answers.iter().cloned()).collect::<Vec<_>>()];
    for column in order(found).into_iter().take(SHOWN) {
        let own = found.contributions.iter().map(|own| number(own[column]));
        lines.push([found.columns[column].clone()].into_iter().chain(own).collect());
    }
    lines
}

fn interactions(found: &GlobalExplanation, answer: &str) -> Option<String> {
    let own = found.interactions.iter().filter(|one| one.answer == answer && one.strength > 0.0).take(INTERACTIONS);
    let own = own.map(|one| {
        let error = if one.error > 0.0 { format!(" ({})", number(one.error)) } else { String::new() };
        format!("{} × {} {}{error}", one.columns[0], one.columns[1], number(one.strength))
    });
    let own: Vec<String> = own.collect();
    (!own.is_empty()).then(|| format!("  {answer}: {}", own.join(", ")))
}

/// For each answer between which values it lies along a column.
fn along(curve: &Dependence) -> Vec<Vec<String>> {
    let line = |(answer, partial): (&String, &Vec<f64>)| {
        let at = |better: fn(f64, f64) -> bool| {
            (0..partial.len()).reduce(|best, at| if better(partial[at], partial[best]) { at } else { best })
        };
        let (low, high) = (at(|a, b| a < b)?, at(|a, b| a > b)?);
        let place = |at: usize| format!("{} at {}", number(partial[at]), curve.values[at]);
        Some(vec![curve.column.clone(), format!("{answer} {} to {}", place(low), place(high))])
    };
    curve.answers.iter().zip(&curve.partial).filter_map(line).collect()
}

/// The regions of the columns that matter most, with what would help after the numbers.
fn regions(found: &GlobalExplanation) -> String {
    let names: Vec<&str> = found.dependence.iter().take(REGIONS).map(|curve| curve.column.as_str()).collect();
    let shown: Vec<&Region> = found.regions.iter().filter(|region| names.contains(&region.column.as_str())).collect();
    let mut lines = vec![["", "rows", "epistemic", "aleatoric"].map(String::from).to_vec()];
    lines.extend(shown.iter().map(|region| {
        let name = format!("{} {}", region.column, region.region);
        vec![name, count(region.rows), number(region.epistemic), number(region.aleatoric)]
    }));
    let table = text_table::table(&lines);
    let mut lines = table.lines();
    let heading = lines.next().unwrap_or_default().to_string();
    // What follows a colon says the same again.
    let brief = |verdict: &'static str| verdict.split(':').next().unwrap_or(verdict);
    let with_verdict = lines.zip(shown).map(|(line, region)| format!("{line}  {}", brief(region.verdict)));
    [heading].into_iter().chain(with_verdict).collect::<Vec<_>>().join("\n")
}
