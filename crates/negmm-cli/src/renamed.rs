//! Former names of options: still accepted, with a notice on standard error that names the new one.
//!
//! To rename a flag, rename it and add `(old, new)` to [`FLAGS`]; an option of a method goes to [`negmm::options::RENAMED`], a
//! parameter of a query to [`negmm::predict::RENAMED`]. Nothing else is needed: the old name is then a hidden alias of the flag,
//! and is accepted in config files, in `--set` and in `--try`.

use std::ffi::OsString;

use clap::parser::ValueSource;
use clap::{ArgMatches, Command};
use negmm::options::RENAMED;
use negmm::predict;

/// Flags that have a new name, as `(old, new)`, both without dashes. They are also keys of config files.
const FLAGS: &[(&str, &str)] =
    &[("season", "seasonal-periods"), ("known", "future-covariates"), ("last", "test-size"), ("every", "stride")];

/// All renamed options, as `(old, new)`.
fn renamed() -> impl Iterator<Item = (&'static str, &'static str)> {
    FLAGS.iter().chain(RENAMED).chain(&predict::RENAMED).copied()
}

/// The present name of an option of a method or key of a config file, and a notice where `name` is its former one.
pub fn current(name: &str) -> (&str, Option<String>) {
    match renamed().find(|(old, _)| *old == name) {
        Some((old, new)) => (new, Some(notice(old, new))),
        None => (name, None),
    }
}

/// Adds the former name of every flag as a hidden alias.
pub fn with_former_names(command: Command) -> Command {
    with_aliases(command, &renamed().collect::<Vec<_>>())
}

/// A notice for every flag that was typed by its former name.
pub fn notices(matches: &ArgMatches, typed: &[OsString]) -> Vec<String> {
    notices_of(matches, typed, renamed())
}

fn with_aliases(command: Command, renamed: &[(&'static str, &'static str)]) -> Command {
    let command = command.mut_args(|argument| {
        let former = renamed.iter().filter(|(_, new)| argument.get_long() == Some(new)).map(|(old, _)| *old);
        let former: Vec<&'static str> = former.collect();
        argument.aliases(former)
    });
    command.mut_subcommands(|command| with_aliases(command, renamed))
}

fn notices_of(
    matches: &ArgMatches,
    typed: &[OsString],
    renamed: impl Iterator<Item = (&'static str, &'static str)>,
) -> Vec<String> {
    let Some((_, matches)) = matches.subcommand() else { return Vec::new() };
    let words: Vec<_> = typed.iter().take_while(|word| *word != "--").map(|word| word.to_string_lossy()).collect();
    let was_typed = |name: &str| {
        let name = format!("--{name}");
        words.iter().any(|word| word.strip_prefix(&*name).is_some_and(|rest| rest.is_empty() || rest.starts_with('=')))
    };
    // The word alone does not tell: it may be the value of another flag.
    let given = |new: &str| {
        let id = new.replace('-', "_");
        let is_given = |id: &str| {
            matches.try_contains_id(id).is_ok_and(|given| given)
                && matches.value_source(id) == Some(ValueSource::CommandLine)
        };
        is_given(new) || is_given(&id)
    };
    let former = renamed.filter(|(old, new)| given(new) && was_typed(old));
    former.map(|(old, new)| notice(&format!("--{old}"), &format!("--{new}"))).collect()
}

fn notice(old: &str, new: &str) -> String {
    format!("{old} is now called {new}; the old name will be removed in a later version")
}

#[cfg(test)]
mod tests {
    use clap::{Arg, ArgAction};

    use super::*;

    const EXAMPLES: [(&str, &str); 2] = [("mass", "equal"), ("batch", "batch-size")];

    fn parsed(words: &[&str]) -> (ArgMatches, Vec<String>) {
        let sub = Command::new("sub")
            .arg(Arg::new("batch_size").long("batch-size").allow_hyphen_values(true))
            .arg(Arg::new("equal").long("equal").action(ArgAction::SetTrue));
        let command = with_aliases(Command::new("negmm").subcommand(sub), &EXAMPLES);
        let typed: Vec<OsString> = words.iter().map(OsString::from).collect();
        let matches = command.try_get_matches_from(&typed).unwrap();
        let notices = notices_of(&matches, &typed, EXAMPLES.into_iter());
        (matches, notices)
    }

    #[test]
    fn a_former_name_is_accepted_with_a_notice() {
        let (matches, notices) = parsed(&["negmm", "sub", "--batch=3", "--mass"]);
        let matches = matches.subcommand_matches("sub").unwrap();
        assert_eq!(matches.get_one::<String>("batch_size").unwrap(), "3");
        assert!(matches.get_flag("equal"));
        let later = "; the old name will be removed in a later version";
        assert_eq!(
            notices,
            [("mass", "equal"), ("batch", "batch-size")]
                .map(|(old, new)| format!("--{old} is now called --{new}{later}"))
        );
    }

    #[test]
    fn present_names_and_values_have_no_notice() {
        assert!(parsed(&["negmm", "sub", "--batch-size", "--mass"]).1.is_empty());
        assert!(parsed(&["negmm", "sub", "--equal", "--batch-size=3"]).1.is_empty());
    }
}
