//! `negmm serve` over a real socket: responses, errors, reloading of models, and shutdown.
#![cfg(all(unix, feature = "serve"))]

use crate::common;

use std::io::Write;
use std::net::TcpStream;

use common::Folder;
use common::server::{Reply, Server};
use serde_json::{Value, json};

fn tensors(x: &[f64], c: &[Option<&str>], parameters: &Value) -> Value {
    json!({"id": "7", "parameters": parameters, "inputs": [
        {"name": "x", "shape": [x.len()], "datatype": "FP64", "data": x},
        {"name": "c", "shape": [c.len(), 1], "datatype": "BYTES", "data": c},
    ]})
}

/// The output of `negmm predict`, by column.
fn predicted(folder: &Folder, csv: &str, options: &[&str]) -> Vec<(String, Vec<f64>)> {
    folder.write("new.csv", csv);
    let text = folder.done(&[&["predict", "ok.negmm", "new.csv"], options].concat()).text();
    let mut lines = text.lines().map(|line| line.split(',').map(String::from).collect::<Vec<_>>());
    let names = lines.next().unwrap();
    let cells: Vec<Vec<String>> = lines.collect();
    let column = |at: usize| cells.iter().map(|row| row[at].parse().unwrap()).collect();
    names.into_iter().enumerate().map(|(at, name)| (name, column(at))).collect()
}

#[test]
fn every_format_has_the_predictions_of_predict() {
    let folder = Folder::with_model();
    let server = Server::start(&folder, &[]);
    let expected = predicted(&folder, "x,c\n0.25,a\n0.5,\n", &["--interval", "0.9", "--above", "1"]);
    let parameters = json!({"interval": 0.9, "above": [1]});

    let answer = server.post("/v2/models/ok/infer", &tensors(&[0.25, 0.5], &[Some("a"), None], &parameters)).ok();
    assert_eq!((&answer["model_name"], &answer["id"]), (&json!("ok"), &json!("7")));
    for ((name, numbers), output) in expected.iter().zip(answer["outputs"].as_array().unwrap()) {
        assert_eq!(*output, json!({"name": name, "shape": [2], "datatype": "FP64", "data": numbers}));
    }

    let rows = json!([{"x": 0.25, "c": "a", "more": 1}, {"x": 0.5}]);
    let bodies = [
        json!({"dataframe_records": rows, "params": parameters}),
        json!({"instances": rows, "params": parameters}),
        json!({"inputs": {"x": [0.25, 0.5], "c": ["a", null]}, "params": parameters}),
        json!({"dataframe_split": {"columns": ["x", "c"], "data": [[0.25, "a"], [0.5, null]]}, "params": parameters}),
    ];
    for body in bodies {
        let answer = server.post("/invocations", &body).ok();
        for (row, record) in answer["predictions"].as_array().unwrap().iter().enumerate() {
            let own: serde_json::Map<String, Value> =
                expected.iter().map(|(name, numbers)| (name.clone(), json!(numbers[row]))).collect();
            assert_eq!(*record, Value::Object(own));
        }
    }

    let csv = server.ask(
        "POST",
        "/invocations?model=ok&interval=0.9&above=1",
        &[("content-type", "text/csv")],
        b"x,c\n0.25,a\n0.5,\n",
    );
    assert_eq!(csv.status, 200);
    let text = folder.done(&["predict", "ok.negmm", "new.csv", "--interval", "0.9", "--above", "1"]).text();
    assert_eq!(String::from_utf8(csv.body).unwrap(), text);
    assert!(csv.head.contains("content-type: text/csv"));
}

#[test]
fn metadata_and_health_endpoints() {
    let folder = Folder::with_model();
    let server = Server::start(&folder, &[]);
    assert_eq!(server.get("/v2/health/live").ok(), json!({"live": true}));
    assert_eq!(server.get("/v2/health/ready").ok(), json!({"ready": true}));
    assert_eq!(server.get("/v2").ok()["name"], "negmm");
    assert_eq!(server.get("/v2/models").ok(), json!({"models": ["ok"]}));
    assert_eq!(server.get("/v2/models/ok/ready").ok()["ready"], true);
    let metadata = server.get("/v2/models/ok").ok();
    let inputs: Vec<(&str, &str)> = (metadata["inputs"].as_array().unwrap().iter())
        .map(|input| (input["name"].as_str().unwrap(), input["datatype"].as_str().unwrap()))
        .collect();
    assert_eq!(inputs, [("x", "FP64"), ("c", "BYTES")]);
    assert_eq!(server.get("/ping").status, 200);
    // Every endpoint of the description exists.
    let description = server.get("/openapi.json").ok();
    for (path, methods) in description["paths"].as_object().unwrap() {
        let path = path.replace("{model}", "ok");
        let method = if methods.get("get").is_some() { "GET" } else { "POST" };
        let status = server.ask(method, &path, &[], b"{}").status;
        assert!(status == 200 || method == "POST" && status == 400, "{method} {path}: {status}");
    }
    let page = server.get("/");
    assert!(page.head.contains("default-src 'none'") && page.head.contains("text/html"), "{}", page.head);
    let metrics = String::from_utf8(server.get("/metrics").body).unwrap();
    assert!(metrics.contains("negmm_requests_total{route=\"/v2/models\",status=\"200\"} 2"), "{metrics}");
    assert!(metrics.contains("negmm_in_flight 1"), "{metrics}");
}

#[test]
fn explore_describes_one_row() {
    let folder = Folder::with_model();
    let server = Server::start(&folder, &[]);
    let inputs = server.get("/v2/models/ok/inputs").ok();
    assert_eq!(inputs["inputs"][1]["levels"], json!(["b", "a"]));
    let answer = server.post("/v2/models/ok/explore", &json!({"row": {"x": 0.25, "c": "a"}})).ok();
    let expected = predicted(&folder, "x,c\n0.25,a\n", &["--quantiles", "0.5"]);
    assert_eq!((&answer["mean"], &answer["quantiles"][3]), (&json!(expected[0].1[0]), &json!([0.5, expected[2].1[0]])));
    assert_eq!(answer["effects"].as_array().unwrap().len(), 2);
    assert!(answer["curve"].as_array().unwrap().len() > 100);
    let [low, high] = [0, 1].map(|end| answer["regions"][1][1][0][end].as_f64().unwrap());
    assert!(low < expected[0].1[0] && expected[0].1[0] < high);
    let outside = server.post("/v2/models/ok/explore", &json!({"row": {"x": 50}})).ok();
    assert!(outside["novelty"].as_f64().unwrap() > 10.0 && outside["novelty_input"] == "x", "{}", outside["novelty"]);
    server.post("/v2/models/ok/explore", &json!({"x": 50})).refused(400, "row");
}

#[test]
fn explanations_are_those_of_the_program() {
    let folder = Folder::with_model();
    let server = Server::start(&folder, &[]);
    let path = "/v2/models/ok/explain";
    folder.write("new.csv", "x,c\n0.25,a\n0.5,\n");
    let text = folder.done(&["explain", "ok.negmm", "new.csv", "--of", "sd,q0.9", "-o", "-", "--json"]).text();
    let rows = json!([{"x": 0.25, "c": "a"}, {"x": 0.5}]);
    let answer = server.post(path, &json!({"rows": rows, "of": "sd,q0.9"})).ok();
    assert_eq!(
        (&answer["columns"], &answer["exact"], &answer["background"]),
        (&json!(["x", "c"]), &json!(true), &json!(32))
    );
    for (line, row) in text.lines().zip(answer["rows"].as_array().unwrap()) {
        let expected: Value = serde_json::from_str(line).unwrap();
        for (at, name) in ["sd", "q0.9"].into_iter().enumerate() {
            let own = &row["answers"][at];
            let column = |column: &str| expected[format!("{name}[{column}]")].clone();
            assert_eq!(
                (&own["answer"], &own["value"], &own["base"]),
                (&json!(name), &expected[name], &expected[format!("{name}_base")])
            );
            assert_eq!(own["contributions"], json!([column("x"), column("c")]));
        }
    }
    let one = server.post(path, &json!({"row": {"x": 0.25, "c": "a"}, "top": 1})).ok();
    assert_eq!(one["rows"][0]["answers"][1]["contributions"], answer["rows"][0]["answers"][0]["contributions"]);
    let sentence = one["rows"][0]["answers"][1]["sentence"].as_str().unwrap();
    assert!(sentence.starts_with("sd ") && sentence.contains(" is usual: "), "{sentence}");
    assert!(one["rows"][0]["verdict"].is_null());

    let refused = |body: Value, status: u16, message: &str| server.post(path, &body).refused(status, message);
    refused(json!({"x": 1}), 400, "expected {\"row\": {column: value, …}}");
    refused(json!({"row": {"x": 1}, "rows": []}), 400, "either");
    refused(json!({"rows": []}), 400, "no rows");
    refused(json!({"row": {"x": 1}, "of": "median"}), 400, "there is no answer \"median\"");
    refused(json!({"row": {"x": 1}, "of": "crps"}), 400, "needs targets");
    refused(json!({"row": {"x": 1}, "of": "epistemic"}), 400, "several members");
    refused(json!({"row": {"x": 1}, "permutations": 0}), 400, "must be from 1 to 1000");
    refused(json!({"row": {"x": [1]}}), 400, "column \"x\"");
    let many: Vec<Value> = (0..9999).map(|_| json!({"x": 1})).collect();
    refused(json!({"rows": many, "permutations": 100}), 413, "predictions");
    let small = Server::start(&folder, &["--max-rows", "1", "--max-answers", "10"]);
    small.post(path, &json!({"rows": rows})).refused(413, "1 rows at most");
    small.post(path, &json!({"row": {"x": 1}})).refused(413, "10 numbers");
    folder.fit("ok.csv", "bare.negmm", &["--background", "0"]);
    let bare = Server::of(&folder, &["bare.negmm"]);
    bare.post("/v2/models/bare/explain", &json!({"row": {"x": 1}}))
        .refused(400, "fit it again, with --background above 0");
}

#[test]
fn invalid_requests_are_refused_in_one_sentence() {
    let folder = Folder::with_model();
    let server = Server::start(&folder, &["--max-rows", "3", "--max-body", "2000", "--max-answers", "50"]);
    let infer = "/v2/models/ok/infer";
    let good = tensors(&[1.0], &[Some("a")], &json!({}));
    server.post(infer, &good).ok();
    server.get("/nothing").refused(404, "/openapi.json");
    server.get(infer).refused(405, "another method");
    server.post("/v2/models/other/infer", &good).refused(404, "there is no model \"other\"; there are ok");
    server.post("/v2/models/..%2f..%2fetc%2fpasswd/infer", &good).refused(404, "there is no model");
    server.ask("POST", infer, &[("content-type", "text/plain")], b"x").refused(415, "text/plain");
    server.ask("POST", infer, &[], b"{").refused(400, "not a request of the Open Inference Protocol");
    server.post("/invocations", &json!({"rows": []})).refused(400, "\"rows\"");
    let many = tensors(&[1.0; 4], &[Some("a"); 4], &json!({}));
    server.post(infer, &many).refused(413, "3 rows at most");
    server.post(infer, &tensors(&[1.0], &[Some("a")], &json!({"draws": 1000}))).refused(413, "50 numbers");
    server.ask("POST", infer, &[], &[b' '; 4000]).refused(413, "2000 bytes");
    server.post(infer, &tensors(&[1.0], &[], &json!({}))).refused(400, "column \"c\"");
    server.post(infer, &tensors(&[], &[], &json!({}))).refused(400, "no row");
    server.post(infer, &tensors(&[1.0], &[Some("a")], &json!({"interval": 2}))).refused(400, "between 0 and 1");
    server.post(infer, &tensors(&[1.0], &[Some("a")], &json!({"confidence": 0.9}))).refused(400, "\"confidence\"");
    let mut wanted = good.clone();
    wanted["outputs"] = json!([{"name": "median"}]);
    server.post(infer, &wanted).refused(400, "there is no output \"median\"; there are mean, sd");
    let only = json!({"inputs": [{"name": "x", "shape": [1], "datatype": "FP64", "data": [1.0]}]});
    server.post(infer, &only).refused(400, "\"c\"");
    let text = json!({"inputs": [{"name": "x", "shape": [1], "datatype": "FP64", "data": ["1.0"]}]});
    server.post(infer, &text).refused(400, "cell 0 is not of type FP64");
    server.post("/invocations", &json!({"instances": [{"x": "much", "c": "a"}]})).refused(400, "column \"x\"");
    server
        .ask("POST", infer, &[("content-type", "application/vnd.apache.arrow.stream")], b"no arrow")
        .refused(400, "not a valid Arrow stream");
    folder.refused(
        &["serve", "ok.negmm", "ok.negmm"],
        2,
        "ok.negmm: a model of the same name is served from ok.negmm: rename one",
    );
    folder.refused(&["serve", "none.negmm"], 1, "none.negmm: there is no such file or folder");
    folder.refused(
        &["serve", "ok.negmm", "--timeout", "20"],
        2,
        "timeout must be above 0 and below drain, so that every request is answered: found 20 and 15 seconds",
    );
}

#[test]
fn a_token_is_required() {
    let folder = Folder::with_model();
    folder.write("token", "s3cret\n");
    let server = Server::start(&folder, &["--token-file", "token"]);
    assert_eq!(server.get("/v2/health/ready").status, 200);
    assert_eq!(server.get("/").status, 200);
    let refused = server.get("/v2/models");
    refused.refused(401, "Bearer");
    assert!(refused.head.contains("www-authenticate: bearer"));
    server.ask("GET", "/metrics", &[("authorization", "Bearer s3creT")], b"").refused(401, "Bearer");
    assert_eq!(server.ask("GET", "/v2/models", &[("authorization", "Bearer s3cret")], b"").status, 200);
}

#[test]
fn models_are_reloaded_and_a_broken_file_leaves_the_old_one() {
    let folder = Folder::with_model();
    let server = Server::start(&folder, &[]);
    let body = tensors(&[0.25], &[Some("a")], &json!({}));
    let mean = || server.post("/v2/models/ok/infer", &body).ok()["outputs"][0]["data"][0].as_f64().unwrap();
    let reloaded = |count: usize, failed: usize| {
        let expected = [format!("negmm_reloads_total {count}\n"), format!("negmm_failed_reloads_total {failed}\n")];
        common::wait_until("models are loaded again", || {
            let metrics = server.get("/metrics").text();
            expected.iter().all(|line| metrics.contains(line))
        });
    };
    let first = mean();
    folder.write("ok.negmm", "broken");
    server.signal("-HUP");
    reloaded(1, 1);
    assert_eq!(mean(), first);
    folder.fit("ok.csv", "ok.negmm", &["--seed", "5"]);
    server.signal("-HUP");
    reloaded(2, 1);
    assert_ne!(mean(), first);
}

#[test]
fn requests_beyond_the_limit_are_refused_and_the_others_answered() {
    let folder = Folder::with_model();
    let server = Server::start(&folder, &["--max-requests", "2", "--timeout", "300", "--drain", "600"]);
    let body = tensors(&[0.25], &[Some("a")], &json!({})).to_string();
    // Two requests are in flight: header and half of the body are sent.
    let half = || {
        let mut stream = TcpStream::connect(server.address).unwrap();
        let head = format!(
            "POST /v2/models/ok/infer HTTP/1.1\r\nhost: test\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(&body.as_bytes()[..10]).unwrap();
        stream
    };
    let (mut first, second) = (half(), half());
    server.wait_for_requests(2);
    let refused = server.post("/v2/models/ok/infer", &serde_json::from_str(&body).unwrap());
    refused.refused(503, "too many");
    assert!(refused.head.contains("retry-after: 1"), "{}", refused.head);
    assert_eq!(server.get("/v2/health/ready").status, 200);
    first.write_all(&body.as_bytes()[10..]).unwrap();
    Reply::read(first).ok();
    server.post("/v2/models/ok/infer", &serde_json::from_str(&body).unwrap()).ok();
    drop(second);
}

#[test]
fn an_unfinished_request_times_out() {
    let folder = Folder::with_model();
    let server = Server::start(&folder, &["--timeout", "0.2"]);
    let mut stream = TcpStream::connect(server.address).unwrap();
    let head = "POST /v2/models/ok/infer HTTP/1.1\r\nhost: test\r\nconnection: close\r\ncontent-length: 100\r\n\r\n{";
    stream.write_all(head.as_bytes()).unwrap();
    Reply::read(stream).refused(503, "within 0.2 seconds");
}

#[test]
fn concurrent_requests_get_their_own_predictions() {
    let folder = Folder::with_model();
    let server = Server::start(&folder, &[]);
    let inputs: Vec<f64> = (0..200).map(|at| f64::from(at) / 200.0).collect();
    let csv: String = inputs.iter().map(|x| format!("{x},b\n")).collect();
    let expected = predicted(&folder, &format!("x,c\n{csv}"), &["--draws", "2"]);
    let first_draws = |x: f64| predicted(&folder, &format!("x,c\n{x},b\n"), &["--draws", "2"])[2].1[0];
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let (server, inputs, expected) = (&server, &inputs, &expected);
            scope.spawn(move || {
                for at in (thread..200).step_by(8) {
                    // Every tenth is rejected, and no other.
                    let parameters = if at % 10 == 3 { json!({"interval": 7}) } else { json!({"draws": 2}) };
                    let reply = server.post("/v2/models/ok/infer", &tensors(&[inputs[at]], &[Some("b")], &parameters));
                    match at % 10 {
                        3 => reply.refused(400, "interval"),
                        _ => assert_eq!(reply.ok()["outputs"][0]["data"], json!([expected[0].1[at]])),
                    }
                }
            });
        }
    });
    let alone = server.post("/v2/models/ok/infer", &tensors(&[inputs[9]], &[Some("b")], &json!({"draws": 2}))).ok();
    assert_eq!(alone["outputs"][2]["data"], json!([first_draws(inputs[9])]));
}

#[test]
fn shutdown_completes_the_requests_in_flight() {
    let folder = Folder::with_model();
    let mut server = Server::start(&folder, &["--timeout", "300", "--drain", "600"]);
    let body = tensors(&[0.25], &[Some("a")], &json!({})).to_string();
    let mut stream = TcpStream::connect(server.address).unwrap();
    let head = format!("POST /v2/models/ok/infer HTTP/1.1\r\nhost: test\r\ncontent-length: {}\r\n\r\n", body.len());
    stream.write_all(head.as_bytes()).unwrap();
    server.wait_for_requests(1);
    server.signal("-TERM");
    common::wait_until("nobody else is let in", || TcpStream::connect(server.address).is_err());
    assert!(server.child.try_wait().unwrap().is_none(), "a request is under way");
    stream.write_all(body.as_bytes()).unwrap();
    Reply::read(stream).ok();
    assert_eq!(server.child.wait().unwrap().code(), Some(0));
}

#[test]
fn models_of_several_targets_are_served_with_their_questions() {
    let folder = Folder::new();
    let rows: String = (0..60).map(|row| format!("{},{},{}\n", row % 20, row * 37 % 101, row * 53 % 97)).collect();
    folder.write("ok.csv", format!("x,a,b\n{rows}"));
    folder.done(&["fit", "ok.csv", "--target", "a,b", "--method", "ne-gmm", "--epochs", "2", "-o", "m.negmm"]);
    folder.done(&["calibrate", "m.negmm", "ok.csv", "-o", "ok.negmm"]);
    let server = Server::start(&folder, &[]);
    let flags = ["--combine", "s = a + b", "--given", "a", "--quantiles", "0.5", "--box", "b > 3"];
    let refused = predicted_text(&folder, "x,a\n3,4\n5,50\n", &["--given", "a", "--combine", "s = a + b"]);
    assert!(refused.contains("is not a target"), "{refused}");
    let flags = [&["--combine", "s = 2 b"], &flags[2..]].concat();
    let expected = predicted(&folder, "x,a\n3,4\n5,50\n", &flags);
    let parameters = json!({"combine": ["s = 2 b"], "given": "a", "quantiles": 0.5, "box": "b > 3"});
    let answer = server
        .post("/invocations", &json!({"instances": [{"x": 3, "a": 4}, {"x": 5, "a": 50}], "params": parameters}))
        .ok();
    for (row, record) in answer["predictions"].as_array().unwrap().iter().enumerate() {
        let own: serde_json::Map<String, Value> =
            expected.iter().map(|(name, numbers)| (name.clone(), json!(numbers[row]))).collect();
        assert_eq!(*record, Value::Object(own));
    }
    let regions = json!({"joint_region": 0.9, "ellipsoid": [0.8], "conformal": true, "correlation": true});
    let answer = server.post("/invocations", &json!({"instances": [{"x": 3}], "params": regions})).ok();
    let record = &answer["predictions"][0];
    assert!(record["ellipsoid_0.8_distance"].as_f64().unwrap() > 0.0 && record["correlation_a_b"].is_number());
    let asked =
        |parameters: Value| server.post("/invocations", &json!({"instances": [{"x": 3}], "params": parameters}));
    asked(json!({"given": "a"})).refused(400, "which is asked for");
    asked(json!({"combine": "s = a + q"})).refused(400, "is not a target");
    asked(json!({"conformal": true, "interval": 0.9})).refused(400, "leave out the intervals");
    asked(json!({"boxes": "a > 1"})).refused(400, "there is no parameter");
    let observed = server.csv("/v2/models/ok/observe", "x,a,b\n3,4,5\n5,50,2\n").ok();
    assert_eq!((&observed["rows"], observed["parts"].as_array().unwrap().len()), (&json!(2), 6));
    assert!(server.get("/metrics").text().contains("negmm_observed_rows{model=\"ok\"} 2"));
}

/// The sentence of a refused `negmm predict`.
fn predicted_text(folder: &Folder, csv: &str, options: &[&str]) -> String {
    folder.write("new.csv", csv);
    folder.run(&[&["predict", "ok.negmm", "new.csv"], options].concat()).err
}
