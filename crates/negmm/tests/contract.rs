//! The contract of all methods; a method is included by being in `Method::all()`.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use negmm::Rng;
use negmm::data::{Column, ColumnRoles};
use negmm::train::{Callbacks, CpuEngine, Progress};
use negmm::{Error, ErrorKind, FitOptions, Interval, Method, Model, Predictions, Table, fit, fit_with};
use negmm_dist::math::normal;
use serde_json::Value;

/// Options with their values.
type Settings<'a> = &'a [(&'a str, &'a str)];

/// Variants that share little code with their method's defaults.
const VARIANTS: [(&str, Settings<'static>); 6] = [
    ("ensemble", &[("member", "ne-gmm")]),
    ("ensemble", &[("member", "sample-net")]),
    ("ensemble", &[("pool", "gaussian")]),
    ("sample-net", &[("sinkhorn", "0.02")]),
    ("ngboost", &[("score", "crps")]),
    ("ngboost", &[("splits", "histogram")]),
];

/// Small and fast, with every source of randomness that is on by default, and rows drawn by the trees too.
const QUICK: Settings<'static> = &[
    ("epochs", "5"),
    ("steps", "20"),
    ("folds", "3"),
    ("hidden", "8"),
    ("components", "3"),
    ("samples", "9"),
    ("ensemble-size", "2"),
    ("n-estimators", "12"),
    ("learning-rate", "0.02"),
    ("subsample", "0.8"),
];

/// One full-batch step per epoch, the last weights kept: the result depends on the values of the rows only.
const WHOLE: Settings<'static> = &[
    ("epochs", "40"),
    ("steps", "40"),
    ("folds", "3"),
    ("hidden", "8"),
    ("components", "3"),
    ("samples", "9"),
    ("ensemble-size", "2"),
    ("n-estimators", "30"),
    ("learning-rate", "0.02"),
    ("subsample", "1"),
    ("validation-fraction", "0"),
    ("batch-size", "100000"),
    ("ema-decay", "0"),
    ("dropout", "0"),
];

/// Enough to learn a smooth curve.
const LEARNING: Settings<'static> = &[
    ("epochs", "40"),
    ("steps", "300"),
    ("folds", "3"),
    ("hidden", "16"),
    ("components", "2"),
    ("samples", "40"),
    ("ensemble-size", "2"),
    ("n-estimators", "150"),
    ("learning-rate", "0.02"),
    ("batch-size", "64"),
];

/// Sets the options that the method has.
fn set_all(method: &mut Method, settings: Settings<'_>) {
    for (option, value) in settings {
        if method.has(option) {
            method.set(option, value).unwrap();
        }
    }
}

/// Every method and every variant, each with those of the settings that it has.
fn for_every_method(settings: Settings<'_>, check: impl Fn(&str, &Method)) {
    let plain = Method::all().into_iter().map(|method| (method.name().to_string(), method));
    let variants = VARIANTS.iter().map(|(name, options)| {
        let mut method = Method::by_name(name).unwrap();
        options.iter().for_each(|(option, value)| method.set(option, value).unwrap());
        (format!("{name} {options:?}"), method)
    });
    for (name, mut method) in plain.chain(variants) {
        set_all(&mut method, settings);
        check(&name, &method);
    }
}

fn is_constant(method: &Method) -> bool {
    matches!(method, Method::Constant(_))
}

fn normal_draw(rng: &mut Rng) -> f64 {
    normal::quantile(rng.uniform())
}

/// A multiple of 2^-10: sums and products with small whole numbers are exact.
fn on_grid(number: f64) -> f64 {
    (1024.0 * number).round() / 1024.0
}

/// Two numbers and a text, each informative about y; every number is on the grid.
fn table(rows: usize, seed: u64) -> Table {
    let mut rng = Rng::new(seed, 0);
    let (mut a, mut b, mut place, mut y) = (vec![], vec![], vec![], vec![]);
    for _ in 0..rows {
        let (x, z, p) = (on_grid(normal_draw(&mut rng)), on_grid(10.0 * rng.uniform()), rng.below(3));
        a.push(x);
        b.push(z);
        place.push(Some(["Oslo", "Łódź", "Rome"][p]));
        y.push(on_grid(3.0 * x + 0.5 * z + 2.0 * p as f64 + 0.5 * normal_draw(&mut rng)));
    }
    Table::new(vec![
        ("a", Column::Numbers(a)),
        ("b", Column::Numbers(b)),
        ("place", Column::text(place)),
        ("y", Column::Numbers(y)),
    ])
    .unwrap()
}

fn numbers<'a>(table: &'a Table, name: &str) -> &'a [f64] {
    match table.column(name) {
        Some(Column::Numbers(numbers)) => numbers,
        other => panic!("{name} has numbers: {other:?}"),
    }
}

/// The same table with one column of numbers changed.
fn changed(table: &Table, name: &str, change: impl Fn(usize, f64) -> f64) -> Table {
    let columns = table.columns().map(|(other, column)| match column {
        Column::Numbers(numbers) if other == name => {
            (other, Column::Numbers(numbers.iter().enumerate().map(|(row, number)| change(row, *number)).collect()))
        }
        _ => (other, column.clone()),
    });
    Table::new(columns.collect()).unwrap()
}

/// The same table with one more column, called `w`.
fn with_weights(table: &Table, weights: &[f64]) -> Table {
    let weights = ("w", Column::Numbers(weights.to_vec()));
    Table::new(table.columns().map(|(name, column)| (name, column.clone())).chain([weights]).collect()).unwrap()
}

fn fit_weighted(table: &Table, method: &Method) -> Model {
    let inputs = ColumnRoles::default().weight("w");
    let options = FitOptions::default().inputs(inputs);
    fit_with(table, "y", method, &options).unwrap().model
}

/// Fits with this number of threads, in training and outside.
fn fit_seeded(table: &Table, method: &Method, seed: u64, threads: usize) -> Model {
    let (inputs, engine) = (ColumnRoles::default(), CpuEngine::new(threads));
    let options = FitOptions::default().seed(seed).inputs(inputs.clone()).engine(&engine);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| fit_with(table, "y", method, &options)).unwrap().model
}

fn bits(predictions: &Predictions) -> Vec<u64> {
    let numbers = match predictions.mixtures() {
        Some(mixtures) => vec![mixtures.weights(), mixtures.means(), mixtures.sds()],
        None => vec![predictions.samples().unwrap().values()],
    };
    numbers.into_iter().flatten().map(|x| x.to_bits()).collect()
}

/// The largest difference of means and sds, where the expected ones are moved and stretched.
fn farthest(found: &Predictions, expected: &Predictions, shift: f64, scale: f64) -> f64 {
    assert_eq!(found.len(), expected.len());
    let means = found.mean().into_iter().zip(expected.mean()).map(|(found, mean)| found - (scale * mean + shift));
    let sds = found.sd().into_iter().zip(expected.sd()).map(|(found, sd)| found - scale * sd);
    means.chain(sds).map(f64::abs).fold(0.0, f64::max)
}

fn mean(numbers: &[f64]) -> f64 {
    numbers.iter().sum::<f64>() / numbers.len() as f64
}

/// What predictions of any method are like.
fn assert_sane(name: &str, predictions: &Predictions, rows: usize) {
    assert_eq!(predictions.len(), rows, "{name}");
    let finite = |what: &str, numbers: &[f64]| {
        assert_eq!(numbers.len(), rows, "{name}: {what}");
        assert!(numbers.iter().all(|number| number.is_finite()), "{name}: {what} {numbers:?}");
    };
    let (means, sds) = (predictions.mean(), predictions.sd());
    finite("mean", &means);
    finite("sd", &sds);
    assert!(sds.iter().all(|sd| *sd > 0.0), "{name}: sd {sds:?}");
    let levels = [1e-6, 0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1.0 - 1e-6];
    let quantiles = levels.map(|level| predictions.quantile(level).unwrap());
    let ordered = |pair: &[Vec<f64>]| pair[0].iter().zip(&pair[1]).all(|(low, high)| low <= high);
    for (level, quantiles) in levels.iter().zip(&quantiles) {
        finite("quantile", quantiles);
        // The probability up to a quantile is its level; samples reach it in steps.
        let cdf = predictions.cdf(quantiles).unwrap();
        let step = predictions.samples().map_or(1e-6, |sets| 1.0 / sets.samples() as f64);
        assert!(cdf.iter().all(|found| (found - level).abs() <= step), "{name}: cdf at quantile {level}: {cdf:?}");
    }
    assert!(quantiles.windows(2).all(ordered), "{name}: quantiles are in order");
    for coverage in [0.01, 0.5, 0.9, 0.999] {
        let Interval { lower, upper } = predictions.interval(coverage).unwrap();
        finite("lower", &lower);
        finite("upper", &upper);
        let median = &quantiles[4];
        assert!((0..rows).all(|row| lower[row] <= median[row] && median[row] <= upper[row]), "{name}: {coverage}");
    }
    for far in [-1e9, 1e9] {
        let (above, below) = (predictions.above(far).unwrap(), predictions.below(far).unwrap());
        assert_eq!(below, predictions.cdf(&vec![far; rows]).unwrap(), "{name}");
        let (most, least) = if far > 0.0 { (below, above) } else { (above, below) };
        // The weights of a mixture add up to 1 but for rounding.
        assert!(most.iter().all(|most| (most - 1.0).abs() < 1e-12), "{name}: {most:?}");
        assert!(least.iter().all(|least| *least == 0.0), "{name}: {least:?}");
    }
    assert_eq!(predictions.sample(3, 1, 0).len(), 3 * rows, "{name}");
    finite("crps", &predictions.crps(&means).unwrap());
    finite("nll", &predictions.nll(&means).unwrap());
}

#[test]
fn every_row_gets_one_sane_distribution() {
    let training = table(60, 1);
    for_every_method(QUICK, |name, method| {
        let model = fit(&training, "y", method).unwrap();
        for rows in [0, 1, 2, 63, 300] {
            assert_sane(name, &model.predict(&table(rows, 2)).unwrap(), rows);
        }
        // Far outside of what was seen.
        let far = changed(&table(5, 2), "a", |row, _| 10_f64.powi(3 * row as i32));
        assert_sane(name, &model.predict(&far).unwrap(), 5);
    });
}

#[test]
fn a_row_is_predicted_the_same_in_any_company() {
    let (training, new) = (table(60, 1), table(70, 2));
    for_every_method(QUICK, |name, method| {
        let model = fit(&training, "y", method).unwrap();
        let (together, order) = (model.predict(&new).unwrap(), [69, 3, 3, 0]);
        let apart = model.predict(&new.select_rows(&order)).unwrap();
        for (at, &row) in order.iter().enumerate() {
            assert_eq!(apart.mean()[at].to_bits(), together.mean()[row].to_bits(), "{name}");
            assert_eq!(apart.sd()[at].to_bits(), together.sd()[row].to_bits(), "{name}");
        }
        // The target need not be there.
        let inputs = new.columns().filter(|(name, _)| *name != "y").map(|(name, column)| (name, column.clone()));
        let without = Table::new(inputs.collect()).unwrap();
        assert_eq!(bits(&model.predict(&without).unwrap()), bits(&together), "{name}");
    });
}

#[test]
fn a_seed_decides_everything_and_threads_nothing() {
    let training = table(60, 1);
    for_every_method(QUICK, |name, method| {
        let one = fit_seeded(&training, method, 7, 1);
        let bytes = one.to_bytes().unwrap();
        assert!(bytes == fit_seeded(&training, method, 7, 1).to_bytes().unwrap(), "{name}: the same seed");
        assert!(bytes == fit_seeded(&training, method, 7, 2).to_bytes().unwrap(), "{name}: two threads");
        // It also decides where weights start and which rows are drawn, not only which rows validate.
        let mut unvalidated = method.clone();
        set_all(&mut unvalidated, &[("validation-fraction", "0")]);
        for method in [method, &unvalidated] {
            // Predictions, because the file names its seed.
            let [one, other] =
                [7, 8].map(|seed| bits(&fit_seeded(&training, method, seed, 1).predict(&training).unwrap()));
            assert_eq!(one == other, is_constant(method), "{name}: another seed");
        }
        // Members start from seeds of their own.
        if matches!(method, Method::Ensemble(_)) {
            let (_, between) = one.predict(&training).unwrap().variance_by_members();
            let pooled = one.components() == Some(1);
            assert!(pooled || between.iter().all(|between| *between > 0.0), "{name}: {between:?}");
        }
    });
}

#[test]
fn what_is_loaded_predicts_the_same_bits() {
    let (training, new) = (table(60, 1), table(70, 2));
    for_every_method(QUICK, |name, method| {
        let model = fit(&training, "y", method).unwrap();
        let loaded = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
        assert_eq!((loaded.method(), loaded.encoder()), (model.method(), model.encoder()), "{name}");
        assert_eq!(loaded.record(), model.record(), "{name}");
        assert_eq!(bits(&loaded.predict(&new).unwrap()), bits(&model.predict(&new).unwrap()), "{name}");
        assert_eq!(loaded.to_bytes().unwrap(), model.to_bytes().unwrap(), "{name}");
    });
}

/// How far two trainings may drift apart that see the same numbers up to rounding, in units of the target, whose sd is
/// about 4. Networks sum gradients in 32 bits in another order (less than 1e-5 in eight tables); trees grow from 64-bit sums, with
/// 32-bit weights of the rows (1e-8); the constant is a 64-bit mean.
fn rounding(method: &Method) -> f64 {
    match method {
        Method::Constant(_) => 1e-8,
        Method::NgBoost(_) => 1e-6,
        _ => 2e-5,
    }
}

#[test]
fn a_weight_counts_as_so_many_rows() {
    let training = table(50, 3);
    let weights: Vec<f64> = (0..50).map(|row| [1.0, 3.0, 1.0, 2.0, 6.0][row % 5]).collect();
    let repeat = |row: usize| std::iter::repeat_n(row, weights[row] as usize);
    let repeated = training.select_rows(&(0..50).flat_map(repeat).collect::<Vec<_>>());
    let weighted = with_weights(&training, &weights);
    // Of splits that part the training rows in the same way rounding chooses one, so these are the rows to compare.
    // The energy score of samples has kinks: where rounding moves a sample to the other side of a target, as in one
    // of eight tables tried, trainings of samplers part by up to 0.02. In this table it does not.
    for_every_method(WHOLE, |name, method| {
        // Its folds are dealt from rows, so that other rows make other networks.
        if matches!(method, Method::Auto(_)) {
            return;
        }
        let expected = fit(&repeated, "y", method).unwrap().predict(&training).unwrap();
        let far = farthest(&fit_weighted(&weighted, method).predict(&training).unwrap(), &expected, 0.0, 1.0);
        assert!(far < rounding(method), "{name}: {far}");
        let unweighted = fit(&training, "y", method).unwrap().predict(&training).unwrap();
        let far = farthest(&unweighted, &expected, 0.0, 1.0);
        assert!(far > 0.05, "{name}: weights matter, {far}");
    });
}

#[test]
fn a_row_of_weight_0_is_not_there() {
    let training = table(50, 1);
    // The rows of weight 0 have other numbers, missing cells and another category.
    let none = |row: usize| row % 3 == 1;
    let odd = changed(&training, "y", |row, y| if none(row) { 1000.0 - y } else { y });
    let odd = changed(&odd, "a", |row, a| if none(row) { 50.0 * a } else { a });
    let odd = changed(&odd, "b", |row, b| if none(row) { f64::NAN } else { b });
    let Some(Column::Text { codes, levels }) = odd.column("place") else { panic!("text") };
    let place = (0..50).map(|row| Some(if none(row) { "nowhere" } else { levels[codes[row] as usize].as_str() }));
    let columns = odd.columns().map(|(name, column)| match name {
        "place" => (name, Column::text(place.clone())),
        _ => (name, column.clone()),
    });
    let odd = Table::new(columns.collect()).unwrap();
    let weights: Vec<f64> = (0..50).map(|row| if none(row) { 0.0 } else { 2.0 }).collect();
    let weighted = with_weights(&odd, &weights);
    let kept = training.select_rows(&(0..50).filter(|row| !none(*row)).collect::<Vec<_>>());
    for_every_method(WHOLE, |name, method| {
        let expected = fit(&kept, "y", method).unwrap();
        let found = fit_weighted(&weighted, method);
        assert_eq!(found.encoder().inputs(), expected.encoder().inputs(), "{name}");
        let far = farthest(&found.predict(&kept).unwrap(), &expected.predict(&kept).unwrap(), 0.0, 1.0);
        assert!(far < rounding(method), "{name}: {far}");
        let unweighted = fit(&odd, "y", method).unwrap().predict(&kept).unwrap();
        assert!(farthest(&unweighted, &expected.predict(&kept).unwrap(), 0.0, 1.0) > 1.0, "{name}");
    });
}

/// More different values than a histogram has bins.
#[test]
fn bins_count_rows_by_their_weight() {
    let training = table(600, 1);
    let weights: Vec<f64> = (0..600).map(|row| [1.0, 0.0, 3.0, 2.0, 0.0, 5.0][row % 6]).collect();
    let repeat = |row: usize| std::iter::repeat_n(row, weights[row] as usize);
    let repeated = training.select_rows(&(0..600).flat_map(repeat).collect::<Vec<_>>());
    let weighted = with_weights(&training, &weights);
    let mut method = Method::by_name("ngboost").unwrap();
    set_all(&mut method, &[WHOLE, &[("splits", "histogram")]].concat());
    let expected = fit(&repeated, "y", &method).unwrap().predict(&repeated).unwrap();
    let far = farthest(&fit_weighted(&weighted, &method).predict(&repeated).unwrap(), &expected, 0.0, 1.0);
    assert!(far < rounding(&method), "{far}");
}

#[test]
fn the_unit_of_the_target_does_not_matter() {
    let (training, new) = (table(60, 1), table(40, 2));
    for_every_method(WHOLE, |name, method| {
        let plain = fit(&training, "y", method).unwrap().predict(&new).unwrap();
        // A power of two changes no digit, so nothing else may change.
        let scaled = fit(&changed(&training, "y", |_, y| 1024.0 * y), "y", method).unwrap();
        assert_eq!(farthest(&scaled.predict(&new).unwrap(), &plain, 0.0, 1024.0), 0.0, "{name}");
        let shifted = fit(&changed(&training, "y", |_, y| 4.0 * y + 100.0), "y", method).unwrap();
        let far = farthest(&shifted.predict(&new).unwrap(), &plain, 100.0, 4.0);
        assert!(far < 4.0 * rounding(method), "{name}: {far}");
        let Interval { lower, upper } = plain.interval(0.9).unwrap();
        let Interval { lower: low, upper: high } = shifted.predict(&new).unwrap().interval(0.9).unwrap();
        for (plain, shifted) in lower.iter().chain(&upper).zip(low.iter().chain(&high)) {
            assert!((4.0 * plain + 100.0 - shifted).abs() < 40.0 * rounding(method), "{name}: {plain} {shifted}");
        }
    });
}

#[test]
fn the_unit_of_an_input_does_not_matter() {
    let (training, new) = (table(60, 1), table(40, 2));
    for_every_method(WHOLE, |name, method| {
        let predict = |change: &dyn Fn(f64) -> f64| {
            let change = |table: &Table| changed(table, "b", |_, b| change(b));
            fit(&change(&training), "y", method).unwrap().predict(&change(&new)).unwrap()
        };
        let plain = predict(&|b| b);
        assert_eq!(bits(&predict(&|b| b / 256.0)), bits(&plain), "{name}");
        let far = farthest(&predict(&|b| 4.0 * b + 100.0), &plain, 0.0, 1.0);
        assert!(far < rounding(method), "{name}: {far}");
        // The input is used at all.
        assert_eq!(farthest(&predict(&|b| -b * b), &plain, 0.0, 1.0) > 0.0, !is_constant(method), "{name}");
    });
}

fn assert_refused<T>(name: &str, result: Result<T, Error>, kind: ErrorKind, words: &str) {
    let Err(error) = result else { panic!("{name}: expected an error with {words:?}") };
    assert_eq!(error.kind(), kind, "{name}: {error}");
    assert!(error.to_string().contains(words), "{name}: {error}");
}

#[test]
fn bad_input_is_an_error_that_says_what_is_wrong() {
    let training = table(60, 1);
    let only_y = Table::new(vec![("y", Column::Numbers(vec![1.0, 2.0, 4.0]))]).unwrap();
    let missing = changed(&training, "y", |row, y| if row == 6 { f64::NAN } else { y });
    let huge = changed(&training, "y", |row, y| if row == 6 { 1e101 } else { y });
    let no_columns = Table::new(Vec::<(&str, Column)>::new()).unwrap();
    let without = |dropped: &str| {
        let kept = training.columns().filter(|(name, _)| *name != dropped);
        Table::new(kept.map(|(name, column)| (name, column.clone())).collect()).unwrap()
    };
    for_every_method(QUICK, |name, method| {
        let refused = |table: &Table, kind, words: &str| assert_refused(name, fit(table, "y", method), kind, words);
        assert_refused(name, fit(&training, "price", method), ErrorKind::Options, "price");
        refused(&without("y"), ErrorKind::Options, "\"y\"");
        refused(&no_columns, ErrorKind::Options, "\"y\"");
        refused(&missing, ErrorKind::Data, "row 7");
        refused(&huge, ErrorKind::Data, "row 7");
        refused(&training.select_rows(&[]), ErrorKind::Data, "no row");
        refused(&only_y, ErrorKind::Data, "no input");
        assert_refused(name, fit(&training, "place", method), ErrorKind::Data, "number");
        for rows in 1..4 {
            let few = training.select_rows(&(0..rows).collect::<Vec<_>>());
            if rows < method.least_rows() {
                refused(&few, ErrorKind::Data, "at least 2 rows");
            } else {
                assert_sane(name, &fit(&few, "y", method).unwrap().predict(&training).unwrap(), 60);
            }
        }
        for weights in [vec![0.0; 60], vec![-1.0; 60], vec![f64::NAN; 60]] {
            let inputs = ColumnRoles::default().weight("w");
            let engine = CpuEngine::default();
            let options = FitOptions::default().inputs(inputs.clone()).engine(&engine);
            let result = fit_with(&with_weights(&training, &weights), "y", method, &options);
            assert_refused(name, result, ErrorKind::Data, "weight");
        }
        let model = fit(&training, "y", method).unwrap();
        assert_refused(name, model.predict(&without("b")), ErrorKind::Data, "\"b\"");
        let text = Column::text((0..60).map(|_| Some("many")));
        let columns = training.columns().map(|(name, column)| (name, if name == "b" { &text } else { column }));
        let wrong = Table::new(columns.map(|(name, column)| (name, column.clone())).collect()).unwrap();
        assert_refused(name, model.predict(&wrong), ErrorKind::Data, "many");
    });
}

#[test]
fn columns_that_tell_nothing_are_no_trouble() {
    let training = table(60, 1);
    let same_y = changed(&training, "y", |_, _| 5.0);
    let same_x = Table::new(vec![
        ("a", Column::Numbers(vec![3.0; 60])),
        ("y", Column::Numbers(numbers(&training, "y").to_vec())),
    ])
    .unwrap();
    for_every_method(QUICK, |name, method| {
        let predictions = fit(&same_y, "y", method).unwrap().predict(&training).unwrap();
        assert_sane(name, &predictions, 60);
        assert!(predictions.mean().iter().all(|mean| (mean - 5.0).abs() < 1e-3), "{name}: {:?}", predictions.mean());
        assert!(predictions.sd().iter().all(|sd| *sd < 1e-3), "{name}: {:?}", predictions.sd());
        let predictions = fit(&same_x, "y", method).unwrap().predict(&same_x).unwrap();
        assert_sane(name, &predictions, 60);
        assert!(predictions.mean().iter().all(|mean| *mean == predictions.mean()[0]), "{name}");
    });
}

/// Normal noise of sd 0.4 around a smooth curve.
fn curve(rows: usize, seed: u64) -> Table {
    let mut rng = Rng::new(seed, 0);
    let x: Vec<f64> = (0..rows).map(|_| normal_draw(&mut rng)).collect();
    let y = x.iter().map(|x| x + 0.3 * (2.0 * x).sin() + 0.4 * normal_draw(&mut rng)).collect();
    Table::new(vec![("x", Column::Numbers(x)), ("y", Column::Numbers(y))]).unwrap()
}

#[test]
fn intervals_cover_what_they_say() {
    let (training, new) = (curve(2000, 1), curve(2000, 2));
    let y = numbers(&new, "y");
    for_every_method(LEARNING, |name, method| {
        let predictions = fit(&training, "y", method).unwrap().predict(&new).unwrap();
        let Interval { lower, upper } = predictions.interval(0.9).unwrap();
        let covered = (0..y.len()).filter(|row| (lower[*row]..=upper[*row]).contains(&y[*row])).count();
        let coverage = covered as f64 / y.len() as f64;
        assert!((0.80..=0.97).contains(&coverage), "{name}: {coverage}");
        // Not by luck of one and the same wide interval: the noise has sd 0.4, y itself 1.1 or so.
        let sd = mean(&predictions.sd());
        let expected = if is_constant(method) { 1.0..1.5 } else { 0.3..0.55 };
        assert!(expected.contains(&sd), "{name}: {sd}");
    });
}

#[test]
fn learning_beats_not_learning() {
    let (training, new) = (table(600, 1), table(600, 2));
    let y = numbers(&new, "y");
    let crps = |method: &Method| mean(&fit(&training, "y", method).unwrap().predict(&new).unwrap().crps(y).unwrap());
    let level = crps(&Method::by_name("constant").unwrap());
    for_every_method(LEARNING, |name, method| {
        let crps = crps(method);
        assert_eq!(crps <= 0.7 * level, !is_constant(method), "{name}: {crps} against {level}");
    });
}

#[test]
fn who_stops_a_training_stops_it() {
    let training = table(200, 1);
    let long: Settings<'_> =
        &[QUICK, &[("epochs", "3000"), ("n-estimators", "3000"), ("patience", "0"), ("ensemble-size", "3")]].concat();
    for_every_method(long, |name, method| {
        for at_once in [true, false] {
            let (cancel, calls) = (AtomicBool::new(at_once), AtomicUsize::new(0));
            let progress = |_: &Progress| {
                calls.fetch_add(1, Ordering::Relaxed);
                cancel.store(true, Ordering::Relaxed);
            };
            let (inputs, engine) = (ColumnRoles::default(), CpuEngine::new(2));
            let watch = Callbacks { progress: &progress, cancel: &cancel };
            let options = FitOptions::default().inputs(inputs.clone()).engine(&engine).watch(watch);
            let result = fit_with(&training, "y", method, &options);
            if is_constant(method) {
                assert!(result.is_ok(), "{name}: there is nothing to stop");
                continue;
            }
            assert_refused(name, result, ErrorKind::Cancelled, "stopped");
            // Each of two threads may be at the end of an epoch when the other says stop.
            let calls = calls.into_inner();
            assert!(if at_once { calls == 0 } else { (1..=2).contains(&calls) }, "{name}: {calls} epochs");
        }
    });
}

#[test]
fn text_missing_cells_and_new_places_are_welcome() {
    /// Numbers and places, some of them missing; `places` to choose from.
    fn patchy(rows: usize, seed: u64, places: &[&str]) -> Table {
        let (full, mut rng) = (table(rows, seed), Rng::new(seed, 1));
        let gaps: Vec<bool> = (0..rows).map(|_| rng.uniform() < 0.2).collect();
        let place: Vec<_> = (0..rows).map(|_| (rng.uniform() > 0.2).then(|| places[rng.below(places.len())])).collect();
        let full = changed(&full, "a", |row, a| if gaps[row] { f64::NAN } else { a });
        // A category shifts y by 5.
        let worth = |row: usize| 5.0 * f64::from(u8::from(place[row] == Some("Oslo")));
        let full = changed(&full, "y", |row, y| y + worth(row));
        let columns = full.columns().map(|(name, column)| match name {
            "place" => (name, Column::text(place.iter().copied())),
            _ => (name, column.clone()),
        });
        Table::new(columns.collect()).unwrap()
    }
    let training = patchy(300, 1, &["Oslo", "Rome"]);
    let new = patchy(50, 2, &["Oslo", "Atlantis", "say \"hi\", \n", ""]);
    let nothing = Table::new(vec![
        ("a", Column::Numbers(vec![f64::NAN; 4])),
        ("b", Column::Numbers(vec![f64::NAN; 4])),
        ("place", Column::text([None; 4])),
    ])
    .unwrap();
    let row = |place| {
        let number = |number| Column::Numbers(vec![number]);
        Table::new(vec![("a", number(0.0)), ("b", number(5.0)), ("place", Column::text([Some(place)]))]).unwrap()
    };
    for_every_method(LEARNING, |name, method| {
        let model = fit(&training, "y", method).unwrap();
        for table in [&training, &new, &nothing, &row("Atlantis")] {
            assert_sane(name, &model.predict(table).unwrap(), table.rows());
        }
        let [oslo, rome] = ["Oslo", "Rome"].map(|place| model.predict(&row(place)).unwrap().mean()[0]);
        assert_eq!(oslo > rome + 1.0, !is_constant(method), "{name}: Oslo {oslo}, Rome {rome}");
    });
}

/// The options of a method with their values as text: the fields of its file, and of its members.
fn options_of(method: &Method) -> Vec<(String, String)> {
    let Value::Object(fields) = method.to_json() else { panic!("fields") };
    let text = |value: &Value| match value {
        Value::Null => "none".to_string(),
        Value::String(text) => text.clone(),
        Value::Array(list) => list.iter().map(Value::to_string).collect::<Vec<_>>().join(","),
        Value::Object(method) => method["name"].as_str().unwrap().to_string(),
        other => other.to_string(),
    };
    let mut options: Vec<_> =
        fields.iter().filter(|(name, _)| *name != "name").map(|(name, value)| (name.clone(), text(value))).collect();
    if let Some(member) = serde_json::to_value(method).unwrap().get("member") {
        options.extend(options_of(&serde_json::from_value(member.clone()).unwrap()));
    }
    options
}

#[test]
fn an_option_belongs_to_the_methods_that_have_it() {
    let methods = Method::all();
    let names: BTreeSet<String> = methods.iter().flat_map(options_of).map(|(name, _)| name).collect();
    assert!(
        ["eta", "beta", "samples", "ensemble-size", "n-estimators", "hidden"].iter().all(|name| names.contains(*name))
    );
    for_every_method(&[], |name, method| {
        let own = options_of(method);
        for option in &names {
            let mut changed = method.clone();
            if let Some((_, value)) = own.iter().find(|(name, _)| name == option) {
                assert!(method.has(option), "{name}: {option}");
                changed.set(option, value).unwrap();
                // Choosing what the members are brings them back to their defaults.
                if option != "member" {
                    assert_eq!(changed, *method, "{name}: {option} is {value}");
                }
                assert_refused(name, changed.set(option, "?"), ErrorKind::Options, "\"?\"");
            } else {
                assert!(!method.has(option), "{name}: {option}");
                let having = methods.iter().filter(|other| options_of(other).iter().any(|(name, _)| name == option));
                let having: Vec<&str> = having.map(Method::name).collect();
                let words = format!("{option} is not an option of {}; methods that have it: ", method.name());
                let complaint = changed.set(option, "1").unwrap_err();
                assert_eq!(complaint.kind(), ErrorKind::Options, "{name}: {option}");
                assert_eq!(complaint.to_string(), words + &having.join(", "));
                assert_eq!(changed, *method, "{name}: {option}");
            }
        }
        assert_refused(
            name,
            method.clone().set("wings", "2"),
            ErrorKind::Options,
            "wings is not an option of any method",
        );
    });
}
