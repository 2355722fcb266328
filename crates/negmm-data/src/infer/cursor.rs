//! A parser of date texts: numbers with a given count of digits, words and the separators between them.

use std::ops::RangeInclusive;

/// A position in a text.
#[derive(Clone, Copy)]
pub(crate) struct Cursor<'a> {
    rest: &'a str,
}

impl<'a> Cursor<'a> {
    /// At the beginning.
    pub fn new(text: &'a str) -> Self {
        Self { rest: text }
    }

    pub fn is_at_end(&self) -> bool {
        self.rest.is_empty()
    }

    /// Digits that follow.
    pub fn digits(&self) -> usize {
        self.count(|byte| byte.is_ascii_digit())
    }

    /// A whole number with a count of digits in this range; of more digits, the first.
    pub fn number(&mut self, digits: RangeInclusive<usize>) -> Option<i64> {
        let found = self.digits().min(*digits.end());
        if !digits.contains(&found) {
            return None;
        }
        self.take(found).parse().ok()
    }

    /// Letters that follow, perhaps none.
    pub fn word(&mut self) -> &'a str {
        self.take(self.count(|byte| byte.is_ascii_alphabetic()))
    }

    /// Skips one of these bytes, where it is next.
    pub fn eat(&mut self, bytes: &[u8]) -> Option<u8> {
        let byte = *self.rest.as_bytes().first().filter(|byte| bytes.contains(byte))?;
        self.take(1);
        Some(byte)
    }

    /// Skips blanks; whether there was one.
    pub fn blanks(&mut self) -> bool {
        !self.take(self.count(|byte| byte == b' ')).is_empty()
    }

    /// Skips blanks, commas and separators of the parts of a date; whether there was one.
    pub fn marks(&mut self) -> bool {
        !self.take(self.count(|byte| b" ,-/.".contains(&byte))).is_empty()
    }

    /// The decimals of a number, after a point or a comma; 0 without these.
    pub fn fraction(&mut self) -> Option<f64> {
        if self.eat(b".,").is_none() {
            return Some(0.0);
        }
        let digits = self.take(self.digits());
        if digits.is_empty() { None } else { format!("0.{digits}").parse().ok() }
    }

    fn count(&self, is: impl Fn(u8) -> bool) -> usize {
        self.rest.bytes().take_while(|byte| is(*byte)).count()
    }

    fn take(&mut self, count: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(count);
        self.rest = rest;
        taken
    }
}
