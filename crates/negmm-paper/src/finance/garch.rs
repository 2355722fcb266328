//! The GARCH(1,1) baseline with Student's t innovations: h_t = ω + α r²_(t-1) + β h_(t-1), with r the daily return.
//!
//! ω is set by variance targeting: the mean of h is the variance in training. α, β and the degrees of freedom maximise the likelihood of
//! the training period over a grid that is refined. The t distribution is a scale mixture of normals with a Gamma-distributed
//! precision; a sum over the logarithm of the precision approximates it by the normal mixture that is scored.

use negmm::{Mixtures, Predictions, Result};

use super::Prices;

/// Grid points per parameter, and refinements of the grid.
const GRID_POINTS: usize = 9;
const REFINEMENTS: usize = 3;
/// The quadrature over the logarithm of the precision: points and range.
const PRECISIONS: usize = 120;
const MIN_LOG_PRECISION: f64 = -9.0;
const MAX_LOG_PRECISION: f64 = 3.0;

/// The parameters.
#[derive(Clone, Copy, Debug)]
struct Garch {
    alpha: f64,
    beta: f64,
    degrees_of_freedom: f64,
}

/// For each test day the price of the day before, with the distribution of its return.
pub(super) fn predictions(prices: &Prices) -> Result<Predictions> {
    let close = prices.close();
    let days = prices.split.train.len();
    let changes: Vec<f64> = close.windows(2).map(|pair| pair[1] / pair[0] - 1.0).collect();
    let train = &changes[..days - 1];
    let variance = train.iter().map(|change| change * change).sum::<f64>() / train.len() as f64;
    let garch = Garch::fit(train, variance);
    let variances = garch.variances(&changes, variance);
    let student_t = garch.student_t();
    let count = close.len() - days;
    let (mut weights, mut means, mut sds) = (Vec::new(), Vec::new(), Vec::new());
    for day in days..close.len() {
        let (price, sd) = (close[day - 1], variances[day - 1].sqrt());
        for (weight, width) in &student_t {
            weights.push(*weight);
            means.push(price);
            sds.push(price * sd * width);
        }
    }
    debug_assert_eq!(weights.len(), count * student_t.len());
    Ok(Mixtures::new(student_t.len(), weights, means, sds)?.into())
}

impl Garch {
    /// Maximum likelihood by grid search, refined around the best point.
    fn fit(changes: &[f64], variance: f64) -> Self {
        let (mut centre, mut half_width) = ([0.15, 0.8, 1.6], [0.15, 0.19, 0.9]);
        for _ in 0..=REFINEMENTS {
            let value = |axis: usize, at: usize| {
                centre[axis] + half_width[axis] * (2.0 * at as f64 / (GRID_POINTS - 1) as f64 - 1.0)
            };
            let mut best = (f64::NEG_INFINITY, centre);
            for at in 0..GRID_POINTS * GRID_POINTS * GRID_POINTS {
                let point = [
                    value(0, at % GRID_POINTS),
                    value(1, at / GRID_POINTS % GRID_POINTS),
                    value(2, at / GRID_POINTS / GRID_POINTS),
                ];
                let likelihood =
                    Self::of(point).map_or(f64::NEG_INFINITY, |garch| garch.log_likelihood(changes, variance));
                if likelihood > best.0 {
                    best = (likelihood, point);
                }
            }
            centre = best.1;
            half_width = half_width.map(|half_width| half_width / 3.0);
        }
        Self::of(centre).unwrap_or(Self { alpha: 0.1, beta: 0.8, degrees_of_freedom: 5.0 })
    }

    /// From α, β and the logarithm of the degrees of freedom; `None` outside the parameter space.
    fn of([alpha, beta, log_freedom]: [f64; 3]) -> Option<Self> {
        let garch = Self { alpha, beta, degrees_of_freedom: libm::exp(log_freedom) };
        (alpha >= 0.0 && beta >= 0.0 && alpha + beta < 0.9999 && garch.degrees_of_freedom > 2.05).then_some(garch)
    }

    /// The conditional variance of each return.
    fn variances(self, changes: &[f64], variance: f64) -> Vec<f64> {
        let omega = variance * (1.0 - self.alpha - self.beta);
        let mut current = variance;
        let each = changes.iter().map(|change| {
            let own = current;
            current = omega + self.alpha * change * change + self.beta * own;
            own
        });
        each.collect()
    }

    fn log_likelihood(self, changes: &[f64], variance: f64) -> f64 {
        let (freedom, half) = (self.degrees_of_freedom, 0.5 * (self.degrees_of_freedom + 1.0));
        let constant =
            libm::lgamma(half) - libm::lgamma(0.5 * freedom) - 0.5 * libm::log(std::f64::consts::PI * (freedom - 2.0));
        let variances = self.variances(changes, variance);
        let log = |(change, own): (&f64, &f64)| {
            constant - 0.5 * libm::log(*own) - half * libm::log1p(change * change / (own * (freedom - 2.0)))
        };
        changes.iter().zip(&variances).map(log).sum()
    }

    /// Student's t with variance 1 as a normal mixture: weights and sds.
    fn student_t(self) -> Vec<(f64, f64)> {
        let half = 0.5 * self.degrees_of_freedom;
        let log_precision = |at: usize| {
            MIN_LOG_PRECISION + (MAX_LOG_PRECISION - MIN_LOG_PRECISION) * at as f64 / (PRECISIONS - 1) as f64
        };
        // The density of the logarithm of a Gamma variable with mean 1.
        let density = |log: f64| libm::exp(half * (libm::log(half) + log - libm::exp(log)) - libm::lgamma(half));
        let total: f64 = (0..PRECISIONS).map(|at| density(log_precision(at))).sum();
        let scale = ((self.degrees_of_freedom - 2.0) / self.degrees_of_freedom).sqrt();
        (0..PRECISIONS)
            .map(|at| (density(log_precision(at)) / total, scale * libm::exp(-0.5 * log_precision(at))))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use negmm::Distribution;

    #[test]
    fn the_mixture_is_students_t() {
        let student_t = Garch { alpha: 0.1, beta: 0.8, degrees_of_freedom: 5.0 }.student_t();
        let mixture = Mixtures::new(
            student_t.len(),
            student_t.iter().map(|(weight, _)| *weight).collect(),
            vec![0.0; student_t.len()],
            student_t.iter().map(|(_, sd)| *sd).collect(),
        )
        .unwrap();
        // Student's density with 5 degrees of freedom at t = y / sqrt(3 / 5), times sqrt(5 / 3).
        let student = |y: f64| {
            let (t, constant) = (y * (5.0f64 / 3.0).sqrt(), 0.379_606_689_822_494_4);
            constant * (1.0 + t * t / 5.0).powi(-3) * (5.0f64 / 3.0).sqrt()
        };
        for y in [0.0, 0.5, 2.0, 5.0] {
            let (found, expected) = (mixture.row(0).pdf(y), student(y));
            assert!((found / expected - 1.0).abs() < 1e-3, "{y}: {found} {expected}");
        }
    }
}
