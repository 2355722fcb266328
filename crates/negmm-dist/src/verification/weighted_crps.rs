//! CRPS with weights on thresholds or on quantiles: scores that look at a part of the distribution.

use super::quantile_score;
use crate::distribution::Distribution;
use crate::distribution_ref::{DistributionKind, DistributionRef};
use crate::math::quadrature;

/// Levels between which integrals are split: the cdf and the quantile function are smooth on each part.
const PANELS: [f64; 13] = [1e-12, 1e-9, 1e-6, 1e-4, 1e-3, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.45, 0.5];

/// Deepest halving of an interval, and the relative change at which it ends.
const MAX_DEPTH: u32 = 30;
const TOLERANCE: f64 = 1e-12;

/// The weight of a level in [`quantile_weighted_crps`] (Gneiting and Ranjan, 2011).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuantileWeight {
    /// 1: the CRPS.
    Uniform,
    /// u (1 - u).
    Centre,
    /// (2 u - 1)².
    Tails,
    /// u².
    Right,
    /// (1 - u)².
    Left,
}

impl QuantileWeight {
    /// Its name: `uniform`, `centre`, `tails`, `right` or `left`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Uniform => "uniform",
            Self::Centre => "centre",
            Self::Tails => "tails",
            Self::Right => "right",
            Self::Left => "left",
        }
    }

    /// The weight of that name.
    pub fn by_name(name: &str) -> Option<Self> {
        [Self::Uniform, Self::Centre, Self::Tails, Self::Right, Self::Left].into_iter().find(|own| own.name() == name)
    }

    fn at(self, level: f64) -> f64 {
        match self {
            Self::Uniform => 1.0,
            Self::Centre => level * (1.0 - level),
            Self::Tails => (2.0 * level - 1.0) * (2.0 * level - 1.0),
            Self::Right => level * level,
            Self::Left => (1.0 - level) * (1.0 - level),
        }
    }
}

/// Threshold-weighted CRPS: the part of the integral of (F(t) - 1{y <= t})² between two thresholds, either of which may be
/// infinite. Exact for samples, to 1e-10 for others.
pub fn threshold_weighted_crps(row: DistributionRef<'_>, y: f64, lower: f64, upper: f64) -> f64 {
    if lower >= upper {
        return 0.0;
    }
    if let DistributionKind::Samples(samples) = row.kind {
        // Chaining: the CRPS of the clamped variable.
        let clamped: Vec<f64> = samples.values.iter().map(|value| value.clamp(lower, upper)).collect();
        return crate::samples::SampleSet { values: &clamped, sd_floor: samples.sd_floor }.crps(y.clamp(lower, upper));
    }
    let mut ends = vec![y, lower, upper];
    for level in PANELS {
        ends.extend([row.quantile(level), row.quantile_above(level)]);
    }
    if let DistributionKind::Quantiles(quantiles) = row.kind {
        ends.extend_from_slice(quantiles.values);
    }
    ends.retain(|end| end.is_finite() && lower <= *end && *end <= upper);
    ends.sort_unstable_by(f64::total_cmp);
    ends.dedup();
    let part = |ends: &[f64]| {
        let (low, high) = (ends[0], ends[1]);
        let above = low >= y;
        let f = |t: f64| {
            let distance = if above { row.survival(t) } else { row.cdf(t) };
            distance * distance
        };
        adaptive(&f, low, high)
    };
    ends.windows(2).map(part).sum()
}

/// Quantile-weighted CRPS: 2 ∫ v(u) quantile score at level u du over (0, 1), by quadrature on graded panels.
pub fn quantile_weighted_crps(row: DistributionRef<'_>, y: f64, weight: QuantileWeight) -> f64 {
    let pit = row.cdf(y);
    let mut ends: Vec<f64> = PANELS.iter().flat_map(|level| [*level, 1.0 - level]).chain([0.0, 1.0]).collect();
    ends.extend([pit, row.below(y)].into_iter().filter(|level| *level > 0.0 && *level < 1.0));
    match row.kind {
        DistributionKind::Quantiles(quantiles) => ends.extend_from_slice(quantiles.levels),
        DistributionKind::Samples(samples) => {
            let count = samples.values.len();
            ends.extend((1..count).map(|rank| rank as f64 / count as f64));
        }
        _ => {}
    }
    ends.sort_unstable_by(f64::total_cmp);
    ends.dedup();
    // Quantiles of samples are values of the empirical distribution, without interpolation.
    let quantile = |level: f64| match row.kind {
        DistributionKind::Samples(samples) => samples.smallest_up_to(level),
        _ if level > 0.5 => row.quantile_above(1.0 - level),
        _ => row.quantile(level),
    };
    let f = |level: f64| weight.at(level) * quantile_score(y, quantile(level), level);
    2.0 * ends.windows(2).map(|ends| quadrature::integral(ends[0], ends[1], |level| [f(level)])[0]).sum::<f64>()
}

/// ∫ f from `low` to `high`, halved until it no longer changes.
fn adaptive(f: &impl Fn(f64) -> f64, low: f64, high: f64) -> f64 {
    fn refine(f: &impl Fn(f64) -> f64, low: f64, high: f64, whole: f64, depth: u32) -> f64 {
        let middle = 0.5 * low + 0.5 * high;
        let of = |low: f64, high: f64| quadrature::integral(low, high, |t| [f(t)])[0];
        let (left, right) = (of(low, middle), of(middle, high));
        if (left + right - whole).abs() <= TOLERANCE * (left + right) || depth == 0 {
            return left + right;
        }
        refine(f, low, middle, left, depth - 1) + refine(f, middle, high, right, depth - 1)
    }
    let whole = quadrature::integral(low, high, |t| [f(t)])[0];
    refine(f, low, high, whole, MAX_DEPTH)
}
