//! Distributions of quantiles and histograms, against quadrature and the normal distribution.

use negmm_dist::math::{normal, quadrature::integral};
use negmm_dist::quantiles::{QuantileSet, QuantileSets};
use negmm_dist::{Distribution, Predictions, Rng};
use proptest::prelude::*;

fn levels() -> Vec<f64> {
    (1..20).map(|at| f64::from(at) * 0.05).collect()
}

/// ∫ over all values, in panels between the knots and far into the tails.
fn over_line(row: QuantileSet<'_>, at: &[f64], f: impl Fn(f64) -> f64) -> f64 {
    let mut ends = row.values.to_vec();
    for level in [1e-14, 1e-10, 1e-7, 1e-5, 1e-3] {
        ends.extend([row.quantile(level), row.quantile_above(level)]);
    }
    ends.extend_from_slice(at);
    ends.sort_by(f64::total_cmp);
    ends.windows(2).map(|pair| integral(pair[0], pair[1], |t| [f(t)])[0]).sum()
}

fn check(row: QuantileSet<'_>, y: f64) {
    let squared = |t: f64| {
        let difference = if t < y { row.cdf(t) } else { row.survival(t) };
        difference * difference
    };
    let expected = over_line(row, &[y], squared);
    assert!((row.crps(y) - expected).abs() < 1e-9 * (1.0 + expected), "{y}: {} {expected}", row.crps(y));
    let at = row.mean() - 1.0;
    // E Y = at + ∫ survival above - ∫ cdf below
    let mean = at + over_line(row, &[at], |t| if t > at { row.survival(t) } else { -row.cdf(t) });
    assert!((row.mean() - mean).abs() < 1e-9 * (1.0 + mean.abs()), "{} {mean}", row.mean());
    let mean = row.mean();
    let variance =
        2.0 * over_line(row, &[mean], |t| (t - mean).abs() * if t > mean { row.survival(t) } else { row.cdf(t) });
    assert!((row.variance() - variance).abs() < 1e-9 * (1.0 + variance), "{} {variance}", row.variance());
}

#[test]
fn crps_and_moments_agree_with_quadrature() {
    let sets = QuantileSets::new(vec![0.1, 0.4, 0.5, 0.9], vec![-1.0, 0.5, 0.5, 4.0, 2.0, 2.5, 2.6, 2.61]).unwrap();
    for row in [sets.row(0), sets.row(1)] {
        for y in [-9.0, -1.0, 0.2, 0.5, 2.55, 3.9, 4.0, 11.0] {
            check(row, y);
        }
    }
    let histogram = QuantileSets::of_histograms(&[0.0, 1.0, 3.0, 7.0], &[1.0, 2.0, 1.0, 0.0, 5.0, 0.0]).unwrap();
    for row in [histogram.row(0), histogram.row(1)] {
        for y in [-1.0, 0.0, 0.5, 2.9, 7.0, 8.0] {
            check(row, y);
        }
    }
}

#[test]
fn quantiles_of_a_normal_distribution_have_its_tails_and_nearly_its_scores() {
    let levels: Vec<f64> = (1..100).map(|at| f64::from(at) / 100.0).collect();
    let values = levels.iter().map(|level| 3.0 + 2.0 * normal::quantile(*level)).collect();
    let sets = QuantileSets::new(levels, values).unwrap();
    let row = sets.row(0);
    for y in [-9.0, -2.5, 8.0, 15.0] {
        let z = (y - 3.0) / 2.0;
        assert!((row.log_pdf(y) - (normal::log_pdf(z) - libm::log(2.0))).abs() < 1e-9, "{y}");
        assert!((row.cdf(y) / normal::cdf(z) - 1.0).abs() < 1e-9);
    }
    let exact = negmm_dist::Family::named("normal", &[("loc", 3.0), ("scale", 2.0)]).unwrap();
    for y in [-3.0, 2.9, 5.0, 9.0] {
        assert!((row.crps(y) - exact.crps(y)).abs() < 2e-3, "{} {}", row.crps(y), exact.crps(y));
    }
    assert!((row.mean() - 3.0).abs() < 1e-9 && (row.sd() - 2.0).abs() < 5e-3, "{} {}", row.mean(), row.sd());
}

#[test]
fn an_interval_alone_is_a_distribution() {
    let sets = QuantileSets::new(vec![0.05, 0.95], vec![-1.0, 3.0]).unwrap();
    let row = sets.row(0);
    assert_eq!((row.quantile(0.05), row.quantile(0.95), row.mean()), (-1.0, 3.0, 1.0));
    assert!(row.quantile(0.01) < -1.0 && row.survival(5.0) > 0.0);
    // One level is a point.
    let point = QuantileSets::new(vec![0.5], vec![2.0]).unwrap();
    assert_eq!((point.row(0).crps(5.0), point.row(0).mean(), point.row(0).point_probability(2.0)), (3.0, 2.0, 1.0));
}

#[test]
fn crossing_quantiles_are_rearranged_and_counted() {
    let sets = QuantileSets::new(vec![0.1, 0.5, 0.9], vec![3.0, 1.0, 2.0, 0.0, 1.0, 2.0]).unwrap();
    assert_eq!((sets.crossing(), sets.row(0).values), (1, &[1.0, 2.0, 3.0][..]));
}

#[test]
fn what_is_no_set_is_refused() {
    let error =
        |levels: &[f64], values: &[f64]| QuantileSets::new(levels.to_vec(), values.to_vec()).unwrap_err().to_string();
    assert_eq!(error(&[], &[]), "expected at least 1 level of quantiles, found none");
    assert_eq!(
        error(&[0.5, 0.5], &[1.0, 1.0]),
        "expected levels of quantiles in ascending order, found 0.5 before 0.5"
    );
    assert_eq!(error(&[0.5, 1.5], &[1.0, 1.0]), "expected levels of quantiles from 0 to 1, found 1.5");
    assert_eq!(
        error(&[0.1, 0.9], &[1.0, 2.0, 1.0, f64::NAN]),
        "row 2: expected a quantile of level 0.9 that is finite, found NaN"
    );
    assert_eq!(error(&[0.1, 0.9], &[1.0]), "expected 2 quantiles for each row, found 1 values");
}

#[test]
fn regions_have_their_coverage() {
    let values: Vec<f64> = levels().iter().map(|level| normal::quantile(*level)).collect();
    let two: Vec<f64> = levels().iter().map(|level| if *level < 0.5 { *level } else { 10.0 + 3.0 * level }).collect();
    for values in [values, two] {
        let sets = QuantileSets::new(levels(), values).unwrap();
        for coverage in [0.3, 0.5, 0.9, 0.97] {
            let region = sets.row(0).hdr(coverage);
            let mass: f64 =
                region.intervals().iter().map(|ends| sets.row(0).cdf(ends.upper) - sets.row(0).below(ends.lower)).sum();
            assert!((mass - coverage).abs() < 1e-6, "{coverage} {mass} {region}");
        }
        // Conformal regions contain exactly the values whose tail is larger.
        let predictions = Predictions::from(sets);
        let row = predictions.row(0);
        for outside in [0.03, 0.2, 0.6] {
            let region = row.region_leaving(outside);
            for y in [-3.0, -0.3, 0.02, 0.4, 1.1, 10.9, 12.9, 13.5] {
                let tail = row.region_tail(y);
                if (tail - outside).abs() > 1e-6 {
                    assert_eq!(region.contains(y), tail > outside, "{outside} {y} {tail} {region}");
                }
            }
        }
    }
}

#[test]
fn draws_follow_the_cdf() {
    let sets = QuantileSets::new(vec![0.2, 0.5, 0.6], vec![0.0, 2.0, 2.0]).unwrap();
    let (row, mut rng) = (sets.row(0), Rng::new(3, 0));
    let mut draws: Vec<f64> = (0..20_000).map(|_| row.sample(&mut rng)).collect();
    draws.sort_by(f64::total_cmp);
    for y in [-1.0, 0.0, 1.0, 1.99, 2.0, 3.0] {
        let fraction = draws.partition_point(|draw| *draw <= y) as f64 / 20_000.0;
        assert!((fraction - row.cdf(y)).abs() < 0.012, "{y} {fraction} {}", row.cdf(y));
    }
}

proptest! {
    #[test]
    fn cdf_and_quantile_are_inverse(
        mut values in proptest::collection::vec(-1e3..1e3f64, 5), level in 0.001..0.999f64, shift in -10.0..10.0f64, scale in 0.1..10.0f64,
    ) {
        values.sort_by(f64::total_cmp);
        let levels = vec![0.05, 0.3, 0.5, 0.8, 0.97];
        let sets = QuantileSets::new(levels.clone(), values.clone()).unwrap();
        let row = sets.row(0);
        let quantile = row.quantile(level);
        prop_assert!(row.cdf(quantile) >= level - 1e-9 && row.below(quantile) <= level + 1e-9);
        // Shift and scale of the values are those of the distribution.
        let moved = QuantileSets::new(levels, values.iter().map(|value| value * scale + shift).collect()).unwrap();
        prop_assert!((moved.row(0).crps(quantile * scale + shift) - scale * row.crps(quantile)).abs() < 1e-9 * (1.0 + scale * row.crps(quantile)));
        prop_assert!(row.crps(quantile) >= 0.0);
        let weighted = level * row.shortfall_below(level) + (1.0 - level) * row.shortfall_above(1.0 - level);
        prop_assert!((weighted - row.mean()).abs() < 1e-7 * (1.0 + row.sd()));
    }
}
