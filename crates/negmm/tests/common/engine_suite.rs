//! What every engine promises: results depend on the jobs alone and are those of the reference bit by bit, the best weights are
//! kept, a step that is not finite is not taken, and the record says what happened.
//!
//! [`engine_contract`] expands every promise as a test of its own, for any engine.

use negmm::Distribution;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use negmm::Rng;
use negmm::data::Dataset;
use negmm::forest::ForestConfig;
use negmm::method::{Member, NgBoost, Pool, Predictor};
use negmm::mixture::Mixtures;
use negmm::net::{Activation, Atom, Atoms, MixtureHead, Network, Parameters};
use negmm::score::{energy, hybrid, log};
use negmm::train::{
    Callbacks, CpuEngine, Engine, ForestJob, Job, LinearJob, NetworkJob, Objective, Optimiser, Progress, Schedule,
    Selection, Trained, TrainedNetwork, TrainingConfig, TreesJob,
};
use negmm::{ErrorKind, Mixture, Result};
use negmm_dist::math::lanes::{Isa, WIDTH};
use negmm_nn::net::Layer;

/// Expands the whole contract for the engine that an expression gives; one that is not there, `None`, has nothing to keep.
macro_rules! engine_contract {
    ($engine:expr) => {
        engine_contract!($engine; the_bits_are_those_of_the_reference_in_any_order trees_are_boosted_beside_networks
            linear_models_and_forests_are_fitted_beside_networks the_seed_decides a_failing_job_stops_no_other
            patience_stops_and_keeps_the_best_epoch without_validation_rows_the_last_epoch_is_kept
            history_says_what_was_computed snapshots_are_the_weights_of_shorter_trainings
            progress_is_told_after_every_epoch cancelling_stops_within_a_few_steps
            a_step_that_is_not_finite_is_not_taken an_enormous_learning_rate_leaves_finite_weights
            validation_that_is_not_finite_never_wins weight_decay_shrinks_weights_and_no_bias
            padding_stays_zero dropout_changes_training_alone
            dropout_keeps_the_expected_sum three_steps_of_adam_by_hand
            averaging_by_hand a_bimodal_target_is_learnt
            adversarial_inputs_raise_the_loss_a_little predictions_do_not_depend_on_the_instruction_set);
    };
    ($engine:expr; $($promise:ident)*) => {
        $(#[test]
        fn $promise() {
            if let Some(engine) = $engine {
                $crate::common::engine_suite::$promise(&engine);
            }
        })*
    };
}

/// y is near sin(2 x) or near 1.5 + x, by a coin that no input tells.
fn bimodal(rows: usize, seed: u64) -> Arc<Dataset> {
    Arc::new(bimodal_rows(rows, seed))
}

fn bimodal_rows(rows: usize, seed: u64) -> Dataset {
    let mut rng = Rng::new(seed, 77);
    let mut data = Dataset::new(2);
    for _ in 0..rows {
        let (x, other) = (2.0 * rng.uniform() - 1.0, rng.uniform());
        let noise = 0.15 * (rng.uniform() + rng.uniform() + rng.uniform() - 1.5);
        let y = if rng.uniform() < 0.4 { (2.0 * x).sin() - 1.5 } else { 1.2 + 0.5 * x };
        data.push(&[x as f32, other as f32], (y + noise) as f32);
    }
    data
}

fn head(components: usize) -> MixtureHead {
    MixtureHead::new(components, 1e-3)
}

/// The weights themselves, at a constant rate: what the tests below reckon with.
fn plain_training(epochs: usize) -> TrainingConfig {
    let plain = TrainingConfig::default().schedule(Schedule::Constant).ema_decay(0.0).patience(0);
    plain.epochs(epochs).learning_rate(0.01)
}

/// The last fifth validates.
fn job(data: &Arc<Dataset>, seed: u64, training: TrainingConfig) -> NetworkJob {
    let (rows, cut) = (data.len() as u32, data.len() as u32 * 4 / 5);
    let head = head(3);
    NetworkJob {
        network: Network {
            inputs: data.features(),
            stem: None,
            hidden: vec![9],
            residual: false,
            activation: Activation::Tanh,
            outputs: head.outputs(),
        },
        objective: Objective::Hybrid { head, eta: 0.5 },
        data: data.clone(),
        train: (0..cut).collect(),
        validation: (cut..rows).collect(),
        plan: training.plan(cut as usize),
        seed,
        initial: None,
    }
}

/// The same with another training.
fn trained_by(job: NetworkJob, training: &TrainingConfig) -> NetworkJob {
    NetworkJob { plan: training.plan(job.train.len()), ..job }
}

fn train(engine: &dyn Engine, job: &NetworkJob) -> TrainedNetwork {
    network(try_train(engine, job).unwrap())
}

fn try_train(engine: &dyn Engine, job: &NetworkJob) -> Result<Trained> {
    train_all(engine, std::slice::from_ref(job)).remove(0)
}

fn train_all(engine: &dyn Engine, jobs: &[NetworkJob]) -> Vec<Result<Trained>> {
    watched(engine, jobs, &Callbacks::nothing())
}

fn watched(engine: &dyn Engine, jobs: &[NetworkJob], watch: &Callbacks<'_>) -> Vec<Result<Trained>> {
    negmm::train::train(engine, &jobs.iter().cloned().map(Job::from).collect::<Vec<_>>(), watch)
}

fn network(trained: Trained) -> TrainedNetwork {
    let Trained::Network(trained) = trained else { panic!("a network") };
    trained
}

fn bits(parameters: &Parameters) -> Vec<u32> {
    parameters.numbers().iter().map(|weight| weight.to_bits()).collect()
}

/// Training that moves nothing: no weight but a zero is so small that 1e-30 changes it.
fn initial_parameters(engine: &dyn Engine, of: &NetworkJob) -> Parameters {
    let plan = plain_training(1).learning_rate(1e-30).plan(of.train.len());
    let moved = train(engine, &NetworkJob { plan, validation: [].into(), ..of.clone() }).parameters;
    let still: Vec<f32> =
        moved.numbers().iter().map(|number| if number.abs() < 1e-20 { 0.0 } else { *number }).collect();
    Parameters::from_numbers(&still).unwrap()
}

fn mixtures(job: &NetworkJob, parameters: &Parameters, isa: Isa) -> Mixtures {
    let members = vec![Member {
        network: job.network.clone(),
        parameters: parameters.clone(),
        sigma_scale: 1.0,
        statistics: Arc::default(),
    }];
    let predictor = Predictor::Networks { members, head: job.objective.head(), pool: Pool::Mixture };
    predictor.predict(&job.data, isa).unwrap().mixtures().unwrap().clone()
}

/// The mean of a score over rows, in f64.
fn mean_score(job: &NetworkJob, parameters: &Parameters, rows: &[u32], score: impl Fn(Mixture<'_>, f64) -> f64) -> f64 {
    let mixtures = mixtures(job, parameters, Isa::best());
    let of_row = |&row: &u32| score(mixtures.row(row as usize), f64::from(job.data.y()[row as usize]));
    rows.iter().map(of_row).sum::<f64>() / rows.len() as f64
}

/// Several jobs that have nothing in common but the engine.
fn several(data: &Arc<Dataset>) -> Vec<NetworkJob> {
    let base = |seed, training| job(data, seed, training);
    let mut jobs = vec![
        base(1, TrainingConfig::default().epochs(6)),
        base(2, TrainingConfig::default().epochs(3).dropout(0.3).weight_decay(0.1)),
        base(3, plain_training(9).epochs(9).patience(2).batch_size(7)),
        base(4, TrainingConfig::default().epochs(2).batch_size(1000).select(Selection::Crps)),
        base(5, plain_training(4)),
        base(6, TrainingConfig::default().epochs(5).optimiser(Optimiser::ScheduleFree).weight_decay(0.1)),
        base(7, TrainingConfig::default().epochs(4).optimiser(Optimiser::Muon).dropout(0.2)),
    ];
    jobs[0].network.hidden = vec![16, 31];
    jobs[1].network.activation = Activation::Silu;
    jobs[2].network.hidden = vec![];
    jobs[3].objective = Objective::Hybrid { head: head(3), eta: 0.0 };
    jobs[4].network.activation = Activation::Relu;
    jobs[5].network = Network { hidden: vec![20, 20, 20], residual: true, ..jobs[5].network.clone() };
    jobs[6].network = Network { hidden: vec![17, 17, 5], residual: true, ..jobs[6].network.clone() };
    jobs
}

pub fn the_bits_are_those_of_the_reference_in_any_order(engine: &dyn Engine) {
    let data = bimodal(150, 1);
    let jobs = several(&data);
    let reference = CpuEngine { threads: 1, isa: Isa::Plain };
    let expected: Vec<TrainedNetwork> = jobs.iter().map(|job| train(&reference, job)).collect();
    for (expected, together) in expected.iter().zip(train_all(engine, &jobs)) {
        let together = network(together.unwrap());
        assert_eq!(bits(&expected.parameters), bits(&together.parameters));
        assert_eq!(expected.history, together.history);
    }
    for order in [[6, 5, 4, 3, 2, 1, 0], [2, 0, 5, 4, 1, 6, 3]] {
        let jobs: Vec<NetworkJob> = order.iter().map(|at| jobs[*at].clone()).collect();
        for (at, trained) in order.into_iter().zip(train_all(engine, &jobs)) {
            assert_eq!(bits(&expected[at].parameters), bits(&network(trained.unwrap()).parameters), "{order:?}");
        }
    }
    assert_eq!(bits(&expected[0].parameters), bits(&train(engine, &jobs[0]).parameters), "alone");
}

/// Trees go beside networks in the same batch.
pub fn trees_are_boosted_beside_networks(engine: &dyn Engine) {
    let data = bimodal(120, 1);
    let settings = NgBoost::default().n_estimators(30).subsample(0.7);
    let trees = TreesJob {
        settings,
        data: data.clone(),
        train: (0..90).collect(),
        validation: (90..120).collect(),
        cross_fitting_split: 0,
        seed: 4,
    };
    let alone =
        negmm::train::train(&CpuEngine::new(1), &[trees.clone().into()], &Callbacks::nothing()).remove(0).unwrap();
    let jobs = [Job::from(job(&data, 1, plain_training(2))), trees.into(), job(&data, 2, plain_training(2)).into()];
    let mut together = negmm::train::train(engine, &jobs, &Callbacks::nothing());
    let (Trained::Trees(alone), Trained::Trees(beside)) = (alone, together.remove(1).unwrap()) else { panic!("trees") };
    assert_eq!(alone, beside);
    assert!(!alone.boosted.rounds.is_empty() && alone.held_out.is_some());
    assert!(together.into_iter().all(|trained| matches!(trained, Ok(Trained::Network(_)))));
}

/// Linear models and forests go beside networks in the same batch, of a target with an atom.
pub fn linear_models_and_forests_are_fitted_beside_networks(engine: &dyn Engine) {
    let mut rows = bimodal_rows(110, 1);
    (0..10).for_each(|row| rows.push(&[0.05 * row as f32, 0.5], 0.25));
    let data = Arc::new(rows.with_atoms(vec![0.25]));
    let (linear, forest) = (linear_job(&data), forest_job(&data));
    let expected: Vec<Trained> =
        negmm::train::train(&CpuEngine::new(1), &[linear.clone().into(), forest.clone().into()], &Callbacks::nothing())
            .into_iter()
            .map(Result::unwrap)
            .collect();
    let jobs = [
        Job::from(forest),
        job(&data, 1, plain_training(2)).into(),
        linear.clone().into(),
        LinearJob { train: [].into(), ..linear }.into(),
    ];
    let mut beside = negmm::train::train(engine, &jobs, &Callbacks::nothing()).into_iter();
    let (Trained::Network(alone), Trained::Forest(grown)) = (&expected[0], &expected[1]) else { panic!("both kinds") };
    let Some(Ok(Trained::Forest(forest))) = beside.next() else { panic!("a forest") };
    assert_eq!(*grown, forest);
    assert!(forest.trees.len() == 12 && forest.components.iter().any(|[mean, sd]| (*mean, *sd) == (0.25, 0.0)));
    assert!(matches!(beside.next(), Some(Ok(Trained::Network(_)))));
    let Some(Ok(Trained::Network(linear))) = beside.next() else { panic!("a linear model") };
    assert_eq!(bits(&alone.parameters), bits(&linear.parameters));
    assert!(linear.parameters.numbers().iter().any(|weight| *weight != 0.0));
    assert_eq!(beside.next().unwrap().unwrap_err().kind(), ErrorKind::Data);
}

/// A linear model of the rows but the first ten, with their atoms.
pub fn linear_job(data: &Arc<Dataset>) -> LinearJob {
    let atoms = Atoms::new(data.atoms().iter().map(|value| Atom { value: *value, probability: 0.1 }));
    LinearJob { head: MixtureHead { atoms, ..head(3) }, data: data.clone(), train: (10..data.len() as u32).collect() }
}

pub fn forest_job(data: &Arc<Dataset>) -> ForestJob {
    let config = ForestConfig { n_estimators: 12, min_samples_leaf: 2, max_features: 0.5, max_samples: 60 };
    ForestJob { config, components: 16, data: data.clone(), train: (10..data.len() as u32).collect(), seed: 4 }
}

pub fn the_seed_decides(engine: &dyn Engine) {
    let data = bimodal(100, 2);
    let with = |seed| bits(&train(engine, &job(&data, seed, plain_training(3))).parameters);
    assert_eq!(with(1), with(1));
    assert_ne!(with(1), with(2));
    assert_ne!(
        bits(&initial_parameters(engine, &job(&data, 1, plain_training(1)))),
        bits(&initial_parameters(engine, &job(&data, 2, plain_training(1))))
    );
}

pub fn a_failing_job_stops_no_other(engine: &dyn Engine) {
    let data = bimodal(50, 3);
    let good = job(&data, 1, plain_training(2));
    let empty = NetworkJob { train: [].into(), ..good.clone() };
    let wrong = trained_by(good.clone(), &plain_training(0));
    let foreign = trained_by(NetworkJob { train: [0, 1000].into(), ..good.clone() }, &plain_training(2));
    let results = train_all(engine, &[empty, good.clone(), wrong, good.clone(), foreign]);
    assert_eq!(results[4].as_ref().unwrap_err().kind(), ErrorKind::Data);
    assert_eq!(results[0].as_ref().unwrap_err().kind(), ErrorKind::Data);
    assert_eq!(results[2].as_ref().unwrap_err().kind(), ErrorKind::Options);
    for at in [1, 3] {
        assert_eq!(bits(&network(results[at].clone().unwrap()).parameters), bits(&train(engine, &good).parameters));
    }
    assert!(train_all(engine, &[]).is_empty());
}

pub fn patience_stops_and_keeps_the_best_epoch(engine: &dyn Engine) {
    // Few rows, many units: the validation score soon gets worse.
    let data = bimodal(60, 4);
    for select in [Selection::Nll, Selection::Crps] {
        let patience = 8;
        let training = plain_training(2000).patience(patience).select(select).learning_rate(0.03);
        let stopped = job(&data, 5, training.clone());
        let trained = train(engine, &stopped);
        let history = &trained.history;
        assert!(history.best_epoch > 3, "{}", history.best_epoch);
        assert_eq!(history.epochs.len(), history.best_epoch + 1 + patience);
        let score = |at: usize| {
            let validation = history.epochs[at].validation.unwrap();
            if select == Selection::Nll { validation.nll.unwrap() } else { validation.crps.unwrap() }
        };
        for at in 0..history.epochs.len() {
            assert!(score(at) >= score(history.best_epoch), "{at}");
        }
        // The same training that ends there.
        let there = training.clone().epochs(history.best_epoch + 1).patience(0);
        let ended = train(engine, &NetworkJob { validation: [].into(), ..trained_by(stopped.clone(), &there) });
        assert_eq!(bits(&trained.parameters), bits(&ended.parameters));
        // Without patience it goes on, and may find better.
        let long = train(engine, &trained_by(stopped, &training.patience(0).epochs(100)));
        assert_eq!(long.history.epochs.len(), 100);
        assert_eq!(long.history.epochs[..history.epochs.len()], history.epochs[..]);
    }
}

pub fn without_validation_rows_the_last_epoch_is_kept(engine: &dyn Engine) {
    let data = bimodal(60, 5);
    let with = |epochs: usize, patience: usize| {
        let training = plain_training(epochs).patience(patience);
        train(engine, &NetworkJob { validation: [].into(), ..job(&data, 1, training) })
    };
    let (short, long, patient) = (with(4, 0), with(5, 0), with(5, 1));
    assert_eq!((long.history.best_epoch, long.history.epochs.len()), (4, 5));
    assert!(long.history.epochs.iter().all(|epoch| epoch.validation.is_none() && epoch.loss.is_some()));
    assert_ne!(bits(&short.parameters), bits(&long.parameters));
    assert_eq!(bits(&patient.parameters), bits(&long.parameters));
    assert_eq!(long.history.epochs[..4], short.history.epochs[..]);
}

pub fn history_says_what_was_computed(engine: &dyn Engine) {
    let data = bimodal(90, 6);
    for dropout in [0.0, 0.5] {
        // All rows in one step: the loss of the first epoch is that of the initial weights.
        let training = plain_training(7).batch_size(1000).dropout(dropout);
        let job = job(&data, 3, training);
        let trained = train(engine, &job);
        let first = &trained.history.epochs[0];
        let initial = mean_score(&job, &initial_parameters(engine, &job), &job.train, |m, y| hybrid::value(m, y, 0.5));
        let difference = first.loss.unwrap() - initial;
        assert_eq!(difference.abs() < 1e-5, dropout == 0.0, "{difference}");
        // Validation has no dropout, and is that of the weights that were kept.
        let kept = trained.history.epochs[trained.history.best_epoch].validation.unwrap();
        let nll = mean_score(&job, &trained.parameters, &job.validation, log::value);
        let crps = mean_score(&job, &trained.parameters, &job.validation, energy::value);
        assert!((kept.nll.unwrap() - nll).abs() < 1e-5, "{kept:?} {nll}");
        assert!((kept.crps.unwrap() - crps).abs() < 1e-6, "{kept:?} {crps}");
        assert_eq!(trained.history.skipped(), 0);
        assert!(trained.history.epochs.iter().all(|epoch| epoch.learning_rate == 0.01));
    }
    // With averaging, too.
    let averaged = job(&data, 3, plain_training(7).ema_decay(0.9));
    let trained = train(engine, &averaged);
    let nll = mean_score(&averaged, &trained.parameters, &averaged.validation, log::value);
    assert!((trained.history.epochs[trained.history.best_epoch].validation.unwrap().nll.unwrap() - nll).abs() < 1e-5);
    assert_ne!(bits(&trained.parameters), bits(&train(engine, &job(&data, 3, plain_training(7))).parameters));
    // The cosine ends near zero.
    let cosine = train(engine, &job(&data, 3, plain_training(20).schedule(Schedule::Cosine)));
    let rates: Vec<f64> = cosine.history.epochs.iter().map(|epoch| epoch.learning_rate).collect();
    assert!(rates[0] > 0.009 && rates[19] < 1e-4 && rates.windows(2).all(|pair| pair[0] > pair[1]), "{rates:?}");
}

pub fn snapshots_are_the_weights_of_shorter_trainings(engine: &dyn Engine) {
    let data = bimodal(60, 7);
    let trained = train(engine, &job(&data, 3, plain_training(7).snapshots(2)));
    assert_eq!(trained.snapshots.len(), 3);
    for (at, snapshot) in trained.snapshots.iter().enumerate() {
        // Without validation rows the last weights are the ones that are kept.
        let shorter = NetworkJob { validation: [].into(), ..job(&data, 3, plain_training(2 * (at + 1))) };
        assert_eq!(bits(snapshot), bits(&train(engine, &shorter).parameters));
    }
    assert!(train(engine, &job(&data, 3, plain_training(7))).snapshots.is_empty());
}

pub fn progress_is_told_after_every_epoch(engine: &dyn Engine) {
    let data = bimodal(60, 7);
    let seen: Mutex<Vec<Progress>> = Mutex::default();
    let cancel = AtomicBool::new(false);
    let watch = Callbacks { progress: &|progress| seen.lock().unwrap().push(*progress), cancel: &cancel };
    let jobs = [job(&data, 1, plain_training(4)), job(&data, 2, plain_training(3))];
    let trained = watched(engine, &jobs, &watch).into_iter().map(|trained| network(trained.unwrap()));
    let trained: Vec<TrainedNetwork> = trained.collect();
    let seen = seen.into_inner().unwrap();
    assert_eq!(seen.len(), 7);
    for (at, trained) in trained.iter().enumerate() {
        let mine: Vec<&Progress> = seen.iter().filter(|progress| progress.job == at).collect();
        let epochs = [4, 3][at];
        assert_eq!(mine.len(), epochs);
        let mut best = f64::INFINITY;
        for (epoch, progress) in mine.into_iter().enumerate() {
            best = best.min(trained.history.epochs[epoch].validation.unwrap().nll.unwrap());
            let expected = Progress { job: at, epoch: epoch + 1, epochs, best: Some(best), last: epoch + 1 == epochs };
            assert_eq!(*progress, expected);
        }
    }
}

pub fn cancelling_stops_within_a_few_steps(engine: &dyn Engine) {
    let data = bimodal(400, 8);
    let long = plain_training(10_000);
    let jobs = [job(&data, 1, long.clone()), job(&data, 2, long)];
    let cancel = AtomicBool::new(false);
    let epochs = Mutex::new(0);
    let progress = |progress: &Progress| {
        *epochs.lock().unwrap() += 1;
        if progress.epoch == 3 {
            cancel.store(true, Ordering::Relaxed);
        }
    };
    let results = watched(engine, &jobs, &Callbacks { progress: &progress, cancel: &cancel });
    assert!(results.iter().all(|result| result.as_ref().unwrap_err().kind() == ErrorKind::Cancelled));
    assert!(*epochs.lock().unwrap() <= 4 + 3);
    let (cancel, progress) = (AtomicBool::new(true), |_: &Progress| panic!("nothing was to be trained"));
    let results = watched(engine, &jobs, &Callbacks { progress: &progress, cancel: &cancel });
    assert!(results.iter().all(|result| result.as_ref().unwrap_err().kind() == ErrorKind::Cancelled));
}

pub fn a_step_that_is_not_finite_is_not_taken(engine: &dyn Engine) {
    for wrong in [f32::INFINITY, f32::NEG_INFINITY, f32::NAN, f32::MAX] {
        for eta in [0.0, 0.5, 1.0] {
            let mut data = bimodal_rows(64, 9);
            data.push(&[0.1, 0.2], wrong);
            let data = Arc::new(data);
            let training = plain_training(5).batch_size(8);
            // The energy score of f32::MAX just fits, or just does not: either is well.
            let is_wrong = !(wrong == f32::MAX && eta == 0.0);
            let base = NetworkJob {
                train: (0..65).collect(),
                validation: [].into(),
                objective: Objective::Hybrid { head: head(3), eta },
                ..job(&data, 1, training.clone())
            };
            let base = trained_by(base, &training);
            let trained = train(engine, &base);
            assert!(trained.parameters.numbers().iter().all(|weight| weight.is_finite()), "{wrong} {eta}");
            for epoch in &trained.history.epochs {
                assert!(epoch.skipped == 1 || !is_wrong && epoch.skipped == 0, "{wrong} {eta}");
                assert!(epoch.loss.is_some_and(f64::is_finite));
            }
            if is_wrong {
                assert_eq!(trained.history.skipped(), 5);
                // A batch of it alone leaves everything as it was.
                let alone = trained_by(NetworkJob { train: [64].into(), ..base.clone() }, &training);
                let trained = train(engine, &alone);
                assert_eq!(bits(&trained.parameters), bits(&initial_parameters(engine, &base)), "{wrong} {eta}");
                assert!(trained.history.epochs.iter().all(|epoch| epoch.skipped == 1 && epoch.loss.is_none()));
            }
        }
    }
}

pub fn an_enormous_learning_rate_leaves_finite_weights(engine: &dyn Engine) {
    let data = bimodal(64, 10);
    for rate in [1e3, 1e5, 1e10, 1e30, 1e38, 1e100, 1e300] {
        for hidden in [vec![], vec![9], vec![9; 20]] {
            let training = plain_training(5).learning_rate(rate);
            let mut job = job(&data, 1, training);
            job.network.hidden = hidden;
            job.network.activation = Activation::Relu;
            for job in [job.clone(), NetworkJob { validation: [].into(), ..job }] {
                match try_train(engine, &job).map(network) {
                    Ok(trained) => {
                        // Twenty layers of weights that large overflow: then no further step is taken, and it is counted.
                        assert_eq!(trained.history.skipped() > 0, job.network.hidden.len() == 20);
                        let finite = trained.parameters.numbers().iter().all(|weight| weight.is_finite());
                        assert!(finite, "{rate:e} {:?}", job.network.hidden);
                        // And whatever they are, they predict distributions.
                        let mixtures = mixtures(&job, &trained.parameters, Isa::best());
                        let parts = [mixtures.means(), mixtures.sds(), mixtures.weights()];
                        assert!(parts.into_iter().flatten().all(|x| x.is_finite()), "{rate:e}");
                    }
                    Err(error) => {
                        assert_eq!(error.kind(), ErrorKind::Options);
                        assert!(rate > 1e3, "{error}");
                    }
                }
            }
        }
    }
}

pub fn validation_that_is_not_finite_never_wins(engine: &dyn Engine) {
    let mut data = bimodal_rows(60, 11);
    data.push(&[0.0, 0.0], f32::NAN);
    let data = Arc::new(data);
    let all_wrong =
        NetworkJob { train: (0..60).collect(), validation: [60].into(), ..job(&data, 1, plain_training(4)) };
    let all_wrong = trained_by(all_wrong, &plain_training(4));
    let trained = train(engine, &all_wrong);
    assert!(trained.history.epochs.iter().all(|epoch| epoch.validation.is_none()));
    assert!(trained.parameters.numbers().iter().all(|weight| weight.is_finite()));
}

/// (index in the flat buffer, whether it is a bias) of every weight and bias.
fn parameter_indices(layers: &[Layer]) -> Vec<(usize, bool)> {
    let of_row = |layer: &Layer, row: usize| {
        let (start, inputs) = ((layer.start + row * layer.stride) * WIDTH, layer.inputs);
        (0..=inputs).map(move |input| (start + input, input == inputs))
    };
    layers.iter().flat_map(|layer| (0..layer.outputs).flat_map(move |row| of_row(layer, row))).collect()
}

pub fn weight_decay_shrinks_weights_and_no_bias(engine: &dyn Engine) {
    let data = bimodal(64, 12);
    let with = |weight_decay: f64| {
        let training = plain_training(1).weight_decay(weight_decay).batch_size(1000).learning_rate(0.02);
        let job = NetworkJob { validation: [].into(), ..job(&data, 1, training) };
        (parameter_indices(&job.network.layers()), train(engine, &job).parameters)
    };
    let ((indices, without), (_, decayed)) = (with(0.0), with(5.0));
    let shrink = (1.0_f64 - 0.02 * 5.0) as f32;
    assert_eq!(indices.iter().filter(|(_, bias)| *bias).count(), 9 + 9);
    for (index, bias) in indices {
        let (without, decayed) = (without.numbers()[index], decayed.numbers()[index]);
        assert_eq!(decayed, if bias { without } else { without * shrink }, "{index} {bias}");
    }
    // Larger than one over the rate, it takes all.
    let (indices, gone) = with(1e6);
    assert!(indices.iter().all(|(index, bias)| *bias || gone.numbers()[*index] == 0.0));
}

pub fn padding_stays_zero(engine: &dyn Engine) {
    let data = bimodal(64, 12);
    for job in several(&data) {
        let real: std::collections::HashSet<usize> =
            parameter_indices(&job.network.layers()).into_iter().map(|(index, _)| index).collect();
        assert_eq!(real.len(), job.network.parameters());
        let trained = train(engine, &job);
        for (index, weight) in trained.parameters.numbers().iter().enumerate() {
            assert!(real.contains(&index) || *weight == 0.0, "{index} {weight}");
        }
    }
}

pub fn dropout_changes_training_alone(engine: &dyn Engine) {
    let data = bimodal(100, 13);
    let with = |dropout: f64| {
        let job = job(&data, 1, plain_training(5).dropout(dropout));
        let trained = train(engine, &job);
        (job, trained)
    };
    let ((_, none), (job, half), (_, again)) = (with(0.0), with(0.5), with(0.5));
    assert_ne!(bits(&none.parameters), bits(&half.parameters));
    assert_eq!(bits(&half.parameters), bits(&again.parameters));
    assert_eq!(mixtures(&job, &half.parameters, Isa::best()), mixtures(&job, &half.parameters, Isa::best()));
}

pub fn dropout_keeps_the_expected_sum(engine: &dyn Engine) {
    // Without a hidden layer there is nothing to switch off.
    let data = bimodal(100, 13);
    let with = |dropout: f64, hidden: &[usize]| {
        let mut job = job(&data, 1, plain_training(1).dropout(dropout).batch_size(1000));
        job.network.hidden = hidden.to_vec();
        train(engine, &job)
    };
    assert_eq!(bits(&with(0.0, &[]).parameters), bits(&with(0.5, &[]).parameters));
    // A unit that is left counts for those that are not: a wide layer sums to about the same.
    let (whole, half) = (with(0.0, &[2000]), with(0.5, &[2000]));
    let (whole, half) = (whole.history.epochs[0].loss.unwrap(), half.history.epochs[0].loss.unwrap());
    assert!(whole != half && (whole - half).abs() < 0.15 * whole.abs(), "{whole} {half}");
}

pub fn three_steps_of_adam_by_hand(engine: &dyn Engine) {
    // One component without inputs: three biases, of which the logit never moves. y = 0.8 in one row, log score.
    let mut data = Dataset::new(0);
    data.push(&[], 0.8);
    let data = Arc::new(data);
    let job = |epochs: usize| NetworkJob {
        network: Network {
            inputs: 0,
            stem: None,
            hidden: vec![],
            residual: false,
            activation: Activation::Relu,
            outputs: 3,
        },
        objective: Objective::Hybrid { head: head(1), eta: 1.0 },
        data: data.clone(),
        train: [0].into(),
        validation: [].into(),
        plan: plain_training(epochs).learning_rate(0.1).plan(1),
        seed: 4,
        initial: None,
    };
    let biases = |parameters: &Parameters| [0, 1, 2].map(|at| f64::from(parameters.numbers()[at * WIDTH]));
    let start = biases(&initial_parameters(engine, &job(1)));
    let (mut w, mut m, mut v) = ([start[1], start[2]], [0.0; 2], [0.0; 2]);
    for step in 1..=3 {
        // z = (y - mean) / sd with sd = 0.001 + ln(1 + e^raw): gradients -z / sd and (1 - z^2) / sd / (1 + e^-raw).
        let sd = 0.001 + libm::log(1.0 + libm::exp(w[1]));
        let z = (0.8 - w[0]) / sd;
        let gradient = [-z / sd, (1.0 - z * z) / sd / (1.0 + libm::exp(-w[1]))];
        for at in 0..2 {
            m[at] = 0.9 * m[at] + 0.1 * gradient[at];
            v[at] = 0.999 * v[at] + 0.001 * gradient[at] * gradient[at];
            let (first, second) = (m[at] / (1.0 - 0.9_f64.powi(step)), v[at] / (1.0 - 0.999_f64.powi(step)));
            w[at] -= 0.1 * first / (second.sqrt() + 1e-8);
        }
        let found = biases(&train(engine, &job(step as usize)).parameters);
        assert_eq!(found[0], start[0]);
        assert!((found[1] - w[0]).abs() < 2e-6 && (found[2] - w[1]).abs() < 2e-6, "step {step}: {found:?} {w:?}");
        if step == 1 {
            // The first step is the rate, whatever the size of the gradient.
            assert!(((found[1] - start[1]).abs() - 0.1).abs() < 1e-6);
        }
    }
}

pub fn averaging_by_hand(engine: &dyn Engine) {
    // average_t = keep average_(t-1) + (1 - keep) weights_t with keep = min(averaging, t / (t + 10)), from the initial weights.
    let data = bimodal(50, 14);
    let with = |epochs: usize, averaging: f64| {
        let training = plain_training(epochs).batch_size(1000).ema_decay(averaging);
        train(engine, &NetworkJob { validation: [].into(), ..job(&data, 1, training) }).parameters
    };
    let mut average: Vec<f64> =
        initial_parameters(engine, &job(&data, 1, plain_training(1))).numbers().iter().map(|w| f64::from(*w)).collect();
    for step in 1..=6 {
        let keep = f64::min(0.2, step as f64 / (step as f64 + 10.0));
        let weights = with(step, 0.0);
        for (average, weight) in average.iter_mut().zip(weights.numbers()) {
            *average = keep * *average + (1.0 - keep) * f64::from(*weight);
        }
        for (found, expected) in with(step, 0.2).numbers().iter().zip(&average) {
            assert!((f64::from(*found) - expected).abs() < 1e-6, "step {step}: {found} {expected}");
        }
    }
}

pub fn a_bimodal_target_is_learnt(engine: &dyn Engine) {
    let data = bimodal(1000, 15);
    let rows: Vec<u32> = (800..1000).collect();
    let y: Vec<f64> = data.y().iter().map(|y| f64::from(*y)).collect();
    let mean = y[..800].iter().sum::<f64>() / 800.0;
    let sd = (y[..800].iter().map(|y| (y - mean) * (y - mean)).sum::<f64>() / 800.0).sqrt();
    let constant = Mixture { weights: &[1.0], means: &[mean], sds: &[sd] };
    let of_constant = |score: fn(Mixture<'_>, f64) -> f64| {
        rows.iter().map(|row| score(constant, y[*row as usize])).sum::<f64>() / 200.0
    };
    for eta in [0.0, 0.5, 1.0] {
        let base = job(&data, 1, TrainingConfig::default().epochs(60));
        let job = NetworkJob { objective: Objective::Hybrid { head: head(3), eta }, ..base };
        let trained = train(engine, &job);
        let nll = mean_score(&job, &trained.parameters, &rows, log::value);
        let crps = mean_score(&job, &trained.parameters, &rows, energy::value);
        assert!(nll < of_constant(log::value) - 0.8, "eta {eta}: {nll}");
        assert!(crps < 0.87 * of_constant(energy::value), "eta {eta}: {crps} {}", of_constant(energy::value));
        // Both modes are seen: mass around each of them, little between.
        let mixtures = mixtures(&job, &trained.parameters, Isa::best());
        for row in rows.iter().take(20).map(|row| *row as usize) {
            let x = f64::from(data.x()[row * data.stride()]);
            let (low, high) = ((2.0 * x).sin() - 1.5, 1.2 + 0.5 * x);
            let mixture = mixtures.row(row);
            let (below, above) = (mixture.cdf(low + 0.5), mixture.survival(high - 0.5));
            assert!((below - 0.4).abs() < 0.15 && (above - 0.6).abs() < 0.15, "eta {eta}, x {x}: {below} {above}");
        }
    }
}

pub fn adversarial_inputs_raise_the_loss_a_little(engine: &dyn Engine) {
    let data = bimodal(90, 6);
    // All rows in one step: the loss of the first epoch is that of the initial weights.
    let first = |adversarial: f64| {
        let trained = train(engine, &job(&data, 3, plain_training(2).batch_size(1000).adversarial(adversarial)));
        (trained.history.epochs[0].loss.unwrap(), bits(&trained.parameters))
    };
    let (plain, weights) = first(0.0);
    let (moved, other) = first(0.01);
    let (further, _) = first(0.1);
    assert!(plain < moved && moved < further && further < plain + 1.0, "{plain} {moved} {further}");
    assert_ne!(weights, other);
    assert_eq!(first(0.01).1, other);
}

pub fn predictions_do_not_depend_on_the_instruction_set(engine: &dyn Engine) {
    let data = bimodal(150, 1);
    for job in several(&data) {
        let trained = train(engine, &job);
        let plain = mixtures(&job, &trained.parameters, Isa::Plain);
        for isa in Isa::ALL {
            assert_eq!(plain, mixtures(&job, &trained.parameters, isa), "{isa:?}");
        }
    }
}
