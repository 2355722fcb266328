//! Highest-density regions against brute force: several modes, bounds, atoms, discrete distributions and samples.

use negmm::samples::SampleSets;
use negmm::{DistributionRef, HighestDensityRegion, Interval, Mixtures, Predictions, Rng, Support};
use negmm_dist::Distribution;

/// Random mixtures of up to six components, the narrowest a hundredth as wide as the widest.
fn mixtures(rows: usize) -> Vec<Predictions> {
    let mut rng = Rng::new(19, 0);
    let one = |_| {
        let components = 1 + rng.below(6);
        let mut of =
            |low: f64, high: f64| -> Vec<f64> { (0..components).map(|_| low + (high - low) * rng.uniform()).collect() };
        let (weights, means, logs) = (of(0.05, 1.0), of(-4.0, 4.0), of(-4.6, 0.7));
        Mixtures::new(components, weights, means, logs.into_iter().map(f64::exp).collect()).unwrap().into()
    };
    (0..rows).map(one).collect()
}

fn bounded(predictions: &Predictions, lower: f64, upper: f64) -> Predictions {
    let support = Support { lower: Some(lower), upper: Some(upper), ..Support::default() };
    predictions.clone().with_support(support).unwrap()
}

/// The probability that a row gives to a region: at its ends there may be atoms.
fn probability(row: DistributionRef<'_>, region: &HighestDensityRegion) -> f64 {
    region
        .intervals()
        .iter()
        .map(|Interval { lower, upper }| row.cdf(*upper) - row.cdf(*lower) + row.point_probability(*lower))
        .sum()
}

/// The length of the smallest set with so much probability, from cells of a density.
fn least_length(row: DistributionRef<'_>, coverage: f64, low: f64, high: f64) -> f64 {
    const CELLS: usize = 20_000;
    let width = (high - low) / CELLS as f64;
    let mut density: Vec<f64> = (0..CELLS).map(|cell| row.pdf(low + (cell as f64 + 0.5) * width)).collect();
    density.sort_unstable_by(|a, b| b.total_cmp(a));
    let mut sum = 0.0;
    width * density.iter().take_while(|height| (sum < coverage, sum += *height * width).0).count() as f64
}

#[test]
fn a_region_of_a_density_has_its_probability_and_is_the_smallest() {
    for (at, whole) in mixtures(25).iter().enumerate() {
        for predictions in [whole.clone(), bounded(whole, -1.5, 2.0), bounded(whole, 3.0, 50.0)] {
            let row = predictions.row(0);
            for coverage in [0.05, 0.5, 0.9, 0.999] {
                let region = row.hdr(coverage);
                let found = probability(row, &region);
                assert!((found - coverage).abs() < 1e-11, "{at}: {coverage} {found} {region}");
                let (low, high) = predictions.support().bounds();
                let least = least_length(row, coverage, low.max(-12.0), high.min(12.0));
                // As exact as 20,000 cells of 24 are, with an end or two for each component.
                assert!(region.length() < least + 1.5e-2, "{at}: {coverage} {} {least}", region.length());
            }
        }
    }
}

#[test]
fn two_peaks_have_two_intervals_and_one_has_its_central_interval() {
    let two = Predictions::from(Mixtures::new(2, vec![0.5; 2], vec![-60.0, 60.0], vec![2.0; 2]).unwrap());
    let region = two.hdr(0.9).unwrap().remove(0);
    let [Interval { lower: a, upper: b }, Interval { lower: c, upper: d }] = region.intervals() else {
        panic!("{region}")
    };
    assert!((a + d).abs() < 1e-10 && (b + c).abs() < 1e-10);
    // Each peak has its own nine tenths.
    assert!((b + 60.0 - 1.644_853_626_951_472_2 * 2.0).abs() < 1e-10, "{region}");
    assert_eq!(region.to_string(), format!("[{a},{b}] [{c},{d}]"));
    let one = Predictions::from(Mixtures::new(1, vec![1.0], vec![3.0], vec![2.0]).unwrap());
    let (region, Interval { lower, upper }) = (one.row(0).hdr(0.95), one.row(0).interval(0.95));
    let [Interval { lower: low, upper: high }] = region.intervals() else { panic!("{region}") };
    assert!((low - lower).abs() < 1e-12 && (high - upper).abs() < 1e-12);
    for coverage in [0.0, 1.0, f64::NAN] {
        assert!(one.hdr(coverage).is_err());
    }
}

#[test]
fn the_tail_of_a_value_says_which_regions_have_it() {
    let mut rng = Rng::new(3, 0);
    let supports = [
        Support::default(),
        Support { lower: Some(-1.0), ..Support::default() },
        Support { step: Some(0.25), upper: Some(3.0), ..Support::default() },
        Support { step: Some(1e-4), lower: Some(-2.0), ..Support::default() },
    ];
    for predictions in mixtures(30) {
        for support in supports {
            let predictions = predictions.clone().with_support(support).unwrap();
            let row = predictions.row(0);
            for _ in 0..20 {
                let y = support.nearest(10.0 * rng.uniform() - 5.0);
                let (region, interval) = (row.region_tail(y), row.interval_tail(y));
                assert!((0.0..=1.0).contains(&region) && (0.0..=1.0).contains(&interval));
                for (tail, inside) in [(region, true), (region, false), (interval, true), (interval, false)] {
                    let leaving = if inside { tail * (1.0 - 1e-9) } else { (tail * (1.0 + 1e-9)).max(1e-290) };
                    let has = match tail == region {
                        true => row.region_leaving(leaving).contains(y),
                        false => row.interval_leaving(leaving).contains(y),
                    };
                    // A value of the middle is in every interval.
                    assert!(has == inside || tail == 1.0 || tail < 1e-290, "{support:?} {y} {tail} {inside}");
                }
            }
        }
    }
}

#[test]
fn impossible_values_are_in_unbounded_sets_alone() {
    let predictions = bounded(&mixtures(1)[0], -1.0, 1.0);
    let row = predictions.row(0);
    assert_eq!((row.region_tail(1.5), row.interval_tail(-1.5)), (0.0, 0.0));
    assert_eq!(row.region_leaving(0.0).to_string(), "[-inf,inf]");
    assert_eq!(row.interval_leaving(0.0), Interval::UNBOUNDED);
    assert!(row.region_leaving(0.0).contains(1e300) && row.region_leaving(1e-300).length() <= 2.0);
}

#[test]
fn atoms_come_before_any_density() {
    let mixtures = Mixtures::new(3, vec![0.5, 0.3, 0.2], vec![1.0, 0.0, 5.0], vec![1.0, 0.0, 0.0]).unwrap();
    let predictions = Predictions::from(mixtures);
    let row = predictions.row(0);
    assert_eq!(row.hdr(0.25).to_string(), "[0,0]");
    assert_eq!(row.hdr(0.45).to_string(), "[0,0] [5,5]");
    let region = row.hdr(0.75);
    assert!(
        (probability(row, &region) - 0.75).abs() < 1e-12 && region.contains(5.0) && !region.contains(4.0),
        "{region}"
    );
    // Half of the continuous probability, around its mean; the atom at 0 lies inside or is an interval of its own.
    assert!((region.length() - 2.0 * 0.674_489_750_196_081_7).abs() < 1e-10, "{region}");
    assert!((row.region_tail(0.0) - 1.0).abs() < 1e-15 && (row.region_tail(5.0) - 0.7).abs() < 1e-15);
    assert!((row.region_tail(1.0 + 0.674_489_750_196_081_7) - 0.25).abs() < 1e-12);
    let alone = Predictions::from(Mixtures::new(1, vec![1.0], vec![2.0], vec![0.0]).unwrap());
    assert_eq!((alone.row(0).hdr(0.9).to_string(), alone.row(0).hdr(0.9).length()), ("[2,2]".into(), 0.0));
}

#[test]
fn a_region_of_a_grid_is_the_most_probable_values() {
    let mut rng = Rng::new(7, 0);
    for predictions in mixtures(30) {
        let step = [0.01, 0.1, 0.5, 2.0][rng.below(4)];
        let support = Support { step: Some(step), lower: Some(-2.0), ..Support::default() };
        let predictions = predictions.with_support(support).unwrap();
        let row = predictions.row(0);
        let mut masses: Vec<f64> =
            (0..=(14.0 / step) as usize).map(|at| row.point_probability(-2.0 + at as f64 * step)).collect();
        masses.sort_unstable_by(|a, b| b.total_cmp(a));
        for coverage in [0.3, 0.9] {
            let mut sum = 0.0;
            let least = masses.iter().take_while(|mass| (sum < coverage, sum += **mass).0).count() as f64;
            let region = row.hdr(coverage);
            let found: f64 = probability(row, &region);
            assert!(
                found > coverage - 1e-12 && (region.length() / step - least).abs() < 0.5,
                "{region} {least} {found}"
            );
        }
    }
    let counts = Mixtures::new(2, vec![0.6, 0.4], vec![2.0, 7.0], vec![0.1, 0.1]).unwrap();
    let support = Support { step: Some(1.0), ..Support::default() };
    let counts = Predictions::from(counts).with_support(support).unwrap();
    let region = counts.row(0).hdr(0.9);
    assert_eq!((region.to_string().as_str(), region.length()), ("[2,2] [7,7]", 2.0));
}

#[test]
fn many_values_of_a_grid_are_as_their_density() {
    let mixtures = Mixtures::new(2, vec![0.5, 0.5], vec![-3.0, 3.0], vec![1.0, 0.5]).unwrap();
    let fine = Support { step: Some(1e-3), lower: Some(-3.5), ..Support::default() };
    let rounded = Predictions::from(mixtures).with_support(fine).unwrap();
    let row = rounded.row(0);
    let region = row.hdr(0.9);
    assert!((probability(row, &region) - 0.9).abs() < 1e-3, "{region}");
    // Nearly a third of the lower peak is rounded to the bound.
    assert!(region.contains(-3.5) && row.point_probability(-3.5) > 0.15, "{region}");
}

#[test]
fn samples_are_smoothed() {
    let mut rng = Rng::new(11, 0);
    let values: Vec<f64> =
        (0..200).map(|at| if at % 2 == 0 { -5.0 + rng.uniform() } else { 5.0 + rng.uniform() }).collect();
    let predictions = Predictions::from(SampleSets::new(200, values.clone(), 1e-3).unwrap());
    let region = predictions.row(0).hdr(0.9);
    let inside = values.iter().filter(|value| region.contains(**value)).count();
    assert!(!region.contains(0.0) && (170..=200).contains(&inside), "{region}");
    // A value that many samples have is an atom.
    let many = SampleSets::new(4, vec![0.0, 0.0, 0.0, 1.0], 1e-3).unwrap();
    assert_eq!(Predictions::from(many).row(0).hdr(0.5).to_string(), "[0,0]");
}
