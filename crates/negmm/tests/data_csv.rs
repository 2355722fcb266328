//! CSV files: what is read, and the exact message of every error.

use std::error::Error as _;
use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use negmm::ErrorKind;
use negmm::data::{Column, CsvStream, Kind, MISSING, Schema, Table};
use proptest::prelude::*;

const MIXED: &str = "id,age,city,note\n\
    7,1.5,Paris,\"a, b\"\n\
    8, NA ,\"São \"\"P\"\"\",\"two\nlines\"\n\
    09,-2e3, Paris ,null\n\
    10,,n/a,\"\"\n\
    x,.5,Rome,3\n";

fn read(text: impl AsRef<[u8]>) -> negmm::Result<Table> {
    Table::read_from(text.as_ref(), "people.csv")
}

fn complaint(text: impl AsRef<[u8]>) -> String {
    let error = read(text).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Data);
    error.to_string()
}

fn schema(columns: &[(&str, Kind)], keep: &[&str]) -> Schema {
    Schema {
        columns: columns.iter().map(|(name, kind)| (name.to_string(), (*kind).into())).collect(),
        keep: keep.iter().map(|name| name.to_string()).collect(),
        ..negmm::data::Schema::default()
    }
}

fn stream(text: impl AsRef<[u8]>, schema: &Schema) -> negmm::Result<CsvStream> {
    CsvStream::from_reader(std::io::Cursor::new(text.as_ref().to_vec()), "people.csv", schema)
}

fn stream_complaint(text: impl AsRef<[u8]>, columns: &[(&str, Kind)]) -> String {
    let result = stream(text, &schema(columns, &[])).and_then(|mut stream| {
        while stream.next_chunk(2)?.is_some() {}
        Ok(())
    });
    result.unwrap_err().to_string()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// The cells of a column as text, `-` for missing ones.
fn cells(table: &Table, name: &str) -> Vec<String> {
    match table.column(name).unwrap() {
        Column::Numbers(numbers) => {
            numbers.iter().map(|n| if n.is_nan() { "-".to_string() } else { n.to_string() }).collect()
        }
        Column::Times(_) => panic!("a file has numbers and text"),
        Column::Text { codes, levels } => codes
            .iter()
            .map(|code| if *code == MISSING { "-".to_string() } else { levels[*code as usize].clone() })
            .collect(),
    }
}

#[test]
fn kinds_are_learnt_from_the_whole_column() {
    let table = read(MIXED).unwrap();
    assert_eq!(table.rows(), 5);
    assert_eq!(table.names(), ["id", "age", "city", "note"]);
    assert_eq!(cells(&table, "id"), ["7", "8", "09", "10", "x"]);
    assert_eq!(cells(&table, "age"), ["1.5", "-", "-2000", "-", "0.5"]);
    assert_eq!(cells(&table, "city"), ["Paris", "São \"P\"", "Paris", "-", "Rome"]);
    assert_eq!(cells(&table, "note"), ["a, b", "two\nlines", "-", "-", "3"]);
    assert!(matches!(table.column("age"), Some(Column::Numbers(_))));
    assert!(matches!(table.column("city"), Some(Column::Text { levels, .. }) if levels.len() == 3));
}

#[test]
fn a_stream_reads_what_the_whole_reads() {
    let whole = read(MIXED).unwrap();
    let columns = [("city", Kind::Text), ("age", Kind::Number), ("id", Kind::Text), ("note", Kind::Text)];
    for max_rows in [0, 1, 2, 7, 1000, usize::MAX] {
        let mut stream = stream(MIXED, &schema(&columns, &["age", "note"])).unwrap();
        let (mut found, mut kept) = (vec![Vec::new(); 4], vec![Vec::new(); 2]);
        while let Some(chunk) = stream.next_chunk(max_rows).unwrap() {
            assert!((1..=max_rows.max(1)).contains(&chunk.table.rows()));
            for (found, (name, _)) in found.iter_mut().zip(columns) {
                found.extend(cells(&chunk.table, name));
            }
            for (kept, column) in kept.iter_mut().zip(&chunk.kept) {
                kept.extend(column.cells().map(String::from));
            }
        }
        for (found, (name, _)) in found.iter().zip(columns) {
            assert_eq!(*found, cells(&whole, name), "{name} by {max_rows}");
        }
        assert_eq!(kept[0], ["1.5", " NA ", "-2e3", "", ".5"]);
        assert_eq!(kept[1], ["a, b", "two\nlines", "null", "", "3"]);
    }
}

#[test]
fn the_wanted_columns_may_be_few_or_none() {
    let mut some = stream("a,b\n1,x\n2,y\n", &schema(&[], &["b"])).unwrap();
    assert_eq!(some.header(), ["a", "b"]);
    let chunk = some.next_chunk(10).unwrap().unwrap();
    assert_eq!((chunk.table.rows(), chunk.kept[0].name()), (2, "b"));
    assert!(some.next_chunk(10).unwrap().is_none());
}

#[test]
fn delimiters_line_ends_marks_and_gzip() {
    let plain = read("a,b\n1,2\n3,4\n").unwrap();
    for text in [
        "a;b\n1;2\n3;4\n",
        "a\tb\n1\t2\n3\t4",
        "\u{feff}a,b\r\n1,2\r\n3,4\r\n",
        "\n\na , b\n\n1,2\n\n3, 4\n\n\n",
        "a,b\r1,2\r3,4\r",
        "\"a\",\"b\"\n\"1\",\"2\"\n3,4",
    ] {
        for bytes in [text.as_bytes().to_vec(), gzip(text.as_bytes())] {
            let table = read(bytes).unwrap();
            assert_eq!(table.names(), plain.names(), "{text:?}");
            assert_eq!(cells(&table, "a"), ["1", "3"], "{text:?}");
            assert_eq!(cells(&table, "b"), ["2", "4"], "{text:?}");
        }
    }
    let members = [gzip(b"a,b\n1,2\n"), gzip(b"3,4\n")].concat();
    assert_eq!(read(members).unwrap().rows(), 2);
}

#[test]
fn columns_without_a_name_are_called_by_position() {
    assert_eq!(read(",a,\n0,1,2\n").unwrap().names(), ["column 1", "a", "column 3"]);
}

#[test]
fn every_missing_word_is_missing() {
    let table = read("a,b\n1,x\n,\nna,NA\nn/a,N/A\nnan,NaN\nNULL,null\n \t, \n-nan,y\n").unwrap();
    assert_eq!(cells(&table, "a"), ["1", "-", "-", "-", "-", "-", "-", "-"]);
    assert_eq!(cells(&table, "b"), ["x", "-", "-", "-", "-", "-", "-", "y"]);
    assert!(matches!(read("a,b\n1,\n").unwrap().column("b"), Some(Column::Numbers(n)) if n[0].is_nan()));
}

#[test]
fn empty_files() {
    for empty in ["", "\u{feff}"] {
        assert_eq!(complaint(empty), "people.csv: the file is empty");
    }
    assert_eq!(complaint("\n\r\n\n"), "people.csv: the file has only blank lines");
    assert_eq!(complaint(gzip(b"")), "people.csv: the file is empty");
    assert_eq!(complaint("a,b\n"), "people.csv: there is a header but no row of data");
    assert_eq!(stream_complaint("a,b", &[]), "people.csv: there is a header but no row of data");
}

#[test]
fn ragged_rows() {
    assert_eq!(complaint("a,b\n1,2\n3\n"), "people.csv, row 2 (line 3): expected 2 cells, found 1");
    assert_eq!(complaint("a,b\r\n1,2\r\n3,4,5\r\n"), "people.csv, row 2 (line 3): expected 2 cells, found 3");
    assert_eq!(complaint("a,b\n\n\"1\n\n\",2\n\n3"), "people.csv, row 2 (line 7): expected 2 cells, found 1");
    assert_eq!(stream_complaint("a,b\n1,2\n3", &[]), "people.csv, row 2 (line 3): expected 2 cells, found 1");
}

#[test]
fn duplicate_columns() {
    assert_eq!(complaint("a,b,a\n1,2,3\n"), "people.csv: the column name \"a\" occurs twice (columns 1 and 3)");
}

#[test]
fn bytes_that_are_not_text() {
    assert_eq!(
        complaint(b"a,\xff\n1,2\n"),
        "people.csv, header (line 1), column 2: expected text in UTF-8, found other bytes: convert it (of Latin-1: iconv -f LATIN1 -t UTF-8)"
    );
    let text = "people.csv, row 2 (line 3), column \"b\": expected text in UTF-8, found other bytes: convert it (of Latin-1: iconv -f LATIN1 -t UTF-8)";
    assert_eq!(complaint(b"a,b\n1,x\n2,caf\xe9\n"), text);
    assert_eq!(stream_complaint(b"a,b\n1,x\n2,caf\xe9\n", &[("b", Kind::Text)]), text);
    assert_eq!(stream_complaint(b"a,b\n1,3\n2,caf\xe9\n", &[("b", Kind::Number)]), text);
    assert_eq!(
        complaint(b"a,b\n1,2\n3,\0\n"),
        "people.csv, row 2 (line 3), column \"b\": expected text in UTF-8, found a NUL byte: convert it (of UTF-16: iconv -f UTF-16 -t UTF-8)"
    );
    assert_eq!(
        complaint("a,b\n1,2\n".encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>()),
        "people.csv, header (line 1), column 1: expected text in UTF-8, found a NUL byte: convert it (of UTF-16: iconv -f UTF-16 -t UTF-8)"
    );
}

#[test]
fn quotes_left_open() {
    assert_eq!(complaint("a,b\n1,2\n3,\"4\n5,6\n"), "people.csv, row 2 (line 3): a quote is opened and never closed");
    assert_eq!(complaint("a,\"b\n1,2\n"), "people.csv, header (line 1): a quote is opened and never closed");
    assert_eq!(read("a,b\n1,\"x\n\"").unwrap().rows(), 1);
}

#[test]
fn infinite_numbers() {
    for cell in ["inf", "-Infinity", "1e999"] {
        let message = format!("people.csv, row 2 (line 3), column \"b\": the number \"{cell}\" is not finite");
        let text = format!("a,b\n1,2\n3, {cell}\n4,inf\n");
        assert_eq!(complaint(&text), message);
        assert_eq!(stream_complaint(&text, &[("b", Kind::Number)]), message);
        assert_eq!(cells(&read(text + "5,text\n").unwrap(), "b"), ["2", cell, "inf", "text"]);
    }
}

#[test]
fn text_where_a_number_was() {
    let text = "name,age\nx,1\n\"y\ny\",2\nz,abc\n";
    let message = "people.csv, row 3 (line 5), column \"age\": expected a number, found \"abc\"";
    assert_eq!(stream_complaint(text, &[("age", Kind::Number)]), message);
    assert_eq!(stream_complaint(text.replace('\n', "\r\n"), &[("age", Kind::Number)]), message);
    assert_eq!(
        stream_complaint("a\n\u{7}bell and a very long text that no message should repeat\n", &[("a", Kind::Number)]),
        "people.csv, row 1 (line 2), column \"a\": expected a number, \
         found \"\\u{7}bell and a very long text that no messa…\""
    );
}

#[test]
fn columns_that_are_not_there() {
    let text = "age,city,income\n1,x,2\n";
    assert_eq!(
        stream_complaint(text, &[("Age", Kind::Number), ("height", Kind::Number), ("city", Kind::Text)]),
        "people.csv: there is no column \"Age\" (did you mean \"age\"?) or \"height\"; \
         the columns are \"age\", \"city\", \"income\""
    );
    let error = stream(text, &schema(&[], &["id"])).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Options);
    assert_eq!(
        error.to_string(),
        "people.csv: there is no column \"id\"; the columns are \"age\", \"city\", \"income\""
    );
}

#[test]
fn broken_gzip() {
    let text: String = (0..2000).map(|row| format!("{row},{}\n", row * 7919 % 1000)).collect();
    let whole = gzip(format!("a,b\n{text}").as_bytes());
    for length in [3, 12, whole.len() / 2, whole.len() - 1] {
        let message = "people.csv: the gzip stream is truncated";
        assert_eq!(complaint(&whole[..length]), message, "{length}");
        assert_eq!(stream_complaint(&whole[..length], &[("a", Kind::Number)]), message, "{length}");
    }
    let mut corrupt = whole.clone();
    corrupt[whole.len() - 6] ^= 0x55;
    assert_eq!(complaint(corrupt), "people.csv: the gzip stream is corrupt");
    assert_eq!(
        complaint([&whole[..], b"tail of something else"].concat()),
        "people.csv: the gzip stream is followed by bytes that are none"
    );
}

#[test]
fn files_directories_and_their_absence() {
    let folder = std::env::temp_dir().join(format!("negmm-data-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("two, in.TSV");
    std::fs::write(&file, gzip(b"a, b\tc\n1\t2\n")).unwrap();
    let table = Table::read(&file).unwrap();
    assert_eq!(table.names(), ["a, b", "c"]);
    assert_eq!(table.name(), file.display().to_string());
    let mut stream = CsvStream::open(&file, &schema(&[("c", Kind::Number)], &[])).unwrap();
    assert_eq!(cells(&stream.next_chunk(9).unwrap().unwrap().table, "c"), ["2"]);

    let shown = folder.display();
    std::fs::create_dir_all(folder.join("empty")).unwrap();
    let error = Table::read(folder.join("empty")).unwrap_err();
    assert_eq!(error.to_string(), format!("{shown}/empty: there is no CSV or Parquet file in this folder"));
    let error = Table::read(folder.join("none.csv")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
    assert!(error.source().is_some_and(|source| source.is::<std::io::Error>()));
    assert!(error.to_string().starts_with(&folder.join("none.csv: ").display().to_string()), "{error}");
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn the_place_of_a_bad_cell_can_be_asked_for() {
    let text = "id,the age\n1,2\n\n2,\"x\ny\"\n";
    let wanted = schema(&[("the age", Kind::Number)], &[]);
    let error = stream(text, &wanted).unwrap().next_chunk(9).unwrap_err();
    assert_eq!(error.to_string(), r#"people.csv, row 2 (line 4), column "the age": expected a number, found "x\ny""#);
    let location = error.location();
    assert_eq!((location.file(), location.line(), location.row()), (Some("people.csv"), Some(4), Some(1)));
    assert_eq!(location.column(), Some("the age"));

    let cut = &gzip(text.repeat(100).as_bytes())[..30];
    let error = read(cut).unwrap_err();
    assert_eq!((error.location().file(), error.location().row()), (Some("people.csv"), None));
    assert!(error.source().is_some_and(|source| source.is::<std::io::Error>()), "{error:?}");
}

proptest! {
    #[test]
    fn random_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = read(&bytes);
        let _ = read([&[0x1f, 0x8b, 8, 0][..], &bytes].concat());
        let _ = read(gzip(&bytes));
    }

    #[test]
    fn random_tables_never_panic_and_stream_alike(text in "[ab1.,;\"\n\r\t -]{0,60}") {
        let text = format!("x,y\n{text}");
        let columns = [("x", Kind::Text), ("y", Kind::Text)];
        let whole = read(&text);
        let chunk = stream(&text, &schema(&columns, &["x"])).and_then(|mut stream| stream.next_chunk(usize::MAX));
        match (whole, chunk) {
            (Ok(table), Ok(Some(chunk))) => prop_assert_eq!(table.rows(), chunk.table.rows()),
            (Err(whole), Err(chunk)) => prop_assert_eq!(whole, chunk),
            (whole, chunk) => prop_assert!(false, "{:?} {:?}", whole, chunk),
        }
    }

    #[test]
    fn numbers_survive_writing_and_reading(numbers in proptest::collection::vec(-1e300..1e300, 1..20)) {
        let text: String = numbers.iter().map(|number| format!("{number:e}\n")).collect();
        let table = read(format!("a\n{text}")).unwrap();
        prop_assert!(matches!(table.column("a"), Some(Column::Numbers(read)) if *read == numbers));
    }
}
