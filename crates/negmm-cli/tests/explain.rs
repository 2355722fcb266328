//! `negmm explain`: contributions that add up and are Shapley values by brute force, in every format; sentences, tables as a whole,
//! rows worth measuring, refusals.

use crate::common;

use common::{Folder, rows};
use serde_json::Value;

/// The cells of a CSV text without quotes: names, and rows.
fn cells(text: &str) -> (Vec<String>, Vec<Vec<String>>) {
    let mut lines = text.lines().map(|line| line.split(',').map(String::from).collect::<Vec<_>>());
    (lines.next().unwrap(), lines.collect())
}

/// A column of numbers of a CSV text.
fn column(text: &str, name: &str) -> Vec<f64> {
    let (names, rows) = cells(text);
    let at = names.iter().position(|other| other == name).unwrap_or_else(|| panic!("{name}: {names:?}"));
    rows.iter().map(|row| row[at].parse().unwrap()).collect()
}

fn explain<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&["explain", "ok.negmm", "ok.csv"], more].concat()
}

/// A folder with `ok.csv` and a model of two members, `two.negmm`.
fn with_two_members() -> Folder {
    let folder = Folder::with_model();
    folder.fit("ok.csv", "two.negmm", &["--method", "ensemble", "--member", "ne-gmm", "--ensemble-size", "2"]);
    folder
}

#[test]
fn contributions_add_up_to_what_predict_says() {
    let folder = Folder::with_model();
    let text = folder.done(&explain(&["--of", "mean,sd,q0.90,p_above_1", "--keep", "c"])).text();
    let names = "row,c,mean,mean_base,mean[x],mean[c],sd,sd_base,sd[x],sd[c],q0.90,q0.90_base,q0.90[x],q0.90[c],\
        p_above_1,p_above_1_base,p_above_1[x],p_above_1[c]";
    assert_eq!(text.lines().next().unwrap(), names);
    assert_eq!(column(&text, "row"), (1..=60).map(f64::from).collect::<Vec<_>>());
    let predicted = folder.done(&["predict", "ok.negmm", "ok.csv", "--quantiles", "0.90", "--above", "1"]).text();
    for answer in ["mean", "sd", "q0.90", "p_above_1"] {
        let of = |part: &str| column(&text, &format!("{answer}{part}"));
        let (value, base, x, c) = (of(""), of("_base"), of("[x]"), of("[c]"));
        assert_eq!(value, column(&predicted, answer));
        for row in 0..60 {
            let size = value[row].abs().max(base[row].abs());
            assert!((x[row] + c[row] - (value[row] - base[row])).abs() <= 1e-9 * size, "{answer}, row {row}");
        }
        assert!(x.iter().any(|x| *x != 0.0) && c.iter().any(|c| *c != 0.0), "{answer}");
    }
}

#[test]
fn contributions_are_those_of_brute_force() {
    let folder = Folder::with_model();
    folder.write("b.csv", "x,c\n0.1,a\n0.9,b\n0.4,a\n0.7,z\n");
    folder.write("new.csv", "x,c\n0.3,b\n5,a\n,b\n");
    let (background, new) =
        ([("0.1", "a"), ("0.9", "b"), ("0.4", "a"), ("0.7", "z")], [("0.3", "b"), ("5", "a"), ("", "b")]);
    let exact = ["explain", "ok.negmm", "new.csv", "--background", "b.csv", "--of", "sd,q0.05", "-q"];
    let text = folder.done(&exact).text();
    // All mixed rows, through `predict`: of a row x and a background row b what is from x.
    let mut mixed = String::from("x,c\n");
    for x in new {
        for b in background {
            for (own_x, own_c) in [(false, false), (true, false), (false, true), (true, true)] {
                mixed += &format!("{},{}\n", if own_x { x.0 } else { b.0 }, if own_c { x.1 } else { b.1 });
            }
        }
    }
    folder.write("mixed.csv", mixed);
    let predicted = folder.done(&["predict", "ok.negmm", "mixed.csv", "--quantiles", "0.05", "-q"]).text();
    for answer in ["sd", "q0.05"] {
        let (values, of) = (column(&predicted, answer), |part: &str| column(&text, &format!("{answer}{part}")));
        for (row, values) in values.chunks(16).enumerate() {
            let mean = |f: &dyn Fn(&[f64]) -> f64| values.chunks(4).map(f).sum::<f64>() / 4.0;
            let expected = [
                ("_base", mean(&|v| v[0])),
                ("[x]", mean(&|v| 0.5 * (v[1] - v[0] + v[3] - v[2]))),
                ("[c]", mean(&|v| 0.5 * (v[2] - v[0] + v[3] - v[1]))),
            ];
            for (part, expected) in expected {
                let found = of(part)[row];
                assert!(
                    (found - expected).abs() <= 1e-9 * values[0].abs().max(1.0),
                    "{answer}{part}: {found} {expected}"
                );
            }
        }
    }
}

#[test]
fn every_format_has_the_same_numbers() {
    let folder = Folder::with_model();
    let text = folder.done(&explain(&["--of", "sd"])).text();
    for threads in ["1", "3"] {
        assert_eq!(folder.done(&explain(&["--of", "sd", "--threads", threads])).text(), text);
    }
    let piped = folder.run_with_input(&["explain", "ok.negmm", "-", "--of", "sd"], &folder.read("ok.csv"));
    assert_eq!((piped.code, piped.text()), (Some(0), text.clone()));
    for name in ["e.csv", "e.json", "e.jsonl", "e.csv.gz", "e.parquet", "e.arrow"] {
        if cfg!(not(feature = "parquet")) && (name.ends_with("t") || name.ends_with("w")) {
            continue;
        }
        let summary = folder.done(&explain(&["--of", "sd", "-o", name, "--json"])).json();
        assert_eq!(
            (&summary["rows"], &summary["exact"], &summary["errors"]["sd"]),
            (&60.into(), &true.into(), &0.0.into())
        );
        assert_eq!(summary["columns"], serde_json::json!(["row", "sd", "sd_base", "sd[x]", "sd[c]"]));
    }
    assert_eq!(String::from_utf8(folder.read("e.csv")).unwrap(), text);
    let records: Vec<Value> = serde_json::from_slice(&folder.read("e.json")).unwrap();
    let lines = String::from_utf8(folder.read("e.jsonl")).unwrap();
    for (record, line) in records.iter().zip(lines.lines()) {
        assert_eq!(*record, serde_json::from_str::<Value>(line).unwrap());
    }
    let of_json: Vec<f64> = records.iter().map(|record| record["sd[x]"].as_f64().unwrap()).collect();
    assert_eq!(of_json, column(&text, "sd[x]"));
    #[cfg(feature = "parquet")]
    {
        let table = negmm::Table::read(folder.path("e.parquet")).unwrap();
        assert_eq!(table.numbers("sd[x]").unwrap().unwrap().into_owned(), of_json);
    }
    assert!(folder.done(&explain(&["--of", "sd", "--digits", "3"])).text().len() < text.len());
}

#[test]
fn permutations_have_errors_that_are_printed() {
    let folder = Folder::new();
    let text: String = (0..80).fold("a,b,c,d,e,y\n".into(), |text, row| {
        let of = |factor: f64| (f64::from(row) * factor).fract();
        let x = [of(0.618), of(0.414), of(0.732), of(0.236), of(0.141)];
        let y = x[0] * x[1] * 4.0 + x[2] * x[3] * x[4] * 5.0 + of(0.89);
        text + &format!("{},{},{},{},{},{y}\n", x[0], x[1], x[2], x[3], x[4])
    });
    folder.write("t.csv", text);
    let fit = ["fit", "t.csv", "--target", "y", "-o", "m", "--method", "ne-gmm", "--hidden", "16", "--epochs", "60"];
    folder.done(&fit);
    let run = |more: &[&str]| folder.done(&[&["explain", "m", "t.csv", "--of", "sd"], more].concat());
    let exact = run(&["--exact"]);
    assert_eq!(exact.err, "");
    let walked = run(&["--permutations", "1", "--errors"]);
    assert!(
        walked.err.starts_with("note: contributions are estimated from 1 permutation of the columns"),
        "{}",
        walked.err
    );
    assert!(walked.err.contains("of 32 background rows; typical standard error 0.0"), "{}", walked.err);
    let (mut within, mut count, mut different) = (0, 0, 0);
    for name in ["a", "b", "c", "d", "e"] {
        let of = |text: &str, part: &str| column(text, &format!("sd[{name}]{part}"));
        let (expected, found, errors) = (of(&exact.text(), ""), of(&walked.text(), ""), of(&walked.text(), "_error"));
        for ((expected, found), error) in expected.iter().zip(found).zip(errors) {
            within += usize::from((expected - found).abs() <= 3.0 * error + 1e-12);
            different += usize::from((expected - found).abs() > 1e-12);
            count += 1;
        }
    }
    assert!(within * 100 > 90 * count && different > 0, "{within} of {count}, {different} are not exact");
    // The seed is another set of permutations, and the same is the same.
    assert_ne!(run(&["--permutations", "1", "--seed", "1"]).text(), run(&["--permutations", "1"]).text());
    assert_eq!(run(&["--permutations", "1", "--errors"]).text(), walked.text());
    // Of the table as a whole too: those of contributions and of interactions.
    let whole = run(&["--permutations", "1", "--global"]).text();
    let json = run(&["--permutations", "1", "--global", "--json"]).json();
    let (error, first) = (json["errors"][0].as_f64().unwrap(), &json["interactions"][0]);
    let heading =
        whole.lines().find(|line| line.starts_with("mean |contribution| (standard error of that of one row: "));
    let printed =
        heading.unwrap_or_else(|| panic!("{whole}")).split_once("row: ").unwrap().1.split(' ').next().unwrap();
    assert!((printed.parse::<f64>().unwrap() / error - 1.0).abs() < 1e-3, "{printed} {error}");
    assert!(whole.contains("mean |interaction| (standard error of that of one row)\n"), "{whole}");
    let line = whole.lines().find(|line| line.starts_with("  sd: ")).unwrap();
    let number = |text: &str| text.trim_matches(['(', ')', ',']).parse::<f64>().unwrap();
    let parts: Vec<&str> = line.split(' ').collect();
    let (strength, error) = (number(parts[6]), number(parts[7]));
    assert!((strength / first["strength"].as_f64().unwrap() - 1.0).abs() < 1e-3, "{line}");
    assert!(error > 0.0 && (error / first["error"].as_f64().unwrap() - 1.0).abs() < 1e-3, "{line}");
    let json = run(&["--permutations", "2", "-o", "e.csv", "--json"]).json();
    assert_eq!((&json["permutations"], &json["exact"]), (&2.into(), &false.into()));
    assert!(json["errors"]["sd"].as_f64().unwrap() > 0.0);
}

#[test]
fn sentences_name_the_largest_contributions() {
    let folder = with_two_members();
    let lines = folder.done(&["explain", "two.negmm", "ok.csv", "--of", "sd", "--top", "2"]).text();
    let csv = folder.done(&["explain", "two.negmm", "ok.csv", "--of", "sd"]).text();
    assert_eq!(lines.lines().count(), 60);
    let data = String::from_utf8(folder.read("ok.csv")).unwrap();
    for (row, line) in lines.lines().enumerate() {
        assert!(line.starts_with(&format!("row {}: sd ", row + 1)) && line.contains(" is usual: "), "{line}");
        let (x, c) = (column(&csv, "sd[x]")[row], column(&csv, "sd[c]")[row]);
        let own: Vec<&str> = data.lines().nth(row + 1).unwrap().split(',').collect();
        let (named, rest) = line.split_once(" is usual: ").unwrap().1.split_once("; ").unwrap();
        let first = if x.abs() >= c.abs() { "x " } else { "c " };
        assert!(named.starts_with(first), "{line}: {x} {c}");
        assert!(named.contains(&format!("({})", own[0])) && named.contains(&format!("({})", own[1])), "{line}");
        assert!(rest.starts_with("more rows like this one") || rest.starts_with("these inputs cannot tell"), "{line}");
    }
    // In a file they stand beside the numbers.
    folder.done(&["explain", "two.negmm", "ok.csv", "--of", "mean,sd", "--top", "1", "-o", "e.jsonl"]);
    let text = String::from_utf8(folder.read("e.jsonl")).unwrap();
    let record: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    let sentence = record["sentence"].as_str().unwrap();
    assert!(sentence.starts_with("mean ") && sentence.contains("; sd "), "{sentence}");
    assert!(record["verdict"].is_string() && record["sd[x]"].is_number());
    // One member cannot disagree, and of several answers each has its line.
    let one = folder.done(&explain(&["--top", "1", "--keep", "c,x"])).text();
    assert_eq!(one.lines().count(), 120);
    assert!(one.starts_with("row 1 (a, 0): mean ") && !one.contains("; "), "{one}");
}

#[test]
fn a_sample_is_some_of_the_rows() {
    let folder = Folder::with_model();
    let all = folder.done(&explain(&["--of", "sd", "--keep", "c"])).text();
    let sample = folder.done(&explain(&["--of", "sd", "--keep", "c", "--sample", "7"])).text();
    let (names, rows) = cells(&sample);
    assert_eq!((rows.len(), &names), (7, &cells(&all).0));
    assert!(rows.iter().all(|row| cells(&all).1.contains(row)), "{sample}");
    assert!(column(&sample, "row").is_sorted_by(|a, b| a < b));
    assert_ne!(folder.done(&explain(&["--of", "sd", "--keep", "c", "--sample", "7", "--seed", "1"])).text(), sample);
    assert_eq!(folder.done(&explain(&["--of", "sd", "--keep", "c", "--sample", "99"])).text(), all);
    // Of a file that is read in several pieces, and of several files: rows with their numbers, cells and predictions.
    let many = common::rows(40_000);
    let lines: Vec<&str> = many.lines().collect();
    std::fs::create_dir(folder.path("parts")).unwrap();
    folder.write("parts/1.csv", lines[..17_001].join("\n"));
    folder.write("parts/2.csv", [&lines[..1], &lines[17_001..]].concat().join("\n"));
    folder.write("many.csv", &many);
    let drawn = |data: &str| {
        folder.done(&["explain", "ok.negmm", data, "--of", "mean", "--keep", "x,c", "--sample", "300", "-q"]).text()
    };
    let of_many = drawn("many.csv");
    let (numbers, x, c) = (column(&of_many, "row"), cells(&of_many).1, cells(&many).1);
    assert!(numbers.len() == 300 && numbers.is_sorted_by(|a, b| a < b));
    assert!(numbers.iter().zip(&x).all(|(number, row)| row[1..3] == c[*number as usize - 1][..2]));
    // About as many of each quarter: 75, sd 7.5.
    for quarter in 0..4 {
        let count = numbers.iter().filter(|number| (**number as usize - 1) / 10_000 == quarter).count();
        assert!((45..105).contains(&count), "{quarter}: {count}");
    }
    assert_eq!(drawn("parts"), of_many);
}

#[test]
fn scores_need_targets() {
    let folder = Folder::with_model();
    let text = folder.done(&explain(&["--of", "crps,nll"])).text();
    let (value, base) = (column(&text, "crps"), column(&text, "crps_base"));
    assert!(value.iter().chain(&base).all(|crps| *crps > 0.0));
    folder.write("gap.csv", "x,c,y\n0.5,a,1\n0.2,b,\n0.1,b,0.3\n");
    let outcome = folder.done(&["explain", "ok.negmm", "gap.csv", "--of", "crps"]);
    assert_eq!(outcome.err, "warning: 1 row has no target \"y\" and is left out\n");
    assert_eq!(column(&outcome.text(), "row"), [1.0, 3.0]);
    folder.write("none.csv", "x,c,y\n0.5,a,\n");
    folder.refused(&["explain", "ok.negmm", "none.csv", "--of", "crps"], 1, "none.csv: no row has a target \"y\"");
    folder.write("without.csv", "x,c\n0.5,a\n");
    folder.refused(
        &["explain", "ok.negmm", "without.csv", "--of", "nll"],
        1,
        "without.csv: there is no column \"y\"; the columns are \"x\", \"c\"",
    );
}

#[test]
fn an_impossible_target_is_told() {
    let folder = Folder::new();
    let text = (0..60).fold("x,c,y\n".to_string(), |text, row| {
        text + &format!("{},{},{}\n", (row * 7) % 60, ["a", "b"][row % 2], (row * 11) % 17)
    });
    folder.write("t.csv", text);
    folder.fit("t.csv", "m", &["--lower", "0", "--continuous"]);
    folder.write("n.csv", "x,c,y\n3,a,4\n5,b,-2\n8,a,7.5\n");
    let run = |more: &[&str]| folder.done(&[&["explain", "m", "n.csv"], more].concat());
    let outcome = run(&["--of", "nll,crps"]);
    let warning = "warning: in 1 row the target is impossible for the model, or for the rows it is compared with: nll is infinite \
        there, without contributions\n";
    assert_eq!(outcome.err, warning);
    let (x, crps) = (column(&outcome.text(), "nll[x]"), column(&outcome.text(), "crps[x]"));
    assert!(x[1].is_nan() && x[0].is_finite() && x[2].is_finite() && crps.iter().all(|value| value.is_finite()));
    assert_eq!(run(&["--of", "crps"]).err, "");
    let lines = run(&["--of", "nll", "--top", "1", "-q"]).text();
    assert_eq!(lines.lines().nth(1).unwrap(), "row 2: nll inf: the model takes the target for impossible");
    let whole = run(&["--global", "--of", "mean"]).text();
    assert!(whole.contains("permuted (NLL without 1 row whose target is impossible for the model)\n"), "{whole}");
    assert!(!whole.contains("NaN"), "{whole}");
}

#[test]
fn a_table_as_a_whole() {
    let folder = with_two_members();
    let global =
        |more: &[&'static str]| [&["explain", "two.negmm", "ok.csv", "--of", "mean,sd", "--global"], more].concat();
    let text = folder.done(&global(&[])).text();
    for part in [
        "60 rows, target \"y\", compared with 32 background rows (where mean ",
        "\nmean |contribution|\n",
        "\nloss when the column is permuted\n",
        "strongest interactions",
        "\nalong a column, all else as it is\n",
        "\nwhat would narrow the predictions\n",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    let json = folder.done(&global(&["--json"])).json();
    let csv = folder.done(&["explain", "two.negmm", "ok.csv", "--of", "mean,sd"]).text();
    for (answer, name) in ["mean", "sd"].into_iter().enumerate() {
        for (column_at, input) in ["x", "c"].into_iter().enumerate() {
            let own = column(&csv, &format!("{name}[{input}]"));
            let mean = own.iter().map(|value| value.abs()).sum::<f64>() / 60.0;
            let found = json["contributions"][answer][column_at].as_f64().unwrap();
            assert!((found - mean).abs() < 1e-9 * mean, "{name}[{input}]: {found} {mean}");
        }
    }
    assert!(json["permutation"][0]["crps"].as_f64().unwrap() > 0.0, "{}", json["permutation"]);
    assert_eq!(json["dependence"][0]["individual"][0].as_array().unwrap().len(), 50);
    let regions = json["regions"].as_array().unwrap();
    assert!(regions.iter().any(|region| region["column"] == "c" && region["region"] == "a" && region["rows"] == 20));
    // As a file: all of it, or a table of the inputs.
    folder.done(&global(&["-o", "g.json"]));
    assert_eq!(serde_json::from_slice::<Value>(&folder.read("g.json")).unwrap(), json);
    folder.done(&global(&["-o", "g.csv"]));
    let table = String::from_utf8(folder.read("g.csv")).unwrap();
    assert_eq!(table.lines().next().unwrap(), "input,mean,sd,crps_loss,crps_loss_error,nll_loss,nll_loss_error");
    assert_eq!(table.lines().count(), 3);
    // Two columns are exact, and nothing is said of errors; by default a tail is looked at too.
    assert!(!text.contains("standard error"), "{text}");
    let usual = folder.done(&["explain", "two.negmm", "ok.csv", "--global", "--json"]).json();
    assert_eq!(usual["answers"], serde_json::json!(["mean", "sd", "q0.95"]));
    // Without targets there is no loss.
    folder.write("x.csv", "x,c\n0.1,a\n0.5,b\n0.9,a\n");
    let json = folder.done(&["explain", "two.negmm", "x.csv", "--global", "--json"]).json();
    assert!(json["permutation"].is_null() && json["rows"] == 3);
    let piped =
        folder.run_with_input(&["explain", "two.negmm", "-", "--global", "--of", "mean,sd"], &folder.read("ok.csv"));
    assert_eq!(piped.text(), text);
    folder.refused(
        &global(&[])[..3].iter().copied().chain(["--global", "--of", "sd,crps"]).collect::<Vec<_>>(),
        2,
        "--global shows what CRPS and NLL lose without each column by itself: leave crps out of --of",
    );
}

#[test]
fn of_many_columns_the_strongest_are_printed() {
    let folder = Folder::new();
    let names: Vec<String> = (0..24).map(|column| format!("c{column}")).collect();
    let text = (0..60).fold(format!("{},y\n", names.join(",")), |text, row| {
        let of = |column: usize| (f64::from(row) * (0.618 + 0.0137 * column as f64)).fract();
        let cells: Vec<String> = (0..24).map(|column| of(column).to_string()).collect();
        text + &format!("{},{}\n", cells.join(","), of(7) + of(11) * of(3))
    });
    folder.write("t.csv", text);
    folder.fit("t.csv", "m", &[]);
    let whole = |more: &[&str]| folder.done(&[&["explain", "m", "t.csv", "--global", "--of", "sd"], more].concat());
    let text = whole(&["--sample", "20"]).text();
    let end = "\nand 4 columns that matter less (--json and -o FILE have all)\n";
    let (before, after) = text.split_once(end).unwrap_or_else(|| panic!("{text}"));
    assert_eq!(before.lines().filter(|line| line.starts_with('c')).count(), 20, "{before}");
    let losses = after.split_once("permuted\n").unwrap().1.split("\n\n").next().unwrap();
    assert_eq!(losses.lines().count(), 21, "{losses}");
    assert_eq!(whole(&["--sample", "20", "--json"]).json()["columns"].as_array().unwrap().len(), 24);
}

#[test]
fn rows_that_are_worth_a_measurement() {
    let folder = with_two_members();
    let acquire = |more: &[&'static str]| [&["explain", "two.negmm", "ok.csv", "--acquire", "5"], more].concat();
    let outcome = folder.done(&acquire(&["--keep", "x"]));
    let text = outcome.text();
    assert_eq!(text.lines().next().unwrap(), "row,x,reduction,epistemic,aleatoric,left,verdict");
    assert!(
        outcome.err.contains("the epistemic sd of the rows of the table is expected to fall from"),
        "{}",
        outcome.err
    );
    let (chosen, left, gains) = (column(&text, "row"), column(&text, "left"), column(&text, "reduction"));
    let data = String::from_utf8(folder.read("ok.csv")).unwrap();
    for (row, x) in chosen.iter().zip(column(&text, "x")) {
        assert!(data.lines().nth(*row as usize).unwrap().starts_with(&format!("{x},")), "{row}: {x}");
    }
    assert!(left.windows(2).all(|pair| pair[1] <= pair[0]) && gains.iter().all(|gain| *gain >= 0.0), "{text}");
    // What is left before any measurement is the mean epistemic variance.
    let parts = folder.done(&["predict", "two.negmm", "ok.csv", "--parts"]).text();
    let mean = column(&parts, "variance_epistemic").iter().sum::<f64>() / 60.0;
    assert!((left[0] + gains[0] - mean).abs() < 1e-9 * mean, "{} {mean}", left[0] + gains[0]);
    // The parts of the chosen rows are those of their predictions.
    let [within, between] = ["aleatoric", "epistemic"].map(|name| column(&parts, &format!("variance_{name}")));
    let (epistemic, aleatoric) = (column(&text, "epistemic"), column(&text, "aleatoric"));
    for (at, row) in chosen.iter().map(|row| *row as usize - 1).enumerate() {
        assert!((epistemic[at].powi(2) - between[row]).abs() < 1e-9 * mean, "{row}");
        assert!((aleatoric[at].powi(2) - within[row]).abs() < 1e-9 * within[row], "{row}");
    }
    // A measurement takes no more than its correlation with all rows allows: C(x, z)² is at most C(x, x) C(z, z).
    let (own, noise) = (epistemic[0].powi(2), aleatoric[0].powi(2));
    assert!(gains[0] > 0.0 && gains[0] <= mean * own / (own + noise) * (1.0 + 1e-9), "{} of {mean}", gains[0]);
    let json = folder.done(&acquire(&["-o", "a.csv", "--json"])).json();
    assert!(json["epistemic_after"].as_f64().unwrap() < json["epistemic_before"].as_f64().unwrap());
    folder.write("far.csv", "x,c\n0.98,b\n0.99,b\n");
    folder.done(&acquire(&["--towards", "far.csv"]));
    folder.refused(
        &["explain", "ok.negmm", "ok.csv", "--acquire", "5"],
        2,
        "the rows worth measuring are found by the disagreement of members, and this model (ne-gmm) has one",
    );
    folder.refused(
        &["explain", "two.negmm", "ok.csv", "--acquire", "61"],
        1,
        "ok.csv: 61 rows are to be chosen, and there are 60",
    );
}

#[test]
fn what_cannot_be_explained_is_refused_with_what_can() {
    let folder = Folder::with_model();
    let refused = |more: &[&str], code: i32, message: &str| {
        folder.refused(&[&["explain", "ok.negmm"], more].concat(), code, message);
    };
    refused(
        &["ok.csv", "--of", "sd,epistemic"],
        2,
        "the answer epistemic needs several members that can disagree, and ne-gmm has one here",
    );
    refused(&["ok.csv", "--of", "sd,sd"], 2, "the answer sd is given twice");
    refused(&["ok.csv", "--of", "q2"], 2, "quantiles must lie strictly between 0 and 1, found 2");
    refused(&["ok.csv", "--permutations", "0"], 2, "permutations must be from 1 to 1000, found 0");
    refused(&["ok.csv", "--top", "0"], 2, "top must be at least 1, found 0");
    refused(
        &["ok.csv", "--top", "2", "--errors"],
        2,
        "--errors has no place in printed sentences: leave it or --top out, or write to -o FILE",
    );
    refused(&["ok.csv", "--exact", "--permutations", "3"], 2, "--exact cannot be used with --permutations; see --help");
    refused(&["ok.csv", "--background-rows", "3"], 2, "missing required argument --background <FILE>; see --help");
    refused(&["ok.csv", "-o", "ok.csv"], 2, "the explanations would replace the data in ok.csv: use another -o FILE");
    refused(
        &["ok.csv", "-o", "e.xlsx"],
        2,
        "e.xlsx: expected the name of a CSV file (.csv, .tsv), of JSON (.json, .jsonl), each also with .gz, of Parquet (.parquet) or of Arrow (.arrow, .feather)",
    );
    refused(&["-", "--background", "-"], 2, "only one of the inputs can come from standard input");
    refused(&["none.csv"], 1, "none.csv: there is no such file or folder");
    refused(&["ok.csv", "--background", "none.csv"], 1, "none.csv: there is no such file or folder");
    refused(&["ok.csv", "--keep", "z"], 2, "ok.csv: there is no column \"z\"; the columns are \"x\", \"c\", \"y\"");
    folder.write("head.csv", "x,c\n");
    refused(&["head.csv"], 1, "head.csv: there is a header but no row of data");
    folder.write("bad.csv", "x,c\n0.5,a\n0.1\n");
    refused(&["bad.csv", "-o", "e.csv"], 1, "bad.csv, row 2 (line 3): expected 2 cells, found 1");
    folder.write("other.csv", "x,z\n0.5,a\n");
    refused(&["other.csv"], 1, "other.csv: there is no column \"c\"; the columns are \"x\", \"z\"");
    // A sentence for each kind of model that has no explanations.
    folder.fit("ok.csv", "bare.negmm", &["--background", "0"]);
    let message = "the model carries no training rows to compare with: use --background FILE with such rows (models carry them since \
        this version, unless fitted with --background 0)";
    folder.refused(&["explain", "bare.negmm", "ok.csv"], 2, message);
    let done = folder.done(&[
        "explain",
        "bare.negmm",
        "ok.csv",
        "--background",
        "ok.csv",
        "--background-rows",
        "10",
        "--of",
        "sd",
    ]);
    let base = column(&done.text(), "sd_base");
    assert!(base.len() == 60 && base.iter().all(|other| *other == base[0]));
    folder.write("s.csv", (0..60).fold("t,y\n".to_string(), |text, row| text + &format!("{row},{}\n", row * 7 % 10)));
    folder.fit("s.csv", "steps.negmm", &["--sequence", "y", "--window", "3"]);
    let message = "explanations exchange columns between rows, and the rows of this model are steps of a sequence: `negmm report` \
        shows what its inputs do";
    folder.refused(&["explain", "steps.negmm", "s.csv"], 2, message);
    folder.done(&[
        "fit",
        "s.csv",
        "--sequence",
        "y",
        "--horizon",
        "2",
        "-o",
        "f.negmm",
        "--hidden",
        "4",
        "--steps",
        "20",
    ]);
    let message =
        "explanations are of rows of a table, and this model forecasts series: `negmm report` shows what it learnt";
    folder.refused(&["explain", "f.negmm", "s.csv"], 2, message);
    folder.done(&[
        "fit", "ok.csv", "--target", "x,y", "--method", "mdn", "--epochs", "2", "--hidden", "4", "-o", "j.negmm",
    ]);
    let message = "explanations are of one target, and this model has several: fit a model of one of them (fit --target), or see \
        `negmm report`";
    folder.refused(&["explain", "j.negmm", "ok.csv"], 2, message);
}

#[test]
fn samples_are_explained_too() {
    let folder = Folder::new();
    folder.write("ok.csv", rows(60));
    folder.fit("ok.csv", "m", &["--method", "sample-net", "--samples", "12"]);
    let text = folder.done(&["explain", "m", "ok.csv", "--of", "mean,q0.5,entropy,p_above_1"]).text();
    assert_eq!(text.lines().count(), 61);
    let (value, base) = (column(&text, "q0.5"), column(&text, "q0.5_base"));
    let sums = column(&text, "q0.5[x]").into_iter().zip(column(&text, "q0.5[c]"));
    for ((value, base), (x, c)) in value.iter().zip(base).zip(sums) {
        assert!((x + c - (value - base)).abs() < 1e-9);
    }
}

#[test]
#[cfg(unix)]
fn an_interruption_leaves_nothing_half_written() {
    let folder = with_two_members();
    folder.write("d.csv", rows(100_000));
    interrupted(&folder, &["explain", "ok.negmm", "d.csv", "-o", "e.csv"], 1);
    interrupted(&folder, &["explain", "two.negmm", "d.csv", "--acquire", "20000", "-o", "a.csv"], 0);
    let whole = ["explain", "two.negmm", "d.csv", "--global", "--sample", "50000"];
    interrupted(&folder, &[&whole[..], &["-o", "g.csv"]].concat(), 0);
    interrupted(&folder, &[&whole[..], &["-o", "g.json"]].concat(), 0);
}

/// Interrupts the program when its unfinished file has so many bytes.
#[cfg(unix)]
fn interrupted(folder: &Folder, arguments: &[&str], bytes: u64) {
    use std::process::Command;

    let before = folder.names();
    let mut child = folder.command(arguments).spawn().unwrap();
    common::wait_until("the program writes", || {
        let written = |name: &String| folder.path(name).metadata().is_ok_and(|file| file.len() >= bytes);
        folder.names().iter().any(|name| name.starts_with(".negmm-") && written(name))
    });
    assert!(child.try_wait().unwrap().is_none(), "it was to take longer");
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), &*String::from_utf8_lossy(&output.stderr)), (Some(130), "error: interrupted\n"));
    assert_eq!(folder.names(), before);
}

#[test]
#[cfg(target_os = "linux")]
fn memory_does_not_grow_with_the_file() {
    let folder = Folder::with_model();
    let peak = |count: usize| {
        folder.write("d.csv", rows(count));
        folder.most_memory(&["explain", "ok.negmm", "d.csv", "--of", "sd", "--permutations", "1", "-o", "e.csv", "-q"])
    };
    let (few, many) = (peak(1000), peak(20_000));
    assert!(many < few + 8 * 1024, "{few} KiB for 1,000 rows, {many} KiB for 20,000");
}

/// Targets far too wide in one category.
#[test]
fn monitor_names_the_rows_that_carry_an_alarm() {
    let folder = Folder::with_model();
    folder.write("inputs.csv", rows(3000));
    let drawn = folder.done(&["predict", "ok.negmm", "inputs.csv", "--draws", "1", "--keep", "x,c"]).text();
    let (_, lines) = cells(&drawn);
    let mut data = String::from("x,c,y\n");
    for (row, line) in lines.iter().enumerate() {
        let [mean, y] = [2, 4].map(|at| line[at].parse::<f64>().unwrap());
        let y = if line[1] == "a" && row >= 1000 { mean + 2.5 * (y - mean) } else { y };
        data.push_str(&format!("{},{},{y}\n", line[0], line[1]));
    }
    folder.write("new.csv", data);
    let watch = ["monitor", "ok.negmm", "--data", "new.csv", "--explain", "-q"];
    let outcome = folder.run(&watch);
    assert_eq!(outcome.code, Some(3), "{}", outcome.err);
    let text = outcome.text();
    let (_, groups) = text.split_once("coverage is off by more than chance among").unwrap();
    assert!(groups.lines().nth(1).unwrap().starts_with("  c a: "), "{text}");
    let json = folder.run(&[&watch[..], &["--json"]].concat()).json();
    let (first, since) = (&json["groups"][0], json["since"].as_u64().unwrap());
    assert_eq!((&first["column"], &first["group"]), (&"c".into(), &"a".into()));
    assert!((900..1200).contains(&since), "{since}");
    // A third of the rows since then.
    let rows = first["rows"].as_u64().unwrap();
    assert!(rows.abs_diff((3000 - since) / 3) < 5, "{rows} since {since}");
    // Without an alarm nothing is named, and what has no inputs is refused.
    folder.write("good.csv", data_of(&lines));
    let calm = folder.done(&["monitor", "ok.negmm", "--data", "good.csv", "--explain", "-q"]);
    assert!(!calm.text().contains("chance among"), "{}", calm.text());
    assert!(
        folder.done(&["monitor", "ok.negmm", "--data", "good.csv", "--explain", "--json"]).json()["groups"].is_null()
    );
    folder.refused(
        &["monitor", "--predictions", "p.csv", "--target", "y", "--explain"],
        2,
        "--predictions cannot be used with --explain; see --help",
    );
}

fn data_of(lines: &[Vec<String>]) -> String {
    lines.iter().fold("x,c,y\n".into(), |text, line| text + &format!("{},{},{}\n", line[0], line[1], line[4]))
}
