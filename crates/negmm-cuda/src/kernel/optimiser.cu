// What turns gradients into steps: Adam, schedule-free Adam, Muon. Moments lie in the job's memory, one after the other.

#define TINY 1e-30f
#define EPSILON 1e-8f
// Beyond this a ratio may be less than a `quotient` can be.
#define LARGEST_BELOW 16777216.0f

#if OPTIMISER != 2
// Muon is not there.
struct Orthogonal {
  DEVICE bool steps() const { return false; }
  DEVICE void update(int, float (&)[4]) const {}
  float size;
};
DEVICE Orthogonal orthogonal_of(const Team&, int) { return {0.0f}; }
DEVICE void orthogonal_steps(const Team&) {}
#endif

// Where the room is in memory numbers come from far: so many fours are loaded before the first is needed.
#define FOURS_AHEAD (SHARED ? 1 : 4)

// load(place of four neighbours, what Muon knows of their layer, held), then act(place, held, which of them are weights or biases, which
// of them weight decay shrinks, what Muon knows) for all.
struct Four { bool real[4], decays[4]; };

template <class Held, class Load, class Act> DEVICE void each_four(const Team& team, Load load, Act act) {
#if LAYERS <= 4 && SHARED
#pragma unroll
#else
#pragma unroll 1
#endif
  for (int layer = 0; layer < LAYERS; ++layer) {
    const int start = STARTS(layer), fours = STRIDES(layer) / 4, inputs = UNITS(layer);
    const Orthogonal orthogonal = orthogonal_of(team, layer);
    each_ahead<FOURS_AHEAD, Held>(UNITS(layer + 1) * fours, [&](int item, Held& held) { load(start + item * 4, orthogonal, held); },
      [&](int item, Held& held) {
      int input = item % fours * 4;
      Four four;
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        four.real[j] = input + j <= inputs;
        four.decays[j] = input + j < inputs;
      }
      act(start + item * 4, held, four, orthogonal);
    });
  }
  const Orthogonal none = {};
  each_ahead<1, Held>(STEM_PARAMETERS / 4, [&](int item, Held& held) { load(item * 4, none, held); },
    [&](int item, Held& held) {
    Four four;
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      four.real[j] = true;
      four.decays[j] = stem_decays(item * 4 + j);
    }
    act(item * 4, held, four, none);
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

// First moments, four of them, over what second moments make of them.
DEVICE void ratios(const float (&first)[4], const float (&second)[4], float correction, float (&ratio)[4]) {
  float below[4];
  bool usual = true;
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    below[j] = fmaf(root(second[j]), correction, EPSILON);
    usual = usual && below[j] < LARGEST_BELOW;
  }
#pragma unroll
  for (int j = 0; j < 4; ++j) ratio[j] = quotient(first[j], below[j]);
  if (!usual) {
#pragma unroll
    for (int j = 0; j < 4; ++j) ratio[j] = first[j] / below[j];
  }
}

// The numbers of the step at hand, as if it will be taken.
DEVICE void reckon(const Team& team) {
  const Job& job = *team.job;
  State& state = *team.state();
  double rate = job.learning_rate * (job.factors ? job.factors[state.step] : 1.0);
#if OPTIMISER == 1
  double total = state.rate_squares + rate * rate;
  float share = total > 0.0 ? (float)(rate * rate / total) : 0.0f;
  state.size = (float)rate;
  state.correction = (float)(1.0 / sqrt(1.0 - state.powers[1] * 0.999));
  state.keep = 1.0f - share;
#else
  state.size = (float)(rate / (1.0 - state.powers[0] * 0.9));
  state.correction = (float)(1.0 / sqrt(1.0 - state.powers[1] * 0.999));
  double taken = (double)(state.taken_ever + 1), so_far = taken / (taken + 10.0);
  state.keep = (float)(job.averaging < so_far ? job.averaging : so_far);
#endif
  state.rate = rate;
  double shrink = 1.0 - rate * job.weight_decay;
  state.shrink = (float)(shrink > 0.0 ? shrink : 0.0);
  state.bad = 0;
}

// After a step was taken.
DEVICE void remember(State& state) {
  state.powers[0] *= 0.9;
  state.powers[1] *= 0.999;
  state.rate_squares += state.rate * state.rate;
  state.taken_ever += 1;
}

DEVICE void take_step(const Team& team) {
  const Job& job = *team.job;
  const State& state = *team.state();
  const float size = state.size, correction = state.correction, keep = state.keep, shrink = state.shrink;
  float *weights = team.weights(), *gradient = team.gradient();
#if OPTIMISER == 1
  float *steps = job.memory, *second = steps + PARAMETERS, *average = job.averaged;
  struct Held { float g[4], v[4], z[4], x[4], w[4]; };
  each_four<Held>(team, [&](int at, const Orthogonal&, Held& held) {
    load(gradient + at, held.g);
    load(second + at, held.v);
    load(steps + at, held.z);
    load(average + at, held.x);
    load(weights + at, held.w);
  },
    [&](int at, Held& held, const Four& four, const Orthogonal&) {
    auto& [g, v, z, x, w] = held;
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      if (!four.real[j]) continue;
      v[j] = fmaf(v[j], (float)0.999, (float)(1.0 - 0.999) * g[j] * g[j]);
      v[j] = v[j] > TINY ? v[j] : 0.0f;
      z[j] = neg_mul_add(g[j] / fmaf(sqrtf(v[j]), correction, EPSILON), size, z[j]);
      if (four.decays[j] && shrink != 1.0f) z[j] = z[j] * shrink;
      x[j] = fmaf(x[j], keep, z[j] * (1.0f - keep));
      w[j] = fmaf(x[j], (float)0.9, z[j] * (float)(1.0 - 0.9));
    }
    store(second + at, v);
    store(steps + at, z);
    store(average + at, x);
    store(weights + at, w);
  });
#else
  float *first = job.memory, *second = first + PARAMETERS;
  const bool averages = job.averages;
  orthogonal_steps(team);
  struct Held { float g[4], m[4], v[4], w[4], x[4], update[4]; };
  each_four<Held>(team, [&](int at, const Orthogonal& orthogonal, Held& held) {
    load(gradient + at, held.g);
    load(first + at, held.m);
    load(second + at, held.v);
    load(weights + at, held.w);
    if (averages) load(job.averaged + at, held.x);
    if (orthogonal.steps()) orthogonal.update(at, held.update);
  },
    [&](int at, Held& held, const Four& four, const Orthogonal& orthogonal) {
    auto& [g, m, v, w, x, update] = held;
    auto by_moments = [&](int j) { return four.real[j] && !(orthogonal.steps() && four.decays[j]); };
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      if (!by_moments(j)) continue;
      m[j] = fmaf(m[j], (float)0.9, (float)(1.0 - 0.9) * g[j]);
      v[j] = fmaf(v[j], (float)0.999, (float)(1.0 - 0.999) * g[j] * g[j]);
      m[j] = fabsf(m[j]) > TINY ? m[j] : 0.0f;
      v[j] = v[j] > TINY ? v[j] : 0.0f;
    }
    float ratio[4];
    ratios(m, v, correction, ratio);
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      if (!four.real[j]) continue;
      w[j] = by_moments(j) ? neg_mul_add(ratio[j], size, w[j]) : neg_mul_add(update[j], orthogonal.size, w[j]);
      if (four.decays[j] && shrink != 1.0f) w[j] = w[j] * shrink;
      if (averages) x[j] = fmaf(x[j], keep, w[j] * (1.0f - keep));
    }
    store(first + at, m);
    store(second + at, v);
    store(weights + at, w);
    if (averages) store(job.averaged + at, x);
  });
#endif
}
