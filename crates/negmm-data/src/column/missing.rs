//! Texts that mean a missing cell.

/// Missing in every column, whatever the case, beside the empty cell.
const EVERYWHERE: [&str; 4] = ["NA", "N/A", "NaN", "null"];
/// Missing in columns of text too: what programs write and people do not.
const IN_TEXT: [&str; 15] = [
    "?", "#N/A", "#NA", "<NA>", "NaT", "(null)", "\\N", "#N/A N/A", "#DIV/0!", "#NAME?", "#REF!", "#VALUE!", "#NUM!",
    "#NULL!", "#ERROR!",
];
/// Missing among numbers alone: in text they may be a category like any other (`None`: has none; `-`: beside `+`).
const AMONG_NUMBERS: [&str; 7] = ["-", ".", "None", "--", "-NaN", "n.a.", "nil"];

/// Whether a cell (without blanks around it) is missing in any column.
pub(crate) fn is_missing(cell: &[u8]) -> bool {
    cell.is_empty() || is_one_of(&EVERYWHERE, cell)
}

/// Whether a level of a text column is missing though it is no word that is so in any column.
pub(crate) fn is_mark_in_text(cell: &[u8]) -> bool {
    is_one_of(&IN_TEXT, cell)
}

/// Whether a cell is missing in a column of numbers.
pub(crate) fn is_missing_number(cell: &[u8]) -> bool {
    is_missing(cell) || is_one_of(&IN_TEXT, cell) || is_one_of(&AMONG_NUMBERS, cell)
}

fn is_one_of(words: &[&str], cell: &[u8]) -> bool {
    words.iter().any(|word| word.as_bytes().eq_ignore_ascii_case(cell))
}

/// Missing-value markers given by the user or stored in a model; numbers among them match by value.
#[derive(Clone, Debug, Default)]
pub(crate) struct MissingWords {
    words: Vec<String>,
    numbers: Vec<f64>,
}

impl MissingWords {
    pub fn new(words: &[String]) -> Self {
        let words: Vec<String> = words.iter().map(|word| word.trim().to_string()).collect();
        Self { numbers: words.iter().filter_map(|word| word.parse().ok()).collect(), words }
    }

    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    pub fn has(&self, cell: &str) -> bool {
        self.words.iter().any(|word| word.eq_ignore_ascii_case(cell))
    }

    pub fn has_number(&self, number: f64) -> bool {
        self.numbers.contains(&number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_missing_where_they_can_mean_nothing_else() {
        for (cell, everywhere, in_text, among_numbers) in [
            ("", true, false, true),
            ("n/A", true, false, true),
            ("?", false, true, true),
            ("#div/0!", false, true, true),
            ("None", false, false, true),
            ("-", false, false, true),
            ("unknown", false, false, false),
        ] {
            let cell = cell.as_bytes();
            let found = (is_missing(cell), is_mark_in_text(cell), is_missing_number(cell));
            assert_eq!(found, (everywhere, in_text, among_numbers), "{cell:?}");
        }
    }

    #[test]
    fn a_number_means_missing_however_it_is_written() {
        let words = MissingWords::new(&["-999".into(), "Unknown".into()]);
        assert!(words.has("unknown") && words.has_number(-999.0) && !words.has_number(999.0));
    }
}
