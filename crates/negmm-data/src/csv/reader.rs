//! The reader of whole CSV files: the type of each column is inferred from all its cells.

use std::collections::BTreeMap;
use std::io::Read;

use crate::column::dictionary::Dictionary;
use crate::csv::records::Records;
use crate::infer::table_types::TypeInference;
use crate::infer::{CellReader, Inference, TypeHint, is_code, plain_number};
use crate::source::memory_limit::read_all;
use crate::{Column, ColumnType, Dialect, Table};
use negmm_dist::{Error, Result};

/// Reads all rows. The bytes are held in memory and gone through again for columns that are not plain numbers: only at the end of a
/// column is it known that it is, and the text of its first cells must then still be there.
pub(crate) fn read_whole(reader: impl Read, name: &str, dialect: &Dialect) -> Result<Table> {
    let bytes = read_all(reader, name, dialect.memory)?;
    let file = Whole { bytes: &bytes, name, dialect };
    let mut records = file.records()?;
    let types =
        TypeInference::new(dialect, records.header(), records.separator()).map_err(|error| error.in_file(name))?;
    let numbers = file.plain_numbers(&mut records, &types.hints)?;
    let header = records.header();
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
    Ok(Table::of_checked(name, named, 0, records.rows()).with_typed_columns(column_types))
}

fn with_positions(columns: &BTreeMap<usize, Column>) -> impl Iterator<Item = (usize, &Column)> {
    columns.iter().map(|(position, column)| (*position, column))
}

/// A file in memory and its dialect.
struct Whole<'a> {
    bytes: &'a [u8],
    name: &'a str,
    dialect: &'a Dialect,
}

impl<'a> Whole<'a> {
    fn records(&self) -> Result<Records<&'a [u8]>> {
        Records::new(self.bytes, self.name, self.dialect.separator)
    }

    /// The columns in which every cell is a plain number or missing.
    fn plain_numbers(&self, records: &mut Records<&[u8]>, hints: &[TypeHint]) -> Result<Vec<Option<Vec<f64>>>> {
        let reader = CellReader::new(&ColumnType::number().with_missing(self.dialect.missing.iter().cloned()));
        let width = records.header().len();
        let mut numbers: Vec<Option<Vec<f64>>> =
            hints.iter().map(|hint| (*hint != TypeHint::Text).then(Vec::new)).collect();
        let mut infinities: Vec<Option<Error>> = vec![None; width];
        while records.advance()? {
            for (position, column) in numbers.iter_mut().enumerate() {
                let Some(values) = column else { continue };
                let cell = &records.cells()[position];
                match reader.number(cell) {
                    Some(_) if is_code(cell) && hints[position] == TypeHint::Nothing => *column = None,
                    Some(value) => {
                        if value.is_infinite() && infinities[position].is_none() {
                            infinities[position] = records.number(position, &reader).err();
                        }
                        values.push(value);
                    }
                    None => *column = None,
                }
            }
        }
        let infinite = numbers.iter().zip(infinities).find_map(|(column, error)| column.as_ref().and(error));
        infinite.map_or(Ok(numbers), Err)
    }

    /// The columns at these positions as text.
    fn dictionaries(&self, positions: &[usize]) -> Result<BTreeMap<usize, Column>> {
        let mut dictionaries: Vec<Dictionary> = positions.iter().map(|_| Dictionary::default()).collect();
        if !positions.is_empty() {
            let reader = CellReader::new(&ColumnType::text());
            let mut records = self.records()?;
            while records.advance()? {
                for (position, dictionary) in positions.iter().zip(&mut dictionaries) {
                    records.push_text(*position, &reader, dictionary)?;
                }
            }
        }
        Ok(positions.iter().copied().zip(dictionaries.into_iter().map(Dictionary::finish)).collect())
    }

    /// The columns of plain numbers some of which have a point.
    fn dotted(&self, numbers: &[Option<Vec<f64>>]) -> Result<Vec<usize>> {
        let mut dotted = vec![false; numbers.len()];
        let mut records = self.records()?;
        while records.advance()? {
            for (position, dotted) in dotted.iter_mut().enumerate().filter(|(position, _)| numbers[*position].is_some())
            {
                let cell = &records.cells()[position];
                *dotted |= cell.contains(&b'.') && plain_number(cell).is_some_and(|number| !number.is_nan());
            }
        }
        Ok((0..numbers.len()).filter(|position| dotted[*position]).collect())
    }
}
