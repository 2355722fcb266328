//! Config files: options of `fit` in TOML, by the names of their flags.
//!
//! A file is read as if its lines had been typed: `hidden = [64, 64]` is `--hidden=64,64`. So a key is a flag, and the values of a
//! flag are declared once.

use std::collections::HashMap;
use std::path::Path;

use clap::{CommandFactory, Parser};
use negmm::{Error, Hint, suggestion};
use toml::Value;

use crate::arguments::EngineFlags;
use crate::arguments::fit::FitOptions;
use crate::arguments::values::quoted_name;
use crate::renamed;
use crate::usage_error::usage_error;

/// What a config file may set.
#[derive(Debug, Parser)]
#[command(no_binary_name = true, disable_help_flag = true)]
pub struct ConfigFile {
    /// Options of `fit`.
    #[command(flatten)]
    pub options: FitOptions,
    /// Threads and engine.
    #[command(flatten)]
    pub engine: EngineFlags,
    /// A sentence for every option that the file calls by its former name.
    #[arg(skip)]
    pub notices: Vec<String>,
}

/// Reads a TOML file of `name = value`, where a value is text, a number, a truth value, or a list of these.
///
/// # Errors
/// When it cannot be read or a setting is refused, with the file and the line.
pub fn read(path: &Path) -> Result<ConfigFile, Error> {
    let file = path.display().to_string();
    // The command line named the file, so the command line is at fault.
    let text = std::fs::read_to_string(path).map_err(|error| Error::options(Error::io(path, error).to_string()))?;
    let line_of = |at: usize| format!("{file}, line {}", text[..at].matches('\n').count() + 1);
    let malformed = |error: toml::de::Error| {
        let message = format!("this is not valid TOML ({})", error.message().replace('\n', " "));
        Error::options(message).at(line_of(error.span().map_or(0, |span| span.start)))
    };
    let keys = toml::de::DeTable::parse(&text).map_err(malformed)?;
    let keys = keys.get_ref().keys();
    let locations: HashMap<String, String> =
        keys.map(|key| (key.get_ref().to_string(), line_of(key.span().start))).collect();
    let table: toml::Table = text.parse().map_err(malformed)?;
    let mut command = ConfigFile::command();
    command.build();
    let known: Vec<&str> = command.get_arguments().filter_map(|argument| argument.get_long()).collect();
    // Present names of options, each with the location of its setting.
    let (mut words, mut notices, mut named) = (Vec::new(), Vec::new(), HashMap::new());
    for (key, value) in &table {
        let location = &locations[key];
        let text = typed(key, value).map_err(|error| error.at(location))?;
        let (name, notice) = renamed::current(key);
        if notice.is_some() && table.contains_key(name) {
            return Err(Error::options(format!("{key} is the former name of {name}, which is given too")).at(location));
        }
        if !known.contains(&name) {
            let similar = suggestion(name, known.iter().copied());
            let similar = similar.map(|option| Hint::SimilarOption { option: option.to_string() });
            let error = Error::option(key, "is not an option");
            return Err(similar.into_iter().fold(error, Error::with_hint).at(location));
        }
        notices.extend(notice.map(|notice| format!("{location}: {notice}")));
        let word = format!("--{name}={text}");
        // Each alone first, so that the one that is refused can be named.
        ConfigFile::try_parse_from([&word]).map_err(|error| usage_error(error).at(location))?;
        words.push(word);
        named.insert(name, location);
    }
    let mut file = ConfigFile::try_parse_from(words).map_err(usage_error)?;
    file.notices = notices;
    for setting in &mut file.options.method.settings {
        setting.location = named.get(setting.option.as_str()).map(|location| location.to_string());
    }
    Ok(file)
}

/// A value as it would be typed.
fn typed(key: &str, value: &Value) -> Result<String, Error> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Integer(number) => Ok(number.to_string()),
        Value::Float(number) => Ok(number.to_string()),
        Value::Boolean(truth) => Ok(truth.to_string()),
        Value::Array(items) if !items.iter().any(Value::is_array) => {
            let words = items.iter().map(|item| typed(key, item).map(|word| quoted_name(&word)));
            Ok(words.collect::<Result<Vec<_>, _>>()?.join(","))
        }
        Value::Array(_) | Value::Datetime(_) | Value::Table(_) => {
            Err(Error::options(format!("{key:?} must be text, a number, true, false, or a list of these")))
        }
    }
}
