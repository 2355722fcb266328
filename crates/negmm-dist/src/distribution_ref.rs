//! A reference to the distribution of one row: a mixture or samples on a support, quantiles or a parametric family.

use crate::distribution::Distribution;
use crate::family::Family;
use crate::grid::Grid;
use crate::highest_density::HighestDensityRegion;
use crate::interval::Interval;
use crate::math::quadrature;
use crate::math::rng::Rng;
use crate::mixture::{
    DensityRanking, Mixture, PositiveWeights, QuantileLevel, RoundedMixture, TruncatedMixture, shape,
};
use crate::quantiles::QuantileSet;
use crate::samples::SampleSet;
use crate::support::Support;

/// The mode of quantiles and families is the middle of the highest-density region of this coverage.
const MODE_COVERAGE: f64 = 1e-3;
/// Panels of levels in each half of a distribution, each half as wide as the one before.
const TAIL_PANELS: usize = 40;

/// The predicted distribution of one row.
#[derive(Clone, Copy, Debug)]
pub struct DistributionRef<'a> {
    /// What it is. A mixture is truncated or rounded to the support; all else lies on it already.
    pub kind: DistributionKind<'a>,
    /// The values that the target can take.
    pub support: Support,
}

/// The kind of a predicted distribution.
#[derive(Clone, Copy, Debug)]
pub enum DistributionKind<'a> {
    /// A Gaussian mixture.
    Mixture(Mixture<'a>),
    /// Equally likely samples; their density is that of the normal distribution with the same mean and sd.
    Samples(SampleSet<'a>),
    /// Quantiles or a histogram: a piecewise linear cdf.
    Quantiles(QuantileSet<'a>),
    /// A parametric family.
    Family(Family),
}

impl<'a> From<Mixture<'a>> for DistributionRef<'a> {
    fn from(mixture: Mixture<'a>) -> Self {
        Self { kind: DistributionKind::Mixture(mixture), support: Support::default() }
    }
}

/// Samples of a variable on a grid: quantiles are values of the grid, and arguments are snapped to it.
struct GridSamples<'a> {
    samples: SampleSet<'a>,
    support: Support,
    grid: Grid,
}

impl GridSamples<'_> {
    /// The value of the grid that equals `y` but for rounding, if there is one; else `y`.
    fn snapped(&self, y: f64) -> f64 {
        if self.support.contains(y) { self.support.nearest(y) } else { y }
    }
}

impl Distribution for GridSamples<'_> {
    fn mean(&self) -> f64 {
        self.samples.mean()
    }

    fn variance(&self) -> f64 {
        self.samples.variance()
    }

    fn sd(&self) -> f64 {
        self.samples.sd()
    }

    fn cdf(&self, y: f64) -> f64 {
        self.samples.cdf(self.snapped(y))
    }

    fn survival(&self, y: f64) -> f64 {
        self.samples.survival(self.snapped(y))
    }

    fn point_probability(&self, y: f64) -> f64 {
        self.samples.point_probability(self.snapped(y))
    }

    fn below(&self, y: f64) -> f64 {
        if self.point_probability(y) == 0.0 { self.cdf(y) } else { self.cdf(self.snapped(y) - 0.5 * self.grid.step()) }
    }

    fn pdf(&self, y: f64) -> f64 {
        self.samples.pdf(y)
    }

    fn log_pdf(&self, y: f64) -> f64 {
        self.samples.log_pdf(y)
    }

    /// Logarithm of the probability of the cell of `y` by the normal distribution with the samples' mean and sd.
    fn log_likelihood(&self, y: f64) -> f64 {
        if self.support.contains(y) { self.log_mass(y, 0.0) } else { f64::NEG_INFINITY }
    }

    fn log_between(&self, low: f64, high: f64) -> f64 {
        let (low, high) = self.grid.edges_between(low, high);
        self.samples.log_between(low, high)
    }

    fn log_mass(&self, y: f64, _: f64) -> f64 {
        let (low, high) = self.grid.ends(self.grid.cell(y));
        self.samples.log_between(low, high)
    }

    fn quantile(&self, level: f64) -> f64 {
        self.samples.smallest_up_to(level)
    }

    fn quantile_above(&self, level: f64) -> f64 {
        self.samples.smallest_up_to(1.0 - level)
    }

    fn hdr(&self, coverage: f64) -> HighestDensityRegion {
        let row = DistributionRef { kind: DistributionKind::Samples(self.samples), support: self.support };
        row.hdr(coverage)
    }

    fn shortfall_below(&self, level: f64) -> f64 {
        self.samples.shortfall_below(level)
    }

    fn shortfall_above(&self, level: f64) -> f64 {
        self.samples.shortfall_above(level)
    }

    fn crps(&self, y: f64) -> f64 {
        self.samples.crps(y)
    }

    fn sample(&self, rng: &mut Rng) -> f64 {
        self.samples.sample(rng)
    }
}

impl DistributionRef<'_> {
    /// Calls `answer` with the same distribution, of whose mixture only the components with a weight are left; for several answers.
    pub(crate) fn without_empty<T>(&self, answer: impl FnOnce(DistributionRef<'_>) -> T) -> T {
        let DistributionKind::Mixture(mixture) = self.kind else { return answer(*self) };
        match PositiveWeights::of(mixture) {
            Some(copy) => {
                answer(DistributionRef { kind: DistributionKind::Mixture(copy.mixture()), support: self.support })
            }
            None => answer(*self),
        }
    }

    /// Calls `answer` with the distribution on its support.
    #[inline]
    pub(crate) fn on_support<T>(&self, answer: impl FnOnce(&dyn Distribution) -> T) -> T {
        match (self.kind, self.support.grid()) {
            (DistributionKind::Quantiles(quantiles), _) => answer(&quantiles),
            (DistributionKind::Family(family), _) => answer(&family),
            (DistributionKind::Samples(samples), None) => answer(&samples),
            (DistributionKind::Samples(samples), Some(grid)) => {
                answer(&GridSamples { samples, support: self.support, grid })
            }
            (DistributionKind::Mixture(mixture), Some(grid)) => answer(&RoundedMixture { mixture, grid }),
            (DistributionKind::Mixture(mixture), None) if self.support.is_whole_line() => answer(&mixture),
            (DistributionKind::Mixture(mixture), None) => {
                let (lower, upper) = self.support.bounds();
                answer(&TruncatedMixture::new(mixture, lower, upper))
            }
        }
    }

    /// The sd of the moment-matched normal distribution; positive also if all samples coincide, or all is one atom.
    pub fn normal_sd(&self) -> f64 {
        match self.kind {
            DistributionKind::Samples(samples) => samples.normal_sd(),
            _ => self.sd().max(f64::MIN_POSITIVE),
        }
    }

    /// Logarithmic score of `y` by its density, on a grid by the density of the mixture before rounding; at an atom by its point
    /// probability. The score of a discrete target is minus [`Distribution::log_mass`].
    pub fn nll(&self, y: f64) -> f64 {
        self.on_support(|row| self.nll_on(row, y))
    }

    /// The same if the distribution on its support is there.
    pub(crate) fn nll_on(&self, on_support: &dyn Distribution, y: f64) -> f64 {
        match self.kind {
            DistributionKind::Mixture(mixture) if self.support.step.is_some() => -mixture.log_likelihood(y),
            DistributionKind::Samples(samples) => -samples.log_pdf(y),
            _ => -on_support.log_likelihood(y),
        }
    }

    /// The quantiles at these levels.
    pub(crate) fn quantiles(&self, levels: &[QuantileLevel], quantiles: &mut [f64]) {
        self.without_empty(|row| {
            row.on_support(|row| {
                for (quantile, level) in quantiles.iter_mut().zip(levels) {
                    *quantile = match *level {
                        QuantileLevel::Below(level) => row.quantile(level),
                        QuantileLevel::Above(level) => row.quantile_above(level),
                    };
                }
            });
        });
    }

    /// Whether it is the mixture of another row, number by number.
    pub(crate) fn is_mixture_of(&self, other: &Self) -> bool {
        match (self.kind, other.kind) {
            (DistributionKind::Mixture(own), DistributionKind::Mixture(other)) => {
                own.weights == other.weights && own.means == other.means && own.sds == other.sds
            }
            _ => false,
        }
    }

    /// Logarithmic score of a target between two ends: that of its value if both are equal, else minus
    /// [`Distribution::log_between`].
    pub fn censored_nll(&self, lower: f64, upper: f64) -> f64 {
        if lower == upper { self.nll(lower) } else { -self.log_between(lower, upper) }
    }

    /// The mode: on a grid the most probable value, else the maximum of the density (of samples, of their kernel density estimate), or
    /// the most probable atom, unless the most probable interval of a tenth of the sd has more probability.
    pub fn mode(&self) -> f64 {
        match self.kind {
            DistributionKind::Quantiles(_) | DistributionKind::Family(_) => {
                let inside = self.hdr(MODE_COVERAGE);
                let widest = inside.intervals().iter().max_by(|a, b| a.width().total_cmp(&b.width()));
                let middle = widest.map_or(f64::NAN, |interval| 0.5 * (interval.lower + interval.upper));
                if self.support.step.is_some() { self.support.nearest(middle) } else { middle }
            }
            DistributionKind::Samples(_) => self.ranked(|_| 1.0, |ranking| ranking.mode(self.sd())),
            DistributionKind::Mixture(mixture) => match self.support.grid() {
                Some(grid) => shape::mode_on_grid(mixture, grid),
                None => self.ranked(|_| 1.0, |ranking| ranking.mode(self.sd())),
            },
        }
    }

    /// Differential entropy in nats; of a grid that of the probabilities, beside atoms the sum of both. For samples that of the normal
    /// distribution with their mean and sd.
    pub fn entropy(&self) -> f64 {
        match self.kind {
            DistributionKind::Mixture(mixture) => shape::entropy(mixture, self.support.bounds(), self.support.grid()),
            DistributionKind::Samples(_) => libm::log(self.sd()) + 0.5 * (1.0 + libm::log(2.0 * std::f64::consts::PI)),
            // -∫ ln p dF over the levels of the quantiles.
            _ => self.over_levels(|y| match self.support.step {
                Some(_) => -libm::log(self.point_probability(y)),
                None => -self.log_pdf(y),
            }),
        }
    }

    /// E Yⁿ, the raw moment of an order.
    pub fn raw_moment(&self, order: u32) -> f64 {
        let power = |y: f64| (0..order).fold(1.0, |product, _| product * y);
        match self.kind {
            DistributionKind::Mixture(mixture) => {
                shape::raw_moment(mixture, self.support.bounds(), self.support.grid(), order)
            }
            DistributionKind::Samples(samples) => {
                samples.values.iter().map(|value| power(*value)).sum::<f64>() / samples.values.len() as f64
            }
            _ => self.over_levels(power),
        }
    }

    /// E f(Y) of quantiles and families: ∫ f(quantile(u)) du, with panels that are narrower towards both ends.
    fn over_levels(&self, f: impl Fn(f64) -> f64) -> f64 {
        let mut sum = 0.0;
        // Both tails from the end, where levels near 1 would be rounded.
        for quantile in [Distribution::quantile, Distribution::quantile_above] {
            let mut high = 0.5;
            for _ in 0..TAIL_PANELS {
                let low = 0.5 * high;
                let [part] = quadrature::integral(low, high, |level| [f(quantile(self, level))]);
                sum += part;
                high = low;
            }
            sum += high * f(quantile(self, high));
        }
        sum
    }

    /// The highest-density region that leaves at most the probability `outside` outside; unbounded for 0.
    pub fn region_leaving(&self, outside: f64) -> HighestDensityRegion {
        if outside <= 0.0 {
            return HighestDensityRegion::unbounded();
        }
        match self.kind {
            DistributionKind::Quantiles(quantiles) => quantiles.region(outside, false),
            DistributionKind::Family(family) => family.hdr(1.0 - outside),
            _ => self.ranked(|_| outside, |ranking| ranking.leaving(outside)),
        }
    }

    /// The probability of all values that are at most as likely as `y`; 0 for a value outside the support.
    pub fn region_tail(&self, y: f64) -> f64 {
        if !self.support.contains(y) {
            return 0.0;
        }
        let own = |(mixture, grid): (Mixture<'_>, Grid)| libm::exp(log_cell(mixture, grid, y));
        match self.kind {
            DistributionKind::Quantiles(quantiles) => quantiles.region_tail(y),
            DistributionKind::Family(family) => family.region_tail(y),
            _ => self.ranked(own, |ranking| ranking.tail(y)),
        }
    }

    /// The central interval that leaves half of the probability `outside` on each side; unbounded for 0.
    pub fn interval_leaving(&self, outside: f64) -> Interval {
        if outside <= 0.0 {
            return Interval::UNBOUNDED;
        }
        let end = 0.5 * outside;
        self.smoothed(|row| Interval { lower: row.quantile(end), upper: row.quantile_above(end) })
    }

    /// Twice the smaller of P(Y <= y) and P(Y >= y), at most 1; 0 for a value outside the support.
    pub fn interval_tail(&self, y: f64) -> f64 {
        if !self.support.contains(y) {
            return 0.0;
        }
        self.smoothed(|row| {
            let from = match row.support.step {
                Some(step) => row.survival(y - 0.5 * step),
                None => row.survival(y) + row.point_probability(y),
            };
            (2.0 * row.cdf(y).min(from)).min(1.0)
        })
    }

    /// Calls `answer` with the row; samples are replaced by their kernel density estimate.
    fn smoothed<T>(&self, answer: impl FnOnce(DistributionRef<'_>) -> T) -> T {
        let DistributionKind::Samples(samples) = self.kind else { return answer(*self) };
        let kernel = samples.smoothed(self.support.step.is_some());
        answer(DistributionRef { kind: DistributionKind::Mixture(kernel.row(0)), support: self.support })
    }

    /// Calls `answer` with the ranking of values; `least` gives the smallest probability that matters on a grid.
    fn ranked<T>(&self, least: impl FnOnce((Mixture<'_>, Grid)) -> f64, answer: impl FnOnce(DensityRanking) -> T) -> T {
        let kernel;
        let mixture = match self.kind {
            DistributionKind::Mixture(mixture) => mixture,
            DistributionKind::Samples(samples) => {
                kernel = samples.smoothed(self.support.step.is_some());
                kernel.row(0)
            }
            DistributionKind::Quantiles(_) | DistributionKind::Family(_) => {
                unreachable!("quantiles and families have regions of their own")
            }
        };
        let row = DistributionRef { kind: DistributionKind::Mixture(mixture), support: self.support };
        answer(match row.support.grid() {
            Some(grid) => DensityRanking::on_grid(mixture, grid, least((mixture, grid))),
            None => DensityRanking::between(mixture, row.support.bounds(), row.log_inside()),
        })
    }

    /// Logarithm of the mixture's probability between the bounds if it is truncated; 0 otherwise.
    pub(crate) fn log_inside(&self) -> f64 {
        match (self.kind, self.support.grid()) {
            (DistributionKind::Mixture(mixture), None) if !self.support.is_whole_line() => {
                let (lower, upper) = self.support.bounds();
                TruncatedMixture::new(mixture, lower, upper).log_inside
            }
            _ => 0.0,
        }
    }
}

/// Logarithm of the probability of the cell of `y`.
fn log_cell(mixture: Mixture<'_>, grid: Grid, y: f64) -> f64 {
    let (low, high) = grid.ends(grid.cell(y));
    mixture.log_between(low, high)
}

impl Distribution for DistributionRef<'_> {
    fn mean(&self) -> f64 {
        self.on_support(|row| row.mean())
    }

    fn variance(&self) -> f64 {
        self.on_support(|row| row.variance())
    }

    fn sd(&self) -> f64 {
        self.on_support(|row| row.sd())
    }

    fn mean_and_sd(&self) -> (f64, f64) {
        self.on_support(|row| row.mean_and_sd())
    }

    fn variance_within(&self) -> f64 {
        self.on_support(|row| row.variance_within())
    }

    fn variance_between(&self) -> f64 {
        self.on_support(|row| row.variance_between())
    }

    fn cdf(&self, y: f64) -> f64 {
        self.on_support(|row| row.cdf(y))
    }

    fn survival(&self, y: f64) -> f64 {
        self.on_support(|row| row.survival(y))
    }

    fn point_probability(&self, y: f64) -> f64 {
        self.on_support(|row| row.point_probability(y))
    }

    fn below(&self, y: f64) -> f64 {
        self.on_support(|row| row.below(y))
    }

    fn pdf(&self, y: f64) -> f64 {
        self.on_support(|row| row.pdf(y))
    }

    fn log_pdf(&self, y: f64) -> f64 {
        self.on_support(|row| row.log_pdf(y))
    }

    fn log_likelihood(&self, y: f64) -> f64 {
        self.on_support(|row| row.log_likelihood(y))
    }

    fn log_between(&self, low: f64, high: f64) -> f64 {
        self.on_support(|row| row.log_between(low, high))
    }

    fn log_mass(&self, y: f64, step: f64) -> f64 {
        self.on_support(|row| row.log_mass(y, step))
    }

    fn quantile(&self, level: f64) -> f64 {
        self.on_support(|row| row.quantile(level))
    }

    fn quantile_above(&self, level: f64) -> f64 {
        self.on_support(|row| row.quantile_above(level))
    }

    /// For samples that of their kernel density estimate. Atoms that are rare beside a density are left out.
    fn hdr(&self, coverage: f64) -> HighestDensityRegion {
        match self.kind {
            DistributionKind::Quantiles(quantiles) => quantiles.hdr(coverage),
            DistributionKind::Mixture(mixture) if self.support.step.is_none() && mixture.atoms().next().is_some() => {
                let outside = 1.0 - coverage;
                self.ranked(|_| outside, |ranking| ranking.leaving_rare_atoms(outside, self.sd()))
            }
            _ => self.region_leaving(1.0 - coverage),
        }
    }

    fn shortfall_below(&self, level: f64) -> f64 {
        if level >= 1.0 { self.mean() } else { self.on_support(|row| row.shortfall_below(level)) }
    }

    fn shortfall_above(&self, level: f64) -> f64 {
        if level >= 1.0 { self.mean() } else { self.on_support(|row| row.shortfall_above(level)) }
    }

    fn crps(&self, y: f64) -> f64 {
        self.on_support(|row| row.crps(y))
    }

    fn pit(&self, y: f64) -> f64 {
        self.on_support(|row| row.pit(y))
    }

    fn sample(&self, rng: &mut Rng) -> f64 {
        self.on_support(|row| row.sample(rng))
    }

    fn fill(&self, draws: &mut [f64], rng: &mut Rng) {
        self.on_support(|row| row.fill(draws, rng));
    }
}
