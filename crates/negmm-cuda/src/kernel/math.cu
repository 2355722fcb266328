// Elementary functions in f32, bit-identical to one SIMD lane of the CPU library: the same polynomials with the same rounding. Products
// and sums are fused only where `fmaf` is written (NVRTC runs with --fmad=false).

DEVICE float max_float(float a, float b) { return a > b ? a : b; }
DEVICE float min_float(float a, float b) { return a < b ? a : b; }
DEVICE float neg_mul_add(float a, float b, float c) { return fmaf(-a, b, c); }
DEVICE bool is_finite(float x) { return fabsf(x) <= 3.402823466e38f; }
DEVICE bool is_finite_double(double x) { return fabs(x) <= 1.7976931348623157e308; }

// Correctly rounded division and square root without the slow-path branch that the compiler emits for denormals, zero and overflow; that
// branch keeps later instructions from being issued early. The arithmetic is the compiler's own fast path. Valid ranges:
// a / b for b in [2^-27, 2^24] and |a| zero or in [2^-100, 2^64], or any smaller a where b is 1; sqrt of zero or of x >= 2^-100.
#ifdef __CUDACC_RTC__
DEVICE float fast_divide(float a, float b) {
  float inverse;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(b));
  inverse = fmaf(inverse, fmaf(-b, inverse, 1.0f), inverse);
  float approximate = a * inverse;
  return copysignf(fmaf(inverse, fmaf(-b, approximate, a), approximate), a);
}
DEVICE float fast_sqrt(float x) {
  float inverse;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(x));
  float approximate = x * inverse;
  return x > 0.0f ? fmaf(fmaf(-approximate, approximate, x), 0.5f * inverse, approximate) : 0.0f;
}
#else
DEVICE float fast_divide(float a, float b) { return a / b; }
DEVICE float fast_sqrt(float x) { return sqrtf(x); }
#endif

#define INFINITE bits_to_float(0x7f800000u)
#define HALF_LN_2_PI 0.9189385f
#define SQRT_2_OVER_PI 0.7978846f
#define TWO_OVER_SQRT_PI 1.12837916709551257390f
#define FRAC_1_SQRT_2 0.707106781186547524400f
#define LN_2_HIGH 0.6933594f
#define LN_2_LOW -2.1219444e-4f

// Polynomial by Horner's scheme; coefficients in ascending order of powers.
template <int N> DEVICE float horner(float x, const float (&coefficients)[N]) {
  float sum = coefficients[N - 1];
#pragma unroll
  for (int at = N - 2; at >= 0; --at) sum = fmaf(sum, x, coefficients[at]);
  return sum;
}

DEVICE float scaled(float x, float exponent) { return x * bits_to_float((u32)((int)exponent + 127) << 23); }

DEVICE float exp_unclamped(float x) {
  float n = rintf(x * 1.44269504088896340736f);
  float r = neg_mul_add(n, LN_2_HIGH, x);
  r = neg_mul_add(n, LN_2_LOW, r);
  float square = r * r;
  float low = fmaf(r, 0.16666573f, 0.5f);
  float high = fmaf(r, 0.008363869f, 0.0416665f);
  high = fmaf(square, 0.0013932267f, high);
  float tail = fmaf(square, high, low);
  return scaled(fmaf(square, tail, r + 1.0f), n);
}

DEVICE float exp_float(float x) {
  float power = exp_unclamped(min_float(max_float(x, -80.0f), 88.0f));
  return x > -80.0f ? power : 0.0f;
}

DEVICE float exp_nonpositive(float x) {
  float power = exp_unclamped(max_float(x, -27.0f));
  return x > -27.0f ? power : 0.0f;
}

DEVICE float log_float(float x) {
  u32 shifted = float_to_bits(x) + (0x3f800000u - 0x3f3504f3u);
  float mantissa = bits_to_float((shifted & 0x007fffffu) + 0x3f3504f3u);
  float exponent = (float)(((int)shifted >> 23) - 127);
  float t = mantissa - 1.0f, square = t * t;
  float tail = horner(t, {0.3333333f, -0.25000307f, 0.20001045f, -0.16641282f, 0.14214496f, -0.12998183f, 0.12622319f, -0.07902744f});
  float low = fmaf(exponent, LN_2_LOW, (square * t) * tail);
  low = fmaf(square, -0.5f, low);
  return fmaf(exponent, LN_2_HIGH, t + low);
}

DEVICE float softplus(float x, float& derivative) {
  float small = exp_nonpositive(0.0f - fabsf(x));
  float unit = small * horner(small, {1.0f, -0.49999893f, 0.3332971f, -0.24951616f, 0.19663274f, -0.15269667f, 0.105436236f,
                                      -0.05637361f, 0.019542526f, -0.003176057f});
  derivative = fast_divide(x > 0.0f ? 1.0f : small, 1.0f + small);
  return max_float(x, 0.0f) + unit;
}

DEVICE float sigmoid(float x) {
  float small = exp_nonpositive(0.0f - fabsf(x));
  return fast_divide(x > 0.0f ? 1.0f : small, 1.0f + small);
}

DEVICE float tanh_float(float x) {
  x = min_float(max_float(x, -9.0f), 9.0f);
  float square = x * x;
  float top = horner(square, {1.0f, 0.14025363f, 0.004328735f, 3.986411e-5f, 9.833163e-8f, 2.9541695e-11f});
  float bottom = horner(square, {1.0f, 0.4735869f, 0.028857762f, 4.8241924e-4f, 2.3871585e-6f, 2.4982656e-9f});
  return fast_divide(x * top, bottom);
}

DEVICE float sin_cos_turns(float t, float& cosine) {
  float r = t - rintf(t), square = r * r;
  float sine = horner(square, {6.2831855f, -41.3417f, 81.60513f, -76.703f, 42.025852f, -14.899578f, 3.23778f});
  cosine = horner(square, {1.0f, -19.739204f, 64.93912f, -85.45011f, 60.16743f, -25.966885f, 6.527706f});
  return r * sine;
}

DEVICE float centred_cdf(float w) {
  w = min_float(max_float(w, -5.6f), 5.6f);
  float square = w * w;
  float top = horner(square, {0.7978846f, 0.06528906f, 0.009634684f, 3.4156445e-4f, 1.7269547e-5f, 1.1003043e-7f, -1.6169079e-10f});
  float bottom = horner(square, {1.0f, 0.24849433f, 0.028490974f, 0.0019405542f, 8.288654e-5f, 2.0613716e-6f});
  return fast_divide(w * top, bottom);
}

DEVICE float mills_ratio(float x) {
  float inverse = 1.0f / (x + 3.5f);
  float t = neg_mul_add(inverse, 7.0f, 1.0f);
  return horner(t, {1.8659744f, -1.4176535f, 0.79065335f, -0.29089183f, 0.04363052f, 0.016205939f, -0.007968536f, -0.0010471906f,
                    0.0011347354f, 8.681757e-5f, -1.247471e-4f}) * inverse;
}

DEVICE float rsqrt_newton(float x) {
  float r = bits_to_float(0x5f375a86u - (u32)((int)float_to_bits(x) >> 1));
  float e = neg_mul_add(x * r, r, 1.0f);
  r = fmaf(e * r, fmaf(e, 0.375f, 0.5f), r);
  e = neg_mul_add(x * r, r, 1.0f);
  return fmaf(r * 0.5f, e, r);
}

// Sum of sixteen lanes by pairwise (tree) reduction; overwrites `lanes`.
DEVICE float lane_sum(float (&lanes)[16]) {
#pragma unroll
  for (int level = 0; level < 4; ++level)
#pragma unroll
    for (int lane = 0; lane < 8 >> level; ++lane) lanes[lane] += lanes[lane + (8 >> level)];
  return lanes[0];
}

// A standard normal variable truncated to an interval: log probability of the interval, E[z], and E[z^2] - 1.
struct Truncated { float log_mass, mean, excess; };

DEVICE float normal_density(float x) { return 0.3989423f * exp_nonpositive(x * x * -0.5f); }

NOINLINE Truncated truncated(float a, float b, float w) {
  const float limit = 1e9f;
  a = max_float(0.0f - limit, min_float(limit, a));
  b = max_float(0.0f - limit, min_float(limit, b));
  w = min_float(max_float(w, 1e-30f), limit + limit);
  bool mirrored = 0.0f > a + b;
  float swapped_a = mirrored ? 0.0f - b : a;
  b = mirrored ? 0.0f - a : b;
  a = swapped_a;
  float z = 0.5f * (a + b), h = 0.5f * w;
  bool narrow = 1.0f > h * max_float(z * 2.0f, 4.0f);
  float exponent, argument, mean, excess, divisor;
  if (narrow) {
    float half_width = max_float(1e-6f, h), square = half_width * half_width;
    const float inverses[4] = {1.0f, 1.0f / 6.0f, 1.0f / 120.0f, 1.0f / 5040.0f};
    float terms[3] = {1.0f, z, fmaf(z, z, -1.0f)}, sums[3] = {terms[0], terms[1], terms[2]};
#pragma unroll
    for (int n = 1; n < 4; ++n) {
      float even = square * terms[2];
      float odd = neg_mul_add(square * terms[1], 2.0f * (float)n, z * even);
      terms[2] = neg_mul_add(even, (float)(2 * n + 1), z * odd);
      terms[0] = even;
      terms[1] = odd;
#pragma unroll
      for (int at = 0; at < 3; ++at) sums[at] = fmaf(terms[at], inverses[n], sums[at]);
    }
    exponent = fmaf(z * z, 0.0f - 0.5f, 0.0f - HALF_LN_2_PI);
    argument = w * sums[0];
    mean = sums[1];
    excess = sums[2];
    divisor = sums[0];
  } else if (a > 0.0f) {
    float e = exp_nonpositive(0.0f - w * z);
    float difference = neg_mul_add(mills_ratio(b), e, mills_ratio(a));
    exponent = fmaf(a * a, 0.0f - 0.5f, 0.0f - HALF_LN_2_PI);
    argument = difference;
    mean = 1.0f - e;
    excess = fmaf(a, 1.0f - e, 0.0f - w * e);
    divisor = difference;
  } else {
    float mass = 0.5f * (centred_cdf(b) - centred_cdf(a));
    exponent = 0.0f;
    argument = mass;
    mean = normal_density(a) - normal_density(b);
    excess = a * normal_density(a) - b * normal_density(b);
    divisor = mass;
  }
  mean = mean / divisor;
  return {fmaf(z, 0.0f, exponent + log_float(argument)), mirrored ? 0.0f - mean : mean, excess / divisor};
}

// Random number `index` of the stream with seed `start` (SplitMix64).
DEVICE u64 draw(u64 start, u64 index) {
  u64 z = start + (index + 1) * 0x9e3779b97f4a7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}
