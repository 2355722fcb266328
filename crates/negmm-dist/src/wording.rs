//! The wording of errors and warnings: a trait that each front end implements, and the sentence that is made with it.

use crate::{Hint, Location};

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

/// `LOCATION: OPTION MESSAGE (REMARK); HINT or HINT`.
pub(crate) fn sentence(
    wording: &dyn Wording,
    location: &Location,
    option: Option<&str>,
    message: &str,
    hints: &[Hint],
) -> String {
    let mut text = String::new();
    if !location.is_empty() {
        text = location.worded(wording) + ": ";
    }
    if let Some(option) = option {
        text += &format!("{} ", wording.option(option));
    }
    text += message;
    let (remarks, advice): (Vec<&Hint>, Vec<&Hint>) = hints.iter().partition(|hint| hint.is_remark());
    for remark in remarks {
        text += &format!(" ({})", wording.hint(remark));
    }
    if !advice.is_empty() {
        let advice: Vec<String> = advice.iter().map(|hint| advice_text(wording, hint)).collect();
        text += &format!("; {}", advice.join(" or "));
    }
    text
}

fn advice_text(wording: &dyn Wording, hint: &Hint) -> String {
    match hint {
        Hint::When { case, hint } => format!("{case}, {}", advice_text(wording, hint)),
        hint => wording.hint(hint),
    }
}
