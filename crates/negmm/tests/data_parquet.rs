//! Parquet and Arrow: every type gives what its CSV gives, whole and in chunks; damaged files are errors, not panics.

use std::io::Cursor;
use std::sync::Arc;

use arrow_array::types::Int8Type;
use arrow_array::*;
use arrow_schema::{DataType, Field, Schema as ArrowSchema, TimeUnit};
use negmm::data::{Column, ColumnRoles, Dialect, Encoder, ParquetWriter, RowStream, Table};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;

/// The rows of a frame as pandas writes them.
const CSV: &str = "\
id,ratio,price,truth,day,at,clock,lasts,city,code,share,y
1,0.5,12.30,True,2024-01-05,2024-01-05 10:00:00.250000,09:30:00,0 days 00:10:00,Oslo,007,5 %,1.0
2,,,,,,,,,,,2.5
3,-1.25,-0.07,False,2024-03-09,2024-03-09 23:59:59.900000,18:05:30,-1 days +23:59:59.900000,Rome,012,7 %,3.0
9007199254740993,1e-7,99999.99,True,2023-12-31,1969-12-31 23:59:59.100000,00:00:00,3 days 01:00:00,Oslo,007,11 %,0.5
5,0.1,5.10,False,2024-06-30,2024-06-30 00:00:00.000000,12:00:00,0 days 00:00:01,Łódź,100,12 %,4.0
";

fn batch() -> RecordBatch {
    let micros = |times: [Option<i64>; 5]| TimestampMicrosecondArray::from(times.to_vec());
    let day = |day: i32| Some(19_723 + day);
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("id", Arc::new(Int64Array::from(vec![1, 2, 3, 9_007_199_254_740_993, 5]))),
        ("ratio", Arc::new(Float64Array::from(vec![Some(0.5), None, Some(-1.25), Some(1e-7), Some(0.1)]))),
        (
            "price",
            Arc::new(
                Decimal128Array::from(vec![Some(1230), None, Some(-7), Some(9_999_999), Some(510)])
                    .with_precision_and_scale(9, 2)
                    .unwrap(),
            ),
        ),
        ("truth", Arc::new(BooleanArray::from(vec![Some(true), None, Some(false), Some(true), Some(false)]))),
        ("day", Arc::new(Date32Array::from(vec![day(4), None, day(68), day(-1), day(181)]))),
        (
            "at",
            Arc::new(micros([
                Some(1_704_448_800_250_000),
                None,
                Some(1_710_028_799_900_000),
                Some(-900_000),
                Some(1_719_705_600_000_000),
            ])),
        ),
        ("clock", Arc::new(Time32SecondArray::from(vec![Some(34_200), None, Some(65_130), Some(0), Some(43_200)]))),
        (
            "lasts",
            Arc::new(DurationMillisecondArray::from(vec![
                Some(600_000),
                None,
                Some(-100),
                Some(262_800_000),
                Some(1000),
            ])),
        ),
        (
            "city",
            Arc::new(
                [Some("Oslo"), None, Some("Rome"), Some("Oslo"), Some("Łódź")]
                    .into_iter()
                    .collect::<DictionaryArray<Int8Type>>(),
            ),
        ),
        ("code", Arc::new(StringArray::from(vec![Some("007"), None, Some("012"), Some("007"), Some("100")]))),
        (
            "share",
            Arc::new(StringViewArray::from(vec![Some("5 %"), Some(""), Some("7 %"), Some("11 %"), Some("12 %")])),
        ),
        ("y", Arc::new(Float32Array::from(vec![1.0, 2.5, 3.0, 0.5, 4.0]))),
    ];
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, array)| (name, array, true))).unwrap()
}

fn bytes_of(batch: &RecordBatch, row_group: usize, compression: Compression) -> Vec<u8> {
    let properties =
        WriterProperties::builder().set_max_row_group_row_count(Some(row_group)).set_compression(compression).build();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).unwrap();
    writer.write(batch).unwrap();
    writer.into_inner().unwrap()
}

fn file() -> Vec<u8> {
    bytes_of(&batch(), 2, Compression::SNAPPY)
}

fn table(bytes: &[u8]) -> negmm::Result<Table> {
    Table::read_from(bytes, "f.parquet")
}

fn stream(bytes: Vec<u8>, schema: &negmm::data::Schema) -> negmm::Result<RowStream> {
    RowStream::from_reader(Cursor::new(bytes), "f.parquet", schema)
}

/// The encoder of a table as text, and the bits of its rows.
fn learnt(table: &Table) -> (String, Vec<u32>) {
    let encoder = Encoder::fit(table, "y", &ColumnRoles::default()).unwrap();
    (serde_json::to_string(&encoder).unwrap(), bits(&encoder, table))
}

fn bits(encoder: &Encoder, table: &Table) -> Vec<u32> {
    let (rows, _) = encoder.encode(table).unwrap();
    rows.x().iter().map(|x| x.to_bits()).collect()
}

#[test]
fn every_type_gives_what_its_csv_gives() {
    let csv = learnt(&Table::read_from(CSV.as_bytes(), "f.csv").unwrap());
    let compressions = [Compression::UNCOMPRESSED, Compression::SNAPPY, Compression::LZ4_RAW];
    let compressions =
        compressions.into_iter().chain([Compression::ZSTD(Default::default()), Compression::GZIP(Default::default())]);
    for compression in compressions {
        let parquet = table(&bytes_of(&batch(), 2, compression)).unwrap();
        assert_eq!(learnt(&parquet), csv);
    }
    for reading in ["truth", "duration", "percent"] {
        assert!(csv.0.contains(reading), "{}", csv.0);
    }
}

#[test]
fn pieces_are_the_whole_and_models_of_csv_read_them() {
    let csv = Table::read_from(CSV.as_bytes(), "f.csv").unwrap();
    let encoder = Encoder::fit(&csv, "y", &ColumnRoles::default()).unwrap();
    let expected = bits(&encoder, &csv);
    for max_rows in [1, 2, 3, 4, usize::MAX] {
        let mut stream = stream(file(), &encoder.schema_with_target()).unwrap();
        assert_eq!(stream.header().len(), 12);
        let mut found = Vec::new();
        while let Some(chunk) = stream.next_chunk(max_rows).unwrap() {
            assert!(chunk.table.rows() <= max_rows && chunk.warnings.is_empty());
            found.extend(bits(&encoder, &chunk.table));
        }
        assert_eq!(found, expected);
    }
}

#[test]
fn models_of_parquet_read_csv() {
    let parquet = table(&file()).unwrap();
    let encoder = Encoder::fit(&parquet, "y", &ColumnRoles::default()).unwrap();
    let mut stream =
        RowStream::from_reader(Cursor::new(CSV.as_bytes()), "f.csv", &encoder.schema_with_target()).unwrap();
    let chunk = stream.next_chunk(10).unwrap().unwrap();
    assert_eq!(bits(&encoder, &chunk.table), bits(&encoder, &parquet));
}

#[test]
fn kept_columns_are_written_in_full() {
    let schema = negmm::data::Schema {
        columns: vec![("ratio".into(), negmm::data::ColumnType::number())],
        keep: ["id", "city", "price", "truth", "at", "clock"].map(String::from).to_vec(),
        ..negmm::data::Schema::default()
    };
    let mut rows = stream(file(), &schema).unwrap();
    let chunk = rows.next_chunk(9).unwrap().unwrap();
    let cells: Vec<Vec<String>> = chunk.kept.iter().map(|column| column.cells().map(String::from).collect()).collect();
    assert_eq!(cells[0], ["1", "2", "3", "9007199254740993", "5"]);
    assert_eq!(cells[1], ["Oslo", "", "Rome", "Oslo", "Łódź"]);
    assert_eq!(cells[2], ["12.30", "", "-0.07", "99999.99", "5.10"]);
    assert_eq!(cells[3], ["true", "", "false", "true", "false"]);
    assert_eq!(cells[4][0], "2024-01-05 10:00:00.25");
    assert_eq!(cells[5][0], "09:30");
    let mut writer = ParquetWriter::new(Vec::new());
    let columns = |first| {
        let kept = chunk.kept.iter().map(|column| (column.name(), column.array(first, 5).unwrap(), true));
        let mean: ArrayRef = Arc::new(Float64Array::from(vec![0.5; 5]));
        RecordBatch::try_from_iter_with_nullable(kept.chain([("mean", mean, false)])).unwrap()
    };
    writer.write(&columns(0)).unwrap();
    // A sequence has no prediction for its first rows, and one for the step after its last.
    writer.write(&columns(1)).unwrap();
    let again = table(&writer.finish().unwrap().unwrap()).unwrap();
    assert_eq!(again.rows(), 10);
    assert!(
        matches!(again.column("id"), Some(Column::Numbers(ids)) if ids[4] == 5.0 && ids[5] == 2.0 && ids[9].is_nan())
    );
    assert!(matches!(again.column("at"), Some(Column::Times(_))));
    assert!(matches!(again.column("city"), Some(Column::Text { .. })));
}

#[test]
fn what_is_said_of_columns_holds_for_types_too() {
    let dialect = Dialect::default().text(["id"]).missing(["5"]);
    let table = Table::read_from_with(&file()[..], "f.parquet", &dialect).unwrap();
    assert!(matches!(table.column("id"), Some(Column::Text { .. })));
    let dialect = Dialect::default().missing(["0.5"]);
    let table = Table::read_from_with(&file()[..], "f.parquet", &dialect).unwrap();
    assert!(
        matches!(table.column("ratio"), Some(Column::Numbers(numbers)) if numbers[0].is_nan() && numbers[4] == 0.1)
    );
    let dialect = Dialect::default().number(["day"]);
    let error = Table::read_from_with(&file()[..], "f.parquet", &dialect).unwrap_err();
    assert_eq!(error.to_string(), "f.parquet, column \"day\": declared as numbers, but its cells are times");
}

#[test]
fn what_cannot_be_read_is_named() {
    let one = |name: &str, array: ArrayRef| {
        bytes_of(&RecordBatch::try_from_iter([(name, array)]).unwrap(), 10, Compression::SNAPPY)
    };
    let lists = ListArray::from_iter_primitive::<arrow_array::types::Int32Type, _, _>([Some([Some(1)])]);
    let error = table(&one("a", Arc::new(lists))).unwrap_err().to_string();
    assert!(error.starts_with("f.parquet, column \"a\": expected numbers, times or text, found List("), "{error}");
    let error = table(&one("a", Arc::new(Float64Array::from(vec![1.0, f64::INFINITY])))).unwrap_err();
    assert_eq!(error.to_string(), "f.parquet, row 2, column \"a\": the number \"inf\" is not finite");
    let none = one("a", Arc::new(Float64Array::from(Vec::<f64>::new())));
    assert_eq!(table(&none).unwrap_err().to_string(), "f.parquet: there is no row of data");
    let schema = negmm::data::Schema {
        columns: vec![("b".into(), negmm::data::ColumnType::number())],
        ..negmm::data::Schema::default()
    };
    let error = stream(one("a", Arc::new(Float64Array::from(vec![1.0]))), &schema).err().unwrap();
    assert_eq!(error.to_string(), "f.parquet: there is no column \"b\"; the columns are \"a\"");
    let text = one("b", Arc::new(StringArray::from(vec!["1", "two"])));
    let mut rows = stream(text, &schema).unwrap();
    let chunk = rows.next_chunk(9).unwrap().unwrap();
    assert!(matches!(chunk.table.column("b"), Some(Column::Text { .. })));
    // A nested column that is not used is ignored.
    let nested = RecordBatch::try_from_iter::<_, &str>([
        (
            "a",
            Arc::new(ListArray::from_iter_primitive::<arrow_array::types::Int32Type, _, _>([Some([Some(1)])]))
                as ArrayRef,
        ),
        ("b", Arc::new(Float64Array::from(vec![3.0]))),
    ]);
    let mut rows = stream(bytes_of(&nested.unwrap(), 10, Compression::SNAPPY), &schema).unwrap();
    assert_eq!(rows.next_chunk(9).unwrap().unwrap().table.rows(), 1);
    let gzip = {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        std::io::Write::write_all(&mut encoder, &file()).unwrap();
        encoder.finish().unwrap()
    };
    let error = table(&gzip).unwrap_err().to_string();
    assert!(error.ends_with("found Parquet inside a compression: undo that first"), "{error}");
}

#[test]
fn damage_is_an_error_and_no_panic() {
    let whole = file();
    for end in (0..whole.len()).step_by(7) {
        assert!(table(&whole[..end]).is_err(), "{end}");
    }
    for at in (4..whole.len()).step_by(3) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x55;
        if let Err(error) = table(&bytes) {
            assert!(error.to_string().starts_with("f.parquet"), "{error}");
        }
    }
}

#[test]
fn zones_and_nanoseconds() {
    let zoned = TimestampNanosecondArray::from(vec![1_704_448_800_123_456_789, i64::MIN + 1, i64::MAX]);
    let zoned = zoned.with_timezone("Asia/Tokyo");
    let schema = ArrowSchema::new(vec![Field::new(
        " at ",
        DataType::Timestamp(TimeUnit::Nanosecond, Some("Asia/Tokyo".into())),
        false,
    )]);
    let batch = RecordBatch::try_new(Arc::new(schema.clone()), vec![Arc::new(zoned)]).unwrap();
    let table = Table::of_arrow(&schema, [Ok(batch)].into_iter()).unwrap();
    let text = Table::read_from(&b"at\n2024-01-05 19:00:00.123456789+09:00\n"[..], "f.csv").unwrap();
    let Some(Column::Times(times)) = table.column("at") else { panic!("{table:?}") };
    let Some(Column::Text { levels, .. }) = text.column("at") else { panic!("{text:?}") };
    assert_eq!(Some(times[0]), negmm::data::TimeFormat::Ymd.read(&levels[0]));
}
