// The periodic embedding before the layers. Its parameters: frequencies, phases, three mixes and their offsets, sixteen numbers each.

#define BLOCK_FLOATS 96
#define INPUT_ROWS team.area(STEM_INPUT)

DEVICE bool stem_decays(int place) {
  int at = place % BLOCK_FLOATS;
  return at >= 32 && at < 80;
}

// What is seen of an embedded input.
DEVICE float seen_of(int index, float x) { return smaller(larger(x, EMBEDDED_LOWS(index)), EMBEDDED_HIGHS(index)); }

// The three numbers of an embedded input; also(unit, sine, cosine) for each of its frequencies.
template <class Also> DEVICE void embed(const float* block, float seen, float (&sums)[3], Also also) {
#pragma unroll
  for (int mix = 0; mix < 3; ++mix) sums[mix] = block[80 + mix];
  for (int unit = 0; unit < 16; ++unit) {
    float phase = block[16 + unit] * 0.318309886183790671538f * 0.5f, cosine;
    float sine = sin_cos_turns(fmaf(seen, block[unit], phase), cosine);
    also(unit, sine, cosine);
#pragma unroll
    for (int mix = 0; mix < 3; ++mix) sums[mix] = fmaf(cosine, block[32 + mix * 16 + unit], sums[mix]);
  }
}

// act(unit, row, value) for what the first layer reads beside the inputs themselves; input(number, row).
template <class Input, class Act> DEVICE void each_embedded(const float* weights, Rows rows, Input input, Act act) {
  each_row(EMBEDDED, rows, [&](int index, int row) {
    float sums[3];
    embed(weights + index * BLOCK_FLOATS, seen_of(index, input(EMBEDDED_INPUTS(index), row)), sums, [](int, float, float) {});
#pragma unroll
    for (int mix = 0; mix < 3; ++mix) act(INPUTS + index * 3 + mix, row, sums[mix]);
  });
}

DEVICE void stem_forward(const Team& team, const float* weights, Rows rows, bool) {
  const float* x = INPUT_ROWS;
  float* out = team.values(0);
  each_row(INPUTS, rows, [&](int input, int row) { out[input * ROW_STRIDE + row] = x[input * ROW_STRIDE + row]; });
  each_row(EMBEDDED, rows, [&](int index, int row) {
    float sums[3], seen = seen_of(index, x[EMBEDDED_INPUTS(index) * ROW_STRIDE + row]);
    team.area(SEEN)[index * ROW_STRIDE + row] = seen;
    embed(weights + index * BLOCK_FLOATS, seen, sums, [&](int unit, float sine, float cosine) {
      int at = (index * 16 + unit) * ROW_STRIDE + row;
      team.area(SINES)[at] = sine;
      team.area(COSINES)[at] = cosine;
    });
#pragma unroll
    for (int mix = 0; mix < 3; ++mix) out[(INPUTS + index * 3 + mix) * ROW_STRIDE + row] = sums[mix];
  });
  sync_block();
}

// The sum over a panel of what each row of a lane gives after the other: lanes in their order.
template <class Next> DEVICE float panel_sum(int first, Next next) {
  float sum = 0.0f;
  for (int lane = 0; lane < 16; ++lane) {
    float of_lane = next(first + 16 + lane, next(first + lane, 0.0f));
    sum = lane == 0 ? of_lane : sum + of_lane;
  }
  return sum;
}

// As above with lanes added by halves.
template <class Next> DEVICE float panel_tree(int first, Next next) {
  float lanes[16];
#pragma unroll
  for (int lane = 0; lane < 16; ++lane) lanes[lane] = next(first + 16 + lane, next(first + lane, 0.0f));
  return lane_sum(lanes);
}

ONCE void stem_gradient(Team team, int rows) {
  each(EMBEDDED * BLOCK_FLOATS, [&](int item) {
    int index = item / BLOCK_FLOATS, at = item % BLOCK_FLOATS, kind = at / 16, unit = at % 16;
    if (kind == 5 && unit >= 3) {
      team.gradient()[item] = 0.0f;
      return;
    }
    const float *block = team.weights() + index * BLOCK_FLOATS, *deltas = team.deltas(0) + (INPUTS + index * 3) * ROW_STRIDE;
    const float *sines = team.area(SINES) + (index * 16 + unit) * ROW_STRIDE, *seen = team.area(SEEN) + index * ROW_STRIDE;
    const float* cosines = team.area(COSINES) + (index * 16 + unit) * ROW_STRIDE;
    auto slope = [&](int row) {
      float sum = 0.0f;
#pragma unroll
      for (int mix = 0; mix < 3; ++mix) sum = fmaf(deltas[mix * ROW_STRIDE + row], block[32 + mix * 16 + unit], sum);
      return sum * sines[row];
    };
    float total = 0.0f;
    for (int begin = 0; begin < rows; begin += PART_PANELS * PANEL) {
      float part = 0.0f;
      for (int first = begin; first < least(rows, begin + PART_PANELS * PANEL); first += PANEL) {
        if (kind == 0)
          part = part + panel_sum(first, [&](int row, float sum) { return fmaf(slope(row), seen[row] * -6.28318530717958647693f, sum); });
        else if (kind == 1)
          part = part + panel_sum(first, [&](int row, float sum) { return sum - slope(row); });
        else if (kind < 5)
          part = part + panel_sum(first, [&](int row, float sum) { return fmaf(cosines[row], deltas[(kind - 2) * ROW_STRIDE + row], sum); });
        else
          part = part + panel_tree(first, [&](int row, float sum) { return sum + deltas[unit * ROW_STRIDE + row]; });
      }
      total = begin == 0 ? part : total + part;
    }
    team.gradient()[item] = total;
    if (!finite_number(total * total)) team.state()->bad = 1;
  });
}
