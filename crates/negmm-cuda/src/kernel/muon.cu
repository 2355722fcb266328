// Muon: the momentum of a hidden layer's matrix is brought near to an orthogonal matrix. X has the shorter side as rows.

#define MOMENTUM 0.95f

DEVICE int short_side(int layer) { return least(UNITS(layer), UNITS(layer + 1)); }
DEVICE int long_side(int layer) { return UNITS(layer) + UNITS(layer + 1) - short_side(layer); }
DEVICE bool turned(int layer) { return UNITS(layer + 1) > UNITS(layer); }
DEVICE int long_stride(int layer) { return (long_side(layer) + 7) / 8 * 8 + 4; }
DEVICE int short_stride(int layer) { return (short_side(layer) + 7) / 8 * 8 + 4; }

#if SHARED
// The squares of each of sixteen lanes, row after row.
DEVICE void lane_squares(const Team& team) {
  each((LAYERS - 1) * 16, [&](int item) {
    int layer = item / 16, lane = item % 16;
    const float* x = team.area(MUON_X(layer));
    const int across = long_side(layer), chunks = (across + 15) / 16, count = short_side(layer) * chunks, stride = long_stride(layer);
    float sum = 0.0f;
    // Many are read before the first is needed; a zero changes no sum of squares.
    for (int begin = 0; begin < count; begin += 32) {
      float batch[32];
#pragma unroll
      for (int j = 0; j < 32; ++j) {
        int row = (begin + j) / chunks, column = (begin + j) % chunks * 16 + lane;
        batch[j] = begin + j < count && column < across ? x[row * stride + column] : 0.0f;
      }
#pragma unroll
      for (int j = 0; j < 32; ++j) sum = fmaf(batch[j], batch[j], sum);
    }
    team.area(MUON_SQUARES)[item] = sum;
  });
}
#else
// The same, a layer for each block; its rows pass through shared memory.
DEVICE void lane_squares(const Team& team) {
#pragma unroll 1
  for (int layer = block(); layer + 1 < LAYERS; layer += BLOCKS) {
    const float* x = team.area(MUON_X(layer));
    const int across = long_side(layer), stride = long_stride(layer), rows = short_side(layer), at_once = CHUNK_FLOATS / stride;
    float sums[REMEMBERED];
    each_thread([&](int, int mine) { sums[mine] = 0.0f; });
    auto bring = [&](int number) {
      const int first = number * at_once, floats = least(at_once, rows - first) * stride;
      each_here(floats > 0 ? floats / 4 : 0, [&](int item) { copy4(chunk(number) + 4 * item, x + first * stride + 4 * item); });
      end_copies();
    };
#pragma unroll
    for (int number = 0; number + 1 < CHUNKS; ++number) bring(number);
#pragma unroll 1
    for (int number = 0; number * at_once < rows; ++number) {
      wait_copies<CHUNKS - 2>();
      sync_block();
      bring(number + CHUNKS - 1);
      each_thread([&](int thread, int mine) {
        if (thread >= 16) return;
#pragma unroll 1
        for (int row = 0; row < least(at_once, rows - number * at_once); ++row)
#pragma unroll 8
          for (int column = thread; column < across; column += 16) {
            float entry = chunk(number)[row * stride + column];
            sums[mine] = fmaf(entry, entry, sums[mine]);
          }
      });
    }
    each_thread([&](int thread, int mine) {
      if (thread < 16) team.area(MUON_SQUARES)[layer * 16 + thread] = sums[mine];
    });
    sync_block();
  }
}
#endif

// Leaves in each layer's X the update with singular values near 1; ends in a phase.
DEVICE void orthogonal_steps(const Team& team) {
  float* momentum = team.job->memory + 2 * PARAMETERS;
#pragma unroll 1
  for (int layer = 0; layer + 1 < LAYERS; ++layer) {
    float* x = team.area(MUON_X(layer));
    each(UNITS(layer + 1) * STRIDES(layer), [&](int item) {
      int input = item % STRIDES(layer), unit = item / STRIDES(layer), at = STARTS(layer) + item;
      if (input >= UNITS(layer)) return;
      float part = team.gradient()[at] * (1.0f - MOMENTUM);
      float moved = fmaf(momentum[at], MOMENTUM, part);
      momentum[at] = moved;
      x[turned(layer) ? input * long_stride(layer) + unit : unit * long_stride(layer) + input] = fmaf(moved, MOMENTUM, part);
    });
  }
  team.sync();
  lane_squares(team);
  team.sync();
#pragma unroll 1
  for (int layer = 0; layer + 1 < LAYERS; ++layer) {
    float* x = team.area(MUON_X(layer));
    each(short_side(layer) * long_stride(layer), [&](int item) {
      if (item % long_stride(layer) >= long_side(layer)) return;
      float lanes[16];
#pragma unroll
      for (int lane = 0; lane < 16; ++lane) lanes[lane] = team.area(MUON_SQUARES)[layer * 16 + lane];
      float norm = sqrtf(lane_sum(lanes));
      x[item] = x[item] * (norm > 1e-20f ? 1.0f / norm : 0.0f);
    });
  }
  team.sync();
#pragma unroll 1
  for (int round = 0; round < 3; ++round) {
    int turn = 0;
#pragma unroll 1
    for (int layer = 0; layer + 1 < LAYERS; ++layer) {
      Factor x = {team.area(round % 2 ? MUON_NEXT(layer) : MUON_X(layer)), long_stride(layer), short_side(layer)};
      float* gram = team.area(MUON_GRAM(layer));
      shared_product<true>(turn, x, x, long_side(layer), [&](int a, int b, float sum) { gram[a * short_stride(layer) + b] = sum; });
    }
    team.sync();
    turn = 0;
#pragma unroll 1
    for (int layer = 0; layer + 1 < LAYERS; ++layer) {
      // A Gram matrix is symmetric: its columns are its rows.
      Factor gram = {team.area(MUON_GRAM(layer)), short_stride(layer), short_side(layer)};
      float* polynomial = team.area(MUON_POLYNOMIAL(layer));
      shared_product<true>(turn, gram, gram, short_side(layer), [&](int a, int b, float sum) {
        int at = a * gram.stride + b;
        float mixed = fmaf(sum, 2.0315f, gram.numbers[at] * -4.775f);
        polynomial[at] = a == b ? mixed + 3.4445f : mixed;
      });
    }
    team.sync();
    turn = 0;
#pragma unroll 1
    for (int layer = 0; layer + 1 < LAYERS; ++layer) {
      Factor polynomial = {team.area(MUON_POLYNOMIAL(layer)), short_stride(layer), short_side(layer)};
      Factor x = {team.area(round % 2 ? MUON_NEXT(layer) : MUON_X(layer)), long_stride(layer), long_side(layer)};
      float* next = team.area(round % 2 ? MUON_X(layer) : MUON_NEXT(layer));
      shared_product<false>(turn, polynomial, x, short_side(layer), [&](int a, int b, float sum) { next[a * x.stride + b] = sum; });
    }
    team.sync();
  }
}

// A weight after its step; three rounds end in `next`.
DEVICE float orthogonal_step(const Team& team, int layer, int at, float weight) {
  int item = at - STARTS(layer), input = item % STRIDES(layer), unit = item / STRIDES(layer);
  const float* x = team.area(MUON_NEXT(layer));
  float step = x[turned(layer) ? input * long_stride(layer) + unit : unit * long_stride(layer) + input];
  float size = (float)(team.state()->rate * 0.2 * sqrt((double)long_side(layer)));
  return neg_mul_add(step, size, weight);
}
