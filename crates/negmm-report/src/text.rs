//! Text of names, counts and percentages in the page.

use negmm_draw::{escaped, number, shortened};

/// Width of a name that is shown, about, in characters.
const MAX_NAME: f64 = 40.0;

/// A name or cell from the data: shortened, without control characters and marks of text direction.
pub fn name(text: &str) -> String {
    let text: String =
        text.chars().filter(|c| !matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')).collect();
    let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    shortened(&text, 1.6, MAX_NAME)
}

/// Text from the data as HTML: escaped, with isolated text direction.
pub fn html(text: &str) -> String {
    format!("<bdi>{}</bdi>", escaped(text))
}

/// A number with four significant digits.
pub fn num(x: f64) -> String {
    number(x, 4)
}

/// A whole number with commas.
pub fn count(n: usize) -> String {
    let digits = n.to_string();
    let parts: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().filter_map(|part| std::str::from_utf8(part).ok()).collect();
    parts.join(",")
}

/// `1 row`, `1,200 rows`.
pub fn counted(n: usize, thing: &str) -> String {
    format!("{} {thing}{}", count(n), if n == 1 { "" } else { "s" })
}

/// A fraction as a percentage.
pub fn percent(fraction: f64) -> String {
    if !fraction.is_finite() {
        return "–".into();
    }
    format!("{:.1}\u{a0}%", 100.0 * fraction).replace('-', "−")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_from_the_data_are_shortened_and_escaped() {
        assert_eq!(name("a\u{202e}b\nc"), "ab c");
        assert!(name(&"x".repeat(10_000)).chars().count() < 60);
        assert_eq!(html("<b>"), "<bdi>&lt;b&gt;</bdi>");
        assert_eq!((count(1), count(1234567)), ("1".into(), "1,234,567".into()));
        assert_eq!(
            (percent(0.5), percent(-0.123), percent(f64::NAN)),
            ("50.0\u{a0}%".into(), "−12.3\u{a0}%".into(), "–".into())
        );
    }
}
