//! Detection of discrete targets: values on a grid.

use super::moments::mean_and_sd;

/// A target on any grid has at least this many rows for each of its values.
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

/// Fewer rows than this say too little of a plain grid.
const LEAST_ROWS: usize = 20;
/// Numbers with decimals are on a plain grid if their sd is at most this many steps: grades of a tenth, not prices.
const MOST_STEPS_OF_SD: f64 = 30.0;
/// Draws that are uniform over the grid have the fewest equal pairs of rows; there may be this part of them, less some by chance.
/// Serial numbers have none.
const PAIRS_OF_UNIFORM: f64 = 0.4;
const FEWER_PAIRS: f64 = 2.5;

/// The step of the grid that the targets lie on, if they are discrete: if values repeat as in [`repeated_step`], or lie on a
/// plain grid, which fewer rows of the same target do too.
///
/// A grid is plain if its step is 1, 2, 2.5 or 5 times a power of ten, its values are whole multiples of the step, and it has at
/// most `MOST_POINTS` over the range of the targets. A step that is no whole number needs an sd of few steps too, since any
/// number is written with some precision. Not much fewer rows may be equal than by chance.
pub fn step(targets: Vec<f64>) -> Option<f64> {
    let values = Values::of(targets);
    values.repeated_step().or_else(|| values.plain_step())
}

/// The step of a grid on which nearly all values repeat.
///
/// Every value is origin + whole number · step up to rounding, rows are at least `ROWS_PER_VALUE` times the values, and nearly all
/// rows have a repeated value. A grid with more points than there are rows, or than `MOST_POINTS`, does not count. The step is the
/// largest possible one, the smallest difference of values or a whole part of it.
pub fn repeated_step(targets: Vec<f64>) -> Option<f64> {
    Values::of(targets).repeated_step()
}

/// Whether a target on this grid repeats its values enough to be learnt as probabilities of cells.
pub(super) fn repeats(targets: Vec<f64>, step: f64) -> bool {
    let values = Values::of(targets);
    values.is_repeated() && values.range() / step <= MOST_POINTS
}

/// The largest step of a grid that all targets lie on; `None` where there is none, or one value alone.
pub fn common_step(targets: Vec<f64>) -> Option<f64> {
    Values::of(targets).common_step(f64::INFINITY)
}

/// Sorted numbers.
struct Values {
    rows: usize,
    different: Vec<f64>,
    repeated_rows: usize,
    equal_pairs: f64,
    sd: f64,
}

impl Values {
    fn of(mut targets: Vec<f64>) -> Self {
        let rows = targets.len();
        targets.sort_unstable_by(f64::total_cmp);
        let same = |a: &f64, b: &f64| b - a <= ROUNDING * a.abs().max(b.abs());
        let (mut different, mut repeated_rows, mut equal_pairs) = (Vec::new(), 0, 0.0);
        for equal in targets.chunk_by(same) {
            different.push(equal[0]);
            repeated_rows += if equal.len() > 1 { equal.len() } else { 0 };
            equal_pairs += equal.len() as f64 * (equal.len() - 1) as f64 / 2.0;
        }
        let sd = mean_and_sd(&targets, None).map_or(0.0, |(_, sd)| sd);
        Self { rows, different, repeated_rows, equal_pairs, sd }
    }

    fn is_repeated(&self) -> bool {
        let repeated = self.repeated_rows as f64 >= REPEATED * self.rows as f64;
        self.rows >= ROWS_PER_VALUE * self.different.len() && repeated
    }

    fn range(&self) -> f64 {
        self.different.first().zip(self.different.last()).map_or(0.0, |(first, last)| last - first)
    }

    fn repeated_step(&self) -> Option<f64> {
        if self.is_repeated() { self.common_step(MOST_POINTS.min(self.rows as f64)) } else { None }
    }

    fn plain_step(&self) -> Option<f64> {
        let first = *self.different.first()?;
        if self.rows < LEAST_ROWS {
            return None;
        }
        let step = self.common_step(MOST_POINTS)?;
        let digits = ten_digits(step / libm::pow(10.0, libm::floor(libm::log10(step) + ROUNDING)));
        let is_plain = [1.0, 2.0, 2.5, 5.0].contains(&digits) && on_grid(first, 0.0, step);
        let is_coarse = (step >= 1.0 && on_grid(step, 0.0, 1.0)) || self.sd <= MOST_STEPS_OF_SD * step;
        let rows = self.rows as f64;
        let by_chance = rows * (rows - 1.0) / 2.0 / (self.range() / step + 1.0);
        let repeats = self.equal_pairs + FEWER_PAIRS >= PAIRS_OF_UNIFORM * by_chance;
        (is_plain && is_coarse && repeats).then_some(step)
    }

    /// The largest step of a grid of at most `most` steps over the range.
    fn common_step(&self, most: f64) -> Option<f64> {
        let values = &self.different;
        if values.len() < 2 {
            return None;
        }
        let range = self.range();
        let smallest = values.windows(2).map(|pair| pair[1] - pair[0]).fold(range, f64::min);
        (1..=MOST_STEPS).find_map(|parts| {
            // From the whole range, where rounding counts least.
            let steps = (range / (smallest / parts as f64)).round();
            let step = ten_digits(range / steps);
            let all_on_grid = || values.iter().all(|value| on_grid(*value, values[0], step));
            (steps <= most && step.is_normal() && all_on_grid()).then_some(step)
        })
    }
}

/// Whether a number is a whole number of steps from a point of the grid.
pub fn on_grid(number: f64, point: f64, step: f64) -> bool {
    let steps = (number - point) / step;
    (steps - steps.round()).abs() < OFF_GRID
}

/// As a person would have written it: 0.001, not 0.0010000000000000009.
fn ten_digits(number: f64) -> f64 {
    format!("{number:.9e}").parse().unwrap_or(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use negmm_dist::math::rng::Rng;

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
    fn few_rows_of_a_grid_are_read_as_many() {
        // Counts to 18, percentages, tenths, and counts to 900.
        let draws = |points: u64, step: f64| -> Vec<f64> {
            let mut rng = Rng::new(5, 0);
            (0..6000).map(|_| (rng.uniform() * points as f64).floor() * step).collect()
        };
        for (points, unit, least) in [(19, 1.0, 30), (101, 1.0, 37), (60, 0.1, 37), (60, 0.001, 60), (900, 1.0, 100)] {
            let all = draws(points, unit);
            for rows in [least, 600, 6000] {
                let found = all.chunks_exact(rows).map(|some| step(some.to_vec()));
                assert!(found.into_iter().all(|found| found == Some(unit)), "{points} points, {rows} rows");
            }
        }
        // What is continuous is so with few rows too: three decimals, and whole numbers over a large range.
        for (points, unit) in [(20_000, 0.001), (50_000, 1.0)] {
            let all = draws(points, unit);
            assert!([37, 600, 6000].into_iter().all(|rows| step(all[..rows].to_vec()).is_none()), "{points}");
        }
    }

    #[test]
    fn other_targets_are_not_discrete() {
        assert_eq!(step(vec![]), None);
        assert_eq!(step(vec![2.0; 30]), None);
        // Too few rows for each value.
        assert_eq!(step(repeated(&[1.0, 2.0, 3.0], 4)), None);
        // Nothing repeats, though whole numbers.
        assert_eq!(step((0..100).map(f64::from).collect()), None);
        // 12 of 100 rows have a value of their own, on a grid that is not plain.
        let mut some: Vec<f64> = repeated(&[0.0, 1.0 / 3.0], 44);
        some.extend((2..14).map(|value| f64::from(value) / 3.0));
        assert_eq!(step(some.clone()), None);
        some.truncate(95);
        assert_eq!(step(some), Some(0.333_333_333_3));
        // Many rows of numbers with three decimals.
        assert_eq!(step(repeated(&(0..2000).map(|value| f64::from(value) * 0.001).collect::<Vec<_>>(), 6)), None);
        // Prices with one decimal: an sd of 92 steps.
        assert_eq!(step((0..500).map(|row| f64::from((row * 7919) % 320) / 10.0).collect()), None);
        // Levels without a common step, and a step that is only the precision of the numbers.
        assert_eq!(step(repeated(&[0.0, 1.0, std::f64::consts::PI], 50)), None);
        assert_eq!(step(repeated(&[0.0, 7.001, 19.013, 26.002], 50)), None);
    }
}
