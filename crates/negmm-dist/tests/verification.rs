//! Scores and tests of forecast verification, against scoringrules, quadrature and simulation.

use crate::families::reference;
use negmm_dist::joint::{energy_of_draws, variogram_of_draws};
use negmm_dist::math::normal;
use negmm_dist::samples::SampleSets;
use negmm_dist::verification::*;
use negmm_dist::{Distribution, Family, Mixtures, Predictions, QuantileSets, Rng};

fn numbers(what: &str) -> Vec<f64> {
    what.split(' ').filter_map(|word| word.parse().ok()).collect()
}

#[test]
fn scores_agree_with_scoringrules() {
    let mut checked = 0;
    for (score, what, y, expected) in reference() {
        let (kind, own) = (what.split(' ').next().unwrap_or_default(), numbers(what));
        let found = match (kind, score) {
            ("samples", "crps") => SampleSets::new(own.len(), own, 1e-9).unwrap().row(0).crps(y),
            ("samples", _) => {
                let predictions = Predictions::from(SampleSets::new(own.len(), own, 1e-9).unwrap());
                match score.strip_prefix("between_").and_then(|ends| ends.split_once('_')) {
                    Some((low, high)) => {
                        threshold_weighted_crps(predictions.row(0), y, low.parse().unwrap(), high.parse().unwrap())
                    }
                    None => dawid_sebastiani_score(&predictions.row(0), y),
                }
            }
            ("mixture", _) => {
                let part = |at: usize| own[3 * at..3 * at + 3].to_vec();
                let mixtures = Mixtures::new(3, part(0), part(1), part(2)).unwrap();
                if score == "crps" { mixtures.row(0).crps(y) } else { -mixtures.row(0).log_pdf(y) }
            }
            ("quantiles", _) => {
                let (levels, values) = own.split_at(5);
                let pairs = || levels.iter().zip(values);
                if let Some(level) = score.strip_prefix("quantile_score_") {
                    let level: f64 = level.parse().unwrap();
                    let (_, value) = pairs().find(|(own, _)| **own == level).unwrap();
                    quantile_score(y, *value, level)
                } else if score == "crps_quantile" {
                    2.0 * pairs().map(|(level, value)| quantile_score(y, *value, *level)).sum::<f64>() / 5.0
                } else if score == "interval_score_0.9" {
                    interval_score(y, values[0], values[4], 0.1)
                } else {
                    weighted_interval_score(y, values[2], [(values[0], values[4], 0.1), (values[1], values[3], 0.5)])
                }
            }
            ("vectors", _) => {
                let (targets, own) = own.split_first().unwrap();
                let (draws, observed) = own.split_at(own.len() - *targets as usize);
                let [energy, fair, variogram, moments] = VectorScores {
                    order: score.rsplit('_').next().and_then(|p| p.parse().ok()).unwrap_or(0.5),
                    ..VectorScores::default()
                }
                .score(draws, observed);
                assert_eq!(fair, energy_of_draws(draws, observed));
                assert_eq!(VectorScores::default().score(draws, observed)[2], variogram_of_draws(draws, observed, 0.5));
                match score {
                    "energy_score" => fair,
                    "energy_score_nrg" => energy,
                    "dawid_sebastiani" => moments,
                    _ => variogram,
                }
            }
            ("probability", _) => {
                // The event Y <= 0 of a distribution with that probability.
                let levels = vec![0.0, own[0], 1.0];
                let sets = QuantileSets::new(levels, vec![-1.0, 0.0, 1.0]).unwrap();
                brier_score(&sets.row(0), if y == 1.0 { -0.5 } else { 0.5 }, 0.0)
            }
            ("brier", _) => {
                let [events, probabilities, weights] = [0, 1, 2].map(|part| &own[part * 30..(part + 1) * 30]);
                // The event Y <= 0.
                let y: Vec<f64> = events.iter().map(|event| 0.5 - event).collect();
                let parts = decompose_brier(|row, _| probabilities[row], &y, Some(weights), 0.0).unwrap();
                match score {
                    "miscalibration" => parts.miscalibration,
                    "discrimination" => parts.discrimination,
                    "uncertainty" => parts.uncertainty,
                    _ => parts.score,
                }
            }
            ("murphy", _) => {
                let (predicted, seen) = own.split_at(15);
                murphy::murphy_curve(predicted, seen, None, score.parse().ok(), &[y])[0]
            }
            ("differences", _) => equal_accuracy(&own, None, false).unwrap().p_value,
            _ => continue,
        };
        checked += 1;
        assert!(
            (found - expected).abs() < 1e-9 * (1.0 + expected.abs()),
            "{score} of {what} at {y}: {found} {expected}"
        );
    }
    assert!(checked > 90, "{checked}");
}

/// One prediction of each kind.
fn kinds() -> Vec<Predictions> {
    let values = [-2.0, 0.1, 0.4, 2.0, 3.1].to_vec();
    vec![
        Mixtures::new(2, vec![0.3, 0.7], vec![-1.0, 1.0], vec![0.4, 1.1]).unwrap().into(),
        SampleSets::new(5, values.clone(), 0.1).unwrap().into(),
        QuantileSets::new(vec![0.1, 0.3, 0.5, 0.8, 0.9], values).unwrap().into(),
        vec![Family::named("gamma", &[("shape", 2.0)]).unwrap()].into(),
    ]
}

#[test]
fn weighted_crps_is_the_crps_with_full_weight() {
    for predictions in kinds() {
        let row = predictions.row(0);
        for y in [-3.0, 0.1, 0.7, 6.0] {
            let crps = row.crps(y);
            let thresholds = threshold_weighted_crps(row, y, f64::NEG_INFINITY, f64::INFINITY);
            assert!((thresholds - crps).abs() < 1e-9, "{y} {thresholds} {crps}");
            let below = threshold_weighted_crps(row, y, f64::NEG_INFINITY, 0.5);
            let above = threshold_weighted_crps(row, y, 0.5, f64::INFINITY);
            assert!((below + above - crps).abs() < 1e-9);
            let quantiles = quantile_weighted_crps(row, y, QuantileWeight::Uniform);
            assert!((quantiles - crps).abs() < 1e-9, "{y} {quantiles} {crps}");
            // 1 = 4 u (1 - u) + (2 u - 1)²
            let centre = quantile_weighted_crps(row, y, QuantileWeight::Centre);
            let tails = quantile_weighted_crps(row, y, QuantileWeight::Tails);
            assert!((4.0 * centre + tails - crps).abs() < 1e-9);
            let sides = [QuantileWeight::Left, QuantileWeight::Right].map(|side| quantile_weighted_crps(row, y, side));
            assert!((sides[0] + sides[1] + 2.0 * centre - crps).abs() < 1e-9);
        }
    }
}

#[test]
fn a_normal_distribution_has_known_weighted_scores() {
    let normal: Predictions = vec![Family::named("normal", &[]).unwrap()].into();
    let row = normal.row(0);
    // ∫ f² = 1 / (2 √π), f(0) = 1 / √(2π)
    let expected = 0.5 / std::f64::consts::PI.sqrt() - 2.0 * normal::pdf(0.3);
    assert!((cde_loss(row, 0.3) - expected).abs() < 1e-15);
    let mixture: Predictions = Mixtures::new(1, vec![1.0], vec![0.0], vec![1.0]).unwrap().into();
    assert!((cde_loss(mixture.row(0), 0.3) - expected).abs() < 1e-15);
    assert!((dawid_sebastiani_score(&row, 0.3) - 0.09).abs() < 1e-15);
    // ∫ Φ² up to 1 is Φ² + 2 φ Φ - Φ(√2) / √π.
    let (cdf, pdf) = (normal::cdf(1.0), normal::pdf(1.0));
    let closed = cdf * cdf + 2.0 * pdf * cdf - normal::cdf(std::f64::consts::SQRT_2) / std::f64::consts::PI.sqrt();
    assert!((threshold_weighted_crps(row, 5.0, f64::NEG_INFINITY, 1.0) - closed).abs() < 1e-10);
}

#[test]
fn squared_probabilities_of_counts_are_sums() {
    for (name, parameters) in [("poisson", vec![("mean", 4.0)]), ("negative_binomial", vec![("n", 3.0), ("prob", 0.3)])]
    {
        let family = Family::named(name, &parameters).unwrap();
        let sum: f64 = (0..500).map(|k| family.point_probability(f64::from(k)).powi(2)).sum();
        let predictions: Predictions = vec![family].into();
        let found = cde_loss(predictions.row(0), 2.0) + 2.0 * family.point_probability(2.0);
        assert!((found - sum).abs() < 1e-13, "{name} {found} {sum}");
    }
}

#[test]
fn the_pit_test_keeps_its_level_also_with_atoms() {
    let poisson: Predictions = vec![Family::named("poisson", &[("mean", 1.3)]).unwrap(); 400].into();
    let (mut rejected, runs) = (0, 300);
    for seed in 0..runs {
        let y = poisson.sample(1, seed, 0);
        let mut histogram = PitHistogram::default();
        for (row, y) in y.iter().enumerate() {
            histogram.add(randomised_pit(poisson.row(row), *y, seed, row as u64), 1.0);
        }
        rejected += u64::from(histogram.test().unwrap().p_value < 0.05);
    }
    // 15 expected of 300, sd 3.8.
    assert!((4..=27).contains(&rejected), "{rejected}");
    // Too narrow predictions are found.
    let narrow: Predictions = vec![Family::named("normal", &[("scale", 0.6)]).unwrap(); 400].into();
    let y = Predictions::from(vec![Family::named("normal", &[]).unwrap(); 400]).sample(1, 1, 0);
    let mut histogram = PitHistogram::default();
    y.iter().enumerate().for_each(|(row, y)| histogram.add(randomised_pit(narrow.row(row), *y, 0, row as u64), 1.0));
    let test = histogram.test().unwrap();
    assert!(test.p_value < 1e-6 && test.dispersion > 1.2, "{test:?}");
}

#[test]
fn a_decomposition_adds_up_and_finds_miscalibration() {
    let rows = 2000;
    let mut rng = Rng::new(5, 0);
    let mut normal_draw = || normal::quantile(rng.uniform());
    let centre: Vec<f64> = (0..rows).map(|_| normal_draw()).collect();
    let y: Vec<f64> = centre.iter().map(|centre| centre + normal_draw()).collect();
    let (thresholds, width) = threshold_grid(&y, 60);
    let cdf = |sd: f64, shift: f64| -> Vec<f64> {
        centre
            .iter()
            .flat_map(|centre| thresholds.iter().map(move |t| normal::cdf((t - centre - shift) / sd)))
            .collect()
    };
    let good = decompose(&cdf(1.0, 0.0), &y, None, &thresholds, width);
    let biased = decompose(&cdf(1.0, 1.5), &y, None, &thresholds, width);
    let constant = decompose(&vec![0.5; rows * thresholds.len()], &y, None, &thresholds, width);
    for parts in [good, biased, constant] {
        let sum = parts.miscalibration - parts.discrimination + parts.uncertainty;
        assert!((sum - parts.score).abs() < 1e-12, "{parts:?}");
        assert!(parts.miscalibration >= 0.0 && parts.discrimination >= 0.0);
        assert!((parts.uncertainty - good.uncertainty).abs() < 1e-12);
    }
    assert!(good.miscalibration < 0.02 && biased.miscalibration > 0.4, "{good:?} {biased:?}");
    // A shift of all probabilities keeps their order, and with it the discrimination.
    assert!((good.discrimination - biased.discrimination).abs() < 1e-9);
    assert!(constant.discrimination < 0.02);
    // The integral over thresholds is close to the mean CRPS: 1/√π for a normal distribution.
    assert!((good.score - 0.564).abs() < 0.03, "{good:?}");
}

#[test]
fn isotonic_regression_by_hand() {
    let rows = [(1.0, 1.0, 1.0), (2.0, 0.0, 1.0), (3.0, 2.0, 1.0), (3.0, 4.0, 1.0), (4.0, 3.0, 2.0)];
    assert_eq!(isotonic_regression(&rows), [0.5, 0.5, 3.0, 3.0, 3.0]);
}

#[test]
fn elementary_scores_integrate_to_the_quantile_score() {
    for (x, y, level) in [(1.0, 3.0, 0.2), (2.5, -1.0, 0.9), (0.4, 0.4, 0.5)] {
        let steps = 20_000;
        let thetas: Vec<f64> = (0..steps).map(|at| -2.0 + 6.0 * (f64::from(at) + 0.5) / f64::from(steps)).collect();
        let sum =
            murphy::murphy_curve(&[x], &[y], None, Some(level), &thetas).iter().sum::<f64>() * 6.0 / f64::from(steps);
        assert!((sum - quantile_score(y, x, level)).abs() < 1e-3, "{sum}");
        // Of means to half the squared error.
        let sum = murphy::murphy_curve(&[x], &[y], None, None, &thetas).iter().sum::<f64>() * 6.0 / f64::from(steps);
        assert!((sum - 0.5 * (x - y) * (x - y)).abs() < 1e-3, "{sum}");
    }
}

/// How often in 1,000 simulations two equally good models are called different at 5 %.
fn false_differences(rows: usize, correlation: f64, ordered: bool) -> u32 {
    let mut rng = Rng::new(11, 0);
    (0..1000)
        .map(|_| {
            let mut last = 0.0;
            let differences: Vec<f64> = (0..rows + 50)
                .map(|_| {
                    last = correlation * last + normal::quantile(rng.uniform());
                    last
                })
                .skip(50)
                .collect();
            u32::from(equal_accuracy(&differences, None, ordered).unwrap().p_value < 0.05)
        })
        .sum()
}

#[test]
fn equal_models_differ_in_five_percent_also_with_autocorrelated_scores() {
    // 50 of 1,000 expected, sd 7.
    for (rows, correlation, ordered) in [(100, 0.0, false), (100, 0.0, true), (400, 0.5, true), (1000, 0.7, true)] {
        let found = false_differences(rows, correlation, ordered);
        assert!((29..=78).contains(&found), "{rows} {correlation} {ordered}: {found}");
    }
    // What a test that ignores the order would say.
    assert!(false_differences(400, 0.5, false) > 200);
    assert!(equal_accuracy(&[0.0; 20], None, true).unwrap().p_value == 1.0);
    assert!(equal_accuracy(&[1.0; 7], None, false).is_none());
}

#[test]
fn a_scorecard_agrees_with_single_scores_in_any_chunks() {
    let y = [0.3, -2.0, 5.0, 0.1];
    let spec = || ScoreSpec {
        thresholds: vec![0.0],
        between: Some((0.0, 1.0)),
        quantile_weight: Some(QuantileWeight::Tails),
        ..ScoreSpec::default()
    };
    for one in kinds() {
        let predictions = one.select(&[0; 4]);
        let mut whole = Scorecard::new(spec()).unwrap();
        let scores = whole.add(&predictions, &y, Some(&[1.0, 2.0, 0.0, 1.0]), 0).unwrap();
        let row = one.row(0);
        assert_eq!(scores[0][0], row.crps(0.3));
        assert_eq!(scores[0][1], row.nll(0.3));
        let mut parts = Scorecard::new(spec()).unwrap();
        for (at, y) in y.iter().enumerate() {
            parts.add(&one, &[*y], Some(&[[1.0, 2.0, 0.0, 1.0][at]]), at as u64).unwrap();
        }
        let summary = whole.finish().unwrap();
        // As text, because the error of an infinite mean is NaN.
        assert_eq!(format!("{summary:?}"), format!("{:?}", parts.finish().unwrap()));
        let expected = (row.crps(0.3) + 2.0 * row.crps(-2.0) + row.crps(0.1)) / 4.0;
        assert!((summary.get("crps").unwrap() - expected).abs() < 1e-12);
        assert!(summary.get("brier_0").is_some() && summary.get("crps_between_0_1").is_some());
    }
    assert!(Scorecard::new(ScoreSpec { levels: vec![0.5, 0.1], ..ScoreSpec::default() }).is_err());
    assert!(Scorecard::new(ScoreSpec::default()).unwrap().finish().is_err());
}
