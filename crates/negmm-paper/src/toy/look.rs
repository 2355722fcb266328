//! Responsible for looking at a training from place to place: its errors against the truth, and the place to be chosen.

use negmm::train::JobGroup;
use negmm::{Method, Predictions, Result, Toy};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::components;
use super::problem::{Problem, Units};
use super::snapshots::{Path, Place};
use crate::select::smallest;

/// Epochs, and rounds, from one look to the next.
const EVERY_EPOCHS: usize = 10;
const EVERY_ROUNDS: usize = 25;

/// What chooses.
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
    /// Of the sd, against the variance that the paper misprints.
    pub s_misprint: Option<f64>,
    /// Of the components' weights.
    pub weight: Option<f64>,
    /// Of the weights in the order of their size at each x.
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

    /// One of them.
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

/// One place of a training.
pub(super) struct Look {
    place: Place,
    oracle: f64,
    validation: f64,
    errors: Errors,
}

/// The place that a selection takes, and what it is worth.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Chosen {
    /// What chose, the less the better.
    pub(super) score: f64,
    /// Epochs or rounds.
    pub(super) at: usize,
    /// Members of the ensemble, where it is one.
    pub(super) members: Option<usize>,
    /// Errors at the test inputs.
    #[serde(flatten)]
    pub(super) errors: Errors,
}

/// Epochs or rounds from one look to the next.
pub(super) fn every(method: &Method) -> usize {
    if method.has("n-estimators") { EVERY_ROUNDS } else { EVERY_EPOCHS }
}

/// Training, and looking.
pub(super) fn over(problem: Problem, method: &Method, seed: u64) -> Result<JobGroup<'static, Vec<Look>>> {
    let encoded = problem.encoded(Units::Standardised)?;
    let path = Path::undertake(method, &encoded.train, seed, every(method))?;
    Ok(path.map(move |path| {
        let path = path?;
        path.places().into_iter().map(|place| look(&problem, &encoded, &path, place)).collect()
    }))
}

fn look(problem: &Problem, encoded: &super::problem::Encoded, path: &Path, place: Place) -> Result<Look> {
    let toy = problem.toy();
    let (x, y) = problem.validation();
    let held = encoded.unscaled(path.predict(place, &encoded.validation)?);
    let (m, s) = moment_errors(toy, &held, x);
    let crps = held.crps(y)?;
    let test = encoded.unscaled(path.predict(place, &encoded.test)?);
    Ok(Look {
        place,
        oracle: (0.5 * (m * m + s * s)).sqrt(),
        validation: crps.iter().sum::<f64>() / crps.len() as f64,
        errors: Errors::of(toy, &test, problem.test_inputs()),
    })
}

/// What each selection takes.
pub(super) fn choose(looks: &[Look]) -> Value {
    let mut chosen = Map::new();
    for selection in Selection::ALL {
        let score = |look: &Look| match selection {
            Selection::Oracle => look.oracle,
            Selection::Validation => look.validation,
        };
        if let Some(best) = smallest(looks, |look| score(look)) {
            let Place { at, members } = best.place;
            let best = Chosen { score: score(best), at, members, errors: best.errors };
            chosen.insert(selection.name().into(), json!(best));
        }
    }
    Value::Object(chosen)
}
