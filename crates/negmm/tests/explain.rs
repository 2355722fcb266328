//! Explanations: exchanged cells are what encoding gives, contributions are Shapley values by definition and add up.

use negmm::data::{Column, ColumnRoles, Dataset, Table};
use negmm::explain::{
    Answer, Background, Effort, Explainer, Explanation, Reference, acquire, dependence, interactions,
    permutation_losses,
};
use negmm::model::plan;
use negmm::train::{Callbacks, CpuEngine, train};
use negmm::{FitOptions, Method, Model, Rng, fit, fit_with};

/// A table with numbers (some missing), a category of few and one of many levels, and two dates whose difference matters.
pub fn table(rows: usize, seed: u64) -> Table {
    let mut rng = Rng::new(seed, 0);
    let (mut number, mut text, mut many, mut from, mut to, mut spread, mut y) =
        (vec![], vec![], vec![], vec![], vec![], vec![], vec![]);
    for row in 0..rows {
        let x = 4.0 * rng.uniform() - 2.0;
        let s = rng.uniform();
        let (few, level) = (rng.below(3), rng.below(40));
        let (day, days) = (rng.below(300) as f64, 1.0 + rng.below(9) as f64);
        number.push(if row % 17 == 5 { f64::NAN } else { x });
        text.push(["a", "b", "c"][few]);
        many.push(format!("level {level}"));
        from.push(86_400.0 * (19_000.0 + day));
        to.push(86_400.0 * (19_000.0 + day + days));
        spread.push(s);
        let noise = (0.2 + 2.0 * s) * (rng.uniform() + rng.uniform() - 1.0);
        y.push(2.0 * x + few as f64 * s + 0.5 * days + 0.02 * level as f64 + noise);
    }
    Table::new(vec![
        ("number", Column::Numbers(number)),
        ("text", Column::text(text.iter().map(|text| Some(*text)))),
        ("many", Column::text(many.iter().map(|text| Some(text.as_str())))),
        ("from", Column::Times(from)),
        ("to", Column::Times(to)),
        ("spread", Column::Numbers(spread)),
        ("y", Column::Numbers(y)),
    ])
    .unwrap()
}

pub fn model() -> (Table, Model) {
    let table = table(240, 1);
    let mut method = Method::by_name("ensemble").unwrap();
    for (name, value) in [("ensemble-size", "3"), ("epochs", "80"), ("hidden", "24"), ("components", "2")] {
        method.set(name, value).unwrap();
    }
    let model = fit(&table, "y", &method).unwrap();
    (table, model)
}

/// The table of the rows with the columns of the mask from `row` of `table` and all others from the rows of `background`.
pub fn naive(table: &Table, row: usize, background: &Table, mask: impl Fn(&str) -> bool) -> Table {
    let own = table.select_rows(&vec![row; background.rows()]);
    let columns = background
        .columns()
        .map(|(name, column)| (name, if mask(name) { own.column(name).unwrap().clone() } else { column.clone() }));
    Table::new(columns.collect()).unwrap()
}

/// Rows, among them one with unseen cells and one far outside the training ranges.
fn rows_to_explain() -> Table {
    let fresh = table(4, 7);
    let columns = fresh.columns().map(|(name, column)| {
        let column = match column {
            Column::Text { .. } => Column::text(["b", "new", "level 3", "a"].map(Some)),
            Column::Numbers(numbers) if name == "number" => Column::Numbers(vec![numbers[0], 9.0, f64::NAN, -30.0]),
            Column::Times(times) if name == "to" => Column::Times(vec![times[0], times[1], f64::NAN, times[3] + 4e7]),
            column => column.clone(),
        };
        (name, column)
    });
    Table::new(columns.collect()).unwrap()
}

#[test]
fn exchanged_cells_are_what_encoding_gives() {
    let (table, model) = model();
    let (rows, encoder) = (rows_to_explain(), model.encoder());
    let background = table.select_rows(&(0..20).collect::<Vec<_>>());
    let blocks = encoder.column_blocks();
    assert_eq!(blocks.names(), ["number", "text", "many", "from", "to", "spread"]);
    assert_eq!(encoder.differences().len(), 1);
    let (cells, _) = encoder.cells(&rows).unwrap();
    let (others, _) = encoder.cells(&background).unwrap();
    let every: Vec<u32> = (0..20).collect();
    for row in 0..rows.rows() {
        for subset in 0..64usize {
            let mask: Vec<bool> = (0..6).map(|column| subset >> column & 1 == 1).collect();
            let mixed = blocks.mixed((&cells, &[row as u32; 20]), (&others, &every), &mask.repeat(20));
            let of = |name: &str| blocks.names().iter().position(|other| *other == name).is_some_and(|at| mask[at]);
            let (encoded, _) = encoder.encode_features(&naive(&rows, row, &background, of)).unwrap();
            let bits = |data: &Dataset| data.x().iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&mixed), bits(&encoded), "row {row}, columns {mask:?}");
            assert_eq!(mixed.levels(), encoded.levels());
            assert_eq!(mixed.novelty().unwrap().distances(), encoded.novelty().unwrap().distances());
            assert_eq!(model.predict_encoded(&mixed).unwrap().sd(), model.predict_encoded(&encoded).unwrap().sd());
        }
    }
}

/// Shapley values by the definition: the mean of the changes over all orders of the columns.
fn brute_force(columns: usize, value: impl Fn(usize) -> f64) -> Vec<f64> {
    let mut orders = vec![vec![]];
    for column in 0..columns {
        orders = orders
            .into_iter()
            .flat_map(|order: Vec<usize>| {
                (0..=order.len()).map(move |at| {
                    let mut order = order.clone();
                    order.insert(at, column);
                    order
                })
            })
            .collect();
    }
    let mut sums = vec![0.0; columns];
    for order in &orders {
        let mut taken = 0;
        for column in order {
            sums[*column] += value(taken | 1 << column) - value(taken);
            taken |= 1 << column;
        }
    }
    sums.iter().map(|sum| sum / orders.len() as f64).collect()
}

#[test]
fn contributions_are_shapley_values_and_add_up() {
    let (table, model) = model();
    let (rows, background) = (rows_to_explain(), table.select_rows(&(0..12).collect::<Vec<_>>()));
    let names = "mean,sd,q0.9,p_above_2,variance_epistemic,crps";
    let (carried, _) = Background::of_table(&model, &background, 100, 0).unwrap();
    let exact = Explainer::new(&model, carried.clone(), Answer::list(names).unwrap()).unwrap();
    assert_eq!(exact.effort_for(4), Effort::Exact);
    let (exact, _) = exact.explain(&rows).unwrap();
    assert!(exact.is_exact());
    let y = model.encoder().targets(&rows).unwrap().into_owned();
    for (row, y) in y.into_iter().enumerate() {
        let values: Vec<[f64; 6]> = (0..64usize)
            .map(|subset| {
                let mask = |name: &str| {
                    exact.columns().iter().position(|other| other == name).is_some_and(|at| subset >> at & 1 == 1)
                };
                let predictions = model.predict(&naive(&rows, row, &background, mask)).unwrap();
                let mean = |values: Vec<f64>| values.iter().sum::<f64>() / values.len() as f64;
                [
                    mean(predictions.mean()),
                    mean(predictions.sd()),
                    mean(predictions.quantile(0.9).unwrap()),
                    mean(predictions.above(2.0).unwrap()),
                    mean(predictions.variance_by_members().1),
                    mean(predictions.crps(&[y; 12]).unwrap()),
                ]
            })
            .collect();
        for (answer, (whole, empty)) in values[63].into_iter().zip(values[0]).enumerate() {
            let (value, base) = (exact.value(row, answer), exact.base(row, answer));
            let size = value.abs().max(base.abs());
            assert!((value - whole).abs() < 1e-9 * size && (base - empty).abs() < 1e-9 * size);
            let own = exact.contributions(row, answer);
            for (own, expected) in own.iter().zip(brute_force(6, |subset| values[subset][answer])) {
                assert!((own - expected).abs() < 1e-9 * size, "row {row}, answer {answer}: {own} {expected}");
            }
            assert!((own.iter().sum::<f64>() - (value - base)).abs() < 1e-9 * size);
            assert!(exact.errors(row, answer).iter().all(|error| *error == 0.0));
        }
    }
    // Permutations: the same within their errors, and they add up as well.
    for pairs in [1, 4] {
        let walked = Explainer::new(&model, carried.clone(), Answer::list(names).unwrap()).unwrap();
        let walked = walked.with_effort(Effort::Permutations(pairs)).unwrap();
        let (walked, _) = walked.explain(&rows).unwrap();
        let (mut squares, mut count) = (0.0, 0.0);
        for (row, answer) in (0..4).flat_map(|row| (0..6).map(move |answer| (row, answer))) {
            let sum: f64 = walked.contributions(row, answer).iter().sum();
            let size = walked.value(row, answer).abs().max(walked.base(row, answer).abs());
            assert!((sum - (walked.value(row, answer) - walked.base(row, answer))).abs() < 1e-9 * size);
            let of = walked.contributions(row, answer).iter().zip(exact.contributions(row, answer));
            for ((own, exact), error) in of.zip(walked.errors(row, answer)) {
                if *error > 1e-12 * size {
                    squares += ((own - exact) / error) * ((own - exact) / error);
                    count += 1.0;
                    assert!((own - exact).abs() < 12.0 * error, "{pairs}: {own} {exact} {error}");
                }
            }
        }
        // The errors are of the right size with several pairs, or too large.
        assert!(count > 20.0 && squares / count < 2.5, "{pairs}: {squares} {count}");
    }
}

fn explained(model: &Model, rows: &Table, threads: usize) -> Explanation {
    let background = model.background().unwrap().clone();
    let explainer = Explainer::new(model, background, Answer::list("sd,q0.95").unwrap()).unwrap();
    let explainer = explainer.with_effort(Effort::Permutations(2)).unwrap().seed(5);
    negmm::threads::pool(threads).unwrap().install(|| explainer.explain(rows).unwrap().0)
}

#[test]
fn explanations_depend_on_neither_threads_nor_other_rows() {
    let (table, model) = model();
    let rows = table.select_rows(&(30..60).collect::<Vec<_>>());
    let whole = explained(&model, &rows, 1);
    assert_eq!(whole, explained(&model, &rows, 3));
    let mut parts = explained(&model, &rows.select_rows(&(0..7).collect::<Vec<_>>()), 2);
    parts.append(explained(&model, &rows.select_rows(&(7..30).collect::<Vec<_>>()), 2)).unwrap();
    assert_eq!(whole, parts);
    let again = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
    assert_eq!(again, model);
    assert_eq!(whole, explained(&again, &rows, 2));
}

#[test]
fn the_background_is_optional_and_changes_no_prediction() {
    let (table, model) = model();
    assert_eq!(model.background().unwrap().rows(), negmm::explain::BACKGROUND);
    let plan =
        plan(&table, "y", model.method(), &ColumnRoles::default(), 0).unwrap().with_background(&table, 0).unwrap();
    let trained = train(CpuEngine::all_cores(), &plan.jobs(), &Callbacks::nothing());
    let without = plan.finish(trained).unwrap().model;
    assert!(without.background().is_none());
    assert_eq!(without.predict(&table).unwrap(), model.predict(&table).unwrap());
    let (with, without) = (model.to_bytes().unwrap(), without.to_bytes().unwrap());
    assert!(without.len() < with.len() && with.len() < without.len() + 50_000);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).contains("background");
    assert!(text(&with) && !text(&without));
}

#[test]
fn what_cannot_be_explained_is_refused() {
    let table = table(60, 2);
    let method = Method::by_name("constant").unwrap();
    let model = fit_with(&table, "y", &method, &FitOptions::default()).unwrap().model;
    let background = model.background().unwrap().clone();
    let error =
        |names: &str| Explainer::new(&model, background.clone(), Answer::list(names).unwrap()).unwrap_err().to_string();
    assert_eq!(
        error("sd,epistemic"),
        "the answer epistemic needs several members that can disagree, and constant has one here"
    );
    let explainer = Explainer::new(&model, background.clone(), Answer::list("sd").unwrap()).unwrap();
    assert!(explainer.clone().with_effort(Effort::Permutations(0)).is_err());
    // A constant model: nothing contributes.
    let (explanation, _) = explainer.explain(&table).unwrap();
    assert!(explanation.contributions(3, 0).iter().all(|value| *value == 0.0));
    assert!(explanation.sentence(3, 0, 5, |_| None).ends_with("is usual"));
    let error = acquire(&model, &table, Reference::Pool, 3).unwrap_err().to_string();
    assert!(error.starts_with("the rows worth measuring are found by the disagreement of members"), "{error}");
}

#[test]
fn global_answers_find_what_matters() {
    let (table, model) = model();
    let rows = table.select_rows(&(0..60).collect::<Vec<_>>());
    let background = model.background().unwrap().clone();
    let explainer = Explainer::new(&model, background, Answer::list("mean,sd").unwrap()).unwrap();
    let (explanation, _) = explainer.explain(&rows).unwrap();
    let of = |answer: usize, name: &str| {
        let at = explanation.columns().iter().position(|column| column == name).unwrap();
        explanation.mean_absolute(answer, None)[at]
    };
    assert!(of(0, "number") > 2.0 * of(0, "many"), "{:?}", explanation.mean_absolute(0, None));
    let (losses, _) = permutation_losses(&model, &rows, None, 2, 0).unwrap();
    let loss = |name: &str| losses.iter().find(|loss| loss.column == name).unwrap();
    assert!(loss("number").crps > 4.0 * loss("number").crps_error);
    assert!(loss("number").crps > loss("many").crps && loss("number").nll > 0.0);
    let found = interactions(&explainer, &explanation, &rows.select_rows(&[0, 1, 2])).unwrap();
    assert_eq!(found.len(), 20);
    assert!(found[..10].windows(2).all(|pair| pair[0].strength >= pair[1].strength));
    let curve = dependence(&explainer, &rows, "number").unwrap();
    assert_eq!((curve.values.len(), curve.individual[0].len()), (negmm::explain::GRID, 50));
    // The mean of the individual curves, which are what tables with that value give.
    let at = 4;
    let moved = rows.columns().map(|(name, column)| {
        let value = curve.numbers.as_ref().unwrap()[at];
        (name, if name == "number" { Column::Numbers(vec![value; 60]) } else { column.clone() })
    });
    let means = model.predict(&Table::new(moved.collect()).unwrap()).unwrap().mean();
    let chosen: Vec<f64> = (0..50).map(|curve| means[curve * 60 / 50]).collect();
    assert_eq!(chosen, curve.individual[0].iter().map(|curve| curve[at]).collect::<Vec<_>>());
    let mean = chosen.iter().sum::<f64>() / 50.0;
    assert!((curve.partial[0][at] - mean).abs() < 1e-12);
    let text = dependence(&explainer, &rows, "text").unwrap();
    assert!(text.numbers.is_none() && text.values.len() == 3);
    let dates = dependence(&explainer, &rows, "from").unwrap();
    assert!(dates.values[0].starts_with("202"), "{:?}", dates.values);
    assert!(dependence(&explainer, &rows, "y").is_err());
}
