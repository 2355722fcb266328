//! Commands of the program: unusual data, config files, seeds, machine-readable output.

use crate::common;

use common::{Folder, gzip, rows};
use serde_json::Value;

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

/// The cells of one column of a CSV text without quotes.
fn column(text: &str, name: &str) -> Vec<f64> {
    let mut lines = text.lines();
    let at = lines.next().unwrap().split(',').position(|other| other == name).unwrap();
    lines.map(|line| line.split(',').nth(at).unwrap().parse().unwrap()).collect()
}

#[test]
fn rows_that_are_all_the_same() {
    let folder = Folder::new();
    folder.write("two.csv", "x,y\n1,2\n1,2\n");
    let outcome = folder.fit("two.csv", "m", &[]);
    let warnings = "warning: column \"x\" is the same in every row and not used\n\
        warning: the target \"y\" is 2 in every row: every prediction will be that, with a tiny sd\n\
        warning: no input column varies: every row will get the same prediction\n";
    assert!(outcome.err.starts_with(warnings), "{}", outcome.err);
    assert_eq!(folder.fit("two.csv", "m", &["--quiet"]).err, "");
    let text = folder.done(&["predict", "m", "two.csv"]).text();
    assert!(column(&text, "mean").iter().all(|mean| (mean - 2.0).abs() < 1e-4), "{text}");
    assert!(column(&text, "sd").iter().all(|sd| *sd > 0.0 && *sd < 1e-4), "{text}");
}

#[test]
fn columns_without_information_are_named() {
    let folder = Folder::new();
    folder.write("d.csv", "x,none,same,y\n1,,s,2\n2,NA,s,5\n3,,s,4\n");
    let outcome = folder.fit("d.csv", "m", &[]);
    let warnings = "warning: column \"none\" is missing in every row and not used\n\
        warning: column \"same\" is the same in every row and not used\n";
    assert!(outcome.err.starts_with(warnings), "{}", outcome.err);
    assert!(outcome.text().starts_with("ne-gmm for \"y\" from 3 inputs (1 feature), 3 rows\n"), "{}", outcome.text());
    folder.done(&["evaluate", "m", "d.csv"]);
}

#[test]
fn outliers() {
    let folder = Folder::new();
    for (name, data) in [("x", rows(59) + "1e30,a,1\n"), ("y", rows(59) + "0.5,a,1e30\n")] {
        folder.write("d.csv", data);
        let outcome = folder.fit("d.csv", "m", &[]);
        let warning = format!(
            "warning: row 60, column \"{name}\": 1e30 is so far from all other rows that they hardly differ beside it\n"
        );
        assert!(outcome.err.starts_with(&warning), "{}", outcome.err);
        let text = folder.done(&["predict", "m", "d.csv", "--interval", "0.9"]).text();
        for name in ["mean", "sd", "lower_0.9", "upper_0.9"] {
            assert!(column(&text, name).iter().all(|number| number.is_finite()), "{text}");
        }
        let scores = folder.done(&["evaluate", "m", "d.csv", "--json"]).json();
        assert!(scores["crps"].is_number() && scores["rmse"].is_number(), "{scores}");
    }
}

#[test]
fn quotes_and_new_lines_in_cells() {
    let folder = Folder::new();
    folder.write("d.csv", "\"x, in m\",\"the \"\"t\"\"\",y\n1,\"a,\n\"\"b\"\"\",2\n3,d,4\n4,d,5\n");
    folder.fit("d.csv", "m", &["--features", "\"x, in m\",\"the \"\"t\"\"\""]);
    let outcome = folder.done(&["predict", "m", "d.csv", "--keep", "\"the \"\"t\"\"\",\"x, in m\""]);
    assert_eq!(outcome.err, "");
    assert!(
        outcome.text().starts_with("\"the \"\"t\"\"\",\"x, in m\",mean,sd\n\"a,\n\"\"b\"\"\",1,"),
        "{}",
        outcome.text()
    );
    folder.write("c.toml", "target = 'y'\nignore = ['x, in m']\n");
    let fit = folder.done(&["fit", "d.csv", "-o", "m", "--config", "c.toml", "--steps", "2", "--json"]).json();
    assert_eq!(fit["features"], 2);
}

#[test]
fn flags_take_precedence_over_the_config_file() {
    let folder = Folder::new();
    folder.write("ok.csv", rows(60));
    folder.write(
        "c.toml",
        "target = \"y\"\nmethod = \"mdn\"\nhidden = [8, 8]\nfeatures = [\"x\", \"c\"]\nepochs = 9\nseed = 3\nthreads = 1\nsigma-max = \"none\"\n",
    );
    folder.done(&["fit", "ok.csv", "-o", "file", "--config", "c.toml", "--epochs", "2"]);
    let flags = ["--target", "y", "--method", "mdn", "--hidden", "8,8", "--epochs", "2", "--seed", "3"];
    folder.done(&[&["fit", "ok.csv", "-o", "flags"], &flags[..]].concat());
    assert_eq!(folder.read("file"), folder.read("flags"));
    let about = folder.done(&["inspect", "file", "--json"]).json();
    assert_eq!(about["method"]["epochs"], 2);
    assert_eq!(about["method"]["hidden"], serde_json::json!([8, 8]));
    assert_eq!(about["record"]["seed"], 3);
}

#[test]
fn the_same_seed_writes_the_same_file() {
    let folder = Folder::with_model();
    let first = folder.read("ok.negmm");
    for (more, same) in [
        (&["--threads", "1"][..], true),
        (&["--threads", "2"], true),
        (&["--quiet", "--json"], true),
        (&["--seed", "1"], false),
    ] {
        folder.fit("ok.csv", "again.negmm", more);
        assert_eq!(folder.read("again.negmm") == first, same, "{more:?}");
    }
    folder.write("ok.csv.gz", gzip(&folder.read("ok.csv")));
    folder.fit("ok.csv.gz", "again.negmm", &[]);
    assert_eq!(folder.read("again.negmm"), first);
    let fit = ["fit", "-", "--target", "y", "-o", "-", "--epochs", "3", "--hidden", "4", "--method", "ne-gmm"];
    let piped = folder.run_with_input(&fit, &folder.read("ok.csv"));
    assert_eq!(piped.out, first);
    assert!(piped.err.contains("ne-gmm for \"y\" from 2 inputs (3 features), 60 rows\n"), "{}", piped.err);
}

#[test]
fn machine_readable_output() {
    let folder = Folder::with_model();
    let scores = ["coverage", "crps", "mae", "nll", "pit", "rmse", "rows", "width"];
    let evaluate = folder.done(&["evaluate", "ok.negmm", "ok.csv", "--json"]).json();
    let more = ["baseline", "outside", "skill", "training_rows"];
    let mut expected: Vec<&str> = scores.iter().chain(&more).copied().collect();
    expected.sort_unstable();
    assert_eq!(keys(&evaluate), expected);
    assert_eq!(keys(&evaluate["baseline"]), scores);
    assert_eq!(evaluate["rows"], 60);
    assert_eq!(keys(&evaluate["coverage"]), ["0.5", "0.9", "0.95"]);
    assert_eq!(evaluate["pit"].as_array().unwrap().len(), 20);
    let fit = folder.fit("ok.csv", "m", &["--json"]).json();
    let expected = [
        "baseline",
        "best_epoch",
        "columns",
        "epochs",
        "features",
        "method",
        "model",
        "parameters",
        "pool_crps",
        "rows",
        "seconds",
        "skill",
        "validation",
    ];
    assert_eq!(keys(&fit), expected);
    assert_eq!(keys(&fit["validation"]), scores);
    assert_eq!((&fit["method"], &fit["rows"], &fit["model"]), (&"ne-gmm".into(), &60.into(), &"m".into()));
    let inspect = folder.done(&["inspect", "ok.negmm", "--json"]).json();
    assert_eq!(inspect["target"]["name"], "y");
    assert_eq!(inspect["features"], serde_json::json!(["x", "c=b", "c=a"]));
    let predict = folder.done(&["predict", "ok.negmm", "ok.csv", "-o", "p.csv", "--json"]).json();
    assert_eq!(predict, serde_json::json!({"rows": 60, "columns": ["mean", "sd"], "output": "p.csv", "outside": 0}));
}

/// The text with one space between words.
fn squeezed(text: &str) -> String {
    text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ") + "\n").collect()
}

#[test]
fn human_readable_output() {
    let folder = Folder::with_model();
    let evaluate = folder.done(&["evaluate", "ok.negmm", "ok.csv"]).text();
    assert!(evaluate.starts_with("60 rows, target \"y\"\n") && evaluate.contains("\nconstant "), "{evaluate}");
    let inspect = folder.done(&["inspect", "ok.negmm"]).text();
    assert!(squeezed(&inspect).contains("\nhidden 4\n"), "{inspect}");
    assert!(inspect.contains("\n  c  text, 2 categories: b, a\n"), "{inspect}");
    assert!(inspect.contains("\n3 epochs, best epoch "), "{inspect}");
}

#[test]
fn the_default_is_auto() {
    let folder = Folder::new();
    folder.write("ok.csv", rows(60));
    let fit =
        ["fit", "ok.csv", "--target", "y", "-o", "a.negmm", "--preset", "fast", "--steps", "60", "--held-out", "h.csv"];
    let text = folder.done(&fit).text();
    assert!(text.starts_with("auto for \"y\" from 2 inputs"), "{text}");
    assert!(text.contains("trained 12 networks in "), "{text}");
    assert!(
        text.contains("held-out scores on 60 rows, each predicted by models that were not trained on it (the pool is usually better):\n"),
        "{text}"
    );
    // Where two models of each kind have not seen a row, the CRPS of all is known.
    let fit =
        ["fit", "ok.csv", "--target", "y", "-o", "b.negmm", "--n-repeats", "2", "--steps", "60", "--linear", "false"];
    let fitted = folder.done(&[&fit[..], &["--json"]].concat()).json();
    let (pool, printed) = (fitted["pool_crps"].as_f64().unwrap(), fitted["validation"]["crps"].as_f64().unwrap());
    assert!(0.8 * printed < pool && pool < printed, "{pool} {printed}");
    assert!(folder.done(&["inspect", "b.negmm"]).text().contains("(the pool of all models: CRPS "));
    let held_out = String::from_utf8(folder.read("h.csv")).unwrap();
    let lines: Vec<&str> = held_out.lines().collect();
    assert_eq!((lines.len(), lines[0]), (61, "row,target,mean,sd,lower_0.95,upper_0.95,pit"));
    assert!((1..=60).all(|row| lines[row].starts_with(&format!("{row},"))), "{held_out}");
    let inspect = folder.done(&["inspect", "a.negmm"]).text();
    for words in ["folds 5", "hidden 64,64,64,64", "steps 60", "12 networks, best checkpoint at check"] {
        assert!(squeezed(&inspect).contains(words), "{words}: {inspect}");
    }
    let predict = folder.done(&["predict", "a.negmm", "ok.csv", "--parts"]).text();
    assert!(
        predict.starts_with("mean,sd,variance_within,variance_between,variance_aleatoric,variance_epistemic\n"),
        "{predict}"
    );
    folder.refused(
        &["fit", "ok.csv", "--target", "y", "-o", "b", "--held-out", "ok.csv"],
        2,
        "the held-out predictions would replace the data in ok.csv: use another --held-out FILE",
    );
}

#[test]
fn the_demo_shows_and_saves() {
    let folder = Folder::new();
    let outcome = folder.done(&["demo", "--save", "d"]);
    let text = outcome.text();
    assert!(text.starts_with("toy2: ") && text.contains("\nauto ") && text.contains('█'), "{text}");
    assert!(text.ends_with("wrote toy2.csv, toy2-test.csv, toy2.negmm and toy2.html to d\n"), "{text}");
    folder.fit("d/toy2.csv", "m", &[]);
    let scores = folder.done(&["evaluate", "d/toy2.negmm", "d/toy2-test.csv", "--json"]).json();
    assert_eq!(scores["rows"], 300);
    let predictions = folder.done(&["predict", "d/toy2.negmm", "d/toy2-test.csv"]).text();
    assert_eq!(predictions.lines().count(), 301);
    let json = folder.done(&["demo", "toy1", "--json"]).json();
    assert_eq!(json["toy"], "toy1");
    assert!(json["auto"]["crps"].as_f64() < json["constant"]["crps"].as_f64(), "{json}");
    let page = |path: &str| std::fs::read_to_string(path).unwrap();
    assert!(page(json["report"].as_str().unwrap()).starts_with("<!doctype html>"));
    let text = folder.done(&["demo"]).text();
    let (_, path) = text.trim_end().rsplit_once("report with more plots: ").unwrap();
    assert!(page(path) == String::from_utf8(folder.read("d/toy2.html")).unwrap());
}

#[test]
fn help_and_version() {
    let folder = Folder::new();
    assert!(folder.done(&["--version"]).text().starts_with("negmm "));
    for command in [&["--help"][..], &["fit", "--help"], &["predict", "-h"], &["demo", "-h"], &["help", "inspect"]] {
        let outcome = folder.done(command);
        assert!(outcome.text().contains("Usage: negmm") && outcome.err.is_empty(), "{command:?}");
    }
    // Without arguments: the help, on standard error.
    let outcome = folder.run(&[]);
    assert_eq!((outcome.code, outcome.out.len()), (Some(2), 0));
    assert!(outcome.err.contains("Usage: negmm"));
}

#[test]
fn the_order_of_settings_does_not_matter() {
    let folder = Folder::new();
    folder.write("ok.csv", rows(60));
    let fit = ["fit", "ok.csv", "--target", "y", "--method", "ne-gmm", "--epochs", "2", "--hidden", "4"];
    let flags = ["-o", "flags", "--sigma-min", "0.0001", "--sigma-max", "0.0005"];
    folder.done(&[&fit[..], &flags].concat());
    for text in ["sigma-min = 0.0001\nsigma-max = 0.0005\n", "sigma-max = 0.0005\nsigma-min = 0.0001\n"] {
        folder.write("c.toml", text);
        folder.done(&[&fit[..], &["-o", "file", "--config", "c.toml"]].concat());
        assert_eq!(folder.read("file"), folder.read("flags"));
    }
    let compare = ["compare", "ok.csv", "--target", "y", "--methods", "ensemble", "--folds", "2", "--json"];
    let small = ["--set", "epochs=2", "--set", "ensemble-size=2", "--set", "hidden=4"];
    let scores = |settings: [&str; 2]| {
        let more = ["--set", settings[0], "--set", settings[1]];
        let table = folder.done(&[&compare[..], &small, &more].concat()).json()["table"].clone();
        let entries = table.as_array().unwrap().iter().filter(|entry| entry["metric"] != "seconds").cloned();
        entries.collect::<Vec<_>>()
    };
    assert_eq!(scores(["eta=0.5", "member=ne-gmm"]), scores(["member=ne-gmm", "eta=0.5"]));
}
