//! How messages show names and cells: short, quoted, with control characters escaped.

/// Characters of a cell or name that a message shows.
const SHOWN_CHARACTERS: usize = 40;

/// `text` in quotes, shortened, control characters escaped.
pub fn quoted(text: &str) -> String {
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
pub fn visible(text: &str) -> String {
    let escaped = |c: char| if c.is_control() { c.escape_debug().to_string() } else { c.to_string() };
    text.chars().map(escaped).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_and_strange_cells_are_shown_short_and_escaped() {
        assert_eq!(quoted("it's \"a\"\n\u{1b}"), r#""it's \"a\"\n\u{1b}""#);
        assert_eq!(quoted(&"x".repeat(1000)), format!("\"{}…\"", "x".repeat(40)));
    }
}
