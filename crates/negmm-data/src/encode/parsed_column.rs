//! The cells of one input column, parsed once: numbers, seconds since 1970, or text with codes.

use std::borrow::Cow;

use crate::infer::time_columns::seconds;
use crate::infer::{as_text, column_numbers};
use crate::{Column, Kind};
use negmm_dist::Error;

/// A column as its encoding uses it.
#[derive(Clone, Debug)]
pub(crate) enum ParsedColumn<'a> {
    /// Numbers, or seconds since 1970; a missing one is NaN.
    Numbers(Cow<'a, [f64]>),
    /// Text, as in [`Column::Text`].
    Text {
        /// For each row the position of its text among the levels; any other number where it is missing.
        codes: Cow<'a, [u32]>,
        /// The different texts.
        levels: Cow<'a, [String]>,
    },
}

impl<'a> ParsedColumn<'a> {
    /// Parses a column as this kind. The error comes with its row.
    pub fn new(column: Cow<'a, Column>, kind: Kind) -> Result<Self, (usize, Error)> {
        match (column, kind) {
            (Cow::Borrowed(column), kind) => Self::borrowed(column, kind),
            (Cow::Owned(Column::Numbers(numbers)), Kind::Number) => Ok(Self::Numbers(numbers.into())),
            (Cow::Owned(Column::Text { codes, levels }), Kind::Text) => {
                Ok(Self::Text { codes: codes.into(), levels: levels.into() })
            }
            (Cow::Owned(column), kind) => Ok(ParsedColumn::borrowed(&column, kind)?.into_owned()),
        }
    }

    fn borrowed(column: &'a Column, kind: Kind) -> Result<Self, (usize, Error)> {
        Ok(match kind {
            Kind::Number => Self::Numbers(column_numbers(column)?),
            Kind::Time(format) => Self::Numbers(seconds(column, format)?),
            Kind::Text => match as_text(column) {
                Cow::Borrowed(Column::Text { codes, levels }) => {
                    Self::Text { codes: codes.into(), levels: levels.into() }
                }
                Cow::Owned(Column::Text { codes, levels }) => Self::Text { codes: codes.into(), levels: levels.into() },
                Cow::Borrowed(_) | Cow::Owned(_) => Self::Text { codes: Cow::default(), levels: Cow::default() },
            },
        })
    }

    fn into_owned(self) -> ParsedColumn<'static> {
        match self {
            Self::Numbers(numbers) => ParsedColumn::Numbers(numbers.into_owned().into()),
            Self::Text { codes, levels } => {
                ParsedColumn::Text { codes: codes.into_owned().into(), levels: levels.into_owned().into() }
            }
        }
    }

    /// The numbers or seconds; none of a text column.
    pub fn numbers(&self) -> &[f64] {
        match self {
            Self::Numbers(numbers) => numbers,
            Self::Text { .. } => &[],
        }
    }

    /// The codes and the levels of text; none of a column of numbers.
    pub fn text(&self) -> (&[u32], &[String]) {
        match self {
            Self::Numbers(_) => (&[], &[]),
            Self::Text { codes, levels } => (codes, levels),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TimeFormat;

    #[test]
    fn a_column_is_parsed_as_its_kind() {
        let text = Column::text([Some("2.5"), None]);
        let numbers = ParsedColumn::new(Cow::Owned(text.clone()), Kind::Number).unwrap();
        assert!(numbers.numbers()[0] == 2.5 && numbers.numbers()[1].is_nan() && numbers.text().0.is_empty());
        let numbers = ParsedColumn::new(Cow::Owned(Column::Numbers(vec![3.0])), Kind::Text).unwrap();
        assert_eq!(numbers.text(), (&[0][..], &["3".to_string()][..]));
        let dates = Column::text([Some("1970-01-02")]);
        let seconds = ParsedColumn::new(Cow::Borrowed(&dates), Kind::Time(TimeFormat::Ymd)).unwrap();
        assert_eq!(seconds.numbers(), [86_400.0]);
        let (row, _) = ParsedColumn::new(Cow::Borrowed(&Column::text([None, Some("x")])), Kind::Number).unwrap_err();
        assert_eq!(row, 1);
    }
}
