//! Responsible for fitting: a table and a method in, a model out.

use super::{Model, Record};
use crate::data::{Encoder, Inputs, Table};
use crate::method::{HeldOut, Learnt, Method};
use crate::metrics::Metrics;
use crate::train::{CpuEngine, Engine, Watch};
use crate::{Error, Predictions, Result};

/// What a fit may be told beside the method.
#[derive(Clone, Copy)]
pub struct FitOptions<'a> {
    /// Starts all random choices: the same seed gives the same model.
    pub seed: u64,
    /// Which columns are inputs.
    pub inputs: &'a Inputs,
    /// What trains the networks.
    pub engine: &'a dyn Engine,
    /// How the caller follows the training and stops it.
    pub watch: Watch<'a>,
}

/// What a fit gives.
#[derive(Clone, Debug)]
pub struct Fitted {
    /// The model.
    pub model: Model,
    /// Sentences about the data that the caller should pass on.
    pub warnings: Vec<String>,
    /// Rows that were set aside (numbered as the encoder gives them, in order), and what was said of them in the target's own unit
    /// by what had not learnt from them. Of `auto` these are all rows, or the last third of a sequence.
    pub held_out: HeldOut,
}

/// Fits `method` to predict `target` from all other columns, with default options.
pub fn fit(table: &Table, target: &str, method: &Method) -> Result<Model> {
    let (inputs, engine) = (Inputs::default(), CpuEngine::default());
    let options = FitOptions { seed: 0, inputs: &inputs, engine: &engine, watch: Watch::nothing() };
    fit_with(table, target, method, &options).map(|fitted| fitted.model)
}

/// Fits `method` to predict `target`.
pub fn fit_with(table: &Table, target: &str, method: &Method, options: &FitOptions<'_>) -> Result<Fitted> {
    method.check()?;
    let soft_clip = method.soft_clip().filter(|_| options.inputs.sequence.is_none());
    let encoder =
        Encoder::fit(table, target, options.inputs)?.keeping_missing(method.keeps_missing()).soft_clipping(soft_clip);
    // Refuses targets too large to score.
    encoder.targets(table)?;
    if table.rows() < method.least_rows() {
        return Err(table.blame(Error::data(format!(
            "method {} needs at least {} rows, found {}",
            method.name(),
            method.least_rows(),
            table.rows()
        ))));
    }
    let mut warnings = encoder.oddities(table);
    let guessed = table.rows() == 1 && matches!(method, Method::Auto(_));
    if guessed {
        warnings.push("a single row says nothing of the spread: the sd is a guess, the target's own size".into());
    }
    if encoder.target().constant && !guessed {
        warnings.push(format!(
            "the target {target:?} is {} in every row: every prediction will be that, with a tiny sd",
            encoder.target().mean
        ));
    }
    if encoder.features() == 0 {
        warnings.push("no input column varies: every row will get the same prediction".into());
    }
    let weights = encoder.weights(table, options.inputs.weight.as_deref())?;
    let (mut data, _) = encoder.encode(table)?;
    if let Some(weights) = &weights {
        data = data.with_weights(weights);
    }
    let Learnt { predictor, histories, held_out } =
        method.learn(&data, options.seed, options.engine, &options.watch)?;
    let skipped: usize = histories.iter().map(|history| history.skipped()).sum();
    if skipped > 0 {
        warnings.push(format!("{skipped} training steps were not finite and were not taken"));
    }
    let mut model = Model {
        method: method.resolved(&data),
        encoder,
        predictor,
        record: Record {
            version: env!("CARGO_PKG_VERSION").into(),
            seed: options.seed,
            rows: table.rows(),
            validation_rows: held_out.rows.len(),
            validation: None,
            baseline: None,
            histories,
        },
    };
    let held_out = HeldOut { predictions: model.in_target_unit(held_out.predictions), ..held_out };
    let pick = |list: &[f64]| held_out.rows.iter().map(|row| list[*row as usize]).collect::<Vec<_>>();
    let y = pick(&model.encoder.targets(table)?);
    let weights = weights.map(|weights| pick(&weights));
    // Validation rows that all count for nothing have no score.
    if !y.is_empty() && weights.as_ref().is_none_or(|weights| weights.iter().any(|weight| *weight > 0.0)) {
        let score = |predictions: &Predictions| {
            Metrics::weighted(predictions, &y, weights.as_deref(), model.encoder.target().grid)
                .map(|metrics| Some(metrics).filter(Metrics::is_finite))
        };
        model.record.validation = score(&held_out.predictions)?;
        model.record.baseline = score(&model.baseline(y.len()))?;
    }
    Ok(Fitted { model, warnings, held_out })
}
