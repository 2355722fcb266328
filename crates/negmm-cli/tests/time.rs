//! Tables in the order of time: the newest rows are held out, or a warning says that they should be.

use crate::common;

use common::Folder;

/// Few steps, so that a fit takes a moment.
const QUICK: [&str; 4] = ["--preset", "fast", "--steps", "100"];

/// A random number from -0.5 to 0.5, the same for the same row.
fn noise(row: u32) -> f64 {
    let mixed = row.wrapping_add(1).wrapping_mul(2_654_435_761).rotate_left(13).wrapping_mul(2_246_822_519);
    f64::from(mixed >> 8) / 16_777_216.0 - 0.5
}

/// Rows `from` to `to` of days with an input; the target follows the input, and with `walk` also a random walk.
fn days(from: u32, to: u32, walk: bool) -> String {
    let mut text = String::from("day,x,y\n");
    let mut level = 0.0;
    for row in 0..to {
        level += 3.0 * noise(2 * row);
        let x = noise(2 * row + 1);
        let y = x + 0.2 * noise(7 * row + 3) + if walk { level } else { 0.0 };
        if row >= from {
            let (year, month, day) = (2020 + row / 336, row / 28 % 12 + 1, row % 28 + 1);
            text.push_str(&format!("{year}-{month:02}-{day:02},{x:.4},{y:.4}\n"));
        }
    }
    text
}

fn fit(folder: &Folder, data: &str, options: &[&str]) -> common::Outcome {
    let fixed = ["fit", data, "--target", "y", "-o", "m"];
    folder.done(&[&fixed[..], &QUICK, options].concat())
}

#[test]
fn printed_scores_of_a_random_walk_are_those_of_the_future() {
    let folder = Folder::new();
    folder.write("walk.csv", days(0, 600, true));
    folder.write("future.csv", days(600, 700, true));
    let warned = fit(&folder, "walk.csv", &[]).err;
    assert!(warned.contains("the held-out scores are optimistic for newer rows"), "{warned}");
    assert!(warned.contains("to hold out the newest rows, use --time day"), "{warned}");
    let crps = |text: &serde_json::Value| text["crps"].as_f64().unwrap();
    let random = fit(&folder, "walk.csv", &["--json"]).json();
    let forward = fit(&folder, "walk.csv", &["--time", "day", "--json"]);
    assert!(!forward.err.contains("optimistic"), "{}", forward.err);
    let future = folder.done(&["evaluate", "m", "future.csv", "--json"]).json();
    let (random, forward) = (crps(&random["validation"]), crps(&forward.json()["validation"]));
    assert!(random < 0.5 * crps(&future), "{random} {future}");
    assert!((0.5..2.0).contains(&(forward / crps(&future))), "{forward} {future}");
}

#[test]
fn independent_rows_are_not_warned_about() {
    let folder = Folder::new();
    folder.write("days.csv", days(0, 600, false));
    let random = fit(&folder, "days.csv", &[]);
    assert!(!random.err.contains("--time"), "{}", random.err);
    assert!(!random.text().contains("drift"), "{}", random.text());
    let forward = fit(&folder, "days.csv", &["--time", "day"]).text();
    let heading =
        "held-out scores on the newest 160 rows by \"day\", block by block, each predicted from what came before it (";
    assert!(forward.contains(heading), "{forward}");
    let one = ["--method", "ngboost", "--n-estimators", "20", "--time", "day"];
    let text = folder.done(&[&["fit", "days.csv", "--target", "y", "-o", "m"], &one[..]].concat()).text();
    assert!(text.contains("scores on the newest 120 rows by \"day\", which also selected the epoch"), "{text}");
}

#[test]
fn drift_is_reported() {
    let folder = Folder::new();
    let rows: Vec<String> = (0..600)
        .map(|row| {
            let (x, z) = (noise(3 * row) + f64::from(row) / 600.0, noise(3 * row + 1));
            format!("{row},{x},{z},{},{}\n", if row < 400 { "old" } else { "new" }, z + 0.2 * noise(3 * row + 2))
        })
        .collect();
    folder.write("f.csv", format!("no,x,z,kind,y\n{}", rows.concat()));
    let text = fit(&folder, "f.csv", &["--time", "no"]).text();
    assert!(text.contains("drift by \"no\", newest tenth (60 rows) against oldest tenth: \"x\" is "), "{text}");
    assert!(text.contains("\"kind\" has other categories in 100 % of the rows"), "{text}");
    assert!(!text.contains("\"z\" is") && !text.contains("given the inputs"), "{text}");
    let drift = fit(&folder, "f.csv", &["--json"]).json()["drift"].clone();
    assert_eq!((&drift["rows"], &drift["target"]), (&60.into(), &serde_json::Value::Null));
}

#[test]
fn drift_of_the_target_given_the_inputs_is_reported() {
    let folder = Folder::new();
    let row = |row: u32| {
        let x = noise(3 * row);
        format!("{row},{x},{}\n", x + 0.2 * noise(3 * row + 1) + if row < 400 { 0.0 } else { 0.5 })
    };
    folder.write("f.csv", format!("no,x,y\n{}", (0..600).map(row).collect::<String>()));
    let text = fit(&folder, "f.csv", &["--time", "no"]).text();
    assert!(
        text.contains("against oldest tenth: the target is ") && text.contains(" sd higher given the inputs"),
        "{text}"
    );
    let drift = fit(&folder, "f.csv", &["--json"]).json()["drift"].clone();
    assert!(drift["target"].as_f64().unwrap() > 2.0 && drift["inputs"].as_array().unwrap().is_empty(), "{drift}");
}

#[test]
fn neighbours_in_time_with_errors_alike_are_warned_about() {
    let folder = Folder::new();
    // A season of 28 days that no calendar has: known neighbours tell it, what came before hardly.
    let row = |row: u32| {
        let (x, angle) = (noise(2 * row), f64::from(row % 28) / 28.0 * std::f64::consts::TAU);
        let (year, month, day) = (2015 + row / 336, row / 28 % 12 + 1, row % 28 + 1);
        format!("{year}-{month:02}-{day:02},{x:.4},{:.4}\n", 2.0 * angle.sin() + x + 0.5 * noise(2 * row + 1))
    };
    folder.write("f.csv", format!("day,x,y\n{}", (0..600).map(row).collect::<String>()));
    let warned = fit(&folder, "f.csv", &[]).err;
    assert!(warned.contains("the held-out scores are optimistic for newer rows"), "{warned}");
    assert!(warned.contains("to hold out the newest rows, use --time day"), "{warned}");
    assert!(!fit(&folder, "f.csv", &["--time", "day"]).err.contains("optimistic"));
}

#[test]
fn folds_of_compare_and_tune_are_predicted_from_the_past() {
    let folder = Folder::new();
    folder.write("walk.csv", days(0, 200, true));
    let crps = |options: &[&str]| {
        let fixed =
            ["compare", "walk.csv", "--target", "y", "--methods", "ngboost", "--set", "n-estimators=30", "--json"];
        let json = folder.done(&[&fixed[..], options].concat()).json();
        let entries = json["table"].as_array().unwrap();
        entries.iter().find(|entry| entry["metric"] == "crps").unwrap()["mean"].as_f64().unwrap()
    };
    assert!(crps(&["--time", "day"]) > 1.5 * crps(&[]));
    let tune = [
        "tune",
        "walk.csv",
        "--target",
        "y",
        "--methods",
        "ngboost",
        "--try",
        "n-estimators=5,20",
        "-o",
        "t",
        "--journal",
        "j",
    ];
    folder.done(&[&tune[..], &["--folds", "3", "--time", "day"]].concat());
    let random = "random splits would train on newer rows: use --folds K";
    folder.refused(&["compare", "walk.csv", "--target", "y", "--time", "day", "--repeats", "3"], 2, random);
}

#[test]
fn invalid_times_are_refused() {
    let folder = Folder::new();
    let refused = |text: &str, options: &[&str], code: i32, message: &str| {
        folder.write("f.csv", text);
        folder.refused(&[&["fit", "f.csv", "--target", "y", "-o", "m"], options].concat(), code, message);
    };
    let rows = |cells: [&str; 4]| {
        let lines = cells.iter().enumerate().map(|(row, cell)| format!("{cell},{row},{}\n", row * row));
        format!("when,x,y\n{}", lines.collect::<String>())
    };
    let time = ["--time", "when"];
    refused(&rows(["1", "2", "", "4"]), &time, 1, "f.csv, row 3, column \"when\": the time is missing");
    let same = "f.csv, column \"when\": the time is the same in every row, so that no row is newer than others";
    refused(&rows(["1", "1", "1", "1"]), &time, 1, same);
    let text = "f.csv, column \"when\": expected dates and times, or numbers; use --date when:FORMAT";
    refused(&rows(["a", "b", "c", "d"]), &time, 2, text);
    let absent = "f.csv: there is no column \"then\" (did you mean \"when\"?); the columns are \"when\", \"x\", \"y\"";
    refused(&rows(["1", "2", "3", "4"]), &["--time", "then"], 2, absent);
    refused(&rows(["1", "2", "3", "4"]), &["--time", "y"], 2, "f.csv: the target \"y\" cannot be the time too");
    let group = "f.csv: rows are held out either by time or by group: leave out one of them";
    refused(&rows(["1", "2", "3", "4"]), &["--time", "when", "--group", "x"], 2, group);
    refused(
        &rows(["1", "2", "3", "4"]),
        &["--sequence", "y", "--levels", "--time", "when"],
        2,
        "--time is for forecasts, which are made by auto without --levels and --window",
    );
}
