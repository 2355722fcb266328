//! Responsible for reading a whole CSV file: what each column is read as is decided from all its cells.

use std::collections::BTreeMap;
use std::io::Read;

use super::csv::Records;
use super::reading::{
    CellReader, ColumnReading, Levels, MissingWords, NumberForm, ReadAs, Verdict, Wish, is_code, is_mark_in_text,
    plain_number,
};
use super::source::read_error;
use super::table::{Dictionary, Table};
use super::{Column, Dialect, MISSING, Reading};
use crate::{Error, Result};

/// Reads all rows. The bytes are held in memory and gone through again for columns that are not plain numbers: only at the end of a
/// column is it known that it is, and the text of its first cells must then still be there.
pub(super) fn read_whole(mut reader: impl Read, name: &str, dialect: &Dialect) -> Result<Table> {
    let mut bytes = Vec::new();
    reader.read_to_end(&mut bytes).map_err(|error| read_error(name, error))?;
    let mut file =
        Whole { bytes: &bytes, name, dialect, words: MissingWords::new(&dialect.missing), wishes: Vec::new() };
    let mut records = file.records()?;
    file.wishes = dialect.wishes(records.header()).map_err(|error| error.in_file(name))?;
    let numbers = file.plain_numbers(&mut records)?;
    let header = records.header();
    let others: Vec<usize> = (0..header.len()).filter(|position| numbers[*position].is_none()).collect();
    let mut texts = file.dictionaries(&others)?;
    let mut verdicts = file.decide(&texts);
    // Numbers such as 1.234 are plain, and yet thousands where the file has decimal commas.
    let commas = verdicts.values().any(|verdict| match verdict {
        Verdict::Number(form) => form.decimal == ',',
        Verdict::Either { example, .. } => example.is_some() && records.separator() != b',',
        _ => false,
    });
    if commas && dialect.decimal.is_none() || dialect.decimal == Some(',') {
        let dotted = file.dictionaries(&file.dotted(&numbers)?)?;
        verdicts.extend(file.decide(&dotted));
        texts.extend(dotted);
    }
    let decimal = file.decimal(&verdicts);
    let mut readings = BTreeMap::new();
    let mut columns = Vec::with_capacity(header.len());
    for (position, plain) in numbers.into_iter().enumerate() {
        let blame = |error: Error| error.in_column(&header[position]).in_file(name);
        let (column, reading) = match (plain, texts.remove(&position)) {
            (Some(numbers), None) => (Column::Numbers(numbers), file.plain_reading(decimal)),
            (plain, text) => {
                let verdict = verdicts.remove(&position).unwrap_or(Verdict::Text);
                let text = text.unwrap_or_else(|| Column::text([]));
                let verdict = resolved(verdict, decimal, records.separator()).map_err(blame)?;
                file.finish(plain, text, verdict)
            }
        };
        readings.extend(reading.map(|reading| (header[position].clone(), reading)));
        columns.push(column);
    }
    let named = header.iter().cloned().zip(columns);
    Ok(Table::of_checked(name, named, 0, records.rows()).with_readings(readings))
}

/// A file in memory and what is said about it.
struct Whole<'a> {
    bytes: &'a [u8],
    name: &'a str,
    dialect: &'a Dialect,
    words: MissingWords,
    wishes: Vec<Wish>,
}

impl<'a> Whole<'a> {
    fn records(&self) -> Result<Records<&'a [u8]>> {
        Records::new(self.bytes, self.name, self.dialect.separator)
    }

    /// The columns in which every cell is a plain number or missing.
    fn plain_numbers(&self, records: &mut Records<&[u8]>) -> Result<Vec<Option<Vec<f64>>>> {
        let reader = CellReader::new(&Reading::number().with_missing(self.dialect.missing.iter().cloned()));
        let width = records.header().len();
        let mut numbers: Vec<Option<Vec<f64>>> =
            self.wishes.iter().map(|wish| (*wish != Wish::Text).then(Vec::new)).collect();
        let mut infinities: Vec<Option<Error>> = vec![None; width];
        while records.advance()? {
            for (position, column) in numbers.iter_mut().enumerate() {
                let Some(values) = column else { continue };
                let cell = &records.cells()[position];
                match reader.number(cell) {
                    Some(_) if is_code(cell) && self.wishes[position] == Wish::Nothing => *column = None,
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

    /// The columns at these places as text.
    fn dictionaries(&self, positions: &[usize]) -> Result<BTreeMap<usize, Column>> {
        let mut dictionaries: Vec<Dictionary> = positions.iter().map(|_| Dictionary::default()).collect();
        if !positions.is_empty() {
            let reader = CellReader::new(&Reading::text());
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

    fn decide(&self, texts: &BTreeMap<usize, Column>) -> BTreeMap<usize, Verdict> {
        let decide = |(position, column): (&usize, &Column)| {
            let Column::Text { codes, levels } = column else { return (*position, Verdict::Text) };
            (*position, Levels::new(codes, levels).decide(&self.words, self.wishes[*position]))
        };
        texts.iter().map(decide).collect()
    }

    /// The file's decimal mark: what somebody says, else that of all columns that can have one alone.
    fn decimal(&self, verdicts: &BTreeMap<usize, Verdict>) -> Option<char> {
        let certain = |mark: char| {
            verdicts.values().any(|verdict| matches!(verdict, Verdict::Number(form) if form.decimal == mark))
        };
        match (self.dialect.decimal, certain('.'), certain(',')) {
            (Some(decimal), ..) => Some(decimal),
            (None, true, false) => Some('.'),
            (None, false, true) => Some(','),
            _ => None,
        }
    }

    /// What is to be kept of a column of plain numbers without a point.
    fn plain_reading(&self, decimal: Option<char>) -> Option<ColumnReading> {
        let form = NumberForm { decimal: decimal.unwrap_or('.'), ..NumberForm::default() };
        self.kept(Reading { cells: ReadAs::Number(form), ..Reading::number() }, String::new(), Vec::new(), None)
    }

    /// A column as it was decided, and what is to be kept of that.
    fn finish(&self, plain: Option<Vec<f64>>, text: Column, verdict: Verdict) -> (Column, Option<ColumnReading>) {
        let Column::Text { codes, levels } = text else { return (text, None) };
        let note = if verdict == Verdict::Codes { "leading zeros" } else { "" };
        let cells = match verdict {
            Verdict::Number(form) if form.is_plain() && plain.is_some() => {
                return (Column::Numbers(plain.unwrap_or_default()), self.plain_reading(None));
            }
            Verdict::Number(form) => ReadAs::Number(form),
            Verdict::Truth => ReadAs::Truth,
            _ => return self.finish_text(codes, levels, note),
        };
        let truth = cells == ReadAs::Truth;
        let reading = Reading { cells, missing: self.dialect.missing.clone(), odd_are_missing: true };
        let reader = CellReader::new(&reading);
        let present = Levels::new(&codes, &levels);
        let fits = |cell: &str| reader.number(cell.as_bytes()).is_some_and(f64::is_finite);
        let note = present.present().map(|(cell, _)| cell).find(|cell| fits(cell) && cell.parse::<f64>().is_err());
        let note = note.map_or(String::new(), |cell| format!("such as {}", super::quoted(cell)));
        let odd = |(cell, _): &(&str, u64)| reader.number(cell.as_bytes()).is_none_or(f64::is_infinite);
        let mut odd: Vec<(String, u64)> =
            present.present().filter(odd).map(|(cell, count)| (cell.to_string(), count)).collect();
        odd.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        let numbers = reader.numbers(&codes, &levels).map_or_else(|_| Vec::new(), |(numbers, _)| numbers);
        // A cell that fits no truth value would be a category of its own in a text: it stays welcome.
        let reading = Reading { odd_are_missing: truth || !odd.is_empty(), missing: Vec::new(), ..reading };
        let reading = self.kept(reading, note, odd, Some(Column::Text { codes, levels }));
        (Column::Numbers(numbers), reading)
    }

    fn finish_text(&self, mut codes: Vec<u32>, levels: Vec<String>, note: &str) -> (Column, Option<ColumnReading>) {
        let present = Levels::new(&codes, &levels);
        let marks: Vec<String> = present
            .present()
            .map(|(cell, _)| cell)
            .filter(|cell| is_mark_in_text(cell.as_bytes()))
            .map(String::from)
            .collect();
        if !marks.is_empty() || !self.words.is_empty() {
            let missing: Vec<bool> =
                levels.iter().map(|level| marks.contains(level) || self.words.has(level)).collect();
            for code in &mut codes {
                if missing.get(*code as usize) == Some(&true) {
                    *code = MISSING;
                }
            }
        }
        let kept = self.kept(Reading::text().with_missing(marks), note.to_string(), Vec::new(), None);
        (Column::Text { codes, levels }, kept)
    }

    /// What is to be kept of a column; nothing where that says no more than its kind.
    fn kept(
        &self,
        reading: Reading,
        note: String,
        odd: Vec<(String, u64)>,
        text: Option<Column>,
    ) -> Option<ColumnReading> {
        let reading = reading.with_missing(self.dialect.missing.iter().cloned());
        (!reading.is_plain() || !note.is_empty()).then_some(ColumnReading { reading, note, odd, text })
    }
}

/// A verdict with one decimal mark.
fn resolved(verdict: Verdict, decimal: Option<char>, separator: u8) -> Result<Verdict> {
    match verdict {
        Verdict::NoNumber => Err(Error::options("said to be numbers, but no cell is one")),
        Verdict::Either { point, comma, example } => match (decimal, example) {
            (Some(','), _) => Ok(Verdict::Number(comma)),
            (Some(_), _) | (None, None) => Ok(Verdict::Number(point)),
            // Programs write points, and a comma that separates cells is no decimal mark.
            (None, Some(_)) if point.is_plain() || separator == b',' => Ok(Verdict::Number(point)),
            (None, Some(cell)) => {
                let [a, b] = [&point, &comma].map(|form| form.read(&cell).unwrap_or(f64::NAN));
                let cell = super::quoted(&cell);
                Err(Error::data(format!("{cell} may be {a} or {b}: say --decimal . or --decimal ,")))
            }
        },
        other => Ok(other),
    }
}
