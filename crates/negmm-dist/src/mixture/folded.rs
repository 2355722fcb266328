//! The mean of |X| of a normal variable by tables: a mixture of K components needs it K² / 2 times per row.
//!
//! With w = |mean| / sd, E|X| = sd g(w), where g(w) = sqrt(2 / pi) exp(-w² / 2) + w erf(w / sqrt 2). Its derivatives are known:
//! g' = erf(w / sqrt 2), g'' = 2 phi(w), and g⁽ⁿ⁺²⁾ = 2 (-1)ⁿ He_n(w) phi(w) with the Hermite polynomials. So g is evaluated by a Taylor
//! series around the nearest of equally spaced nodes, to the last bit or two, without exp and erf.

use std::sync::LazyLock;

use super::Mixture;
use super::energy::{FAR, folded_mean, root_sum_square};
use crate::math::lanes::{Isa, Kernel, Lanes};
use crate::math::normal::pdf;

/// Nodes per interval of length 1.
const NODES_PER_UNIT: f64 = 32.0;
/// Terms of a series, one cache line: the next one is below 2e-18 halfway to the next node, where g is at least 0.8.
const TERMS: usize = 8;
/// 2^52: a number added to this is rounded to a whole number, which is in the last bits of the sum.
const ROUNDING: f64 = 4_503_599_627_370_496.0;

/// The coefficients at each node up to [`FAR`], the lowest power first.
static SERIES: LazyLock<Vec<[f64; TERMS]>> =
    LazyLock::new(|| (0..=(FAR * NODES_PER_UNIT) as usize).map(|node| series(node as f64 / NODES_PER_UNIT)).collect());

fn series(w: f64) -> [f64; TERMS] {
    let mut terms = [0.0; TERMS];
    terms[0] = folded_mean(w, 1.0);
    terms[1] = libm::erf(w * std::f64::consts::FRAC_1_SQRT_2);
    // He_0 = 1, He_1 = w, He_(n + 1) = w He_n - n He_(n - 1).
    let (mut before, mut hermite, mut factor) = (0.0, 1.0, 2.0 * pdf(w));
    for n in 0..TERMS - 2 {
        factor /= (n + 2) as f64;
        terms[n + 2] = factor * hermite;
        (before, hermite) = (hermite, w * hermite - n as f64 * before);
        factor = -factor;
    }
    terms
}

/// g(w), for a w up to [`FAR`].
#[inline(always)]
fn unit(series: &[[f64; TERMS]], w: f64) -> f64 {
    let rounded = w * NODES_PER_UNIT + ROUNDING;
    let x = w - (rounded - ROUNDING) / NODES_PER_UNIT;
    let square = x * x;
    let terms = &series[(rounded.to_bits() & 0xffff) as usize];
    // Even and odd powers in two independent sums, which a processor computes at the same time.
    let mut sums = [terms[TERMS - 2], terms[TERMS - 1]];
    for pair in terms[..TERMS - 2].rchunks_exact(2) {
        sums = [sums[0] * square + pair[0], sums[1] * square + pair[1]];
    }
    sums[0] + x * sums[1]
}

/// The mean of |X| for a normal X; for an atom it is |mean|.
pub(super) fn mean_of(mean: f64, sd: f64) -> f64 {
    let w = mean.abs() / sd;
    // For an atom w is NaN or infinite.
    if w.is_nan() || w > FAR { mean.abs() } else { sd * unit(&SERIES, w) }
}

/// The sum of weight_k weight_l E|X_k - X_l| over all pairs of components of a mixture, each pair once.
pub(super) fn pairs(mixture: Mixture<'_>) -> f64 {
    /// Squares of sds in this range, and sums of two of them, are exact to rounding.
    const SAFE: std::ops::Range<f64> = 1e-140..1e150;
    if mixture.sds.iter().all(|sd| *sd == 0.0 || SAFE.contains(sd)) {
        return Isa::best().run(Pairs { mixture, series: &SERIES });
    }
    let Mixture { weights, means, sds } = mixture;
    let mut sum = 0.0;
    for k in 0..weights.len() {
        for l in (0..k).filter(|l| weights[k] * weights[*l] > 0.0) {
            let sd = root_sum_square(sds[k], sds[l]);
            sum += weights[k] * weights[l] * mean_of(means[k] - means[l], sd);
        }
    }
    sum
}

/// That sum if no square underflows or overflows.
struct Pairs<'a> {
    mixture: Mixture<'a>,
    series: &'a [[f64; TERMS]],
}

/// Components that are processed together.
const BLOCK: usize = 32;

impl Kernel for Pairs<'_> {
    type Output = f64;

    #[inline(always)]
    fn run<L: Lanes>(self) -> f64 {
        let Mixture { weights, means, sds } = self.mixture;
        let (mut gaps, mut widths, mut ratios) = ([0.0; BLOCK], [0.0; BLOCK], [0.0; BLOCK]);
        let mut sum = 0.0;
        for k in 0..weights.len() {
            let (mean, variance) = (means[k], sds[k] * sds[k]);
            let mut spread = 0.0;
            for start in (0..k).step_by(BLOCK) {
                let end = (start + BLOCK).min(k);
                // Roots and quotients of a block first: they are slow, and a processor computes several at once.
                let before = means[start..end].iter().zip(&sds[start..end]);
                for ((other, sd), (gap, (width, ratio))) in
                    before.zip(gaps.iter_mut().zip(widths.iter_mut().zip(&mut ratios)))
                {
                    *gap = (mean - other).abs();
                    *width = (variance + sd * sd).sqrt();
                    *ratio = *gap / *width;
                }
                for (weight, (gap, (width, &w))) in
                    weights[start..end].iter().zip(gaps.iter().zip(widths.iter().zip(&ratios)))
                {
                    // Two atoms have no width, and a ratio that is no number.
                    spread += weight
                        * match w {
                            _ if w <= FAR => width * unit(self.series, w),
                            _ if w.is_finite() => width * w,
                            _ => *gap,
                        };
                }
            }
            sum += weights[k] * spread;
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::rng::Rng;
    use crate::mixture::mean_absolute_difference;

    #[test]
    fn the_series_agree_with_the_function_to_the_last_bits() {
        for step in 0..100_000 {
            let w = f64::from(step) * 1e-4;
            for (mean, sd) in [(w, 1.0), (-w * 3.0, 3.0), (w * 1e-200, 1e-200)] {
                let (exact, found) = (folded_mean(mean, sd), mean_of(mean, sd));
                assert!((found - exact).abs() <= 4.0 * f64::EPSILON * exact, "{w}: {found}, expected {exact}");
            }
        }
    }

    #[test]
    fn atoms_and_far_means_are_their_distance() {
        assert_eq!([mean_of(-2.0, 0.0), mean_of(0.0, 0.0), mean_of(50.0, 1.0)], [2.0, 0.0, 50.0]);
        assert_eq!(mean_of(FAR, 1.0), folded_mean(FAR, 1.0));
    }

    #[test]
    fn pairs_are_the_same_on_every_processor_and_one_by_one() {
        let mut rng = Rng::new(1, 0);
        for components in [1, 2, 7, 40, 100] {
            let mut list = |low: f64, high: f64| -> Vec<f64> {
                (0..components).map(|_| low + (high - low) * rng.uniform()).collect()
            };
            let (weights, mut means, mut sds) = (list(0.0, 1.0), list(-30.0, 30.0), list(0.01, 5.0));
            // Three atoms, two of them at one value.
            if components > 20 {
                (sds[3], sds[20], sds[35]) = (0.0, 0.0, 0.0);
                means[20] = means[3];
            }
            let mixture = Mixture { weights: &weights, means: &means, sds: &sds };
            let mut exact = 0.0;
            for k in 0..components {
                exact += (0..k).map(|l| weights[k] * weights[l] * mean_absolute_difference(mixture, k, l)).sum::<f64>();
            }
            let bits = Isa::ALL.map(|isa| isa.run(Pairs { mixture, series: &SERIES }).to_bits());
            assert!(bits.iter().all(|other| *other == bits[0]));
            assert!((pairs(mixture) - exact).abs() <= 1e-14 * exact, "{components}");
        }
    }
}
