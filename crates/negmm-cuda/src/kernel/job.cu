// Job description, training state and per-epoch record, laid out as in `record.rs`, and the team's view of its workspace.

// Training state that persists across launches, and scalars that the threads of a step share.
struct TrainingState {
  double beta_powers[2];
  double rate, sum_squared_rates;
  double loss_sum;
  double best_score;
  double half_best_scores[2];
  double sums[2][SCORE_SUMS];
  u64 passes;
  u32 step, epoch, best_epoch, finished;
  u32 consumed, order_buffer;
  u32 total_steps, steps_taken, steps_skipped, nonfinite;
  float row_weight, step_size, correction, average_decay, decay_factor, reserved;
};

// Losses, step counts and validation scores of one epoch, read by the host.
struct Epoch {
  double loss_sum, nll, crps, calibrated;
  u32 steps_taken, steps_skipped, finite, has_crps, last, reserved;
};

// One network to train: device pointers and hyperparameters.
struct Job {
  const float *x, *y, *sample_weights, *lower, *upper;
  u32 *order, *shuffle_lists;
  const u32* validation;
  const double* rate_factors;
  float *weights, *optimizer_state, *averaged_weights, *best_weights, *half_best_weights, *snapshots, *workspace;
  const float* adversarial_steps;
  TrainingState* state;
  u64* barrier;
  u64 order_stream, dropout_stream, objective_stream;
  double learning_rate, ema_decay, weight_decay, totals[2], uncensored[2], half_weights[2];
  u32 stride, train_rows, validation_rows, half_split;
  u32 steps, epoch, batch, patience;
  u32 snapshot_every, whole_batches, keep_last_checkpoint, select;
  u32 weighted, dropout_threshold, has_average;
  float dropout_scale, eta, beta, floor, mean_bound, spread_bound, ceiling, atoms[4], bounds[2];
};

// Rows of a panel, and floats from one unit's rows to the next unit's (buffers are units x rows).
#define PANEL 32
#define LAST_LEVEL LAYERS
#define ROW_STRIDE (ROWS + 4)
#define TERMS (COMPONENTS + ATOMS)

// Offset of unit or component `k` of a row.
DEVICE int element(int k, int row) { return k * ROW_STRIDE + row; }

// A range of batch rows that one block processes at a time.
struct Rows { int first, end; };

// act(rows) for all rows of this block, at most TILE_ROWS at a time.
template <class Act> DEVICE void for_each_tile(int rows, Act act) {
  const int end = min_int(rows, (block() + 1) * BLOCK_ROWS);
#pragma unroll 1
  for (int first = block() * BLOCK_ROWS; first < end; first += TILE_ROWS) act(Rows{first, min_int(end, first + TILE_ROWS)});
}

// act(k, row) for k in 0..count and every row.
template <class Act> DEVICE void for_each_row(int count, Rows rows, Act act) {
  for_each_in_block(count * TILE_ROWS, [&](int item) {
    int row = rows.first + item % TILE_ROWS;
    if (row < rows.end) act(item / TILE_ROWS, row);
  });
}

// The job of a team and the buffers of its workspace.
struct Team {
  const Job* job;
  float* global_workspace;

#if SHARED_WORKSPACE && defined(__CUDACC_RTC__)
  DEVICE float* workspace() const { return (float*)shared_memory; }
#else
  DEVICE float* workspace() const { return global_workspace; }
#endif

  DEVICE TrainingState* state() const { return (TrainingState*)(workspace() + STATE); }
  DEVICE float* weights() const { return SHARED_WORKSPACE ? workspace() + SHARED_WEIGHTS : job->weights; }
  DEVICE void sync() const { sync_team(job->barrier); }
  DEVICE float* activations(int level) const { return workspace() + ACTIVATIONS(level); }
  // Holds activation derivatives after the forward pass; the backward pass overwrites them with the deltas.
  DEVICE float* deltas(int level) const { return workspace() + DELTAS(level); }
  DEVICE float* skip_deltas(int level) const { return workspace() + SKIP_DELTAS(level); }
  DEVICE float* gradient() const { return workspace() + GRADIENT; }
  DEVICE float* buffer(long start) const { return workspace() + start; }
};
