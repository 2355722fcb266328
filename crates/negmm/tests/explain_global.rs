//! Explanations of tables: interactions are those of the definition, regions have the parts of the predictions in them, scores
//! that are infinite are told apart.

use crate::explain::{model, naive, table};

use negmm::data::{Column, ColumnRoles, Table, TargetSpec};
use negmm::explain::{
    Answer, Background, Explainer, Explanation, Interaction, explain_globally, interactions, permutation_losses,
    regions, verdict,
};
use negmm::explain::{Effort, GlobalOptions};
use negmm::{FitOptions, Method, Model, fit, fit_with};

fn select(table: &Table, names: &[&str]) -> Table {
    let columns = table.columns().filter(|(name, _)| names.contains(name));
    Table::new(columns.map(|(name, column)| (name, column.clone())).collect()).unwrap()
}

fn small(table: &Table, name: &str, options: &[(&str, &str)]) -> Model {
    let mut method = Method::by_name(name).unwrap();
    options.iter().for_each(|(name, value)| method.set(name, value).unwrap());
    fit(table, "y", &method).unwrap()
}

/// v of all subsets of the columns for one row, by predictions of mixed tables: subsets × answers.
fn values(model: &Model, table: &Table, row: usize, background: &Table, answers: &str) -> Vec<Vec<f64>> {
    let names = model.encoder().column_blocks().names().iter().map(ToString::to_string).collect::<Vec<_>>();
    (0..1usize << names.len())
        .map(|subset| {
            let taken =
                |name: &str| names.iter().position(|other| other == name).is_some_and(|at| subset >> at & 1 == 1);
            let predictions = model.predict(&naive(table, row, background, taken)).unwrap();
            let mean = |values: Vec<f64>| values.iter().sum::<f64>() / values.len() as f64;
            let of = |answer: &str| match answer {
                "mean" => mean(predictions.mean()),
                "sd" => mean(predictions.sd()),
                _ => mean(predictions.quantile(0.9).unwrap()),
            };
            answers.split(',').map(of).collect()
        })
        .collect()
}

/// The interaction index of two columns by its definition.
fn definition(values: &[Vec<f64>], answer: usize, i: usize, j: usize) -> f64 {
    let columns = values.len().ilog2() as usize;
    let factorial = |n: usize| (1..=n).product::<usize>() as f64;
    let (i, j) = (1 << i, 1 << j);
    let v = |subset: usize| values[subset][answer];
    (0..values.len())
        .filter(|subset| subset & (i | j) == 0)
        .map(|s| {
            let size = s.count_ones() as usize;
            let weight = factorial(size) * factorial(columns - size - 2) / factorial(columns - 1);
            weight * (v(s | i | j) - v(s | i) - v(s | j) + v(s))
        })
        .sum()
}

/// The interactions in a table, beside those of the definition of each row: interactions × rows.
fn beside_definition(
    (model, table): (&Model, &Table),
    rows: &Table,
    background: &Table,
    answers: &str,
) -> Vec<(Interaction, Vec<f64>)> {
    let (carried, _) = Background::of_table(model, background, 100, 0).unwrap();
    let explainer = Explainer::new(model, carried, Answer::list(answers).unwrap()).unwrap();
    let explainer = explainer.with_effort(Effort::Permutations(1)).unwrap();
    let (explanation, _) = explainer.explain(&table.select_rows(&(0..20).collect::<Vec<_>>())).unwrap();
    let of_rows: Vec<_> = (0..rows.rows()).map(|row| values(model, rows, row, background, answers)).collect();
    let at = |name: &String| explanation.columns().iter().position(|other| other == name).unwrap();
    let answer = |name: &str| answers.split(',').position(|other| other == name).unwrap();
    let found = interactions(&explainer, &explanation, rows).unwrap();
    let with = |one: Interaction| {
        let [i, j] = &one.columns;
        let of = |values: &Vec<Vec<f64>>| definition(values, answer(&one.answer), at(i), at(j));
        let expected = of_rows.iter().map(of).collect();
        (one, expected)
    };
    found.into_iter().map(with).collect()
}

#[test]
fn interactions_of_three_columns_are_those_of_the_definition() {
    let table = select(&table(240, 1), &["number", "text", "spread", "y"]);
    let options = [("ensemble-size", "2"), ("epochs", "60"), ("hidden", "16"), ("components", "2")];
    let model = small(&table, "ensemble", &options);
    let (rows, background) = (table.select_rows(&[3, 5, 40]), table.select_rows(&(100..109).collect::<Vec<_>>()));
    let found = beside_definition((&model, &table), &rows, &background, "mean,sd,q0.9");
    assert_eq!(found.len(), 9);
    for (one, expected) in found {
        let mean = |of: &dyn Fn(&f64) -> f64| expected.iter().map(of).sum::<f64>() / 3.0;
        assert!((one.strength - mean(&|value| value.abs())).abs() < 1e-9, "{one:?}: {expected:?}");
        assert!((one.mean - mean(&|value| *value)).abs() < 1e-9, "{one:?}: {expected:?}");
        assert!(one.error == 0.0 && one.strength > 1e-6, "{one:?}");
    }
}

#[test]
fn interactions_of_many_columns_are_within_their_errors() {
    let (table, model) = model();
    let background = table.select_rows(&(20..36).collect::<Vec<_>>());
    let (mut squares, mut count) = (0.0, 0.0);
    for row in [2, 9, 17] {
        let rows = table.select_rows(&[row]);
        for (one, expected) in beside_definition((&model, &table), &rows, &background, "mean,sd") {
            assert!(one.error > 0.0 && one.strength == one.mean.abs(), "{one:?}");
            let z = (one.mean - expected[0]) / one.error;
            assert!(z.abs() < 6.0, "{one:?}: {expected:?}");
            squares += z * z;
            count += 1.0;
        }
    }
    // Neither far too small nor far too large.
    assert!(count == 60.0 && (0.02..2.5).contains(&(squares / count)), "{squares} of {count}");
}

#[test]
fn a_sum_of_single_columns_has_no_interactions() {
    // Without the dates, whose difference is an input too.
    let table = select(&table(240, 1), &["number", "text", "many", "spread", "y"]);
    // Trees of one split add up: to the mean, and to the logarithm of the sd.
    let model = small(&table, "ngboost", &[("max-depth", "1"), ("n-estimators", "100"), ("learning-rate", "0.1")]);
    let (rows, background) = (table.select_rows(&[3, 5]), table.select_rows(&(100..108).collect::<Vec<_>>()));
    let found = beside_definition((&model, &table), &rows, &background, "mean,sd");
    let strongest = |answer: &str| {
        found.iter().filter(|(one, _)| one.answer == answer).map(|(one, _)| one.strength).fold(0.0, f64::max)
    };
    assert!(strongest("mean") < 1e-12 && strongest("sd") > 1e-3, "{} {}", strongest("mean"), strongest("sd"));
}

#[test]
fn regions_have_the_parts_of_their_rows() {
    let (table, model) = model();
    let found = regions(&model, &table, &["text", "number"]).unwrap();
    let (aleatoric, epistemic) = model.predict(&table).unwrap().variance_by_members();
    let text = table.column("text").unwrap();
    for name in ["a", "b", "c"] {
        let region = found.iter().find(|one| one.column == "text" && one.region == name).unwrap();
        let Column::Text { codes, levels } = text else { panic!("{text:?}") };
        let rows: Vec<usize> = (0..table.rows()).filter(|row| levels[codes[*row] as usize] == name).collect();
        let root = |of: &[f64]| (rows.iter().map(|row| of[*row]).sum::<f64>() / rows.len() as f64).sqrt();
        assert_eq!(region.rows, rows.len());
        assert!((region.epistemic - root(&epistemic)).abs() < 1e-12 && region.epistemic > 0.0, "{region:?}");
        assert!((region.aleatoric - root(&aleatoric)).abs() < 1e-12, "{region:?}");
        assert_eq!(region.verdict, verdict(region.epistemic, region.aleatoric));
    }
    // The bins of a column have all its rows, and the mean of the parts is that of the table.
    let bins: Vec<_> = found.iter().filter(|one| one.column == "number").collect();
    assert_eq!(bins.iter().map(|bin| bin.rows).sum::<usize>(), table.rows());
    let mean = bins.iter().map(|bin| bin.rows as f64 * bin.epistemic * bin.epistemic).sum::<f64>() / 240.0;
    assert!((mean - epistemic.iter().sum::<f64>() / 240.0).abs() < 1e-9);
}

#[test]
fn an_infinite_score_has_no_contributions() {
    let table = table(240, 1);
    let moved = |table: &Table, by: f64| {
        let columns = table.columns().map(|(name, column)| match column {
            Column::Numbers(y) if name == "y" => (name, Column::Numbers(y.iter().map(|y| y.abs() + by).collect())),
            column => (name, column.clone()),
        });
        Table::new(columns.collect()).unwrap()
    };
    let mut method = Method::by_name("mdn").unwrap();
    method.set("epochs", "20").unwrap();
    let roles = ColumnRoles::default().target_spec(TargetSpec::default().lower(0.0));
    let options = FitOptions::default().inputs(roles);
    let model = fit_with(&moved(&table, 0.0), "y", &method, &options).unwrap().model;
    // The first of three targets is below the bound.
    let mut rows = moved(&table.select_rows(&[0, 1, 2]), 0.5);
    let Some(Column::Numbers(y)) = rows.column("y") else { panic!("{rows:?}") };
    let y = Column::Numbers(vec![-1.0, y[1], y[2]]);
    rows = Table::new(
        rows.columns().map(|(name, own)| (name, if name == "y" { y.clone() } else { own.clone() })).collect(),
    )
    .unwrap();
    let explainer =
        Explainer::new(&model, model.background().unwrap().clone(), Answer::list("nll,crps").unwrap()).unwrap();
    for effort in [Effort::Exact, Effort::Permutations(1)] {
        let (found, _): (Explanation, _) = explainer.clone().with_effort(effort).unwrap().explain(&rows).unwrap();
        assert!(found.value(0, 0).is_infinite() && !found.is_defined(0, 0));
        assert!(found.contributions(0, 0).iter().chain(found.errors(0, 0)).all(|value| value.is_nan()));
        assert!(found.is_defined(0, 1) && found.is_defined(1, 0) && found.is_defined(2, 0));
        // Means are those of the rows that have some.
        let mean =
            |column: usize| 0.5 * [1, 2].iter().map(|row| found.contributions(*row, 0)[column].abs()).sum::<f64>();
        found.mean_absolute(0, None).iter().enumerate().for_each(|(at, own)| assert!((own - mean(at)).abs() < 1e-12));
        assert!(found.typical_error(0).is_finite());
    }
    let (losses, _) = permutation_losses(&model, &rows, None, 2, 0).unwrap();
    let (possible, _) = permutation_losses(&model, &rows.select_rows(&[1, 2]), None, 2, 0).unwrap();
    assert!(losses.iter().all(|loss| loss.nll.is_finite() && loss.impossible == 1), "{losses:?}");
    assert!(possible.iter().all(|loss| loss.impossible == 0));
    let options = GlobalOptions { interaction_rows: 0, ..GlobalOptions::default() };
    let explainer = Explainer::new(&model, model.background().unwrap().clone(), Answer::list("sd").unwrap()).unwrap();
    let (whole, _) = explain_globally(&explainer, &rows, &options).unwrap();
    assert_eq!(whole.permutation.unwrap()[0].impossible, 1);
}
