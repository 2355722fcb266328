//! Options of methods: their names, ranges and help texts, and the reading and checking of their values.
//!
//! A struct of settings lists its options once, with [`option_list!`]. Command-line help, config files, searches, the Python package and
//! `docs/options.md` are all made from these lists.

pub mod automatic;
mod list;
mod range;
mod renamed;
mod shared;
mod spec;
mod value;

use std::fmt;

use negmm_dist::{Error, Result};

pub use crate::option_list;
pub use range::Range;
pub use renamed::{RENAMED, current_name};
pub use shared::{PATIENCE, SIGMA_MIN, VALIDATION_FRACTION};
pub use spec::OptionSpec;
pub use value::{Choice, OptionValue, ValueKind};

/// Settings that can be read and set by the names of options.
pub trait Options {
    /// Calls `visit` with each option and its value.
    fn for_each(&self, visit: &mut dyn FnMut(&OptionSpec, &dyn OptionValue));

    /// Calls `visit` with each option and its value, which it may change.
    fn for_each_mut(&mut self, visit: &mut dyn FnMut(&OptionSpec, &mut dyn OptionValue));

    /// Checks what concerns several options at once.
    ///
    /// # Errors
    /// When an option conflicts with the others.
    fn check_combination(&self) -> Result<()> {
        Ok(())
    }
}

/// An option of some settings, with its value.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct OptionInfo {
    /// Its name on the command line.
    pub name: &'static str,
    /// The heading of help that it belongs to.
    pub group: &'static str,
    /// The placeholder of its value in help.
    pub value_name: String,
    /// What it does: one phrase, in lower case and without a full stop.
    pub help: &'static str,
    /// Whether short help shows it.
    pub basic: bool,
    /// The type of its value.
    pub kind: ValueKind,
    /// The word for no value, if it may have none: `none`, or `auto` if the value is then chosen from the data.
    pub none_word: Option<&'static str>,
    /// The values that it may have, in words.
    pub range: String,
    /// Its value as it is typed; of default settings, its default.
    pub value: String,
    /// What the value is chosen by, if it is `auto`.
    pub chosen_by: Option<&'static str>,
}

/// All options with their values.
pub fn list(options: &dyn Options) -> Vec<OptionInfo> {
    let mut all = Vec::new();
    options.for_each(&mut |spec, value| {
        let (kind, text, none_word) = (value.kind(), value.text(spec), value.is_optional().then_some(spec.none_word));
        all.push(OptionInfo {
            name: spec.name,
            group: spec.group,
            value_name: match kind {
                ValueKind::Choice(words) => words.join("|"),
                ValueKind::Bool => "true|false".to_string(),
                _ => spec.value_name.to_string(),
            },
            help: spec.help,
            basic: spec.basic,
            range: spec.range_text(kind, value.is_optional()),
            chosen_by: spec.chosen_by.filter(|_| none_word == Some(text.as_str())),
            kind,
            none_word,
            value: text,
        });
    });
    all
}

/// Whether there is an option of that name, which may be one of earlier versions (see [`RENAMED`]).
pub fn has(options: &dyn Options, name: &str) -> bool {
    let (name, mut found) = (current_name(name), false);
    options.for_each(&mut |spec, _| found |= spec.name == name);
    found
}

/// Sets one option from text and checks its range, but no conflicts with the others. `false` if there is no option of that name,
/// which may be one of earlier versions (see [`RENAMED`]).
///
/// # Errors
/// When the value cannot be parsed or is out of range; the settings may have changed by then.
pub fn set(options: &mut dyn Options, name: &str, text: &str) -> Result<bool> {
    let (name, mut outcome) = (current_name(name), Ok(false));
    options.for_each_mut(&mut |spec, value| {
        if spec.name == name {
            outcome = value.parse(spec, text).and_then(|()| value.check(spec)).map(|()| true);
        }
    });
    outcome
}

/// Checks the range of every option, and conflicts among them.
///
/// # Errors
/// When an option is out of range or conflicts with the others.
pub fn check(options: &dyn Options) -> Result<()> {
    let mut outcome = Ok(());
    options.for_each(&mut |spec, value| {
        if let (Ok(()), Err(error)) = (&outcome, value.check(spec)) {
            outcome = Err(error);
        }
    });
    outcome?;
    options.check_combination()
}

/// The error of an option whose value must be in `range`.
pub fn out_of_range(option: &str, range: &str, found: impl fmt::Display) -> Error {
    Error::option(option, format!("must be {range}, found {found}"))
}
