//! Scores of every kind of distribution against integrals over values by another route: densities for quantiles, fixed panels.

use negmm_dist::math::{normal, quadrature::integral};
use negmm_dist::samples::SampleSets;
use negmm_dist::verification::*;
use negmm_dist::{Distribution, DistributionRef, Family, Mixtures, Predictions, QuantileSets};

const SAMPLES: [f64; 6] = [-2.0, 0.1, 0.4, 0.4, 2.0, 3.1];
const WEIGHTS: [QuantileWeight; 5] = [
    QuantileWeight::Uniform,
    QuantileWeight::Centre,
    QuantileWeight::Tails,
    QuantileWeight::Left,
    QuantileWeight::Right,
];

/// A family: its name, its parameters, and the values at which its density jumps or bends.
type FamilyCase = (&'static str, &'static [(&'static str, f64)], &'static [f64]);
/// The probability within half a step of a value.
type Mass = Box<dyn Fn(f64, f64) -> f64>;

/// The weight of a level, written out again.
fn weight_at(weight: QuantileWeight, level: f64) -> f64 {
    match weight {
        QuantileWeight::Uniform => 1.0,
        QuantileWeight::Centre => level - level * level,
        QuantileWeight::Tails => 1.0 - 4.0 * level + 4.0 * level * level,
        QuantileWeight::Left => 1.0 - 2.0 * level + level * level,
        QuantileWeight::Right => level * level,
    }
}

/// Continuous distributions of every kind, each with the values at which its density jumps or bends.
fn continuous() -> Vec<(String, Predictions, Vec<f64>)> {
    let mixture = Mixtures::new(3, vec![0.5, 0.3, 0.2], vec![0.3, -1.1, 4.0], vec![0.5, 1.2, 0.2]).unwrap();
    let knots = vec![-2.0, 0.1, 0.4, 2.0, 3.1];
    let quantiles = QuantileSets::new(vec![0.1, 0.3, 0.5, 0.8, 0.9], knots.clone()).unwrap();
    let borders = vec![-2.0, -0.5, 1.0, 1.5, 4.0];
    let histogram = QuantileSets::of_histograms(&borders, &[2.0, 3.0, 0.5, 1.0]).unwrap();
    let mut list = vec![
        ("mixture".to_string(), mixture.into(), vec![]),
        ("quantiles".to_string(), quantiles.into(), knots),
        ("histogram".to_string(), histogram.into(), borders),
    ];
    let families: [FamilyCase; 11] = [
        ("normal", &[("loc", 0.3), ("scale", 2.0)], &[]),
        ("student_t", &[("df", 4.0), ("scale", 2.0)], &[]),
        ("logistic", &[], &[]),
        ("laplace", &[], &[0.0]),
        ("gumbel", &[("loc", 1.0), ("scale", 2.0)], &[]),
        ("uniform", &[("min", -1.0), ("max", 2.0)], &[]),
        ("exponential", &[("rate", 2.0)], &[]),
        ("gamma", &[("shape", 2.5)], &[]),
        ("lognormal", &[("sigmalog", 0.5)], &[]),
        ("weibull", &[("shape", 1.7), ("scale", 2.0)], &[]),
        ("beta", &[("a", 2.0), ("b", 3.5)], &[]),
    ];
    for (name, parameters, ends) in families {
        let predictions = vec![Family::named(name, parameters).unwrap()].into();
        list.push((name.to_string(), predictions, ends.to_vec()));
    }
    list
}

/// Where panels end: the given values, quantiles far into the tails, and steps of the sd about the mean.
fn panels(row: DistributionRef<'_>, at: &[f64]) -> Vec<f64> {
    let levels = [1e-15, 1e-13, 1e-11, 1e-9, 1e-7, 1e-5, 1e-4, 1e-3, 0.01, 0.03, 0.1, 0.2, 0.3, 0.4];
    let mut ends = at.to_vec();
    ends.extend(levels.iter().flat_map(|level| [row.quantile(*level), row.quantile_above(*level)]));
    let (mean, sd) = (row.mean(), row.sd());
    ends.extend((-24..=24).map(|step| mean + 0.5 * sd * f64::from(step)));
    ends.sort_by(f64::total_cmp);
    ends.dedup();
    ends
}

/// ∫ f over the panels, each of them in eight parts.
fn over(ends: &[f64], f: impl Fn(f64) -> f64) -> f64 {
    let part = |low: f64, width: f64| integral(low, low + width, |t| [f(t)])[0];
    let panel = |pair: &[f64]| {
        let width = (pair[1] - pair[0]) / 8.0;
        (0..8).map(|at| part(pair[0] + width * f64::from(at), width)).sum::<f64>()
    };
    ends.windows(2).map(panel).sum()
}

fn assert_close(found: f64, expected: f64, what: &str) {
    assert!((found - expected).abs() < 1e-9 * (1.0 + expected.abs()), "{what}: {found}, expected {expected}");
}

#[test]
fn cde_loss_agrees_with_quadrature() {
    let samples = Predictions::from(SampleSets::new(6, SAMPLES.to_vec(), 1e-9).unwrap());
    let mut all = continuous();
    all.push(("samples".to_string(), samples, vec![]));
    for (name, predictions, knots) in all {
        let row = predictions.row(0);
        let squared = over(&panels(row, &knots), |t| row.pdf(t) * row.pdf(t));
        for y in [-3.0, 0.1, 0.7, 6.0] {
            assert_close(cde_loss(row, y), squared - 2.0 * row.pdf(y), &format!("{name} {y}"));
        }
    }
    // The density of samples is that of a normal distribution with their mean and sd.
    let (mean, count) = (SAMPLES.iter().sum::<f64>() / 6.0, 6.0);
    let sd = (SAMPLES.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / (count - 1.0)).sqrt();
    let samples = Predictions::from(SampleSets::new(6, SAMPLES.to_vec(), 1e-9).unwrap());
    assert_close(samples.row(0).pdf(0.7), normal::pdf((0.7 - mean) / sd) / sd, "density of samples");
}

#[test]
fn threshold_weighted_crps_agrees_with_quadrature() {
    for (name, predictions, knots) in continuous() {
        let row = predictions.row(0);
        for (low, high) in [(0.2, 1.7), (f64::NEG_INFINITY, 0.5), (1.2, f64::INFINITY), (-4.0, 9.0)] {
            for y in [-3.0, 0.1, 0.7, 6.0] {
                let mut ends = panels(row, &[knots.clone(), vec![low, high, y]].concat());
                ends.retain(|end| end.is_finite() && low <= *end && *end <= high);
                let expected = over(&ends, |t| {
                    let distance = if t < y { row.cdf(t) } else { row.survival(t) };
                    distance * distance
                });
                let found = threshold_weighted_crps(row, y, low, high);
                assert_close(found, expected, &format!("{name} {y}, {low} to {high}"));
            }
        }
    }
}

/// With u = F(t), 2 ∫ v(u) (1{y < q(u)} - u) (q(u) - y) du is an integral over values with the density.
#[test]
fn quantile_weighted_crps_agrees_with_quadrature() {
    for (name, predictions, knots) in continuous() {
        let row = predictions.row(0);
        for y in [-3.0, 0.1, 0.7, 6.0] {
            let ends = panels(row, &[knots.clone(), vec![y]].concat());
            for weight in WEIGHTS {
                let expected = 2.0
                    * over(&ends, |t| {
                        let level = row.cdf(t);
                        let loss = if t > y { row.survival(t) * (t - y) } else { level * (y - t) };
                        weight_at(weight, level) * loss * row.pdf(t)
                    });
                assert_close(quantile_weighted_crps(row, y, weight), expected, &format!("{name} {y} {weight:?}"));
            }
        }
    }
}

/// Between two ranks of samples the integrand is a polynomial of degree 3, for which Simpson's rule is exact.
#[test]
fn quantile_weighted_crps_of_samples_is_a_sum() {
    let predictions = Predictions::from(SampleSets::new(6, SAMPLES.to_vec(), 1e-9).unwrap());
    for y in [-3.0, 0.1, 0.7, 6.0] {
        for weight in WEIGHTS {
            let mut expected = 0.0;
            for (rank, value) in SAMPLES.iter().enumerate() {
                let (low, high) = (rank as f64 / 6.0, (rank + 1) as f64 / 6.0);
                let at = |level: f64| weight_at(weight, level) * quantile_score(y, *value, level);
                expected += 2.0 * (high - low) / 6.0 * (at(low) + 4.0 * at(0.5 * low + 0.5 * high) + at(high));
            }
            assert_close(quantile_weighted_crps(predictions.row(0), y, weight), expected, &format!("{y} {weight:?}"));
        }
    }
}

/// Of counts both scores are sums over their values.
#[test]
fn weighted_crps_of_counts_is_a_sum() {
    for (name, parameters) in [
        ("poisson", vec![("mean", 2.5)]),
        ("poisson", vec![("mean", 3000.0)]),
        ("negative_binomial", vec![("n", 0.7), ("prob", 0.1)]),
    ] {
        let family = Family::named(name, &parameters).unwrap();
        let predictions: Predictions = vec![family].into();
        for y in [0.0, 2.0, 11.0, 3050.0] {
            for weight in WEIGHTS {
                let (mut expected, mut low) = (0.0, 0.0);
                for value in (0..6000).map(f64::from) {
                    let width = family.point_probability(value);
                    let at = |level: f64| weight_at(weight, level) * quantile_score(y, value, level);
                    expected += width / 3.0 * (at(low) + 4.0 * at(low + 0.5 * width) + at(low + width));
                    low += width;
                }
                let found = quantile_weighted_crps(predictions.row(0), y, weight);
                assert_close(found, expected, &format!("{name} {y} {weight:?}"));
            }
            let squares =
                (1..5).map(f64::from).map(|value| if value < y { family.cdf(value) } else { family.survival(value) });
            let found = threshold_weighted_crps(predictions.row(0), y, 1.0, 5.0);
            assert_close(found, squares.map(|distance| distance * distance).sum(), &format!("{name} {y}, 1 to 5"));
        }
    }
}

/// Quantiles from level 0 to level 1 have no tails: their quantile function is linear between levels, also where it is flat.
#[test]
fn quantile_weighted_crps_of_quantiles_with_an_atom() {
    let (levels, values) = ([0.0, 0.2, 0.5, 0.9, 1.0], [-1.0, 0.4, 0.4, 2.0, 3.0]);
    let predictions = Predictions::from(QuantileSets::new(levels.to_vec(), values.to_vec()).unwrap());
    for y in [-3.0, 0.1, 0.4, 0.7, 6.0] {
        for weight in WEIGHTS {
            let mut expected = 0.0;
            for at in 0..4 {
                let slope = (values[at + 1] - values[at]) / (levels[at + 1] - levels[at]);
                let quantile = |level: f64| values[at] + slope * (level - levels[at]);
                let crossing = if slope > 0.0 { levels[at] + (y - values[at]) / slope } else { levels[at] };
                let ends = [levels[at], crossing.clamp(levels[at], levels[at + 1]), levels[at + 1]];
                expected +=
                    2.0 * over(&ends, |level| weight_at(weight, level) * quantile_score(y, quantile(level), level));
            }
            assert_close(quantile_weighted_crps(predictions.row(0), y, weight), expected, &format!("{y} {weight:?}"));
        }
    }
}

#[test]
fn mass_log_score_is_that_of_the_probability_within_half_a_step() {
    let poisson = Family::named("poisson", &[("mean", 2.5)]).unwrap();
    let samples = Predictions::from(SampleSets::new(6, SAMPLES.to_vec(), 1e-9).unwrap());
    let (mean, sd) = (samples.row(0).mean(), samples.row(0).sd());
    let mut all: Vec<(String, Predictions, Mass)> = vec![
        ("poisson".to_string(), vec![poisson].into(), Box::new(move |y, _| poisson.point_probability(y))),
        (
            "samples".to_string(),
            samples,
            Box::new(move |y, step| {
                normal::cdf((y + 0.5 * step - mean) / sd) - normal::cdf((y - 0.5 * step - mean) / sd)
            }),
        ),
    ];
    for (name, predictions, knots) in continuous() {
        let own = predictions.clone();
        let mass = move |y: f64, step: f64| {
            let row = own.row(0);
            let (low, high) = (y - 0.5 * step, y + 0.5 * step);
            let mut ends = panels(row, &[knots.clone(), vec![low, high]].concat());
            ends.retain(|end| low <= *end && *end <= high);
            over(&ends, |t| row.pdf(t))
        };
        all.push((name, predictions, Box::new(mass)));
    }
    for (name, predictions, mass) in all {
        for (y, step) in [(1.0, 1.0), (0.0, 1.0), (2.0, 0.5)] {
            if name == "poisson" && step != 1.0 {
                continue;
            }
            let mut scorecard = Scorecard::new(ScoreSpec { step: Some(step), ..ScoreSpec::default() }).unwrap();
            scorecard.add(&predictions, &[y], None, 0).unwrap();
            let found = scorecard.finish().unwrap().get("mass_log_score").unwrap();
            let expected = -mass(y, step).ln();
            if expected.is_finite() {
                assert_close(found, expected, &format!("{name} {y} {step}"));
            } else {
                assert_eq!(found, expected, "{name} {y} {step}");
            }
        }
    }
}
