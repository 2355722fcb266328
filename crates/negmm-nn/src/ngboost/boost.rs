//! The rounds of boosting: gradients, two trees, line search, step, and when to stop.
//!
//! One round, as in the original software: the natural gradient g of the score in (mean, log sd) of every row; one tree fitted to
//! each of its two parts; a scale for both by [`line_search`]; and the step
//! (mean, log sd) -= learning rate · scale · (tree₁(row), tree₂(row)).

use super::boosted::{Boosted, Round, RoundScore};
use super::grow::Grower;
use super::parameters::{NormalParameters, Steps, weighted_mean};
use super::tree::Tree;
use super::{Columns, NgBoost};
use crate::callbacks::{Callbacks, Progress};
use negmm_dist::math::rng::Rng;
use negmm_dist::{Result, streams};

/// Boosting ends, and a line search gives up, when a step is shorter than this on average.
const TOLERANCE: f64 = 1e-4;
/// A line search does not double a scale above this.
const LAST_DOUBLED: f64 = 256.0;

/// Rows to learn from or to validate with.
pub(super) struct Sample<'a> {
    pub columns: Columns<'a>,
    pub y: &'a [f64],
    /// Lower and upper ends of censored targets; `y` then has a number for each interval.
    pub intervals: Option<[&'a [f64]; 2]>,
    pub weight: Option<&'a [f64]>,
}

impl Sample<'_> {
    fn parameters(&self, start: [f64; 2], sigma_min: f64) -> NormalParameters {
        let parameters = NormalParameters::new(self.y, start, sigma_min);
        match self.intervals {
            Some(intervals) => parameters.within(self.y, intervals),
            None => parameters,
        }
    }
}

/// Boosts for at most `settings.n_estimators` rounds. With validation rows, only the rounds up to the best one are kept.
pub(super) fn boost(
    settings: &NgBoost,
    train: &Sample<'_>,
    validation: Option<&Sample<'_>>,
    mut cross_fitting: Option<&mut CrossFitting>,
    seed: u64,
    (job, callbacks): (usize, &Callbacks<'_>),
) -> Result<Boosted> {
    let (rows, score) = (train.y.len(), settings.score);
    let start = start(train, settings.sigma_min);
    let mut parameters = train.parameters(start, settings.sigma_min);
    let mut validation = validation.map(|rows| (rows, rows.parameters(start, settings.sigma_min)));
    let mut best = BestRound { round: 0, score: f64::INFINITY };
    if let Some((rows, parameters)) = &validation {
        best.update(0, parameters.mean_score(score, rows.weight));
        if let Some(cross_fitting) = &mut cross_fitting {
            cross_fitting.update(rows, parameters, settings);
        }
    }
    let mut grower =
        Grower::new(&train.columns, train.weight, settings.bins(rows), settings.max_depth, settings.min_samples_leaf);
    let mut draws = Draws::new(settings, train, seed);
    let (mut rounds, mut gains, mut history) = (Vec::new(), Vec::new(), Vec::new());
    let mut gradient = vec![[0.0; 2]; rows];
    let mut train_score = parameters.mean_score(score, train.weight);
    let rate = settings.learning_rate;
    for number in 1..=settings.n_estimators {
        callbacks.check_cancelled()?;
        let batch = draws.next(train);
        for (row, gradient) in gradient.iter_mut().enumerate() {
            let weight = batch.weight.map_or(1.0, |weight| weight[row]);
            *gradient =
                parameters.natural_gradient(score, row).map(|part| if weight > 0.0 { part * weight } else { 0.0 });
        }
        let [mean, log_sd] = grower.grow(&gradient, batch.weight, batch.features);
        let trees = [mean.tree, log_sd.tree];
        let norm = mean_norm(&trees, &grower.node, batch.weight);
        let before = if batch.whole { train_score } else { parameters.mean_score(score, batch.weight) };
        let scale = line_search(before, norm, |scale| {
            parameters.mean_score_after(score, batch.weight, &Steps::new(&trees, scale), &grower.node)
        });
        let round = Round { scale, trees };
        let steps = Steps::new(&round.trees, rate * scale);
        for (row, leaves) in grower.node.iter().enumerate() {
            parameters.step(row, &steps, leaves.map(usize::from));
        }
        train_score = parameters.mean_score(score, train.weight);
        let validation_score = validation.as_mut().map(|(rows, parameters)| {
            parameters.descend(&rows.columns, &round, rate);
            if let Some(cross_fitting) = &mut cross_fitting {
                cross_fitting.update(rows, parameters, settings);
            }
            parameters.mean_score(score, rows.weight)
        });
        rounds.push(round);
        gains.push([mean.gains, log_sd.gains]);
        history.push(RoundScore { train: train_score, validation: validation_score });
        if let Some(score) = validation_score {
            best.update(number, score);
        }
        let patience_over =
            validation_score.is_some() && settings.patience > 0 && number - best.round >= settings.patience;
        let done = norm < TOLERANCE || norm.is_nan();
        let last = number == settings.n_estimators || patience_over || done;
        (callbacks.progress)(&Progress {
            job,
            epoch: number,
            epochs: settings.n_estimators,
            best: validation_score.map(|_| best.score),
            last,
        });
        if last {
            break;
        }
    }
    if validation.is_some() {
        rounds.truncate(best.round);
        gains.truncate(best.round);
    }
    let features = train.columns.features();
    let importance = [0, 1].map(|tree| importance(features, gains.iter().flat_map(|gains| &gains[tree])));
    let (learning_rate, sigma_min) = (rate, settings.sigma_min);
    Ok(Boosted { start, learning_rate, sigma_min, features, rounds, importance, history })
}

/// Mean and logarithm of the (population) sd of `y`, as in the original software.
fn start(train: &Sample<'_>, sigma_min: f64) -> [f64; 2] {
    let mean = weighted_mean(train.y.len(), train.weight, |row| train.y[row]);
    let variance = weighted_mean(train.y.len(), train.weight, |row| (train.y[row] - mean) * (train.y[row] - mean));
    [mean, libm::log(variance.sqrt().clamp(sigma_min, f64::MAX))]
}

/// The scale of a step: starting at 1, doubled (up to 512) while the score is finite and not above the score `before`, then halved
/// until the score is finite and below it, or the step is shorter than the tolerance.
///
/// `norm` is the mean length of the step with scale 1; `score` gives the mean score after a step with some scale.
pub fn line_search(before: f64, norm: f64, score: impl Fn(f64) -> f64) -> f64 {
    let mut scale = 1.0;
    let mut after = score(scale);
    while after.is_finite() && after <= before && scale <= LAST_DOUBLED {
        scale *= 2.0;
        after = score(scale);
    }
    // A norm of NaN would never be short enough.
    while scale * norm >= TOLERANCE && !(after.is_finite() && after < before) && norm.is_finite() {
        scale *= 0.5;
        after = score(scale);
    }
    scale
}

/// The mean length of the step with scale 1.
fn mean_norm(trees: &[Tree; 2], leaves: &[[u16; 2]], weight: Option<&[f64]>) -> f64 {
    let [mean, log_sd] = trees.each_ref().map(|tree| tree.nodes());
    weighted_mean(leaves.len(), weight, |row| {
        let [a, b] = leaves[row];
        let (a, b) = (f64::from(mean[a as usize].number), f64::from(log_sd[b as usize].number));
        (a * a + b * b).sqrt()
    })
}

/// The fraction of all gains that is due to each feature.
fn importance<'a>(features: usize, gains: impl Iterator<Item = &'a (u32, f64)>) -> Vec<f64> {
    let mut parts = vec![0.0; features];
    gains.for_each(|&(feature, gain)| parts[feature as usize] += gain);
    let total: f64 = parts.iter().sum();
    if total > 0.0 {
        parts.iter_mut().for_each(|part| *part /= total);
    }
    parts
}

/// The best round so far.
struct BestRound {
    round: usize,
    score: f64,
}

impl BestRound {
    fn update(&mut self, round: usize, score: f64) {
        if score < self.score {
            (self.round, self.score) = (round, score);
        }
    }
}

/// Cross-fitting of the number of rounds: each half of the validation rows is predicted by the best round of the other half.
pub(super) struct CrossFitting {
    /// Where the second half begins.
    split: usize,
    best: [f64; 2],
    means: Vec<f64>,
    sds: Vec<f64>,
}

impl CrossFitting {
    /// `None` if a half of the rows would be empty.
    pub(super) fn new(split: usize, rows: usize) -> Option<Self> {
        let zeros = || vec![0.0; rows];
        (0 < split && split < rows).then(|| Self { split, best: [f64::INFINITY; 2], means: zeros(), sds: zeros() })
    }

    /// If a half has its best score so far, the predictions of the other half are replaced.
    fn update(&mut self, validation: &Sample<'_>, parameters: &NormalParameters, settings: &NgBoost) {
        let halves = [0..self.split, self.split..self.means.len()];
        for (half, best) in self.best.iter_mut().enumerate() {
            let (own, other) = (halves[half].clone(), halves[1 - half].clone());
            let weight = |row: usize| validation.weight.map_or(1.0, |weight| weight[row]);
            let total =
                own.filter(|row| weight(*row) > 0.0).map(|row| weight(row) * parameters.score(settings.score, row));
            let total: f64 = total.sum();
            if total < *best || best.is_infinite() {
                *best = total.min(*best);
                for row in other {
                    self.means[row] = validation.y[row] - parameters.residual[row];
                    self.sds[row] = libm::exp(parameters.log_sd[row]).max(settings.sigma_min);
                }
            }
        }
    }

    /// Means and sds of all rows.
    pub(super) fn predictions(self) -> (Vec<f64>, Vec<f64>) {
        (self.means, self.sds)
    }
}

/// Draws the rows and columns of each round.
struct Draws {
    rng: Rng,
    /// The number of rows of each round; `None`: all.
    drawn_rows: Option<usize>,
    drawn_features: Option<usize>,
    rows: Vec<u32>,
    weight: Vec<f64>,
    all_features: Vec<u32>,
    features: Vec<u32>,
}

/// The rows and features of one round.
struct RoundSample<'a> {
    weight: Option<&'a [f64]>,
    features: &'a [u32],
    /// Whether these are all rows.
    whole: bool,
}

impl Draws {
    fn new(settings: &NgBoost, train: &Sample<'_>, seed: u64) -> Self {
        let part = |fraction: f64, all: usize| (fraction < 1.0).then(|| ((fraction * all as f64) as usize).max(1));
        let (rows, features) = (train.y.len(), train.columns.features());
        let all_features: Vec<u32> = (0..features as u32).collect();
        Self {
            rng: Rng::new(seed, streams::BOOSTING),
            drawn_rows: part(settings.subsample, rows),
            drawn_features: part(settings.colsample, features).filter(|drawn| *drawn < features),
            rows: (0..rows as u32).collect(),
            weight: vec![0.0; rows],
            features: all_features.clone(),
            all_features,
        }
    }

    fn next<'a>(&'a mut self, train: &'a Sample<'_>) -> RoundSample<'a> {
        if let Some(drawn) = self.drawn_features {
            self.rng.shuffle(&mut self.all_features);
            self.features = self.all_features[..drawn].to_vec();
            self.features.sort_unstable();
        }
        let Some(drawn) = self.drawn_rows else {
            return RoundSample { weight: train.weight, features: &self.features, whole: true };
        };
        self.rng.shuffle(&mut self.rows);
        self.weight.fill(0.0);
        for &row in &self.rows[..drawn] {
            self.weight[row as usize] = train.weight.map_or(1.0, |weight| weight[row as usize]);
        }
        if self.weight.iter().all(|weight| *weight == 0.0) {
            return RoundSample { weight: train.weight, features: &self.features, whole: true };
        }
        RoundSample { weight: Some(&self.weight), features: &self.features, whole: false }
    }
}
