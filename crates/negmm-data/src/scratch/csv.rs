//! CSV files as columns in a scratch file. As in memory they are gone through once for plain numbers, and again for columns that have
//! other cells.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::sync::Arc;

use super::cells::{CellWriter, Cells, Parts, ScratchColumn};
use super::levels::{LevelLimit, in_order};
use crate::agreement::positions;
use crate::csv::records::Records;
use crate::files::TableFile;
use crate::infer::table_types::TypeInference;
use crate::infer::{CellReader, Inference, TypeHint, is_code, plain_number};
use crate::source::{Decoded, open};
use crate::{Column, ColumnType, Dialect, MISSING};
use negmm_dist::{Error, Result};
use negmm_nn::scratch::ScratchFile;

/// The rows of a file.
type FileRecords = Records<Decoded<File>>;

/// CSV files with the same columns.
struct Files<'a> {
    /// Each with the position of every column there.
    files: Vec<(&'a TableFile, Vec<usize>)>,
    /// The names of the columns, as the first file has them.
    header: Vec<String>,
    /// Field delimiter; a comma where the files differ.
    separator: u8,
    dialect: &'a Dialect,
    file: &'a Arc<ScratchFile>,
}

/// Reads the columns of all files, and counts the rows of each.
pub(super) fn read(
    files: &[TableFile],
    name: &str,
    file: &Arc<ScratchFile>,
    dialect: &Dialect,
    limit: &mut LevelLimit,
) -> Result<(Vec<ScratchColumn>, Vec<usize>)> {
    let files = Files::new(files, dialect, file)?;
    let header = &files.header;
    let types = TypeInference::new(dialect, header, files.separator).map_err(|error| error.in_file(name))?;
    let (numbers, rows) = files.plain_numbers(&types.hints)?;
    let count = rows.iter().sum();
    let others: Vec<usize> = (0..header.len()).filter(|position| numbers[*position].is_none()).collect();
    let mut texts = files.texts(&others, limit)?;
    let whole = |cells: &Cells| -> Result<Column> {
        Ok(match cells {
            Cells::Text(parts, levels) => Column::Text { codes: parts.read(file, 0..count)?, levels: levels.to_vec() },
            Cells::Numbers(parts) | Cells::Times(parts) => Column::Numbers(parts.read(file, 0..count)?),
        })
    };
    let mut inferences = BTreeMap::new();
    for (position, cells) in &texts {
        inferences.extend(types.decide([(*position, &whole(cells)?)].into_iter()));
    }
    // Numbers such as 1.234 are plain, and yet thousands where the file has decimal commas.
    if types.has_commas(&inferences) {
        for (position, cells) in files.texts(&files.dotted(&numbers)?, limit)? {
            inferences.extend(types.decide([(position, &whole(&cells)?)].into_iter()));
            texts.insert(position, cells);
        }
    }
    let decimal = types.decimal(&inferences);
    let mut columns = Vec::with_capacity(header.len());
    for (position, plain) in numbers.into_iter().enumerate() {
        let own = &header[position];
        columns.push(match (plain, texts.remove(&position)) {
            (Some(parts), None) => {
                ScratchColumn { name: own.clone(), cells: Cells::Numbers(parts), typed: types.plain_type(decimal) }
            }
            (plain, text) => {
                let inference = inferences.remove(&position).unwrap_or(Inference::Text);
                let plain = plain.map(|parts| parts.read(file, 0..count)).transpose()?;
                let text = text.map_or_else(|| Ok(Column::text([])), |cells| whole(&cells))?;
                let (column, typed) = types
                    .finish(plain, text, inference, decimal)
                    .map_err(|error| error.in_column(own).in_file(name))?;
                ScratchColumn::write(file, own, column, typed)?
            }
        });
    }
    Ok((columns, rows))
}

impl<'a> Files<'a> {
    fn new(files: &'a [TableFile], dialect: &'a Dialect, file: &'a Arc<ScratchFile>) -> Result<Self> {
        let mut all = Self { files: Vec::new(), header: Vec::new(), separator: b',', dialect, file };
        for own in files {
            let records = all.records(own)?;
            let positions = match all.files.first() {
                None => {
                    (all.header, all.separator) = (records.header().to_vec(), records.separator());
                    (0..all.header.len()).collect()
                }
                Some((first, _)) => {
                    positions((&first.name, &all.header), records.header()).map_err(|error| error.in_file(&own.name))?
                }
            };
            if records.separator() != all.separator {
                all.separator = b',';
            }
            all.files.push((own, positions));
        }
        Ok(all)
    }

    fn records(&self, file: &TableFile) -> Result<FileRecords> {
        Records::new(Decoded::new(open(&file.path)?, &file.name)?, &file.name, self.dialect.separator)
    }

    /// Visits every row, with the position of each column in it, and counts the rows of each file.
    fn each_row(&self, mut visit: impl FnMut(&FileRecords, &[usize]) -> Result<()>) -> Result<Vec<usize>> {
        let mut rows = Vec::with_capacity(self.files.len());
        for (file, positions) in &self.files {
            let mut records = self.records(file)?;
            if self.files.len() > 1 {
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
    fn plain_numbers(&self, hints: &[TypeHint]) -> Result<(Vec<Option<Parts>>, Vec<usize>)> {
        let reader = CellReader::new(&ColumnType::number().with_missing(self.dialect.missing.iter().cloned()));
        let writer = |hint: &TypeHint| (*hint != TypeHint::Text).then(|| CellWriter::new(self.file, hints.len()));
        let mut numbers: Vec<Option<CellWriter<f64>>> = hints.iter().map(writer).collect();
        let mut infinities: Vec<Option<Error>> = vec![None; self.header.len()];
        let rows = self.each_row(|records, positions| {
            for ((hint, (numbers, position)), infinity) in
                hints.iter().zip(numbers.iter_mut().zip(positions)).zip(&mut infinities)
            {
                let Some(values) = numbers else { continue };
                let cell = &records.cells()[*position];
                match reader.number(cell) {
                    Some(_) if is_code(cell) && *hint == TypeHint::Nothing => *numbers = None,
                    Some(value) => {
                        if value.is_infinite() && infinity.is_none() {
                            *infinity = records.number(*position, &reader).err();
                        }
                        values.push(value)?;
                    }
                    None => *numbers = None,
                }
            }
            Ok(())
        })?;
        let infinite = numbers.iter().zip(infinities).find_map(|(column, error)| column.as_ref().and(error));
        if let Some(error) = infinite {
            return Err(error);
        }
        let numbers = numbers.into_iter().map(|writer| writer.map(CellWriter::finish).transpose());
        Ok((numbers.collect::<Result<_>>()?, rows))
    }

    /// The columns at these positions as text.
    fn texts(&self, columns: &[usize], limit: &mut LevelLimit) -> Result<BTreeMap<usize, Cells>> {
        let new = |_: &usize| (CellWriter::new(self.file, columns.len()), HashMap::new());
        let mut texts: Vec<(CellWriter<u32>, HashMap<String, u32>)> = columns.iter().map(new).collect();
        if !columns.is_empty() {
            let reader = CellReader::new(&ColumnType::text());
            self.each_row(|records, positions| {
                for (column, (writer, known)) in columns.iter().zip(&mut texts) {
                    let text = records.text(positions[*column])?.trim_ascii();
                    let code = match reader.is_missing_text(text) {
                        true => MISSING,
                        false => limit.code(known, text).map_err(|error| error.in_column(&self.header[*column]))?,
                    };
                    writer.push(code)?;
                }
                Ok(())
            })?;
        }
        let cells = |(writer, known): (CellWriter<u32>, HashMap<String, u32>)| -> Result<Cells> {
            Ok(Cells::Text(writer.finish()?, in_order(known)))
        };
        columns.iter().copied().zip(texts).map(|(column, text)| Ok((column, cells(text)?))).collect()
    }

    /// The columns of plain numbers some of which have a point.
    fn dotted(&self, numbers: &[Option<Parts>]) -> Result<Vec<usize>> {
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
