//! Type inference of one column, from all its cells.

use super::duration::duration;
use super::number::{DecoratedNumber, NumberFormat};
use crate::column::missing::{MissingWords, is_missing_number};

/// A column is numeric where at most one row in this many does not fit …
const ROWS_FOR_AN_ODD_ONE: u64 = 20;
/// … and at most this many different texts do not: there are few missing-value markers, and many codes.
const ODD_TEXTS: usize = 10;
/// Digits of a code with leading zeros at least: of two they are hours, days and months.
const CODE_DIGITS: usize = 3;
const TRUTHS: [(&str, &str); 2] = [("true", "false"), ("yes", "no")];

/// The type hint of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TypeHint {
    Text,
    Number,
    Nothing,
}

/// The different texts of a column.
pub(crate) struct Levels<'a> {
    levels: &'a [String],
    /// Rows of each.
    counts: Vec<u64>,
}

/// The inferred type of a column.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Inference {
    Text,
    /// Text that consists of digits: numbers would lose the leading zeros.
    Codes,
    Truth,
    /// Lengths of time.
    Duration,
    /// Numbers that can have this decimal mark alone.
    Number(NumberFormat),
    /// Numbers with either decimal mark; an example of one that they read differently, where there is one.
    Either {
        point: NumberFormat,
        comma: NumberFormat,
        example: Option<String>,
    },
    /// No cell is a number, although the hint is numbers.
    NoNumber,
}

/// Whether a cell is a code: digits with a leading zero.
#[inline]
pub(crate) fn is_code(cell: &[u8]) -> bool {
    // Most cells are decided by their first byte.
    if !matches!(cell.first(), Some(b'0' | b' ' | b'\t')) {
        return false;
    }
    let cell = cell.trim_ascii();
    cell.first() == Some(&b'0') && cell.len() >= CODE_DIGITS && cell.iter().all(u8::is_ascii_digit)
}

/// 1 or 0, where a cell is one of the usual words.
pub(crate) fn truth(cell: &str) -> Option<u8> {
    let is = |word: &str| word.eq_ignore_ascii_case(cell);
    match cell {
        "1" | "1.0" => Some(1),
        "0" | "0.0" => Some(0),
        _ if TRUTHS.iter().any(|(yes, _)| is(yes)) => Some(1),
        _ if TRUTHS.iter().any(|(_, no)| is(no)) => Some(0),
        _ => None,
    }
}

/// A number format and how many cells of a column it fits.
struct Candidate {
    format: NumberFormat,
    rows: u64,
    odd_texts: usize,
}

impl<'a> Levels<'a> {
    pub fn new(codes: &[u32], levels: &'a [String]) -> Self {
        let mut counts = vec![0; levels.len()];
        for code in codes {
            if let Some(count) = counts.get_mut(*code as usize) {
                *count += 1;
            }
        }
        Self { levels, counts }
    }

    /// The texts in order, each with its rows; those that are in no row left out.
    pub fn present(&self) -> impl Iterator<Item = (&'a str, u64)> + Clone + '_ {
        self.levels.iter().map(String::as_str).zip(self.counts.iter().copied()).filter(|(_, count)| *count > 0)
    }

    /// Infers the type.
    pub fn decide(&self, words: &MissingWords, hint: TypeHint) -> Inference {
        if hint == TypeHint::Text {
            return Inference::Text;
        }
        let cells: Vec<(&str, u64)> =
            self.present().filter(|(cell, _)| !is_missing_number(cell.as_bytes()) && !words.has(cell)).collect();
        if cells.is_empty() {
            let format = |decimal| NumberFormat { decimal, ..NumberFormat::default() };
            return Inference::Either { point: format('.'), comma: format(','), example: None };
        }
        let among = |(yes, no): &(&str, &str)| {
            cells.iter().all(|(cell, _)| yes.eq_ignore_ascii_case(cell) || no.eq_ignore_ascii_case(cell))
        };
        if TRUTHS.iter().any(among) {
            return Inference::Truth;
        }
        if cells.iter().all(|(cell, _)| duration(cell).is_some()) {
            return Inference::Duration;
        }
        if hint == TypeHint::Nothing && cells.iter().any(|(cell, _)| is_code(cell.as_bytes())) {
            return Inference::Codes;
        }
        numbers(&cells, hint)
    }
}

/// The format that fits most rows, if it fits nearly all.
fn numbers(cells: &[(&str, u64)], hint: TypeHint) -> Inference {
    let rows: u64 = cells.iter().map(|(_, count)| count).sum();
    let enough = |read: u64, odd_texts: usize| match hint {
        TypeHint::Number => read > 0,
        _ => (rows - read) * ROWS_FOR_AN_ODD_ONE <= rows && odd_texts <= ODD_TEXTS,
    };
    let not = if hint == TypeHint::Number { Inference::NoNumber } else { Inference::Text };
    let decorated: Vec<(DecoratedNumber<'_>, u64)> =
        cells.iter().filter_map(|(cell, count)| Some((DecoratedNumber::new(cell)?, *count))).collect();
    let others = cells.len() - decorated.len();
    if !enough(decorated.iter().map(|(_, count)| count).sum(), others) {
        return not;
    }
    let decoration = decoration(&decorated);
    let best = |decimal: char, separators: [Option<char>; 5]| {
        let mut best: Option<Candidate> = None;
        for thousands in separators {
            let format = NumberFormat { decimal, thousands, ..decoration.clone() };
            let read = || decorated.iter().filter(|(cell, _)| format.read_decorated(cell).is_some());
            let (rows, odd_texts) = (read().map(|(_, count)| count).sum(), cells.len() - read().count());
            if best.as_ref().is_none_or(|best| rows > best.rows) {
                best = Some(Candidate { format, rows, odd_texts });
            }
            if odd_texts == 0 {
                break;
            }
        }
        best.filter(|best| enough(best.rows, best.odd_texts))
    };
    let point = best('.', [None, Some(','), Some(' '), Some('\''), Some('’')]);
    let comma = best(',', [None, Some('.'), Some(' '), Some('\''), Some('’')]);
    match (point, comma) {
        (Some(point), Some(comma)) if point.rows == comma.rows => {
            let (point, comma) = (point.format, comma.format);
            let differs = cells.iter().find(|(cell, _)| point.read(cell) != comma.read(cell));
            Inference::Either { point, comma, example: differs.map(|(cell, _)| cell.to_string()) }
        }
        (Some(point), Some(comma)) => {
            Inference::Number(if point.rows > comma.rows { point.format } else { comma.format })
        }
        (Some(one), None) | (None, Some(one)) => Inference::Number(one.format),
        (None, None) => not,
    }
}

/// The decoration of the numbers of most rows.
fn decoration(cells: &[(DecoratedNumber<'_>, u64)]) -> NumberFormat {
    let rows = |wanted: &dyn Fn(&DecoratedNumber<'_>) -> bool| -> u64 {
        cells.iter().filter(|(cell, _)| wanted(cell)).map(|(_, count)| count).sum()
    };
    let percent = 2 * rows(&|cell| cell.percent) > rows(&|cell| cell.percent || cell.body != "0");
    let mut currencies: Vec<(&str, u64)> = Vec::new();
    for (cell, count) in cells {
        let Some(name) = cell.currency else { continue };
        match currencies.iter_mut().find(|(other, _)| *other == name) {
            Some((_, total)) => *total += count,
            None => currencies.push((name, *count)),
        }
    }
    let currency = currencies.into_iter().rev().max_by_key(|(_, total)| *total).map(|(name, _)| name.to_string());
    NumberFormat {
        percent,
        currency,
        parentheses: cells.iter().any(|(cell, _)| cell.parentheses),
        ..NumberFormat::default()
    }
}
