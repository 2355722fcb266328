//! Responsible for options: what each is called, what it may be and what it means, and for reading and checking their values.
//!
//! A struct of settings lists its options once, by [`Options::each`]. Help, config files, searches, the Python package and
//! `docs/options.md` are made from these lists.

pub mod automatic;
mod range;
mod renamed;
mod shared;
mod slot;
mod spec;

use std::fmt;

use negmm_dist::{Error, Result};

pub use range::Range;
pub use renamed::RENAMED;
pub use shared::{PATIENCE, SIGMA_MIN, VALIDATION};
pub use slot::{Kind, Slot, Word};
pub use spec::Spec;

/// Settings that are options by name.
pub trait Options {
    /// Shows every option and the place of its value.
    fn each(&mut self, see: &mut dyn FnMut(&Spec, &mut dyn Slot));

    /// Says which setting does not go with the others, if one does not.
    ///
    /// # Errors
    /// When one does not.
    fn fit_together(&self) -> Checked<()> {
        Ok(())
    }
}

/// What is known of an option of some settings.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct OptionInfo {
    /// What it is called on the command line.
    pub name: &'static str,
    /// The heading it stands under.
    pub group: &'static str,
    /// What its value is called in help.
    pub value_name: String,
    /// One sentence, without a capital and a full stop.
    pub meaning: &'static str,
    /// Whether most people should know of it.
    pub basic: bool,
    /// What it is made of.
    pub kind: Kind,
    /// The word for no value, where it may have none: `none`, or `auto` for what follows from the data.
    pub empty: Option<&'static str>,
    /// What it may be, in words.
    pub range: String,
    /// Its value as it is typed; of settings that nobody changed, its default.
    pub value: String,
    /// What `auto` goes by, where that is its value.
    pub follows: Option<&'static str>,
}

/// The result of what can fail by one setting.
pub type Checked<T> = std::result::Result<T, Refused>;

/// A setting that is refused, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Refused {
    /// The option that is to blame.
    pub option: String,
    /// Why.
    pub error: Error,
}

impl Refused {
    /// `option` must be something else.
    pub fn new(option: &str, range: &str, found: impl fmt::Display) -> Self {
        let error = Error::options(format!("{option} must be {range}, found {found}"));
        Self { option: option.to_string(), error }
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl std::error::Error for Refused {}

impl From<Refused> for Error {
    fn from(refused: Refused) -> Self {
        refused.error
    }
}

/// All options with their values.
pub fn list(options: &mut dyn Options) -> Vec<OptionInfo> {
    let mut all = Vec::new();
    options.each(&mut |spec, slot| {
        let (kind, value, empty) = (slot.kind(), slot.text(spec), slot.optional().then_some(spec.empty));
        all.push(OptionInfo {
            name: spec.name,
            group: spec.group,
            value_name: match kind {
                Kind::Word(words) => words.join("|"),
                Kind::Truth => "true|false".to_string(),
                _ => spec.value_name.to_string(),
            },
            meaning: spec.meaning,
            basic: spec.basic,
            range: spec.words(kind, slot.optional()),
            follows: spec.follows.filter(|_| empty == Some(value.as_str())),
            kind,
            empty,
            value,
        });
    });
    all
}

/// Reads one option, whose value must be in its range; whether it fits the others is left open. `false` when there is none of
/// that name.
///
/// # Errors
/// When the value cannot be read or is out of range; the settings may then be as before or not.
pub fn read(options: &mut dyn Options, name: &str, text: &str) -> Checked<bool> {
    let mut outcome = Ok(false);
    options.each(&mut |spec, slot| {
        if spec.name == name {
            outcome = slot.read(spec, text).and_then(|()| slot.check(spec)).map(|()| true);
        }
    });
    outcome.map_err(|error| Refused { option: name.to_string(), error })
}

/// Says which setting is out of range or does not go with the others, if one is or does not.
///
/// # Errors
/// When one is or does not.
pub fn check(options: &mut dyn Options) -> Checked<()> {
    let mut outcome = Ok(());
    options.each(&mut |spec, slot| {
        if let (Ok(()), Err(error)) = (&outcome, slot.check(spec)) {
            outcome = Err(Refused { option: spec.name.to_string(), error });
        }
    });
    outcome?;
    options.fit_together()
}

/// A value that cannot be.
fn refuse<T>(spec: &Spec, range: &str, found: impl fmt::Display) -> Result<T> {
    Err(Refused::new(spec.name, range, found).error)
}
