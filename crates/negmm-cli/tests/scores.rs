//! Scores of new rows: beside the baseline, by groups, of intervals; and what is said of rows that are not new.

use crate::common;

use common::{Folder, rows};

const ONE: [&str; 4] = ["--method", "ngboost", "--n-estimators", "30"];

/// A folder with a model of the first 200 of 300 rows, and the others.
fn fitted() -> Folder {
    let folder = Folder::new();
    let text = rows(300);
    let lines: Vec<&str> = text.lines().collect();
    folder.write("train.csv", lines[..=200].join("\n"));
    folder.write("new.csv", [&lines[..1], &lines[201..]].concat().join("\n"));
    folder.done(&[&["fit", "train.csv", "--target", "y", "-o", "m"], &ONE[..]].concat());
    folder
}

#[test]
fn scores_are_beside_those_of_the_baseline() {
    let folder = fitted();
    let json = folder.done(&["evaluate", "m", "new.csv", "--json"]).json();
    let number = |pointer: &str| json.pointer(pointer).unwrap().as_f64().unwrap();
    let skill = 1.0 - number("/crps") / number("/baseline/crps");
    assert!((number("/skill/value") - skill).abs() < 1e-12 && skill > 0.1, "{json}");
    assert!((0.01..0.2).contains(&number("/skill/se")), "{json}");
    assert_eq!((&json["outside"], &json["training_rows"]), (&0.into(), &0.into()));
    let text = folder.done(&["evaluate", "m", "new.csv"]).text();
    assert!(text.contains("CRPS") && text.contains("skill") && text.contains(" ± 0.0"), "{text}");
    let fit = folder.done(&[&["fit", "train.csv", "--target", "y", "-o", "n", "--json"], &ONE[..]].concat()).json();
    assert!(fit["skill"]["se"].as_f64().unwrap() > 0.0, "{fit}");
}

#[test]
fn rows_outside_the_ranges_and_new_categories_are_reported() {
    let folder = fitted();
    folder.write("odd.csv", "x,c,y\n5,a,1\n0.5,z,1\n0.5,a,1\n");
    let outcome = folder.done(&["evaluate", "m", "odd.csv"]);
    assert!(outcome.err.contains("column \"c\": 1 cell holds a category never seen in training"), "{}", outcome.err);
    assert!(outcome.err.contains("2 of 3 rows lie outside the ranges of training"), "{}", outcome.err);
}

#[test]
fn rows_that_were_learnt_from_are_reported() {
    let folder = fitted();
    let sentence = "200 of 200 rows were in the training data: these scores are not of new rows";
    assert!(folder.done(&["evaluate", "m", "train.csv"]).err.contains(sentence));
    assert_eq!(folder.done(&["evaluate", "m", "train.csv", "--json"]).json()["training_rows"], 200);
    // Some are.
    let (old, new) = (String::from_utf8(folder.read("train.csv")).unwrap(), folder.read("new.csv"));
    let new = String::from_utf8(new).unwrap();
    let some: Vec<&str> = new.lines().chain(old.lines().skip(1).take(12)).collect();
    folder.write("some.csv", some.join("\n"));
    assert!(folder.done(&["evaluate", "m", "some.csv"]).err.contains("12 of 112 rows were in the training data: "));
    let calibrated = folder.done(&["calibrate", "m", "train.csv", "-o", "c"]).err;
    let sentence = "coverage is guaranteed only if the model has not seen the calibration rows";
    assert!(calibrated.contains(&format!("200 of 200 rows were in the training data: {sentence}")), "{calibrated}");
    let monitored = folder.run(&["monitor", "m", "--data", "train.csv"]).err;
    assert!(monitored.contains("the calibration of new rows is not known from them"), "{monitored}");
    for arguments in [
        &["evaluate", "m", "new.csv"][..],
        &["calibrate", "m", "new.csv", "-o", "c"],
        &["monitor", "m", "--data", "new.csv"],
    ] {
        assert!(!folder.run(arguments).err.contains("training data"), "{arguments:?}");
    }
}

#[test]
fn monitor_counts_no_row_twice() {
    let folder = fitted();
    let monitor = ["monitor", "m", "--data", "new.csv", "--state", "s", "--json"];
    let once = folder.run(&monitor);
    let twice = folder.run(&monitor);
    assert_eq!(once.json()["rows"], 100);
    assert_eq!(twice.json()["rows"], once.json()["rows"]);
    assert!(twice.err.contains("100 rows were counted before and are left out"), "{}", twice.err);
    let all = String::from_utf8(folder.read("new.csv")).unwrap();
    folder.write("more.csv", format!("{all}\n0.25,a,0.9\n"));
    let more = folder.run(&["monitor", "m", "--data", "more.csv", "--state", "s", "--json"]);
    assert_eq!(more.json()["rows"], 101);
}

#[test]
fn intervals_alone_have_scores() {
    let folder = Folder::new();
    let lines = |from: u32, to: u32| {
        let row = |row: u32| {
            let x = f64::from(row * 7 % 40) / 10.0;
            format!("{x},{},{}\n", x.floor(), x.floor() + 1.0)
        };
        format!("x,y,upper\n{}", (from..to).map(row).collect::<String>())
    };
    folder.write("f.csv", lines(0, 120));
    folder.write("new.csv", lines(120, 160));
    let fit =
        ["fit", "f.csv", "--target", "y", "--target-upper", "upper", "-o", "m", "--preset", "fast", "--steps", "100"];
    let text = folder.done(&fit).text();
    assert!(text.contains("Brier, integrated") && text.contains("no target is observed"), "{text}");
    let json = folder.done(&["evaluate", "m", "new.csv", "--json"]).json();
    assert_eq!(
        (&json["rows"], &json["censored"]["rows"], &json["crps"]),
        (&0.into(), &40.into(), &serde_json::Value::Null)
    );
    let nll = |value: &serde_json::Value| value["censored"]["nll"].as_f64().unwrap();
    assert!(nll(&json) < nll(&json["baseline"]), "{json}");
    let text = folder.done(&["evaluate", "m", "new.csv"]).text();
    assert!(text.starts_with("40 rows") && text.contains("PIT"), "{text}");
}

#[test]
fn scores_by_group_name_the_group_that_is_off() {
    let folder = fitted();
    // The targets of one site are shifted.
    let lines: Vec<String> = rows(900)
        .lines()
        .enumerate()
        .map(|(at, line)| match (at, at % 3) {
            (0, _) => format!("{line},site"),
            (_, 1) => {
                let (inputs, y) = line.rsplit_once(',').unwrap();
                format!("{inputs},{},north", y.parse::<f64>().unwrap() + 2.0)
            }
            (_, 2) => format!("{line},south"),
            _ => format!("{line},"),
        })
        .collect();
    folder.write("sites.csv", lines.join("\n"));
    let text = folder.done(&["evaluate", "m", "sites.csv", "--by", "site", "--quiet"]).text();
    let line = |name: &str| text.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("{text}"));
    assert!(line("north").contains("300") && line("north").contains('*'), "{text}");
    assert!(text.contains("* site \"north\": 95 % intervals cover ") && text.contains("which is not chance"), "{text}");
    assert!(line("(missing)").contains("300"));
    let json = folder.done(&["evaluate", "m", "sites.csv", "--by", "x", "--json"]).json();
    let groups = json["by"]["groups"].as_array().unwrap();
    assert_eq!((groups.len(), &json["by"]["column"]), (5, &"x".into()));
    assert!(groups[0]["group"].as_str().unwrap().starts_with("below 0."));
    let absent = "sites.csv: there is no column \"nowhere\"; the columns are \"x\", \"c\", \"y\", \"site\"";
    folder.refused(&["evaluate", "m", "sites.csv", "--by", "nowhere"], 2, absent);
}

#[test]
fn calibration_towards_other_inputs_covers_them() {
    let folder = Folder::new();
    // The noise grows with x, and the model does not know it: a constant. New rows have larger x.
    let noise = |row: u32| {
        let mixed = row.wrapping_add(1).wrapping_mul(2_654_435_761);
        let mixed = (mixed ^ (mixed >> 15)).wrapping_mul(2_246_822_519);
        f64::from((mixed ^ (mixed >> 13)).wrapping_mul(3_266_489_917) >> 8) / 16_777_216.0 - 0.5
    };
    let lines = |rows: std::ops::Range<u32>, shifted: bool| {
        let row = |row: u32| {
            let u = noise(2 * row) + 0.5;
            let x = if shifted { u.sqrt() } else { 1.0 - u.sqrt() };
            format!("{x:.5},{:.5}\n", (0.2 + 2.0 * x) * noise(2 * row + 1))
        };
        format!("x,y\n{}", rows.map(row).collect::<String>())
    };
    folder.write("train.csv", lines(0..400, false));
    folder.write("calibration.csv", lines(400..2400, false));
    folder.write("new.csv", lines(5000..7000, true));
    folder.done(&["fit", "train.csv", "--target", "y", "-o", "m", "--method", "constant"]);
    let covered = |model: &str| {
        let arguments = ["predict", model, "new.csv", "--conformal", "--interval", "0.9", "--keep", "y", "-o", "-"];
        let text = folder.done(&arguments).text();
        let header: Vec<&str> = text.lines().next().unwrap().split(',').collect();
        let at = |name: &str| header.iter().position(|own| *own == name).unwrap_or_else(|| panic!("{header:?}"));
        let (y, lower, upper) = (at("y"), at("lower_0.9"), at("upper_0.9"));
        let inside = |line: &str| {
            let cells: Vec<f64> = line.split(',').map(|cell| cell.parse().unwrap_or(f64::NAN)).collect();
            cells[lower] <= cells[y] && cells[y] <= cells[upper]
        };
        text.lines().skip(1).filter(|line| inside(line)).count() as f64 / 2000.0
    };
    folder.done(&["calibrate", "m", "calibration.csv", "-o", "plain"]);
    let text = folder.done(&["calibrate", "m", "calibration.csv", "--towards", "new.csv", "-o", "shifted"]).text();
    assert!(
        text.contains("weights are estimated from the inputs") && text.contains("if the weights are right"),
        "{text}"
    );
    let (plain, shifted) = (covered("plain"), covered("shifted"));
    assert!(plain < 0.8 && (0.87..0.94).contains(&shifted), "{plain} {shifted}");
    let few = "weights towards other inputs need at least 20 rows of each file, found 2000 and 3";
    folder.write("few.csv", lines(0..3, true));
    folder.refused(&["calibrate", "m", "calibration.csv", "--towards", "few.csv", "-o", "x"], 1, few);
}
