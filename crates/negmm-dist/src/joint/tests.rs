use super::*;
use crate::Distribution;
use crate::math::counter::Counter;
use crate::score::joint;

/// Random mixtures with correlated components.
fn mixtures(targets: usize, components: usize, rows: usize, seed: u64) -> JointMixtures {
    let mut rng = Rng::new(seed, 0);
    let mut normal = move || normal::quantile(rng.uniform());
    let count = rows * components;
    let weights = (0..count).map(|_| libm::exp(0.7 * normal())).collect();
    let means = (0..count * targets).map(|_| normal()).collect();
    let mut factors = Vec::new();
    for _ in 0..count {
        for row in 0..targets {
            factors.extend((0..row).map(|_| 0.5 * normal()));
            factors.push(0.3 + 0.5 * normal().abs());
        }
    }
    JointMixtures::new(targets, components, weights, means, factors).unwrap()
}

/// Mean and standard error of a list.
fn summary(list: &[f64]) -> (f64, f64) {
    let n = list.len() as f64;
    let mean = list.iter().sum::<f64>() / n;
    let variance = list.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (n - 1.0);
    (mean, (variance / n).sqrt())
}

#[test]
fn energy_by_directions_is_that_of_draws() {
    for targets in [2, 3, 6, 10] {
        let all = mixtures(targets, 4, 1, 10 + targets as u64);
        let (row, y) = (all.row(0), vec![0.4; targets]);
        let by_directions = row.energy_score(&y, &directions(targets, 2000));
        let mut rng = Rng::new(3, 0);
        // Blocks of draws have independent errors.
        let blocks: Vec<f64> = (0..200).map(|_| energy_of_draws(&row.samples(100, &mut rng), &y)).collect();
        let (mean, error) = summary(&blocks);
        assert!((by_directions - mean).abs() < 4.0 * error, "{targets}: {by_directions} and {mean} ± {error}");
        // Few directions are close already.
        let few = row.energy_score(&y, &directions(targets, 16));
        assert!((few / by_directions - 1.0).abs() < 0.05, "{targets}: {few} {by_directions}");
    }
}

#[test]
fn one_target_is_the_closed_form_of_today() {
    let all = mixtures(1, 3, 2, 5);
    for (row, joint) in all.rows().enumerate() {
        let marginal = all.marginal(0);
        let univariate = marginal.row(row);
        assert_eq!(joint.energy_score(&[0.3], &directions(1, 7)), univariate.crps(0.3));
        assert!((joint.log_pdf(&[0.3]) - univariate.log_pdf(0.3)).abs() < 1e-14);
    }
}

#[test]
fn gradients_are_those_of_finite_differences() {
    for (targets, eta) in [(2, 0.0), (2, 1.0), (3, 0.4), (5, 0.1)] {
        let all = mixtures(targets, 3, 1, 40 + targets as u64);
        let y: Vec<f64> = (0..targets).map(|at| 0.3 * at as f64 - 0.2).collect();
        let directions = draw_directions(targets, &mut Counter::new(1, 1).step(0));
        let analytic = joint::gradient(all.row(0), &y, eta, &directions);
        let check = |list: &[f64], analytic: &[f64], changed: &dyn Fn(&[f64]) -> f64| {
            for at in 0..list.len() {
                let step = 1e-5;
                let moved = |by: f64| {
                    let mut list = list.to_vec();
                    list[at] += by;
                    changed(&list)
                };
                let difference = (moved(step) - moved(-step)) / (2.0 * step);
                let error = (difference - analytic[at]).abs();
                assert!(error < 1e-6 * (1.0 + difference.abs()), "{targets} {at}: {difference} {}", analytic[at]);
            }
        };
        let JointMixture { weights, means, factors, .. } = all.row(0);
        check(means, &analytic.means, &|means| {
            joint::value(JointMixture { targets, weights, means, factors }, &y, eta, &directions)
        });
        check(factors, &analytic.factors, &|factors| {
            joint::value(JointMixture { targets, weights, means, factors }, &y, eta, &directions)
        });
        // Derivatives with respect to weights, through a softmax.
        let logits: Vec<f64> = weights.iter().map(|weight| libm::log(*weight)).collect();
        check(&logits, &crate::score::logit_gradient(weights, &analytic.weights), &|logits| {
            let total: f64 = logits.iter().map(|logit| libm::exp(*logit)).sum();
            let weights: Vec<f64> = logits.iter().map(|logit| libm::exp(*logit) / total).collect();
            joint::value(JointMixture { targets, weights: &weights, means, factors }, &y, eta, &directions)
        });
    }
}

#[test]
fn moments_marginals_and_combinations_are_those_of_draws() {
    let all = mixtures(3, 4, 1, 8);
    let (row, draws) = (all.row(0), 40_000);
    let samples = row.samples(draws, &mut Rng::new(9, 0));
    let (mean, covariance) = (row.mean(), row.covariance());
    for target in 0..3 {
        let list: Vec<f64> = samples.iter().skip(target).step_by(3).copied().collect();
        let (found, error) = summary(&list);
        assert!((found - mean[target]).abs() < 4.0 * error);
        let marginal = all.marginal(target);
        assert!((marginal.row(0).mean() - mean[target]).abs() < 1e-12);
        assert!((marginal.row(0).variance() - covariance[target * 4]).abs() < 1e-12);
    }
    let coefficients = [1.0, -2.0, 0.5];
    let combined: Vec<f64> =
        samples.chunks_exact(3).map(|y| 0.7 + y.iter().zip(&coefficients).map(|(y, c)| y * c).sum::<f64>()).collect();
    let linear = all.linear(&coefficients, 0.7);
    let exact = linear.row(0);
    for threshold in [-2.0, 0.0, 1.5] {
        let above: Vec<f64> = combined.iter().map(|x| f64::from(u8::from(*x > threshold))).collect();
        let (found, error) = summary(&above);
        assert!((found - exact.survival(threshold)).abs() < 4.0 * error, "{threshold}");
    }
    let (found, error) =
        summary(&samples.chunks_exact(3).map(|y| (y[0] - mean[0]) * (y[2] - mean[2])).collect::<Vec<_>>());
    assert!((found - covariance[2]).abs() < 4.0 * error);
}

#[test]
fn conditionals_are_those_of_draws_and_of_the_density() {
    let all = mixtures(3, 3, 1, 21);
    let (row, given) = (all.row(0), [1.0, -0.3]);
    let conditional = all.conditional(&[2, 0], &given).unwrap();
    // p(y_1 | y_2, y_0) = p(y) / p(y_2, y_0), at several places.
    let pair = all.of_targets(&[2, 0]);
    for y in [-1.0, 0.2, 1.4] {
        let expected = row.log_pdf(&[-0.3, y, 1.0]) - pair.row(0).log_pdf(&given);
        assert!((conditional.row(0).log_pdf(&[y]) - expected).abs() < 1e-10);
    }
    // Draws near the given values have nearly the conditional mean.
    let conditional = all.conditional(&[0], &[0.2]).unwrap();
    let near: Vec<f64> = row
        .samples(400_000, &mut Rng::new(4, 0))
        .chunks_exact(3)
        .filter(|y| (y[0] - 0.2).abs() < 0.01)
        .map(|y| y[2])
        .collect();
    let (found, error) = summary(&near);
    assert!((found - conditional.row(0).mean()[1]).abs() < 4.0 * error, "{found} ± {error}");
    assert!(all.conditional(&[0, 0], &[1.0, 1.0]).is_err());
    assert!(all.conditional(&[0, 1, 2], &[1.0; 3]).is_err());
    assert!(all.conditional(&[0], &[f64::NAN]).is_err());
    assert_eq!(all.conditional(&[], &[]).unwrap().len(), 1);
}

#[test]
fn boxes_have_the_fraction_of_draws_and_one_target_is_exact() {
    let all = mixtures(3, 3, 1, 2);
    let (lower, upper) = ([-1.0, f64::NEG_INFINITY, -0.5], [1.0, 0.8, f64::INFINITY]);
    let found = all.row(0).box_probability(&lower, &upper);
    let inside: Vec<f64> = all
        .row(0)
        .samples(100_000, &mut Rng::new(6, 0))
        .chunks_exact(3)
        .map(|y| f64::from(u8::from((0..3).all(|at| lower[at] < y[at] && y[at] <= upper[at]))))
        .collect();
    let (fraction, error) = summary(&inside);
    assert!((found.probability - fraction).abs() < 4.0 * (error + found.standard_error));
    assert!(found.standard_error < 1e-4, "{}", found.standard_error);
    let marginal = all.of_targets(&[1]);
    let exact = all.marginal(1).row(0).cdf(0.8);
    let one = marginal.row(0).box_probability(&[f64::NEG_INFINITY], &[0.8]);
    assert!((one.probability - exact).abs() < 1e-12 && one.standard_error < 1e-12);
}

#[test]
fn regions_have_their_coverage_and_area() {
    // One Gaussian: the region with coverage c is the ellipse z² <= -2 ln(1 - c), of area -2 pi det(L) ln(1 - c).
    let one = JointMixtures::new(2, 1, vec![1.0], vec![1.0, 2.0], vec![2.0, 0.6, 0.5]).unwrap();
    let (border, area) = one.row(0).highest_density_region(0.9, 40_000, &mut Rng::new(1, 0));
    let expected = -2.0 * std::f64::consts::PI * libm::log(0.1);
    assert!((area / expected - 1.0).abs() < 0.03, "{area} {expected}");
    let peak = one.row(0).log_pdf(&[1.0, 2.0]);
    assert!((peak - border - -libm::log(0.1)).abs() < 0.05);
    let level = one.row(0).highest_density_level(
        &[1.0, 2.0 + 0.5 * (-2.0 * libm::log(0.5)).sqrt()],
        40_000,
        &mut Rng::new(2, 0),
    );
    assert!((level - 0.5).abs() < 0.02, "{level}");
}

#[test]
fn scores_of_draws_agree_with_their_definitions() {
    // Two draws at distance 1 from y = 0 and 2 from each other: 1 - 2 / 2.
    assert!((energy_of_draws(&[1.0, 0.0, -1.0, 0.0], &[0.0, 0.0]) - 0.0).abs() < 1e-15);
    let all = mixtures(3, 2, 1, 77);
    let (row, y) = (all.row(0), [0.1, 0.2, -0.4_f64]);
    let draws = row.samples(500, &mut Rng::new(5, 0));
    let mut expected = 0.0;
    for i in 0..3 {
        for j in 0..3 {
            let mean = draws.chunks_exact(3).map(|x| (x[i] - x[j]).abs().sqrt()).sum::<f64>() / 500.0;
            let apart: f64 = (y[i] - y[j]).abs().sqrt() - mean;
            expected += apart * apart;
        }
    }
    assert!((variogram_of_draws(&draws, &y, 0.5) - expected).abs() < 1e-10);
    // ln det + Mahalanobis of a diagonal matrix.
    let score = dawid_sebastiani(&[0.0, 1.0], &[4.0, 0.0, 0.0, 9.0], &[2.0, 4.0]);
    assert!((score - (libm::log(36.0) + 2.0)).abs() < 1e-12);
}

#[test]
fn unknown_targets_leave_the_marginal_of_the_others() {
    let all = mixtures(3, 3, 1, 31);
    let directions = directions(3, 9);
    let value = joint::value(all.row(0), &[0.1, f64::NAN, -0.2], 1.0, &directions);
    let pair = all.of_targets(&[0, 2]);
    assert!((value + pair.row(0).log_pdf(&[0.1, -0.2])).abs() < 1e-12);
    let one = joint::value(all.row(0), &[f64::NAN, 0.4, f64::NAN], 0.0, &directions);
    assert!((one - all.marginal(1).row(0).crps(0.4)).abs() < 1e-12);
}

#[test]
fn atoms_have_a_probability_and_condition_exactly() {
    // Target 0 is an atom at 0 in the first component.
    let all =
        JointMixtures::new(2, 2, vec![0.4, 0.6], vec![0.0, 5.0, 1.0, 1.0], vec![0.0, 0.0, 1.0, 1.0, 0.0, 1.0]).unwrap();
    let row = all.row(0);
    assert!((row.log_pdf(&[0.0, 5.0]) - (libm::log(0.4) + normal::log_pdf(0.0))).abs() < 1e-12);
    assert!((row.log_pdf(&[1.0, 1.0]) - (libm::log(0.6) + 2.0 * normal::log_pdf(0.0))).abs() < 1e-12);
    let at_atom = all.conditional(&[0], &[0.0]).unwrap();
    assert!((at_atom.row(0).mean()[0] - 5.0).abs() < 1e-12);
    let beside = all.conditional(&[0], &[0.1]).unwrap();
    assert!((beside.row(0).mean()[0] - 1.0).abs() < 1e-12);
}

#[test]
fn pools_units_and_selections_keep_the_distribution() {
    let all = mixtures(2, 3, 4, 12);
    let moved = all.clone().rescale(&[1.0, -2.0], &[10.0, 0.5]);
    for row in 0..4 {
        let mean = all.row(row).mean();
        let expected = [mean[0] * 10.0 + 1.0, mean[1] * 0.5 - 2.0];
        assert!(moved.row(row).mean().iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12));
        let change = moved.row(row).log_pdf(&[1.0, -2.0]) - all.row(row).log_pdf(&[0.0, 0.0]);
        assert!((change + libm::log(5.0)).abs() < 1e-12);
    }
    let pool = JointMixtures::pool(&[(0.25, &all), (0.75, &moved), (0.0, &all)]);
    assert_eq!(pool.components(), 6);
    let expected = 0.25 * all.row(2).mean()[0] + 0.75 * moved.row(2).mean()[0];
    assert!((pool.row(2).mean()[0] - expected).abs() < 1e-12);
    assert_eq!(JointMixtures::concatenate_rows(&[all.select(&[0, 1]), all.select(&[2, 3])]), all);
    let doubled = all.clone().scale_sds(&[2.0, 1.0]);
    let transformed = all.clone().transform_covariances(&[2.0, 0.0, 0.0, 1.0]);
    assert!(doubled.factors().iter().zip(transformed.factors()).all(|(a, b)| (a - b).abs() < 1e-12));
}
