//! Parquet input and output: the same bits as CSV; and other formats by their extensions.
#![cfg(feature = "parquet")]

use crate::common;

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch};
use common::{Folder, gzip, rows};
use negmm::Table;
use negmm::data::{Column, ColumnType, ParquetWriter, RowStream, Schema};

/// The CSV of [`rows`] as Parquet: x and y are floats, c is text.
fn parquet(csv: &str) -> Vec<u8> {
    let columns = ["x", "y"].map(|name| (name.to_string(), ColumnType::number())).to_vec();
    let schema = Schema { columns, keep: vec!["c".into()], ..Schema::default() };
    let mut stream = RowStream::from_reader(std::io::Cursor::new(csv.to_string()), "rows", &schema).unwrap();
    let mut writer = ParquetWriter::new(Vec::new());
    while let Some(chunk) = stream.next_chunk(25).unwrap() {
        let numbers = |name: &str| match chunk.table.column(name) {
            Some(Column::Numbers(numbers)) => Arc::new(Float64Array::from(numbers.clone())) as ArrayRef,
            other => panic!("{other:?}"),
        };
        let text = chunk.kept[0].array(0, chunk.table.rows()).unwrap();
        let columns = [("x", numbers("x"), false), ("c", text, true), ("y", numbers("y"), false)];
        writer.write(&RecordBatch::try_from_iter_with_nullable(columns).unwrap()).unwrap();
    }
    writer.finish().unwrap().unwrap()
}

fn folder() -> Folder {
    let folder = Folder::with_model();
    folder.write("ok.parquet", parquet(&rows(60)));
    folder
}

#[test]
fn every_command_reads_parquet_as_csv() {
    let folder = folder();
    folder.fit("ok.parquet", "again.negmm", &[]);
    assert_eq!(folder.read("again.negmm"), folder.read("ok.negmm"));
    for command in
        [&["predict", "ok.negmm", "DATA", "--interval", "0.9", "--keep", "c,x"][..], &["evaluate", "ok.negmm", "DATA"]]
    {
        let of = |data: &str| {
            let arguments: Vec<&str> = command.iter().map(|word| if *word == "DATA" { data } else { word }).collect();
            folder.run(&arguments)
        };
        let (csv, parquet) = (of("ok.csv"), of("ok.parquet"));
        assert_eq!((csv.code, csv.text()), (parquet.code, parquet.text()), "{command:?} {} {}", csv.err, parquet.err);
        assert_eq!(csv.code, Some(0), "{}", csv.err);
    }
    folder.done(&["compare", "ok.parquet", "--target", "y", "--methods", "constant", "--folds", "2"]);
    folder.done(&["report", "ok.negmm", "ok.parquet", "-o", "report.html"]);
    // Whatever it is called, and from standard input.
    folder.write("data", folder.read("ok.parquet"));
    let expected = folder.done(&["predict", "ok.negmm", "ok.csv"]).text();
    assert_eq!(folder.done(&["predict", "ok.negmm", "data"]).text(), expected);
    let piped = folder.run_with_input(&["predict", "ok.negmm", "-"], &folder.read("data"));
    assert_eq!(piped.text(), expected);
}

#[test]
fn predictions_are_written_as_parquet() {
    let folder = folder();
    let numbers = |name: &str, column: &str| match Table::read(folder.path(name)).unwrap().column(column) {
        Some(Column::Numbers(numbers)) => numbers.iter().map(|number| number.to_bits()).collect::<Vec<_>>(),
        other => panic!("{other:?}"),
    };
    for data in ["ok.csv", "ok.parquet"] {
        for out in ["out.csv", "out.parquet"] {
            folder.done(&["predict", "ok.negmm", data, "--quantiles", "0.5", "--keep", "c,x", "-o", out]);
        }
        let names = |name: &str| Table::read(folder.path(name)).unwrap().names().to_vec();
        assert_eq!(names("out.parquet"), names("out.csv"));
        for column in ["x", "mean", "sd", "q0.5"] {
            assert_eq!(numbers("out.parquet", column), numbers("out.csv", column), "{data} {column}");
        }
    }
    assert_eq!(&folder.read("out.parquet")[..4], b"PAR1");
}

#[test]
fn predictions_of_anybody_are_read_from_parquet_and_gzip() {
    let folder = folder();
    for (flags, stem) in [(&[][..], "n"), (&["--quantiles", "0.05,0.5,0.95"], "q"), (&["--draws", "30"], "d")] {
        for end in ["csv", "parquet"] {
            let out = format!("{stem}.{end}");
            folder.done(&[&["predict", "ok.negmm", "ok.csv", "--keep", "y,c", "-o", &out], flags].concat());
        }
        folder.write(&format!("{stem}.csv.gz"), gzip(&folder.read(&format!("{stem}.csv"))));
        let commands: [&[&str]; 6] = [
            &["score", "FILE", "--target", "y", "--by", "c", "--json"],
            &["compare", "--predictions", "FILE,n.csv", "--target", "y", "--json"],
            &["monitor", "--predictions", "FILE", "--target", "y", "--json"],
            &["report", "--predictions", "FILE", "--target", "y", "-o", "r.html"],
            &["calibrate", "--predictions", "FILE", "--target", "y", "-o", "cal.negmm"],
            &["recalibrate", "cal.negmm", "FILE", "-o", "re.csv"],
        ];
        for command in commands {
            if command[0] == "compare" && stem == "n" {
                continue;
            }
            let of = |file: &str| {
                let arguments: Vec<String> = command.iter().map(|word| word.replace("FILE", file)).collect();
                let outcome = folder.run(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
                assert!([Some(0), Some(3)].contains(&outcome.code), "{arguments:?} {}", outcome.err);
                let page = command.contains(&"r.html").then(|| folder.read("r.html"));
                let text = page.map_or(outcome.text(), |page| String::from_utf8(page).unwrap());
                (
                    text.replace(file, "FILE"),
                    folder.names().iter().any(|name| name == "re.csv").then(|| folder.read("re.csv")),
                )
            };
            let csv = of(&format!("{stem}.csv"));
            assert_eq!(of(&format!("{stem}.parquet")), csv, "{command:?}");
            assert_eq!(of(&format!("{stem}.csv.gz")), csv, "{command:?}");
        }
        folder.done(&["recalibrate", "cal.negmm", &format!("{stem}.parquet"), "-o", "re.parquet"]);
        let numbers = |name: &str| match Table::read(folder.path(name)).unwrap().column("q0.5") {
            Some(Column::Numbers(numbers)) => numbers.clone(),
            other => panic!("{other:?}"),
        };
        assert_eq!(numbers("re.parquet"), numbers("re.csv"));
    }
}

#[test]
fn the_output_of_a_sequence_has_the_step_after_the_last_row() {
    let folder = folder();
    folder.fit("ok.parquet", "s.negmm", &["--sequence", "y", "--window", "5"]);
    folder.done(&["predict", "s.negmm", "ok.parquet", "--keep", "c", "-o", "out.parquet"]);
    folder.done(&["predict", "s.negmm", "ok.csv", "--keep", "c", "-o", "out.csv"]);
    let [parquet, csv] = ["out.parquet", "out.csv"].map(|name| Table::read(folder.path(name)).unwrap());
    assert_eq!((parquet.rows(), parquet.names()), (56, csv.names()));
    for column in ["row", "mean"] {
        let numbers = |table: &Table| match table.column(column) {
            Some(Column::Numbers(numbers)) => numbers.clone(),
            other => panic!("{other:?}"),
        };
        assert_eq!(numbers(&parquet), numbers(&csv));
    }
}

#[test]
fn unsupported_formats_are_named_in_errors() {
    let folder = folder();
    let expected = "data.csv: expected CSV (plain, gzip or zstd) or Parquet, found";
    folder.data_refused(b"PK\x03\x04\x14\0\x06\0", &format!("{expected} a zip archive or a workbook (.xlsx, .ods)"));
    folder.data_refused(b"[{\"x\": 1, \"y\": 2}]", &format!("{expected} JSON"));
    folder.data_refused(b"\x28\xb5\x2f\xfd\0\0", "data.csv: the zstd stream is truncated");
    folder.data_refused(
        gzip(&folder.read("ok.parquet")),
        &format!("{expected} Parquet inside a compression: undo that first"),
    );
    let cut = folder.read("ok.parquet");
    folder.write("cut.parquet", &cut[..cut.len() - 9]);
    let outcome = folder.run(&["predict", "ok.negmm", "cut.parquet", "-o", "out.parquet"]);
    assert_eq!(outcome.code, Some(1));
    assert!(outcome.err.starts_with("error: cut.parquet: cannot be read as Parquet: "), "{}", outcome.err);
    assert!(!folder.names().contains(&"out.parquet".to_string()));
    let keep = ["predict", "ok.negmm", "ok.parquet", "--keep", "z"];
    folder.refused(&keep, 2, "ok.parquet: there is no column \"z\"; the columns are \"x\", \"c\", \"y\"");
}
