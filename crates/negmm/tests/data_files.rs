//! Several files as one table: the rows that one file would give, whole and in chunks, and errors that name file, row and column.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int32Array, RecordBatch, StringArray, TimestampMicrosecondArray};
use negmm::data::{Column, ColumnType, Dialect, ParquetWriter, RowStream, Schema, Table, files_of};
use tempfile::TempDir;

/// The cells of a column as text.
fn cells(table: &Table, name: &str) -> Vec<String> {
    match table.column(name).unwrap() {
        Column::Numbers(numbers) => numbers.iter().map(f64::to_string).collect(),
        Column::Times(times) => times.iter().map(|time| format!("at {time}")).collect(),
        Column::Text { codes, levels } => {
            codes.iter().map(|code| levels.get(*code as usize).cloned().unwrap_or_default()).collect()
        }
    }
}

fn write(folder: &Path, name: &str, content: impl AsRef<[u8]>) {
    let path = folder.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, content).unwrap();
}

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

fn parquet(columns: Vec<(&str, ArrayRef)>) -> Vec<u8> {
    let mut writer = ParquetWriter::new(Vec::new());
    writer.write(&RecordBatch::try_from_iter(columns).unwrap()).unwrap();
    writer.finish().unwrap().unwrap()
}

/// The same rows in one file, `one.csv`, and in five of `many`: plain, gzip, zstd, with other delimiters and columns in
/// another order, and without rows.
fn folder() -> TempDir {
    let folder = TempDir::new().unwrap();
    let row = |row: usize| {
        let number = if row == 7 { "n/a".into() } else { format!("{}.5", row * row) };
        // Only the last file shows that these are codes.
        (number, if row < 11 { row.to_string() } else { format!("0{row}0") }, format!("town {}", row % 3))
    };
    let part = |rows: std::ops::Range<usize>| {
        rows.map(row).fold("x,code,town\n".to_string(), |mut text, (x, code, town)| {
            writeln!(text, "{x},{code},{town}").unwrap();
            text
        })
    };
    let swapped = (3..6).map(row).fold("town;x;code\n".to_string(), |mut text, (x, code, town)| {
        writeln!(text, "{town};{x};{code}").unwrap();
        text
    });
    write(folder.path(), "one.csv", part(0..13));
    write(folder.path(), "many/a.csv", part(0..3));
    write(folder.path(), "many/b.csv", swapped);
    write(folder.path(), "many/c/1.csv.gz", gzip(&part(6..9)));
    write(folder.path(), "many/c/2.csv", "x,code,town\n");
    write(folder.path(), "many/d.csv.zst", zstd::encode_all(part(9..13).as_bytes(), 1).unwrap());
    write(folder.path(), "many/_SUCCESS", "");
    folder
}

fn same(one: &Table, many: &Table) {
    assert_eq!(one.names(), many.names());
    for name in one.names() {
        assert_eq!(cells(one, name), cells(many, name), "{name}");
        let type_of =
            |table: &Table| table.typed_column(name).map(|read| (read.column_type.clone(), read.note.clone()));
        assert_eq!(type_of(one), type_of(many), "{name}");
    }
}

#[test]
fn many_csv_files_are_read_as_one_that_has_all_rows() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name);
    let one = Table::read(path("one.csv")).unwrap();
    assert_eq!(cells(&one, "code")[11..], ["0110", "0120"]);
    same(&one, &Table::read(path("many")).unwrap());
    same(&one, &Table::read(path("many/**/*.csv*")).unwrap());
    let listed = [path("many/a.csv"), path("many/b.csv"), path("many/c"), path("many/[d].*")];
    same(&one, &Table::read_files(&listed, &Dialect::default()).unwrap());
    // A list keeps its order.
    let turned = Table::read_files(&[path("many/d.csv.zst"), path("many/a.csv")], &Dialect::default()).unwrap();
    assert_eq!(cells(&turned, "x")[3..5], ["144.5", "0.5"]);
    let names: Vec<PathBuf> = files_of(path("many")).unwrap();
    let names: Vec<&Path> = names.iter().map(|name| name.strip_prefix(path("many")).unwrap()).collect();
    assert_eq!(names, ["a.csv", "b.csv", "c/1.csv.gz", "c/2.csv", "d.csv.zst"].map(Path::new));
}

#[test]
fn chunks_go_on_from_file_to_file() {
    let folder = folder();
    let schema = Schema {
        columns: vec![("x".into(), ColumnType::number()), ("town".into(), ColumnType::text())],
        keep: vec!["code".into(), "x".into()],
        ..Schema::default()
    };
    for rows in [1, 4, 100] {
        let chunks = |name: &str| {
            let mut stream = RowStream::open(folder.path().join(name), &schema).unwrap();
            let mut chunks = Vec::new();
            while let Some(chunk) = stream.next_chunk(rows).unwrap() {
                chunks.push(chunk);
            }
            assert!(stream.next_chunk(rows).unwrap().is_none());
            chunks
        };
        let (one, many) = (chunks("one.csv"), chunks("many"));
        assert_eq!((one.len(), many.len()), (13_usize.div_ceil(rows), 13_usize.div_ceil(rows)));
        for (one, many) in one.iter().zip(&many) {
            same(&one.table, &many.table);
            for (one, many) in one.kept.iter().zip(&many.kept) {
                assert_eq!((one.name(), one.cells().collect::<Vec<_>>()), (many.name(), many.cells().collect()));
            }
        }
    }
}

#[test]
fn csv_and_parquet_agree_or_the_error_names_file_and_column() {
    let folder = TempDir::new().unwrap();
    let times =
        |days: [i64; 2]| Arc::new(TimestampMicrosecondArray::from(days.map(|day| day * 86_400_000_000).to_vec()));
    let text = |cells: [Option<&str>; 2]| Arc::new(StringArray::from(cells.to_vec())) as ArrayRef;
    let columns = |city: ArrayRef| -> Vec<(&str, ArrayRef)> {
        vec![("day", times([0, 1])), ("city", city), ("y", Arc::new(Int32Array::from(vec![1, 2])))]
    };
    write(folder.path(), "1.parquet", parquet(columns(text([Some("Rome"), None]))));
    write(folder.path(), "2.csv", "y,day,city\n0.5,1970-01-05,Oslo\n");
    let floats = Arc::new(Float64Array::from(vec![Some(3.5), None]));
    let third = vec![("city", text([Some("Oslo"), Some("Bern")])), ("y", floats as ArrayRef), ("day", times([2, 3]))];
    write(folder.path(), "3.parquet", parquet(third));
    let table = Table::read(folder.path()).unwrap();
    assert_eq!(table.names(), ["day", "city", "y"]);
    assert_eq!(cells(&table, "y"), ["1", "2", "0.5", "3.5", "NaN"]);
    assert_eq!(cells(&table, "city"), ["Rome", "", "Oslo", "Oslo", "Bern"]);
    assert_eq!(cells(&table, "day"), ["at 0", "at 86400", "at 345600", "at 172800", "at 259200"]);
    assert_eq!((table.rows(), table.row_number(2)), (5, 3));

    let complaint = || {
        let error = Table::read(folder.path()).unwrap_err().to_string();
        error.replace(&format!("{}/", folder.path().display()), "")
    };
    write(folder.path(), "4.parquet", parquet(columns(Arc::new(Float64Array::from(vec![1.0, 2.0])))));
    assert_eq!(complaint(), "4.parquet, column \"city\": expected text as in 1.parquet, found numbers");
    write(folder.path(), "4.parquet", parquet(columns(Arc::new(Float64Array::from(vec![None, None])))));
    assert_eq!(cells(&Table::read(folder.path()).unwrap(), "city")[5..], ["", ""]);
    write(folder.path(), "4.parquet", parquet(vec![("day", times([0, 1])), ("y", times([0, 1]))]));
    assert_eq!(complaint(), "4.parquet, column \"city\": is absent, but 1.parquet has it");
    std::fs::remove_file(folder.path().join("4.parquet")).unwrap();
    write(folder.path(), "2.csv", "y,day,city,more\n0.5,1970-01-05,Oslo,1\n");
    assert_eq!(complaint(), "2.csv, column \"more\": 1.parquet has no such column");
    write(folder.path(), "2.csv", "y,day,city\n0.5,1970-01-05,Oslo\n1,oops,Oslo\n");
    assert_eq!(complaint(), "2.csv, column \"day\": expected times as in 1.parquet, found text");
}

#[test]
fn folders_are_columns() {
    let folder = TempDir::new().unwrap();
    write(folder.path(), "sales/year=2024/city=S%C3%A3o Paulo/a.csv", "x,y\n1,2\n3,4\n");
    write(folder.path(), "sales/year=2025/city=Bern/a.csv", "y,x\n6,5\n");
    write(folder.path(), "sales/year=2025/city=__HIVE_DEFAULT_PARTITION__/b.csv", "x,y\n7,8\n");
    let table = Table::read(folder.path().join("sales")).unwrap();
    assert_eq!(table.names(), ["x", "y", "year", "city"]);
    assert_eq!(cells(&table, "year"), ["2024", "2024", "2025", "2025"]);
    assert!(matches!(table.column("year"), Some(Column::Numbers(_))));
    assert_eq!(cells(&table, "city"), ["São Paulo", "São Paulo", "Bern", ""]);
    assert_eq!(cells(&table, "x"), ["1", "3", "5", "7"]);
    let text = Dialect::default().text(["year"]);
    let read = Table::read_with(folder.path().join("sales/year=2025/**/*.csv"), &text).unwrap();
    assert_eq!((cells(&read, "year"), read.names().len()), (vec!["2025".to_string(); 2], 4));
    assert!(matches!(read.column("year"), Some(Column::Text { .. })));
    let schema = Schema {
        columns: vec![("year".into(), ColumnType::number()), ("x".into(), ColumnType::number())],
        keep: vec!["city".into(), "y".into(), "year".into()],
        ..Schema::default()
    };
    let mut stream = RowStream::open(folder.path().join("sales"), &schema).unwrap();
    assert_eq!(stream.header(), ["x", "y", "year", "city"]);
    let chunk = stream.next_chunk(9).unwrap().unwrap();
    assert_eq!(chunk.table.numbers("year").unwrap().unwrap().as_ref(), [2024.0, 2024.0, 2025.0, 2025.0]);
    let kept: Vec<Vec<_>> = chunk.kept.iter().map(|column| column.cells().collect()).collect();
    assert_eq!(kept[0], ["São Paulo", "São Paulo", "Bern", ""]);
    assert_eq!(
        (&kept[1][..], &kept[2][2..]),
        (&["2".into(), "4".into(), "6".into(), "8".into()][..], &["2025".into(), "2025".into()][..])
    );
    write(folder.path(), "sales/c.csv", "x,y\n7,8\n");
    let error = Table::read(folder.path().join("sales")).unwrap_err().to_string();
    assert!(error.contains("column \"year\""), "{error}");
    // A column of the files themselves comes first.
    write(folder.path(), "own/year=1/a.csv", "year,y\n2024,1\n");
    let own = Table::read(folder.path().join("own")).unwrap();
    assert_eq!((own.names().len(), &cells(&own, "year")[..]), (2, &["2024".to_string()][..]));
}

#[test]
fn errors_name_the_file_and_the_row_in_it() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name);
    let shown = |name: &str| path(name).display().to_string();
    let complaint = |name: &str| Table::read(path(name)).unwrap_err().to_string();
    assert_eq!(complaint("none/*.csv"), format!("{}: no file has a name of this pattern", shown("none/*.csv")));
    write(folder.path(), "many/e.csv", "x,code,town\n1,2,3\n4,5\n");
    assert_eq!(complaint("many"), format!("{}, row 2 (line 3): expected 3 cells, found 2", shown("many/e.csv")));
    write(folder.path(), "many/e.csv", "x,code,town\n1,2,3\n\n1e999,2,3\n");
    let infinite = "the number \"1e999\" is not finite";
    assert_eq!(complaint("many"), format!("{}, row 2 (line 4), column \"x\": {infinite}", shown("many/e.csv")));
    // Of a table that is read, too.
    std::fs::write(path("many/e.csv"), "x,code,town\n1,2,3\n4,5,\n").unwrap();
    let error = Table::read(path("many")).unwrap().groups("town").unwrap_err().to_string();
    assert!(error.starts_with(&format!("{}, row 2, column \"town\": ", shown("many/e.csv"))), "{error}");
    let schema = Schema { columns: vec![("x".into(), ColumnType::number())], ..Schema::default() };
    write(folder.path(), "many/e.csv", "x,code,town\n1,2,3\nfive,5,\n");
    let mut stream = RowStream::open(path("many"), &schema).unwrap();
    let error = stream.next_chunk(100).unwrap_err().to_string();
    assert_eq!(
        error,
        format!("{}, row 2 (line 3), column \"x\": expected a number, found \"five\"", shown("many/e.csv"))
    );
    write(folder.path(), "many/notes.md", "# Notes\n");
    let error = complaint("many");
    assert!(error.contains("expected CSV and Parquet files in this folder, found notes.md"), "{error}");
    std::fs::create_dir(path("void")).unwrap();
    write(folder.path(), "void/a.csv", "x\n");
    write(folder.path(), "void/b.csv", "x\n");
    assert_eq!(complaint("void"), format!("{}: there is no row of data", shown("void")));
}

#[test]
fn a_sample_is_some_rows_wherever_they_lie() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name);
    let sample = |name: &str, rows: usize| Table::read_sample(&[path(name)], &Dialect::default(), rows, 5).unwrap();
    let (one, all) = sample("one.csv", 6);
    let (many, of_many) = sample("many", 6);
    assert_eq!((one.rows(), all, of_many), (6, 13, 13));
    same(&one, &many);
    let numbers = |table: &Table| (0..6).map(|row| table.row_number(row)).collect::<Vec<_>>();
    assert_eq!(numbers(&one), numbers(&many));
    let whole = Table::read(path("one.csv")).unwrap();
    let drawn: Vec<usize> = numbers(&one).iter().map(|number| number - 1).collect();
    assert_eq!(cells(&one, "x"), cells(&whole.select_rows(&drawn), "x"));
    assert_eq!(numbers(&whole.sample(6, 5)), numbers(&one));
    let (all_rows, all) = sample("many", 13);
    assert_eq!((all_rows.rows(), all), (13, 13));
    same(&whole, &all_rows);
    // Of Parquet, too, and errors name the row in the file.
    let numbers = Arc::new(Float64Array::from((0..50).map(f64::from).collect::<Vec<_>>()));
    let text = Arc::new(StringArray::from((0..50).map(|row| format!("z{row}")).collect::<Vec<_>>()));
    write(folder.path(), "p/1.parquet", parquet(vec![("n", numbers), ("t", text)]));
    write(folder.path(), "p/2.csv", "t,n\na,50\nb,51\nc,\"5\"\"2\"\n");
    let (table, all) = sample("p", 20);
    assert_eq!((table.rows(), all), (20, 53));
    for row in 0..20 {
        let number = table.row_number(row);
        let expected = if number <= 50 { format!("z{}", number - 1) } else { ["a", "b", "c"][number - 51].into() };
        assert_eq!(cells(&table, "t")[row], expected);
    }
    let error = table.numbers("t").unwrap().unwrap_err().to_string();
    let first = table.row_number(0);
    assert!(error.contains(&format!("p/1.parquet, row {first}, column \"t\": ")), "{error}");
}

/// Different texts are held in memory, up to a limit.
#[test]
fn texts_of_a_scratch_table_have_a_limit() {
    let folder = TempDir::new().unwrap();
    let name = |row: usize| format!("town {row:03}");
    let lines: String = (0..60).map(|row| format!("{row},{}\n", name(row))).collect();
    write(folder.path(), "t.csv", format!("x,town\n{lines}"));
    let towns: ArrayRef = Arc::new((0..60).map(|row| Some(name(row))).collect::<StringArray>());
    write(folder.path(), "t.parquet", parquet(vec![("town", towns)]));
    let scratch = negmm::data::Scratch::in_folder(folder.path()).unwrap();
    for file in ["t.csv", "t.parquet"] {
        let read = |bytes: usize| {
            let path = folder.path().join(file);
            negmm::data::ScratchTable::read_files(&[path], &Dialect::default(), &scratch, bytes)
        };
        // A level is 8 bytes of text, and 64 beside it.
        assert_eq!(read(60 * 72).unwrap().rows(), 60);
        let error = read(60 * 72 - 1).unwrap_err().to_string();
        assert!(
            error.contains("column \"town\": has 59 different texts and more, which do not fit into memory"),
            "{error}"
        );
    }
}
