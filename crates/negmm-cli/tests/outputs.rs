//! Outputs: errors of writing are reported, no two outputs go to one file, and no control characters reach a terminal.

use crate::common;

use std::io::Read;
use std::process::Stdio;

use common::{Folder, gzip, rows};
#[cfg(feature = "parquet")]
use negmm::Table;
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
    let page = "r.pdf: the report is an HTML page (.html); --svg DIR writes its plots";
    folder.refused(&["report", "ok.negmm", "ok.csv", "-o", "r.pdf"], 2, page);
    folder.refused(&["predict", "ok.csv", "ok.negmm"], 2, "ok.negmm is a model: the model comes first, then the data");
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

#[test]
fn the_name_of_an_output_says_its_format() {
    let folder = Folder::with_model();
    let predict = |data: &str, out: &str| folder.done(&["predict", "ok.negmm", data, "--keep", "c,x", "-o", out]);
    for out in ["p.csv", "p.csv.gz", "p.tsv", "p.json", "p.jsonl", "p.jsonl.gz"] {
        predict("ok.csv", out);
    }
    let (csv, lines) = (folder.read("p.csv"), folder.read("p.jsonl"));
    let unpacked = |name: &str| {
        let (mut text, bytes) = (Vec::new(), folder.read(name));
        flate2::read::GzDecoder::new(&bytes[..]).read_to_end(&mut text).unwrap();
        text
    };
    assert_eq!(unpacked("p.csv.gz"), csv);
    assert_eq!(unpacked("p.jsonl.gz"), lines);
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    assert_eq!(text(folder.read("p.tsv")), text(csv).replace(',', "\t"));
    let list: Vec<serde_json::Value> = serde_json::from_slice(&folder.read("p.json")).unwrap();
    let objects =
        text(lines).lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<serde_json::Value>>();
    assert_eq!(list, objects);
    assert_eq!(list.len(), 60);
    for out in ["p.xlsx", "p.parquet.gz", "p.csv.zst"] {
        let outcome = folder.run(&["predict", "ok.negmm", "ok.csv", "-o", out]);
        assert_eq!(outcome.code, Some(2), "{out}");
        assert!(outcome.err.contains("expected the name of a CSV file (.csv, .tsv)"), "{}", outcome.err);
        assert!(!folder.names().contains(&out.to_string()));
    }
    folder.refused(&fit(&["-o", "m", "--held-out", "h.json"]), 2, "--held-out writes CSV: its file needs another name");
}

#[test]
#[cfg(feature = "parquet")]
fn arrow_files_and_types_of_kept_columns() {
    let folder = Folder::with_model();
    let row = |at: usize| {
        let when = if at == 0 { String::new() } else { format!("2024-02-{at:02}") };
        format!("0.{at},a,{at},{at}.5,00{at},{when},{}\n", at.is_multiple_of(2))
    };
    let body: String = (0..9).map(row).collect();
    folder.write("new.csv", format!("x,c,id,price,code,day,open\n{body}"));
    let keep = ["--keep", "id,price,code,day,open"];
    folder.done(&[&["predict", "ok.negmm", "new.csv", "-o", "p.arrow"][..], &keep].concat());
    folder.done(&[&["predict", "ok.negmm", "new.csv", "-o", "p.parquet"][..], &keep].concat());
    let reader = arrow_ipc::reader::FileReader::try_new(std::io::Cursor::new(folder.read("p.arrow")), None).unwrap();
    let types: Vec<String> = reader.schema().fields().iter().map(|field| field.data_type().to_string()).collect();
    assert_eq!(types, ["Int64", "Float64", "Utf8", "Date32", "Boolean", "Float64", "Float64"]);
    let batches: Vec<_> = reader.map(Result::unwrap).collect();
    assert_eq!(batches.iter().map(|batch| batch.num_rows()).sum::<usize>(), 9);
    assert_eq!(batches[0].column(3).null_count(), 1);
    // The same in Parquet, which can be read back.
    let table = Table::read(folder.path("p.parquet")).unwrap();
    assert!(matches!(table.column("id"), Some(negmm::data::Column::Numbers(ids)) if ids[8] == 8.0));
    assert!(matches!(table.column("day"), Some(negmm::data::Column::Times(_))));
}

#[test]
fn a_header_alone_gives_a_header() {
    let folder = Folder::with_model();
    folder.write("none.csv", "c,x\n");
    let ask = ["predict", "ok.negmm", "none.csv", "--interval", "0.9", "--keep", "c"];
    assert_eq!(folder.done(&ask).text(), "c,mean,sd,lower_0.9,upper_0.9\n");
    folder.done(&[&ask[..], &["-o", "none.json"]].concat());
    assert_eq!(folder.read("none.json"), b"[]\n");
    #[cfg(feature = "parquet")]
    for out in ["none.parquet", "none.arrow"] {
        folder.done(&[&ask[..], &["-o", out]].concat());
        assert!(folder.read(out).len() > 100);
    }
}

#[test]
fn numbers_have_as_many_digits_as_asked_for() {
    let folder = Folder::with_model();
    let ask = ["predict", "ok.negmm", "ok.csv", "--interval", "0.9", "--above", "1"];
    let (all, few) = (folder.done(&ask).text(), folder.done(&[&ask[..], &["--digits", "3"]].concat()).text());
    for (all, few) in all.lines().zip(few.lines()).skip(1) {
        let numbers = |line: &str| line.split(',').map(|cell| cell.parse().unwrap()).collect::<Vec<f64>>();
        let (exact, rounded) = (numbers(all), numbers(few));
        let sd = exact[1];
        exact.iter().zip(&rounded).for_each(|(exact, rounded)| {
            assert!((exact - rounded).abs() <= 0.5e-2 * sd.max(exact.abs()).min(1.0), "{exact} {rounded}");
        });
        assert!(few.split(',').all(|cell| cell.trim_start_matches("0.").len() <= 9), "{few}");
        assert!((exact[0] - rounded[0]).abs() <= 0.5e-2 * sd);
    }
    folder.refused(&[&ask[..], &["--digits", "0"]].concat(), 2, "digits must be from 1 to 17, found 0");
}

#[test]
fn quiet_prints_nothing_but_errors_and_answers() {
    let folder = Folder::with_model();
    for arguments in [
        &fit(&["-o", "m", "-q"])[..],
        &["calibrate", "ok.negmm", "ok.csv", "-o", "c.negmm", "-q"],
        &["report", "ok.negmm", "ok.csv", "-o", "r.html", "-q"],
        &["predict", "ok.negmm", "ok.csv", "-o", "p.csv", "-q"],
    ] {
        let outcome = folder.done(arguments);
        assert_eq!((outcome.text(), outcome.err), (String::new(), String::new()), "{arguments:?}");
    }
    assert!(folder.done(&["evaluate", "ok.negmm", "ok.csv", "-q"]).text().contains("CRPS"));
}

#[test]
fn the_probability_of_a_value_under_a_density_is_explained() {
    let folder = Folder::with_model();
    let outcome = folder.done(&["predict", "ok.negmm", "ok.csv", "--equal", "1"]);
    assert!(outcome.err.starts_with("warning: --equal: the prediction is a density"), "{}", outcome.err);
    folder.write("whole.csv", (0..60).fold("x,y\n".to_string(), |text, at| format!("{text}{at},{}\n", at % 3)));
    folder.fit("whole.csv", "whole.negmm", &[]);
    assert_eq!(folder.done(&["predict", "whole.negmm", "whole.csv", "--equal", "1"]).err, "");
}

#[test]
fn five_rows_are_too_few_and_it_says_so() {
    let folder = Folder::new();
    folder.write("five.csv", "x,y\n1,2\n2,4\n3,5\n4,8\n5,9\n");
    let text = folder.done(&["fit", "five.csv", "--target", "y", "-o", "m"]).text();
    let expected =
        "\n5 rows are too few to learn from (at least 10 are needed): every prediction is the mean of the targets";
    assert!(text.contains(expected), "{text}");
}

#[test]
fn yes_and_no_have_no_third_value() {
    let folder = Folder::new();
    let row = |at: usize| format!("{},{}\n", at % 7, if at * 5 % 11 < 6 { "yes" } else { "no" });
    folder.write("yes.csv", format!("x,y\n{}", (0..80).map(row).collect::<String>()));
    let fitted = folder.fit("yes.csv", "m", &[]);
    assert!(fitted.text().contains("the target is discrete (steps of 1, from 0 to 1)"), "{}", fitted.text());
    let text = folder.done(&["predict", "m", "yes.csv", "--equal", "0,1", "--above", "1", "--below", "0"]).text();
    for line in text.lines().skip(1) {
        let numbers: Vec<f64> = line.split(',').map(|cell| cell.parse().unwrap()).collect();
        let [mean, sd, above, below, no, yes] = numbers[..] else { panic!("{line}") };
        assert!((no + yes - 1.0).abs() < 1e-9 && (mean - yes).abs() < 1e-9, "{line}");
        assert!((sd - (yes * no).sqrt()).abs() < 1e-6 && above == 0.0 && below == 0.0, "{line}");
    }
}

#[test]
fn the_short_help_of_fit_has_no_option_that_the_default_method_refuses() {
    let folder = Folder::new();
    folder.write("d.csv", rows(60));
    let help = folder.done(&["fit", "-h"]).text();
    for refused in ["--epochs", "--n-estimators"] {
        assert!(!help.contains(refused), "{help}");
        assert_eq!(folder.run(&["fit", "d.csv", "--target", "y", "-o", "m", refused, "3"]).code, Some(2));
        assert!(folder.done(&["fit", "--help"]).text().contains(refused));
    }
}
