//! File format detection by the first bytes, whatever the file is called.

use std::io::{self, Read};

use super::read_error;
use negmm_dist::{Error, Result};

/// How Parquet files begin.
pub(crate) const PARQUET: &[u8] = b"PAR1";
/// How a frame of zstd begins.
pub(crate) const ZSTD: &[u8] = b"\x28\xb5\x2f\xfd";
/// What files begin with that are neither CSV nor Parquet, and what they are called.
const OTHERS: [(&[u8], &str); 15] = [
    (b"PARE", "an encrypted Parquet file"),
    (b"PK\x03\x04", "a zip archive or a workbook (.xlsx, .ods)"),
    (b"\xd0\xcf\x11\xe0", "an Excel workbook (.xls)"),
    (ZSTD, "zstd (.zst)"),
    (b"BZh", "bzip2 (.bz2)"),
    (b"\xfd7zXZ\0", "xz"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"\x04\x22\x4d\x18", "lz4"),
    (b"ARROW1", "an Arrow file (.arrow, .feather)"),
    (b"FEA1", "a Feather file of version 1"),
    (b"ORC", "ORC"),
    (b"Obj\x01", "Avro"),
    (b"\x89HDF", "HDF5"),
    (b"SQLite format 3\0", "an SQLite database"),
    (b"\x93NUMPY", "a NumPy array (.npy)"),
];

/// An error that names the format where bytes that should be CSV are of another.
pub(crate) fn refuse_others(head: &[u8]) -> Result<()> {
    let found = match OTHERS.iter().find(|(magic, _)| head.starts_with(magic)) {
        Some((_, what)) => what,
        None if head.starts_with(PARQUET) && cfg!(feature = "parquet") => {
            "Parquet inside a compression: undo that first"
        }
        None if head.starts_with(PARQUET) => "Parquet, which this build does not read",
        None if is_json(head) => "JSON",
        None if is_markup(head) => "a page of HTML or XML",
        None => return Ok(()),
    };
    let expected =
        if cfg!(feature = "parquet") { "CSV (plain, gzip or zstd) or Parquet" } else { "CSV (plain or gzip)" };
    Err(Error::data(format!("expected {expected}, found {found}")))
}

/// Whether the text begins with two marks that no header of a CSV file begins with.
fn is_json(head: &[u8]) -> bool {
    let mut marks = head.iter().filter(|byte| !byte.is_ascii_whitespace());
    matches!((marks.next(), marks.next()), (Some(b'{'), Some(b'"' | b'}')) | (Some(b'['), Some(b'{' | b'[')))
}

fn is_markup(head: &[u8]) -> bool {
    let head = head.trim_ascii_start().to_ascii_lowercase();
    [&b"<!doctype"[..], b"<html", b"<?xml"].iter().any(|tag| head.starts_with(tag))
}

/// The first bytes of a reader, as many as Parquet begins with or fewer where it ends before.
pub(crate) fn first_bytes(reader: &mut impl Read, name: &str) -> Result<Vec<u8>> {
    let mut start = Vec::new();
    let read: io::Result<usize> = reader.take(PARQUET.len() as u64).read_to_end(&mut start);
    read.map_err(|error| read_error(name, error))?;
    Ok(start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_formats_are_named() {
        for (head, found) in [
            (&b"PK\x03\x04\x14\0"[..], "a zip archive or a workbook (.xlsx, .ods)"),
            (b"\x28\xb5\x2f\xfd\x04", "zstd (.zst)"),
            (b" [\n {\"a\": 1}]", "JSON"),
            (b"{\"a\": 1}\n{\"a\": 2}\n", "JSON"),
            (b"\n<!DOCTYPE html>", "a page of HTML or XML"),
        ] {
            let message = refuse_others(head).unwrap_err().to_string();
            assert!(message.ends_with(&format!("found {found}")), "{message}");
        }
        for head in [&b"a,b\n"[..], b"[id],{name}\n", b"{a},b\n", b"", b"PK,b\n"] {
            assert!(refuse_others(head).is_ok());
        }
    }
}
