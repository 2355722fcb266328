//! A standard normal variable truncated to an interval: the probability of the interval, and the first two moments; in f64, and in
//! `f32` lanes.
//!
//! With the ends a and b, the middle z, the width w = b - a and half of it h:
//!
//! ```text
//! mass    P              = cdf(b) - cdf(a)
//! mean    E[Z | a, b]    = (pdf(a) - pdf(b)) / P
//! excess  E[Z² | a, b] - 1 = (a pdf(a) - b pdf(b)) / P
//! ```
//!
//! The derivatives of ln P with respect to the mean and the sd of a normal variable are mean / sd and excess / sd, as those of ln pdf(z)
//! are z / sd and (z² - 1) / sd. By symmetry z may be taken as positive. Both differences are expressed by
//! e = pdf(b) / pdf(a) = exp(-w z), with 1 - e from `expm1`, so that they are exact however narrow the interval is:
//!
//! ```text
//! pdf(a) - pdf(b) = pdf(a) (1 - e)     a pdf(a) - b pdf(b) = pdf(a) (a (1 - e) - w e)
//! ```
//!
//! P is one [`normal_interval`] of the density from a on where a > 0, else two of them from zero.
//!
//! The lanes use three formulas, none of which is a difference of nearly equal numbers where it is used.
//!
//! Narrow: Taylor's series around z, where the derivative of pdf(z) He_n(z) is -pdf(z) He_(n+1)(z) with Hermite's polynomials He_n:
//!
//! ```text
//! P = w pdf(z) S_0     mean = S_1 / S_0     excess = S_2 / S_0     S_j = sum_n h^(2n) He_(2n+j)(z) / (2n+1)!
//! ```
//!
//! Around zero, a <= 0: P = (erf(b / sqrt 2) + erf(-a / sqrt 2)) / 2, both parts positive.
//!
//! Beside zero: with Mills' ratio m(x) = (1 - cdf(x)) / pdf(x), P = pdf(a) (m(a) - m(b) e).

use super::functions::{centred_cdf, decay, ln, mills};
use super::lanes::Lanes;
use super::{normal, normal_interval};

/// A standard normal variable within an interval: a number for each, or lanes of them.
#[derive(Clone, Copy, Debug)]
pub struct TruncatedNormal<T> {
    /// Logarithm of the probability of the interval.
    pub log_mass: T,
    /// The variable's mean, given that it lies there.
    pub mean: T,
    /// The mean of its square, less 1.
    pub excess: T,
}

impl TruncatedNormal<f64> {
    /// Between `a` and `b`, which may be infinite. Their distance `w` is given too: it has digits that far ends have lost.
    pub fn new(a: f64, b: f64, w: f64) -> Self {
        // A double infinity has no middle, and needs none.
        if 0.5 * (a + b) < 0.0 {
            let Self { log_mass, mean, excess } = Self::beyond(-b, -a, w);
            return Self { log_mass, mean: -mean, excess };
        }
        Self::beyond(a, b, w)
    }

    /// The logarithm of the probability alone.
    pub fn log_mass(a: f64, b: f64, w: f64) -> f64 {
        let (a, b) = if 0.5 * (a + b) < 0.0 { (-b, -a) } else { (a, b) };
        if a == f64::NEG_INFINITY {
            0.0
        } else if a == f64::INFINITY {
            f64::NEG_INFINITY
        } else {
            log_mass_of(a, mass_beyond(a, b, w))
        }
    }

    /// With a middle that is not negative.
    fn beyond(a: f64, b: f64, w: f64) -> Self {
        if a == f64::NEG_INFINITY {
            return Self { log_mass: 0.0, mean: 0.0, excess: 0.0 };
        }
        if a == f64::INFINITY {
            return Self { log_mass: f64::NEG_INFINITY, mean: a, excess: a };
        }
        // The mass, pdf(a) - pdf(b) and pdf(b), as multiples of the density where it is highest.
        let mass = mass_beyond(a, b, w);
        let at_a = if a > 0.0 { 1.0 } else { normal_interval::decay(0.0, a) };
        let exponent = -0.5 * w * (a + b);
        let (fall, at_b) = (-at_a * libm::expm1(exponent), at_a * libm::exp(exponent));
        let lost = if at_b > 0.0 { w * at_b } else { 0.0 };
        Self { log_mass: log_mass_of(a, mass), mean: fall / mass, excess: (a * fall - lost) / mass }
    }
}

/// The probability between `a` and `b`, whose middle is not negative, as a multiple of the density where it is highest.
fn mass_beyond(a: f64, b: f64, w: f64) -> f64 {
    if a > 0.0 { normal_interval::mass(a, w) } else { normal_interval::mass(0.0, -a) + normal_interval::mass(0.0, b) }
}

fn log_mass_of(a: f64, mass: f64) -> f64 {
    normal::log_pdf(a.max(0.0)) + libm::log(mass)
}

/// ln(2 pi) / 2
const HALF_LN_2_PI: f32 = 0.918_938_5;
/// 1 / sqrt(2 pi)
const FRAC_1_SQRT_2PI: f32 = 0.398_942_3;
/// Ends are clamped to this: their squares are finite, and the probability beyond is 0.
const LIMIT: f32 = 1e9;
/// Smallest widths, for the logarithm and for the series.
const MIN_WIDTH: f32 = 1e-30;
const MIN_IN_SERIES: f32 = 1e-6;
/// An interval is narrow if h is below the first and h z below the second: the terms after the series are below 1e-7, and otherwise the
/// differences of the other formulas lose at most two bits.
const NARROW: f32 = 0.25;
const NARROW_SLOPE: f32 = 0.5;

impl<L: Lanes> TruncatedNormal<L> {
    /// As [`TruncatedNormal::new`], in each lane; finite for all ends that are numbers or infinite. NaN stays NaN.
    #[inline(always)]
    pub fn lanes(a: L, b: L, w: L) -> Self {
        let (zero, one, half, limit) = (L::splat(0.0), L::splat(1.0), L::splat(0.5), L::splat(LIMIT));
        let (a, b) = ((zero - limit).max(limit.min(a)), (zero - limit).max(limit.min(b)));
        let w = w.max(L::splat(MIN_WIDTH)).min(limit + limit);
        let mirrored = zero.gt(a + b);
        let (a, b) = ((zero - b).select(mirrored, a), (zero - a).select(mirrored, b));
        let z = half * (a + b);
        // In every formula ln P = exponent + ln(argument), and the moments are divided by the same number.
        let mass = half * (centred_cdf(b) - centred_cdf(a));
        let around = FormulaTerms {
            exponent: zero,
            argument: mass,
            mean: density(a) - density(b),
            excess: a * density(a) - b * density(b),
            divisor: mass,
        };
        let e = decay(zero - w * z);
        let difference = mills(b).neg_mul_add(e, mills(a));
        let beside = FormulaTerms {
            exponent: (a * a).mul_add(zero - half, zero - L::splat(HALF_LN_2_PI)),
            argument: difference,
            mean: one - e,
            excess: a.mul_add(one - e, zero - w * e),
            divisor: difference,
        };
        let h = half * w;
        let least = L::splat(MIN_IN_SERIES).max(h);
        let [s0, s1, s2] = series(z, least * least);
        let narrow = FormulaTerms {
            exponent: (z * z).mul_add(zero - half, zero - L::splat(HALF_LN_2_PI)),
            argument: w * s0,
            mean: s1,
            excess: s2,
            divisor: s0,
        };
        let is_narrow = one.gt(h * (z * L::splat(1.0 / NARROW_SLOPE)).max(L::splat(1.0 / NARROW)));
        let FormulaTerms { exponent, argument, mean, excess, divisor } =
            narrow.select(is_narrow, beside.select(a.gt(zero), around));
        let mean = mean / divisor;
        Self {
            log_mass: z.mul_add(zero, exponent + ln(argument)),
            mean: (zero - mean).select(mirrored, mean),
            excess: excess / divisor,
        }
    }
}

/// The terms of one formula.
#[derive(Clone, Copy)]
struct FormulaTerms<L> {
    exponent: L,
    argument: L,
    mean: L,
    excess: L,
    divisor: L,
}

impl<L: Lanes> FormulaTerms<L> {
    #[inline(always)]
    fn select(self, mask: L::Mask, other: Self) -> Self {
        Self {
            exponent: self.exponent.select(mask, other.exponent),
            argument: self.argument.select(mask, other.argument),
            mean: self.mean.select(mask, other.mean),
            excess: self.excess.select(mask, other.excess),
            divisor: self.divisor.select(mask, other.divisor),
        }
    }
}

#[inline(always)]
fn density<L: Lanes>(x: L) -> L {
    L::splat(FRAC_1_SQRT_2PI) * decay(x * x * L::splat(-0.5))
}

/// S_0, S_1 and S_2 at z with `square` = h². He_(n+1) = z He_n - n He_(n-1) gives each term from those before it.
#[inline(always)]
fn series<L: Lanes>(z: L, square: L) -> [L; 3] {
    /// 1 / (2n + 1)!
    const INVERSE_FACTORIALS: [f32; 4] = [1.0, 1.0 / 6.0, 1.0 / 120.0, 1.0 / 5040.0];
    let mut terms = [L::splat(1.0), z, z.mul_add(z, L::splat(-1.0))];
    let mut sums = terms;
    for (n, inverse) in INVERSE_FACTORIALS.into_iter().enumerate().skip(1) {
        let even = square * terms[2];
        let odd = (square * terms[1]).neg_mul_add(L::splat(2.0 * n as f32), z * even);
        terms = [even, odd, even.neg_mul_add(L::splat((2 * n + 1) as f32), z * odd)];
        for (sum, term) in sums.iter_mut().zip(terms) {
            *sum = term.mul_add(L::splat(inverse), *sum);
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::super::lanes::{Chunk, Isa, Kernel, WIDTH};
    use super::*;

    // Expected values: Python mpmath, 400 digits, (a, b, log mass, mean, excess) by the definitions at the top, with
    // `mp.erfc(a / mp.sqrt(2)) / 2 - mp.erfc(b / mp.sqrt(2)) / 2` as the mass.
    const TRUNCATED: [(f64, f64, f64, f64, f64); 14] = [
        (-0.5, 0.5, -0.9599163336956223, 0.0, -0.9194108453991883),
        (-0.25, 0.75, -0.988649153406655, 0.2298723947985394, -0.866805507581115),
        (-3.0, 5.0, -0.001351097003834711, 0.004436351586384508, -0.013320964595750351),
        (-2.0, f64::INFINITY, -0.023012909328963486, 0.05524786267898996, -0.11049572535797993),
        (0.0, f64::INFINITY, -std::f64::consts::LN_2, 0.7978845608028654, 0.0),
        (3.0, f64::INFINITY, -6.607726221510349, 3.2830986549304364, 9.84929596479131),
        (40.0, f64::INFINITY, -804.6084420137538, 40.02496884720726, 1600.9987538882906),
        (0.75, 0.7500000009313226, -21.99460395035228, 0.7500000004656613, -0.43749999930150807),
        (0.25, 0.251953125, -7.18875792464018, 0.2509764827167099, -0.9370104872317544),
        (6.0, 6.125, -21.352181520305493, 6.054684656891723, 35.66047120056531),
        (39.0, 39.001953125, -767.6951079747006, 39.00096416562384, 1520.0752061660742),
        (-0.0009765625, 0.001953125, -6.751798526973038, 0.00048828090075413443, -0.9999990463262293),
        (1.0, 1001.0, -1.8410216450092636, 1.525135276160981, 1.525135276160981),
        (12.5, 15.0, -81.57596787074388, 12.579007304406973, 157.23759130508714),
    ];

    #[test]
    fn mass_and_moments_agree_with_high_precision() {
        let close = |found: f64, expected: f64| (found - expected).abs() <= 2e-13 * expected.abs().max(1.0);
        for (a, b, log_mass, mean, excess) in TRUNCATED {
            for sign in [1.0, -1.0] {
                let found =
                    if sign > 0.0 { TruncatedNormal::new(a, b, b - a) } else { TruncatedNormal::new(-b, -a, b - a) };
                assert!(close(found.log_mass, log_mass), "{a} {b}: {found:?}");
                assert!(close(sign * found.mean, mean) && close(found.excess, excess), "{a} {b}: {found:?}");
            }
        }
        let all = TruncatedNormal::new(f64::NEG_INFINITY, f64::INFINITY, f64::INFINITY);
        assert_eq!((all.log_mass, all.mean, all.excess), (0.0, 0.0, 0.0));
    }

    struct Map<'a>(&'a [[f32; 3]]);

    impl Kernel for Map<'_> {
        type Output = Vec<[f32; 3]>;
        #[inline(always)]
        fn run<L: Lanes>(self) -> Vec<[f32; 3]> {
            let mut found = Vec::new();
            for part in self.0.chunks(WIDTH) {
                let list = |at: usize| Chunk(std::array::from_fn(|lane| part[lane.min(part.len() - 1)][at]));
                let TruncatedNormal { log_mass, mean, excess } =
                    TruncatedNormal::lanes(L::load(&list(0)), L::load(&list(1)), L::load(&list(2)));
                let mut chunks = [Chunk::ZERO; 3];
                for (chunk, lanes) in chunks.iter_mut().zip([log_mass, mean, excess]) {
                    lanes.store(chunk);
                }
                found.extend((0..part.len()).map(|lane| chunks.map(|chunk| chunk.0[lane])));
            }
            found
        }
    }

    /// Ends and widths: middles up to 40 and widths from 1e-3 to 1e3, and the same ends with the other side open.
    fn intervals() -> Vec<[f32; 3]> {
        let mut intervals = Vec::new();
        for z in (-400..=400).map(|tenths| tenths as f32 / 10.0) {
            for w in (0..=120).map(|step| libm::powf(10.0, -3.0 + step as f32 / 20.0)) {
                let (a, b) = (z - 0.5 * w, z + 0.5 * w);
                intervals.push([a, b, w]);
                intervals.push([a, f32::INFINITY, f32::INFINITY]);
                intervals.push([f32::NEG_INFINITY, b, f32::INFINITY]);
            }
        }
        intervals
    }

    #[test]
    fn lanes_agree_with_doubles() {
        let intervals = intervals();
        for ([a, b, w], found) in intervals.iter().zip(Isa::best().run(Map(&intervals))) {
            let [a, b, w] = [a, b, w].map(|number| f64::from(*number));
            // The width is that of the rounded ends.
            let z = 0.5 * (a + b);
            let [a, b] = if z.is_finite() { [z - 0.5 * w, z + 0.5 * w] } else { [a, b] };
            let expected = TruncatedNormal::new(a, b, w);
            for (at, expected) in [expected.log_mass, expected.mean, expected.excess].into_iter().enumerate() {
                let error = (f64::from(found[at]) - expected).abs() / (1.0 + expected.abs());
                assert!(error < 3e-6, "{at}: {a} {b} {w}: {found:?} {expected}");
            }
        }
    }

    #[test]
    fn lanes_are_finite_and_the_same_bits_everywhere() {
        let ends = [0.0, 1e-30, 1e-3, 0.3, 5.7, 38.0, 300.0, 1e5, 1e8, 1e12, 1e30, f32::INFINITY];
        let ends: Vec<f32> = ends.into_iter().flat_map(|end| [-end, end]).collect();
        let pairs = ends.iter().flat_map(|a| ends.iter().map(|b| [*a, *b])).filter(|[a, b]| a < b);
        let mut all: Vec<[f32; 3]> = pairs.map(|[a, b]| [a, b, b - a]).collect();
        // Cells that are narrower than the distance of neighbouring numbers.
        all.extend(ends.iter().flat_map(|a| [1e-30, 1e-12, 1e-6].map(|w| [*a, *a, w])));
        all.extend(intervals());
        let plain = Isa::Plain.run(Map(&all));
        for (interval, found) in all.iter().zip(&plain) {
            assert!(found.iter().all(|x| x.is_finite() && !x.is_subnormal()), "{interval:?}: {found:?}");
        }
        let bits = |list: Vec<[f32; 3]>| list.into_iter().map(|found| found.map(f32::to_bits)).collect::<Vec<_>>();
        let plain = bits(plain);
        for isa in Isa::ALL {
            assert!(plain == bits(isa.run(Map(&all))), "{isa:?}");
        }
    }

    #[test]
    fn nan_stays_nan() {
        let found = Isa::best().run(Map(&[[f32::NAN, f32::NAN, 1.0], [f32::NAN, f32::INFINITY, f32::INFINITY]]));
        assert!(found.iter().all(|[log_mass, ..]| log_mass.is_nan()), "{found:?}");
    }
}
