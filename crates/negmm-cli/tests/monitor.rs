//! Monitoring on the command line.

use crate::common;

use common::{Folder, rows};
use serde_json::Value;

/// Rows of x, c and y with y drawn from the model's predictions, shifted by some sds from a row on.
fn drawn(folder: &Folder, count: usize, from: usize, shift: f64) -> String {
    folder.write("inputs.csv", rows(count));
    let arguments = ["predict", "ok.negmm", "inputs.csv", "--draws", "1", "--keep", "x,c", "--seed", "5"];
    let text = folder.done(&arguments).text();
    let mut data = String::from("x,c,y\n");
    for (row, line) in text.lines().skip(1).enumerate() {
        let cells: Vec<&str> = line.split(',').collect();
        let [sd, y] = [3, 4].map(|at| cells[at].parse::<f64>().unwrap());
        data.push_str(&format!("{},{},{}\n", cells[0], cells[1], y + if row >= from { shift * sd } else { 0.0 }));
    }
    data
}

#[test]
fn a_calibrated_model_raises_no_alarm() {
    let folder = Folder::with_model();
    folder.write("new.csv", drawn(&folder, 3000, 3000, 0.0));
    let outcome = folder.done(&["monitor", "ok.negmm", "--data", "new.csv"]);
    let text = outcome.text();
    assert!(text.starts_with("3,000 rows, target \"y\"\nno alarm"), "{text}");
    assert!(text.contains("e-value ") && text.contains("90 % intervals") && text.contains("CRPS"), "{text}");
    let json = folder.done(&["monitor", "ok.negmm", "--data", "new.csv", "--json"]).json();
    assert_eq!((&json["alarm"], &json["rows"], &json["since"]), (&Value::Bool(false), &3000.into(), &Value::Null));
    let interval = &json["coverage"][1];
    assert!(interval["lower"].as_f64().unwrap() < 0.9 && 0.9 < interval["upper"].as_f64().unwrap(), "{interval}");
}

#[test]
fn a_change_point_is_found_with_exit_code_3() {
    let folder = Folder::with_model();
    folder.write("new.csv", drawn(&folder, 2000, 1200, 1.0));
    let outcome = folder.run(&["monitor", "ok.negmm", "--data", "new.csv", "--json", "--svg", "watch.svg"]);
    assert_eq!(outcome.code, Some(3), "{}", outcome.err);
    let json = outcome.json();
    let since = json["since"].as_u64().unwrap();
    assert!((1150..=1250).contains(&since) && json["alarm_row"].as_u64().unwrap() < 1400, "{json}");
    assert!(folder.read("watch.svg").starts_with(b"<svg "));
    let outcome = folder.run(&["monitor", "ok.negmm", "--data", "new.csv"]);
    assert!(outcome.text().contains("ALARM") && outcome.text().contains("change point"), "{}", outcome.text());
}

#[test]
fn monitoring_continues_from_its_state() {
    let folder = Folder::with_model();
    let data = drawn(&folder, 1500, 800, 0.7);
    let lines: Vec<&str> = data.lines().collect();
    folder.write("all.csv", &data);
    for (name, part) in [("a.csv", &lines[1..701]), ("b.csv", &lines[701..])] {
        folder.write(name, format!("x,c,y\n{}\n", part.join("\n")));
    }
    let whole = folder.run(&["monitor", "ok.negmm", "--data", "all.csv", "--json"]).json();
    folder.done(&["monitor", "ok.negmm", "--data", "a.csv", "--state", "state.json", "--quiet"]);
    let outcome = folder.run(&["monitor", "ok.negmm", "--data", "b.csv", "--state", "state.json", "--json"]);
    assert_eq!((outcome.code, outcome.json()), (Some(3), whole));
    folder.refused(
        &["monitor", "ok.negmm", "--data", "b.csv", "--state", "state.json", "--alpha", "0.1"],
        2,
        "state.json: --alpha, --tolerance and --seed must be the same as in the first run",
    );
    folder.write("state.json", "{}");
    let outcome = folder.run(&["monitor", "ok.negmm", "--data", "b.csv", "--state", "state.json"]);
    assert!(
        outcome.code == Some(1) && outcome.err.contains("this is not a state file of `negmm monitor`"),
        "{}",
        outcome.err
    );
    folder.refused(
        &["monitor", "ok.negmm", "--data", "b.csv", "--alpha", "2"],
        2,
        "alpha must lie strictly between 0 and 1, found 2",
    );
}

/// A random walk whose changes have another scale from a step on.
fn walk(steps: usize, from: usize, size: f64) -> String {
    let (mut text, mut y) = (String::from("when,y\n"), 50.0);
    for step in 0..steps {
        // The sum of three scattered numbers is nearly normal.
        let scattered = |factor: f64| (step as f64 * factor).fract() - 0.5;
        let change = scattered(0.618_033_988_749) + scattered(0.414_213_562_373) + scattered(0.732_050_807_568);
        y += if step >= from { size * change } else { change };
        text.push_str(&format!("{step},{y:.6}\n"));
    }
    text
}

#[test]
fn a_forecaster_is_monitored_one_step_ahead() {
    let folder = Folder::new();
    folder.write("past.csv", walk(300, 300, 1.0));
    let fit = ["fit", "past.csv", "--sequence", "y", "--time", "when", "--horizon", "2", "-o", "w.negmm"];
    folder.done(&[&fit[..], &["--hidden", "8", "--steps", "100"]].concat());
    folder.write("new.csv", walk(600, 450, 4.0));
    let watch = ["monitor", "w.negmm", "--data", "new.csv", "--last", "300", "--json", "--quiet"];
    let outcome = folder.run(&watch);
    assert_eq!(outcome.code, Some(3), "{}", outcome.err);
    let json = outcome.json();
    let since = json["since"].as_u64().unwrap();
    assert!(json["rows"] == 300 && (130..=170).contains(&since), "{json}");
    // Monitored are the one-step forecasts.
    let expected = folder
        .done(&["predict", "w.negmm", "new.csv", "--test-size", "300", "--stride", "1", "--interval", "0.9"])
        .text();
    let truth = walk(600, 450, 4.0);
    let y_at = |when: &str| truth.lines().find_map(|line| line.strip_prefix(&format!("{when},"))).unwrap();
    let first: Vec<Vec<&str>> =
        expected.lines().map(|line| line.split(',').collect()).filter(|line: &Vec<&str>| line[2] == "1").collect();
    let inside = first.iter().filter(|line| {
        let [y, low, high] = [y_at(line[1]), line[5], line[6]].map(|cell| cell.parse::<f64>().unwrap());
        low <= y && y <= high
    });
    // The last step has no second one, so `predict` leaves it out.
    let covered = json["coverage"][1]["held"].as_f64().unwrap() * 300.0;
    assert!(first.len() == 299 && (covered - inside.count() as f64).abs() < 1.5, "{covered}");

    // In parts each step is seen once.
    let lines: Vec<&str> = truth.lines().collect();
    for (name, end) in [("a.csv", 401), ("b.csv", 601)] {
        folder.write(name, lines[..end].join("\n"));
    }
    folder.run(&["monitor", "w.negmm", "--data", "a.csv", "--last", "100", "--state", "s.json", "--quiet"]);
    let parts = folder.run(&["monitor", "w.negmm", "--data", "b.csv", "--state", "s.json", "--json", "--quiet"]);
    assert_eq!(parts.json(), json);
    let again = folder.run(&["monitor", "w.negmm", "--data", "b.csv", "--state", "s.json"]);
    assert!(again.code == Some(3) && again.err.contains("there are no new steps"), "{}", again.err);
    assert!(again.text().contains("CRPS") && again.text().contains(", baseline (\""), "{}", again.text());
}

#[test]
fn series_that_cannot_be_monitored_are_refused() {
    let folder = Folder::new();
    let text = (0..80).fold(String::from("id,y\n"), |text, row| text + &format!("{},{}\n", row % 2, (row * 7) % 10));
    folder.write("s.csv", text);
    let fit = ["fit", "s.csv", "--sequence", "y", "--series", "id", "-o", "s.negmm", "--hidden", "4", "--steps", "20"];
    folder.done(&fit);
    folder.refused(
        &["monitor", "s.negmm", "--data", "s.csv"],
        1,
        "there are 2 series, whose errors are dependent: monitor one series at a time",
    );
    folder.refused(
        &["monitor", "s.negmm", "--data", "s.csv", "--state", "s.json"],
        2,
        "--state needs timestamps (fit --time), so that no step of a series is counted twice",
    );
    let model = Folder::with_model();
    model.refused(
        &["monitor", "ok.negmm", "--data", "ok.csv", "--last", "5"],
        2,
        "--last is for forecasters, and this model is not one",
    );
}
