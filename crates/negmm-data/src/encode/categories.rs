//! The categories of a text column that have target encodings: of the whole text, or of its first words.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::ParsedColumn;
use negmm_dist::{Error, Result};
use negmm_nn::dataset::{NO_CATEGORY, STATISTICS};

/// Minimum number of rows of a category with a target encoding: that of a single row cannot be learnt out of fold.
const LEAST_ROWS: usize = 2;
/// First words that make levels of their own, at most.
const MOST_WORDS: usize = 3;
/// Levels of first words must be fewer than this part of those with more words.
const FEWER: f64 = 0.8;

/// Levels of a text column, each a text or the first words of texts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Categories {
    /// How many of the first words make a level; `None`: the whole text does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub words: Option<usize>,
    /// The levels, in the order of the alphabet.
    pub names: Vec<String>,
    /// Levels of training that are not among them: single rows have them.
    pub single: usize,
}

impl Categories {
    /// The informative ones, the whole text first; `texts` are all texts of a column, and how many rows have each.
    pub(crate) fn learn<'a>(texts: impl Iterator<Item = (&'a str, usize)> + Clone) -> Vec<Self> {
        let mut before = f64::INFINITY;
        let mut all = Vec::new();
        for words in std::iter::once(None).chain((1..=MOST_WORDS).rev().map(Some)) {
            let mut rows: BTreeMap<&str, usize> = BTreeMap::new();
            for (text, count) in texts.clone().filter(|(_, count)| *count > 0) {
                *rows.entry(first_words(text, words)).or_default() += count;
            }
            let levels = rows.len() as f64;
            if levels > FEWER * before {
                continue;
            }
            before = levels;
            let names: Vec<String> =
                rows.iter().filter(|(_, count)| **count >= LEAST_ROWS).map(|(name, _)| name.to_string()).collect();
            if names.len() > 1 {
                all.push(Self { words, single: rows.len() - names.len(), names });
            }
        }
        all
    }

    /// A description: `820 categories (not 671 of a single row)`, `29 first words`.
    pub fn describe(&self) -> String {
        let single = match self.single {
            0 => String::new(),
            single => format!(" (not {single} of a single row)"),
        };
        let what = match self.words {
            None => "categories".into(),
            Some(1) => "first words".into(),
            Some(words) => format!("first {words} words"),
        };
        format!("{} {what}{single}", self.names.len())
    }

    /// For each cell the number of its level, or [`NO_CATEGORY`].
    pub(crate) fn codes(&self, column: &ParsedColumn<'_>) -> Vec<u32> {
        let (codes, levels) = column.text();
        let known: Vec<u32> = levels.iter().map(|level| self.code(level)).collect();
        codes.iter().map(|code| known.get(*code as usize).copied().unwrap_or(NO_CATEGORY)).collect()
    }

    /// The number of the level of a text, or [`NO_CATEGORY`].
    pub(crate) fn code(&self, text: &str) -> u32 {
        let name = first_words(text, self.words);
        self.names.binary_search_by(|known| known.as_str().cmp(name)).map_or(NO_CATEGORY, |at| at as u32)
    }

    /// Names of the features, for the column called `column`.
    pub(crate) fn feature_names(&self, column: &str) -> [String; STATISTICS] {
        let of = match self.words {
            None => column.to_string(),
            Some(1) => format!("{column} (first word)"),
            Some(words) => format!("{column} (first {words} words)"),
        };
        ["mean", "spread", "rows"].map(|statistic| format!("{of}: {statistic}"))
    }

    /// Validates categories from a file.
    pub(crate) fn check(&self) -> Result<()> {
        let in_order = self.names.is_sorted_by(|a, b| a < b);
        if !in_order || self.names.len() >= NO_CATEGORY as usize || self.words == Some(0) {
            return Err(Error::model("its levels are not in order"));
        }
        Ok(())
    }
}

/// The first words of a text; the whole text where it has no more.
fn first_words(text: &str, words: Option<usize>) -> &str {
    let Some(words) = words else { return text };
    let text = text.trim();
    match text.split_whitespace().take(words).last() {
        // Words are slices of the text.
        Some(last) => &text[..last.as_ptr() as usize - text.as_ptr() as usize + last.len()],
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_words_are_separated_from_the_rest() {
        for (text, words, first) in [
            ("Maruti Swift VXI", Some(1), "Maruti"),
            (" Maruti  Swift\tVXI", Some(2), "Maruti  Swift"),
            ("Maruti Swift ", Some(3), "Maruti Swift"),
            ("Łódź ul. 5", Some(2), "Łódź ul."),
            ("a\u{a0}b", Some(1), "a"),
            ("  ", Some(1), ""),
            (" a b ", None, " a b "),
        ] {
            assert_eq!(first_words(text, words), first, "{text:?} {words:?}");
        }
    }

    #[test]
    fn levels_of_single_rows_are_counted_and_words_join_where_they_are_fewer() {
        let texts = ["Maruti Swift VXI", "Maruti Swift LXI", "Maruti Alto", "Tata Nano a", "Tata Nano b", "Tata Aria"];
        let learnt = Categories::learn(texts.into_iter().zip([2, 1, 1, 1, 1, 3]));
        let names = |names: &[&str]| names.iter().map(|name| name.to_string()).collect::<Vec<_>>();
        assert_eq!(
            learnt,
            [
                Categories { words: None, names: names(&["Maruti Swift VXI", "Tata Aria"]), single: 4 },
                Categories { words: Some(2), names: names(&["Maruti Swift", "Tata Aria", "Tata Nano"]), single: 1 },
                Categories { words: Some(1), names: names(&["Maruti", "Tata"]), single: 0 },
            ]
        );
        assert_eq!(learnt[0].describe(), "2 categories (not 4 of a single row)");
        assert_eq!((learnt[2].code("Tata Safari"), learnt[1].code("Tata Safari")), (1, NO_CATEGORY));
        assert!(Categories::learn(["a", "b", "c"].into_iter().zip([1, 1, 1])).is_empty());
    }
}
