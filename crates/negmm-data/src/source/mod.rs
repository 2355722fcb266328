//! The decoded bytes of a table: decompressed, without byte order mark, with the delimiter detected.

pub(crate) mod format;
mod gzip;
pub(crate) mod memory_limit;
mod utf16;
#[cfg(feature = "parquet")]
mod zstd;

use std::fs::File;
use std::io::{self, Chain, Cursor, Read};

use std::path::Path;

#[cfg(feature = "parquet")]
use self::zstd::Zstd;
use format::{first_bytes, refuse_others};
use gzip::Gzip;
pub(crate) use gzip::MAGIC as GZIP;
use negmm_dist::{Error, Result};
use utf16::Utf16;

const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();
/// The separator is looked for in at most this many bytes …
pub(crate) const HEAD_BYTES: u64 = 1 << 16;
/// … and lines after the header.
const HEAD_LINES: usize = 100;
/// Possible separators; of those that fit equally well, the first is taken.
const SEPARATORS: [u8; 4] = [b',', b';', b'\t', b'|'];
/// A longer row is an error: most likely a quote was left open, and memory must not follow it to the end of the file.
const ROW_BYTES: usize = 64 << 20;
/// What is added at the end of the input. A row that reaches to the end of these lies inside an open quote.
const TAIL: &[u8] = b"\n\n";

/// The error of reading `name`.
pub(crate) fn read_error(name: &str, error: io::Error) -> Error {
    match error.downcast::<Error>() {
        Ok(inner) => inner.in_file(name),
        Err(error) => Error::io(name, error),
    }
}

type Whole<R> = Chain<Cursor<Vec<u8>>, R>;

/// A reader that decompresses gzip and zstd, which it detects by the first bytes, and turns UTF-16 with a byte order mark into UTF-8.
pub(crate) struct Decoded<R: Read> {
    /// The first decompressed bytes.
    start: Cursor<Vec<u8>>,
    bytes: Decompressed<R>,
    utf16: Option<Utf16>,
}

enum Decompressed<R: Read> {
    Plain(Whole<R>),
    Gzip(Box<Gzip<Whole<R>>>),
    #[cfg(feature = "parquet")]
    Zstd(Box<Zstd<Whole<R>>>),
}

impl<R: Read> Decoded<R> {
    pub fn new(mut reader: R, name: &str) -> Result<Self> {
        let start = first_bytes(&mut reader, name)?;
        let (gzip, zstd) = (start.starts_with(&gzip::MAGIC), start == format::ZSTD);
        let whole = Cursor::new(start).chain(reader);
        let mut bytes = match (gzip, zstd) {
            (true, _) => Decompressed::Gzip(Box::new(Gzip::new(whole))),
            #[cfg(feature = "parquet")]
            (_, true) => Decompressed::Zstd(Box::new(Zstd::new(whole).map_err(|error| read_error(name, error))?)),
            _ => Decompressed::Plain(whole),
        };
        let mut start = first_two(&mut bytes, name)?;
        let utf16 = Utf16::by_mark(&start);
        if utf16.is_some() {
            start.clear();
        }
        Ok(Self { start: Cursor::new(start), bytes, utf16 })
    }
}

fn first_two(reader: &mut impl Read, name: &str) -> Result<Vec<u8>> {
    let mut start = Vec::new();
    reader.take(gzip::MAGIC.len() as u64).read_to_end(&mut start).map_err(|error| read_error(name, error))?;
    Ok(start)
}

impl<R: Read> Read for Decompressed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(reader) => reader.read(buffer),
            Self::Gzip(reader) => reader.read(buffer),
            #[cfg(feature = "parquet")]
            Self::Zstd(reader) => reader.read(buffer),
        }
    }
}

impl<R: Read> Read for Decoded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.utf16 {
            Some(utf16) => utf16.read(&mut self.bytes, buffer),
            None => match self.start.read(buffer)? {
                0 => self.bytes.read(buffer),
                count => Ok(count),
            },
        }
    }
}

/// Bytes on their way to the CSV parser.
pub(crate) struct Source<R> {
    head: Cursor<Vec<u8>>,
    reader: R,
    tail: &'static [u8],
    delivered: u64,
    row_bytes: usize,
    header: HeaderShape,
}

impl<R> Source<R> {
    /// Whether there was nothing at all, not even a blank line.
    pub fn is_empty(&self) -> bool {
        self.delivered == TAIL.len() as u64
    }
}

impl<R: Read> Source<R> {
    /// `name` is a file name, or the name in messages; one that ends in `.tsv` prefers tabs. `separator` overrides detection.
    pub fn new(mut reader: R, name: &str, separator: Option<char>) -> Result<Self> {
        let mut head = Vec::new();
        (&mut reader).take(HEAD_BYTES).read_to_end(&mut head).map_err(|error| read_error(name, error))?;
        refuse_others(&head).map_err(|error| error.in_file(name))?;
        if head.starts_with(BYTE_ORDER_MARK) {
            head.drain(..BYTE_ORDER_MARK.len());
        }
        let mut header = HeaderShape::of(&head, prefers_tabs(name));
        header.separator = separator.and_then(|separator| u8::try_from(separator).ok()).unwrap_or(header.separator);
        Ok(Self { head: Cursor::new(head), reader, tail: TAIL, delivered: 0, row_bytes: 0, header })
    }

    pub fn header(&self) -> HeaderShape {
        self.header
    }

    /// To be called when the parser has finished a row that ends before byte `end`; whether that row is inside an open quote.
    #[inline]
    pub fn row_reaches_the_end(&mut self, end: u64) -> bool {
        self.row_bytes = 0;
        self.tail.is_empty() && end == self.delivered
    }
}

impl<R: Read> Read for Source<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.row_bytes > ROW_BYTES {
            let limit = ROW_BYTES >> 20;
            let message = format!("a row is longer than {limit} MiB (is a quote left open?)");
            return Err(io::Error::other(Error::data(message)));
        }
        let mut count = self.head.read(buffer)?;
        if count == 0 {
            count = self.reader.read(buffer)?;
        }
        if count == 0 && !buffer.is_empty() {
            count = self.tail.read(buffer)?;
        }
        self.delivered += count as u64;
        // Blank lines belong to no row.
        let blank = buffer[..count].iter().all(|byte| matches!(byte, b'\r' | b'\n'));
        self.row_bytes += if blank { 0 } else { count };
        Ok(count)
    }
}

/// Properties of a file detected from its first lines.
#[derive(Clone, Copy)]
pub(crate) struct HeaderShape {
    pub separator: u8,
    /// Lines end in a carriage return (and a line feed).
    pub carriage_return: bool,
}

impl HeaderShape {
    /// The separator is one that the header has, and as many lines as possible as often as the header.
    fn of(head: &[u8], prefer_tabs: bool) -> Self {
        let cut_off = head.len() as u64 + BYTE_ORDER_MARK.len() as u64 >= HEAD_BYTES;
        let mut lines: Vec<[usize; 4]> = Vec::new();
        let (mut line, mut quoted, mut started, mut carriage_return) = ([0; 4], false, false, false);
        for &byte in head {
            match byte {
                b'"' => quoted = !quoted,
                b'\r' | b'\n' if !quoted => {
                    if started {
                        carriage_return |= lines.is_empty() && byte == b'\r';
                        lines.push(line);
                        (line, started) = ([0; 4], false);
                    }
                    if lines.len() > HEAD_LINES {
                        break;
                    }
                    continue;
                }
                _ if quoted => {}
                _ => {
                    if let Some(at) = SEPARATORS.iter().position(|separator| *separator == byte) {
                        line[at] += 1;
                    }
                }
            }
            started = true;
        }
        if started && (lines.is_empty() || !cut_off && lines.len() <= HEAD_LINES) {
            lines.push(line);
        }
        let Some((header, rows)) = lines.split_first() else { return Self { separator: b',', carriage_return } };
        let fitting = |at: usize| rows.iter().filter(|row| row[at] == header[at]).count();
        let there = (0..SEPARATORS.len()).filter(|at| header[*at] > 0);
        let preferred = |at: usize| prefer_tabs && SEPARATORS[at] == b'\t';
        let best = there.rev().max_by_key(|at| (preferred(*at), fitting(*at)));
        Self { separator: SEPARATORS[best.unwrap_or(0)], carriage_return }
    }
}

fn prefers_tabs(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    [".gz", ".zst"].iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(&name).ends_with(".tsv")
}

/// Opens a file; a directory is an error.
pub(crate) fn open(path: &Path) -> Result<File> {
    let file = File::open(path).map_err(|error| Error::io(path, error))?;
    if file.metadata().is_ok_and(|metadata| metadata.is_dir()) {
        return Err(Error::data("expected a file, found a directory").in_file(path));
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_lines_choose_the_separator() {
        for (head, separator) in [
            ("a,b;c\n", b','),
            ("a;b\n1,2\n", b';'),
            ("a\tb\n", b'\t'),
            ("\"a,b\";c\n", b';'),
            ("\n\na\tb\n", b'\t'),
            ("alone\n1,2", b','),
            ("a|b\n1|2\n", b'|'),
            ("price, in euro;weight, in kg\n1,5;2,5\n3;4\n1;2,5\n", b';'),
            ("a,b,note\n1,2,x;y\n3,4,z\n", b','),
            ("a;b, c\r\n\"1;2\";3\r\n4;5\r\n", b';'),
            ("", b','),
        ] {
            assert_eq!(HeaderShape::of(head.as_bytes(), false).separator, separator, "{head}");
        }
        assert_eq!(HeaderShape::of(b"a, in euro\tb\n", prefers_tabs("X.TSV.gz")).separator, b'\t');
    }

    #[test]
    fn a_row_without_end_is_an_error() {
        let endless = io::Cursor::new(b"a\n".to_vec()).chain(io::repeat(b'x'));
        let mut source = Source::new(endless, "x.csv", None).unwrap();
        let error = io::copy(&mut source, &mut io::sink()).unwrap_err();
        let message = read_error("x.csv", error).to_string();
        assert_eq!(message, "x.csv: a row is longer than 64 MiB (is a quote left open?)");
    }
}
