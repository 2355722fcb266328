//! Random bodies over a real socket: `negmm serve` answers each with nothing but 200 and 4xx.
#![cfg(all(unix, feature = "serve"))]

use crate::program;

use program::Folder;
use program::server::Server;
use serde_json::{Value, json};

/// Bodies made of pieces of good ones and of noise; the variable NEGMM_FUZZ says how many.
#[test]
fn random_bodies_do_no_harm() {
    let folder = Folder::with_model();
    folder.done(&["calibrate", "ok.negmm", "ok.csv", "-o", "ok.negmm", "--by", "c"]);
    let steps = (0..60).fold(String::from("when,y\n"), |text, step| text + &format!("{step},{}\n", step * 7 % 10));
    folder.write("steps.csv", steps);
    let fit = ["fit", "steps.csv", "--sequence", "y", "--time", "when", "--horizon", "2", "-o", "ahead.negmm"];
    folder.done(&[&fit[..], &["--hidden", "4", "--steps", "20"]].concat());
    let server = Server::of(&folder, &["ok.negmm", "ahead.negmm", "--max-rows", "100"]);
    let mut state = 88_172_645_463_325_252_u64;
    let mut below = move |most: usize| {
        // xorshift64
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % most as u64) as usize
    };
    let rows = json!({"instances": [{"x": 0.25, "c": "a"}, {"x": 0.5}]});
    let tensor = |name: &str, datatype: &str, data: Value| json!({"name": name, "shape": [2], "datatype": datatype, "data": data});
    let tensors = json!({"id": "7", "parameters": {"quantiles": "0.1,0.9", "draws": 3}, "inputs": [
        tensor("x", "FP64", json!([0.25, 0.5])),
        tensor("c", "BYTES", json!(["a", null])),
    ]});
    let stream = "application/vnd.apache.arrow.stream";
    let arrow = server.ask("POST", "/invocations", &[("accept", stream)], rows.to_string().as_bytes());
    assert!(arrow.status == 200 && arrow.body.starts_with(&[0xff; 4]), "an Arrow stream");
    let seeds: [Vec<u8>; 9] = [
        tensors.to_string().into(),
        json!({"dataframe_split": {"columns": ["x", "c"], "data": [[0.25, "a"], [1e300, null]]}, "params": {"parts": true}})
            .to_string()
            .into(),
        json!({"instances": [{"x": -0.0, "c": "\u{0}"}], "params": {"mass": [0]}}).to_string().into(),
        b"x,c\n0.25,a\n\"0.5\",\n".to_vec(),
        json!({"row": {"x": 1, "c": "a"}}).to_string().into(),
        arrow.body,
        json!({"instances": [{"x": 0.25, "c": "a", "y": 0.5}, {"x": 0.5, "c": "b", "y": 1}], "params": {}}).to_string().into(),
        json!({"inputs": {"when": [1, 2, 3], "y": [0, 7, 4]}, "params": {"interval": 0.9, "guaranteed": true}}).to_string().into(),
        b"when,y\n1,0\n2,7\n4,8\n".to_vec(),
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
    let paths = [
        "/v2/models/ok/infer",
        "/v2/models/ok/explore",
        "/v2/models/ok/observe",
        "/v2/models/ahead/infer",
        "/invocations",
        "/invocations?novelty=true&components=",
        "/invocations?guaranteed=true&interval=0.9&region=0.5",
        "/invocations?model=ahead&quantiles=0.5",
    ];
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
