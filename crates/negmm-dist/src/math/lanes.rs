//! Sixteen `f32` at once: one trait, [`Lanes`], with an implementation for AVX-512, for AVX2 and in plain Rust.
//!
//! All three give the same bits. Every operation here is exactly rounded (add, multiply, fused multiply-add, divide,
//! square root) or a bit operation, none is an approximation that differs between processors, and the virtual width is
//! sixteen everywhere, so sums are built in the same order.
//!
//! A computation is written once as a [`Kernel`], generic over [`Lanes`], and run by [`Isa::run`], which enters a function
//! compiled for that instruction set. Everything a kernel calls must be `#[inline(always)]`: only then is it compiled for
//! the instruction set of the function it was entered through.

use std::ops::{Add, Div, Mul, Sub};

#[cfg(target_arch = "x86_64")]
use super::avx2::Avx2;
#[cfg(target_arch = "x86_64")]
use super::avx512::Avx512;

/// Floats in a [`Chunk`] and in every implementation of [`Lanes`].
pub const WIDTH: usize = 16;

/// Sixteen floats in memory, aligned to a cache line.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C, align(64))]
pub struct Chunk(pub [f32; WIDTH]);

impl Chunk {
    /// Sixteen zeros.
    pub const ZERO: Self = Self([0.0; WIDTH]);
}

/// The floats of `chunks`, in order.
#[inline(always)]
pub fn floats(chunks: &[Chunk]) -> &[f32] {
    // SAFETY: a Chunk is repr(C) over [f32; 16] and has no padding (64 bytes, aligned to 64), so n chunks are 16 n floats.
    unsafe { std::slice::from_raw_parts(chunks.as_ptr().cast(), chunks.len() * WIDTH) }
}

/// The floats of `chunks`, in order, to write to.
#[inline(always)]
pub fn floats_mut(chunks: &mut [Chunk]) -> &mut [f32] {
    // SAFETY: as in `floats`; the borrow is exclusive.
    unsafe { std::slice::from_raw_parts_mut(chunks.as_mut_ptr().cast(), chunks.len() * WIDTH) }
}

/// Sixteen `f32` lanes.
///
/// An implementation other than [`Plain`] may be used only inside a [`Kernel`] run by [`Isa::run`]: its instructions need
/// not exist on this processor elsewhere.
pub trait Lanes:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self> + Sized
{
    /// One truth value for each lane.
    type Mask: Copy;
    /// Rows of a matrix product kept in registers at once (see [`super::matmul`]).
    const ROWS: usize;
    /// Whether a matrix product keeps two chunks of columns in registers at once instead of one.
    const WIDE: bool;

    /// Runs `kernel` in a function of its own, compiled once for this instruction set.
    fn call<K: Kernel>(kernel: K) -> K::Output;

    /// The same number in every lane.
    fn splat(x: f32) -> Self;
    /// Reads a chunk.
    fn load(chunk: &Chunk) -> Self;
    /// Writes a chunk.
    fn store(self, chunk: &mut Chunk);
    /// `self * factor + addend`, rounded once.
    fn mul_add(self, factor: Self, addend: Self) -> Self;
    /// `addend - self * factor`, rounded once.
    fn neg_mul_add(self, factor: Self, addend: Self) -> Self;
    /// The smaller one; `other` where either is not a number.
    fn min(self, other: Self) -> Self;
    /// The larger one; `other` where either is not a number.
    fn max(self, other: Self) -> Self;
    /// Without the sign.
    fn abs(self) -> Self;
    /// Square root.
    fn sqrt(self) -> Self;
    /// The nearest whole number, ties to even.
    fn round(self) -> Self;
    /// Whether `self > other`.
    fn gt(self, other: Self) -> Self::Mask;
    /// `self` where the mask is set, `other` elsewhere.
    fn select(self, mask: Self::Mask, other: Self) -> Self;
    /// `self` times two to the power of `exponent`, a whole number from -126 to 127; the result must be a normal number.
    fn scale(self, exponent: Self) -> Self;
    /// A normal positive number as (mantissa, exponent): mantissa in [sqrt(1/2), sqrt(2)), `self` = mantissa * 2^exponent.
    fn split(self) -> (Self, Self);
    /// A first guess of 1/sqrt(x) for normal positive x, within 3.5 %, by integer arithmetic on the bits.
    fn rsqrt_guess(self) -> Self;
    /// Rows become columns.
    fn transpose(rows: [Self; WIDTH]) -> [Self; WIDTH];

    /// The sum of all lanes, always by the same tree: halves are added until one number is left.
    #[inline(always)]
    fn sum(self) -> f32 {
        let mut lanes = Chunk::ZERO;
        self.store(&mut lanes);
        let mut half = WIDTH / 2;
        while half > 0 {
            for lane in 0..half {
                lanes.0[lane] += lanes.0[lane + half];
            }
            half /= 2;
        }
        lanes.0[0]
    }
}

/// A computation written once for every instruction set.
pub trait Kernel {
    /// What it gives.
    type Output;
    /// The computation; implementations are `#[inline(always)]`.
    fn run<L: Lanes>(self) -> Self::Output;
}

/// An instruction set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isa {
    /// 512-bit vectors.
    Avx512,
    /// 256-bit vectors with fused multiply-add.
    Avx2,
    /// No vectors: any processor.
    Plain,
}

impl Isa {
    /// All of them, fastest first.
    pub const ALL: [Self; 3] = [Self::Avx512, Self::Avx2, Self::Plain];

    /// The fastest one this processor has.
    pub fn best() -> Self {
        Self::ALL.into_iter().find(|isa| isa.available()).unwrap_or(Self::Plain)
    }

    /// Whether this processor has it.
    pub fn available(self) -> bool {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512dq"),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"),
            #[cfg(not(target_arch = "x86_64"))]
            Self::Avx512 | Self::Avx2 => false,
            Self::Plain => true,
        }
    }

    /// Runs `kernel` with this instruction set, or in plain Rust where this processor lacks it: the bits are the same.
    #[doc(hidden)]
    pub fn run<K: Kernel>(self, kernel: K) -> K::Output {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 if self.available() => Avx512::call(kernel),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 if self.available() => Avx2::call(kernel),
            _ => Plain::call(kernel),
        }
    }
}

/// The implementation in plain Rust: the reference that the others are tested against.
#[derive(Clone, Copy, Debug)]
pub struct Plain([f32; WIDTH]);

/// x86-64 by itself cannot multiply and add at once: every lane is a call, and whoever has no AVX waits for those. What is done to all
/// lanes is a function there; kernels with sixteen copies of each operation took longer to compile than all other code together.
impl Plain {
    #[cfg_attr(target_arch = "x86_64", inline(never))]
    #[cfg_attr(not(target_arch = "x86_64"), inline(always))]
    fn map(&self, f: impl Fn(f32) -> f32) -> Self {
        Self(self.0.map(f))
    }

    #[cfg_attr(target_arch = "x86_64", inline(never))]
    #[cfg_attr(not(target_arch = "x86_64"), inline(always))]
    fn zip(&self, other: &Self, f: impl Fn(f32, f32) -> f32) -> Self {
        Self(std::array::from_fn(|lane| f(self.0[lane], other.0[lane])))
    }

    #[cfg_attr(target_arch = "x86_64", inline(never))]
    #[cfg_attr(not(target_arch = "x86_64"), inline(always))]
    fn fused(&self, factor: &Self, addend: &Self) -> Self {
        Self(std::array::from_fn(|lane| self.0[lane].mul_add(factor.0[lane], addend.0[lane])))
    }

    #[cfg_attr(target_arch = "x86_64", inline(never))]
    #[cfg_attr(not(target_arch = "x86_64"), inline(always))]
    fn chosen(&self, mask: &[bool; WIDTH], other: &Self) -> Self {
        Self(std::array::from_fn(|lane| if mask[lane] { self.0[lane] } else { other.0[lane] }))
    }
}

impl Add for Plain {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.zip(&other, |a, b| a + b)
    }
}

impl Sub for Plain {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.zip(&other, |a, b| a - b)
    }
}

impl Mul for Plain {
    type Output = Self;
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        self.zip(&other, |a, b| a * b)
    }
}

impl Div for Plain {
    type Output = Self;
    #[inline(always)]
    fn div(self, other: Self) -> Self {
        self.zip(&other, |a, b| a / b)
    }
}

/// Bits of 1.0, and of the largest number below sqrt(1/2) rounded as `split` needs it.
pub(super) const ONE_BITS: i32 = 0x3f80_0000;
/// Bits of sqrt(1/2): mantissas start here.
pub(super) const SQRT_HALF_BITS: i32 = 0x3f35_04f3;
/// Bits below the exponent.
pub(super) const MANTISSA_BITS: i32 = 0x007f_ffff;
/// Start of the integer approximation of 1/sqrt (Lomont, "Fast inverse square root", 2003).
pub(super) const RSQRT_START: i32 = 0x5f37_5a86;

impl Lanes for Plain {
    type Mask = [bool; WIDTH];
    const ROWS: usize = 4;
    const WIDE: bool = false;

    #[inline(never)]
    fn call<K: Kernel>(kernel: K) -> K::Output {
        kernel.run::<Self>()
    }

    #[inline(always)]
    fn splat(x: f32) -> Self {
        Self([x; WIDTH])
    }
    #[inline(always)]
    fn load(chunk: &Chunk) -> Self {
        Self(chunk.0)
    }
    #[inline(always)]
    fn store(self, chunk: &mut Chunk) {
        chunk.0 = self.0;
    }
    #[inline(always)]
    fn mul_add(self, factor: Self, addend: Self) -> Self {
        self.fused(&factor, &addend)
    }
    #[inline(always)]
    fn neg_mul_add(self, factor: Self, addend: Self) -> Self {
        self.map(|x| -x).fused(&factor, &addend)
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        self.zip(&other, |a, b| if a < b { a } else { b })
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        self.zip(&other, |a, b| if a > b { a } else { b })
    }
    #[inline(always)]
    fn abs(self) -> Self {
        self.map(f32::abs)
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        self.map(f32::sqrt)
    }
    #[inline(always)]
    fn round(self) -> Self {
        self.map(f32::round_ties_even)
    }
    #[inline(always)]
    fn gt(self, other: Self) -> Self::Mask {
        std::array::from_fn(|lane| self.0[lane] > other.0[lane])
    }
    #[inline(always)]
    fn select(self, mask: Self::Mask, other: Self) -> Self {
        self.chosen(&mask, &other)
    }
    #[inline(always)]
    fn scale(self, exponent: Self) -> Self {
        self.zip(&exponent, |x, e| x * f32::from_bits(((e as i32).wrapping_add(127) as u32) << 23))
    }
    #[inline(always)]
    fn split(self) -> (Self, Self) {
        let shifted = |x: f32| (x.to_bits() as i32).wrapping_add(ONE_BITS - SQRT_HALF_BITS);
        let mantissa = |x: f32| f32::from_bits(((shifted(x) & MANTISSA_BITS).wrapping_add(SQRT_HALF_BITS)) as u32);
        let exponent = |x: f32| ((shifted(x) >> 23) - 127) as f32;
        (self.map(mantissa), self.map(exponent))
    }
    #[inline(always)]
    fn rsqrt_guess(self) -> Self {
        self.map(|x| f32::from_bits(RSQRT_START.wrapping_sub((x.to_bits() as i32) >> 1) as u32))
    }
    #[inline(always)]
    fn transpose(rows: [Self; WIDTH]) -> [Self; WIDTH] {
        std::array::from_fn(|column| Self(std::array::from_fn(|row| rows[row].0[column])))
    }
}
