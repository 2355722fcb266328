//! Responsible for what people are told about the command line: help, and one sentence about a command line that cannot be
//! understood.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, CommandFactory, FromArgMatches};
use negmm::Error;

use crate::arguments::Arguments;
use crate::renamed;
use crate::say::{say, tell};

/// Reads the command line; nothing where it asks for help or the version, which are printed here.
pub fn parse(typed: &[OsString]) -> Result<Option<Arguments>, Error> {
    let parsed = command().try_get_matches_from(typed).and_then(|matches| {
        let mut arguments = Arguments::from_arg_matches(&matches)?;
        arguments.notices = renamed::notices(&matches, typed);
        for text in arguments.command.assignments_mut() {
            let (current, notice) = renamed::assignment(text);
            *text = current;
            arguments.notices.extend(notice);
        }
        Ok(arguments)
    });
    let error = match parsed {
        Ok(arguments) => return Ok(Some(arguments)),
        Err(error) => error,
    };
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => say(error.render().to_string().trim_end()).map(|()| None),
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            tell(error.render().to_string().trim_end());
            Err(Error::options("the command line lacks a command; --help tells more"))
        }
        _ => Err(Error::options(sentence(&error))),
    }
}

/// Whether the words ask for `--json`, also where they cannot be understood.
pub fn wants_json(typed: &[OsString]) -> bool {
    typed.iter().take_while(|word| *word != "--").any(|word| word == "--json")
}

/// The command line.
pub fn command() -> Command {
    renamed::with_former_names(Arguments::command())
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
            let typed = context(ContextKind::InvalidSubcommand);
            let program = command();
            let known = program.get_subcommands().map(Command::get_name);
            format!("there is no command {typed:?}{}", negmm::near::suggestion(&typed, known))
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
                let said = |part: &str| {
                    let (methods, value) = part.split_once(": ").unwrap();
                    methods.split(", ").any(|known| known == name) && value.trim_end_matches(']') == default
                };
                assert!(defaults.split("; ").any(said), "{name}: --{}: {help}", option.name);
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
