//! Conformal prediction sets by simulation: nominal coverage for any model, and its exact distribution.

use negmm::conformal::{Calibration, CalibrationSet, ConformalPredictor, CoverageGuarantee, Labels, SetKind};
use negmm::{DistributionRef, Interval, Method, Mixtures, Model, Predictions, Rng, Support, Toy, fit};
use negmm_dist::Distribution;
use negmm_dist::math::beta;

/// True targets and predictions of rows.
struct Problem {
    name: &'static str,
    truth: fn(usize) -> Predictions,
    predicted: fn(usize) -> Predictions,
}

fn mixtures(rows: usize, parts: impl Fn(f64) -> Vec<[f64; 3]>) -> Predictions {
    // A cheap scatter of an input in (0, 1).
    let rows: Vec<Vec<[f64; 3]>> =
        (0..rows).map(|row| parts(((row as f64 + 0.5) * 0.618_033_988_749).fract())).collect();
    let components = rows[0].len();
    let of = |at: usize| rows.iter().flatten().map(|part| part[at]).collect::<Vec<f64>>();
    Mixtures::new(components, of(0), of(1), of(2)).unwrap().into()
}

const NORMAL: fn(usize) -> Predictions = |rows| mixtures(rows, |x| vec![[1.0, x, 1.0]]);
const BIMODAL: fn(usize) -> Predictions = |rows| mixtures(rows, |x| vec![[0.4, -10.0 * x, 1.0], [0.6, 10.0 * x, 0.5]]);
const UNEQUAL: fn(usize) -> Predictions = |rows| mixtures(rows, |x| vec![[1.0, 0.0, 0.1 + 3.0 * x]]);
const HEAVY: fn(usize) -> Predictions =
    |rows| mixtures(rows, |_| vec![[0.9, 0.0, 1.0], [0.09, 0.0, 6.0], [0.01, 0.0, 40.0]]);
const WRONG: fn(usize) -> Predictions = |rows| mixtures(rows, |x| vec![[1.0, 2.0 - x, 0.3]]);

const PROBLEMS: [Problem; 5] = [
    Problem { name: "normal", truth: NORMAL, predicted: NORMAL },
    Problem { name: "bimodal", truth: BIMODAL, predicted: BIMODAL },
    Problem { name: "heteroscedastic", truth: UNEQUAL, predicted: UNEQUAL },
    Problem { name: "heavy-tailed", truth: HEAVY, predicted: NORMAL },
    Problem { name: "wrong", truth: BIMODAL, predicted: WRONG },
];

fn covered(row: DistributionRef<'_>, intervals: &[Interval]) -> f64 {
    intervals.iter().map(|interval| row.cdf(interval.upper) - row.cdf(interval.lower)).sum()
}

/// The empirical coverage of new targets by the sets of a calibration.
fn coverage(problem: &Problem, calibration: &Calibration, sets: SetKind, level: f64) -> f64 {
    const ROWS: usize = 50;
    let (truth, predicted, labels) = ((problem.truth)(ROWS), (problem.predicted)(ROWS), Labels::default());
    let predictor = ConformalPredictor::Calibrated(calibration, &labels);
    let intervals: Vec<Vec<Interval>> = match sets {
        SetKind::Intervals | SetKind::Ellipsoids => {
            let Interval { lower, upper } = predictor.intervals(&predicted, level).unwrap();
            lower.into_iter().zip(upper).map(|(lower, upper)| vec![Interval { lower, upper }]).collect()
        }
        SetKind::Regions => {
            predictor.regions(&predicted, level).unwrap().iter().map(|region| region.intervals().to_vec()).collect()
        }
    };
    intervals.iter().zip(truth.rows()).map(|(intervals, row)| covered(row, intervals)).sum::<f64>() / ROWS as f64
}

#[test]
fn sets_hold_as_much_as_they_say_on_average() {
    const SETS: usize = 150;
    for problem in &PROBLEMS {
        for rows in [20, 100] {
            let all = 50 + SETS * rows;
            let (truth, predicted) = ((problem.truth)(all), (problem.predicted)(all));
            for sets in [SetKind::Intervals, SetKind::Regions] {
                let coverages: Vec<f64> = (0..SETS)
                    .map(|set| {
                        // Rows of a calibration have random inputs: another part of the same scatter.
                        let first = 50 + set * rows;
                        let pick: Vec<usize> = (first..first + rows).collect();
                        let y = truth.select(&pick).sample(1, 5, first as u64);
                        let calibration = Calibration::learn(&predicted.select(&pick), &y).unwrap();
                        coverage(problem, &calibration, sets, 0.9)
                    })
                    .collect();
                let mean = coverages.iter().sum::<f64>() / SETS as f64;
                // Four standard errors of the beta distribution: its variance is about α (1 - α) / n.
                let error = 4.0 * (0.09 / rows as f64 / SETS as f64).sqrt();
                assert!(mean > 0.9 - error, "{} {rows} {sets:?} {mean}", problem.name);
                assert!(mean < 0.9 + 1.0 / rows as f64 + error, "{} {rows} {sets:?} {mean}", problem.name);
            }
        }
    }
}

#[test]
fn the_coverage_of_one_calibration_follows_the_beta_law() {
    const SETS: usize = 400;
    let (rows, rank) = (99, 10.0);
    let mut coverages: Vec<f64> = (0..SETS)
        .map(|set| {
            let y = NORMAL(rows).sample(1, set as u64, 0);
            let calibration = Calibration::learn(&NORMAL(rows), &y).unwrap();
            coverage(&PROBLEMS[0], &calibration, SetKind::Regions, 0.9)
        })
        .collect();
    coverages.sort_unstable_by(f64::total_cmp);
    let distance = coverages.iter().enumerate().map(|(at, coverage)| {
        let expected = beta::cdf(*coverage, rows as f64 + 1.0 - rank, rank);
        (expected - at as f64 / SETS as f64).abs().max((expected - (at + 1) as f64 / SETS as f64).abs())
    });
    // Kolmogorov's distance; 1.95 / sqrt(n) is passed with probability 0.001.
    assert!(distance.fold(0.0, f64::max) < 1.95 / (SETS as f64).sqrt());
    // Nine tenths of them are above the bound.
    let own = Calibration::learn(&NORMAL(rows), &NORMAL(rows).sample(1, 1, 0)).unwrap();
    let CoverageGuarantee::Split { bound } = own.guarantees(SetKind::Regions, 0.9)[0].guarantee.kind else { panic!() };
    let above = coverages.iter().filter(|coverage| **coverage >= bound).count();
    assert!((330..=390).contains(&above), "{above}");
}

#[test]
fn a_region_of_two_peaks_is_shorter_than_an_interval() {
    let predicted = |rows| mixtures(rows, |_| vec![[0.5, -10.0, 1.0], [0.5, 10.0, 1.0]]);
    let y = mixtures(500, |_| vec![[0.5, -10.0, 1.2], [0.5, 10.0, 1.2]]).sample(1, 1, 0);
    let calibration = Calibration::learn(&predicted(500), &y).unwrap();
    let (predictor, new) =
        (ConformalPredictor::Calibrated(&calibration, &Labels { groups: vec![], weights: vec![] }), predicted(1));
    let Interval { lower, upper } = predictor.intervals(&new, 0.9).unwrap();
    let region = &predictor.regions(&new, 0.9).unwrap()[0];
    assert_eq!(region.intervals().len(), 2);
    assert!(region.length() < 0.7 * (upper[0] - lower[0]), "{region} {lower:?} {upper:?}");
}

#[test]
fn grids_and_atoms_are_covered_at_least_as_often() {
    let counts = Support { lower: Some(0.0), step: Some(1.0), ..Support::default() };
    let grid = |rows: usize, sd: f64| mixtures(rows, |x| vec![[1.0, 3.0 * x, sd]]).with_support(counts).unwrap();
    let atoms = |rows: usize, sd: f64| mixtures(rows, |x| vec![[0.5, 0.0, 0.0], [0.5, 5.0 + x, sd]]);
    type Predicted<'a> = &'a dyn Fn(usize, f64) -> Predictions;
    for predicted in [&grid as Predicted<'_>, &atoms as Predicted<'_>] {
        for sets in [SetKind::Intervals, SetKind::Regions] {
            let mut misses = 0.0;
            for set in 0..150 {
                let y = predicted(49, 2.0).sample(1, set, 0);
                let calibration = Calibration::learn(&predicted(49, 1.0), &y).unwrap();
                let (new, labels) = (predicted(20, 2.0).sample(1, set, 1000), Labels::default());
                let outside = calibration.outside(sets, 0.8, 20, &labels).unwrap();
                let predictions = predicted(20, 1.0);
                for (row, y) in predictions.rows().zip(new) {
                    let tail = if sets == SetKind::Regions { row.region_tail(y) } else { row.interval_tail(y) };
                    let inside = match sets {
                        SetKind::Regions => row.region_leaving(outside[0]).contains(y),
                        SetKind::Intervals | SetKind::Ellipsoids => row.interval_leaving(outside[0]).contains(y),
                    };
                    assert_eq!(inside, tail > outside[0] || outside[0] == 0.0, "{y} {tail} {}", outside[0]);
                    misses += f64::from(!inside);
                }
            }
            assert!(misses / 3000.0 < 0.2 + 0.03, "{sets:?} {misses}");
        }
    }
}

#[test]
fn groups_have_guarantees_of_their_own() {
    let predicted = |rows| mixtures(rows, |_| vec![[1.0, 0.0, 1.0]]);
    let mut rows = CalibrationSet::default();
    for (name, sd, count) in [("calm", 0.5, 199), ("wild", 4.0, 199), ("rare", 1.0, 5)] {
        let y = mixtures(count, |_| vec![[1.0, 0.0, sd]]).sample(1, 1, 0);
        rows.add(&predicted(count), &y, Labels { groups: vec![name.into(); count], weights: Vec::new() }).unwrap();
    }
    let calibration = rows.clone().calibration(Some("kind"), None).unwrap();
    let labels = Labels { groups: ["calm", "wild", "rare", "new"].map(String::from).to_vec(), weights: Vec::new() };
    let Interval { lower, upper } =
        ConformalPredictor::Calibrated(&calibration, &labels).intervals(&predicted(4), 0.9).unwrap();
    assert!((upper[0] - 0.5 * 1.645).abs() < 0.2 && (upper[1] - 4.0 * 1.645).abs() < 1.2, "{upper:?}");
    assert_eq!((lower[2], upper[3], calibration.unseen_groups(&labels)), (f64::NEG_INFINITY, f64::INFINITY, 1));
    assert_eq!(calibration.rows(), 403);
    let words: Vec<String> = calibration
        .guarantees(SetKind::Intervals, 0.9)
        .iter()
        .map(|own| format!("{}: {}", own.group, own.guarantee))
        .collect();
    assert!(words[1].starts_with("rare: unbounded"), "{words:?}");
    let none = Labels::default();
    let error =
        ConformalPredictor::Calibrated(&calibration, &none).intervals(&predicted(2), 0.9).unwrap_err().to_string();
    assert_eq!(error, "conformal prediction sets go by column \"kind\": expected 2 groups, one for each row, found 0");
}

#[test]
fn weights_make_up_for_rows_of_another_kind() {
    // Calibration rows mostly have low noise, new rows mostly high noise, with odds of 1 to 9.
    let mut misses = 0.0;
    let predicted = |rows| mixtures(rows, |_| vec![[1.0, 0.0, 1.0]]);
    for set in 0..200 {
        let mut rng = Rng::new(set, 1);
        let draw = |probability: f64, rng: &mut Rng| {
            if rng.uniform() < probability { (4.0, 0.9 / 0.1) } else { (1.0, 0.1 / 0.9) }
        };
        let kinds: Vec<(f64, f64)> = (0..300).map(|_| draw(0.1, &mut rng)).collect();
        let noise = predicted(310).sample(1, set, 0);
        let y: Vec<f64> = kinds.iter().zip(&noise).map(|((sd, _), noise)| sd * noise).collect();
        let mut rows = CalibrationSet::default();
        let labels = Labels { groups: Vec::new(), weights: kinds.iter().map(|(_, weight)| *weight).collect() };
        rows.add(&predicted(300), &y, labels).unwrap();
        let calibration = rows.calibration(None, Some("w")).unwrap();
        for noise in &noise[300..] {
            let (sd, weight) = draw(0.9, &mut rng);
            let labels = Labels { groups: Vec::new(), weights: vec![weight] };
            let Interval { lower, upper } =
                ConformalPredictor::Calibrated(&calibration, &labels).intervals(&predicted(1), 0.8).unwrap();
            misses += f64::from(!(lower[0] <= sd * noise && sd * noise <= upper[0]));
        }
    }
    // 2,000 rows, those of a set by the same calibration.
    assert!((misses / 2000.0 - 0.2_f64).abs() < 0.05, "{misses}");
    let negative = Labels { groups: Vec::new(), weights: vec![1.0, -1.0] };
    let mut rows = CalibrationSet::default();
    rows.add(&predicted(2), &[0.0, 0.0], negative).unwrap();
    let error = rows.calibration(None, Some("w")).unwrap_err().to_string();
    assert!(error.contains("expected a weight that is finite and not negative, found -1"), "{error}");
}

#[test]
fn a_model_file_keeps_its_calibration() {
    let table = Toy::Bimodal.sample(60, &mut Rng::new(1, 0));
    let method = Method::by_name("constant").unwrap();
    let model = fit(&table, "y", &method).unwrap();
    assert!(model.calibration().is_none() && model.known_calibration().is_err());
    let plain = model.to_bytes().unwrap();
    let predictions = model.predict(&table).unwrap();
    let mut rows = CalibrationSet::default();
    let groups = (0..60).map(|row| if row % 3 == 0 { "a".into() } else { "ü,\"b\"".into() }).collect();
    let labels = Labels { groups, weights: (0..60).map(|row| f64::from(row % 4)).collect() };
    rows.add(&predictions, &model.encoder().targets(&table).unwrap(), labels).unwrap();
    let calibrated = model.clone().calibrated(rows.calibration(Some("g"), Some("w")).unwrap());
    let bytes = calibrated.to_bytes().unwrap();
    assert_eq!(Model::from_bytes(&bytes).unwrap(), calibrated);
    assert_eq!(Model::from_bytes(&plain).unwrap(), model);
    assert_eq!(Model::from_bytes(&bytes).unwrap().predict(&table).unwrap(), predictions);
}

#[test]
fn auto_is_calibrated_by_what_it_predicted_out_of_fold() {
    let table = Toy::Bimodal.sample(200, &mut Rng::new(1, 0));
    let mut method = Method::default();
    method.set("preset", "fast").unwrap();
    method.set("steps", "50").unwrap();
    let model = fit(&table, "y", &method).unwrap();
    let calibration = model.known_calibration().unwrap();
    assert!(calibration.is_out_of_fold() && calibration.rows() == 200);
    let guarantee = &calibration.guarantees(SetKind::Regions, 0.9)[0].guarantee;
    assert_eq!((guarantee.kind, guarantee.rows), (CoverageGuarantee::Cross, 200));
    assert_eq!(guarantee.average(), 0.0);
    // New rows have about the nominal coverage.
    let new = Toy::Bimodal.sample(1000, &mut Rng::new(2, 0));
    let (predictions, y) = (model.predict(&new).unwrap(), model.encoder().targets(&new).unwrap().into_owned());
    let regions = ConformalPredictor::Calibrated(calibration, &Labels::default()).regions(&predictions, 0.9).unwrap();
    let covered = regions.iter().zip(&y).filter(|(region, y)| region.contains(**y)).count();
    assert!((820..=985).contains(&covered), "{covered}");
    assert_eq!(Model::from_bytes(&model.to_bytes().unwrap()).unwrap(), model);
}
