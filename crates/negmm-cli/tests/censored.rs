//! Censored targets: every command scores all rows, and names the scores of uncensored targets.

use crate::common;

use common::{Folder, rows};

/// Exponential times that depend on x, about a third of them censored: x, t and the censoring indicator, as CSV.
fn times(count: usize) -> String {
    let part = |row: usize, irrational: f64| (row as f64 * irrational + 0.31).fract();
    let mut text = String::from("x,t,cut\n");
    for row in 0..count {
        let x = part(row, 0.618_033_988_749);
        let time = -(0.2 + x) * part(row, 0.414_213_562_373).ln();
        let limit = -1.4 * part(row, 0.732_050_807_569).ln();
        text.push_str(&format!("{x},{},{}\n", time.min(limit), u8::from(limit < time)));
    }
    text
}

const COLUMNS: [&str; 4] = ["--target", "t", "--censored", "cut"];
const QUICK: [&str; 4] = ["--method", "ne-gmm", "--epochs", "30"];

fn with_model() -> Folder {
    let folder = Folder::new();
    folder.write("d.csv", times(300));
    folder.done(&[&["fit", "d.csv", "-o", "m"][..], &COLUMNS, &QUICK].concat());
    folder
}

/// Runs a command and expects an error with this text.
#[track_caller]
fn fails(folder: &Folder, arguments: &[&str], code: i32, words: &str) {
    let outcome = folder.run(arguments);
    assert!(outcome.code == Some(code) && outcome.err.contains(words), "{:?} {}", outcome.code, outcome.err);
    assert_eq!(outcome.err.lines().count(), 1, "{}", outcome.err);
}

#[test]
fn fit_and_evaluate_name_the_scored_rows() {
    let folder = Folder::new();
    folder.write("d.csv", times(300));
    let fit = folder.done(&[&["fit", "d.csv", "-o", "m", "--held-out", "h.csv"][..], &COLUMNS, &QUICK].concat()).text();
    let evaluate = folder.done(&["evaluate", "m", "d.csv"]).text();
    for text in [&fit, &evaluate] {
        assert!(text.contains("Brier, integrated") && text.contains("concordance"), "{text}");
        assert!(text.contains("with observed targets (") && text.contains("which are not representative"), "{text}");
    }
    assert!(evaluate.starts_with("300 rows, target \"t\""), "{evaluate}");
    let scores = folder.done(&["evaluate", "m", "d.csv", "--json"]).json();
    let censored = &scores["censored"];
    let number = |name: &str| censored[name].as_f64().unwrap();
    assert_eq!(censored["rows"], 300);
    assert_eq!(scores["rows"].as_f64().unwrap(), (300.0 * (1.0 - number("share"))).round());
    assert!((0.2..0.5).contains(&number("share")), "{censored}");
    assert!((0.5..1.0).contains(&number("concordance")) && (0.0..0.25).contains(&number("integrated_brier")));
    let calibration = censored["calibration"].as_array().unwrap();
    assert!((calibration.iter().map(|count| count.as_f64().unwrap()).sum::<f64>() - 300.0).abs() < 1e-9);
    let about = folder.done(&["inspect", "m", "--json"]).json();
    assert!(about["record"]["validation"]["censored"]["nll"].is_number());
    assert!(about["record"]["baseline"]["censored"]["nll"].is_number());
    let held_out = String::from_utf8(folder.read("h.csv")).unwrap();
    assert!(held_out.starts_with("row,target,target_upper,mean,"), "{held_out}");
    assert!(held_out.lines().any(|line| line.contains(",inf,") && line.ends_with(',')));
}

#[test]
fn a_column_that_is_not_there_is_one_clear_error() {
    let folder = with_model();
    let without = times(300).lines().map(|line| line.rsplit_once(',').unwrap().0).collect::<Vec<_>>().join("\n");
    folder.write("without.csv", &without);
    fails(&folder, &["evaluate", "m", "without.csv"], 1, "\"cut\"");
    fails(&folder, &["report", "m", "without.csv", "-o", "r.html"], 1, "\"cut\"");
    // The indicator is not an input: predictions do not need it.
    folder.done(&["predict", "m", "without.csv"]);
    folder.write("odd.csv", times(300).replacen(",0\n", ",2\n", 1));
    fails(
        &folder,
        &["evaluate", "m", "odd.csv"],
        1,
        "expected 1 (right-censored), -1 (left-censored) or 0 (observed), found 2",
    );
}

#[test]
fn truth_values_are_parsed_as_in_training() {
    let folder = Folder::new();
    let words = times(300).replace(",0\n", ",no\n").replace(",1\n", ",yes\n");
    folder.write("d.csv", times(300));
    folder.write("w.csv", words);
    for (data, model) in [("d.csv", "m"), ("w.csv", "w")] {
        folder.done(&[&["fit", data, "-o", model][..], &COLUMNS, &QUICK].concat());
    }
    let scores = |model: &str, data: &str| folder.done(&["evaluate", model, data, "--json"]).json();
    assert_eq!(scores("w", "w.csv"), scores("m", "d.csv"));
}

/// y = 3 + 2 x + noise; below a limit of detection, which differs by row, only the limit is known: x, y and the indicator, as CSV.
fn concentrations(count: usize) -> String {
    let part = |row: usize, irrational: f64| (row as f64 * irrational + 0.31).fract();
    let mut text = String::from("x,y,cut\n");
    for row in 0..count {
        let x = part(row, 0.618_033_988_749);
        let y = 3.0 + 2.0 * x + 0.6 * (part(row, 0.414_213_562_373) + part(row, 0.236_067_977) - 1.0);
        let limit = 3.0 + 1.5 * part(row, 0.732_050_807_569);
        text.push_str(&format!("{x},{},{}\n", y.max(limit), if y < limit { -1 } else { 0 }));
    }
    text
}

#[test]
fn left_censored_targets_are_learnt_and_scored() {
    let folder = Folder::new();
    folder.write("d.csv", concentrations(400));
    folder.write("low.csv", "x\n0.05\n");
    let fit = ["fit", "d.csv", "--target", "y", "--method", "mdn", "--epochs", "150", "-o"];
    let text = folder.done(&[&fit[..], &["m", "--censored", "cut", "--held-out", "h.csv"]].concat()).text();
    assert!(
        text.contains("targets with 1 in \"cut\" are only known to be larger, those with -1 to be smaller"),
        "{text}"
    );
    let held_out = String::from_utf8(folder.read("h.csv")).unwrap();
    assert!(held_out.lines().any(|line| line.contains(",-inf,") && line.ends_with(',')), "{held_out}");
    let censored = &folder.done(&["evaluate", "m", "d.csv", "--json"]).json()["censored"];
    assert!(censored["nll"].is_number() && censored["concordance"].as_f64().unwrap() > 0.7, "{censored}");
    assert!((0.2..0.6).contains(&censored["share"].as_f64().unwrap()) && censored.get("integrated_brier").is_none());
    folder.done(&["report", "m", "d.csv", "-o", "r.html"]);
    // Taken for targets, the limits are too large.
    folder.done(&[&fit[..], &["cut", "--ignore", "cut"]].concat());
    let mean = |model: &str| {
        let json = folder.done(&["predict", model, "low.csv", "--digits", "9"]).text();
        json.lines().nth(1).unwrap().split(',').next().unwrap().parse::<f64>().unwrap()
    };
    assert!((mean("m") - 3.1).abs() < 0.2 && mean("cut") > 3.45, "{} {}", mean("m"), mean("cut"));
    // With a lower bound the probability of what is hidden ends there.
    folder.done(&[&fit[..], &["bounded", "--censored", "cut", "--lower", "2.4"]].concat());
    assert!((mean("bounded") - 3.1).abs() < 0.2, "{}", mean("bounded"));
}

#[test]
fn a_left_censored_target_has_no_upper_end() {
    let folder = Folder::new();
    folder.write("d.csv", "x,y,to,cut\n1,2,,0\n2,3,,-1\n3,4,5,-1\n4,5,6,0\n");
    let columns = ["--target", "y", "--target-upper", "to", "--censored", "cut", "--method", "constant", "-o", "m"];
    fails(&folder, &[&["fit", "d.csv"][..], &columns].concat(), 1, "d.csv, row 3, column \"cut\": -1 (left-censored)");
}

#[test]
fn compare_and_tune_choose_by_all_rows() {
    let folder = Folder::new();
    folder.write("d.csv", times(200));
    let few = ["--methods", "ne-gmm,constant", "--folds", "2", "--set", "epochs=20"];
    let compare = |more: &[&str]| folder.done(&[&["compare", "d.csv"][..], &COLUMNS, &few, more].concat());
    let text = compare(&["--svg", "c.svg"]).text();
    assert!(text.contains("Brier, integrated") && text.contains("concordance") && !text.contains("CRPS"), "{text}");
    assert!(String::from_utf8(folder.read("c.svg")).unwrap().contains("Integrated Brier score"));
    let table = compare(&["--json"]).json()["table"].as_array().unwrap().clone();
    let metrics: Vec<&str> = table.iter().take(4).map(|entry| entry["metric"].as_str().unwrap()).collect();
    assert_eq!(metrics, ["nll", "integrated_brier", "concordance", "seconds"]);

    let search = ["tune", "d.csv", "--journal", "j", "--folds", "2", "--try", "epochs=2,20", "--by"];
    fails(
        &folder,
        &[&search[..], &["crps"], &COLUMNS].concat(),
        2,
        "by must be nll or integrated_brier for censored targets",
    );
    let result = folder.done(&[&search[..], &["integrated_brier", "--json"], &COLUMNS].concat()).json();
    let ranking = result["result"]["ranking"].as_array().unwrap();
    let mean = |at: usize| ranking[at]["integrated_brier"]["mean"].as_f64().unwrap();
    assert!(mean(0) <= mean(1) && ranking[0]["concordance"]["mean"].is_number() && ranking[0].get("crps").is_none());
}

#[test]
fn the_report_has_a_survival_plot() {
    let folder = with_model();
    folder.done(&["report", "m", "d.csv", "--svg", "s", "-o", "r.html"]);
    let picture = std::fs::read_to_string(folder.path("s").join("survival.svg")).unwrap();
    assert!(picture.contains("Kaplan-Meier") && picture.contains("predicted, mean of all rows"));
    let page = String::from_utf8(folder.read("r.html")).unwrap();
    assert!(page.contains("of the targets are censored") && page.contains("integrated Brier score of all rows"));
    folder.write("ok.csv", rows(60));
    folder.fit("ok.csv", "ok", &[]);
    folder.done(&["report", "ok", "ok.csv", "--svg", "t"]);
    assert!(!folder.path("t").join("survival.svg").exists());
}
