// Optimizers: Adam, schedule-free Adam, Muon. Moments lie in the job's optimizer state, one array after the other.

#define DENORMAL_CUTOFF 1e-30f
#define EPSILON 1e-8f
// Largest denominator for which `fast_divide` is valid.
#define MAX_DENOMINATOR 16777216.0f

#if OPTIMIZER != 2
// Placeholder where the optimizer is not Muon.
struct MuonUpdate {
  DEVICE bool active() const { return false; }
  DEVICE void update(int, float (&)[4]) const {}
  float step_size;
};
DEVICE MuonUpdate muon_update(const Team&, int) { return {0.0f}; }
DEVICE void orthogonalize(const Team&) {}
#endif

// float4 vectors to prefetch: hides the latency of global memory.
#define VECTOR_PREFETCH (SHARED_WORKSPACE ? 1 : 4)

// For every vector of four parameters: load(offset, Muon update of the layer, loaded), then act(offset, loaded, mask, Muon update). The
// mask says which of the four are parameters rather than padding, and to which weight decay applies.
struct VectorMask { bool is_parameter[4], decays[4]; };

template <class Loaded, class Load, class Act> DEVICE void for_each_vector(const Team& team, Load load, Act act) {
#if LAYERS <= 4 && SHARED_WORKSPACE
#pragma unroll
#else
#pragma unroll 1
#endif
  for (int layer = 0; layer < LAYERS; ++layer) {
    const int start = STARTS(layer), fours = STRIDES(layer) / 4, inputs = UNITS(layer);
    const MuonUpdate muon = muon_update(team, layer);
    for_each_prefetched<VECTOR_PREFETCH, Loaded>(UNITS(layer + 1) * fours,
      [&](int item, Loaded& loaded) { load(start + item * 4, muon, loaded); },
      [&](int item, Loaded& loaded) {
      int input = item % fours * 4;
      VectorMask four;
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        four.is_parameter[j] = input + j <= inputs;
        four.decays[j] = input + j < inputs;
      }
      act(start + item * 4, loaded, four, muon);
    });
  }
  const MuonUpdate none = {};
  for_each_prefetched<1, Loaded>(STEM_PARAMETERS / 4, [&](int item, Loaded& loaded) { load(item * 4, none, loaded); },
    [&](int item, Loaded& loaded) {
    VectorMask four;
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      four.is_parameter[j] = true;
      four.decays[j] = stem_decays(item * 4 + j);
    }
    act(item * 4, loaded, four, none);
  });
}

DEVICE void load(const float* from, float (&four)[4]) {
  float4 packed = load4(from);
  four[0] = packed.x;
  four[1] = packed.y;
  four[2] = packed.z;
  four[3] = packed.w;
}
DEVICE void store(float* to, const float (&four)[4]) { store4(to, make_float4(four[0], four[1], four[2], four[3])); }

// Adam's ratio m / (sqrt(v) * correction + epsilon) of four parameters.
DEVICE void ratios(const float (&first)[4], const float (&second)[4], float correction, float (&ratio)[4]) {
  float denominator[4];
  bool in_range = true;
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    denominator[j] = fmaf(fast_sqrt(second[j]), correction, EPSILON);
    in_range = in_range && denominator[j] < MAX_DENOMINATOR;
  }
#pragma unroll
  for (int j = 0; j < 4; ++j) ratio[j] = fast_divide(first[j], denominator[j]);
  if (!in_range) {
#pragma unroll
    for (int j = 0; j < 4; ++j) ratio[j] = first[j] / denominator[j];
  }
}

// Scalars of the current step: step size, bias correction, averaging and weight decay.
DEVICE void prepare_step(const Team& team) {
  const Job& job = *team.job;
  TrainingState& state = *team.state();
  double rate = job.learning_rate * (job.rate_factors ? job.rate_factors[state.step] : 1.0);
#if OPTIMIZER == 1
  double total = state.sum_squared_rates + rate * rate;
  float row_weight = total > 0.0 ? (float)(rate * rate / total) : 0.0f;
  state.step_size = (float)rate;
  state.correction = (float)(1.0 / sqrt(1.0 - state.beta_powers[1] * 0.999));
  state.average_decay = 1.0f - row_weight;
#else
  state.step_size = (float)(rate / (1.0 - state.beta_powers[0] * 0.9));
  state.correction = (float)(1.0 / sqrt(1.0 - state.beta_powers[1] * 0.999));
  double steps = (double)(state.total_steps + 1), so_far = steps / (steps + 10.0);
  state.average_decay = (float)(job.ema_decay < so_far ? job.ema_decay : so_far);
#endif
  state.rate = rate;
  double decay_factor = 1.0 - rate * job.weight_decay;
  state.decay_factor = (float)(decay_factor > 0.0 ? decay_factor : 0.0);
  state.nonfinite = 0;
}

// Advances the optimizer's scalars after a step that was applied.
DEVICE void advance_moments(TrainingState& state) {
  state.beta_powers[0] *= 0.9;
  state.beta_powers[1] *= 0.999;
  state.sum_squared_rates += state.rate * state.rate;
  state.total_steps += 1;
}

DEVICE void apply_step(const Team& team) {
  const Job& job = *team.job;
  const TrainingState& state = *team.state();
  const float step_size = state.step_size, correction = state.correction;
  const float average_decay = state.average_decay, decay_factor = state.decay_factor;
  float *weights = team.weights(), *gradient = team.gradient();
#if OPTIMIZER == 1
  float *iterates = job.optimizer_state, *second = iterates + PARAMETERS, *average = job.averaged_weights;
  struct Loaded { float g[4], v[4], z[4], x[4], w[4]; };
  for_each_vector<Loaded>(team, [&](int at, const MuonUpdate&, Loaded& loaded) {
    load(gradient + at, loaded.g);
    load(second + at, loaded.v);
    load(iterates + at, loaded.z);
    load(average + at, loaded.x);
    load(weights + at, loaded.w);
  },
    [&](int at, Loaded& loaded, const VectorMask& four, const MuonUpdate&) {
    auto& [g, v, z, x, w] = loaded;
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      if (!four.is_parameter[j]) continue;
      v[j] = fmaf(v[j], (float)0.999, (float)(1.0 - 0.999) * g[j] * g[j]);
      v[j] = v[j] > DENORMAL_CUTOFF ? v[j] : 0.0f;
      z[j] = neg_mul_add(g[j] / fmaf(sqrtf(v[j]), correction, EPSILON), step_size, z[j]);
      if (four.decays[j] && decay_factor != 1.0f) z[j] = z[j] * decay_factor;
      x[j] = fmaf(x[j], average_decay, z[j] * (1.0f - average_decay));
      w[j] = fmaf(x[j], (float)0.9, z[j] * (float)(1.0 - 0.9));
    }
    store(second + at, v);
    store(iterates + at, z);
    store(average + at, x);
    store(weights + at, w);
  });
#else
  float *first = job.optimizer_state, *second = first + PARAMETERS;
  const bool has_average = job.has_average;
  orthogonalize(team);
  struct Loaded { float g[4], m[4], v[4], w[4], x[4], update[4]; };
  for_each_vector<Loaded>(team, [&](int at, const MuonUpdate& muon, Loaded& loaded) {
    load(gradient + at, loaded.g);
    load(first + at, loaded.m);
    load(second + at, loaded.v);
    load(weights + at, loaded.w);
    if (has_average) load(job.averaged_weights + at, loaded.x);
    if (muon.active()) muon.update(at, loaded.update);
  },
    [&](int at, Loaded& loaded, const VectorMask& four, const MuonUpdate& muon) {
    auto& [g, m, v, w, x, update] = loaded;
    auto uses_adam = [&](int j) { return four.is_parameter[j] && !(muon.active() && four.decays[j]); };
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      if (!uses_adam(j)) continue;
      m[j] = fmaf(m[j], (float)0.9, (float)(1.0 - 0.9) * g[j]);
      v[j] = fmaf(v[j], (float)0.999, (float)(1.0 - 0.999) * g[j] * g[j]);
      m[j] = fabsf(m[j]) > DENORMAL_CUTOFF ? m[j] : 0.0f;
      v[j] = v[j] > DENORMAL_CUTOFF ? v[j] : 0.0f;
    }
    float ratio[4];
    ratios(m, v, correction, ratio);
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      if (!four.is_parameter[j]) continue;
      w[j] = uses_adam(j) ? neg_mul_add(ratio[j], step_size, w[j]) : neg_mul_add(update[j], muon.step_size, w[j]);
      if (four.decays[j] && decay_factor != 1.0f) w[j] = w[j] * decay_factor;
      if (has_average) x[j] = fmaf(x[j], average_decay, w[j] * (1.0f - average_decay));
    }
    store(first + at, m);
    store(second + at, v);
    store(weights + at, w);
    if (has_average) store(job.averaged_weights + at, x);
  });
#endif
}
