// Muon: the momentum of a hidden layer's weight matrix is orthogonalised approximately by Newton-Schulz iteration. X is transposed where
// needed so that its rows are the shorter side.

#define MOMENTUM 0.95f
#define MUON_PREFETCH (SHARED_WORKSPACE ? 1 : 8)

DEVICE int short_side(int layer) { return min_int(UNITS(layer), UNITS(layer + 1)); }
DEVICE int long_side(int layer) { return UNITS(layer) + UNITS(layer + 1) - short_side(layer); }
DEVICE bool transposed(int layer) { return UNITS(layer + 1) > UNITS(layer); }
DEVICE int long_stride(int layer) { return (long_side(layer) + 7) / 8 * 8 + 4; }
DEVICE int short_stride(int layer) { return (short_side(layer) + 7) / 8 * 8 + 4; }

#if SHARED_WORKSPACE
// Squared norm of X in sixteen lanes, row by row.
DEVICE void lane_squares(const Team& team) {
  for_each((LAYERS - 1) * 16, [&](int item) {
    int layer = item / 16, lane = item % 16;
    const float* x = team.buffer(MUON_X(layer));
    const int across = long_side(layer), chunks = (across + 15) / 16, count = short_side(layer) * chunks, stride = long_stride(layer);
    float sum = 0.0f;
    // 32 loads in flight; padding with zeros leaves a sum of squares unchanged.
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
    team.buffer(MUON_SQUARES)[item] = sum;
  });
}
#else
// The same with one layer per block, rows staged in shared memory.
DEVICE void lane_squares(const Team& team) {
#pragma unroll 1
  for (int layer = block(); layer + 1 < LAYERS; layer += BLOCKS_PER_NETWORK) {
    const float* x = team.buffer(MUON_X(layer));
    const int across = long_side(layer), stride = long_stride(layer), rows = short_side(layer), at_once = 2 * CHUNK_FLOATS / stride;
    float sums[THREAD_SLOTS];
    for_each_thread([&](int, int slot) { sums[slot] = 0.0f; });
#pragma unroll 1
    for (int first = 0; first < rows; first += at_once) {
      const int count = min_int(at_once, rows - first);
      for_each_in_block(count * stride / 4, [&](int item) { store4(chunk(0) + 4 * item, load_global4(x + first * stride + 4 * item)); });
      sync_block();
      for_each_thread([&](int thread, int slot) {
        if (thread >= 16) return;
#pragma unroll 1
        for (int row = 0; row < count; ++row)
#pragma unroll 8
          for (int column = thread; column < across; column += 16) {
            float entry = chunk(0)[row * stride + column];
            sums[slot] = fmaf(entry, entry, sums[slot]);
          }
      });
      sync_block();
    }
    for_each_thread([&](int thread, int slot) {
      if (thread < 16) team.buffer(MUON_SQUARES)[layer * 16 + thread] = sums[slot];
    });
  }
}
#endif

// Computes the update of each hidden layer, a matrix with singular values near 1; ends with a barrier.
NOINLINE void orthogonalize(Team team) {
  float* momentum = team.job->optimizer_state + 2 * PARAMETERS;
#pragma unroll 1
  for (int layer = 0; layer + 1 < LAYERS; ++layer) {
    float* x = team.buffer(MUON_X(layer));
    struct Loaded { float gradient, momentum; };
    const int start = STARTS(layer), stride = STRIDES(layer), inputs = UNITS(layer), across = long_stride(layer);
    const bool is_transposed = transposed(layer);
    for_each_prefetched<MUON_PREFETCH, Loaded>(UNITS(layer + 1) * stride,
      [&](int item, Loaded& loaded) { loaded = {team.gradient()[start + item], momentum[start + item]}; },
      [&](int item, Loaded& loaded) {
      int input = item % stride, unit = item / stride;
      if (input >= inputs) return;
      float increment = loaded.gradient * (1.0f - MOMENTUM);
      float new_momentum = fmaf(loaded.momentum, MOMENTUM, increment);
      momentum[start + item] = new_momentum;
      x[is_transposed ? input * across + unit : unit * across + input] = fmaf(new_momentum, MOMENTUM, increment);
    });
  }
  team.sync();
  lane_squares(team);
  team.sync();
#pragma unroll 1
  for (int layer = 0; layer + 1 < LAYERS; ++layer) {
    float* x = team.buffer(MUON_X(layer));
    float lanes[16];
#pragma unroll
    for (int lane = 0; lane < 16; ++lane) lanes[lane] = team.buffer(MUON_SQUARES)[layer * 16 + lane];
    const float norm = sqrtf(lane_sum(lanes)), factor = norm > 1e-20f ? 1.0f / norm : 0.0f;
    const int stride = long_stride(layer), across = long_side(layer);
    for_each_prefetched<MUON_PREFETCH, float>(short_side(layer) * stride, [&](int item, float& loaded) { loaded = x[item]; },
      [&](int item, float& loaded) {
      if (item % stride < across) x[item] = loaded * factor;
    });
  }
  team.sync();
#pragma unroll 1
  for (int iteration = 0; iteration < 3; ++iteration) {
    // First the Gram matrix G = X X', then a I + b G + c G^2. Both are symmetric: rows serve as columns.
#pragma unroll 1
    for (int second_pass = 0; second_pass < 2; ++second_pass) {
      int tile_count = 0;
#pragma unroll 1
      for (int layer = 0; layer + 1 < LAYERS; ++layer) {
        const float* x = team.buffer(iteration % 2 ? MUON_NEXT(layer) : MUON_X(layer));
        float *gram = team.buffer(MUON_GRAM(layer)), *polynomial = team.buffer(MUON_POLYNOMIAL(layer));
        const int short_size = short_side(layer), stride = short_stride(layer);
        Factor factor = {second_pass ? gram : x, second_pass ? stride : long_stride(layer), short_size};
        team_product<true>(tile_count, factor, factor, second_pass ? short_size : long_side(layer), [&](int a, int b, float sum) {
          int at = a * stride + b;
          float mixed = second_pass ? fmaf(sum, 2.0315f, gram[at] * -4.775f) : sum;
          (second_pass ? polynomial : gram)[at] = second_pass && a == b ? mixed + 3.4445f : mixed;
        });
      }
      team.sync();
    }
    int tile_count = 0;
#pragma unroll 1
    for (int layer = 0; layer + 1 < LAYERS; ++layer) {
      Factor polynomial = {team.buffer(MUON_POLYNOMIAL(layer)), short_stride(layer), short_side(layer)};
      Factor x = {team.buffer(iteration % 2 ? MUON_NEXT(layer) : MUON_X(layer)), long_stride(layer), long_side(layer)};
      float* next = team.buffer(iteration % 2 ? MUON_X(layer) : MUON_NEXT(layer));
      team_product<false>(tile_count, polynomial, x, short_side(layer), [&](int a, int b, float sum) { next[a * x.stride + b] = sum; });
    }
    team.sync();
  }
}

// The Muon update of one layer: after three iterations the result is in `next`. The output layer and biases have none.
struct MuonUpdate {
  const float* next;
  int start, stride, inputs, to_unit, to_input;
  float step_size;

  DEVICE bool active() const { return next != nullptr; }
  DEVICE void update(int at, float (&four)[4]) const {
    int unit = (at - start) / stride, input = (at - start) % stride;
#pragma unroll
    for (int j = 0; j < 4; ++j) four[j] = input + j < inputs ? next[unit * to_unit + (input + j) * to_input] : 0.0f;
  }
};

DEVICE MuonUpdate muon_update(const Team& team, int layer) {
  if (layer + 1 >= LAYERS) return {};
  const int across = long_stride(layer);
  const float step_size = (float)(team.state()->rate * 0.2 * sqrt((double)long_side(layer)));
  const int to_unit = transposed(layer) ? 1 : across, to_input = transposed(layer) ? across : 1;
  return {team.buffer(MUON_NEXT(layer)), STARTS(layer), STRIDES(layer), UNITS(layer), to_unit, to_input, step_size};
}
