//! Several files as one table in every command, and rows that are drawn.

use crate::common::{Folder, rows};

/// `ok.csv` and its model, and the same rows in three files of the folder `parts`.
fn parts() -> Folder {
    let folder = Folder::with_model();
    let text = rows(60);
    let (header, lines) = text.split_once('\n').unwrap();
    let lines: Vec<&str> = lines.lines().collect();
    std::fs::create_dir(folder.path("parts")).unwrap();
    for (part, name) in lines.chunks(23).zip(["parts/1.csv", "parts/2.csv", "parts/3.csv"]) {
        folder.write(name, format!("{header}\n{}\n", part.join("\n")));
    }
    folder
}

fn ok(folder: &Folder, arguments: &[&str]) -> String {
    let outcome = folder.run(arguments);
    assert_eq!(outcome.code, Some(0), "{}", outcome.err);
    outcome.text()
}

#[test]
fn parts_give_the_bits_of_the_whole() {
    let folder = parts();
    folder.fit("parts", "parts.negmm", &[]);
    assert_eq!(folder.read("parts.negmm"), folder.read("ok.negmm"));
    for data in ["parts", "parts/*.csv", "parts/[123].csv"] {
        let same = |command: &[&str]| {
            let with = |data: &str| {
                ok(&folder, &command.iter().map(|word| if *word == "DATA" { data } else { word }).collect::<Vec<_>>())
            };
            assert_eq!(with(data), with("ok.csv"), "{command:?}");
        };
        same(&["predict", "ok.negmm", "DATA", "-o", "-", "--keep", "c,y", "--quantiles", "0.1,0.9"]);
        same(&["evaluate", "ok.negmm", "DATA", "--by", "c"]);
    }
    ok(&folder, &["calibrate", "ok.negmm", "parts", "-o", "parts.negmm"]);
    ok(&folder, &["calibrate", "ok.negmm", "ok.csv", "-o", "whole.negmm"]);
    assert_eq!(folder.read("parts.negmm"), folder.read("whole.negmm"));
    let monitored = |data: &str| {
        let outcome = folder.run(&["monitor", "ok.negmm", "--data", data, "--json"]);
        (outcome.code, outcome.text())
    };
    assert_eq!(monitored("parts"), monitored("ok.csv"));
    ok(&folder, &["report", "ok.negmm", "parts/*", "-o", "page.html"]);
}

#[test]
fn what_goes_wrong_with_many_files() {
    let folder = parts();
    folder.refused(
        &["predict", "ok.negmm", "parts/1.csv", "parts/2.csv", "-o", "p.csv"],
        2,
        "unexpected argument \"parts/2.csv\": several files are read as one table by a pattern in quotes, such as \
         'sales/*.csv'; see --help",
    );
    folder.refused(
        &["predict", "ok.negmm", "parts/*.csv", "-o", "parts/2.csv"],
        2,
        "the predictions would replace the data in parts/2.csv: use another -o FILE",
    );
    folder.refused(&["evaluate", "ok.negmm", "none/*"], 1, "none/*: no file has a name of this pattern");
    folder.write("parts/4.csv", "x,c,y\n1,a,2\n1,a,oops\n");
    let oops = "parts/4.csv, row 2 (line 3), column \"y\": expected a number, found \"oops\"";
    folder.refused(&["evaluate", "ok.negmm", "parts"], 1, oops);
    folder.write("parts/4.csv", "x,y\n1,2\n");
    let absent = "parts/4.csv, column \"c\": is absent, but parts/1.csv has it";
    folder.refused(&["fit", "parts", "--target", "y", "-o", "m"], 1, absent);
}

#[test]
fn rows_are_drawn_by_the_seed() {
    let folder = parts();
    let fit = |data: &str, model: &str, more: &[&str]| {
        let arguments = ["fit", data, "--target", "y", "--method", "constant", "--sample", "40", "-o", model];
        let outcome = folder.run(&[&arguments, more].concat());
        assert_eq!(outcome.code, Some(0), "{}", outcome.err);
        (outcome.err, folder.read(model))
    };
    let (said, one) = fit("ok.csv", "a.negmm", &[]);
    assert!(said.contains("40 rows of 60 are drawn at random (--sample)"), "{said}");
    assert_eq!(fit("parts", "b.negmm", &[]).1, one);
    assert_ne!(fit("parts", "c.negmm", &["--seed", "1"]).1, one);
    let zero = ["fit", "ok.csv", "--target", "y", "-o", "m", "--sample", "0"];
    folder.refused(&zero, 2, "sample must be at least 1, found 0");
    let sequence = ["fit", "ok.csv", "--sequence", "y", "--window", "3", "-o", "m", "--sample", "9"];
    folder.refused(&sequence, 2, "--sample would leave out steps of the sequence");
}
