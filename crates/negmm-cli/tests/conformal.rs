//! Highest-density regions and conformal prediction sets on the command line.

use crate::common;

use common::{Folder, rows};

/// The cells of a CSV line without escaped quotes.
fn cells(line: &str) -> Vec<String> {
    let (mut cells, mut cell, mut quoted) = (Vec::new(), String::new(), false);
    for character in line.chars() {
        match character {
            '"' => quoted = !quoted,
            ',' if !quoted => cells.push(std::mem::take(&mut cell)),
            other => cell.push(other),
        }
    }
    cells.push(cell);
    cells
}

/// One column of a CSV text.
fn column(text: &str, name: &str) -> Vec<String> {
    let mut lines = text.lines().map(cells);
    let at = lines.next().unwrap().iter().position(|other| other == name).unwrap();
    lines.map(|mut line| line.swap_remove(at)).collect()
}

fn numbers(text: &str, name: &str) -> Vec<f64> {
    column(text, name).iter().map(|cell| cell.parse().unwrap()).collect()
}

#[test]
fn regions_are_text_and_a_length() {
    let folder = Folder::with_model();
    let text = folder.done(&["predict", "ok.negmm", "ok.csv", "--region", "0.5,0.9", "--interval", "0.9"]).text();
    let header = "mean,sd,lower_0.9,upper_0.9,region_0.5,region_0.5_length,region_0.9,region_0.9_length\n";
    assert!(text.starts_with(header), "{text}");
    for (region, length) in column(&text, "region_0.9").iter().zip(numbers(&text, "region_0.9_length")) {
        let ends = |interval: &str| {
            let (low, high) = interval.strip_prefix('[').unwrap().strip_suffix(']').unwrap().split_once(',').unwrap();
            high.parse::<f64>().unwrap() - low.parse::<f64>().unwrap()
        };
        assert!((region.split(' ').map(ends).sum::<f64>() - length).abs() < 1e-9, "{region} {length}");
    }
    folder.refused(
        &["predict", "ok.negmm", "ok.csv", "--region", "1"],
        2,
        "region must lie strictly between 0 and 1, found 1",
    );
}

#[test]
#[cfg(feature = "parquet")]
fn regions_go_into_parquet() {
    let folder = Folder::with_model();
    for out in ["out.csv", "out.parquet"] {
        folder.done(&["predict", "ok.negmm", "ok.csv", "--region", "0.9", "-o", out]);
    }
    let read = |name: &str| negmm::Table::read(folder.path(name)).unwrap();
    let (csv, parquet) = (read("out.csv"), read("out.parquet"));
    for name in ["region_0.9", "region_0.9_length"] {
        assert_eq!(format!("{:?}", csv.column(name).unwrap()), format!("{:?}", parquet.column(name).unwrap()));
    }
}

#[test]
fn calibrated_sets_come_with_their_guarantee() {
    let folder = Folder::with_model();
    folder.write("calibration.csv", rows(400));
    let conformal = ["predict", "ok.negmm", "ok.csv", "--interval", "0.9", "--conformal"];
    folder.refused(
        &conformal,
        1,
        "the model is not calibrated, so it has no conformal sets; use `negmm calibrate` with rows that the model was not fitted to",
    );
    let text = folder.done(&["calibrate", "ok.negmm", "calibration.csv", "-o", "safe.negmm"]).text();
    assert!(text.starts_with("ne-gmm for \"y\", calibrated on 400 rows, which must not be training rows\n"), "{text}");
    let line = "  0.9   at least 90 % on average; for this model at least 88 % with 90 % confidence (400 rows)\n";
    assert!(text.contains(line), "{text}");
    let json = folder.done(&["calibrate", "ok.negmm", "calibration.csv", "-o", "safe.negmm", "--json"]).json();
    assert_eq!((&json["rows"], &json["guarantees"][2]["coverage"]), (&400.into(), &0.9.into()));
    assert!(json["guarantees"][2]["bound"].as_f64().unwrap() > 0.87);
    let arguments = [
        "predict",
        "safe.negmm",
        "calibration.csv",
        "--interval",
        "0.9",
        "--region",
        "0.8",
        "--conformal",
        "--keep",
        "y",
    ];
    let outcome = folder.done(&arguments);
    let sentence =
        "interval 0.9: at least 90 % on average; for this model at least 88 % with 90 % confidence (400 rows)\n";
    assert!(outcome.err.contains(sentence), "{}", outcome.err);
    let text = outcome.text();
    let [y, lower, upper] = ["y", "lower_0.9", "upper_0.9"].map(|name| numbers(&text, name));
    let covered = (0..y.len()).filter(|row| lower[*row] <= y[*row] && y[*row] <= upper[*row]).count();
    // On the calibration rows themselves: at least 90 % and one row.
    assert!((361..=366).contains(&covered), "{covered}");
    let inspected = folder.done(&["inspect", "safe.negmm"]).text();
    assert!(
        inspected.trim_end().ends_with("conformal prediction sets from 400 rows of a calibration set"),
        "{inspected}"
    );
    // Nothing else changes.
    let plain =
        ["ok.negmm", "safe.negmm"].map(|model| folder.done(&["predict", model, "ok.csv", "--interval", "0.9"]).text());
    assert_eq!(plain[0], plain[1]);
    folder.done(&["calibrate", "ok.negmm", "calibration.csv", "-o", "ok.negmm", "--quiet"]);
    assert_eq!(folder.read("ok.negmm"), folder.read("safe.negmm"));
    folder.refused(
        &["predict", "safe.negmm", "ok.csv", "--conformal"],
        2,
        "conformal prediction sets are intervals and regions: name a coverage",
    );
}

#[test]
fn with_too_few_calibration_rows_sets_are_unbounded() {
    let folder = Folder::with_model();
    folder.write("few.csv", rows(8));
    let text = folder.done(&["calibrate", "ok.negmm", "few.csv", "-o", "few.negmm"]).text();
    assert!(text.contains("0.9   unbounded: 90 % needs at least 9 rows, and there are 8"), "{text}");
    let arguments = ["predict", "few.negmm", "ok.csv", "--interval", "0.9", "--region", "0.9", "--conformal"];
    let outcome = folder.done(&arguments);
    assert!(outcome.err.contains("region 0.9: unbounded"), "{}", outcome.err);
    assert!(column(&outcome.text(), "lower_0.9").iter().all(|cell| cell == "-inf"));
    assert!(column(&outcome.text(), "region_0.9").iter().all(|cell| cell == "[-inf,inf]"));
}

#[test]
fn groups_and_weights_are_columns_of_both_files() {
    let folder = Folder::with_model();
    folder.write("calibration.csv", rows(300));
    let text = folder.done(&["calibrate", "ok.negmm", "calibration.csv", "-o", "by.negmm", "--by", "c"]).text();
    assert!(text.contains("\n  a  at least 90 % on average") && text.contains("\n  b  at least"), "{text}");
    let conformal = ["predict", "by.negmm", "new.csv", "--interval", "0.9", "--conformal", "--keep", "c"];
    folder.write("new.csv", "x,c,y\n0.5,a,1\n0.5,b,1\n0.5,z,1\n");
    let outcome = folder.done(&conformal);
    let strangers =
        "1 row is of a \"c\" that the model was not calibrated for: its sets are unbounded, from -inf to inf";
    assert!(outcome.err.contains(strangers), "{}", outcome.err);
    assert!(
        outcome.err.contains("interval 0.9 in each \"c\", the smallest being \"a\": at least 90 %"),
        "{}",
        outcome.err
    );
    assert_eq!(outcome.text().lines().next(), Some("c,mean,sd,lower_0.9,upper_0.9"));
    let upper = numbers(&outcome.text(), "upper_0.9");
    assert!(upper[0].is_finite() && upper[1].is_finite() && upper[2] == f64::INFINITY);
    let weighted = ["calibrate", "ok.negmm", "calibration.csv", "-o", "w.negmm", "--weight", "x"];
    assert!(folder.done(&weighted).text().contains("if the weights are right"));
    let text =
        folder.done(&["predict", "w.negmm", "calibration.csv", "--interval", "0.8", "--conformal", "--quiet"]).text();
    assert!(numbers(&text, "upper_0.8").iter().all(|upper| upper.is_finite()));
    let outcome = folder.run(&["calibrate", "ok.negmm", "calibration.csv", "-o", "w.negmm", "--weight", "z"]);
    assert!(outcome.code == Some(1) && outcome.err.contains("there is no column \"z\""), "{}", outcome.err);
    let outcome = folder.run(&["calibrate", "ok.negmm", "calibration.csv", "-o", "calibration.csv"]);
    assert!(outcome.code == Some(2) && outcome.err.contains("would replace the data"), "{}", outcome.err);
}

#[test]
fn sets_of_a_sequence_adapt() {
    let folder = Folder::new();
    let price = |row: usize| 20.0 + 5.0 * (row as f64 * 0.5).sin() + (row as f64 * 0.414_213_562_373).fract();
    let series = |count: usize| (0..count).fold(String::from("y\n"), |text, row| text + &format!("{}\n", price(row)));
    folder.write("s.csv", series(400));
    folder.fit("s.csv", "s.negmm", &["--sequence", "y", "--window", "5"]);
    let outcome = folder.done(&["predict", "s.negmm", "s.csv", "--interval", "0.9", "--conformal"]);
    assert!(
        outcome.err.contains("interval 0.9: adaptive; ")
            && outcome.err.contains(" % of 395 targets, guaranteed within "),
        "{}",
        outcome.err
    );
    let text = outcome.text();
    let (lower, upper) = (numbers(&text, "lower_0.9"), numbers(&text, "upper_0.9"));
    let covered = (0..395).filter(|row| lower[*row] <= price(row + 5) && price(row + 5) <= upper[*row]).count();
    // 0.92 / (0.02 · 395) is the bound.
    assert!((covered as f64 / 395.0 - 0.9).abs() < 0.1166, "{covered}");
    let outcome = folder.run(&["calibrate", "s.negmm", "s.csv", "-o", "t.negmm"]);
    assert!(outcome.code == Some(2) && outcome.err.contains("sequences cannot be calibrated"), "{}", outcome.err);
}
