//! Suggestions for misspelt names.

/// Longer names get no suggestion: the edit distance takes time quadratic in the length.
const COMPARED_CHARACTERS: usize = 64;

/// The name with the smallest edit distance to `name`, where that is at most a third of the longer one's letters.
pub fn suggestion<'a>(name: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let name = name.to_lowercase();
    let length = name.chars().count();
    if length > COMPARED_CHARACTERS {
        return None;
    }
    let near = |known: &'a str| {
        let letters: String = known.to_lowercase().chars().take(COMPARED_CHARACTERS + 1).collect();
        let edits = strsim::osa_distance(&name, &letters);
        (edits <= (length.max(letters.chars().count()) / 3).max(1) && edits < length).then_some((edits, known))
    };
    names.into_iter().filter_map(near).min_by_key(|(edits, _)| *edits).map(|(_, known)| known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similar_names_are_suggested() {
        let columns = ["age", "city", "income"];
        assert_eq!(suggestion("Age", columns), Some("age"));
        assert_eq!(suggestion("incme", columns), Some("income"));
        assert_eq!(suggestion("icty", columns), Some("city"));
        assert_eq!(suggestion("height", columns), None);
        assert_eq!(suggestion("x", ["y"]), None);
        assert_eq!(suggestion("fti", ["predict", "fit"]), Some("fit"));
        assert_eq!(suggestion(&"a".repeat(65), ["a"]), None);
    }
}
