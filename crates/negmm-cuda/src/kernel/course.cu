// The course of a training: rows, steps, validation, which checkpoint is kept and when to stop.

// Brings the training rows into another order: that which swapping the last row with row t_last, the last but one with t_(last - 1)
// and so on gives, found for all places at once. Before step i place p holds what place j held before step j, where j is the smallest
// above i with t_j = p, or what it held at first where there is none.
ONCE void shuffle(Team team) {
  const Job& job = *team.job;
  const int count = (int)job.train;
  const u32 none = 0xffffffffu;
  u32 *heads = job.lists, *links = heads + count, *targets = links + count;
  u32 turned = team.state()->turned;
  const u32* from = job.order + turned * count;
  u32* to = job.order + (1 - turned) * count;
  each(count, [&](int place) { heads[place] = none; });
  team.sync();
  u64 start = draw(job.order_stream, team.state()->passes);
  each(count, [&](int place) {
    u32 target = place > 0 ? (u32)high_product(draw(start, (u64)(count - 1 - place)), (u64)place + 1) : 0;
    targets[place] = target;
    links[place] = exchange(heads + target, (u32)place);
  });
  team.sync();
  each(count, [&](int place) {
    u32 at = targets[place], above = (u32)place;
    for (;;) {
      u32 next = none;
      for (u32 other = heads[at]; other != none; other = links[other])
        if (other > above && other < next) next = other;
      if (next == none) break;
      at = above = next;
    }
    to[place] = from[at];
  });
  team.sync();
}

// Which row of its list a row is; in adversarial training each panel stands twice beside itself.
DEVICE int place_in_list(int row, bool twice) { return ADVERSARIAL && twice ? row / (2 * PANEL) * PANEL + row % PANEL : row; }

// Brings in rows of a list of `count`; the first of a panel stands in for those that are missing, with weight zero.
ONCE void gather(Team team, const u32* list, int count, Rows rows, float share, bool twice) {
  const Job& job = *team.job;
  auto from_list = [&](int row) {
    int place = place_in_list(row, twice);
    return list[place < count ? place : place / PANEL * PANEL];
  };
  each_here((rows.end - rows.first) * INPUTS, [&](int item) {
    int row = rows.first + item / (INPUTS > 0 ? INPUTS : 1), input = item % (INPUTS > 0 ? INPUTS : 1);
    u32 from = from_list(row);
    INPUT_ROWS[input * ROW_STRIDE + row] = job.x[(u64)from * job.stride + input];
  });
  each_row(1, rows, [&](int, int row) {
    u32 from = from_list(row);
    team.area(ROW_Y)[row] = job.y[from];
    team.area(ROW_WEIGHTS)[row] = place_in_list(row, twice) < count ? share * job.sample_weights[from] : 0.0f;
    if (INTERVALS) {
      team.area(ROW_LOWER)[row] = job.lower[from];
      team.area(ROW_UPPER)[row] = job.upper[from];
    }
  });
  sync_block();
}

// Moves the inputs of every second panel in the direction in which the loss of the panel before it grows.
DEVICE void move_inputs(const Team& team, Rows rows) {
  each_row(INPUTS, rows, [&](int input, int row) {
    if (row % (2 * PANEL) < PANEL) return;
    float delta = team.deltas(0)[place(input, row - PANEL)], step = team.job->moves[input];
    float* value = INPUT_ROWS + place(input, row);
    *value = *value + (delta > 0.0f ? step : 0.0f) - (delta < 0.0f ? step : 0.0f);
  });
  sync_block();
}

// Rows of whole panels.
DEVICE int in_panels(int count) { return (count + PANEL - 1) / PANEL * PANEL; }

// What the rows of a panel add up to: two rows in each of sixteen lanes, lanes by halves.
template <class Next> DEVICE float lanes_of_panel(int panel, Next next) {
  float lanes[16];
#pragma unroll
  for (int lane = 0; lane < 16; ++lane) lanes[lane] = next(panel * PANEL + 16 + lane, next(panel * PANEL + lane, 0.0f));
  return lane_sum(lanes);
}

// The losses of panels, each a sum over its rows.
DEVICE void panel_losses(const Team& team, int rows) {
  each(rows / PANEL, [&](int panel) {
    team.area(PANEL_LOSSES)[panel] = lanes_of_panel(panel, [&](int row, float sum) { return row_loss(team, row, sum); });
  });
}

// The loss of all rows: panels of a part one after the other, then parts.
DEVICE float total_loss(const Team& team, int rows) {
  float total = 0.0f;
  for (int begin = 0; begin < rows / PANEL; begin += PART_PANELS) {
    float part = 0.0f;
    for (int panel = begin; panel < least(rows / PANEL, begin + PART_PANELS); ++panel) part += team.area(PANEL_LOSSES)[panel];
    total = begin == 0 ? part : total + part;
  }
  return total;
}

DEVICE void step(const Team& team) {
  const Job& job = *team.job;
  State& state = *team.state();
  u32 given = state.given, turned = state.turned;
  bool again = given == job.train || (job.whole && job.train - given < job.batch);
  if (again) {
    shuffle(team);
    given = 0;
    turned = 1 - turned;
  }
  const u32* list = job.order + turned * job.train + given;
  int count = (int)(job.train - given < job.batch ? job.train - given : job.batch);
  if (job.weighted) {
    lone([&] {
      double total = 0.0;
      for (int at = 0; at < count; ++at) total += (double)job.sample_weights[list[at]];
      state.share = total > 0.0 ? (float)(1.0 / total) : 0.0f;
    });
    team.sync();
  }
  const float share = job.weighted ? state.share : (float)(1.0 / (double)count);
  const int rows = in_panels(count) * (ADVERSARIAL ? 2 : 1);
  if (!SHARED) lone([&] { reckon(team); });
#pragma unroll 1
  for (int moved = 0; moved <= ADVERSARIAL; ++moved) {
    each_tile(rows, [&](Rows here) {
      gather(team, list, count, here, ADVERSARIAL ? 0.5f * share : share, true);
      // Beside the first layer, which leaves the last threads without an item more often than not.
      if (SHARED) lone([&] { reckon(team); });
      if (moved) move_inputs(team, here);
      stem_forward(team, team.weights(), here, true);
      forward(team, team.weights(), here, true);
      loss(team, here);
      sync_block();
      if (SHARED) panel_losses(team, rows);
      backward(team, here);
    });
    if (moved == ADVERSARIAL) break;
    // Those were rows that nothing has moved yet, each twice.
    lone([&] { state.bad = 0; });
    team.sync();
  }
  if (!SHARED) {
    team.sync();
    panel_losses(team, rows);
    gradients(team, rows);
  }
  if (STEM != 0) stem_gradient(team, rows);
  if (!SHARED || STEM != 0) team.sync();
  float loss = total_loss(team, rows);
  bool sound = !state.bad && finite_number(loss);
  if (sound) take_step(team);
  lone([&] {
    if (sound) {
      remember(state);
      state.losses += (double)loss;
      state.taken += 1;
    } else {
      state.skipped += 1;
    }
    state.given = given + (u32)count;
    state.turned = turned;
    state.passes += again;
    state.step += 1;
  });
  team.sync();
}

// Sums over validation rows of weight times score, in the order of the panels.
DEVICE void add_scores(const Team& team, int half, int rows) {
  each(2 + (CALIBRATED ? FACTORS : 0), [&](int kind) {
    double sum = team.state()->sums[half][kind];
    for (int panel = 0; panel < rows / PANEL; ++panel) {
      if (kind == 0) {
        sum += (double)lanes_of_panel(panel, [&](int row, float of_lane) { return row_log(team, row, of_lane); });
      } else if (kind == 1) {
        sum += (double)lanes_of_panel(panel, [&](int row, float of_lane) { return row_energy(team, row, of_lane); });
      } else {
        const float* scores = team.area(ROW_CALIBRATED) + (kind - 2) * ROW_STRIDE;
        for (int chunk = 0; chunk < PANEL; chunk += 16) {
          float lanes[16];
#pragma unroll
          for (int lane = 0; lane < 16; ++lane) {
            int row = panel * PANEL + chunk + lane;
            lanes[lane] = scores[row] * team.area(ROW_WEIGHTS)[row];
          }
          sum += (double)lane_sum(lanes);
        }
      }
    }
    team.state()->sums[half][kind] = sum;
  });
}

// Mean scores of validation rows, where they are finite.
struct Validation { double nll, crps, calibrated; bool sound, has_crps; };

DEVICE Validation validation_of(const Team& team, int half) {
  const double* sums = team.state()->sums[half];
  double total = team.job->totals[half], uncensored = team.job->uncensored[half], best = (double)INFINITE;
  Validation scores = {sums[0] / total, 0.0, 0.0, false, uncensored > 0.0};
  if (scores.has_crps) scores.crps = sums[1] / uncensored;
  if (CALIBRATED)
    for (int factor = 0; factor < FACTORS; ++factor) best = fmin(best, sums[2 + factor]);
  scores.calibrated = CALIBRATED ? best / total : 0.0;
  scores.sound = finite_double(scores.nll) && finite_double(scores.crps) && finite_double(scores.calibrated);
  return scores;
}

// The score that chooses.
DEVICE double chosen_by(u32 select, const Validation& scores) {
  if (select == 2) return scores.calibrated;
  return select == 1 && scores.has_crps ? scores.crps : scores.nll;
}

DEVICE bool improves(double& best, double score) {
  bool better = score < best;
  if (better) best = score;
  return better;
}

// Scores validation rows with the parameters that would predict, keeps what is the best so far, says whether it was the last epoch.
ONCE void end_epoch(Team team, Epoch& epoch) {
  const Job& job = *team.job;
  State& state = *team.state();
  const float* predicting = job.averages ? job.averaged : team.weights();
  const float* scored = predicting;
  if (SHARED && job.averages && job.validation_rows > 0) {
    each(PARAMETERS, [&](int at) {
      job.weights[at] = team.weights()[at];
      team.weights()[at] = job.averaged[at];
    });
    scored = team.weights();
  }
  int halves = job.halves > 0 ? 2 : 1;
  each(2 * SUMS, [&](int item) { state.sums[item / SUMS][item % SUMS] = 0.0; });
  team.sync();
  for (int half = 0; half < halves; ++half) {
    u32 begin = half == 0 ? 0 : job.halves, end = halves == 2 && half == 0 ? job.halves : job.validation_rows;
    for (u32 from = begin; from < end; from += ROWS) {
      const int count = (int)(end - from < ROWS ? end - from : ROWS), rows = in_panels(count);
      each_tile(rows, [&](Rows here) {
        gather(team, job.validation + from, count, here, 1.0f, false);
        stem_forward(team, scored, here, false);
        forward(team, scored, here, false);
        score_rows(team, here);
      });
      if (!SHARED) team.sync();
      add_scores(team, half, rows);
      team.sync();
    }
  }
  if (SHARED && job.averages && job.validation_rows > 0) {
    each(PARAMETERS, [&](int at) { team.weights()[at] = job.weights[at]; });
    team.sync();
  }
  // Every thread reckons the same.
  Validation scores = validation_of(team, 0);
  bool better_half[2] = {false, false};
  double half_best[2] = {state.half_best[0], state.half_best[1]}, best = state.best;
  if (halves == 2) {
    Validation second = validation_of(team, 1);
    better_half[0] = scores.sound && improves(half_best[0], chosen_by(job.select, scores));
    better_half[1] = second.sound && improves(half_best[1], chosen_by(job.select, second));
    Validation both = {job.shares[0] * scores.nll + job.shares[1] * second.nll, job.shares[0] * scores.crps + job.shares[1] * second.crps,
                       job.shares[0] * scores.calibrated + job.shares[1] * second.calibrated, scores.sound && second.sound,
                       scores.has_crps && second.has_crps};
    scores = both;
  }
  bool unguided = job.validation_rows == 0 || job.keeps_last;
  bool better = unguided ? improves(best, -(double)state.epoch) : scores.sound && improves(best, chosen_by(job.select, scores));
  if (better) each(PARAMETERS, [&](int at) { job.kept[at] = predicting[at]; });
  for (int half = 0; half < halves; ++half)
    if (better_half[half]) each(PARAMETERS, [&](int at) { job.half_kept[half * PARAMETERS + at] = predicting[at]; });
  if (job.snapshot_every > 0 && (state.epoch + 1) % job.snapshot_every == 0)
    each(PARAMETERS, [&](int at) { job.snapshots[(u64)(state.epoch / job.snapshot_every) * PARAMETERS + at] = predicting[at]; });
  team.sync();
  lone([&] {
    epoch.losses = state.losses;
    epoch.taken = state.taken;
    epoch.skipped = state.skipped;
    epoch.nll = scores.nll;
    epoch.crps = scores.crps;
    epoch.calibrated = scores.calibrated;
    epoch.sound = scores.sound;
    epoch.has_crps = scores.has_crps;
    state.best = best;
    state.half_best[0] = half_best[0];
    state.half_best[1] = half_best[1];
    if (better) state.best_epoch = state.epoch;
    state.done = state.step >= job.steps || (job.patience > 0 && state.epoch - state.best_epoch >= job.patience);
    epoch.last = state.done;
    state.epoch += 1;
    state.losses = 0.0;
    state.taken = 0;
    state.skipped = 0;
  });
  team.sync();
}

// Some epochs of a training; what is known of them goes to every `apart`th place of `board`.
DEVICE void train_some(const Job* job, float* room, Epoch* board, int apart, int epochs) {
  Team team = {job, room};
  State* state = team.state();
  open_team(job->arrived);
  each((int)(sizeof(State) / 4), [&](int at) { ((u32*)state)[at] = ((const u32*)job->state)[at]; });
  if (job->state->step == 0)
    each(PARAMETERS, [&](int at) {
      float weight = job->weights[at];
      job->averaged[at] = job->kept[at] = weight;
      for (int half = 0; half < 2 && job->halves > 0; ++half) job->half_kept[half * PARAMETERS + at] = weight;
      if (OPTIMISER == 1) job->memory[at] = weight;
    });
  if (SHARED) each(PARAMETERS, [&](int at) { team.weights()[at] = job->weights[at]; });
  if (SHARED)
    for (int level = 0; level < LAYERS; ++level) each(ROWS, [&](int row) { team.values(level)[UNITS(level) * ROW_STRIDE + row] = 1.0f; });
  team.sync();
  for (int epoch = 0; epoch < epochs && !state->done; ++epoch) {
    u32 end = (state->epoch + 1) * job->epoch;
    while (state->step < end && state->step < job->steps) step(team);
    end_epoch(team, board[(u64)epoch * apart]);
  }
  each((int)(sizeof(State) / 4), [&](int at) { ((u32*)job->state)[at] = ((const u32*)state)[at]; });
  if (SHARED) each(PARAMETERS, [&](int at) { job->weights[at] = team.weights()[at]; });
}

#ifdef __CUDACC_RTC__
extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT) train(const Job* jobs, Epoch* board, int epochs) {
  const Job* job = jobs + blockIdx.x / BLOCKS;
  train_some(job, SHARED ? (float*)shared_memory : job->room, board + blockIdx.x / BLOCKS, gridDim.x / BLOCKS, epochs);
}
#else
extern "C" __attribute__((visibility("default"))) void train(const Job* jobs, int count, Epoch* board, int epochs, int turned_around) {
  reversed = turned_around;
  for (int at = 0; at < count; ++at) {
    std::vector<std::thread> blocks;
    for (int number = 0; number < BLOCKS; ++number)
      blocks.emplace_back([=] {
        own_block = number;
        train_some(jobs + at, jobs[at].room, board + at, count, epochs);
      });
    for (std::thread& block : blocks) block.join();
  }
}
#endif
