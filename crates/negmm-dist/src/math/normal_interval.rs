//! Intervals of the standard normal distribution: their probability, and moments within.
//!
//! An interval begins a >= 0 above the mean and is w wide; w may be infinite. As a function of the distance t from its beginning, and
//! without the factor pdf(a), the density is exp(-a t - t²/2) for t in (0, w): nothing underflows, however far out it lies.

use std::f64::consts::FRAC_1_SQRT_2;

use super::lanes::{Isa, Kernel, Lanes};
use super::{normal, quadrature};

/// Below this value of w (a + 1) the truncation error of the series is less than 1e-16, and above it the difference of two tails loses
/// at most two bits.
const NARROW: f64 = 0.5;
/// Below this the 16-point rule is exact to rounding, and above it the differences of the tails' moments are.
const NARROW_MOMENTS: f64 = 2.0;
/// From here on 2 cdf(w) - 1 is 1 to the last bit.
const ERF_IS_1: f64 = 9.0;
/// Beyond this exponent of its density an end is negligible.
const NEGLIGIBLE: f64 = 700.0;

/// ∫ exp(-a t - t²/2) dt over (0, w): the probability of the interval, as a multiple of pdf(a).
pub fn mass(a: f64, w: f64) -> f64 {
    if a == 0.0 {
        return normal::MILLS_AT_0 * if w < ERF_IS_1 { libm::erf(w * FRAC_1_SQRT_2) } else { 1.0 };
    }
    if w * (a + 1.0) < NARROW {
        return w * decay(a, 0.5 * w) * series(a + 0.5 * w, 0.5 * w);
    }
    let rest = decay(a, w);
    normal::mills(a) - if rest > 0.0 { rest * normal::mills(a + w) } else { 0.0 }
}

/// The mean of pdf(z + t) / pdf(z) over -h < t < h.
///
/// Taylor's series is pdf(z + t) / pdf(z) = sum_n (-t)^n He_n(z) / n! with Hermite's polynomials, so the terms are
/// v_n = h^(2n) He_2n(z) / (2n + 1)!, and He_(2n+2) = (z² - 4n - 1) He_2n - 2n (2n - 1) He_(2n-2) gives each from those before it.
fn series(z: f64, h: f64) -> f64 {
    const TERMS: u32 = 7;
    let (square, slope) = (h * h, h * z * h * z);
    let (mut before, mut term, mut sum) = (0.0, 1.0, 1.0);
    for n in (0..TERMS).map(f64::from) {
        let (this, last) = (1.0 / ((2.0 * n + 2.0) * (2.0 * n + 3.0)), (2.0 * n - 1.0) / (2.0 * n + 1.0));
        let next = this * ((slope - (4.0 * n + 1.0) * square) * term - last * square * square * before);
        (before, term) = (term, next);
        sum += term;
    }
    sum
}

/// ∫ t^n exp(-a t - t²/2) dt over (0, w) for n = 0, 1, 2.
///
/// A wide interval is the tail from a minus the tail from a + w, whose moments are shifted by w.
pub fn moments(a: f64, w: f64) -> [f64; 3] {
    moments_by(a, w, &mut |x| far_tails(&[x])[0])
}

/// The same; `far` gives the moments of the tails whose beginnings [`needed_far_tails`] lists, in its order.
pub fn moments_by(a: f64, w: f64, far: &mut impl FnMut(f64) -> [f64; 3]) -> [f64; 3] {
    if is_narrow(a, w) {
        return quadrature::integral(0.0, w, |t| {
            let density = libm::exp(-t * (a + 0.5 * t));
            [density, t * density, t * t * density]
        });
    }
    let mut tail = |x: f64| if x > FAR { far(x) } else { near_tail(x) };
    let whole = tail(a);
    if is_open(a, w) {
        return whole;
    }
    let rest = decay(a, w);
    let [mass, first, second] = tail(a + w).map(|moment| rest * moment);
    [whole[0] - mass, whole[1] - (first + w * mass), whole[2] - (second + w * (2.0 * first + w * mass))]
}

/// Adds where the tails begin of which [`moments_by`] needs the moments.
pub fn needed_far_tails(a: f64, w: f64, list: &mut Vec<f64>) {
    if !is_narrow(a, w) {
        list.extend((a > FAR).then_some(a));
        list.extend((!is_open(a, w) && a + w > FAR).then_some(a + w));
    }
}

/// Whether an interval is so narrow that its moments are integrated.
fn is_narrow(a: f64, w: f64) -> bool {
    w * (a + 1.0) < NARROW_MOMENTS
}

/// Whether what lies beyond an interval's end is negligible.
fn is_open(a: f64, w: f64) -> bool {
    w * (a + 0.5 * w) > NEGLIGIBLE
}

/// The highest order of [`raw_moments`].
pub const MOST_MOMENTS: usize = 8;

/// ∫ t^n exp(-a t - t²/2) dt over (0, w) for n = 0, ..., `order`, of which the first is given, and 0 for others; `None` where digits
/// would be lost. The order is at most [`MOST_MOMENTS`].
///
/// Integration by parts: I_{n+1} = n I_{n-1} - a I_n - w^n exp(-a w - w²/2), where 1 takes the place of n I_{n-1} for n = 0. Upwards,
/// an error grows by about (a + 1)^n; where the interval is narrow, by more, and the rule for integrals takes its place.
pub fn raw_moments(a: f64, w: f64, mass: f64, order: usize) -> Option<[f64; MOST_MOMENTS + 1]> {
    /// The largest a: at most four digits are lost up to the last order.
    const NEAR: f64 = 1.0;
    /// The narrowest interval: as many.
    const WIDE: f64 = 1.0;
    let mut moments = [0.0; MOST_MOMENTS + 1];
    if w == 0.0 {
        return Some(moments);
    }
    if w < WIDE && is_narrow(a, w) {
        return Some(quadrature::integral(0.0, w, |t| {
            let density = decay(a, t);
            std::array::from_fn(|n| density * (0..n).fold(1.0, |power, _| power * t))
        }));
    }
    if a > NEAR {
        return None;
    }
    let mut rest = decay(a, w);
    moments[0] = mass;
    for n in 0..order {
        let before = if n == 0 { 1.0 } else { n as f64 * moments[n - 1] };
        moments[n + 1] = before - a * moments[n] - rest;
        rest = if rest > 0.0 { rest * w } else { 0.0 };
    }
    Some(moments)
}

/// pdf(a + t) / pdf(a).
#[inline]
pub fn decay(a: f64, t: f64) -> f64 {
    libm::exp(-t * (a + 0.5 * t))
}

/// From here on the moments of a tail are those of Laplace's continued fraction, with this many terms.
const FAR: f64 = 4.0;
const TERMS: u32 = 60;

/// The moments of the whole tail from a on.
///
/// With I_n = ∫ t^n / n! exp(-a t - t²/2) dt, integration by parts gives (n + 1) I_{n+1} = I_{n-1} - a I_n. So the ratios
/// r_n = I_n / I_{n-1} follow from each other, r_n = 1 / (a + (n + 1) r_{n+1}): downwards far out, where it is Laplace's
/// continued fraction, and upwards near the mean, where little cancels.
fn near_tail(a: f64) -> [f64; 3] {
    let mass = if a == 0.0 { normal::MILLS_AT_0 } else { normal::mills(a) };
    let first = 1.0 / mass - a;
    let second = 0.5 * (1.0 / first - a);
    [mass, mass * first, 2.0 * mass * first * second]
}

/// The moments of whole tails that begin beyond `FAR`, many at once: a division of the fraction waits for the one before it.
pub fn far_tails(beginnings: &[f64]) -> Vec<[f64; 3]> {
    let mut found = Vec::with_capacity(beginnings.len());
    let isa = Isa::best();
    for part in beginnings.chunks(ABREAST) {
        let mut a = [FAR; ABREAST];
        a[..part.len()].copy_from_slice(part);
        let seconds = if part.len() > 1 { isa.run(Fractions(a)) } else { [fraction(part[0]); ABREAST] };
        found.extend(part.iter().zip(seconds).map(|(&a, fraction)| {
            let (mass, second) = (normal::mills(a), 1.0 / fraction);
            let first = 1.0 / (a + 2.0 * second);
            [mass, mass * first, 2.0 * mass * first * second]
        }));
    }
    found
}

/// Tails that are processed together.
const ABREAST: usize = 16;

/// a + 3/(a + 4/(a + …)).
fn fraction(a: f64) -> f64 {
    (3..=TERMS).rev().fold(a, |fraction, n| a + f64::from(n) / fraction)
}

/// The same of each lane.
struct Fractions([f64; ABREAST]);

impl Kernel for Fractions {
    type Output = [f64; ABREAST];

    #[inline(always)]
    fn run<L: Lanes>(self) -> [f64; ABREAST] {
        let a = self.0;
        let mut fractions = a;
        for n in (3..=TERMS).rev() {
            fractions.iter_mut().zip(a).for_each(|(fraction, a)| *fraction = a + f64::from(n) / *fraction);
        }
        fractions
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Python mpmath, 60 digits: `mp.quad(lambda t: t**n * mp.exp(-a*t - t*t/2), ...)`.
    const INTERVALS: &[(f64, f64, [f64; 3])] = &[
        (0.0, 9.313225746154785e-10, [9.313225746154785e-10, 4.336808689942018e-19, 2.692645223154387e-28]),
        (0.0, 0.125, [0.12467524068911467, 0.007782061739756488, 0.00064799840658423]),
        (0.0, 2.0, [1.1962880133226081, 0.8646647167633873, 0.9256174468493829]),
        (0.0, 50.0, [1.2533141373155003, 1.0, 1.2533141373155003]),
        (0.5, 1.0, [0.6866064877185771, 0.2888173149692691, 0.17431838906250025]),
        (3.0, 0.25, [0.17439066443641224, 0.018994644919149022, 0.0029483892360616013]),
        (3.0, 0.5, [0.2520999927671258, 0.046788346494428604, 0.013279115681742941]),
        (3.0, 3.0, [0.30459007609697364, 0.08622840074999262, 0.04590076096973664]),
        (4.5, 1.0, [0.21138252550927994, 0.042040688209154846, 0.015461481568997657]),
        (40.0, 0.03125, [0.017835325153051973, 0.00022205778959784596, 4.1093163780327815e-06]),
        (40.0, 0.0625, [0.022940750301183754, 0.0004451551288588602, 1.4243095342408316e-05]),
        (40.0, 1.0, [0.02498440420572057, 0.0006238317711771541, 3.11333586344069e-05]),
        (10000.0, 9.5367431640625e-07, [9.491412645259836e-07, 4.518664586075191e-13, 2.8706049555201696e-19]),
        (10000.0, 0.0009765625, [9.999425991448054e-05, 9.993821215812965e-09, 1.993290964849539e-12]),
        (0.0, f64::INFINITY, [1.2533141373155003, 1.0, 1.2533141373155003]),
        (1.0, f64::INFINITY, [0.6556795424187984, 0.34432045758120156, 0.31135908483759694]),
        (3.99, f64::INFINITY, [0.2371874445304856, 0.053622096323362456, 0.02323528020026938]),
        (4.01, f64::INFINITY, [0.2361196303572521, 0.05316028226741905, 0.02294689846490176]),
        (30.0, f64::INFINITY, [0.03329641907249721, 0.0011074278250835985, 7.358431998925706e-05]),
        (100000.0, f64::INFINITY, [9.999999999e-06, 9.999999997e-11, 1.9999999988e-15]),
    ];

    #[test]
    fn moments_agree_with_high_precision() {
        for &(a, w, expected) in INTERVALS {
            let found = moments(a, w);
            for (found, expected) in found.into_iter().zip(expected).chain([(mass(a, w), expected[0])]) {
                assert!((found / expected - 1.0).abs() < 3e-13, "{a} {w}: {found:e} {expected:e}");
            }
        }
    }

    #[test]
    fn tails_at_once_are_those_of_each() {
        let intervals =
            [(0.0, 5.0), (4.5, 1.0), (3.0, 0.2), (6.0, 1e9), (1.0, 30.0), (2.0, 40.0), (0.0, 3.0), (9.0, 2.0)];
        let mut beginnings = Vec::new();
        intervals.iter().for_each(|(a, w)| needed_far_tails(*a, *w, &mut beginnings));
        assert_eq!(beginnings, [5.0, 4.5, 5.5, 6.0, 31.0, 9.0, 11.0]);
        let mut far = far_tails(&beginnings).into_iter();
        for (a, w) in intervals {
            assert_eq!(moments_by(a, w, &mut |_| far.next().unwrap()), moments(a, w));
        }
        assert!(far.next().is_none());
        assert_eq!(libm::erf(ERF_IS_1 * FRAC_1_SQRT_2), 1.0);
    }

    #[test]
    fn higher_moments_agree_with_integrals() {
        for a in [0.0, 0.2, 0.7, 1.0] {
            for w in [0.0, 1e-3, 0.5, 0.99, 1.01, 1.99, 2.01, 3.0, 6.0, 30.0, f64::INFINITY] {
                let found = raw_moments(a, w, mass(a, w), MOST_MOMENTS).unwrap();
                let end = w.min(40.0);
                for (order, found) in found.into_iter().enumerate() {
                    let parts = 40;
                    let at = |part: i32| end * f64::from(part) / f64::from(parts);
                    let of_part = |part| {
                        quadrature::integral(at(part), at(part + 1), |t| [t.powi(order as i32) * decay(a, t)])[0]
                    };
                    let expected: f64 = (0..parts).map(of_part).sum();
                    assert!((found - expected).abs() <= 1e-11 * expected, "{a} {w} {order}: {found:e} {expected:e}");
                }
            }
        }
        assert_eq!(raw_moments(1.5, 3.0, 1.0, 3), None);
    }

    #[test]
    fn the_mass_is_the_moment_of_order_zero() {
        for a in [1e-9, 0.1, 0.7, 1.0, 2.5, 6.0, 40.0, 1e5] {
            for scaled_width in [1e-12, 1e-3, 0.1, 0.3, 0.499, 0.501, 0.7, 1.0, 1.9] {
                let w = scaled_width / (a + 1.0);
                let (mass, [moment, ..]) = (mass(a, w), moments(a, w));
                assert!((mass / moment - 1.0).abs() < 2e-15, "{a} {w}: {mass:e} {moment:e}");
            }
        }
    }

    #[test]
    fn the_formulas_agree_where_one_replaces_another() {
        for a in [0.0, 0.3, 2.0, 3.999_999, 4.000_001, 50.0, 1e6] {
            let w = NARROW_MOMENTS / (a + 1.0);
            let (narrow, wide) = (moments(a, w * (1.0 - 1e-14)), moments(a, w * (1.0 + 1e-14)));
            for (narrow, wide) in narrow.into_iter().zip(wide) {
                assert!((narrow / wide - 1.0).abs() < 3e-13, "{a}: {narrow:e} {wide:e}");
            }
        }
        assert_eq!(mass(3.0, 0.0), 0.0);
        assert_eq!(moments(1.0, 1e200), moments(1.0, f64::INFINITY));
    }
}
