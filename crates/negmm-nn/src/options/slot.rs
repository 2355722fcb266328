//! Responsible for the places of values: reading one from text, printing it as it is typed, checking it.

use crate::loss::sinkhorn::Prior;
use crate::net::Activation;
use std::str::FromStr;

use serde::de::value::{Error as Failure, StrDeserializer};
use serde::de::{DeserializeOwned, Deserializer, Error as _, Visitor};
use serde::{Serialize, forward_to_deserialize_any};

use super::{Spec, refuse};
use negmm_dist::{Error, Result};

/// What a value is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A whole number.
    Whole,
    /// Any number.
    Real,
    /// Whole numbers with commas between them; `none` for an empty list.
    List,
    /// `true` or `false`.
    Truth,
    /// One of these.
    Word(&'static [&'static str]),
}

/// The place of an option's value.
pub trait Slot {
    /// What the value is made of.
    fn kind(&self) -> Kind;

    /// Whether there may be no value.
    fn optional(&self) -> bool {
        false
    }

    /// Puts the value that a text says here.
    ///
    /// # Errors
    /// When the text says no such value.
    fn read(&mut self, spec: &Spec, text: &str) -> Result<()>;

    /// The value as it is typed.
    fn text(&self, spec: &Spec) -> String;

    /// Says so when the value is out of range.
    ///
    /// # Errors
    /// When it is.
    fn check(&self, _: &Spec) -> Result<()> {
        Ok(())
    }
}

impl Slot for usize {
    fn kind(&self) -> Kind {
        Kind::Whole
    }

    fn read(&mut self, spec: &Spec, text: &str) -> Result<()> {
        *self = number(spec, text)?;
        Ok(())
    }

    fn text(&self, _: &Spec) -> String {
        self.to_string()
    }

    fn check(&self, spec: &Spec) -> Result<()> {
        if spec.range.contains(*self as f64) { Ok(()) } else { refuse(spec, &spec.numbers(false), self) }
    }
}

impl Slot for f64 {
    fn kind(&self) -> Kind {
        Kind::Real
    }

    fn read(&mut self, spec: &Spec, text: &str) -> Result<()> {
        *self = number(spec, text)?;
        Ok(())
    }

    fn text(&self, _: &Spec) -> String {
        self.to_string()
    }

    fn check(&self, spec: &Spec) -> Result<()> {
        if spec.range.contains(*self) { Ok(()) } else { refuse(spec, &spec.numbers(false), self) }
    }
}

impl Slot for bool {
    fn kind(&self) -> Kind {
        Kind::Truth
    }

    fn read(&mut self, spec: &Spec, text: &str) -> Result<()> {
        *self = text.trim().parse().or_else(|_| refuse(spec, "true or false", format!("{text:?}")))?;
        Ok(())
    }

    fn text(&self, _: &Spec) -> String {
        self.to_string()
    }
}

/// The word for an empty list.
const NONE: &str = "none";

impl Slot for Vec<usize> {
    fn kind(&self) -> Kind {
        Kind::List
    }

    fn read(&mut self, spec: &Spec, text: &str) -> Result<()> {
        *self = match text.trim() {
            NONE => Vec::new(),
            text => text.split(',').map(|part| number(spec, part)).collect::<Result<_>>()?,
        };
        Ok(())
    }

    fn text(&self, _: &Spec) -> String {
        let items: Vec<String> = self.iter().map(usize::to_string).collect();
        if items.is_empty() { NONE.to_string() } else { items.join(",") }
    }

    fn check(&self, spec: &Spec) -> Result<()> {
        match spec.most {
            Some((most, what)) if self.len() > most => refuse(spec, &format!("at most {most} {what}"), self.len()),
            _ => self.iter().try_for_each(|item| item.check(spec)),
        }
    }
}

impl<T: Slot + Default> Slot for Option<T> {
    fn kind(&self) -> Kind {
        T::default().kind()
    }

    fn optional(&self) -> bool {
        true
    }

    fn read(&mut self, spec: &Spec, text: &str) -> Result<()> {
        *self = None;
        if text.trim() != spec.empty {
            self.insert(T::default()).read(spec, text)?;
        }
        Ok(())
    }

    fn text(&self, spec: &Spec) -> String {
        self.as_ref().map_or(spec.empty.to_string(), |value| value.text(spec))
    }

    fn check(&self, spec: &Spec) -> Result<()> {
        let Some(value) = self else { return Ok(()) };
        match self.kind() {
            Kind::Whole | Kind::Real if value.check(spec).is_err() => {
                refuse(spec, &spec.numbers(true), value.text(spec))
            }
            _ => value.check(spec),
        }
    }
}

/// A set of words, called as in files.
pub trait Word: Serialize + DeserializeOwned {}

impl Word for Activation {}
impl Word for Prior {}

impl<T: Word> Slot for T {
    fn kind(&self) -> Kind {
        Kind::Word(words::<T>())
    }

    fn read(&mut self, spec: &Spec, text: &str) -> Result<()> {
        *self = T::deserialize(StrDeserializer::<Failure>::new(text.trim()))
            .or_else(|_| refuse(spec, &format!("one of {}", words::<T>().join(", ")), format!("{text:?}")))?;
        Ok(())
    }

    fn text(&self, _: &Spec) -> String {
        serde_json::to_value(self).ok().and_then(|word| word.as_str().map(str::to_string)).unwrap_or_default()
    }
}

fn number<T: FromStr>(spec: &Spec, text: &str) -> Result<T> {
    text.trim().parse().map_err(|_| {
        let kind = if text.trim().parse::<f64>().is_ok() { "a whole number, at least 0" } else { "a number" };
        Error::options(format!("{} must be {kind}, found {text:?}", spec.name))
    })
}

/// The words of a type.
fn words<T: Word>() -> &'static [&'static str] {
    let mut asked = Asked(&[]);
    // It fails as soon as the type has said its words.
    let _ = T::deserialize(&mut asked);
    asked.0
}

/// Asks a type for its words.
struct Asked(&'static [&'static str]);

impl<'de> Deserializer<'de> for &mut Asked {
    type Error = Failure;

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        words: &'static [&'static str],
        _: V,
    ) -> std::result::Result<V::Value, Failure> {
        self.0 = words;
        Err(Failure::custom("only asked"))
    }

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> std::result::Result<V::Value, Failure> {
        Err(Failure::custom("only asked"))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf option unit unit_struct newtype_struct
        seq tuple tuple_struct map struct identifier ignored_any
    }
}
