//! What every engine promises: results depend on the jobs alone, the best weights are kept, a step that is not finite is not
//! taken, and the record says what happened.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use negmm::data::Dataset;
use negmm::math::lanes::{Chunk, Isa, WIDTH, floats};
use negmm::math::rng::Rng;
use negmm::method::{Predictor, TrainedNetwork};
use negmm::mixture::Mixtures;
use negmm::net::{Activation, Layer, MixtureHead, Network};
use negmm::score::{energy, hybrid, log};
use negmm::train::{CpuEngine, Engine, Job, Objective, Progress, Schedule, Selection, Trained, Training, Watch};
use negmm::{ErrorKind, Mixture};

/// y is near sin(2 x) or near 1.5 + x, by a coin that no input tells.
fn bimodal(rows: usize, seed: u64) -> Dataset {
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
    MixtureHead { components, sd_floor: 1e-3, sd_ceiling: None, mean_bound: None }
}

/// The weights themselves, at a constant rate: what the tests below reckon with.
fn plain_training(epochs: usize) -> Training {
    let plain = Training { schedule: Schedule::Constant, averaging: 0.0, patience: 0, ..Training::default() };
    Training { epochs, learning_rate: 0.01, ..plain }
}

/// The last fifth validates.
fn job(data: &Dataset, seed: u64, training: Training) -> Job<'_> {
    let (rows, cut) = (data.len() as u32, data.len() as u32 * 4 / 5);
    let head = head(3);
    Job {
        network: Network {
            inputs: data.features(),
            stem: None,
            hidden: vec![9],
            activation: Activation::Tanh,
            outputs: head.outputs(),
        },
        objective: Objective::hybrid(head, 0.5),
        data,
        train: (0..cut).collect(),
        validation: (cut..rows).collect(),
        training,
        seed,
    }
}

fn train(job: &Job<'_>) -> Trained {
    CpuEngine::new(1).train(std::slice::from_ref(job), &Watch::nothing()).remove(0).unwrap()
}

fn bits(weights: &[Chunk]) -> Vec<u32> {
    floats(weights).iter().map(|weight| weight.to_bits()).collect()
}

/// Training that moves nothing: no weight but a zero is so small that 1e-30 changes it.
fn initial_weights(of: &Job<'_>) -> Vec<Chunk> {
    let training = Training { learning_rate: 1e-30, ..plain_training(1) };
    let mut weights = train(&Job { training, validation: vec![], ..of.clone() }).weights;
    for weight in weights.iter_mut().flat_map(|chunk| &mut chunk.0).filter(|weight| weight.abs() < 1e-20) {
        *weight = 0.0;
    }
    weights
}

fn mixtures(job: &Job<'_>, weights: &[Chunk], isa: Isa) -> Mixtures {
    let networks = vec![TrainedNetwork { network: job.network.clone(), weights: weights.to_vec(), sd_factor: 1.0 }];
    let Objective::Mixture { head, .. } = job.objective else { panic!("mixtures") };
    Predictor::Networks { networks, head }.predict(job.data, isa).mixtures().unwrap().clone()
}

/// The mean of a score over rows, in f64.
fn mean_score(job: &Job<'_>, weights: &[Chunk], rows: &[u32], score: impl Fn(Mixture<'_>, f64) -> f64) -> f64 {
    let mixtures = mixtures(job, weights, Isa::best());
    let of_row = |&row: &u32| score(mixtures.row(row as usize), f64::from(job.data.y()[row as usize]));
    rows.iter().map(of_row).sum::<f64>() / rows.len() as f64
}

/// Several jobs that have nothing in common but the engine.
fn several(data: &Dataset) -> Vec<Job<'_>> {
    let base = |seed, training| job(data, seed, training);
    let mut jobs = vec![
        base(1, Training { epochs: 6, ..Training::default() }),
        base(2, Training { epochs: 3, dropout: 0.3, weight_decay: 0.1, ..Training::default() }),
        base(3, Training { epochs: 9, patience: 2, batch: 7, ..plain_training(9) }),
        base(4, Training { epochs: 2, batch: 1000, select: Selection::Crps, ..Training::default() }),
        base(5, plain_training(4)),
    ];
    jobs[0].network.hidden = vec![16, 31];
    jobs[1].network.activation = Activation::Silu;
    jobs[2].network.hidden = vec![];
    jobs[3].objective = Objective::hybrid(head(3), 0.0);
    jobs[4].network.activation = Activation::Relu;
    jobs
}

#[test]
fn threads_and_the_order_of_jobs_change_no_bit() {
    let data = bimodal(150, 1);
    let jobs = several(&data);
    let alone: Vec<Trained> = jobs.iter().map(train).collect();
    for threads in [0, 1, 2, 3] {
        let together = CpuEngine::new(threads).train(&jobs, &Watch::nothing());
        for (alone, together) in alone.iter().zip(together) {
            let together = together.unwrap();
            assert_eq!(bits(&alone.weights), bits(&together.weights), "{threads} threads");
            assert_eq!(alone.history, together.history);
        }
    }
    for order in [[4, 3, 2, 1, 0], [2, 0, 4, 1, 3]] {
        let jobs: Vec<Job<'_>> = order.iter().map(|at| jobs[*at].clone()).collect();
        for (at, trained) in order.into_iter().zip(CpuEngine::new(2).train(&jobs, &Watch::nothing())) {
            assert_eq!(bits(&alone[at].weights), bits(&trained.unwrap().weights), "{order:?}");
        }
    }
}

#[test]
fn instruction_sets_change_no_bit() {
    let data = bimodal(150, 1);
    for job in several(&data) {
        let on = |isa: Isa| {
            CpuEngine { threads: 1, isa }.train(std::slice::from_ref(&job), &Watch::nothing()).remove(0).unwrap()
        };
        let plain = on(Isa::Plain);
        let predicted = mixtures(&job, &plain.weights, Isa::Plain);
        for isa in Isa::ALL {
            let other = on(isa);
            assert_eq!(bits(&plain.weights), bits(&other.weights), "{isa:?}");
            assert_eq!(plain.history, other.history, "{isa:?}");
            assert_eq!(predicted, mixtures(&job, &plain.weights, isa), "{isa:?}");
        }
    }
}

#[test]
fn the_seed_decides() {
    let data = bimodal(100, 2);
    let with = |seed| bits(&train(&job(&data, seed, plain_training(3))).weights);
    assert_eq!(with(1), with(1));
    assert_ne!(with(1), with(2));
    assert_ne!(
        bits(&initial_weights(&job(&data, 1, plain_training(1)))),
        bits(&initial_weights(&job(&data, 2, plain_training(1))))
    );
}

#[test]
fn a_failing_job_stops_no_other() {
    let data = bimodal(50, 3);
    let good = job(&data, 1, plain_training(2));
    let empty = Job { train: vec![], ..good.clone() };
    let wrong = Job { training: plain_training(0), ..good.clone() };
    let results = CpuEngine::new(2).train(&[empty, good.clone(), wrong, good.clone()], &Watch::nothing());
    assert_eq!(results[0].as_ref().unwrap_err().kind(), ErrorKind::Data);
    assert_eq!(results[2].as_ref().unwrap_err().kind(), ErrorKind::Options);
    for at in [1, 3] {
        assert_eq!(bits(&results[at].as_ref().unwrap().weights), bits(&train(&good).weights));
    }
    assert!(CpuEngine::new(2).train(&[], &Watch::nothing()).is_empty());
}

#[test]
fn patience_stops_and_keeps_the_best_epoch() {
    // Few rows, many units: the validation score soon gets worse.
    let data = bimodal(60, 4);
    for select in [Selection::Nll, Selection::Crps] {
        let patience = 8;
        let training = Training { patience, select, learning_rate: 0.03, ..plain_training(2000) };
        let stopped = job(&data, 5, training.clone());
        let trained = train(&stopped);
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
        let there = Training { epochs: history.best_epoch + 1, patience: 0, ..training.clone() };
        let ended = train(&Job { training: there, validation: vec![], ..stopped.clone() });
        assert_eq!(bits(&trained.weights), bits(&ended.weights));
        // Without patience it goes on, and may find better.
        let long = train(&Job { training: Training { patience: 0, epochs: 100, ..training }, ..stopped });
        assert_eq!(long.history.epochs.len(), 100);
        assert_eq!(long.history.epochs[..history.epochs.len()], history.epochs[..]);
    }
}

#[test]
fn without_validation_rows_the_last_epoch_is_kept() {
    let data = bimodal(60, 5);
    let with = |epochs: usize, patience: usize| {
        let training = Training { patience, ..plain_training(epochs) };
        train(&Job { validation: vec![], ..job(&data, 1, training) })
    };
    let (short, long, patient) = (with(4, 0), with(5, 0), with(5, 1));
    assert_eq!((long.history.best_epoch, long.history.epochs.len()), (4, 5));
    assert!(long.history.epochs.iter().all(|epoch| epoch.validation.is_none() && epoch.loss.is_some()));
    assert_ne!(bits(&short.weights), bits(&long.weights));
    assert_eq!(bits(&patient.weights), bits(&long.weights));
    assert_eq!(long.history.epochs[..4], short.history.epochs[..]);
}

#[test]
fn history_says_what_was_computed() {
    let data = bimodal(90, 6);
    for dropout in [0.0, 0.5] {
        // All rows in one step: the loss of the first epoch is that of the initial weights.
        let training = Training { batch: 1000, dropout, ..plain_training(7) };
        let job = job(&data, 3, training);
        let trained = train(&job);
        let first = &trained.history.epochs[0];
        let initial = mean_score(&job, &initial_weights(&job), &job.train, |m, y| hybrid::value(m, y, 0.5));
        let difference = first.loss.unwrap() - initial;
        assert_eq!(difference.abs() < 1e-5, dropout == 0.0, "{difference}");
        // Validation has no dropout, and is that of the weights that were kept.
        let kept = trained.history.epochs[trained.history.best_epoch].validation.unwrap();
        let nll = mean_score(&job, &trained.weights, &job.validation, log::value);
        let crps = mean_score(&job, &trained.weights, &job.validation, energy::value);
        assert!((kept.nll.unwrap() - nll).abs() < 1e-5, "{kept:?} {nll}");
        assert!((kept.crps.unwrap() - crps).abs() < 1e-6, "{kept:?} {crps}");
        assert_eq!(trained.history.skipped(), 0);
        assert!(trained.history.epochs.iter().all(|epoch| epoch.learning_rate == 0.01));
    }
    // With averaging, too.
    let averaged = job(&data, 3, Training { averaging: 0.9, ..plain_training(7) });
    let trained = train(&averaged);
    let nll = mean_score(&averaged, &trained.weights, &averaged.validation, log::value);
    assert!((trained.history.epochs[trained.history.best_epoch].validation.unwrap().nll.unwrap() - nll).abs() < 1e-5);
    assert_ne!(bits(&trained.weights), bits(&train(&job(&data, 3, plain_training(7))).weights));
    // The cosine ends near zero.
    let cosine = train(&job(&data, 3, Training { schedule: Schedule::Cosine, ..plain_training(20) }));
    let rates: Vec<f64> = cosine.history.epochs.iter().map(|epoch| epoch.learning_rate).collect();
    assert!(rates[0] > 0.009 && rates[19] < 1e-4 && rates.windows(2).all(|pair| pair[0] > pair[1]), "{rates:?}");
}

#[test]
fn snapshots_are_the_weights_of_shorter_trainings() {
    let data = bimodal(60, 7);
    let trained = train(&job(&data, 3, Training { snapshots: 2, ..plain_training(7) }));
    assert_eq!(trained.snapshots.len(), 3);
    for (at, snapshot) in trained.snapshots.iter().enumerate() {
        // Without validation rows the last weights are the ones that are kept.
        let shorter = Job { validation: Vec::new(), ..job(&data, 3, plain_training(2 * (at + 1))) };
        assert_eq!(bits(snapshot), bits(&train(&shorter).weights));
    }
    assert!(train(&job(&data, 3, plain_training(7))).snapshots.is_empty());
}

#[test]
fn progress_is_told_after_every_epoch() {
    let data = bimodal(60, 7);
    let seen: Mutex<Vec<Progress>> = Mutex::default();
    let cancel = AtomicBool::new(false);
    let watch =
        Watch { progress: &|progress| seen.lock().unwrap().push(*progress), cancel: &cancel, ..Watch::nothing() };
    let jobs = [job(&data, 1, plain_training(4)), job(&data, 2, plain_training(3))];
    let trained: Vec<Trained> = CpuEngine::new(2).train(&jobs, &watch).into_iter().map(Result::unwrap).collect();
    let seen = seen.into_inner().unwrap();
    assert_eq!(seen.len(), 7);
    for (at, trained) in trained.iter().enumerate() {
        let mine: Vec<&Progress> = seen.iter().filter(|progress| progress.job == at).collect();
        let epochs = [4, 3][at];
        assert_eq!(mine.len(), epochs);
        let mut best = f64::INFINITY;
        for (epoch, progress) in mine.into_iter().enumerate() {
            best = best.min(trained.history.epochs[epoch].validation.unwrap().nll.unwrap());
            let expected =
                Progress { job: at, jobs: 2, epoch: epoch + 1, epochs, best: Some(best), last: epoch + 1 == epochs };
            assert_eq!(*progress, expected);
        }
    }
}

#[test]
fn cancelling_stops_within_a_few_steps() {
    let data = bimodal(400, 8);
    let endless = plain_training(10_000_000);
    let jobs = [job(&data, 1, endless.clone()), job(&data, 2, endless)];
    for threads in [1, 2] {
        let cancel = AtomicBool::new(false);
        let epochs = Mutex::new(0);
        let progress = |progress: &Progress| {
            *epochs.lock().unwrap() += 1;
            if progress.epoch == 3 {
                cancel.store(true, Ordering::Relaxed);
            }
        };
        let start = Instant::now();
        let results =
            CpuEngine::new(threads).train(&jobs, &Watch { progress: &progress, cancel: &cancel, ..Watch::nothing() });
        assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
        assert!(results.iter().all(|result| result.as_ref().unwrap_err().kind() == ErrorKind::Cancelled));
        assert!(*epochs.lock().unwrap() <= 4 + 3);
    }
    let (cancel, progress) = (AtomicBool::new(true), |_: &Progress| panic!("nothing was to be trained"));
    let results = CpuEngine::new(1).train(&jobs, &Watch { progress: &progress, cancel: &cancel, ..Watch::nothing() });
    assert!(results.iter().all(|result| result.as_ref().unwrap_err().kind() == ErrorKind::Cancelled));
}

#[test]
fn a_step_that_is_not_finite_is_not_taken() {
    for wrong in [f32::INFINITY, f32::NEG_INFINITY, f32::NAN, f32::MAX] {
        for eta in [0.0, 0.5, 1.0] {
            let mut data = bimodal(64, 9);
            data.push(&[0.1, 0.2], wrong);
            // The energy score of f32::MAX just fits, or just does not: either is well.
            let is_wrong = !(wrong == f32::MAX && eta == 0.0);
            let base = Job {
                train: (0..65).collect(),
                validation: vec![],
                objective: Objective::hybrid(head(3), eta),
                ..job(&data, 1, Training { batch: 8, ..plain_training(5) })
            };
            let trained = train(&base);
            assert!(floats(&trained.weights).iter().all(|weight| weight.is_finite()), "{wrong} {eta}");
            for epoch in &trained.history.epochs {
                assert!(epoch.skipped == 1 || !is_wrong && epoch.skipped == 0, "{wrong} {eta}");
                assert!(epoch.loss.is_some_and(f64::is_finite));
            }
            if is_wrong {
                assert_eq!(trained.history.skipped(), 5);
                // A batch of it alone leaves everything as it was.
                let alone = Job { train: vec![64], ..base.clone() };
                let trained = train(&alone);
                assert_eq!(bits(&trained.weights), bits(&initial_weights(&base)), "{wrong} {eta}");
                assert!(trained.history.epochs.iter().all(|epoch| epoch.skipped == 1 && epoch.loss.is_none()));
            }
        }
    }
}

#[test]
fn an_enormous_learning_rate_leaves_finite_weights() {
    let data = bimodal(64, 10);
    for rate in [1e3, 1e5, 1e10, 1e30, 1e38, 1e100, 1e300] {
        for hidden in [vec![], vec![9], vec![9; 20]] {
            let training = Training { learning_rate: rate, ..plain_training(5) };
            let mut job = job(&data, 1, training);
            job.network.hidden = hidden;
            job.network.activation = Activation::Relu;
            for job in [job.clone(), Job { validation: vec![], ..job }] {
                match CpuEngine::new(1).train(std::slice::from_ref(&job), &Watch::nothing()).remove(0) {
                    Ok(trained) => {
                        // Twenty layers of weights that large overflow: then no further step is taken, and it is counted.
                        assert_eq!(trained.history.skipped() > 0, job.network.hidden.len() == 20);
                        let finite = floats(&trained.weights).iter().all(|weight| weight.is_finite());
                        assert!(finite, "{rate:e} {:?}", job.network.hidden);
                        // And whatever they are, they predict distributions.
                        let mixtures = mixtures(&job, &trained.weights, Isa::best());
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

#[test]
fn validation_that_is_not_finite_never_wins() {
    let mut data = bimodal(60, 11);
    data.push(&[0.0, 0.0], f32::NAN);
    let all_wrong = Job { train: (0..60).collect(), validation: vec![60], ..job(&data, 1, plain_training(4)) };
    let trained = train(&all_wrong);
    assert!(trained.history.epochs.iter().all(|epoch| epoch.validation.is_none()));
    assert!(floats(&trained.weights).iter().all(|weight| weight.is_finite()));
}

/// (place in the flat buffer, whether it is a bias) of every weight and bias.
fn places(layers: &[Layer]) -> Vec<(usize, bool)> {
    let of_row = |layer: &Layer, row: usize| {
        let (start, inputs) = ((layer.start + row * layer.stride) * WIDTH, layer.inputs);
        (0..=inputs).map(move |input| (start + input, input == inputs))
    };
    layers.iter().flat_map(|layer| (0..layer.outputs).flat_map(move |row| of_row(layer, row))).collect()
}

#[test]
fn weight_decay_shrinks_weights_and_no_bias() {
    let data = bimodal(64, 12);
    let with = |weight_decay: f64| {
        let training = Training { weight_decay, batch: 1000, learning_rate: 0.02, ..plain_training(1) };
        let job = Job { validation: vec![], ..job(&data, 1, training) };
        (places(&job.network.layers()), train(&job).weights)
    };
    let ((places, without), (_, decayed)) = (with(0.0), with(5.0));
    let shrink = (1.0_f64 - 0.02 * 5.0) as f32;
    assert_eq!(places.iter().filter(|(_, bias)| *bias).count(), 9 + 9);
    for (place, bias) in places {
        let (without, decayed) = (floats(&without)[place], floats(&decayed)[place]);
        assert_eq!(decayed, if bias { without } else { without * shrink }, "{place} {bias}");
    }
    // Larger than one over the rate, it takes all.
    let (places, gone) = with(1e6);
    assert!(places.iter().all(|(place, bias)| *bias || floats(&gone)[*place] == 0.0));
}

#[test]
fn padding_stays_zero() {
    let data = bimodal(64, 12);
    for job in several(&data) {
        let real: std::collections::HashSet<usize> =
            places(&job.network.layers()).into_iter().map(|(place, _)| place).collect();
        assert_eq!(real.len(), job.network.parameters());
        let trained = train(&job);
        for (place, weight) in floats(&trained.weights).iter().enumerate() {
            assert!(real.contains(&place) || *weight == 0.0, "{place} {weight}");
        }
    }
}

#[test]
fn dropout_changes_training_alone() {
    let data = bimodal(100, 13);
    let with = |dropout: f64| {
        let job = job(&data, 1, Training { dropout, ..plain_training(5) });
        let trained = train(&job);
        (job, trained)
    };
    let ((_, none), (job, half), (_, again)) = (with(0.0), with(0.5), with(0.5));
    assert_ne!(bits(&none.weights), bits(&half.weights));
    assert_eq!(bits(&half.weights), bits(&again.weights));
    assert_eq!(mixtures(&job, &half.weights, Isa::best()), mixtures(&job, &half.weights, Isa::best()));
}

#[test]
fn dropout_keeps_the_expected_sum() {
    // Without a hidden layer there is nothing to switch off.
    let data = bimodal(100, 13);
    let with = |dropout: f64, hidden: &[usize]| {
        let mut job = job(&data, 1, Training { dropout, batch: 1000, ..plain_training(1) });
        job.network.hidden = hidden.to_vec();
        train(&job)
    };
    assert_eq!(bits(&with(0.0, &[]).weights), bits(&with(0.5, &[]).weights));
    // A unit that is left counts for those that are not: a wide layer sums to about the same.
    let (whole, half) = (with(0.0, &[2000]), with(0.5, &[2000]));
    let (whole, half) = (whole.history.epochs[0].loss.unwrap(), half.history.epochs[0].loss.unwrap());
    assert!(whole != half && (whole - half).abs() < 0.15 * whole.abs(), "{whole} {half}");
}

#[test]
fn three_steps_of_adam_by_hand() {
    // One component without inputs: three biases, of which the logit never moves. y = 0.8 in one row, log score.
    let mut data = Dataset::new(0);
    data.push(&[], 0.8);
    let job = |epochs: usize| Job {
        network: Network { inputs: 0, stem: None, hidden: vec![], activation: Activation::Relu, outputs: 3 },
        objective: Objective::hybrid(head(1), 1.0),
        data: &data,
        train: vec![0],
        validation: vec![],
        training: Training { learning_rate: 0.1, ..plain_training(epochs) },
        seed: 4,
    };
    let biases = |weights: &[Chunk]| [0, 1, 2].map(|at| f64::from(weights[at].0[0]));
    let start = biases(&initial_weights(&job(1)));
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
        let found = biases(&train(&job(step as usize)).weights);
        assert_eq!(found[0], start[0]);
        assert!((found[1] - w[0]).abs() < 2e-6 && (found[2] - w[1]).abs() < 2e-6, "step {step}: {found:?} {w:?}");
        if step == 1 {
            // The first step is the rate, whatever the size of the gradient.
            assert!(((found[1] - start[1]).abs() - 0.1).abs() < 1e-6);
        }
    }
}

#[test]
fn averaging_by_hand() {
    // average_t = keep average_(t-1) + (1 - keep) weights_t with keep = min(averaging, t / (t + 10)), from the initial weights.
    let data = bimodal(50, 14);
    let with = |epochs: usize, averaging: f64| {
        let training = Training { batch: 1000, averaging, ..plain_training(epochs) };
        train(&Job { validation: vec![], ..job(&data, 1, training) }).weights
    };
    let mut average: Vec<f64> =
        floats(&initial_weights(&job(&data, 1, plain_training(1)))).iter().map(|w| f64::from(*w)).collect();
    for step in 1..=6 {
        let keep = f64::min(0.2, step as f64 / (step as f64 + 10.0));
        let weights = with(step, 0.0);
        for (average, weight) in average.iter_mut().zip(floats(&weights)) {
            *average = keep * *average + (1.0 - keep) * f64::from(*weight);
        }
        for (found, expected) in floats(&with(step, 0.2)).iter().zip(&average) {
            assert!((f64::from(*found) - expected).abs() < 1e-6, "step {step}: {found} {expected}");
        }
    }
}

#[test]
fn a_bimodal_target_is_learnt() {
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
        let base = job(&data, 1, Training { epochs: 60, ..Training::default() });
        let job = Job { objective: Objective::hybrid(head(3), eta), ..base };
        let trained = train(&job);
        let nll = mean_score(&job, &trained.weights, &rows, log::value);
        let crps = mean_score(&job, &trained.weights, &rows, energy::value);
        assert!(nll < of_constant(log::value) - 0.8, "eta {eta}: {nll}");
        assert!(crps < 0.87 * of_constant(energy::value), "eta {eta}: {crps} {}", of_constant(energy::value));
        // Both modes are seen: mass around each of them, little between.
        let mixtures = mixtures(&job, &trained.weights, Isa::best());
        for row in rows.iter().take(20).map(|row| *row as usize) {
            let x = f64::from(data.x()[row * data.stride()]);
            let (low, high) = ((2.0 * x).sin() - 1.5, 1.2 + 0.5 * x);
            let mixture = mixtures.row(row);
            let (below, above) = (mixture.cdf(low + 0.5), mixture.survival(high - 0.5));
            assert!((below - 0.4).abs() < 0.15 && (above - 0.6).abs() < 0.15, "eta {eta}, x {x}: {below} {above}");
        }
    }
}

#[test]
fn adversarial_inputs_raise_the_loss_a_little() {
    let data = bimodal(90, 6);
    // All rows in one step: the loss of the first epoch is that of the initial weights.
    let first = |adversarial: f64| {
        let trained = train(&job(&data, 3, Training { batch: 1000, adversarial, ..plain_training(2) }));
        (trained.history.epochs[0].loss.unwrap(), bits(&trained.weights))
    };
    let (plain, weights) = first(0.0);
    let (moved, other) = first(0.01);
    let (further, _) = first(0.1);
    assert!(plain < moved && moved < further && further < plain + 1.0, "{plain} {moved} {further}");
    assert_ne!(weights, other);
    assert_eq!(first(0.01).1, other);
}
