//! Detection of discrete targets: values on a grid, most of them repeated.

/// A discrete target has at least this many rows for each of its values.
const ROWS_PER_VALUE: usize = 5;
/// Minimum fraction of rows whose value is repeated in another row.
const REPEATED: f64 = 0.9;
/// Numbers this near to each other, relative to their size, are one number rounded twice.
const ROUNDING: f64 = 4.0 * f64::EPSILON;
/// How far from its point of the grid a value may be, in steps.
const OFF_GRID: f64 = 1e-3;
/// The smallest difference of two values is at most this many steps: quality 3, 5 and 8 are on a grid of step 1.
const MOST_STEPS: usize = 100;

/// A finer grid than this over the range of the targets is only the precision that they were written with.
const MOST_POINTS: f64 = 1000.0;

/// The step of the grid that the targets lie on, if they are discrete.
///
/// They are when every one is origin + whole number · step up to rounding, rows are at least `ROWS_PER_VALUE` times the
/// values, and nearly all rows have a repeated value. A grid with more points than there are rows, or than `MOST_POINTS`, does
/// not count. The step is the largest possible one, the smallest difference of values or a whole part of it.
pub fn step(mut targets: Vec<f64>) -> Option<f64> {
    let rows = targets.len();
    targets.sort_unstable_by(f64::total_cmp);
    let same = |a: &f64, b: &f64| b - a <= ROUNDING * a.abs().max(b.abs());
    let (mut values, mut repeated_rows) = (Vec::new(), 0);
    for equal in targets.chunk_by(same) {
        values.push(equal[0]);
        repeated_rows += if equal.len() > 1 { equal.len() } else { 0 };
    }
    if values.len() < 2 || rows < ROWS_PER_VALUE * values.len() || (repeated_rows as f64) < REPEATED * rows as f64 {
        return None;
    }
    let range = values[values.len() - 1] - values[0];
    let smallest = values.windows(2).map(|pair| pair[1] - pair[0]).fold(range, f64::min);
    (1..=MOST_STEPS).find_map(|parts| {
        // From the whole range, where rounding counts least.
        let steps = (range / (smallest / parts as f64)).round();
        let step = ten_digits(range / steps);
        let on_grid = |value: &f64| {
            let steps = (value - values[0]) / step;
            (steps - steps.round()).abs() < OFF_GRID
        };
        (steps <= MOST_POINTS.min(rows as f64) && step.is_normal() && values.iter().all(on_grid)).then_some(step)
    })
}

/// As a person would have written it: 0.001, not 0.0010000000000000009.
fn ten_digits(number: f64) -> f64 {
    format!("{number:.9e}").parse().unwrap_or(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each value `times` times.
    fn repeated(values: &[f64], times: usize) -> Vec<f64> {
        (0..times).flat_map(|_| values.iter().copied()).collect()
    }

    #[test]
    fn steps_are_found_through_rounding() {
        assert_eq!(step(repeated(&[3.0, 4.0, 5.0, 8.0], 5)), Some(1.0));
        assert_eq!(step(repeated(&[0.0, 10.0, 25.0], 5)), Some(5.0));
        let tenths: Vec<f64> = (0..60).map(|value| f64::from(value) * 0.1 - 2.7).collect();
        assert_eq!(step(repeated(&tenths, 5)), Some(0.1));
        let written: Vec<f64> = (950..=1000).map(|value| f64::from(value) / 1000.0).collect();
        assert_eq!(step(repeated(&written, 5)), Some(0.001));
        let single: Vec<f64> = (950..=1000).map(|value| f64::from(value as f32 / 1000.0)).collect();
        assert!((step(repeated(&single, 5)).unwrap() - 0.001).abs() < 1e-8);
        let years: Vec<f64> = (0..4).map(|value| 1.7e9 + f64::from(value)).collect();
        assert_eq!(step(repeated(&years, 5)), Some(1.0));
        let thirds: Vec<f64> = (0..9).map(|value| f64::from(value) / 3.0).collect();
        assert_eq!(step(repeated(&thirds, 5)), Some(0.333_333_333_3));
        for unit in [1e-200, 1e200] {
            let found = step(repeated(&[unit, 2.0 * unit, 4.0 * unit], 5)).unwrap();
            assert!((found / unit - 1.0).abs() < 1e-9, "{unit}");
        }
        // The same number computed in two ways, and both zeros, are one value.
        assert_eq!(step(repeated(&[0.1 + 0.2, 0.3, 0.0, -0.0, 0.1], 4)), Some(0.1));
    }

    #[test]
    fn other_targets_are_not_discrete() {
        assert_eq!(step(vec![]), None);
        assert_eq!(step(vec![2.0; 30]), None);
        // Too few rows for each value.
        assert_eq!(step(repeated(&[1.0, 2.0, 3.0], 4)), None);
        // Nothing repeats, though whole numbers.
        assert_eq!(step((0..100).map(f64::from).collect()), None);
        // 12 of 100 rows have a value of their own.
        let mut some: Vec<f64> = repeated(&[0.0, 1.0], 44);
        some.extend((2..14).map(f64::from));
        assert_eq!(step(some.clone()), None);
        some.truncate(95);
        assert_eq!(step(some), Some(1.0));
        // Many rows of numbers with three decimals.
        assert_eq!(step(repeated(&(0..2000).map(|value| f64::from(value) * 0.001).collect::<Vec<_>>(), 6)), None);
        // Levels without a common step, and a step that is only the precision of the numbers.
        assert_eq!(step(repeated(&[0.0, 1.0, std::f64::consts::PI], 50)), None);
        assert_eq!(step(repeated(&[0.0, 7.001, 19.013, 26.002], 50)), None);
    }
}
