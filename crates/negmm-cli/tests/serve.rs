//! `negmm serve` over a real socket: what it answers, what it refuses, models that are loaded again, and its end.
#![cfg(all(unix, feature = "serve"))]

mod program;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use program::Folder;
use serde_json::{Value, json};

/// A server that ends with the test.
struct Server {
    child: Child,
    address: SocketAddr,
}

impl Server {
    fn start(folder: &Folder, more: &[&str]) -> Self {
        let mut arguments = vec!["serve", "ok.negmm", "--address", "127.0.0.1:0", "--json"];
        arguments.extend(more);
        let mut child = folder.command(&arguments).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let said: Value = serde_json::from_str(&line).unwrap_or_else(|_| {
            let mut text = String::new();
            child.stderr.take().unwrap().read_to_string(&mut text).unwrap();
            panic!("{line:?} {text}")
        });
        // What it tells must not fill the pipe.
        let mut told = child.stderr.take().unwrap();
        std::thread::spawn(move || std::io::copy(&mut told, &mut std::io::sink()));
        Self { child, address: said["address"].as_str().unwrap().parse().unwrap() }
    }

    fn signal(&self, signal: &str) {
        assert!(Command::new("kill").args([signal, &self.child.id().to_string()]).status().unwrap().success());
    }

    fn get(&self, path: &str) -> Reply {
        self.ask("GET", path, &[], b"")
    }

    fn post(&self, path: &str, body: &Value) -> Reply {
        self.ask("POST", path, &[("content-type", "application/json")], body.to_string().as_bytes())
    }

    fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Reply {
        let mut stream = TcpStream::connect(self.address).unwrap();
        send(&mut stream, method, path, headers, body);
        Reply::read(stream)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn send(stream: &mut TcpStream, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) {
    let mut head =
        format!("{method} {path} HTTP/1.1\r\nhost: test\r\nconnection: close\r\ncontent-length: {}\r\n", body.len());
    headers.iter().for_each(|(name, value)| head.push_str(&format!("{name}: {value}\r\n")));
    // A server that refuses a body may close before it has all of it.
    let _ = stream
        .write_all(head.as_bytes())
        .and_then(|()| stream.write_all(b"\r\n"))
        .and_then(|()| stream.write_all(body));
}

struct Reply {
    status: u16,
    head: String,
    body: Vec<u8>,
}

impl Reply {
    fn read(mut stream: TcpStream) -> Self {
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").unwrap_or(bytes.len().saturating_sub(4));
        let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
        let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0);
        Self { status, head, body: bytes.get(end + 4..).unwrap_or_default().to_vec() }
    }

    fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&self.body)))
    }

    #[track_caller]
    fn ok(&self) -> Value {
        assert_eq!(self.status, 200, "{}", String::from_utf8_lossy(&self.body));
        self.json()
    }

    #[track_caller]
    fn refused(&self, status: u16, part: &str) {
        let body = String::from_utf8_lossy(&self.body);
        assert_eq!(self.status, status, "{body}");
        assert!(self.json()["error"].as_str().unwrap().contains(part), "{body}");
    }
}

fn tensors(x: &[f64], c: &[Option<&str>], parameters: &Value) -> Value {
    json!({"id": "7", "parameters": parameters, "inputs": [
        {"name": "x", "shape": [x.len()], "datatype": "FP64", "data": x},
        {"name": "c", "shape": [c.len(), 1], "datatype": "BYTES", "data": c},
    ]})
}

/// What `negmm predict` says, column by column.
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
fn it_answers_as_predict_does_in_every_format() {
    let folder = Folder::with_model();
    let server = Server::start(&folder, &[]);
    let said = predicted(&folder, "x,c\n0.25,a\n0.5,\n", &["--interval", "0.9", "--above", "1"]);
    let parameters = json!({"interval": 0.9, "above": [1]});

    let answer = server.post("/v2/models/ok/infer", &tensors(&[0.25, 0.5], &[Some("a"), None], &parameters)).ok();
    assert_eq!((&answer["model_name"], &answer["id"]), (&json!("ok"), &json!("7")));
    for ((name, numbers), output) in said.iter().zip(answer["outputs"].as_array().unwrap()) {
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
                said.iter().map(|(name, numbers)| (name.clone(), json!(numbers[row]))).collect();
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
fn it_says_what_it_is() {
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
    // Every address of the description is there.
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
fn the_page_is_told_all_about_a_row() {
    let folder = Folder::with_model();
    let server = Server::start(&folder, &[]);
    let inputs = server.get("/v2/models/ok/inputs").ok();
    assert_eq!(inputs["inputs"][1]["levels"], json!(["b", "a"]));
    let answer = server.post("/v2/models/ok/explore", &json!({"row": {"x": 0.25, "c": "a"}})).ok();
    let said = predicted(&folder, "x,c\n0.25,a\n", &["--quantiles", "0.5"]);
    assert_eq!((&answer["mean"], &answer["quantiles"][3]), (&json!(said[0].1[0]), &json!([0.5, said[2].1[0]])));
    assert_eq!(answer["effects"].as_array().unwrap().len(), 2);
    assert!(answer["curve"].as_array().unwrap().len() > 100);
    let [low, high] = [0, 1].map(|end| answer["regions"][1][1][0][end].as_f64().unwrap());
    assert!(low < said[0].1[0] && said[0].1[0] < high);
    let outside = server.post("/v2/models/ok/explore", &json!({"row": {"x": 50}})).ok();
    assert!(outside["novelty"].as_f64().unwrap() > 10.0 && outside["novelty_input"] == "x", "{}", outside["novelty"]);
    server.post("/v2/models/ok/explore", &json!({"x": 50})).refused(400, "row");
}

#[test]
fn what_makes_no_sense_is_refused_in_one_sentence() {
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
    server.ask("POST", infer, &[], b"{").refused(400, "no request of the protocol");
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
    server.post(infer, &text).refused(400, "cell 0 is no FP64");
    server.post("/invocations", &json!({"instances": [{"x": "much", "c": "a"}]})).refused(400, "column \"x\"");
    server
        .ask("POST", infer, &[("content-type", "application/vnd.apache.arrow.stream")], b"no arrow")
        .refused(400, "no Arrow stream");
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
fn a_token_is_asked_for() {
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
fn models_are_loaded_again_and_a_broken_file_leaves_the_old_one() {
    let folder = Folder::with_model();
    let server = Server::start(&folder, &[]);
    let body = tensors(&[0.25], &[Some("a")], &json!({}));
    let mean = || server.post("/v2/models/ok/infer", &body).ok()["outputs"][0]["data"][0].as_f64().unwrap();
    let reloaded = |count: usize, failed: usize| {
        let until = Instant::now() + Duration::from_secs(20);
        let expected = [format!("negmm_reloads_total {count}\n"), format!("negmm_failed_reloads_total {failed}\n")];
        while Instant::now() < until {
            let metrics = String::from_utf8(server.get("/metrics").body).unwrap();
            if expected.iter().all(|line| metrics.contains(line)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        panic!("not reloaded");
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
fn too_many_requests_are_refused_and_the_rest_is_answered() {
    let folder = Folder::with_model();
    let server = Server::start(&folder, &["--max-requests", "2", "--timeout", "3"]);
    let body = tensors(&[0.25], &[Some("a")], &json!({})).to_string();
    // Two that have sent their heads and half of their bodies are under way.
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
    std::thread::sleep(Duration::from_millis(300));
    let refused = server.post("/v2/models/ok/infer", &serde_json::from_str(&body).unwrap());
    refused.refused(503, "too many");
    assert!(refused.head.contains("retry-after: 1"), "{}", refused.head);
    assert_eq!(server.get("/v2/health/ready").status, 200);
    first.write_all(&body.as_bytes()[10..]).unwrap();
    Reply::read(first).ok();
    // The other never ends, and its time does.
    Reply::read(second).refused(503, "within 3 seconds");
    server.post("/v2/models/ok/infer", &serde_json::from_str(&body).unwrap()).ok();
}

#[test]
fn many_at_once_are_each_answered_with_their_own() {
    let folder = Folder::with_model();
    let server = Server::start(&folder, &[]);
    let places: Vec<f64> = (0..200).map(|at| f64::from(at) / 200.0).collect();
    let csv: String = places.iter().map(|x| format!("{x},b\n")).collect();
    let said = predicted(&folder, &format!("x,c\n{csv}"), &["--draws", "2"]);
    let first_draws = |x: f64| predicted(&folder, &format!("x,c\n{x},b\n"), &["--draws", "2"])[2].1[0];
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let (server, places, said) = (&server, &places, &said);
            scope.spawn(move || {
                for at in (thread..200).step_by(8) {
                    // Every tenth is refused, and nobody else is.
                    let parameters = if at % 10 == 3 { json!({"interval": 7}) } else { json!({"draws": 2}) };
                    let reply = server.post("/v2/models/ok/infer", &tensors(&[places[at]], &[Some("b")], &parameters));
                    match at % 10 {
                        3 => reply.refused(400, "interval"),
                        _ => assert_eq!(reply.ok()["outputs"][0]["data"], json!([said[0].1[at]])),
                    }
                }
            });
        }
    });
    let alone = server.post("/v2/models/ok/infer", &tensors(&[places[9]], &[Some("b")], &json!({"draws": 2}))).ok();
    assert_eq!(alone["outputs"][2]["data"], json!([first_draws(places[9])]));
}

#[test]
fn told_to_stop_it_answers_what_is_under_way() {
    let folder = Folder::with_model();
    let mut server = Server::start(&folder, &[]);
    let body = tensors(&[0.25], &[Some("a")], &json!({})).to_string();
    let mut stream = TcpStream::connect(server.address).unwrap();
    let head = format!("POST /v2/models/ok/infer HTTP/1.1\r\nhost: test\r\ncontent-length: {}\r\n\r\n", body.len());
    stream.write_all(head.as_bytes()).unwrap();
    std::thread::sleep(Duration::from_millis(200));
    server.signal("-TERM");
    std::thread::sleep(Duration::from_millis(300));
    assert!(server.child.try_wait().unwrap().is_none(), "a request is under way");
    assert!(TcpStream::connect(server.address).is_err(), "nobody else is let in");
    stream.write_all(body.as_bytes()).unwrap();
    Reply::read(stream).ok();
    assert_eq!(server.child.wait().unwrap().code(), Some(0));
}

/// Bodies made of pieces of good ones and of noise: each is answered, with nothing but 200 and 4xx.
#[test]
fn random_bodies_do_no_harm() {
    let folder = Folder::with_model();
    let server = Server::start(&folder, &["--max-rows", "100"]);
    let mut state = 88_172_645_463_325_252_u64;
    let mut below = move |most: usize| {
        // xorshift64
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % most as u64) as usize
    };
    let rows = json!({"instances": [{"x": 0.25, "c": "a"}, {"x": 0.5}]});
    let stream = "application/vnd.apache.arrow.stream";
    let arrow = server.ask("POST", "/invocations", &[("accept", stream)], rows.to_string().as_bytes());
    assert!(arrow.status == 200 && arrow.body.starts_with(&[0xff; 4]), "an Arrow stream");
    let seeds: [Vec<u8>; 6] = [
        tensors(&[0.25, 0.5], &[Some("a"), None], &json!({"quantiles": "0.1,0.9", "draws": 3})).to_string().into(),
        json!({"dataframe_split": {"columns": ["x", "c"], "data": [[0.25, "a"], [1e300, null]]}, "params": {"parts": true}})
            .to_string()
            .into(),
        json!({"instances": [{"x": -0.0, "c": "\u{0}"}], "params": {"mass": [0]}}).to_string().into(),
        b"x,c\n0.25,a\n\"0.5\",\n".to_vec(),
        json!({"row": {"x": 1, "c": "a"}}).to_string().into(),
        arrow.body,
    ];
    let words = [
        "null",
        "-1",
        "1e308",
        "[]",
        "{}",
        "\"",
        "NaN",
        "[[",
        "9999999999999999999999",
        "\\ud800",
        "true",
        ",",
        ":",
        "\0",
        "é",
    ];
    let paths =
        ["/v2/models/ok/infer", "/invocations", "/v2/models/ok/explore", "/invocations?novelty=true&components="];
    let types = ["application/json", "text/csv", stream, "application/json; charset=x"];
    let count = std::env::var("NEGMM_FUZZ").ok().and_then(|count| count.parse().ok()).unwrap_or(600);
    for _ in 0..count {
        let mut body = seeds[below(seeds.len())].clone();
        for _ in 0..below(6) {
            let at = below(body.len() + 1);
            match below(4) {
                0 => drop(body.drain(at..(at + below(12)).min(body.len()))),
                1 => drop(body.splice(at..at, words[below(words.len())].bytes())),
                2 => body.iter_mut().skip(at).take(1).for_each(|byte| *byte = below(256) as u8),
                _ => body.truncate(at.max(1)),
            }
        }
        let kind = if body.starts_with(&[0xff; 4]) { stream } else { types[below(types.len())] };
        let path = paths[below(paths.len())];
        let status = server.ask("POST", path, &[("content-type", kind)], &body).status;
        assert!(
            status == 200 || (400..500).contains(&status),
            "{status} {path} {kind} {:?}",
            String::from_utf8_lossy(&body)
        );
    }
    assert_eq!(server.get("/v2/health/live").status, 200);
}
