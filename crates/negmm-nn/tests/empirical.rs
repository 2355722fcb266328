//! Mixtures for samples: moments, and densities near the truth.

use negmm_dist::math::normal;
use negmm_dist::math::rng::Rng;
use negmm_nn::empirical::empirical_mixture;
use negmm_nn::frequencies::{OnGrid, frequency_mixture};

fn sample(rows: usize, draw: impl Fn(f64) -> f64) -> Vec<f64> {
    let mut rng = Rng::new(9, 0);
    (0..rows).map(|_| draw(normal::quantile(rng.uniform()))).collect()
}

fn log_density(mixture: &[[f64; 3]], y: f64) -> f64 {
    let each = mixture.iter().map(|[weight, mean, sd]| weight * normal::pdf((y - mean) / sd) / sd);
    libm::log(each.sum::<f64>())
}

#[test]
fn keeps_mean_and_variance() {
    for rows in [5, 40, 1000] {
        let values = sample(rows, libm::exp);
        let mixture = empirical_mixture(&values, &vec![1.0; rows], 32);
        let mean = values.iter().sum::<f64>() / rows as f64;
        let variance = values.iter().map(|y| (y - mean) * (y - mean)).sum::<f64>() / rows as f64;
        let found: f64 = mixture.iter().map(|[weight, mean, _]| weight * mean).sum();
        let spread: f64 =
            mixture.iter().map(|[weight, center, sd]| weight * (sd * sd + (center - mean) * (center - mean))).sum();
        assert!((mixture.iter().map(|[weight, ..]| weight).sum::<f64>() - 1.0).abs() < 1e-12);
        assert!((found / mean - 1.0).abs() < 1e-9 && (spread / variance - 1.0).abs() < 1e-2, "{rows}");
    }
}

#[test]
fn is_near_the_true_density() {
    let regret = |rows: usize, draw: fn(f64) -> f64, truth: fn(f64) -> f64| {
        let mixture = empirical_mixture(&sample(rows, draw), &vec![1.0; rows], 32);
        let mut rng = Rng::new(10, 0);
        let fresh: Vec<f64> = (0..4000).map(|_| draw(normal::quantile(rng.uniform()))).collect();
        fresh.iter().map(|y| truth(*y) - log_density(&mixture, *y)).sum::<f64>() / 4000.0
    };
    let gaussian = |y: f64| normal::log_pdf(y);
    let lognormal = |y: f64| normal::log_pdf(libm::log(y)) - libm::log(y);
    assert!(regret(300, |z| z, gaussian) < 0.03);
    assert!(regret(3000, |z| z, gaussian) < 0.01);
    assert!(regret(3000, libm::exp, lognormal) < 0.1);
}

#[test]
fn values_of_weight_count_by_it() {
    let values = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0];
    let weights = [9.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
    let repeated: Vec<f64> = [vec![0.0; 8], values.to_vec()].concat();
    let mean = |mixture: &[[f64; 3]]| mixture.iter().map(|[weight, mean, _]| weight * mean).sum::<f64>();
    let (by_weight, by_rows) = (empirical_mixture(&values, &weights, 8), empirical_mixture(&repeated, &[1.0; 18], 8));
    assert!((mean(&by_weight) - mean(&by_rows)).abs() < 1e-9);
}

#[test]
fn right_censored_targets_have_the_kaplan_meier_weights() {
    // Events at 1, 3, 4; censored at 2 and 5. Kaplan-Meier: S(1) = 4/5, S(3) = 4/5 · 2/3, S(4) = S(3) / 2.
    let lower = [1.0, 2.0, 3.0, 4.0, 5.0];
    let upper = [1.0, f64::INFINITY, 3.0, 4.0, f64::INFINITY];
    let (values, weights) = negmm_nn::empirical::censored_sample(&lower, &upper, &[1.0; 5]);
    assert_eq!(values, [1.0, 3.0, 4.0, 5.0]);
    for (found, expected) in weights.iter().zip([1.0, 4.0 / 3.0, 4.0 / 3.0, 4.0 / 3.0]) {
        assert!((found - expected).abs() < 1e-6, "{weights:?}");
    }
}

#[test]
fn intervals_share_their_weight_among_the_values_inside() {
    let (values, weights) =
        negmm_nn::empirical::censored_sample(&[1.0, 2.0, 0.5, f64::NEG_INFINITY], &[1.0, 2.0, 2.5, 0.1], &[1.0; 4]);
    assert_eq!(values, [0.1, 1.0, 2.0]);
    assert!((weights[0] - 1.0).abs() < 1e-6 && (weights[1] - 1.5).abs() < 1e-6, "{weights:?}");
}

type Components = Vec<[f64; 3]>;
type Draw = fn(f64) -> f64;

/// The cell of a whole number from 0 on, to `most` if that is a bound.
fn cell(y: f64, most: Option<f64>) -> OnGrid {
    let (lower, upper) = (if y == 0.0 { -1e4 } else { y - 0.5 }, if Some(y) == most { 1e4 } else { y + 0.5 });
    OnGrid { value: y, weight: 1.0, lower, upper }
}

fn frequencies(y: &[f64], most: Option<f64>) -> Components {
    frequency_mixture(&y.iter().map(|y| cell(*y, most)).collect::<Vec<_>>(), 32).unwrap()
}

/// The probability of a value.
fn mass(mixture: &[[f64; 3]], y: f64, most: Option<f64>) -> f64 {
    let OnGrid { lower, upper, .. } = cell(y, most);
    let below = |end: f64, [_, mean, sd]: &[f64; 3]| normal::cdf((end - mean) / sd);
    mixture.iter().map(|part| part[0] * (below(upper, part) - below(lower, part))).sum()
}

#[test]
fn values_on_a_grid_have_their_frequencies() {
    let poisson = |z: f64| {
        // P(Y <= k) of a mean of 0.45: 0.638, 0.925, 0.989, 0.999.
        let below = normal::cdf(z);
        [0.637_63, 0.924_56, 0.989_12, 0.998_80, 0.999_89].iter().filter(|bound| below > **bound).count() as f64
    };
    let grade = |z: f64| (11.0 + 3.6 * z).round().clamp(0.0, 20.0);
    let truth_value = |z: f64| f64::from(z > 1.8);
    let draws: [(Draw, Option<f64>); 3] = [(poisson, None), (grade, Some(20.0)), (truth_value, Some(1.0))];
    for (draw, most) in draws {
        let all = sample(2500, draw);
        let (train, fresh) = all.split_at(500);
        let mixture = frequencies(train, most);
        let mass = |mixture: &[[f64; 3]], y: f64| mass(mixture, y, most);
        // Frequencies by hand, with half a row more for each value.
        let values = most.unwrap_or(7.0) + 1.0;
        let times = |y: f64| train.iter().filter(|other| **other == y).count() as f64;
        let nll = |probability: &dyn Fn(f64) -> f64| -> f64 {
            fresh.iter().map(|y| -libm::log(probability(*y))).sum::<f64>() / fresh.len() as f64
        };
        let by_hand = nll(&|y| (times(y) + 0.5) / (500.0 + 0.5 * values));
        assert!(nll(&|y| mass(&mixture, y)) < by_hand + 0.005, "{most:?}");
        assert!((mass(&mixture, 0.0) - times(0.0) / 500.0).abs() < 0.02, "{most:?}");
        // No worse than a normal distribution, and no value is impossible.
        let [_, mean, sd] = moments_of(train);
        assert!(nll(&|y| mass(&mixture, y)) < nll(&|y| mass(&[[1.0, mean, sd]], y)) + 0.01, "{most:?}");
        assert!(most.is_some() || mass(&mixture, 9.0) > 1e-5);
    }
}

#[test]
fn many_values_on_a_grid_are_binned() {
    let values = sample(3000, |z| libm::exp(4.5 + z).floor().min(900.0));
    let zeros: Vec<f64> = values.iter().enumerate().map(|(row, y)| if row % 10 == 0 { 0.0 } else { *y }).collect();
    let mixture = frequencies(&zeros[..1000], None);
    let mass = |mixture: &[[f64; 3]], y: f64| mass(mixture, y, None);
    assert!(mixture.len() <= 32);
    assert!((mass(&mixture, 0.0) - 0.1).abs() < 0.02);
    let nll = |probability: &dyn Fn(f64) -> f64| -> f64 {
        zeros[1000..].iter().map(|y| -libm::log(probability(*y))).sum::<f64>() / 2000.0
    };
    let density = empirical_mixture(&zeros[..1000], &[1.0; 1000], 32);
    assert!(nll(&|y| mass(&mixture, y)) < nll(&|y| mass(&density, y)));
}

#[test]
fn cells_of_censored_targets_are_no_grid() {
    let number = |value: f64, half: f64| OnGrid { value, weight: 1.0, lower: value - half, upper: value + half };
    assert!(frequency_mixture(&[number(0.0, 0.5), number(1.0, 0.5)], 32).is_some());
    assert!(frequency_mixture(&[number(0.0, 0.5), number(1.0, 0.7)], 32).is_none());
    assert!(frequency_mixture(&[number(0.0, 0.0), number(1.0, 0.0)], 32).is_none());
}

fn moments_of(sample: &[f64]) -> [f64; 3] {
    let mean = sample.iter().sum::<f64>() / sample.len() as f64;
    let variance = sample.iter().map(|y| (y - mean) * (y - mean)).sum::<f64>() / sample.len() as f64;
    [1.0, mean, variance.sqrt()]
}
