// The training loop: shuffling, optimizer steps, validation, checkpoint selection and early stopping.

// Parallel Fisher-Yates shuffle of the training rows. Sequentially, step i = last, ..., 1 swaps positions i and t_i. Here every thread
// traces one position back: before step i, position p holds what position j held before step j, where j is the smallest index above i
// with t_j = p, or its initial row if there is no such j. `heads` and `links` are linked lists of the j for each target p.
NOINLINE void shuffle(Team team) {
  const Job& job = *team.job;
  const int count = (int)job.train_rows;
  const u32 none = 0xffffffffu;
  u32 *heads = job.shuffle_lists, *links = heads + count, *targets = links + count;
  u32 order_buffer = team.state()->order_buffer;
  const u32* from = job.order + order_buffer * count;
  u32* to = job.order + (1 - order_buffer) * count;
  for_each(count, [&](int position) { heads[position] = none; });
  team.sync();
  u64 start = draw(job.order_stream, team.state()->passes);
  for_each(count, [&](int position) {
    u32 target = position > 0 ? (u32)multiply_high(draw(start, (u64)(count - 1 - position)), (u64)position + 1) : 0;
    targets[position] = target;
    links[position] = atomic_exchange(heads + target, (u32)position);
  });
  team.sync();
  for_each(count, [&](int position) {
    u32 at = targets[position], bound = (u32)position;
    for (;;) {
      u32 next = none;
      for (u32 other = heads[at]; other != none; other = links[other])
        if (other > bound && other < next) next = other;
      if (next == none) break;
      at = bound = next;
    }
    to[position] = from[at];
  });
  team.sync();
}

// Index in the list of a batch row; in adversarial training every panel is followed by its copy, which is perturbed.
DEVICE int list_index(int row, bool duplicated) { return ADVERSARIAL && duplicated ? row / (2 * PANEL) * PANEL + row % PANEL : row; }

// Gathers inputs, targets and weights of the listed rows. A partial panel is padded with its first row at weight zero.
NOINLINE void gather(Team team, const u32* list, int count, Rows rows, float row_weight, bool duplicated) {
  const Job& job = *team.job;
  auto from_list = [&](int row) {
    int position = list_index(row, duplicated);
    return list[position < count ? position : position / PANEL * PANEL];
  };
  for_each_in_block((rows.end - rows.first) * INPUTS, [&](int item) {
    int row = rows.first + item / (INPUTS > 0 ? INPUTS : 1), input = item % (INPUTS > 0 ? INPUTS : 1);
    u32 from = from_list(row);
    INPUT_ROWS[input * ROW_STRIDE + row] = job.x[(u64)from * job.stride + input];
  });
  for_each_row(1, rows, [&](int, int row) {
    u32 from = from_list(row);
    team.buffer(ROW_Y)[row] = job.y[from];
    team.buffer(ROW_WEIGHTS)[row] = list_index(row, duplicated) < count ? row_weight * job.sample_weights[from] : 0.0f;
    if (INTERVALS) {
      team.buffer(ROW_LOWER)[row] = job.lower[from];
      team.buffer(ROW_UPPER)[row] = job.upper[from];
    }
  });
  sync_block();
}

// Fast gradient sign step: perturbs the copied panels by the sign of the loss gradient at the originals.
DEVICE void perturb_inputs(const Team& team, Rows rows) {
  for_each_row(INPUTS, rows, [&](int input, int row) {
    if (row % (2 * PANEL) < PANEL) return;
    float delta = team.deltas(0)[element(input, row - PANEL)], step = team.job->adversarial_steps[input];
    float* value = INPUT_ROWS + element(input, row);
    *value = *value + (delta > 0.0f ? step : 0.0f) - (delta < 0.0f ? step : 0.0f);
  });
  sync_block();
}

// Rows rounded up to whole panels.
DEVICE int round_up_to_panel(int count) { return (count + PANEL - 1) / PANEL * PANEL; }

// Sum over the rows of a panel: two rows in each of sixteen lanes, then a tree reduction.
template <class Next> DEVICE float panel_lane_sum(int panel, Next next) {
  float lanes[16];
#pragma unroll
  for (int lane = 0; lane < 16; ++lane) lanes[lane] = next(panel * PANEL + 16 + lane, next(panel * PANEL + lane, 0.0f));
  return lane_sum(lanes);
}

// The loss of each panel, summed over its rows.
DEVICE void panel_losses(const Team& team, int rows) {
  for_each(rows / PANEL, [&](int panel) {
    team.buffer(PANEL_LOSSES)[panel] = panel_lane_sum(panel, [&](int row, float sum) { return row_loss(team, row, sum); });
  });
}

// The loss of all rows: panels of a part in order, then parts in order.
DEVICE float total_loss(const Team& team, int rows) {
  float total = 0.0f;
  for (int begin = 0; begin < rows / PANEL; begin += PART_PANELS) {
    float part = 0.0f;
    for (int panel = begin; panel < min_int(rows / PANEL, begin + PART_PANELS); ++panel) part += team.buffer(PANEL_LOSSES)[panel];
    total = begin == 0 ? part : total + part;
  }
  return total;
}

// One optimizer step on the next batch.
DEVICE void step(const Team& team) {
  const Job& job = *team.job;
  TrainingState& state = *team.state();
  u32 consumed = state.consumed, order_buffer = state.order_buffer;
  bool reshuffle = consumed == job.train_rows || (job.whole_batches && job.train_rows - consumed < job.batch);
  if (reshuffle) {
    shuffle(team);
    consumed = 0;
    order_buffer = 1 - order_buffer;
  }
  const u32* list = job.order + order_buffer * job.train_rows + consumed;
  int count = (int)(job.train_rows - consumed < job.batch ? job.train_rows - consumed : job.batch);
  if (job.weighted) {
    single_thread([&] {
      double total = 0.0;
      for (int at = 0; at < count; ++at) total += (double)job.sample_weights[list[at]];
      state.row_weight = total > 0.0 ? (float)(1.0 / total) : 0.0f;
    });
    team.sync();
  }
  const float row_weight = job.weighted ? state.row_weight : (float)(1.0 / (double)count);
  const int rows = round_up_to_panel(count) * (ADVERSARIAL ? 2 : 1);
  if (!SHARED_WORKSPACE) single_thread([&] { prepare_step(team); });
#pragma unroll 1
  for (int perturbed = 0; perturbed <= ADVERSARIAL; ++perturbed) {
    for_each_tile(rows, [&](Rows here) {
      gather(team, list, count, here, ADVERSARIAL ? 0.5f * row_weight : row_weight, true);
      // In parallel with the first layer, in which the last thread mostly has no item.
      if (SHARED_WORKSPACE) single_thread([&] { prepare_step(team); });
      if (perturbed) perturb_inputs(team, here);
      stem_forward(team, team.weights(), here, true);
      forward(team, team.weights(), here, true);
      loss(team, here);
      sync_block();
      if (SHARED_WORKSPACE) panel_losses(team, rows);
      backward(team, here);
    });
    if (perturbed == ADVERSARIAL) break;
    // First pass: originals and copies, none perturbed yet. Only the input gradients are used.
    single_thread([&] { state.nonfinite = 0; });
    team.sync();
  }
  if (!SHARED_WORKSPACE) {
    team.sync();
    panel_losses(team, rows);
    gradients(team, rows);
  }
  if (STEM != 0) stem_gradient(team, rows);
  if (!SHARED_WORKSPACE || STEM != 0) team.sync();
  float loss = total_loss(team, rows);
  bool finite = !state.nonfinite && is_finite(loss);
  if (finite) apply_step(team);
  single_thread([&] {
    if (finite) {
      advance_moments(state);
      state.loss_sum += (double)loss;
      state.steps_taken += 1;
    } else {
      state.steps_skipped += 1;
    }
    state.consumed = consumed + (u32)count;
    state.order_buffer = order_buffer;
    state.passes += reshuffle;
    state.step += 1;
  });
  team.sync();
}

// Weighted sums of the validation scores, panels in order; one thread per kind of score.
DEVICE void add_scores(const Team& team, int half, int rows) {
  for_each(2 + (CALIBRATED ? SD_FACTORS : 0), [&](int kind) {
    double sum = team.state()->sums[half][kind];
    for (int panel = 0; panel < rows / PANEL; ++panel) {
      if (kind == 0) {
        sum += (double)panel_lane_sum(panel, [&](int row, float lane_total) { return weighted_log_score(team, row, lane_total); });
      } else if (kind == 1) {
        sum += (double)panel_lane_sum(panel, [&](int row, float lane_total) { return weighted_energy_score(team, row, lane_total); });
      } else {
        const float* scores = team.buffer(ROW_CALIBRATED) + (kind - 2) * ROW_STRIDE;
        for (int chunk = 0; chunk < PANEL; chunk += 16) {
          float lanes[16];
#pragma unroll
          for (int lane = 0; lane < 16; ++lane) {
            int row = panel * PANEL + chunk + lane;
            lanes[lane] = scores[row] * team.buffer(ROW_WEIGHTS)[row];
          }
          sum += (double)lane_sum(lanes);
        }
      }
    }
    team.state()->sums[half][kind] = sum;
  });
}

// Mean validation scores, and whether all are finite.
struct Validation { double nll, crps, calibrated; bool finite, has_crps; };

DEVICE Validation mean_scores(const Team& team, int half) {
  const double* sums = team.state()->sums[half];
  double total = team.job->totals[half], uncensored = team.job->uncensored[half], best_score = (double)INFINITE;
  Validation scores = {sums[0] / total, 0.0, 0.0, false, uncensored > 0.0};
  if (scores.has_crps) scores.crps = sums[1] / uncensored;
  if (CALIBRATED)
    for (int factor = 0; factor < SD_FACTORS; ++factor) best_score = fmin(best_score, sums[2 + factor]);
  scores.calibrated = CALIBRATED ? best_score / total : 0.0;
  scores.finite = is_finite_double(scores.nll) && is_finite_double(scores.crps) && is_finite_double(scores.calibrated);
  return scores;
}

// The score that selects the checkpoint.
DEVICE double selection_score(u32 select, const Validation& scores) {
  if (select == 2) return scores.calibrated;
  return select == 1 && scores.has_crps ? scores.crps : scores.nll;
}

DEVICE bool update_best(double& best_score, double score) {
  bool better = score < best_score;
  if (better) best_score = score;
  return better;
}

// End of an epoch: scores the validation rows with the weights used for prediction, keeps the best checkpoint, decides whether to stop.
NOINLINE void end_epoch(Team team, Epoch& epoch) {
  const Job& job = *team.job;
  TrainingState& state = *team.state();
  const float* prediction_weights = job.has_average ? job.averaged_weights : team.weights();
  const float* scored_weights = prediction_weights;
  if (SHARED_WORKSPACE && job.has_average && job.validation_rows > 0) {
    for_each(PARAMETERS, [&](int at) {
      job.weights[at] = team.weights()[at];
      team.weights()[at] = job.averaged_weights[at];
    });
    scored_weights = team.weights();
  }
  int half_split = job.half_split > 0 ? 2 : 1;
  for_each(2 * SCORE_SUMS, [&](int item) { state.sums[item / SCORE_SUMS][item % SCORE_SUMS] = 0.0; });
  team.sync();
  for (int half = 0; half < half_split; ++half) {
    u32 begin = half == 0 ? 0 : job.half_split, end = half_split == 2 && half == 0 ? job.half_split : job.validation_rows;
    for (u32 from = begin; from < end; from += ROWS) {
      const int count = (int)(end - from < ROWS ? end - from : ROWS), rows = round_up_to_panel(count);
      for_each_tile(rows, [&](Rows here) {
        gather(team, job.validation + from, count, here, 1.0f, false);
        stem_forward(team, scored_weights, here, false);
        forward(team, scored_weights, here, false);
        score_rows(team, here);
      });
      if (!SHARED_WORKSPACE) team.sync();
      add_scores(team, half, rows);
      team.sync();
    }
  }
  if (SHARED_WORKSPACE && job.has_average && job.validation_rows > 0) {
    for_each(PARAMETERS, [&](int at) { team.weights()[at] = job.weights[at]; });
    team.sync();
  }
  // Computed redundantly by every thread.
  Validation scores = mean_scores(team, 0);
  bool better_half[2] = {false, false};
  double half_best_scores[2] = {state.half_best_scores[0], state.half_best_scores[1]}, best_score = state.best_score;
  if (half_split == 2) {
    Validation second = mean_scores(team, 1);
    better_half[0] = scores.finite && update_best(half_best_scores[0], selection_score(job.select, scores));
    better_half[1] = second.finite && update_best(half_best_scores[1], selection_score(job.select, second));
    Validation both = {job.half_weights[0] * scores.nll + job.half_weights[1] * second.nll,
                       job.half_weights[0] * scores.crps + job.half_weights[1] * second.crps,
                       job.half_weights[0] * scores.calibrated + job.half_weights[1] * second.calibrated, scores.finite && second.finite,
                       scores.has_crps && second.has_crps};
    scores = both;
  }
  bool no_validation = job.validation_rows == 0 || job.keep_last_checkpoint;
  bool better = no_validation ? update_best(best_score, -(double)state.epoch)
                              : scores.finite && update_best(best_score, selection_score(job.select, scores));
  if (better) for_each(PARAMETERS, [&](int at) { job.best_weights[at] = prediction_weights[at]; });
  for (int half = 0; half < half_split; ++half)
    if (better_half[half]) for_each(PARAMETERS, [&](int at) { job.half_best_weights[half * PARAMETERS + at] = prediction_weights[at]; });
  if (job.snapshot_every > 0 && (state.epoch + 1) % job.snapshot_every == 0)
    for_each(PARAMETERS, [&](int at) {
      job.snapshots[(u64)(state.epoch / job.snapshot_every) * PARAMETERS + at] = prediction_weights[at];
    });
  team.sync();
  single_thread([&] {
    epoch.loss_sum = state.loss_sum;
    epoch.steps_taken = state.steps_taken;
    epoch.steps_skipped = state.steps_skipped;
    epoch.nll = scores.nll;
    epoch.crps = scores.crps;
    epoch.calibrated = scores.calibrated;
    epoch.finite = scores.finite;
    epoch.has_crps = scores.has_crps;
    state.best_score = best_score;
    state.half_best_scores[0] = half_best_scores[0];
    state.half_best_scores[1] = half_best_scores[1];
    if (better) state.best_epoch = state.epoch;
    state.finished = state.step >= job.steps || (job.patience > 0 && state.epoch - state.best_epoch >= job.patience);
    epoch.last = state.finished;
    state.epoch += 1;
    state.loss_sum = 0.0;
    state.steps_taken = 0;
    state.steps_skipped = 0;
  });
  team.sync();
}

// Trains for some epochs; epoch e is recorded in records[e * record_stride].
DEVICE void train_epochs(const Job* job, float* workspace, Epoch* records, int record_stride, int epochs) {
  Team team = {job, workspace};
  TrainingState* state = team.state();
  init_barrier(job->barrier);
  for_each((int)(sizeof(TrainingState) / 4), [&](int at) { ((u32*)state)[at] = ((const u32*)job->state)[at]; });
  if (job->state->step == 0)
    for_each(PARAMETERS, [&](int at) {
      float weight = job->weights[at];
      job->averaged_weights[at] = job->best_weights[at] = weight;
      for (int half = 0; half < 2 && job->half_split > 0; ++half) job->half_best_weights[half * PARAMETERS + at] = weight;
      if (OPTIMIZER == 1) job->optimizer_state[at] = weight;
    });
  if (SHARED_WORKSPACE) for_each(PARAMETERS, [&](int at) { team.weights()[at] = job->weights[at]; });
  if (SHARED_WORKSPACE)
    for (int level = 0; level < LAYERS; ++level)
      for_each(ROWS, [&](int row) { team.activations(level)[UNITS(level) * ROW_STRIDE + row] = 1.0f; });
  team.sync();
  for (int epoch = 0; epoch < epochs && !state->finished; ++epoch) {
    u32 end = (state->epoch + 1) * job->epoch;
    while (state->step < end && state->step < job->steps) step(team);
    end_epoch(team, records[(u64)epoch * record_stride]);
  }
  for_each((int)(sizeof(TrainingState) / 4), [&](int at) { ((u32*)job->state)[at] = ((const u32*)state)[at]; });
  if (SHARED_WORKSPACE) for_each(PARAMETERS, [&](int at) { job->weights[at] = team.weights()[at]; });
}

#ifdef __CUDACC_RTC__
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS_PER_SM) train(const Job* jobs, Epoch* records, int epochs) {
  const Job* job = jobs + blockIdx.x / BLOCKS_PER_NETWORK;
  float* workspace = SHARED_WORKSPACE ? (float*)shared_memory : job->workspace;
  train_epochs(job, workspace, records + blockIdx.x / BLOCKS_PER_NETWORK, gridDim.x / BLOCKS_PER_NETWORK, epochs);
}
#else
struct EmulatedBlock {
  const Job* job;
  Epoch* records;
  int record_stride, epochs, number;
};

static void* run_block(void* argument) {
  const EmulatedBlock* own = (const EmulatedBlock*)argument;
  emulated_block = own->number;
  train_epochs(own->job, own->job->workspace, own->records, own->record_stride, own->epochs);
  return nullptr;
}

extern "C" __attribute__((visibility("default"))) void train(const Job* jobs, int count, Epoch* records, int epochs, int reverse_items) {
  reversed = reverse_items;
  for (int at = 0; at < count; ++at) {
    pthread_t threads[BLOCKS_PER_NETWORK];
    EmulatedBlock blocks[BLOCKS_PER_NETWORK];
    for (int number = 0; number < BLOCKS_PER_NETWORK; ++number) {
      blocks[number] = EmulatedBlock{jobs + at, records + at, count, epochs, number};
      if (pthread_create(&threads[number], nullptr, run_block, &blocks[number]) != 0) __builtin_trap();
    }
    for (int number = 0; number < BLOCKS_PER_NETWORK; ++number) pthread_join(threads[number], nullptr);
  }
}
#endif
