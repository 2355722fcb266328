// What turns gradients into steps: Adam, schedule-free Adam, Muon. Moments lie in the job's memory, one after the other.

#define TINY 1e-30f
#define EPSILON 1e-8f

// act(place, whether weight decay shrinks it) for every weight and bias.
template <class Act> DEVICE void each_parameter(Act act) {
#if LAYERS <= 4
#pragma unroll
#endif
  for (int layer = 0; layer < LAYERS; ++layer)
    each(UNITS(layer + 1) * STRIDES(layer), [&](int item) {
      int input = item % STRIDES(layer);
      if (input <= UNITS(layer)) act(STARTS(layer) + item, input < UNITS(layer), layer);
    });
  each(STEM_PARAMETERS, [&](int place) { act(place, stem_decays(place), -1); });
}

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
  each_parameter([&](int at, bool decays, int) {
    float g = gradient[at];
    float v = fmaf(second[at], (float)0.999, (float)(1.0 - 0.999) * g * g);
    v = v > TINY ? v : 0.0f;
    second[at] = v;
    float z = neg_mul_add(g / fmaf(sqrtf(v), correction, EPSILON), size, steps[at]);
    if (decays && shrink != 1.0f) z = z * shrink;
    steps[at] = z;
    float x = fmaf(average[at], keep, z * (1.0f - keep));
    average[at] = x;
    weights[at] = fmaf(x, (float)0.9, z * (float)(1.0 - 0.9));
  });
#else
  float *first = job.memory, *second = first + PARAMETERS;
  orthogonal_steps(team);
  each_parameter([&](int at, bool decays, int layer) {
    float weight = weights[at];
    if (OPTIMISER == 2 && decays && layer >= 0 && layer + 1 < LAYERS) {
      weight = orthogonal_step(team, layer, at, weight);
    } else {
      float g = gradient[at];
      float m = fmaf(first[at], (float)0.9, (float)(1.0 - 0.9) * g);
      float v = fmaf(second[at], (float)0.999, (float)(1.0 - 0.999) * g * g);
      m = fabsf(m) > TINY ? m : 0.0f;
      v = v > TINY ? v : 0.0f;
      first[at] = m;
      second[at] = v;
      weight = neg_mul_add(m / fmaf(sqrtf(v), correction, EPSILON), size, weight);
    }
    if (decays && shrink != 1.0f) weight = weight * shrink;
    weights[at] = weight;
    if (job.averages) job.averaged[at] = fmaf(job.averaged[at], keep, weight * (1.0f - keep));
  });
#endif
}
