//! Evaluation of checkpoints against the truth, and the selection of one.

use negmm::Distribution;
use negmm::train::JobGroup;
use negmm::{Method, Predictions, Result, Toy};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::checkpoints::{Checkpoint, TrainingPath};
use super::components;
use super::problem::{Problem, Units};
use crate::select::min_by_score;

/// Epochs, or boosting rounds, between checkpoints.
const EPOCH_INTERVAL: usize = 10;
const ROUND_INTERVAL: usize = 25;

/// The criterion of selection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selection {
    /// The root of the mean squared error of m and s, at the validation inputs: it needs the truth.
    Oracle,
    /// The mean CRPS of the validation rows.
    Validation,
}

impl Selection {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Oracle, Self::Validation];

    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Oracle => "oracle",
            Self::Validation => "validation",
        }
    }
}

/// Root mean squared errors at the test inputs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Errors {
    /// Of the mean m(x).
    pub m: f64,
    /// Of the sd s(x).
    pub s: f64,
    /// Of the sd, against the variance misprinted in the paper.
    pub s_misprint: Option<f64>,
    /// Of the components' weights.
    pub weight: Option<f64>,
    /// Of the weights, sorted at each x.
    pub weight_sorted: Option<f64>,
    /// Of the components' means.
    pub component_mean: Option<f64>,
    /// Of the components' sds.
    pub component_sd: Option<f64>,
}

impl Errors {
    /// The metrics of a table.
    pub const METRICS: [&'static str; 7] =
        ["m", "s", "weight", "weight_sorted", "component_mean", "component_sd", "s_misprint"];

    /// The error of that name.
    pub fn get(&self, metric: &str) -> Option<f64> {
        match metric {
            "m" => Some(self.m),
            "s" => Some(self.s),
            "weight" => self.weight,
            "weight_sorted" => self.weight_sorted,
            "component_mean" => self.component_mean,
            "component_sd" => self.component_sd,
            "s_misprint" => self.s_misprint,
            _ => None,
        }
    }

    /// Of predictions at `x`.
    fn of(toy: Toy, predictions: &Predictions, x: &[f64]) -> Self {
        let truth = toy.truth(x);
        let matched = predictions.mixtures().and_then(|predicted| components::errors(predicted, &truth));
        let (m, s) = moment_errors(toy, predictions, x);
        Self {
            m,
            s,
            s_misprint: (toy == Toy::Bimodal).then(|| rmse(&predictions.sd(), x.iter().map(|x| misprinted_sd(*x)))),
            weight: matched.map(|errors| errors.weight),
            weight_sorted: matched.map(|errors| errors.weight_sorted),
            component_mean: matched.map(|errors| errors.mean),
            component_sd: matched.map(|errors| errors.sd),
        }
    }
}

/// The sd of Example 2 as the paper prints it: the variance of ±1 with probabilities 0.7 and 0.3 is 0.84, not 0.138.
fn misprinted_sd(x: f64) -> f64 {
    (9.0 + 0.138 * x.powi(6)).sqrt()
}

/// Root mean squared errors of mean and sd.
pub(super) fn moment_errors(toy: Toy, predictions: &Predictions, x: &[f64]) -> (f64, f64) {
    let truth = toy.truth(x);
    let m = rmse(&predictions.mean(), truth.rows().map(|row| row.mean()));
    let s = rmse(&predictions.sd(), truth.rows().map(|row| row.sd()));
    (m, s)
}

fn rmse(ours: &[f64], theirs: impl Iterator<Item = f64>) -> f64 {
    let squares: f64 = ours.iter().zip(theirs).map(|(ours, theirs)| (ours - theirs) * (ours - theirs)).sum();
    (squares / ours.len() as f64).sqrt()
}

/// The evaluation of one checkpoint.
pub(super) struct Evaluation {
    checkpoint: Checkpoint,
    oracle: f64,
    validation: f64,
    errors: Errors,
}

/// The checkpoint that a selection takes, and its errors.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Selected {
    /// The criterion, lower is better.
    pub(super) score: f64,
    /// Epochs or rounds.
    pub(super) at: usize,
    /// Members of the ensemble, where it is one.
    pub(super) members: Option<usize>,
    /// Errors at the test inputs.
    #[serde(flatten)]
    pub(super) errors: Errors,
}

/// Epochs or rounds between checkpoints.
pub(super) fn checkpoint_interval(method: &Method) -> usize {
    if method.has("n-estimators") { ROUND_INTERVAL } else { EPOCH_INTERVAL }
}

/// Trains, and evaluates every checkpoint.
pub(super) fn evaluate_checkpoints(
    problem: Problem,
    method: &Method,
    seed: u64,
) -> Result<JobGroup<'static, Vec<Evaluation>>> {
    let encoded = problem.encoded(Units::Standardised)?;
    let path = TrainingPath::undertake(method, &encoded.train, seed, checkpoint_interval(method))?;
    Ok(path.map(move |path| {
        let path = path?;
        path.checkpoints().into_iter().map(|checkpoint| evaluate(&problem, &encoded, &path, checkpoint)).collect()
    }))
}

fn evaluate(
    problem: &Problem,
    encoded: &super::problem::Encoded,
    path: &TrainingPath,
    checkpoint: Checkpoint,
) -> Result<Evaluation> {
    let toy = problem.toy();
    let (x, y) = problem.validation();
    let validation = encoded.unscaled(path.predict(checkpoint, &encoded.validation)?);
    let (m, s) = moment_errors(toy, &validation, x);
    let crps = validation.crps(y)?;
    let test = encoded.unscaled(path.predict(checkpoint, &encoded.test)?);
    Ok(Evaluation {
        checkpoint,
        oracle: (0.5 * (m * m + s * s)).sqrt(),
        validation: crps.iter().sum::<f64>() / crps.len() as f64,
        errors: Errors::of(toy, &test, problem.test_inputs()),
    })
}

/// The checkpoint of each selection, as JSON.
pub(super) fn select(evaluations: &[Evaluation]) -> Value {
    let mut selected = Map::new();
    for selection in Selection::ALL {
        let score = |evaluation: &Evaluation| match selection {
            Selection::Oracle => evaluation.oracle,
            Selection::Validation => evaluation.validation,
        };
        if let Some(best) = min_by_score(evaluations, |evaluation| score(evaluation)) {
            let Checkpoint { at, members } = best.checkpoint;
            let best = Selected { score: score(best), at, members, errors: best.errors };
            selected.insert(selection.name().into(), json!(best));
        }
    }
    Value::Object(selected)
}
