//! Columns that the folders of a file are named for, as Hive and Spark write them: `year=2025/month=01/part-0.parquet`.

use std::path::{Component, Path};

use negmm_dist::quote::quoted;
use negmm_dist::{Error, Result};

/// How a missing value is written.
const MISSING: &str = "__HIVE_DEFAULT_PARTITION__";

/// The column and the cell of each folder `column=cell` of a path, in their order; a missing cell is `None`.
pub(super) fn partitions(path: &Path) -> Result<Vec<(String, Option<String>)>> {
    let folders = path.parent().map_or_else(Vec::new, |folder| folder.components().collect());
    let names = folders.iter().filter_map(|part| match part {
        Component::Normal(name) => name.to_str(),
        _ => None,
    });
    let mut found: Vec<(String, Option<String>)> = Vec::new();
    for (column, cell) in names.filter_map(|name| name.split_once('=')) {
        let column = decoded(column).trim().to_string();
        if column.is_empty() {
            continue;
        }
        if found.iter().any(|(other, _)| *other == column) {
            return Err(
                Error::data(format!("two folders of the path give the column {}", quoted(&column))).in_file(path)
            );
        }
        found.push((column, (cell != MISSING).then(|| decoded(cell))));
    }
    Ok(found)
}

/// A text in which `%20` stands for a blank, and so on; what is no such code stays.
fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let (mut out, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while at < bytes.len() {
        let digit = |at: usize| bytes.get(at).and_then(|byte| char::from(*byte).to_digit(16));
        match (bytes[at], digit(at + 1), digit(at + 2)) {
            (b'%', Some(high), Some(low)) => {
                out.push((high * 16 + low) as u8);
                at += 3;
            }
            (byte, ..) => {
                out.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8(out).unwrap_or_else(|_| text.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_give_columns() {
        let of = |path: &str| partitions(Path::new(path)).map_err(|error| error.to_string());
        let cell = |column: &str, cell: &str| (column.to_string(), Some(cell.to_string()));
        assert_eq!(
            of("sales/year=2025/city=S%C3%A3o%20Paulo/a=b.csv"),
            Ok(vec![cell("year", "2025"), cell("city", "São Paulo")])
        );
        assert_eq!(of("/x/d=__HIVE_DEFAULT_PARTITION__/e=100%/f"), Ok(vec![("d".into(), None), cell("e", "100%")]));
        assert_eq!(of("x/=1/f.csv"), Ok(vec![]));
        assert_eq!(of("y=1/y=2/f"), Err("y=1/y=2/f: two folders of the path give the column \"y\"".into()));
    }
}
