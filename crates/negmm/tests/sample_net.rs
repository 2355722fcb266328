//! SampleNet from rows to predictions: training has the usual properties, and samples support every query.

use negmm_dist::Distribution;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use negmm::Rng;
use negmm::data::{ColumnRoles, Dataset};
use negmm::method::{Member, Pool, Predictor};
use negmm::net::{Activation, Network, Parameters, SampleHead};
use negmm::samples::SampleSets;
use negmm::train::Isa;
use negmm::train::{
    Callbacks, CpuEngine, Job, NetworkJob, Objective, Progress, Trained, TrainedNetwork, TrainingConfig,
};
use negmm::{ErrorKind, FitOptions, Interval, Method, Metrics, Model, Predictions, Result, Table, Toy, fit, fit_with};
use negmm_nn::loss::sinkhorn::{Prior, Sinkhorn};

fn data(rows: usize) -> Arc<Dataset> {
    let mut rng = Rng::new(4, 0);
    let mut data = Dataset::new(2);
    for _ in 0..rows {
        let (x, other) = (2.0 * rng.uniform() - 1.0, rng.uniform());
        let y = if rng.uniform() < 0.4 { x - 1.0 } else { 1.0 + 0.5 * x };
        data.push(&[x as f32, other as f32], (y + 0.2 * rng.uniform()) as f32);
    }
    Arc::new(data)
}

/// The last fifth validates.
fn job(data: &Arc<Dataset>, samples: usize, sinkhorn: Option<Sinkhorn>, training: TrainingConfig) -> NetworkJob {
    let (rows, cut) = (data.len() as u32, data.len() as u32 * 4 / 5);
    NetworkJob {
        network: Network {
            inputs: 2,
            stem: None,
            hidden: vec![9],
            residual: false,
            activation: Activation::Tanh,
            outputs: samples,
        },
        objective: Objective::SampleEnergy { head: SampleHead { samples, sd_floor: 1e-3 }, sinkhorn },
        data: data.clone(),
        train: (0..cut).collect(),
        validation: (cut..rows).collect(),
        plan: training.plan(cut as usize),
        seed: 3,
        initial: None,
    }
}

fn sinkhorn(prior: Prior) -> Option<Sinkhorn> {
    Some(Sinkhorn { prior, weight: 0.1 })
}

fn several(data: &Arc<Dataset>) -> Vec<NetworkJob> {
    let short = TrainingConfig::default().epochs(3);
    vec![
        job(data, 7, None, short.clone()),
        job(data, 20, sinkhorn(Prior::Uniform), short.clone()),
        job(data, 17, sinkhorn(Prior::Normal), short.dropout(0.2).adversarial(0.01)),
    ]
}

fn train(job: &NetworkJob, isa: Isa) -> TrainedNetwork {
    train_all(&CpuEngine { threads: 1, isa }, std::slice::from_ref(job), &Callbacks::nothing()).remove(0).unwrap()
}

fn train_all(engine: &CpuEngine, jobs: &[NetworkJob], watch: &Callbacks<'_>) -> Vec<Result<TrainedNetwork>> {
    let jobs: Vec<Job> = jobs.iter().cloned().map(Job::from).collect();
    let network = |trained| match trained {
        Trained::Network(trained) => trained,
        other => panic!("{other:?}"),
    };
    negmm::train::train(engine, &jobs, watch).into_iter().map(|trained| trained.map(network)).collect()
}

fn bits(parameters: &Parameters) -> Vec<u32> {
    parameters.numbers().iter().map(|weight| weight.to_bits()).collect()
}

fn predict(job: &NetworkJob, parameters: &Parameters, isa: Isa) -> Predictions {
    let members = vec![Member {
        network: job.network.clone(),
        parameters: parameters.clone(),
        sigma_scale: 1.0,
        statistics: Arc::default(),
    }];
    let predictor = Predictor::Networks { members, head: job.objective.head(), pool: Pool::Mixture };
    predictor.predict(&job.data, isa).unwrap().in_unit(0.0, 1.0)
}

#[test]
fn threads_and_instruction_sets_change_no_bit() {
    let data = data(110);
    let jobs = several(&data);
    let plain: Vec<TrainedNetwork> = jobs.iter().map(|job| train(job, Isa::Plain)).collect();
    for (job, plain) in jobs.iter().zip(&plain) {
        let predicted = predict(job, &plain.parameters, Isa::Plain);
        for isa in Isa::ALL {
            let other = train(job, isa);
            assert_eq!(bits(&plain.parameters), bits(&other.parameters), "{isa:?}");
            assert_eq!(plain.history, other.history, "{isa:?}");
            assert_eq!(predicted, predict(job, &plain.parameters, isa), "{isa:?}");
        }
        assert_eq!(plain.history.skipped(), 0);
    }
    for threads in [0, 2, 3] {
        for (alone, together) in plain.iter().zip(train_all(&CpuEngine::new(threads), &jobs, &Callbacks::nothing())) {
            assert_eq!(bits(&alone.parameters), bits(&together.unwrap().parameters), "{threads} threads");
        }
    }
}

#[test]
fn the_regulariser_and_its_draws_come_from_the_seed() {
    let data = data(60);
    let with = |sinkhorn, seed| {
        let training = TrainingConfig::default().epochs(2);
        bits(&train(&NetworkJob { seed, ..job(&data, 8, sinkhorn, training) }, Isa::best()).parameters)
    };
    let uniform = sinkhorn(Prior::Uniform);
    assert_eq!(with(uniform, 1), with(uniform, 1));
    assert_ne!(with(uniform, 1), with(uniform, 2));
    assert_ne!(with(uniform, 1), with(None, 1));
    assert_ne!(with(uniform, 1), with(sinkhorn(Prior::Normal), 1));
}

#[test]
fn history_says_what_the_samples_score() {
    let data = data(90);
    for job in several(&data) {
        let trained = train(&job, Isa::best());
        let kept = trained.history.epochs[trained.history.best_epoch].validation.unwrap();
        let predictions = predict(&job, &trained.parameters, Isa::best());
        let y: Vec<f64> = data.y().iter().map(|y| f64::from(*y)).collect();
        let mean = |scores: Vec<f64>| {
            job.validation.iter().map(|row| scores[*row as usize]).sum::<f64>() / job.validation.len() as f64
        };
        let (nll, crps) = (mean(predictions.nll(&y).unwrap()), mean(predictions.crps(&y).unwrap()));
        assert!((kept.nll.unwrap() - nll).abs() < 1e-5 * (1.0 + nll.abs()), "{kept:?} {nll}");
        assert!((kept.crps.unwrap() - crps).abs() < 1e-6, "{kept:?} {crps}");
    }
}

#[test]
fn cancelling_stops() {
    let data = data(100);
    let endless = TrainingConfig::default().epochs(10_000_000);
    let jobs = [job(&data, 10, None, endless.clone()), job(&data, 10, sinkhorn(Prior::Uniform), endless)];
    let cancel = AtomicBool::new(false);
    let progress = |progress: &Progress| {
        if progress.epoch == 2 {
            cancel.store(true, Ordering::Relaxed);
        }
    };
    for result in train_all(&CpuEngine::new(2), &jobs, &Callbacks { progress: &progress, cancel: &cancel }) {
        assert_eq!(result.unwrap_err().kind(), ErrorKind::Cancelled);
    }
}

fn method(options: &[(&str, &str)]) -> Method {
    let mut method = Method::by_name("sample-net").unwrap();
    for (option, value) in options {
        method.set(option, value).unwrap();
    }
    method
}

#[test]
fn options_out_of_range_are_refused() {
    let mut method = method(&[]);
    for (option, value) in [
        ("samples", "1"),
        ("samples", "1001"),
        ("samples", "-3"),
        ("sinkhorn", "-0.1"),
        ("sinkhorn", "NaN"),
        ("sinkhorn", "inf"),
        ("prior", "cauchy"),
        ("components", "3"),
    ] {
        assert_eq!(method.set(option, value).unwrap_err().kind(), ErrorKind::Options, "{option} {value}");
    }
}

#[test]
fn a_bimodal_target_is_learnt() {
    let mut rng = Rng::new(1, 0);
    let (training, test) = (Toy::Bimodal.sample(800, &mut rng), Toy::Bimodal.sample(300, &mut rng));
    for options in [&[("epochs", "80")][..], &[("epochs", "15"), ("samples", "24"), ("sinkhorn", "0.01")]] {
        let model = fit(&training, "y", &method(options)).unwrap();
        let y = model.encoder().targets(&test).unwrap();
        let ours = Metrics::of(&model.predict(&test).unwrap(), &y).unwrap();
        let constant = Metrics::of(&model.baseline(y.len()), &y).unwrap();
        assert!(ours.crps < 0.85 * constant.crps, "{options:?}: {} {}", ours.crps, constant.crps);
        assert!((ours.coverage.get(0.9).unwrap() - 0.9).abs() < 0.15, "{options:?}: {:?}", ours.coverage);
        assert_eq!(Model::from_bytes(&model.to_bytes().unwrap()).unwrap(), model);
    }
}

fn small_table() -> Table {
    Toy::Bimodal.sample(80, &mut Rng::new(5, 0))
}

#[test]
fn an_ensemble_pools_samples_and_says_where_its_variance_is_from() {
    let mut ensemble = Method::by_name("ensemble").unwrap();
    for (option, value) in
        [("member", "sample-net"), ("ensemble-size", "3"), ("samples", "6"), ("epochs", "4"), ("hidden", "8")]
    {
        ensemble.set(option, value).unwrap();
    }
    let (table, inputs) = (small_table(), ColumnRoles::default());
    let with = |method: &Method, threads: usize| {
        let engine = CpuEngine::new(threads);
        let options = FitOptions::default().seed(1).inputs(inputs.clone()).engine(&engine);
        fit_with(&table, "y", method, &options).unwrap().model
    };
    let model = with(&ensemble, 1);
    assert_eq!(model.to_bytes().unwrap(), with(&ensemble, 3).to_bytes().unwrap());
    assert_eq!((model.components(), model.predictor().members()), (None, 3));
    let predictions = model.predict(&table).unwrap();
    assert_eq!((predictions.members(), predictions.samples().unwrap().samples()), (3, 18));
    // Member by member, by hand.
    let Predictor::Networks { members: networks, head, pool } = model.predictor() else { panic!("networks") };
    let (encoded, _) = model.encoder().encode_features(&table).unwrap();
    let scale = model.encoder().target().scale;
    let members: Vec<Predictions> = networks
        .iter()
        .map(|network| {
            let alone = Predictor::Networks { members: vec![network.clone()], head: *head, pool: *pool };
            alone.predict(&encoded, Isa::best()).unwrap().in_unit(0.0, 1.0)
        })
        .collect();
    let (aleatoric, epistemic) = predictions.variance_by_members();
    for row in 0..predictions.len() {
        let means: Vec<f64> = members.iter().map(|member| member.mean()[row]).collect();
        let mean = means.iter().sum::<f64>() / 3.0;
        let within: f64 = members.iter().map(|member| 5.0 / 17.0 * member.variance()[row]).sum();
        let between: f64 = means.iter().map(|m| 6.0 / 17.0 * (m - mean) * (m - mean)).sum();
        let size = 1e-9 * (1.0 + predictions.variance()[row]);
        assert!((aleatoric[row] - within * scale * scale).abs() < size, "{row}");
        assert!((epistemic[row] - between * scale * scale).abs() < size, "{row}");
        assert!((aleatoric[row] + epistemic[row] - predictions.variance()[row]).abs() < size);
    }
    // One member has no epistemic variance.
    let single = with(&method(&[("samples", "6"), ("epochs", "4"), ("hidden", "8")]), 1).predict(&table).unwrap();
    assert_eq!(single.variance_by_members(), (single.variance(), vec![0.0; 80]));
    // The Gaussian of the pool.
    ensemble.set("pool", "gaussian").unwrap();
    let gaussian = with(&ensemble, 1);
    assert_eq!(gaussian.components(), Some(1));
    let matched = gaussian.predict(&table).unwrap();
    assert_eq!((matched.mean(), matched.sd()), (predictions.mean(), predictions.sd()));
    assert_eq!(matched.mixtures().unwrap().components(), 1);
}

#[test]
fn samples_answer_every_question() {
    let mut rng = Rng::new(8, 0);
    let values: Vec<f64> = (0..40 * 25).map(|_| 10.0 * rng.uniform() * rng.uniform()).collect();
    let sets = SampleSets::new(25, values, 1e-3).unwrap();
    let predictions = Predictions::from(sets.clone());
    assert!(predictions.mixtures().is_none());
    assert_eq!((predictions.samples(), predictions.len(), predictions.members()), (Some(&sets), 40, 1));
    let y: Vec<f64> = (0..40).map(|row| 0.25 * f64::from(row)).collect();
    let Interval { lower, upper } = predictions.interval(0.8).unwrap();
    let (quantile, below, above) =
        (predictions.quantile(0.1).unwrap(), predictions.below(2.0).unwrap(), predictions.above(2.0).unwrap());
    let (nll, pdf, pit) = (predictions.nll(&y).unwrap(), predictions.pdf(&y).unwrap(), predictions.pit(&y).unwrap());
    let (low, high) = (predictions.shortfall(0.2).unwrap(), predictions.shortfall_above(0.2).unwrap());
    let crps = predictions.crps(&y).unwrap();
    let (within, between) = predictions.variance_parts();
    let draws = predictions.sample(4, 1, 0);
    for row in 0..40 {
        let set = sets.row(row);
        assert!((lower[row] - quantile[row]).abs() < 1e-12 && lower[row] < upper[row]);
        assert!((below[row] + above[row] - 1.0).abs() < 1e-12);
        assert!((nll[row] + libm::log(pdf[row])).abs() < 1e-9);
        assert_eq!(pit[row], set.cdf(y[row]));
        assert!(low[row] < predictions.mean()[row] && predictions.mean()[row] < high[row]);
        assert_eq!(crps[row], set.crps(y[row]));
        assert_eq!((within[row], between[row]), (predictions.variance()[row], 0.0));
        assert!(draws[row * 4..][..4].iter().all(|draw| set.values.contains(draw)));
    }
    // In another unit everything moves along, the floor too.
    let moved = predictions.clone().rescale(5.0, 2.0);
    let moved_y: Vec<f64> = y.iter().map(|y| 2.0 * y + 5.0).collect();
    let moved_nll = moved.nll(&moved_y).unwrap();
    for row in 0..40 {
        assert!((moved.mean()[row] - (2.0 * predictions.mean()[row] + 5.0)).abs() < 1e-12);
        assert!((moved_nll[row] - nll[row] - std::f64::consts::LN_2).abs() < 1e-9);
    }
    assert_eq!(moved.samples().unwrap().sd_floor(), 2e-3);
    // Metrics are the same questions.
    let metrics = Metrics::of(&predictions, &y).unwrap();
    assert!((metrics.crps - crps.iter().sum::<f64>() / 40.0).abs() < 1e-12);
    assert!((metrics.nll - nll.iter().sum::<f64>() / 40.0).abs() < 1e-12);
    assert_eq!(metrics.pit.iter().sum::<f64>(), 40.0);
}

#[test]
fn samples_that_coincide_have_the_floor_as_their_sd() {
    let predictions = Predictions::from(SampleSets::new(3, vec![2.0; 6], 0.5).unwrap());
    assert_eq!(predictions.sd(), [0.0; 2]);
    assert_eq!(predictions.moment_matched().sd(), [0.5; 2]);
    let y = [2.5; 2];
    assert_eq!(predictions.nll(&y).unwrap(), predictions.moment_matched().nll(&y).unwrap());
}
