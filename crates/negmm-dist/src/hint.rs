//! Structured advice that errors and warnings carry; each front end words it with its own names.

use std::fmt;

use serde::Serialize;

use crate::quote::quoted;

/// What may help against an error or a warning. Options are named as in `negmm::Method::set`.
///
/// The text of `Display` is neutral; the command line speaks of flags instead and Python of parameters (see
/// [`Wording`](crate::Wording)).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Hint {
    /// Set these options, all of them, to these values.
    SetOptions {
        /// Each option with its value.
        settings: Vec<(&'static str, String)>,
    },
    /// Set an option to one of these values.
    ChooseValue {
        /// The option.
        option: &'static str,
        /// The values.
        values: Vec<String>,
    },
    /// Set an option to a larger value.
    RaiseOption {
        /// The option.
        option: &'static str,
    },
    /// Name a column by an option.
    NameColumn {
        /// The option.
        option: &'static str,
    },
    /// Name the date format of a column.
    DateFormat {
        /// The column.
        column: String,
        /// The possible formats; all if empty.
        formats: Vec<&'static str>,
    },
    /// Advice for some cases only.
    When {
        /// The case, as the beginning of a sentence: `if no target can be there`.
        case: &'static str,
        /// The advice.
        hint: Box<Hint>,
    },
    /// Calibrate the model with rows that it was not fitted to.
    Calibrate,
    /// An option whose name is similar to one that does not exist.
    SimilarOption {
        /// The option that exists.
        option: String,
    },
    /// Another option that the error depends on.
    RelatedOption {
        /// The other option.
        option: &'static str,
    },
}

impl Hint {
    /// Sets one option.
    pub fn set(option: &'static str, value: impl fmt::Display) -> Self {
        Self::SetOptions { settings: vec![(option, value.to_string())] }
    }

    /// The same advice for some cases only.
    #[must_use]
    pub fn when(self, case: &'static str) -> Self {
        Self::When { case, hint: Box::new(self) }
    }

    /// Whether it is a remark in parentheses rather than something to do.
    pub fn is_remark(&self) -> bool {
        matches!(self, Self::SimilarOption { .. } | Self::RelatedOption { .. })
    }
}

impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SetOptions { settings } => {
                let settings: Vec<String> =
                    settings.iter().map(|(option, value)| format!("{option} to {value}")).collect();
                write!(f, "set {}", settings.join(" and "))
            }
            Self::ChooseValue { option, values } => write!(f, "set {option} to {}", values.join(" or ")),
            Self::RaiseOption { option } => write!(f, "raise {option}"),
            Self::NameColumn { option } => write!(f, "name a column as {option}"),
            Self::DateFormat { column, formats } if formats.is_empty() => {
                write!(f, "name the date format of {}", quoted(column))
            }
            Self::DateFormat { column, formats } => {
                write!(f, "set the date format of {} to {}", quoted(column), formats.join(" or "))
            }
            Self::When { case, hint } => write!(f, "{case}, {hint}"),
            Self::Calibrate => f.write_str("calibrate the model with rows that it was not fitted to"),
            Self::SimilarOption { option } => write!(f, "did you mean {option}?"),
            Self::RelatedOption { option } => write!(f, "see {option}"),
        }
    }
}
