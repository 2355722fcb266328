//! Stacking weights of forms: those with the best held-out energy score of the pool.
//!
//! The energy score of a pool with weights w is linear and quadratic in them: sum_f w_f E‖X_f - y‖ - sum_fg w_f w_g E‖X_f - X_g‖ / 2,
//! a convex function. Its expectations are means over draws; it is minimised over the simplex by exponentiated gradients.
//!
//! The pool must beat the constant by more than one standard error of the difference of energy scores, with weights that other
//! rows gave; otherwise the constant predicts (the one-standard-error rule of Breiman et al., 1984).

use rayon::prelude::*;

use negmm_dist::{JointMixtures, Rng, streams};

/// Draws of each form and row.
const DRAWS: usize = 60;
/// Held-out rows at most.
const MOST_ROWS: usize = 2_000;
/// Steps of the minimisation.
const STEPS: usize = 2_000;
/// Rows' worth of equal weights: the prior is this many times the mean log weight, in units of the energy score.
const PRIOR_ROWS: f64 = 5.0;
/// A form with less weight is left out.
const LEAST_WEIGHT: f64 = 0.02;

/// Distances of one row: of each form from the target, and between forms (forms × forms).
type Distances = (Vec<f64>, Vec<f64>);

/// The weights of forms, and the energy score of each alone; `y` is rows × targets, standardised, without unknown ones.
/// `constant` is the form that the pool must beat.
pub(super) fn weights(
    forms: &[JointMixtures],
    y: &[f64],
    rows: &[usize],
    constant: Option<usize>,
) -> (Vec<f64>, Vec<f64>) {
    let count = forms.len();
    let step = rows.len().div_ceil(MOST_ROWS).max(1);
    let used: Vec<(usize, usize)> = rows.iter().copied().enumerate().step_by(step).map(|(at, row)| (row, at)).collect();
    let of_rows = used
        .par_iter()
        .map(|(row, at)| distances(forms, *row, &y[at * forms[0].targets()..][..forms[0].targets()]))
        .collect::<Vec<_>>();
    let (linear, pairs) = means(count, of_rows.iter());
    let alone = (0..count).map(|form| linear[form] - 0.5 * pairs[form * (count + 1)]).collect();
    let weights = match constant {
        Some(constant) if !beats(&of_rows, count, constant) => {
            (0..count).map(|form| f64::from(u8::from(form == constant))).collect()
        }
        _ => minimise(&linear, &pairs, PRIOR_ROWS / of_rows.len().max(1) as f64),
    };
    (weights, alone)
}

/// Means over rows.
fn means<'a>(count: usize, of_rows: impl Iterator<Item = &'a Distances>) -> Distances {
    let (mut linear, mut pairs, mut total) = (vec![0.0; count], vec![0.0; count * count], 0.0f64);
    for (from_y, apart) in of_rows {
        linear.iter_mut().zip(from_y).for_each(|(sum, x)| *sum += x);
        pairs.iter_mut().zip(apart).for_each(|(sum, x)| *sum += x);
        total += 1.0;
    }
    linear.iter_mut().chain(&mut pairs).for_each(|sum| *sum /= total.max(1.0));
    (linear, pairs)
}

/// Whether the pool is better than one form by more than a standard error, each half of the rows with the weights of the other.
fn beats(of_rows: &[Distances], count: usize, simple: usize) -> bool {
    let half = |parity: usize| of_rows.iter().skip(parity).step_by(2);
    let gains: Vec<f64> = (0..2)
        .flat_map(|parity| {
            let (linear, pairs) = means(count, half(1 - parity));
            let weights = minimise(&linear, &pairs, PRIOR_ROWS / (of_rows.len() as f64 / 2.0).max(1.0));
            half(parity).map(move |(linear, pairs)| {
                let alone = linear[simple] - 0.5 * pairs[simple * (count + 1)];
                alone - energy(&weights, linear, pairs)
            })
        })
        .collect();
    let rows = gains.len() as f64;
    let mean = gains.iter().sum::<f64>() / rows;
    let variance = gains.iter().map(|gain| (gain - mean) * (gain - mean)).sum::<f64>() / rows;
    mean > (variance / rows).sqrt()
}

/// The energy score of a pool.
fn energy(weights: &[f64], linear: &[f64], pairs: &[f64]) -> f64 {
    let count = weights.len();
    let of_form = |form: usize| {
        let between: f64 = weights.iter().zip(&pairs[form * count..]).map(|(weight, pair)| weight * pair).sum();
        weights[form] * (linear[form] - 0.5 * between)
    };
    (0..count).map(of_form).sum()
}

/// E‖X_f - y‖ of each form and E‖X_f - X_g‖ of each pair, from draws.
fn distances(forms: &[JointMixtures], row: usize, y: &[f64]) -> Distances {
    let (count, d) = (forms.len(), y.len());
    let draws: Vec<Vec<f64>> = forms
        .iter()
        .enumerate()
        .map(|(form, mixtures)| {
            let rng = &mut Rng::new(form as u64, streams::JOINT_FIT + 1 + row as u64);
            mixtures.row(row).samples(DRAWS, rng)
        })
        .collect();
    let distance = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt();
    let from_y = draws.iter().map(|list| list.chunks_exact(d).map(|x| distance(x, y)).sum::<f64>() / DRAWS as f64);
    let from_y = from_y.collect();
    let mut apart = vec![0.0; count * count];
    for first in 0..count {
        for second in 0..=first {
            let (mut sum, mut pairs) = (0.0, 0);
            for (at, x) in draws[first].chunks_exact(d).enumerate() {
                for (other, z) in draws[second].chunks_exact(d).enumerate() {
                    // Of one form, draws that are not the same one.
                    if first != second || other < at {
                        sum += distance(x, z);
                        pairs += 1;
                    }
                }
            }
            let mean = sum / f64::from(pairs);
            apart[first * count + second] = mean;
            apart[second * count + first] = mean;
        }
    }
    (from_y, apart)
}

/// The weights that minimise linear · w - wᵀ pairs w / 2 - prior · scale · mean log w over the simplex.
fn minimise(linear: &[f64], pairs: &[f64], prior: f64) -> Vec<f64> {
    let count = linear.len();
    let mut weights = vec![1.0 / count as f64; count];
    // The scale of a score: that of the best form alone.
    let alone = (0..count).map(|form| linear[form] - 0.5 * pairs[form * (count + 1)]);
    let best = alone.fold(f64::INFINITY, f64::min).max(f64::MIN_POSITIVE);
    let scale = linear.iter().copied().fold(best, f64::max);
    for _ in 0..STEPS {
        let slope = |form: usize| {
            let between = (0..count).map(|other| pairs[form * count + other] * weights[other]).sum::<f64>();
            // At most as steep as the step is stable.
            linear[form] - between - (prior * best / count as f64 / weights[form]).min(scale)
        };
        let slopes: Vec<f64> = (0..count).map(slope).collect();
        let least = slopes.iter().copied().fold(f64::INFINITY, f64::min);
        weights.iter_mut().zip(slopes).for_each(|(weight, slope)| *weight *= libm::exp(-0.5 * (slope - least) / scale));
        let total: f64 = weights.iter().sum();
        weights.iter_mut().for_each(|weight| *weight /= total);
    }
    weights.iter_mut().filter(|weight| **weight < LEAST_WEIGHT).for_each(|weight| *weight = 0.0);
    let total: f64 = weights.iter().sum();
    weights.iter().map(|weight| weight / total).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normals(mean: f64, sd: f64, rows: usize) -> JointMixtures {
        let factors = [sd, 0.0, sd].repeat(rows);
        JointMixtures::new(2, 1, vec![1.0; rows], vec![mean; 2 * rows], factors).unwrap()
    }

    #[test]
    fn the_better_form_gets_the_weight() {
        let rows: Vec<usize> = (0..300).collect();
        let truth = normals(0.0, 1.0, 300);
        let rng = &mut Rng::new(1, 0);
        let y: Vec<f64> = rows.iter().flat_map(|row| truth.row(*row).samples(1, rng)).collect();
        let (weights, alone) =
            weights(&[normals(1.5, 1.0, 300), truth.clone(), normals(0.0, 4.0, 300)], &y, &rows, None);
        assert!(weights[1] > 0.85 && (weights.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{weights:?}");
        assert!(alone[1] < alone[0] && alone[1] < alone[2], "{alone:?}");
    }

    #[test]
    fn two_halves_of_the_truth_share_it() {
        let rows: Vec<usize> = (0..400).collect();
        let (low, high) = (normals(-2.0, 0.7, 400), normals(2.0, 0.7, 400));
        let rng = &mut Rng::new(2, 0);
        let y: Vec<f64> =
            rows.iter().flat_map(|row| (if row % 2 == 0 { &low } else { &high }).row(*row).samples(1, rng)).collect();
        let (weights, _) = weights(&[low, high], &y, &rows, None);
        assert!((weights[0] - 0.5).abs() < 0.06, "{weights:?}");
    }

    #[test]
    fn a_pool_must_beat_the_constant_by_a_standard_error() {
        let rows: Vec<usize> = (0..200).collect();
        let constant = normals(0.0, 1.0, 200);
        let rng = &mut Rng::new(4, 0);
        let y: Vec<f64> = rows.iter().flat_map(|row| constant.row(*row).samples(1, rng)).collect();
        // A form that follows chance, and one that knows half of the targets.
        let follows = |factor: f64, sd: f64, of: &[f64]| {
            let factors = [sd, 0.0, sd].repeat(200);
            JointMixtures::new(2, 1, vec![1.0; 200], of.iter().map(|y| factor * y).collect(), factors).unwrap()
        };
        let noise: Vec<f64> = rows.iter().flat_map(|row| constant.row(*row).samples(1, rng)).collect();
        let (chance, _) = weights(&[follows(0.3, 1.0, &noise), constant.clone()], &y, &rows, Some(1));
        assert_eq!(chance, [0.0, 1.0]);
        let (knows, _) = weights(&[follows(0.5, 0.5, &y), constant], &y, &rows, Some(1));
        assert!(knows[0] > 0.8, "{knows:?}");
    }
}
