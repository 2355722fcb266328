// The layers of a network whose room is in memory. Each block has rows of its own: it brings them from level to level and back without
// a word to the others, with weights that stream through shared memory in chunks; then the blocks share the tiles of all gradients. An
// element of a product is one chain of fused multiply-adds in a register of one thread, in the order of the processor's kernels: over
// units forward and backward, over the rows of a part for a gradient, over parts in their order.

// Floats from row to row of a chunk whose rows follow k: neighbours begin in different banks. Two chunks take turns.
#define PITCH (CHUNK + 4)
#define WARPS (THREADS / 32)

#ifdef __CUDACC_RTC__
DEVICE float* stage() { return (float*)shared_memory; }
// Past the first cache: others have written it, and it is read once.
DEVICE float4 far4(const float* place) { return __ldcg((const float4*)place); }
// Now, not when it is needed.
DEVICE float far1(const float* place) {
  float value;
  asm volatile("ld.global.f32 %0, [%1];" : "=f"(value) : "l"(__cvta_generic_to_global(place)) : "memory");
  return value;
}
#else
static inline float* stage() {
  alignas(16) static thread_local float memory[STAGE_FLOATS];
  return memory;
}
DEVICE float4 far4(const float* place) { return load4(place); }
DEVICE float far1(const float* place) { return *place; }
#endif

// What a product reads of the block's rows, rows x units; levels take turns.
DEVICE float* operand(int level) { return stage() + level % 2 * OPERAND_FLOATS; }
DEVICE float* chunk(int number) { return stage() + 2 * OPERAND_FLOATS + number % 2 * CHUNK_FLOATS; }

// Where a thread is in its tile: a warp has 8 x 4 places, and so many warps stand along a. Neighbouring lanes share a row of A, and every
// second one a row of B: shared memory serves such lanes at once.
struct Seat { int a, b; };
DEVICE Seat seat_of(int thread, int along_a) {
  int lane = thread % 32, warp = thread / 32;
  return {(lane / 2 & 1) + (lane / 4 & 6) + 8 * (warp % along_a), (lane & 1) + (lane / 2 & 2) + 4 * (warp / along_a)};
}

// What a thread carries from memory to shared memory: `PIECES` times four numbers of `count` rows that follow k, from k on.
#define ROWS_AT_ONCE (THREADS / (CHUNK / 4))
DEVICE float4 nothing() { return make_float4(0.0f, 0.0f, 0.0f, 0.0f); }

template <int PIECES> struct Rowwise {
  static DEVICE void fetch(float4 (&carried)[PIECES], int thread, const float* matrix, int stride, int count, int k, int inner) {
    const int row = thread / (CHUNK / 4), at = k + thread % (CHUNK / 4) * 4;
    const float* from = matrix + row * stride + at;
#pragma unroll
    for (int i = 0; i < PIECES; ++i)
      carried[i] = row + i * ROWS_AT_ONCE < count && at < inner ? far4(from + i * ROWS_AT_ONCE * stride) : nothing();
  }
  static DEVICE void put(const float4 (&carried)[PIECES], int thread, float* to, int most) {
    to += thread / (CHUNK / 4) * PITCH + thread % (CHUNK / 4) * 4;
#pragma unroll
    for (int i = 0; i < PIECES; ++i)
      if (thread / (CHUNK / 4) + i * ROWS_AT_ONCE < most) store4(to + i * ROWS_AT_ONCE * PITCH, carried[i]);
  }
};

// The same of `count` columns of a matrix that has a row for each k; there is room for `MOST` columns.
template <int PIECES, int MOST> struct Columnwise {
  static const int at_once = THREADS / (MOST / 4);
  static DEVICE void fetch(float4 (&carried)[PIECES], int thread, const float* matrix, int stride, int count, int k, int inner) {
    const int row = thread / (MOST / 4), at = thread % (MOST / 4) * 4;
    const float* from = matrix + (k + row) * stride + at;
#pragma unroll
    for (int i = 0; i < PIECES; ++i)
      carried[i] = k + row + i * at_once < inner && at < count ? far4(from + i * at_once * stride) : nothing();
  }
  static DEVICE void put(const float4 (&carried)[PIECES], int thread, float* to, int) {
    to += thread / (MOST / 4) * MOST + thread % (MOST / 4) * 4;
#pragma unroll
    for (int i = 0; i < PIECES; ++i)
      if (thread / (MOST / 4) + i * at_once < CHUNK) store4(to + i * at_once * MOST, carried[i]);
  }
};

// Two factors of a thread's tile, where they lie in shared memory. Rows of one that follows k (`ALONG`) are `apart` floats from each
// other; of one that has a row of `apart` floats for each k a thread has four neighbouring columns.
struct Near { const float *a, *b; int a_apart, b_apart; };

// What they have for four numbers of k.
template <bool ALONG_A, bool ALONG_B, int QA, int QB> struct Fours {
  float4 a[ALONG_A ? QA : 4], b[ALONG_B ? QB : 4];

  DEVICE void load(const Near& near, int k) {
    unrolled<(ALONG_A ? QA : 4)>([&](auto at) {
      constexpr int q = at.value;
      a[q] = load4(near.a + (ALONG_A ? q * near.a_apart + k : (k + q) * near.a_apart));
    });
    unrolled<(ALONG_B ? QB : 4)>([&](auto at) {
      constexpr int j = at.value;
      b[j] = load4(near.b + (ALONG_B ? j * near.b_apart + k : (k + j) * near.b_apart));
    });
  }
  DEVICE void add_to(float (&sums)[QA][QB]) const {
    unrolled<4 * QA * QB>([&](auto at) {
      constexpr int i = at.value / (QA * QB), q = at.value / QB % QA, j = at.value % QB;
      sums[q][j] = fmaf(ALONG_A ? part_of(a[q], i) : part_of(a[i], q), ALONG_B ? part_of(b[j], i) : part_of(b[i], j), sums[q][j]);
    });
  }
};

// Adds the products of `count` numbers of k to the sums of a thread, mostly a whole chunk of them: then numbers are loaded while those
// before them are used.
template <bool ALONG_A, bool ALONG_B, int QA, int QB> DEVICE void add_products(float (&sums)[QA][QB], const Near& near, int count) {
  Fours<ALONG_A, ALONG_B, QA, QB> now, next;
  if (count == CHUNK) {
    now.load(near, 0);
#pragma unroll 1
    for (int k = 0; k < CHUNK; k += 8) {
      next.load(near, k + 4);
      now.add_to(sums);
      now.load(near, least(k + 8, CHUNK - 4));
      next.add_to(sums);
    }
    return;
  }
  int k = 0;
#pragma unroll 1
  for (; k + 4 <= count; k += 4) {
    now.load(near, k);
    now.add_to(sums);
  }
#pragma unroll 1
  for (; k < count; ++k)
#pragma unroll
    for (int q = 0; q < QA; ++q)
#pragma unroll
      for (int j = 0; j < QB; ++j)
        sums[q][j] = fmaf(near.a[ALONG_A ? q * near.a_apart + k : k * near.a_apart + q],
                          near.b[ALONG_B ? j * near.b_apart + k : k * near.b_apart + j], sums[q][j]);
}

// Adds `count` numbers of k to the sum of each row.
DEVICE void add_rows(float (&sums)[4], const float* rows, int apart, int count) {
  int k = 0;
#pragma unroll 2
  for (; k + 4 <= count; k += 4)
#pragma unroll
    for (int q = 0; q < 4; ++q) {
      float4 four = load4(rows + q * apart + k);
#pragma unroll
      for (int i = 0; i < 4; ++i) sums[q] = sums[q] + part_of(four, i);
    }
#pragma unroll 1
  for (; k < count; ++k)
#pragma unroll
    for (int q = 0; q < 4; ++q) sums[q] = sums[q] + rows[q * apart + k];
}

template <bool FIRST, class A, class B> struct Either { typedef A Type; };
template <class A, class B> struct Either<false, A, B> { typedef B Type; };

// C[a][row] = first of all `before`, plus the sum over k of a matrix with `across` rows or columns times the operand of the block's rows.
// `before` also gives a number that `done(a, row, sum, number)` will need. Ends in a phase of the block.
template <bool ALONG, int QA, int QB, int ALONG_A, class Before, class Done>
DEVICE void own_product(const float* matrix, int stride, int across, int inner, const float* of_rows, Rows rows, Before before, Done done) {
  const int seats_a = 8 * ALONG_A, seats_b = THREADS / seats_a, most = QA * seats_a;
  const int pieces = (most * CHUNK / 4 + THREADS - 1) / THREADS, chunks = (inner + CHUNK - 1) / CHUNK;
  using Way = typename Either<ALONG, Rowwise<pieces>, Columnwise<pieces, most>>::Type;
#pragma unroll 1
  for (int first = 0; first < across; first += most) {
    float sums[REMEMBERED][QA][QB], numbers[REMEMBERED][QA][QB];
    float4 carried[REMEMBERED][pieces];
    const float* from = matrix + first * (ALONG ? stride : 1);
    auto fetch = [&](int number) {
      each_thread([&](int thread, int mine) { Way::fetch(carried[mine], thread, from, stride, across - first, number * CHUNK, inner); });
    };
    auto put = [&](int number) { each_thread([&](int thread, int mine) { Way::put(carried[mine], thread, chunk(number), most); }); };
    auto each_sum = [&](int thread, auto act) {
      Seat seat = seat_of(thread, ALONG_A);
#pragma unroll
      for (int q = 0; q < QA; ++q)
#pragma unroll
        for (int j = 0; j < QB; ++j) {
          int a = first + (ALONG ? seat.a + q * seats_a : seat.a * QA + q), row = rows.first + seat.b + j * seats_b;
          act(q, j, a, row, a < across && row < rows.end);
        }
    };
    fetch(0);
    each_thread([&](int thread, int mine) {
      each_sum(thread, [&](int q, int j, int a, int row, bool real) {
        // A bias is that of all rows.
        sums[mine][q][j] = 0.0f;
        numbers[mine][q][j] = ALONG && j > 0 ? numbers[mine][q][0] : 0.0f;
        if (real && (!ALONG || j == 0)) sums[mine][q][j] = before(a, row, numbers[mine][q][j]);
      });
    });
    put(0);
#pragma unroll 1
    for (int number = 0; number < chunks; ++number) {
      if (number + 1 < chunks) fetch(number + 1);
      sync_block();
      each_thread([&](int thread, int mine) {
        Seat seat = seat_of(thread, ALONG_A);
        Near near = {chunk(number) + seat.a * (ALONG ? PITCH : QA), of_rows + seat.b * OPERAND_STRIDE + number * CHUNK,
                     ALONG ? seats_a * PITCH : most, seats_b * OPERAND_STRIDE};
        add_products<ALONG, true>(sums[mine], near, least(CHUNK, inner - number * CHUNK));
      });
      if (number + 1 < chunks) put(number + 1);
    }
    each_thread([&](int thread, int mine) {
      each_sum(thread, [&](int q, int j, int a, int row, bool real) {
        if (real) done(a, row, sums[mine][q][j], numbers[mine][q][j]);
      });
    });
    sync_block();
  }
}

// One tile of C[a][b] = sum over k of A[a][k] B[b][k], or of A[a][k] B[k][b] (`!ALONG`), `part` numbers of k at a time whose sums are
// added in their order; with `ones` also of A[a][k] alone, as column `columns`: done(a, b, sum).
struct Factor { const float* numbers; int stride, count; };

template <bool PARTED, bool ALONG, class Done>
DEVICE void tile_product(Factor a, Factor b, int inner, int part, int along_a, int first_a, int first_b, bool ones, Done done) {
  const int seats_a = 8 * along_a, seats_b = THREADS / seats_a, most_a = 4 * seats_a, most_b = ALONG ? 4 * seats_b : MOST_COLUMNS;
  const int chunks = (inner + CHUNK - 1) / CHUNK;
  float sums[REMEMBERED][4][4], totals[REMEMBERED][4][4], of_ones[REMEMBERED][4], ones_total[REMEMBERED][4];
  // A's rows are whole rounds of what the threads carry at once.
  const int pieces_a = (128 + ROWS_AT_ONCE - 1) / ROWS_AT_ONCE;
  const int pieces_b = ALONG ? pieces_a : (MOST_COLUMNS * CHUNK / 4 + THREADS - 1) / THREADS;
  using WayB = typename Either<ALONG, Rowwise<pieces_b>, Columnwise<pieces_b, MOST_COLUMNS>>::Type;
  float4 carried_a[REMEMBERED][pieces_a], carried_b[REMEMBERED][pieces_b];
  auto fetch = [&](int number) {
    each_thread([&](int thread, int mine) {
      const float *from_a = a.numbers + first_a * a.stride, *from_b = b.numbers + first_b * (ALONG ? b.stride : 1);
      const int count_a = least(most_a, a.count - first_a), count_b = least(most_b, b.count - first_b);
      Rowwise<pieces_a>::fetch(carried_a[mine], thread, from_a, a.stride, count_a, number * CHUNK, inner);
      WayB::fetch(carried_b[mine], thread, from_b, b.stride, count_b, number * CHUNK, inner);
    });
  };
  auto put = [&](int number) {
    each_thread([&](int thread, int mine) {
      Rowwise<pieces_a>::put(carried_a[mine], thread, chunk(number), most_a);
      WayB::put(carried_b[mine], thread, chunk(number) + most_a * PITCH, most_b);
    });
  };
  fetch(0);
  each_thread([&](int, int mine) {
#pragma unroll
    for (int q = 0; q < 4; ++q) {
      of_ones[mine][q] = 0.0f;
#pragma unroll
      for (int j = 0; j < 4; ++j) sums[mine][q][j] = 0.0f;
    }
  });
  put(0);
#pragma unroll 1
  for (int number = 0; number < chunks; ++number) {
    if (number + 1 < chunks) fetch(number + 1);
    sync_block();
    const int end = least(inner, (number + 1) * CHUNK), count = end - number * CHUNK;
    each_thread([&](int thread, int mine) {
      Seat seat = seat_of(thread, along_a);
      const float *of_a = chunk(number) + seat.a * PITCH, *of_b = chunk(number) + most_a * PITCH + seat.b * (ALONG ? PITCH : 4);
      add_products<true, ALONG>(sums[mine], {of_a, of_b, seats_a * PITCH, ALONG ? seats_b * PITCH : MOST_COLUMNS}, count);
      if (ones && seat.b == 0) add_rows(of_ones[mine], of_a, seats_a * PITCH, count);
      if (!PARTED || (end % part != 0 && end != inner)) return;
#pragma unroll
      for (int q = 0; q < 4; ++q) {
        ones_total[mine][q] = end <= part ? of_ones[mine][q] : ones_total[mine][q] + of_ones[mine][q];
        of_ones[mine][q] = 0.0f;
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          totals[mine][q][j] = end <= part ? sums[mine][q][j] : totals[mine][q][j] + sums[mine][q][j];
          sums[mine][q][j] = 0.0f;
        }
      }
    });
    if (number + 1 < chunks) put(number + 1);
  }
  each_thread([&](int thread, int mine) {
    Seat seat = seat_of(thread, along_a);
#pragma unroll
    for (int q = 0; q < 4; ++q) {
      int at_a = first_a + seat.a + q * seats_a;
      if (at_a >= a.count) break;
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        int at_b = first_b + (ALONG ? seat.b + j * seats_b : seat.b * 4 + j);
        if (at_b < b.count) done(at_a, at_b, PARTED ? totals[mine][q][j] : sums[mine][q][j]);
      }
      if (ones && seat.b == 0) done(at_a, b.count, PARTED ? ones_total[mine][q] : of_ones[mine][q]);
    }
  });
  sync_block();
}

// Tiles of a product, in turn for each block; `turn` counts them.
template <bool PARTED, bool ALONG, class Done>
DEVICE void tiled_product(int& turn, Factor a, Factor b, int inner, int part, int along_a, bool ones, Done done) {
  const int most_a = 32 * along_a, most_b = 4 * THREADS / (8 * along_a), across = (b.count + most_b - 1) / most_b;
  const int count = (a.count + most_a - 1) / most_a * across;
#pragma unroll 1
  for (int tile = (block() + BLOCKS - turn % BLOCKS) % BLOCKS; tile < count; tile += BLOCKS) {
    int first_b = tile % across * most_b;
    tile_product<PARTED, ALONG>(a, b, inner, part, along_a, tile / across * most_a, first_b, ones && first_b == 0, done);
  }
  turn += count;
}

template <bool ALONG, class Done> DEVICE void shared_product(int& turn, Factor a, Factor b, int inner, Done done) {
  tiled_product<false, ALONG>(turn, a, b, inner, inner, 2, false, done);
}

// Brings the block's rows of a level to where a product reads them.
DEVICE void read_level(float* to, const float* level, int units, Rows rows) {
  each_row(units, rows, [&](int unit, int row) { to[(row - rows.first) * OPERAND_STRIDE + unit] = level[unit * ROW_STRIDE + row]; });
  sync_block();
}

// From level to level. In training units are switched off at random and slopes are left behind.
ONCE void forward(Team team, const float* weights, Rows rows, bool trains) {
  read_level(operand(0), team.values(0), UNITS(0), rows);
#pragma unroll 1
  for (int layer = 0; layer < LAYERS; ++layer) {
    const float *matrix = weights + STARTS(layer), *input = operand(layer);
    float *output = team.values(layer + 1), *slopes = team.deltas(layer + 1), *next = operand(layer + 1);
    const int stride = STRIDES(layer), inner = UNITS(layer);
    auto bias = [&](int unit, int, float& number) {
      number = far1(matrix + unit * stride + inner);
      return 0.0f;
    };
    if (layer + 1 == LAYERS) {
      own_product<true, LAST_UNITS, LAST_ROWS, WARPS / 2>(matrix, stride, UNITS(layer + 1), inner, operand(layer), rows, bias,
        [&](int unit, int row, float sum, float number) { output[unit * ROW_STRIDE + row] = sum + number; });
      break;
    }
    own_product<true, 4, OWN_ROWS_OF_THREAD, WARPS_ALONG_UNITS>(matrix, stride, UNITS(layer + 1), inner, operand(layer), rows, bias,
      [&](int unit, int row, float sum, float number) {
      int at = unit * ROW_STRIDE + row, of_row = (row - rows.first) * OPERAND_STRIDE + unit;
      float slope, value = activate(sum + number, slope);
      if (DROPOUT && trains) {
        float factor = dropout_factor(team, dropout_bits(team, row, LAYER_DRAWS(layer) + unit * 8), row % 4);
        value = value * factor;
        slope = slope * factor;
      }
      if (RESIDUAL(layer)) value = input[of_row] + value;
      if (trains) slopes[at] = slope;
      output[at] = value;
      next[of_row] = value;
    });
  }
}

// From the deltas of the last level back to the first, for the block's rows; the deltas of inputs only where somebody needs them.
ONCE void backward(Team team, Rows rows) {
  read_level(operand(LAST), team.deltas(LAST), UNITS(LAST), rows);
#pragma unroll 1
  for (int layer = LAYERS - 1; layer >= (STEM != 0 || ADVERSARIAL ? 0 : 1); --layer) {
    float *out = team.deltas(layer), *next = operand(layer), *direct = team.direct(layer);
    const float* before = team.direct(layer + 1);
    const bool has_slopes = layer > 0 || STEM == 2, leaves_direct = layer > 0 && RESIDUAL(layer - 1);
    const float* matrix = team.weights() + STARTS(layer);
    const int stride = STRIDES(layer), units = UNITS(layer), inner = UNITS(layer + 1);
    own_product<false, 4, OWN_ROWS_OF_THREAD, WARPS_ALONG_UNITS>(matrix, stride, units, inner, operand(layer + 1), rows,
      [&](int unit, int row, float& slope) {
      int at = unit * ROW_STRIDE + row;
      slope = has_slopes ? far1(out + at) : 1.0f;
      return RESIDUAL(layer) ? before[at] : 0.0f;
    },
      [&](int unit, int row, float sum, float slope) {
      int at = unit * ROW_STRIDE + row;
      if (leaves_direct) direct[at] = sum;
      float delta = has_slopes ? sum * slope : sum;
      out[at] = delta;
      next[(row - rows.first) * OPERAND_STRIDE + unit] = delta;
    });
  }
}

// The gradients of all layers' weights over all rows, shared by the blocks; says whether a square of them is not finite.
ONCE void gradients(Team team, int rows) {
  int turn = 0;
#pragma unroll 1
  for (int layer = LAYERS - 1; layer >= 0; --layer) {
    float* gradient = team.gradient() + STARTS(layer);
    const int units = UNITS(layer + 1), inputs = UNITS(layer), stride = STRIDES(layer);
    const int along_units = inputs <= THREADS / 8 ? WARPS / 2 : units <= 32 ? 1 : 2;
    const Factor deltas = {team.deltas(layer + 1), ROW_STRIDE, units}, values = {team.values(layer), ROW_STRIDE, inputs};
    tiled_product<(ROWS > PART_PANELS * PANEL), true>(turn, deltas, values, rows, PART_PANELS * PANEL, along_units, true,
      [&](int unit, int input, float sum) {
      gradient[unit * stride + input] = sum;
      if (!finite_number(sum * sum)) team.state()->bad = 1;
    });
  }
}
