//! Responsible for rows that come as an Arrow stream. Whoever wrote it is not trusted: lengths are looked at before anything is made
//! room for, and a panic of the decoder is an error.

use std::io::Cursor;
use std::panic::{AssertUnwindSafe, catch_unwind};

use arrow_ipc::reader::StreamReader;
use arrow_ipc::root_as_message;
use arrow_schema::ArrowError;
use negmm::Table;

use crate::failure::Failure;

/// What comes before the length of a message.
const CONTINUATION: [u8; 4] = [0xff; 4];

/// The table of a stream with at most so many rows.
pub fn table(bytes: &[u8], most_rows: usize) -> Result<Table, Failure> {
    let no_stream = |what: &dyn std::fmt::Display| Failure::bad(format!("no Arrow stream: {what}"));
    check_lengths(bytes).map_err(|what| no_stream(&what))?;
    let read = || {
        let reader = StreamReader::try_new(Cursor::new(bytes), None).map_err(|error| no_stream(&error))?;
        let schema = reader.schema();
        let mut rows = 0;
        let within = |batch: Result<arrow_array::RecordBatch, ArrowError>| {
            let batch = batch?;
            rows += batch.num_rows();
            if rows > most_rows {
                return Err(ArrowError::InvalidArgumentError(too_many(most_rows)));
            }
            Ok(batch)
        };
        Table::of_arrow(&schema, reader.map(within)).map_err(Failure::from)
    };
    catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|_| Err(no_stream(&"it cannot be decoded")))
}

/// The complaint about too many rows.
pub fn too_many(most: usize) -> String {
    format!("a request may have {most} rows at most")
}

/// Whether every message of a stream ends within it.
fn check_lengths(bytes: &[u8]) -> Result<(), String> {
    let mut rest = bytes;
    let mut messages = 0;
    loop {
        let after = rest.strip_prefix(&CONTINUATION).unwrap_or(rest);
        let Some((length, after)) = after.split_first_chunk::<4>() else {
            return if messages > 0 { Ok(()) } else { Err("it is too short".into()) };
        };
        let length = i32::from_le_bytes(*length);
        if length == 0 {
            return if messages > 0 { Ok(()) } else { Err("it is empty".into()) };
        }
        let head = usize::try_from(length).ok().and_then(|length| after.get(..length));
        let Some(head) = head else { return Err("a message is longer than the stream".into()) };
        let message = root_as_message(head).map_err(|_| "a message has no sound head".to_string())?;
        let body = usize::try_from(message.bodyLength()).ok();
        match body.and_then(|body| after.get(head.len()..)?.get(body..)) {
            Some(next) => rest = next,
            None => return Err("a message is longer than the stream".into()),
        }
        messages += 1;
    }
}
