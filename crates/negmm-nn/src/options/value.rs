//! Values of options: parsed from text, formatted as they are typed, checked against their range.

use std::fmt;
use std::str::FromStr;

use serde::de::value::{Error as Failure, StrDeserializer};
use serde::de::{DeserializeOwned, Deserializer, Error as _, Visitor};
use serde::{Serialize, forward_to_deserialize_any};

use super::{OptionSpec, out_of_range};
use crate::loss::sinkhorn::Prior;
use crate::net::Activation;
use negmm_dist::{Error, Result};

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    /// A whole number.
    Integer,
    /// A number.
    Float,
    /// Whole numbers separated by commas; `none` for an empty list.
    IntegerList,
    /// `true` or `false`.
    Bool,
    /// One of these words.
    Choice(&'static [&'static str]),
}

/// The value of an option.
pub trait OptionValue {
    /// Its type.
    fn kind(&self) -> ValueKind;

    /// Whether there may be no value.
    fn is_optional(&self) -> bool {
        false
    }

    /// Parses the value from text.
    ///
    /// # Errors
    /// When the text is no value of this type.
    fn parse(&mut self, spec: &OptionSpec, text: &str) -> Result<()>;

    /// The value as it is typed.
    fn text(&self, spec: &OptionSpec) -> String;

    /// Checks the range.
    ///
    /// # Errors
    /// When the value is out of range.
    fn check(&self, _: &OptionSpec) -> Result<()> {
        Ok(())
    }
}

impl OptionValue for usize {
    fn kind(&self) -> ValueKind {
        ValueKind::Integer
    }

    fn parse(&mut self, spec: &OptionSpec, text: &str) -> Result<()> {
        *self = number(spec, text)?;
        Ok(())
    }

    fn text(&self, _: &OptionSpec) -> String {
        self.to_string()
    }

    fn check(&self, spec: &OptionSpec) -> Result<()> {
        if spec.range.contains(*self as f64) { Ok(()) } else { refuse(spec, &spec.number_text(false), self) }
    }
}

impl OptionValue for f64 {
    fn kind(&self) -> ValueKind {
        ValueKind::Float
    }

    fn parse(&mut self, spec: &OptionSpec, text: &str) -> Result<()> {
        *self = number(spec, text)?;
        Ok(())
    }

    fn text(&self, _: &OptionSpec) -> String {
        self.to_string()
    }

    fn check(&self, spec: &OptionSpec) -> Result<()> {
        if spec.range.contains(*self) { Ok(()) } else { refuse(spec, &spec.number_text(false), self) }
    }
}

impl OptionValue for bool {
    fn kind(&self) -> ValueKind {
        ValueKind::Bool
    }

    fn parse(&mut self, spec: &OptionSpec, text: &str) -> Result<()> {
        *self = text.trim().parse().or_else(|_| refuse(spec, "true or false", format!("{text:?}")))?;
        Ok(())
    }

    fn text(&self, _: &OptionSpec) -> String {
        self.to_string()
    }
}

/// The word for an empty list.
const NONE: &str = "none";

impl OptionValue for Vec<usize> {
    fn kind(&self) -> ValueKind {
        ValueKind::IntegerList
    }

    fn parse(&mut self, spec: &OptionSpec, text: &str) -> Result<()> {
        *self = match text.trim() {
            NONE => Vec::new(),
            text => text.split(',').map(|part| number(spec, part)).collect::<Result<_>>()?,
        };
        Ok(())
    }

    fn text(&self, _: &OptionSpec) -> String {
        let items: Vec<String> = self.iter().map(usize::to_string).collect();
        if items.is_empty() { NONE.to_string() } else { items.join(",") }
    }

    fn check(&self, spec: &OptionSpec) -> Result<()> {
        match spec.max_items {
            Some((most, items)) if self.len() > most => refuse(spec, &format!("at most {most} {items}"), self.len()),
            _ => self.iter().try_for_each(|item| item.check(spec)),
        }
    }
}

impl<T: OptionValue + Default> OptionValue for Option<T> {
    fn kind(&self) -> ValueKind {
        T::default().kind()
    }

    fn is_optional(&self) -> bool {
        true
    }

    fn parse(&mut self, spec: &OptionSpec, text: &str) -> Result<()> {
        *self = None;
        if text.trim() != spec.none_word {
            self.insert(T::default()).parse(spec, text)?;
        }
        Ok(())
    }

    fn text(&self, spec: &OptionSpec) -> String {
        self.as_ref().map_or(spec.none_word.to_string(), |value| value.text(spec))
    }

    fn check(&self, spec: &OptionSpec) -> Result<()> {
        let Some(value) = self else { return Ok(()) };
        match self.kind() {
            ValueKind::Integer | ValueKind::Float if value.check(spec).is_err() => {
                refuse(spec, &spec.number_text(true), value.text(spec))
            }
            _ => value.check(spec),
        }
    }
}

/// An enum whose values are words, named as in files.
pub trait Choice: Serialize + DeserializeOwned {}

impl Choice for Activation {}
impl Choice for Prior {}

impl<T: Choice> OptionValue for T {
    fn kind(&self) -> ValueKind {
        ValueKind::Choice(words::<T>())
    }

    fn parse(&mut self, spec: &OptionSpec, text: &str) -> Result<()> {
        *self = T::deserialize(StrDeserializer::<Failure>::new(text.trim()))
            .or_else(|_| refuse(spec, &format!("one of {}", words::<T>().join(", ")), format!("{text:?}")))?;
        Ok(())
    }

    fn text(&self, _: &OptionSpec) -> String {
        serde_json::to_value(self).ok().and_then(|word| word.as_str().map(str::to_string)).unwrap_or_default()
    }
}

/// The error of a value that is out of range.
fn refuse<T>(spec: &OptionSpec, range: &str, found: impl fmt::Display) -> Result<T> {
    Err(out_of_range(spec.name, range, found))
}

fn number<T: FromStr>(spec: &OptionSpec, text: &str) -> Result<T> {
    text.trim().parse().map_err(|_| {
        let kind = if text.trim().parse::<f64>().is_ok() { "a whole number, at least 0" } else { "a number" };
        Error::option(spec.name, format!("must be {kind}, found {text:?}"))
    })
}

/// The names of an enum's values.
fn words<T: Choice>() -> &'static [&'static str] {
    let mut names = VariantNames(&[]);
    // It always fails, after the type has named its values.
    let _ = T::deserialize(&mut names);
    names.0
}

/// A deserialiser that records the names of an enum's values, and fails.
struct VariantNames(&'static [&'static str]);

impl<'de> Deserializer<'de> for &mut VariantNames {
    type Error = Failure;

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        words: &'static [&'static str],
        _: V,
    ) -> std::result::Result<V::Value, Failure> {
        self.0 = words;
        Err(Failure::custom("only the names are wanted"))
    }

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> std::result::Result<V::Value, Failure> {
        Err(Failure::custom("only the names are wanted"))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf option unit unit_struct newtype_struct
        seq tuple tuple_struct map struct identifier ignored_any
    }
}
