//! Errors of the command line, each as one sentence.

use std::error::Error as _;

use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use negmm::Error;

use crate::arguments::Arguments;
use crate::arguments::values::Unexpected;

/// One sentence about arguments that are refused.
pub fn usage_error(error: clap::Error) -> Error {
    let context = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => vec![text.clone()],
        Some(ContextValue::Strings(texts)) => texts.clone(),
        _ => Vec::new(),
    };
    let first = |kind| context(kind).into_iter().next().unwrap_or_default();
    let argument = first(ContextKind::InvalidArg);
    let what = match error.kind() {
        ErrorKind::ValueValidation => return invalid_value(&error, &argument),
        ErrorKind::InvalidValue => match (first(ContextKind::InvalidValue), context(ContextKind::ValidValue)) {
            (found, valid) if !found.is_empty() && !valid.is_empty() => {
                let message = format!("must be {}, found {found:?}", one_of(&valid));
                return Error::option(name(&argument), message);
            }
            _ => format!("{argument} needs a value"),
        },
        ErrorKind::UnknownArgument if argument.starts_with('-') => {
            let suggested = first(ContextKind::SuggestedArg);
            format!("there is no option {argument}{}", did_you_mean(similar(&suggested, &argument)))
        }
        // What a shell makes of a pattern.
        ErrorKind::UnknownArgument if std::path::Path::new(&argument).is_file() => {
            let pattern = "several files are read as one table by a pattern in quotes, such as 'sales/*.csv'";
            format!("unexpected argument {argument:?}: {pattern}")
        }
        ErrorKind::UnknownArgument => format!("unexpected argument {argument:?}"),
        ErrorKind::InvalidSubcommand => {
            let typed = first(ContextKind::InvalidSubcommand);
            let program = Arguments::parser();
            let known = program.get_subcommands().map(Command::get_name);
            format!("there is no command {typed:?}{}", did_you_mean(negmm::suggestion(&typed, known)))
        }
        ErrorKind::MissingRequiredArgument => match &context(ContextKind::InvalidArg)[..] {
            [one] => format!("missing required argument {one}"),
            many => format!("missing required arguments {}", many.join(", ")),
        },
        ErrorKind::ArgumentConflict => match &context(ContextKind::PriorArg)[..] {
            [] => format!("{} cannot be used with other arguments", flag(&argument)),
            [prior] if *prior == argument => format!("{} is given more than once", flag(&argument)),
            prior => {
                let prior: Vec<&str> = prior.iter().map(|prior| flag(prior)).collect();
                format!("{} cannot be used with {}", flag(&argument), prior.join(", "))
            }
        },
        _ => {
            let text = error.to_string();
            let line = text.lines().next().unwrap_or_default();
            line.strip_prefix("error: ").unwrap_or(line).to_string()
        }
    };
    Error::options(format!("{what}; see --help"))
}

/// What a value parser has against a value.
fn invalid_value(error: &clap::Error, argument: &str) -> Error {
    let source = error.source();
    if let Some(error) = source.and_then(|source| source.downcast_ref::<Error>()) {
        return error.clone();
    }
    match source {
        Some(source) if source.is::<Unexpected>() => Error::option(name(argument), source.to_string()),
        Some(source) => Error::options(source.to_string()),
        None => Error::option(name(argument), "has an invalid value"),
    }
}

/// `--folds` of `--folds <K>`; the name of a positional argument stays.
fn flag(argument: &str) -> &str {
    let end = argument.find([' ', '[', '=']).filter(|_| argument.starts_with('-'));
    &argument[..end.unwrap_or(argument.len())]
}

/// `folds` of `--folds <K>`, as messages about values and config files call it.
fn name(argument: &str) -> &str {
    flag(argument).trim_start_matches('-')
}

/// `a, b or c`.
fn one_of(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [others @ .., last] => format!("{} or {last}", others.join(", ")),
    }
}

/// The parser's suggestion if it begins with the same letter: it suggests too much otherwise.
fn similar<'a>(suggested: &'a str, typed: &str) -> Option<&'a str> {
    let first = |text: &str| text.chars().find(|c| *c != '-');
    first(suggested).is_some_and(|letter| first(typed) == Some(letter)).then_some(suggested)
}

fn did_you_mean(similar: Option<&str>) -> String {
    similar.map_or(String::new(), |similar| format!(" (did you mean {similar}?)"))
}
