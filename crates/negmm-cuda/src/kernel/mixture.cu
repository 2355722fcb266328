// Scores of mixtures and their gradients: logarithmic and energy score of every row, a thread for each row and component where they do
// not wait for each other, a thread for each row where they do. Sums over components run in their order.

struct Mixture {
  const Team& team;

  DEVICE float mean(int k, int row) const {
    return ATOMS && k >= COMPONENTS ? team.job->atoms[k - COMPONENTS] : team.area(MEANS)[place(k, row)];
  }
  DEVICE float sd(int k, int row) const { return ATOMS && k >= COMPONENTS ? 1e-6f : team.area(SDS)[place(k, row)]; }
  DEVICE float weight(int k, int row) const { return team.area(SHARES)[place(k, row)]; }
};

// `bound` tanh(x / bound) and its derivative; x itself without a bound.
DEVICE float bounded(float x, bool has_bound, float bound, float& slope) {
  if (!has_bound) {
    slope = 1.0f;
    return x;
  }
  float share = tangent(x * (1.0f / bound));
  slope = neg_mul_add(share, share, 1.0f);
  return share * bound;
}

#if HEAD == 0
// Raw outputs become weights, means and sds; their slopes wait where their deltas will be.
ONCE void head_forward(Team team, Rows rows) {
  each_row(EVERY, rows, [&](int k, int row) {
    const float* logits = team.area(LOG_WEIGHTS) + row;
    float largest = -INFINITE;
    for (int other = 0; other < EVERY; ++other) largest = larger(logits[place(other, 0)], largest);
    team.area(WEIGHTS)[place(k, row)] = decay(logits[place(k, 0)] - largest);
    if (k == 0) team.area(ROW_LARGEST)[row] = largest;
  });
  each_row(COMPONENTS, rows, [&](int k, int row) {
    int at = place(k, row);
    float slope, outer;
    team.area(MEANS)[at] = bounded(team.area(MEANS)[at], HAS_MEAN_BOUND, team.job->mean_bound, slope);
    if (HAS_MEAN_BOUND) team.area(MEAN_SLOPES)[at] = slope;
    float spread = bounded(softplus(team.area(SDS)[at], slope), HAS_CEILING, team.job->spread_bound, outer);
    team.area(SDS)[at] = spread + team.job->floor;
    team.area(SD_SLOPES)[at] = slope * outer;
  });
  sync_block();
}
#elif HEAD == 1
// A mean and a variance, above a ceiling without a gradient.
ONCE void head_forward(Team team, Rows rows) {
  each_row(1, rows, [&](int, int row) {
    float slope, variance = softplus(team.area(SDS)[row] + 0.54132485f, slope);
    variance = variance + team.job->floor;
    slope = variance > team.job->ceiling ? 0.0f : slope;
    float sd = sqrtf(smaller(variance, team.job->ceiling));
    team.area(LOG_WEIGHTS)[row] = 0.0f;
    team.area(SHARES)[row] = 1.0f;
    team.area(SDS)[row] = sd;
    team.area(SD_SLOPES)[row] = slope / (sd + sd);
  });
  sync_block();
}
#endif

// ln of weight times density, or times probability of an interval, as the library's `log_joints` has it, and what the gradient is made
// of. `scale` has -1 / (2 factor²), the constant of the score, and 1 / factor, for sds times a factor.
struct Joint { float log, pull, curve; };
struct Scale { float curve, constant, inverse; };

DEVICE Joint joint_of(const Mixture& mixture, int k, int row, float log_weight, float inverse_sd, float z, float sd, const float* ends,
                      Scale scale) {
  Joint joint = {fmaf(z * z, scale.curve, log_weight - logarithm(sd)), z, neg_mul_add(z, z, 1.0f)};
  float y = mixture.team.area(ROW_Y)[row], lower = ends ? ends[0] : y, upper = ends ? ends[1] : y;
  if (ends && upper > lower) {
    float mean = mixture.mean(k, row), inverse = inverse_sd * scale.inverse;
    Truncated within = truncated((lower - mean) * inverse, (upper - mean) * inverse, (upper - lower) * inverse);
    joint = {log_weight + within.log_mass + scale.constant, within.mean, 0.0f - within.excess};
  }
  if (ATOMS) {
    float apart = INFINITE;
    for (int atom = 0; atom < ATOMS; ++atom) {
      float where = mixture.team.job->atoms[atom], outside = larger(lower - where, where - upper);
      if (k == COMPONENTS + atom) joint.log = outside > 0.0f ? -INFINITE : log_weight + scale.constant;
      apart = smaller(outside, apart);
    }
    bool dense = larger(apart, upper - lower) > 0.0f;
    if (k < COMPONENTS && !dense) joint.log = -INFINITE;
  }
  return joint;
}

// What is known of a pair of components of a row; turned around, its cdf has the other sign and the same bits.
struct Pair { float distance, cdf, density; };

DEVICE Pair pair_of(float mean, float variance, float other_mean, float other_variance) {
  float spread = variance + other_variance, inverse = rsqrt_of(spread), apart = mean - other_mean, w = apart * inverse;
  float density = decay(w * w * -0.5f), cdf = centred_cdf(w);
  return {fmaf(SQRT_2_OVER_PI * spread * inverse, density, apart * cdf), cdf, density * inverse};
}

// Everything a component knows by itself.
DEVICE void components(const Team& team, Rows rows, bool log, bool energy) {
  Mixture mixture = {team};
  each_row(EVERY, rows, [&](int k, int row) {
    int at = place(k, row);
#if HEAD == 0
    float sum = 0.0f;
    for (int other = 0; other < EVERY; ++other) sum = sum + team.area(WEIGHTS)[place(other, row)];
    team.area(SHARES)[at] = team.area(WEIGHTS)[at] * quotient(1.0f, sum);
    float log_weight = team.area(LOG_WEIGHTS)[at] - (team.area(ROW_LARGEST)[row] + logarithm(sum));
    team.area(LOG_WEIGHTS)[at] = log_weight;
#else
    float log_weight = 0.0f;
#endif
    float y = team.area(ROW_Y)[row], mean = mixture.mean(k, row), sd = mixture.sd(k, row);
    float inverse = 1.0f / sd, z = (y - mean) * inverse;
    team.area(INVERSES)[at] = inverse;
    team.area(ZS)[at] = z;
    if (log) {
      Scale scale = {-0.5f, HALF_LN_2_PI, 1.0f};
      float ends[2] = {INTERVALS ? team.area(ROW_LOWER)[row] : 0.0f, INTERVALS ? team.area(ROW_UPPER)[row] : 0.0f};
      Joint joint = joint_of(mixture, k, row, log_weight, inverse, z, sd, INTERVALS ? ends : nullptr, scale);
      team.area(POSTERIORS)[at] = joint.log;
      if (INTERVALS) {
        team.area(PULLS)[at] = joint.pull;
        team.area(CURVES)[at] = joint.curve;
      }
      if (BOUNDS) {
        Joint between = joint_of(mixture, k, row, log_weight, inverse, z, sd, team.job->bounds, scale);
        team.area(BOUND_POSTERIORS)[at] = between.log;
        team.area(BOUND_PULLS)[at] = between.pull;
        team.area(BOUND_CURVES)[at] = between.curve;
      }
    }
    if (energy) {
      float density = decay(z * z * -0.5f), cdf = centred_cdf(0.0f - z);
      team.area(DISTANCES)[at] = fmaf(SQRT_2_OVER_PI * sd, density, (mean - y) * cdf);
      team.area(DENSITIES)[at] = density;
      team.area(CDFS)[at] = cdf;
    }
  });
#if PAIRS
  if (energy) {
    const int even = EVERY + EVERY % 2;
    each_row(even / 2 * (even - 1), rows, [&](int number, int row) {
      int a = number / (even - 1), b = number % (even - 1);
      int low = b >= a ? a : even - 1 - a, high = b >= a ? b + 1 : even - 1 - b;
      if (high >= EVERY) return;
      float sd = mixture.sd(high, row), other = mixture.sd(low, row);
      Pair pair = pair_of(mixture.mean(high, row), sd * sd, mixture.mean(low, row), other * other);
      int at = place(high * (high - 1) / 2 + low, row), size = EVERY * (EVERY - 1) / 2 * ROW_STRIDE;
      team.area(PAIR_NUMBERS)[at] = pair.distance;
      team.area(PAIR_NUMBERS)[size + at] = pair.cdf;
      team.area(PAIR_NUMBERS)[2 * size + at] = pair.density;
    });
  }
#endif
  sync_block();
}

// Sums over the other components, weighted: of the distance of the pair, of its cdf, of its density over its sd.
DEVICE void pair_sums(const Team& team, Rows rows) {
  Mixture mixture = {team};
  each_row(EVERY, rows, [&](int k, int row) {
    int at = place(k, row);
    float weight = mixture.weight(k, row), sd = mixture.sd(k, row);
    float distance = weight * sd * TWO_OVER_SQRT_PI, cdf = 0.0f, density = weight * team.area(INVERSES)[at] * FRAC_1_SQRT_2;
#if !PAIRS
    float mean = mixture.mean(k, row), variance = sd * sd;
#endif
#pragma unroll 3
    for (int number = 0; number < EVERY - 1; ++number) {
      const int other = number + (number >= k);
      float of_other = mixture.weight(other, row);
#if PAIRS
      int high = other > k ? other : k, low = other > k ? k : other;
      int pair_at = place(high * (high - 1) / 2 + low, row), size = EVERY * (EVERY - 1) / 2 * ROW_STRIDE;
      const float* numbers = team.area(PAIR_NUMBERS);
      float of_pair = numbers[size + pair_at];
      Pair pair = {numbers[pair_at], other > k ? -of_pair : of_pair, numbers[2 * size + pair_at]};
#else
      float other_sd = mixture.sd(other, row);
      Pair pair = pair_of(mean, variance, mixture.mean(other, row), other_sd * other_sd);
#endif
      distance = fmaf(pair.distance, of_other, distance);
      cdf = fmaf(pair.cdf, of_other, cdf);
      density = fmaf(pair.density, of_other, density);
    }
    team.area(PAIR_DISTANCES)[at] = distance;
    team.area(PAIR_CDFS)[at] = cdf;
    team.area(PAIR_DENSITIES)[at] = density;
  });
}

// The largest of a row's joints, and e to the power of each less it.
DEVICE void relative_joint(const Team& team, long joints, long relative, long largest_of_row, int k, int row) {
  float largest = -INFINITE;
  for (int other = 0; other < EVERY; ++other) largest = larger(team.area(joints)[place(other, row)], largest);
  team.area(relative)[place(k, row)] = decay(team.area(joints)[place(k, row)] - largest);
  if (k == 0) team.area(largest_of_row)[row] = largest;
}

DEVICE float joint_sum(const Team& team, long relative, int row) {
  float sum = 0.0f;
  for (int k = 0; k < EVERY; ++k) sum = sum + team.area(relative)[place(k, row)];
  return sum;
}

DEVICE float log_score(const Team& team, long relative, long largest_of_row, int row) {
  return HALF_LN_2_PI - team.area(largest_of_row)[row] - logarithm(joint_sum(team, relative, row));
}

// What the scores of all rows are made of; what is not wanted is left out.
ONCE void mixture_parts(Team team, Rows rows, bool log, bool energy) {
  components(team, rows, log, energy);
  if (log)
    each_row(EVERY, rows, [&](int k, int row) {
      relative_joint(team, POSTERIORS, JOINTS, ROW_LARGEST, k, row);
      if (BOUNDS) relative_joint(team, BOUND_POSTERIORS, BOUND_JOINTS, ROW_BOUND_LARGEST, k, row);
    });
  if (energy) pair_sums(team, rows);
  sync_block();
}

// Both scores of a row, 0 where one is not wanted.
DEVICE void row_scores(const Team& team, int row, bool log, bool energy) {
  float value = 0.0f;
  if (energy)
    for (int k = 0; k < EVERY; ++k) {
      int at = place(k, row);
      value = fmaf(fmaf(team.area(PAIR_DISTANCES)[at], -0.5f, team.area(DISTANCES)[at]), team.area(SHARES)[at], value);
    }
  team.area(ROW_ENERGY)[row] = value;
  team.area(ROW_LOG)[row] = log ? log_score(team, JOINTS, ROW_LARGEST, row) : 0.0f;
  if (BOUNDS && log) team.area(ROW_BOUND_LOG)[row] = log_score(team, BOUND_JOINTS, ROW_BOUND_LARGEST, row);
}

// The factor of the energy score: nothing for rows whose interval is open.
DEVICE float of_energy(const Team& team, int row, float factor) {
  if (!INTERVALS) return factor;
  return team.area(ROW_UPPER)[row] - team.area(ROW_LOWER)[row] > 3.402823466e38f ? 0.0f : factor;
}

#if HEAD == 0
// Derivatives of the loss with respect to the raw outputs.
DEVICE void loss_gradient(const Team& team, Rows rows, bool log, bool energy) {
  each_row(EVERY, rows, [&](int k, int row) {
    int at = place(k, row);
    float share = team.area(ROW_WEIGHTS)[row], logit = 0.0f, mean = 0.0f, sd = 0.0f;
    float own = k < COMPONENTS ? team.area(SDS)[at] : 1e-6f;
    if (k == 0) row_scores(team, row, log, energy);
    if (log) {
      float factor = share * team.job->eta, z = team.area(ZS)[at];
      float posterior = team.area(JOINTS)[at] * quotient(1.0f, joint_sum(team, JOINTS, row));
      float pull = INTERVALS ? team.area(PULLS)[at] : z;
      float curve = INTERVALS ? team.area(CURVES)[at] : neg_mul_add(z, z, 1.0f);
      float scaled = factor * posterior * team.area(INVERSES)[at];
      logit = factor * (team.area(SHARES)[at] - posterior);
      mean = 0.0f - scaled * pull;
      sd = scaled * curve;
    }
    if (energy) {
      float factor = of_energy(team, row, share * (1.0f - team.job->eta));
      float weight = factor * team.area(SHARES)[at], average = 0.0f;
      for (int other = 0; other < EVERY; ++other) {
        int there = place(other, row);
        average = fmaf(team.area(DISTANCES)[there] - team.area(PAIR_DISTANCES)[there], team.area(SHARES)[there], average);
      }
      float slope = team.area(DISTANCES)[at] - team.area(PAIR_DISTANCES)[at];
      float cdf = team.area(CDFS)[at] - team.area(PAIR_CDFS)[at];
      float density = neg_mul_add(team.area(PAIR_DENSITIES)[at], own, team.area(DENSITIES)[at]);
      logit = fmaf(weight, slope - average, logit);
      mean = fmaf(weight, cdf, mean);
      sd = fmaf(weight * SQRT_2_OVER_PI, density, sd);
    }
    if (BOUNDS) {
      float more_logit = 0.0f, more_mean = 0.0f, more_sd = 0.0f;
      if (log) {
        float factor = 0.0f - share * team.job->eta;
        float posterior = team.area(BOUND_JOINTS)[at] * (1.0f / joint_sum(team, BOUND_JOINTS, row));
        float scaled = factor * posterior * team.area(INVERSES)[at];
        more_logit = factor * (team.area(SHARES)[at] - posterior);
        more_mean = 0.0f - scaled * team.area(BOUND_PULLS)[at];
        more_sd = scaled * team.area(BOUND_CURVES)[at];
      }
      logit = logit + more_logit;
      mean = mean + more_mean;
      sd = sd + more_sd;
    }
    team.area(POSTERIORS)[at] = logit;
    if (k >= COMPONENTS) return;
    team.area(MEAN_SLOPES)[at] = HAS_MEAN_BOUND ? mean * team.area(MEAN_SLOPES)[at] : mean;
    team.area(SD_SLOPES)[at] = sd * team.area(SD_SLOPES)[at];
  });
}

// What a row adds to the loss, after what rows before it in its lane have added.
DEVICE float row_loss(const Team& team, int row, float sum) {
  float share = team.area(ROW_WEIGHTS)[row], log_factor = share * team.job->eta;
  float energy_factor = of_energy(team, row, share * (1.0f - team.job->eta));
  sum = fmaf(team.area(ROW_LOG)[row], log_factor, fmaf(team.area(ROW_ENERGY)[row], energy_factor, sum));
  if (BOUNDS && team.job->eta > 0.0f) sum = neg_mul_add(team.area(ROW_BOUND_LOG)[row], log_factor, sum);
  return sum;
}

DEVICE void loss(const Team& team, Rows rows) {
  bool log = team.job->eta > 0.0f, energy = team.job->eta < 1.0f;
  head_forward(team, rows);
  mixture_parts(team, rows, log, energy);
  loss_gradient(team, rows, log, energy);
}
#elif HEAD == 1
// beta-NLL; leaves each row's score behind.
DEVICE void loss(const Team& team, Rows rows) {
  head_forward(team, rows);
  each_row(1, rows, [&](int, int row) {
    float mean = team.area(MEANS)[row], sd = team.area(SDS)[row], inverse = 1.0f / sd;
    float z = (team.area(ROW_Y)[row] - mean) * inverse, log_sd = logarithm(sd);
    float weight = exponential(log_sd * (2.0f * team.job->beta)), scaled = team.area(ROW_WEIGHTS)[row] * weight * inverse;
    float score = fmaf(z * z, 0.5f, log_sd + HALF_LN_2_PI), pull = z, curve = neg_mul_add(z, z, 1.0f);
    if (INTERVALS) {
      float lower = team.area(ROW_LOWER)[row], upper = team.area(ROW_UPPER)[row];
      if (upper > lower) {
        Truncated within = truncated((lower - mean) * inverse, (upper - mean) * inverse, (upper - lower) * inverse);
        score = 0.0f - within.log_mass;
        pull = within.mean;
        curve = 0.0f - within.excess;
      }
    }
    team.area(MEAN_SLOPES)[row] = 0.0f - scaled * pull;
    team.area(SD_SLOPES)[row] = scaled * curve * team.area(SD_SLOPES)[row];
    team.area(ROW_LOG)[row] = weight * score;
  });
  sync_block();
}

DEVICE float row_loss(const Team& team, int row, float sum) {
  return fmaf(team.area(ROW_LOG)[row], team.area(ROW_WEIGHTS)[row], sum);
}
#endif

// The logarithmic score with all sds times a factor.
DEVICE float scaled_log_score(const Mixture& mixture, int row, const float* ends, Scale scale) {
  float largest = -INFINITE, sum = 0.0f;
  for (int pass = 0; pass < 2; ++pass)
    for (int k = 0; k < EVERY; ++k) {
      int at = place(k, row);
      float joint = joint_of(mixture, k, row, mixture.team.area(LOG_WEIGHTS)[at], mixture.team.area(INVERSES)[at],
                             mixture.team.area(ZS)[at], mixture.sd(k, row), ends, scale).log;
      if (pass == 0)
        largest = larger(joint, largest);
      else
        sum = sum + decay(joint - largest);
    }
  return scale.constant - largest - logarithm(sum);
}

// Scores of rows that choose a checkpoint: one number of each kind for each row.
DEVICE void score_rows(const Team& team, Rows rows) {
  head_forward(team, rows);
  mixture_parts(team, rows, true, true);
  each_row(1, rows, [&](int, int row) { row_scores(team, row, true, true); });
  each_row(CALIBRATED ? FACTORS : 0, rows, [&](int number, int row) {
    Mixture mixture = {team};
    Scale scale = {FACTOR_CURVES(number), FACTOR_CONSTANTS(number), FACTOR_INVERSES(number)};
    float ends[2] = {INTERVALS ? team.area(ROW_LOWER)[row] : 0.0f, INTERVALS ? team.area(ROW_UPPER)[row] : 0.0f};
    float score = scaled_log_score(mixture, row, INTERVALS ? ends : nullptr, scale);
    if (BOUNDS) score = score - scaled_log_score(mixture, row, team.job->bounds, scale);
    team.area(ROW_CALIBRATED)[number * ROW_STRIDE + row] = score;
  });
  sync_block();
}

// Row after row of a lane: the logarithmic score times the row's weight, and the energy score.
DEVICE float row_log(const Team& team, int row, float sum) {
  float log = team.area(ROW_LOG)[row];
  if (BOUNDS) log = log - team.area(ROW_BOUND_LOG)[row];
  return fmaf(log, team.area(ROW_WEIGHTS)[row], sum);
}
DEVICE float row_energy(const Team& team, int row, float sum) {
  return fmaf(team.area(ROW_ENERGY)[row], of_energy(team, row, team.area(ROW_WEIGHTS)[row]), sum);
}
