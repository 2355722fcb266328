//! Properties of `auto` beyond those of every method: honest held-out scores, and sensible predictions for few, wide or distant data.

use negmm::Rng;
use negmm::data::{Column, ColumnRoles, Sequence};
use negmm::model::Fitted;
use negmm::train::CpuEngine;
use negmm::{FitOptions, Interval, Method, Metrics, Model, Query, Table, fit_with};
use negmm_dist::math::normal;

fn auto(settings: &[(&str, &str)]) -> Method {
    let mut method = Method::by_name("auto").unwrap();
    settings.iter().for_each(|(option, value)| method.set(option, value).unwrap());
    method
}

fn fitted(table: &Table, method: &Method, inputs: &ColumnRoles) -> Fitted {
    let engine = CpuEngine::default();
    let options = FitOptions::default().seed(1).inputs(inputs.clone()).engine(&engine);
    fit_with(table, "y", method, &options).unwrap()
}

fn model(table: &Table, method: &Method) -> Model {
    fitted(table, method, &ColumnRoles::default()).model
}

fn draw(rng: &mut Rng) -> f64 {
    normal::quantile(rng.uniform())
}

/// y = sin 3x + noise of sd 0.2 for x from -2 to 2.
fn waves(rows: usize, seed: u64) -> Table {
    let mut rng = Rng::new(seed, 0);
    let x: Vec<f64> = (0..rows).map(|_| 4.0 * rng.uniform() - 2.0).collect();
    let y = x.iter().map(|x| (3.0 * x).sin() + 0.2 * draw(&mut rng)).collect();
    Table::new(vec![("x", Column::Numbers(x)), ("y", Column::Numbers(y))]).unwrap()
}

fn numbers(table: &Table, name: &str) -> Vec<f64> {
    match table.column(name) {
        Some(Column::Numbers(numbers)) => numbers.clone(),
        other => panic!("{other:?}"),
    }
}

const QUICK: [(&str, &str); 3] = [("folds", "4"), ("steps", "500"), ("hidden", "32,32")];

#[test]
fn answers_in_blocks_are_those_of_all_rows_at_once() {
    let query = Query::default().quantiles([0.05, 0.5]).interval([0.9]).region([0.5]).above([0.5]).shortfall([0.1]);
    let query = query.parts(true).novelty(true).draws(2).seed(3).components(true);
    // Some rows lie outside the range of training.
    let rows = waves(150, 3);
    let x = numbers(&rows, "x").iter().map(|x| 1.2 * x).collect();
    let rows = rows.with_columns([("x", Column::Numbers(x))]).unwrap();
    let capped = |table: &Table| {
        let y = numbers(table, "y").iter().map(|y| y.min(0.9)).collect();
        table.with_columns([("y", Column::Numbers(y))]).unwrap()
    };
    let quick = [("folds", "3"), ("steps", "60"), ("hidden", "16")];
    for (table, has_atom) in [(waves(400, 1), false), (capped(&waves(400, 1)), true)] {
        let model = model(&table, &auto(&quick));
        assert_eq!(model.encoder().target().atoms.is_some(), has_atom);
        let whole = model.predict(&rows).unwrap();
        let expected = query.columns(&whole, 7).unwrap();
        let (columns, _) = query.table_columns(&model, &rows, 7, &[]).unwrap();
        assert_eq!(columns.names(), expected.names());
        for (column, expected) in columns.iter().zip(expected.iter()) {
            assert!(column.values().eq(expected.values()), "{}", column.name());
        }
        assert_eq!(columns.floats("mean"), Some(whole.mean()));
        assert_eq!(columns.floats("sd"), Some(whole.sd()));
    }
}

#[test]
fn held_out_scores_are_those_of_new_rows() {
    let (training, new) = (waves(400, 1), waves(2000, 2));
    let Fitted { model, held_out, .. } = fitted(&training, &auto(&QUICK), &ColumnRoles::default());
    assert_eq!(held_out.rows, (0..400).collect::<Vec<_>>());
    let validation = Metrics::of(&held_out.predictions, &numbers(&training, "y")).unwrap();
    assert_eq!(Some(&validation), model.record().validation.as_ref());
    let scores = Metrics::of(&model.predict(&new).unwrap(), &numbers(&new, "y")).unwrap();
    assert!((validation.crps / scores.crps - 1.0).abs() < 0.12, "{} {}", validation.crps, scores.crps);
    assert!((validation.nll - scores.nll).abs() < 0.15, "{} {}", validation.nll, scores.nll);
    assert!((0.9..0.99).contains(&scores.coverage.get(0.95).unwrap()), "{:?}", scores.coverage);
    // Noise of sd 0.2 is all that is left: 0.2 / sqrt(pi).
    assert!(scores.crps < 0.125, "{}", scores.crps);
}

#[test]
fn targets_that_mean_nothing_give_the_level_of_the_constant() {
    let table = waves(400, 3);
    let mut y = numbers(&table, "y");
    Rng::new(9, 9).shuffle(&mut y);
    let shuffled =
        Table::new(vec![("x", Column::Numbers(numbers(&table, "x"))), ("y", Column::Numbers(y.clone()))]).unwrap();
    let Fitted { model, .. } = fitted(&shuffled, &auto(&QUICK), &ColumnRoles::default());
    let (validation, constant) = (model.record().validation.clone().unwrap(), model.record().baseline.clone().unwrap());
    assert!(validation.crps > 0.93 * constant.crps, "{} {}", validation.crps, constant.crps);
    let new = waves(1000, 4);
    let y = numbers(&new, "y");
    let scores = Metrics::of(&model.predict(&new).unwrap(), &y).unwrap();
    let constant = Metrics::of(&model.baseline(1000), &y).unwrap();
    assert!((scores.crps / constant.crps - 1.0).abs() < 0.1, "{} {}", scores.crps, constant.crps);
    assert!((0.9..=1.0).contains(&scores.coverage.get(0.95).unwrap()), "{:?}", scores.coverage);
}

/// Uninformative inputs: held-out scores agree with those of new rows, and are no worse than the constant's.
#[test]
fn noise_is_no_better_than_the_constant_and_no_worse() {
    let noise = |rows: usize, rng: &mut Rng| {
        let column = |rng: &mut Rng| Column::Numbers((0..rows).map(|_| draw(rng)).collect());
        Table::new(vec![("a", column(rng)), ("b", column(rng)), ("c", column(rng)), ("y", column(rng))]).unwrap()
    };
    let method = auto(&[("steps", "300"), ("hidden", "32,32")]);
    for (rows, most) in [(12, 0.2), (30, 0.1), (100, 0.02), (300, 0.02)] {
        let (mut differences, mut losses, mut warned) = (Vec::new(), Vec::new(), 0);
        for seed in 0..8 {
            let mut rng = Rng::new(seed, rows as u64);
            let (training, fresh) = (noise(rows, &mut rng), noise(4000, &mut rng));
            let Fitted { model, warnings, .. } = fitted(&training, &method, &ColumnRoles::default());
            let y = numbers(&fresh, "y");
            let scores = Metrics::of(&model.predict(&fresh).unwrap(), &y).unwrap();
            let constant = Metrics::of(&model.baseline(4000), &y).unwrap();
            differences.push(model.record().validation.as_ref().unwrap().nll - scores.nll);
            losses.push(scores.nll - constant.nll);
            warned +=
                usize::from(warnings.iter().any(|warning| warning.message().contains("no better than the constant")));
        }
        let mean = |list: &[f64]| list.iter().sum::<f64>() / list.len() as f64;
        let (difference, loss) = (mean(&differences), mean(&losses));
        let variance = mean(&differences.iter().map(|x| (x - difference).powi(2)).collect::<Vec<_>>());
        // Of 8 seeds the standard error is uncertain itself.
        let error = (variance / 7.0).sqrt();
        // Printed scores are of fewer models, trained on fewer rows: never optimistic, and little worse.
        assert!(difference > -2.4 * error, "{rows} rows: printed - fresh {difference}, standard error {error}");
        assert!(difference < 0.2 + 2.4 * error, "{rows} rows: printed - fresh {difference}, standard error {error}");
        assert!(loss < most, "{rows} rows: {loss} worse than the constant");
        assert!(warned >= 5, "{rows} rows: warned {warned} times of 8");
    }
}

#[test]
fn few_rows_make_wide_distributions() {
    for rows in 1..=13 {
        let (training, new) = (waves(rows, 5), waves(300, 6));
        let model = model(&training, &auto(&[("steps", "200"), ("hidden", "16")]));
        let predictions = model.predict(&new).unwrap();
        assert!(predictions.mean().iter().chain(&predictions.sd()).all(|x| x.is_finite()), "{rows} rows");
        let Interval { lower, upper } = predictions.interval(0.95).unwrap();
        let y = numbers(&new, "y");
        let inside = (0..300).filter(|row| (lower[*row]..=upper[*row]).contains(&y[*row])).count();
        assert!(inside >= 240, "{rows} rows: {inside} of 300 are inside the 95 % interval");
    }
}

/// Cosines that went on beyond the data would be sure of nonsense there.
#[test]
fn far_away_nothing_is_surer_than_among_the_data() {
    let model = model(&waves(400, 1), &auto(&[("folds", "4"), ("steps", "1500"), ("hidden", "64,64")]));
    let at = |x: Vec<f64>| model.predict(&Table::new(vec![("x", Column::Numbers(x))]).unwrap()).unwrap();
    let among: Vec<f64> = at((0..80).map(|i| -1.9 + 3.8 * f64::from(i) / 80.0).collect()).sd();
    let typical = among.iter().sum::<f64>() / among.len() as f64;
    for x in [3.0, 4.0, 6.0, 10.0, 30.0, 100.0, 1e4, 1e9] {
        let predictions = at(vec![-x, x]);
        for (mean, sd) in predictions.mean().into_iter().zip(predictions.sd()) {
            // The target's own sd is 0.7, and it stays within ±1.6.
            assert!(sd > 0.9 * typical, "at {x}: sd {sd}, among the data {typical}");
            assert!(mean.abs() < 1.6 + 3.0 * sd, "at {x}: mean {mean}, sd {sd}");
        }
    }
}

#[test]
fn five_hundred_columns() {
    let mut rng = Rng::new(2, 0);
    let mut columns: Vec<(String, Column)> = (0..500)
        .map(|column| (format!("x{column}"), Column::Numbers((0..120).map(|_| draw(&mut rng)).collect())))
        .collect();
    let y = match &columns[3].1 {
        Column::Numbers(x) => x.iter().map(|x| 2.0 * x + 0.1 * draw(&mut rng)).collect(),
        _ => unreachable!("all are numbers"),
    };
    columns.push(("y".into(), Column::Numbers(y)));
    let table = Table::new(columns).unwrap();
    let model = model(&table, &auto(&[("folds", "3"), ("steps", "60"), ("hidden", "16")]));
    assert_eq!(model.predict(&table).unwrap().len(), 120);
    assert!(model.record().validation.is_some());
}

#[test]
fn a_sequence_is_held_out_in_time() {
    let mut rng = Rng::new(3, 0);
    let mut y = vec![0.0];
    for _ in 0..149 {
        y.push(0.8 * y[y.len() - 1] + draw(&mut rng));
    }
    let table = Table::new(vec![("y", Column::Numbers(y))]).unwrap();
    let inputs = ColumnRoles::default().sequence(Sequence { column: "y".into(), window: 5 });
    let method = auto(&[("folds", "4"), ("steps", "200"), ("lstm-hidden", "8"), ("lstm-layers", "1")]);
    let Fitted { model, held_out, .. } = fitted(&table, &method, &inputs);
    // 145 rows have a window before them, and the last third of these is held out, block after block.
    assert_eq!(held_out.rows, (102..150).collect::<Vec<_>>());
    assert!(held_out.folds.is_sorted() && held_out.folds[0] == 0 && held_out.folds[47] == 3);
    let Some(Column::Numbers(y)) = table.column("y") else { panic!("numbers") };
    assert_eq!(held_out.y, y[102..]);
    let (validation, constant) = (model.record().validation.clone().unwrap(), model.record().baseline.clone().unwrap());
    assert!(validation.crps < constant.crps, "{} {}", validation.crps, constant.crps);
    let loaded = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
    assert_eq!(loaded, model);
}

/// The sizes depend on the rows with positive weight, once: the file has the sizes that were trained.
#[test]
fn settings_follow_from_the_rows_that_count() {
    let plain = waves(5200, 7);
    let counts = (0..5200).map(|row| if row < 400 { 0.0 } else { 1.0 }).collect();
    let columns = plain.columns().map(|(name, column)| (name, column.clone()));
    let table = Table::new(columns.chain([("w", Column::Numbers(counts))]).collect()).unwrap();
    let inputs = ColumnRoles::default().weight("w");
    let Fitted { model, held_out, .. } = fitted(&table, &auto(&[("folds", "2"), ("steps", "1")]), &inputs);
    let Method::Auto(settings) = model.method() else { panic!("auto") };
    let hidden = model.predictor().networks().map(|member| &member.network.hidden).find(|hidden| !hidden.is_empty());
    assert!(hidden.is_none() || hidden == settings.hidden.as_ref());
    assert_eq!(settings.patience, Some(8), "the sizes of fewer than 5000 rows");
    // Rows of weight 0 are in no fold.
    assert_eq!(held_out.rows, (400..5200).collect::<Vec<_>>());
    assert!(held_out.sample_weights.unwrap().iter().all(|weight| *weight == 1.0));
}
