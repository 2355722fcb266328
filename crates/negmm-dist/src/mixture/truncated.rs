//! Truncated mixtures: a mixture given that the variable lies between two bounds, exactly.
//!
//! It is a mixture of truncated components, each weighted by its probability between the bounds. The weights come from logarithms
//! and distances are measured from the highest density, so that results are exact even if the probability inside is tiny.

use super::moments::Moments;
use super::mostly_inside::MostlyInside;
use super::panels::Panels;
use super::quantile::{Bracket, InvertibleCdf, Tail};
use super::truncated_component::{FAR, TruncatedComponent};
use super::{DensityRanking, Mixture, log_sum_exp};
use crate::distribution::Distribution;
use crate::highest_density::HighestDensityRegion;
use crate::math::rng::Rng;
use crate::math::{normal, normal_interval};
use std::cell::OnceCell;

/// Draws from the whole mixture before one is made by inverting the distribution function.
const TRIES: usize = 16;

/// A mixture given that the variable lies between two bounds, each of which may be infinite.
///
/// If even the logarithm of the probability inside underflows, it is an atom at the bound that is nearest to the mean.
pub(crate) struct TruncatedMixture<'a> {
    mixture: Mixture<'a>,
    lower: f64,
    upper: f64,
    /// The probabilities beyond the bounds if they are small; many answers then follow from those of the mixture.
    outside: Option<MostlyInside>,
    /// Weights, which sum to 1, and truncated components, when they are needed.
    components: OnceCell<Vec<(f64, TruncatedComponent)>>,
    /// Logarithm of the mixture's probability between the bounds.
    pub(crate) log_inside: f64,
}

impl TruncatedMixture<'_> {
    fn moments(&self) -> Moments {
        let mut beginnings = Vec::new();
        self.components().iter().for_each(|(_, component)| component.needed_far_tails(&mut beginnings));
        let mut far = normal_interval::far_tails(&beginnings).into_iter();
        let mut next = |_| far.next().unwrap_or_default();
        let components =
            self.components().iter().map(|(weight, component)| (*weight, component.mean_and_sd_by(&mut next)));
        Moments::new(components, (self.lower, self.upper))
    }
}

impl<'a> TruncatedMixture<'a> {
    /// `lower` is at most `upper`.
    pub(crate) fn new(mixture: Mixture<'a>, lower: f64, upper: f64) -> Self {
        match MostlyInside::of(mixture, lower, upper) {
            Some(outside) => {
                let log_inside = outside.log_inside();
                Self { mixture, lower, upper, outside: Some(outside), components: OnceCell::new(), log_inside }
            }
            None => Self::by_components(mixture, lower, upper),
        }
    }

    /// By truncated components alone: exact however little is between the bounds.
    pub(super) fn by_components(mixture: Mixture<'a>, lower: f64, upper: f64) -> Self {
        let log_weight = |weight: f64, component: &TruncatedComponent| match component.sd {
            0.0 => libm::log(weight),
            _ => libm::log(weight) + component.log_mass(),
        };
        let mut components = parts_between(mixture, lower, upper, log_weight);
        let log_inside = log_sum_exp(components.iter().map(|(log_weight, _)| *log_weight));
        if log_inside == f64::NEG_INFINITY {
            components = vec![(1.0, TruncatedComponent::atom(mixture.mean().clamp(lower, upper)))];
        } else {
            components.iter_mut().for_each(|(weight, _)| *weight = libm::exp(*weight - log_inside));
            components.retain(|(weight, _)| *weight > 0.0);
        }
        Self { mixture, lower, upper, outside: None, components: components.into(), log_inside }
    }

    /// Weights, which sum to 1, and truncated components.
    fn components(&self) -> &[(f64, TruncatedComponent)] {
        self.components.get_or_init(|| {
            let inside = self.outside.as_ref().map_or(1.0, MostlyInside::inside);
            let share = |weight: f64, component: &TruncatedComponent| match component.is_inside() || component.sd == 0.0
            {
                true => weight / inside,
                false => weight * libm::exp(component.log_mass()) / inside,
            };
            let mut components = parts_between(self.mixture, self.lower, self.upper, share);
            components.retain(|(weight, _)| *weight > 0.0);
            components
        })
    }

    /// The same, taken.
    pub(super) fn into_components(self) -> Vec<(f64, TruncatedComponent)> {
        self.components();
        self.components.into_inner().unwrap_or_default()
    }

    /// Whether `y` lies between the bounds.
    fn contains(&self, y: f64) -> bool {
        self.lower <= y && y <= self.upper
    }

    /// Mean of a tail with the probability `level`, the values from `low` to `high`: one end is the quantile, the other a bound.
    /// `probability` gives the probability of a component's tail. An atom at the quantile counts as far as `level` allows.
    fn tail_mean(
        &self,
        level: f64,
        quantile: f64,
        low: f64,
        high: f64,
        probability: fn(&TruncatedComponent, f64) -> f64,
    ) -> f64 {
        let (mut total, mut tail, mut at_quantile) = (0.0, 0.0, 0.0);
        for (weight, component) in self.components() {
            let mean = match component.sd {
                0.0 if component.base == quantile => {
                    at_quantile += weight;
                    continue;
                }
                0.0 => component.base,
                _ => component.between(low, high).moments().0,
            };
            let mass = weight * probability(component, quantile);
            if mass > 0.0 {
                total += mass * (mean - quantile);
                tail += mass;
            }
        }
        tail += (level - tail).clamp(0.0, at_quantile);
        let mean = if tail > 0.0 { quantile + total / tail } else { quantile };
        mean.clamp(low, high)
    }
}

impl TruncatedMixture<'_> {
    /// The value with that probability in its tail; a bound for 0.
    fn value_in_tail(&self, level: f64, tail: Tail) -> f64 {
        let whole = self.outside.as_ref().and_then(|outside| outside.tail_quantile(self.mixture, level, tail));
        whole.unwrap_or_else(|| self.tail_quantile(level, tail)).clamp(self.lower, self.upper)
    }

    /// Energy score of a finite `y` by quadrature, or that of the mixture if the bounds cut off nothing.
    pub(super) fn crps_by_quadrature(&self, y: f64) -> f64 {
        let all_there = self.log_inside.is_finite() && self.components().len() == self.mixture.parts().count();
        if all_there && self.components().iter().all(|(_, component)| component.is_whole()) {
            return self.mixture.crps(y);
        }
        let panels = Panels::new(self.components().iter().map(|(_, component)| *component));
        let (first, last) = panels.ends();
        let inside = y.clamp(self.lower, self.upper);
        let square = |probability: f64| probability * probability;
        // Of a pool of many components most are far from most points.
        let total = |x: f64, sign: f64, near: fn(&TruncatedComponent, f64) -> f64| -> f64 {
            let part = |(weight, component): &(f64, TruncatedComponent)| match sign * component.sds_from_base(x) {
                sds if sds >= FAR => *weight,
                sds if sds <= -FAR => 0.0,
                _ => weight * near(component, x),
            };
            self.components().iter().map(part).sum::<f64>().min(1.0)
        };
        let below = panels.integral(first.min(inside), inside, |x| square(total(x, 1.0, TruncatedComponent::below)));
        let above = panels.integral(inside, last.max(inside), |x| square(total(x, -1.0, TruncatedComponent::above)));
        (y - inside).abs() + below + above
    }
}

/// The components between the bounds, each with what `weigh` gives for its weight.
fn parts_between(
    mixture: Mixture<'_>,
    lower: f64,
    upper: f64,
    weigh: impl Fn(f64, &TruncatedComponent) -> f64,
) -> Vec<(f64, TruncatedComponent)> {
    let gaussians = mixture.gaussians().map(|(_, mean, sd)| TruncatedComponent::new(mean, sd, lower, upper));
    let atoms = mixture.atoms().filter(|(_, value)| lower <= *value && *value <= upper);
    let gaussians = mixture.gaussians().map(|(weight, ..)| weight).zip(gaussians);
    let parts = gaussians.chain(atoms.map(|(weight, value)| (weight, TruncatedComponent::atom(value))));
    parts.map(|(weight, component)| (weigh(weight, &component), component)).collect()
}

impl Distribution for TruncatedMixture<'_> {
    fn mean(&self) -> f64 {
        self.moments().mean()
    }

    fn variance(&self) -> f64 {
        self.moments().variance()
    }

    fn sd(&self) -> f64 {
        self.moments().sd()
    }

    fn mean_and_sd(&self) -> (f64, f64) {
        self.moments().mean_and_sd()
    }

    fn variance_within(&self) -> f64 {
        self.moments().variance_within()
    }

    fn variance_between(&self) -> f64 {
        self.moments().variance_between()
    }

    /// Probability of a value up to `y`.
    fn cdf(&self, y: f64) -> f64 {
        match y {
            _ if y < self.lower => 0.0,
            _ if y >= self.upper => 1.0,
            _ => self.components().iter().map(|(weight, component)| weight * component.below(y)).sum::<f64>().min(1.0),
        }
    }

    /// Probability of a value above `y`.
    fn survival(&self, y: f64) -> f64 {
        match y {
            _ if y < self.lower => 1.0,
            _ if y >= self.upper => 0.0,
            _ => self.components().iter().map(|(weight, component)| weight * component.above(y)).sum::<f64>().min(1.0),
        }
    }

    /// Probability of exactly `y`.
    fn point_probability(&self, y: f64) -> f64 {
        self.components().iter().map(|(weight, component)| weight * component.mass(y)).sum::<f64>().min(1.0)
    }

    /// Density at `y` of all but the atoms.
    fn pdf(&self, y: f64) -> f64 {
        let density = || self.components().iter().map(|(weight, component)| weight * component.pdf(y)).sum();
        if self.contains(y) { density() } else { 0.0 }
    }

    /// Logarithm of that density.
    fn log_pdf(&self, y: f64) -> f64 {
        let possible = self.contains(y) && self.log_inside > f64::NEG_INFINITY;
        if possible { self.mixture.log_pdf(y) - self.log_inside } else { f64::NEG_INFINITY }
    }

    /// Logarithm of the probability above `low` and up to `high`.
    fn log_between(&self, low: f64, high: f64) -> f64 {
        if self.log_inside == f64::NEG_INFINITY {
            return libm::log(self.cdf(high) - self.cdf(low));
        }
        // An atom at the lower bound counts.
        let (low, high) = (low.max(self.lower.next_down()), high.min(self.upper));
        if low >= high {
            return f64::NEG_INFINITY;
        }
        (self.mixture.log_between(low, high) - self.log_inside).min(0.0)
    }

    /// The value that the variable stays below with probability `level`; a bound at 0 and at 1.
    fn quantile(&self, level: f64) -> f64 {
        self.value_in_tail(level, Tail::Lower)
    }

    /// The value that the variable exceeds with probability `level`.
    fn quantile_above(&self, level: f64) -> f64 {
        self.value_in_tail(level, Tail::Upper)
    }

    fn hdr(&self, coverage: f64) -> HighestDensityRegion {
        DensityRanking::between(self.mixture, (self.lower, self.upper), self.log_inside).leaving(1.0 - coverage)
    }

    fn shortfall_below(&self, level: f64) -> f64 {
        let quantile = self.quantile(level);
        self.tail_mean(level, quantile, self.lower, quantile, TruncatedComponent::below)
    }

    fn shortfall_above(&self, level: f64) -> f64 {
        let quantile = self.quantile_above(level);
        self.tail_mean(level, quantile, quantile, self.upper, TruncatedComponent::above)
    }

    /// Energy score of the observation `y`: ∫ (F(x) - 1{x >= y})² dx.
    fn crps(&self, y: f64) -> f64 {
        if !y.is_finite() {
            return y.abs();
        }
        let inside = y.clamp(self.lower, self.upper);
        let score = |outside: &MostlyInside| outside.crps(self.mixture, (self.lower, self.upper), inside);
        match self.outside.as_ref().and_then(score) {
            Some(score) => (y - inside).abs() + score,
            None => self.crps_by_quadrature(y),
        }
    }

    /// A random draw: of the mixture, until one lies inside.
    fn sample(&self, rng: &mut Rng) -> f64 {
        let draw = (0..TRIES).map(|_| self.mixture.sample(rng)).find(|draw| self.contains(*draw));
        draw.unwrap_or_else(|| self.quantile(rng.uniform()))
    }
}

impl InvertibleCdf for TruncatedMixture<'_> {
    /// The tails of a truncated component, seen from its base, have at most twice the probability of those of the normal variable, seen
    /// from its mean.
    fn bracket(&self, mass: f64, sign: f64) -> Bracket {
        let (down, up) = (-normal::quantile(0.5 * mass), -normal::quantile(0.5 * (1.0 - mass)));
        let mut bracket = Bracket { low: f64::INFINITY, high: f64::NEG_INFINITY, start: 0.0, scale: 0.0 };
        for (weight, component) in self.components() {
            let (mean, variance) = component.moments();
            bracket.low = bracket.low.min(sign * component.base - component.sd * down);
            bracket.high = bracket.high.max(sign * component.base + component.sd * up);
            bracket.start += weight * sign * mean;
            bracket.scale += weight * variance.sqrt();
        }
        let (lowest, highest) = if sign > 0.0 { (self.lower, self.upper) } else { (-self.upper, -self.lower) };
        Bracket { low: bracket.low.clamp(lowest, highest), high: bracket.high.clamp(lowest, highest), ..bracket }
    }

    /// A component that lies mostly below x counts as its weight minus its upper tail.
    fn excess(&self, x: f64, mass: f64, sign: f64) -> (f64, f64) {
        let (mut whole, mut tails, mut density) = (-mass, 0.0, 0.0);
        for (weight, component) in self.components() {
            let y = sign * x;
            // For the mirrored variable an atom at x counts too.
            let below = if sign > 0.0 { component.below(y) } else { component.above(y) + component.mass(y) };
            if below > 0.5 {
                whole += weight;
                tails -= weight * if sign > 0.0 { component.above(y) } else { component.below(y) - component.mass(y) };
            } else {
                tails += weight * below;
            }
            density += weight * component.pdf(y);
        }
        (whole + tails, density)
    }

    fn jumps(&self) -> impl Iterator<Item = f64> {
        self.components().iter().filter(|(_, component)| component.sd == 0.0).map(|(_, component)| component.base)
    }
}
