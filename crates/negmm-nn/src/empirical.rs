//! A sample of numbers as a Gaussian mixture of few components.
//!
//! The sorted sample is cut into bins of about equal weight. Each bin is a component with the bin's mean and a widened
//! sd; all are shrunk towards the sample's mean so that the variance stays. One more component is the normal distribution
//! with the sample's mean and sd. Its weight maximises the likelihood of numbers that were left out of the bins. A sample on
//! a grid has a mixture of another form, see [`crate::frequencies`].

pub use crate::bins::Component;
use crate::bins::{bins, moments};
use crate::dataset::Dataset;
use crate::frequencies::{OnGrid, frequency_mixture};
use negmm_dist::Mixtures;

/// The sample is divided into this many parts, each left out once, to find the weight of the normal component.
const PARTS: usize = 4;
/// Iterations of expectation maximisation for that weight.
const ITERATIONS: usize = 50;

/// Maximum number of components of the distribution of targets, and of targets that they are fitted to.
const MAX_COMPONENTS: usize = 32;
const MAX_TARGETS: usize = 50_000;
/// The smallest sd of a component, in units of the target's scale.
const LEAST_TARGET_SD: f64 = 1e-3;

/// The empirical distribution of the standardised targets of some rows: their atoms, and a mixture for the others.
/// Censored targets count by the estimate of [`censored_sample`].
pub fn empirical_distribution(data: &Dataset, rows: &[u32]) -> Mixtures {
    let (y, weights, atoms) = (data.y(), data.sample_weights(), data.atoms());
    let weight = |row: &u32| f64::from(weights[*row as usize]);
    let total: f64 = rows.iter().map(weight).sum::<f64>().max(f64::MIN_POSITIVE);
    let of_atom = |atom: &f32| rows.iter().filter(|row| y[**row as usize] == *atom).map(weight).sum::<f64>() / total;
    let mut parts: Vec<[f64; 3]> = atoms.iter().map(|atom| [of_atom(atom), f64::from(*atom), 0.0]).collect();
    let rest = (1.0 - parts.iter().map(|[weight, ..]| weight).sum::<f64>()).max(0.0);
    let every = rows.len().div_ceil(MAX_TARGETS).max(1);
    let others: Vec<usize> = rows
        .iter()
        .step_by(every)
        .filter(|row| !atoms.contains(&y[**row as usize]) && weight(row) > 0.0)
        .map(|row| *row as usize)
        .collect();
    let pick = |list: &[f32]| others.iter().map(|row| f64::from(list[*row])).collect::<Vec<f64>>();
    let (mut values, mut weights) = (pick(y), pick(weights));
    if let Some(ends) = data.intervals().filter(|_| data.has_censored()) {
        (values, weights) = censored_sample(&pick(ends.lower()), &pick(ends.upper()), &weights);
    }
    let on_grid = data.intervals().filter(|_| atoms.is_empty() && !others.is_empty() && !data.has_censored());
    let frequencies = on_grid.and_then(|ends| {
        let end = |list: &[f32], row: usize| f64::from(list[row]);
        let number = |(row, (value, weight)): (&usize, (&f64, &f64))| OnGrid {
            value: *value,
            weight: *weight,
            lower: end(ends.lower(), *row),
            upper: end(ends.upper(), *row),
        };
        let sample: Vec<OnGrid> = others.iter().zip(values.iter().zip(&weights)).map(number).collect();
        frequency_mixture(&sample, MAX_COMPONENTS)
    });
    if let Some(frequencies) = frequencies {
        parts = frequencies;
    } else if values.is_empty() {
        parts.push([rest, 0.0, 1.0]);
    } else {
        let mixture = empirical_mixture(&values, &weights, MAX_COMPONENTS);
        parts.extend(mixture.into_iter().map(|[weight, mean, sd]| [rest * weight, mean, sd.max(LEAST_TARGET_SD)]));
    }
    let list = |at: usize| parts.iter().map(|part| part[at]).collect::<Vec<f64>>();
    Mixtures::from_parts_unchecked(parts.len(), list(0), list(1), list(2))
}

/// A mixture of at most `most` components (at least 1) for a sample of finite values with positive weights.
pub fn empirical_mixture(values: &[f64], weights: &[f64], most: usize) -> Vec<Component> {
    let mut sorted: Vec<(f64, f64)> = values.iter().copied().zip(weights.iter().copied()).collect();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let [_, mean, sd] = moments(&sorted);
    if most < 3 || sorted.len() < 2 * PARTS || sd == 0.0 {
        return vec![[1.0, mean, sd]];
    }
    let normal = normal_weight(&sorted, most - 1);
    let mut mixture = vec![[normal, mean, sd]];
    mixture.extend(bins(&sorted, most - 1).into_iter().map(|[weight, mean, sd]| [(1.0 - normal) * weight, mean, sd]));
    mixture
}

/// The weight of the normal component, from the likelihood of parts that were left out.
fn normal_weight(sorted: &[(f64, f64)], most: usize) -> f64 {
    let mut likelihoods = Vec::with_capacity(sorted.len());
    for part in 0..PARTS {
        let rest: Vec<(f64, f64)> =
            sorted.iter().enumerate().filter(|(at, _)| at % PARTS != part).map(|(_, pair)| *pair).collect();
        let ([_, mean, sd], bins) = (moments(&rest), bins(&rest, most));
        for (y, weight) in sorted.iter().skip(part).step_by(PARTS) {
            likelihoods.push((*weight, density(&[[1.0, mean, sd]], *y), density(&bins, *y)));
        }
    }
    let total: f64 = likelihoods.iter().map(|(weight, ..)| weight).sum();
    let unit = total / likelihoods.len() as f64;
    let mut normal = 0.5;
    for _ in 0..ITERATIONS {
        let expected: f64 = likelihoods
            .iter()
            .map(|(weight, of_normal, of_bins)| {
                let both = normal * of_normal + (1.0 - normal) * of_bins;
                if both > 0.0 { weight * normal * of_normal / both } else { weight * normal }
            })
            .sum();
        // One value more on each side keeps the weight away from 0 and 1.
        normal = (expected + unit) / (total + 2.0 * unit);
    }
    normal
}

/// The density up to a constant.
fn density(components: &[Component], y: f64) -> f64 {
    let of_component = |[weight, mean, sd]: &Component| {
        let z = (y - mean) / sd;
        weight * libm::exp(-0.5 * z * z) / sd
    };
    components.iter().map(of_component).sum()
}

/// Iterations of the self-consistent estimate, and the change of a probability that counts as convergence.
const MOST_ITERATIONS: usize = 200;
const STILL: f64 = 1e-9;

/// A weighted sample that stands for targets known as intervals: the nonparametric maximum likelihood estimate by
/// self-consistency (Turnbull, 1976), which for right-censored targets is that of Kaplan and Meier. A value is an interval
/// of length 0; `lower` and `upper` may be infinite, but not both. Gives values and their weights, which sum to those
/// given.
pub fn censored_sample(lower: &[f64], upper: &[f64], weights: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let mut values: Vec<f64> =
        (0..lower.len()).filter(|row| lower[*row] == upper[*row]).map(|row| lower[row]).collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    // An interval without a value in it brings its own: the middle, or the finite end.
    let inside = |values: &[f64], row: usize| {
        let first = values.partition_point(|value| *value <= lower[row]);
        let end = values.partition_point(|value| *value <= upper[row]);
        if lower[row] == upper[row] { end - 1..end } else { first..end.max(first) }
    };
    let own = |row: usize| match (lower[row].is_finite(), upper[row].is_finite()) {
        (true, true) => 0.5 * (lower[row] + upper[row]),
        (true, false) => lower[row],
        (false, _) => upper[row],
    };
    let empty: Vec<usize> = (0..lower.len()).filter(|row| inside(&values, *row).is_empty()).collect();
    values.extend(empty.into_iter().map(own));
    values.sort_by(f64::total_cmp);
    values.dedup();
    let ranges: Vec<std::ops::Range<usize>> = (0..lower.len())
        .map(|row| {
            let range = inside(&values, row);
            // A finite end that stands for an interval is not inside it.
            let at = values.partition_point(|value| *value < own(row));
            if range.is_empty() { at..at + 1 } else { range }
        })
        .collect();
    let total: f64 = weights.iter().sum();
    let mut masses = vec![1.0 / values.len() as f64; values.len()];
    for _ in 0..MOST_ITERATIONS {
        let mut below = vec![0.0];
        masses.iter().for_each(|mass| below.push(below[below.len() - 1] + mass));
        let mut factors = vec![0.0; values.len() + 1];
        for (range, weight) in ranges.iter().zip(weights) {
            let inside = below[range.end] - below[range.start];
            if inside > 0.0 {
                factors[range.start] += weight / inside;
                factors[range.end] -= weight / inside;
            }
        }
        let (mut factor, mut change) = (0.0, 0.0_f64);
        for (mass, more) in masses.iter_mut().zip(&factors) {
            factor += more;
            let next = *mass * f64::max(factor, 0.0) / total;
            change = change.max((next - *mass).abs());
            *mass = next;
        }
        let sum: f64 = masses.iter().sum();
        masses.iter_mut().for_each(|mass| *mass /= sum);
        if change < STILL {
            break;
        }
    }
    values.into_iter().zip(masses).filter(|(_, mass)| *mass > 0.0).map(|(value, mass)| (value, mass * total)).unzip()
}
