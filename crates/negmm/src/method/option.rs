//! Responsible for reading the value of one option from text.

use std::fmt::Display;
use std::str::FromStr;

use serde::de::DeserializeOwned;
use serde::de::value::{Error as ValueError, StrDeserializer};

use crate::{Error, Result};

/// A number.
pub(crate) fn parse<T: FromStr>(name: &str, value: &str) -> Result<T> {
    value.trim().parse().map_err(|_| {
        let kind = if value.trim().parse::<f64>().is_ok() { "a whole number, at least 0" } else { "a number" };
        Error::options(format!("{name} must be {kind}, found {value:?}"))
    })
}

/// A number, or `none`.
pub(crate) fn parse_optional<T: FromStr>(name: &str, value: &str) -> Result<Option<T>> {
    if value.trim() == "none" { Ok(None) } else { parse(name, value).map(Some) }
}

/// The word for a setting that follows from the data.
pub(crate) const AUTOMATIC: &str = "auto";

/// A number, or `auto`.
pub(crate) fn parse_automatic<T: FromStr>(name: &str, value: &str) -> Result<Option<T>> {
    if value.trim() == AUTOMATIC { Ok(None) } else { parse(name, value).map(Some) }
}

/// Settings that may follow from the data, in files: the value, or the word `auto` for none.
pub(crate) mod automatic {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::AUTOMATIC;

    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Either<T> {
        Value(T),
        Word(String),
    }

    pub(in crate::method) fn serialize<T: Serialize, S: Serializer>(
        value: &Option<T>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        match value {
            Some(value) => value.serialize(to),
            None => to.serialize_str(AUTOMATIC),
        }
    }

    pub(in crate::method) fn deserialize<'a, T: Deserialize<'a>, D: Deserializer<'a>>(
        from: D,
    ) -> Result<Option<T>, D::Error> {
        match Either::deserialize(from)? {
            Either::Value(value) => Ok(Some(value)),
            Either::Word(word) if word == AUTOMATIC => Ok(None),
            Either::Word(word) => Err(serde::de::Error::custom(format!("expected a value or auto, found {word:?}"))),
        }
    }
}

/// Numbers with commas between them.
pub(crate) fn parse_list<T: FromStr>(name: &str, value: &str) -> Result<Vec<T>> {
    value.split(',').map(|part| parse(name, part)).collect()
}

/// One of the words that the type has in files.
pub(crate) fn parse_word<T: DeserializeOwned>(name: &str, value: &str, words: &str) -> Result<T> {
    T::deserialize(StrDeserializer::<ValueError>::new(value.trim()))
        .map_err(|_| Error::options(format!("{name} must be one of {words}, found {value:?}")))
}

/// A value that cannot be.
pub(crate) fn out_of_range(name: &str, range: &str, found: impl Display) -> Error {
    Error::options(format!("{name} must be {range}, found {found}"))
}
