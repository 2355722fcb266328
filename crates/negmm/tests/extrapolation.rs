//! Extrapolation: the distance from the ranges of training is reported, predictions widen outside them, and do not change inside.

use negmm::data::{Column, ColumnRoles, Encoder, Sequence};
use negmm::predict::Value;
use negmm::{FitOptions, Method, Model, Query, Table, fit, fit_with};
use negmm_dist::math::normal;
use negmm_dist::math::rng::Rng;

fn method(name: &str) -> Method {
    let mut method = Method::by_name(name).unwrap();
    let quick = [
        ("folds", "3"),
        ("epochs", "60"),
        ("steps", "300"),
        ("hidden", "16"),
        ("n-estimators", "60"),
        ("ensemble-size", "2"),
    ];
    for (option, value) in quick {
        if method.has(option) {
            method.set(option, value).unwrap();
        }
    }
    method
}

/// y = f(x) and noise of sd 0.1.
fn table(x: &[f64], f: impl Fn(f64) -> f64) -> Table {
    let mut rng = Rng::new(1, 0);
    let y = x.iter().map(|x| f(*x) + 0.1 * normal::quantile(rng.uniform())).collect();
    Table::new(vec![("x", Column::Numbers(x.to_vec())), ("y", Column::Numbers(y))]).unwrap()
}

/// `count` numbers from `low` to `high`.
fn between(low: f64, high: f64, count: usize) -> Vec<f64> {
    (0..count).map(|at| low + (high - low) * at as f64 / (count - 1) as f64).collect()
}

fn numbers(x: &[f64]) -> Table {
    Table::new(vec![("x", Column::Numbers(x.to_vec()))]).unwrap()
}

#[test]
fn no_method_is_sure_far_outside_and_none_changes_inside() {
    let train = table(&between(-3.0, 3.0, 200), |x| x.sin());
    for method in Method::all().iter().map(|each| method(each.name())) {
        let name = method.name();
        let model = fit(&train, "y", &method).unwrap();
        let inside = numbers(&between(-3.0, 3.0, 77));
        let as_it_goes_on = model.clone().extrapolating(None);
        assert_eq!(model.predict(&inside).unwrap(), as_it_goes_on.predict(&inside).unwrap(), "{name}");
        let sds = model.predict(&numbers(&[3.0, 10.0, 100.0, 1e9, -100.0])).unwrap().sd();
        if matches!(method, Method::Constant(_)) {
            assert!(model.encoder().extrapolation().is_none() && sds[2] == sds[0]);
            continue;
        }
        assert!(sds[0] < sds[1] && 5.0 * sds[1] < sds[2] && sds[2] < sds[3], "{name}: {sds:?}");
        assert!(sds[2] > 10.0 && sds[4] > 10.0, "{name}: {sds:?}");
        let again = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
        assert_eq!(again.predict(&numbers(&[100.0])).unwrap().sd(), sds[2..3], "{name}");
    }
}

#[test]
fn scores_beyond_the_range_are_better() {
    let beyond: Vec<f64> = between(3.0, 5.0, 50).into_iter().chain(between(-5.0, -3.0, 50)).collect();
    let functions: [fn(f64) -> f64; 3] = [|x| x * x * x / 5.0, |x| (2.0 * x).sin(), |x| x.abs()];
    for name in ["ne-gmm", "mdn", "beta-nll", "auto"] {
        let (mut wide, mut as_it_goes_on) = (0.0, 0.0);
        for function in functions {
            let model = fit(&table(&between(-3.0, 3.0, 300), function), "y", &method(name)).unwrap();
            let test = table(&beyond, function);
            let y = model.encoder().targets(&test).unwrap();
            let nll = |model: &Model| model.predict(&test).unwrap().nll(&y).unwrap().iter().sum::<f64>() / 100.0;
            wide += nll(&model);
            as_it_goes_on += nll(&model.clone().extrapolating(None));
        }
        assert!(wide < as_it_goes_on - 0.5, "{name}: {wide} {as_it_goes_on}");
    }
}

fn people() -> Table {
    let city = Column::text((0..40).map(|row| Some(["Rome", "Paris"][row % 2])));
    let age = Column::Numbers((0..40).map(|row| 20.0 + row as f64).collect());
    let size = Column::Numbers((0..40).map(|row| ((row * 7) % 40) as f64).collect());
    let y = Column::Numbers((0..40).map(|row| row as f64).collect());
    Table::new(vec![("age", age), ("size", size), ("city", city), ("y", y)]).unwrap()
}

fn visitors() -> Table {
    let columns = vec![
        ("age", Column::Numbers(vec![20.0, 19.0, 59.0, 80.0, 30.0, f64::NAN])),
        ("size", Column::Numbers(vec![0.0, 50.0, 39.0, 40.0, 30.0, 1.0])),
        ("city", Column::text(["Rome", "Rome", "Paris", "Rome", "Oslo", "Rome"].map(Some))),
    ];
    Table::new(columns).unwrap()
}

#[test]
fn novelty_is_the_largest_distance_in_sds() {
    let model = fit(&people(), "y", &method("ne-gmm")).unwrap();
    let (predictions, warnings) = model.predict_with_warnings(&visitors()).unwrap();
    // Both numbers are 40 steps of 1.
    let sd = (1599.0_f64 / 12.0).sqrt();
    let novelty = model.novelty(&visitors()).unwrap();
    let expected = [0.0, 11.0 / sd, 0.0, 21.0 / sd, 1.0, 1.0];
    assert!(novelty.distances().iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-12));
    let inputs = [None, Some("size"), None, Some("age"), Some("city"), Some("age")];
    assert_eq!((novelty.inputs(), novelty.outside()), (inputs.to_vec(), 4));
    assert_eq!(predictions.novelty(), Some(&novelty));
    assert_eq!(predictions.select(&[3, 0]).novelty().unwrap().distances(), [novelty.distances()[3], 0.0]);
    assert_eq!((warnings.rows(), warnings.outside().values().sum::<u64>()), (6, 4));
    assert_eq!(warnings.outside()["age"], 2);
    let columns = Query::default().novelty(true).columns(&predictions, 0).unwrap();
    assert_eq!(columns.names(), ["mean", "sd", "novelty", "novelty_input"]);
    assert_eq!(columns.floats("novelty").unwrap(), novelty.distances());
    assert_eq!(columns.floats("novelty_input"), None);
    assert_eq!(columns.row(1).last(), Some(Value::Text("size".into())));
    assert_eq!(columns.row(0).last(), Some(Value::Text("".into())));
}

#[test]
fn an_encoder_without_ranges_goes_on_as_it_did() {
    let model = fit(&people(), "y", &method("ne-gmm")).unwrap();
    let mut old = serde_json::to_value(model.encoder()).unwrap();
    old.as_object_mut().unwrap().remove("extrapolation").unwrap();
    for input in old["inputs"].as_array_mut().unwrap() {
        input.as_object_mut().unwrap().remove("range");
    }
    let old: Encoder = serde_json::from_value(old).unwrap();
    old.validate().unwrap();
    assert!(model.encoder().knows_ranges() && !old.knows_ranges());
    let (data, _) = old.encode_features(&visitors()).unwrap();
    assert!(data.novelty().is_none());
    let as_it_goes_on = model.clone().extrapolating(None);
    let (same, _) = as_it_goes_on.encoder().encode_features(&visitors()).unwrap();
    assert_eq!(data.x(), same.x());
    let mut hostile = serde_json::to_value(model.encoder()).unwrap();
    hostile["extrapolation"]["slopes"][0] = (-1.0).into();
    assert!(serde_json::from_value::<Encoder>(hostile).unwrap().validate().is_err());
}

#[test]
fn a_series_may_leave_its_range() {
    let rising = |rows: usize| {
        let y = (0..rows).map(|row| row as f64 + ((row * row) % 7) as f64).collect();
        Table::new(vec![("y", Column::Numbers(y))]).unwrap()
    };
    let sequence = Sequence { column: "y".into(), window: 3 };
    let options = FitOptions::default().inputs(ColumnRoles::default().sequence(sequence));
    let model = fit_with(&rising(60), "y", &method("ne-gmm"), &options).unwrap().model;
    assert!(model.encoder().extrapolation().is_none());
    let distances = model.novelty(&rising(80)).unwrap().distances();
    assert_eq!(distances.len(), 78);
    assert!(distances[..50].iter().all(|distance| *distance == 0.0) && distances[77] > 0.5);
}
