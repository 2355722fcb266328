//! Type inference of unusual columns: types, missing values, errors, and the same types for new files.

use negmm::data::{Column, ColumnRoles, CsvStream, Dialect, MISSING, Schema};
use negmm::{Encoder, Table};

const NAN: f64 = f64::NAN;

/// Rows of a column: its few cells of interest are repeated.
const ROWS: usize = 40;

/// A column called `a` of these quoted cells, and a column of integers.
fn file(separator: char, cells: &[&str]) -> String {
    let rows = cells.iter().zip(1..).map(|(cell, row)| format!("\"{}\"{separator}{row}\n", cell.replace('"', "\"\"")));
    format!("a{separator}n\n{}", rows.collect::<String>())
}

fn read_with(text: &str, dialect: &Dialect) -> negmm::Result<Table> {
    Table::read_from_with(text.as_bytes(), "hostile.csv", dialect)
}

fn read(text: &str) -> negmm::Result<Table> {
    read_with(text, &Dialect::default())
}

/// What column `a` was read as.
fn read_as(table: &Table) -> String {
    match (table.typed_column("a"), table.column("a").unwrap()) {
        (Some(column), _) => column.column_type.to_string(),
        (None, Column::Numbers(_)) => "number".into(),
        (None, Column::Text { .. }) => "text".into(),
        (None, other) => panic!("{other:?}"),
    }
}

fn numbers(table: &Table) -> Vec<f64> {
    match table.column("a").unwrap() {
        Column::Numbers(numbers) => numbers.clone(),
        other => panic!("{other:?}"),
    }
}

fn same(a: &[f64], b: &[f64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a == b || a.is_nan() && b.is_nan())
}

#[test]
fn numbers_in_disguise() {
    let columns: &[(char, &[&str], &str, &[f64])] = &[
        (',', &["1", "-2.5", "+3", ".5", "5.", "1e5"], "number", &[1.0, -2.5, 3.0, 0.5, 5.0, 1e5]),
        (',', &["00", "07", "12"], "number", &[0.0, 7.0, 12.0]),
        (',', &["1,234", "999"], "number (, between thousands)", &[1234.0, 999.0]),
        (',', &["1,234,567", "1,234.5"], "number (, between thousands)", &[1_234_567.0, 1234.5]),
        (',', &["0,5", "1,25"], "number (decimal ,)", &[0.5, 1.25]),
        (';', &["0,5", "1,25", "-3"], "number (decimal ,)", &[0.5, 1.25, -3.0]),
        ('\t', &["1,5", "2,25"], "number (decimal ,)", &[1.5, 2.25]),
        ('|', &["1,5", "2,25"], "number (decimal ,)", &[1.5, 2.25]),
        (';', &["1,5e3", "2,0"], "number (decimal ,)", &[1500.0, 2.0]),
        (';', &["0,123", "4,567"], "number (decimal ,)", &[0.123, 4.567]),
        (';', &["1234,567", "4,567"], "number (decimal ,)", &[1234.567, 4.567]),
        (';', &["1.234,5", "12"], "number (decimal ,, . between thousands)", &[1234.5, 12.0]),
        (';', &["1.234.567", "12"], "number (decimal ,, . between thousands)", &[1_234_567.0, 12.0]),
        (';', &["1,234,567", "12"], "number (, between thousands)", &[1_234_567.0, 12.0]),
        (';', &["1.234", "5.678"], "number", &[1.234, 5.678]),
        (',', &["1 234", "1 234 567.5"], "number (blanks between thousands)", &[1234.0, 1_234_567.5]),
        (';', &["1 234,5", "7"], "number (decimal ,, blanks between thousands)", &[1234.5, 7.0]),
        (';', &["1\u{a0}234,5", "1\u{202f}000"], "number (decimal ,, blanks between thousands)", &[1234.5, 1000.0]),
        (',', &["1'234'567", "1'000.5"], "number (' between thousands)", &[1_234_567.0, 1000.5]),
        (',', &["1’234", "12"], "number (’ between thousands)", &[1234.0, 12.0]),
        (',', &["12%", "3.5 %", "0"], "number (%)", &[12.0, 3.5, 0.0]),
        (';', &["12,5%", "3%"], "number (decimal ,, %)", &[12.5, 3.0]),
        (',', &["$5", "-$3.50", "$-1", "7"], "number ($)", &[5.0, -3.5, -1.0, 7.0]),
        (',', &["$1,234.00", "$12"], "number (, between thousands, $)", &[1234.0, 12.0]),
        (';', &["1.234,50 €", "3 €"], "number (decimal ,, . between thousands, €)", &[1234.5, 3.0]),
        (',', &["£5", "£6"], "number (£)", &[5.0, 6.0]),
        (',', &["¥500", "¥60"], "number (¥)", &[500.0, 60.0]),
        (',', &["USD 5", "6 USD"], "number (USD)", &[5.0, 6.0]),
        (',', &["5EUR", "6.5 EUR"], "number (EUR)", &[5.0, 6.5]),
        (',', &["(5)", "3", "(1.5)"], "number (() negative)", &[-5.0, 3.0, -1.5]),
        (',', &["($1,234)", "$5"], "number (, between thousands, $, () negative)", &[-1234.0, 5.0]),
        (',', &["\u{2212}5", "3"], "number", &[-5.0, 3.0]),
        (',', &[" 5 ", "\t6", "7\u{a0}"], "number", &[5.0, 6.0, 7.0]),
        (',', &["True", "False", "true", "FALSE"], "boolean (1 or 0)", &[1.0, 0.0, 1.0, 0.0]),
        (',', &["yes", "no", "", "None"], "boolean (1 or 0)", &[1.0, 0.0, NAN, NAN]),
        (',', &["-", "NaN", "", "None"], "number", &[NAN, NAN, NAN, NAN]),
    ];
    for (separator, cells, expected, values) in columns {
        let table = read(&file(*separator, cells)).unwrap_or_else(|error| panic!("{cells:?}: {error}"));
        assert_eq!(read_as(&table), *expected, "{cells:?}");
        assert!(same(&numbers(&table), values), "{cells:?}: {:?}", numbers(&table));
        assert!(same(&streamed(&file(*separator, cells), &table), values), "{cells:?} as a stream");
    }
}

/// Column `a` of a new file, read as that of the table.
fn streamed(text: &str, table: &Table) -> Vec<f64> {
    let reading =
        table.typed_column("a").map_or_else(negmm::data::ColumnType::number, |column| column.column_type.clone());
    let schema = Schema { columns: vec![("a".into(), reading)], ..Schema::default() };
    let bytes = std::io::Cursor::new(text.as_bytes().to_vec());
    let mut stream = CsvStream::from_reader(bytes, "hostile.csv", &schema).unwrap();
    numbers(&stream.next_chunk(usize::MAX).unwrap().unwrap().table)
}

#[test]
fn what_looks_like_a_number_and_is_none() {
    let columns: &[&[&str]] = &[
        &["01234", "98765"],
        &["000123", "000124"],
        &["007", "008"],
        &["1,23,456", "12"],
        &["12,34,5", "1"],
        &["1.2.3", "1.2.4"],
        &["192.168.0.1", "10.0.0.1"],
        &["2020-01-02", "2020-01-03"],
        &["12:30", "13:45"],
        &["12/2020", "1/2021"],
        &["5-10", "10-20"],
        &["<5", ">10", "7"],
        &["1_000", "2_000"],
        &["0x1f", "0x20"],
        &["$5", "€5"],
        &["5%", "0.05"],
        &["5 kg", "6 kg"],
        &["1e", "2e"],
        &["+", "-"],
        &["(", ")"],
        &["y", "n"],
        &["t", "f"],
        &["yes", "no", "maybe"],
        &["None", "Severe"],
        &["12", "abc"],
        &["1 2", "3 4"],
        &["٣", "٤"],
    ];
    for cells in columns {
        let table = read(&file(',', cells)).unwrap_or_else(|error| panic!("{cells:?}: {error}"));
        assert_eq!(read_as(&table), "text", "{cells:?}");
        let Some(Column::Text { codes, levels }) = table.column("a") else { panic!("{cells:?}") };
        let found: Vec<&str> = codes.iter().map(|code| levels[*code as usize].as_str()).collect();
        assert_eq!(found, *cells, "every cell stays as it is");
    }
}

#[test]
fn every_mark_of_missing() {
    let marks = [
        "", " ", "?", "-", ".", "NA", "n/a", "NaN", "nan", "-nan", "null", "NULL", "None", "none", "#N/A", "#DIV/0!",
        "#NAME?", "#REF!", "#VALUE!", "#NUM!", "<NA>", "NaT", "(null)", "\\N", "--", "n.a.",
    ];
    let in_text = ["", " ", "?", "NA", "n/a", "NaN", "nan", "null", "NULL", "#N/A", "#DIV/0!", "<NA>", "NaT", "\\N"];
    for mark in marks {
        let table = read(&file(',', &["1", mark, "2"])).unwrap();
        assert!(same(&numbers(&table), &[1.0, NAN, 2.0]), "{mark:?} among numbers");
        let table = read(&file(',', &["$1,000", mark, "$2"])).unwrap();
        assert!(same(&numbers(&table), &[1000.0, NAN, 2.0]), "{mark:?} among amounts");
        let table = read(&file(',', &["red", mark, "blue"])).unwrap();
        let Some(Column::Text { codes, .. }) = table.column("a") else { panic!("{mark:?}") };
        let expected = in_text.contains(&mark) || mark.starts_with('#') || mark == "(null)";
        assert_eq!(codes[1] == MISSING, expected, "{mark:?} among text");
    }
}

/// `cells` and then more rows of plain numbers.
fn mostly_numbers(cells: &[&str]) -> String {
    let more: Vec<String> = (cells.len()..ROWS).map(|row| format!("{row}.5")).collect();
    let all: Vec<&str> = cells.iter().copied().chain(more.iter().map(String::as_str)).collect();
    file(',', &all)
}

#[test]
fn a_few_cells_that_do_not_fit_are_missing_and_quoted() {
    let table = read(&mostly_numbers(&["unknown", "<5"])).unwrap();
    assert!(numbers(&table)[0].is_nan() && numbers(&table)[1].is_nan() && numbers(&table)[2] == 2.5);
    let column = table.typed_column("a").unwrap();
    assert!(column.column_type.odd_are_missing);
    assert_eq!(column.odd, [("<5".to_string(), 1), ("unknown".to_string(), 1)]);
    assert_eq!(read_as(&read(&mostly_numbers(&["unknown", "<5", ">9"])).unwrap()), "text", "one row in twenty at most");

    // A cell that does not fit is missing in a new file too, and counted; without such cells in training it is an error.
    let encoder = Encoder::fit(&table, "n", &ColumnRoles::default()).unwrap();
    let new = std::io::Cursor::new(b"a,n\nwho knows,1\n2.5,2\n".to_vec());
    let mut stream = CsvStream::from_reader(new.clone(), "new.csv", &encoder.schema()).unwrap();
    let chunk = stream.next_chunk(9).unwrap().unwrap();
    assert!(same(&numbers(&chunk.table), &[NAN, 2.5]));
    assert_eq!(chunk.warnings.sentences(), ["column \"a\": 1 cell is no number and counts as missing"]);
    let strict = Encoder::fit(&read(&mostly_numbers(&["-"])).unwrap(), "n", &ColumnRoles::default()).unwrap();
    let error = CsvStream::from_reader(new, "new.csv", &strict.schema()).unwrap().next_chunk(9).unwrap_err();
    assert_eq!(error.to_string(), "new.csv, row 1 (line 2), column \"a\": expected a number, found \"who knows\"");
}

#[test]
fn the_decimal_mark_is_decided_by_the_whole_file() {
    let columns = |table: &Table| -> Vec<f64> {
        table
            .names()
            .iter()
            .map(|name| match table.column(name) {
                Some(Column::Numbers(numbers)) => numbers[0],
                _ => NAN,
            })
            .collect()
    };
    let values = |text: &str| columns(&read(text).unwrap());
    assert_eq!(values("a;b\n1,234;1,5\n"), [1.234, 1.5]);
    assert_eq!(values("a;b\n1,234;1.5\n"), [1234.0, 1.5]);
    assert_eq!(values("a;b\n1.234;1,5\n"), [1234.0, 1.5]);
    assert_eq!(
        values("a;b;c\n1.234;1,5;7.25\n"),
        [1.234, 1.5, 7.25],
        "both marks are there: a point is as programs write it"
    );
    assert_eq!(values("a,b\n\"1,234\",7\n"), [1234.0, 7.0], "a comma that separates cells is no decimal mark");
    let error = read("a;b\n1,234;7\n").unwrap_err();
    assert_eq!(error.to_string(), "hostile.csv, column \"a\": \"1,234\" may be 1234 or 1.234; set decimal to . or ,");
    let with = |decimal| Dialect::default().decimal(decimal);
    assert_eq!(columns(&read_with("a;b\n1,234;1.234\n", &with(',')).unwrap()), [1.234, 1234.0]);
    assert_eq!(columns(&read_with("a;b\n1,234;1.234\n", &with('.')).unwrap()), [1234.0, 1.234]);
    // Whole numbers of a file with decimal commas may have one in the next file.
    let table = read("a;b\n1;1,5\n2;2,5\n").unwrap();
    assert!(same(&streamed("a;b\n1,5;0\n", &table), &[1.5]));
}

#[test]
fn what_somebody_says_overrules() {
    let dialect = Dialect::default().missing(["-999", "Unknown"]).text(["a"]).number([" n "]);
    let table = read_with("a,n\n1,2\n2,x\n-999,unknown\n3,-999.0\n4,007\n", &dialect).unwrap();
    let Some(Column::Text { codes, .. }) = table.column("a") else { panic!("text") };
    assert_eq!(codes.iter().map(|code| *code == MISSING).collect::<Vec<_>>(), [false, false, true, false, false]);
    let Some(Column::Numbers(n)) = table.column("n") else { panic!("numbers") };
    assert!(same(n, &[2.0, NAN, NAN, NAN, 7.0]), "{n:?}");
    let plain = read_with("a,n\n1,2\n-999,3\n", &Dialect::default().missing(["-999"])).unwrap();
    assert!(same(&numbers(&plain), &[1.0, NAN]) && same(&streamed("a\n-999.0\n", &plain), &[NAN]));
    let complaint = |dialect: Dialect| read_with("a,n\nx,2\n", &dialect).unwrap_err().to_string();
    assert_eq!(
        complaint(Dialect::default().number(["b"])),
        "hostile.csv: there is no column \"b\"; the columns are \"a\", \"n\""
    );
    assert_eq!(
        complaint(Dialect::default().number(["a"])),
        "hostile.csv, column \"a\": declared as numbers, but no cell is a number"
    );
    assert_eq!(read_with("a;b,c\n1;2,5\n", &Dialect::default().separator(';')).unwrap().names(), ["a", "b,c"]);
}

#[test]
fn a_model_reads_new_tables_as_it_read_its_own() {
    let rows = |smoker: [&str; 2]| -> String {
        let row = |at: usize| format!("\"${},{:03}\";{};{}\n", 1 + at % 7, at * 37 % 1000, smoker[at % 2], at % 5);
        format!("a;smoker;y\n{}", (0..60).map(row).collect::<String>()).replace(';', ",")
    };
    let table = read(&rows(["yes", "no"])).unwrap();
    let encoder = Encoder::fit(&table, "y", &ColumnRoles::default()).unwrap();
    let text = serde_json::to_string(&encoder).unwrap();
    let again: Encoder = serde_json::from_str(&text).unwrap();
    assert_eq!(again, encoder);
    again.validate().unwrap();
    let plain = encoder.encode(&table).unwrap().0;
    let mut stream =
        CsvStream::from_reader(std::io::Cursor::new(rows(["YES", "0"])), "new.csv", &again.schema_with_target())
            .unwrap();
    let chunk = stream.next_chunk(usize::MAX).unwrap().unwrap();
    assert_eq!(again.encode(&chunk.table).unwrap().0.x(), plain.x());

    // A text column in training stays text in a smaller table.
    let text = read("a,y\nyes,1\nno,2\nmaybe,3\nyes,4\n").unwrap();
    let encoder = Encoder::fit(&text, "y", &ColumnRoles::default()).unwrap();
    let (data, warnings) = encoder.encode(&read("a,y\nno,1\nyes,2\n").unwrap()).unwrap();
    assert!(warnings.is_empty(), "{warnings:?}");
    assert_eq!(data.x()[..3], [0.0, 0.0, 1.0], "yes, maybe, no");
    // And what it had as numbers stays numbers.
    let encoder = Encoder::fit(&read(&mostly_numbers(&["unknown"])).unwrap(), "n", &ColumnRoles::default()).unwrap();
    let (_, warnings) = encoder.encode(&read("a,n\nlost,1\nunknown,2\n7,3\n").unwrap()).unwrap();
    assert_eq!(warnings.odd()["a"], 2);
}

#[test]
fn names_match_without_the_blanks_around_them() {
    let spaced = Table::new(vec![
        (" a ", Column::Numbers(vec![1.0, 2.0, 3.0])),
        ("y\u{a0}", Column::Numbers(vec![1.0, 2.0, 4.0])),
    ])
    .unwrap();
    let encoder = Encoder::fit(&spaced, "y", &ColumnRoles::default().features(["a"])).unwrap();
    assert_eq!((encoder.inputs().len(), encoder.target().name.as_str()), (1, "y\u{a0}"));
    assert!(encoder.encode(&read("a,y\n1,1\n").unwrap()).is_ok());
    let table = read("\u{a0}a , y \n1,2\n3,4\n").unwrap();
    assert_eq!(table.names(), ["a", "y"]);
    let encoder = Encoder::fit(&table, " y ", &ColumnRoles::default()).unwrap();
    assert_eq!(encoder.feature_names(), ["a"]);
    assert!(encoder.encode(&spaced).is_ok());
}

#[test]
fn rows_with_a_target_can_be_told() {
    let table = read("a,n\n1,1\n,2\n3,3\n").unwrap();
    assert_eq!(table.rows_with("a").unwrap(), [0, 2]);
    assert_eq!(table.select_rows(&[0, 2]).row_number(1), 3);
}

/// Seconds of the processor that this thread has taken, where the system tells: what others do on the machine does not count.
fn thread_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split(' ').next().and_then(|nanoseconds| nanoseconds.parse::<f64>().ok()).unwrap_or(0.0) * 1e-9
}

#[test]
fn wide_files_take_linear_time() {
    let seconds = |columns: usize| {
        let line = |cell: &dyn Fn(usize) -> String| (0..columns).map(cell).collect::<Vec<_>>().join(",");
        let text = format!(
            "{}\n{}\n{}\n{}\n",
            line(&|at| format!("c{at}")),
            line(&|at| at.to_string()),
            line(&|at| format!("{}.5", at % 7)),
            line(&|at| if at % 3 == 0 { "x".into() } else { (at % 11).to_string() }),
        );
        let start = thread_seconds();
        let table = read(&text).unwrap();
        let ignore: Vec<String> = (2..columns / 2).map(|at| format!("c{at}")).collect();
        let encoder = Encoder::fit(&table, "c1", &ColumnRoles::default().ignore(ignore)).unwrap();
        encoder.encode(&table).unwrap();
        thread_seconds() - start
    };
    let fastest = |columns| (0..3).map(|_| seconds(columns)).fold(f64::INFINITY, f64::min);
    // All work is done by one thread.
    let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let (once, eightfold) = alone.install(|| (fastest(5_000), fastest(40_000)));
    assert!(eightfold < 24.0 * once.max(0.005), "{once:.3} s for 5,000 columns, {eightfold:.3} s for 40,000");
}

#[test]
fn new_data_may_have_another_decimal_mark() {
    let train: String = (0..40).map(|row| format!("{}.5,{row}\n", row % 7)).collect();
    let table = Table::read_from(format!("a,y\n{train}").as_bytes(), "train.csv").unwrap();
    let encoder = Encoder::fit(&table, "y", &ColumnRoles::default()).unwrap();
    let numbers = |text: &'static str, dialect: &Dialect| {
        let schema = encoder.schema().in_dialect(dialect).unwrap();
        let mut stream = CsvStream::from_reader(std::io::Cursor::new(text), "new.csv", &schema)?;
        stream.next_chunk(9).map(|chunk| match chunk.unwrap().table.column("a") {
            Some(Column::Numbers(numbers)) => numbers.clone(),
            other => panic!("{other:?}"),
        })
    };
    let nothing = Dialect::default();
    assert_eq!(numbers("a;b\n1,5;x\n2;y\n", &nothing).unwrap(), [1.5, 2.0]);
    assert_eq!(numbers("a,b\n1.5,x\n2,y\n", &nothing).unwrap(), [1.5, 2.0]);
    // Thousands separator or decimal mark: ambiguous cells are not guessed, and an explicit option decides.
    assert!(numbers("a;b\n1,500;x\n", &nothing).is_err());
    let comma = Dialect::default().decimal(',');
    assert_eq!(numbers("a;b\n1,500;x\n", &comma).unwrap(), [1.5]);
    assert!(numbers("a;b\n1.5;x\n", &comma).is_err());
}
