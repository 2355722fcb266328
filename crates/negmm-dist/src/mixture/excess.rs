//! The distribution function and the density of a mixture in blocks of components, for searches of quantiles: the bits of the
//! sum over components one by one.

use super::Mixture;
use super::quantile::UNDERFLOW;
use crate::math::lanes::{Isa, Kernel, Lanes};
use crate::math::normal;

/// Components that are processed together.
const BLOCK: usize = 32;
/// Fewer components than this are processed one by one.
const FEW: usize = 8;
/// Below this many sds the exponential is not subnormal, and its scale is a product.
const NORMAL: f64 = 37.0;

/// F(x) - mass and the density at x of `sign` times the variable.
///
/// A component whose mean lies below x counts as its weight minus its upper tail: the weights are compared with the mass before the
/// tails are added, so that F(x) - mass stays exact where F is nearly flat.
pub(super) fn excess(mixture: Mixture<'_>, x: f64, mass: f64, sign: f64) -> (f64, f64) {
    if mixture.weights.len() < FEW {
        return one_by_one(mixture, x, mass, sign);
    }
    Isa::best().run(Excess { mixture, x, mass, sign })
}

/// The reference.
fn one_by_one(mixture: Mixture<'_>, x: f64, mass: f64, sign: f64) -> (f64, f64) {
    let (mut whole, mut tails, mut density) = (-mass, 0.0, 0.0);
    for (weight, mean, sd) in mixture.parts() {
        let z = (x - sign * mean) / sd;
        // 0 / 0 if x is the value of an atom, which counts.
        if z > 0.0 || z.is_nan() {
            whole += weight;
        }
        if z.abs() < UNDERFLOW {
            // One exponential for both: the tail is the density times the Mills ratio.
            let bell = weight * normal::pdf(z);
            let tail = bell * normal::mills(z.abs());
            tails += if z > 0.0 { -tail } else { tail };
            density += bell / sd;
        }
    }
    (whole + tails, density)
}

struct Excess<'a> {
    mixture: Mixture<'a>,
    x: f64,
    mass: f64,
    sign: f64,
}

impl Kernel for Excess<'_> {
    type Output = (f64, f64);

    #[inline(always)]
    fn run<L: Lanes>(self) -> (f64, f64) {
        let Self { mixture: Mixture { weights, means, sds }, x, mass, sign } = self;
        let (mut whole, mut tails, mut density) = (-mass, 0.0, 0.0);
        let (mut scores, mut bells, mut ratios, mut heights) = ([0.0; BLOCK], [0.0; BLOCK], [0.0; BLOCK], [0.0; BLOCK]);
        for start in (0..weights.len()).step_by(BLOCK) {
            let end = (start + BLOCK).min(weights.len());
            let (weights, means, sds) = (&weights[start..end], &means[start..end], &sds[start..end]);
            for (z, (mean, sd)) in scores.iter_mut().zip(means.iter().zip(sds)) {
                *z = (x - sign * mean) / sd;
            }
            for ((bell, ratio), (z, weight)) in bells.iter_mut().zip(&mut ratios).zip(scores.iter().zip(weights)) {
                *bell = weight * (normal::FRAC_1_SQRT_2PI * exp_of_negative(-0.5 * z * z));
                *ratio = *bell * mills(z.abs());
            }
            for (height, (bell, sd)) in heights.iter_mut().zip(bells.iter().zip(sds)) {
                *height = bell / sd;
            }
            for (at, (weight, sd)) in weights.iter().zip(sds).enumerate() {
                let z = scores[at];
                if *weight > 0.0 {
                    if z > 0.0 || z.is_nan() {
                        whole += weight;
                    }
                    let (tail, height) = if z.abs() < NORMAL {
                        (ratios[at], heights[at])
                    } else if z.abs() < UNDERFLOW {
                        let bell = weight * normal::pdf(z);
                        (bell * normal::mills(z.abs()), bell / sd)
                    } else {
                        continue;
                    };
                    tails += if z > 0.0 { -tail } else { tail };
                    density += height;
                }
            }
        }
        (whole + tails, density)
    }
}

/// exp(x) for x in (-700, 0], with the bits of `libm::exp` (FreeBSD's algorithm) but without branches; anything elsewhere.
#[inline(always)]
fn exp_of_negative(x: f64) -> f64 {
    const LN2_HIGH: f64 = 6.931_471_803_691_238e-1;
    const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;
    const TERMS: [f64; 5] = [
        1.666_666_666_666_660_2e-1,
        -2.777_777_777_701_559_3e-3,
        6.613_756_321_437_934e-5,
        -1.653_390_220_546_525_2e-6,
        4.138_136_797_057_238_5e-8,
    ];
    /// 2^52 + 1023: the bits of a whole number added to it are the exponent of its power of two.
    const EXPONENT: f64 = 4_503_599_627_371_519.0;
    // The algorithm compares the upper halves of the bits.
    let upper = (x.to_bits() >> 32) & 0x7fff_ffff;
    let rounded = (std::f64::consts::LOG2_E * x - 0.5).trunc();
    let k = if upper >= 0x3ff0_a2b2 { rounded } else { -1.0 };
    let k = if upper > 0x3fd6_2e42 { k } else { 0.0 };
    let (high, low) = (x - k * LN2_HIGH, k * LN2_LOW);
    let reduced = high - low;
    let square = reduced * reduced;
    let [p1, p2, p3, p4, p5] = TERMS;
    let c = reduced - square * (p1 + square * (p2 + square * (p3 + square * (p4 + square * p5))));
    let y = 1.0 + (reduced * c / (2.0 - c) - low + high);
    let y = if upper > 0x3e30_0000 { y } else { 1.0 + x };
    y * f64::from_bits((k + EXPONENT).to_bits() << 52)
}

/// [`normal::mills`] up to [`UNDERFLOW`], compiled for the instruction set of its caller.
#[inline(always)]
fn mills(x: f64) -> f64 {
    let (mut top, mut bottom) = (0.0, 0.0);
    for coefficient in normal::MILLS_TOP.iter().rev() {
        top = top * x + coefficient;
    }
    for coefficient in normal::MILLS_BOTTOM.iter().rev() {
        bottom = bottom * x + coefficient;
    }
    top / bottom
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::rng::Rng;

    #[test]
    fn the_exponential_has_the_bits_of_libm() {
        let mut rng = Rng::new(3, 0);
        let numbers = (0..2_000_000).map(|_| -700.0 * rng.uniform());
        let small = (0..2000).map(|power| -libm::exp2(f64::from(power) * -0.04));
        let edges = [0.0, -0.0, -0.346_573_590_279_972_65, -1.039_720_770_839_917_9, -1e-300, -f64::MIN_POSITIVE];
        for x in numbers.chain(small).chain(edges.into_iter().flat_map(|x: f64| [x, x.next_down()])) {
            assert_eq!(exp_of_negative(x).to_bits(), libm::exp(x).to_bits(), "{x:e}");
        }
        for step in 0..400_000 {
            let x = f64::from(step) * 1e-4;
            assert_eq!(mills(x).to_bits(), normal::mills(x).to_bits(), "{x}");
        }
    }

    #[test]
    fn blocks_have_the_bits_of_components_one_by_one() {
        let mut rng = Rng::new(4, 0);
        for components in [1, 8, 31, 32, 33, 100, 300] {
            for _ in 0..200 {
                let mut list = |low: f64, high: f64| -> Vec<f64> {
                    (0..components).map(|_| low + (high - low) * rng.uniform()).collect()
                };
                let (mut weights, mut means, mut sds) = (list(0.0, 1.0), list(-30.0, 30.0), list(0.01, 5.0));
                // Without a part, an atom, one far away.
                if components > 8 {
                    (weights[3], sds[5], means[7], sds[7]) = (0.0, 0.0, 38.0, 1.0);
                }
                let mixture = Mixture { weights: &weights, means: &means, sds: &sds };
                for x in [0.0, means[0], means[components / 2], -12.3, 0.5, 1e9, f64::MIN_POSITIVE] {
                    for (mass, sign) in [(0.025, 1.0), (0.3, -1.0)] {
                        let bits = |(excess, density): (f64, f64)| (excess.to_bits(), density.to_bits());
                        let expected = bits(one_by_one(mixture, x, mass, sign));
                        for isa in Isa::ALL {
                            assert_eq!(bits(isa.run(Excess { mixture, x, mass, sign })), expected);
                        }
                    }
                }
            }
        }
    }
}
