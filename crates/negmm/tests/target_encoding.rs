//! Text columns with many categories: they help where a category is informative, and held-out scores stay honest where it is not.

use negmm::data::{Column, ColumnRoles};
use negmm::model::{Fitted, plan};
use negmm::train::CpuEngine;
use negmm::{FitOptions, Method, Metrics, Model, Table, fit_with};
use negmm_dist::math::normal;
use negmm_dist::math::rng::Rng;

fn method(name: &str) -> Method {
    let mut method = Method::by_name(name).unwrap();
    let quick = [
        ("folds", "4"),
        ("epochs", "5"),
        ("steps", "200"),
        ("hidden", "16"),
        ("n-estimators", "30"),
        ("ensemble-size", "2"),
    ];
    for (option, value) in quick {
        if method.has(option) {
            method.set(option, value).unwrap();
        }
    }
    method
}

fn learnt(table: &Table, method: &Method, threads: usize) -> Fitted {
    let engine = CpuEngine::new(threads);
    fit_with(table, "y", method, &FitOptions::default().seed(3).engine(&engine)).unwrap()
}

/// Rows with an uninformative x and a text with many categories, each of which shifts y by `effect` sds of the noise.
fn shops(rows: usize, levels: usize, effect: f64, seed: u64) -> Table {
    let mut rng = Rng::new(seed, 0);
    let mut draw = || normal::quantile(rng.uniform());
    let x: Vec<f64> = (0..rows).map(|_| draw()).collect();
    let noise: Vec<f64> = (0..rows).map(|_| draw()).collect();
    let level: Vec<usize> = (0..rows).map(|_| rng.below(levels)).collect();
    // The same effects for every seed.
    let effects: Vec<f64> = (0..levels).map(|level| normal::quantile(Rng::new(level as u64, 7).uniform())).collect();
    let y = level.iter().zip(&noise).map(|(level, noise)| 50.0 + effect * effects[*level] + noise).collect();
    let names: Vec<String> = level.iter().map(|level| format!("shop {level}")).collect();
    let shop = Column::text(names.iter().map(|name| Some(name.as_str())));
    Table::new(vec![("x", Column::Numbers(x)), ("shop", shop), ("y", Column::Numbers(y))]).unwrap()
}

fn with_y(table: &Table, y: Vec<f64>) -> Table {
    let columns = table.columns().filter(|(name, _)| *name != "y").map(|(name, column)| (name, column.clone()));
    Table::new(columns.chain([("y", Column::Numbers(y))]).collect()).unwrap()
}

fn y(table: &Table) -> Vec<f64> {
    match table.column("y") {
        Some(Column::Numbers(numbers)) => numbers.clone(),
        other => panic!("{other:?}"),
    }
}

fn scores(model: &Model, table: &Table) -> Metrics {
    Metrics::of(&model.predict(table).unwrap(), &y(table)).unwrap()
}

#[test]
fn levels_that_tell_something_are_learnt() {
    for name in ["auto", "ngboost"] {
        let mut method = method(name);
        let more = if name == "auto" { ("steps", "800") } else { ("n-estimators", "400") };
        method.set(more.0, more.1).unwrap();
        // The score of 600 held-out rows has a standard error of 3 %.
        let (mut validation, mut found) = (0.0, 0.0);
        for seed in [1, 3, 5] {
            let (training, new) = (shops(3000, 200, 2.0, seed), shops(3000, 200, 2.0, seed + 1));
            let Fitted { model, .. } = learnt(&training, &method, 2);
            validation += model.record().validation.as_ref().unwrap().crps / 3.0;
            found += scores(&model, &new).crps / 3.0;
        }
        // The noise alone has a CRPS of 1 / sqrt(pi), the constant one of sqrt(5 / pi).
        assert!(found < 0.70, "{name} {found}");
        assert!((validation / found - 1.0).abs() < 0.05, "{name} {validation} {found}");
    }
}

/// Targets independent of 3,000 categories: held-out and new rows score neither better nor worse than with the constant.
#[test]
fn of_levels_that_tell_nothing_nothing_is_learnt() {
    let (training, new) = (shops(4500, 3000, 0.0, 5), shops(4500, 3000, 0.0, 6));
    let mut auto = method("auto");
    [("steps", "600"), ("hidden", "128,128")].into_iter().for_each(|(name, value)| auto.set(name, value).unwrap());
    for method in [auto, method("ngboost"), method("mdn")] {
        let Fitted { model, .. } = learnt(&training, &method, 2);
        let (validation, constant) =
            (model.record().validation.clone().unwrap(), model.record().baseline.clone().unwrap());
        assert!(
            (validation.crps / constant.crps - 1.0).abs() < 0.01,
            "{} {} {}",
            method.name(),
            validation.crps,
            constant.crps
        );
        let (found, constant) = (scores(&model, &new), Metrics::of(&model.baseline(new.rows()), &y(&new)).unwrap());
        assert!((found.crps / constant.crps - 1.0).abs() < 0.01, "{} {} {}", method.name(), found.crps, constant.crps);
        assert!(found.nll < constant.nll + 0.02, "{} {} {}", method.name(), found.nll, constant.nll);
    }
}

#[test]
fn targets_of_held_out_rows_change_nothing_of_what_holds_them_out() {
    let table = shops(800, 80, 1.0, 4);
    // Whole numbers, so that another order leaves mean and sd bit by bit.
    let mut targets: Vec<f64> = y(&table).iter().map(|y| y.round()).collect();
    let table = with_y(&table, targets.clone());
    for name in ["auto", "mdn", "ensemble", "ngboost"] {
        let plans = |table: &Table| plan(table, "y", &method(name), &ColumnRoles::default(), 3).unwrap().jobs();
        let before = plans(&table);
        let validation = before[0].validation().to_vec();
        let (a, b) = (
            validation[0] as usize,
            validation
                .iter()
                .map(|row| *row as usize)
                .find(|row| targets[*row] != targets[validation[0] as usize])
                .unwrap(),
        );
        targets.swap(a, b);
        let after = plans(&with_y(&table, targets.clone()));
        targets.swap(a, b);
        let mut others = 0;
        for (before, after) in before.iter().zip(&after) {
            assert_eq!(before.train(), after.train(), "{name}");
            let is_held = before.validation().contains(&(a as u32)) && before.validation().contains(&(b as u32));
            if is_held {
                assert_eq!(before.data().x(), after.data().x(), "{name}");
            } else {
                others += usize::from(before.data().x() != after.data().x());
            }
        }
        assert!(name != "auto" || others > 0, "the other folds learn from them");
    }
}

#[test]
fn new_levels_are_counted_and_predicted_as_the_prior() {
    let table = shops(1500, 100, 2.0, 1);
    for name in ["auto", "sample-net", "ngboost"] {
        let Fitted { model, .. } = learnt(&table, &method(name), 2);
        let new = |shops: &[Option<&str>]| {
            let x = Column::Numbers(vec![0.3; shops.len()]);
            Table::new(vec![("x", x), ("shop", Column::text(shops.iter().copied()))]).unwrap()
        };
        let (predictions, warnings) =
            model.predict_with_warnings(&new(&[Some("new"), Some("newer"), Some("shop 1")])).unwrap();
        let means: Vec<f64> = predictions.mean();
        assert_eq!((means[0], means.len()), (means[1], 3), "{name}");
        assert!((means[0] - 50.0).abs() < 1.5, "{name} {means:?}");
        assert_eq!(warnings.new_categories()["shop"], 2, "{name}");
        let (_, warnings) = model.predict_with_warnings(&new(&[None])).unwrap();
        assert_eq!(warnings.new_missing()["shop"], 1, "{name}");
        // Only unseen categories.
        let (predictions, _) = model.predict_with_warnings(&new(&[Some("nowhere")])).unwrap();
        assert_eq!(predictions.mean()[0], means[0], "{name}");
    }
}

#[test]
fn models_are_saved_whole_and_do_not_depend_on_threads() {
    let table = shops(900, 70, 1.0, 8);
    for each in Method::all() {
        let method = method(each.name());
        let Fitted { model, .. } = learnt(&table, &method, 1);
        let bytes = model.to_bytes().unwrap();
        assert!(bytes == learnt(&table, &method, 3).model.to_bytes().unwrap(), "{}", each.name());
        let again = Model::from_bytes(&bytes).unwrap();
        assert!(bytes == again.to_bytes().unwrap(), "{}", each.name());
        assert_eq!(model.predict(&table).unwrap(), again.predict(&table).unwrap(), "{}", each.name());
    }
}

#[test]
fn every_network_of_a_fold_has_the_statistics_of_its_own_rows() {
    let table = shops(900, 70, 1.0, 8);
    let mut method = method("auto");
    for kind in ["short-networks", "dropout-networks", "linear", "forest"] {
        method.set(kind, "false").unwrap();
    }
    method.set("n-repeats", "1").unwrap();
    let Fitted { model, .. } = learnt(&table, &method, 2);
    // Both networks of the first fold, of the second, …
    let members: Vec<_> = model.predictor().networks().collect();
    assert_eq!(members.len(), 8);
    for fold in 0..4 {
        assert_eq!(members[2 * fold].statistics, members[2 * fold + 1].statistics);
    }
    assert!((1..4).all(|fold| members[2 * fold].statistics != members[0].statistics));
    assert_eq!(members[0].statistics.columns()[0].len(), 70);
}

#[test]
fn rows_without_weight_are_not_there() {
    let table = shops(600, 80, 1.0, 9);
    let odd = |value: f64| {
        let mut targets = y(&table);
        (0..50).for_each(|row| targets[row * 3] = value);
        let weights = (0..600).map(|row| if row < 150 && row % 3 == 0 { 0.0 } else { 1.0 }).collect();
        let columns = with_y(&table, targets);
        let columns = columns.columns().map(|(name, column)| (name, column.clone()));
        Table::new(columns.chain([("w", Column::Numbers(weights))]).collect()).unwrap()
    };
    let inputs = ColumnRoles::default().weight("w");
    for name in ["auto", "mdn", "ngboost"] {
        let learn = |value| {
            let options = FitOptions::default().inputs(inputs.clone());
            fit_with(&odd(value), "y", &method(name), &options).unwrap().model
        };
        let (a, b) = (learn(-1e3), learn(1e6));
        assert_eq!(a.predict(&table).unwrap(), b.predict(&table).unwrap(), "{name}");
    }
}
