//! Responsible for GARCH(1,1) with Student's law, which econometricians would try first: h_t = ω + α r²_(t-1) + β h_(t-1), with r the
//! relative change of a day.
//!
//! ω is what makes the mean of h the variance of the training period; α, β and the degrees of freedom are those of a grid, made finer
//! twice, under which the training period is most likely. Student's law is a mixture of normal laws whose precision is Gamma
//! distributed: the integral over its logarithm, as a sum, is the mixture that is scored.

use negmm::{Mixtures, Predictions, Result};

use super::Prices;

/// Numbers tried of each parameter at once, and how often the grid is made finer.
const TRIED: usize = 9;
const FINER: usize = 3;
/// Where the logarithm of the precision is looked at.
const PRECISIONS: usize = 120;
const LEAST: f64 = -9.0;
const MOST: f64 = 3.0;

/// The three parameters.
#[derive(Clone, Copy, Debug)]
struct Garch {
    alpha: f64,
    beta: f64,
    freedom: f64,
}

/// For each test day the price of the day before, with the law of its change.
pub(super) fn predictions(prices: &Prices) -> Result<Predictions> {
    let close = prices.close();
    let days = prices.split.train.len();
    let changes: Vec<f64> = close.windows(2).map(|pair| pair[1] / pair[0] - 1.0).collect();
    let train = &changes[..days - 1];
    let variance = train.iter().map(|change| change * change).sum::<f64>() / train.len() as f64;
    let garch = Garch::most_likely(train, variance);
    let variances = garch.variances(&changes, variance);
    let law = garch.law();
    let count = close.len() - days;
    let (mut weights, mut means, mut sds) = (Vec::new(), Vec::new(), Vec::new());
    for day in days..close.len() {
        let (price, sd) = (close[day - 1], variances[day - 1].sqrt());
        for (weight, width) in &law {
            weights.push(*weight);
            means.push(price);
            sds.push(price * sd * width);
        }
    }
    debug_assert_eq!(weights.len(), count * law.len());
    Ok(Mixtures::new(law.len(), weights, means, sds)?.into())
}

impl Garch {
    /// By a grid around the best so far, made finer.
    fn most_likely(changes: &[f64], variance: f64) -> Self {
        let (mut centre, mut reach) = ([0.15, 0.8, 1.6], [0.15, 0.19, 0.9]);
        for _ in 0..=FINER {
            let tried =
                |axis: usize, at: usize| centre[axis] + reach[axis] * (2.0 * at as f64 / (TRIED - 1) as f64 - 1.0);
            let mut best = (f64::NEG_INFINITY, centre);
            for at in 0..TRIED * TRIED * TRIED {
                let point = [tried(0, at % TRIED), tried(1, at / TRIED % TRIED), tried(2, at / TRIED / TRIED)];
                let likelihood = Self::of(point).map_or(f64::NEG_INFINITY, |garch| garch.likelihood(changes, variance));
                if likelihood > best.0 {
                    best = (likelihood, point);
                }
            }
            centre = best.1;
            reach = reach.map(|reach| reach / 3.0);
        }
        Self::of(centre).unwrap_or(Self { alpha: 0.1, beta: 0.8, freedom: 5.0 })
    }

    /// Of α, β and the logarithm of the degrees of freedom, where they can be.
    fn of([alpha, beta, freedom]: [f64; 3]) -> Option<Self> {
        let garch = Self { alpha, beta, freedom: libm::exp(freedom) };
        (alpha >= 0.0 && beta >= 0.0 && alpha + beta < 0.9999 && garch.freedom > 2.05).then_some(garch)
    }

    /// The variance of each change, from those before it.
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

    fn likelihood(self, changes: &[f64], variance: f64) -> f64 {
        let (freedom, half) = (self.freedom, 0.5 * (self.freedom + 1.0));
        let constant =
            libm::lgamma(half) - libm::lgamma(0.5 * freedom) - 0.5 * libm::log(std::f64::consts::PI * (freedom - 2.0));
        let variances = self.variances(changes, variance);
        let log = |(change, own): (&f64, &f64)| {
            constant - 0.5 * libm::log(*own) - half * libm::log1p(change * change / (own * (freedom - 2.0)))
        };
        changes.iter().zip(&variances).map(log).sum()
    }

    /// Student's law with variance 1 as a mixture: weights and sds.
    fn law(self) -> Vec<(f64, f64)> {
        let half = 0.5 * self.freedom;
        let place = |at: usize| LEAST + (MOST - LEAST) * at as f64 / (PRECISIONS - 1) as f64;
        // The density of a logarithm of a Gamma variable with mean 1.
        let density = |log: f64| libm::exp(half * (libm::log(half) + log - libm::exp(log)) - libm::lgamma(half));
        let total: f64 = (0..PRECISIONS).map(|at| density(place(at))).sum();
        let scale = ((self.freedom - 2.0) / self.freedom).sqrt();
        (0..PRECISIONS).map(|at| (density(place(at)) / total, scale * libm::exp(-0.5 * place(at)))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mixture_is_students_law() {
        let law = Garch { alpha: 0.1, beta: 0.8, freedom: 5.0 }.law();
        let mixture = Mixtures::new(
            law.len(),
            law.iter().map(|(weight, _)| *weight).collect(),
            vec![0.0; law.len()],
            law.iter().map(|(_, sd)| *sd).collect(),
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
