//! Numbers and counts as text.

/// Four significant digits.
pub fn number(x: f64) -> String {
    if x != 0.0 && !(1e-4..1e7).contains(&x.abs()) {
        return format!("{x:.3e}");
    }
    let before = if x == 0.0 { 0 } else { x.abs().log10().floor() as i32 };
    format!("{x:.*}", (3 - before).clamp(0, 7) as usize)
}

/// A whole number with a comma between thousands.
pub fn count(n: usize) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A count with its noun: `1 row`, `1,200 rows`.
pub fn counted(n: usize, thing: &str) -> String {
    // "series" is its own plural.
    format!("{} {thing}{}", count(n), if n == 1 || thing.ends_with('s') { "" } else { "s" })
}

/// Counts as a row of bars of eight heights.
pub fn bars(counts: &[f64]) -> String {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let most = counts.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    counts.iter().map(|count| BARS[(count / most * 7.0).ceil() as usize]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_four_digits() {
        assert_eq!(number(0.012345), "0.01235");
        assert_eq!(number(-2.5), "-2.500");
        assert_eq!(number(1234.56), "1235");
        assert_eq!(number(1e-9), "1.000e-9");
        assert_eq!(number(0.0), "0.000");
        assert_eq!(count(1234567), "1,234,567");
        assert_eq!(counted(1, "row"), "1 row");
        assert_eq!(counted(2000, "row"), "2,000 rows");
    }
}
