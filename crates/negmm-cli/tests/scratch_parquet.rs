//! Fits of Parquet files from scratch files: the bits of a fit in memory.
#![cfg(feature = "parquet")]

use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, Float64Array, Int64Array, RecordBatch, StringArray, TimestampMicrosecondArray,
};
use negmm::data::ParquetWriter;

use crate::common::Folder;
use crate::scratch::{names, same};

/// Microseconds of a day.
const DAY: i64 = 86_400_000_000;

/// Rows with a column of every type; the first file has no cell of `late`, and its `code` is numbers as text.
fn part(rows: std::ops::Range<usize>) -> Vec<(&'static str, ArrayRef)> {
    let first = rows.start == 0;
    let each = || rows.clone();
    let x = |row: usize| (row as f64 * 0.618_033_988_749).fract();
    let numbers = |of: &dyn Fn(usize) -> Option<f64>| Arc::new(each().map(of).collect::<Float64Array>()) as ArrayRef;
    let texts = |of: &dyn Fn(usize) -> Option<String>| Arc::new(each().map(of).collect::<StringArray>()) as ArrayRef;
    let shops = |row: usize| (!row.is_multiple_of(13)).then(|| format!("shop {}", row * 7 % 90));
    let times = each().map(|row| (!row.is_multiple_of(17)).then_some(19_000 * DAY + row as i64 * DAY / 3));
    vec![
        ("x", numbers(&|row| Some(x(row)))),
        ("gaps", numbers(&|row| (!row.is_multiple_of(11)).then(|| (row * row % 97) as f64))),
        ("late", numbers(&|row| (!first && !row.is_multiple_of(2)).then_some(row as f64))),
        ("count", Arc::new(Int64Array::from_iter_values(each().map(|row| (row % 5) as i64)))),
        (
            "flag",
            Arc::new(each().map(|row| (!row.is_multiple_of(7)).then_some(row % 2 == 0)).collect::<BooleanArray>()),
        ),
        ("kind", texts(&|row| (!row.is_multiple_of(9)).then(|| ["a", "b", "c"][row % 3].into()))),
        ("shop", texts(&shops)),
        ("code", texts(&|row| Some(if row % 5 == 0 { "n/a".into() } else { format!("{}.5", row % 23) }))),
        ("day", Arc::new(Date32Array::from_iter_values(each().map(|row| 19_000 + (row * 31 % 700) as i32)))),
        ("at", Arc::new(times.collect::<TimestampMicrosecondArray>())),
        ("y", numbers(&|row| Some(2.0 * x(row) + (row * 7 % 90 % 5) as f64))),
    ]
}

fn parquet(columns: Vec<(&str, ArrayRef)>) -> Vec<u8> {
    let mut writer = ParquetWriter::new(Vec::new());
    let columns = columns.into_iter().map(|(name, column)| (name, column, true));
    writer.write(&RecordBatch::try_from_iter_with_nullable(columns).unwrap()).unwrap();
    writer.finish().unwrap().unwrap()
}

/// Three files of 110 rows in folders that are columns.
fn folder() -> Folder {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("scratch")).unwrap();
    for (number, (year, city)) in
        [("2024", "Oslo"), ("2025", "Rome"), ("2025", "__HIVE_DEFAULT_PARTITION__")].into_iter().enumerate()
    {
        let own = format!("parts/year={year}/city={city}");
        std::fs::create_dir_all(folder.path(&own)).unwrap();
        folder.write(&format!("{own}/part.parquet"), parquet(part(number * 110..(number + 1) * 110)));
    }
    folder.write("one.parquet", parquet(part(110..300)));
    folder
}

#[test]
fn a_fit_from_disk_has_the_bits_of_one_in_memory() {
    let folder = folder();
    let auto = ["--steps", "20", "--preset", "fast"];
    for data in ["parts", "one.parquet"] {
        same(&folder, data, &auto);
    }
    let inspected = folder.done(&["inspect", "disk.negmm"]).text();
    assert!(inspected.contains("shop      text, target encoding"), "{inspected}");
    let short = ["--method", "ne-gmm", "--epochs", "2", "--hidden", "4"];
    same(&folder, "parts/*/*/*.parquet", &[&short[..], &["--time", "day", "--text", "count"]].concat());
    same(&folder, "parts", &[&short[..], &["--group", "year", "--missing", "n/a,96", "--number", "code"]].concat());
    same(&folder, "parts", &[&short[..], &["--weight", "count"]].concat());
    // The folders are inputs.
    folder.done(&["fit", "parts", "--target", "y", "-o", "m.negmm", "--method", "constant", "--scratch", "scratch"]);
    let inputs = folder.done(&["inspect", "m.negmm"]).text();
    assert!(inputs.contains("year") && inputs.contains("city") && inputs.contains("Oslo"), "{inputs}");
}

#[test]
fn what_cannot_be_read_is_refused() {
    let folder = folder();
    let refused = |data: &str, message: &str| {
        let fit = ["fit", data, "--target", "y", "-o", "new.negmm", "--scratch", "scratch", "--quiet"];
        folder.refused(&fit, 1, message);
        assert!(names(&folder).is_empty());
    };
    std::fs::create_dir(folder.path("mixed")).unwrap();
    folder.write("mixed/1.csv", "x,y\n1,2\n");
    folder.write("mixed/2.parquet", parquet(part(0..9)));
    refused("mixed", "mixed/2.parquet: expected CSV as in mixed/1.csv, found Parquet: a scratch file has one format");
    std::fs::create_dir(folder.path("other")).unwrap();
    folder.write("other/1.parquet", parquet(part(110..140)));
    let mut columns = part(140..170);
    columns[1].1 = columns[5].1.clone();
    folder.write("other/2.parquet", parquet(columns.clone()));
    refused("other", "other/2.parquet, column \"gaps\": expected numbers as in other/1.parquet, found text");
    columns.remove(1);
    folder.write("other/2.parquet", parquet(columns));
    refused("other", "other/2.parquet, column \"gaps\": is absent, but other/1.parquet has it");
    folder.write("other/2.parquet", &folder.read("one.parquet")[..900]);
    let fit = ["fit", "other", "--target", "y", "-o", "new.negmm", "--scratch", "scratch", "--quiet"];
    let outcome = folder.call(&fit);
    assert_eq!(outcome.code, Some(1));
    assert!(outcome.err.starts_with("error: other/2.parquet"), "{}", outcome.err);
}
