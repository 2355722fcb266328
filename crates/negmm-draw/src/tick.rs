//! Ticks: round values with exact, short and distinct labels.
//!
//! Decimals are formatted from integers, so they are the same on every machine.

/// Labels with more digits than this become differences from a base.
const MAX_DIGITS: u32 = 6;

/// Ticks of an axis.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Ticks {
    /// Values and their labels.
    pub marks: Vec<(f64, String)>,
    /// A note for the axis label: a power of ten, or the base of differences.
    pub unit: String,
}

/// About `count` ticks between `low` and `high`, at multiples of 1, 2 or 5 times a power of ten.
pub(crate) fn ticks(low: f64, high: f64, count: usize) -> Ticks {
    let span = high - low;
    let (mut factor, mut exponent) = (1i64, exponent_of(span / count.max(1) as f64));
    for larger in [2, 5, 10] {
        if span / step(factor, exponent) <= count.max(1) as f64 {
            break;
        }
        factor = larger;
    }
    if factor == 10 {
        (factor, exponent) = (1, exponent + 1);
    }
    let width = step(factor, exponent);
    // A tolerance for rounding at the ends.
    let (first, last) = ((low / width - 1e-9).ceil(), (high / width + 1e-9).floor());
    if !(first.is_finite() && last.is_finite() && first.abs() < 9e14 && last.abs() < 9e14) {
        return Ticks { marks: Vec::new(), unit: String::new() };
    }
    let counts: Vec<i64> = (first as i64..=last as i64).map(|k| k * factor).collect();
    let largest = counts.iter().map(|count| count.abs()).max().unwrap_or(0);
    let base = if largest.checked_ilog10().unwrap_or(0) >= MAX_DIGITS { counts[0] } else { 0 };
    let shown = counts.iter().map(|count| (count - base).abs()).max().unwrap_or(0);
    let size = shown.checked_ilog10().unwrap_or(0) as i32 + exponent;
    let power = if (-3..6).contains(&size) { 0 } else { size.div_euclid(3) * 3 };
    let mut unit = Vec::new();
    if base != 0 {
        unit.push(format!("{} {}", if base < 0 { "+" } else { "−" }, base_label(base.abs(), exponent)));
    }
    if power != 0 {
        unit.push(format!("in {}", power_of_ten(power)));
    }
    let value = |count: i64| if exponent >= 0 { count as f64 * ten(exponent) } else { count as f64 / ten(-exponent) };
    // Four-digit labels (years) have no commas; with longer ones all have them.
    let label = |count: &i64| match decimal(count - base, exponent - power) {
        text if size - power < 4 => text.replace(',', ""),
        text => text,
    };
    let marks = counts.iter().map(|count| (value(*count), label(count))).collect();
    Ticks { marks, unit: unit.join(", ") }
}

fn step(factor: i64, exponent: i32) -> f64 {
    if exponent >= 0 { factor as f64 * ten(exponent) } else { factor as f64 / ten(-exponent) }
}

/// 10^exponent, correctly rounded; infinite on overflow.
fn ten(exponent: i32) -> f64 {
    format!("1e{exponent}").parse().unwrap_or(f64::INFINITY)
}

/// The decimal exponent of x.
fn exponent_of(x: f64) -> i32 {
    let text = format!("{x:e}");
    text.split_once('e').and_then(|(_, exponent)| exponent.parse().ok()).unwrap_or(0)
}

fn power_of_ten(power: i32) -> String {
    let digits = power.to_string();
    let raised = digits.chars().map(|digit| match digit {
        '-' => '⁻',
        digit => ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'][digit.to_digit(10).unwrap_or(0) as usize],
    });
    format!("10{}", raised.collect::<String>())
}

fn base_label(count: i64, exponent: i32) -> String {
    if (-12..=6).contains(&exponent) {
        let text = decimal(count, exponent);
        let cut = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
        return cut.to_string();
    }
    let power = exponent + count.checked_ilog10().unwrap_or(0) as i32;
    let digits = count.to_string();
    let (first, rest) = digits.split_at(1);
    let rest = rest.trim_end_matches('0');
    let point = if rest.is_empty() { "" } else { "." };
    format!("{first}{point}{rest} × {}", power_of_ten(power))
}

/// count · 10^exponent, with thousands separators.
fn decimal(count: i64, exponent: i32) -> String {
    let sign = if count < 0 { "−" } else { "" };
    let mut digits = count.unsigned_abs().to_string();
    if count != 0 {
        digits.extend(std::iter::repeat_n('0', exponent.max(0) as usize));
    }
    let decimals = (-exponent).max(0) as usize;
    if digits.len() <= decimals {
        digits.insert_str(0, &"0".repeat(decimals + 1 - digits.len()));
    }
    let (whole, part) = digits.split_at(digits.len() - decimals);
    let mut grouped = String::new();
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    if part.is_empty() { format!("{sign}{grouped}") } else { format!("{sign}{grouped}.{part}") }
}

/// A number for display, with `digits` significant digits: `1,235`, `0.01235`, `1.235 × 10⁻⁹`.
pub fn number(x: f64, digits: usize) -> String {
    if !x.is_finite() {
        return if x.is_nan() {
            "–"
        } else if x > 0.0 {
            "∞"
        } else {
            "−∞"
        }
        .into();
    }
    let digits = digits.clamp(1, 17);
    let text = format!("{x:.*e}", digits - 1);
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if x == 0.0 {
        return "0".into();
    }
    if !(-4..7).contains(&exponent) {
        return format!("{} × {}", mantissa.replace('-', "−"), power_of_ten(exponent));
    }
    let count: i64 = mantissa.replace('.', "").parse().unwrap_or(0);
    let shift = exponent - (digits as i32 - 1);
    decimal(count, shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(low: f64, high: f64) -> (Vec<String>, String) {
        let ticks = ticks(low, high, 5);
        (ticks.marks.into_iter().map(|(_, label)| label).collect(), ticks.unit)
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!(
            labels(0.0, 1.0),
            (["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"].map(String::from).to_vec(), "".into())
        );
        assert_eq!(labels(-72.7, 72.8).0, ["−50", "0", "50"]);
        assert_eq!(labels(0.0, 21_000.0).0, ["0", "5,000", "10,000", "15,000", "20,000"]);
        assert_eq!(labels(1954.0, 1960.0).0, ["1954", "1956", "1958", "1960"]);
        assert_eq!(ticks(0.0, 0.3, 3).marks[1].0, 0.1);
    }

    #[test]
    fn large_and_small_numbers_share_a_power_of_ten() {
        assert_eq!(labels(0.0, 4.2e7), (["0", "10", "20", "30", "40"].map(String::from).to_vec(), "in 10⁶".into()));
        assert_eq!(
            labels(0.0, 4.2e-7),
            (["0", "100", "200", "300", "400"].map(String::from).to_vec(), "in 10⁻⁹".into())
        );
        assert_eq!(labels(-1e300, 1e300).0, ["−1.0", "−0.5", "0.0", "0.5", "1.0"]);
    }

    #[test]
    fn a_narrow_range_far_from_zero_is_labelled_by_differences() {
        let (labels, unit) = labels(1_000_000.05, 1_000_000.25);
        assert_eq!(labels, ["0.00", "0.05", "0.10", "0.15", "0.20"]);
        assert_eq!(unit, "− 1,000,000.05");
    }

    #[test]
    fn numbers_for_display() {
        let cases = [(1234.56, "1,235"), (0.012345, "0.01235"), (-2.5, "−2.500"), (1e-9, "1.000 × 10⁻⁹"), (0.0, "0")];
        for (x, text) in cases {
            assert_eq!(number(x, 4), text);
        }
        assert_eq!(number(f64::NAN, 4), "–");
        assert_eq!(number(f64::MAX, 3), "1.80 × 10³⁰⁸");
        assert_eq!(number(f64::MIN_POSITIVE, 17), "2.2250738585072014 × 10⁻³⁰⁸");
    }
}
