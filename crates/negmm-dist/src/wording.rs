//! The wording of errors and warnings: a trait that each front end implements.

use crate::Hint;

/// How a front end words errors and warnings.
///
/// ```
/// use negmm_dist::{Error, Hint, Wording};
///
/// struct Flags;
/// impl Wording for Flags {
///     fn hint(&self, hint: &Hint) -> String {
///         match hint {
///             Hint::RaiseOption { option } => format!("raise --{option}"),
///             other => other.to_string(),
///         }
///     }
/// }
///
/// let error = Error::data("the file is larger than 2 GB unpacked").with_hint(Hint::RaiseOption { option: "memory" });
/// assert_eq!(error.to_string(), "the file is larger than 2 GB unpacked; raise memory");
/// assert_eq!(error.worded(&Flags), "the file is larger than 2 GB unpacked; raise --memory");
/// ```
pub trait Wording {
    /// The number of the first row.
    fn first_row(&self) -> u64 {
        1
    }

    /// The name of an option.
    fn option(&self, name: &str) -> String {
        name.to_string()
    }

    /// A hint other than [`Hint::When`], without a capital and a full stop.
    fn hint(&self, hint: &Hint) -> String {
        hint.to_string()
    }
}

/// The library's own wording: names of options as they are, rows from 1.
pub(crate) struct Neutral;

impl Wording for Neutral {}
