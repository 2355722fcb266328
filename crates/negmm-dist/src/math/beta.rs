//! The beta distribution: distribution function and quantile.

/// Largest number of terms of the continued fraction: it needs about the root of the larger parameter.
const MAX_TERMS: usize = 20_000;

/// Replaces a divisor of 0.
const TINY: f64 = 1e-300;

/// Bisection steps until no double lies between two numbers in (0, 1).
const HALVINGS: usize = 1080;

/// The probability of a value up to `x` of the beta distribution with positive parameters `a` and `b`.
///
/// I_x(a, b) = x^a (1 - x)^b / (a B(a, b)) times a continued fraction (Abramowitz and Stegun 26.5.8), evaluated from its front (Lentz's
/// method), on the side where it converges fast.
pub fn cdf(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return f64::from(x >= 1.0);
    }
    let log_front = libm::lgamma(a + b) - libm::lgamma(a) - libm::lgamma(b) + a * libm::log(x) + b * libm::log1p(-x);
    let front = libm::exp(log_front);
    if x < (a + 1.0) / (a + b + 2.0) {
        front * fraction(x, a, b) / a
    } else {
        1.0 - front * fraction(1.0 - x, b, a) / b
    }
}

/// 1 / (1 + d1 / (1 + d2 / (1 + …))).
fn fraction(x: f64, a: f64, b: f64) -> f64 {
    let not_zero = |number: f64| if number.abs() < TINY { TINY } else { number };
    let mut c = 1.0;
    let mut d = 1.0 / not_zero(1.0 - (a + b) * x / (a + 1.0));
    let mut value = d;
    for m in 1..MAX_TERMS {
        let m = m as f64;
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut change = 1.0;
        for term in [even, odd] {
            d = 1.0 / not_zero(1.0 + term * d);
            c = not_zero(1.0 + term / c);
            change = c * d;
            value *= change;
        }
        if (change - 1.0).abs() < f64::EPSILON {
            break;
        }
    }
    value
}

/// The quantile at `level`.
pub fn quantile(level: f64, a: f64, b: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            break;
        }
        if cdf(middle, a, b) < level { low = middle } else { high = middle }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    // Expected values: Python scipy 1.17, `scipy.stats.beta(a, b).cdf(x)`.
    const VALUES: &[(f64, f64, f64, f64)] = &[
        (0.5, 1.0, 1.0, 0.5),
        (0.9, 91.0, 10.0, 0.451_290_165_442_004),
        (0.25, 0.5, 0.5, 1.0 / 3.0),
        (0.8724, 360.0, 41.0, 0.053_578_955_031_290_73),
        (0.01, 2.5, 70.0, 0.078_113_621_024_397_58),
    ];

    #[test]
    fn probabilities_agree_with_published_numbers() {
        for &(x, a, b, expected) in VALUES {
            assert!((cdf(x, a, b) - expected).abs() < 1e-12, "{x} {a} {b} {}", cdf(x, a, b));
        }
    }

    #[test]
    fn whole_parameters_count_successes() {
        // I_x(k, n - k + 1) is the probability of at least k successes in n trials.
        for (n, k, x) in [(5, 2, 0.3_f64), (20, 19, 0.9), (100, 3, 0.05), (30, 30, 0.99)] {
            let choose = |j: i32| (1..=j).fold(1.0, |product, i| product * f64::from(n - j + i) / f64::from(i));
            let at_least: f64 = (k..=n).map(|j| choose(j) * x.powi(j) * (1.0 - x).powi(n - j)).sum();
            assert!((cdf(x, f64::from(k), f64::from(n - k + 1)) - at_least).abs() < 1e-12);
        }
    }

    #[test]
    fn a_quantile_has_its_level() {
        for (a, b) in [(1.0, 1.0), (19.0, 2.0), (901.0, 100.0), (90_001.0, 10_000.0)] {
            for level in [0.01, 0.1, 0.5, 0.999] {
                assert!((cdf(quantile(level, a, b), a, b) / level - 1.0).abs() < 1e-9, "{a} {b} {level}");
            }
        }
        assert_eq!((cdf(0.0, 2.0, 3.0), cdf(1.0, 2.0, 3.0)), (0.0, 1.0));
    }
}
