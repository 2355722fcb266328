//! The reader of whole CSV files: the type of each column is inferred from all its cells.

use std::collections::BTreeMap;
use std::io::Read;
use std::sync::Arc;

use crate::agreement::positions;
use crate::column::dictionary::Dictionary;
use crate::csv::records::Records;
use crate::infer::table_types::TypeInference;
use crate::infer::{CellReader, Inference, TypeHint, is_code, plain_number};
use crate::source::memory_limit::MemoryLimit;
use crate::{Column, ColumnType, Dialect, Table};
use negmm_dist::{Error, Result};

/// Reads all rows of a file.
pub(crate) fn read_whole(reader: impl Read, name: &str, dialect: &Dialect) -> Result<Table> {
    let bytes = MemoryLimit::new(dialect.memory).read_all(reader, name)?;
    read_parts(&[CsvPart::new(name, bytes)], name, dialect).map(|(table, _)| table)
}

/// The bytes of a file.
pub(crate) struct CsvPart {
    /// What messages call it.
    pub name: String,
    pub bytes: Vec<u8>,
    /// Field delimiter, where it is known.
    pub separator: Option<char>,
    /// The row and the line of each record in the file, where the bytes are a part of it.
    pub lines: Option<Arc<[(u64, u64)]>>,
}

impl CsvPart {
    /// A whole file.
    pub fn new(name: &str, bytes: Vec<u8>) -> Self {
        Self { name: name.to_string(), bytes, separator: None, lines: None }
    }

    fn records(&self, dialect: &Dialect) -> Result<Records<&[u8]>> {
        let mut records = Records::new(&*self.bytes, &self.name, self.separator.or(dialect.separator))?;
        if let Some(lines) = &self.lines {
            records = records.taken_from(lines.clone());
            records.allow_no_rows();
        }
        Ok(records)
    }
}

/// The numbers of each column in which every cell is a plain number or missing.
type PlainNumbers = Vec<Option<Vec<f64>>>;

/// The names of the columns of a file.
pub(crate) fn header(part: &CsvPart, dialect: &Dialect) -> Result<Vec<String>> {
    Ok(part.records(dialect)?.header().to_vec())
}

/// Reads all rows of files with the same columns, one after the other, and counts those of each. The bytes are held in memory and gone through again for columns that are not plain numbers: only at the end of a
/// column is it known that it is, and the text of its first cells must then still be there.
pub(crate) fn read_parts(parts: &[CsvPart], name: &str, dialect: &Dialect) -> Result<(Table, Vec<usize>)> {
    let file = Whole::new(parts, dialect)?;
    let header = &file.header;
    let types = TypeInference::new(dialect, header, file.separator).map_err(|error| error.in_file(name))?;
    let (numbers, rows) = file.plain_numbers(&types.hints)?;
    let others: Vec<usize> = (0..header.len()).filter(|position| numbers[*position].is_none()).collect();
    let mut texts = file.dictionaries(&others)?;
    let mut inferences = types.decide(with_positions(&texts));
    // Numbers such as 1.234 are plain, and yet thousands where the file has decimal commas.
    if types.has_commas(&inferences) {
        let dotted = file.dictionaries(&file.dotted(&numbers)?)?;
        inferences.extend(types.decide(with_positions(&dotted)));
        texts.extend(dotted);
    }
    let decimal = types.decimal(&inferences);
    let mut column_types = BTreeMap::new();
    let mut columns = Vec::with_capacity(header.len());
    for (position, plain) in numbers.into_iter().enumerate() {
        let locate = |error: Error| error.in_column(&header[position]).in_file(name);
        let (column, column_type) = match (plain, texts.remove(&position)) {
            (Some(numbers), None) => (Column::Numbers(numbers), types.plain_type(decimal)),
            (plain, text) => {
                let inference = inferences.remove(&position).unwrap_or(Inference::Text);
                let text = text.unwrap_or_else(|| Column::text([]));
                types.finish(plain, text, inference, decimal).map_err(locate)?
            }
        };
        column_types.extend(column_type.map(|column_type| (header[position].clone(), column_type)));
        columns.push(column);
    }
    let named = header.iter().cloned().zip(columns);
    let table = Table::of_checked(name, named, 0, rows.iter().sum()).with_typed_columns(column_types);
    Ok((table, rows))
}

fn with_positions(columns: &BTreeMap<usize, Column>) -> impl Iterator<Item = (usize, &Column)> {
    columns.iter().map(|(position, column)| (*position, column))
}

/// Files in memory and their dialect.
struct Whole<'a> {
    /// Each with the position of every column there.
    parts: Vec<(&'a CsvPart, Vec<usize>)>,
    /// The names of the columns, as the first file has them.
    header: Vec<String>,
    /// Field delimiter; a comma where the files differ.
    separator: u8,
    dialect: &'a Dialect,
}

impl<'a> Whole<'a> {
    fn new(parts: &'a [CsvPart], dialect: &'a Dialect) -> Result<Self> {
        let mut whole = Self { parts: Vec::new(), header: Vec::new(), separator: b',', dialect };
        for part in parts {
            let records = part.records(dialect)?;
            let positions = match whole.parts.first() {
                None => {
                    (whole.header, whole.separator) = (records.header().to_vec(), records.separator());
                    (0..whole.header.len()).collect()
                }
                Some((first, _)) => positions((&first.name, &whole.header), records.header())
                    .map_err(|error| error.in_file(&part.name))?,
            };
            if records.separator() != whole.separator {
                whole.separator = b',';
            }
            whole.parts.push((part, positions));
        }
        Ok(whole)
    }

    /// Visits every row, with the position of each column in it, and counts the rows of each file.
    fn each_row(&self, mut visit: impl FnMut(&Records<&[u8]>, &[usize]) -> Result<()>) -> Result<Vec<usize>> {
        let mut rows = Vec::with_capacity(self.parts.len());
        for (part, positions) in &self.parts {
            let mut records = part.records(self.dialect)?;
            if self.parts.len() > 1 {
                records.allow_no_rows();
            }
            while records.advance()? {
                visit(&records, positions)?;
            }
            rows.push(records.rows());
        }
        Ok(rows)
    }

    /// The columns in which every cell is a plain number or missing, and the rows of each file.
    fn plain_numbers(&self, hints: &[TypeHint]) -> Result<(PlainNumbers, Vec<usize>)> {
        let reader = CellReader::new(&ColumnType::number().with_missing(self.dialect.missing.iter().cloned()));
        let mut numbers: Vec<Option<Vec<f64>>> =
            hints.iter().map(|hint| (*hint != TypeHint::Text).then(Vec::new)).collect();
        let mut infinities: Vec<Option<Error>> = vec![None; self.header.len()];
        let rows = self.each_row(|records, positions| {
            for ((column, (numbers, position)), infinity) in
                hints.iter().zip(numbers.iter_mut().zip(positions)).zip(&mut infinities)
            {
                let Some(values) = numbers else { continue };
                let cell = &records.cells()[*position];
                match reader.number(cell) {
                    Some(_) if is_code(cell) && *column == TypeHint::Nothing => *numbers = None,
                    Some(value) => {
                        if value.is_infinite() && infinity.is_none() {
                            *infinity = records.number(*position, &reader).err();
                        }
                        values.push(value);
                    }
                    None => *numbers = None,
                }
            }
            Ok(())
        })?;
        let infinite = numbers.iter().zip(infinities).find_map(|(column, error)| column.as_ref().and(error));
        infinite.map_or(Ok((numbers, rows)), Err)
    }

    /// The columns at these positions as text.
    fn dictionaries(&self, columns: &[usize]) -> Result<BTreeMap<usize, Column>> {
        let mut dictionaries: Vec<Dictionary> = columns.iter().map(|_| Dictionary::default()).collect();
        if !columns.is_empty() {
            let reader = CellReader::new(&ColumnType::text());
            self.each_row(|records, positions| {
                let mut cells = columns.iter().zip(&mut dictionaries);
                cells.try_for_each(|(column, dictionary)| records.push_text(positions[*column], &reader, dictionary))
            })?;
        }
        Ok(columns.iter().copied().zip(dictionaries.into_iter().map(Dictionary::finish)).collect())
    }

    /// The columns of plain numbers some of which have a point.
    fn dotted(&self, numbers: &[Option<Vec<f64>>]) -> Result<Vec<usize>> {
        let mut dotted = vec![false; numbers.len()];
        self.each_row(|records, positions| {
            for (column, dotted) in dotted.iter_mut().enumerate().filter(|(column, _)| numbers[*column].is_some()) {
                let cell = &records.cells()[positions[column]];
                *dotted |= cell.contains(&b'.') && plain_number(cell).is_some_and(|number| !number.is_nan());
            }
            Ok(())
        })?;
        Ok((0..numbers.len()).filter(|column| dotted[*column]).collect())
    }
}
