//! Serialisation of settings that may be chosen from the data: the value, or the word `auto`.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The word for a setting that is chosen from the data.
pub(crate) const AUTOMATIC: &str = "auto";

#[derive(Deserialize)]
#[serde(untagged)]
enum Either<T> {
    Value(T),
    Word(String),
}

/// Writes a value, or the word for automatic.
pub fn serialize<T: Serialize, S: Serializer>(value: &Option<T>, to: S) -> Result<S::Ok, S::Error> {
    match value {
        Some(value) => value.serialize(to),
        None => to.serialize_str(AUTOMATIC),
    }
}

/// Reads a value, or the word for automatic.
pub fn deserialize<'a, T: Deserialize<'a>, D: Deserializer<'a>>(from: D) -> Result<Option<T>, D::Error> {
    match Either::deserialize(from)? {
        Either::Value(value) => Ok(Some(value)),
        Either::Word(word) if word == AUTOMATIC => Ok(None),
        Either::Word(word) => Err(serde::de::Error::custom(format!("expected a value or auto, found {word:?}"))),
    }
}
