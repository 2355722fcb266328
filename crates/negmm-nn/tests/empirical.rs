//! Mixtures for samples: moments, and densities near the truth.

use negmm_dist::math::normal;
use negmm_dist::math::rng::Rng;
use negmm_nn::empirical::empirical_mixture;

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
