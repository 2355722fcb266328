//! The output of `predict`: its columns, the same numbers from any order of the rows, complete files only.

use crate::common;

use std::io::{BufRead, BufReader};

use common::{Folder, gzip, rows};
use negmm::{Model, Table};

const EVERYTHING: [&str; 18] = [
    "--quantiles",
    "0.05,0.5",
    "--interval",
    "0.9,0.5",
    "--above",
    "1,-2",
    "--below",
    "0",
    "--equal",
    "0.5",
    "--shortfall",
    "0.05",
    "--parts",
    "--components",
    "--draws",
    "2",
    "--keep",
    "c,x",
];

#[test]
fn columns_have_their_names_and_order() {
    let folder = Folder::new();
    folder.write("ok.csv", rows(60));
    folder.fit("ok.csv", "m", &["--components", "2"]);
    let text = folder.done(&[&["predict", "m", "ok.csv"], &EVERYTHING[..]].concat()).text();
    assert_eq!(
        text.lines().next().unwrap(),
        "c,x,mean,sd,q0.05,q0.5,lower_0.9,upper_0.9,lower_0.5,upper_0.5,p_above_1,p_above_-2,p_below_0,p_equal_0.5,\
         shortfall_0.05,variance_within,variance_between,weight_1,weight_2,mean_1,mean_2,sd_1,sd_2,draw_1,draw_2"
    );
    assert_eq!(text.lines().count(), 61);
    assert!(text.lines().all(|line| line.split(',').count() == 25));
}

#[test]
fn rows_outside_the_ranges_of_training_are_counted_and_named() {
    let folder = Folder::new();
    folder.write("ok.csv", rows(60));
    folder.fit("ok.csv", "m", &[]);
    let inside = folder.done(&["predict", "m", "ok.csv", "--novelty"]);
    assert!(inside.err.is_empty());
    assert!(inside.text().lines().skip(1).all(|line| line.ends_with(",0.0,")), "{}", inside.text());
    folder.write("far.csv", "x,c\n0.5,a\n9,b\n");
    let outcome = folder.done(&["predict", "m", "far.csv", "--novelty"]);
    assert_eq!(outcome.err, "warning: 1 of 2 rows lies outside the ranges of training (by x)\n");
    let lines: Vec<String> = outcome.text().lines().map(String::from).collect();
    assert!(lines[0].ends_with(",novelty,novelty_input") && lines[1].ends_with(",0.0,") && lines[2].ends_with(",x"));
    assert_eq!(folder.done(&["predict", "m", "far.csv", "--json", "-o", "out.csv"]).json()["outside"], 1);
}

#[test]
fn samples_have_all_columns_but_components() {
    let folder = Folder::new();
    folder.write("ok.csv", rows(60));
    let fitted = folder.fit("ok.csv", "m", &["--method", "sample-net", "--samples", "12", "--sinkhorn", "0.1"]).text();
    assert!(fitted.contains("12 samples, hidden 4"), "{fitted}");
    let inspected = folder.done(&["inspect", "m"]).text();
    assert!(inspected.contains("sinkhorn") && inspected.contains("prior"), "{inspected}");
    assert!(folder.done(&["inspect", "m", "--json"]).json()["components"].is_null());
    let questions: Vec<&str> = EVERYTHING.into_iter().filter(|question| *question != "--components").collect();
    let text = folder.done(&[&["predict", "m", "ok.csv"], &questions[..]].concat()).text();
    assert_eq!(text.lines().count(), 61);
    assert!(text.lines().all(|line| line.split(',').count() == 19));
    folder.refused(
        &["predict", "m", "ok.csv", "--components", "-o", "out.csv"],
        2,
        "--components: sample-net predicts samples, not a mixture; use --draws or --quantiles",
    );
}

#[test]
fn components_of_a_pooled_gaussian_are_one() {
    let folder = Folder::new();
    folder.write("ok.csv", rows(60));
    for member in ["mdn", "sample-net"] {
        let ensemble = ["--method", "ensemble", "--member", member, "--ensemble-size", "2", "--pool", "gaussian"];
        folder.fit("ok.csv", "m", &ensemble);
        let text = folder.done(&["predict", "m", "ok.csv", "--components"]).text();
        assert_eq!(text.lines().next().unwrap(), "mean,sd,weight_1,mean_1,sd_1", "{member}");
        assert!(text.lines().all(|line| line.split(',').count() == 5), "{member}");
    }
}

#[test]
fn numbers_round_trip() {
    let folder = Folder::with_model();
    let text = folder.done(&["predict", "ok.negmm", "ok.csv", "--quantiles", "0.05", "--above", "1"]).text();
    let predictions =
        Model::load(folder.path("ok.negmm")).unwrap().predict(&Table::read(folder.path("ok.csv")).unwrap()).unwrap();
    let expected =
        [predictions.mean(), predictions.sd(), predictions.quantile(0.05).unwrap(), predictions.above(1.0).unwrap()];
    for (row, line) in text.lines().skip(1).enumerate() {
        let found: Vec<u64> = line.split(',').map(|cell| cell.parse::<f64>().unwrap().to_bits()).collect();
        assert_eq!(found, expected.each_ref().map(|column| column[row].to_bits()), "row {row}");
    }
}

#[test]
fn order_extra_columns_and_target_do_not_matter() {
    let folder = Folder::with_model();
    let expected = folder.done(&["predict", "ok.negmm", "ok.csv"]).out;
    let data = String::from_utf8(folder.read("ok.csv")).unwrap();
    let rearranged = |cells: fn(&[&str]) -> String| {
        data.lines().map(|line| cells(&line.split(',').collect::<Vec<_>>()) + "\n").collect::<String>()
    };
    for (name, data) in [
        ("no target", rearranged(|cells| format!("{},{}", cells[0], cells[1]))),
        ("other order", rearranged(|cells| format!("{},{},{}", cells[2], cells[1], cells[0]))),
        ("target of words", rearranged(|cells| format!("{},{},{}", cells[0], cells[1], cells[2].replace('.', "?")))),
        ("more columns", rearranged(|cells| format!("{},unused {0},{},\"\"", cells[1], cells[0]))),
        ("semicolons", rearranged(|cells| cells.join(";"))),
    ] {
        folder.write("d.csv", data);
        assert_eq!(folder.done(&["predict", "ok.negmm", "d.csv"]).out, expected, "{name}");
    }
}

#[test]
fn standard_input_gzip_and_files_give_the_same_bytes() {
    let folder = Folder::with_model();
    let expected = folder.done(&["predict", "ok.negmm", "ok.csv"]).out;
    folder.write("ok.csv.gz", gzip(&folder.read("ok.csv")));
    assert_eq!(folder.done(&["predict", "ok.negmm", "ok.csv.gz", "-o", "-"]).out, expected);
    let piped = folder.run_with_input(&["predict", "ok.negmm", "-"], &folder.read("ok.csv.gz"));
    assert_eq!((piped.out, piped.err), (expected.clone(), String::new()));
    let to_file = folder.done(&["predict", "ok.negmm", "ok.csv", "-o", "p.csv"]);
    assert!(to_file.out.is_empty());
    assert_eq!(folder.read("p.csv"), expected);
    assert_eq!(folder.names(), ["ok.csv", "ok.csv.gz", "ok.negmm", "p.csv"]);
}

#[test]
fn new_categories_and_missing_cells_are_counted() {
    let folder = Folder::with_model();
    folder.write("d.csv", "x,c\n0.1,a\n0.2,new\n0.3,newer\n,\n");
    let warnings = "warning: column \"c\": 2 cells hold a category never seen in training\n\
        warning: column \"c\": 1 cell is missing, none was in training\n\
        warning: column \"x\": 1 cell is missing, none was in training\n\
        warning: 3 of 4 rows lie outside the ranges of training (most often by c)\n";
    let outcome = folder.done(&["predict", "ok.negmm", "d.csv"]);
    assert_eq!(outcome.err, warnings);
    let quiet = folder.done(&["predict", "ok.negmm", "d.csv", "--quiet"]);
    assert_eq!((quiet.err.as_str(), &quiet.out), ("", &outcome.out));
}

#[test]
fn kept_cells_are_unchanged() {
    let folder = Folder::with_model();
    let cells = ["plain", " blanks ", "a,b", "say \"hi\"", "two\nlines", "", "007", "é"];
    let quoted = |cell: &str| format!("\"{}\"", cell.replace('"', "\"\""));
    let data: String = cells.iter().map(|cell| format!("0.5,a,{}\n", quoted(cell))).collect();
    folder.write("d.csv", format!("x,c,\"the, id\"\n{data}"));
    folder.done(&["predict", "ok.negmm", "d.csv", "--keep", "\"the, id\"", "-o", "p.csv"]);
    let text = String::from_utf8(folder.read("p.csv")).unwrap();
    assert!(text.starts_with("\"the, id\",mean,sd\n"), "{text}");
    for cell in
        ["\nplain,", "\n blanks ,", "\n\"a,b\",", "\n\"say \"\"hi\"\"\",", "\n\"two\nlines\",", "\n,", "\n007,", "\né,"]
    {
        assert!(text.contains(cell), "{cell:?} in {text}");
    }
}

#[test]
fn threads_and_chunks_change_nothing() {
    let folder = Folder::with_model();
    let data = rows(10_000);
    folder.write("d.csv", &data);
    let predict = |data, threads| {
        folder.done(&[&["predict", "ok.negmm", data, "--threads", threads], &EVERYTHING[..]].concat()).text()
    };
    let whole = predict("d.csv", "1");
    assert!(whole == predict("d.csv", "2") && whole == predict("d.csv", "0"));
    // The beginning of the file alone, which ends in the middle of another chunk.
    folder.write("d.csv", data.split_inclusive('\n').take(5001).collect::<String>());
    let beginning = predict("d.csv", "2");
    assert!(whole.starts_with(&beginning) && beginning.lines().count() == 5001);
    let draws = |seed| folder.done(&["predict", "ok.negmm", "ok.csv", "--draws", "3", "--seed", seed]).out;
    assert!(draws("1") == draws("1") && draws("1") != draws("2"));
}

#[test]
fn a_reader_that_closes_early_is_not_an_error() {
    let folder = Folder::with_model();
    folder.write("d.csv", rows(50_000));
    let mut child = folder.command(&["predict", "ok.negmm", "d.csv", "--components"]).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.starts_with("mean,sd,"), "{line}");
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), String::from_utf8(output.stderr).unwrap().as_str()), (Some(0), ""));
}

#[cfg(unix)]
#[test]
fn links_and_pipes_are_written_to_and_stay() {
    use std::os::unix::fs::{FileTypeExt, PermissionsExt};
    let folder = Folder::with_model();
    let expected = folder.done(&["predict", "ok.negmm", "ok.csv"]).out;
    folder.write("real.csv", "old");
    std::fs::set_permissions(folder.path("real.csv"), std::fs::Permissions::from_mode(0o640)).unwrap();
    std::os::unix::fs::symlink("real.csv", folder.path("link.csv")).unwrap();
    folder.done(&["predict", "ok.negmm", "ok.csv", "-o", "link.csv"]);
    assert!(folder.path("link.csv").is_symlink());
    assert_eq!(folder.read("real.csv"), expected);
    assert_eq!(folder.path("real.csv").metadata().unwrap().permissions().mode() & 0o777, 0o640);

    let made = std::process::Command::new("mkfifo").arg(folder.path("pipe")).status().unwrap();
    assert!(made.success());
    let pipe = folder.path("pipe");
    let reader = std::thread::spawn(move || std::fs::read(pipe).unwrap());
    folder.done(&["predict", "ok.negmm", "ok.csv", "-o", "pipe"]);
    assert_eq!(reader.join().unwrap(), expected);
    assert!(folder.path("pipe").metadata().unwrap().file_type().is_fifo());
}

#[cfg(target_os = "linux")]
#[test]
fn memory_does_not_grow_with_the_file() {
    use std::io::Write;
    const BYTES: usize = 60 << 20;
    const MOST_KIB: u64 = 200 << 10;
    let folder = Folder::with_model();
    let mut file = std::io::BufWriter::new(std::fs::File::create(folder.path("big.csv")).unwrap());
    file.write_all(b"x,c,note\n").unwrap();
    let note = "n".repeat(150);
    for row in 0..BYTES / 165 {
        writeln!(file, "{:.6},b,{row:09}{note}", (row as f64 * 0.618).fract()).unwrap();
    }
    file.into_inner().unwrap();
    let predict = ["predict", "ok.negmm", "big.csv", "--keep", "note", "-o", "p.csv"];
    let peak = folder.most_memory(&predict);
    assert!(peak > 0 && peak < MOST_KIB, "{peak} KiB");
    assert!(folder.path("p.csv").metadata().unwrap().len() > BYTES as u64);
}
