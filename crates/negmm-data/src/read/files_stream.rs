//! A stream of rows of several files, one after the other.

use crate::files::whole::joined;
use crate::files::{TableFile, TableFiles};
use crate::pass_through::KeptColumn;
use crate::table::FileRows;
use crate::{Chunk, RowStream, Schema, Table, Warnings};
use negmm_dist::{Error, Result};

/// Several files that are read piece by piece. Chunks go on from one file to the next.
pub struct FilesStream {
    files: TableFiles,
    /// The columns of files alone.
    schema: Schema,
    /// The wanted columns of folders: for the table, and of those that are kept.
    partitions: Vec<String>,
    kept_partitions: Vec<String>,
    /// The names of the kept columns, in the order that was asked for.
    keep: Vec<String>,
    header: Vec<String>,
    /// The file that is read, and which it is.
    current: Option<(RowStream, usize)>,
    /// The kept columns of the first rows, without cells.
    first_kept: Vec<KeptColumn>,
    rows: usize,
    may_be_empty: bool,
}

impl FilesStream {
    /// Opens the first file and finds the columns.
    pub(crate) fn new(files: TableFiles, schema: &Schema) -> Result<Self> {
        let any = Schema { columns: Vec::new(), keep: Vec::new(), ..schema.clone() };
        let mut header = RowStream::open_file(&files.files[0].path, &any)?.header().to_vec();
        let of_folders = files.partitions_beside(&header)?;
        let is_of_folder = |name: &String| of_folders.iter().any(|folder| folder == name.trim());
        let mut own = schema.clone();
        own.columns.retain(|(name, _)| !is_of_folder(name));
        own.keep.retain(|name| !is_of_folder(name));
        let partitions = schema.columns.iter().map(|(name, _)| name).filter(|name| is_of_folder(name));
        let kept_partitions = schema.keep.iter().filter(|name| is_of_folder(name));
        let (partitions, kept_partitions) = (partitions.cloned().collect(), kept_partitions.cloned().collect());
        header.extend(of_folders);
        let mut stream = Self {
            files,
            schema: own,
            partitions,
            kept_partitions,
            keep: schema.keep.clone(),
            header,
            current: None,
            first_kept: Vec::new(),
            rows: 0,
            may_be_empty: false,
        };
        stream.current = Some((stream.open(0)?, 0));
        Ok(stream)
    }

    fn open(&self, at: usize) -> Result<RowStream> {
        let stream = RowStream::open_file(&self.files.files[at].path, &self.schema)?;
        Ok(stream.allow_no_rows())
    }

    /// Accepts files of which none has rows.
    pub fn allow_no_rows(&mut self) {
        self.may_be_empty = true;
    }

    /// The names of all columns: those of the first file, and those of folders.
    pub fn header(&self) -> &[String] {
        &self.header
    }

    /// The next rows, at most `max_rows` (and at least one), or none when the last file is at its end.
    pub fn next_chunk(&mut self, max_rows: usize) -> Result<Option<Chunk>> {
        let before = self.rows;
        let mut parts: Vec<(usize, Chunk)> = Vec::new();
        while self.rows - before < max_rows.max(1) {
            let Some((stream, at)) = &mut self.current else { break };
            let at = *at;
            match stream.next_chunk(max_rows.max(1) - (self.rows - before))? {
                Some(chunk) => {
                    self.rows += chunk.table.rows();
                    parts.push((at, self.with_partitions(chunk, at)?));
                }
                None if at + 1 < self.files.files.len() => self.current = Some((self.open(at + 1)?, at + 1)),
                None => self.current = None,
            }
        }
        if parts.is_empty() {
            return match before {
                0 if !self.may_be_empty => Err(Error::data("there is no row of data").in_file(&self.files.name)),
                _ => Ok(None),
            };
        }
        self.together(parts).map(Some)
    }

    /// A chunk of a file with the columns of its folders.
    fn with_partitions(&self, mut chunk: Chunk, at: usize) -> Result<Chunk> {
        let file: &TableFile = &self.files.files[at];
        let rows = chunk.table.rows();
        if !self.partitions.is_empty() {
            let columns =
                self.partitions.iter().map(|name| (name.as_str(), self.files.partition(name.trim(), &[(at, rows)])));
            let names = chunk.table.names().to_vec();
            chunk.table = chunk.table.renamed_with(names, Table::new(columns.collect())?)?;
        }
        if !self.kept_partitions.is_empty() {
            let mut own = chunk.kept.into_iter();
            let kept = self.keep.iter().filter_map(|name| match self.kept_partitions.contains(name) {
                true => Some(KeptColumn::repeated(name.trim(), file.cell(name.trim()).unwrap_or_default(), rows)),
                false => own.next(),
            });
            chunk.kept = kept.collect();
        }
        Ok(chunk)
    }

    /// The rows of chunks of files as one chunk.
    fn together(&mut self, parts: Vec<(usize, Chunk)>) -> Result<Chunk> {
        if self.first_kept.is_empty() {
            self.first_kept = parts[0].1.kept.iter().map(KeptColumn::empty).collect();
        }
        let mut kept = self.first_kept.clone();
        let (mut tables, mut warnings) = (Vec::new(), Warnings::default());
        for (at, chunk) in parts {
            let name = &self.files.files[at].name;
            for (kept, more) in kept.iter_mut().zip(chunk.kept) {
                kept.append(more).map_err(|error| error.in_file(name))?;
            }
            warnings.merge(&chunk.warnings);
            tables.push((at, chunk.table));
        }
        if let [(_, _)] = &tables[..] {
            return Ok(Chunk { table: tables.remove(0).1, kept, warnings });
        }
        let named: Vec<(&str, &Table)> =
            tables.iter().map(|(at, table)| (self.files.files[*at].name.as_str(), table)).collect();
        let mut start = 0;
        let files = named.iter().map(|(name, table)| {
            start += table.rows();
            FileRows { name: name.to_string(), start: start - table.rows(), before: table.row_in_file(0) }
        });
        let files = files.collect();
        Ok(Chunk { table: joined(&self.files.name, &named)?.with_files(files, None), kept, warnings })
    }
}
