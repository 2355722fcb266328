//! The training table of `fit`: in memory, or in a scratch file where it is given one or is too large.

use std::borrow::Cow;
use std::path::Path;

use negmm::data::{Scratch, ScratchTable, memory_limit, table_size};
use negmm::model::{FitPlan, plan, plan_scratch};
use negmm::{Error, Hint, Table};

use crate::config::{DataConfig, FitConfig};
use crate::console::{note, warn};
use crate::{format, input};

const GIGABYTE: f64 = (1_u64 << 30) as f64;
/// The part of the memory that the different texts of text columns may take.
const OF_TEXTS: u64 = 4;

/// Rows to learn from.
pub enum TrainingTable {
    /// In memory.
    Memory(Table),
    /// On disk.
    Scratch(Box<ScratchTable>),
}

impl TrainingTable {
    /// Reads the table: in memory, unless a folder for scratch files is given or it would not fit.
    pub fn read(data: &str, config: &DataConfig, folder: Option<&Path>, quiet: bool) -> Result<Self, Error> {
        match Self::scratch(data, config, folder, quiet)? {
            Some(scratch) => {
                let texts = memory_limit(config.dialect.memory) / OF_TEXTS;
                let texts = usize::try_from(texts).unwrap_or(usize::MAX);
                ScratchTable::read_files(&[data], &config.dialect, &scratch, texts).map(Box::new).map(Self::Scratch)
            }
            None => {
                let (table, drawn) = input::training_table(data, &config.dialect, config.sample, config.seed)?;
                warn(quiet, &drawn);
                Ok(Self::Memory(table))
            }
        }
    }

    /// The folder of scratch files, where they are used; says how large they are.
    fn scratch(data: &str, config: &DataConfig, folder: Option<&Path>, quiet: bool) -> Result<Option<Scratch>, Error> {
        let rows_are_independent = config.forecast.is_none() && config.inputs.sequence.is_none();
        if folder.is_some() {
            let refused = match (data, config.sample) {
                ("-", _) => Some("--scratch needs files that can be read twice, not standard input"),
                (_, Some(_)) => Some("--scratch is for all rows: leave out --sample, or --scratch"),
                _ if !rows_are_independent => Some("--scratch is for models of one target and independent rows"),
                _ => None,
            };
            if let Some(message) = refused {
                return Err(Error::options(message));
            }
        } else if data == "-" || config.sample.is_some() || !rows_are_independent {
            return Ok(None);
        }
        let Ok(size) = table_size(&[data], &config.dialect) else { return Ok(None) };
        let memory = memory_limit(config.dialect.memory);
        let is_large = size.in_memory() > memory;
        let scratch = match folder {
            Some(folder) => Scratch::in_folder(folder)?,
            None if is_large => Scratch::in_temporary_folder()?,
            None => return Ok(None),
        };
        let gigabytes = |bytes: u64| bytes as f64 / GIGABYTE;
        if size.beside_scratch() > memory {
            let message = format!(
                "about {} rows take {:.1} GB of memory beside scratch files, and {:.1} GB are allowed: draw some by --sample",
                format::count(size.rows as usize),
                gigabytes(size.beside_scratch()),
                gigabytes(memory)
            );
            return Err(Error::data(message).with_hint(Hint::RaiseOption { option: "memory" }).in_file(data));
        }
        scratch.require(size.on_disk() / 2)?;
        let in_memory = if is_large && folder.is_none() {
            format!(
                "in memory the fit would take about {:.1} GB of {:.1} GB: ",
                gigabytes(size.in_memory()),
                gigabytes(memory)
            )
        } else {
            String::new()
        };
        let sentence = format!(
            "{in_memory}about {:.2} GB go into scratch files in {}",
            gigabytes(size.on_disk()),
            scratch.folder().display()
        );
        note(quiet, &[sentence]);
        Ok(Some(scratch))
    }

    /// The same without rows: names and types.
    pub fn header(&self) -> Cow<'_, Table> {
        match self {
            Self::Memory(table) => Cow::Borrowed(table),
            Self::Scratch(table) => Cow::Owned(table.header()),
        }
    }

    /// One of its columns, or all.
    pub fn column(&self, name: &str) -> Result<Cow<'_, Table>, Error> {
        match self {
            Self::Memory(table) => Ok(Cow::Borrowed(table)),
            Self::Scratch(table) => table.column(name).map(Cow::Owned),
        }
    }

    /// The table in memory; on disk it is refused.
    pub fn in_memory(self) -> Result<Table, Error> {
        match self {
            Self::Memory(table) => Ok(table),
            Self::Scratch(_) => {
                Err(Error::options("several targets and forecasts are learnt in memory, not from a scratch file"))
            }
        }
    }

    /// The number of a row in the file, from 1.
    pub fn row_number(&self, row: usize) -> usize {
        match self {
            Self::Memory(table) => table.row_number(row),
            Self::Scratch(table) => table.row_number(row),
        }
    }

    /// Some rows, in this order.
    pub fn select_rows(&self, rows: &[usize]) -> Result<Table, Error> {
        match self {
            Self::Memory(table) => Ok(table.select_rows(rows)),
            Self::Scratch(table) => table.select_rows(rows),
        }
    }

    /// The rows that have a target, and a sentence that counts the others, see [`input::with_target`].
    pub fn with_target(self, config: &DataConfig) -> Result<(Self, Vec<String>), Error> {
        match self {
            Self::Memory(table) => {
                let (table, sentences) = input::with_target(table, &config.target, &config.inputs)?;
                Ok((Self::Memory(table), sentences))
            }
            Self::Scratch(table) => {
                let (table, others) = table.rows_with(&config.target)?;
                let sentence = (others > 0).then(|| input::without_target(others, &config.target));
                Ok((Self::Scratch(Box::new(table)), sentence.into_iter().collect()))
            }
        }
    }

    /// The plan of a fit.
    pub fn plan(&self, config: &FitConfig, background: Option<usize>) -> Result<FitPlan, Error> {
        let FitConfig { data, method } = config;
        match self {
            Self::Memory(table) => {
                let plan = plan(table, &data.target, method, &data.inputs, data.seed)?;
                match background {
                    Some(rows) => plan.with_background(table, rows),
                    None => Ok(plan),
                }
            }
            Self::Scratch(table) => {
                let plan = plan_scratch(table, &data.target, method, &data.inputs, data.seed)?;
                match background {
                    Some(rows) => plan.with_background_of_scratch(table, rows),
                    None => Ok(plan),
                }
            }
        }
    }
}
