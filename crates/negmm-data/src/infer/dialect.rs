//! The dialect of a CSV file and type hints, where they should not be inferred.

use serde::{Deserialize, Serialize};

use super::ColumnType;
use super::TypeHint;
use crate::message::absent_columns;
use negmm_dist::{Error, Result};

/// The dialect of a file and type hints of its columns. By default everything is inferred from the file.
///
/// | field | default | range | meaning |
/// |---|---|---|---|
/// | `separator` | from the first lines | a character of one byte | field delimiter |
/// | `decimal` | from whole columns | `.` or `,` | the decimal mark, where a column can be read with either |
/// | `missing` | none | any words | cells that are missing, beside the usual words; a number by its value |
/// | `text` | none | names of columns | columns that are text, whatever they look like |
/// | `number` | none | names of columns | columns that are numbers; cells that are none are missing |
/// | `memory` | half of the machine's | from 1 | gigabytes of a file, unpacked, that are held in memory at most |
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Dialect {
    /// Field delimiter.
    pub separator: Option<char>,
    /// The decimal mark, where a column can be read with either.
    pub decimal: Option<char>,
    /// Cells that are missing, beside the usual words.
    pub missing: Vec<String>,
    /// Columns that are text.
    pub text: Vec<String>,
    /// Columns that are numbers.
    pub number: Vec<String>,
    /// Gigabytes of a file, unpacked, that are held in memory.
    pub memory: Option<u64>,
}

/// Setters.
impl Dialect {
    /// Sets `separator`.
    #[must_use]
    pub fn separator(self, separator: impl Into<Option<char>>) -> Self {
        Self { separator: separator.into(), ..self }
    }

    /// Sets `decimal`.
    #[must_use]
    pub fn decimal(self, decimal: impl Into<Option<char>>) -> Self {
        Self { decimal: decimal.into(), ..self }
    }

    /// Sets `missing`.
    #[must_use]
    pub fn missing(self, missing: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { missing: missing.into_iter().map(Into::into).collect(), ..self }
    }

    /// Sets `text`.
    #[must_use]
    pub fn text(self, text: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { text: text.into_iter().map(Into::into).collect(), ..self }
    }

    /// Sets `number`.
    #[must_use]
    pub fn number(self, number: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { number: number.into_iter().map(Into::into).collect(), ..self }
    }

    /// Sets `memory`.
    #[must_use]
    pub fn memory(self, memory: impl Into<Option<u64>>) -> Self {
        Self { memory: memory.into(), ..self }
    }
}

impl Dialect {
    /// Validates the settings.
    pub fn check(&self) -> Result<()> {
        if let Some(separator) =
            self.separator.filter(|separator| !separator.is_ascii() || "\"\r\n".contains(*separator))
        {
            return Err(Error::option("separator", format!("must be a character such as , or ;, found {separator:?}")));
        }
        if let Some(decimal) = self.decimal.filter(|decimal| !matches!(decimal, '.' | ',')) {
            return Err(Error::option("decimal", format!("must be . or , found {decimal:?}")));
        }
        if let Some(twice) = self.text.iter().find(|name| self.number.contains(name)) {
            return Err(Error::options(format!("column {twice:?} cannot be both text and number")));
        }
        Ok(())
    }

    /// The type hint of each column of a file.
    pub(crate) fn hints(&self, header: &[String]) -> Result<Vec<TypeHint>> {
        self.check()?;
        let asked = || {
            self.text
                .iter()
                .map(|name| (name, TypeHint::Text))
                .chain(self.number.iter().map(|name| (name, TypeHint::Number)))
        };
        let mut hints = vec![TypeHint::Nothing; header.len()];
        let mut absent = Vec::new();
        for (name, hint) in asked() {
            match header.iter().position(|column| column == name.trim()) {
                Some(position) => hints[position] = hint,
                None => absent.push(name.as_str()),
            }
        }
        match absent.is_empty() {
            true => Ok(hints),
            false => Err(Error::options(absent_columns(&absent, header.iter().map(String::as_str)))),
        }
    }
}

impl ColumnType {
    /// The same with more words for missing.
    pub(crate) fn with_missing(mut self, words: impl IntoIterator<Item = String>) -> Self {
        self.missing.extend(words);
        self
    }
}
