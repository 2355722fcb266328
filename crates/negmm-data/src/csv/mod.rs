//! CSV files: records, whole tables and streams of rows.

mod decimal_mark;
pub(crate) mod reader;
pub(crate) mod records;
pub(crate) mod stream;
