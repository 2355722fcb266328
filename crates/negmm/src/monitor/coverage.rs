//! Empirical coverage of central intervals, with a time-uniform confidence sequence.

use serde::{Deserialize, Serialize};

/// Nominal coverages that are monitored.
pub(super) const COVERAGES: [f64; 3] = [0.5, 0.9, 0.95];

/// Bisection steps: enough for the precision of doubles in (0, 1).
const HALVINGS: usize = 60;

/// Hits of intervals of one coverage.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Hits {
    pub(super) rows: u64,
    #[serde(rename = "held")]
    pub(super) covered: u64,
}

impl Hits {
    pub(super) fn update(&mut self, covered: bool) {
        self.rows += 1;
        self.covered += u64::from(covered);
    }

    /// A confidence sequence for the coverage probability: it contains the probability at all times simultaneously
    /// with probability 1 - `alpha`, as long as rows are identically distributed.
    ///
    /// The likelihood ratio of the uniform mixture over q against p is ∫ q^k (1 - q)^(n-k) dq / (p^k (1-p)^(n-k))
    /// (Robbins 1970); p is in the sequence where the ratio is less than 1/α.
    pub(super) fn bounds(&self, alpha: f64) -> (f64, f64) {
        let (n, k) = (self.rows as f64, self.covered as f64);
        let log_beta = libm::lgamma(k + 1.0) + libm::lgamma(n - k + 1.0) - libm::lgamma(n + 2.0);
        let times = |count: f64, log: f64| if count > 0.0 { count * log } else { 0.0 };
        let won = |p: f64| log_beta - times(k, libm::log(p)) - times(n - k, libm::log1p(-p));
        let possible = |p: f64| won(p) < -libm::log(alpha);
        let fraction = if n > 0.0 { k / n } else { 0.5 };
        (edge(fraction, 0.0, &possible), edge(fraction, 1.0, &possible))
    }
}

/// The boundary of the accepted values between `inside` and `end`, by bisection.
fn edge(inside: f64, end: f64, possible: &impl Fn(f64) -> bool) -> f64 {
    let (mut inside, mut outside) = (inside, end);
    if possible(end) || inside == end {
        return end;
    }
    for _ in 0..HALVINGS {
        let middle = 0.5 * (inside + outside);
        if possible(middle) { inside = middle } else { outside = middle }
    }
    inside
}

#[cfg(test)]
mod tests {
    use super::*;
    use negmm_dist::math::rng::Rng;

    #[test]
    fn the_bounds_hold_at_every_moment() {
        let (mut broken, runs) = (0, 400);
        for run in 0..runs {
            let (mut hits, mut rng) = (Hits { rows: 0, covered: 0 }, Rng::new(run, 0));
            let out = (0..600).any(|_| {
                hits.update(rng.uniform() < 0.9);
                let (low, high) = hits.bounds(0.1);
                !(low <= 0.9 && 0.9 <= high)
            });
            broken += u64::from(out);
        }
        assert!(broken <= runs / 10, "{broken}");
    }

    #[test]
    fn bounds_close_in_on_the_fraction() {
        assert_eq!(Hits { rows: 0, covered: 0 }.bounds(0.05), (0.0, 1.0));
        let (low, high) = Hits { rows: 1000, covered: 900 }.bounds(0.05);
        assert!((0.85..0.88).contains(&low) && (0.92..0.94).contains(&high), "{low} {high}");
        let (low, high) = Hits { rows: 50, covered: 50 }.bounds(0.05);
        assert!(low > 0.8 && high == 1.0, "{low} {high}");
        assert!(Hits { rows: 50, covered: 0 }.bounds(0.05).1 < 0.2);
    }
}
