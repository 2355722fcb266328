//! Responsible for `negmm fit`: train on a file, say how good it is, save the model.

use std::time::Instant;

use negmm::model::{FitOptions, Fitted};
use negmm::train::{CpuEngine, Watch};
use negmm::{Error, Method, Model, Table, fit_with};
use serde_json::json;

use crate::arguments::{Fit, Shared};
use crate::config::FitConfig;
use crate::interrupt::CANCEL;
use crate::output::{Output, say, say_json, warn};
use crate::progress::Bar;
use crate::{input, report};

/// Runs it.
pub fn run(fit: &Fit, shared: &Shared) -> Result<(), Error> {
    let config = FitConfig::new(fit.config.as_deref(), &fit.options)?;
    let threads = shared.threads()?;
    // Opened first: a place that cannot be written to is better known before training than after.
    let mut output = Output::create(&fit.output.display().to_string())?;
    let table = input::table(&fit.data)?;
    let start = Instant::now();
    let Fitted { model, warnings } = train(&table, &config, threads, shared)?;
    let seconds = start.elapsed().as_secs_f64();
    warn(shared.quiet, &warnings);
    output.write(&model.to_bytes()?)?;
    output.finish()?;
    let record = model.record();
    let (epochs, best_epoch) = epochs(&model);
    if shared.json {
        return say_json(&json!({
            "method": model.method().name(),
            "rows": record.rows,
            "features": model.encoder().features(),
            "parameters": model.predictor().parameters(),
            "epochs": epochs,
            "best_epoch": best_epoch,
            "seconds": seconds,
            "validation": record.validation,
            "baseline": record.baseline,
            "model": fit.output.display().to_string(),
        }));
    }
    let saved = format!("saved {}", fit.output.display());
    say(&format!("{}\n{}\n{saved}", summary(&model), trained(&model, seconds)));
    Ok(())
}

/// Trains with a progress bar that Ctrl-C stops.
pub fn train(table: &Table, config: &FitConfig, threads: usize, shared: &Shared) -> Result<Fitted, Error> {
    let bar = Bar::training(shared);
    let engine = CpuEngine::new(threads);
    let watch = Watch { progress: &|progress| bar.epoch(progress), cancel: &CANCEL };
    let options = FitOptions { seed: config.seed, inputs: &config.inputs, engine: &engine, watch };
    let fitted = fit_with(table, &config.target, &config.method, &options);
    bar.clear();
    fitted
}

/// Epochs run, and the one whose weights were kept (from 1).
pub fn epochs(model: &Model) -> (usize, Option<usize>) {
    let histories = &model.record().histories;
    let run = histories.iter().map(|history| history.epochs.len()).sum();
    (run, histories.first().map(|history| history.best_epoch + 1))
}

/// What the model is, in two lines.
pub fn summary(model: &Model) -> String {
    let encoder = model.encoder();
    let network = match model.method() {
        Method::NeGmm(method) => Some(&method.network),
        Method::Mdn(method) => Some(&method.network),
        Method::Constant(_) => None,
    };
    let shape = network.map_or(String::new(), |network| {
        let hidden: Vec<String> = network.hidden.iter().map(usize::to_string).collect();
        let components = network.components;
        let plural = if components == 1 { "" } else { "s" };
        format!(", {components} component{plural}, hidden {}", hidden.join(","))
    });
    format!(
        "{} for {:?} from {} inputs ({} features), {} rows\n{} parameters{shape}",
        model.method().name(),
        encoder.target().name,
        encoder.inputs().len(),
        encoder.features(),
        report::count(model.record().rows),
        report::count(model.predictor().parameters()),
    )
}

/// How the training went, and the scores of the rows that were held out.
fn trained(model: &Model, seconds: f64) -> String {
    let record = model.record();
    let mut text = match epochs(model) {
        (epochs, Some(best)) => format!("trained {epochs} epochs in {seconds:.1} s, kept epoch {best}\n"),
        _ => String::new(),
    };
    if let (Some(validation), Some(baseline)) = (&record.validation, &record.baseline) {
        let scores = report::scores(&[(model.method().name(), validation), ("constant", baseline)]);
        let rows = report::count(record.validation_rows);
        text.push_str(&format!("\nscores on the {rows} rows that chose the weights (a little too good):\n{scores}\n"));
    }
    text
}
