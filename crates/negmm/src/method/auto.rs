//! The jobs of `auto`, the default method: a calibrated pool of NE-GMMs whose settings are chosen by the size of the
//! data.

use std::sync::Arc;

use super::auto_settings::Auto;
use super::few_rows::{FEW, LEAST_TRAINED, constant_sd};
use super::fold_data::FoldData;
use super::fold_rows::{HeldOutFold, cross_fitting_split, held_out_folds, training_rows};
use super::folds::{Fold, Folds};
use super::ne_gmm::check_eta_of_censored;
use super::plan::{Plan, Work};
use super::seed::member_seed;
use super::settings::MethodSettings;
use super::sizes::Sizes;
use super::{MixtureNetwork, NetworkSettings, NgBoost, PredictorKind, constant};
use negmm_dist::Result;
use negmm_dist::math::rng::Rng;
use negmm_dist::streams;
use negmm_nn::dataset::Dataset;
use negmm_nn::net::Activation;
use negmm_nn::train::{Schedule, Selection, TrainingConfig, TreesJob};

/// Minimum number of rows of a fold.
const LEAST_IN_FOLD: usize = 3;
/// With few rows, the largest sd and absolute mean of a component, in sds of the target.
const FEW_SIGMA_MAX: f64 = 2.0;
const FEW_MEAN_BOUND: f64 = 4.0;
/// Maximum number of held-out rows for checkpoint selection.
const MOST_CHECKED: usize = 10_000;
/// The limit of smooth clipping, in sds.
const SOFT_CLIP: f64 = 8.0;

impl MethodSettings for Auto {
    fn name(&self) -> &'static str {
        "auto"
    }

    /// Plans training on the rows with non-zero weight; open settings follow from their number.
    fn plan(&self, data: &Arc<Dataset>, seed: u64) -> Result<Plan> {
        let counts = |row: &u32| data.sample_weights()[*row as usize] > 0.0;
        let numbers: Vec<u32> = (0..data.len() as u32).filter(counts).collect();
        let data = if numbers.len() == data.len() { data.clone() } else { Arc::new(data.select(&numbers)) };
        let resolved = self.resolved(&data);
        let work = if data.len() < LEAST_TRAINED {
            Work::Constant { distribution: constant::distribution_of_all(&data, constant_sd(data.len())) }
        } else {
            Work::Folds(resolved.plan_folds(data, numbers, seed))
        };
        Ok(Plan { method: resolved.into(), work })
    }

    fn makes(&self, kind: PredictorKind) -> bool {
        kind != PredictorKind::Samplers
    }

    fn check_censored(&self) -> Result<()> {
        check_eta_of_censored(self.name(), self.eta)
    }

    fn soft_clip(&self) -> Option<f64> {
        Some(SOFT_CLIP)
    }

    fn quantile_transform(&self) -> bool {
        self.quantile_transform
    }

    fn as_auto(&self) -> Option<&Auto> {
        Some(self)
    }
}

impl Auto {
    /// The same with every data-dependent setting filled in.
    fn resolved(&self, data: &Dataset) -> Self {
        let sizes = Sizes::of(data, self.preset);
        let NetworkSettings { hidden, residual, training, .. } = self.settings(&sizes);
        Self {
            folds: Some(self.folds.unwrap_or(sizes.folds).min(data.len() / LEAST_IN_FOLD).max(2)),
            ensemble_size: Some(self.ensemble_size.unwrap_or(sizes.ensemble_size)),
            hidden: Some(hidden),
            residual: Some(residual),
            batch_size: Some(training.batch_size),
            optimiser: Some(training.optimiser),
            learning_rate: Some(training.learning_rate),
            steps: training.steps,
            patience: Some(training.patience),
            dropout: Some(training.dropout),
            weight_decay: Some(training.weight_decay),
            ..self.clone()
        }
    }

    /// The settings common to all networks, with defaults from the sizes.
    fn settings(&self, sizes: &Sizes) -> NetworkSettings {
        let steps = self.steps.unwrap_or(sizes.steps);
        let training = TrainingConfig::default()
            .steps(steps)
            .check_every((steps / sizes.checks).max(1))
            .batch_size(self.batch_size.unwrap_or(sizes.batch_size))
            .optimiser(self.optimiser.unwrap_or(sizes.optimiser))
            .learning_rate(self.learning_rate.unwrap_or(sizes.learning_rate))
            .schedule(Schedule::Cosine)
            .patience(self.patience.unwrap_or(sizes.patience))
            .select(Selection::Calibrated)
            .ema_decay(0.0)
            .dropout(self.dropout.unwrap_or(0.0))
            .weight_decay(self.weight_decay.unwrap_or(0.0));
        NetworkSettings {
            hidden: self.hidden.clone().unwrap_or_else(|| sizes.hidden.to_vec()),
            residual: self.residual.unwrap_or(true),
            activation: Activation::Silu,
            embedding: self.embedding,
            soft_clip: Some(SOFT_CLIP),
            quantile_transform: self.quantile_transform,
            lstm_hidden: self.lstm_hidden,
            lstm_layers: self.lstm_layers,
            sigma_min: self.sigma_min,
            training,
        }
    }

    /// Network number `member` of a fold.
    fn network(&self, sizes: &Sizes, member: usize) -> MixtureNetwork {
        let frequency = sizes.frequencies[member % sizes.frequencies.len()];
        let settings = NetworkSettings { embedding: self.embedding.or(Some(frequency)), ..self.settings(sizes) };
        MixtureNetwork { components: self.components, settings, ..MixtureNetwork::default() }
    }

    /// The networks to train, for settings that are [`Auto::resolved`].
    fn plan_folds(&self, data: Arc<Dataset>, numbers: Vec<u32>, seed: u64) -> Folds {
        let sizes = Sizes::of(&data, self.preset);
        let (folds, members) = (self.folds.unwrap_or(sizes.folds), self.ensemble_size.unwrap_or(sizes.ensemble_size));
        // A member of a pool may be more confident than it should be alone, and a sigma scale has no effect on sds
        // below the width of a cell. The score of a single network would then not select the best checkpoint for the
        // pool, so that with interval targets the last one is kept.
        let cells = data.intervals().is_some() && !data.has_censored();
        let divided = held_out_folds(&data, folds, &mut Rng::new(seed, streams::FOLDS));
        let mut folds = Vec::with_capacity(divided.len());
        let (mut networks, mut trees) = (Vec::with_capacity(divided.len() * members), Vec::new());
        for (number, HeldOutFold { rows, groups }) in divided.into_iter().enumerate() {
            let checked = rows.len().min(MOST_CHECKED);
            let half = if cells { 0 } else { cross_fitting_split(checked, groups.as_deref()) };
            let fold_data = FoldData::new(&data, (training_rows(&data, &rows), rows[..checked].to_vec()), seed);
            for member in 0..members {
                let own = member_seed(seed, number * members + member);
                let network = self.network(&sizes, if members > 1 { member } else { number });
                let network = if data.len() < FEW { Self::bounded_for_few_rows(network) } else { network };
                let mut job = network.job(&fold_data, self.eta, own);
                job.plan.cross_fitting_split = half;
                job.plan.keep_last_checkpoint = cells;
                networks.push(job);
            }
            let FoldData { data, train, statistics, .. } = fold_data;
            if sizes.trees {
                let (seed, cross_fitting_split) =
                    (member_seed(seed, number), cross_fitting_split(rows.len(), groups.as_deref()));
                trees.push(TreesJob {
                    settings: tree_settings(),
                    data,
                    train,
                    validation: rows[..].into(),
                    cross_fitting_split,
                    seed,
                });
            }
            folds.push(Fold { rows, checked, half, statistics });
        }
        Folds { networks, trees, folds, data, numbers }
    }

    /// The same for few rows: a network trained on ten rows must not extrapolate far.
    fn bounded_for_few_rows(network: MixtureNetwork) -> MixtureNetwork {
        // An explicitly larger sigma-min wins.
        let sigma_max = Some(FEW_SIGMA_MAX).filter(|most| *most > network.settings.sigma_min);
        MixtureNetwork { sigma_max, mean_bound: Some(FEW_MEAN_BOUND), ..network }
    }
}

/// Settings of the trees in the pool.
fn tree_settings() -> NgBoost {
    NgBoost::default()
        .n_estimators(600)
        .max_depth(6)
        .learning_rate(0.05)
        .subsample(0.8)
        .min_samples_leaf(5)
        .patience(50)
        .refit(false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::method::Preset;
    use negmm_nn::train::NetworkJob;

    /// Rows with one input; with `repeats`, every third repeats the input of the row before it.
    fn data(rows: usize, repeats: bool) -> Dataset {
        let mut data = Dataset::new(1);
        for row in 0..rows {
            let x = if repeats && row % 3 == 2 { row - 1 } else { row };
            data.push(&[x as f32], row as f32);
        }
        data
    }

    /// The networks, and the held-out rows of each fold.
    fn planned(auto: &Auto, data: &Dataset, seed: u64) -> (Vec<NetworkJob>, Vec<Vec<u32>>) {
        match auto.plan(&Arc::new(data.clone()), seed).unwrap().work {
            Work::Folds(Folds { networks, folds, .. }) => (networks, folds.into_iter().map(|fold| fold.rows).collect()),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn no_network_is_trained_on_its_held_out_rows() {
        for (data, members) in [(data(103, false), 1), (data(90, true), 2), (data(11, false), 3)] {
            let (jobs, folds) = planned(&Auto { ensemble_size: Some(members), ..Auto::default() }, &data, 7);
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
    fn rows_of_a_group_stay_in_one_fold_and_half() {
        let group = |row: u32| row / 4;
        let data = data(90, false).with_groups((0..90).map(group));
        let (jobs, _) = planned(&Auto::default(), &data, 1);
        let apart = |some: &[u32], others: &[u32]| {
            some.iter().all(|row| others.iter().all(|other| group(*row) != group(*other)))
        };
        for job in jobs {
            assert!(apart(&job.train, &job.validation));
            let (first, second) = job.validation.split_at(job.plan.cross_fitting_split);
            assert!(!first.is_empty() && apart(first, second));
        }
    }

    #[test]
    fn networks_of_a_sequence_are_trained_on_the_past_only() {
        let mut rows = Dataset::new(1);
        (0..100).for_each(|row| rows.push(&[row as f32], row as f32));
        let data = negmm_data::windows(&rows, 4, false);
        let (jobs, folds) = planned(&Auto::default(), &data, 1);
        assert_eq!(folds.concat(), (64..96).collect::<Vec<_>>());
        for job in jobs {
            assert!(job.train.iter().all(|row| job.validation.iter().all(|held_out| row < held_out)));
        }
    }

    #[test]
    fn the_size_of_the_data_decides() {
        let resolved = |rows: usize, preset: Preset| Auto { preset, ..Auto::default() }.resolved(&data(rows, false));
        let hidden = |rows: usize| resolved(rows, Preset::Medium).hidden.unwrap()[0];
        assert_eq!((hidden(29_999), hidden(30_000)), (64, 96));
        let steps = |rows: usize, preset: Preset| resolved(rows, preset).steps.unwrap();
        assert_eq!([4999, 5000].map(|rows| steps(rows, Preset::Medium)), [1500, 3500]);
        assert_eq!([20_000, 80_000, 400_000].map(|rows| steps(rows, Preset::Medium)), [2500, 10_000, 25_000]);
        assert_eq!((steps(1000, Preset::Fast), steps(1000, Preset::Best)), (500, 3000));
        let few = resolved(20, Preset::Best);
        assert_eq!((few.folds, few.ensemble_size), (Some(6), Some(4)));
        let given = Auto { steps: Some(7), dropout: Some(0.3), ..Auto::default() };
        let large = given.resolved(&data(20_000, false));
        assert_eq!((large.steps, large.dropout, large.batch_size), (Some(7), Some(0.3), Some(128)));
    }
}
