//! Number formats of a column: decimal mark, thousands separator, percent, currency, parentheses.

use serde::{Deserialize, Serialize};

/// Signs and codes of currencies, before or after a number.
const CURRENCIES: [&str; 11] = ["$", "€", "£", "¥", "₹", "USD", "EUR", "GBP", "JPY", "CHF", "INR"];
/// Digits between two separators of thousands.
const GROUP: usize = 3;

/// How the numbers of a column are written. The default is what every program writes: `-1234.5`, `1e5`.
///
/// | field | default | meaning |
/// |---|---|---|
/// | `decimal` | `.` | the decimal mark, `.` or `,` |
/// | `thousands` | none | what may separate groups of three digits: `,` `.` `'` `’` or a blank of any kind |
/// | `percent` | no | every number but 0 has a percent sign; 5 % is read as 5 |
/// | `currency` | none | this sign or code may be before or after a number |
/// | `parentheses` | no | a number in parentheses is negative |
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct NumberFormat {
    /// The decimal mark, `.` or `,`.
    pub decimal: char,
    /// Separator of groups of three digits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thousands: Option<char>,
    /// Every number but 0 has a percent sign.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub percent: bool,
    /// This sign or code may be before or after a number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub currency: Option<String>,
    /// A number in parentheses is negative.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub parentheses: bool,
}

impl Default for NumberFormat {
    fn default() -> Self {
        Self { decimal: '.', thousands: None, percent: false, currency: None, parentheses: false }
    }
}

impl NumberFormat {
    /// Whether numbers are written as every program writes them.
    pub fn is_plain(&self) -> bool {
        *self == Self::default()
    }

    /// The number in a cell; none where it is not written so, or not finite.
    pub fn read(&self, cell: &str) -> Option<f64> {
        self.read_decorated(&DecoratedNumber::new(cell)?)
    }

    pub(crate) fn read_decorated(&self, decorated: &DecoratedNumber<'_>) -> Option<f64> {
        if decorated.parentheses && !self.parentheses
            || decorated.percent && !self.percent
            || decorated.currency.is_some_and(|currency| self.currency.as_deref() != Some(currency))
        {
            return None;
        }
        let size = self.size(decorated.body)?;
        // A bare number among percentages may be a fraction.
        if self.percent && !decorated.percent && size != 0.0 {
            return None;
        }
        Some(if decorated.negative { -size } else { size })
    }

    /// The absolute value.
    fn size(&self, body: &str) -> Option<f64> {
        let (mantissa, exponent) = body.split_at(body.find(['e', 'E']).unwrap_or(body.len()));
        let (whole, fraction) = mantissa.split_once(self.decimal).unwrap_or((mantissa, ""));
        let mut groups = whole.split(|character| self.separates(character));
        let mut digits = groups.next().unwrap_or_default().to_string();
        let first = digits.len();
        for group in groups {
            if group.len() != GROUP || !(1..=GROUP).contains(&first) || digits.starts_with('0') || !exponent.is_empty()
            {
                return None;
            }
            digits.push_str(group);
        }
        let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if !is_digits(&digits) || !is_digits(fraction) {
            return None;
        }
        let number: f64 = format!("{digits}.{fraction}{exponent}").parse().ok()?;
        number.is_finite().then_some(number)
    }

    fn separates(&self, character: char) -> bool {
        match self.thousands {
            // Blank, no-break blank, narrow no-break blank, thin blank.
            Some(' ') => matches!(character, ' ' | '\u{a0}' | '\u{202f}' | '\u{2009}'),
            thousands => thousands == Some(character),
        }
    }
}

impl std::fmt::Display for NumberFormat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut marks = Vec::new();
        if self.decimal != '.' {
            marks.push(format!("decimal {}", self.decimal));
        }
        match self.thousands {
            Some(' ') => marks.push("blanks between thousands".into()),
            Some(thousands) => marks.push(format!("{thousands} between thousands")),
            None => {}
        }
        marks.extend(self.currency.clone());
        if self.percent {
            marks.push("%".into());
        }
        if self.parentheses {
            marks.push("() negative".into());
        }
        match marks.is_empty() {
            true => f.write_str("number"),
            false => write!(f, "number ({})", marks.join(", ")),
        }
    }
}

/// A cell taken apart: what is around a number, and its digits and marks.
#[derive(Clone, Debug)]
pub(crate) struct DecoratedNumber<'a> {
    pub negative: bool,
    pub parentheses: bool,
    pub percent: bool,
    pub currency: Option<&'static str>,
    pub body: &'a str,
}

impl<'a> DecoratedNumber<'a> {
    /// None where a cell is no number, however it is written.
    pub fn new(cell: &'a str) -> Option<Self> {
        let cell = cell.trim();
        let inside = cell.strip_prefix('(').and_then(|cell| cell.strip_suffix(')'));
        let parentheses = inside.is_some();
        let mut rest = inside.unwrap_or(cell).trim();
        let mut signed = sign(&mut rest);
        let mut currency = CURRENCIES.into_iter().find(|currency| rest.starts_with(currency));
        if let Some(currency) = currency {
            rest = rest[currency.len()..].trim_start();
            signed = signed.or_else(|| sign(&mut rest));
        }
        let percent = rest.ends_with('%');
        rest = rest.strip_suffix('%').unwrap_or(rest).trim_end();
        if currency.is_none() {
            currency = CURRENCIES.into_iter().find(|currency| rest.ends_with(currency));
            rest = rest[..rest.len() - currency.map_or(0, str::len)].trim_end();
        }
        let begins = rest.trim_start_matches(['.', ',']).starts_with(|first: char| first.is_ascii_digit());
        if !begins || parentheses && signed.is_some() {
            return None;
        }
        Some(Self { negative: parentheses || signed == Some('-'), parentheses, percent, currency, body: rest })
    }
}

/// Takes a sign off the start of a text.
fn sign(text: &mut &str) -> Option<char> {
    let first = text.chars().next()?;
    let sign = match first {
        '-' | '\u{2212}' => '-',
        '+' => '+',
        _ => return None,
    };
    *text = text[first.len_utf8()..].trim_start();
    Some(sign)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_every_format() {
        let format = |decimal, thousands| NumberFormat { decimal, thousands, ..NumberFormat::default() };
        let point = || format('.', Some(','));
        let comma = || format(',', Some('.'));
        let money = |currency: &str| NumberFormat { currency: Some(currency.into()), parentheses: true, ..point() };
        let percent = NumberFormat { percent: true, ..NumberFormat::default() };
        for (format, cell, number) in [
            (point(), "1,234,567.5", Some(1_234_567.5)),
            (point(), "-12", Some(-12.0)),
            (point(), ".5", Some(0.5)),
            (point(), "5.", Some(5.0)),
            (point(), "+3", Some(3.0)),
            (point(), "1e5", Some(1e5)),
            (point(), "1,23,456", None),
            (point(), "12,34", None),
            (point(), "0,123", None),
            (point(), "1,234e5", None),
            (point(), "1e999", None),
            (point(), "1234,567", None),
            (comma(), "1.234,5", Some(1234.5)),
            (comma(), "0,5", Some(0.5)),
            (comma(), "1,5e3", Some(1500.0)),
            (comma(), "1.5", None),
            (format(',', Some(' ')), "1\u{202f}234 567,25", Some(1_234_567.25)),
            (format('.', Some('\'')), "1'234.5", Some(1234.5)),
            (money("$"), "-$1,234.50", Some(-1234.5)),
            (money("$"), "$ -5", Some(-5.0)),
            (money("$"), "($5)", Some(-5.0)),
            (money("$"), "5", Some(5.0)),
            (money("$"), "€5", None),
            (money("$"), "(-5)", None),
            (money("EUR"), "1,234 EUR", Some(1234.0)),
            (percent.clone(), "12.5 %", Some(12.5)),
            (percent.clone(), "0", Some(0.0)),
            (percent, "0.12", None),
            (point(), "\u{2212}3", Some(-3.0)),
            (point(), "", None),
            (point(), "e5", None),
            (point(), "2020-01-02", None),
            (point(), "1 2", None),
        ] {
            assert_eq!(format.read(cell), number, "{cell} as {format}");
        }
    }

    #[test]
    fn digits_are_parsed_as_the_standard_library_does() {
        for cell in ["0.1", "1e-300", "123456789.123456789", "4.35", "5e-324", "17976931348623157e292"] {
            assert_eq!(NumberFormat::default().read(cell), cell.parse().ok(), "{cell}");
        }
    }
}
