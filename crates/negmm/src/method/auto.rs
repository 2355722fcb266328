//! The jobs of `auto`, the default method: a calibrated pool of NE-GMMs whose settings are chosen by the size of the
//! data.

use std::sync::Arc;

use super::auto_settings::Auto;
use super::few_rows::{FEW, LEAST_TRAINED, constant_sd};
use super::fold_data::{FoldData, HELD_OUT_OF_VERY_MANY};
use super::fold_rows::{
    HeldOutFold, bound_held_out, cross_fitting_split, held_out_folds, training_rows, without_newest,
    without_some_groups,
};
use super::folds::{Fold, Folds, MemberJobs};
use super::ne_gmm::check_eta_of_censored;
use super::plan::{Plan, Work};
use super::seed::member_seed;
use super::settings::MethodSettings;
use super::sizes::{Sizes, VERY_WIDE};
use super::{MemberKind, MixtureNetwork, NetworkSettings, NgBoost, PredictorKind, constant};
use negmm_dist::math::rng::Rng;
use negmm_dist::streams;
use negmm_dist::{Error, Result};
use negmm_nn::dataset::{Dataset, TargetEncoding, VERY_MANY};
use negmm_nn::net::Activation;
use negmm_nn::train::{ForestJob, Job, LinearJob, Schedule, Selection, TrainingConfig, TreesJob};

/// Minimum number of rows of a fold.
const LEAST_IN_FOLD: usize = 3;
/// With few rows, the largest sd and absolute mean of a component, in sds of the target.
const FEW_SIGMA_MAX: f64 = 2.0;
const FEW_MEAN_BOUND: f64 = 4.0;
/// Maximum number of held-out rows for checkpoint selection.
const MOST_CHECKED: usize = 10_000;
/// Dropout of short networks, and of those with a still shorter schedule.
const SHORT_DROPOUT: f64 = 0.1;
const DROPOUT: f64 = 0.5;
/// Maximum number of components of a forest.
const FOREST_COMPONENTS: usize = 32;
/// Models of each member that predict the rows after all others, where rows have times.
const FUTURE_MODELS: usize = 5;
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
        let data = if numbers.len() == data.len() { data.clone() } else { Arc::new(data.subset(&numbers)) };
        self.check_members(&data)?;
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
    /// Checks that members that were asked for can learn from the data.
    fn check_members(&self, data: &Dataset) -> Result<()> {
        let refuse = |reason: &str| {
            let asked = [
                ("linear", self.linear),
                ("forest", self.forest),
                ("boosted-trees", self.boosted_trees),
                ("short-networks", self.short_networks),
                ("dropout-networks", self.dropout_networks),
            ];
            match asked.into_iter().find(|(_, asked)| *asked == Some(true)) {
                Some((name, _)) => Err(Error::options(format!("{name} cannot be true for {reason}"))),
                None => Ok(()),
            }
        };
        match (data.window(), data.has_censored()) {
            (Some(_), _) => refuse("sequences"),
            (None, true) => refuse("censored targets"),
            (None, false) => Ok(()),
        }
    }

    /// The same with every data-dependent setting filled in.
    fn resolved(&self, data: &Dataset) -> Self {
        let sizes = Sizes::of(data, self.preset);
        let NetworkSettings { hidden, residual, training, .. } = self.settings(&sizes);
        Self {
            folds: Some(self.folds.unwrap_or(sizes.folds).min(data.len() / LEAST_IN_FOLD).max(2)),
            n_repeats: Some(self.n_repeats.unwrap_or(sizes.repeats)),
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
        let frequency = sizes.frequencies.iter().cycle().nth(member).copied();
        let settings = NetworkSettings { embedding: self.embedding.or(frequency), ..self.settings(sizes) };
        MixtureNetwork { components: self.components, settings, ..MixtureNetwork::default() }
    }

    /// The members of the pool, for settings that are [`Auto::resolved`].
    fn plan_folds(&self, data: Arc<Dataset>, numbers: Vec<u32>, seed: u64) -> Folds {
        let sizes = Sizes::of(&data, self.preset);
        let repeats = self.n_repeats.unwrap_or(sizes.repeats);
        let mut held_out: Vec<HeldOutFold> = (0..repeats)
            .flat_map(|repeat| {
                let rng = &mut Rng::new(seed, streams::FOLDS + repeat as u64);
                held_out_folds(&data, self.folds.unwrap_or(sizes.folds), rng)
            })
            .collect();
        let past = held_out.len();
        let mut trains: Vec<Vec<u32>> = held_out.iter().map(|fold| training_rows(&data, &fold.rows)).collect();
        if data.len() > VERY_MANY {
            let rng = &mut Rng::new(seed, streams::HELD_OUT);
            bound_held_out(&mut held_out, data.len(), HELD_OUT_OF_VERY_MANY, rng);
        }
        let in_time_order = data.times().is_some();
        // What selects no checkpoint learns from all rows in the end.
        let on_all_rows = if in_time_order { FUTURE_MODELS } else { sizes.on_all_rows };
        held_out.extend((0..on_all_rows.max(1)).map(|_| HeldOutFold { rows: Vec::new(), groups: None }));
        trains.extend(held_out[past..].iter().map(|fold| training_rows(&data, &fold.rows)));
        // A target on a grid is also learnt as if it were not.
        let cells = data.intervals().is_some() && !data.has_censored();
        let densities = (cells && self.density_networks.unwrap_or(true)).then(|| Arc::new(data.without_intervals()));
        let short = self.short_networks.unwrap_or(sizes.short_networks);
        let mut jobs = JobsByKind { seed, seeds: 0, on_all_rows: None, members: Vec::new() };
        let mut folds = Vec::with_capacity(past);
        for (number, (HeldOutFold { rows, groups }, train)) in held_out.into_iter().zip(trains).enumerate() {
            let half = cross_fitting_split(rows.len().min(MOST_CHECKED), groups.as_deref());
            // Checkpoints for rows with times are selected by rows before them, and those for a single group by others.
            let others = data.groups().filter(|_| half == 0 && data.times().is_none());
            let by_others = data.times().is_some() || others.is_some();
            let (checked, half) = if by_others { (0, 0) } else { (rows.len().min(MOST_CHECKED), half) };
            let own = FoldData::new(&data, (train, rows[..checked].to_vec()), seed);
            jobs.on_all_rows = (number >= past).then(|| own.statistics.clone());
            // To select a checkpoint takes held-out rows, or newer ones.
            let selects = number < past || in_time_order;
            let anneals = number < past || on_all_rows > 0;
            let parts = match (data.times(), others) {
                (Some(times), _) => Some(without_newest(times, &own.train)),
                (None, Some(groups)) => {
                    let rng = &mut Rng::new(seed, streams::VALIDATION + number as u64);
                    Some(without_some_groups(groups, &own.train, rng))
                }
                (None, None) => None,
            };
            let selected = parts.map_or_else(
                || own.clone(),
                |(train, selecting)| {
                    let selecting = selecting[selecting.len().saturating_sub(MOST_CHECKED)..].into();
                    FoldData { train: train.into(), validation: selecting, ..own.clone() }
                },
            );
            let network = |number: usize| {
                let network = self.network(&sizes, number);
                if data.len() < FEW { Self::bounded_for_few_rows(network) } else { network }
            };
            for member in (0..self.ensemble_size.unwrap_or(sizes.ensemble_size)).filter(|_| selects) {
                let mut job = network(number + member).job(&selected, self.eta, jobs.next_seed());
                job.plan.cross_fitting_split = half;
                jobs.add(MemberKind::Networks, job);
            }
            let density_data = densities.as_ref().filter(|_| anneals).map(|densities| {
                let rows = (own.train.to_vec(), own.validation.to_vec());
                FoldData::new(densities, rows, seed)
            });
            let dropout_part = sizes.dropout_parts[number % sizes.dropout_parts.len()];
            let dropout_networks = self.dropout_networks.unwrap_or(sizes.dropout_networks);
            for (kind, wanted, part, dropout) in [
                (MemberKind::DensityNetworks, density_data.is_some(), sizes.density_part, SHORT_DROPOUT),
                (MemberKind::ShortNetworks, short, sizes.short_part, SHORT_DROPOUT),
                (MemberKind::DropoutNetworks, dropout_networks, dropout_part, DROPOUT),
            ] {
                if wanted && anneals {
                    let fold_data = density_data.as_ref().filter(|_| kind == MemberKind::DensityNetworks);
                    let fold_data = fold_data.unwrap_or(&own);
                    let network = annealed(network(number), part, dropout);
                    let mut job = network.job(fold_data, self.eta, jobs.next_seed());
                    // The last checkpoint, where everything is annealed, is the one to keep.
                    job.validation = Arc::new([]);
                    jobs.add(kind, job);
                }
            }
            let FoldData { data: encoded, train, statistics, .. } = own;
            let learnt = sample_of_very_many(&train, seed);
            if self.linear.unwrap_or(sizes.linear) && number <= past {
                jobs.add(MemberKind::Linear, self.linear_job(&encoded, &learnt));
            }
            if self.forest.unwrap_or(sizes.forest) && anneals {
                let (config, seed) = (sizes.forest_config(), jobs.next_seed());
                let (data, train) = (encoded.clone(), learnt.clone());
                jobs.add(MemberKind::Forest, ForestJob { config, components: FOREST_COMPONENTS, data, train, seed });
            }
            if self.boosted_trees.unwrap_or(sizes.boosted_trees) && selects {
                let seed = jobs.next_seed();
                jobs.add(
                    MemberKind::BoostedTrees,
                    TreesJob {
                        settings: tree_settings(data.features()),
                        data: encoded,
                        train: sample_of_very_many(&selected.train, seed),
                        validation: if by_others { selected.validation } else { rows[..].into() },
                        cross_fitting_split: if by_others {
                            0
                        } else {
                            cross_fitting_split(rows.len(), groups.as_deref())
                        },
                        seed,
                    },
                );
            }
            if number < past {
                folds.push(Fold { rows, train, checked, half, statistics });
            }
        }
        Folds { members: jobs.members, folds, repeats, tails: sizes.tails, data, numbers }
    }

    /// A linear model of these rows.
    fn linear_job(&self, data: &Arc<Dataset>, train: &Arc<[u32]>) -> LinearJob {
        let settings = NetworkSettings { sigma_min: self.sigma_min, ..NetworkSettings::default() };
        let network = MixtureNetwork { components: self.components, settings, ..MixtureNetwork::default() };
        LinearJob { head: network.head(data), data: data.clone(), train: train.clone() }
    }

    /// The same for few rows: a network trained on ten rows must not extrapolate far.
    fn bounded_for_few_rows(network: MixtureNetwork) -> MixtureNetwork {
        // An explicitly larger sigma-min wins.
        let sigma_max = Some(FEW_SIGMA_MAX).filter(|most| *most > network.settings.sigma_min);
        MixtureNetwork { sigma_max, mean_bound: Some(FEW_MEAN_BOUND), ..network }
    }
}

/// The training rows of members that need them in memory: all, or of very many a random sample, in order.
fn sample_of_very_many(train: &Arc<[u32]>, seed: u64) -> Arc<[u32]> {
    if train.len() <= VERY_MANY {
        return train.clone();
    }
    let mut rng = Rng::new(seed, streams::LEARNT);
    let mut learnt = Vec::with_capacity(VERY_MANY);
    for (at, row) in train.iter().enumerate() {
        if rng.below(train.len() - at) < VERY_MANY - learnt.len() {
            learnt.push(*row);
        }
    }
    learnt.into()
}

/// A network with a shorter schedule, annealed to its end.
fn annealed(mut network: MixtureNetwork, part: f64, dropout: f64) -> MixtureNetwork {
    let training = &mut network.settings.training;
    let steps = training.steps.map(|steps| ((steps as f64 * part) as usize).max(1));
    (training.steps, training.check_every, training.patience) = (steps, steps, 0);
    training.dropout = training.dropout.max(dropout);
    network
}

/// The jobs of all members while they are planned.
struct JobsByKind {
    seed: u64,
    /// Seeds given so far.
    seeds: usize,
    /// The target encoding from all rows, once the jobs are those of models of all rows.
    on_all_rows: Option<Arc<TargetEncoding>>,
    members: Vec<MemberJobs>,
}

impl JobsByKind {
    fn next_seed(&mut self) -> u64 {
        self.seeds += 1;
        member_seed(self.seed, self.seeds - 1)
    }

    fn add(&mut self, kind: MemberKind, job: impl Into<Job>) {
        match (self.members.iter_mut().find(|member| member.kind == kind), &self.on_all_rows) {
            (Some(member), Some(statistics)) => member.on_all_rows.push((job.into(), statistics.clone())),
            (Some(member), None) => member.jobs.push(job.into()),
            (None, _) => self.members.push(MemberJobs { kind, jobs: vec![job.into()], on_all_rows: Vec::new() }),
        }
    }
}

/// Settings of the trees in the pool: those that choose among very many inputs are small.
fn tree_settings(features: usize) -> NgBoost {
    NgBoost::default()
        .n_estimators(600)
        .max_depth(if features < VERY_WIDE { 6 } else { 3 })
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

    /// The jobs of all members, and the held-out rows of each fold.
    fn planned(auto: &Auto, data: &Dataset, seed: u64) -> (Vec<MemberJobs>, Vec<Vec<u32>>) {
        match auto.plan(&Arc::new(data.clone()), seed).unwrap().work {
            Work::Folds(Folds { members, folds, .. }) => (members, folds.into_iter().map(|fold| fold.rows).collect()),
            other => panic!("{other:?}"),
        }
    }

    /// The networks among the jobs.
    fn networks(members: &[MemberJobs]) -> impl Iterator<Item = &NetworkJob> {
        members.iter().flat_map(|member| &member.jobs).filter_map(|job| match job {
            Job::Network(job) => Some(job),
            _ => None,
        })
    }

    #[test]
    fn rows_with_times_are_predicted_from_the_past() {
        let data = data(90, false).with_times((0..90).map(|row| row * 37 % 90 / 2).collect());
        let best = Auto { preset: Preset::Best, ..Auto::default() };
        for auto in [Auto::default(), best] {
            let (members, folds) = planned(&auto, &data, 3);
            let time = |row: &u32| data.times().unwrap()[*row as usize];
            let newest = |rows: &[u32]| rows.iter().map(time).max();
            assert!(folds.iter().flatten().all(|row| time(row) >= 29));
            for MemberJobs { kind, jobs, on_all_rows } in &members {
                for (number, job) in jobs.iter().enumerate() {
                    let first = folds[number / (jobs.len() / folds.len())].iter().map(time).min();
                    let older = job.train().iter().chain(job.validation()).all(|row| Some(time(row)) < first);
                    assert!(older && newest(job.train()) < job.validation().iter().map(time).min().or(Some(99)));
                    // Nothing of the past is left out.
                    let used = job.train().len() + job.validation().len();
                    assert_eq!(used, (0..90).filter(|row| Some(time(row)) < first).count(), "{kind}");
                }
                // What predicts the future learns from all rows in the same way.
                assert_eq!(on_all_rows.len(), if *kind == MemberKind::Linear { 1 } else { FUTURE_MODELS });
                assert!(on_all_rows.iter().all(|(job, _)| job.train().len() + job.validation().len() == 90));
            }
        }
    }

    #[test]
    fn no_member_is_trained_on_its_held_out_rows() {
        for (data, size) in [(data(103, false), 1), (data(90, true), 2), (data(11, false), 3)] {
            let (members, folds) = planned(&Auto::default().ensemble_size(size).boosted_trees(true), &data, 7);
            let kinds: Vec<MemberKind> = members.iter().map(|member| member.kind).collect();
            let expected = [
                MemberKind::Networks,
                MemberKind::ShortNetworks,
                MemberKind::DropoutNetworks,
                MemberKind::Linear,
                MemberKind::Forest,
                MemberKind::BoostedTrees,
            ];
            assert_eq!(kinds, expected);
            for repeat in folds.chunks_exact(folds.len() / 2) {
                let mut all = repeat.concat();
                all.sort_unstable();
                assert_eq!(all, (0..data.len() as u32).collect::<Vec<_>>(), "each row is held out once in a repeat");
            }
            assert_ne!(folds[0], folds[folds.len() / 2], "repeats have folds of their own");
            for MemberJobs { kind, jobs, on_all_rows } in &members {
                let per_fold = if *kind == MemberKind::Networks { size } else { 1 };
                assert_eq!(jobs.len(), folds.len() * per_fold);
                // What selects no checkpoint learns from all rows in the end.
                let expected = match kind {
                    MemberKind::Networks | MemberKind::BoostedTrees => 0,
                    MemberKind::Linear => 1,
                    _ => 5,
                };
                assert_eq!(on_all_rows.len(), expected, "{kind}");
                assert!(on_all_rows.iter().all(|(job, _)| job.train().len() == data.len()));
                for (number, job) in jobs.iter().enumerate() {
                    let fold = &folds[number / per_fold];
                    assert!(job.train().iter().all(|row| !fold.contains(row)));
                    assert!(job.validation().iter().all(|row| fold.contains(row)));
                    assert_eq!(job.train().len() + fold.len(), data.len());
                }
            }
            let mut seeds: Vec<u64> = networks(&members).map(|job| job.seed).collect();
            let count = seeds.len();
            seeds.sort_unstable();
            seeds.dedup();
            assert_eq!(seeds.len(), count);
        }
    }

    #[test]
    fn members_can_be_left_out_and_are_refused_where_they_cannot_learn() {
        let without = Auto::default().short_networks(false).dropout_networks(false).linear(false).forest(false);
        let (members, _) = planned(&without, &data(60, false), 1);
        assert_eq!(members.iter().map(|member| member.kind).collect::<Vec<_>>(), [MemberKind::Networks]);
        let censored = data(60, false).with_intervals((0..60).map(|y| y as f32).collect(), vec![f32::INFINITY; 60]);
        let error = Auto::default().forest(true).plan(&Arc::new(censored.clone()), 1).unwrap_err();
        assert_eq!(error.to_string(), "forest cannot be true for censored targets");
        let (members, _) = planned(&Auto::default(), &censored, 1);
        assert!(members.iter().all(|member| !matches!(member.kind, MemberKind::Linear | MemberKind::Forest)));
    }

    #[test]
    fn a_target_on_a_grid_is_learnt_in_both_forms() {
        let ends = |shift: f32| (0..60).map(|y| y as f32 + shift).collect();
        let cells = data(60, false).with_intervals(ends(-0.5), ends(0.5));
        let (members, _) = planned(&Auto::default(), &cells, 1);
        let intervals = |kind: MemberKind| {
            let member = members.iter().find(|member| member.kind == kind).unwrap();
            member.jobs[0].data().intervals().is_some()
        };
        assert!(intervals(MemberKind::Networks) && !intervals(MemberKind::DensityNetworks));
    }

    #[test]
    fn rows_of_a_group_stay_in_one_fold_and_half() {
        let group = |row: u32| row / 4;
        let data = data(90, false).with_groups((0..90).map(group));
        let (members, _) = planned(&Auto::default(), &data, 1);
        let apart = |some: &[u32], others: &[u32]| {
            some.iter().all(|row| others.iter().all(|other| group(*row) != group(*other)))
        };
        for job in networks(&members[..1]) {
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
        let (members, folds) = planned(&Auto::default(), &data, 1);
        assert_eq!((members.len(), folds.concat()), (1, (64..96).collect::<Vec<_>>()));
        for job in networks(&members) {
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
        assert_eq!([1000, 5000].map(|rows| steps(rows, Preset::Fast)), [500, 1166]);
        assert_eq!([1000, 5000].map(|rows| steps(rows, Preset::Best)), [1500, 7000]);
        let few = resolved(20, Preset::Best);
        assert_eq!((few.folds, few.n_repeats), (Some(6), Some(2)));
        let given = Auto { steps: Some(7), dropout: Some(0.3), ..Auto::default() };
        let large = given.resolved(&data(20_000, false));
        assert_eq!((large.steps, large.dropout, large.batch_size), (Some(7), Some(0.3), Some(128)));
    }
}
