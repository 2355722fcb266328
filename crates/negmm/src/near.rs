//! Responsible for what somebody probably meant: the nearest of some names to one that is not among them.

/// Longer names are not searched for near ones: the search takes time quadratic in the length.
const COMPARED_CHARACTERS: usize = 64;

/// The name that differs from `name` by the fewest edits, when that is at most a third of its letters.
pub fn nearest<'a>(name: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let name: Vec<char> = name.to_lowercase().chars().collect();
    if name.len() > COMPARED_CHARACTERS {
        return None;
    }
    let near = |known: &'a str| {
        let letters: Vec<char> = known.to_lowercase().chars().take(COMPARED_CHARACTERS + 1).collect();
        let edits = edit_distance(&name, &letters);
        (edits <= (name.len().max(letters.len()) / 3).max(1) && edits < name.len()).then_some((edits, known))
    };
    names.into_iter().filter_map(near).min_by_key(|(edits, _)| *edits).map(|(_, known)| known)
}

/// ` (did you mean …?)`, where there is a near name.
pub fn suggestion<'a>(name: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    nearest(name, names).map_or(String::new(), |near| format!(" (did you mean {near}?)"))
}

/// Insertions, deletions, replacements and swaps of two letters side by side from `a` to `b`.
fn edit_distance(a: &[char], b: &[char]) -> usize {
    let (mut before, mut row): (Vec<usize>, Vec<usize>) = (vec![0; b.len() + 1], (0..=b.len()).collect());
    for (i, left) in a.iter().enumerate() {
        let mut next = vec![i + 1];
        for (j, right) in b.iter().enumerate() {
            let mut edits = (row[j] + usize::from(left != right)).min(row[j + 1] + 1).min(next[j] + 1);
            if i > 0 && j > 0 && *left == b[j - 1] && a[i - 1] == *right {
                edits = edits.min(before[j - 1] + 1);
            }
            next.push(edits);
        }
        (before, row) = (row, next);
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_found() {
        let columns = ["age", "city", "income"];
        assert_eq!(nearest("Age", columns), Some("age"));
        assert_eq!(nearest("incme", columns), Some("income"));
        assert_eq!(nearest("icty", columns), Some("city"));
        assert_eq!(nearest("height", columns), None);
        assert_eq!(nearest("x", ["y"]), None);
        assert_eq!(suggestion("fti", ["predict", "fit"]), " (did you mean fit?)");
        assert_eq!(nearest(&"a".repeat(65), ["a"]), None);
    }
}
