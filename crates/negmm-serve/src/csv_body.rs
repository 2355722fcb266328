//! Rows as CSV. The body must be plain text: compressed files, which could exceed the limits when decompressed, are refused.

use std::io::Cursor;

use axum::body::Bytes;
use negmm::Table;
use negmm::data::{Chunk, CsvStream, Schema};

use crate::arrow_body::too_many;
use crate::failure::Failure;

/// First bytes of gzip and Parquet files.
const COMPRESSED: [&[u8]; 2] = [&[0x1f, 0x8b], b"PAR1"];

/// The rows of a body, read like the training file of the model.
pub fn chunk(body: &Bytes, schema: &Schema, max_rows: usize) -> Result<Chunk, Failure> {
    check_plain(body)?;
    let mut stream = CsvStream::from_reader(Cursor::new(body.clone()), "body", schema)?;
    let first = stream.next_chunk(max_rows)?.ok_or_else(|| Failure::bad("there are no rows in the body"))?;
    match stream.next_chunk(1)? {
        Some(_) => Err(Failure::too_large(too_many(max_rows))),
        None => Ok(first),
    }
}

/// The table of a body, with inferred column types.
pub fn table(body: &Bytes) -> Result<Table, Failure> {
    check_plain(body)?;
    Ok(Table::read_from(Cursor::new(body.clone()), "body")?)
}

fn check_plain(body: &[u8]) -> Result<(), Failure> {
    match COMPRESSED.iter().any(|start| body.starts_with(start)) {
        true => Err(Failure::bad("a CSV body must be plain text, and this one is compressed")),
        false => Ok(()),
    }
}
