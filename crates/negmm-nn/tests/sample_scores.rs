//! Scores of samples: the f64 reference against pairs and differences, the f32 lanes against the reference on every instruction set;
//! the Sinkhorn divergence against geomloss (bench/peers/sinkhorn_reference.py).

use negmm_dist::Rng;
use negmm_dist::math::counter::Counter;
use negmm_dist::math::lanes::{Chunk, Isa, Kernel, Lanes, WIDTH, floats, floats_mut};
use negmm_dist::score::sample_energy;
use negmm_dist::score::sinkhorn;
use negmm_nn::loss::sample_energy::SampleScratch;
use negmm_nn::loss::sinkhorn::{Prior, Sinkhorn, SinkhornScratch};
use negmm_nn::net::{PANEL, PANEL_CHUNKS};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::Value;

/// What a panel of rows is made of.
#[derive(Clone, Copy, Debug)]
enum SampleCase {
    /// Nothing special.
    Ordinary,
    /// Whole numbers: many samples coincide with each other and with y.
    Ties,
    /// All samples of a row are equal, in every second row to y.
    Points,
    /// A large common offset.
    FarFromZero,
    /// y far outside.
    FarTarget,
}

const CASES: [SampleCase; 5] =
    [SampleCase::Ordinary, SampleCase::Ties, SampleCase::Points, SampleCase::FarFromZero, SampleCase::FarTarget];
const SAMPLES: [usize; 9] = [1, 2, 3, 5, 16, 33, 50, 200, 300];

/// Samples × panel, and a target and a factor for each row.
struct Panel {
    outputs: Vec<Chunk>,
    y: [Chunk; PANEL_CHUNKS],
    factors: [Chunk; PANEL_CHUNKS],
}

impl Panel {
    fn new(kind: SampleCase, samples: usize) -> Self {
        let mut rng = Rng::new(samples as u64, kind as u64);
        let mut outputs = vec![Chunk::ZERO; samples * PANEL_CHUNKS];
        let (mut y, mut factors) = ([Chunk::ZERO; PANEL_CHUNKS], [Chunk::ZERO; PANEL_CHUNKS]);
        for row in 0..PANEL {
            let mut between = |low: f64, high: f64| (low + (high - low) * rng.uniform()) as f32;
            let (centre, spread) = (between(-1.0, 1.0), between(0.01, 2.0));
            for sample in 0..samples {
                floats_mut(&mut outputs)[sample * PANEL + row] = match kind {
                    SampleCase::Ordinary | SampleCase::FarTarget => centre + spread * between(-1.0, 1.0),
                    SampleCase::Ties => between(-3.0, 3.0).round(),
                    SampleCase::Points => centre,
                    SampleCase::FarFromZero => 1000.0 + spread * between(-1.0, 1.0),
                };
            }
            floats_mut(&mut y)[row] = match kind {
                SampleCase::Ordinary => between(-2.0, 2.0),
                SampleCase::Ties => between(-4.0, 4.0).round(),
                SampleCase::Points => centre + if row % 2 == 0 { 0.0 } else { between(-1.0, 1.0) },
                SampleCase::FarFromZero => 1000.0 + between(-1.0, 1.0),
                SampleCase::FarTarget => between(-300.0, 300.0),
            };
            floats_mut(&mut factors)[row] = if row == 7 { 0.0 } else { between(0.01, 2.0) };
        }
        Self { outputs, y, factors }
    }

    fn row(list: &[Chunk], row: usize) -> Vec<f64> {
        floats(list).iter().skip(row).step_by(PANEL).map(|x| f64::from(*x)).collect()
    }
}

fn isas() -> impl Iterator<Item = Isa> {
    Isa::ALL.into_iter().filter(|isa| isa.available())
}

/// Scores of each row, and deltas.
type Evaluated = ([Chunk; PANEL_CHUNKS], Vec<Chunk>);

fn bits((scores, deltas): &Evaluated) -> Vec<u32> {
    floats(scores).iter().chain(floats(deltas)).map(|x| x.to_bits()).collect()
}

struct Energy<'a>(&'a Panel);

impl Kernel for Energy<'_> {
    type Output = Evaluated;

    #[inline(always)]
    fn run<L: Lanes>(self) -> Evaluated {
        let Panel { outputs, y, factors } = self.0;
        let mut scratch = SampleScratch::new(outputs.len() / PANEL_CHUNKS);
        let mut deltas = vec![Chunk([f32::NAN; WIDTH]); outputs.len()];
        let mut scores = [Chunk::ZERO; PANEL_CHUNKS];
        for lane in 0..PANEL_CHUNKS {
            scratch.score::<L>(outputs, &y[lane], lane).store(&mut scores[lane]);
            scratch.gradient::<L>(lane, L::load(&factors[lane]), &mut deltas);
        }
        (scores, deltas)
    }
}

#[test]
fn energy_in_lanes_agrees_with_the_reference() {
    for kind in CASES {
        for samples in SAMPLES {
            let panel = Panel::new(kind, samples);
            let evaluated = Isa::best().run(Energy(&panel));
            for row in 0..PANEL {
                let case = format!("{kind:?}, {samples} samples, row {row}");
                let z = Panel::row(&panel.outputs, row);
                let [y, factor, score] =
                    [&panel.y[..], &panel.factors, &evaluated.0].map(|list| f64::from(floats(list)[row]));
                let (expected, distance) =
                    (sample_energy::value(&z, y), z.iter().map(|z| (z - y).abs()).sum::<f64>() / samples as f64);
                assert!((score - expected).abs() <= 2e-6 * distance, "{case}: {score} {expected}");
                for (delta, slope) in Panel::row(&evaluated.1, row).iter().zip(sample_energy::gradient(&z, y)) {
                    let expected = factor * slope;
                    assert!((delta - expected).abs() <= 4e-7 * factor / samples as f64, "{case}: {delta} {expected}");
                }
            }
            for isa in isas() {
                assert_eq!(bits(&isa.run(Energy(&panel))), bits(&evaluated), "{kind:?} {samples} {isa:?}");
            }
        }
    }
}

#[test]
fn nan_outputs_have_a_nan_score() {
    let mut panel = Panel::new(SampleCase::Ordinary, 50);
    floats_mut(&mut panel.outputs)[13 * PANEL + 3] = f32::NAN;
    let (scores, deltas) = Isa::best().run(Energy(&panel));
    assert!(floats(&scores)[3].is_nan() && floats(&scores)[4].is_finite());
    // Every element was written: lanes of other rows are untouched.
    assert!((0..PANEL).filter(|row| *row != 3).all(|row| Panel::row(&deltas, row).iter().all(|d| d.is_finite())));
    let regularised = Isa::best().run(Regularise { prior: Prior::Uniform, panel: &panel, draws: None });
    assert!(floats(&regularised.0)[3].is_nan() && floats(&regularised.0)[4].is_finite());
}

#[test]
fn energy_gradient_is_that_of_the_value() {
    const STEP: f64 = 1e-6;
    let z: Vec<f64> = (0..20).map(|i| f64::from((i * 7) % 20) * 0.31 - 2.0).collect();
    for (sample, slope) in sample_energy::gradient(&z, 0.123).into_iter().enumerate() {
        let at = |step: f64| {
            let mut z = z.clone();
            z[sample] += step;
            sample_energy::value_by_pairs(&z, 0.123)
        };
        assert!((slope - (at(STEP) - at(-STEP)) / (2.0 * STEP)).abs() < 1e-9);
    }
}

proptest! {
    #[test]
    fn energy_by_rank_is_energy_by_pairs(z in vec(-5i32..5, 1..30), y in -6i32..6, unit in 0.1..3.0f64) {
        // Whole multiples of a unit: ties between samples and with y.
        let z: Vec<f64> = z.into_iter().map(|z| f64::from(z) * unit).collect();
        let y = f64::from(y) * unit;
        let (value, pairs) = (sample_energy::value(&z, y), sample_energy::value_by_pairs(&z, y));
        prop_assert!((value - pairs).abs() < 1e-12 && value > -1e-12);
        let count = z.len() as f64;
        let sign = |x: f64| if x == 0.0 { 0.0 } else { x.signum() };
        for (at, slope) in z.iter().zip(sample_energy::gradient(&z, y)) {
            let pairs: f64 = z.iter().map(|other| sign(at - other)).sum();
            prop_assert!((slope - sign(at - y) / count + pairs / (count * count)).abs() < 1e-14);
        }
    }

    #[test]
    fn energy_moves_and_stretches_with_its_samples(
        z in vec(-5.0..5.0f64, 1..30), y in -6.0..6.0f64, shift in -9.0..9.0f64, scale in 0.1..9.0f64,
    ) {
        let moved: Vec<f64> = z.iter().map(|z| z * scale + shift).collect();
        let value = sample_energy::value(&moved, y * scale + shift);
        prop_assert!((value - scale * sample_energy::value(&z, y)).abs() < 1e-12 * (1.0 + scale * 20.0));
    }
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

fn reference(list: &str) -> Vec<Value> {
    let text = include_str!("reference/sinkhorn.json");
    serde_json::from_str::<Value>(text).unwrap()[list].as_array().unwrap().clone()
}

#[test]
fn sinkhorn_agrees_with_geomloss() {
    for case in reference("clouds") {
        let (x, y) = (numbers(&case["x"]), numbers(&case["y"]));
        let (value, expected) = (sinkhorn::value(&x, &y), case["value"].as_f64().unwrap());
        assert!((value - expected).abs() < 1e-9, "{value} {expected}");
        for (slope, expected) in sinkhorn::gradient(&x, &y).iter().zip(numbers(&case["gradient"])) {
            assert!((slope - expected).abs() < 1e-9, "{slope} {expected}");
        }
    }
}

/// Weight 1, draws as given or from a stream.
struct Regularise<'a> {
    prior: Prior,
    panel: &'a Panel,
    draws: Option<&'a [f64]>,
}

impl Kernel for Regularise<'_> {
    type Output = Evaluated;

    /// The scores one chunk of the panel at a time, for the sake of looking at each row.
    #[inline(always)]
    fn run<L: Lanes>(self) -> Evaluated {
        let Panel { outputs, factors, .. } = self.panel;
        let sinkhorn = Sinkhorn { prior: self.prior, weight: 1.0 };
        let mut scratch = SinkhornScratch::new(outputs.len() / PANEL_CHUNKS);
        match self.draws {
            Some(draws) => scratch.set_draws(draws),
            None => sinkhorn.draw(&mut Counter::new(1, 2).step(0), &mut scratch),
        }
        let mut scores = [Chunk::ZERO; PANEL_CHUNKS];
        let mut deltas = vec![Chunk::ZERO; outputs.len()];
        for lane in 0..PANEL_CHUNKS {
            let mut only = [Chunk::ZERO; PANEL_CHUNKS];
            only[lane] = Chunk([1.0; WIDTH]);
            deltas.fill(Chunk::ZERO);
            sinkhorn.add::<L>(outputs, &only, &mut deltas, &mut scratch).store(&mut scores[lane]);
        }
        deltas.fill(Chunk::ZERO);
        sinkhorn.add::<L>(outputs, factors, &mut deltas, &mut scratch);
        (scores, deltas)
    }
}

#[test]
fn regulariser_in_lanes_agrees_with_geomloss() {
    for case in reference("scaled") {
        let (z, mut draws) = (numbers(&case["z"]), numbers(&case["y"]));
        let prior = if case["prior"] == "uniform" { Prior::Uniform } else { Prior::Normal };
        if prior == Prior::Uniform {
            draws.iter_mut().for_each(|draw| *draw -= 0.5);
        }
        // All rows the same, so that the diameter is that of the case.
        let mut panel = Panel::new(SampleCase::Ordinary, z.len());
        for (chunk, z) in panel.outputs.chunks_exact_mut(PANEL_CHUNKS).zip(&z) {
            chunk.fill(Chunk([*z as f32; WIDTH]));
        }
        panel.factors = [Chunk([1.0; WIDTH]); PANEL_CHUNKS];
        let evaluated = Isa::best().run(Regularise { prior, panel: &panel, draws: Some(&draws) });
        let expected = case["value"].as_f64().unwrap();
        let value = f64::from(floats(&evaluated.0)[5]);
        assert!((value - expected).abs() < 1e-5, "{} {value} {expected}", case["prior"]);
        let gradient = numbers(&case["gradient"]);
        let largest = gradient.iter().fold(0.0f64, |largest, slope| largest.max(slope.abs()));
        for (slope, expected) in Panel::row(&evaluated.1, 5).iter().zip(gradient) {
            assert!((slope - expected).abs() < 1e-3 * largest, "{} {slope} {expected} {largest}", case["prior"]);
        }
    }
}

/// The scaled samples of a row in f64, and what they were divided by; `None` where they have no shape.
fn scaled(prior: Prior, z: &[f64]) -> Option<(Vec<f64>, f64)> {
    let count = z.len() as f64;
    let mean = z.iter().sum::<f64>() / count;
    let (centre, range) = match prior {
        Prior::Uniform => {
            let (low, high) = z.iter().fold((f64::MAX, f64::MIN), |(low, high), z| (low.min(*z), high.max(*z)));
            (0.5 * (low + high), high - low)
        }
        Prior::Normal => {
            let squares: f64 = z.iter().map(|z| (z - mean) * (z - mean)).sum();
            (mean, (squares / (count - 1.0).max(1.0) + 1e-8).sqrt())
        }
    };
    (range > 1e-6).then(|| (z.iter().map(|z| (z - centre) / range).collect(), range))
}

#[test]
fn regulariser_in_lanes_agrees_with_the_reference_on_every_instruction_set() {
    for prior in [Prior::Uniform, Prior::Normal] {
        for kind in [SampleCase::Ordinary, SampleCase::Ties, SampleCase::Points] {
            for samples in [1, 2, 5, 21, 50] {
                let panel = Panel::new(kind, samples);
                let case = format!("{prior:?}, {kind:?}, {samples} samples");
                let evaluated = Isa::best().run(Regularise { prior, panel: &panel, draws: None });
                let mut scratch = SinkhornScratch::new(samples);
                Sinkhorn { prior, weight: 1.0 }.draw(&mut Counter::new(1, 2).step(0), &mut scratch);
                let draws: Vec<f64> = scratch.draws().map(f64::from).collect();
                assert!(draws.is_sorted());
                let rows: Vec<_> = (0..PANEL).map(|row| scaled(prior, &Panel::row(&panel.outputs, row))).collect();
                let all = || rows.iter().flatten().flat_map(|(x, _)| x).chain(&draws);
                let diameter = all().fold(f64::MIN, |a, b| a.max(*b)) - all().fold(f64::MAX, |a, b| a.min(*b));
                for (row, x) in rows.iter().enumerate() {
                    let deltas = Panel::row(&evaluated.1, row);
                    let score = f64::from(floats(&evaluated.0)[row]);
                    let Some((x, range)) = x else {
                        assert!(score.is_finite() && deltas.iter().all(|delta| *delta == 0.0), "{case}");
                        continue;
                    };
                    // The reference takes the diameter of its own two clouds.
                    let own = || x.iter().chain(&draws);
                    let own_diameter = own().fold(f64::MIN, |a, b| a.max(*b)) - own().fold(f64::MAX, |a, b| a.min(*b));
                    if (own_diameter - diameter).abs() < 1e-6 {
                        let expected = sinkhorn::value(x, &draws);
                        assert!((score - expected).abs() < 1e-5, "{case}: {score} {expected}");
                    }
                    // The divergence does not see where the samples lie.
                    let size: f64 = deltas.iter().map(|delta| delta.abs()).sum();
                    assert!(
                        size.is_finite() && deltas.iter().sum::<f64>().abs() <= 1e-4 * size + 1e-6 / range,
                        "{case}"
                    );
                }
                for isa in isas() {
                    let other = isa.run(Regularise { prior, panel: &panel, draws: None });
                    assert_eq!(bits(&other), bits(&evaluated), "{case} {isa:?}");
                }
            }
        }
    }
}
