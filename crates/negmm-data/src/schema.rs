//! The schema of a file that is read in chunks: which columns are wanted, and the chunks themselves.

use std::collections::HashMap;

use crate::infer::CellType;
use crate::message::absent_columns;
use crate::pass_through::KeptColumn;
use crate::{ColumnType, Dialect, Table, Warnings};
use negmm_dist::{Error, Result};

/// Which columns of a file are wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schema {
    /// Columns for the table, with their types.
    pub columns: Vec<(String, ColumnType)>,
    /// Pass-through columns; they may be among the others too.
    pub keep: Vec<String>,
    /// Field delimiter, where it should not be detected from the first lines.
    pub separator: Option<char>,
    /// The decimal mark, where it should not be detected from the first rows of CSV.
    pub decimal: Option<char>,
}

/// Some rows of a file.
#[derive(Clone, Debug)]
pub struct Chunk {
    /// The columns of the schema.
    pub table: Table,
    /// The pass-through columns.
    pub kept: Vec<KeptColumn>,
    /// Cells that did not fit and are missing.
    pub warnings: Warnings,
}

impl Schema {
    /// The positions of the columns for the table and of the pass-through columns in a file with this header.
    pub(crate) fn find(&self, header: &[String]) -> Result<(Vec<usize>, Vec<usize>)> {
        let wanted: Vec<&str> = self.columns.iter().map(|(column, _)| column.as_str()).collect();
        let keep: Vec<&str> = self.keep.iter().map(String::as_str).collect();
        Ok((find(header, &wanted).map_err(Error::data)?, find(header, &keep).map_err(Error::options)?))
    }
}

impl Schema {
    /// The same for a file that is written in another way than that of training: another separator or decimal mark, more words for
    /// missing. The types of the columns stay.
    ///
    /// # Errors
    /// When the dialect is out of range.
    pub fn in_dialect(mut self, dialect: &Dialect) -> Result<Self> {
        dialect.check()?;
        self.separator = dialect.separator;
        self.decimal = dialect.decimal;
        for (_, column_type) in &mut self.columns {
            column_type.missing.extend(dialect.missing.iter().cloned());
            if let (CellType::Number(format), Some(decimal)) = (&mut column_type.cells, dialect.decimal)
                && format.decimal != decimal
            {
                format.decimal = decimal;
                format.thousands = format.thousands.map(|mark| if mark == decimal { other(decimal) } else { mark });
            }
        }
        Ok(self)
    }
}

/// The mark that is not the decimal one.
fn other(decimal: char) -> char {
    if decimal == ',' { '.' } else { ',' }
}

/// The positions of the wanted columns, or a sentence about those that are absent.
fn find(header: &[String], wanted: &[&str]) -> std::result::Result<Vec<usize>, String> {
    let positions: HashMap<&str, usize> = header.iter().map(String::as_str).zip(0..).collect();
    let position = |name: &str| positions.get(name).or_else(|| positions.get(name.trim())).copied();
    let absent: Vec<&str> = wanted.iter().copied().filter(|name| position(name).is_none()).collect();
    if !absent.is_empty() {
        return Err(absent_columns(&absent, header.iter().map(String::as_str)));
    }
    Ok(wanted.iter().filter_map(|name| position(name)).collect())
}
