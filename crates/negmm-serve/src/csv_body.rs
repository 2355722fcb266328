//! Responsible for rows that come as CSV, in a body that is what it says: bytes that unpack to more of them are refused.

use std::io::Cursor;

use axum::body::Bytes;
use negmm::Table;
use negmm::data::{Chunk, CsvStream, Schema};

use crate::arrow_body::too_many;
use crate::failure::Failure;

/// How files begin that are read as tables too, but grow when they are.
const PACKED: [&[u8]; 2] = [&[0x1f, 0x8b], b"PAR1"];

/// The rows of a body, read as the model's own files are.
pub fn chunk(body: &Bytes, schema: &Schema, most_rows: usize) -> Result<Chunk, Failure> {
    check_plain(body)?;
    let mut stream = CsvStream::from_reader(Cursor::new(body.clone()), "body", schema)?;
    let first = stream.next_chunk(most_rows)?.ok_or_else(|| Failure::bad("there is no row in the body"))?;
    match stream.next_chunk(1)? {
        Some(_) => Err(Failure::too_large(too_many(most_rows))),
        None => Ok(first),
    }
}

/// The table of a body, whose columns are what their cells tell.
pub fn table(body: &Bytes) -> Result<Table, Failure> {
    check_plain(body)?;
    Ok(Table::read_from(Cursor::new(body.clone()), "body")?)
}

fn check_plain(body: &[u8]) -> Result<(), Failure> {
    match PACKED.iter().any(|start| body.starts_with(start)) {
        true => Err(Failure::bad("a body of CSV must be plain text, and this one is packed")),
        false => Ok(()),
    }
}
