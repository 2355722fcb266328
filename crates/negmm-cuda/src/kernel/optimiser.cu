// What turns gradients into steps: Adam, schedule-free Adam, Muon. Moments lie in the job's memory, one after the other.

#define TINY 1e-30f
#define EPSILON 1e-8f

// act(place of four neighbours, which of them are weights or biases, which of them weight decay shrinks, layer) for all.
struct Four { bool real[4], decays[4]; };

template <class Act> DEVICE void each_four(Act act) {
#if LAYERS <= 4
#pragma unroll
#endif
  for (int layer = 0; layer < LAYERS; ++layer)
    each(UNITS(layer + 1) * (STRIDES(layer) / 4), [&](int item) {
      int unit = item / (STRIDES(layer) / 4), input = item % (STRIDES(layer) / 4) * 4;
      Four four;
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        four.real[j] = input + j <= UNITS(layer);
        four.decays[j] = input + j < UNITS(layer);
      }
      act(STARTS(layer) + unit * STRIDES(layer) + input, four, layer);
    });
  each(STEM_PARAMETERS / 4, [&](int item) {
    Four four;
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      four.real[j] = true;
      four.decays[j] = stem_decays(item * 4 + j);
    }
    act(item * 4, four, -1);
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

#if OPTIMISER != 2
DEVICE void orthogonal_steps(const Team&) {}
DEVICE float orthogonal_step(const Team&, int, int, float weight) { return weight; }
#endif

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
  each_four([&](int at, const Four& four, int) {
    float g[4], v[4], z[4], x[4], w[4];
    load(gradient + at, g);
    load(second + at, v);
    load(steps + at, z);
    load(average + at, x);
    load(weights + at, w);
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
  each_four([&](int at, const Four& four, int layer) {
    float g[4], m[4], v[4], w[4], x[4];
    load(gradient + at, g);
    load(first + at, m);
    load(second + at, v);
    load(weights + at, w);
    if (averages) load(job.averaged + at, x);
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      if (!four.real[j]) continue;
      if (OPTIMISER == 2 && four.decays[j] && layer >= 0 && layer + 1 < LAYERS) {
        w[j] = orthogonal_step(team, layer, at + j, w[j]);
      } else {
        m[j] = fmaf(m[j], (float)0.9, (float)(1.0 - 0.9) * g[j]);
        v[j] = fmaf(v[j], (float)0.999, (float)(1.0 - 0.999) * g[j] * g[j]);
        m[j] = fabsf(m[j]) > TINY ? m[j] : 0.0f;
        v[j] = v[j] > TINY ? v[j] : 0.0f;
        w[j] = neg_mul_add(m[j] / fmaf(sqrtf(v[j]), correction, EPSILON), size, w[j]);
      }
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
