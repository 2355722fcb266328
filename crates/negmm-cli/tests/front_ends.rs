//! The program, the server and the library give the same columns, types and text.

use crate::common;

use common::{Folder, rows};
use negmm::predict::ValueType;
use negmm::{Model, Query, Table};

/// The rows of `ok.csv` with a target of this size.
fn scaled(factor: f64) -> String {
    let text = rows(60);
    let line = |line: &str| match line.rsplit_once(',') {
        Some((before, y)) => y.parse::<f64>().map_or(line.to_string(), |y| format!("{before},{}", factor * y)) + "\n",
        None => format!("{line}\n"),
    };
    text.lines().map(line).collect()
}

/// A model of zeros and positive values as `m.negmm`, and its data as `d.csv`.
fn with_zeros(method: &str) -> Folder {
    let folder = Folder::new();
    let line = |row: usize| {
        let x = (row as f64 * 0.618_033_988_75).fract();
        let y = if row.is_multiple_of(3) { 0.0 } else { 1.0 + x + (row as f64 * 0.414_213_562_37).fract() };
        format!("{x:.4},{y:.4}\n")
    };
    folder.write("d.csv", (0..240).fold(String::from("x,y\n"), |text, row| text + &line(row)));
    folder.fit("d.csv", "m.negmm", &["--method", method]);
    folder
}

fn numbers(text: &str, name: &str) -> Vec<f64> {
    let mut lines = text.lines();
    let at = lines.next().unwrap().split(',').position(|other| other == name).unwrap();
    lines.map(|line| line.split(',').nth(at).unwrap().parse().unwrap()).collect()
}

const PAIRS: [(&str, &str); 4] = [("interval", "0.9"), ("region", "0.8"), ("above", "1e29"), ("draws", "2")];
const OPTIONS: [&str; 8] = ["--interval", "0.9", "--region", "0.8", "--above", "1e29", "--draws", "2"];

#[test]
fn the_library_writes_what_the_program_writes() {
    let folder = Folder::new();
    folder.write("large.csv", scaled(1e29));
    folder.fit("large.csv", "ok.negmm", &[]);
    let predict = [&["predict", "ok.negmm", "large.csv"], &OPTIONS[..]].concat();
    let csv = folder.done(&predict).text();
    assert!(csv.lines().nth(1).unwrap().split(',').next().unwrap().contains("e2"), "{csv}");
    let model = Model::load(folder.path("ok.negmm")).unwrap();
    let predictions = model.predict(&Table::read(folder.path("large.csv")).unwrap()).unwrap();
    let query = Query::from_pairs(PAIRS).unwrap();
    let columns = query.columns(&predictions, 0).unwrap();
    assert_eq!(String::from_utf8(columns.to_csv().unwrap()).unwrap(), csv);
    let json = folder.done(&[&predict[..], &["--json"]].concat()).text();
    assert_eq!(String::from_utf8(columns.to_json_lines().unwrap()).unwrap(), json);
    assert_eq!(query.fields(&model).unwrap(), columns.fields());
    assert_eq!(columns.column("region_0.8").unwrap().field().value_type, ValueType::Text);
}

#[cfg(all(unix, feature = "serve"))]
#[test]
fn the_server_writes_what_the_program_writes() {
    let folder = Folder::new();
    folder.write("large.csv", scaled(1e29));
    folder.fit("large.csv", "ok.negmm", &[]);
    let server = common::server::Server::start(&folder, &[]);
    let address = "/invocations?interval=0.9&region=0.8&above=1e29&draws=2";
    let predict = [&["predict", "ok.negmm", "large.csv"], &OPTIONS[..]].concat();
    let csv = folder.done(&predict).text();
    assert_eq!(server.csv(address, &scaled(1e29)).text(), csv);
    let lines = folder.done(&[&predict[..], &["--json"]].concat()).text();
    let headers = [("content-type", "text/csv"), ("accept", "application/json")];
    let records = server.ask("POST", address, &headers, scaled(1e29).as_bytes()).text();
    assert_eq!(records, format!("{{\"predictions\":[{}]}}", lines.trim_end().replace('\n', ",")));
    // What is missing is null in every JSON.
    let far = server.csv("/invocations?novelty=true", "x,c\n0.5,a\n").text();
    assert!(far.ends_with(",0.0,\n"), "{far}");
    let body = serde_json::json!({"instances": [{"x": 0.5, "c": "a"}], "params": {"novelty": true}});
    assert!(server.post("/invocations", &body).ok()["predictions"][0]["novelty_input"].is_null());
}

#[test]
fn below_is_strict_so_that_the_three_probabilities_sum_to_1() {
    for method in ["ne-gmm", "sample-net"] {
        let folder = with_zeros(method);
        let ask = ["predict", "m.negmm", "d.csv", "--below", "0,1.5", "--equal", "0,1.5", "--above", "0,1.5"];
        let text = folder.done(&ask).text();
        for value in ["0", "1.5"] {
            let [below, equal, above] =
                ["below", "equal", "above"].map(|which| numbers(&text, &format!("p_{which}_{value}")));
            for row in 0..below.len() {
                let sum = below[row] + equal[row] + above[row];
                assert!((sum - 1.0).abs() < 1e-12, "{method} {value} {row}: {sum}");
            }
        }
        if method != "sample-net" {
            assert!(numbers(&text, "p_equal_0").iter().all(|equal| *equal > 0.05), "{method}: {text}");
            assert!(numbers(&text, "p_below_0").iter().all(|below| *below < 0.05), "{method}: {text}");
        }
    }
}

#[test]
fn a_name_that_the_output_has_already_is_an_error_that_names_both_columns() {
    let folder = Folder::with_model();
    folder.write("mean.csv", "x,c,mean\n1,a,7\n");
    folder.refused(
        &["predict", "ok.negmm", "mean.csv", "--keep", "mean"],
        2,
        "two columns of the output would be called \"mean\": the kept column and the predicted mean",
    );
    let steps = (1..=80).fold(String::from("step,y\n"), |text, step| text + &format!("{step},{}\n", (step * 7) % 11));
    folder.write("steps.csv", steps);
    let fit = ["fit", "steps.csv", "--sequence", "y", "--time", "step", "--horizon", "3", "-o", "f.negmm"];
    folder.done(&[&fit[..], &["--hidden", "8", "--steps", "50"]].concat());
    // A time column that is called as the step ahead is.
    assert!(folder.done(&["predict", "f.negmm", "steps.csv"]).text().starts_with("step,step_ahead,mean,sd\n"));
    let backtest = folder.done(&["predict", "f.negmm", "steps.csv", "--test-size", "6"]).text();
    assert!(backtest.starts_with("origin,step,step_ahead,mean,sd\n"), "{backtest}");
    // An aggregate has no column of steps.
    assert!(folder.done(&["predict", "f.negmm", "steps.csv", "--over", "sum"]).text().starts_with("step,mean,sd\n"));
    let numbered = (1..=40).fold(String::from("row,y\n"), |text, row| text + &format!("{row},{}\n", (row * 7) % 11));
    folder.write("numbered.csv", numbered);
    folder.fit("numbered.csv", "s.negmm", &["--sequence", "y", "--window", "3", "--ignore", "row"]);
    folder.refused(
        &["predict", "s.negmm", "numbered.csv", "--keep", "row"],
        2,
        "two columns of the output would be called \"row\": the number of the row and the kept column",
    );
}

#[test]
fn former_names_are_accepted_with_a_notice() {
    let folder = Folder::with_model();
    let present = folder.done(&["predict", "ok.negmm", "ok.csv", "--equal", "0", "-q"]);
    let former = folder.done(&["predict", "ok.negmm", "ok.csv", "--mass", "0"]);
    assert_eq!(former.text(), present.text());
    assert_eq!(present.err, "");
    assert!(former.err.contains("--mass is now called --equal"), "{}", former.err);
    folder.done(&["calibrate", "ok.negmm", "ok.csv", "-o", "ok.negmm"]);
    let ask = ["predict", "ok.negmm", "ok.csv", "--interval", "0.8", "--guaranteed"];
    let outcome = folder.done(&ask);
    assert!(outcome.err.contains("--guaranteed is now called --conformal"), "{}", outcome.err);
}

#[cfg(all(unix, feature = "serve"))]
#[test]
fn a_response_warns_of_former_names_of_parameters() {
    let folder = Folder::with_model();
    let server = common::server::Server::start(&folder, &[]);
    let reply = server.csv("/invocations?mass=0", "x,c\n0.5,a\n");
    assert!(reply.head.contains("warning: 299 - \"mass is now called equal\""), "{}", reply.head);
    assert!(reply.text().starts_with("mean,sd,p_equal_0\n"));
    let reply = server.csv("/invocations?equal=0", "x,c\n0.5,a\n");
    assert!(!reply.head.contains("warning"), "{}", reply.head);
}
