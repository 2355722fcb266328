//! Responsible for `auto`, the default: a calibrated pool of NE-GMMs whose settings follow from the size of the data.

use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::few_rows::{FEW, LEAST_TRAINED, constant_sd};
use super::material::Material;
use super::mixture_network::COMPONENTS;
use super::ne_gmm::ETA;
use super::network_settings::{HIDDEN, LSTM_HIDDEN, LSTM_LAYERS};
use super::plan::{Folds, Plan, Work};
use super::seed::member_seed;
use super::{Method, MixtureNetwork, NetworkSettings};
use crate::data::Dataset;
use crate::data::split::{blocks, grouped_folds, k_folds, repeated};
use crate::math::rng::Rng;
use crate::net::Activation;
use crate::options::{Options, PATIENCE, SIGMA_MIN, Slot, Spec, Word, automatic};
use crate::streams;
use crate::train::{BATCH, DROPOUT, LEARNING_RATE, STEPS, Schedule, Selection, Training};

/// Folds and networks of a fold at most.
const MOST_FOLDS: usize = 100;
const MOST_MEMBERS: usize = 100;
/// Rows of a fold, at least.
const LEAST_IN_FOLD: usize = 3;
/// Of few rows a component may not be wider or further away than this, in sds of the target.
const FEW_SIGMA_MAX: f64 = 2.0;
const FEW_MEAN_BOUND: f64 = 4.0;
/// From so many rows on networks are larger, and from so many on units are dropped.
const LARGE: usize = 5_000;
const VERY_LARGE: usize = 15_000;
/// Held-out rows that choose the weights of a network, at most.
const MOST_CHECKED: usize = 10_000;
/// Frequencies of the periodic embedding in the networks of a fold, in turn.
const FREQUENCIES: [f64; 2] = [0.1, 0.5];
/// The limit of smooth clipping, in sds.
const SOFT_CLIP: f64 = 8.0;
/// Of a sequence the last of so many parts is held out, block after block.
const HELD_OUT_PART: usize = 3;
/// Rows with equal inputs stay in one fold when more than this share of the rows has such.
const FEW_REPEATS: f64 = 0.05;

/// A pool of neural Gaussian mixtures: the rows are dealt into folds, and for each fold `members` networks learn from the
/// other folds. Each keeps the weights with the best calibrated logarithmic score on its own fold. All are pooled with equal weights, and
/// their sds multiplied by a factor that fits the held-out predictions.
///
/// | rows | hidden | batch | rate | steps | validation check every | patience | dropout |
/// |---|---|---|---|---|---|---|---|
/// | fewer than 5000 | 128, 128 | 64 | 0.01 | 6000 | 50 | 0 | 0 |
/// | 5000 … | 256, 256, 256 | 256 | 0.003 | 8000 | 200 | 15 | 0 |
/// | 15000 … | 256, 256, 256 | 256 | 0.003 | 12000 | 200 | 15 | 0.1 |
/// | a sequence | none (after the LSTM) | 64 | 0.005 | 2000 | 50 | 0 | 0 |
///
/// Fewer than 10 rows are not learnt from: the answer is the targets' mean with the sd of an honest interval. Fewer than 50
/// make folds of at least 3 rows and wider sds. Rows with equal inputs stay in one fold where more than 5 % of the rows have such. Of a
/// sequence the last third is held out, block after block, by networks that learn from the rows before the block.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub struct Auto {
    /// How many networks.
    pub preset: Preset,
    /// Parts of the rows.
    #[serde(with = "automatic")]
    pub folds: Option<usize>,
    /// Networks for each fold.
    #[serde(with = "automatic")]
    pub members: Option<usize>,
    /// K.
    pub components: usize,
    /// Share of the logarithmic score.
    pub eta: f64,
    /// Smallest sd.
    pub sigma_min: f64,
    /// Units of each hidden layer.
    #[serde(with = "automatic")]
    pub hidden: Option<Vec<usize>>,
    /// Rows of one step.
    #[serde(with = "automatic")]
    pub batch: Option<usize>,
    /// Adam's step size at its highest.
    #[serde(with = "automatic")]
    pub learning_rate: Option<f64>,
    /// Steps of each network.
    #[serde(with = "automatic")]
    pub steps: Option<usize>,
    /// Validation checks without a better score before stopping.
    #[serde(with = "automatic")]
    pub patience: Option<usize>,
    /// Share of hidden units switched off.
    #[serde(with = "automatic")]
    pub dropout: Option<f64>,
    /// Units of each layer of the LSTM.
    pub lstm_hidden: usize,
    /// Layers of the LSTM.
    pub lstm_layers: usize,
}

/// How many networks `auto` trains.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Preset {
    /// 5 folds, one network each.
    Fast,
    /// 10 folds, one network each.
    Medium,
    /// 10 folds, two networks each.
    Best,
}

impl Preset {
    /// Folds and networks of a fold.
    fn size(self) -> (usize, usize) {
        match self {
            Self::Fast => (5, 1),
            Self::Medium => (10, 1),
            Self::Best => (10, 2),
        }
    }
}

impl Default for Auto {
    fn default() -> Self {
        let NetworkSettings { lstm_hidden, lstm_layers, .. } = NetworkSettings::default();
        Self {
            preset: Preset::Medium,
            folds: None,
            members: None,
            components: 8,
            eta: 0.5,
            sigma_min: 1e-3,
            hidden: None,
            batch: None,
            learning_rate: None,
            steps: None,
            patience: None,
            dropout: None,
            lstm_hidden,
            lstm_layers,
        }
    }
}

/// What follows from the number of rows.
struct SizeRule {
    hidden: &'static [usize],
    batch: usize,
    learning_rate: f64,
    steps: usize,
    check_every: usize,
    patience: usize,
    dropout: f64,
}

const SMALL_SIZES: SizeRule = SizeRule {
    hidden: &[128, 128],
    batch: 64,
    learning_rate: 0.01,
    steps: 6_000,
    check_every: 50,
    patience: 0,
    dropout: 0.0,
};
const LARGE_SIZES: SizeRule = SizeRule {
    hidden: &[256, 256, 256],
    batch: 256,
    learning_rate: 0.003,
    steps: 8_000,
    check_every: 200,
    patience: 15,
    dropout: 0.0,
};
const VERY_LARGE_SIZES: SizeRule = SizeRule { steps: 12_000, dropout: 0.1, ..LARGE_SIZES };
const SEQUENCE_SIZES: SizeRule = SizeRule { hidden: &[], learning_rate: 0.005, steps: 2_000, ..SMALL_SIZES };

impl SizeRule {
    fn of(data: &Dataset) -> &'static Self {
        match data.len() {
            _ if data.window().is_some() => &SEQUENCE_SIZES,
            VERY_LARGE.. => &VERY_LARGE_SIZES,
            LARGE.. => &LARGE_SIZES,
            _ => &SMALL_SIZES,
        }
    }
}

/// What settings follow from: the number of rows, and whether they are a sequence.
const BY_SIZE: &str = "by size";
const BY_PRESET: &str = "by preset";

impl Word for Preset {}

impl Options for Auto {
    fn each(&mut self, see: &mut dyn FnMut(&Spec, &mut dyn Slot)) {
        see(
            &Spec::word(
                "auto",
                "preset",
                "how many networks: fast 5 (5 folds), medium 10 (10 folds), best 20 (10 folds of 2)",
            )
            .basic(),
            &mut self.preset,
        );
        see(
            &Spec::new(
                "auto",
                "folds",
                "N",
                "parts of the rows, each held out once by networks that learn from the others",
            )
            .within(2.0, MOST_FOLDS as f64)
            .automatic(BY_PRESET),
            &mut self.folds,
        );
        see(
            &Spec::new("Pool of networks", "members", "T", "networks for each fold")
                .within(1.0, MOST_MEMBERS as f64)
                .automatic(BY_PRESET),
            &mut self.members,
        );
        see(&COMPONENTS, &mut self.components);
        see(&ETA, &mut self.eta);
        see(&SIGMA_MIN, &mut self.sigma_min);
        see(&HIDDEN.automatic(BY_SIZE), &mut self.hidden);
        see(&BATCH.automatic(BY_SIZE), &mut self.batch);
        see(&LEARNING_RATE.automatic(BY_SIZE), &mut self.learning_rate);
        see(&STEPS.automatic(BY_SIZE), &mut self.steps);
        see(&PATIENCE.automatic(BY_SIZE), &mut self.patience);
        see(&DROPOUT.automatic(BY_SIZE), &mut self.dropout);
        see(&LSTM_HIDDEN, &mut self.lstm_hidden);
        see(&LSTM_LAYERS, &mut self.lstm_layers);
    }
}

impl Auto {
    /// The same with every setting that follows from the data filled in.
    fn resolved(&self, data: &Dataset) -> Self {
        let sizes = SizeRule::of(data);
        let (folds, members) = self.preset.size();
        Self {
            folds: Some(self.folds.unwrap_or(folds).min(data.len() / LEAST_IN_FOLD).max(2)),
            members: Some(self.members.unwrap_or(members)),
            hidden: Some(self.hidden.clone().unwrap_or_else(|| sizes.hidden.to_vec())),
            batch: Some(self.batch.unwrap_or(sizes.batch)),
            learning_rate: Some(self.learning_rate.unwrap_or(sizes.learning_rate)),
            steps: Some(self.steps.unwrap_or(sizes.steps)),
            patience: Some(self.patience.unwrap_or(sizes.patience)),
            dropout: Some(self.dropout.unwrap_or(sizes.dropout)),
            ..self.clone()
        }
    }

    /// The limit of smooth clipping.
    pub(super) fn soft_clip(&self) -> Option<f64> {
        Some(SOFT_CLIP)
    }

    /// Network number `member` of a fold.
    fn network(&self, sizes: &SizeRule, member: usize) -> MixtureNetwork {
        let training = Training {
            steps: Some(self.steps.unwrap_or(sizes.steps)),
            check_every: Some(sizes.check_every),
            batch: self.batch.unwrap_or(sizes.batch),
            learning_rate: self.learning_rate.unwrap_or(sizes.learning_rate),
            schedule: Schedule::Cosine,
            patience: self.patience.unwrap_or(sizes.patience),
            select: Selection::Calibrated,
            averaging: 0.0,
            dropout: self.dropout.unwrap_or(sizes.dropout),
            ..Training::default()
        };
        let settings = NetworkSettings {
            hidden: self.hidden.clone().unwrap_or_else(|| sizes.hidden.to_vec()),
            activation: Activation::Silu,
            embedding: Some(FREQUENCIES[member % FREQUENCIES.len()]),
            soft_clip: self.soft_clip(),
            lstm_hidden: self.lstm_hidden,
            lstm_layers: self.lstm_layers,
            sigma_min: self.sigma_min,
            training,
        };
        MixtureNetwork { components: self.components, settings, ..MixtureNetwork::default() }
    }

    /// Learns from the rows whose weight is not zero, and from their number everything that is left open follows.
    pub(super) fn plan(&self, data: &Arc<Dataset>, seed: u64) -> Plan {
        let counts = |row: &u32| data.sample_weights()[*row as usize] > 0.0;
        let numbers: Vec<u32> = (0..data.len() as u32).filter(counts).collect();
        let data = if numbers.len() == data.len() { data.clone() } else { Arc::new(data.select(&numbers)) };
        let resolved = self.resolved(&data);
        let work = if data.len() < LEAST_TRAINED {
            Work::Constant { sd: constant_sd(data.len()) }
        } else {
            Work::Folds(resolved.folds(data, numbers, seed))
        };
        Plan { method: Method::Auto(resolved), work }
    }

    /// The networks to train. For settings that are [`Auto::resolved`].
    fn folds(&self, data: Arc<Dataset>, numbers: Vec<u32>, seed: u64) -> Folds {
        let (folds, members) = self.preset.size();
        let (folds, members) = (self.folds.unwrap_or(folds), self.members.unwrap_or(members));
        let held_out = divide(&data, folds, &mut Rng::new(seed, streams::FOLDS));
        let sizes = SizeRule::of(&data);
        let mut jobs = Vec::with_capacity(held_out.len() * members);
        let mut statistics = Vec::with_capacity(held_out.len());
        for (number, fold) in held_out.iter().enumerate() {
            let checked = fold.iter().copied().take(MOST_CHECKED).collect();
            let material = Material::new(&data, (learnt_from(&data, fold), checked), seed);
            for member in 0..members {
                let own = member_seed(seed, number * members + member);
                let network = self.network(sizes, if members > 1 { member } else { number });
                let network = if data.len() < FEW { Self::bounded_for_few_rows(network) } else { network };
                jobs.push(network.job(&material, self.eta, own));
            }
            statistics.push(material.statistics);
        }
        Folds { jobs, held_out, statistics, data, numbers }
    }

    /// The same for few rows: a network that has seen ten rows must not be sure of anything far from them.
    fn bounded_for_few_rows(network: MixtureNetwork) -> MixtureNetwork {
        MixtureNetwork { sigma_max: Some(FEW_SIGMA_MAX), mean_bound: Some(FEW_MEAN_BOUND), ..network }
    }
}

/// Rows that each fold holds out; none is empty. Where inputs repeat, rows with equal inputs stay together: a fold that holds
/// rows which its networks know is no test of new ones.
fn divide(data: &Dataset, folds: usize, rng: &mut Rng) -> Vec<Vec<u32>> {
    let parts = match data.window() {
        Some(_) => last_blocks(data.len(), folds),
        None => {
            let groups = data.equal_inputs();
            let repeats = repeated(&groups);
            if repeats > FEW_REPEATS && largest(&groups) <= data.len() / folds {
                grouped_folds(&groups, folds, rng)
            } else {
                k_folds(data.len(), folds, rng)
            }
        }
    };
    parts.into_iter().filter(|part| !part.is_empty()).collect()
}

/// Of rows in the order of time the last third, cut into `folds` blocks; there is a row before the first of them.
fn last_blocks(rows: usize, folds: usize) -> Vec<Vec<u32>> {
    let first = (rows - rows / HELD_OUT_PART).max(1);
    let block = |block: Range<usize>| (first + block.start) as u32..(first + block.end) as u32;
    blocks(rows.saturating_sub(first), folds).into_iter().map(|range| block(range).collect()).collect()
}

/// Rows of the largest group.
fn largest(groups: &[u32]) -> usize {
    let mut sizes = vec![0; groups.len()];
    groups.iter().for_each(|group| sizes[*group as usize] += 1);
    sizes.into_iter().max().unwrap_or(0)
}

/// The rows that networks of a fold learn from: all others, or of a sequence those before it.
fn learnt_from(data: &Dataset, fold: &[u32]) -> Vec<u32> {
    if data.window().is_some() {
        return (0..fold[0]).collect();
    }
    let mut held = vec![false; data.len()];
    fold.iter().for_each(|row| held[*row as usize] = true);
    (0..data.len() as u32).filter(|row| !held[*row as usize]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::NetworkJob;

    /// Rows with one input; every third has the input of the row before it where `repeats`.
    fn data(rows: usize, repeats: bool) -> Dataset {
        let mut data = Dataset::new(1);
        for row in 0..rows {
            let x = if repeats && row % 3 == 2 { row - 1 } else { row };
            data.push(&[x as f32], row as f32);
        }
        data
    }

    /// The networks, and the rows that each fold holds out.
    fn planned(auto: &Auto, data: &Dataset, seed: u64) -> (Vec<NetworkJob>, Vec<Vec<u32>>) {
        match auto.plan(&Arc::new(data.clone()), seed).work {
            Work::Folds(Folds { jobs, held_out, .. }) => (jobs, held_out),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn no_network_learns_from_the_rows_it_holds_out() {
        for (data, members) in [(data(103, false), 1), (data(90, true), 2), (data(11, false), 3)] {
            let (jobs, folds) = planned(&Auto { members: Some(members), ..Auto::default() }, &data, 7);
            assert_eq!(jobs.len(), folds.len() * members);
            let mut all = folds.concat();
            all.sort_unstable();
            assert_eq!(all, (0..data.len() as u32).collect::<Vec<_>>(), "each row is held out once");
            for (number, job) in jobs.iter().enumerate() {
                let fold = &folds[number / members];
                assert!(job.train.iter().all(|row| !fold.contains(row)));
                assert!(job.validation.iter().all(|row| fold.contains(row)));
                assert_eq!(job.train.len() + fold.len(), data.len());
                assert!((0..number).all(|other| jobs[other].seed != job.seed));
            }
        }
    }

    #[test]
    fn equal_inputs_stay_in_one_fold() {
        let data = data(90, true);
        let (jobs, _) = planned(&Auto::default(), &data, 1);
        let x = |row: &u32| data.x()[*row as usize * data.stride()];
        for job in jobs {
            assert!(job.train.iter().all(|row| job.validation.iter().all(|held| x(row) != x(held))));
        }
    }

    #[test]
    fn of_a_sequence_networks_learn_from_the_past_alone() {
        let mut rows = Dataset::new(1);
        (0..100).for_each(|row| rows.push(&[row as f32], row as f32));
        let data = crate::data::windows(&rows, 4, false);
        let (jobs, folds) = planned(&Auto::default(), &data, 1);
        assert_eq!(folds.concat(), (64..96).collect::<Vec<_>>());
        for job in jobs {
            assert!(job.train.iter().all(|row| job.validation.iter().all(|held| row < held)));
        }
    }

    #[test]
    fn the_size_of_the_data_decides() {
        let hidden = |rows: usize| Auto::default().resolved(&data(rows, false)).hidden.unwrap();
        assert_eq!((hidden(4999), hidden(5000)), (vec![128, 128], vec![256, 256, 256]));
        let few = Auto { preset: Preset::Best, ..Auto::default() }.resolved(&data(20, false));
        assert_eq!((few.folds, few.members, few.steps), (Some(6), Some(2), Some(6000)));
        let given = Auto { steps: Some(7), dropout: Some(0.3), ..Auto::default() };
        let large = given.resolved(&data(20_000, false));
        assert_eq!((large.steps, large.dropout, large.batch), (Some(7), Some(0.3), Some(256)));
    }
}
