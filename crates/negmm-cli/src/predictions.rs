//! The file of predictions in the format that its name says: CSV, JSON, lines of JSON, Parquet or Arrow.

use std::io::{self, IsTerminal, Write};

#[cfg(feature = "parquet")]
use arrow_ipc::writer::FileWriter;
use flate2::Compression;
use flate2::write::GzEncoder;
#[cfg(feature = "parquet")]
use negmm::data::ParquetWriter;
use negmm::{Columns, Error};

use crate::output::Output;

/// Extensions of formats that are not written, so that a file never has a name which its content belies.
const OTHERS: [&str; 18] = [
    "xlsx", "xls", "ods", "zip", "zst", "bz2", "xz", "7z", "lz4", "orc", "avro", "h5", "hdf5", "sqlite", "db", "npy",
    "npz", "pkl",
];

/// Significant digits on a terminal; values of the target have as many as their sd.
const TERMINAL_DIGITS: usize = 4;

/// How predictions are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    kind: Kind,
    gzip: bool,
    digits: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Cells with this character between them.
    Csv(u8),
    /// A list of JSON objects.
    Json,
    /// A JSON object a line.
    JsonLines,
    Parquet,
    Arrow,
}

impl Format {
    /// The format of a file of that name; on standard output lines of JSON where `json` asks for them.
    pub fn of(path: &str, json: bool) -> Result<Self, Error> {
        let name = path.to_ascii_lowercase();
        let (name, gzip) = match name.strip_suffix(".gz") {
            Some(name) => (name, true),
            None => (&*name, false),
        };
        let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
        let kind = match extension {
            _ if path == "-" => {
                if json {
                    Kind::JsonLines
                } else {
                    Kind::Csv(b',')
                }
            }
            "tsv" => Kind::Csv(b'\t'),
            "json" => Kind::Json,
            "jsonl" | "ndjson" => Kind::JsonLines,
            "parquet" => Kind::Parquet,
            "arrow" | "feather" | "ipc" => Kind::Arrow,
            _ => Kind::Csv(b','),
        };
        let binary = matches!(kind, Kind::Parquet | Kind::Arrow);
        if OTHERS.contains(&extension) || binary && gzip {
            return Err(Error::options(format!(
                "{path}: expected the name of a CSV file (.csv, .tsv), of JSON (.json, .jsonl), each also with .gz, of Parquet \
                 (.parquet) or of Arrow (.arrow, .feather)"
            )));
        }
        if binary && cfg!(not(feature = "parquet")) {
            return Err(Error::options(format!(
                "this build writes neither Parquet nor Arrow: use another name than {path}"
            )));
        }
        let read_by_a_person = path == "-" && io::stdout().is_terminal();
        Ok(Self { kind, gzip, digits: digits_shown(read_by_a_person) })
    }

    /// The same with numbers rounded to this many digits, where they are text.
    pub fn digits(self, digits: Option<usize>) -> Self {
        Self { digits: digits.or(self.digits), ..self }
    }

    /// Whether it is CSV with commas, not compressed.
    pub fn is_plain_csv(self) -> bool {
        self.kind == Kind::Csv(b',') && !self.gzip
    }

    /// Whether columns have types.
    pub fn is_typed(self) -> bool {
        matches!(self.kind, Kind::Parquet | Kind::Arrow)
    }
}

/// The digits where none are asked for: on a terminal those that matter, in files and pipes all, so that other programs read the same
/// numbers.
fn digits_shown(read_by_a_person: bool) -> Option<usize> {
    read_by_a_person.then_some(TERMINAL_DIGITS)
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
        let rounded = format.digits.filter(|_| !format.is_typed()).map(|digits| columns.rounded(digits));
        let columns = rounded.as_ref().unwrap_or(columns);
        let content = match format.kind {
            Kind::Csv(separator) => Content::Lines {
                header: columns.separated_header(separator)?,
                lines: columns.separated_rows(separator)?,
            },
            Kind::Json => {
                let text = columns.to_json_lines()?;
                let records = text.strip_suffix(b"\n").unwrap_or(&text).split(|byte| *byte == b'\n');
                Content::Lines { header: Vec::new(), lines: records.collect::<Vec<_>>().join(&b",\n"[..]) }
            }
            Kind::JsonLines => Content::Lines { header: Vec::new(), lines: columns.to_json_lines()? },
            #[cfg(feature = "parquet")]
            Kind::Parquet | Kind::Arrow => Content::Batch(columns.to_record_batch()?),
            #[cfg(not(feature = "parquet"))]
            Kind::Parquet | Kind::Arrow => Content::Lines { header: Vec::new(), lines: Vec::new() },
        };
        Ok(Self { rows: columns.rows(), content })
    }
}

/// A file of predictions that is being written; it appears whole or not at all.
pub struct PredictionFile {
    format: Format,
    /// Whether some rows were written.
    begun: bool,
    sink: Sink,
}

enum Sink {
    Lines(Output),
    Gzip(Box<GzEncoder<Output>>),
    #[cfg(feature = "parquet")]
    Parquet(Box<ParquetWriter<Output>>),
    /// What is written to, until the first batch says which columns there are.
    #[cfg(feature = "parquet")]
    Arrow(Option<Output>, Option<Box<FileWriter<Output>>>),
}

impl PredictionFile {
    /// Opens `path`. A header is written with the first rows: data that is wrong from the start leaves nothing on standard output.
    pub fn create(path: &str, format: Format) -> Result<Self, Error> {
        let output = Output::create(path)?;
        let sink = match format.kind {
            #[cfg(feature = "parquet")]
            Kind::Parquet => Sink::Parquet(Box::new(ParquetWriter::new(output))),
            #[cfg(feature = "parquet")]
            Kind::Arrow => Sink::Arrow(Some(output), None),
            _ if format.gzip => Sink::Gzip(Box::new(GzEncoder::new(output, Compression::default()))),
            _ => Sink::Lines(output),
        };
        Ok(Self { format, begun: false, sink })
    }

    /// Writes some rows, which are encoded in the file's own format.
    pub fn write(&mut self, encoded: &Encoded) -> Result<(), Error> {
        let first = !std::mem::replace(&mut self.begun, true);
        match &encoded.content {
            Content::Lines { header, lines } => {
                let before: &[u8] = match self.format.kind {
                    Kind::Json if first => b"[",
                    Kind::Json if !lines.is_empty() => b",\n",
                    _ if first => header,
                    _ => b"",
                };
                self.write_text(before)?;
                self.write_text(lines)
            }
            #[cfg(feature = "parquet")]
            Content::Batch(batch) => match &mut self.sink {
                Sink::Parquet(writer) => writer.write(batch),
                Sink::Arrow(output, writer) => {
                    if let Some(output) = output.take() {
                        let begun = FileWriter::try_new(output, &batch.schema()).map_err(|error| written(&error))?;
                        *writer = Some(Box::new(begun));
                    }
                    let written = |error| written(&error);
                    writer.as_mut().map_or(Ok(()), |writer| writer.write(batch).map_err(written))
                }
                Sink::Lines(_) | Sink::Gzip(_) => Ok(()),
            },
        }
    }

    fn write_text(&mut self, text: &[u8]) -> Result<(), Error> {
        match &mut self.sink {
            Sink::Lines(output) => output.write(text),
            Sink::Gzip(encoder) => encoder.write_all(text).map_err(own),
            #[cfg(feature = "parquet")]
            Sink::Parquet(_) | Sink::Arrow(..) => Ok(()),
        }
    }

    /// Completes the output: a file gets its final name.
    pub fn finish(mut self) -> Result<(), Error> {
        if self.format.kind == Kind::Json {
            self.write_text(if self.begun { b"]\n" } else { b"[]\n" })?;
        }
        match self.sink {
            Sink::Lines(output) => output.finish(),
            Sink::Gzip(encoder) => encoder.finish().map_err(own)?.finish(),
            #[cfg(feature = "parquet")]
            Sink::Parquet(writer) => writer.finish()?.map_or(Ok(()), Output::finish),
            #[cfg(feature = "parquet")]
            Sink::Arrow(output, writer) => {
                if let Some(mut writer) = writer {
                    writer.finish().map_err(|error| written(&error))?;
                    return writer.into_inner().map_err(|error| written(&error))?.finish();
                }
                output.map_or(Ok(()), Output::finish)
            }
        }
    }
}

/// The error of an output inside an encoder.
fn own(error: io::Error) -> Error {
    error.downcast::<Error>().unwrap_or_else(|error| Error::data(error.to_string()))
}

#[cfg(feature = "parquet")]
fn written(error: &dyn std::error::Error) -> Error {
    Error::data(format!("cannot be written as Arrow: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_the_format() {
        let kind = |path: &str| Format::of(path, false).map(|format| (format.kind, format.gzip)).ok();
        assert_eq!(kind("p.CSV"), Some((Kind::Csv(b','), false)));
        assert_eq!(kind("p"), Some((Kind::Csv(b','), false)));
        assert_eq!(kind("p.tsv.gz"), Some((Kind::Csv(b'\t'), true)));
        assert_eq!(kind("a.b/p.json"), Some((Kind::Json, false)));
        assert_eq!(kind("p.jsonl.gz"), Some((Kind::JsonLines, true)));
        assert_eq!(kind("-"), Some((Kind::Csv(b','), false)));
        assert_eq!(Format::of("-", true).unwrap().kind, Kind::JsonLines);
        for refused in ["p.xlsx", "p.csv.zst", "p.parquet.gz", "p.arrow.gz"] {
            assert_eq!(kind(refused), None, "{refused}");
        }
    }
}
