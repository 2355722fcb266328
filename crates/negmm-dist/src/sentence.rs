//! The sentence of an error or a warning: location, option, message and hints.

use crate::{Hint, Location, Wording};

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
