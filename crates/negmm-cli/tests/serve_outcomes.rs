//! Reporting outcomes to `negmm serve`: observed targets in, the state of the monitor out.
#![cfg(all(unix, feature = "serve"))]

use crate::common;

use common::server::Server;
use common::{Folder, rows};
use serde_json::{Value, json};

const OBSERVE: &str = "/v2/models/ok/observe";

/// Rows of x, c and y as CSV, with y drawn from the model's predictions and shifted by some sds.
fn drawn(folder: &Folder, count: usize, shift: f64) -> String {
    folder.write("inputs.csv", rows(count));
    let draw = ["predict", "ok.negmm", "inputs.csv", "--draws", "1", "--keep", "x,c", "--seed", "5"];
    let text = folder.done(&draw).text();
    let line = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        let [sd, y] = [3, 4].map(|at| cells[at].parse::<f64>().unwrap());
        format!("{},{},{}\n", cells[0], cells[1], y + shift * sd)
    };
    text.lines().skip(1).fold(String::from("x,c,y\n"), |all, row| all + &line(row))
}

/// The same rows as JSON.
fn instances(csv: &str) -> Value {
    let instance = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        let [x, y] = [0, 2].map(|at| cells[at].parse::<f64>().unwrap());
        json!({"x": x, "c": cells[1], "y": y})
    };
    json!({"instances": csv.lines().skip(1).map(instance).collect::<Vec<_>>()})
}

fn gauge(server: &Server, name: &str) -> f64 {
    let text = server.get("/metrics");
    let text = String::from_utf8(text.body).unwrap();
    let line = text.lines().find(|line| line.starts_with(&format!("{name}{{model=\"ok\"}}")));
    line.unwrap_or_else(|| panic!("{name}: {text}")).split(' ').nth(1).unwrap().parse().unwrap()
}

#[test]
fn the_alarm_is_that_of_monitor() {
    let folder = Folder::with_model();
    let server = Server::start(&folder, &[]);
    assert_eq!(server.get(OBSERVE).ok()["rows"], 0);
    assert_eq!((gauge(&server, "negmm_observed_rows"), gauge(&server, "negmm_calibration_alarm")), (0.0, 0.0));

    // Outcomes follow the predictions: no alarm. As JSON, in two requests.
    let good = drawn(&folder, 600, 0.0);
    let lines: Vec<&str> = good.lines().collect();
    for part in [&lines[1..301], &lines[301..]] {
        let verdict = server.post(OBSERVE, &instances(&format!("x,c,y\n{}\n", part.join("\n")))).ok();
        assert_eq!(verdict["alarm"], Value::Null, "{verdict}");
    }
    folder.write("good.csv", &good);
    let watched = folder.done(&["monitor", "ok.negmm", "--data", "good.csv", "--json"]).json();
    let verdict = server.get(OBSERVE).ok();
    for name in ["rows", "evidence", "highest_evidence", "coverage", "crps", "constant_crps", "score_mean", "score_sd"]
    {
        assert_eq!(verdict[name], watched[name], "{name}");
    }
    assert_eq!((gauge(&server, "negmm_observed_rows"), gauge(&server, "negmm_calibration_alarm")), (600.0, 0.0));

    // Then they are shifted by an sd. As CSV.
    let bad = drawn(&folder, 300, 1.0);
    let verdict = server.csv(OBSERVE, &bad).ok();
    folder.write("all.csv", good + bad.split_once('\n').unwrap().1);
    let watched = folder.run(&["monitor", "ok.negmm", "--data", "all.csv", "--json"]);
    assert_eq!(watched.code, Some(3));
    let watched = watched.json();
    assert_eq!((&verdict["alarm"]["row"], &verdict["alarm"]["since"]), (&watched["alarm_row"], &watched["since"]));
    assert_eq!((&verdict["evidence"], &verdict["rows"]), (&watched["evidence"], &900.into()));
    assert_eq!(server.get(OBSERVE).ok(), verdict);
    assert_eq!((gauge(&server, "negmm_observed_rows"), gauge(&server, "negmm_calibration_alarm")), (900.0, 1.0));
    assert_eq!(gauge(&server, "negmm_calibration_evidence"), verdict["evidence"].as_f64().unwrap());
}

#[test]
fn invalid_outcomes_are_refused_and_change_nothing() {
    let folder = Folder::with_model();
    let server = Server::start(&folder, &["--max-rows", "3"]);
    let one = |y: &Value| json!({"instances": [{"x": 0.5, "c": "a", "y": y}]});
    server.post("/v2/models/other/observe", &one(&json!(1))).refused(404, "there is no model \"other\"");
    server.ask("POST", OBSERVE, &[], b"{").refused(400, "not a JSON object");
    server.post(OBSERVE, &json!({"rows": []})).refused(400, "\"rows\"");
    server.post(OBSERVE, &json!({"instances": []})).refused(400, "no row");
    server.post(OBSERVE, &json!({"instances": [{"x": 0.5, "c": "a"}]})).refused(400, "\"y\"");
    server.post(OBSERVE, &json!({"instances": [{"c": "a", "y": 1}]})).refused(400, "\"x\"");
    server.post(OBSERVE, &one(&Value::Null)).refused(400, "\"y\"");
    server.post(OBSERVE, &one(&json!("much"))).refused(400, "\"y\"");
    server
        .post(OBSERVE, &json!({"instances": [{"x": 0.5, "y": 1}], "params": {"alpha": 0.5}}))
        .refused(400, "\"alpha\"");
    let many: Vec<Value> = (0..4).map(|y| json!({"x": 0.5, "c": "a", "y": y})).collect();
    server.post(OBSERVE, &json!({"instances": many})).refused(413, "3 rows at most");
    server.csv(OBSERVE, "x,c,y\n0,a,1\n0,a,1\n0,a,1\n0,a,1\n").refused(413, "3 rows at most");
    server.csv(OBSERVE, "x,c,y\n").refused(400, "row");
    server.csv(OBSERVE, "x,c\n0.5,a\n").refused(400, "\"y\"");
    let packed = common::gzip(b"x,c,y\n0.5,a,1\n");
    server.ask("POST", OBSERVE, &[("content-type", "text/csv")], &packed).refused(400, "plain text");
    server.ask("POST", OBSERVE, &[("content-type", "text/plain")], b"x").refused(415, "text/plain");
    assert_eq!(server.get(OBSERVE).ok()["rows"], 0);
    assert_eq!(server.post(OBSERVE, &one(&json!(1.5))).ok()["rows"], 1);
}

#[test]
fn sequences_are_not_monitored() {
    let folder = Folder::new();
    let text = (0..60).fold(String::from("y\n"), |text, row| text + &format!("{}\n", (f64::from(row) * 0.5).sin()));
    folder.write("s.csv", &text);
    folder.fit("s.csv", "ok.negmm", &["--sequence", "y", "--window", "5"]);
    let server = Server::start(&folder, &[]);
    server.csv(OBSERVE, &text).refused(400, "independent rows");
}
