//! Responsible for `negmm compare`: all methods on one file, the same splits for each, one table.

use std::path::Path;
use std::time::Instant;

use negmm::compare::{CompareOptions, Comparison, Metric, compare};
use negmm::data::ColumnRoles;
use negmm::train::Callbacks;
use negmm::{Error, Method};
use negmm_draw::Style;
use serde_json::json;

use crate::arguments::{Compare, Shared};
use crate::command::forecast;
use crate::config::{FORECAST, Splitting, methods};
use crate::output::Output;
use crate::places::{Written, apart};
use crate::progress::Bar;
use crate::say::{say, say_json, warn};
use crate::{input, report};

/// Runs it.
pub fn run(arguments: &Compare, shared: &Shared) -> Result<(), Error> {
    let flags = &arguments.sequence_flags;
    if flags.sequence.is_some() && arguments.methods.is_none() && !flags.levels && flags.window.is_none() {
        return forecast::compare(arguments, shared);
    }
    if let Some((name, _)) = flags.given().find(|(name, _)| FORECAST.contains(name)) {
        return Err(Error::options(format!(
            "{name} is for forecasts, which are compared without --methods and --levels"
        )));
    }
    let sequence = input::sequence(flags.sequence.clone(), flags.window.as_deref())?;
    let target = arguments.target.as_ref().or(flags.sequence.as_ref()).cloned().unwrap_or_default();
    let methods = methods(arguments.methods.as_deref(), Method::all(), &arguments.set, sequence.is_some())?;
    let seed = input::number("seed", &arguments.seed)?;
    if let Some(picture) = &arguments.svg {
        if picture == "-" {
            return Err(Error::options("the picture of a comparison goes to a file: say --svg FILE"));
        }
        let written = Written { what: "picture", place: picture, option: "--svg FILE" };
        apart(false, &[written], &[("data", Path::new(&arguments.data))])?;
    }
    let engine = shared.engine(None)?;
    let (outcome, group) = input::outcome(arguments.target_flags.given())?;
    let inputs = ColumnRoles {
        features: arguments.features.as_deref().map(input::names),
        ignore: arguments.ignore.as_deref().map_or(Vec::new(), input::names),
        dates: arguments.date.as_deref().map_or(Vec::new(), input::dates),
        weight: arguments.weight.clone(),
        sequence,
        outcome,
        group,
    };
    let picture = arguments.svg.as_deref().map(Output::create).transpose()?;
    let table = input::table(&arguments.data, &input::dialect_of(arguments.reading.given())?)?;
    let (table, sentences) = input::with_target(table, &target, &inputs)?;
    warn(shared.quiet, &sentences);
    let splitting = Splitting { folds: &arguments.folds, repeats: arguments.repeats.as_deref(), test: &arguments.test };
    let splits = splitting.splits(&table, &inputs, seed)?;
    let bar = Bar::fits(shared, methods.len() * splits.len());
    let fitted = || bar.add(1);
    let options =
        CompareOptions { seed, inputs: &inputs, engine: &engine, watch: Callbacks::nothing(), fitted: &fitted };
    let start = Instant::now();
    let comparison = compare(&table, &target, &methods, &splits, &options);
    bar.clear();
    let (comparison, seconds) = (comparison?, start.elapsed().as_secs_f64());
    let name =
        Path::new(&arguments.data).file_name().map_or(arguments.data.clone(), |name| name.to_string_lossy().into());
    let name = name.split('.').next().unwrap_or_default().to_string();
    if let Some(mut picture) = picture {
        let names: Vec<String> = methods.iter().map(|method| method.name().to_string()).collect();
        let figure = negmm_report::comparison(&format!("{name}: {}", target), &names, &comparison);
        picture.write(figure.svg(Style::File).as_bytes())?;
        picture.finish()?;
    }
    if shared.json {
        return say_json(&json!({ "table": entries(&name, &methods, &comparison), "seconds": seconds }));
    }
    say(&format!(
        "{name}: {} rows, target {:?}, {} splits, {seconds:.1} s\n\n{}\n\nmean (standard error) over splits; * best, by more than two standard errors of the paired difference",
        report::count(table.rows()),
        target,
        splits.len(),
        table_text(&methods, &comparison),
    ))
}

/// The heading of a column of scores.
pub fn heading(metric: Metric) -> &'static str {
    match metric {
        Metric::Rmse => "RMSE",
        Metric::Nll => "NLL",
        Metric::MassNll => "mass NLL",
        Metric::Crps => "CRPS",
        Metric::IntegratedBrier => "Brier, integrated",
        Metric::Concordance => "concordance",
        Metric::Coverage => "in 95 %",
        Metric::Width => "width 95 %",
        Metric::Seconds => "seconds",
    }
}

fn table_text(methods: &[Method], comparison: &Comparison) -> String {
    let metrics = comparison.metrics();
    let headings = metrics.iter().map(|metric| heading(*metric));
    let mut lines = vec![[""].into_iter().chain(headings).map(str::to_string).collect()];
    for (at, method) in methods.iter().enumerate() {
        let mut line = vec![method.name().to_string()];
        for &metric in &metrics {
            let summary = comparison.summary(at, metric);
            let mark = if comparison.best(metric) == Some(at) && metric != Metric::Seconds { "*" } else { " " };
            line.push(match metric {
                Metric::Coverage => format!("{:.1} % ({:.1})", 100.0 * summary.mean, 100.0 * summary.se),
                _ => format!("{} ({}){mark}", report::number(summary.mean), report::number(summary.se)),
            });
        }
        lines.push(line);
    }
    report::table(&lines)
}

fn entries(data: &str, methods: &[Method], comparison: &Comparison) -> Vec<serde_json::Value> {
    let entry = |at: usize, metric: Metric| {
        let summary = comparison.summary(at, metric);
        json!({
            "data": data,
            "method": methods[at].name(),
            "metric": metric.name(),
            "selection": null,
            "mean": summary.mean,
            "sd": summary.sd,
            "se": summary.se,
            "repeats": summary.repeats,
            "best": comparison.best(metric) == Some(at),
            "paper": null,
        })
    };
    let metrics = comparison.metrics();
    (0..methods.len()).flat_map(|at| metrics.iter().map(move |metric| entry(at, *metric))).collect()
}
