//! Groups of flags that know which of their flags were given.

use clap::error::Error;
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command, FromArgMatches, Id};

/// A group of flags that only some models have, and the names of those that were given.
#[derive(Clone, Debug, Default)]
pub struct Given<T> {
    /// The flags.
    pub flags: T,
    names: Vec<String>,
}

impl<T> Given<T> {
    /// The name of one that was given, if one was.
    pub fn first(&self) -> Option<&str> {
        self.names.first().map(String::as_str)
    }
}

impl<T: Args> FromArgMatches for Given<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        Ok(Self { names: given::<T>(matches), flags: T::from_arg_matches(matches)? })
    }

    fn from_arg_matches_mut(matches: &mut ArgMatches) -> Result<Self, Error> {
        Ok(Self { names: given::<T>(matches), flags: T::from_arg_matches_mut(matches)? })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        self.names.extend(given::<T>(matches));
        self.flags.update_from_arg_matches(matches)
    }

    fn update_from_arg_matches_mut(&mut self, matches: &mut ArgMatches) -> Result<(), Error> {
        self.names.extend(given::<T>(matches));
        self.flags.update_from_arg_matches_mut(matches)
    }
}

impl<T: Args> Args for Given<T> {
    fn group_id() -> Option<Id> {
        T::group_id()
    }

    fn augment_args(command: Command) -> Command {
        T::augment_args(command)
    }

    fn augment_args_for_update(command: Command) -> Command {
        T::augment_args_for_update(command)
    }
}

/// The names of the flags of a group that were given.
fn given<T: Args>(matches: &ArgMatches) -> Vec<String> {
    let command = T::augment_args(Command::new(""));
    let is_given = |id: &str| {
        matches.try_contains_id(id).is_ok_and(|given| given)
            && matches.value_source(id) == Some(ValueSource::CommandLine)
    };
    let given = command.get_arguments().filter(|argument| is_given(argument.get_id().as_str()));
    given.filter_map(|argument| argument.get_long().map(str::to_string)).collect()
}
