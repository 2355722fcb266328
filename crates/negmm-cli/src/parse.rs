//! Parsing of the command line: its arguments with those of a config file, or help.

use std::ffi::OsString;

use clap::error::ErrorKind;
use clap::{ArgMatches, FromArgMatches};
use negmm::Error;

use crate::arguments::{Arguments, Command};
use crate::console::{eprint, print};
use crate::usage_error::usage_error;
use crate::{config_file, renamed};

/// Reads the command line; nothing where it asks for help or the version, which are printed here.
pub fn parse(typed: &[OsString]) -> Result<Option<Arguments>, Error> {
    let error = match Arguments::parser().try_get_matches_from(typed) {
        Ok(matches) => return with_config_file(&matches, typed).map(Some),
        Err(error) => error,
    };
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            print(error.render().to_string().trim_end()).map(|()| None)
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            eprint(error.render().to_string().trim_end());
            Err(Error::options("missing command; see --help"))
        }
        _ => Err(usage_error(error)),
    }
}

/// The arguments of a command line that was parsed, and of the config file that it names: flags take precedence over the file.
fn with_config_file(matches: &ArgMatches, typed: &[OsString]) -> Result<Arguments, Error> {
    let mut arguments = Arguments::from_arg_matches(matches).map_err(usage_error)?;
    arguments.notices = renamed::notices(matches, typed);
    arguments.notices.extend(arguments.command.notices());
    if let (Command::Fit(fit), Some((_, of_fit))) = (&mut arguments.command, matches.subcommand())
        && let Some(path) = &fit.config
    {
        let file = config_file::read(path)?;
        arguments.notices.extend(file.notices);
        (fit.options, arguments.shared.engine) = (file.options, file.engine);
        fit.options.update_from_arg_matches(of_fit).map_err(usage_error)?;
        arguments.shared.engine.update_from_arg_matches(matches).map_err(usage_error)?;
    }
    Ok(arguments)
}

/// Whether the words ask for `--json`, even if they are refused.
pub fn wants_json(typed: &[OsString]) -> bool {
    typed.iter().take_while(|word| *word != "--").any(|word| word == "--json")
}

#[cfg(test)]
mod tests {
    use negmm::Method;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::parser().debug_assert();
    }

    #[test]
    fn every_option_of_a_method_is_a_flag_with_its_default() {
        let command = Arguments::parser();
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
    fn the_short_help_has_the_common_flags() {
        let mut command = Arguments::parser();
        let fit = command.find_subcommand_mut("fit").unwrap();
        let (short, long) = (fit.render_help().to_string(), fit.render_long_help().to_string());
        for flag in ["--output", "--target", "--method", "--preset"] {
            assert!(short.contains(flag), "{flag}\n{short}");
        }
        for flag in ["--sinkhorn", "--lstm-layers", "--adversarial", "--subsample"] {
            assert!(long.contains(flag) && !short.contains(flag), "{flag}");
        }
        assert!(long.contains("[neural: 400]") && long.contains("ngboost: 0.2]"), "{long}");
    }
}
