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

#[test]
fn few_rows_are_read_as_many() {
    let folder = Folder::new();
    for count in [60, 600] {
        folder.write("d.csv", grades(count));
        assert!(folder.fit("d.csv", "m", &[]).text().contains("the target is discrete (steps of 1,"), "{count}");
    }
}

#[test]
fn a_target_is_discrete_where_it_is_declared_so() {
    let folder = Folder::new();
    // Hundredths to 3: no grid of few points.
    let hundredths = |count: usize| {
        let line = |row: usize| format!("{row},{}\n", (row * 7919 % 301) as f64 / 100.0);
        format!("x,y\n{}", (0..count).map(line).collect::<String>())
    };
    folder.write("d.csv", hundredths(60));
    assert!(!folder.fit("d.csv", "m", &[]).text().contains("discrete"));
    for more in [&["--discrete"][..], &["--discrete", "--step", "0.01"], &["--discrete=true", "--step=0.01"]] {
        let text = folder.fit("d.csv", "m", more).text();
        assert!(text.contains("the target is discrete (steps of 0.01, at least 0)"), "{more:?} {text}");
    }
    let predicted = folder.done(&["predict", "m", "d.csv", "--quantiles", "0.5", "--equal", "1.005"]).text();
    for line in predicted.lines().skip(1) {
        let cells: Vec<f64> = line.split(',').map(|cell| cell.parse().unwrap()).collect();
        assert!((100.0 * cells[2] - (100.0 * cells[2]).round()).abs() < 1e-9 && cells[3] == 0.0, "{line}");
    }
    folder.write("c.toml", "discrete = true\nstep = 0.005\n");
    let text = folder.fit("d.csv", "m", &["--config", "c.toml"]).text();
    assert!(text.contains("steps of 0.005"), "{text}");
    let compare = ["compare", "d.csv", "--target", "y", "--methods", "constant", "--folds", "2", "--discrete"];
    assert!(folder.done(&compare).text().contains("mass NLL"));

    let refused = |more: &[&str], code: i32, message: &str| {
        folder.refused(
            &[&["fit", "d.csv", "--target", "y", "-o", "no", "--method", "constant"], more].concat(),
            code,
            message,
        );
    };
    refused(
        &["--discrete", "--step", "0.5"],
        1,
        "d.csv, row 2, column \"y\": the target must be a whole number of steps of 0.5, found 0.93",
    );
    refused(&["--discrete", "--continuous"], 2, "discrete contradicts continuous: leave one of them out");
    refused(&["--step", "0.5"], 2, "step is of a grid: declare the target discrete");
    refused(&["--discrete", "--step", "0"], 2, "step must be finite and positive, found 0");
    refused(&["--discrete", "--censored", "x"], 2, "discrete cannot be combined with a censored target");
}

#[test]
fn steps_of_a_forecast_are_on_a_grid_where_it_is_stated() {
    let folder = Folder::new();
    let line = |row: usize| format!("{}\n", ((row * row * 7919) % 301) as f64 / 4.0);
    folder.write("s.csv", format!("y\n{}", (0..60).map(line).collect::<String>()));
    let fit = ["fit", "s.csv", "--sequence", "y", "-o", "m", "--preset", "fast", "--steps", "5"];
    let quarters = |more: &[&str]| {
        folder.done(&[&fit[..], more].concat());
        let text = folder.done(&["predict", "m", "s.csv", "--quantiles", "0.31"]).text();
        let last = |line: &str| line.split(',').next_back().unwrap().parse::<f64>().unwrap();
        text.lines().skip(1).all(|line| (4.0 * last(line)).fract() == 0.0)
    };
    assert!(quarters(&["--discrete", "--step", "0.25"]) && !quarters(&["--continuous"]));
    let refused = [&fit[..], &["--discrete", "--step", "0.5"]].concat();
    let message = "s.csv, row 2, column \"y\": the target must be a whole number of steps of 0.5 from 0, found 23.25";
    folder.refused(&refused, 1, message);
}
