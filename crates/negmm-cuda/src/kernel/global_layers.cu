// Forward and backward pass of a network whose workspace lies in global memory. Each block owns a range of rows and runs both passes over
// them without synchronising with other blocks; weights stream through shared memory in double-buffered chunks along k. Afterwards the
// blocks divide the tiles of all weight gradients among them. An element of a product is one chain of fused multiply-adds in a register of
// one thread, in the order of the CPU kernels: over units in the forward and backward pass; for a weight gradient over the rows of a part,
// then over parts in order.

// Row pitch of a K-major chunk in shared memory, padded against bank conflicts. Two chunks form a double buffer.
#define PITCH (CHUNK + 4)
#define WARPS (THREADS / 32)

#ifdef __CUDACC_RTC__
DEVICE float* tile_memory() { return (float*)shared_memory; }
// Cached in L2 only (ld.global.cg): other blocks wrote it, and it is read once.
DEVICE float4 load_global4(const float* address) { return __ldcg((const float4*)address); }
// `volatile`, so that the compiler does not move the load down to its first use.
DEVICE float load_global1(const float* address) {
  float value;
  asm volatile("ld.global.f32 %0, [%1];" : "=f"(value) : "l"(__cvta_generic_to_global(address)) : "memory");
  return value;
}
#else
static inline float* tile_memory() {
  alignas(16) static thread_local float memory[SHARED_FLOATS];
  return memory;
}
DEVICE float4 load_global4(const float* address) { return load4(address); }
DEVICE float load_global1(const float* address) { return *address; }
#endif

// Activations or deltas of the block's rows, rows x units, double-buffered over layers: the operand of a layer's product.
DEVICE float* operand(int level) { return tile_memory() + level % 2 * OPERAND_FLOATS; }
DEVICE float* chunk(int number) { return tile_memory() + 2 * OPERAND_FLOATS + number % 2 * CHUNK_FLOATS; }

// Position of a thread in its block's tile: a warp is 8 x 4 threads, `warps_a` warps lie along a. Neighbouring lanes read the same row of
// A, every second lane the same row of B: shared memory broadcasts such reads.
struct TilePosition { int a, b; };
DEVICE TilePosition tile_position(int thread, int warps_a) {
  int lane = thread % 32, warp = thread / 32;
  return {(lane / 2 & 1) + (lane / 4 & 6) + 8 * (warp % warps_a), (lane & 1) + (lane / 2 & 2) + 4 * (warp / warps_a)};
}

// Copy from global to shared memory through registers: `VECTORS` float4 per thread of a K-major matrix (k contiguous) with `count` rows.
#define ROWS_AT_ONCE (THREADS / (CHUNK / 4))
DEVICE float4 zero4() { return make_float4(0.0f, 0.0f, 0.0f, 0.0f); }

template <int VECTORS> struct KMajorLoader {
  static DEVICE void fetch(float4 (&staged)[VECTORS], int thread, const float* matrix, int stride, int count, int k, int inner) {
    const int row = thread / (CHUNK / 4), at = k + thread % (CHUNK / 4) * 4;
    const float* from = matrix + row * stride + at;
#pragma unroll
    for (int i = 0; i < VECTORS; ++i)
      staged[i] = row + i * ROWS_AT_ONCE < count && at < inner ? load_global4(from + i * ROWS_AT_ONCE * stride) : zero4();
  }
  static DEVICE void put(const float4 (&staged)[VECTORS], int thread, float* to, int max_count) {
    to += thread / (CHUNK / 4) * PITCH + thread % (CHUNK / 4) * 4;
#pragma unroll
    for (int i = 0; i < VECTORS; ++i)
      if (thread / (CHUNK / 4) + i * ROWS_AT_ONCE < max_count) store4(to + i * ROWS_AT_ONCE * PITCH, staged[i]);
  }
};

// The same for an MN-major matrix (a row for each k) with `count` columns; the chunk has `COLUMNS` columns.
template <int VECTORS, int COLUMNS> struct MnMajorLoader {
  static const int at_once = THREADS / (COLUMNS / 4);
  static DEVICE void fetch(float4 (&staged)[VECTORS], int thread, const float* matrix, int stride, int count, int k, int inner) {
    const int row = thread / (COLUMNS / 4), at = thread % (COLUMNS / 4) * 4;
    const float* from = matrix + (k + row) * stride + at;
#pragma unroll
    for (int i = 0; i < VECTORS; ++i)
      staged[i] = k + row + i * at_once < inner && at < count ? load_global4(from + i * at_once * stride) : zero4();
  }
  static DEVICE void put(const float4 (&staged)[VECTORS], int thread, float* to, int) {
    to += thread / (COLUMNS / 4) * COLUMNS + thread % (COLUMNS / 4) * 4;
#pragma unroll
    for (int i = 0; i < VECTORS; ++i)
      if (thread / (COLUMNS / 4) + i * at_once < CHUNK) store4(to + i * at_once * COLUMNS, staged[i]);
  }
};

// The operands of a thread's tile in shared memory. K-major: the thread's rows are `stride` floats apart. MN-major: rows of k are `stride`
// floats apart, and the thread has four neighbouring columns.
struct SharedOperands { const float *a, *b; int a_stride, b_stride; };

// Register fragments of both operands for four values of k.
template <bool K_MAJOR_A, bool K_MAJOR_B, int QA, int QB> struct Fragments {
  float4 a[K_MAJOR_A ? QA : 4], b[K_MAJOR_B ? QB : 4];

  DEVICE void load(const SharedOperands& operands, int k) {
    static_for<(K_MAJOR_A ? QA : 4)>([&](auto at) {
      constexpr int q = at.value;
      a[q] = load4(operands.a + (K_MAJOR_A ? q * operands.a_stride + k : (k + q) * operands.a_stride));
    });
    static_for<(K_MAJOR_B ? QB : 4)>([&](auto at) {
      constexpr int j = at.value;
      b[j] = load4(operands.b + (K_MAJOR_B ? j * operands.b_stride + k : (k + j) * operands.b_stride));
    });
  }
  DEVICE void add_to(float (&sums)[QA][QB]) const {
    static_for<4 * QA * QB>([&](auto at) {
      constexpr int i = at.value / (QA * QB), q = at.value / QB % QA, j = at.value % QB;
      const float of_a = K_MAJOR_A ? component(a[q], i) : component(a[i], q), of_b = K_MAJOR_B ? component(b[j], i) : component(b[i], j);
      sums[q][j] = fmaf(of_a, of_b, sums[q][j]);
    });
  }
};

// Adds the products of `count` values of k to the sums of a thread. For a full chunk, the usual case, loads are software-pipelined: the
// next fragments are loaded while the current ones are multiplied.
template <bool K_MAJOR_A, bool K_MAJOR_B, int QA, int QB>
DEVICE void add_products(float (&sums)[QA][QB], const SharedOperands& operands, int count) {
  Fragments<K_MAJOR_A, K_MAJOR_B, QA, QB> now, next;
  if (count == CHUNK) {
    now.load(operands, 0);
#pragma unroll 1
    for (int k = 0; k < CHUNK; k += 8) {
      next.load(operands, k + 4);
      now.add_to(sums);
      now.load(operands, min_int(k + 8, CHUNK - 4));
      next.add_to(sums);
    }
    return;
  }
  int k = 0;
#pragma unroll 1
  for (; k + 4 <= count; k += 4) {
    now.load(operands, k);
    now.add_to(sums);
  }
#pragma unroll 1
  for (; k < count; ++k)
#pragma unroll
    for (int q = 0; q < QA; ++q)
#pragma unroll
      for (int j = 0; j < QB; ++j)
        sums[q][j] = fmaf(operands.a[K_MAJOR_A ? q * operands.a_stride + k : k * operands.a_stride + q],
                          operands.b[K_MAJOR_B ? j * operands.b_stride + k : k * operands.b_stride + j], sums[q][j]);
}

// Adds `count` values of k to the sum of each row (bias gradients).
DEVICE void add_rows(float (&sums)[4], const float* rows, int row_stride, int count) {
  int k = 0;
#pragma unroll 2
  for (; k + 4 <= count; k += 4)
#pragma unroll
    for (int q = 0; q < 4; ++q) {
      float4 four = load4(rows + q * row_stride + k);
#pragma unroll
      for (int i = 0; i < 4; ++i) sums[q] = sums[q] + component(four, i);
    }
#pragma unroll 1
  for (; k < count; ++k)
#pragma unroll
    for (int q = 0; q < 4; ++q) sums[q] = sums[q] + rows[q * row_stride + k];
}

template <bool FIRST, class A, class B> struct Conditional { typedef A Type; };
template <class A, class B> struct Conditional<false, A, B> { typedef B Type; };

// C[a][row] = prologue(a, row) + sum over k of a matrix with `across` rows or columns times the operand of the block's rows. `prologue`
// also loads a number that is passed on to epilogue(a, row, sum, number). Ends with a barrier of the block.
template <bool K_MAJOR, int QA, int QB, int WARPS_A, class Prologue, class Epilogue>
DEVICE void block_product(const float* matrix, int stride, int across, int inner, const float* operand_rows, Rows rows, Prologue prologue,
                          Epilogue epilogue) {
  const int threads_a = 8 * WARPS_A, threads_b = THREADS / threads_a, max_count = QA * threads_a;
  const int vectors = (max_count * CHUNK / 4 + THREADS - 1) / THREADS, chunks = (inner + CHUNK - 1) / CHUNK;
  using Loader = typename Conditional<K_MAJOR, KMajorLoader<vectors>, MnMajorLoader<vectors, max_count>>::Type;
#pragma unroll 1
  for (int first = 0; first < across; first += max_count) {
    float sums[THREAD_SLOTS][QA][QB], numbers[THREAD_SLOTS][QA][QB];
    float4 staged[THREAD_SLOTS][vectors];
    const float* from = matrix + first * (K_MAJOR ? stride : 1);
    auto fetch = [&](int number) {
      for_each_thread([&](int thread, int slot) {
        Loader::fetch(staged[slot], thread, from, stride, across - first, number * CHUNK, inner);
      });
    };
    auto put = [&](int number) {
      for_each_thread([&](int thread, int slot) { Loader::put(staged[slot], thread, chunk(number), max_count); });
    };
    auto each_sum = [&](int thread, auto act) {
      TilePosition position = tile_position(thread, WARPS_A);
#pragma unroll
      for (int q = 0; q < QA; ++q)
#pragma unroll
        for (int j = 0; j < QB; ++j) {
          int a = first + (K_MAJOR ? position.a + q * threads_a : position.a * QA + q), row = rows.first + position.b + j * threads_b;
          act(q, j, a, row, a < across && row < rows.end);
        }
    };
    fetch(0);
    for_each_thread([&](int thread, int slot) {
      each_sum(thread, [&](int q, int j, int a, int row, bool in_range) {
        // A bias is the same for all rows: loaded for the first only.
        sums[slot][q][j] = 0.0f;
        numbers[slot][q][j] = K_MAJOR && j > 0 ? numbers[slot][q][0] : 0.0f;
        if (in_range && (!K_MAJOR || j == 0)) sums[slot][q][j] = prologue(a, row, numbers[slot][q][j]);
      });
    });
    put(0);
#pragma unroll 1
    for (int number = 0; number < chunks; ++number) {
      if (number + 1 < chunks) fetch(number + 1);
      sync_block();
      for_each_thread([&](int thread, int slot) {
        TilePosition position = tile_position(thread, WARPS_A);
        SharedOperands operands = {chunk(number) + position.a * (K_MAJOR ? PITCH : QA),
                                   operand_rows + position.b * OPERAND_STRIDE + number * CHUNK,
                     K_MAJOR ? threads_a * PITCH : max_count, threads_b * OPERAND_STRIDE};
        add_products<K_MAJOR, true>(sums[slot], operands, min_int(CHUNK, inner - number * CHUNK));
      });
      if (number + 1 < chunks) put(number + 1);
    }
    for_each_thread([&](int thread, int slot) {
      each_sum(thread, [&](int q, int j, int a, int row, bool in_range) {
        if (in_range) epilogue(a, row, sums[slot][q][j], numbers[slot][q][j]);
      });
    });
    sync_block();
  }
}

// One tile of C[a][b] = sum over k of A[a][k] B[b][k] where B is `K_MAJOR`, else of A[a][k] B[k][b]; with `SPLIT_K` in partial sums over
// `part` values of k that are added in order. `with_row_sums` adds sum over k of A[a][k] as column b.count. Calls epilogue(a, b, sum).
struct Factor { const float* numbers; int stride, count; };

template <bool SPLIT_K, bool K_MAJOR, class Epilogue>
DEVICE void tile_product(Factor a, Factor b, int inner, int part, int warps_a, int first_a, int first_b, bool with_row_sums,
                         Epilogue epilogue) {
  const int threads_a = 8 * warps_a, threads_b = THREADS / threads_a, max_a = 4 * threads_a, max_b = K_MAJOR ? 4 * threads_b : MAX_COLUMNS;
  const int chunks = (inner + CHUNK - 1) / CHUNK;
  float sums[THREAD_SLOTS][4][4], totals[THREAD_SLOTS][4][4], row_sums[THREAD_SLOTS][4], row_totals[THREAD_SLOTS][4];
  // The rows of A are a multiple of what all threads copy at once.
  const int vectors_a = (128 + ROWS_AT_ONCE - 1) / ROWS_AT_ONCE;
  const int vectors_b = K_MAJOR ? vectors_a : (MAX_COLUMNS * CHUNK / 4 + THREADS - 1) / THREADS;
  using LoaderB = typename Conditional<K_MAJOR, KMajorLoader<vectors_b>, MnMajorLoader<vectors_b, MAX_COLUMNS>>::Type;
  float4 staged_a[THREAD_SLOTS][vectors_a], staged_b[THREAD_SLOTS][vectors_b];
  auto fetch = [&](int number) {
    for_each_thread([&](int thread, int slot) {
      const float *from_a = a.numbers + first_a * a.stride, *from_b = b.numbers + first_b * (K_MAJOR ? b.stride : 1);
      const int count_a = min_int(max_a, a.count - first_a), count_b = min_int(max_b, b.count - first_b);
      KMajorLoader<vectors_a>::fetch(staged_a[slot], thread, from_a, a.stride, count_a, number * CHUNK, inner);
      LoaderB::fetch(staged_b[slot], thread, from_b, b.stride, count_b, number * CHUNK, inner);
    });
  };
  auto put = [&](int number) {
    for_each_thread([&](int thread, int slot) {
      KMajorLoader<vectors_a>::put(staged_a[slot], thread, chunk(number), max_a);
      LoaderB::put(staged_b[slot], thread, chunk(number) + max_a * PITCH, max_b);
    });
  };
  fetch(0);
  for_each_thread([&](int, int slot) {
#pragma unroll
    for (int q = 0; q < 4; ++q) {
      row_sums[slot][q] = 0.0f;
#pragma unroll
      for (int j = 0; j < 4; ++j) sums[slot][q][j] = 0.0f;
    }
  });
  put(0);
#pragma unroll 1
  for (int number = 0; number < chunks; ++number) {
    if (number + 1 < chunks) fetch(number + 1);
    sync_block();
    const int end = min_int(inner, (number + 1) * CHUNK), count = end - number * CHUNK;
    for_each_thread([&](int thread, int slot) {
      TilePosition position = tile_position(thread, warps_a);
      const float* a_tile = chunk(number) + position.a * PITCH;
      const float* b_tile = chunk(number) + max_a * PITCH + position.b * (K_MAJOR ? PITCH : 4);
      add_products<true, K_MAJOR>(sums[slot], {a_tile, b_tile, threads_a * PITCH, K_MAJOR ? threads_b * PITCH : MAX_COLUMNS}, count);
      if (with_row_sums && position.b == 0) add_rows(row_sums[slot], a_tile, threads_a * PITCH, count);
      if (!SPLIT_K || (end % part != 0 && end != inner)) return;
#pragma unroll
      for (int q = 0; q < 4; ++q) {
        row_totals[slot][q] = end <= part ? row_sums[slot][q] : row_totals[slot][q] + row_sums[slot][q];
        row_sums[slot][q] = 0.0f;
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          totals[slot][q][j] = end <= part ? sums[slot][q][j] : totals[slot][q][j] + sums[slot][q][j];
          sums[slot][q][j] = 0.0f;
        }
      }
    });
    if (number + 1 < chunks) put(number + 1);
  }
  for_each_thread([&](int thread, int slot) {
    TilePosition position = tile_position(thread, warps_a);
#pragma unroll
    for (int q = 0; q < 4; ++q) {
      int at_a = first_a + position.a + q * threads_a;
      if (at_a >= a.count) break;
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        int at_b = first_b + (K_MAJOR ? position.b + j * threads_b : position.b * 4 + j);
        if (at_b < b.count) epilogue(at_a, at_b, SPLIT_K ? totals[slot][q][j] : sums[slot][q][j]);
      }
      if (with_row_sums && position.b == 0) epilogue(at_a, b.count, SPLIT_K ? row_totals[slot][q] : row_sums[slot][q]);
    }
  });
  sync_block();
}

// The tiles of a product, assigned round-robin to blocks; `tile_count` continues the assignment across several products.
template <bool SPLIT_K, bool K_MAJOR, class Epilogue>
DEVICE void tiled_product(int& tile_count, Factor a, Factor b, int inner, int part, int warps_a, bool with_row_sums, Epilogue epilogue) {
  const int max_a = 32 * warps_a, max_b = 4 * THREADS / (8 * warps_a), across = (b.count + max_b - 1) / max_b;
  const int count = (a.count + max_a - 1) / max_a * across;
#pragma unroll 1
  for (int tile = (block() + BLOCKS_PER_NETWORK - tile_count % BLOCKS_PER_NETWORK) % BLOCKS_PER_NETWORK; tile < count;
       tile += BLOCKS_PER_NETWORK) {
    int first_b = tile % across * max_b;
    tile_product<SPLIT_K, K_MAJOR>(a, b, inner, part, warps_a, tile / across * max_a, first_b, with_row_sums && first_b == 0, epilogue);
  }
  tile_count += count;
}

template <bool K_MAJOR, class Epilogue> DEVICE void team_product(int& tile_count, Factor a, Factor b, int inner, Epilogue epilogue) {
  tiled_product<false, K_MAJOR>(tile_count, a, b, inner, inner, 2, false, epilogue);
}

// Copies the block's rows of a level (units x rows) into an operand (rows x units).
DEVICE void load_level(float* to, const float* level, int units, Rows rows) {
  for_each_row(units, rows, [&](int unit, int row) { to[(row - rows.first) * OPERAND_STRIDE + unit] = level[unit * ROW_STRIDE + row]; });
  sync_block();
}

// Forward pass over the block's rows. In training it applies dropout and stores the activation derivatives.
NOINLINE void forward(Team team, const float* weights, Rows rows, bool trains) {
  load_level(operand(0), team.activations(0), UNITS(0), rows);
#pragma unroll 1
  for (int layer = 0; layer < LAYERS; ++layer) {
    const float *matrix = weights + STARTS(layer), *input = operand(layer);
    float *output = team.activations(layer + 1), *derivatives = team.deltas(layer + 1), *next = operand(layer + 1);
    const int stride = STRIDES(layer), inner = UNITS(layer);
    auto bias = [&](int unit, int, float& number) {
      number = load_global1(matrix + unit * stride + inner);
      return 0.0f;
    };
    if (layer + 1 == LAYERS) {
      block_product<true, LAST_UNITS_PER_THREAD, LAST_ROWS_PER_THREAD, WARPS / 2>(
        matrix, stride, UNITS(layer + 1), inner, operand(layer), rows, bias,
        [&](int unit, int row, float sum, float number) { output[unit * ROW_STRIDE + row] = sum + number; });
      break;
    }
    block_product<true, 4, ROWS_PER_THREAD, WARPS_ALONG_UNITS>(matrix, stride, UNITS(layer + 1), inner, operand(layer), rows, bias,
      [&](int unit, int row, float sum, float number) {
      int at = unit * ROW_STRIDE + row, operand_at = (row - rows.first) * OPERAND_STRIDE + unit;
      float derivative, value = activate(sum + number, derivative);
      if (DROPOUT && trains) {
        float factor = dropout_factor(team, dropout_bits(team, row, LAYER_DRAWS(layer) + unit * 8), row % 4);
        value = value * factor;
        derivative = derivative * factor;
      }
      if (RESIDUAL(layer)) value = input[operand_at] + value;
      if (trains) derivatives[at] = derivative;
      output[at] = value;
      next[operand_at] = value;
    });
  }
}

// Backward pass over the block's rows; deltas of the inputs only for a stem or adversarial training.
NOINLINE void backward(Team team, Rows rows) {
  load_level(operand(LAST_LEVEL), team.deltas(LAST_LEVEL), UNITS(LAST_LEVEL), rows);
#pragma unroll 1
  for (int layer = LAYERS - 1; layer >= (STEM != 0 || ADVERSARIAL ? 0 : 1); --layer) {
    float *out = team.deltas(layer), *next = operand(layer), *skip_deltas = team.skip_deltas(layer);
    const float* skip = team.skip_deltas(layer + 1);
    const bool has_slopes = layer > 0 || STEM == 2, leaves_direct = layer > 0 && RESIDUAL(layer - 1);
    const float* matrix = team.weights() + STARTS(layer);
    const int stride = STRIDES(layer), units = UNITS(layer), inner = UNITS(layer + 1);
    block_product<false, 4, ROWS_PER_THREAD, WARPS_ALONG_UNITS>(matrix, stride, units, inner, operand(layer + 1), rows,
      [&](int unit, int row, float& derivative) {
      int at = unit * ROW_STRIDE + row;
      derivative = has_slopes ? load_global1(out + at) : 1.0f;
      return RESIDUAL(layer) ? skip[at] : 0.0f;
    },
      [&](int unit, int row, float sum, float derivative) {
      int at = unit * ROW_STRIDE + row;
      if (leaves_direct) skip_deltas[at] = sum;
      float delta = has_slopes ? sum * derivative : sum;
      out[at] = delta;
      next[(row - rows.first) * OPERAND_STRIDE + unit] = delta;
    });
  }
}

// Weight and bias gradients of all layers over all rows, tiles divided among the blocks; sets `nonfinite` where a squared
// element overflows.
NOINLINE void gradients(Team team, int rows) {
  int tile_count = 0;
#pragma unroll 1
  for (int layer = LAYERS - 1; layer >= 0; --layer) {
    float* gradient = team.gradient() + STARTS(layer);
    const int units = UNITS(layer + 1), inputs = UNITS(layer), stride = STRIDES(layer);
    const int warps_along_units = inputs <= THREADS / 8 ? WARPS / 2 : units <= 32 ? 1 : 2;
    const Factor deltas = {team.deltas(layer + 1), ROW_STRIDE, units}, activations = {team.activations(layer), ROW_STRIDE, inputs};
    tiled_product<(ROWS > PART_PANELS * PANEL), true>(tile_count, deltas, activations, rows, PART_PANELS * PANEL, warps_along_units, true,
      [&](int unit, int input, float sum) {
      gradient[unit * stride + input] = sum;
      if (!is_finite(sum * sum)) team.state()->nonfinite = 1;
    });
  }
}
