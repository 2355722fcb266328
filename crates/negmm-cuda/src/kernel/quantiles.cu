// Quantiles of unbounded Gaussian mixtures in f64, one thread per quantile: the CPU library's search, bit for bit. No fused
// multiply-adds; exp and log1p are those of FreeBSD's msun, as in Rust's libm.

#ifdef __CUDACC_RTC__
DEVICE double bits_to_double(u64 bits) { return __longlong_as_double((long long)bits); }
DEVICE u64 double_to_bits(double x) { return (u64)__double_as_longlong(x); }
#else
DEVICE double bits_to_double(u64 bits) { double x; memcpy(&x, &bits, 8); return x; }
DEVICE u64 double_to_bits(double x) { u64 bits; memcpy(&bits, &x, 8); return bits; }
#endif

#define INFINITE bits_to_double(0x7ff0000000000000ull)
#define LARGEST 1.7976931348623157e308
#define EPSILON 2.220446049250313e-16
#define LN_2_HIGH 6.93147180369123816490e-01
#define LN_2_LOW 1.90821492927058770002e-10
// Constants of the CPU library's quantile search.
#define PROBABILITY_TOLERANCE (64.0 * EPSILON)
#define DISTANCE_TOLERANCE 1e-12
#define MAX_STEPS 2200
#define TAIL_CUTOFF 39.0

// exp(x) for x <= 0.
DEVICE double exp_nonpositive(double x) {
  u32 high = (u32)(double_to_bits(x) >> 32) & 0x7fffffffu;
  if (x < -745.13321910194110842) return 0.0;
  double hi = x, lo = 0.0;
  int k = 0;
  if (high > 0x3fd62e42u) {
    k = high >= 0x3ff0a2b2u ? (int)(1.44269504088896338700e+00 * x + -0.5) : -1;
    hi = x - (double)k * LN_2_HIGH;
    lo = (double)k * LN_2_LOW;
    x = hi - lo;
  } else if (high <= 0x3e300000u) {
    return 1.0 + x;
  }
  double square = x * x;
  double c = x - square * (1.66666666666666019037e-01 + square * (-2.77777777770155933842e-03 + square * (6.61375632143793436117e-05 +
             square * (-1.65339022054652515390e-06 + square * 4.13813679705723846039e-08))));
  double y = 1.0 + (x * c / (2.0 - c) - lo + hi);
  if (k == 0) return y;
  // Subnormal results are scaled in two steps, so that only the last one rounds.
  if (k < -1022) {
    y = y * bits_to_double((u64)(1023 - 969) << 52);
    k += 969;
  }
  return y * bits_to_double((u64)(1023 + k) << 52);
}

// log(1 + x).
DEVICE double log1p_double(double x) {
  u64 bits = double_to_bits(x);
  u32 high = (u32)(bits >> 32);
  int k = 1;
  double f = 0.0, c = 0.0;
  if (high < 0x3fda827au || high >> 31 > 0) {
    if (high >= 0xbff00000u) return x == -1.0 ? -INFINITE : INFINITE - INFINITE;
    if (high << 1 < 0x3ca00000u << 1) return x;
    if (high <= 0xbfd2bec4u) {
      k = 0;
      f = x;
    }
  } else if (high >= 0x7ff00000u) {
    return x;
  }
  if (k > 0) {
    double sum = 1.0 + x;
    bits = double_to_bits(sum);
    u32 of_sum = (u32)(bits >> 32) + (0x3ff00000u - 0x3fe6a09eu);
    k = (int)(of_sum >> 20) - 0x3ff;
    c = 0.0;
    if (k < 54) c = (k >= 2 ? 1.0 - (sum - x) : x - (sum - 1.0)) / sum;
    of_sum = (of_sum & 0x000fffffu) + 0x3fe6a09eu;
    f = bits_to_double((u64)of_sum << 32 | (bits & 0xffffffffull)) - 1.0;
  }
  double half_square = 0.5 * f * f, s = f / (2.0 + f), z = s * s, w = z * z;
  double even = w * (3.999999999940941908e-01 + w * (2.222219843214978396e-01 + w * 1.531383769920937332e-01));
  double odd = z * (6.666666666666735130e-01 + w * (2.857142874366239149e-01 + w * (1.818357216161805012e-01 + w * 1.479819860511658591e-01)));
  double r = odd + even, dk = (double)k;
  return s * (half_square + r) + (dk * LN_2_LOW + c) - half_square + f + dk * LN_2_HIGH;
}

template <int N> DEVICE double polynomial(double x, const double (&coefficients)[N]) {
  double sum = 0.0;
#pragma unroll
  for (int at = N - 1; at >= 0; --at) sum = sum * x + coefficients[at];
  return sum;
}

// Mills' ratio for x in [0, 1e7].
DEVICE double mills_ratio(double x) {
  return polynomial(x, {1.2533141373155003, 2.157925638770891, 1.834909986775203, 0.9988347644867525, 0.3824002792574154,
                        0.10719821543185261, 0.02227228942368047, 0.003393808225469459, 0.00036480624757564436, 2.5202874410883456e-05,
                        8.634926542553868e-07}) /
         polynomial(x, {1.0, 2.5196601113388217, 2.9744442502189474, 2.176349446194663, 1.0994974095509655, 0.40395159056669205,
                        0.11054161792053765, 0.02263536868577354, 0.0034190110998818407, 0.00036566974022989317, 2.5202874410883466e-05,
                        8.634926542553868e-07});
}

// The quantile of `sign` times the variable with `mass` below it; z is the standard normal quantile. A sign of -1 addresses the upper tail.
struct Quantile { double mass, sign, z; };

// Arguments of a launch: weights, means and sds (rows x components), and the results (quantiles x rows).
struct Request {
  const double *weights, *means, *sds;
  const Quantile* quantiles;
  double* results;
  u32 rows, components, count, reserved;
};

// The mixture of one row.
struct Mixture {
  const double *weights, *means, *sds;
  int components;

  // F(x) - mass and the density at x, of `sign` times the variable.
  DEVICE double excess(double x, double mass, double sign, double& density) const {
    double cdf = -mass, tails = 0.0;
    density = 0.0;
#pragma unroll 1
    for (int k = 0; k < components; ++k) {
      double weight = weights[k];
      if (!(weight > 0.0)) continue;
      double sd = sds[k], z = (x - sign * means[k]) / sd, magnitude = fabs(z);
      if (z > 0.0 || z != z) cdf = cdf + weight;
      if (magnitude < TAIL_CUTOFF) {
        double weighted_density = weight * (0.3989422804014327 * exp_nonpositive(-0.5 * z * z));
        double tail = weighted_density * mills_ratio(magnitude);
        tails = tails + (z > 0.0 ? -tail : tail);
        density = density + weighted_density / sd;
      }
    }
    return cdf + tails;
  }
};

DEVICE double clamped(double x, double low, double high) { return x < low ? low : x > high ? high : x; }

// Newton's method on log F, safeguarded by bisection of a bracket.
DEVICE double find_quantile(const Mixture& mixture, const Quantile& request) {
  const double mass = request.mass, sign = request.sign;
  double low = INFINITE, high = -INFINITE, start = 0.0, scale = 0.0, last_step = INFINITE;
#pragma unroll 1
  for (int k = 0; k < mixture.components; ++k) {
    double weight = mixture.weights[k];
    if (!(weight > 0.0)) continue;
    double sd = mixture.sds[k], component = clamped(sign * mixture.means[k] + sd * request.z, -LARGEST, LARGEST);
    low = component < low ? component : low;
    high = component > high ? component : high;
    start = start + weight * component;
    scale = scale + weight * sd;
  }
  double x = clamped(start, low, high);
#pragma unroll 1
  for (int step_number = 0; step_number < MAX_STEPS && low < high; ++step_number) {
    double density, excess = mixture.excess(x, mass, sign, density), magnitude = fabs(excess);
    if (excess == 0.0 || (magnitude <= PROBABILITY_TOLERANCE * mass && magnitude <= DISTANCE_TOLERANCE * scale * density)) break;
    if (excess > 0.0)
      high = x;
    else
      low = x;
    double step = log1p_double(excess / mass) * ((mass + excess) / density), newton = x - step, length = fabs(step);
    if (length <= EPSILON * fabs(x)) {
      x = clamped(newton, low, high);
      break;
    }
    if (newton > low && newton < high && 2.0 * length <= last_step) {
      x = newton;
      last_step = length;
    } else {
      x = 0.5 * low + 0.5 * high;
      if (x <= low || x >= high) break;
      last_step = 0.5 * high - 0.5 * low;
    }
  }
  return x;
}

// Result `item` of quantiles x rows.
DEVICE void quantile(const Request& request, u64 item) {
  if (item >= (u64)request.rows * request.count) return;
  u64 start = item % request.rows * request.components;
  const Quantile one = request.quantiles[item / request.rows];
  double x = find_quantile({request.weights + start, request.means + start, request.sds + start, (int)request.components}, one);
  request.results[item] = one.sign > 0.0 ? x : -x;
}

#ifdef __CUDACC_RTC__
extern "C" __global__ void __launch_bounds__(THREADS) quantiles(const Request* request) {
  quantile(*request, (u64)blockIdx.x * THREADS + threadIdx.x);
}
#else
extern "C" __attribute__((visibility("default"))) void quantiles(const Request* request, int blocks, int reverse_items) {
  reversed = reverse_items;
  serial_for(0, blocks * THREADS, 1, [&](int item) { quantile(*request, (u64)item); });
}
#endif
