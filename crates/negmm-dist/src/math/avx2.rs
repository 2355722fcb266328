//! [`Lanes`] on processors with AVX2 and FMA: two registers hold eight lanes each.

use std::arch::x86_64::*;
use std::ops::{Add, Div, Mul, Sub};

use super::lanes::{Chunk, Kernel, Lanes, MANTISSA_BITS, ONE_BITS, RSQRT_START, SQRT_HALF_BITS, WIDTH};

/// Sixteen lanes in two 256-bit registers.
#[derive(Clone, Copy, Debug)]
pub struct Avx2(__m256, __m256);

#[target_feature(enable = "avx2,fma")]
fn enter<K: Kernel>(kernel: K) -> K::Output {
    kernel.run::<Avx2>()
}

impl Avx2 {
    #[inline(always)]
    fn map(self, f: impl Fn(__m256) -> __m256) -> Self {
        Self(f(self.0), f(self.1))
    }

    #[inline(always)]
    fn zip(self, other: Self, f: impl Fn(__m256, __m256) -> __m256) -> Self {
        Self(f(self.0, other.0), f(self.1, other.1))
    }
}

impl Add for Avx2 {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        // SAFETY: used only inside a kernel entered through `Isa::run`, which checked for AVX2 and FMA.
        self.zip(other, |a, b| unsafe { _mm256_add_ps(a, b) })
    }
}

impl Sub for Avx2 {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        // SAFETY: as in `add`.
        self.zip(other, |a, b| unsafe { _mm256_sub_ps(a, b) })
    }
}

impl Mul for Avx2 {
    type Output = Self;
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        // SAFETY: as in `add`.
        self.zip(other, |a, b| unsafe { _mm256_mul_ps(a, b) })
    }
}

impl Div for Avx2 {
    type Output = Self;
    #[inline(always)]
    fn div(self, other: Self) -> Self {
        // SAFETY: as in `add`.
        self.zip(other, |a, b| unsafe { _mm256_div_ps(a, b) })
    }
}

impl Lanes for Avx2 {
    type Mask = (__m256, __m256);
    // Twelve registers of sums, two of columns, one of a factor.
    const ROWS: usize = 6;
    const WIDE: bool = false;

    #[inline(never)]
    fn call<K: Kernel>(kernel: K) -> K::Output {
        // SAFETY: reached only from `Isa::run`, which checked for AVX2 and FMA, or from a kernel already running on them.
        unsafe { enter(kernel) }
    }

    #[inline(always)]
    fn splat(x: f32) -> Self {
        // SAFETY: as in `add`.
        let v = unsafe { _mm256_set1_ps(x) };
        Self(v, v)
    }
    #[inline(always)]
    fn load(chunk: &Chunk) -> Self {
        // SAFETY: as in `add`; a chunk is sixteen floats aligned to 64 bytes.
        unsafe { Self(_mm256_load_ps(chunk.0.as_ptr()), _mm256_load_ps(chunk.0.as_ptr().add(8))) }
    }
    #[inline(always)]
    fn store(self, chunk: &mut Chunk) {
        // SAFETY: as in `load`.
        unsafe {
            _mm256_store_ps(chunk.0.as_mut_ptr(), self.0);
            _mm256_store_ps(chunk.0.as_mut_ptr().add(8), self.1);
        }
    }
    #[inline(always)]
    fn mul_add(self, factor: Self, addend: Self) -> Self {
        // SAFETY: as in `add`.
        unsafe { Self(_mm256_fmadd_ps(self.0, factor.0, addend.0), _mm256_fmadd_ps(self.1, factor.1, addend.1)) }
    }
    #[inline(always)]
    fn neg_mul_add(self, factor: Self, addend: Self) -> Self {
        // SAFETY: as in `add`.
        unsafe { Self(_mm256_fnmadd_ps(self.0, factor.0, addend.0), _mm256_fnmadd_ps(self.1, factor.1, addend.1)) }
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        // SAFETY: as in `add`.
        self.zip(other, |a, b| unsafe { _mm256_min_ps(a, b) })
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        // SAFETY: as in `add`.
        self.zip(other, |a, b| unsafe { _mm256_max_ps(a, b) })
    }
    #[inline(always)]
    fn abs(self) -> Self {
        // SAFETY: as in `add`.
        self.map(|x| unsafe { _mm256_andnot_ps(_mm256_set1_ps(-0.0), x) })
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        // SAFETY: as in `add`.
        self.map(|x| unsafe { _mm256_sqrt_ps(x) })
    }
    #[inline(always)]
    fn round(self) -> Self {
        // SAFETY: as in `add`.
        self.map(|x| unsafe { _mm256_round_ps::<{ _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC }>(x) })
    }
    #[inline(always)]
    fn gt(self, other: Self) -> Self::Mask {
        // SAFETY: as in `add`.
        unsafe { (_mm256_cmp_ps::<_CMP_GT_OQ>(self.0, other.0), _mm256_cmp_ps::<_CMP_GT_OQ>(self.1, other.1)) }
    }
    #[inline(always)]
    fn select(self, mask: Self::Mask, other: Self) -> Self {
        // SAFETY: as in `add`.
        unsafe { Self(_mm256_blendv_ps(other.0, self.0, mask.0), _mm256_blendv_ps(other.1, self.1, mask.1)) }
    }
    #[inline(always)]
    fn scale(self, exponent: Self) -> Self {
        Self(scale_half(self.0, exponent.0), scale_half(self.1, exponent.1))
    }
    #[inline(always)]
    fn split(self) -> (Self, Self) {
        let (low, high) = (split_half(self.0), split_half(self.1));
        (Self(low.0, high.0), Self(low.1, high.1))
    }
    #[inline(always)]
    fn rsqrt_guess(self) -> Self {
        #[inline(always)]
        fn guess(x: __m256) -> __m256 {
            // SAFETY: as in `add`.
            unsafe {
                let half = _mm256_srai_epi32::<1>(_mm256_castps_si256(x));
                _mm256_castsi256_ps(_mm256_sub_epi32(_mm256_set1_epi32(RSQRT_START), half))
            }
        }
        Self(guess(self.0), guess(self.1))
    }
    #[inline(always)]
    fn transpose(rows: [Self; WIDTH]) -> [Self; WIDTH] {
        // Four squares of eight; the two off the diagonal are swapped.
        let mut out = [Self::splat(0.0); WIDTH];
        for half in 0..2 {
            let (mut low, mut high) = ([rows[0].0; 8], [rows[0].0; 8]);
            for row in 0..8 {
                low[row] = rows[8 * half + row].0;
                high[row] = rows[8 * half + row].1;
            }
            let (low, high) = (transpose_square(low), transpose_square(high));
            for column in 0..8 {
                if half == 0 {
                    out[column].0 = low[column];
                    out[8 + column].0 = high[column];
                } else {
                    out[column].1 = low[column];
                    out[8 + column].1 = high[column];
                }
            }
        }
        out
    }
}

// Functions instead of closures: closures cannot be marked as inline.
#[inline(always)]
fn scale_half(x: __m256, exponent: __m256) -> __m256 {
    // SAFETY: as in `add`.
    unsafe {
        let biased = _mm256_add_epi32(_mm256_cvtps_epi32(exponent), _mm256_set1_epi32(127));
        _mm256_mul_ps(x, _mm256_castsi256_ps(_mm256_slli_epi32::<23>(biased)))
    }
}

#[inline(always)]
fn split_half(x: __m256) -> (__m256, __m256) {
    // SAFETY: as in `add`.
    unsafe {
        let shifted = _mm256_add_epi32(_mm256_castps_si256(x), _mm256_set1_epi32(ONE_BITS - SQRT_HALF_BITS));
        let fraction = _mm256_and_si256(shifted, _mm256_set1_epi32(MANTISSA_BITS));
        let mantissa = _mm256_castsi256_ps(_mm256_add_epi32(fraction, _mm256_set1_epi32(SQRT_HALF_BITS)));
        let exponent = _mm256_sub_epi32(_mm256_srai_epi32::<23>(shifted), _mm256_set1_epi32(127));
        (mantissa, _mm256_cvtepi32_ps(exponent))
    }
}

/// Three rounds, each exchanging halves of pairs of rows: single floats, pairs, quarters.
#[inline(always)]
fn transpose_square(rows: [__m256; 8]) -> [__m256; 8] {
    // SAFETY: as in `add`.
    unsafe {
        let mut t = rows;
        for pair in 0..4 {
            let (a, b) = (rows[2 * pair], rows[2 * pair + 1]);
            t[2 * pair] = _mm256_unpacklo_ps(a, b);
            t[2 * pair + 1] = _mm256_unpackhi_ps(a, b);
        }
        let mut u = t;
        for four in [0, 4] {
            u[four] = _mm256_shuffle_ps::<0x44>(t[four], t[four + 2]);
            u[four + 1] = _mm256_shuffle_ps::<0xee>(t[four], t[four + 2]);
            u[four + 2] = _mm256_shuffle_ps::<0x44>(t[four + 1], t[four + 3]);
            u[four + 3] = _mm256_shuffle_ps::<0xee>(t[four + 1], t[four + 3]);
        }
        let mut out = u;
        for column in 0..4 {
            out[column] = _mm256_permute2f128_ps::<0x20>(u[column], u[4 + column]);
            out[4 + column] = _mm256_permute2f128_ps::<0x31>(u[column], u[4 + column]);
        }
        out
    }
}
