//! The fuzz targets: arbitrary bytes must not cause a panic, and results must satisfy their invariants. `cargo test` runs each briefly on
//! random inputs; `README.md` explains longer and coverage-guided runs.

use std::ffi::OsString;
use std::io::Cursor;
use std::sync::{LazyLock, Mutex, PoisonError};

use bolero::check;
use negmm::data::{ColumnType, Dialect, RowStream, Schema};
use negmm::prediction_table::{FormHints, PredictionColumns, PredictionReader};
use negmm::recalibration::Recalibration;
use negmm::tune::{Journal, Shard};
use negmm::{Loaded, Method, Table};
use negmm_fuzz::{Client, calibrated, exercise_mutated, models, mutated_request, server, table};
use serde_json::Map;

static MODELS: LazyLock<Vec<Vec<u8>>> = LazyLock::new(models);
static TABLE: LazyLock<Table> = LazyLock::new(table);

/// A table read at once has the rows of a stream over the same bytes.
fn read(bytes: &[u8]) {
    let Ok(table) = Table::read_from_with(bytes, "fuzzed", &Dialect::default()) else { return };
    let columns = table.names().iter().map(|name| (name.to_string(), ColumnType::text())).collect();
    let schema = Schema { columns, ..Schema::default() };
    let Ok(mut stream) = RowStream::from_reader(Cursor::new(bytes.to_vec()), "fuzzed", &schema) else { return };
    let mut rows = 0;
    while let Ok(Some(chunk)) = stream.next_chunk(7) {
        rows += chunk.table.rows();
    }
    assert_eq!(rows, table.rows());
}

#[test]
fn csv() {
    check!().for_each(read);
}

#[test]
fn gzip() {
    check!().for_each(|bytes: &[u8]| read(&[&[0x1f, 0x8b], bytes].concat()));
}

#[test]
fn parquet() {
    let valid = include_bytes!("../seeds/table.parquet");
    check!().for_each(|script: &[u8]| {
        // A valid file with some bytes replaced; its footer holds all offsets.
        let mut bytes = valid.to_vec();
        for change in script.as_chunks::<3>().0 {
            let position = usize::from(u16::from_le_bytes([change[0], change[1]])) % bytes.len();
            bytes[position] = change[2];
        }
        let _ = Table::read_from(&bytes[..], "fuzzed");
    });
}

#[test]
fn prediction_table() {
    check!().for_each(|bytes: &[u8]| {
        let columns = PredictionColumns { target: Some("y".into()), ..PredictionColumns::default() };
        // Random columns after a header of each form.
        for header in
            ["y,q0.1,q0.9", "y,draw_1,draw_2", "y,mean,sd", "y,family,df,loc,scale,mean,n,prob", "y,bin_0_1,bin_1_3"]
        {
            let text = [header.as_bytes(), b"\n", bytes].concat();
            let hints = FormHints::default();
            let reader =
                PredictionReader::from_reader(&text[..], "fuzzed", columns.clone(), &hints, None, &Dialect::default());
            let Ok(mut reader) = reader else { continue };
            while let Ok(Some(chunk)) = reader.next_chunk(7) {
                let crps = chunk.predictions.crps(&chunk.y).unwrap();
                assert!(crps.iter().all(|crps| crps.is_nan() || *crps >= 0.0), "{crps:?}");
            }
        }
    });
}

#[test]
fn recalibration() {
    check!().for_each(|bytes: &[u8]| drop(Recalibration::from_json(bytes)));
}

#[test]
fn model_file() {
    check!().for_each(|script: &[u8]| {
        exercise_mutated(&MODELS, &TABLE, script);
    });
}

#[test]
fn model_bytes() {
    check!().for_each(|bytes: &[u8]| drop(Loaded::from_bytes(bytes)));
}

#[test]
fn config_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("c.toml");
    check!().for_each(|bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        let words = ["negmm", "fit", "d.csv", "-o", "m", "--config"].map(OsString::from);
        let _ = negmm_cli::understand(&[&words[..], &[path.clone().into_os_string()]].concat());
    });
}

#[test]
fn journal() {
    let folder = tempfile::tempdir().unwrap();
    let version = env!("CARGO_PKG_VERSION");
    check!().for_each(|bytes: &[u8]| {
        let header = format!("{{\"journal\":1,\"negmm\":\"{version}\",\"plan\":{{}}}}\n");
        let whole = [header.as_bytes(), bytes].concat();
        // With a valid header, and as is.
        for bytes in [&whole[..], bytes] {
            std::fs::write(folder.path().join("other.jsonl"), bytes).unwrap();
            let _ = Journal::open(folder.path(), &Map::new(), Shard::WHOLE);
        }
    });
}

#[test]
fn option_values() {
    let names: Vec<(&'static str, &'static str)> = Method::all()
        .iter()
        .flat_map(|method| method.options().into_iter().map(|option| (method.name(), option.name)))
        .collect();
    check!().for_each(|bytes: &[u8]| {
        let (Some(which), Ok(value)) =
            (bytes.first_chunk::<2>(), std::str::from_utf8(bytes.get(2..).unwrap_or_default()))
        else {
            return;
        };
        let (method, option) = names[usize::from(u16::from_le_bytes(*which)) % names.len()];
        let mut method = Method::by_name(method).unwrap();
        if method.set(option, value).is_ok() && method.check().is_ok() {
            let _ = negmm::model::plan(&TABLE, "y", &method, &Default::default(), 0);
        }
    });
}

#[test]
fn request() {
    let folder = tempfile::tempdir().unwrap();
    let served = [&MODELS[..], &[calibrated(&MODELS, &TABLE)]].concat();
    let (address, names) = server(&served, folder.path());
    let client = Mutex::new(Client::new(address));
    check!().for_each(|script: &[u8]| {
        if script.len() >= 4 {
            let status = client.lock().unwrap_or_else(PoisonError::into_inner).send(&mutated_request(&names, script));
            assert!(status == 200 || (400..500).contains(&status), "status {status}");
        }
    });
    assert_eq!(Client::new(address).send(b"GET /v2/health/live HTTP/1.1\r\nhost: a\r\n\r\n"), 200);
}

#[test]
fn command_line() {
    check!().for_each(|bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        // Help would be printed, a config file read.
        let printed = |word: &str| {
            word.starts_with('-') && !word.starts_with("--") || word.contains("help") || word.contains("version")
        };
        let words = text.split('\0').filter(|word| !printed(word) && !word.contains("config"));
        let typed: Vec<OsString> = ["negmm", "fit"].into_iter().chain(words).map(OsString::from).collect();
        let _ = negmm_cli::understand(&typed);
    });
}
