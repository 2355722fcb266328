//! Discrete targets: recognised, reported, and scored by their probabilities.

use crate::common;

use common::{Folder, rows};

/// x and an integer y that depends on it, as CSV.
fn grades(count: usize) -> String {
    let mut text = String::from("x,y\n");
    for row in 0..count {
        let x = (row as f64 * 0.618_033_988_749).fract();
        let noise = (row as f64 * 0.414_213_562_373).fract();
        text.push_str(&format!("{x},{}\n", 3 + (3.0 * x + noise) as u32));
    }
    text
}

#[test]
fn a_discrete_target_is_announced_and_has_a_mass_nll() {
    let folder = Folder::new();
    folder.write("d.csv", grades(120));
    let sentence = "\nthe target is discrete (steps of 1, at least 0): compare mass NLL, not NLL\n";
    let fit = folder.fit("d.csv", "m", &[]).text();
    let evaluate = folder.done(&["evaluate", "m", "d.csv"]).text();
    let inspect = folder.done(&["inspect", "m"]).text();
    for text in [&fit, &evaluate, &inspect] {
        assert!(text.contains(sentence), "{text}");
        let heading = text.lines().find(|line| line.contains("CRPS")).unwrap();
        let columns: Vec<&str> = heading.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect();
        assert_eq!(columns[..3], ["NLL", "mass NLL", "CRPS"], "{text}");
    }
    let about = folder.done(&["inspect", "m", "--json"]).json();
    assert_eq!(about["target"]["grid"], 1.0);
    assert!(about["record"]["validation"]["mass_nll"].as_f64().unwrap() > 0.0);
    let fit = folder.fit("d.csv", "m", &["--json"]).json();
    assert_eq!(fit["validation"], about["record"]["validation"]);
    assert!(fit["baseline"]["mass_nll"].is_number());

    // The score follows from the predicted probabilities.
    let scores = folder.done(&["evaluate", "m", "d.csv", "--json"]).json();
    let text = folder.done(&["predict", "m", "d.csv", "--keep", "y", "--below", "2.5,3.5,4.5,5.5,6.5,7.5"]).text();
    let mut total = 0.0;
    for line in text.lines().skip(1) {
        let cells: Vec<f64> = line.split(',').map(|cell| cell.parse().unwrap()).collect();
        // y, mean, sd, then the probabilities.
        let at = cells[0] as usize;
        total -= (cells[at + 1] - cells[at]).ln();
    }
    assert!((scores["mass_nll"].as_f64().unwrap() - total / 120.0).abs() < 1e-4, "{scores} {}", total / 120.0);
}

#[test]
fn compare_shows_the_mass_nll_of_a_discrete_target() {
    let folder = Folder::new();
    folder.write("d.csv", grades(120));
    folder.write("ok.csv", rows(60));
    let compare = |data: &str, more: &[&str]| {
        let few = ["--target", "y", "--methods", "ne-gmm,constant", "--folds", "2", "--set", "epochs=2"];
        folder.done(&[&["compare", data][..], &few, more].concat())
    };
    assert!(compare("d.csv", &[]).text().contains("mass NLL"));
    assert!(!compare("ok.csv", &[]).text().contains("mass NLL"));
    let metrics = |data: &str| {
        let table = compare(data, &["--json"]).json()["table"].as_array().unwrap().clone();
        table.iter().filter(|entry| entry["metric"] == "mass_nll" && entry["mean"].is_number()).count()
    };
    assert_eq!((metrics("d.csv"), metrics("ok.csv")), (2, 0));
}

#[test]
fn other_targets_have_no_mass_nll() {
    let folder = Folder::with_model();
    for text in [
        folder.fit("ok.csv", "again", &[]).text(),
        folder.done(&["evaluate", "ok.negmm", "ok.csv"]).text(),
        folder.done(&["inspect", "ok.negmm"]).text(),
        folder.done(&["inspect", "ok.negmm", "--json"]).text(),
    ] {
        assert!(!text.contains("discrete") && !text.contains("mass") && !text.contains("grid"), "{text}");
    }
}
