//! The distribution of a Gaussian mixture: every answer in closed form, quantiles by a bracketed Newton iteration.

use super::quantile::{Rising, Tail};
use super::truncated_component::Piece;
use super::{DensityRanking, Mixture, component_cdf, component_survival, energy, log_sum_exp, mass, tail};
use crate::distribution::Distribution;
use crate::highest_density::HighestDensityRegion;
use crate::math::normal;
use crate::math::rng::Rng;

impl Distribution for Mixture<'_> {
    /// Mean, sum_k weight_k mean_k.
    fn mean(&self) -> f64 {
        // Summed as distances from the heaviest: equal means give exactly that mean, however large it is.
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
        self.atoms().filter(|&(_, place)| place == y).map(|(weight, _)| weight).sum::<f64>().min(1.0)
    }

    /// Density at `y` of all but the atoms.
    fn pdf(&self, y: f64) -> f64 {
        self.gaussians().map(|(weight, mean, sd)| weight * (normal::pdf((y - mean) / sd) / sd)).sum()
    }

    /// Logarithm of that density: finite wherever the nearest component is within 1e150 sds.
    ///
    /// log sum_k exp(t_k) with t_k = ln weight_k - ln sd_k + ln N(z_k).
    fn log_pdf(&self, y: f64) -> f64 {
        let term = |(weight, mean, sd)| libm::log(weight) - libm::log(sd) + normal::log_pdf((y - mean) / sd);
        log_sum_exp(self.gaussians().map(term))
    }

    /// Logarithm of the probability between two ends, each of which may be infinite; the upper one counts.
    fn log_between(&self, low: f64, high: f64) -> f64 {
        let of_gaussian = |(weight, mean, sd)| libm::log(weight) + Piece::new(mean, sd, low, high).log_mass();
        let of_atom =
            |(weight, place)| if low < place && place <= high { libm::log(weight) } else { f64::NEG_INFINITY };
        log_sum_exp(self.gaussians().map(of_gaussian).chain(self.atoms().map(of_atom))).min(0.0)
    }

    /// Logarithm of the probability within `step` / 2 of `y`: finite wherever [`Mixture::log_pdf`] is. Atoms
    /// count above y - `step` / 2 and up to y + `step` / 2.
    fn log_mass(&self, y: f64, step: f64) -> f64 {
        let of_gaussian =
            |(weight, mean, sd): (f64, f64, f64)| libm::log(weight) + mass::log_mass((y - mean).abs(), step, sd);
        // Of two values a step apart only one has the atom half way between them.
        let near = |place: f64| y - 0.5 * step < place && place <= y + 0.5 * step;
        let of_atom = |(weight, place)| if near(place) { libm::log(weight) } else { f64::NEG_INFINITY };
        let terms = self.gaussians().map(of_gaussian).chain(self.atoms().map(of_atom));
        // Rounding must not make it more than certain.
        log_sum_exp(terms).min(0.0)
    }

    /// The value that the variable stays below with probability `level`; -inf at 0, inf at 1, NaN outside [0, 1]. Where the
    /// distribution function jumps over the level it is the atom that makes it jump.
    ///
    /// Exact to rounding for every level in between, also where the distribution function is nearly flat between two
    /// components. Where they are so far apart that even their tails are 0 in f64, one value of the flat stretch is returned.
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

    /// Mean of the lowest `level` share of values, E[Y | Y <= q] with q the quantile at `level` in (0, 1).
    ///
    /// With a_k = (q - mean_k) / sd_k it is sum_k weight_k (mean_k cdf(a_k) - sd_k pdf(a_k)) / level. Far out in a tail that
    /// is a difference of nearly equal numbers, so it is computed as what it means: each component's own tail mean,
    /// q - sd_k (a_k + pdf(a_k) / cdf(a_k)), averaged with the component's share of the tail, weight_k cdf(a_k). Of an atom at
    /// q the part counts that the tail has room for.
    fn shortfall_below(&self, level: f64) -> f64 {
        tail::tail_mean(*self, level, Tail::Lower)
    }

    /// Mean of the highest `level` share of values, E[Y | Y >= q] with q the quantile at 1 - `level`.
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
            // Rounding may leave a hair less than nothing.
            return score.max(0.0);
        }
        if !y.is_finite() {
            return y.abs();
        }
        // Distances left the range of a double: scale the unit down, and the score back up.
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
