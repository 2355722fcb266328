//! Responsible for what people are told about the command line: help with the methods' own defaults, and one sentence
//! about a command line that cannot be understood.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, CommandFactory, FromArgMatches};
use negmm::{Error, Method};
use serde_json::Value;

use crate::arguments::Arguments;

/// Reads the command line. Help and version are printed here, and end the program.
pub fn parse() -> Result<Arguments, Error> {
    let matches = command().try_get_matches();
    matches.and_then(|matches| Arguments::from_arg_matches(&matches)).map_err(|error| match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            error.exit()
        }
        _ => Error::options(sentence(&error)),
    })
}

/// The command line, with the defaults of the methods in the help of `fit`.
pub fn command() -> Command {
    let methods = Method::all();
    let settings: Vec<Value> = methods.iter().filter_map(|method| serde_json::to_value(method).ok()).collect();
    Arguments::command().mut_subcommand("fit", |fit| {
        fit.mut_args(|argument| {
            let Some(name) = argument.get_long() else { return argument };
            let default = if name == "method" {
                Some(Method::default().name().to_string())
            } else {
                // The default method comes first.
                settings.iter().find_map(|settings| settings.get(name)).map(typed)
            };
            let Some(default) = default else { return argument };
            let mut help = argument.get_help().map_or(String::new(), ToString::to_string);
            if name == "method" {
                let names: Vec<&str> = methods.iter().map(Method::name).collect();
                help.push_str(&format!(": {}", names.join(", ")));
            }
            argument.help(format!("{help} [default: {default}]"))
        })
    })
}

/// A setting as it is typed.
pub fn typed(value: &Value) -> String {
    match value {
        Value::Null => "none".into(),
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(typed).collect::<Vec<_>>().join(","),
        Value::Number(number) => number.as_f64().map_or(number.to_string(), |number| number.to_string()),
        // A method inside a method goes by its name.
        Value::Object(settings) => settings.get("name").map_or(String::new(), typed),
        other => other.to_string(),
    }
}

fn sentence(error: &clap::Error) -> String {
    let context = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => text.clone(),
        Some(ContextValue::Strings(texts)) => texts.join(", "),
        _ => String::new(),
    };
    let near = |kind, typed: &str| match context(kind) {
        // What begins with another letter is no slip of the finger.
        name if !typed.is_empty() && name.chars().find(|c| *c != '-') == typed.chars().find(|c| *c != '-') => {
            format!(" (did you mean {name}?)")
        }
        _ => String::new(),
    };
    let argument = context(ContextKind::InvalidArg);
    let what = match error.kind() {
        ErrorKind::UnknownArgument if argument.starts_with('-') => {
            format!("there is no option {argument}{}", near(ContextKind::SuggestedArg, &argument))
        }
        ErrorKind::UnknownArgument => format!("{argument:?} is one argument too many"),
        ErrorKind::InvalidSubcommand => {
            let command = context(ContextKind::InvalidSubcommand);
            format!("there is no command {command:?}{}", near(ContextKind::SuggestedSubcommand, &command))
        }
        ErrorKind::MissingRequiredArgument => format!("the command line lacks {argument}"),
        ErrorKind::ArgumentConflict => format!("{argument} is given twice"),
        ErrorKind::InvalidValue => format!("{argument} needs a value"),
        _ => {
            let text = error.to_string();
            let line = text.lines().next().unwrap_or_default();
            line.strip_prefix("error: ").unwrap_or(line).to_string()
        }
    };
    format!("{what}; --help tells more")
}

#[cfg(test)]
mod tests {
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
            let Ok(Value::Object(settings)) = serde_json::to_value(&method) else { panic!("an object") };
            for name in settings.keys().filter(|name| *name != "name") {
                let flag = fit.get_arguments().find(|argument| argument.get_long() == Some(name));
                let help = flag.unwrap_or_else(|| panic!("no flag --{name}")).get_help().unwrap().to_string();
                let default =
                    Method::all().iter().find_map(|method| serde_json::to_value(method).ok()?.get(name).map(typed));
                assert!(help.ends_with(&format!("[default: {}]", default.unwrap())), "--{name}: {help}");
            }
        }
    }

    #[test]
    fn every_flag_of_a_method_is_one_of_its_options() {
        let command = command();
        let fit = command.find_subcommand("fit").unwrap();
        for argument in fit.get_arguments() {
            let heading = argument.get_help_heading().unwrap_or_default();
            let name = argument.get_long().unwrap_or_default();
            if ["Method", "Network", "Training"].contains(&heading) && name != "method" {
                assert!(Method::all().iter().any(|method| method.has(name)), "--{name}");
            }
        }
    }
}
