//! CSV files: decompression, dialect, records, whole tables and streams of rows.

pub(crate) mod dialect;
pub(crate) mod gzip;
pub(crate) mod reader;
pub(crate) mod records;
pub(crate) mod source;
pub(crate) mod stream;
