//! Predictions on a support against plain sums and integrals, on random mixtures of many scales.

use negmm::{DistributionRef, Interval, Mixture, Mixtures, Predictions, Rng, Support};
use negmm_dist::Distribution;
use negmm_dist::math::quadrature;

const LEVELS: [f64; 9] = [1e-12, 1e-4, 0.01, 0.2, 0.5, 0.7, 0.95, 0.9999, 1.0 - 1e-12];

/// A mixture of one to five components around 0, with atoms where `atoms` is set.
fn mixture(rng: &mut Rng, smallest_sd: f64, atoms: bool) -> Mixtures {
    let components = 1 + rng.below(5);
    let mut list = |draw: &mut dyn FnMut(&mut Rng) -> f64| (0..components).map(|_| draw(rng)).collect::<Vec<f64>>();
    let weights = list(&mut |rng| 0.01 + rng.uniform());
    let means = list(&mut |rng| 8.0 * (rng.uniform() - 0.5));
    let sds = list(&mut |rng| match atoms && rng.below(3) == 0 {
        true => 0.0,
        false => smallest_sd * libm::exp10(2.0 * rng.uniform()),
    });
    Mixtures::new(components, weights, means, sds).unwrap()
}

fn on(mixtures: &Mixtures, support: Support) -> Predictions {
    Predictions::from(mixtures.clone()).with_support(support).unwrap()
}

/// A truncated distribution as weighted points: the mixture's density at the nodes of a quadrature rule on many panels, and its atoms.
/// Only density and weights are used, relative to the largest, so that a mixture far outside the bounds works too.
struct Quadrature {
    /// Ends of the panels, ascending.
    ends: Vec<f64>,
    /// Mass, mean · mass and square · mass of each panel.
    panels: Vec<[f64; 3]>,
    /// Places and masses.
    atoms: Vec<(f64, f64)>,
    mixture: Mixtures,
    log_unit: f64,
}

impl Quadrature {
    fn new(mixture: &Mixtures, lower: f64, upper: f64, panels: usize) -> Self {
        let row = mixture.row(0);
        let ends: Vec<f64> = (0..=panels).map(|at| lower + (upper - lower) * at as f64 / panels as f64).collect();
        let inside = |value: f64| lower <= value && value <= upper;
        let atom = |k: usize| (row.sds[k] == 0.0 && inside(row.means[k])).then_some((row.means[k], row.weights[k]));
        let atoms: Vec<(f64, f64)> = (0..row.weights.len()).filter_map(atom).collect();
        let largest = ends.iter().map(|y| row.log_pdf(*y)).fold(f64::NEG_INFINITY, f64::max);
        let log_unit = atoms.iter().map(|(_, weight)| libm::log(*weight)).fold(largest, f64::max);
        let mut reference = Self { ends, panels: Vec::new(), atoms, mixture: mixture.clone(), log_unit };
        reference.atoms.iter_mut().for_each(|(_, weight)| *weight = libm::exp(libm::log(*weight) - log_unit));
        reference.panels = reference.ends.windows(2).map(|ends| reference.moments(ends[0], ends[1])).collect();
        let total = reference.panels.iter().map(|panel| panel[0]).sum::<f64>()
            + reference.atoms.iter().map(|atom| atom.1).sum::<f64>();
        reference.panels.iter_mut().for_each(|panel| *panel = panel.map(|moment| moment / total));
        reference.atoms.iter_mut().for_each(|(_, weight)| *weight /= total);
        reference.log_unit += libm::log(total);
        reference
    }

    fn moments(&self, low: f64, high: f64) -> [f64; 3] {
        quadrature::integral(low, high, |y| {
            let density = libm::exp(self.mixture.row(0).log_pdf(y) - self.log_unit);
            [density, y * density, y * y * density]
        })
    }

    fn sum(&self, moment: usize) -> f64 {
        let atoms = self.atoms.iter().map(|(value, weight)| weight * value.powi(moment as i32));
        self.panels.iter().map(|panel| panel[moment]).sum::<f64>() + atoms.sum::<f64>()
    }

    /// The probability of at most the end of a panel, and the mean of what lies up to there.
    fn up_to(&self, end: usize) -> (f64, f64) {
        let atoms = || self.atoms.iter().filter(|(value, _)| *value <= self.ends[end]);
        let mass =
            self.panels[..end].iter().map(|panel| panel[0]).sum::<f64>() + atoms().map(|atom| atom.1).sum::<f64>();
        let first = self.panels[..end].iter().map(|panel| panel[1]).sum::<f64>();
        (mass, (first + atoms().map(|(value, weight)| value * weight).sum::<f64>()) / mass)
    }

    /// ∫ (F(x) - 1{x >= y})² dx for the y that is an end of a panel; atoms must be at ends too.
    fn score(&self, y: f64) -> f64 {
        let mut below = 0.0;
        self.ends.windows(2).zip(&self.panels).fold(0.0, |score, (ends, panel)| {
            let jump = self.atoms.iter().filter(|(value, _)| *value == ends[0]).map(|atom| atom.1).sum::<f64>();
            below += jump;
            let [part] = quadrature::integral(ends[0], ends[1], |x| {
                let distance = below + self.moments(ends[0], x)[0] - f64::from(ends[0] >= y);
                [distance * distance]
            });
            below += panel[0];
            score + part
        })
    }
}

#[test]
fn between_bounds_answers_are_those_of_the_density_there() {
    let mut rng = Rng::new(1, 0);
    for turn in 0..60 {
        let mut mixtures = mixture(&mut rng, 0.1, turn % 2 == 1);
        // Here, or so far away that only logarithms know.
        let away = [0.0, 3.0, 40.0, -500.0][turn % 4];
        let (lower, upper) = (away - 5.0 * rng.uniform(), away + 5.0 * rng.uniform());
        const PANELS: usize = 400;
        let width = (upper - lower) / PANELS as f64;
        // Atoms at ends of panels, half of them inside.
        let means = mixtures.row(0).means.iter().zip(mixtures.row(0).sds).map(|(mean, sd)| match *sd {
            0.0 => lower + (mean * 100.0).round() * width,
            _ => *mean,
        });
        let parts = (mixtures.row(0).weights.to_vec(), means.collect::<Vec<f64>>(), mixtures.row(0).sds.to_vec());
        mixtures = Mixtures::new(parts.0.len(), parts.0, parts.1, parts.2).unwrap();
        let reference = Quadrature::new(&mixtures, lower, upper, PANELS);
        if !reference.log_unit.is_finite() {
            continue;
        }
        let predictions = on(&mixtures, Support { lower: Some(lower), upper: Some(upper), ..Support::default() });
        let row = predictions.row(0);
        let (mean, variance) = (reference.sum(1), reference.sum(2) - reference.sum(1) * reference.sum(1));
        let sd = variance.max(0.0).sqrt();
        // The cancellation error of a difference of squares.
        let rounding = 1e-13 * upper.abs().max(lower.abs());
        assert!((row.mean() - mean).abs() < 1e-10 * sd + rounding, "{turn}: {} {mean} {sd}", row.mean());
        assert!(
            (row.variance() - variance).abs() < 1e-9 * variance + 10.0 * rounding * upper.abs().max(lower.abs()),
            "{turn}"
        );
        assert!((row.variance_within() + row.variance_between() - row.variance()).abs() <= 1e-12 * row.variance());
        for end in [1, 57, PANELS / 2, PANELS - 3] {
            let y = reference.ends[end];
            let (below, tail_mean) = reference.up_to(end);
            assert!((row.cdf(y) - below).abs() < 1e-10, "{turn} {y}: {} {below}", row.cdf(y));
            assert!((row.cdf(y) + row.survival(y) - 1.0).abs() < 1e-13, "{turn} {y}");
            if below > 1e-6 && below < 1.0 - 1e-6 && row.pdf(y) * sd > 1e-3 {
                let found = row.shortfall_below(below);
                assert!((found - tail_mean).abs() < 1e-8 * sd / below + rounding, "{turn} {y}: {found} {tail_mean}");
                let rest = (mean - below * tail_mean) / (1.0 - below);
                let found = row.shortfall_above(1.0 - below);
                assert!((found - rest).abs() < 1e-8 * sd / (1.0 - below) + rounding, "{turn} {y}: {found} {rest}");
            }
            let score = reference.score(y);
            assert!((row.crps(y) - score).abs() < 1e-9 * sd + rounding, "{turn} {y}: {} {score}", row.crps(y));
            let log_pdf = mixtures.row(0).log_pdf(y) - reference.log_unit;
            let close = (row.log_pdf(y) - log_pdf).abs() < 1e-9 * (1.0 + reference.log_unit.abs());
            assert!(close || row.log_pdf(y) == log_pdf, "{turn} {y}: {} {log_pdf}", row.log_pdf(y));
            let rounding = 1e-9 * (1.0 + reference.log_unit.abs()) * row.pdf(y) + 1e-300;
            assert!(
                (libm::exp(row.log_pdf(y)) - row.pdf(y)).abs() <= rounding,
                "{turn} {y} {} {} {row:?}",
                row.log_pdf(y),
                row.pdf(y)
            );
        }
        for (value, weight) in &reference.atoms {
            assert!((row.point_probability(*value) - weight).abs() < 1e-10 || reference.atoms.len() > 1, "{turn}");
        }
        assert_eq!(
            (row.pdf(lower - 0.1), row.cdf(lower - 0.1), row.cdf(upper), row.survival(upper)),
            (0.0, 0.0, 1.0, 0.0)
        );
        let outside = row.crps(upper + 2.0) - row.crps(upper);
        assert!((outside - 2.0).abs() < 1e-12 * (1.0 + upper.abs()), "{turn}: {outside}");
        all_lie_inside(row, lower, upper);
    }
}

fn all_lie_inside(row: DistributionRef<'_>, lower: f64, upper: f64) {
    let mut last = lower;
    for level in LEVELS {
        let answers =
            [row.quantile(level), row.quantile_above(level), row.shortfall_below(level), row.shortfall_above(level)];
        assert!(answers.iter().all(|answer| lower <= *answer && *answer <= upper), "{row:?} {level}: {answers:?}");
        assert!(answers[2] <= answers[0] && last <= answers[0], "{row:?} {level}: {answers:?}");
        last = answers[0];
    }
    let mut rng = Rng::new(7, 0);
    assert!(
        (0..100).map(|_| row.sample(&mut rng)).all(|draw| lower <= draw && draw <= upper && row.support.contains(draw))
    );
    assert!(lower <= row.mean() && row.mean() <= upper);
    assert!(row.quantile(0.0) == lower && row.quantile(1.0) <= upper);
}

/// F(q) is at least the level, and less just before q.
fn assert_galois(row: DistributionRef<'_>, level: f64, before: f64) {
    let quantile = row.quantile(level);
    let (reached, missed) = match level <= 0.5 {
        true => (row.cdf(quantile) - level, level - row.cdf(before)),
        false => (1.0 - level - row.survival(quantile), row.survival(before) - (1.0 - level)),
    };
    let rounding = 1e-12 * level.min(1.0 - level) + 1e-16 + 1e-14 * row.pdf(quantile) * quantile.abs();
    assert!(reached >= -rounding && missed >= -rounding, "{row:?} {level}: {quantile} {reached:e} {missed:e}");
    let above = row.quantile_above(level);
    let missing = if level <= 0.5 { row.survival(above) - level } else { 1.0 - level - row.cdf(above) };
    let rounding = 1e-12 * level.min(1.0 - level) + 1e-16 + 1e-14 * row.pdf(above) * above.abs();
    assert!(missing <= rounding, "{row:?} {level}: {above} {missing:e}");
}

#[test]
fn quantiles_are_the_smallest_values_with_their_level() {
    let mut rng = Rng::new(2, 0);
    for turn in 0..200 {
        let mixtures = mixture(&mut rng, 0.03, true);
        let (lower, upper) = (Some(-3.0), (turn % 3 > 0).then_some(2.0));
        let bounded = on(&mixtures, Support { lower, upper, ..Support::default() });
        let step = [0.1, 0.25, 1.0][turn % 3];
        let grid = on(&mixtures, Support { lower, upper, step: Some(step), ..Support::default() });
        let free = Predictions::from(mixtures);
        for level in LEVELS.into_iter().chain((0..20).map(|_| rng.uniform())) {
            assert_galois(free.row(0), level, free.row(0).quantile(level).next_down());
            assert_galois(bounded.row(0), level, bounded.row(0).quantile(level).next_down());
            assert_galois(grid.row(0), level, grid.row(0).quantile(level) - step);
            let Interval { lower: low, upper: high } = grid.row(0).interval(level);
            assert!(1.0 - grid.row(0).cdf(low - step) - grid.row(0).survival(high) >= level - 1e-13, "{turn} {level}");
        }
    }
}

/// The values of a grid and their probabilities, by the mixture's probability within half a step.
fn cells(mixture: Mixture<'_>, step: f64, first: i32, last: i32, open: (bool, bool)) -> Vec<(f64, f64)> {
    let value = |index: i32| f64::from(index) * step;
    let mut cells: Vec<(f64, f64)> =
        (first..=last).map(|index| (value(index), libm::exp(mixture.log_mass(value(index), step)))).collect();
    if open.0 {
        cells[0].1 = mixture.cdf(value(first) + 0.5 * step);
    }
    if open.1 {
        let count = cells.len();
        cells[count - 1].1 = mixture.survival(value(last) - 0.5 * step);
    }
    cells
}

#[test]
fn on_a_grid_answers_are_those_of_its_cells() {
    let mut rng = Rng::new(3, 0);
    for turn in 0..120 {
        let atoms = turn % 4 == 3;
        let mixtures = mixture(&mut rng, [0.03, 0.003, 0.3][turn % 3], atoms);
        let step = [0.125, 0.5, 0.25, 1.0][turn % 4];
        // With bounds in the middle of it, without any, and with one that hardly counts.
        let (lower, upper) = [(Some(-1.0), Some(3.0)), (None, None), (Some(-20.0), None)][turn % 3];
        let support = Support { lower, upper, step: Some(step), ..Support::default() };
        let predictions = on(&mixtures, support);
        let row = predictions.row(0);
        let index = |bound: Option<f64>, other: f64| (bound.unwrap_or(other) / step) as i32;
        let (first, last) = (index(lower, -300.0), index(upper, 300.0));
        let cells = cells(mixtures.row(0), step, first, last, (lower.is_some(), upper.is_some()));
        let total: f64 = cells.iter().map(|cell| cell.1).sum();
        assert!((total - 1.0).abs() < 1e-12, "{turn}: {total}");
        let total: f64 = cells.iter().map(|cell| row.point_probability(cell.0)).sum();
        assert!((total - 1.0).abs() < 1e-12, "{turn}: {total}");
        let mean: f64 = cells.iter().map(|(value, mass)| value * mass).sum();
        let variance: f64 = cells.iter().map(|(value, mass)| mass * (value - mean) * (value - mean)).sum();
        assert!(
            (row.mean() - mean).abs() < 1e-12 * (1.0 + mean.abs() + variance.sqrt()),
            "{turn}: {} {mean}",
            row.mean()
        );
        assert!(
            (row.variance() - variance).abs() < 1e-11 * (variance + step * step),
            "{turn}: {} {variance}",
            row.variance()
        );
        assert!((row.variance_within() + row.variance_between() - row.variance()).abs() <= 1e-12 * row.variance());
        let mut below = 0.0;
        for &(value, mass) in &cells {
            below += mass;
            if !(-10.0..10.0).contains(&value) {
                continue;
            }
            assert!((row.point_probability(value) - mass).abs() < 1e-13, "{turn} {value}");
            // The last bits of y depend on rounding.
            for y in [value, value + 1e-10 * step, value - 1e-10 * step, value + 0.4 * step] {
                assert!((row.cdf(y) - below).abs() < 1e-12, "{turn} {y}");
                assert!((row.survival(y) + row.cdf(y) - 1.0).abs() < 1e-13, "{turn} {y}");
            }
            assert_eq!(
                (row.point_probability(value + 0.4 * step), row.log_likelihood(value + 0.4 * step)),
                (0.0, f64::NEG_INFINITY)
            );
            let pit = below - 0.5 * mass;
            assert!((row.pit(value) - pit).abs() < 1e-12, "{turn} {value}");
        }
        // E|Y - Y'| from the cells in their order.
        let (mut spread, mut below) = (0.0, 0.0);
        for &(_, mass) in &cells {
            below += mass;
            spread += 2.0 * step * below * (1.0 - below);
        }
        for y in [-50.0, -1.0, 0.0, 0.3, 1.0, 2.9, 40.0] {
            let distance: f64 = cells.iter().map(|(value, mass)| mass * (value - y).abs()).sum();
            let score = distance - 0.5 * spread;
            let found = row.crps(y);
            assert!((found - score).abs() < 1e-11 * (1.0 + distance), "{turn} {y}: {found} {score}");
        }
        for level in [0.01, 0.2, 0.5, 0.93] {
            let (mut room, mut sum) = (level, 0.0);
            for &(value, mass) in &cells {
                let part = mass.min(room);
                room -= part;
                sum += part * value;
            }
            let found = row.shortfall_below(level);
            assert!((found - sum / level).abs() < 1e-11 * (1.0 + variance.sqrt()) / level, "{turn} {level}: {found}");
            let rest = (mean - sum) / (1.0 - level);
            let found = row.shortfall_above(1.0 - level);
            assert!(
                (found - rest).abs() < 1e-10 * (1.0 + variance.sqrt()) / (1.0 - level),
                "{turn} {level}: {found} {rest}"
            );
        }
        let (lowest, highest) = support.bounds();
        all_lie_inside(row, lowest, highest);
    }
}

#[test]
fn quantiles_bring_the_values_of_a_grid_back() {
    let mut rng = Rng::new(12, 0);
    let support = Support { lower: Some(-3.0), step: Some(1.0), ..Support::default() };
    for _ in 0..200 {
        let predictions = on(&mixture(&mut rng, 0.3, true), support);
        let row = predictions.row(0);
        // Values whose probability the distribution function and the survival can tell, and that are not the last with one.
        let likely = |value: &f64| row.point_probability(*value) > 1e-9 && row.survival(*value) > 1e-9;
        for value in (-3..=9).map(f64::from).filter(likely) {
            assert_eq!(row.quantile(row.cdf(value)), value);
            assert_eq!(row.quantile_above(row.survival(value)), value);
        }
    }
}

#[test]
fn a_fine_grid_is_nearly_none() {
    let mixtures = Mixtures::new(2, vec![0.4, 0.6], vec![2.0, 30.0], vec![1.0, 40.0]).unwrap();
    let (coarse, fine) = (0.01, 0.001);
    let of = |step: f64| on(&mixtures, Support { lower: Some(0.0), step: Some(step), ..Support::default() });
    // More than 20,000 cells are not summed one by one.
    let (coarse, fine) = (of(coarse), of(fine));
    let (a, b) = (coarse.row(0), fine.row(0));
    assert!((a.mean() - b.mean()).abs() < 1e-4 && (a.variance() - b.variance()).abs() < 1e-2);
    for y in [0.0, 2.0, 50.0, -7.0] {
        assert!((a.crps(y) - b.crps(y)).abs() < 1e-4, "{y}");
    }
    for level in [0.1, 0.9] {
        assert!((a.shortfall_below(level) - b.shortfall_below(level)).abs() < 1e-2, "{level}");
        assert!((a.shortfall_above(level) - b.shortfall_above(level)).abs() < 1e-2, "{level}");
    }
}

#[test]
fn a_wide_mixture_on_a_grid_has_the_score_of_its_cells() {
    // Sums of cells, and the formula that replaces them where all components are wide.
    let mixtures = Mixtures::new(2, vec![0.3, 0.7], vec![3.3, 40.1], vec![8.0, 25.0]).unwrap();
    let free = on(&mixtures, Support { step: Some(1.0), ..Support::default() });
    let cells = cells(mixtures.row(0), 1.0, -400, 400, (false, false));
    for y in [-20.0, 0.0, 3.0, 44.0, 90.0] {
        let (mut score, mut below) = (0.0, 0.0);
        for (value, mass) in &cells {
            below += mass;
            let distance: f64 = if *value < y { below } else { 1.0 - below };
            score += distance * distance;
        }
        assert!((free.row(0).crps(y) - score).abs() < 1e-12, "{y}");
    }
}

#[test]
fn draws_follow_the_law() {
    const DRAWS: usize = 20_000;
    let mixtures = Mixtures::new(3, vec![0.3, 0.5, 0.2], vec![0.0, 1.0, 2.0], vec![0.7, 2.0, 0.0]).unwrap();
    let supports = [
        Support { lower: Some(0.5), ..Support::default() },
        Support { lower: Some(-1.0), upper: Some(1.5), ..Support::default() },
        // Tries from the whole mixture hardly ever hit this one.
        Support { lower: Some(7.0), upper: Some(7.5), ..Support::default() },
        Support { lower: Some(0.0), step: Some(0.5), ..Support::default() },
    ];
    for support in supports {
        let predictions = on(&mixtures, support);
        let row = predictions.row(0);
        let mut draws = predictions.sample(DRAWS, 5, 0);
        draws.sort_by(f64::total_cmp);
        let distance = draws.iter().enumerate().map(|(rank, y)| {
            let (before, up_to) = (rank as f64 / DRAWS as f64, (rank + 1) as f64 / DRAWS as f64);
            // At a jump the ranks lie anywhere in it.
            let (low, high) = (row.cdf(*y) - row.point_probability(*y), row.cdf(*y));
            (low - up_to).max(before - high)
        });
        // Kolmogorov's distance; 1.95 / sqrt(n) is passed with probability 0.001.
        assert!(distance.fold(0.0, f64::max) < 1.95 / (DRAWS as f64).sqrt(), "{support:?}");
    }
}

#[test]
fn the_whole_line_changes_no_bit() {
    let mut rng = Rng::new(4, 0);
    for _ in 0..50 {
        let mixtures = mixture(&mut rng, 0.1, false);
        let (plain, with) = (Predictions::from(mixtures.clone()), on(&mixtures, Support::default()));
        assert_eq!(plain, with);
        let mixture = mixtures.row(0);
        for y in [-3.0, 0.0, 0.7] {
            let row = with.row(0);
            assert_eq!(
                (row.cdf(y), row.survival(y), row.pdf(y)),
                (mixture.cdf(y), mixture.survival(y), mixture.pdf(y))
            );
            assert_eq!((row.crps(y), row.nll(y)), (mixture.crps(y), -mixture.log_pdf(y)));
            assert_eq!(
                (row.pit(y), row.point_probability(y), row.log_likelihood(y)),
                (mixture.cdf(y), 0.0, mixture.log_pdf(y))
            );
            assert_eq!(row.log_mass(y, 0.5), mixture.log_mass(y, 0.5));
        }
        assert_eq!((plain.mean(), plain.sd()), (vec![mixture.mean()], vec![mixture.sd()]));
    }
}

#[test]
fn bounds_without_any_probability_are_still_an_answer() {
    let atoms = Mixtures::new(2, vec![0.5; 2], vec![-3.0, -1.0], vec![0.0; 2]).unwrap();
    let predictions = on(&atoms, Support { lower: Some(0.0), upper: Some(9.0), ..Support::default() });
    let row = predictions.row(0);
    assert_eq!(
        (row.mean(), row.sd(), row.quantile(0.3), row.cdf(0.0), row.point_probability(0.0)),
        (0.0, 0.0, 0.0, 1.0, 1.0)
    );
    assert_eq!((row.crps(2.0), row.nll(0.0), row.shortfall_above(0.1)), (2.0, 0.0, 0.0));
    let narrow = Mixtures::new(1, vec![1.0], vec![50.0], vec![1e-200]).unwrap();
    let predictions = on(&narrow, Support { lower: Some(0.0), upper: Some(9.0), ..Support::default() });
    assert_eq!(
        (predictions.mean(), predictions.interval(0.9).unwrap()),
        (vec![9.0], Interval { lower: vec![9.0], upper: vec![9.0] })
    );
    // One value alone.
    let one = on(&narrow, Support { lower: Some(4.0), upper: Some(4.0), ..Support::default() });
    assert_eq!((one.mean(), one.quantile(0.2).unwrap(), one.crps(&[5.0]).unwrap()), (vec![4.0], vec![4.0], vec![1.0]));
    let one = on(&narrow, Support { lower: Some(4.0), upper: Some(4.0), step: Some(2.0), origin: 0.0 });
    assert_eq!(
        (one.mean(), one.point_probability(4.0).unwrap(), one.crps(&[5.0]).unwrap()),
        (vec![4.0], vec![1.0], vec![1.0])
    );
}

#[test]
fn a_probability_far_out_keeps_its_logarithm() {
    let mixtures = Mixtures::new(1, vec![1.0], vec![0.0], vec![1.0]).unwrap();
    let counts = on(&mixtures, Support { lower: Some(0.0), upper: Some(60.0), step: Some(1.0), ..Support::default() });
    let row = counts.row(0);
    assert_eq!(row.point_probability(60.0), 0.0);
    // ln(cdf(-59.5)), Python mpmath.
    assert!((row.log_likelihood(60.0) - -1_775.130_197_112_493_7).abs() < 1e-8, "{}", row.log_likelihood(60.0));
    assert_eq!(counts.mass_nll(&[60.0], 1.0).unwrap()[0], -row.log_likelihood(60.0));
    assert!((counts.nll(&[3.0]).unwrap()[0] - (4.5 + 0.918_938_533_204_672_8)).abs() < 1e-14);
}

#[test]
fn samples_move_to_the_support() {
    let sets = negmm::samples::SampleSets::new(4, vec![-0.7, 0.2, 1.6, 9.0], 0.1).unwrap();
    let bounds = Support { lower: Some(0.0), upper: Some(5.0), ..Support::default() };
    let between = Predictions::from(sets.clone()).with_support(bounds).unwrap();
    assert_eq!(between.samples().unwrap().values(), [0.0, 0.2, 1.6, 5.0]);
    let grid = Predictions::from(sets).with_support(Support { step: Some(1.0), ..bounds }).unwrap();
    assert_eq!(grid.samples().unwrap().values(), [0.0, 0.0, 2.0, 5.0]);
    let row = grid.row(0);
    assert_eq!(
        (row.point_probability(0.0), row.point_probability(2.0), row.point_probability(1.0), row.cdf(2.0 - 1e-12)),
        (0.5, 0.25, 0.0, 0.75)
    );
    // No value between two that are possible.
    assert_eq!([0.3, 0.5, 0.6, 0.9].map(|level| row.quantile(level)), [0.0, 0.0, 2.0, 5.0]);
    assert_eq!(row.pit(2.0), 0.625);
    assert!(row.log_likelihood(2.0) < 0.0 && row.log_likelihood(2.5) == f64::NEG_INFINITY);
}

#[test]
fn parts_of_members_add_up_on_a_support() {
    let weights = vec![0.1, 0.4, 0.3, 0.2];
    let mixtures = Mixtures::new(4, weights, vec![0.0, 1.0, 5.0, -2.0], vec![1.0, 0.5, 0.2, 2.0]).unwrap();
    for step in [None, Some(1.0)] {
        let support = Support { lower: Some(0.0), upper: Some(4.0), step, ..Support::default() };
        let predictions = on(&mixtures, support).of_members(2);
        let (aleatoric, epistemic) = predictions.variance_by_members();
        assert!((aleatoric[0] + epistemic[0] - predictions.variance()[0]).abs() < 1e-12, "{step:?}");
        assert!(epistemic[0] > 0.0);
        let some = predictions.select(&[0, 0]);
        assert_eq!((some.support(), some.mean()[1]), (support, predictions.mean()[0]));
        let moved = predictions.clone().rescale(10.0, 2.0);
        assert!((moved.mean()[0] - (10.0 + 2.0 * predictions.mean()[0])).abs() < 1e-12);
        assert_eq!(moved.support().bounds(), (10.0, 18.0));
        assert!(predictions.with_support(Support { lower: Some(1.0), upper: Some(0.0), ..support }).is_err());
    }
}
