// Sample head: the raw outputs of a row are equally likely samples. Energy score and its gradient from the sorted samples, summed in
// ascending order in parts of sixteen that are added in order. Ties have their mean rank, so their order does not matter.

// Gradient of the energy score, times the row's weight in training; stores samples and gradients in ascending order.
DEVICE void sort_samples(const Team& team, Rows rows, bool trains) {
  for_each_row(SAMPLES, rows, [&](int number, int row) {
    const float* samples = team.buffer(RAW_OUTPUTS);
    const float y = team.buffer(ROW_Y)[row], value = samples[element(number, row)];
    int rank = 0, ties = 0, ties_before = 0;
    for (int other = 0; other < SAMPLES; ++other) {
      float other_value = samples[element(other, row)];
      rank += value > other_value;
      ties += value == other_value;
      ties_before += other < number && value == other_value;
    }
    const float inverse_count = 1.0f / (float)SAMPLES, inverse_square_count = 1.0f / ((float)SAMPLES * (float)SAMPLES);
    float sign_term = value > y ? inverse_count : y > value ? -inverse_count : 0.0f;
    float gradient = neg_mul_add((float)rank + (float)(rank + ties - 1) + (1.0f - (float)SAMPLES), inverse_square_count, sign_term);
    team.buffer(SORTED)[element(rank + ties_before, row)] = value;
    team.buffer(SORTED_GRADIENTS)[element(rank + ties_before, row)] = gradient;
    if (trains) team.buffer(SAMPLE_GRADIENTS)[element(number, row)] = team.buffer(ROW_WEIGHTS)[row] * gradient;
  });
  sync_block();
}

// Energy score: sum_i (z_i - y) gradient_i.
DEVICE float energy_of_row(const Team& team, int row) {
  const float y = team.buffer(ROW_Y)[row];
  float sum = 0.0f;
  for (int begin = 0; begin < SAMPLES; begin += 16) {
    float part = 0.0f;
    for (int at = begin; at < min_int(SAMPLES, begin + 16); ++at)
      part = fmaf(team.buffer(SORTED)[element(at, row)] - y, team.buffer(SORTED_GRADIENTS)[element(at, row)], part);
    sum = sum + part;
  }
  // NaN cannot be sorted: it becomes the score.
  for (int at = 0; at < SAMPLES; ++at) {
    float value = team.buffer(RAW_OUTPUTS)[element(at, row)];
    if (value != value) sum = value;
  }
  return sum;
}

// Logarithmic score of the normal distribution with the mean and variance of the samples.
DEVICE float log_of_row(const Team& team, int row) {
  const float* samples = team.buffer(RAW_OUTPUTS);
  const float anchor = samples[element(0, row)];
  float sum = 0.0f, squares = 0.0f;
  for (int at = 0; at < SAMPLES; ++at) sum = sum + (samples[element(at, row)] - anchor);
  float mean = sum * (1.0f / (float)SAMPLES);
  for (int at = 0; at < SAMPLES; ++at) {
    float deviation = (samples[element(at, row)] - anchor) - mean;
    squares = fmaf(deviation, deviation, squares);
  }
  float sd = max_float(sqrtf(squares * (1.0f / ((float)SAMPLES - 1.0f))), team.job->floor);
  float z = ((team.buffer(ROW_Y)[row] - anchor) - mean) / sd;
  return fmaf(z * z, 0.5f, log_float(sd) + HALF_LN_2_PI);
}

DEVICE void loss(const Team& team, Rows rows) {
  sort_samples(team, rows, true);
  for_each_row(1, rows, [&](int, int row) { team.buffer(ROW_ENERGY_SCORE)[row] = energy_of_row(team, row); });
}

DEVICE float row_loss(const Team& team, int row, float sum) {
  return fmaf(team.buffer(ROW_ENERGY_SCORE)[row], team.buffer(ROW_WEIGHTS)[row], sum);
}

// Validation scores of each row, which select the checkpoint.
DEVICE void score_rows(const Team& team, Rows rows) {
  sort_samples(team, rows, false);
  for_each_row(1, rows, [&](int, int row) {
    team.buffer(ROW_ENERGY_SCORE)[row] = energy_of_row(team, row);
    team.buffer(ROW_LOG_SCORE)[row] = log_of_row(team, row);
  });
  sync_block();
}

// Add the weighted logarithmic or energy score of a row to the sum of its lane.
DEVICE float weighted_log_score(const Team& team, int row, float sum) {
  return fmaf(team.buffer(ROW_LOG_SCORE)[row], team.buffer(ROW_WEIGHTS)[row], sum);
}
DEVICE float weighted_energy_score(const Team& team, int row, float sum) {
  return fmaf(team.buffer(ROW_ENERGY_SCORE)[row], team.buffer(ROW_WEIGHTS)[row], sum);
}
