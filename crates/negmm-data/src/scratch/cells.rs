//! Cells of columns in a scratch file: numbers, times or codes of text, in parts that lie one after the other.

use std::ops::Range;
use std::sync::Arc;

use crate::{Column, MISSING, TypedColumn};
use negmm_dist::Result;
use negmm_nn::scratch::ScratchFile;

/// Bytes of cells that wait to be written, of all columns together; and cells of a part at least and at most.
const WAITING_BYTES: usize = 64 << 20;
const PART: (usize, usize) = (1 << 10, 1 << 16);

/// What a cell is on disk.
pub(super) trait Cell: Copy {
    fn write(self, bytes: &mut Vec<u8>);
    fn read(bytes: &[u8], cells: &mut Vec<Self>);
}

impl Cell for f64 {
    fn write(self, bytes: &mut Vec<u8>) {
        bytes.extend(self.to_le_bytes());
    }

    fn read(bytes: &[u8], cells: &mut Vec<Self>) {
        cells.extend(bytes.as_chunks().0.iter().map(|bytes| Self::from_le_bytes(*bytes)));
    }
}

impl Cell for u32 {
    fn write(self, bytes: &mut Vec<u8>) {
        bytes.extend(self.to_le_bytes());
    }

    fn read(bytes: &[u8], cells: &mut Vec<Self>) {
        cells.extend(bytes.as_chunks().0.iter().map(|bytes| Self::from_le_bytes(*bytes)));
    }
}

/// Cells that follow each other in the file.
#[derive(Clone, Copy, Debug)]
struct Part {
    /// The row of the first.
    first: usize,
    rows: usize,
    position: u64,
}

/// All cells of a column.
#[derive(Clone, Debug, Default)]
pub(super) struct Parts(Vec<Part>);

impl Parts {
    /// Rows.
    pub fn rows(&self) -> usize {
        self.0.last().map_or(0, |part| part.first + part.rows)
    }

    /// The cells of these rows.
    pub fn read<T: Cell>(&self, file: &ScratchFile, rows: Range<usize>) -> Result<Vec<T>> {
        let mut cells = Vec::with_capacity(rows.len());
        let mut bytes = Vec::new();
        let from = self.0.partition_point(|part| part.first + part.rows <= rows.start);
        for part in self.0[from..].iter().take_while(|part| part.first < rows.end) {
            let (first, end) = (rows.start.max(part.first), rows.end.min(part.first + part.rows));
            bytes.resize((end - first) * size_of::<T>(), 0);
            file.read(&mut bytes, part.position + ((first - part.first) * size_of::<T>()) as u64)?;
            T::read(&bytes, &mut cells);
        }
        Ok(cells)
    }
}

/// Cells that are being written.
pub(super) struct CellWriter<T> {
    file: Arc<ScratchFile>,
    waiting: Vec<T>,
    /// Cells of a part.
    most: usize,
    parts: Parts,
}

impl<T: Cell> CellWriter<T> {
    /// For one of so many columns that are written together.
    pub fn new(file: &Arc<ScratchFile>, columns: usize) -> Self {
        let most = (WAITING_BYTES / (size_of::<f64>() * columns.max(1))).clamp(PART.0, PART.1);
        Self { file: file.clone(), waiting: Vec::new(), most, parts: Parts::default() }
    }

    pub fn push(&mut self, cell: T) -> Result<()> {
        self.waiting.push(cell);
        if self.waiting.len() == self.most { self.flush() } else { Ok(()) }
    }

    pub fn extend(&mut self, cells: impl IntoIterator<Item = T>) -> Result<()> {
        cells.into_iter().try_for_each(|cell| self.push(cell))
    }

    fn flush(&mut self) -> Result<()> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let mut bytes = Vec::with_capacity(self.waiting.len() * size_of::<T>());
        self.waiting.iter().for_each(|cell| cell.write(&mut bytes));
        let part = Part { first: self.parts.rows(), rows: self.waiting.len(), position: self.file.append(&bytes)? };
        self.parts.0.push(part);
        self.waiting.clear();
        Ok(())
    }

    pub fn finish(mut self) -> Result<Parts> {
        self.flush()?;
        Ok(self.parts)
    }
}

/// A column of a table on disk.
#[derive(Clone, Debug)]
pub(super) struct ScratchColumn {
    pub name: String,
    pub cells: Cells,
    /// Its type, where it is not plain numbers or text.
    pub typed: Option<TypedColumn>,
}

#[derive(Clone, Debug)]
pub(super) enum Cells {
    Numbers(Parts),
    Times(Parts),
    /// The levels are in memory.
    Text(Parts, Arc<[String]>),
}

impl ScratchColumn {
    /// Writes a column.
    pub fn write(file: &Arc<ScratchFile>, name: &str, column: Column, typed: Option<TypedColumn>) -> Result<Self> {
        let numbers = |numbers: Vec<f64>| {
            let mut writer = CellWriter::new(file, 1);
            writer.extend(numbers)?;
            writer.finish()
        };
        let cells = match column {
            Column::Numbers(cells) => Cells::Numbers(numbers(cells)?),
            Column::Times(cells) => Cells::Times(numbers(cells)?),
            Column::Text { codes, levels } => {
                let mut writer = CellWriter::new(file, 1);
                writer.extend(codes)?;
                Cells::Text(writer.finish()?, levels.into())
            }
        };
        let typed = typed.map(|typed| TypedColumn { text: None, ..typed });
        Ok(Self { name: name.to_string(), cells, typed })
    }

    /// Some of its rows.
    pub fn read(&self, file: &ScratchFile, rows: Range<usize>) -> Result<Column> {
        Ok(match &self.cells {
            Cells::Numbers(parts) => Column::Numbers(parts.read(file, rows)?),
            Cells::Times(parts) => Column::Times(parts.read(file, rows)?),
            Cells::Text(parts, levels) => Column::Text { codes: parts.read(file, rows)?, levels: levels.to_vec() },
        })
    }

    /// Some of its rows; of the levels of text those that they have.
    pub fn read_some(&self, file: &ScratchFile, rows: Range<usize>) -> Result<Column> {
        let Cells::Text(parts, levels) = &self.cells else { return self.read(file, rows) };
        let mut codes: Vec<u32> = parts.read(file, rows)?;
        let mut renumbered = vec![MISSING; levels.len()];
        let mut own: Vec<String> = Vec::new();
        for code in codes.iter_mut().filter(|code| **code != MISSING) {
            let level = *code as usize;
            if renumbered[level] == MISSING {
                renumbered[level] = own.len() as u32;
                own.push(levels[level].clone());
            }
            *code = renumbered[level];
        }
        Ok(Column::Text { codes, levels: own })
    }

    /// None of its rows.
    pub fn empty(&self) -> Column {
        match &self.cells {
            Cells::Numbers(_) => Column::Numbers(Vec::new()),
            Cells::Times(_) => Column::Times(Vec::new()),
            Cells::Text(..) => Column::Text { codes: Vec::new(), levels: Vec::new() },
        }
    }

    /// Rows.
    pub fn rows(&self) -> usize {
        match &self.cells {
            Cells::Numbers(parts) | Cells::Times(parts) | Cells::Text(parts, _) => parts.rows(),
        }
    }
}
