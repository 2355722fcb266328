//! The standard normal distribution in f64: density, distribution function, quantile, tail mean.
//!
//! Everything transcendental comes from `libm`, so the bits do not depend on the machine.

use std::f64::consts::{FRAC_1_SQRT_2, PI};

/// 1 / sqrt(2 pi).
pub const FRAC_1_SQRT_2PI: f64 = 0.398_942_280_401_432_7;
/// sqrt(2 pi).
const SQRT_2PI: f64 = 2.506_628_274_631_000_2;
/// ln(sqrt(2 pi)).
const LN_SQRT_2PI: f64 = 0.918_938_533_204_672_8;

/// Density `exp(-z^2 / 2) / sqrt(2 pi)`.
#[inline]
pub fn pdf(z: f64) -> f64 {
    FRAC_1_SQRT_2PI * libm::exp(-0.5 * z * z)
}

/// Logarithm of the density, `-z^2 / 2 - ln(sqrt(2 pi))`.
#[inline]
pub fn log_pdf(z: f64) -> f64 {
    -0.5 * z * z - LN_SQRT_2PI
}

/// From here on [`cdf`] is 1 to the last bit: the upper tail has less than half of an `EPSILON`.
const CDF_IS_1: f64 = 9.0;

/// Distribution function `erfc(-z / sqrt 2) / 2`: accurate relative to itself in the lower tail; the upper tail is `cdf(-z)`.
#[inline]
pub fn cdf(z: f64) -> f64 {
    if z >= CDF_IS_1 { 1.0 } else { 0.5 * libm::erfc(-z * FRAC_1_SQRT_2) }
}

/// The quantile at `p`; -inf at 0, inf at 1, NaN outside [0, 1].
pub fn quantile(p: f64) -> f64 {
    if p <= 0.5 { lower_quantile(p) } else { -lower_quantile(1.0 - p) }
}

/// The quantile for `p` up to 1/2: a rough start, then two Halley steps, each of which cubes the error.
///
/// With u = (cdf(z) - p) / pdf(z) and pdf' = -z pdf, Halley's step is z - u / (1 + z u / 2).
fn lower_quantile(p: f64) -> f64 {
    if p <= 0.0 || p.is_nan() {
        return if p == 0.0 { f64::NEG_INFINITY } else { f64::NAN };
    }
    let central = p > 0.25;
    let mut z = if central { central_start(p - 0.5) } else { tail_start(p) };
    for _ in 0..2 {
        // Around the median the difference to 1/2 is what is small, in the tail p itself is.
        let error = if central { 0.5 * libm::erf(z * FRAC_1_SQRT_2) - (p - 0.5) } else { cdf(z) - p };
        let u = error / pdf(z);
        z -= u / (1.0 + 0.5 * z * u);
    }
    z
}

/// Maclaurin series of the quantile at 1/2 + q (the inverse of erf), error below 2e-4 for |q| <= 1/4.
fn central_start(q: f64) -> f64 {
    const C3: f64 = PI / 3.0;
    const C5: f64 = 7.0 * PI * PI / 30.0;
    const C7: f64 = 127.0 * PI * PI * PI / 630.0;
    let square = q * q;
    SQRT_2PI * q * (1.0 + square * (C3 + square * (C5 + square * C7)))
}

/// Abramowitz and Stegun 26.2.23 (Hastings), error below 4.5e-4 for every p up to 1/2.
fn tail_start(p: f64) -> f64 {
    const NUMERATOR: [f64; 3] = [2.515517, 0.802853, 0.010328];
    const DENOMINATOR: [f64; 3] = [1.432788, 0.189269, 0.001308];
    let t = (-2.0 * libm::log(p)).sqrt();
    let numerator = NUMERATOR[0] + t * (NUMERATOR[1] + t * NUMERATOR[2]);
    let denominator = 1.0 + t * (DENOMINATOR[0] + t * (DENOMINATOR[1] + t * DENOMINATOR[2]));
    numerator / denominator - t
}

/// The mean distance below `a` of a standard normal variable, given that it lies below: `a - E[Z | Z <= a]`.
///
/// E[Z | Z <= a] = -pdf(a) / cdf(a), so the answer is a + pdf(a) / cdf(a), two numbers that cancel in the lower tail.
/// There Laplace's continued fraction of Mills' ratio, cdf(-x) / pdf(x) = 1 / (x + 1/(x + 2/(x + 3/(x + ...)))),
/// gives it directly: 1/(x + 2/(x + 3/(x + ...))) with x = -a.
pub fn mean_depth_below(a: f64) -> f64 {
    /// Below this the continued fraction is used.
    const TAIL: f64 = -4.0;
    /// Enough for full precision from `TAIL` on.
    const DEPTH: u32 = 60;
    if a > TAIL {
        return a + pdf(a) / cdf(a);
    }
    let x = -a;
    let mut fraction = x;
    for n in (2..=DEPTH).rev() {
        fraction = x + f64::from(n) / fraction;
    }
    1.0 / fraction
}

/// Numerator of [`mills`], the lowest power first.
pub(crate) const MILLS_TOP: [f64; 11] = [
    1.2533141373155003,
    2.157925638770891,
    1.834909986775203,
    0.9988347644867525,
    0.3824002792574154,
    0.10719821543185261,
    0.02227228942368047,
    0.003393808225469459,
    0.00036480624757564436,
    2.5202874410883456e-05,
    8.634926542553868e-07,
];
/// Denominator of [`mills`], the lowest power first.
pub(crate) const MILLS_BOTTOM: [f64; 12] = [
    1.0,
    2.5196601113388217,
    2.9744442502189474,
    2.176349446194663,
    1.0994974095509655,
    0.40395159056669205,
    0.11054161792053765,
    0.02263536868577354,
    0.0034190110998818407,
    0.00036566974022989317,
    2.5202874410883466e-05,
    8.634926542553868e-07,
];

/// [`mills`] at 0, sqrt(pi / 2).
pub(crate) const MILLS_AT_0: f64 = MILLS_TOP[0];

/// Mills' ratio (1 - cdf(x)) / pdf(x) for x >= 0: the upper tail without its exponential.
///
/// P(x) / Q(x), interpolated at the Chebyshev nodes of (x - 4) / (x + 4) up to x = 1e7 in 60 digits: relative error 2e-17
/// before rounding. All coefficients are positive, so nothing cancels.
#[inline]
pub fn mills(x: f64) -> f64 {
    if x > 1e7 {
        return 1.0 / (x + 1.0 / x);
    }
    let horner = |coefficients: &[f64]| coefficients.iter().rev().fold(0.0, |sum, coefficient| sum * x + coefficient);
    horner(&MILLS_TOP) / horner(&MILLS_BOTTOM)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_close(found: f64, expected: f64, relative: f64) {
        assert!((found - expected).abs() <= relative * expected.abs(), "found {found:e}, expected {expected:e}");
    }

    // Expected values in this file: Python mpmath with 50 digits, e.g. `mp.sqrt(2) * mp.erfinv(2 * mp.mpf(p) - 1)`
    // (tails by `mp.findroot` on `mp.log(mp.ncdf(z)) - mp.log(mp.mpf(p))`), p the double nearest to the literal.

    #[test]
    fn quantiles_agree_with_published_numbers() {
        // NIST/SEMATECH e-Handbook of Statistical Methods, table of percentage points: 1.282, 1.645, 1.960, 2.326, 3.090.
        for (p, z) in [(0.9, 1.282), (0.95, 1.645), (0.975, 1.960), (0.99, 2.326), (0.999, 3.090)] {
            assert!((quantile(p) - z).abs() < 5e-4, "{p}");
        }
    }

    #[test]
    fn quantile_has_full_precision() {
        for (p, z) in QUANTILES {
            assert_close(quantile(p), z, 4e-16);
        }
        assert_eq!(quantile(0.5), 0.0);
        assert_eq!(quantile(0.0), f64::NEG_INFINITY);
        assert_eq!(quantile(1.0), f64::INFINITY);
        assert!(quantile(-0.1).is_nan() && quantile(1.1).is_nan() && quantile(f64::NAN).is_nan());
    }

    #[test]
    fn quantile_inverts_cdf_from_tail_to_tail() {
        for step in -370..=370 {
            let z = f64::from(step) / 10.0;
            // The upper tail is the lower one mirrored; above 8 the cdf is 1 to double precision.
            let inverse = if z <= 0.0 { quantile(cdf(z)) } else { -quantile(cdf(-z)) };
            assert!((inverse - z).abs() <= 1e-15 * z.abs().max(1.0), "{z} {inverse}");
        }
    }

    #[test]
    fn cdf_and_pdf_agree_with_high_precision() {
        for (z, expected) in CDFS {
            assert_close(cdf(z), expected, 1e-15 * (1.0 + z * z));
        }
        for (z, expected) in PDFS {
            assert_close(pdf(z), expected, 1e-15 * (1.0 + z * z));
            assert_close(log_pdf(z), libm::log(expected), 1e-15);
        }
        assert_eq!(0.5 * libm::erfc(-CDF_IS_1 * FRAC_1_SQRT_2), 1.0);
        assert_eq!(cdf(CDF_IS_1.next_down()), 1.0);
        assert_eq!(pdf(1e200), 0.0);
        assert_close(log_pdf(1e150), -0.5e300, 1e-15);
    }

    #[test]
    fn mean_depth_has_full_precision_in_the_tail() {
        for (a, expected) in DEPTHS {
            assert_close(mean_depth_below(a), expected, 1e-13);
        }
    }

    #[test]
    fn mills_ratio_has_full_precision() {
        for (x, expected) in MILLS {
            assert_close(mills(x), expected, 1.5e-15);
        }
        assert_eq!(mills(0.0), MILLS_AT_0);
        // Two independent ways to the same number.
        for step in 0..=3700 {
            let x = f64::from(step) / 100.0;
            assert_close(mills(x) * pdf(x), cdf(-x), 1e-15 * (2.0 + x * x));
        }
    }

    const QUANTILES: [(f64, f64); 20] = [
        (1e-300, -37.0470962993612),
        (1e-200, -30.20559417957964),
        (1e-100, -21.273453560965326),
        (1e-16, -8.222082216130435),
        (1e-8, -5.612001244174789),
        (1e-3, -3.0902323061678136),
        (0.024, -1.9773684281819468),
        (0.025, -1.9599639845400543),
        (0.1, -1.2815515655446004),
        (0.24, -0.7063025628400875),
        (0.26, -0.643345405392917),
        (0.4, -0.2533471031357997),
        (0.4999999999, -2.506628482030354e-10),
        (0.500000001, 2.5066282037387115e-9),
        (0.6, 0.2533471031357997),
        (0.75, 0.6744897501960817),
        (0.9, 1.2815515655446006),
        (0.975, 1.9599639845400538),
        (0.999999, 4.753424308817087),
        (0.9999999999999999, 8.209536151601387),
    ];
    const CDFS: [(f64, f64); 9] = [
        (-37.0, 5.725571222524577e-300),
        (-20.0, 2.7536241186062337e-89),
        (-8.0, 6.220960574271784e-16),
        (-3.0, 0.0013498980316300946),
        (-1.0, 0.15865525393145705),
        (-0.5, 0.3085375387259869),
        (0.5, 0.6914624612740131),
        (1.0, 0.8413447460685429),
        (3.0, 0.9986501019683699),
    ];
    const PDFS: [(f64, f64); 6] = [
        (-37.0, 2.1200065515246056e-298),
        (-8.0, 5.052271083536892e-15),
        (-1.0, 0.24197072451914334),
        (0.0, 0.3989422804014327),
        (0.5, 0.35206532676429947),
        (3.0, 0.0044318484119380075),
    ];
    const DEPTHS: [(f64, f64); 11] = [
        (-1e6, 9.99999999998e-7),
        (-37.0, 0.026987686126990096),
        (-10.0, 0.09809323396251196),
        (-5.0, 0.1865039671258421),
        (-4.5, 0.2043198448277324),
        (-4.0, 0.22560714448947108),
        (-3.9, 0.23036532090811224),
        (-2.0, 0.37321553282284087),
        (0.0, 0.7978845608028654),
        (3.0, 3.004437839042126),
        (40.0, 40.0),
    ];
    const MILLS: [(f64, f64); 14] = [
        (0.0, 1.2533141373155003),
        (1e-09, 1.2533141363155003),
        (0.3, 1.0018374009921558),
        (1.0, 0.6556795424187984),
        (2.5, 0.35426511132979366),
        (4.0, 0.23665238291356067),
        (7.5, 0.13107935580449176),
        (12.0, 0.08276628650136918),
        (25.0, 0.039936304769535594),
        (38.5, 0.02595653794411066),
        (1000.0, 0.0009999990000029999),
        (9000000.0, 1.1111111111110975e-07),
        (20000000.0, 4.999999999999987e-08),
        (1e+200, 1e-200),
    ];
}
