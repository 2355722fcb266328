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
fn other_commands_take_many_files() {
    let folder = parts();
    let table = |data: &str, command: &[&'static str], field: &str| {
        let journal = format!("journal of {data}");
        let word = |word: &&'static str| match *word {
            "DATA" => data.to_string(),
            "JOURNAL" => journal.clone(),
            word => word.to_string(),
        };
        let arguments: Vec<String> = command.iter().map(word).collect();
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let found: serde_json::Value = serde_json::from_str(&ok(&folder, &arguments)).unwrap();
        let mut table = found[field].clone();
        for line in table.as_array_mut().into_iter().flatten() {
            line["data"] = serde_json::Value::Null;
            if line["metric"] == "seconds" {
                *line = serde_json::Value::Null;
            }
        }
        let text = table.to_string();
        assert!(text.len() > 40, "{found}");
        text
    };
    for (command, field) in [
        (&["compare", "DATA", "--target", "y", "--methods", "constant", "--folds", "2", "--json"][..], "table"),
        (
            &[
                "tune",
                "DATA",
                "--target",
                "y",
                "--methods",
                "ne-gmm",
                "--trials",
                "2",
                "--folds",
                "2",
                "--journal",
                "JOURNAL",
                "--json",
            ],
            "result",
        ),
    ] {
        assert_eq!(table("parts", command, field), table("ok.csv", command, field), "{command:?}");
    }
    let explain = |data: &str| ok(&folder, &["explain", "ok.negmm", data, "--of", "sd", "--quiet"]);
    assert_eq!(explain("parts"), explain("ok.csv"));
    // Predictions in several files.
    ok(&folder, &["predict", "ok.negmm", "ok.csv", "--keep", "y", "-o", "p.csv"]);
    let predictions = String::from_utf8(folder.read("p.csv")).unwrap();
    let (header, lines) = predictions.split_once('\n').unwrap();
    let (first, second) = lines.split_at(lines.len() / 2 + lines[lines.len() / 2..].find('\n').unwrap() + 1);
    std::fs::create_dir(folder.path("predictions")).unwrap();
    folder.write("predictions/1.csv", format!("{header}\n{first}"));
    folder.write("predictions/2.csv", format!("{header}\n{second}"));
    let score = |data: &str| ok(&folder, &["score", data, "--target", "y", "--json"]);
    assert_eq!(score("predictions"), score("p.csv"));
}

#[test]
#[cfg(feature = "parquet")]
fn kept_columns_of_a_folder_have_their_types() {
    let folder = Folder::with_model();
    for (year, ids) in [(2024, [1, 2]), (2025, [30, 4])] {
        std::fs::create_dir_all(folder.path(&format!("parts/year={year}"))).unwrap();
        let rows = ids.map(|id| format!("0.5,a,{id},0{id}\n")).concat();
        folder.write(&format!("parts/year={year}/a.csv"), format!("x,c,id,code\n{rows}"));
    }
    for data in ["parts", "parts/*/*.csv"] {
        ok(&folder, &["predict", "ok.negmm", data, "--keep", "id,year,code", "-o", "p.parquet"]);
        let table = negmm::Table::read(folder.path("p.parquet")).unwrap();
        for (name, expected) in [("id", [1.0, 2.0, 30.0, 4.0]), ("year", [2024.0, 2024.0, 2025.0, 2025.0])] {
            match table.column(name) {
                Some(negmm::data::Column::Numbers(found)) => assert_eq!(found[..], expected),
                other => panic!("{name}: {other:?}"),
            }
        }
        assert!(matches!(table.column("code"), Some(negmm::data::Column::Text { .. })), "leading zeros");
    }
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
    let many: String = (0..1200).map(|row| format!("{row},{}\n", row % 7)).collect();
    folder.write("many.csv", format!("x,y\n{many}"));
    let (said, _) = fit("many.csv", "d.negmm", &[]);
    assert!(said.contains("40 rows of 1,200 are drawn at random"), "{said}");
    let zero = ["fit", "ok.csv", "--target", "y", "-o", "m", "--sample", "0"];
    folder.refused(&zero, 2, "sample must be at least 1, found 0");
    let sequence = ["fit", "ok.csv", "--sequence", "y", "--window", "3", "-o", "m", "--sample", "9"];
    folder.refused(&sequence, 2, "--sample would leave out steps of the sequence");
}
