//! A forecaster behind `negmm serve`: the history of each series in, the forecasts of `negmm predict` out.
#![cfg(all(unix, feature = "serve"))]

use crate::common;

use common::Folder;
use common::server::Server;
use serde_json::{Value, json};

/// Days of two shops: id, when and y.
fn shops(days: usize) -> String {
    let mut text = String::from("id,when,y\n");
    for day in 0..days {
        for (shop, level) in [("a", 10.0), ("b", 40.0)] {
            let noise = (day as f64 * 0.618_033_988_75 + level).fract();
            let y = level + 3.0 * (day as f64 * std::f64::consts::TAU / 7.0).sin() + noise;
            text.push_str(&format!("{shop},2024-{:02}-{:02},{y:.4}\n", 1 + day / 28, 1 + day % 28));
        }
    }
    text
}

fn fitted() -> Folder {
    let folder = Folder::new();
    folder.write("shops.csv", shops(84));
    let fit = ["fit", "shops.csv", "--sequence", "y", "--time", "when", "--series", "id", "--horizon", "3"];
    folder.done(&[&fit[..], &["-o", "ok.negmm", "--hidden", "8", "--steps", "100"]].concat());
    folder
}

fn records(csv: &str) -> Value {
    let record = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        json!({"id": cells[0], "when": cells[1], "y": cells[2].parse::<f64>().unwrap()})
    };
    csv.lines().skip(1).map(record).collect()
}

#[test]
fn the_steps_ahead_are_those_of_predict() {
    let folder = fitted();
    let server = Server::start(&folder, &[]);
    let past = shops(60);
    folder.write("past.csv", &past);
    let sets = [&[][..], &["--conformal"]];
    for (query, more) in ["", "&conformal=true"].into_iter().zip(sets) {
        let ask = ["predict", "ok.negmm", "past.csv", "--interval", "0.9", "--quantiles", "0.5", "--quiet"];
        let expected = folder.done(&[&ask[..], more].concat()).text();
        assert!(
            expected.starts_with("id,when,step,mean,sd,q0.5,lower_0.9,upper_0.9\n") && expected.lines().count() == 7,
            "{expected}"
        );
        assert_eq!(server.csv(&format!("/invocations?interval=0.9&quantiles=0.5{query}"), &past).text(), expected);
        let body = json!({"dataframe_records": records(&past)});
        let answer = server.post(&format!("/invocations?interval=0.9&quantiles=0.5{query}"), &body).ok();
        let line = |row: &Value| {
            let text = |name: &str| row[name].as_str().unwrap().to_string();
            let number = |name: &str| row[name].as_f64().unwrap().to_string();
            let numbers = ["step", "mean", "sd", "q0.5", "lower_0.9", "upper_0.9"].map(number);
            format!("{},{},{}", text("id"), text("when"), numbers.join(","))
        };
        let lines: Vec<String> = answer["predictions"].as_array().unwrap().iter().map(line).collect();
        assert_eq!(lines, expected.lines().skip(1).collect::<Vec<_>>());
    }
    let tensor = |name: &str, datatype: &str| {
        let data: Vec<Value> = records(&past).as_array().unwrap().iter().map(|record| record[name].clone()).collect();
        json!({"name": name, "shape": [data.len()], "datatype": datatype, "data": data})
    };
    let inputs = [tensor("id", "BYTES"), tensor("when", "BYTES"), tensor("y", "FP64")];
    let answer = server.post("/v2/models/ok/infer", &json!({"inputs": inputs})).ok();
    let names: Vec<&Value> = answer["outputs"].as_array().unwrap().iter().map(|output| &output["name"]).collect();
    assert_eq!(names, ["id", "when", "step", "mean", "sd"]);
    let metadata = server.get("/v2/models/ok").ok();
    assert_eq!((&metadata["parameters"]["horizon"], &metadata["inputs"][2]["name"]), (&json!(3), &json!("y")));
}

#[test]
fn invalid_series_are_refused() {
    let folder = fitted();
    let server = Server::start(&folder, &["--max-answers", "50"]);
    let past = shops(20);
    let infer = "/invocations";
    server.csv(&format!("{infer}?novelty=true"), &past).refused(400, "no novelty");
    server.csv(&format!("{infer}?paths=3"), &past).refused(400, "\"paths\"");
    server.csv(&format!("{infer}?draws=20"), &past).refused(413, "3 steps of 2 series");
    server.csv(infer, "id,y\na,1\n").refused(400, "\"when\"");
    server.csv(infer, "id,when,y\na,2024-01-02,1\na,2024-01-01,2\n").refused(400, "sort the rows by time");
    server.csv(infer, "id,when,y\na,2024-01-02,\n").refused(400, "missing in every row");
    let packed = common::gzip(past.as_bytes());
    server.ask("POST", infer, &[("content-type", "text/csv")], &packed).refused(400, "plain text");
    // Daily steps from year 0 on.
    let far = (0..40).fold(String::from("id,when,y\n"), |text, shop| {
        text + &format!("{shop},1900-01-01,1\n{shop},2024-01-01,1\n{shop},2150-01-01,1\n")
    });
    server.csv(infer, &far).refused(400, "time steps");
    server.get("/v2/models/ok/inputs").refused(400, "a forecaster of series");
    server.post("/v2/models/ok/explore", &json!({"row": {"y": 1}})).refused(400, "a forecaster of series");
    server.csv("/v2/models/ok/observe", &past).refused(400, "a forecaster of series");
    assert_eq!(server.get("/metrics").status, 200);
    let outcome = folder.run(&["export", "ok.negmm", "-o", "ok.onnx"]);
    assert_eq!(outcome.code, Some(2), "{}", outcome.err);
    assert!(outcome.err.contains("forecasters cannot be exported"), "{}", outcome.err);
}
