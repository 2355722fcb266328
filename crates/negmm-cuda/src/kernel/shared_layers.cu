// Forward and backward pass of a network whose workspace fits in shared memory. Activations are units x rows. Every element of a matrix
// product is accumulated by one thread in the order of the CPU kernels: over units in the forward and backward pass; for a weight
// gradient over the rows of a part, then over parts in order.

// Output tiles of Q x 4 elements, one per thread. A warp covers 4 x 8 tiles, or 8 x 4 or 16 x 2 where b is narrow:
// act(tile a, tile b, tiles along a, tiles along b).
template <int Q, class Act> DEVICE void tiles(int a, int b, Act act) {
  int tiles_a = (a + Q - 1) / Q, tiles_b = (b + 3) / 4, bits = tiles_b <= 2 ? 1 : tiles_b <= 4 ? 2 : 3;
  int along = 32 >> bits, across = 1 << bits, groups_a = (tiles_a + along - 1) >> (5 - bits), groups_b = (tiles_b + across - 1) >> bits;
  for_each(groups_a * groups_b * 32, [&](int item) {
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

// C[a][b] = sum over k of A[a][k] B[k][b], both row-major: epilogue(a, b, sums of columns b to b + 3).
template <int Q, class Epilogue>
DEVICE void row_by_column(const float* a, int a_stride, int rows, const float* b, int b_stride, int columns, int inner, Epilogue epilogue) {
  tiles<Q>(rows, columns, [&](int at_a, int at_b, int tiles_a, int) {
    const float *a_row[Q], *column = b + 4 * at_b;
    float sums[Q][4] = {};
#pragma unroll
    for (int q = 0; q < Q; ++q) a_row[q] = a + min_int(at_a + q * tiles_a, rows - 1) * a_stride;
    int k = 0;
#pragma unroll 1
    for (; k + 4 <= inner; k += 4) {
      float4 factors[Q];
#pragma unroll
      for (int q = 0; q < Q; ++q) factors[q] = load4(a_row[q] + k);
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        float4 four = load4(column + (k + j) * b_stride);
#pragma unroll
        for (int q = 0; q < Q; ++q) add_products(sums[q], component(factors[q], j), four);
      }
    }
    for (; k < inner; ++k) {
      float4 four = load4(column + k * b_stride);
#pragma unroll
      for (int q = 0; q < Q; ++q) add_products(sums[q], a_row[q][k], four);
    }
#pragma unroll
    for (int q = 0; q < Q; ++q)
      if (at_a + q * tiles_a < rows) epilogue(at_a + q * tiles_a, 4 * at_b, sums[q]);
  });
}

// C[a][b] = sum over k of A[a][k] B[b][k]; with `SPLIT_K` in partial sums over `part` values of k that are added in order:
// epilogue(a, b, sum).
template <int Q, bool SPLIT_K, class Epilogue>
DEVICE void row_by_row(const float* a, int a_stride, int rows, const float* b, int b_stride, int columns, int inner, int part,
                       Epilogue epilogue) {
  tiles<Q>(rows, columns, [&](int at_a, int at_b, int tiles_a, int tiles_b) {
    const float *a_row[Q], *b_row[4];
    float sums[Q][4] = {}, totals[Q][4];
#pragma unroll
    for (int q = 0; q < Q; ++q) a_row[q] = a + min_int(at_a + q * tiles_a, rows - 1) * a_stride;
#pragma unroll
    for (int p = 0; p < 4; ++p) b_row[p] = b + min_int(at_b + p * tiles_b, columns - 1) * b_stride;
    int k = 0;
    for (int end = SPLIT_K ? min_int(inner, part) : inner; k < inner; end = min_int(inner, end + part)) {
#pragma unroll 1
      for (; k + 4 <= end; k += 4) {
        float4 factors[Q], others[4];
#pragma unroll
        for (int q = 0; q < Q; ++q) factors[q] = load4(a_row[q] + k);
#pragma unroll
        for (int p = 0; p < 4; ++p) others[p] = load4(b_row[p] + k);
#pragma unroll
        for (int j = 0; j < 4; ++j)
#pragma unroll
          for (int q = 0; q < Q; ++q)
#pragma unroll
            for (int p = 0; p < 4; ++p) sums[q][p] = fmaf(component(factors[q], j), component(others[p], j), sums[q][p]);
      }
      for (; k < end; ++k)
#pragma unroll
        for (int q = 0; q < Q; ++q)
#pragma unroll
          for (int p = 0; p < 4; ++p) sums[q][p] = fmaf(a_row[q][k], b_row[p][k], sums[q][p]);
      if (!SPLIT_K) break;
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
          epilogue(at_a + q * tiles_a, at_b + p * tiles_b, SPLIT_K ? totals[q][p] : sums[q][p]);
  });
}

// Product computed by the whole team: C[a][b] = sum over k of A[a][k] B[b][k] where B is `K_MAJOR`, else of A[a][k] B[k][b]:
// epilogue(a, b, sum).
struct Factor { const float* numbers; int stride, count; };

template <bool K_MAJOR, class Epilogue> DEVICE void team_product(int&, Factor a, Factor b, int inner, Epilogue epilogue) {
  if (K_MAJOR)
    row_by_row<FORWARD_TILE, false>(a.numbers, a.stride, a.count, b.numbers, b.stride, b.count, inner, inner, epilogue);
  else
    row_by_column<FORWARD_TILE>(a.numbers, a.stride, a.count, b.numbers, b.stride, b.count, inner,
                  [&](int at_a, int at_b, float (&sums)[4]) {
#pragma unroll
      for (int j = 0; j < 4; ++j)
        if (at_b + j < b.count) epilogue(at_a, at_b + j, sums[j]);
    });
}

// Forward pass. In training it applies dropout and stores the activation derivatives.
NOINLINE void forward(Team team, const float*, Rows all, bool trains) {
  const float* weights = team.weights();
  const int rows = all.end;
#if LAYERS <= 4
#pragma unroll
#endif
  for (int layer = 0; layer < LAYERS; ++layer) {
    const float* input = team.activations(layer);
    float *output = team.activations(layer + 1), *derivatives = team.deltas(layer + 1);
    row_by_column<FORWARD_TILE>(weights + STARTS(layer), STRIDES(layer), UNITS(layer + 1), input, ROW_STRIDE, rows, UNITS(layer) + 1,
                  [&](int unit, int row, float (&sums)[4]) {
      int at = unit * ROW_STRIDE + row;
      if (layer + 1 < LAYERS) {
        float derivative[4];
#pragma unroll
        for (int j = 0; j < 4; ++j) sums[j] = activate(sums[j], derivative[j]);
        if (DROPOUT && trains) {
          u64 bits = dropout_bits(team, row, LAYER_DRAWS(layer) + unit * 8);
#pragma unroll
          for (int j = 0; j < 4; ++j) {
            float factor = dropout_factor(team, bits, j);
            sums[j] = sums[j] * factor;
            derivative[j] = derivative[j] * factor;
          }
        }
        if (RESIDUAL(layer)) {
          float4 residual = load4(input + at);
#pragma unroll
          for (int j = 0; j < 4; ++j) sums[j] = component(residual, j) + sums[j];
        }
        if (trains) store4(derivatives + at, make_float4(derivative[0], derivative[1], derivative[2], derivative[3]));
      }
      store4(output + at, make_float4(sums[0], sums[1], sums[2], sums[3]));
    });
    team.sync();
  }
}

// Gradient of one layer's weights and biases over all rows; sets `nonfinite` where a squared element overflows.
DEVICE void layer_gradient(const Team& team, int layer, int rows) {
  float* gradient = team.gradient() + STARTS(layer);
  const float *deltas = team.deltas(layer + 1), *activations = team.activations(layer);
  row_by_row<GRADIENT_TILE, (ROWS > PART_PANELS * PANEL)>(deltas, ROW_STRIDE, UNITS(layer + 1), activations, ROW_STRIDE, UNITS(layer) + 1,
             rows, PART_PANELS * PANEL, [&](int unit, int input, float sum) {
    gradient[unit * STRIDES(layer) + input] = sum;
    if (!is_finite(sum * sum)) team.state()->nonfinite = 1;
  });
}

// Backpropagates the deltas of a layer's outputs to its inputs.
DEVICE void layer_deltas(const Team& team, const float* weights, int layer, int rows) {
  const float *matrix = weights + STARTS(layer), *deltas = team.deltas(layer + 1);
  float* out = team.deltas(layer);
  const int units = UNITS(layer + 1), inputs = UNITS(layer), stride = STRIDES(layer);
  tiles<4>(inputs, rows, [&](int a, int b, int, int) {
    float sums[4][4] = {};
    if (RESIDUAL(layer)) {
#pragma unroll
      for (int q = 0; q < 4; ++q) {
        float4 four = load4(team.skip_deltas(layer + 1) + min_int(4 * a + q, inputs - 1) * ROW_STRIDE + 4 * b);
#pragma unroll
        for (int j = 0; j < 4; ++j) sums[q][j] = component(four, j);
      }
    }
    const float *row = matrix + 4 * a, *column = deltas + 4 * b;
#pragma unroll 4
    for (int unit = 0; unit < units; ++unit) {
      float4 factors = load4(row + unit * stride), four = load4(column + unit * ROW_STRIDE);
#pragma unroll
      for (int q = 0; q < 4; ++q) add_products(sums[q], component(factors, q), four);
    }
#pragma unroll
    for (int q = 0; q < 4; ++q) {
      int offset = (4 * a + q) * ROW_STRIDE + 4 * b;
      if (4 * a + q >= inputs) break;
      if (layer > 0 && RESIDUAL(layer - 1))
        store4(team.skip_deltas(layer) + offset, make_float4(sums[q][0], sums[q][1], sums[q][2], sums[q][3]));
      if (layer > 0 || STEM == 2) {
        float4 derivatives = load4(out + offset);
#pragma unroll
        for (int j = 0; j < 4; ++j) sums[q][j] = sums[q][j] * component(derivatives, j);
      }
      store4(out + offset, make_float4(sums[q][0], sums[q][1], sums[q][2], sums[q][3]));
    }
  });
}

// Backward pass with weight gradients; deltas of the inputs only for a stem or adversarial training.
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

// `backward` has computed them already.
DEVICE void gradients(const Team&, int) {}
