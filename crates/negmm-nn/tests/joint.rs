//! Networks of several targets: lanes against the f64 reference, and training.

use std::sync::Arc;

use negmm_dist::joint::{directions, draw_directions};
use negmm_dist::math::counter::Counter;
use negmm_dist::math::lanes::{Chunk, Isa, Kernel, Lanes, WIDTH};
use negmm_dist::math::normal;
use negmm_dist::math::rng::Rng;
use negmm_dist::score::joint;
use negmm_nn::dataset::Dataset;
use negmm_nn::loss::joint::JointScratch;
use negmm_nn::net::{Activation, JointHead, JointPanel, Network, PANEL, PANEL_CHUNKS};
use negmm_nn::train::{
    Callbacks, CpuEngine, Job, NetworkJob, Objective, Selection, Trained, TrainedNetwork, TrainingConfig, train,
};

/// The loss of a panel and its derivatives with respect to the raw outputs.
struct Loss<'a> {
    head: JointHead,
    raw: &'a [Chunk],
    targets: &'a [f32],
    eta: f32,
}

impl Kernel for Loss<'_> {
    type Output = (f32, Vec<Chunk>, (f32, f32));

    #[inline(always)]
    fn run<L: Lanes>(self) -> Self::Output {
        let Self { head, raw, targets, eta } = self;
        let (mut panel, mut scratch) = (JointPanel::new(&head), JointScratch::new(head));
        scratch.draw(&mut Counter::new(3, 4).step(5));
        scratch.read(targets, &std::array::from_fn(|row| row as u32));
        head.forward::<L>(raw, &mut panel);
        let weights = [Chunk([1.0; WIDTH]); PANEL_CHUNKS];
        let loss = scratch.loss::<L>(&panel, &weights, eta).sum();
        let mut deltas = vec![Chunk::ZERO; raw.len()];
        head.backward::<L>(&panel, scratch.deltas(), &mut deltas);
        let (log, energy) = scratch.scores::<L>(&panel, &weights);
        (loss, deltas, (log.sum(), energy.sum()))
    }
}

fn assert_lanes(head: JointHead, eta: f32, unknown: bool) {
    let case = format!("{head:?}, eta {eta}, unknown {unknown}");
    let (d, outputs) = (head.targets, head.outputs());
    let mut rng = Rng::new(11, 0);
    let mut draw = move || normal::quantile(rng.uniform());
    let rows: Vec<f64> = (0..PANEL * outputs).map(|_| f64::from((0.6 * draw()) as f32)).collect();
    let mut targets: Vec<f32> = (0..PANEL * d).map(|_| draw() as f32).collect();
    if unknown {
        targets.iter_mut().enumerate().filter(|(at, _)| at % 5 == 2).for_each(|(_, y)| *y = f32::NAN);
    }
    let mut raw = vec![Chunk::ZERO; outputs * PANEL_CHUNKS];
    for row in 0..PANEL {
        for output in 0..outputs {
            raw[output * PANEL_CHUNKS + row / WIDTH].0[row % WIDTH] = rows[row * outputs + output] as f32;
        }
    }
    let found = Isa::best().run(Loss { head, raw: &raw, targets: &targets, eta });
    for isa in Isa::ALL {
        assert_eq!(found, isa.run(Loss { head, raw: &raw, targets: &targets, eta }), "{case}, {isa:?}");
    }
    let along = draw_directions(d, &mut Counter::new(3, 4).step(5));
    let score = |row: usize, raw: &[f64], eta: f64, along: &[f64]| {
        let y: Vec<f64> = targets[row * d..][..d].iter().map(|y| f64::from(*y)).collect();
        joint::value(head.mixtures(raw).unwrap().row(0), &y, eta, along)
    };
    let whole = |eta: f64, along: &[f64]| {
        (0..PANEL).map(|row| score(row, &rows[row * outputs..][..outputs], eta, along)).sum::<f64>()
    };
    let close = |found: f32, expected: f64| (f64::from(found) - expected).abs() < 2e-5 * (1.0 + expected.abs());
    let expected = whole(f64::from(eta), &along);
    assert!(close(found.0, expected), "{case}: {} {expected}", found.0);
    let validation = directions(d, 8);
    let (log, energy) = (whole(1.0, &validation), whole(0.0, &validation));
    assert!(close(found.2.0, log) && close(found.2.1, energy), "{case}: {:?} {log} {energy}", found.2);
    for row in [0, 7, 31] {
        let own = &rows[row * outputs..][..outputs];
        for output in 0..outputs {
            let moved = |by: f64| {
                let mut moved = own.to_vec();
                moved[output] += by;
                score(row, &moved, f64::from(eta), &along)
            };
            let difference = (moved(1e-5) - moved(-1e-5)) / 2e-5;
            let delta = f64::from(found.1[output * PANEL_CHUNKS + row / WIDTH].0[row % WIDTH]);
            assert!(
                (delta - difference).abs() < 3e-5 * (1.0 + difference.abs()),
                "{case}, {row} {output}: {delta} {difference}"
            );
        }
    }
}

#[test]
fn lanes_agree_with_the_reference_and_its_finite_differences() {
    let full = |targets, components| JointHead { targets, components, rank: None, sd_floor: 1e-3 };
    for eta in [0.0, 0.1, 1.0] {
        for (targets, components) in [(1, 3), (2, 4), (3, 2), (6, 3)] {
            assert_lanes(full(targets, components), eta, false);
            assert_lanes(full(targets, components), eta, true);
        }
        let low_rank = JointHead { rank: Some(2), ..full(9, 2) };
        assert_lanes(low_rank, eta, false);
        assert_lanes(low_rank, eta, true);
    }
}

/// Two targets around (x, -x), correlated.
fn job(rows: usize) -> NetworkJob {
    let mut rng = Rng::new(2, 0);
    let mut draw = move || normal::quantile(rng.uniform());
    let mut data = Dataset::new(1);
    let mut targets = Vec::new();
    for _ in 0..rows {
        let (x, common) = (draw() as f32, draw() as f32);
        data.push(&[x], 0.0);
        targets.extend([x + 0.3 * common, -x + 0.3 * common + 0.05 * draw() as f32]);
    }
    let data = Arc::new(data.with_joint_targets(2, targets));
    let head = JointHead { targets: 2, components: 3, rank: None, sd_floor: 1e-3 };
    let config = TrainingConfig::default().epochs(30).select(Selection::Crps);
    NetworkJob {
        network: Network {
            inputs: 1,
            stem: None,
            hidden: vec![16],
            residual: false,
            activation: Activation::Silu,
            outputs: head.outputs(),
        },
        objective: Objective::Joint { head, eta: 0.1 },
        data,
        plan: config.plan(rows - 64),
        train: (0..rows as u32 - 64).collect(),
        validation: (rows as u32 - 64..rows as u32).collect(),
        seed: 5,
        initial: None,
    }
}

fn trained(job: &NetworkJob, threads: usize) -> TrainedNetwork {
    match train(&CpuEngine::new(threads), &[Job::from(job.clone())], &Callbacks::nothing()).remove(0).unwrap() {
        Trained::Network(network) => network,
        _ => unreachable!("a network was trained"),
    }
}

#[test]
fn training_improves_both_scores_with_the_same_bits_on_any_number_of_threads() {
    let job = job(512);
    let one = trained(&job, 1);
    let scores = |epoch: usize| one.history.epochs[epoch].validation.unwrap();
    let (first, best) = (scores(0), scores(one.history.best_epoch));
    assert!(best.crps.unwrap() < 0.8 * first.crps.unwrap(), "{first:?} {best:?}");
    assert!(best.nll.unwrap() < first.nll.unwrap() - 0.5, "{first:?} {best:?}");
    let three = trained(&job, 3);
    assert_eq!(one.parameters.numbers(), three.parameters.numbers());
    // Through bytes, as on another machine.
    let data = Arc::new(Dataset::from_bytes(&job.data.to_bytes().unwrap()).unwrap());
    let sent = Job::from_bytes(&Job::from(job).to_bytes().unwrap(), &data).unwrap();
    let Job::Network(sent) = sent else { unreachable!("a network was sent") };
    assert_eq!(one.parameters.numbers(), trained(&sent, 2).parameters.numbers());
}

#[test]
fn a_job_without_its_targets_is_refused() {
    let mut job = job(128);
    job.data = Arc::new(Dataset::from_parts(1, job.data.x().to_vec(), job.data.y().to_vec()));
    assert!(Job::from(job).check().is_err());
}
