//! Parsing of the command line: help, and one sentence about a command line that is refused.

use std::error::Error as _;
use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, CommandFactory};
use negmm::Error;

use crate::arguments::Arguments;
use crate::arguments::values::Unexpected;
use crate::renamed;
use crate::say::{say, tell};

/// Reads the command line; nothing where it asks for help or the version, which are printed here.
pub fn parse(typed: &[OsString]) -> Result<Option<Arguments>, Error> {
    let error = match command().try_get_matches_from(typed) {
        Ok(matches) => return Arguments::new(&matches, typed).map(Some),
        Err(error) => error,
    };
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => say(error.render().to_string().trim_end()).map(|()| None),
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            tell(error.render().to_string().trim_end());
            Err(Error::options("missing command; see --help"))
        }
        _ => Err(refusal(error)),
    }
}

/// Whether the words ask for `--json`, even if they are refused.
pub fn wants_json(typed: &[OsString]) -> bool {
    typed.iter().take_while(|word| *word != "--").any(|word| word == "--json")
}

/// The parser of the command line.
pub fn command() -> Command {
    renamed::with_former_names(Arguments::command())
}

/// One sentence about arguments that are refused.
pub fn refusal(error: clap::Error) -> Error {
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
        ErrorKind::UnknownArgument => format!("unexpected argument {argument:?}"),
        ErrorKind::InvalidSubcommand => {
            let typed = first(ContextKind::InvalidSubcommand);
            let program = command();
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

#[cfg(test)]
mod tests {
    use negmm::Method;

    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        command().debug_assert();
    }

    #[test]
    fn every_option_of_a_method_is_a_flag_with_its_default() {
        let command = command();
        let fit = command.find_subcommand("fit").unwrap();
        for method in Method::all() {
            for option in method.options() {
                let flag = fit.get_arguments().find(|argument| argument.get_long() == Some(option.name));
                let help = flag.unwrap_or_else(|| panic!("no flag --{}", option.name)).get_help().unwrap().to_string();
                let default = option.chosen_by.unwrap_or(&option.value);
                let (_, defaults) = help.rsplit_once('[').unwrap();
                let name = if defaults.contains("neural") && method.is_neural() { "neural" } else { method.name() };
                let is_default = |part: &str| {
                    let (methods, value) = part.split_once(": ").unwrap();
                    methods.split(", ").any(|known| known == name) && value.trim_end_matches(']') == default
                };
                assert!(defaults.split("; ").any(is_default), "{name}: --{}: {help}", option.name);
            }
        }
    }

    #[test]
    fn the_short_help_has_what_most_people_need() {
        let mut command = command();
        let fit = command.find_subcommand_mut("fit").unwrap();
        let (short, long) = (fit.render_help().to_string(), fit.render_long_help().to_string());
        for flag in ["--output", "--target", "--method", "--preset", "--epochs", "--learning-rate"] {
            assert!(short.contains(flag), "{flag}\n{short}");
        }
        for flag in ["--sinkhorn", "--lstm-layers", "--adversarial", "--subsample"] {
            assert!(long.contains(flag) && !short.contains(flag), "{flag}");
        }
        assert!(long.contains("[neural: 400]") && long.contains("ngboost: 0.2]"), "{long}");
    }
}
