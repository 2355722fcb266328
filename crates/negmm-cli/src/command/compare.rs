//! `negmm compare`: methods cross-validated on the same splits of one file.

use std::path::Path;
use std::time::Instant;

use negmm::compare::{CompareOptions, Comparison, Metric, compare, compare_joint};
use negmm::{Error, Method};
use negmm_draw::Style;
use serde_json::json;

use crate::arguments::{Compare, Shared};
use crate::command::{compare_predictions, forecast};
use crate::config::{CompareConfig, DataConfig, Splitting};
use crate::console::{print, print_json, warn};
use crate::output::Output;
use crate::output_paths::{OutputPath, check_distinct};
use crate::progress::Bar;
use crate::{format, input, text_table};

/// Runs it.
pub fn run(arguments: &Compare, shared: &Shared) -> Result<(), Error> {
    let Some(path) = arguments.data.as_deref() else {
        let files = arguments.predictions.clone().unwrap_or_default().0;
        return compare_predictions::run(arguments, &files, shared);
    };
    let config = CompareConfig::new(arguments)?;
    let CompareConfig { data, methods, splitting } = &config;
    if let (Some(roles), Some(auto), Splitting::Folds(folds)) =
        (&data.forecast, methods.first().and_then(Method::as_auto), splitting)
    {
        return forecast::compare(arguments, data, (roles, auto), *folds, shared);
    }
    if let Some(picture) = &arguments.svg {
        if picture == "-" {
            return Err(Error::options("--svg needs the name of a file, not -"));
        }
        let written = OutputPath { what: "plot", path: picture, option: "--svg FILE" };
        check_distinct(false, &[written], &[("data", Path::new(path))])?;
    }
    let engine = shared.trainer()?;
    let picture = arguments.svg.as_deref().map(Output::create).transpose()?;
    let (table, drawn) = input::training_table(path, &data.dialect, data.sample, data.seed)?;
    warn(shared.quiet, &drawn);
    let several = arguments.data_flags.columns.several_targets(&table);
    let CompareConfig { data, methods, splitting } = match &several {
        Some(_) => config.of_several_targets(arguments)?,
        None => config,
    };
    let DataConfig { target, inputs, seed, .. } = &data;
    let table = match &several {
        Some(_) => table,
        None => {
            let (table, sentences) = input::with_target(table, target, inputs)?;
            warn(shared.quiet, &sentences);
            table
        }
    };
    let splits = splitting.splits(&table, inputs, *seed)?;
    let bar = Bar::fits(shared, methods.len() * splits.len());
    let fitted = || bar.add(1);
    let options = CompareOptions::new(inputs).seed(*seed).engine(&engine).fitted(&fitted);
    let start = Instant::now();
    let comparison = match &several {
        Some(names) => {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            compare_joint(&table, &names, &methods, &splits, &options)
        }
        None => compare(&table, target, &methods, &splits, &options),
    };
    bar.clear();
    let (comparison, seconds) = (comparison?, start.elapsed().as_secs_f64());
    let target = several.map_or(format!("target {target:?}"), |names| format!("targets {}", quoted_list(&names)));
    let name = Path::new(path).file_name().map_or(path.to_string(), |name| name.to_string_lossy().into());
    let name = name.split('.').next().unwrap_or_default().to_string();
    if let Some(mut picture) = picture {
        let names: Vec<String> = methods.iter().map(|method| method.name().to_string()).collect();
        let figure = negmm_report::comparison(&format!("{name}: {}", target.replace('"', "")), &names, &comparison);
        picture.write(figure.svg(Style::File).as_bytes())?;
        picture.finish()?;
    }
    if shared.json {
        return print_json(&json!({ "table": entries(&name, &methods, &comparison), "seconds": seconds }));
    }
    print(&format!(
        "{name}: {} rows, {}, {} splits, {seconds:.1} s\n\n{}\n\nmean (standard error) over splits; * best, by more than two standard errors of the paired difference",
        format::count(table.rows()),
        target,
        splits.len(),
        table_text(&methods, &comparison),
    ))
}

/// Names in quotes, with commas between them.
pub fn quoted_list(names: &[String]) -> String {
    names.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ")
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
        Metric::Energy => "energy",
        Metric::Variogram => "variogram",
        Metric::CrpsOfSum => "CRPS of sum",
        Metric::RegionCoverage => "in 90 % region",
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
                Metric::Coverage | Metric::RegionCoverage => {
                    format!("{:.1} % ({:.1})", 100.0 * summary.mean, 100.0 * summary.se)
                }
                _ => format!("{} ({}){mark}", format::number(summary.mean), format::number(summary.se)),
            });
        }
        lines.push(line);
    }
    text_table::table(&lines)
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
