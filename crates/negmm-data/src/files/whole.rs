//! Whole tables of several files.

use std::collections::{BTreeMap, HashMap};
use std::io::{Cursor, Read};

use super::sample::{Sample, csv_part};
use super::{TableFile, TableFiles};
use crate::agreement::{Part, column, positions};
use crate::csv::reader::{CsvPart, header, read_parts};
use crate::infer::TypedColumn;
use crate::source::memory_limit::MemoryLimit;
use crate::source::{Decoded, format, open};
use crate::table::FileRows;
use crate::{Column, Dialect, MISSING, Table};
use negmm_dist::{Error, Result};

/// The rows of files of one format, and which files these are.
struct Group {
    table: Table,
    /// The position of each file, and its rows.
    rows: Vec<(usize, usize)>,
}

/// Reads all rows of all files. The type of a column is inferred from all its cells, as if the files were one.
/// Of a sample these are the rows that are drawn.
pub(crate) fn read(several: &TableFiles, dialect: &Dialect, sample: Option<&Sample>) -> Result<Table> {
    let mut limit = MemoryLimit::new(dialect.memory);
    let (mut csv, mut csv_files) = (Vec::new(), Vec::new());
    #[cfg(feature = "parquet")]
    let mut parquet: Vec<(usize, Table)> = Vec::new();
    let mut first_names = None;
    for (at, TableFile { path, name, .. }) in several.files.iter().enumerate() {
        let mut file = open(path)?;
        let start = format::first_bytes(&mut file, name)?;
        #[cfg(feature = "parquet")]
        if start == format::PARQUET {
            let table = crate::parquet::read_part(file, name, sample.map(|sample| &*sample.rows[at]))?;
            first_names.get_or_insert_with(|| table.names().to_vec());
            parquet.push((at, table));
            continue;
        }
        let decoded = Decoded::new(Cursor::new(start).chain(file), name)?;
        csv.push(match sample {
            Some(sample) => csv_part(decoded, name, &sample.rows[at], dialect)?,
            None => CsvPart::new(name, limit.read_all(decoded, name)?),
        });
        csv_files.push(at);
        if at == 0 {
            first_names = Some(header(&csv[0], dialect)?);
        }
    }
    let partitions = several.partitions_beside(&first_names.unwrap_or_default())?;
    let (of_folders, of_files) = divided(dialect, &partitions);
    let mut groups = Vec::new();
    if !csv.is_empty() {
        let (table, rows) = read_parts(&csv, &several.name, &of_files)?;
        groups.push(Group { table, rows: csv_files.into_iter().zip(rows).collect() });
        drop(csv);
    }
    #[cfg(feature = "parquet")]
    if !parquet.is_empty() {
        let rows: Vec<(usize, usize)> = parquet.iter().map(|(at, table)| (*at, table.rows())).collect();
        let tables = parquet.iter().map(|(at, table)| (several.files[*at].name.as_str(), table));
        let table = joined(&several.name, &tables.collect::<Vec<_>>())?;
        let table = several.located(table, &rows, sample);
        drop(parquet);
        groups.push(Group { table: table.infer_types(&of_files)?, rows });
    }
    let Group { table, rows } = one(several, groups)?;
    if table.rows() == 0 {
        return Err(table.locate(Error::data("there is no row of data")));
    }
    let table = several.located(table, &rows, sample);
    if partitions.is_empty() {
        return Ok(table);
    }
    let columns = partitions.iter().map(|name| (name.as_str(), several.partition(name, &rows)));
    let more = Table::new(columns.collect())?.with_name(&several.name).infer_types(&of_folders)?;
    table.renamed_with(table.names().to_vec(), more)
}

/// The table of all groups, whose rows are in the order of the files.
fn one(several: &TableFiles, mut groups: Vec<Group>) -> Result<Group> {
    groups.sort_unstable_by_key(|group| group.rows[0].0);
    let [first, second] = match <[Group; 2]>::try_from(groups) {
        Ok(two) => two,
        Err(mut one) => return one.pop().ok_or_else(|| Error::data("expected at least one file, found none")),
    };
    let named = |group: &Group| several.files[group.rows[0].0].name.clone();
    let names = [named(&first), named(&second)];
    let table = joined(&several.name, &[(&names[0], &first.table), (&names[1], &second.table)])?;
    let mut rows = [first.rows, second.rows].concat();
    let starts = rows.iter().scan(0, |end, (_, rows)| {
        *end += rows;
        Some(*end - rows)
    });
    let mut ranges: Vec<(usize, std::ops::Range<usize>)> =
        starts.zip(&rows).map(|(start, (at, rows))| (*at, start..start + rows)).collect();
    ranges.sort_unstable_by_key(|(at, _)| *at);
    rows.sort_unstable_by_key(|(at, _)| *at);
    let order: Vec<usize> = ranges.into_iter().flat_map(|(_, range)| range).collect();
    Ok(Group { table: table.select_rows(&order), rows })
}

/// The rows of tables, each with the name of its file, one table after the other.
pub(crate) fn joined(name: &str, tables: &[(&str, &Table)]) -> Result<Table> {
    let Some((first, rest)) = tables.split_first() else { return Ok(Table::default()) };
    let mut parts = vec![Part { name: first.0, table: first.1, positions: (0..first.1.names().len()).collect() }];
    for (file, table) in rest {
        let positions = positions((first.0, first.1.names()), table.names()).map_err(|error| error.in_file(file))?;
        parts.push(Part { name: file, table, positions });
    }
    let (mut columns, mut types) = (Vec::new(), BTreeMap::new());
    for (at, column_name) in first.1.names().iter().enumerate() {
        let (column, column_type) = column(&parts, at)?;
        types.extend(column_type.map(|column_type| (column_name.clone(), TypedColumn::of(column_type, ""))));
        columns.push((column_name.clone(), column));
    }
    let rows = tables.iter().map(|(_, table)| table.rows()).sum();
    Ok(Table::of_checked(name, columns.into_iter(), 0, rows).with_typed_columns(types))
}

impl Table {
    /// The rows of this table, then those of another with the same columns.
    ///
    /// # Errors
    /// When the other has other columns, or cells of other types.
    pub fn followed_by(&self, other: &Self) -> Result<Self> {
        joined(self.name(), &[(self.name(), self), (other.name(), other)])
    }
}

impl TableFiles {
    /// The columns of folders that files with these columns do not have themselves.
    ///
    /// # Errors
    /// When a file is in other folders.
    pub(crate) fn partitions_beside(&self, names: &[String]) -> Result<Vec<String>> {
        let of = |file: &TableFile| -> Vec<String> {
            file.partitions.iter().map(|(column, _)| column.clone()).filter(|column| !names.contains(column)).collect()
        };
        let Some((first, rest)) = self.files.split_first() else { return Ok(Vec::new()) };
        let columns = of(first);
        for file in rest {
            positions((&first.name, &columns), &of(file)).map_err(|error| error.in_file(&file.name))?;
        }
        Ok(columns)
    }

    /// The column of folders called `name`, for these numbers of rows of files.
    pub(crate) fn partition(&self, name: &str, rows: &[(usize, usize)]) -> Column {
        let (mut codes, mut levels) = (Vec::new(), Vec::new());
        let mut known: HashMap<&str, u32> = HashMap::new();
        for (at, rows) in rows {
            let code = match self.files[*at].cell(name) {
                Some(cell) => *known.entry(cell).or_insert_with(|| {
                    levels.push(cell.to_string());
                    levels.len() as u32 - 1
                }),
                None => MISSING,
            };
            codes.resize(codes.len() + rows, code);
        }
        Column::Text { codes, levels }
    }

    /// The rows of each file, of which there are so many, among those of all.
    pub(crate) fn starts(&self, rows: &[(usize, usize)]) -> Vec<FileRows> {
        let mut end = 0;
        let of_file = |(at, rows): &(usize, usize)| {
            end += rows;
            FileRows { name: self.files[*at].name.clone(), start: end - rows, before: 0 }
        };
        rows.iter().map(of_file).collect()
    }

    /// A table with the files of its rows, of each this number; of a sample with the rows that were drawn.
    fn located(&self, table: Table, rows: &[(usize, usize)], sample: Option<&Sample>) -> Table {
        let (mut files, mut drawn, mut start) = (Vec::with_capacity(rows.len()), Vec::new(), 0);
        for (at, rows) in rows {
            files.push(FileRows { name: self.files[*at].name.clone(), start, before: 0 });
            match sample {
                Some(sample) => {
                    drawn.extend(sample.rows[*at].iter().map(|row| start + row));
                    start += sample.counts[*at];
                }
                None => start += rows,
            }
        }
        table.with_files(files, sample.map(|_| drawn))
    }
}

impl TableFile {
    /// The cell of all rows in the column of folders called `name`.
    pub(crate) fn cell(&self, name: &str) -> Option<&str> {
        let (_, cell) = self.partitions.iter().find(|(column, _)| column == name)?;
        cell.as_deref().map(str::trim).filter(|cell| !crate::infer::is_missing(cell.as_bytes()))
    }
}

/// The hints about columns of folders, and those about columns of files.
pub(crate) fn divided(dialect: &Dialect, partitions: &[String]) -> (Dialect, Dialect) {
    let only = |names: &[String], of_folders: bool| -> Vec<String> {
        let is_wanted = |name: &&String| partitions.iter().any(|other| other == name.trim()) == of_folders;
        names.iter().filter(is_wanted).cloned().collect()
    };
    let part = |of_folders| {
        let (text, number) = (only(&dialect.text, of_folders), only(&dialect.number, of_folders));
        dialect.clone().text(text).number(number)
    };
    (part(true), part(false))
}
