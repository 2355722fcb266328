//! Entropy of a predicted distribution, in nats.
//!
//! ```text
//! H = -∫ p(y) log p(y) dy             on a grid, H = -sum P(y) log P(y)
//! ```
//!
//! The integral is a sum of Gauss-Legendre rules between quantiles, which are close together where the density is high; a
//! panel is halved until its rule finds the probability that lies in it.

use negmm_dist::{Distribution, DistributionKind, DistributionRef};

/// Levels of the quantiles between which the rule is applied, up to the median; the others mirror them.
const LEVELS: [f64; 11] = [1e-7, 1e-5, 1e-3, 0.01, 0.03, 0.0625, 0.125, 0.1875, 0.25, 0.3125, 0.40625];
/// Values of a grid up to which all are summed; a finer grid is as good as none.
const MOST_VALUES: f64 = 2048.0;
/// The part of the probability of a panel that a rule may miss, and how often a panel is halved at most.
const TOLERANCE: f64 = 1e-3;
const DEPTH: usize = 20;
/// Nodes and weights of the rule with 8 points on (-1, 1), the positive half (Abramowitz and Stegun, table 25.4).
const RULE: [(f64, f64); 4] = [
    (0.183_434_642_495_649_8, 0.362_683_783_378_362),
    (0.525_532_409_916_329, 0.313_706_645_877_887_3),
    (0.796_666_477_413_626_7, 0.222_381_034_453_374_5),
    (0.960_289_856_497_536_2, 0.101_228_536_290_376_26),
];

/// The entropy of a distribution without atoms.
pub(super) fn entropy(row: &DistributionRef<'_>) -> f64 {
    let term = |p: f64, log: f64| if p > 0.0 { -p * log } else { 0.0 };
    if let Some(step) = row.support.step {
        let (low, high) = (row.quantile(LEVELS[0]), row.quantile_above(LEVELS[0]));
        let count = ((high - low) / step).round();
        if count <= MOST_VALUES {
            let cell = |at: usize| {
                let log = row.log_mass(low + at as f64 * step, step);
                term(libm::exp(log), log)
            };
            return (0..=count.max(0.0) as usize).map(cell).sum();
        }
        // The integral of a density that is constant between the values.
        let mut smooth = *row;
        smooth.support.step = None;
        return differential(&smooth, term) - libm::log(step);
    }
    if let DistributionKind::Samples(_) = row.kind {
        // Their density is that of the normal distribution.
        let sd = row.normal_sd();
        return 0.5 * (libm::log(2.0 * std::f64::consts::PI * sd * sd) + 1.0);
    }
    differential(row, term)
}

fn differential(row: &DistributionRef<'_>, term: impl Fn(f64, f64) -> f64) -> f64 {
    let below = LEVELS.iter().map(|level| (row.quantile(*level), *level)).chain([(row.quantile(0.5), 0.5)]);
    let above = LEVELS.iter().rev().map(|level| (row.quantile_above(*level), 1.0 - level));
    let ends: Vec<(f64, f64)> = below.chain(above).collect();
    ends.windows(2).map(|ends| panel(row, &term, (ends[0], ends[1]), DEPTH)).sum()
}

/// The integral between two points with the distribution function there. A rule that misses the probability between them
/// misses a peak: the panel is halved then.
fn panel(
    row: &DistributionRef<'_>,
    term: &impl Fn(f64, f64) -> f64,
    ((low, below), (high, above)): ((f64, f64), (f64, f64)),
    depth: usize,
) -> f64 {
    let (middle, half) = (0.5 * (low + high), 0.5 * (high - low));
    let (mut entropy, mut inside) = (0.0, 0.0);
    for (node, weight) in RULE {
        for y in [middle - half * node, middle + half * node] {
            let log = row.log_pdf(y);
            let p = libm::exp(log);
            entropy += half * weight * term(p, log);
            inside += half * weight * p;
        }
    }
    let mass = above - below;
    if depth == 0 || (inside - mass).abs() <= TOLERANCE * mass + TOLERANCE * TOLERANCE {
        return entropy;
    }
    let center = (middle, row.cdf(middle));
    panel(row, term, ((low, below), center), depth - 1) + panel(row, term, (center, (high, above)), depth - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use negmm_dist::{Mixtures, Predictions, Support};

    fn of(predictions: &Predictions) -> f64 {
        entropy(&predictions.row(0))
    }

    #[test]
    fn entropies_are_the_known_ones() {
        let normal = |sd: f64| 0.5 * (libm::log(2.0 * std::f64::consts::PI * sd * sd) + 1.0);
        let one = Predictions::from(Mixtures::new(1, vec![1.0], vec![3.0], vec![2.0]).unwrap());
        assert!((of(&one) - normal(2.0)).abs() < 1e-5, "{}", of(&one) - normal(2.0));
        // Two normals far apart: that of each, and which of them.
        let two = Predictions::from(Mixtures::new(2, vec![0.25, 0.75], vec![0.0, 1e3], vec![1.0, 0.01]).unwrap());
        let choice = -(0.25 * libm::log(0.25) + 0.75 * libm::log(0.75));
        let expected = 0.25 * normal(1.0) + 0.75 * normal(0.01) + choice;
        assert!((of(&two) - expected).abs() < 2e-3, "{} {expected}", of(&two));
        // Rounded to a grid of steps that are small beside the sd.
        let support = Support { step: Some(0.1), ..Support::default() };
        let rounded = one.clone().with_support(support).unwrap();
        assert!((of(&rounded) - (normal(2.0) - libm::log(0.1))).abs() < 1e-4);
        // Truncated far below its mean: nearly uniform would be log of the width; here a half normal.
        let support = Support { lower: Some(3.0), ..Support::default() };
        let half = one.with_support(support).unwrap();
        assert!((of(&half) - (normal(2.0) - libm::log(2.0))).abs() < 1e-4, "{}", of(&half));
    }
}
