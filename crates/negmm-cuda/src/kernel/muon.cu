// Muon: the momentum of a hidden layer's matrix is brought near to an orthogonal matrix. X has the shorter side as rows.

#define MOMENTUM 0.95f
#define MUON_AHEAD (SHARED ? 1 : 8)

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
    const int across = long_side(layer), stride = long_stride(layer), rows = short_side(layer), at_once = 2 * CHUNK_FLOATS / stride;
    float sums[REMEMBERED];
    each_thread([&](int, int mine) { sums[mine] = 0.0f; });
#pragma unroll 1
    for (int first = 0; first < rows; first += at_once) {
      const int count = least(at_once, rows - first);
      each_here(count * stride / 4, [&](int item) { store4(chunk(0) + 4 * item, far4(x + first * stride + 4 * item)); });
      sync_block();
      each_thread([&](int thread, int mine) {
        if (thread >= 16) return;
#pragma unroll 1
        for (int row = 0; row < count; ++row)
#pragma unroll 8
          for (int column = thread; column < across; column += 16) {
            float entry = chunk(0)[row * stride + column];
            sums[mine] = fmaf(entry, entry, sums[mine]);
          }
      });
      sync_block();
    }
    each_thread([&](int thread, int mine) {
      if (thread < 16) team.area(MUON_SQUARES)[layer * 16 + thread] = sums[mine];
    });
  }
}
#endif

// Leaves in each layer's X the update with singular values near 1; ends in a phase.
ONCE void orthogonal_steps(Team team) {
  float* momentum = team.job->memory + 2 * PARAMETERS;
#pragma unroll 1
  for (int layer = 0; layer + 1 < LAYERS; ++layer) {
    float* x = team.area(MUON_X(layer));
    struct Held { float gradient, momentum; };
    const int start = STARTS(layer), stride = STRIDES(layer), inputs = UNITS(layer), across = long_stride(layer);
    const bool is_turned = turned(layer);
    each_ahead<MUON_AHEAD, Held>(UNITS(layer + 1) * stride,
      [&](int item, Held& held) { held = {team.gradient()[start + item], momentum[start + item]}; },
      [&](int item, Held& held) {
      int input = item % stride, unit = item / stride;
      if (input >= inputs) return;
      float part = held.gradient * (1.0f - MOMENTUM);
      float moved = fmaf(held.momentum, MOMENTUM, part);
      momentum[start + item] = moved;
      x[is_turned ? input * across + unit : unit * across + input] = fmaf(moved, MOMENTUM, part);
    });
  }
  team.sync();
  lane_squares(team);
  team.sync();
#pragma unroll 1
  for (int layer = 0; layer + 1 < LAYERS; ++layer) {
    float* x = team.area(MUON_X(layer));
    float lanes[16];
#pragma unroll
    for (int lane = 0; lane < 16; ++lane) lanes[lane] = team.area(MUON_SQUARES)[layer * 16 + lane];
    const float norm = sqrtf(lane_sum(lanes)), factor = norm > 1e-20f ? 1.0f / norm : 0.0f;
    const int stride = long_stride(layer), across = long_side(layer);
    each_ahead<MUON_AHEAD, float>(short_side(layer) * stride, [&](int item, float& held) { held = x[item]; },
      [&](int item, float& held) {
      if (item % stride < across) x[item] = held * factor;
    });
  }
  team.sync();
#pragma unroll 1
  for (int round = 0; round < 3; ++round) {
    // The Gram matrix, then its polynomial: it is symmetric, and its columns are its rows.
#pragma unroll 1
    for (int squared = 0; squared < 2; ++squared) {
      int turn = 0;
#pragma unroll 1
      for (int layer = 0; layer + 1 < LAYERS; ++layer) {
        const float* x = team.area(round % 2 ? MUON_NEXT(layer) : MUON_X(layer));
        float *gram = team.area(MUON_GRAM(layer)), *polynomial = team.area(MUON_POLYNOMIAL(layer));
        const int sides = short_side(layer), stride = short_stride(layer);
        Factor factor = {squared ? gram : x, squared ? stride : long_stride(layer), sides};
        shared_product<true>(turn, factor, factor, squared ? sides : long_side(layer), [&](int a, int b, float sum) {
          int at = a * stride + b;
          float mixed = squared ? fmaf(sum, 2.0315f, gram[at] * -4.775f) : sum;
          (squared ? polynomial : gram)[at] = squared && a == b ? mixed + 3.4445f : mixed;
        });
      }
      team.sync();
    }
    int turn = 0;
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

// The updates of one layer's weights: three rounds end in `next`. A layer without has none; neither has a bias.
struct Orthogonal {
  const float* next;
  int start, stride, inputs, to_unit, to_input;
  float size;

  DEVICE bool steps() const { return next != nullptr; }
  DEVICE void update(int at, float (&four)[4]) const {
    int unit = (at - start) / stride, input = (at - start) % stride;
#pragma unroll
    for (int j = 0; j < 4; ++j) four[j] = input + j < inputs ? next[unit * to_unit + (input + j) * to_input] : 0.0f;
  }
};

DEVICE Orthogonal orthogonal_of(const Team& team, int layer) {
  if (layer + 1 >= LAYERS) return {};
  const int across = long_stride(layer);
  const float size = (float)(team.state()->rate * 0.2 * sqrt((double)long_side(layer)));
  const int to_unit = turned(layer) ? 1 : across, to_input = turned(layer) ? across : 1;
  return {team.area(MUON_NEXT(layer)), STARTS(layer), STRIDES(layer), UNITS(layer), to_unit, to_input, size};
}
