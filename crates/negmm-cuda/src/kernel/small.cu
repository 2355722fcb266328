// The layers of a network whose room is in shared memory, forward and backward. A level holds units x rows; every element of a product is
// summed by one thread in the order of the processor's kernels: over units forward and backward, over the rows of a part for a gradient,
// over parts in their order.

// Tiles of Q x 4 elements, a warp has 4 x 8 of them, or 8 x 4 or 16 x 2 where no more are across: act(a, b, tiles of a, tiles of b).
template <int Q, class Act> DEVICE void tiles(int a, int b, Act act) {
  int tiles_a = (a + Q - 1) / Q, tiles_b = (b + 3) / 4, bits = tiles_b <= 2 ? 1 : tiles_b <= 4 ? 2 : 3;
  int along = 32 >> bits, across = 1 << bits, groups_a = (tiles_a + along - 1) >> (5 - bits), groups_b = (tiles_b + across - 1) >> bits;
  each(groups_a * groups_b * 32, [&](int item) {
    int group = item / 32, lane = item % 32;
    int at_a = group / groups_b * along + (lane >> bits), at_b = group % groups_b * across + (lane & (across - 1));
    if (at_a < tiles_a && at_b < tiles_b) act(at_a, at_b, tiles_a, tiles_b);
  });
}

DEVICE void add_products(float (&sums)[4], float factor, const float4& four) {
  sums[0] = fmaf(factor, four.x, sums[0]);
  sums[1] = fmaf(factor, four.y, sums[1]);
  sums[2] = fmaf(factor, four.z, sums[2]);
  sums[3] = fmaf(factor, four.w, sums[3]);
}

// C[a][b] = sum over k of A[a][k] B[k][b], where A has rows of numbers and B rows of columns: done(a, b, four sums from b on).
template <int Q, class Done>
DEVICE void row_by_column(const float* a, int a_stride, int rows, const float* b, int b_stride, int columns, int inner, Done done) {
  tiles<Q>(rows, columns, [&](int at_a, int at_b, int tiles_a, int) {
    const float *of_row[Q], *column = b + 4 * at_b;
    float sums[Q][4] = {};
#pragma unroll
    for (int q = 0; q < Q; ++q) of_row[q] = a + least(at_a + q * tiles_a, rows - 1) * a_stride;
    int k = 0;
#pragma unroll 1
    for (; k + 4 <= inner; k += 4) {
      float4 factors[Q];
#pragma unroll
      for (int q = 0; q < Q; ++q) factors[q] = load4(of_row[q] + k);
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        float4 four = load4(column + (k + j) * b_stride);
#pragma unroll
        for (int q = 0; q < Q; ++q) add_products(sums[q], part_of(factors[q], j), four);
      }
    }
    for (; k < inner; ++k) {
      float4 four = load4(column + k * b_stride);
#pragma unroll
      for (int q = 0; q < Q; ++q) add_products(sums[q], of_row[q][k], four);
    }
#pragma unroll
    for (int q = 0; q < Q; ++q)
      if (at_a + q * tiles_a < rows) done(at_a + q * tiles_a, 4 * at_b, sums[q]);
  });
}

// C[a][b] = sum over k of A[a][k] B[b][k], with `PARTED` so many k at a time whose sums are added in their order: done(a, b, sum).
template <int Q, bool PARTED, class Done>
DEVICE void row_by_row(const float* a, int a_stride, int rows, const float* b, int b_stride, int columns, int inner, int part, Done done) {
  tiles<Q>(rows, columns, [&](int at_a, int at_b, int tiles_a, int tiles_b) {
    const float *of_row[Q], *of_column[4];
    float sums[Q][4] = {}, totals[Q][4];
#pragma unroll
    for (int q = 0; q < Q; ++q) of_row[q] = a + least(at_a + q * tiles_a, rows - 1) * a_stride;
#pragma unroll
    for (int p = 0; p < 4; ++p) of_column[p] = b + least(at_b + p * tiles_b, columns - 1) * b_stride;
    int k = 0;
    for (int end = PARTED ? least(inner, part) : inner; k < inner; end = least(inner, end + part)) {
#pragma unroll 1
      for (; k + 4 <= end; k += 4) {
        float4 factors[Q], others[4];
#pragma unroll
        for (int q = 0; q < Q; ++q) factors[q] = load4(of_row[q] + k);
#pragma unroll
        for (int p = 0; p < 4; ++p) others[p] = load4(of_column[p] + k);
#pragma unroll
        for (int j = 0; j < 4; ++j)
#pragma unroll
          for (int q = 0; q < Q; ++q)
#pragma unroll
            for (int p = 0; p < 4; ++p) sums[q][p] = fmaf(part_of(factors[q], j), part_of(others[p], j), sums[q][p]);
      }
      for (; k < end; ++k)
#pragma unroll
        for (int q = 0; q < Q; ++q)
#pragma unroll
          for (int p = 0; p < 4; ++p) sums[q][p] = fmaf(of_row[q][k], of_column[p][k], sums[q][p]);
      if (!PARTED) break;
#pragma unroll
      for (int q = 0; q < Q; ++q)
#pragma unroll
        for (int p = 0; p < 4; ++p) {
          totals[q][p] = end <= part ? sums[q][p] : totals[q][p] + sums[q][p];
          sums[q][p] = 0.0f;
        }
    }
#pragma unroll
    for (int q = 0; q < Q; ++q)
#pragma unroll
      for (int p = 0; p < 4; ++p)
        if (at_a + q * tiles_a < rows && at_b + p * tiles_b < columns)
          done(at_a + q * tiles_a, at_b + p * tiles_b, PARTED ? totals[q][p] : sums[q][p]);
  });
}

// A product whose factors are known by rows: C[a][b] = sum over k of A[a][k] B[b][k], or of A[a][k] B[k][b] (`!ALONG`): done(a, b, sum).
struct Factor { const float* numbers; int stride, count; };

template <bool ALONG, class Done> DEVICE void shared_product(int&, Factor a, Factor b, int inner, Done done) {
  if (ALONG)
    row_by_row<FORWARD_TILE, false>(a.numbers, a.stride, a.count, b.numbers, b.stride, b.count, inner, inner, done);
  else
    row_by_column<FORWARD_TILE>(a.numbers, a.stride, a.count, b.numbers, b.stride, b.count, inner,
                  [&](int at_a, int at_b, float (&sums)[4]) {
#pragma unroll
      for (int j = 0; j < 4; ++j)
        if (at_b + j < b.count) done(at_a, at_b + j, sums[j]);
    });
}

// From level to level. In training units are switched off at random and slopes are left behind.
ONCE void forward(Team team, const float*, Rows all, bool trains) {
  const float* weights = team.weights();
  const int rows = all.end;
#if LAYERS <= 4
#pragma unroll
#endif
  for (int layer = 0; layer < LAYERS; ++layer) {
    const float* input = team.values(layer);
    float *output = team.values(layer + 1), *slopes = team.deltas(layer + 1);
    row_by_column<FORWARD_TILE>(weights + STARTS(layer), STRIDES(layer), UNITS(layer + 1), input, ROW_STRIDE, rows, UNITS(layer) + 1,
                  [&](int unit, int row, float (&sums)[4]) {
      int at = unit * ROW_STRIDE + row;
      if (layer + 1 < LAYERS) {
        float slope[4];
#pragma unroll
        for (int j = 0; j < 4; ++j) sums[j] = activate(sums[j], slope[j]);
        if (DROPOUT && trains) {
          u64 bits = dropout_bits(team, row, LAYER_DRAWS(layer) + unit * 8);
#pragma unroll
          for (int j = 0; j < 4; ++j) {
            float factor = dropout_factor(team, bits, j);
            sums[j] = sums[j] * factor;
            slope[j] = slope[j] * factor;
          }
        }
        if (RESIDUAL(layer)) {
          float4 before = load4(input + at);
#pragma unroll
          for (int j = 0; j < 4; ++j) sums[j] = part_of(before, j) + sums[j];
        }
        if (trains) store4(slopes + at, make_float4(slope[0], slope[1], slope[2], slope[3]));
      }
      store4(output + at, make_float4(sums[0], sums[1], sums[2], sums[3]));
    });
    team.sync();
  }
}

// The gradient of one layer's weights over all rows; says whether a square of it is not finite.
DEVICE void layer_gradient(const Team& team, int layer, int rows) {
  float* gradient = team.gradient() + STARTS(layer);
  const float *deltas = team.deltas(layer + 1), *values = team.values(layer);
  row_by_row<GRADIENT_TILE, (ROWS > PART_PANELS * PANEL)>(deltas, ROW_STRIDE, UNITS(layer + 1), values, ROW_STRIDE, UNITS(layer) + 1, rows,
             PART_PANELS * PANEL, [&](int unit, int input, float sum) {
    gradient[unit * STRIDES(layer) + input] = sum;
    if (!finite_number(sum * sum)) team.state()->bad = 1;
  });
}

// The deltas of what a layer reads.
DEVICE void layer_deltas(const Team& team, const float* weights, int layer, int rows) {
  const float *matrix = weights + STARTS(layer), *deltas = team.deltas(layer + 1);
  float* out = team.deltas(layer);
  const int units = UNITS(layer + 1), inputs = UNITS(layer), stride = STRIDES(layer);
  tiles<4>(inputs, rows, [&](int a, int b, int, int) {
    float sums[4][4] = {};
    if (RESIDUAL(layer)) {
#pragma unroll
      for (int q = 0; q < 4; ++q) {
        float4 four = load4(team.direct(layer + 1) + least(4 * a + q, inputs - 1) * ROW_STRIDE + 4 * b);
#pragma unroll
        for (int j = 0; j < 4; ++j) sums[q][j] = part_of(four, j);
      }
    }
    const float *row = matrix + 4 * a, *column = deltas + 4 * b;
#pragma unroll 4
    for (int unit = 0; unit < units; ++unit) {
      float4 factors = load4(row + unit * stride), four = load4(column + unit * ROW_STRIDE);
#pragma unroll
      for (int q = 0; q < 4; ++q) add_products(sums[q], part_of(factors, q), four);
    }
#pragma unroll
    for (int q = 0; q < 4; ++q) {
      int place = (4 * a + q) * ROW_STRIDE + 4 * b;
      if (4 * a + q >= inputs) break;
      if (layer > 0 && RESIDUAL(layer - 1)) store4(team.direct(layer) + place, make_float4(sums[q][0], sums[q][1], sums[q][2], sums[q][3]));
      if (layer > 0 || STEM == 2) {
        float4 slopes = load4(out + place);
#pragma unroll
        for (int j = 0; j < 4; ++j) sums[q][j] = sums[q][j] * part_of(slopes, j);
      }
      store4(out + place, make_float4(sums[q][0], sums[q][1], sums[q][2], sums[q][3]));
    }
  });
}

// From the deltas of the last level back to the first; the deltas of inputs only where somebody needs them.
DEVICE void backward(const Team& team, Rows all) {
  const int rows = all.end;
#if LAYERS <= 4
#pragma unroll
#endif
  for (int layer = LAYERS - 1; layer >= 0; --layer) {
    layer_gradient(team, layer, rows);
    if (layer > 0 || STEM != 0 || ADVERSARIAL) layer_deltas(team, team.weights(), layer, rows);
    team.sync();
  }
}

// Gradients were left behind on the way.
DEVICE void gradients(const Team&, int) {}
