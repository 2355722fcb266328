//! The frequencies of a sample on a grid as a Gaussian mixture of few components.
//!
//! Each value is a component inside its cell, with its frequency as weight; of many values only the most frequent are, and
//! the others are bins as of any sample. Values that the sample lacks are left to two more components: the normal
//! distribution with the sample's mean and sd, and a wide one. Their weights maximise the probability of numbers that were
//! left out.

use negmm_dist::math::normal;

use crate::bins::{Component, bins, moments};

/// The sample is divided into this many parts, each left out once, to find the weights of the wider components.
const PARTS: usize = 4;
/// Iterations of expectation maximisation for those weights.
const ITERATIONS: usize = 100;
/// A value is this many sds of its component from the ends of its cell: 0.006 % lie outside.
const SDS_IN_HALF_A_CELL: f64 = 4.0;
/// Of more values than there are components, at most this many are components of their own, each with at least this
/// fraction of the sample and as much weight as this many of its numbers.
const MOST_FREQUENT: usize = 16;
const FREQUENT: f64 = 0.02;
const FREQUENT_NUMBERS: f64 = 6.0;
/// The sd of the wide component, in sds of the sample.
const WIDE: f64 = 4.0;
/// Where expectation maximisation starts, and stays where the numbers do not tell.
const START: [f64; 3] = [0.8, 0.15, 0.05];
/// Each component counts as this many numbers more, so that none has weight 0.
const PRIOR: f64 = 0.5;
/// The ends of a cell are this near to equally far from its value, relative to the cell: ends are 32-bit numbers.
const ROUNDING: f64 = 1e-2;

/// A number of a sample on a grid: its value, its weight and the ends of its cell, the outermost of which may be far away.
#[derive(Clone, Copy, Debug)]
pub struct OnGrid {
    /// The value.
    pub value: f64,
    /// Its weight.
    pub weight: f64,
    /// The lower end of its cell.
    pub lower: f64,
    /// The upper end of its cell.
    pub upper: f64,
}

impl OnGrid {
    /// The nearer end of the cell.
    fn half(&self) -> f64 {
        (self.value - self.lower).min(self.upper - self.value)
    }

    /// The probability of its cell.
    fn mass(&self, components: &[Component]) -> f64 {
        let below = |end: f64, [_, mean, sd]: &Component| normal::cdf((end - mean) / sd);
        components.iter().map(|part| part[0] * (below(self.upper, part) - below(self.lower, part))).sum()
    }
}

/// A mixture of at most `most` components (at least 4) for a sample on a grid; `None` where its cells are not those of a grid.
pub fn frequency_mixture(sample: &[OnGrid], most: usize) -> Option<Vec<Component>> {
    let mut sorted = sample.to_vec();
    sorted.sort_by(|a, b| a.value.total_cmp(&b.value));
    let half = sorted.iter().map(OnGrid::half).fold(f64::INFINITY, f64::min);
    let has_half = |number: &OnGrid| (number.half() - half).abs() <= ROUNDING * half;
    if !(half > 0.0 && half.is_finite() && sorted.iter().all(has_half)) {
        return None;
    }
    let weights = weights(&sorted, half, most);
    let parts = parts(&sorted, half, most);
    let of =
        |(parts, weight): (Vec<Component>, f64)| parts.into_iter().map(move |[own, mean, sd]| [weight * own, mean, sd]);
    Some(parts.into_iter().zip(weights).flat_map(of).collect())
}

/// The values, the normal and the wide distribution of a sorted sample, each of weight 1.
fn parts(sorted: &[OnGrid], half: f64, most: usize) -> [Vec<Component>; 3] {
    let narrow = half / SDS_IN_HALF_A_CELL;
    let pairs: Vec<(f64, f64)> = sorted.iter().map(|number| (number.value, number.weight)).collect();
    let [total, mean, sd] = moments(&pairs);
    let sd = sd.max(half);
    let of_value = |equal: &[(f64, f64)]| {
        let [weight, value, _] = moments(equal);
        [weight / total, value, narrow]
    };
    let groups: Vec<&[(f64, f64)]> = pairs.chunk_by(|a, b| a.0 == b.0).collect();
    let values: Vec<Component> = groups.iter().map(|equal| of_value(equal)).collect();
    let values = if values.len() + 2 <= most {
        values
    } else {
        let least = FREQUENT.max(FREQUENT_NUMBERS / sorted.len() as f64);
        let mut frequent: Vec<usize> = (0..values.len()).filter(|at| values[*at][0] >= least).collect();
        frequent.sort_by(|a, b| values[*b][0].total_cmp(&values[*a][0]).then(a.cmp(b)));
        frequent.truncate(MOST_FREQUENT.min(most / 2));
        frequent.sort_unstable();
        let others: Vec<(f64, f64)> = (0..groups.len())
            .filter(|at| frequent.binary_search(at).is_err())
            .flat_map(|at| groups[at].iter().copied())
            .collect();
        let [rest, ..] = moments(&others);
        let binned = bins(&others, most - 2 - frequent.len());
        let binned = binned.into_iter().map(|[weight, mean, sd]| [weight * rest / total, mean, sd.max(half)]);
        frequent.iter().map(|at| values[*at]).chain(binned).collect()
    };
    [values, vec![[1.0, mean, sd]], vec![[1.0, mean, WIDE * sd]]]
}

/// The weights of the three, from the probabilities of parts that were left out.
fn weights(sorted: &[OnGrid], half: f64, most: usize) -> [f64; 3] {
    let mut masses = Vec::with_capacity(sorted.len());
    for part in 0..PARTS {
        let rest: Vec<OnGrid> = (0..sorted.len()).filter(|at| at % PARTS != part).map(|at| sorted[at]).collect();
        if rest.is_empty() {
            continue;
        }
        let parts = parts(&rest, half, most);
        for number in sorted.iter().skip(part).step_by(PARTS) {
            masses.push((number.weight, [0, 1, 2].map(|at| number.mass(&parts[at]))));
        }
    }
    let total: f64 = masses.iter().map(|(weight, _)| weight).sum();
    let unit = if masses.is_empty() { 1.0 } else { total / masses.len() as f64 };
    let mut weights = START;
    for _ in 0..ITERATIONS {
        let mut sums = [PRIOR * unit; 3];
        for (weight, masses) in &masses {
            let parts = [0, 1, 2].map(|at| weights[at] * masses[at]);
            let sum: f64 = parts.iter().sum();
            if sum > 0.0 {
                sums.iter_mut().zip(parts).for_each(|(total, part)| *total += weight * part / sum);
            } else {
                // Farther than any component expects.
                sums[2] += weight;
            }
        }
        let total: f64 = sums.iter().sum();
        weights = sums.map(|sum| sum / total);
    }
    weights
}
