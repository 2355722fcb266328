//! [`Lanes`] on processors with AVX-512: one register holds all sixteen lanes.

use std::arch::x86_64::*;
use std::ops::{Add, Div, Mul, Sub};

use super::lanes::{Chunk, Kernel, Lanes, MANTISSA_BITS, ONE_BITS, RSQRT_START, SQRT_HALF_BITS, WIDTH};

/// Sixteen lanes in one 512-bit register.
#[derive(Clone, Copy, Debug)]
pub struct Avx512(__m512);

#[target_feature(enable = "avx512f,avx512dq,avx2,fma")]
fn enter<K: Kernel>(kernel: K) -> K::Output {
    kernel.run::<Avx512>()
}

impl Add for Avx512 {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        // SAFETY: used only inside a kernel entered through `Isa::run`, which checked for AVX-512.
        Self(unsafe { _mm512_add_ps(self.0, other.0) })
    }
}

impl Sub for Avx512 {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        // SAFETY: as in `add`.
        Self(unsafe { _mm512_sub_ps(self.0, other.0) })
    }
}

impl Mul for Avx512 {
    type Output = Self;
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        // SAFETY: as in `add`.
        Self(unsafe { _mm512_mul_ps(self.0, other.0) })
    }
}

impl Div for Avx512 {
    type Output = Self;
    #[inline(always)]
    fn div(self, other: Self) -> Self {
        // SAFETY: as in `add`.
        Self(unsafe { _mm512_div_ps(self.0, other.0) })
    }
}

impl Lanes for Avx512 {
    type Mask = __mmask16;
    const ROWS: usize = 8;
    const WIDE: bool = true;

    #[inline(never)]
    fn call<K: Kernel>(kernel: K) -> K::Output {
        // SAFETY: reached only from `Isa::run`, which checked for AVX-512, or from a kernel already running on it.
        unsafe { enter(kernel) }
    }

    #[inline(always)]
    fn splat(x: f32) -> Self {
        // SAFETY: as in `add`.
        Self(unsafe { _mm512_set1_ps(x) })
    }
    #[inline(always)]
    fn load(chunk: &Chunk) -> Self {
        // SAFETY: as in `add`; a chunk is sixteen floats aligned to 64 bytes.
        Self(unsafe { _mm512_load_ps(chunk.0.as_ptr()) })
    }
    #[inline(always)]
    fn store(self, chunk: &mut Chunk) {
        // SAFETY: as in `load`.
        unsafe { _mm512_store_ps(chunk.0.as_mut_ptr(), self.0) }
    }
    #[inline(always)]
    fn mul_add(self, factor: Self, addend: Self) -> Self {
        // SAFETY: as in `add`.
        Self(unsafe { _mm512_fmadd_ps(self.0, factor.0, addend.0) })
    }
    #[inline(always)]
    fn neg_mul_add(self, factor: Self, addend: Self) -> Self {
        // SAFETY: as in `add`.
        Self(unsafe { _mm512_fnmadd_ps(self.0, factor.0, addend.0) })
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        // SAFETY: as in `add`.
        Self(unsafe { _mm512_min_ps(self.0, other.0) })
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        // SAFETY: as in `add`.
        Self(unsafe { _mm512_max_ps(self.0, other.0) })
    }
    #[inline(always)]
    fn abs(self) -> Self {
        // SAFETY: as in `add`.
        Self(unsafe { _mm512_abs_ps(self.0) })
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        // SAFETY: as in `add`.
        Self(unsafe { _mm512_sqrt_ps(self.0) })
    }
    #[inline(always)]
    fn round(self) -> Self {
        // SAFETY: as in `add`.
        Self(unsafe { _mm512_roundscale_ps::<{ _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC }>(self.0) })
    }
    #[inline(always)]
    fn gt(self, other: Self) -> Self::Mask {
        // SAFETY: as in `add`.
        unsafe { _mm512_cmp_ps_mask::<_CMP_GT_OQ>(self.0, other.0) }
    }
    #[inline(always)]
    fn select(self, mask: Self::Mask, other: Self) -> Self {
        // SAFETY: as in `add`.
        Self(unsafe { _mm512_mask_blend_ps(mask, other.0, self.0) })
    }
    #[inline(always)]
    fn scale(self, exponent: Self) -> Self {
        // SAFETY: as in `add`. Exact for normal results, so equal to multiplying by a power of two.
        Self(unsafe { _mm512_scalef_ps(self.0, exponent.0) })
    }
    #[inline(always)]
    fn split(self) -> (Self, Self) {
        // SAFETY: as in `add`.
        unsafe {
            let shifted = _mm512_add_epi32(_mm512_castps_si512(self.0), _mm512_set1_epi32(ONE_BITS - SQRT_HALF_BITS));
            let fraction = _mm512_and_si512(shifted, _mm512_set1_epi32(MANTISSA_BITS));
            let mantissa = _mm512_castsi512_ps(_mm512_add_epi32(fraction, _mm512_set1_epi32(SQRT_HALF_BITS)));
            let exponent = _mm512_sub_epi32(_mm512_srai_epi32::<23>(shifted), _mm512_set1_epi32(127));
            (Self(mantissa), Self(_mm512_cvtepi32_ps(exponent)))
        }
    }
    #[inline(always)]
    fn rsqrt_guess(self) -> Self {
        // SAFETY: as in `add`.
        unsafe {
            let half = _mm512_srai_epi32::<1>(_mm512_castps_si512(self.0));
            Self(_mm512_castsi512_ps(_mm512_sub_epi32(_mm512_set1_epi32(RSQRT_START), half)))
        }
    }
    #[inline(always)]
    fn transpose(rows: [Self; WIDTH]) -> [Self; WIDTH] {
        // SAFETY: as in `add`. Four rounds, each exchanging halves of pairs of rows: single floats, pairs, quarters, halves.
        unsafe {
            let mut t = rows.map(|row| row.0);
            for pair in 0..8 {
                let (a, b) = (t[2 * pair], t[2 * pair + 1]);
                t[2 * pair] = _mm512_unpacklo_ps(a, b);
                t[2 * pair + 1] = _mm512_unpackhi_ps(a, b);
            }
            let mut u = t;
            for four in 0..4 {
                let d = |row: usize| _mm512_castps_pd(t[4 * four + row]);
                u[4 * four] = _mm512_castpd_ps(_mm512_unpacklo_pd(d(0), d(2)));
                u[4 * four + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(d(0), d(2)));
                u[4 * four + 2] = _mm512_castpd_ps(_mm512_unpacklo_pd(d(1), d(3)));
                u[4 * four + 3] = _mm512_castpd_ps(_mm512_unpackhi_pd(d(1), d(3)));
            }
            // Now u[4 f + c] holds, in its quarter q, rows 4 f .. 4 f + 4 of column 4 q + c.
            let mut out = [Self(_mm512_setzero_ps()); WIDTH];
            for column in 0..4 {
                let (a, b, c, d) = (u[column], u[4 + column], u[8 + column], u[12 + column]);
                let low = _mm512_shuffle_f32x4::<0x88>(a, b);
                let high = _mm512_shuffle_f32x4::<0x88>(c, d);
                let low_odd = _mm512_shuffle_f32x4::<0xdd>(a, b);
                let high_odd = _mm512_shuffle_f32x4::<0xdd>(c, d);
                out[column] = Self(_mm512_shuffle_f32x4::<0x88>(low, high));
                out[8 + column] = Self(_mm512_shuffle_f32x4::<0xdd>(low, high));
                out[4 + column] = Self(_mm512_shuffle_f32x4::<0x88>(low_odd, high_odd));
                out[12 + column] = Self(_mm512_shuffle_f32x4::<0xdd>(low_odd, high_odd));
            }
            out
        }
    }
}
