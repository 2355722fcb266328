// Scores of samples and their gradient: a row's raw numbers are equally likely samples. Sums run over them in ascending order, sixteen at
// a time, and those parts are added in their order. Equals share the mean of their places, so it does not matter which of them is where.

// The slopes of the energy score, times each row's weight in training; leaves samples and slopes behind in ascending order.
DEVICE void sort_samples(const Team& team, Rows rows, bool trains) {
  each_row(SAMPLES, rows, [&](int number, int row) {
    const float* samples = team.area(RAW);
    const float y = team.area(ROW_Y)[row], value = samples[place(number, row)];
    int first = 0, equals = 0, before = 0;
    for (int other = 0; other < SAMPLES; ++other) {
      float there = samples[place(other, row)];
      first += value > there;
      equals += value == there;
      before += other < number && value == there;
    }
    const float share = 1.0f / (float)SAMPLES, square_share = 1.0f / ((float)SAMPLES * (float)SAMPLES);
    float side = value > y ? share : y > value ? -share : 0.0f;
    float slope = neg_mul_add((float)first + (float)(first + equals - 1) + (1.0f - (float)SAMPLES), square_share, side);
    team.area(SORTED)[place(first + before, row)] = value;
    team.area(SORTED_SLOPES)[place(first + before, row)] = slope;
    if (trains) team.area(SLOPES)[place(number, row)] = team.area(ROW_WEIGHTS)[row] * slope;
  });
  sync_block();
}

// sum_i (z_i - y) slope_i
DEVICE float energy_of_row(const Team& team, int row) {
  const float y = team.area(ROW_Y)[row];
  float sum = 0.0f;
  for (int begin = 0; begin < SAMPLES; begin += 16) {
    float part = 0.0f;
    for (int at = begin; at < least(SAMPLES, begin + 16); ++at)
      part = fmaf(team.area(SORTED)[place(at, row)] - y, team.area(SORTED_SLOPES)[place(at, row)], part);
    sum = sum + part;
  }
  // What is no number has no place in an order.
  for (int at = 0; at < SAMPLES; ++at) {
    float value = team.area(RAW)[place(at, row)];
    if (value != value) sum = value;
  }
  return sum;
}

// That of the normal distribution with the samples' mean and variance.
DEVICE float log_of_row(const Team& team, int row) {
  const float* samples = team.area(RAW);
  const float anchor = samples[place(0, row)];
  float sum = 0.0f, squares = 0.0f;
  for (int at = 0; at < SAMPLES; ++at) sum = sum + (samples[place(at, row)] - anchor);
  float mean = sum * (1.0f / (float)SAMPLES);
  for (int at = 0; at < SAMPLES; ++at) {
    float apart = (samples[place(at, row)] - anchor) - mean;
    squares = fmaf(apart, apart, squares);
  }
  float sd = larger(sqrtf(squares * (1.0f / ((float)SAMPLES - 1.0f))), team.job->floor);
  float z = ((team.area(ROW_Y)[row] - anchor) - mean) / sd;
  return fmaf(z * z, 0.5f, logarithm(sd) + HALF_LN_2_PI);
}

DEVICE void loss(const Team& team, Rows rows) {
  sort_samples(team, rows, true);
  each_row(1, rows, [&](int, int row) { team.area(ROW_ENERGY)[row] = energy_of_row(team, row); });
}

DEVICE float row_loss(const Team& team, int row, float sum) { return fmaf(team.area(ROW_ENERGY)[row], team.area(ROW_WEIGHTS)[row], sum); }

// Scores of rows that choose a checkpoint: one number of each kind for each row.
DEVICE void score_rows(const Team& team, Rows rows) {
  sort_samples(team, rows, false);
  each_row(1, rows, [&](int, int row) {
    team.area(ROW_ENERGY)[row] = energy_of_row(team, row);
    team.area(ROW_LOG)[row] = log_of_row(team, row);
  });
  sync_block();
}

// Row after row of a lane.
DEVICE float row_log(const Team& team, int row, float sum) { return fmaf(team.area(ROW_LOG)[row], team.area(ROW_WEIGHTS)[row], sum); }
DEVICE float row_energy(const Team& team, int row, float sum) { return fmaf(team.area(ROW_ENERGY)[row], team.area(ROW_WEIGHTS)[row], sum); }
