//! Conformal prediction sets of `negmm serve` are those of `negmm predict`.
#![cfg(all(unix, feature = "serve"))]

use crate::common;

use common::server::Server;
use common::{Folder, rows};
use serde_json::{Value, json};

const NEW: &str = "x,c\n0.5,a\n0.25,b\n0.75,z\n";
const QUERY: &str = "conformal=true&interval=0.9&region=0.8";

/// A folder with `calibration.csv`, and `ok.negmm` calibrated on it.
fn calibrated(more: &[&str]) -> Folder {
    let folder = Folder::with_model();
    folder.write("calibration.csv", rows(300));
    folder.done(&[&["calibrate", "ok.negmm", "calibration.csv", "-o", "ok.negmm"], more].concat());
    folder
}

/// The output of `negmm predict` for CSV rows.
fn predicted(folder: &Folder, csv: &str) -> String {
    folder.write("new.csv", csv);
    let sets = ["--interval", "0.9", "--region", "0.8", "--conformal", "--quiet"];
    folder.done(&[&["predict", "ok.negmm", "new.csv"], &sets[..]].concat()).text()
}

/// The numbers of a CSV column; null where they are not finite, as in JSON.
fn column(text: &str, name: &str) -> Value {
    let mut lines = text.lines();
    let at = lines.next().unwrap().split(',').position(|other| other == name).unwrap();
    let number = |line: &str| line.split(',').nth(at).unwrap().parse::<f64>().unwrap();
    lines.map(|line| json!(number(line))).collect()
}

fn ask(server: &Server, instances: &Value) -> Value {
    let body = json!({"instances": instances, "params": {"conformal": true, "interval": 0.9, "region": 0.8}});
    server.post("/invocations", &body).ok()["predictions"].clone()
}

fn each(answers: &Value, name: &str) -> Value {
    answers.as_array().unwrap().iter().map(|answer| answer[name].clone()).collect()
}

#[test]
fn the_server_gives_the_sets_of_predict() {
    let folder = calibrated(&[]);
    let server = Server::start(&folder, &[]);
    let expected = predicted(&folder, NEW);
    assert_eq!(server.csv(&format!("/invocations?{QUERY}"), NEW).text(), expected);
    let instances = json!([{"x": 0.5, "c": "a"}, {"x": 0.25, "c": "b"}, {"x": 0.75, "c": "z"}]);
    let answers = ask(&server, &instances);
    for name in ["lower_0.9", "upper_0.9"] {
        assert_eq!(each(&answers, name), column(&expected, name));
    }
    let plain = server.csv("/invocations?interval=0.9", NEW).text();
    assert_ne!(column(&plain, "upper_0.9"), column(&expected, "upper_0.9"));
    server.csv("/invocations?conformal=true", NEW).refused(400, "name a coverage");
}

#[test]
fn an_uncalibrated_model_names_calibrate() {
    let folder = Folder::with_model();
    let server = Server::start(&folder, &[]);
    server.csv(&format!("/invocations?{QUERY}"), NEW).refused(400, "calibrate the model with rows");
}

#[test]
fn groups_are_a_column_of_the_rows() {
    let folder = calibrated(&["--by", "c"]);
    let server = Server::start(&folder, &[]);
    let expected = predicted(&folder, NEW);
    assert_eq!(server.csv(&format!("/invocations?{QUERY}"), NEW).text(), expected);
    let instances = json!([{"x": 0.5, "c": "a"}, {"x": 0.25, "c": " b"}, {"x": 0.75, "c": "z"}]);
    let answers = ask(&server, &instances);
    assert_eq!(each(&answers, "lower_0.9"), column(&expected, "lower_0.9"));
    // Sets of an uncalibrated group are unbounded.
    assert_eq!((&answers[2]["upper_0.9"], &answers[2]["region_0.8"]), (&Value::Null, &json!("[-inf,inf]")));
    // Without conformal sets the column is not needed.
    server.post("/invocations", &json!({"instances": [{"x": 0.5, "c": "a"}]})).ok();
}

#[test]
fn a_group_column_that_is_not_an_input_is_required() {
    let folder = Folder::new();
    let with_site = |count: usize| {
        let text = rows(count);
        let mut lines = text.lines().enumerate();
        let head = format!("{},site\n", lines.next().unwrap().1);
        lines.fold(head, |all, (row, line)| all + &format!("{line},{}\n", row % 2))
    };
    folder.write("ok.csv", with_site(60));
    folder.write("calibration.csv", with_site(300));
    folder.fit("ok.csv", "ok.negmm", &["--ignore", "site"]);
    folder.done(&["calibrate", "ok.negmm", "calibration.csv", "-o", "ok.negmm", "--by", "site"]);
    let server = Server::start(&folder, &[]);
    let expected = predicted(&folder, "x,c,site\n0.5,a,0\n0.25,b,1\n");
    let answers = ask(&server, &json!([{"x": 0.5, "c": "a", "site": 0}, {"x": 0.25, "c": "b", "site": "1"}]));
    assert_eq!(each(&answers, "upper_0.9"), column(&expected, "upper_0.9"));
    assert_ne!(answers[0]["upper_0.9"], Value::Null);
    let body = json!({"instances": [{"x": 0.5, "c": "a"}], "params": {"conformal": true, "interval": 0.9}});
    server.post("/invocations", &body).refused(400, "column \"site\"");
    server.csv(&format!("/invocations?{QUERY}"), NEW).refused(400, "\"site\"");
}

#[test]
fn weights_are_a_column_of_the_rows() {
    let folder = calibrated(&["--weight", "x"]);
    let server = Server::start(&folder, &[]);
    let expected = predicted(&folder, NEW);
    assert_eq!(server.csv(&format!("/invocations?{QUERY}"), NEW).text(), expected);
    let instances = json!([{"x": 0.5, "c": "a"}, {"x": 0.25, "c": "b"}, {"x": 0.75, "c": "z"}]);
    assert_eq!(each(&ask(&server, &instances), "upper_0.9"), column(&expected, "upper_0.9"));
    let body = json!({"instances": [{"x": -0.5, "c": "a"}], "params": {"conformal": true, "interval": 0.9}});
    server.post("/invocations", &body).refused(400, "column \"x\"");
}

#[test]
fn sets_of_a_sequence_adapt() {
    let folder = Folder::new();
    let price = |row: usize| 20.0 + 5.0 * (row as f64 * 0.5).sin() + (row as f64 * 0.414_213_562_373).fract();
    let text = (0..120).fold(String::from("y\n"), |text, row| text + &format!("{}\n", price(row)));
    folder.write("s.csv", &text);
    folder.fit("s.csv", "ok.negmm", &["--sequence", "y", "--window", "5"]);
    let server = Server::start(&folder, &[]);
    let expected = predicted(&folder, &text);
    assert_eq!(server.csv(&format!("/invocations?{QUERY}"), &text).text(), expected);
    let instances: Value = (0..120).map(|row| json!({"y": price(row)})).collect();
    assert_eq!(each(&ask(&server, &instances), "upper_0.9"), column(&expected, "upper_0.9"));
}
