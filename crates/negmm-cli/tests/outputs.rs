//! Outputs: errors of writing are reported, no two outputs go to one file, and no control characters reach a terminal.

use crate::common;

use std::process::Stdio;

use common::{Folder, gzip, rows};
use serde_json::json;

const FIT: [&str; 10] = ["fit", "ok.csv", "--target", "y", "--method", "ne-gmm", "--epochs", "1", "--hidden", "4"];

fn fit<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&FIT[..], more].concat()
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_a_failure() {
    let folder = Folder::with_model();
    let tune = ["tune", "ok.csv", "--target", "y", "--journal", "j", "--try", "epochs=1", "--set", "hidden=4"];
    let paper = ["paper", "toy1", "--repeats", "1", "--methods", "mdn", "--quick", "--set", "epochs=1"];
    for arguments in [
        &["evaluate", "ok.negmm", "ok.csv", "--json"][..],
        &["evaluate", "ok.negmm", "ok.csv"],
        &["inspect", "ok.negmm"],
        &["inspect", "ok.negmm", "--json"],
        &["predict", "ok.negmm", "ok.csv"],
        &["predict", "ok.negmm", "ok.csv", "--json"],
        &["compare", "ok.csv", "--target", "y", "--methods", "constant"],
        &tune,
        &paper,
        &["report", "ok.negmm", "ok.csv", "-o", "r.html"],
        &fit(&["-o", "m"]),
        &fit(&["-o", "-"]),
        &["demo", "toy1"],
        &["--help"],
        &["fit", "--help"],
        &["--version"],
        &["man"],
        &["completions", "bash"],
    ] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = folder.command(arguments).stdout(full).output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(error.ends_with("error: standard output: the disk is full\n"), "{arguments:?}: {error}");
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
    }
}

#[test]
#[cfg(unix)]
fn a_closed_pipe_ends_the_program_quietly() {
    let folder = Folder::with_model();
    for arguments in [&["fit", "--help"][..], &["inspect", "ok.negmm"], &["predict", "ok.negmm", "ok.csv"]] {
        let mut child = folder.command(arguments).stdout(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), output.stderr), (Some(0), Vec::new()), "{arguments:?}");
    }
}

#[test]
fn outputs_that_collide_are_refused_before_work_starts() {
    let folder = Folder::with_model();
    folder.write("c.toml", "seed = 1\n");
    std::fs::create_dir(folder.path("sub")).unwrap();
    for (outputs, message) in [
        (
            &["-o", "m", "--held-out", "m"][..],
            "the model and the held-out predictions would both go to m: use another --held-out FILE",
        ),
        (
            &["-o", "m", "--held-out", "sub/../m"],
            "the model and the held-out predictions would both go to sub/../m: use another --held-out FILE",
        ),
        (
            &["-o", "-", "--held-out", "-"],
            "the model and the held-out predictions would both go to standard output: use another --held-out FILE",
        ),
        (
            &["-o", "m", "--held-out", "h", "--report", "h"],
            "the held-out predictions and the report would both go to h: use another --report FILE",
        ),
        (
            &["-o", "c.toml", "--config", "c.toml"],
            "the model would replace the config file in c.toml: use another -o MODEL",
        ),
    ] {
        folder.refused(&fit(outputs), 2, message);
    }
    let tune = ["tune", "ok.csv", "--target", "y", "--journal", "j", "-o"];
    for (output, what) in [("j/trials.jsonl", "journal"), ("j/result.json", "result")] {
        std::fs::create_dir_all(folder.path("j")).unwrap();
        let message = format!("the model would replace the {what} in {output}: use another -o MODEL");
        folder.refused(&[&tune[..], &[output]].concat(), 2, &message);
    }
    // Only the held-out predictions are on standard output.
    let outcome = folder.done(&fit(&["-o", "m", "--held-out", "-"]));
    assert!(outcome.text().starts_with("row,"), "{}", outcome.text());
    assert!(!outcome.text().contains("ne-gmm") && outcome.err.contains("ne-gmm"), "{}", outcome.err);
}

#[test]
fn with_json_an_error_is_a_json_object() {
    let folder = Folder::with_model();
    folder.write("bad.csv", "x,c,y\n1,a,2\n3,b,high\n");
    let expect = |arguments: &[&str], code, expected: serde_json::Value| {
        let outcome = folder.run(arguments);
        assert_eq!(outcome.json(), expected, "{arguments:?}");
        assert_eq!(outcome.err, format!("error: {}\n", expected["error"].as_str().unwrap()));
        assert_eq!(outcome.code, Some(code));
    };
    expect(
        &["evaluate", "ok.negmm", "bad.csv", "--json"],
        1,
        json!({
            "error": "bad.csv, row 2 (line 3), column \"y\": expected a number, found \"high\"",
            "kind": "data", "file": "bad.csv", "line": 3, "row": 2, "column": "y", "option": null, "hints": [],
        }),
    );
    let nothing = |error: &str, kind: &str| json!({ "error": error, "kind": kind, "file": null, "line": null, "row": null, "column": null, "option": null, "hints": [] });
    let both = nothing("the model and --json cannot both go to standard output: use -o MODEL", "options");
    expect(&fit(&["-o", "-", "--json"]), 2, both);
    expect(&["fti", "--json"], 2, nothing("there is no command \"fti\" (did you mean fit?); see --help", "options"));
    let mut none = nothing("none: there is no such file or folder", "io");
    none["file"] = json!("none");
    expect(&["inspect", "none", "--json"], 1, none);
}

#[test]
fn predictions_as_lines_of_json() {
    let folder = Folder::with_model();
    let ask = ["--interval", "0.9", "--keep", "c,x"];
    let csv = folder.done(&[&["predict", "ok.negmm", "ok.csv"][..], &ask].concat()).text();
    let text = folder.done(&[&["predict", "ok.negmm", "ok.csv", "--json"][..], &ask].concat()).text();
    let (mut lines, mut objects) = (csv.lines(), text.lines());
    let names: Vec<&str> = lines.next().unwrap().split(',').collect();
    assert_eq!(names, ["c", "x", "mean", "sd", "lower_0.9", "upper_0.9"]);
    for line in lines {
        let object: serde_json::Value = serde_json::from_str(objects.next().unwrap()).unwrap();
        for (name, cell) in names.iter().zip(line.split(',')) {
            let found = &object[name];
            match *name {
                "c" | "x" => assert_eq!(found.as_str().unwrap_or_default(), cell),
                _ => assert_eq!(found.as_f64(), cell.parse().ok(), "{name}"),
            }
        }
    }
    assert_eq!(objects.next(), None);
    let summary =
        folder.done(&[&["predict", "ok.negmm", "ok.csv", "--json", "-o", "p.jsonl"][..], &ask].concat()).json();
    assert_eq!(summary["rows"], 60);
    assert_eq!(folder.read("p.jsonl"), text.as_bytes());
}

#[test]
fn a_model_may_come_from_standard_input() {
    let folder = Folder::with_model();
    let model = folder.read("ok.negmm");
    for arguments in [&["predict", "-", "ok.csv"][..], &["evaluate", "-", "ok.csv"], &["inspect", "-"]] {
        let named: Vec<&str> = arguments.iter().map(|word| if *word == "-" { "ok.negmm" } else { word }).collect();
        assert_eq!(folder.run_with_input(arguments, &model).text(), folder.done(&named).text());
    }
    let both = "the model and the data cannot both come from standard input";
    folder.refused(&["predict", "-", "-"], 2, both);
    let foreign = folder.run_with_input(&["inspect", "-"], b"x,y\n1,2\n");
    assert_eq!(foreign.err, "error: standard input: this is not a negmm model file, or it is damaged\n");
    // An endless file is refused at once.
    if cfg!(target_os = "linux") {
        folder.refused(&["inspect", "/dev/zero"], 1, "/dev/zero: this is not a negmm model file, or it is damaged");
    }
}

#[test]
fn control_characters_do_not_reach_the_terminal() {
    let folder = Folder::new();
    let red = "\u{1b}[31m";
    folder.write("d.csv", rows(60).replace("x,c,y", &format!("{red}x,c\u{9b}0m,y")));
    let model = format!("{red}.negmm");
    let fitted = folder.fit("d.csv", &model, &[]);
    for outcome in [
        fitted,
        folder.done(&["inspect", &model]),
        folder.done(&["inspect", &model, "--json"]),
        folder.run(&["predict", &model, "none.csv"]),
        folder.run(&["predict", &model, "d.csv", "--keep", red]),
        folder.run(&["inspect", red]),
        folder.run(&[red]),
        folder.run(&["fit", "d.csv", "--target", red, "-o", "m"]),
    ] {
        let all = outcome.text() + &outcome.err;
        assert!(!all.contains(['\u{1b}', '\u{9b}']), "{all:?}");
    }
}

#[test]
fn files_of_a_killed_run_are_removed_by_the_next() {
    let folder = Folder::with_model();
    let old = std::time::SystemTime::now() - std::time::Duration::from_secs(3600);
    for name in [".negmm-dead", ".negmm-locked", ".negmm-new", ".other"] {
        folder.write(name, "half");
        if name != ".negmm-new" {
            std::fs::File::options().write(true).open(folder.path(name)).unwrap().set_modified(old).unwrap();
        }
    }
    let locked = std::fs::File::options().write(true).open(folder.path(".negmm-locked")).unwrap();
    locked.lock().unwrap();
    folder.fit("ok.csv", "m", &[]);
    assert_eq!(folder.names(), [".negmm-locked", ".negmm-new", ".other", "m", "ok.csv", "ok.negmm"]);
}

#[test]
fn memory_has_a_limit() {
    let folder = Folder::with_model();
    // 1.1 GB of blank lines and a table, in little more than a megabyte.
    let packed = [gzip(b"x,c,y\n"), gzip(&vec![b'\n'; 4 << 20]).repeat(275)].concat();
    folder.write("large.csv.gz", packed);
    let fit = ["fit", "large.csv.gz", "--target", "y", "-o", "m", "--memory", "1"];
    folder.refused(&fit, 1, "large.csv.gz: the file is larger than 1 GB unpacked; raise --memory");
}

#[test]
fn completions_and_the_manual_page_are_printed() {
    let folder = Folder::new();
    for (shell, word) in [("bash", "COMPREPLY"), ("zsh", "#compdef negmm"), ("fish", "complete -c negmm")] {
        let script = folder.done(&["completions", shell]).text();
        assert!(script.contains(word) && script.contains("held-out"), "{script}");
    }
    let message = "<SHELL> must be bash, elvish, fish, powershell or zsh, found \"csh\"";
    folder.refused(&["completions", "csh"], 2, message);
    let page = folder.done(&["man"]).text();
    assert!(page.contains(".TH negmm 1") && page.contains("NEGMM FIT") && page.contains("\\-\\-held\\-out"), "{page}");
}

#[test]
fn a_name_may_be_long() {
    let folder = Folder::new();
    let name = "x".repeat(70_000);
    folder.write("d.csv", rows(60).replacen(",c,", &format!(",{name},"), 1));
    assert!(folder.fit("d.csv", "m", &[]).text().contains(&name));
    assert!(folder.done(&["inspect", "m"]).text().contains(&name));
}
