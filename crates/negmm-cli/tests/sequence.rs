//! Sequences on the command line: from a file of prices to the next one.

use crate::common;

use common::Folder;

fn series(rows: usize) -> String {
    let mut text = String::from("day,price,volume\n");
    for row in 0..rows {
        let noise = (row as f64 * 0.414_213_562_373).fract();
        let price = 20.0 + 5.0 * (row as f64 * 0.5).sin() + noise;
        text.push_str(&format!("d{row},{price},{noise}\n"));
    }
    text
}

const FIT: [&str; 18] = [
    "fit",
    "s.csv",
    "--method",
    "ne-gmm",
    "--target",
    "price",
    "--sequence",
    "price",
    "-o",
    "s.negmm",
    "--epochs",
    "3",
    "--lstm-hidden",
    "6",
    "--lstm-layers",
    "1",
    "--window",
    "7",
];

#[test]
fn the_next_step_is_predicted() {
    let folder = Folder::new();
    folder.write("s.csv", series(50));
    let text = folder.done(&FIT).text();
    assert!(
        text.starts_with("ne-gmm for \"price\" from 1 input over the 7 steps before it (7 features), 50 rows"),
        "{text}"
    );
    assert!(text.contains("LSTM of 1 layer of 6 units, hidden none"), "{text}");
    let out = folder.done(&["predict", "s.negmm", "s.csv", "--keep", "day,price"]).text();
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!((lines.len(), lines[0]), (1 + 44, "row,day,price,mean,sd"));
    assert!(lines[1].starts_with("8,d7,"), "{}", lines[1]);
    assert!(lines[43].starts_with("50,d49,"), "{}", lines[43]);
    assert!(lines[44].starts_with("51,,,"), "{}", lines[44]);
    let json = folder.done(&["predict", "s.negmm", "s.csv", "-o", "p.csv", "--json"]).json();
    assert_eq!(json["rows"], 44);
    assert_eq!(folder.done(&["evaluate", "s.negmm", "s.csv", "--json"]).json()["rows"], 43);
    let inspect = folder.done(&["inspect", "s.negmm"]).text();
    let hidden = inspect.lines().find_map(|line| line.trim().strip_prefix("lstm-hidden"));
    assert_eq!(hidden.map(str::trim), Some("6"), "{inspect}");
}

#[test]
fn a_config_file_gives_the_same_model() {
    let folder = Folder::new();
    folder.write("s.csv", series(50));
    folder.done(&FIT);
    let config = "method = \"ne-gmm\"\ntarget = \"price\"\nsequence = \"price\"\nwindow = 7\nepochs = 3\nlstm-hidden = 6\nlstm-layers = 1\n";
    folder.write("c.toml", config);
    folder.done(&["fit", "s.csv", "--config", "c.toml", "-o", "c.negmm"]);
    assert!(folder.read("c.negmm") == folder.read("s.negmm"));
}

#[test]
fn other_columns_join_and_hidden_layers_follow_the_lstm() {
    let folder = Folder::new();
    folder.write("s.csv", series(50));
    let more = [
        "--features",
        "price,volume",
        "--hidden",
        "5",
        "--method",
        "ensemble",
        "--ensemble-size",
        "2",
        "--member",
        "mdn",
    ];
    let fit: Vec<&str> = FIT.into_iter().filter(|word| !["--method", "ne-gmm"].contains(word)).collect();
    let text = folder.done(&[&fit[..], &more].concat()).text();
    assert!(text.contains("from 2 inputs over the 7 steps before it (14 features)"), "{text}");
    assert!(text.contains("hidden 5"), "{text}");
}

#[test]
fn compare_splits_a_sequence_in_time() {
    let folder = Folder::new();
    folder.write("s.csv", series(90));
    let compare = ["compare", "s.csv", "--target", "price", "--sequence", "price", "--window", "4"];
    let few = [
        "--folds",
        "2",
        "--set",
        "epochs=2",
        "--set",
        "steps=2",
        "--set",
        "lstm-hidden=4",
        "--set",
        "n-estimators=5",
        "--set",
        "ensemble-size=2",
    ];
    let text = folder.done(&[&compare[..], &few].concat()).text();
    assert!(text.contains("ngboost") && text.contains("2 splits"), "{text}");
    let repeats = [&compare[..], &["--repeats", "2"]].concat();
    folder.refused(&repeats, 2, "random splits of a sequence would train on the future: use --folds K");
}

#[test]
fn sequences_that_are_refused() {
    let folder = Folder::new();
    folder.write("s.csv", series(20));
    let fit = |more: &[&'static str]| [&["fit", "s.csv", "-o", "s.negmm", "--target", "price"], more].concat();
    let columns = "the columns are \"day\", \"price\", \"volume\"";
    folder.refused(
        &fit(&["--sequence", "prize", "--levels"]),
        2,
        &format!("s.csv: there is no column \"prize\" (did you mean \"price\"?); {columns}"),
    );
    let text = "s.csv, row 1, column \"day\": expected a number, found \"d0\"";
    folder.refused(&fit(&["--sequence", "day", "--window", "3"]), 1, text);
    folder.refused(&fit(&["--window", "3"]), 2, "--window is for sequences: add --sequence COL");
    folder.refused(&fit(&["--sequence", "price", "--window", "0"]), 2, "window must be from 1 to 10000, found 0");
    let half = "window must be a whole number, at least 0, found \"1.5\"";
    folder.refused(&fit(&["--sequence", "price", "--window", "1.5"]), 2, half);
    let short = "s.csv: a window of 30 steps needs at least 32 rows here, found 20";
    folder.refused(&fit(&["--sequence", "price", "--levels"]), 1, short);
    let adversarial = ["--sequence", "price", "--window", "3", "--method", "mdn", "--adversarial", "0.01"];
    let message = "adversarial training is not available for sequences or embeddings: leave adversarial at 0";
    folder.refused(&fit(&adversarial), 2, message);
    let units = "lstm-hidden must be from 1 to 16384 units, found 0";
    folder.refused(&fit(&["--sequence", "price", "--window", "3", "--lstm-hidden", "0"]), 2, units);
    folder.done(&FIT);
    folder.write("short.csv", series(5));
    let short = "short.csv: a window of 7 steps needs at least 7 rows here, found 5";
    folder.refused(&["predict", "s.negmm", "short.csv"], 1, short);
    folder.write("other.csv", "x\n1\n");
    let absent = "other.csv: there is no column \"price\"; the columns are \"x\"";
    folder.refused(&["predict", "s.negmm", "other.csv"], 1, absent);
}

#[test]
fn a_stock_price() {
    let Some(goog) = common::external::data("stocks/goog.csv") else { return };
    let (goog, folder) = (goog.to_str().unwrap(), Folder::new());
    let fit =
        ["fit", goog, "--target", "close", "--sequence", "close", "-o", "g.negmm", "--steps", "200", "--folds", "3"];
    folder.done(&[&fit[..], &["--lstm-hidden", "16", "--window", "30"]].concat());
    let scores = folder.done(&["evaluate", "g.negmm", goog, "--json"]).json();
    assert_eq!(scores["rows"], 1059);
    assert!(scores["crps"].as_f64().unwrap() < 6.0, "{scores}");
    let text = folder.done(&["predict", "g.negmm", goog, "--keep", "date"]).text();
    assert!(text.lines().nth(1).unwrap().starts_with("31,2019-01-17,"), "{text}");
    assert!(text.lines().last().unwrap().starts_with("1090,,"), "{text}");
}
