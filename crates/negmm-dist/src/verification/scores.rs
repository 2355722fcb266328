//! Scores of quantiles, intervals, thresholds, moments and densities.

use crate::distribution::Distribution;
use crate::distribution_ref::{DistributionKind, DistributionRef};
use crate::math::normal;

/// Quantile score (pinball loss) of the predicted quantile `q` of this level.
///
/// ```
/// use negmm_dist::verification::quantile_score;
/// assert_eq!(quantile_score(3.0, 1.0, 0.75), 1.5);
/// ```
pub fn quantile_score(y: f64, q: f64, level: f64) -> f64 {
    (f64::from(u8::from(y < q)) - level) * (q - y)
}

/// Interval score (Winkler) of the central interval with coverage 1 - `alpha`.
pub fn interval_score(y: f64, lower: f64, upper: f64, alpha: f64) -> f64 {
    (upper - lower) + 2.0 / alpha * ((lower - y).max(0.0) + (y - upper).max(0.0))
}

/// Weighted interval score (Bracher et al., 2021) of the median and of intervals (lower, upper, alpha), with their usual weights
/// 1/2 and alpha / 2: the mean of twice the quantile scores of all these levels.
pub fn weighted_interval_score(y: f64, median: f64, intervals: impl IntoIterator<Item = (f64, f64, f64)>) -> f64 {
    let (mut sum, mut count) = (0.5 * (y - median).abs(), 0.5);
    for (lower, upper, alpha) in intervals {
        sum += 0.5 * alpha * interval_score(y, lower, upper, alpha);
        count += 1.0;
    }
    sum / count
}

/// Brier score of the event Y <= `threshold`.
pub fn brier_score(row: &impl Distribution, y: f64, threshold: f64) -> f64 {
    let difference = row.cdf(threshold) - f64::from(u8::from(y <= threshold));
    difference * difference
}

/// Dawid-Sebastiani score, which needs only mean and variance. Of a variance of 0 it is infinite: negative where `y` is the mean.
pub fn dawid_sebastiani_score(row: &impl Distribution, y: f64) -> f64 {
    let (error, variance) = (y - row.mean(), row.variance());
    let distance = if error == 0.0 { 0.0 } else { error * error / variance };
    match distance.is_infinite() {
        true => f64::INFINITY,
        false => distance + libm::log(variance),
    }
}

/// CDE loss (Izbicki and Lee, 2016), the quadratic score of densities: ∫ f(t)² dt - 2 f(y). Of counts it is that of the point
/// probabilities; atoms of other distributions have no density and are left out.
pub fn cde_loss(row: DistributionRef<'_>, y: f64) -> f64 {
    let root_pi = std::f64::consts::PI.sqrt();
    match row.kind {
        DistributionKind::Samples(samples) => 0.5 / (root_pi * samples.normal_sd()) - 2.0 * samples.pdf(y),
        DistributionKind::Quantiles(quantiles) => quantiles.squared_density() - 2.0 * quantiles.pdf(y),
        DistributionKind::Family(family) if family.shape().is_discrete() => {
            family.squared_density() - 2.0 * family.point_probability(y)
        }
        DistributionKind::Family(family) => family.squared_density() - 2.0 * family.pdf(y),
        DistributionKind::Mixture(mixture) => {
            // ∫ of the product of two normal densities is a normal density of the difference of their means.
            let parts = || mixture.weights.iter().zip(mixture.means).zip(mixture.sds).filter(|(_, sd)| **sd > 0.0);
            let pair = |((weight, mean), sd): ((&f64, &f64), &f64)| {
                let with = |((other_weight, other_mean), other_sd): ((&f64, &f64), &f64)| {
                    let both = libm::hypot(*sd, *other_sd);
                    weight * other_weight * normal::pdf((mean - other_mean) / both) / both
                };
                parts().map(with).sum::<f64>()
            };
            parts().map(pair).sum::<f64>() - 2.0 * mixture.pdf(y)
        }
    }
}
