//! Responsible for how messages show columns and cells: short, quoted, without control characters.

use crate::near::nearest;

/// Characters of a cell or name that a message shows.
const SHOWN_CHARACTERS: usize = 40;
/// Columns that a message lists.
const LISTED_COLUMNS: usize = 10;

/// `text` in quotes, shortened, control characters escaped.
pub(crate) fn quoted(text: &str) -> String {
    let mut shown = String::from('"');
    for (position, character) in text.chars().enumerate() {
        if position == SHOWN_CHARACTERS {
            shown.push('…');
            break;
        }
        match character {
            '\'' => shown.push(character),
            _ => shown.extend(character.escape_debug()),
        }
    }
    shown.push('"');
    shown
}

/// `text` as it is, control characters escaped: a terminal would obey them.
pub(crate) fn visible(text: &str) -> String {
    let escaped = |c: char| if c.is_control() { c.escape_debug().to_string() } else { c.to_string() };
    text.chars().map(escaped).collect()
}

/// A sentence that says which columns are `absent`, which near names there are and what the columns are.
pub(super) fn absent_columns<'a>(absent: &[&str], columns: impl Iterator<Item = &'a str> + Clone) -> String {
    let absent: Vec<String> = absent
        .iter()
        .map(|name| match nearest(name, columns.clone()) {
            Some(near) => format!("{} (did you mean {}?)", quoted(name), quoted(near)),
            None => quoted(name),
        })
        .collect();
    let count = columns.clone().count();
    let mut listed = columns.take(LISTED_COLUMNS).map(quoted).collect::<Vec<_>>().join(", ");
    if count > LISTED_COLUMNS {
        listed.push_str(&format!(" and {} more", count - LISTED_COLUMNS));
    }
    format!("there is no column {}; the columns are {listed}", absent.join(" or "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_and_strange_cells_are_shown_short_and_escaped() {
        assert_eq!(quoted("it's \"a\"\n\u{1b}"), r#""it's \"a\"\n\u{1b}""#);
        assert_eq!(quoted(&"x".repeat(1000)), format!("\"{}…\"", "x".repeat(40)));
    }

    #[test]
    fn many_columns_are_not_all_listed() {
        let names: Vec<String> = (0..13).map(|i| format!("feature{i}")).collect();
        let sentence = absent_columns(&["q"], names.iter().map(String::as_str));
        assert!(sentence.ends_with("\"feature9\" and 3 more"), "{sentence}");
    }
}
