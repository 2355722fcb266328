//! The one matrix product that networks need: C = start + A B, with the columns of B and C in lanes.
//!
//! A is read one number at a time and broadcast, so it may have any strides: the same kernel multiplies by a weight matrix
//! (forward), by its transpose (backward) and accumulates a weight gradient (C += delta · activationsᵀ). Every element of C
//! is summed over k in order, whatever the blocking, so all instruction sets give the same bits.

// Loops over constant ranges index several register arrays at once; as iterators they would not unroll as surely.
#![allow(clippy::needless_range_loop)]

use std::ops::Range;

use super::lanes::{Chunk, Kernel, Lanes, WIDTH};

/// Rows of B that are multiplied at once: those of a longer product would leave the caches before they are used again. C keeps the sums
/// in between, so that they are the same to the last bit.
const MAX_INNER: usize = 256;

/// A as `values[row * row_stride + column * column_stride]`.
#[derive(Clone, Copy)]
pub struct Strided<'a> {
    /// The numbers.
    pub values: &'a [f32],
    /// From one row to the next.
    pub row_stride: usize,
    /// From one column to the next.
    pub column_stride: usize,
}

/// What C starts from.
#[derive(Clone, Copy)]
pub enum Start {
    /// From zero.
    Zero,
    /// From what it holds.
    Itself,
}

/// `C[m][n] = start + sum over k of A[m][k] B[k][n]`; B and C are row-major in chunks.
pub struct Product<'a> {
    /// rows × inner.
    pub a: Strided<'a>,
    /// inner × columns.
    pub b: &'a [Chunk],
    /// rows × columns.
    pub c: &'a mut [Chunk],
    /// The initial value of C.
    pub start: Start,
    /// Rows of A and C.
    pub rows: usize,
    /// Columns of A, rows of B.
    pub inner: usize,
    /// Chunks in a row of B and C.
    pub chunks: usize,
}

impl Kernel for Product<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(mut self) {
        self.in_parts::<L, false>();
    }
}

/// A product that is known to be symmetric: the half on and below the diagonal is computed, the other copied from it. C has a multiple
/// of sixteen rows.
pub struct Symmetric<'a>(pub Product<'a>);

impl Kernel for Symmetric<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(mut self) {
        self.0.in_parts::<L, true>();
        let Product { c, chunks, .. } = self.0;
        for below in 1..chunks {
            for chunk in 0..below {
                let mut tile = [L::splat(0.0); WIDTH];
                for row in 0..WIDTH {
                    tile[row] = L::load(&c[(below * WIDTH + row) * chunks + chunk]);
                }
                let tile = L::transpose(tile);
                for row in 0..WIDTH {
                    tile[row].store(&mut c[(chunk * WIDTH + row) * chunks + below]);
                }
            }
        }
    }
}

impl Product<'_> {
    /// As [`Product::columns_from`], up to [`MAX_INNER`] rows of B after the other.
    #[inline(always)]
    fn in_parts<L: Lanes, const BELOW: bool>(&mut self) {
        let (inner, mut first) = (self.inner, 0);
        loop {
            self.inner = MAX_INNER.min(inner - first);
            self.columns_from::<L, BELOW>();
            first += self.inner;
            if first == inner {
                break;
            }
            self.a.values = &self.a.values[self.inner * self.a.column_stride..];
            self.b = &self.b[self.inner * self.chunks..];
            self.start = Start::Itself;
        }
    }

    /// All columns; with `BELOW` only the rows from the diagonal on.
    #[inline(always)]
    fn columns_from<L: Lanes, const BELOW: bool>(&mut self) {
        if self.rows == 0 || self.chunks == 0 {
            return;
        }
        let last = |count: usize, stride: usize| count.saturating_sub(1) * stride;
        let needed = last(self.rows, self.a.row_stride) + last(self.inner, self.a.column_stride) + 1;
        assert!(self.inner == 0 || self.a.values.len() >= needed, "A is too short");
        assert!(self.b.len() >= self.inner * self.chunks, "B is too short");
        assert!(self.c.len() >= self.rows * self.chunks, "C is too short");
        let rows = self.rows;
        let first = |chunk: usize| if BELOW { (chunk * WIDTH).min(rows) } else { 0 };
        let mut chunk = 0;
        if L::WIDE {
            while chunk + 2 <= self.chunks {
                // Beside the diagonal square of the first chunk the second has nothing on or below the diagonal.
                self.columns::<L, 1>(chunk, first(chunk)..first(chunk + 1));
                self.columns::<L, 2>(chunk, first(chunk + 1)..rows);
                chunk += 2;
            }
        }
        while chunk < self.chunks {
            self.columns::<L, 1>(chunk, first(chunk)..rows);
            chunk += 1;
        }
    }

    /// Some rows of `C` chunks of columns, `L::ROWS` rows at a time and then by halves.
    #[inline(always)]
    fn columns<L: Lanes, const C: usize>(&mut self, chunk: usize, rows: Range<usize>) {
        let Range { start: mut row, end } = rows;
        debug_assert!(end <= self.rows);
        if L::ROWS >= 8 {
            while row + 8 <= end {
                self.block::<L, 8, C>(row, chunk);
                row += 8;
            }
        }
        if L::ROWS == 6 {
            while row + 6 <= end {
                self.block::<L, 6, C>(row, chunk);
                row += 6;
            }
        }
        while row + 4 <= end {
            self.block::<L, 4, C>(row, chunk);
            row += 4;
        }
        if row + 2 <= end {
            self.block::<L, 2, C>(row, chunk);
            row += 2;
        }
        if row < end {
            self.block::<L, 1, C>(row, chunk);
        }
    }

    /// `R` rows × `C` chunks of the product, in registers while k runs.
    #[inline(always)]
    fn block<L: Lanes, const R: usize, const C: usize>(&mut self, row: usize, chunk: usize) {
        debug_assert!(row + R <= self.rows && chunk + C <= self.chunks);
        let mut sum = [[L::splat(0.0); C]; R];
        match self.start {
            Start::Zero => {}
            Start::Itself => {
                for r in 0..R {
                    for c in 0..C {
                        sum[r][c] = L::load(&self.c[(row + r) * self.chunks + chunk + c]);
                    }
                }
            }
        }
        // SAFETY: `run` checked that A, B and C hold rows × inner, inner × chunks and rows × chunks, and
        // row + R <= rows, chunk + C <= chunks, k < inner.
        unsafe {
            let mut a = self.a.values.as_ptr().add(row * self.a.row_stride);
            let mut b = self.b.as_ptr().add(chunk);
            for _ in 0..self.inner {
                let mut columns = [L::splat(0.0); C];
                for c in 0..C {
                    columns[c] = L::load(&*b.add(c));
                }
                for r in 0..R {
                    let factor = L::splat(*a.add(r * self.a.row_stride));
                    for c in 0..C {
                        sum[r][c] = factor.mul_add(columns[c], sum[r][c]);
                    }
                }
                a = a.wrapping_add(self.a.column_stride);
                b = b.wrapping_add(self.chunks);
            }
            let out = self.c.as_mut_ptr().add(row * self.chunks + chunk);
            for r in 0..R {
                for c in 0..C {
                    sum[r][c].store(&mut *out.add(r * self.chunks + c));
                }
            }
        }
    }
}

/// Writes `out[column][row] = rows[row][column]`: `rows` is `count` rows of `chunks` chunks, and `out` has one row of
/// `count / 16` chunks for each of the first `columns` columns. `count` is a multiple of sixteen.
#[inline(always)]
pub fn transpose<L: Lanes>(rows: &[Chunk], chunks: usize, count: usize, out: &mut [Chunk], columns: usize) {
    let across = count / WIDTH;
    for block in 0..across {
        for chunk in 0..columns.div_ceil(WIDTH) {
            let mut tile = [L::splat(0.0); WIDTH];
            let mut row = 0;
            while row < WIDTH {
                tile[row] = L::load(&rows[(block * WIDTH + row) * chunks + chunk]);
                row += 1;
            }
            let tile = L::transpose(tile);
            let wanted = (columns - chunk * WIDTH).min(WIDTH);
            for (column, lane) in tile.iter().enumerate().take(wanted) {
                lane.store(&mut out[(chunk * WIDTH + column) * across + block]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::lanes::{Isa, floats};
    use super::super::rng::Rng;
    use super::*;

    fn random(chunks: usize, seed: u64) -> Vec<Chunk> {
        let mut rng = Rng::new(seed, 0);
        (0..chunks).map(|_| Chunk(std::array::from_fn(|_| rng.uniform() as f32 - 0.5))).collect()
    }

    #[test]
    fn product_equals_the_plain_sum_on_every_instruction_set() {
        for (rows, inner, chunks) in
            [(1usize, 1usize, 1usize), (3, 7, 2), (50, 13, 2), (30, 50, 3), (9, 0, 1), (15, 32, 5), (21, 600, 3)]
        {
            let a = random((rows * inner).div_ceil(WIDTH), 1);
            let b = random(inner * chunks, 2);
            for transposed in [false, true] {
                let (row_stride, column_stride) = if transposed { (1, rows) } else { (inner, 1) };
                let mut expected = random(rows * chunks, 3);
                for row in 0..rows {
                    for k in 0..inner {
                        let factor = floats(&a)[row * row_stride + k * column_stride];
                        for chunk in 0..chunks {
                            for lane in 0..WIDTH {
                                let sum = &mut expected[row * chunks + chunk].0[lane];
                                *sum = factor.mul_add(b[k * chunks + chunk].0[lane], *sum);
                            }
                        }
                    }
                }
                for isa in Isa::ALL {
                    let mut c = random(rows * chunks, 3);
                    isa.run(Product {
                        a: Strided { values: floats(&a), row_stride, column_stride },
                        b: &b,
                        c: &mut c,
                        start: Start::Itself,
                        rows,
                        inner,
                        chunks,
                    });
                    assert_eq!(c, expected, "{rows} {inner} {chunks} {isa:?}");
                }
            }
        }
    }

    #[test]
    fn a_symmetric_product_is_the_product() {
        for (rows, inner) in [(16_usize, 5_usize), (33, 40), (128, 20), (7, 3), (48, 515)] {
            let chunks = rows.div_ceil(WIDTH);
            let x = random(rows * inner.div_ceil(WIDTH), 1);
            let stride = inner.div_ceil(WIDTH) * WIDTH;
            let mut turned = vec![Chunk::ZERO; inner * chunks];
            for row in 0..rows {
                for k in 0..inner {
                    turned[k * chunks + row / WIDTH].0[row % WIDTH] = floats(&x)[row * stride + k];
                }
            }
            for isa in Isa::ALL {
                let (mut whole, mut half) =
                    (vec![Chunk::ZERO; chunks * WIDTH * chunks], vec![Chunk::ZERO; chunks * WIDTH * chunks]);
                let a = Strided { values: floats(&x), row_stride: stride, column_stride: 1 };
                let product = |c| Product { a, b: &turned, c, start: Start::Zero, rows, inner, chunks };
                isa.run(product(&mut whole));
                isa.run(Symmetric(product(&mut half)));
                assert_eq!(whole, half, "{rows} {inner} {isa:?}");
            }
        }
    }

    struct Transpose<'a>(&'a [Chunk], usize, usize, &'a mut [Chunk], usize);

    impl Kernel for Transpose<'_> {
        type Output = ();
        #[inline(always)]
        fn run<L: Lanes>(self) {
            transpose::<L>(self.0, self.1, self.2, self.3, self.4);
        }
    }

    #[test]
    fn transpose_turns_rows_into_columns() {
        let (count, chunks, columns) = (32, 3, 41);
        let rows = random(count * chunks, 5);
        for isa in Isa::ALL {
            let mut out = vec![Chunk::ZERO; columns * count / WIDTH];
            isa.run(Transpose(&rows, chunks, count, &mut out, columns));
            for row in 0..count {
                for column in 0..columns {
                    assert_eq!(floats(&out)[column * count + row], floats(&rows)[row * chunks * WIDTH + column]);
                }
            }
        }
    }
}
