//! The message about columns that are not there.

use negmm_dist::quote::quoted;
use negmm_dist::suggestion;

/// Columns that a message lists.
const LISTED_COLUMNS: usize = 10;

/// A sentence about `absent` columns: suggestions of similar names, and the columns that there are.
pub(crate) fn absent_columns<'a>(absent: &[&str], columns: impl Iterator<Item = &'a str> + Clone) -> String {
    let absent: Vec<String> = absent
        .iter()
        .map(|name| match suggestion(name, columns.clone()) {
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
    fn many_columns_are_not_all_listed() {
        let names: Vec<String> = (0..13).map(|i| format!("feature{i}")).collect();
        let sentence = absent_columns(&["q"], names.iter().map(String::as_str));
        assert!(sentence.ends_with("\"feature9\" and 3 more"), "{sentence}");
    }
}
