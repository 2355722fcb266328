//! A model at work, watched from the command line.

mod program;

use program::{Folder, rows};
use serde_json::Value;

/// Rows of x, c and y whose y is drawn from what a model says, moved by so many sds from a row on.
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
    assert!(text.starts_with("3,000 rows, target \"y\"\ncalibrated?"), "{text}");
    assert!(
        text.contains("nothing speaks against it") && text.contains("90 % intervals") && text.contains("CRPS"),
        "{text}"
    );
    let json = folder.done(&["monitor", "ok.negmm", "--data", "new.csv", "--json"]).json();
    assert_eq!((&json["alarm"], &json["rows"], &json["since"]), (&Value::Bool(false), &3000.into(), &Value::Null));
    let share = &json["coverage"][1];
    assert!(share["lower"].as_f64().unwrap() < 0.9 && 0.9 < share["upper"].as_f64().unwrap(), "{share}");
}

#[test]
fn a_change_is_found_with_its_row_and_exit_code_3() {
    let folder = Folder::with_model();
    folder.write("new.csv", drawn(&folder, 2000, 1200, 1.0));
    let outcome = folder.run(&["monitor", "ok.negmm", "--data", "new.csv", "--json", "--svg", "watch.svg"]);
    assert_eq!(outcome.code, Some(3), "{}", outcome.err);
    let json = outcome.json();
    let since = json["since"].as_u64().unwrap();
    assert!((1150..=1250).contains(&since) && json["alarm_row"].as_u64().unwrap() < 1400, "{json}");
    assert!(folder.read("watch.svg").starts_with(b"<svg "));
    let outcome = folder.run(&["monitor", "ok.negmm", "--data", "new.csv"]);
    assert!(outcome.text().contains("ALARM") && outcome.text().contains("since"), "{}", outcome.text());
}

#[test]
fn a_watch_goes_on_where_it_was() {
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
        "state.json: alpha, tolerance and seed must stay as they were when the watch began",
    );
    folder.write("state.json", "{}");
    let outcome = folder.run(&["monitor", "ok.negmm", "--data", "b.csv", "--state", "state.json"]);
    assert!(
        outcome.code == Some(1) && outcome.err.contains("this is not what `negmm monitor` has seen"),
        "{}",
        outcome.err
    );
    folder.refused(
        &["monitor", "ok.negmm", "--data", "b.csv", "--alpha", "2"],
        2,
        "alpha must lie strictly between 0 and 1, found 2",
    );
}
