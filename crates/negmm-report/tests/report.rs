//! Reports of ordinary models and of edge cases: complete, small, reproducible, safe from injection.

use negmm::Rng;
use negmm::data::{Column, ColumnRoles, Sequence};
use negmm::train::CpuEngine;
use negmm::{FitOptions, Method, Model, Table, Toy, fit, fit_with};
use negmm_report::{EvaluationSet, EvaluationSetBuilder, Report};

const MAX_BYTES: usize = 1_000_000;

fn method(name: &str, epochs: &str) -> Method {
    let mut method = Method::by_name(name).unwrap();
    if method.has("epochs") {
        method.set("epochs", epochs).unwrap();
    }
    method
}

fn numbers(count: usize, seed: u64) -> Vec<f64> {
    let mut rng = Rng::new(seed, 0);
    (0..count).map(|_| rng.uniform()).collect()
}

fn table(columns: Vec<(&str, Column)>) -> Table {
    Table::new(columns).unwrap()
}

fn report(model: &Model, table: &Table) -> Report {
    let report = Report::new(model, &EvaluationSet::of_table(model, table, None).unwrap(), "rows.csv").unwrap();
    let html = report.html();
    assert!(html.len() < MAX_BYTES, "{} bytes", html.len());
    assert!(!without_images(&html).contains("NaN") && !html.contains(">inf"), "a number that is not finite");
    assert_eq!(html.matches("<script").count(), 2);
    assert_eq!(html.matches("<figure").count(), html.matches("<details>").count());
    for (name, svg) in report.svgs() {
        assert!(svg.contains("<title>") && svg.contains("<desc>") && svg.contains("<text"), "{name}");
        let text = without_images(&svg);
        assert!(!text.contains("var(") && !text.contains("<script") && !text.contains("NaN"), "{name}");
    }
    report
}

/// Without the base64 of images, which may contain any letters.
fn without_images(text: &str) -> String {
    let mut parts = text.split("href=\"data:");
    let first = parts.next().unwrap_or_default().to_string();
    parts.fold(first, |text, part| text + part.split_once('"').unwrap().1)
}

fn names(report: &Report) -> Vec<String> {
    report.svgs().map(|(name, _)| name.to_string()).collect()
}

#[test]
fn one_input_has_every_plot_and_the_same_bytes_again() {
    let train = Toy::Bimodal.sample(600, &mut Rng::new(3, 0));
    let model = fit(&train, "y", &method("ne-gmm", "60")).unwrap();
    let first = report(&model, &train);
    let expected = "scores murphy observed fan effect-1 contributions contributions-rows along-1 pit coverage \
        coverage-by-width reliability widths variance row-widest row-narrowest row-surprising row-bimodal loss \
        validation-nll validation-crps";
    assert_eq!(names(&first).join(" "), expected);
    let again = report(&Model::from_bytes(&model.to_bytes().unwrap()).unwrap(), &train);
    assert!(first.html() == again.html());
    assert!(first.svgs().eq(again.svgs()));
}

#[test]
fn chunks_of_a_file_give_the_same_page_as_the_table() {
    let train = Toy::Heteroscedastic.sample(500, &mut Rng::new(4, 0));
    let model = fit(&train, "y", &method("mdn", "5")).unwrap();
    let whole = report(&model, &train).html();
    let mut builder = EvaluationSetBuilder::new(&model, None);
    for start in (0..500).step_by(70) {
        let rows: Vec<usize> = (start..(start + 70).min(500)).collect();
        builder.add(&train.select_rows(&rows)).unwrap();
    }
    let evaluation = builder.finish().unwrap();
    assert_eq!((evaluation.len(), evaluation.total()), (500, 500));
    assert!(Report::new(&model, &evaluation, "rows.csv").unwrap().html() == whole);
    assert!(EvaluationSetBuilder::new(&model, None).finish().is_err());
}

#[test]
fn one_row() {
    let train = Toy::Heteroscedastic.sample(100, &mut Rng::new(5, 0));
    for name in ["ne-gmm", "ngboost", "sample-net", "constant"] {
        let model = fit(&train, "y", &method(name, "3")).unwrap();
        report(&model, &train.select_rows(&[17]));
    }
}

#[test]
fn two_hundred_inputs() {
    let x: Vec<Vec<f64>> = (0..200).map(|column| numbers(300, column)).collect();
    let y = (0..300).map(|row| 3.0 * x[42][row] + x[7][row]).collect();
    let names: Vec<String> = (0..200).map(|column| format!("x{column}")).collect();
    let mut columns: Vec<(&str, Column)> =
        names.iter().zip(x).map(|(name, x)| (name.as_str(), Column::Numbers(x))).collect();
    columns.push(("y", Column::Numbers(y)));
    let train = table(columns);
    let report = report(&fit(&train, "y", &method("ngboost", "0")).unwrap(), &train);
    let svgs: Vec<(String, String)> = report.svgs().map(|(name, svg)| (name.to_string(), svg)).collect();
    let svg = |name: &str| &svgs.iter().find(|(other, _)| other == name).unwrap().1;
    assert!(svg("importance").contains("The most important of 200 inputs is x42."));
    assert!(svg("effect-1").contains("<title>Effect of x42</title>"));
    assert!(svg("effect-2").contains("<title>Effect of x7</title>"));
}

#[test]
fn text_inputs_and_injection_attempts() {
    let script = "</script><script>alert(1)</script>";
    let long = "x".repeat(10_000);
    let words = [script, "\"quotes\" & 'ticks' <img src=x onerror=alert(1)>", "שלום \u{202e}", "😀", &long];
    let cells = (0..200).map(|row| Some(words[row % 5]));
    let y = (0..200).map(|row| (row % 5) as f64 + numbers(200, 9)[row]).collect();
    let train = table(vec![(script, Column::text(cells)), ("<b>y", Column::Numbers(y))]);
    let model = fit(&train, "<b>y", &method("ne-gmm", "20")).unwrap();
    let html = report(&model, &train).html();
    assert!(!html.contains("<script>alert") && !html.contains("<img") && !html.contains("<b>y"));
    assert!(html.contains("&lt;script&gt;alert(1)") && !html.contains('\u{202e}') && !html.contains(&long[..200]));
}

#[test]
fn constant_target_and_predictions_that_are_all_the_same() {
    let x = numbers(80, 1);
    let same = table(vec![("x", Column::Numbers(x.clone())), ("y", Column::Numbers(vec![1e6 + 0.5; 80]))]);
    let blind = table(vec![("x", Column::Numbers(vec![2.0; 80])), ("y", Column::Numbers(x))]);
    for name in ["ne-gmm", "ngboost", "sample-net", "constant"] {
        for table in [&same, &blind] {
            report(&fit(table, "y", &method(name, "3")).unwrap(), table);
        }
    }
}

/// The data of the row selector.
fn selector_data(report: &Report) -> serde_json::Value {
    let html = report.html();
    let (_, data) = html.split_once("id=\"data\">").unwrap();
    serde_json::from_str(data.split_once("</script>").unwrap().0).unwrap()
}

#[test]
fn a_selectable_row_has_its_values_and_inputs() {
    let x = numbers(200, 1);
    let counts = x.iter().zip(numbers(200, 2)).map(|(x, noise)| (3.0 * x + 3.0 * noise).round()).collect();
    let train = table(vec![("x", Column::Numbers(x)), ("y", Column::Numbers(counts))]);
    for name in ["ne-gmm", "sample-net"] {
        let report = report(&fit(&train, "y", &method(name, "20")).unwrap(), &train);
        let data = selector_data(&report);
        let row = &data["rows"][0];
        assert_eq!(row["cells"].as_array().unwrap().len(), 1, "{name}");
        assert!(row["cells"][0].is_string() && row["step"] == 1.0, "{name}: {row}");
        let sum: f64 = row["values"].as_array().unwrap().iter().map(|value| value[1].as_f64().unwrap()).sum();
        assert!(sum > 0.98 && sum < 1.001, "{name}: {sum}");
        assert!(report.html().contains("probability</text>"), "{name}");
    }
}

#[test]
fn missing_cells_and_extreme_numbers() {
    let mut x = numbers(120, 2);
    (x[3], x[77]) = (f64::NAN, 1e30);
    let mut y = numbers(120, 3);
    y[5] = -1e12;
    let train = table(vec![("x", Column::Numbers(x)), ("y", Column::Numbers(y))]);
    report(&fit(&train, "y", &method("ne-gmm", "5")).unwrap(), &train);
}

#[test]
fn an_ensemble_has_an_epistemic_plot() {
    let train = Toy::Bimodal.sample(300, &mut Rng::new(6, 0));
    let mut ensemble = Method::by_name("ensemble").unwrap();
    ensemble.set("member", "ne-gmm").unwrap();
    ensemble.set("epochs", "5").unwrap();
    let report = report(&fit(&train, "y", &ensemble).unwrap(), &train);
    assert!(names(&report).contains(&"epistemic".to_string()));
    assert!(report.html().contains("5 members") && report.html().contains("each network"));
}

#[test]
fn a_sequence_is_shown_over_time() {
    let steps: Vec<f64> = numbers(400, 8)
        .iter()
        .scan(0.0, |at, step| {
            Some(*{
                *at += step - 0.5;
                at
            })
        })
        .collect();
    let train = table(vec![("y", Column::Numbers(steps))]);
    let inputs = ColumnRoles::default().sequence(Sequence { column: "y".into(), window: 5 });
    let engine = CpuEngine::default();
    let options = FitOptions::default().inputs(inputs.clone()).engine(&engine);
    let method = method("ne-gmm", "3").for_sequences();
    let model = fit_with(&train, "y", &method, &options).unwrap().model;
    let report = report(&model, &train);
    let (_, fan) = report.svgs().find(|(name, _)| *name == "fan").unwrap();
    assert!(fan.contains("The last 250 steps"));
    assert!(report.html().contains("Scores are of the 395 rows"));
}

#[test]
fn a_report_of_a_fit_uses_the_rows_held_out() {
    let train = Toy::Bimodal.sample(400, &mut Rng::new(10, 0));
    let inputs = ColumnRoles::default();
    let engine = CpuEngine::default();
    let options = FitOptions::default().seed(3).inputs(inputs.clone()).engine(&engine);
    for name in ["ne-gmm", "ngboost", "sample-net", "ensemble"] {
        let fitted = fit_with(&train, "y", &method(name, "5"), &options).unwrap();
        let evaluation = EvaluationSet::of_training(&fitted, &train, None).unwrap();
        assert_eq!(evaluation.len(), fitted.model.record().validation_rows);
        let html = Report::new(&fitted.model, &evaluation, "train.csv").unwrap().html();
        // The score that the record has, to the same digits.
        let crps = negmm_draw::number(fitted.model.record().validation.as_ref().unwrap().crps, 4);
        assert!(html.contains(&format!("<bdi>CRPS</bdi></th><td>{crps}</td>")), "{name}: {crps}");
        assert!(html.contains("that were held out in training") && !html.contains("trained on these rows"));
    }
    let fitted = fit_with(&train, "y", &Method::by_name("constant").unwrap(), &options).unwrap();
    let evaluation = EvaluationSet::of_training(&fitted, &train, None).unwrap();
    assert_eq!(evaluation.len(), 400);
    assert!(Report::new(&fitted.model, &evaluation, "train.csv").unwrap().html().contains("trained on these rows"));
}

#[test]
fn weights_count() {
    let train = Toy::Bimodal.sample(200, &mut Rng::new(7, 0));
    let model = fit(&train, "y", &method("ne-gmm", "5")).unwrap();
    let weighted = |weights: Vec<f64>| {
        let column = |name| train.column(name).unwrap().clone();
        let table = table(vec![("x", column("x")), ("y", column("y")), ("w", Column::Numbers(weights))]);
        Report::new(&model, &EvaluationSet::of_table(&model, &table, Some("w")).unwrap(), "rows.csv").unwrap().html()
    };
    assert!(weighted(vec![1.0; 200]) == report(&model, &train).html());
    assert!(weighted((0..200).map(f64::from).collect()) != report(&model, &train).html());
}

#[test]
fn ten_thousand_rows_make_a_small_page_and_many_more_a_sample() {
    let train = Toy::Heteroscedastic.sample(10_000, &mut Rng::new(8, 0));
    let model = fit(&train, "y", &method("ne-gmm", "2")).unwrap();
    assert!(report(&model, &train).html().contains("Scores are of the 10,000 rows"));
    let many = Toy::Heteroscedastic.sample(120_000, &mut Rng::new(9, 0));
    let evaluation = EvaluationSet::of_table(&model, &many, None).unwrap();
    assert_eq!((evaluation.len(), evaluation.total()), (100_000, 120_000));
    let html = Report::new(&model, &evaluation, "many.csv").unwrap().html();
    assert!(html.len() < MAX_BYTES && html.contains("a random sample of 100,000 of the 120,000 rows"));
}

#[test]
fn the_group_whose_coverage_is_off_is_named() {
    // The constant model knows nothing of the site, where the target lies elsewhere.
    let (x, noise) = (numbers(600, 1), numbers(600, 2));
    let site = Column::text((0..600).map(|row| Some(if row % 3 == 0 { "north" } else { "south" })));
    let y = (0..600).map(|row| noise[row] + if row % 3 == 0 { 2.0 } else { 0.0 }).collect();
    let rows = table(vec![("x", Column::Numbers(x)), ("site", site), ("y", Column::Numbers(y))]);
    let model = fit(&rows, "y", &method("constant", "1")).unwrap();
    let html = report(&model, &rows).html();
    let sentence = html.split("Coverage is off by more than chance for ").nth(1).unwrap();
    let sentence = &sentence[..sentence.find("rows).").unwrap()];
    assert!(sentence.contains("site") && sentence.contains("north") && sentence.contains("south"), "{sentence}");
    assert!(!sentence.contains("below"), "{sentence}");
    let table = html.split("<h3>Scores by group</h3>").nth(1).unwrap();
    let table = &table[..table.find("</table>").unwrap()];
    assert!(table.contains("site: north") && table.contains("x: below"), "{table}");
    assert!(table.contains("% *</td>"), "{table}");
}

#[test]
fn a_truth_value_has_two_places_in_its_picture() {
    let (x, noise) = (numbers(300, 1), numbers(300, 2));
    let text = x.iter().zip(&noise).fold("open,y\n".to_string(), |text, (x, noise)| {
        format!("{text}{},{}\n", if *x < 0.5 { "no" } else { "yes" }, noise + 3.0 * f64::from(u8::from(*x < 0.5)))
    });
    let table = Table::read_from(text.as_bytes(), "rows").unwrap();
    let model = fit(&table, "y", &method("ne-gmm", "20")).unwrap();
    let effect = report(&model, &table).svgs().find(|(name, _)| *name == "effect-1").unwrap().1;
    assert!(effect.contains(">false<") && effect.contains(">true<"), "{effect}");
}
