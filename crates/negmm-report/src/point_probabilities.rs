//! Point probabilities of a distribution: the values of a discrete one, the atoms of a mixture.

use negmm::{Distribution, DistributionKind, DistributionRef};

/// Values of a discrete distribution that get bars, at most; more are shown as a density.
const MAX_CELLS: f64 = 200.0;

/// The distance of the values of a discrete distribution.
pub fn step(row: DistributionRef<'_>) -> Option<f64> {
    match row.kind {
        DistributionKind::Family(family) => family.shape().is_discrete().then_some(1.0),
        _ => row.support.step,
    }
}

/// Values and probabilities of a discrete distribution between `low` and `high`; `None` for others, and where there are too many.
pub fn cells(row: DistributionRef<'_>, (low, high): (f64, f64)) -> Option<Vec<(f64, f64)>> {
    let step = step(row)?;
    let (lower, upper) = row.support.bounds();
    let nearest = |y: f64| match row.kind {
        DistributionKind::Family(_) => y.round().max(0.0),
        _ => row.support.nearest(y),
    };
    let (first, last) = (nearest(low.max(lower)), nearest(high.min(upper)));
    let count = ((last - first) / step).round();
    let value = |cell: usize| nearest(first + cell as f64 * step);
    (count <= MAX_CELLS)
        .then(|| (0..=count as usize).map(|cell| (value(cell), row.point_probability(value(cell)))).collect())
}

/// Values and probabilities of the atoms of a distribution that is not discrete.
pub fn atoms(row: DistributionRef<'_>) -> Vec<(f64, f64)> {
    let DistributionKind::Mixture(mixture) = row.kind else { return Vec::new() };
    if row.support.step.is_some() {
        return Vec::new();
    }
    let atom = |(value, sd): (&f64, &f64)| (*sd == 0.0).then_some(*value);
    let mut values: Vec<f64> = mixture.means.iter().zip(mixture.sds).filter_map(atom).collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    values.into_iter().map(|value| (value, row.point_probability(value))).filter(|(_, mass)| *mass > 0.0).collect()
}
