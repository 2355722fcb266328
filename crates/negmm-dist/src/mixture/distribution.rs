//! The distribution of a Gaussian mixture: closed-form expressions, and quantiles by Newton's method in a bracket.

use super::quantile::{InvertibleCdf, Tail};
use super::truncated_component::TruncatedComponent;
use super::{DensityRanking, Mixture, component_cdf, component_survival, energy, log_sum_exp, mass, tail};
use crate::distribution::Distribution;
use crate::highest_density::HighestDensityRegion;
use crate::math::normal;
use crate::math::rng::Rng;

/// Variances whose squares of deviations neither underflow nor overflow.
pub(super) const SAFE_VARIANCES: std::ops::Range<f64> = 1e-280..1e280;

impl Distribution for Mixture<'_> {
    /// Mean, sum_k weight_k mean_k.
    fn mean(&self) -> f64 {
        // Summed as distances from the mean of largest weight: equal means give exactly that mean, however large it is.
        let heaviest =
            |a: (f64, f64), (weight, mean, _): (f64, f64, f64)| if weight > a.0 { (weight, mean) } else { a };
        let (_, anchor) = self.parts().fold((0.0, 0.0), heaviest);
        let mean = anchor + self.parts().map(|(weight, mean, _)| weight * (mean - anchor)).sum::<f64>();
        if mean.is_finite() { mean } else { self.parts().map(|(weight, mean, _)| weight * mean).sum() }
    }

    /// Variance: within plus between.
    fn variance(&self) -> f64 {
        self.variance_within() + self.variance_between()
    }

    /// The root of the variance, also where the variance itself would underflow or overflow.
    fn sd(&self) -> f64 {
        let variance = self.variance();
        if SAFE_VARIANCES.contains(&variance) {
            return variance.sqrt();
        }
        let centre = self.mean();
        let deviations = || self.parts().map(|(weight, mean, sd)| (weight, (mean - centre).abs(), sd));
        let size = deviations().fold(0.0, |size: f64, (_, between, within)| size.max(between).max(within));
        if size == 0.0 || !size.is_finite() {
            return variance.sqrt();
        }
        let square = |x: f64| (x / size) * (x / size);
        let sum: f64 = deviations().map(|(weight, between, within)| weight * (square(between) + square(within))).sum();
        size * sum.sqrt()
    }

    /// Both from one mean.
    fn mean_and_sd(&self) -> (f64, f64) {
        let mean = self.mean();
        let between: f64 = self.parts().map(|(weight, center, _)| weight * (center - mean) * (center - mean)).sum();
        let variance = self.variance_within() + between;
        (mean, if SAFE_VARIANCES.contains(&variance) { variance.sqrt() } else { self.sd() })
    }

    /// Variance inside the components (local noise), sum_k weight_k sd_k^2.
    fn variance_within(&self) -> f64 {
        self.parts().map(|(weight, _, sd)| weight * sd * sd).sum()
    }

    /// Variance between the components (their disagreement), sum_k weight_k (mean_k - mean)^2.
    fn variance_between(&self) -> f64 {
        let centre = self.mean();
        self.parts().map(|(weight, mean, _)| weight * (mean - centre) * (mean - centre)).sum()
    }

    /// Probability of a value up to `y`.
    fn cdf(&self, y: f64) -> f64 {
        self.parts().map(|(weight, mean, sd)| weight * component_cdf(y, mean, sd)).sum::<f64>().min(1.0)
    }

    /// Probability of a value above `y`: 1 - cdf without its cancellation.
    fn survival(&self, y: f64) -> f64 {
        self.parts().map(|(weight, mean, sd)| weight * component_survival(y, mean, sd)).sum::<f64>().min(1.0)
    }

    /// Probability of exactly `y`: the weight of the atoms there.
    fn point_probability(&self, y: f64) -> f64 {
        let weights = self.atoms().filter(|&(_, value)| value == y).map(|(weight, _)| weight);
        // An empty sum of f64 is -0.0.
        (0.0 + weights.sum::<f64>()).min(1.0)
    }

    /// Density at `y` of all but the atoms.
    fn pdf(&self, y: f64) -> f64 {
        0.0 + self.gaussians().map(|(weight, mean, sd)| weight * (normal::pdf((y - mean) / sd) / sd)).sum::<f64>()
    }

    /// Logarithm of that density: finite if the nearest component is within 1e150 sds.
    ///
    /// log sum_k exp(t_k) with t_k = ln weight_k - ln sd_k + ln N(z_k).
    fn log_pdf(&self, y: f64) -> f64 {
        let term = |(weight, mean, sd)| libm::log(weight) - libm::log(sd) + normal::log_pdf((y - mean) / sd);
        log_sum_exp(self.gaussians().map(term))
    }

    /// Logarithm of P(low < Y <= high); both ends may be infinite.
    fn log_between(&self, low: f64, high: f64) -> f64 {
        let of_gaussian =
            |(weight, mean, sd)| libm::log(weight) + TruncatedComponent::new(mean, sd, low, high).log_mass();
        let of_atom =
            |(weight, value)| if low < value && value <= high { libm::log(weight) } else { f64::NEG_INFINITY };
        log_sum_exp(self.gaussians().map(of_gaussian).chain(self.atoms().map(of_atom))).min(0.0)
    }

    /// Logarithm of the probability within `step` / 2 of `y`: finite if [`Mixture::log_pdf`] is. Atoms
    /// count above y - `step` / 2 and up to y + `step` / 2.
    fn log_mass(&self, y: f64, step: f64) -> f64 {
        let of_gaussian =
            |(weight, mean, sd): (f64, f64, f64)| libm::log(weight) + mass::log_mass((y - mean).abs(), step, sd);
        // An atom half way between two values belongs to one of them.
        let near = |value: f64| y - 0.5 * step < value && value <= y + 0.5 * step;
        let of_atom = |(weight, value)| if near(value) { libm::log(weight) } else { f64::NEG_INFINITY };
        let terms = self.gaussians().map(of_gaussian).chain(self.atoms().map(of_atom));
        // Rounding must not make a probability above 1.
        log_sum_exp(terms).min(0.0)
    }

    /// The inverse of the distribution function; -inf at 0, inf at 1, NaN outside [0, 1]. If the distribution function jumps over the
    /// level, it is the atom at the jump.
    ///
    /// Exact to rounding for every level in between, also where the distribution function is nearly flat between two
    /// components. If they are so far apart that even their tails are 0 in f64, it is some value of the flat interval.
    fn quantile(&self, level: f64) -> f64 {
        self.tail_quantile(level, Tail::Lower)
    }

    /// The value that the variable exceeds with probability `level`; small levels keep their digits.
    fn quantile_above(&self, level: f64) -> f64 {
        self.tail_quantile(level, Tail::Upper)
    }

    fn hdr(&self, coverage: f64) -> HighestDensityRegion {
        let whole_line = (f64::NEG_INFINITY, f64::INFINITY);
        DensityRanking::between(*self, whole_line, 0.0).leaving(1.0 - coverage)
    }

    /// E[Y | Y <= q] with q the quantile at `level` in (0, 1).
    ///
    /// With a_k = (q - mean_k) / sd_k it is sum_k weight_k (mean_k cdf(a_k) - sd_k pdf(a_k)) / level. Far out in a tail this
    /// is a difference of nearly equal numbers, so it is computed as the average of the tail means of the components,
    /// q - sd_k (a_k + pdf(a_k) / cdf(a_k)), weighted by their probabilities of the tail, weight_k cdf(a_k). An atom at q counts as far
    /// as `level` allows.
    fn shortfall_below(&self, level: f64) -> f64 {
        tail::tail_mean(*self, level, Tail::Lower)
    }

    /// E[Y | Y >= q] with q the quantile at 1 - `level`.
    fn shortfall_above(&self, level: f64) -> f64 {
        tail::tail_mean(*self, level, Tail::Upper)
    }

    /// Energy score of the observation `y`, in one dimension the continuous ranked probability score: E|Y - y| - E|Y - Y'| / 2.
    ///
    /// sum_k weight_k A_k - sum_kl weight_k weight_l B_kl / 2 with A_k = E|Y_k - y| and B_kl = E|Y_k - Y_l|. Never negative;
    /// smaller is better.
    fn crps(&self, y: f64) -> f64 {
        let score = energy::crps_unscaled(*self, y);
        if score.is_finite() {
            // Rounding may make it slightly negative.
            return score.max(0.0);
        }
        if !y.is_finite() {
            return y.abs();
        }
        // Distances overflow: scale the unit down, and the score back up.
        const UNIT: f64 = 1.0 / 64.0;
        let means: Vec<f64> = self.means.iter().map(|mean| mean * UNIT).collect();
        let sds: Vec<f64> = self.sds.iter().map(|sd| sd * UNIT).collect();
        let scaled = Mixture { weights: self.weights, means: &means, sds: &sds };
        energy::crps_unscaled(scaled, y * UNIT).max(0.0) / UNIT
    }

    /// A random draw: a component by its weight, then a value from it.
    fn sample(&self, rng: &mut Rng) -> f64 {
        let (pick, level) = (rng.uniform(), rng.uniform());
        let mut cumulative = 0.0;
        let mut chosen = (self.means[0], self.sds[0]);
        for (weight, mean, sd) in self.parts() {
            chosen = (mean, sd);
            cumulative += weight;
            if pick < cumulative {
                break;
            }
        }
        chosen.0 + chosen.1 * normal::quantile(level)
    }
}
