//! Losses of interval-censored rows (f32, one row per lane) against the f64 reference, on every instruction set.

use negmm_dist::math::lanes::{Chunk, Isa, Kernel, Lanes, WIDTH, floats, floats_mut};
use negmm_dist::math::truncated::TruncatedNormal;
use negmm_dist::score::{self, Gradient, logit_gradient};
use negmm_dist::{Mixture, Rng};
use negmm_nn::loss::{ObservedTargets, Scratch, Wanted};
use negmm_nn::net::{MixturePanel, PANEL, PANEL_CHUNKS};

/// Mixtures (lists of components × panel) and the target interval of each row: its bounds, and its midpoint.
struct Panel {
    logits: Vec<Chunk>,
    mixtures: MixturePanel,
    y: [Chunk; PANEL_CHUNKS],
    ends: [[Chunk; PANEL_CHUNKS]; 2],
}

impl Panel {
    /// Rows of all kinds: values, intervals of very different widths, and such as are open on one side, `far` sds away at most.
    fn new(components: usize, far: f64, seed: u64) -> Self {
        let mut rng = Rng::new(seed, components as u64);
        let mut between = |low: f64, high: f64| low + (high - low) * rng.uniform();
        let list = || vec![Chunk::ZERO; components * PANEL_CHUNKS];
        let (mut logits, mut mixtures) = (list(), MixturePanel::new(components));
        let (mut y, mut ends) = ([Chunk::ZERO; PANEL_CHUNKS], [[Chunk::ZERO; PANEL_CHUNKS]; 2]);
        for row in 0..PANEL {
            for k in 0..components {
                let at = k * PANEL + row;
                floats_mut(&mut logits)[at] = between(-3.0, 3.0) as f32;
                floats_mut(&mut mixtures.means)[at] = between(-1.0, 1.0) as f32;
                floats_mut(&mut mixtures.sds)[at] = libm::exp(between(-3.0, 1.0)) as f32;
            }
            let logits: Vec<f64> = (0..components).map(|k| f64::from(floats(&logits)[k * PANEL + row])).collect();
            for (k, weight) in softmax(&logits).into_iter().enumerate() {
                floats_mut(&mut mixtures.weights)[k * PANEL + row] = weight as f32;
                floats_mut(&mut mixtures.log_weights)[k * PANEL + row] = libm::log(weight) as f32;
            }
            let (mean, sd) = (floats(&mixtures.means)[row], floats(&mixtures.sds)[row]);
            let middle = mean + sd * between(-far, far) as f32;
            let half = 0.5 * sd * libm::pow(10.0, between(-3.0, 3.0)) as f32;
            let (lower, upper) = match row % 4 {
                0 => (middle, middle),
                1 => (middle - half, middle + half),
                2 => (middle, f32::INFINITY),
                _ => (f32::NEG_INFINITY, middle),
            };
            floats_mut(&mut y)[row] = middle;
            floats_mut(&mut ends[0])[row] = lower;
            floats_mut(&mut ends[1])[row] = upper;
        }
        Self { logits, mixtures, y, ends }
    }
}

fn softmax(logits: &[f64]) -> Vec<f64> {
    let sum: f64 = logits.iter().map(|logit| libm::exp(*logit)).sum();
    logits.iter().map(|logit| libm::exp(*logit) / sum).collect()
}

/// The numbers of one row in a list of things × panel.
fn of_row(list: &[Chunk], row: usize) -> Vec<f64> {
    floats(list).iter().skip(row).step_by(PANEL).map(|x| f64::from(*x)).collect()
}

/// Scores, then their derivatives with respect to (logits, means, sds), then the scores with all sds times `factor`.
struct Evaluate<'a> {
    panel: &'a Panel,
    eta: f32,
    factor: f32,
}

impl Kernel for Evaluate<'_> {
    type Output = [Vec<Chunk>; 3];

    #[inline(always)]
    fn run<L: Lanes>(self) -> [Vec<Chunk>; 3] {
        let Self { panel: Panel { logits, mixtures, y, ends }, eta, factor } = self;
        let mut scratch = Scratch::new(logits.len() / PANEL_CHUNKS);
        let wanted = Wanted { log: eta > 0.0, energy: eta < 1.0 };
        let mut gradient = vec![Chunk([7.0; WIDTH]); 3 * logits.len()];
        let (mut scores, mut scaled) = (vec![Chunk::ZERO; PANEL_CHUNKS], vec![Chunk::ZERO; PANEL_CHUNKS]);
        for lane in 0..PANEL_CHUNKS {
            let known = ObservedTargets { y: &y[lane], intervals: Some([&ends[0][lane], &ends[1][lane]]) };
            scratch.scaled_log_score::<L>(mixtures, known, lane, factor).store(&mut scaled[lane]);
            let (log, energy) = scratch.scores::<L>(mixtures, known, lane, wanted);
            let (log_factor, energy_factor) = (L::splat(eta), known.of_energy(L::splat(1.0 - eta)));
            (log * log_factor + energy * energy_factor).store(&mut scores[lane]);
            let energy_factor = wanted.energy.then_some(energy_factor);
            scratch.gradient::<L>(mixtures, lane, wanted.log.then_some(log_factor), energy_factor, &mut gradient);
        }
        [scores, gradient, scaled]
    }
}

fn log_part(mixture: Mixture<'_>, lower: f64, upper: f64) -> (f64, Gradient) {
    if lower < upper {
        return (score::interval::value(mixture, lower, upper), score::interval::gradient(mixture, lower, upper));
    }
    (score::log::value(mixture, lower), score::log::gradient(mixture, lower))
}

#[test]
fn lanes_equal_the_reference() {
    const FACTOR: f32 = 1.6;
    for (components, far) in [(1, 3.0), (1, 40.0), (4, 3.0), (4, 40.0), (10, 10.0)] {
        for eta in [0.0, 0.3, 1.0] {
            let panel = Panel::new(components, far, 3);
            let found = Isa::Plain.run(Evaluate { panel: &panel, eta, factor: FACTOR });
            for isa in Isa::ALL {
                let other = isa.run(Evaluate { panel: &panel, eta, factor: FACTOR });
                let same = found
                    .iter()
                    .flatten()
                    .zip(other.iter().flatten())
                    .all(|(a, b)| a.0.map(f32::to_bits) == b.0.map(f32::to_bits));
                assert!(same, "K {components}, eta {eta}: {isa:?} differs from plain Rust");
            }
            for row in 0..PANEL {
                compare_row(
                    &format!("K {components}, up to {far} sds, eta {eta}, row {row}"),
                    &panel,
                    &found,
                    row,
                    eta,
                );
                compare_scaled(&panel, &found[2], row, FACTOR);
            }
        }
    }
}

fn compare_row(case: &str, panel: &Panel, [scores, gradient, _]: &[Vec<Chunk>; 3], row: usize, eta: f32) {
    let weights = softmax(&of_row(&panel.logits, row));
    let (means, sds) = (of_row(&panel.mixtures.means, row), of_row(&panel.mixtures.sds, row));
    let mixture = Mixture { weights: &weights, means: &means, sds: &sds };
    let [y, lower, upper] = [&panel.y, &panel.ends[0], &panel.ends[1]].map(|list| of_row(list, row)[0]);
    let eta = f64::from(eta);
    let energy_share = if (upper - lower).is_finite() { 1.0 - eta } else { 0.0 };
    let (log, by_log) = log_part(mixture, lower, upper);
    let by_energy = score::energy::gradient(mixture, y);
    let expected = eta * log + energy_share * score::energy::value(mixture, y);
    let found = f64::from(floats(scores)[row]);
    assert!((found - expected).abs() <= 3e-6 * (5.0 + expected.abs()), "{case}: {found} instead of {expected}");
    // What a posterior weight may be wrong by: components that count have logarithms of about the score's size.
    let posterior = 1e-6 * (30.0 + log.abs());
    let mix = |log: &[f64], energy: &[f64]| {
        log.iter().zip(energy).map(|(l, e)| eta * l + energy_share * e).collect::<Vec<_>>()
    };
    let expected = [
        mix(&logit_gradient(&weights, &by_log.weights), &logit_gradient(&weights, &by_energy.weights)),
        mix(&by_log.means, &by_energy.means),
        mix(&by_log.sds, &by_energy.sds),
    ];
    let gradient = of_row(gradient, row);
    for k in 0..weights.len() {
        let within =
            TruncatedNormal::new((lower - means[k]) / sds[k], (upper - means[k]) / sds[k], (upper - lower) / sds[k]);
        let z = (y - means[k]) / sds[k];
        let (pull, curve) = if lower < upper { (within.mean, within.excess) } else { (z, z * z - 1.0) };
        let steep = [0.0, pull.abs() / sds[k], curve.abs() / sds[k]];
        for part in 0..3 {
            let (found, expected) = (gradient[part * weights.len() + k], expected[part][k]);
            let allowed = 1e-5 + posterior * (1.0 + eta * steep[part]) + 1e-5 * expected.abs();
            assert!(
                (found - expected).abs() <= allowed,
                "{case}: {part} of {k}: {found:e} instead of {expected:e}, {allowed:e}"
            );
        }
    }
}

fn compare_scaled(panel: &Panel, scaled: &[Chunk], row: usize, factor: f32) {
    let weights = softmax(&of_row(&panel.logits, row));
    let means = of_row(&panel.mixtures.means, row);
    let sds: Vec<f64> = of_row(&panel.mixtures.sds, row).into_iter().map(|sd| sd * f64::from(factor)).collect();
    let mixture = Mixture { weights: &weights, means: &means, sds: &sds };
    let [lower, upper] = [&panel.ends[0], &panel.ends[1]].map(|list| of_row(list, row)[0]);
    let (expected, found) = (log_part(mixture, lower, upper).0, f64::from(floats(scaled)[row]));
    assert!((found - expected).abs() <= 3e-6 * (5.0 + expected.abs()), "row {row}: {found} instead of {expected}");
}

#[test]
fn a_panel_of_values_scores_as_one_without_intervals() {
    let mut panel = Panel::new(5, 5.0, 8);
    panel.ends = [panel.y; 2];
    let found = Isa::best().run(Evaluate { panel: &panel, eta: 0.5, factor: 1.6 });
    for row in 0..PANEL {
        let weights = softmax(&of_row(&panel.logits, row));
        let (means, sds) = (of_row(&panel.mixtures.means, row), of_row(&panel.mixtures.sds, row));
        let expected = score::hybrid::value(
            Mixture { weights: &weights, means: &means, sds: &sds },
            of_row(&panel.y, row)[0],
            0.5,
        );
        assert!((f64::from(floats(&found[0])[row]) - expected).abs() < 1e-5 * (1.0 + expected), "row {row}");
    }
}
