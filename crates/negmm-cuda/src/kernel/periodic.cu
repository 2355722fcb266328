// Periodic embedding of inputs before the first layer: cosines of sixteen frequencies, mapped linearly to three outputs. Parameters of an
// embedded input: 16 frequencies, 16 phases, 3 x 16 weights, 3 biases padded to 16.

#define EMBEDDING_FLOATS 96
#define INPUT_ROWS team.buffer(STEM_INPUT)

DEVICE bool stem_decays(int offset) {
  int at = offset % EMBEDDING_FLOATS;
  return at >= 32 && at < 80;
}

// An embedded input, clamped to the range of the training data.
DEVICE float clamp_input(int index, float x) { return min_float(max_float(x, EMBEDDED_LOWS(index)), EMBEDDED_HIGHS(index)); }

// The three outputs of an embedded input; visit(unit, sine, cosine) for each of its frequencies.
template <class Visit> DEVICE void embed(const float* embedding, float clamped, float (&sums)[3], Visit visit) {
#pragma unroll
  for (int output = 0; output < 3; ++output) sums[output] = embedding[80 + output];
  for (int unit = 0; unit < 16; ++unit) {
    float phase = embedding[16 + unit] * 0.318309886183790671538f * 0.5f, cosine;
    float sine = sin_cos_turns(fmaf(clamped, embedding[unit], phase), cosine);
    visit(unit, sine, cosine);
#pragma unroll
    for (int output = 0; output < 3; ++output) sums[output] = fmaf(cosine, embedding[32 + output * 16 + unit], sums[output]);
  }
}

// act(unit, row, value) for the embedded inputs, which the first layer reads after the plain ones; input(number, row) loads an input.
template <class Input, class Act> DEVICE void for_each_embedded(const float* weights, Rows rows, Input input, Act act) {
  for_each_row(EMBEDDED, rows, [&](int index, int row) {
    float sums[3];
    embed(weights + index * EMBEDDING_FLOATS, clamp_input(index, input(EMBEDDED_INPUTS(index), row)), sums, [](int, float, float) {});
#pragma unroll
    for (int output = 0; output < 3; ++output) act(INPUTS + index * 3 + output, row, sums[output]);
  });
}

DEVICE void stem_forward(const Team& team, const float* weights, Rows rows, bool) {
  const float* x = INPUT_ROWS;
  float* out = team.activations(0);
  for_each_row(INPUTS, rows, [&](int input, int row) { out[input * ROW_STRIDE + row] = x[input * ROW_STRIDE + row]; });
  for_each_row(EMBEDDED, rows, [&](int index, int row) {
    float sums[3], clamped = clamp_input(index, x[EMBEDDED_INPUTS(index) * ROW_STRIDE + row]);
    team.buffer(CLAMPED_INPUTS)[index * ROW_STRIDE + row] = clamped;
    embed(weights + index * EMBEDDING_FLOATS, clamped, sums, [&](int unit, float sine, float cosine) {
      int at = (index * 16 + unit) * ROW_STRIDE + row;
      team.buffer(SINES)[at] = sine;
      team.buffer(COSINES)[at] = cosine;
    });
#pragma unroll
    for (int output = 0; output < 3; ++output) out[(INPUTS + index * 3 + output) * ROW_STRIDE + row] = sums[output];
  });
  sync_block();
}

// Sum over the rows of a panel: next(row, sum) over the two rows of each lane, then lanes in order.
template <class Next> DEVICE float panel_sum(int first, Next next) {
  float sum = 0.0f;
  for (int lane = 0; lane < 16; ++lane) {
    float lane_total = next(first + 16 + lane, next(first + lane, 0.0f));
    sum = lane == 0 ? lane_total : sum + lane_total;
  }
  return sum;
}

// As above with a tree reduction over lanes.
template <class Next> DEVICE float panel_tree(int first, Next next) {
  float lanes[16];
#pragma unroll
  for (int lane = 0; lane < 16; ++lane) lanes[lane] = next(first + 16 + lane, next(first + lane, 0.0f));
  return lane_sum(lanes);
}

NOINLINE void stem_gradient(Team team, int rows) {
  for_each(EMBEDDED * EMBEDDING_FLOATS, [&](int item) {
    int index = item / EMBEDDING_FLOATS, at = item % EMBEDDING_FLOATS, kind = at / 16, unit = at % 16;
    if (kind == 5 && unit >= 3) {
      team.gradient()[item] = 0.0f;
      return;
    }
    const float *embedding = team.weights() + index * EMBEDDING_FLOATS, *deltas = team.deltas(0) + (INPUTS + index * 3) * ROW_STRIDE;
    const float *sines = team.buffer(SINES) + (index * 16 + unit) * ROW_STRIDE, *clamped = team.buffer(CLAMPED_INPUTS) + index * ROW_STRIDE;
    const float* cosines = team.buffer(COSINES) + (index * 16 + unit) * ROW_STRIDE;
    auto phase_derivative = [&](int row) {
      float sum = 0.0f;
#pragma unroll
      for (int output = 0; output < 3; ++output) sum = fmaf(deltas[output * ROW_STRIDE + row], embedding[32 + output * 16 + unit], sum);
      return sum * sines[row];
    };
    float total = 0.0f;
    for (int begin = 0; begin < rows; begin += PART_PANELS * PANEL) {
      float part = 0.0f;
      for (int first = begin; first < min_int(rows, begin + PART_PANELS * PANEL); first += PANEL) {
        if (kind == 0)
          part = part + panel_sum(first, [&](int row, float sum) {
            return fmaf(phase_derivative(row), clamped[row] * -6.28318530717958647693f, sum);
          });
        else if (kind == 1)
          part = part + panel_sum(first, [&](int row, float sum) { return sum - phase_derivative(row); });
        else if (kind < 5)
          part = part + panel_sum(first, [&](int row, float sum) {
            return fmaf(cosines[row], deltas[(kind - 2) * ROW_STRIDE + row], sum);
          });
        else
          part = part + panel_tree(first, [&](int row, float sum) { return sum + deltas[unit * ROW_STRIDE + row]; });
      }
      total = begin == 0 ? part : total + part;
    }
    team.gradient()[item] = total;
    if (!is_finite(total * total)) team.state()->nonfinite = 1;
  });
}
