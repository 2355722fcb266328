//! CRPS with weights on thresholds or on quantiles: scores that look at a part of the distribution.
//!
//! Both are integrals over thresholds. With the weight v of levels and q(u) - y = ∫ dt from y to q(u), Fubini gives
//!
//! ```text
//! 2 ∫ v(u) (1{y < q(u)} - u) (q(u) - y) du = 2 ∫ below(F(t)) dt over t < y  +  2 ∫ above(1 - F(t)) dt over t > y
//! below(p) = ∫ v(u) u du from 0 to p,   above(s) = ∫ v(1 - w) w dw from 0 to s
//! ```
//!
//! which needs the cdf alone, and is exact where that is a step function or piecewise linear.

use crate::distribution::Distribution;
use crate::distribution_ref::{DistributionKind, DistributionRef};
use crate::math::quadrature;

/// Levels at whose quantiles the integrals are split: the cdf is smooth on each part.
const PANELS: [f64; 13] = [1e-12, 1e-9, 1e-6, 1e-4, 1e-3, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.45, 0.5];

/// Deepest halving of a part, and the change, relative to the whole integral, at which it ends.
const MAX_DEPTH: u32 = 60;
const TOLERANCE: f64 = 1e-13;

/// With more values of a grid than this the jumps of the cdf are found by halving.
const MOST_JUMPS: f64 = 20_000.0;

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

    /// ∫ v(u) u du from 0 to `p`.
    fn below(self, p: f64) -> f64 {
        match self {
            Self::Uniform => p * p / 2.0,
            Self::Centre => p * p * p * (1.0 / 3.0 - p / 4.0),
            Self::Tails => p * p * (0.5 - p * (4.0 / 3.0 - p)),
            Self::Right => p * p * p * p / 4.0,
            Self::Left => p * p * (0.5 - p * (2.0 / 3.0 - p / 4.0)),
        }
    }

    /// ∫ v(1 - w) w dw from 0 to `s`: that of the mirrored weight.
    fn above(self, s: f64) -> f64 {
        match self {
            Self::Right => Self::Left.below(s),
            Self::Left => Self::Right.below(s),
            own => own.below(s),
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
    over_thresholds(row, y, (lower, upper), &|p| p * p, &|s| s * s)
}

/// Quantile-weighted CRPS: 2 ∫ v(u) quantile score at level u du over (0, 1).
pub fn quantile_weighted_crps(row: DistributionRef<'_>, y: f64, weight: QuantileWeight) -> f64 {
    2.0 * over_thresholds(row, y, (f64::NEG_INFINITY, f64::INFINITY), &|p| weight.below(p), &|s| weight.above(s))
}

/// ∫ of `below`(F(t)) over t < y and of `above`(1 - F(t)) over t > y, between two thresholds.
fn over_thresholds(
    row: DistributionRef<'_>,
    y: f64,
    (lower, upper): (f64, f64),
    below: &impl Fn(f64) -> f64,
    above: &impl Fn(f64) -> f64,
) -> f64 {
    let mut ends = vec![y, lower, upper];
    for level in PANELS {
        ends.extend([row.quantile(level), row.quantile_above(level)]);
    }
    let jumps = jumps(row);
    match row.kind {
        DistributionKind::Quantiles(quantiles) => ends.extend_from_slice(quantiles.values),
        // The cdf jumps at components without spread.
        DistributionKind::Mixture(mixture) => {
            let atoms = mixture.means.iter().zip(mixture.sds).filter(|(_, sd)| **sd == 0.0);
            ends.extend(atoms.map(|(mean, _)| *mean));
        }
        _ => {}
    }
    ends.extend(jumps.iter().flatten());
    ends.retain(|end| end.is_finite() && lower <= *end && *end <= upper);
    ends.sort_unstable_by(f64::total_cmp);
    ends.dedup();
    let f = |t: f64| if t > y { above(row.survival(t)) } else { below(row.cdf(t)) };
    let whole = |low: f64, high: f64| match jumps {
        Some(_) => (high - low) * f(0.5 * low + 0.5 * high),
        None => quadrature::integral(low, high, |t| [f(t)])[0],
    };
    let first: Vec<f64> = ends.windows(2).map(|ends| whole(ends[0], ends[1])).collect();
    let total: f64 = first.iter().sum();
    if jumps.is_some() {
        return total;
    }
    let refined = |(ends, whole): (&[f64], &f64)| refine(&f, ends[0], ends[1], *whole, TOLERANCE * total, MAX_DEPTH);
    ends.windows(2).zip(&first).map(refined).sum()
}

/// All values at which the cdf jumps, where it is a step function with not too many of them.
fn jumps(row: DistributionRef<'_>) -> Option<Vec<f64>> {
    let grid = |origin: f64, step: f64| {
        let index = |y: f64| ((y - origin) / step).round();
        let (low, high) = (index(row.quantile(PANELS[0])), index(row.quantile_above(PANELS[0])));
        let few = high - low <= MOST_JUMPS;
        few.then(|| (0..=(high - low) as u32).map(|at| origin + (low + f64::from(at)) * step).collect())
    };
    match row.kind {
        DistributionKind::Samples(samples) => Some(samples.values.to_vec()),
        DistributionKind::Family(family) if family.shape().is_discrete() => grid(0.0, 1.0),
        DistributionKind::Mixture(_) => row.support.step.and_then(|step| grid(row.support.origin, step)),
        _ => None,
    }
}

/// ∫ f from `low` to `high`, which is about `whole`, halved until it changes by no more than `tolerance`.
fn refine(f: &impl Fn(f64) -> f64, low: f64, high: f64, whole: f64, tolerance: f64, depth: u32) -> f64 {
    let middle = 0.5 * low + 0.5 * high;
    let of = |low: f64, high: f64| quadrature::integral(low, high, |t| [f(t)])[0];
    let (left, right) = (of(low, middle), of(middle, high));
    let changes = (left + right - whole).abs() > tolerance;
    if !changes || depth == 0 {
        return left + right;
    }
    refine(f, low, middle, left, tolerance, depth - 1) + refine(f, middle, high, right, tolerance, depth - 1)
}
