// What a training is told and what it remembers, laid out as the host has it, and where a step keeps its numbers.

// What a training remembers from launch to launch, and what the threads of a step tell each other.
struct State {
  double powers[2];
  double rate, rate_squares;
  double losses;
  double best;
  double half_best[2];
  double sums[2][SUMS];
  u64 passes;
  u32 step, epoch, best_epoch, done;
  u32 given, turned;
  u32 taken_ever, taken, skipped, bad;
  float share, size, correction, keep, shrink, reserved;
};

// What is known of an epoch.
struct Epoch {
  double losses, nll, crps, calibrated;
  u32 taken, skipped, sound, has_crps, last, reserved;
};

struct Job {
  const float *x, *y, *sample_weights, *lower, *upper;
  u32 *order, *lists;
  const u32* validation;
  const double* factors;
  float *weights, *memory, *averaged, *kept, *half_kept, *snapshots, *room;
  const float* moves;
  State* state;
  u64* arrived;
  u64 order_stream, dropout_stream, objective_stream;
  double learning_rate, averaging, weight_decay, totals[2], uncensored[2], shares[2];
  u32 stride, train, validation_rows, halves;
  u32 steps, epoch, batch, patience;
  u32 snapshot_every, whole, keeps_last, select;
  u32 weighted, dropout_cut, averages;
  float dropout_keep, eta, beta, floor, mean_bound, spread_bound, ceiling, atoms[4], bounds[2];
};

// Rows of a panel, and floats from one unit to the next.
#define PANEL 32
#define LAST LAYERS
#define ROW_STRIDE (ROWS + 4)
#define EVERY (COMPONENTS + ATOMS)

// Where number `k` of a row lies.
DEVICE int place(int k, int row) { return k * ROW_STRIDE + row; }

// Rows of a batch that a block has at a time.
struct Rows { int first, end; };

// act(rows) for all rows of this block, as many at a time as it takes.
template <class Act> DEVICE void each_tile(int rows, Act act) {
  const int end = least(rows, (block() + 1) * OWN_ROWS);
#pragma unroll 1
  for (int first = block() * OWN_ROWS; first < end; first += TILE_ROWS) act(Rows{first, least(end, first + TILE_ROWS)});
}

// act(number, row) for so many numbers of each row.
template <class Act> DEVICE void each_row(int count, Rows rows, Act act) {
  each_here(count * TILE_ROWS, [&](int item) {
    int row = rows.first + item % TILE_ROWS;
    if (row < rows.end) act(item / TILE_ROWS, row);
  });
}

// The team's view of its job.
struct Team {
  const Job* job;
  float* room_in_memory;

#if SHARED && defined(__CUDACC_RTC__)
  DEVICE float* room() const { return (float*)shared_memory; }
#else
  DEVICE float* room() const { return room_in_memory; }
#endif

  DEVICE State* state() const { return (State*)(room() + STATE); }
  DEVICE float* weights() const { return SHARED ? room() + WEIGHT_AREA : job->weights; }
  DEVICE void sync() const { sync_team(job->arrived); }
  DEVICE float* values(int level) const { return room() + VALUES(level); }
  // Slopes until the deltas take their place.
  DEVICE float* deltas(int level) const { return room() + DELTAS(level); }
  DEVICE float* direct(int level) const { return room() + DIRECT(level); }
  DEVICE float* gradient() const { return room() + GRADIENT; }
  DEVICE float* area(long start) const { return room() + start; }
};
