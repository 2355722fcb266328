//! Simulated targets: counts, zero-inflated, bounded, capped and censored ones. Predictions of new rows against the true distribution.

use negmm::data::{Column, ColumnRoles, TargetSpec};
use negmm::model::Fitted;
use negmm::{FitOptions, Interval, Method, Predictions, Rng, Table, fit_with};
use negmm_dist::math::normal;

const ROWS: usize = 1500;
const FRESH: usize = 3000;

/// Targets of a kind: how one is drawn for an input x between -1 and 1.
struct Kind {
    name: &'static str,
    draw: fn(f64, &mut Rng) -> f64,
    outcome: TargetSpec,
    /// Whether single values have a probability, so that intervals that end at one cover more than they say.
    discrete: bool,
}

fn gaussian(rng: &mut Rng) -> f64 {
    normal::quantile(rng.uniform())
}

fn exponential(rng: &mut Rng) -> f64 {
    -libm::log(rng.uniform())
}

/// As many as fit into a unit of time, one after the other.
fn poisson(mean: f64, rng: &mut Rng) -> f64 {
    let (mut time, mut count) = (exponential(rng), 0.0);
    while time < mean {
        time += exponential(rng);
        count += 1.0;
    }
    count
}

/// Of a whole shape: a sum of exponentials.
fn gamma(shape: usize, rng: &mut Rng) -> f64 {
    (0..shape).map(|_| exponential(rng)).sum()
}

fn kinds() -> Vec<Kind> {
    let kind = |name, draw| Kind { name, draw, outcome: TargetSpec::default(), discrete: false };
    let with_values = |name, draw| Kind { discrete: true, ..kind(name, draw) };
    let from_zero = TargetSpec::default().lower(0.0);
    let unit_interval = from_zero.clone().upper(1.0);
    vec![
        with_values("Poisson, mean 0.3", |x, rng| poisson(0.3 * libm::exp(0.5 * x), rng)),
        with_values("Poisson, mean 3", |x, rng| poisson(3.0 * libm::exp(0.5 * x), rng)),
        with_values("Poisson, mean 30", |x, rng| poisson(30.0 * libm::exp(0.5 * x), rng)),
        with_values("negative binomial", |x, rng| poisson(libm::exp(0.5 * x) * gamma(2, rng), rng)),
        with_values("zeros and a log-normal rest", |x, rng| {
            if rng.uniform() < 0.6 { 0.0 } else { libm::exp(x + 0.7 * gaussian(rng)) }
        }),
        Kind { outcome: from_zero, ..kind("log-normal", |x, rng| libm::exp(x + 0.7 * gaussian(rng))) },
        Kind {
            outcome: unit_interval,
            ..kind("beta", |x, rng| {
                let (a, b) = (gamma(if x < 0.0 { 1 } else { 3 }, rng), gamma(2, rng));
                a / (a + b)
            })
        },
        with_values("capped normal", |x, rng| (x + gaussian(rng)).min(1.0)),
    ]
}

fn table(x: &[f64], y: Vec<f64>) -> Table {
    Table::new(vec![("x", Column::Numbers(x.to_vec())), ("y", Column::Numbers(y))]).unwrap()
}

fn inputs(rows: usize, rng: &mut Rng) -> Vec<f64> {
    (0..rows).map(|_| 2.0 * rng.uniform() - 1.0).collect()
}

fn quick() -> Method {
    let mut method = Method::by_name("auto").unwrap();
    for (option, value) in [("folds", "5"), ("steps", "500"), ("hidden", "32,32")] {
        method.set(option, value).unwrap();
    }
    method
}

fn fitted(table: &Table, inputs: ColumnRoles) -> Fitted {
    fit_with(table, "y", &quick(), &FitOptions::default().seed(1).inputs(inputs)).unwrap()
}

fn mean(list: &[f64]) -> f64 {
    list.iter().sum::<f64>() / list.len() as f64
}

fn sd(list: &[f64]) -> f64 {
    let centre = mean(list);
    mean(&list.iter().map(|y| (y - centre) * (y - centre)).collect::<Vec<_>>()).sqrt()
}

#[test]
fn answers_are_those_of_the_truth() {
    for Kind { name, draw, outcome, discrete } in kinds() {
        let mut rng = Rng::new(11, 5);
        let (x, fresh) = (inputs(ROWS, &mut rng), inputs(FRESH, &mut rng));
        let y: Vec<f64> = x.iter().map(|x| draw(*x, &mut rng)).collect();
        let truth: Vec<f64> = fresh.iter().map(|x| draw(*x, &mut rng)).collect();
        let inputs = ColumnRoles::default().target_spec(outcome.clone());
        let Fitted { model, warnings, .. } = fitted(&table(&x, y.clone()), inputs);
        assert!(warnings.iter().all(|warning| !warning.message().contains("lies")), "{name}: {warnings:?}");
        let predictions = model.predict(&table(&fresh, truth.clone())).unwrap();
        let error = sd(&y) * (1.0 / ROWS as f64 + 1.0 / FRESH as f64).sqrt();
        let bias = mean(&predictions.mean()) - mean(&truth);
        assert!(
            bias.abs() < 2.0 * error,
            "{name}: the mean is off by {bias}, twice the standard error is {}",
            2.0 * error
        );
        let fraction = |of: &dyn Fn(f64) -> bool| truth.iter().filter(|y| of(**y)).count() as f64 / FRESH as f64;
        let above = mean(&predictions.above(0.0).unwrap());
        assert!((above - fraction(&|y| y > 0.0)).abs() < 0.02, "{name}: above 0 {above}");
        let zero = mean(&predictions.point_probability(0.0).unwrap());
        assert!((zero - fraction(&|y| y == 0.0)).abs() < 0.02, "{name}: 0 has {zero}");
        let Interval { lower, upper } = predictions.interval(0.9).unwrap();
        let inside = (0..FRESH).filter(|row| (lower[*row]..=upper[*row]).contains(&truth[*row])).count();
        let inside = inside as f64 / FRESH as f64;
        assert!(inside > 0.87 && (discrete || inside < 0.95), "{name}: {inside} inside the 90 % interval");
        nothing_lies_outside(&predictions, name);
        let again = negmm::Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
        assert_eq!(again.predict(&table(&fresh, truth)).unwrap(), predictions, "{name}");
    }
}

/// A bound far from all targets does not affect the fit.
#[test]
fn a_bound_far_from_all_targets_changes_nothing() {
    let mut rng = Rng::new(3, 7);
    let x = inputs(200, &mut rng);
    let y: Vec<f64> = x.iter().map(|x| 4.0 + x + 0.3 * gaussian(&mut rng)).collect();
    let table = table(&x, y);
    let means = |lower: Option<f64>| {
        let outcome = TargetSpec::default().lower(lower);
        fitted(&table, ColumnRoles::default().target_spec(outcome)).model.predict(&table).unwrap().mean()
    };
    let (free, bound) = (means(None), means(Some(0.0)));
    // Only the tails, small parts that are ten times as wide, reach the bound.
    assert!(free.iter().zip(&bound).all(|(free, bound)| (free - bound).abs() < 2e-2), "{free:?} {bound:?}");
}

/// All predictions lie inside the support, with no probability outside.
fn nothing_lies_outside(predictions: &Predictions, name: &str) {
    let (lower, upper) = predictions.support().bounds();
    let inside = |list: Vec<f64>| list.iter().all(|y| (lower..=upper).contains(y));
    if lower.is_finite() {
        assert!(predictions.below(lower - 0.01).unwrap().iter().all(|fraction| *fraction == 0.0), "{name}");
    }
    if upper.is_finite() {
        assert!(predictions.above(upper).unwrap().iter().all(|fraction| *fraction == 0.0), "{name}");
    }
    assert!(inside(predictions.mean()) && inside(predictions.sample(3, 1, 0)), "{name}");
    assert!([0.001, 0.5, 0.999].iter().all(|level| inside(predictions.quantile(*level).unwrap())), "{name}");
    if let Some(step) = predictions.support().step {
        assert!(predictions.sample(3, 1, 0).iter().all(|y| (y / step).fract() == 0.0), "{name}");
    }
}

/// Times, 40 % of them right-censored.
#[test]
fn censored_times_are_those_of_the_truth() {
    let mut rng = Rng::new(4, 4);
    let x = inputs(ROWS, &mut rng);
    let time = |x: f64, rng: &mut Rng| libm::exp(0.5 * x) * exponential(rng);
    let (mut y, mut censored) = (Vec::new(), Vec::new());
    for x in &x {
        let (known, end) = (time(*x, &mut rng), 1.5 * libm::exp(0.5 * x) * exponential(&mut rng));
        y.push(known.min(end));
        censored.push(f64::from(u8::from(end < known)));
    }
    assert!((mean(&censored) - 0.4).abs() < 0.05);
    let columns = vec![("x", x.clone()), ("y", y), ("censored", censored)];
    let table = Table::new(columns.into_iter().map(|(name, list)| (name, Column::Numbers(list))).collect()).unwrap();
    let outcome = TargetSpec::default().lower(0.0).censored("censored");
    let Fitted { model, .. } = fitted(&table, ColumnRoles::default().target_spec(outcome));
    assert_eq!(model.encoder().inputs().len(), 1, "what says what is censored is no input");
    let fresh = inputs(FRESH, &mut rng);
    let truth: Vec<f64> = fresh.iter().map(|x| time(*x, &mut rng)).collect();
    let fresh = Table::new(vec![("x", Column::Numbers(fresh))]).unwrap();
    let predictions = model.predict(&fresh).unwrap();
    for level in [0.25, 0.5, 0.75] {
        let quantiles = predictions.quantile(level).unwrap();
        let below = truth.iter().zip(&quantiles).filter(|(y, quantile)| y < quantile).count() as f64 / FRESH as f64;
        assert!((below - level).abs() < 0.05, "{below} below the quantile of {level}");
    }
    let bias = mean(&predictions.mean()) / mean(&truth) - 1.0;
    assert!(bias.abs() < 0.12, "the mean is off by {bias}");
}
