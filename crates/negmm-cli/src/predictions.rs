//! The file of predictions: CSV, lines of JSON, or Parquet.

#[cfg(feature = "parquet")]
use negmm::data::ParquetWriter;
use negmm::{Columns, Error};

use crate::output::Output;

/// The format of a file of predictions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// CSV.
    Csv,
    /// A JSON object a line.
    JsonLines,
    /// Parquet.
    #[cfg(feature = "parquet")]
    Parquet,
}

impl Format {
    /// The format of a file of that name; on standard output lines of JSON where `json` asks for them.
    pub fn of(path: &str, json: bool) -> Result<Self, Error> {
        let name = path.to_ascii_lowercase();
        if path == "-" && json || name.ends_with(".jsonl") || name.ends_with(".ndjson") {
            return Ok(Self::JsonLines);
        }
        if !name.ends_with(".parquet") {
            return Ok(Self::Csv);
        }
        #[cfg(feature = "parquet")]
        return Ok(Self::Parquet);
        #[cfg(not(feature = "parquet"))]
        Err(Error::options(format!("this build writes no Parquet: use another name than {path}")))
    }
}

/// The encoded predictions of some rows.
pub struct Encoded {
    /// How many rows.
    pub rows: usize,
    content: Content,
}

enum Content {
    /// The header of CSV, and lines.
    Lines { header: Vec<u8>, lines: Vec<u8> },
    #[cfg(feature = "parquet")]
    Batch(arrow_array::RecordBatch),
}

impl Encoded {
    /// Encodes columns.
    ///
    /// # Errors
    /// When they do not fit the format.
    pub fn new(columns: &Columns<'_>, format: Format) -> Result<Self, Error> {
        let content = match format {
            Format::Csv => Content::Lines { header: columns.csv_header()?, lines: columns.csv_rows()? },
            Format::JsonLines => Content::Lines { header: Vec::new(), lines: columns.to_json_lines()? },
            #[cfg(feature = "parquet")]
            Format::Parquet => Content::Batch(columns.to_record_batch()?),
        };
        Ok(Self { rows: columns.rows(), content })
    }
}

/// A file of predictions that is being written; it appears whole or not at all.
pub enum PredictionFile {
    /// Lines, and whether some were written.
    Lines(Output, bool),
    /// Parquet.
    #[cfg(feature = "parquet")]
    Parquet(Box<ParquetWriter<Output>>),
}

impl PredictionFile {
    /// Opens `path`. A header is written with the first rows: data that is wrong from the start leaves nothing on standard output.
    pub fn create(path: &str, format: Format) -> Result<Self, Error> {
        let output = Output::create(path)?;
        match format {
            #[cfg(feature = "parquet")]
            Format::Parquet => Ok(Self::Parquet(Box::new(ParquetWriter::new(output)))),
            Format::Csv | Format::JsonLines => Ok(Self::Lines(output, false)),
        }
    }

    /// Writes some rows, which are encoded in the file's own format.
    pub fn write(&mut self, encoded: &Encoded) -> Result<(), Error> {
        match (self, &encoded.content) {
            (Self::Lines(output, begun), Content::Lines { header, lines }) => {
                if !std::mem::replace(begun, true) {
                    output.write(header)?;
                }
                output.write(lines)
            }
            #[cfg(feature = "parquet")]
            (Self::Parquet(writer), Content::Batch(batch)) => writer.write(batch),
            #[cfg(feature = "parquet")]
            _ => Ok(()),
        }
    }

    /// Completes the output: a file gets its final name.
    pub fn finish(self) -> Result<(), Error> {
        match self {
            Self::Lines(output, _) => output.finish(),
            #[cfg(feature = "parquet")]
            Self::Parquet(writer) => writer.finish()?.map_or(Ok(()), Output::finish),
        }
    }
}
