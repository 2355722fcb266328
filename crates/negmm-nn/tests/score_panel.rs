//! Losses (f32, one row per lane) against the f64 reference, with their heads, in easy and difficult cases, on every instruction set.

use libm::{exp, log, log1p, tanh};
use negmm_dist::Distribution;
use negmm_dist::Mixture;
use negmm_dist::Rng;
use negmm_dist::math::lanes::{Chunk, Isa, Kernel, Lanes, WIDTH, floats, floats_mut};
use negmm_dist::score::{self, logit_gradient};
use negmm_nn::loss::{Scratch, Wanted};
use negmm_nn::net::MixtureHead;
use negmm_nn::net::{MixtureOutputs, MixturePanel, PANEL, PANEL_CHUNKS};

const COMPONENTS: [usize; 5] = [1, 2, 5, 10, 50];
const ETAS: [f32; 4] = [0.0, 0.3, 0.5, 1.0];
const FLOOR: f32 = 1e-3;

/// Allowed error of a sum of terms, relative to the terms.
const RELATIVE: f64 = 3e-6;
/// Relative error of a squared distance in sds: four roundings.
const SQUARE: f64 = 5e-7;
/// A weight or a density below e^-27 counts as nothing.
const NOTHING: f64 = 4e-12;

fn open_head(components: usize) -> MixtureHead {
    MixtureHead::new(components, FLOOR)
}

/// What a panel of rows is made of.
#[derive(Clone, Copy, Debug, PartialEq)]
enum MixtureCase {
    /// Nothing special.
    Ordinary,
    /// All but the first component have logits 40 below it; sometimes y lies at a dead one.
    Dead,
    /// Means far apart, narrow components.
    FarApart,
    /// Every sd at its floor, means and y within a few sds of each other.
    AtTheFloor,
    /// Components that are all the same.
    Coinciding,
    /// y a hundred sds away and more.
    FarTarget,
    /// sds from the floor to a hundred, in one mixture.
    Mixed,
}

const CASES: [MixtureCase; 7] = [
    MixtureCase::Ordinary,
    MixtureCase::Dead,
    MixtureCase::FarApart,
    MixtureCase::AtTheFloor,
    MixtureCase::Coinciding,
    MixtureCase::FarTarget,
    MixtureCase::Mixed,
];

/// Raw outputs (3 K × panel) and a target for each row.
struct Panel {
    raw: Vec<Chunk>,
    y: [Chunk; PANEL_CHUNKS],
}

impl Panel {
    fn new(kind: MixtureCase, components: usize, seed: u64) -> Self {
        let mut rng = Rng::new(seed, kind as u64);
        let mut raw = vec![Chunk::ZERO; 3 * components * PANEL_CHUNKS];
        let mut y = [Chunk::ZERO; PANEL_CHUNKS];
        let numbers = floats_mut(&mut raw);
        for row in 0..PANEL {
            let mut between = |low: f64, high: f64| (low + (high - low) * rng.uniform()) as f32;
            let shared = (between(-1.0, 1.0), between(-3.0, 1.0));
            for k in 0..components {
                let mut parameters = [between(-3.0, 3.0), between(-2.0, 2.0), between(-4.0, 2.0)];
                match kind {
                    MixtureCase::Ordinary | MixtureCase::FarTarget => {}
                    MixtureCase::Dead => parameters[0] = if k == 0 { 1.0 } else { -39.0 + between(0.0, 0.5) },
                    MixtureCase::FarApart => parameters = [parameters[0], between(-200.0, 200.0), between(-3.0, 0.0)],
                    MixtureCase::AtTheFloor => parameters = [parameters[0], 0.7 + between(-2e-3, 2e-3), -30.0],
                    MixtureCase::Coinciding => parameters = [parameters[0], shared.0, shared.1],
                    MixtureCase::Mixed => parameters[2] = [-30.0, -5.0, 0.0, 10.0, 100.0][k % 5] + between(-0.3, 0.3),
                }
                for (part, value) in parameters.into_iter().enumerate() {
                    numbers[(part * components + k) * PANEL + row] = value;
                }
            }
            let mean = numbers[(components + row % components) * PANEL + row];
            floats_mut(&mut y)[row] = match kind {
                MixtureCase::Ordinary | MixtureCase::Coinciding | MixtureCase::Mixed => between(-3.0, 3.0),
                MixtureCase::Dead | MixtureCase::FarApart => mean + between(-0.2, 0.2),
                MixtureCase::AtTheFloor => 0.7 + between(-4e-3, 4e-3),
                MixtureCase::FarTarget => [-50.0, 50.0, 300.0, -1e5][row % 4] + between(-1.0, 1.0),
            };
        }
        Self { raw, y }
    }

    fn raw_row(&self, row: usize) -> Vec<f64> {
        floats(&self.raw).iter().skip(row).step_by(PANEL).map(|x| f64::from(*x)).collect()
    }

    fn y_row(&self, row: usize) -> f64 {
        f64::from(floats(&self.y)[row])
    }
}

/// What the lanes say about a panel.
#[derive(Clone, Debug)]
struct Evaluated {
    panel: MixturePanel,
    scores: [Chunk; PANEL_CHUNKS],
    /// With respect to logits, means, sds.
    gradient: Vec<Chunk>,
    /// With respect to the raw outputs.
    raw_gradient: Vec<Chunk>,
}

impl Evaluated {
    fn of(isa: Isa, head: MixtureHead, panel: &Panel, eta: f32) -> Self {
        isa.run(Evaluate { head, panel, eta })
    }

    /// The numbers of one row in a list of things × panel.
    fn row(list: &[Chunk], row: usize) -> Vec<f64> {
        floats(list).iter().skip(row).step_by(PANEL).map(|x| f64::from(*x)).collect()
    }

    fn bits(&self) -> Vec<u32> {
        let lists = [&self.scores[..], &self.gradient, &self.raw_gradient, &self.panel.log_weights];
        let parts = [&self.panel.weights[..], &self.panel.means, &self.panel.sds];
        lists.into_iter().chain(parts).flat_map(floats).map(|x| x.to_bits()).collect()
    }
}

/// As training does it: only the scores that eta wants.
struct Evaluate<'a> {
    head: MixtureHead,
    panel: &'a Panel,
    eta: f32,
}

impl Kernel for Evaluate<'_> {
    type Output = Evaluated;

    #[inline(always)]
    fn run<L: Lanes>(self) -> Evaluated {
        let Self { head, panel: Panel { raw, y }, eta } = self;
        let mut panel = MixturePanel::new(head.components);
        let mut scratch = Scratch::new(head.components);
        // What an earlier row left behind must not matter.
        let mut gradient = vec![Chunk([7.0; WIDTH]); raw.len()];
        head.forward::<L>(raw, &mut panel);
        let wanted = Wanted { log: eta > 0.0, energy: eta < 1.0 };
        let mut scores = [Chunk::ZERO; PANEL_CHUNKS];
        for lane in 0..PANEL_CHUNKS {
            let (log_factor, energy_factor) = (L::splat(eta), L::splat(1.0 - eta));
            let (log, energy) = scratch.scores::<L>(&panel, (&y[lane]).into(), lane, wanted);
            (log * log_factor + energy * energy_factor).store(&mut scores[lane]);
            let (log, energy) = (wanted.log.then_some(log_factor), wanted.energy.then_some(energy_factor));
            scratch.gradient::<L>(&panel, lane, log, energy, &mut gradient);
        }
        let mut raw_gradient = vec![Chunk([7.0; WIDTH]); raw.len()];
        head.backward::<L>(&panel, &gradient, &mut raw_gradient);
        Evaluated { panel, scores, gradient, raw_gradient }
    }
}

fn softmax(logits: &[f64]) -> Vec<f64> {
    let largest = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = logits.iter().map(|logit| exp(logit - largest)).sum();
    logits.iter().map(|logit| exp(logit - largest) / sum).collect()
}

/// E|X| of a normal variable.
fn folded(mean: f64, sd: f64) -> f64 {
    let w = mean / sd;
    0.797_884_560_802_865_4 * sd * exp(-0.5 * w * w) + mean * libm::erf(w * std::f64::consts::FRAC_1_SQRT_2)
}

/// Allowed errors of one row: of the score, and of its derivatives with respect to (logits, means, sds).
struct Allowed {
    score: f64,
    gradient: [Vec<f64>; 3],
}

impl Allowed {
    fn new(mixture: Mixture<'_>, y: f64, eta: f64) -> Self {
        let Mixture { weights, means, sds } = mixture;
        let every = 0..weights.len();
        let z = |k: usize| (y - means[k]) / sds[k];
        // Logarithmic score: log weights, squared distances and ln sd go into one sum; posteriors are exponentials of it.
        let log_p = mixture.log_pdf(y);
        let posterior =
            |k: usize| exp(log(weights[k]) - log(sds[k]) - 0.5 * z(k) * z(k) - 0.918_938_533_204_672_8 - log_p);
        let near = every.clone().filter(|k| posterior(*k) > 1e-10).map(|k| z(k) * z(k)).fold(0.0, f64::max);
        let log_terms = |k: usize| 10.0 - log(weights[k]) + log(sds[k]).abs();
        let least = every.clone().filter(|k| posterior(*k) > 1e-10).map(log_terms).fold(0.0, f64::max);
        let of_log = RELATIVE * least + SQUARE * near;
        let of_posterior = |k: usize| {
            (posterior(k) * (RELATIVE * (least + log_terms(k)) + SQUARE * (near + z(k) * z(k)))).min(1.0) + NOTHING
        };
        // Energy score: terms of the sums.
        let pair = |k: usize, l: usize| folded(means[k] - means[l], (sds[k] * sds[k] + sds[l] * sds[l]).sqrt());
        let slope =
            |k: usize| folded(means[k] - y, sds[k]) + every.clone().map(|l| weights[l] * pair(k, l)).sum::<f64>();
        let slopes: Vec<f64> = every.clone().map(slope).collect();
        let of_energy: f64 = RELATIVE * every.clone().map(|k| weights[k] * slopes[k]).sum::<f64>();
        let largest = slopes.iter().copied().fold(0.0, f64::max);
        let (log_share, energy_share) = (eta, 1.0 - eta);
        let mut gradient = [vec![], vec![], vec![]];
        for k in every.clone() {
            let weight = RELATIVE * weights[k] + NOTHING;
            gradient[0].push(
                log_share * (weight + of_posterior(k))
                    + energy_share * (RELATIVE * weights[k] * slopes[k] + weights[k] * of_energy + NOTHING * largest),
            );
            let steep = (z(k).abs() + 1.0) / sds[k];
            gradient[1].push(log_share * steep * (of_posterior(k) + RELATIVE * posterior(k)) + energy_share * weight);
            let steep = (z(k) * z(k) + 1.0) / sds[k];
            gradient[2].push(log_share * steep * (of_posterior(k) + RELATIVE * posterior(k)) + energy_share * weight);
        }
        Self { score: log_share * of_log + energy_share * (of_energy + NOTHING * largest), gradient }
    }
}

#[test]
fn scores_and_gradients_equal_the_reference() {
    for kind in CASES {
        for components in COMPONENTS {
            let panel = Panel::new(kind, components, 11);
            for eta in ETAS {
                let plain = Evaluated::of(Isa::Plain, open_head(components), &panel, eta);
                for isa in Isa::ALL {
                    let same = Evaluated::of(isa, open_head(components), &panel, eta).bits() == plain.bits();
                    assert!(same, "{kind:?}, K {components}, eta {eta}: {isa:?} differs from plain Rust");
                }
                for row in 0..PANEL {
                    compare_row(&format!("{kind:?}, K {components}, eta {eta}, row {row}"), &panel, &plain, row, eta);
                }
            }
        }
    }
}

/// Compares with the reference for the means and sds that the head gave; the weights are those of the logits, in f64.
fn compare_row(case: &str, panel: &Panel, found: &Evaluated, row: usize, eta: f32) {
    let raw = panel.raw_row(row);
    let components = raw.len() / 3;
    let weights = softmax(&raw[..components]);
    let (means, sds) = (Evaluated::row(&found.panel.means, row), Evaluated::row(&found.panel.sds, row));
    let mixture = Mixture { weights: &weights, means: &means, sds: &sds };
    let (y, eta) = (panel.y_row(row), f64::from(eta));
    let allowed = Allowed::new(mixture, y, eta);
    let expected = score::hybrid::value(mixture, y, eta);
    let score = f64::from(floats(&found.scores)[row]);
    assert!(
        (score - expected).abs() <= allowed.score,
        "{case}: score {score} instead of {expected}, {}",
        allowed.score
    );
    let reference = score::hybrid::gradient(mixture, y, eta);
    let logits = logit_gradient(&weights, &reference.weights);
    let gradient = Evaluated::row(&found.gradient, row);
    for (part, expected) in [&logits, &reference.means, &reference.sds].into_iter().enumerate() {
        for k in 0..components {
            let (found, expected, allowed) = (gradient[part * components + k], expected[k], allowed.gradient[part][k]);
            let name = ["logit", "mean", "sd"][part];
            assert!(
                (found - expected).abs() <= allowed,
                "{case}: {name} {k} {found:e} instead of {expected:e}, {allowed:e}"
            );
        }
    }
}

#[test]
fn allowed_errors_are_small_where_rows_are_ordinary() {
    // Guards the comparison above: a tolerance that allows anything tests nothing.
    for kind in [MixtureCase::Ordinary, MixtureCase::Dead, MixtureCase::AtTheFloor, MixtureCase::Coinciding] {
        let panel = Panel::new(kind, 5, 11);
        let found = Evaluated::of(Isa::Plain, open_head(5), &panel, 0.5);
        for row in 0..PANEL {
            let weights = softmax(&panel.raw_row(row)[..5]);
            let (means, sds) = (Evaluated::row(&found.panel.means, row), Evaluated::row(&found.panel.sds, row));
            let mixture = Mixture { weights: &weights, means: &means, sds: &sds };
            let Allowed { score, gradient } = Allowed::new(mixture, panel.y_row(row), 0.5);
            let smallest = sds.iter().copied().fold(f64::INFINITY, f64::min);
            let far = means.iter().zip(&sds).map(|(m, s)| ((panel.y_row(row) - m) / s).abs()).fold(1.0, f64::max);
            let most = 1e-4 + 1e-6 * far * far;
            assert!(score < most, "{kind:?} {score}");
            for (part, steep) in [1.0, far / smallest, far * far / smallest].into_iter().enumerate() {
                assert!(gradient[part].iter().all(|g| *g < most * (1.0 + steep)), "{kind:?} {gradient:?}");
            }
        }
    }
}

#[test]
fn dead_components_have_weight_and_gradient_zero() {
    let panel = Panel::new(MixtureCase::Dead, 5, 3);
    let found = Evaluated::of(Isa::best(), open_head(5), &panel, 0.0);
    for row in 0..PANEL {
        let weights = Evaluated::row(&found.panel.weights, row);
        assert_eq!(weights, [1.0, 0.0, 0.0, 0.0, 0.0]);
        let log_weights = Evaluated::row(&found.panel.log_weights, row);
        let logits = &panel.raw_row(row)[..5];
        for k in 1..5 {
            assert!((log_weights[k] - (logits[k] - logits[0])).abs() < 1e-5, "{log_weights:?} {logits:?}");
        }
        // No gradient, and no denormal number either.
        let gradient = Evaluated::row(&found.gradient, row);
        assert!([1, 2, 3, 4, 6, 7, 8, 9, 11, 12, 13, 14].iter().all(|at| gradient[*at] == 0.0), "{gradient:?}");
    }
}

#[test]
fn no_number_is_denormal() {
    for kind in CASES {
        let panel = Panel::new(kind, 10, 5);
        let found = Evaluated::of(Isa::best(), open_head(10), &panel, 0.5);
        let numbers =
            [&found.gradient, &found.raw_gradient, &found.panel.weights].into_iter().flat_map(|list| floats(list));
        for number in numbers {
            assert!(number.is_finite() && !number.is_subnormal(), "{kind:?} {number:e}");
        }
    }
}

/// The head in f64: (weights, means, sds) of raw outputs.
fn reference_head(head: MixtureHead, raw: &[f64]) -> [Vec<f64>; 3] {
    let k = head.components;
    let softplus = |x: f64| log1p(exp(-x.abs())) + x.max(0.0);
    let bounded = |x: f64, bound: Option<f64>| bound.map_or(x, |bound| bound * tanh(x / bound));
    let floor = f64::from(head.sd_floor);
    let range = head.sd_ceiling.map(|ceiling| f64::from(ceiling) - floor);
    let means = raw[k..2 * k].iter().map(|x| bounded(*x, head.mean_bound.map(f64::from))).collect();
    let sds = raw[2 * k..].iter().map(|x| floor + bounded(softplus(*x), range)).collect();
    [softmax(&raw[..k]), means, sds]
}

const BOUNDS: [(Option<f32>, Option<f32>); 4] =
    [(None, None), (Some(0.4), None), (None, Some(1.5)), (Some(2.0), Some(0.3))];

#[test]
fn head_equals_its_formulas() {
    for kind in CASES {
        for (sd_ceiling, mean_bound) in BOUNDS {
            let head = MixtureHead { sd_ceiling, mean_bound, ..MixtureHead::new(5, FLOOR) };
            let panel = Panel::new(kind, 5, 17);
            let found = Evaluated::of(Isa::best(), head, &panel, 0.5).panel;
            for row in 0..PANEL {
                let expected = reference_head(head, &panel.raw_row(row));
                let lists = [&found.weights, &found.means, &found.sds];
                for (part, list) in lists.into_iter().enumerate() {
                    for (found, expected) in Evaluated::row(list, row).into_iter().zip(&expected[part]) {
                        let allowed = 1e-6 * expected.abs() + if part == 0 { NOTHING } else { 0.0 };
                        assert!((found - expected).abs() <= allowed, "{kind:?} {part}: {found} instead of {expected}");
                    }
                }
                for mean in Evaluated::row(&found.means, row) {
                    assert!(mean_bound.is_none_or(|bound| mean.abs() <= f64::from(bound)));
                }
                for sd in Evaluated::row(&found.sds, row) {
                    assert!(sd >= f64::from(FLOOR) && sd_ceiling.is_none_or(|most| sd <= 1.000_001 * f64::from(most)));
                }
            }
        }
    }
}

#[test]
fn raw_gradients_are_central_differences_through_head_and_score() {
    const STEP: f64 = 1e-5;
    for components in [1, 2, 5] {
        for (sd_ceiling, mean_bound) in BOUNDS {
            let head = MixtureHead { sd_ceiling, mean_bound, ..MixtureHead::new(components, FLOOR) };
            let panel = Panel::new(MixtureCase::Ordinary, components, 23);
            for eta in ETAS {
                let found = Evaluated::of(Isa::best(), head, &panel, eta);
                for row in 0..PANEL {
                    let (raw, y) = (panel.raw_row(row), panel.y_row(row));
                    let score = |raw: &[f64]| {
                        let [weights, means, sds] = reference_head(head, raw);
                        score::hybrid::value(Mixture { weights: &weights, means: &means, sds: &sds }, y, f64::from(eta))
                    };
                    let gradient = Evaluated::row(&found.raw_gradient, row);
                    let scale = gradient.iter().fold(1.0, |scale, g| g.abs().max(scale));
                    for at in 0..raw.len() {
                        let moved = |step: f64| {
                            let mut moved = raw.clone();
                            moved[at] += step;
                            score(&moved)
                        };
                        let expected = (moved(STEP) - moved(-STEP)) / (2.0 * STEP);
                        assert!(
                            (gradient[at] - expected).abs() <= 2e-5 * scale,
                            "K {components}, eta {eta}, {sd_ceiling:?} {mean_bound:?}, row {row}, raw {at}: {} instead of {expected}",
                            gradient[at]
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn sds_far_below_the_floor_have_no_slope() {
    // d sd / d raw = sigmoid(raw), exactly zero below -27, so that nothing denormal goes back through the network.
    let panel = Panel::new(MixtureCase::AtTheFloor, 2, 1);
    let found = Evaluated::of(Isa::best(), open_head(2), &panel, 0.5);
    for row in 0..PANEL {
        let (before, after) = (Evaluated::row(&found.gradient, row), Evaluated::row(&found.raw_gradient, row));
        assert!((4..6).all(|at| before[at] != 0.0 && after[at] == 0.0));
    }
}
