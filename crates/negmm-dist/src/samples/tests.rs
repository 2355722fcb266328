//! Tests of sets of samples.

use super::*;
use crate::ErrorKind;
use crate::math::rng::Rng;

fn set(values: &[f64]) -> SampleSets {
    SampleSets::new(values.len(), values.to_vec(), 0.1).unwrap()
}

#[test]
fn new_refuses_what_is_not_a_set() {
    let kind = |samples, values: &[f64], floor| SampleSets::new(samples, values.to_vec(), floor).unwrap_err().kind();
    assert_eq!(kind(0, &[], 1.0), ErrorKind::Data);
    assert_eq!(kind(2, &[1.0; 3], 1.0), ErrorKind::Data);
    assert_eq!(kind(1, &[1.0], 0.0), ErrorKind::Options);
    assert_eq!(kind(1, &[1.0], f64::NAN), ErrorKind::Options);
    let error = SampleSets::new(2, vec![0.0, 1.0, f64::NAN, 2.0], 1.0).unwrap_err();
    assert_eq!(error.to_string(), "set 1, sample 0: expected a sample that is finite, found NaN");
    assert!(SampleSets::new(3, vec![], 1.0).unwrap().is_empty());
}

#[test]
fn answers_by_hand() {
    let sets = set(&[8.0, 1.0, 4.0, 2.0]);
    let row = sets.row(0);
    assert_eq!((sets.len(), sets.samples(), sets.values()), (1, 4, &[1.0, 2.0, 4.0, 8.0][..]));
    assert_eq!(row.mean(), 3.75);
    assert!((row.variance() - 115.0 / 12.0).abs() < 1e-14);
    // numpy.quantile([8, 1, 4, 2], [0, 0.4, 0.75, 0.9, 1])
    let levels = [0.0, 0.4, 0.75, 0.9, 1.0].map(|level| row.quantile(level));
    for (found, expected) in levels.into_iter().zip([1.0, 2.4, 5.0, 6.8, 8.0]) {
        assert!((found - expected).abs() < 1e-14, "{found} {expected}");
    }
    assert!(row.quantile(1.1).is_nan() && row.quantile(f64::NAN).is_nan());
    assert_eq!([0.5, 1.0, 3.0, 8.0].map(|y| row.cdf(y)), [0.0, 0.25, 0.5, 1.0]);
    assert_eq!([0.5, 1.0, 3.0, 8.0].map(|y| row.survival(y)), [1.0, 0.75, 0.5, 0.0]);
    // Whole samples, and one and a half.
    assert_eq!((row.shortfall_below(0.5), row.shortfall_above(0.25)), (1.5, 8.0));
    assert!((row.shortfall_below(0.375) - 2.0 / 1.5).abs() < 1e-15);
    assert!((row.shortfall_above(0.375) - 10.0 / 1.5).abs() < 1e-15);
    assert_eq!((row.shortfall_below(1.0), row.shortfall_below(1e-320)), (3.75, 1.0));
    let z = (5.0 - 3.75) / row.sd();
    assert!((row.log_pdf(5.0) - (normal::log_pdf(z) - libm::log(row.sd()))).abs() < 1e-14);
    assert!((row.pdf(5.0) - libm::exp(row.log_pdf(5.0))).abs() < 1e-15);
}

#[test]
fn one_sample_is_a_point() {
    let sets = set(&[3.0]);
    let row = sets.row(0);
    assert_eq!((row.mean(), row.sd(), row.variance(), row.normal_sd()), (3.0, 0.0, 0.0, 0.1));
    assert_eq!(
        (row.quantile(0.3), row.interval(0.9), row.crps(5.0)),
        (3.0, crate::Interval { lower: 3.0, upper: 3.0 }, 2.0)
    );
    assert_eq!((row.shortfall_below(0.05), row.shortfall_above(0.05)), (3.0, 3.0));
    assert_eq!(row.sample(&mut Rng::new(1, 1)), 3.0);
    assert!((row.log_pdf(3.0) - (normal::log_pdf(0.0) - libm::log(0.1))).abs() < 1e-15);
}

#[test]
fn extreme_numbers_give_no_nan() {
    let extremes = [f64::MIN, f64::MAX, 0.0, 5e-324, 1e-300, -1e300, 1.0];
    for a in extremes {
        for b in extremes {
            let sets = set(&[a, b, b]).rescale(b, 3.0);
            let row = sets.row(0);
            for y in extremes {
                let answers = [row.crps(y), row.log_pdf(y), row.pdf(y), row.cdf(y), row.survival(y)];
                assert!(answers.iter().all(|answer| !answer.is_nan()), "{a} {b} {y}: {answers:?}");
            }
            let tails = [row.shortfall_below(0.4), row.shortfall_above(0.4), row.quantile(0.3), row.quantile(0.8)];
            let answers = [row.mean(), row.sd(), row.variance()];
            assert!(answers.iter().chain(&tails).all(|answer| !answer.is_nan()), "{a} {b}: {answers:?} {tails:?}");
            assert!(row.mean().is_finite());
        }
    }
}

#[test]
fn equal_samples_have_no_spread_however_large() {
    let sets = set(&[1e15; 7]);
    assert_eq!((sets.row(0).mean(), sets.row(0).sd()), (1e15, 0.0));
}

#[test]
fn draws_are_the_samples() {
    let sets = set(&[1.0, 2.0, 4.0]);
    let mut rng = Rng::new(9, 0);
    let mean = (0..30_000).map(|_| sets.row(0).sample(&mut rng)).sum::<f64>() / 30_000.0;
    assert!((mean - 7.0 / 3.0).abs() < 0.03, "{mean}");
}
