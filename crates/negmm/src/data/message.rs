//! Responsible for how messages show columns and cells: short, quoted, without control characters.

/// Characters of a cell or name that a message shows.
const SHOWN_CHARACTERS: usize = 40;
/// Columns that a message lists.
const LISTED_COLUMNS: usize = 10;
/// Longer names are not searched for near ones: the search takes time quadratic in the length.
const COMPARED_CHARACTERS: usize = 64;

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

/// The column whose name differs from `name` by the fewest edits, when that is at most a third of its letters.
fn nearest<'a>(name: &str, columns: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let name: Vec<char> = name.to_lowercase().chars().collect();
    if name.len() > COMPARED_CHARACTERS {
        return None;
    }
    columns
        .filter_map(|column| {
            let letters: Vec<char> = column.to_lowercase().chars().take(COMPARED_CHARACTERS + 1).collect();
            let edits = edit_distance(&name, &letters);
            (edits <= (name.len().max(letters.len()) / 3).max(1) && edits < name.len()).then_some((edits, column))
        })
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, column)| column)
}

/// Levenshtein's distance: insertions, deletions and replacements from `a` to `b`.
fn edit_distance(a: &[char], b: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, left) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, right) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(left != right);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
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
    fn near_names_are_found() {
        let columns = ["age", "city", "income"];
        assert_eq!(nearest("Age", columns.into_iter()), Some("age"));
        assert_eq!(nearest("incme", columns.into_iter()), Some("income"));
        assert_eq!(nearest("height", columns.into_iter()), None);
        assert_eq!(nearest("x", ["y"].into_iter()), None);
    }

    #[test]
    fn many_columns_are_not_all_listed() {
        let names: Vec<String> = (0..13).map(|i| format!("feature{i}")).collect();
        let sentence = absent_columns(&["q"], names.iter().map(String::as_str));
        assert!(sentence.ends_with("\"feature9\" and 3 more"), "{sentence}");
    }
}
