//! Elementary functions of sixteen `f32` lanes: exp, ln, softplus, sigmoid, tanh, sine and cosine, the centred
//! normal cdf and Mills' ratio.
//!
//! Polynomials and rational functions are interpolated at Chebyshev nodes on the reduced range (errors below 3e-8 before
//! rounding to `f32`), evaluated by Horner's rule with fused multiply-add, so every instruction set gives the same bits.
//! No result is denormal where the argument is normal: tiny exponentials are exactly zero.

use super::lanes::Lanes;

/// Coefficients, lowest power first.
#[inline(always)]
fn horner<L: Lanes, const N: usize>(x: L, coefficients: [f32; N]) -> L {
    let mut sum = L::splat(coefficients[N - 1]);
    for &coefficient in coefficients[..N - 1].iter().rev() {
        sum = sum.mul_add(x, L::splat(coefficient));
    }
    sum
}

/// Below this, [`exp`] is exactly zero: e^-80 is 1.8e-35, still far from denormal.
const EXP_LOWEST: f32 = -80.0;
/// Above this, [`exp`] stays at e^88 (1.7e38), the last power of e before overflow.
const EXP_HIGHEST: f32 = 88.0;
/// Below this, [`decay`] is exactly zero: e^-27 is 1.9e-12, and the product of three such numbers is still normal.
const DECAY_LOWEST: f32 = -27.0;
/// ln 2 in two parts; the first has few enough bits that a whole multiple of it is exact.
const LN_2_HIGH: f32 = 0.693_359_4;
const LN_2_LOW: f32 = -2.121_944_4e-4;

/// e^x for x from -87 to 88: 2^n e^r with |r| at most ln(2)/2.
#[inline(always)]
fn exp_unclamped<L: Lanes>(x: L) -> L {
    let n = (x * L::splat(std::f32::consts::LOG2_E)).round();
    let r = n.neg_mul_add(L::splat(LN_2_HIGH), x);
    let r = n.neg_mul_add(L::splat(LN_2_LOW), r);
    let square = r * r;
    let low = r.mul_add(L::splat(0.166_665_73), L::splat(0.5));
    let high = r.mul_add(L::splat(0.008_363_869), L::splat(0.041_666_5));
    let high = square.mul_add(L::splat(0.001_393_226_7), high);
    let tail = square.mul_add(high, low);
    square.mul_add(tail, r + L::splat(1.0)).scale(n)
}

/// e^x, exactly zero below -80, at most e^88.
#[inline(always)]
pub fn exp<L: Lanes>(x: L) -> L {
    let lowest = L::splat(EXP_LOWEST);
    let power = exp_unclamped(x.max(lowest).min(L::splat(EXP_HIGHEST)));
    power.select(x.gt(lowest), L::splat(0.0))
}

/// e^x for x that is never positive, exactly zero below -27: for weights and densities that are multiplied with each other.
#[inline(always)]
pub fn decay<L: Lanes>(x: L) -> L {
    let lowest = L::splat(DECAY_LOWEST);
    exp_unclamped(x.max(lowest)).select(x.gt(lowest), L::splat(0.0))
}

/// The natural logarithm of a normal positive number.
#[inline(always)]
pub fn ln<L: Lanes>(x: L) -> L {
    let (mantissa, exponent) = x.split();
    let t = mantissa - L::splat(1.0);
    let square = t * t;
    let tail = horner(
        t,
        [
            0.333_333_3,
            -0.250_003_07,
            0.200_010_45,
            -0.166_412_82,
            0.142_144_96,
            -0.129_981_83,
            0.126_223_19,
            -0.079_027_44,
        ],
    );
    let low = exponent.mul_add(L::splat(LN_2_LOW), (square * t) * tail);
    let low = square.mul_add(L::splat(-0.5), low);
    exponent.mul_add(L::splat(LN_2_HIGH), t + low)
}

/// ln(1 + t) for t in [0, 1].
#[inline(always)]
fn ln_1p_unit<L: Lanes>(t: L) -> L {
    t * horner(
        t,
        [
            1.0,
            -0.499_998_93,
            0.333_297_1,
            -0.249_516_16,
            0.196_632_74,
            -0.152_696_67,
            0.105_436_236,
            -0.056_373_61,
            0.019_542_526,
            -0.003_176_057,
        ],
    )
}

/// softplus(x) = ln(1 + e^x) and its derivative, the sigmoid of x. Below -27 both are exactly zero: an e^-80 would go on
/// through products and end as slow denormals.
#[inline(always)]
pub fn softplus<L: Lanes>(x: L) -> (L, L) {
    let (zero, one) = (L::splat(0.0), L::splat(1.0));
    let small = decay(zero - x.abs());
    let value = x.max(zero) + ln_1p_unit(small);
    (value, one.select(x.gt(zero), small) / (one + small))
}

/// 1 / (1 + e^-x), exactly zero below -27.
#[inline(always)]
pub fn sigmoid<L: Lanes>(x: L) -> L {
    let (zero, one) = (L::splat(0.0), L::splat(1.0));
    let small = decay(zero - x.abs());
    one.select(x.gt(zero), small) / (one + small)
}

/// The hyperbolic tangent: x P(x²)/Q(x²) up to |x| = 9, where it is 1 in `f32`.
#[inline(always)]
pub fn tanh<L: Lanes>(x: L) -> L {
    let x = x.max(L::splat(-9.0)).min(L::splat(9.0));
    let square = x * x;
    let top = horner(square, [1.0, 0.140_253_63, 0.004_328_735, 3.986_411e-5, 9.833_163e-8, 2.954_169_5e-11]);
    let bottom = horner(square, [1.0, 0.473_586_9, 0.028_857_762, 4.824_192_4e-4, 2.387_158_5e-6, 2.498_265_6e-9]);
    x * top / bottom
}

/// sin(2 pi t) and cos(2 pi t) of an angle t in turns: only the fraction of t counts, from -1/2 to 1/2, and it is exact.
#[inline(always)]
pub fn sin_cos_turns<L: Lanes>(t: L) -> (L, L) {
    let r = t - t.round();
    let square = r * r;
    let sin = horner(square, [6.283_185_5, -41.341_7, 81.605_13, -76.703, 42.025_852, -14.899_578, 3.237_78]);
    let cos = horner(square, [1.0, -19.739_204, 64.939_12, -85.450_11, 60.167_43, -25.966_885, 6.527_706]);
    (r * sin, cos)
}

/// 2 Phi(w) - 1 = erf(w / sqrt 2): w P(w²)/Q(w²) up to |w| = 5.6, where it is 1 in `f32`.
/// Near zero its relative error is that of `f32` (an absolute-error approximation would spoil gradients there).
#[inline(always)]
pub fn centred_cdf<L: Lanes>(w: L) -> L {
    let w = w.max(L::splat(-5.6)).min(L::splat(5.6));
    let square = w * w;
    let top = horner(
        square,
        [0.797_884_6, 0.065_289_06, 0.009_634_684, 3.415_644_5e-4, 1.726_954_7e-5, 1.100_304_3e-7, -1.616_907_9e-10],
    );
    let bottom = horner(square, [1.0, 0.248_494_33, 0.028_490_974, 0.001_940_554_2, 8.288_654e-5, 2.061_371_6e-6]);
    w * top / bottom
}

/// Mills' ratio (1 - cdf(x)) / pdf(x) of a standard normal variable for x >= 0: P((x - k) / (x + k)) / (x + k) with k = 7/2.
#[inline(always)]
pub fn mills<L: Lanes>(x: L) -> L {
    let inverse = L::splat(1.0) / (x + L::splat(3.5));
    let t = inverse.neg_mul_add(L::splat(7.0), L::splat(1.0));
    let product = horner(
        t,
        [
            1.865_974_4,
            -1.417_653_5,
            0.790_653_35,
            -0.290_891_83,
            0.043_630_52,
            0.016_205_939,
            -0.007_968_536,
            -0.001_047_190_6,
            0.001_134_735_4,
            8.681_757e-5,
            -1.247_471e-4,
        ],
    );
    product * inverse
}

/// 1 / sqrt(x) for a normal positive number. With e = 1 - x r², the answer is r (1 - e)^(-1/2) = r (1 + e/2 + 3e²/8 + …):
/// an integer guess, one step of second order (its error is 5e³/16, at most 1e-4) and one of first (2e-8).
#[inline(always)]
pub fn rsqrt<L: Lanes>(x: L) -> L {
    let (one, half) = (L::splat(1.0), L::splat(0.5));
    let r = x.rsqrt_guess();
    let e = (x * r).neg_mul_add(r, one);
    let r = (e * r).mul_add(e.mul_add(L::splat(0.375), half), r);
    let e = (x * r).neg_mul_add(r, one);
    (r * half).mul_add(e, r)
}

#[cfg(test)]
mod tests {
    use super::super::lanes::{Chunk, Isa, Kernel, WIDTH};
    use super::*;

    #[derive(Clone, Copy, Debug)]
    enum Function {
        Exp,
        Decay,
        Ln,
        Softplus,
        SoftplusSlope,
        Sigmoid,
        Tanh,
        CentredCdf,
        Mills,
        Rsqrt,
        Sin,
        Cos,
    }

    struct Map<'a>(Function, &'a mut [Chunk]);

    impl Kernel for Map<'_> {
        type Output = ();
        #[inline(always)]
        fn run<L: Lanes>(self) {
            for chunk in self.1 {
                let x = L::load(chunk);
                let y = match self.0 {
                    Function::Exp => exp(x),
                    Function::Decay => decay(x),
                    Function::Ln => ln(x),
                    Function::Softplus => softplus(x).0,
                    Function::SoftplusSlope => softplus(x).1,
                    Function::Sigmoid => sigmoid(x),
                    Function::Tanh => tanh(x),
                    Function::CentredCdf => centred_cdf(x),
                    Function::Mills => mills(x),
                    Function::Rsqrt => rsqrt(x),
                    Function::Sin => sin_cos_turns(x).0,
                    Function::Cos => sin_cos_turns(x).1,
                };
                y.store(chunk);
            }
        }
    }

    fn map(isa: Isa, function: Function, x: &[f32]) -> Vec<f32> {
        let mut chunks: Vec<Chunk> = x.chunks(WIDTH).map(|part| Chunk(part.try_into().unwrap())).collect();
        isa.run(Map(function, &mut chunks));
        chunks.iter().flat_map(|chunk| chunk.0).collect()
    }

    fn grid(low: f32, high: f32) -> Vec<f32> {
        let n = 16 * 2000;
        (0..n).map(|i| low + (high - low) * (i as f32 + 0.5) / n as f32).collect()
    }

    /// The largest relative error against the same function in f64.
    fn worst(function: Function, x: &[f32], truth: impl Fn(f64) -> f64) -> f64 {
        let y = map(Isa::best(), function, x);
        x.iter().zip(y).map(|(x, y)| (f64::from(y) / truth(f64::from(*x)) - 1.0).abs()).fold(0.0, f64::max)
    }

    #[test]
    fn functions_are_accurate_to_single_precision() {
        let softplus = |x: f64| libm::log1p(libm::exp(-x.abs())) + x.max(0.0);
        let sigmoid = |x: f64| 1.0 / (1.0 + libm::exp(-x));
        assert!(worst(Function::Exp, &grid(-79.9, 87.9), libm::exp) < 2e-7);
        assert!(worst(Function::Decay, &grid(-26.9, 0.0), libm::exp) < 2e-7);
        assert!(worst(Function::Ln, &grid(2.0, 1e6), libm::log) < 2e-7);
        assert!(worst(Function::Ln, &grid(1e-30, 0.5), libm::log) < 2e-7);
        assert!(worst(Function::Ln, &grid(0.5, 2.0), libm::log) < 4e-7);
        assert!(worst(Function::Softplus, &grid(-26.9, 50.0), softplus) < 4e-7);
        assert!(worst(Function::SoftplusSlope, &grid(-26.9, 50.0), sigmoid) < 4e-7);
        assert!(worst(Function::Sigmoid, &grid(-26.9, 50.0), sigmoid) < 4e-7);
        assert!(worst(Function::Tanh, &grid(-12.0, 12.0), libm::tanh) < 4e-7);
        let centred = |w: f64| libm::erf(w / std::f64::consts::SQRT_2);
        assert!(worst(Function::CentredCdf, &grid(-8.0, 8.0), centred) < 4e-7);
        assert!(worst(Function::CentredCdf, &grid(-1e-6, 1e-6), centred) < 4e-7);
        for most in [1.0, 10.0, 1e3, 1e9] {
            assert!(worst(Function::Mills, &grid(0.0, most), crate::math::normal::mills) < 4e-7);
        }
        assert!(worst(Function::Rsqrt, &grid(1e-12, 1e12), |x| 1.0 / x.sqrt()) < 4e-7);
        assert!(worst(Function::Rsqrt, &grid(1e-12, 4.0), |x| 1.0 / x.sqrt()) < 4e-7);
    }

    #[test]
    fn sine_and_cosine_of_turns() {
        let turns = grid(-3.0, 3.0);
        for (function, truth) in [(Function::Sin, libm::sin as fn(f64) -> f64), (Function::Cos, libm::cos)] {
            let found = map(Isa::best(), function, &turns);
            let error =
                |(t, found): (&f32, f32)| (f64::from(found) - truth(std::f64::consts::TAU * f64::from(*t))).abs();
            let worst = turns.iter().zip(found).map(error).fold(0.0, f64::max);
            assert!(worst < 5e-7, "{function:?} {worst}");
        }
    }

    #[test]
    fn tiny_exponentials_are_exactly_zero() {
        let mut x = vec![-80.5; WIDTH];
        x.extend([f32::NEG_INFINITY; WIDTH]);
        assert!(map(Isa::best(), Function::Exp, &x).iter().all(|y| *y == 0.0));
        assert!(map(Isa::best(), Function::Decay, &[-27.5; WIDTH]).iter().all(|y| *y == 0.0));
        for function in [Function::Sigmoid, Function::Softplus, Function::SoftplusSlope] {
            assert!(map(Isa::best(), function, &[-27.5; WIDTH]).iter().all(|y| *y == 0.0));
        }
        assert!(map(Isa::best(), Function::Exp, &[f32::NAN; WIDTH]).iter().all(|y| *y == 0.0 || y.is_nan()));
    }

    #[test]
    fn every_instruction_set_gives_the_same_bits() {
        let positive = grid(1e-3, 80.0);
        let signed = grid(-90.0, 90.0);
        let negative = grid(-90.0, 0.0);
        let functions = [
            (Function::Exp, &signed),
            (Function::Decay, &negative),
            (Function::Ln, &positive),
            (Function::Softplus, &signed),
            (Function::SoftplusSlope, &signed),
            (Function::Sigmoid, &signed),
            (Function::Tanh, &signed),
            (Function::CentredCdf, &signed),
            (Function::Mills, &positive),
            (Function::Rsqrt, &positive),
            (Function::Sin, &signed),
            (Function::Cos, &signed),
        ];
        for (function, x) in functions {
            let plain = map(Isa::Plain, function, x);
            for isa in Isa::ALL.into_iter().filter(|isa| isa.available()) {
                let other = map(isa, function, x);
                assert!(plain.iter().zip(&other).all(|(a, b)| a.to_bits() == b.to_bits()), "{function:?} {isa:?}");
            }
        }
    }
}
