//! Rows as an Arrow IPC stream. It is not trusted: lengths are checked before anything is allocated, and a panic of the decoder is
//! an error.

use std::io::Cursor;
use std::panic::{AssertUnwindSafe, catch_unwind};

use arrow_ipc::reader::StreamReader;
use arrow_ipc::root_as_message;
use arrow_schema::ArrowError;
use negmm::Table;
use negmm::data::KeptColumn;

use crate::failure::Failure;

/// The marker before the length of a message.
const CONTINUATION: [u8; 4] = [0xff; 4];

/// The table of a stream, and the cells of the column `groups`, empty where the stream has none of that name.
pub fn table(bytes: &[u8], max_rows: usize, groups: Option<&str>) -> Result<(Table, Vec<String>), Failure> {
    let invalid = |what: &dyn std::fmt::Display| Failure::bad(format!("not a valid Arrow stream: {what}"));
    check_lengths(bytes).map_err(|what| invalid(&what))?;
    let read = || {
        let reader = StreamReader::try_new(Cursor::new(bytes), None).map_err(|error| invalid(&error))?;
        let schema = reader.schema();
        let (mut rows, mut kept) = (0, Vec::new());
        let groups = groups.and_then(|name| schema.fields().iter().position(|field| field.name().trim() == name));
        let within = |batch: Result<arrow_array::RecordBatch, ArrowError>| {
            let batch = batch?;
            rows += batch.num_rows();
            if rows > max_rows {
                return Err(ArrowError::InvalidArgumentError(too_many(max_rows)));
            }
            kept.extend(groups.map(|at| batch.column(at).clone()));
            Ok(batch)
        };
        let table = Table::of_arrow(&schema, reader.map(within))?;
        let kept = KeptColumn::of_arrays("", kept);
        Ok((table, kept.cells().map(|cell| cell.trim().to_string()).collect()))
    };
    catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|_| Err(invalid(&"it cannot be decoded")))
}

/// The message about too many rows.
pub fn too_many(max_rows: usize) -> String {
    format!("a request may have {max_rows} rows at most")
}

/// Checks that every message of a stream ends within it.
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
        let message = root_as_message(head).map_err(|_| "a message has an invalid header".to_string())?;
        let body = usize::try_from(message.bodyLength()).ok();
        match body.and_then(|body| after.get(head.len()..)?.get(body..)) {
            Some(next) => rest = next,
            None => return Err("a message is longer than the stream".into()),
        }
        messages += 1;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{ArrayRef, BooleanArray, Float64Array, RecordBatch};
    use arrow_ipc::writer::StreamWriter;

    use super::*;

    #[test]
    fn groups_are_read_like_cells_of_a_file() {
        let x: ArrayRef = Arc::new(Float64Array::from(vec![0.5, 0.25, 0.75]));
        let site: ArrayRef = Arc::new(BooleanArray::from(vec![Some(true), None, Some(false)]));
        let batch = RecordBatch::try_from_iter([("x", x), (" site", site)]).unwrap();
        let mut bytes = Vec::new();
        let mut writer = StreamWriter::try_new(&mut bytes, &batch.schema()).unwrap();
        writer.write(&batch).and_then(|()| writer.write(&batch)).and_then(|()| writer.finish()).unwrap();
        drop(writer);
        let (rows, groups) = table(&bytes, 6, Some("site")).unwrap();
        assert_eq!((rows.rows(), &groups[..]), (6, &["true", "", "false", "true", "", "false"].map(String::from)[..]));
        assert!(table(&bytes, 6, Some("place")).unwrap().1.is_empty() && table(&bytes, 6, None).unwrap().1.is_empty());
        assert!(table(&bytes, 5, None).is_err());
    }
}
