// Mixture and Gaussian heads: logarithmic and energy score of every row and their gradients. One thread per row and component where
// components are independent, else one thread per row. Sums over components run in order. Terms are the Gaussians, then the atoms.

struct Mixture {
  const Team& team;

  DEVICE float mean(int k, int row) const {
    return ATOMS && k >= COMPONENTS ? team.job->atoms[k - COMPONENTS] : team.buffer(MEANS)[element(k, row)];
  }
  DEVICE float sd(int k, int row) const { return ATOMS && k >= COMPONENTS ? 1e-6f : team.buffer(SDS)[element(k, row)]; }
  DEVICE float weight(int k, int row) const { return team.buffer(MIXTURE_WEIGHTS)[element(k, row)]; }
};

// Soft bound: `bound` tanh(x / bound) and its derivative; the identity without a bound.
DEVICE float bounded(float x, bool has_bound, float bound, float& derivative) {
  if (!has_bound) {
    derivative = 1.0f;
    return x;
  }
  float ratio = tanh_float(x * (1.0f / bound));
  derivative = neg_mul_add(ratio, ratio, 1.0f);
  return ratio * bound;
}

#if HEAD == 0
// Maps raw outputs to mixture weights, means and sds in place; stores the derivatives of these maps in the gradient buffers.
NOINLINE void head_forward(Team team, Rows rows) {
  for_each_row(TERMS, rows, [&](int k, int row) {
    const float* logits = team.buffer(LOG_WEIGHTS) + row;
    float max_joint = -INFINITE;
    for (int other = 0; other < TERMS; ++other) max_joint = max_float(logits[element(other, 0)], max_joint);
    team.buffer(EXP_LOGITS)[element(k, row)] = exp_nonpositive(logits[element(k, 0)] - max_joint);
    if (k == 0) team.buffer(ROW_MAX)[row] = max_joint;
  });
  for_each_row(COMPONENTS, rows, [&](int k, int row) {
    int at = element(k, row);
    float derivative, outer;
    team.buffer(MEANS)[at] = bounded(team.buffer(MEANS)[at], HAS_MEAN_BOUND, team.job->mean_bound, derivative);
    if (HAS_MEAN_BOUND) team.buffer(MEAN_GRADIENTS)[at] = derivative;
    float spread = bounded(softplus(team.buffer(SDS)[at], derivative), HAS_CEILING, team.job->spread_bound, outer);
    team.buffer(SDS)[at] = spread + team.job->floor;
    team.buffer(SD_GRADIENTS)[at] = derivative * outer;
  });
  sync_block();
}
#elif HEAD == 1
// Maps raw outputs to mean and sd; the variance has no gradient above its ceiling.
NOINLINE void head_forward(Team team, Rows rows) {
  for_each_row(1, rows, [&](int, int row) {
    float derivative, variance = softplus(team.buffer(SDS)[row] + 0.54132485f, derivative);
    variance = variance + team.job->floor;
    derivative = variance > team.job->ceiling ? 0.0f : derivative;
    float sd = sqrtf(min_float(variance, team.job->ceiling));
    team.buffer(LOG_WEIGHTS)[row] = 0.0f;
    team.buffer(MIXTURE_WEIGHTS)[row] = 1.0f;
    team.buffer(SDS)[row] = sd;
    team.buffer(SD_GRADIENTS)[row] = derivative / (sd + sd);
  });
  sync_block();
}
#endif

// Log of weight times density (or probability of an interval), as `log_joints` of the library, with its derivatives in units of 1 / sd:
// d log / d mean and -d log / d sd. `scale` multiplies sds by a factor: -1 / (2 factor^2), the constant of the score, 1 / factor.
struct Joint { float log, mean_derivative, sd_derivative; };
struct Scale { float sd_derivative, constant, inverse; };

DEVICE Joint log_joint(const Mixture& mixture, int k, int row, float log_weight, float inverse_sd, float z, float sd, const float* ends,
                      Scale scale) {
  Joint joint = {fmaf(z * z, scale.sd_derivative, log_weight - log_float(sd)), z, neg_mul_add(z, z, 1.0f)};
  float y = mixture.team.buffer(ROW_Y)[row], lower = ends ? ends[0] : y, upper = ends ? ends[1] : y;
  if (ends && upper > lower) {
    float mean = mixture.mean(k, row), inverse = inverse_sd * scale.inverse;
    Truncated within = truncated((lower - mean) * inverse, (upper - mean) * inverse, (upper - lower) * inverse);
    joint = {log_weight + within.log_mass + scale.constant, within.mean, 0.0f - within.excess};
  }
  if (ATOMS) {
    float difference = INFINITE;
    for (int atom = 0; atom < ATOMS; ++atom) {
      float atom_value = mixture.team.job->atoms[atom], outside = max_float(lower - atom_value, atom_value - upper);
      if (k == COMPONENTS + atom) joint.log = outside > 0.0f ? -INFINITE : log_weight + scale.constant;
      difference = min_float(outside, difference);
    }
    bool off_atoms = max_float(difference, upper - lower) > 0.0f;
    if (k < COMPONENTS && !off_atoms) joint.log = -INFINITE;
  }
  return joint;
}

// Energy score terms of a pair of components: E|X - X'|, the centred cdf and the density. Swapping the pair only flips the sign of the cdf.
struct Pair { float distance, cdf, density; };

DEVICE Pair pair_terms(float mean, float variance, float other_mean, float other_variance) {
  float spread = variance + other_variance, inverse = rsqrt_newton(spread), difference = mean - other_mean, w = difference * inverse;
  float density = exp_nonpositive(w * w * -0.5f), cdf = centred_cdf(w);
  return {fmaf(SQRT_2_OVER_PI * spread * inverse, density, difference * cdf), cdf, density * inverse};
}

// Terms that depend on a single component (and, where cached, on a single pair).
DEVICE void component_terms(const Team& team, Rows rows, bool log, bool energy) {
  Mixture mixture = {team};
  for_each_row(TERMS, rows, [&](int k, int row) {
    int at = element(k, row);
#if HEAD == 0
    float sum = 0.0f;
    for (int other = 0; other < TERMS; ++other) sum = sum + team.buffer(EXP_LOGITS)[element(other, row)];
    team.buffer(MIXTURE_WEIGHTS)[at] = team.buffer(EXP_LOGITS)[at] * fast_divide(1.0f, sum);
    float log_weight = team.buffer(LOG_WEIGHTS)[at] - (team.buffer(ROW_MAX)[row] + log_float(sum));
    team.buffer(LOG_WEIGHTS)[at] = log_weight;
#else
    float log_weight = 0.0f;
#endif
    float y = team.buffer(ROW_Y)[row], mean = mixture.mean(k, row), sd = mixture.sd(k, row);
    float inverse = 1.0f / sd, z = (y - mean) * inverse;
    team.buffer(INVERSE_SDS)[at] = inverse;
    team.buffer(ZS)[at] = z;
    if (log) {
      Scale scale = {-0.5f, HALF_LN_2_PI, 1.0f};
      float ends[2] = {INTERVALS ? team.buffer(ROW_LOWER)[row] : 0.0f, INTERVALS ? team.buffer(ROW_UPPER)[row] : 0.0f};
      Joint joint = log_joint(mixture, k, row, log_weight, inverse, z, sd, INTERVALS ? ends : nullptr, scale);
      team.buffer(POSTERIORS)[at] = joint.log;
      if (INTERVALS) {
        team.buffer(MEAN_DERIVATIVES)[at] = joint.mean_derivative;
        team.buffer(SD_DERIVATIVES)[at] = joint.sd_derivative;
      }
      if (BOUNDS) {
        Joint within_bounds = log_joint(mixture, k, row, log_weight, inverse, z, sd, team.job->bounds, scale);
        team.buffer(BOUND_POSTERIORS)[at] = within_bounds.log;
        team.buffer(BOUND_MEAN_DERIVATIVES)[at] = within_bounds.mean_derivative;
        team.buffer(BOUND_SD_DERIVATIVES)[at] = within_bounds.sd_derivative;
      }
    }
    if (energy) {
      float density = exp_nonpositive(z * z * -0.5f), cdf = centred_cdf(0.0f - z);
      team.buffer(DISTANCES)[at] = fmaf(SQRT_2_OVER_PI * sd, density, (mean - y) * cdf);
      team.buffer(DENSITIES)[at] = density;
      team.buffer(CDFS)[at] = cdf;
    }
  });
#if CACHED_PAIRS
  if (energy) {
    const int even = TERMS + TERMS % 2;
    for_each_row(even / 2 * (even - 1), rows, [&](int number, int row) {
      int a = number / (even - 1), b = number % (even - 1);
      int low = b >= a ? a : even - 1 - a, high = b >= a ? b + 1 : even - 1 - b;
      if (high >= TERMS) return;
      float sd = mixture.sd(high, row), other = mixture.sd(low, row);
      Pair pair = pair_terms(mixture.mean(high, row), sd * sd, mixture.mean(low, row), other * other);
      int at = element(high * (high - 1) / 2 + low, row), pair_count = TERMS * (TERMS - 1) / 2 * ROW_STRIDE;
      team.buffer(PAIR_CACHE)[at] = pair.distance;
      team.buffer(PAIR_CACHE)[pair_count + at] = pair.cdf;
      team.buffer(PAIR_CACHE)[2 * pair_count + at] = pair.density;
    });
  }
#endif
  sync_block();
}

// Weighted sums over all components of the pair terms: E|X - X'|, cdf, density over sd.
DEVICE void pair_sums(const Team& team, Rows rows) {
  Mixture mixture = {team};
  for_each_row(TERMS, rows, [&](int k, int row) {
    int at = element(k, row);
    float weight = mixture.weight(k, row), sd = mixture.sd(k, row);
    float distance = weight * sd * TWO_OVER_SQRT_PI, cdf = 0.0f, density = weight * team.buffer(INVERSE_SDS)[at] * FRAC_1_SQRT_2;
#if !CACHED_PAIRS
    float mean = mixture.mean(k, row), variance = sd * sd;
#endif
#pragma unroll 3
    for (int number = 0; number < TERMS - 1; ++number) {
      const int other = number + (number >= k);
      float other_weight = mixture.weight(other, row);
#if CACHED_PAIRS
      int high = other > k ? other : k, low = other > k ? k : other;
      int pair_at = element(high * (high - 1) / 2 + low, row), pair_count = TERMS * (TERMS - 1) / 2 * ROW_STRIDE;
      const float* numbers = team.buffer(PAIR_CACHE);
      float pair_cdf = numbers[pair_count + pair_at];
      Pair pair = {numbers[pair_at], other > k ? -pair_cdf : pair_cdf, numbers[2 * pair_count + pair_at]};
#else
      float other_sd = mixture.sd(other, row);
      Pair pair = pair_terms(mean, variance, mixture.mean(other, row), other_sd * other_sd);
#endif
      distance = fmaf(pair.distance, other_weight, distance);
      cdf = fmaf(pair.cdf, other_weight, cdf);
      density = fmaf(pair.density, other_weight, density);
    }
    team.buffer(PAIR_DISTANCES)[at] = distance;
    team.buffer(PAIR_CDFS)[at] = cdf;
    team.buffer(PAIR_DENSITIES)[at] = density;
  });
}

// Log-sum-exp of a row's log joints: their maximum, and exp(log joint - maximum) of each.
DEVICE void scale_joint(const Team& team, long joints, long relative, long row_max, int k, int row) {
  float max_joint = -INFINITE;
  for (int other = 0; other < TERMS; ++other) max_joint = max_float(team.buffer(joints)[element(other, row)], max_joint);
  team.buffer(relative)[element(k, row)] = exp_nonpositive(team.buffer(joints)[element(k, row)] - max_joint);
  if (k == 0) team.buffer(row_max)[row] = max_joint;
}

DEVICE float joint_sum(const Team& team, long relative, int row) {
  float sum = 0.0f;
  for (int k = 0; k < TERMS; ++k) sum = sum + team.buffer(relative)[element(k, row)];
  return sum;
}

DEVICE float log_score(const Team& team, long relative, long row_max, int row) {
  return HALF_LN_2_PI - team.buffer(row_max)[row] - log_float(joint_sum(team, relative, row));
}

// Terms of the scores of all rows; only those of the requested scores.
NOINLINE void mixture_terms(Team team, Rows rows, bool log, bool energy) {
  component_terms(team, rows, log, energy);
  if (log)
    for_each_row(TERMS, rows, [&](int k, int row) {
      scale_joint(team, POSTERIORS, SCALED_JOINTS, ROW_MAX, k, row);
      if (BOUNDS) scale_joint(team, BOUND_POSTERIORS, BOUND_SCALED_JOINTS, ROW_BOUND_MAX, k, row);
    });
  if (energy) pair_sums(team, rows);
  sync_block();
}

// Both scores of a row; 0 where one is not requested.
DEVICE void row_scores(const Team& team, int row, bool log, bool energy) {
  float value = 0.0f;
  if (energy)
    for (int k = 0; k < TERMS; ++k) {
      int at = element(k, row);
      value = fmaf(fmaf(team.buffer(PAIR_DISTANCES)[at], -0.5f, team.buffer(DISTANCES)[at]), team.buffer(MIXTURE_WEIGHTS)[at], value);
    }
  team.buffer(ROW_ENERGY_SCORE)[row] = value;
  team.buffer(ROW_LOG_SCORE)[row] = log ? log_score(team, SCALED_JOINTS, ROW_MAX, row) : 0.0f;
  if (BOUNDS && log) team.buffer(ROW_BOUND_LOG_SCORE)[row] = log_score(team, BOUND_SCALED_JOINTS, ROW_BOUND_MAX, row);
}

// Factor of the energy score: 0 for censored rows, whose interval is unbounded.
DEVICE float mask_energy(const Team& team, int row, float factor) {
  if (!INTERVALS) return factor;
  return team.buffer(ROW_UPPER)[row] - team.buffer(ROW_LOWER)[row] > 3.402823466e38f ? 0.0f : factor;
}

#if HEAD == 0
// Gradient of the loss with respect to the raw outputs.
DEVICE void loss_gradient(const Team& team, Rows rows, bool log, bool energy) {
  for_each_row(TERMS, rows, [&](int k, int row) {
    int at = element(k, row);
    float row_weight = team.buffer(ROW_WEIGHTS)[row], logit = 0.0f, mean = 0.0f, sd = 0.0f;
    float own_sd = k < COMPONENTS ? team.buffer(SDS)[at] : 1e-6f;
    if (k == 0) row_scores(team, row, log, energy);
    if (log) {
      float factor = row_weight * team.job->eta, z = team.buffer(ZS)[at];
      float posterior = team.buffer(SCALED_JOINTS)[at] * fast_divide(1.0f, joint_sum(team, SCALED_JOINTS, row));
      float mean_derivative = INTERVALS ? team.buffer(MEAN_DERIVATIVES)[at] : z;
      float sd_derivative = INTERVALS ? team.buffer(SD_DERIVATIVES)[at] : neg_mul_add(z, z, 1.0f);
      float scaled = factor * posterior * team.buffer(INVERSE_SDS)[at];
      logit = factor * (team.buffer(MIXTURE_WEIGHTS)[at] - posterior);
      mean = 0.0f - scaled * mean_derivative;
      sd = scaled * sd_derivative;
    }
    if (energy) {
      float factor = mask_energy(team, row, row_weight * (1.0f - team.job->eta));
      float weight = factor * team.buffer(MIXTURE_WEIGHTS)[at], average = 0.0f;
      for (int other = 0; other < TERMS; ++other) {
        int there = element(other, row);
        average = fmaf(team.buffer(DISTANCES)[there] - team.buffer(PAIR_DISTANCES)[there], team.buffer(MIXTURE_WEIGHTS)[there], average);
      }
      float derivative = team.buffer(DISTANCES)[at] - team.buffer(PAIR_DISTANCES)[at];
      float cdf = team.buffer(CDFS)[at] - team.buffer(PAIR_CDFS)[at];
      float density = neg_mul_add(team.buffer(PAIR_DENSITIES)[at], own_sd, team.buffer(DENSITIES)[at]);
      logit = fmaf(weight, derivative - average, logit);
      mean = fmaf(weight, cdf, mean);
      sd = fmaf(weight * SQRT_2_OVER_PI, density, sd);
    }
    if (BOUNDS) {
      float bound_logit = 0.0f, bound_mean = 0.0f, bound_sd = 0.0f;
      if (log) {
        float factor = 0.0f - row_weight * team.job->eta;
        float posterior = team.buffer(BOUND_SCALED_JOINTS)[at] * (1.0f / joint_sum(team, BOUND_SCALED_JOINTS, row));
        float scaled = factor * posterior * team.buffer(INVERSE_SDS)[at];
        bound_logit = factor * (team.buffer(MIXTURE_WEIGHTS)[at] - posterior);
        bound_mean = 0.0f - scaled * team.buffer(BOUND_MEAN_DERIVATIVES)[at];
        bound_sd = scaled * team.buffer(BOUND_SD_DERIVATIVES)[at];
      }
      logit = logit + bound_logit;
      mean = mean + bound_mean;
      sd = sd + bound_sd;
    }
    team.buffer(POSTERIORS)[at] = logit;
    if (k >= COMPONENTS) return;
    team.buffer(MEAN_GRADIENTS)[at] = HAS_MEAN_BOUND ? mean * team.buffer(MEAN_GRADIENTS)[at] : mean;
    team.buffer(SD_GRADIENTS)[at] = sd * team.buffer(SD_GRADIENTS)[at];
  });
}

// Adds the loss of a row to the sum of its lane.
DEVICE float row_loss(const Team& team, int row, float sum) {
  float row_weight = team.buffer(ROW_WEIGHTS)[row], log_factor = row_weight * team.job->eta;
  float energy_factor = mask_energy(team, row, row_weight * (1.0f - team.job->eta));
  sum = fmaf(team.buffer(ROW_LOG_SCORE)[row], log_factor, fmaf(team.buffer(ROW_ENERGY_SCORE)[row], energy_factor, sum));
  if (BOUNDS && team.job->eta > 0.0f) sum = neg_mul_add(team.buffer(ROW_BOUND_LOG_SCORE)[row], log_factor, sum);
  return sum;
}

DEVICE void loss(const Team& team, Rows rows) {
  bool log = team.job->eta > 0.0f, energy = team.job->eta < 1.0f;
  head_forward(team, rows);
  mixture_terms(team, rows, log, energy);
  loss_gradient(team, rows, log, energy);
}
#elif HEAD == 1
// beta-NLL: the score of each row and its gradient.
DEVICE void loss(const Team& team, Rows rows) {
  head_forward(team, rows);
  for_each_row(1, rows, [&](int, int row) {
    float mean = team.buffer(MEANS)[row], sd = team.buffer(SDS)[row], inverse = 1.0f / sd;
    float z = (team.buffer(ROW_Y)[row] - mean) * inverse, log_sd = log_float(sd);
    float weight = exp_float(log_sd * (2.0f * team.job->beta)), scaled = team.buffer(ROW_WEIGHTS)[row] * weight * inverse;
    float score = fmaf(z * z, 0.5f, log_sd + HALF_LN_2_PI), mean_derivative = z, sd_derivative = neg_mul_add(z, z, 1.0f);
    if (INTERVALS) {
      float lower = team.buffer(ROW_LOWER)[row], upper = team.buffer(ROW_UPPER)[row];
      if (upper > lower) {
        Truncated within = truncated((lower - mean) * inverse, (upper - mean) * inverse, (upper - lower) * inverse);
        score = 0.0f - within.log_mass;
        mean_derivative = within.mean;
        sd_derivative = 0.0f - within.excess;
      }
    }
    team.buffer(MEAN_GRADIENTS)[row] = 0.0f - scaled * mean_derivative;
    team.buffer(SD_GRADIENTS)[row] = scaled * sd_derivative * team.buffer(SD_GRADIENTS)[row];
    team.buffer(ROW_LOG_SCORE)[row] = weight * score;
  });
  sync_block();
}

DEVICE float row_loss(const Team& team, int row, float sum) {
  return fmaf(team.buffer(ROW_LOG_SCORE)[row], team.buffer(ROW_WEIGHTS)[row], sum);
}
#endif

// Logarithmic score with all sds multiplied by a factor.
DEVICE float scaled_log_score(const Mixture& mixture, int row, const float* ends, Scale scale) {
  float max_joint = -INFINITE, sum = 0.0f;
  for (int pass = 0; pass < 2; ++pass)
    for (int k = 0; k < TERMS; ++k) {
      int at = element(k, row);
      float joint = log_joint(mixture, k, row, mixture.team.buffer(LOG_WEIGHTS)[at], mixture.team.buffer(INVERSE_SDS)[at],
                             mixture.team.buffer(ZS)[at], mixture.sd(k, row), ends, scale).log;
      if (pass == 0)
        max_joint = max_float(joint, max_joint);
      else
        sum = sum + exp_nonpositive(joint - max_joint);
    }
  return scale.constant - max_joint - log_float(sum);
}

// Validation scores of each row, which select the checkpoint.
DEVICE void score_rows(const Team& team, Rows rows) {
  head_forward(team, rows);
  mixture_terms(team, rows, true, true);
  for_each_row(1, rows, [&](int, int row) { row_scores(team, row, true, true); });
  for_each_row(CALIBRATED ? SD_FACTORS : 0, rows, [&](int number, int row) {
    Mixture mixture = {team};
    Scale scale = {SD_FACTOR_EXPONENTS(number), SD_FACTOR_CONSTANTS(number), SD_FACTOR_INVERSES(number)};
    float ends[2] = {INTERVALS ? team.buffer(ROW_LOWER)[row] : 0.0f, INTERVALS ? team.buffer(ROW_UPPER)[row] : 0.0f};
    float score = scaled_log_score(mixture, row, INTERVALS ? ends : nullptr, scale);
    if (BOUNDS) score = score - scaled_log_score(mixture, row, team.job->bounds, scale);
    team.buffer(ROW_CALIBRATED)[number * ROW_STRIDE + row] = score;
  });
  sync_block();
}

// Add the weighted logarithmic or energy score of a row to the sum of its lane.
DEVICE float weighted_log_score(const Team& team, int row, float sum) {
  float log = team.buffer(ROW_LOG_SCORE)[row];
  if (BOUNDS) log = log - team.buffer(ROW_BOUND_LOG_SCORE)[row];
  return fmaf(log, team.buffer(ROW_WEIGHTS)[row], sum);
}
DEVICE float weighted_energy_score(const Team& team, int row, float sum) {
  return fmaf(team.buffer(ROW_ENERGY_SCORE)[row], mask_energy(team, row, team.buffer(ROW_WEIGHTS)[row]), sum);
}
