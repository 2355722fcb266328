//! `negmm fit`: trains a model on a file, scores it on held-out rows, and saves it.

use std::path::Path;
use std::time::Instant;

use negmm::method::{LEAST_TRAINED, Member, MemberKind, Predictor, Tilt};
use negmm::model::{FitPlan, Fitted};
use negmm::net::{Head, Stem};
use negmm::train::{Callbacks, Estimate, Job, Trained};
use negmm::{Error, Model};
use negmm_report::{EvaluationSet, Report};
use serde_json::json;

use crate::arguments::{Fit, Shared};
use crate::command::{forecast, held_out};
use crate::config::{DataConfig, FitConfig};
use crate::console::{eprint, print, print_json, print_warnings, warn};
use crate::engine::Trainer;
use crate::metrics_json::metrics_json;
use crate::output::Output;
use crate::output_paths::{OutputPath, check_distinct};
use crate::predictions::Format;
use crate::progress::Bar;
use crate::training_table::TrainingTable;
use crate::{column_summary, format, text_table};

/// Runs it.
pub fn run(fit: &Fit, shared: &Shared) -> Result<(), Error> {
    let config = FitConfig::new(&fit.options)?;
    let data = &config.data;
    let path = fit.output.display().to_string();
    check_outputs(fit, &path, shared)?;
    // Opened first, so that a path that cannot be written fails before training.
    let mut output = Output::create(&path)?;
    let held_out_file = fit.held_out.as_deref().map(Output::create).transpose()?;
    let page = fit.report.as_deref().map(Output::create).transpose()?;
    let table = TrainingTable::read(&fit.data, data, fit.scratch.as_deref(), shared.quiet)?;
    let engine = match table {
        TrainingTable::Memory(_) => shared.trainer()?,
        TrainingTable::Scratch(_) => shared.cpu_trainer("rows in a scratch file are trained on the CPU")?,
    };
    let targets = fit.options.data.columns.several_targets(&table.header());
    if fit.background.is_some() && (targets.is_some() || data.forecast.is_some() || data.inputs.sequence.is_some()) {
        return Err(Error::options("--background is for models of one target and independent rows"));
    }
    if let Some(targets) = targets {
        let config = FitConfig::of_several_targets(&fit.options)?;
        let outputs = super::joint::Outputs { model: output, held_out: held_out_file, report: page };
        return super::joint::fit(fit, (&config, &targets), (&table.in_memory()?, outputs), &engine, shared);
    }
    let start = Instant::now();
    if let Some(roles) = &data.forecast {
        if held_out_file.is_some() || page.is_some() {
            return Err(Error::options("--held-out and --report are not available for forecasters: see negmm report"));
        }
        let table = table.in_memory()?;
        let fitted = forecast::train(&table, roles, &config, &engine, shared)?;
        print_warnings(shared.quiet, &fitted.warnings);
        output.write(&fitted.forecaster.to_bytes()?)?;
        output.finish()?;
        return forecast::print_fitted(&fitted.forecaster, table.rows(), start, &path, shared);
    }
    let (table, sentences) = table.with_target(data)?;
    let mut fitted = train(table.plan(&config, fit.background)?, &engine, shared)?;
    let seconds = start.elapsed().as_secs_f64();
    warn(shared.quiet, &sentences);
    print_warnings(shared.quiet, &fitted.warnings);
    output.write(&fitted.model.to_bytes()?)?;
    if let Some(mut file) = held_out_file {
        file.write(&held_out::csv(&fitted.held_out, |row| table.row_number(row))?)?;
        file.finish()?;
    }
    output.finish()?;
    if let Some(mut page) = page {
        let evaluation = evaluation(&mut fitted, &table, data)?;
        let report = Report::new(&fitted.model, &evaluation, &super::report::source(&fit.data))?;
        page.write(report.html().as_bytes())?;
        page.finish()?;
    }
    let model = &fitted.model;
    let record = model.record();
    let (epochs, best_epoch) = epochs(model);
    if shared.json {
        let mut answer = json!({
            "method": model.method().name(),
            "rows": record.rows,
            "features": model.encoder().features(),
            "parameters": model.predictor().parameters(),
            "epochs": epochs,
            "best_epoch": best_epoch,
            "seconds": seconds,
            "validation": record.validation.as_ref().map(metrics_json),
            "baseline": record.baseline.as_ref().map(metrics_json),
            "skill": record.skill,
            "pool_crps": record.pool_crps(),
            "model": path,
            "columns": column_summary::json(model, &table, &data.inputs)?,
        });
        if let Some(drift) = &fitted.drift {
            answer["drift"] = json!(drift);
        }
        if let Some(report) = &fit.report {
            answer["report"] = json!(report);
        }
        return print_json(&answer);
    }
    if shared.quiet {
        return Ok(());
    }
    let mut summary = format!(
        "{}\n{}{}",
        summary(model),
        column_summary::text(model, &table, &data.inputs)?,
        trained(model, seconds)
    );
    if let Some(reason) = constant_reason(model) {
        summary.push_str(&format!("\n{reason}\n"));
    }
    if let Some(drift) = &fitted.drift {
        summary.push_str(&format!("\n{drift}\n"));
    }
    let mut paths: Vec<&str> = vec![&path];
    paths.extend(fit.held_out.as_deref());
    paths.extend(fit.report.as_deref());
    if paths.contains(&"-") {
        eprint(&summary);
        return Ok(());
    }
    print(&format!("{summary}\nsaved {}", paths.join(" and ")))
}

/// Checks that the outputs replace neither an input nor each other.
fn check_outputs(fit: &Fit, path: &str, shared: &Shared) -> Result<(), Error> {
    if fit.report.as_deref() == Some("-") {
        return Err(Error::options("--report needs the name of a file, not -"));
    }
    if fit.held_out.as_deref().is_some_and(|path| !Format::of(path, false).is_ok_and(Format::is_plain_csv)) {
        return Err(Error::options("--held-out writes CSV: its file needs another name"));
    }
    let mut outputs = vec![OutputPath { what: "model", path, option: "-o MODEL" }];
    let held_out = fit.held_out.as_deref();
    outputs.extend(held_out.map(|path| OutputPath { what: "held-out predictions", path, option: "--held-out FILE" }));
    let report = fit.report.as_deref();
    outputs.extend(report.map(|path| OutputPath { what: "report", path, option: "--report FILE" }));
    let mut inputs = vec![("data", Path::new(&fit.data))];
    inputs.extend(fit.config.as_deref().map(|config| ("config file", config)));
    check_distinct(shared.json, &outputs, &inputs)
}

/// The rows of a report: the held-out ones where there are any.
fn evaluation(fitted: &mut Fitted, table: &TrainingTable, data: &DataConfig) -> Result<EvaluationSet, Error> {
    let weight = data.inputs.weight.as_deref();
    match table {
        TrainingTable::Memory(table) => EvaluationSet::of_training(fitted, table, weight),
        TrainingTable::Scratch(_) => {
            let rows = std::mem::take(&mut fitted.held_out.rows);
            if rows.is_empty() {
                return Err(Error::options("a report of a table on disk needs held-out rows: see negmm report"));
            }
            fitted.held_out.rows = (0..rows.len()).collect();
            let evaluation = EvaluationSet::of_training(fitted, &table.select_rows(&rows)?, weight);
            fitted.held_out.rows = rows;
            evaluation
        }
    }
}

/// Trains a model, with a progress bar.
pub fn train(plan: FitPlan, engine: &Trainer, shared: &Shared) -> Result<Fitted, Error> {
    with_bar(&plan.jobs(), engine, shared, |trained| plan.finish(trained))
}

/// Trains jobs with a progress bar, and completes them by `finish`.
pub fn with_bar<T>(
    jobs: &[Job],
    engine: &Trainer,
    shared: &Shared,
    finish: impl FnOnce(Vec<Result<Trained, Error>>) -> T,
) -> T {
    let bar = Bar::training(shared, jobs.len());
    bar.begin(&Estimate::of(jobs), engine.threads());
    let watch = Callbacks { progress: &|progress| bar.epoch(progress), ..Callbacks::nothing() };
    let finished = finish(negmm::train::train(engine, jobs, &watch));
    bar.clear();
    finished
}

/// Number of epochs, and the best one (from 1).
pub fn epochs(model: &Model) -> (usize, Option<usize>) {
    let histories = &model.record().histories;
    let run = histories.iter().map(|history| history.epochs.len()).sum();
    (run, histories.first().map(|history| history.best_epoch + 1))
}

/// A summary of the model in two lines, and further lines about a special target.
pub fn summary(model: &Model) -> String {
    let encoder = model.encoder();
    let shape = shape(model.predictor());
    let window = match encoder.sequence() {
        Some(sequence) => format!(" over the {} before it", format::counted(sequence.window, "step")),
        None => String::new(),
    };
    format!(
        "{} for {:?} from {}{window} ({}), {}\n{}{shape}{}",
        model.method().name(),
        encoder.target().name,
        format::counted(encoder.inputs().len(), "input"),
        format::counted(encoder.features(), "feature"),
        format::counted(model.record().rows, "row"),
        format::counted(model.predictor().parameters(), "parameter"),
        text_table::of_target(encoder.target()),
    )
}

/// The kind and size of the predictor; of a stack also the stacking weights.
fn shape(predictor: &Predictor) -> String {
    match predictor {
        Predictor::Networks { members, head, .. } => networks(members, *head),
        Predictor::Trees { boosted, .. } => {
            format!(", {} of two trees", format::counted(boosted.rounds.len(), "round"))
        }
        Predictor::Stack { parts, tilt, tails, .. } => {
            let of_first = parts.iter().find(|part| matches!(part.predictor, Predictor::Networks { .. }));
            let first = of_first.map_or(String::new(), |part| shape(&part.predictor));
            let mut kinds: Vec<(MemberKind, f64)> = Vec::new();
            for part in parts {
                match kinds.iter_mut().find(|(kind, _)| *kind == part.kind) {
                    Some((_, sum)) => *sum += part.weight,
                    None => kinds.push((part.kind, part.weight)),
                }
            }
            let mut list: Vec<String> = kinds.iter().map(|(kind, weight)| format!("{kind} {weight:.2}")).collect();
            if !tails.is_empty() {
                list.push(format!("of which tails {:.3}", tails.iter().map(|tail| tail.weight).sum::<f64>()));
            }
            if let Some(Tilt { centre, width, amplitude }) = tilt {
                list.push(format!("tilted towards the {centre} ({amplitude:.2}, width {width:.2})"));
            }
            format!("{first}\nstacking weights: {}", list.join(", "))
        }
        _ => String::new(),
    }
}

/// The number, outputs and layers of networks.
fn networks(members: &[Member], head: Head) -> String {
    let outputs = match (head.components(), head) {
        (Some(components), _) => format::counted(components, "component"),
        (None, head) => format::counted(head.outputs(), "sample"),
    };
    let network = &members[0].network;
    let hidden: Vec<String> = network.hidden.iter().map(usize::to_string).collect();
    let hidden = if hidden.is_empty() { "none".into() } else { hidden.join(",") };
    let stem = match &network.stem {
        Some(Stem::Lstm(lstm)) => {
            format!(", LSTM of {} of {} units", format::counted(lstm.layers, "layer"), lstm.hidden)
        }
        Some(Stem::Periodic(periodic)) => {
            format!(", periodic embedding of {}", format::counted(periodic.embedded.len(), "input"))
        }
        _ => String::new(),
    };
    let each = if members.len() > 1 { format!(" in {} networks", members.len()) } else { String::new() };
    format!("{each}, {outputs}{stem}, hidden {hidden}")
}

/// Why a model predicts the same for every row, where too few rows are the reason.
fn constant_reason(model: &Model) -> Option<String> {
    let rows = model.record().rows;
    let constant = matches!(model.predictor(), Predictor::Constant { .. });
    (constant && model.method().as_auto().is_some() && rows < LEAST_TRAINED).then(|| {
        format!(
            "{} {} too few to learn from (at least {LEAST_TRAINED} are needed): every prediction is the mean of the targets, with a \
             wide sd",
            format::counted(rows, "row"),
            if rows == 1 { "is" } else { "are" },
        )
    })
}

/// How long the training took, and the held-out scores.
fn trained(model: &Model, seconds: f64) -> String {
    let record = model.record();
    let mut text = match epochs(model) {
        _ if record.histories.len() > 1 => {
            format!("trained {} in {seconds:.1} s\n", format::counted(record.histories.len(), "network"))
        }
        (epochs, Some(best)) => {
            format!("trained {} in {seconds:.1} s, best epoch {best}\n", format::counted(epochs, "epoch"))
        }
        _ => String::new(),
    };
    if let Some(scores) = held_out_scores(model) {
        text.push_str(&format!("\n{scores}\n"));
    }
    text
}

/// The held-out scores beside those of the baseline, and a note on their bias.
pub fn held_out_scores(model: &Model) -> Option<String> {
    let record = model.record();
    let (validation, baseline) = (record.validation.as_ref()?, record.baseline.as_ref()?);
    let rows = format::counted(record.validation_rows, "row");
    let drawn = if record.holds_out_sample() {
        format!(" drawn at random from {}", format::counted(record.rows, "row"))
    } else {
        String::new()
    };
    let pool = record.pool_crps().map(|crps| format!("the pool of all models: CRPS {} expected", format::number(crps)));
    let pool = pool.as_deref();
    let heading = match (model.method().as_auto(), &record.time) {
        (Some(_), Some(time)) => {
            let pool = pool.unwrap_or("the model itself learns from all rows");
            format!(
                "held-out scores on the newest {rows} by {time:?}, block by block, each predicted from what came before it ({pool}):"
            )
        }
        (None, Some(time)) => {
            format!("scores on the newest {rows} by {time:?}, which also selected the epoch (slightly optimistic):")
        }
        (Some(_), None) => {
            let pool = pool.unwrap_or("the pool is usually better");
            format!("held-out scores on {rows}{drawn}, each predicted by models that were not trained on it ({pool}):")
        }
        (None, None) => format!("scores on the {rows} that selected the epoch (slightly optimistic):"),
    };
    let lines = [(model.method().name(), validation), ("constant", baseline)];
    let scores = text_table::scores(&lines, record.skill.as_ref());
    Some(format!("{heading}\n{scores}"))
}
