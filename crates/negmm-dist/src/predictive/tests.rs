//! Tests of predictions.

use super::*;
use crate::{Distribution, ErrorKind};

fn predictions(rows: usize) -> Predictions {
    let means = (0..2 * rows).map(|value| (value % 7) as f64).collect();
    Mixtures::new(2, vec![0.5; 2 * rows], means, vec![1.5; 2 * rows]).unwrap().into()
}

#[test]
fn selected_rows_have_the_same_results() {
    let samples =
        Predictions::of_sample_members(2, 3, (0..24).map(|value| f64::from(value * value % 11)).collect(), 0.1);
    for all in [predictions(4).of_members(2), samples] {
        let some = all.select(&[3, 1, 1]);
        let pick = |values: Vec<f64>| vec![values[3], values[1], values[1]];
        assert_eq!((some.len(), some.members()), (3, 2));
        assert_eq!(some.quantile(0.3).unwrap(), pick(all.quantile(0.3).unwrap()));
        let (within, between) = all.variance_by_members();
        assert_eq!(some.variance_by_members(), (pick(within), pick(between)));
    }
}

#[test]
fn variances_within_and_between_members_add_up() {
    let weights = vec![0.1, 0.4, 0.3, 0.2];
    let mixtures = Mixtures::new(4, weights, vec![0.0, 1.0, 5.0, -2.0], vec![1.0, 0.5, 0.2, 2.0]).unwrap();
    let predictions = Predictions::from(mixtures).of_members(2);
    let (aleatoric, epistemic) = predictions.variance_by_members();
    assert!((aleatoric[0] + epistemic[0] - predictions.variance()[0]).abs() < 1e-12);
    // Member means 0.8 and 2.2, each with half of the weight.
    assert!((epistemic[0] - 0.49).abs() < 1e-12, "{epistemic:?}");
    assert_eq!(predictions.clone().of_members(1).variance_by_members().1, [0.0]);
    let matched = predictions.moment_matched();
    assert_eq!((matched.mean(), matched.sd()), (predictions.mean(), predictions.sd()));
}

#[test]
fn rows_are_selected_with_their_members() {
    let mixtures = predictions(5);
    let some = mixtures.select(&[4, 0, 4]);
    assert_eq!(some.mean(), [4, 0, 4].map(|row| mixtures.mean()[row]));
    let values: Vec<f64> = (0..24).map(|value| f64::from(value * value % 11)).collect();
    let samples = Predictions::of_sample_members(2, 4, values, 1e-3);
    let some = samples.select(&[2, 0]);
    let (all, part) = (samples.variance_by_members(), some.variance_by_members());
    assert_eq!(part, (vec![all.0[2], all.0[0]], vec![all.1[2], all.1[0]]));
    let plain = Predictions::from(samples.samples().unwrap().clone());
    assert_ne!(plain, samples);
    assert_eq!(plain.clone().with_between_members(2, all.1).unwrap(), samples);
    assert!(plain.clone().with_between_members(3, vec![0.0; 3]).is_err());
    assert!(plain.with_between_members(2, vec![f64::NAN; 3]).is_err());
    assert!(mixtures.with_between_members(2, vec![0.0; 5]).is_err());
    let alone = predictions(0).select(&[]);
    assert!(alone.is_empty());
}

#[test]
fn below_equal_and_above_sum_to_1() {
    let atom_at_0 = || Predictions::from(Mixtures::new(2, vec![0.3, 0.7], vec![0.0, 2.0], vec![0.0, 1.0]).unwrap());
    let from_0 = Support { lower: Some(0.0), ..Support::default() };
    let counts = Support { step: Some(1.0), ..from_0 };
    let tenths = Support { step: Some(0.1), ..Support::default() };
    let samples = || Predictions::from(SampleSets::new(4, vec![0.0, 1.0, 1.0, 3.0], 0.1).unwrap());
    let all = [
        atom_at_0(),
        atom_at_0().with_support(from_0).unwrap(),
        atom_at_0().with_support(counts).unwrap(),
        atom_at_0().with_support(tenths).unwrap(),
        samples(),
        samples().with_support(counts).unwrap(),
    ];
    for (at, predictions) in all.iter().enumerate() {
        for value in [-1.0, 0.0, 0.1 + 0.2, 0.5, 1.0, 3.0, 7.0] {
            let [below, equal, above] =
                [predictions.below(value), predictions.point_probability(value), predictions.above(value)]
                    .map(|p| p.unwrap()[0]);
            assert!((below + equal + above - 1.0).abs() < 1e-14, "{at} {value}: {below} {equal} {above}");
        }
    }
    // Nothing lies below the lowest value, without the rounding of a difference.
    assert_eq!([all[1].below(0.0).unwrap(), all[2].below(0.0).unwrap()], [[0.0], [0.0]]);
    assert_eq!(samples().below(1.0).unwrap(), [0.25]);
}

#[test]
fn mass_is_the_probability_within_half_a_step() {
    let mixtures = predictions(3);
    let y = [0.0, 2.5, 1e4];
    let nll = mixtures.mass_nll(&y, 0.5).unwrap();
    for row in 0..2 {
        let probability = mixtures.row(row).cdf(y[row] + 0.25) - mixtures.row(row).cdf(y[row] - 0.25);
        assert!((nll[row] + probability.ln()).abs() < 1e-12, "{nll:?}");
    }
    assert!(nll[2].is_finite() && nll[2] > 1e6, "{nll:?}");
    let samples: Predictions = SampleSets::new(2, vec![1.0, 3.0], 1e-3).unwrap().into();
    let y = [2.5];
    assert_eq!(samples.mass_nll(&y, 0.5).unwrap(), samples.moment_matched().mass_nll(&y, 0.5).unwrap());
    for step in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(samples.mass_nll(&y, step).unwrap_err().kind(), ErrorKind::Options);
    }
    assert!(samples.mass_nll(&[], 1.0).is_err());
}

#[test]
fn levels_lie_strictly_between_0_and_1() {
    let predictions = predictions(3);
    for fraction in [0.0, 1.0, -0.5, 1.5, f64::NAN] {
        assert_eq!(predictions.quantile(fraction).unwrap_err().kind(), ErrorKind::Options);
        assert_eq!(predictions.interval(fraction).unwrap_err().kind(), ErrorKind::Options);
        assert_eq!(predictions.shortfall(fraction).unwrap_err().kind(), ErrorKind::Options);
        assert_eq!(predictions.shortfall_above(fraction).unwrap_err().kind(), ErrorKind::Options);
    }
    assert_eq!(predictions.above(f64::NAN).unwrap_err().kind(), ErrorKind::Options);
    assert_eq!(predictions.below(f64::NAN).unwrap_err().kind(), ErrorKind::Options);
}

#[test]
fn y_has_one_number_for_each_row() {
    let predictions = predictions(3);
    type Method = fn(&Predictions, &[f64]) -> Result<Vec<f64>>;
    let methods: [Method; 5] =
        [Predictions::pdf, Predictions::cdf, Predictions::nll, Predictions::crps, Predictions::pit];
    for method in methods {
        assert_eq!(method(&predictions, &[1.0; 2]).unwrap_err().kind(), ErrorKind::Data);
        let error = method(&predictions, &[0.0, f64::NAN, 0.0]).unwrap_err();
        assert!(error.to_string().starts_with("row 2:"), "{error}");
        assert_eq!(method(&predictions, &[1.0; 3]).unwrap().len(), 3);
    }
}

#[test]
fn results_are_those_of_the_rows_in_order() {
    let predictions = predictions(1000);
    let quantiles = predictions.quantile(0.2).unwrap();
    let y: Vec<f64> = (0..1000).map(|row| (row % 5) as f64).collect();
    let (nll, crps, above) =
        (predictions.nll(&y).unwrap(), predictions.crps(&y).unwrap(), predictions.above(1.0).unwrap());
    for (row, mixture) in predictions.mixtures().unwrap().rows().enumerate() {
        assert_eq!(quantiles[row], mixture.quantile(0.2));
        assert_eq!(nll[row], -mixture.log_pdf(y[row]));
        assert_eq!(crps[row], mixture.crps(y[row]));
        assert_eq!(above[row], mixture.survival(1.0));
    }
}

#[test]
fn draws_do_not_depend_on_chunks() {
    let whole = predictions(14).sample(3, 42, 0);
    // Seven rows on, the means repeat.
    let second = predictions(7).sample(3, 42, 7);
    assert_eq!(whole[21..], second);
    assert_ne!(whole[..21], whole[21..]);
    assert!(predictions(2).sample(0, 42, 0).is_empty());
}
