//! The dataset: encoded rows × features and a standardised target.

mod bytes;
mod categorical_column;
mod disk_rows;
mod intervals;
mod joint_targets;
mod row_file;
mod row_hashes;
pub mod split;
mod target_encoding;

use std::collections::HashMap;

use crate::net::Bounds;
pub use categorical_column::{CategoricalColumn, NO_CATEGORY, STATISTICS};
use disk_rows::DiskRows;
pub use intervals::Intervals;
pub use joint_targets::JointTargets;
use negmm_dist::math::rng::Rng;
use negmm_dist::{Error, Novelty, Result};
pub use row_file::{RowFile, RowFileWriter};
pub use row_hashes::hash_of;
use split::{grouped_holdout, holdout, newest, tail};
pub use target_encoding::TargetEncoding;
#[doc(hidden)]
pub use target_encoding::{PRIOR, ROWS_SCALE};

/// Every row is padded with zeros to a multiple of this many features, so that kernels load whole vectors.
pub const ROW_ALIGN: usize = 16;

/// Rows above which a table is very large: what needs rows in memory (held-out predictions, linear models, trees) has a random sample
/// of them, and networks learn from all.
pub const VERY_MANY: usize = 1_000_000;

/// Encoded rows: `x` is rows × `stride` (features, then zeros), `y` is the standardised target of each row, and
/// `sample_weights` says how much each row counts (1 on average).
#[derive(Clone, Debug, Default)]
pub struct Dataset {
    pub(crate) features: usize,
    pub(crate) stride: usize,
    /// Nothing where the rows are on disk.
    pub(crate) x: Vec<f32>,
    pub(crate) disk: Option<DiskRows>,
    pub(crate) y: Vec<f32>,
    pub(crate) intervals: Option<Intervals>,
    pub(crate) joint: Option<JointTargets>,
    pub(crate) atoms: Vec<f32>,
    pub(crate) bounds: Bounds,
    pub(crate) sample_weights: Vec<f32>,
    /// The number of each row's group, below the number of rows of the whole; rows of one group stay together.
    pub(crate) groups: Option<Vec<u32>>,
    /// The rank of each row's time; equal times have one rank.
    pub(crate) times: Option<Vec<u32>>,
    /// The rows that the caller chose for validation.
    pub(crate) held_out: Option<Vec<u32>>,
    pub(crate) window: Option<usize>,
    pub(crate) numbers: Vec<usize>,
    pub(crate) levels: Vec<CategoricalColumn>,
    pub(crate) novelty: Option<Novelty>,
}

impl Dataset {
    /// An empty set of rows with `features` numbers each.
    pub fn new(features: usize) -> Self {
        Self {
            features,
            stride: features.next_multiple_of(ROW_ALIGN).max(ROW_ALIGN),
            x: Vec::new(),
            disk: None,
            y: Vec::new(),
            intervals: None,
            joint: None,
            atoms: Vec::new(),
            bounds: Bounds::NONE,
            sample_weights: Vec::new(),
            groups: None,
            times: None,
            held_out: None,
            window: None,
            numbers: (0..features).collect(),
            levels: Vec::new(),
            novelty: None,
        }
    }

    /// Sets which features are numbers that vary, all by default; the others are 0 or 1.
    #[must_use]
    pub fn with_numbers(mut self, numbers: Vec<usize>) -> Self {
        self.numbers = numbers;
        self
    }

    /// The features that are numbers that vary, in order.
    pub fn numbers(&self) -> &[usize] {
        &self.numbers
    }

    /// Sets the categories of the rows for features that are target encodings, which are filled in by [`Dataset::with_statistics`].
    #[must_use]
    pub fn with_levels(mut self, levels: Vec<CategoricalColumn>) -> Self {
        self.levels = levels;
        self
    }

    /// The categorical columns whose target encodings are still to be filled in, see [`Dataset::with_statistics`].
    pub fn levels(&self) -> &[CategoricalColumn] {
        &self.levels
    }

    /// Sets the novelty of each row: how far it lies outside the training ranges.
    #[must_use]
    pub fn with_novelty(mut self, novelty: Option<Novelty>) -> Self {
        self.novelty = novelty;
        self
    }

    /// The novelty of each row, if it is known.
    pub fn novelty(&self) -> Option<&Novelty> {
        self.novelty.as_ref()
    }

    /// The smallest and the largest value of a feature; (0, 0) without rows.
    pub fn range(&self, feature: usize) -> (f32, f32) {
        if let Some(disk) = &self.disk {
            return disk.range(feature);
        }
        let values = self.x.iter().skip(feature).step_by(self.stride).filter(|x| !x.is_nan());
        let (low, high) = values.fold((f32::MAX, f32::MIN), |(low, high), x| (low.min(*x), high.max(*x)));
        if low <= high { (low, high) } else { (0.0, 0.0) }
    }

    /// Rows that are already padded: `x` is rows × stride, where the stride is that of [`Dataset::new`].
    ///
    /// # Panics
    /// When `x` is not as long as the rows of `y` need.
    pub fn from_parts(features: usize, x: Vec<f32>, y: Vec<f32>) -> Self {
        let set = Self { x, sample_weights: vec![1.0; y.len()], y, ..Self::new(features) };
        assert_eq!(set.x.len(), set.y.len() * set.stride, "every row has as many numbers as the stride");
        set
    }

    /// Adds a row of `features` numbers and its target (0 if it is unknown).
    ///
    /// # Panics
    /// When `row` does not have as many numbers as the set has features.
    pub fn push(&mut self, row: &[f32], y: f32) {
        assert_eq!(row.len(), self.features, "a row has as many numbers as the set has features");
        self.x.extend_from_slice(row);
        self.x.resize(self.x.len() + self.stride - self.features, 0.0);
        self.y.push(y);
        if let Some(Intervals { lower, upper }) = &mut self.intervals {
            lower.push(y);
            upper.push(y);
        }
        if let Some(JointTargets { targets, values }) = &mut self.joint {
            values.resize(values.len() + *targets, f32::NAN);
        }
        self.sample_weights.push(1.0);
        if let Some(groups) = &mut self.groups {
            groups.push(groups.iter().max().map_or(0, |last| last + 1));
        }
        if let Some(times) = &mut self.times {
            times.push(times.iter().max().map_or(0, |last| last + 1));
        }
        self.levels.iter_mut().for_each(|column| column.codes.push(NO_CATEGORY));
        self.novelty = None;
    }

    /// The same with each target as the number it is, not as an interval.
    #[must_use]
    pub fn without_intervals(&self) -> Self {
        Self { intervals: None, ..self.clone() }
    }

    /// Sets several targets of each row, rows × `targets`; NaN where one is unknown.
    ///
    /// # Panics
    /// When there are not that many for each row.
    #[must_use]
    pub fn with_joint_targets(mut self, targets: usize, values: Vec<f32>) -> Self {
        assert_eq!(values.len(), self.len() * targets, "all targets of each row");
        self.joint = Some(JointTargets { targets, values });
        self
    }

    /// The targets of each row, if there are several.
    pub fn joint_targets(&self) -> Option<&JointTargets> {
        self.joint.as_ref()
    }

    /// The same with target number `target` of several as its only one; 0 where it is unknown.
    ///
    /// # Panics
    /// When there are not several, or not that many.
    #[must_use]
    pub fn of_joint_target(&self, target: usize) -> Self {
        let joint = self.joint.as_ref().expect("there are several targets");
        assert!(target < joint.targets, "there are {} targets", joint.targets);
        let y = joint.values.iter().skip(target).step_by(joint.targets).map(|y| if y.is_nan() { 0.0 } else { *y });
        Self { y: y.collect(), joint: None, ..self.clone() }
    }

    /// Sets the sample weights, normalised to an average of 1.
    ///
    /// # Panics
    /// When there is not one weight for each row.
    #[must_use]
    pub fn with_sample_weights(mut self, weights: &[f64]) -> Self {
        assert_eq!(weights.len(), self.len(), "one weight for each row");
        let largest = weights.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        let mean = weights.iter().map(|weight| weight / largest).sum::<f64>() / weights.len() as f64;
        self.sample_weights = weights.iter().map(|weight| (weight / largest / mean) as f32).collect();
        self
    }

    /// Sets the intervals of censored targets, in units of the standardised target; an end may be infinite. If `lower` is not below
    /// `upper`, the target is `y`. Otherwise `y` represents the interval where a single number is needed: a `y` that does not lie inside
    /// two finite ends becomes their middle.
    ///
    /// # Panics
    /// When there is not one interval for each row.
    #[must_use]
    pub fn with_intervals(mut self, mut lower: Vec<f32>, mut upper: Vec<f32>) -> Self {
        assert!(lower.len() == self.len() && upper.len() == self.len(), "one interval for each row");
        for ((lower, upper), y) in lower.iter_mut().zip(&mut upper).zip(&mut self.y) {
            let is_interval = *lower < *upper;
            if !is_interval {
                (*lower, *upper) = (*y, *y);
            } else if (*upper - *lower).is_finite() && !(*lower < *y && *y < *upper) {
                *y = 0.5 * (*lower + *upper);
            }
        }
        self.intervals = Some(Intervals { lower, upper });
        self
    }

    /// The intervals of the targets, if some are censored.
    pub fn intervals(&self) -> Option<&Intervals> {
        self.intervals.as_ref()
    }

    /// Whether there is a row that [`Dataset::is_censored`].
    pub fn has_censored(&self) -> bool {
        (0..self.len()).any(|row| self.is_censored(row))
    }

    /// Whether an end of the row's target is infinite.
    pub fn is_censored(&self, row: usize) -> bool {
        self.intervals.as_ref().is_some_and(|intervals| intervals.is_censored(row))
    }

    /// Sets the atoms, in units of the standardised target: exactly the values of the rows that have them, the most frequent first; a
    /// mixture uses the first four.
    #[must_use]
    pub fn with_atoms(mut self, atoms: Vec<f32>) -> Self {
        self.atoms = atoms;
        self
    }

    /// The atoms: values that have a probability of their own.
    pub fn atoms(&self) -> &[f32] {
        &self.atoms
    }

    /// The fraction of the rows, by their weights, whose observed target is `y`.
    pub fn fraction_equal_to(&self, y: f32) -> f64 {
        let is_value = |row: &usize| {
            self.intervals.as_ref().is_none_or(|intervals| intervals.lower[*row] == intervals.upper[*row])
        };
        let weight = |row: usize| f64::from(self.sample_weights[row]);
        let total: f64 = (0..self.len()).map(weight).sum();
        let at: f64 = (0..self.len()).filter(is_value).filter(|row| self.y[*row] == y).map(weight).sum();
        if total > 0.0 { at / total } else { 0.0 }
    }

    /// Declares that rows are windows of `window` steps, in the order of time.
    #[must_use]
    pub fn in_windows(mut self, window: usize) -> Self {
        self.window = Some(window);
        self
    }

    /// Steps of a row, if rows are windows in the order of time.
    pub fn window(&self) -> Option<usize> {
        self.window
    }

    /// Sets the rows for validation, which are then the same for every network.
    #[must_use]
    pub fn with_held_out(mut self, rows: Vec<u32>) -> Self {
        self.held_out = Some(rows);
        self
    }

    /// The rows for validation, where the caller chose them.
    pub fn held_out(&self) -> Option<&[u32]> {
        self.held_out.as_deref()
    }

    /// Splits the rows into training and validation rows: by the caller's choice, else `fraction` of them for validation: the last
    /// ones if rows are windows in the order of time, the newest ones if they have times, else at random.
    pub fn holdout(&self, fraction: f64, rng: &mut Rng) -> (Vec<u32>, Vec<u32>) {
        if let Some(held_out) = &self.held_out {
            let mut is_held_out = vec![false; self.len()];
            held_out.iter().for_each(|row| is_held_out[*row as usize] = true);
            let train = (0..self.len() as u32).filter(|row| !is_held_out[*row as usize]).collect();
            return (train, held_out.clone());
        }
        match self.window {
            Some(_) => tail(self.len(), fraction),
            None => match (&self.times, &self.groups) {
                (Some(times), _) => newest(times, fraction),
                (None, Some(groups)) => grouped_holdout(groups, fraction, rng),
                (None, None) => holdout(self.len(), fraction, rng),
            },
        }
    }

    /// Sets the standardised bounds of the targets.
    #[must_use]
    pub fn with_bounds(mut self, bounds: Bounds) -> Self {
        self.bounds = bounds;
        self
    }

    /// The standardised bounds of the targets.
    pub fn bounds(&self) -> Bounds {
        self.bounds
    }

    /// Sets the groups: the same number for rows of one group. Splits do not divide groups.
    ///
    /// # Panics
    /// When there is not one number for each row.
    #[must_use]
    pub fn with_groups(mut self, groups: impl ExactSizeIterator<Item = u32>) -> Self {
        assert_eq!(groups.len(), self.len(), "one group for each row");
        self.groups = Some(numbered(groups));
        self
    }

    /// The number of each row's group, from 0 in the order of their first rows, if there are groups.
    pub fn groups(&self) -> Option<&[u32]> {
        self.groups.as_deref()
    }

    /// Sets the rank of each row's time, see [`split::ranks`]: splits hold out the newest rows.
    ///
    /// # Panics
    /// When there is not one time for each row.
    #[must_use]
    pub fn with_times(mut self, times: Vec<u32>) -> Self {
        assert_eq!(times.len(), self.len(), "one time for each row");
        self.times = Some(times);
        self
    }

    /// The rank of each row's time, from 0 for the oldest, if rows have times.
    pub fn times(&self) -> Option<&[u32]> {
        self.times.as_deref()
    }

    /// The sample weights, 1 on average.
    pub fn sample_weights(&self) -> &[f32] {
        &self.sample_weights
    }

    /// The inputs of several sets with the same features, one after the other.
    #[must_use]
    pub fn concatenated(sets: Vec<Self>) -> Self {
        let mut sets = sets.into_iter();
        let Some(mut all) = sets.next() else { return Self::new(0) };
        for set in sets {
            all.x.extend(set.x);
            all.y.extend(set.y);
            all.sample_weights.extend(set.sample_weights);
            all.levels.iter_mut().zip(set.levels).for_each(|(column, more)| column.codes.extend(more.codes));
        }
        (all.intervals, all.groups, all.times, all.novelty) = (None, None, None, None);
        all
    }

    /// Some of the rows, in memory.
    ///
    /// # Panics
    /// When there is no such row.
    #[must_use]
    pub fn select(&self, rows: &[u32]) -> Self {
        let (x, levels) = match &self.disk {
            Some(disk) => self.rows_from_disk(disk, rows),
            None => {
                let row = |row: &u32| &self.x[*row as usize * self.stride..][..self.stride];
                let levels = self.levels.iter().map(|column| column.select(rows)).collect();
                (rows.iter().flat_map(row).copied().collect(), levels)
            }
        };
        Self { x, levels, ..self.select_lists(rows) }
    }

    /// Some of the rows without their inputs.
    fn select_lists(&self, rows: &[u32]) -> Self {
        Self {
            features: self.features,
            stride: self.stride,
            x: Vec::new(),
            disk: None,
            y: rows.iter().map(|row| self.y[*row as usize]).collect(),
            intervals: self.intervals.as_ref().map(|intervals| intervals.select(rows)),
            joint: self.joint.as_ref().map(|joint| joint.select(rows)),
            atoms: self.atoms.clone(),
            bounds: self.bounds,
            sample_weights: rows.iter().map(|row| self.sample_weights[*row as usize]).collect(),
            groups: self.groups.as_ref().map(|groups| numbered(rows.iter().map(|row| groups[*row as usize]))),
            times: self.times.as_ref().map(|times| rows.iter().map(|row| times[*row as usize]).collect()),
            held_out: None,
            window: self.window,
            numbers: self.numbers.clone(),
            levels: Vec::new(),
            novelty: self.novelty.as_ref().map(|novelty| novelty.select(rows.iter().map(|row| *row as usize))),
        }
    }

    /// The rows with one feature moved, and by how much in each row: `step`, or -`step` if that would leave the range, or 0 if both
    /// would or the feature is missing.
    pub fn moved(&self, feature: usize, step: f32, (low, high): (f32, f32)) -> (Self, Vec<f32>) {
        let mut moved = Self { novelty: None, ..self.clone() };
        let mut steps = Vec::with_capacity(self.len());
        for x in moved.x.iter_mut().skip(feature).step_by(self.stride) {
            let step = if *x + step <= high {
                step
            } else if *x - step >= low {
                -step
            } else {
                0.0
            };
            *x += step;
            steps.push(step);
        }
        (moved, steps)
    }

    /// The same with missing numbers as 0.
    #[must_use]
    pub fn filled(&self) -> Self {
        let mut filled = self.clone();
        filled.x.iter_mut().filter(|x| x.is_nan()).for_each(|x| *x = 0.0);
        filled
    }

    /// Sets some features of all rows to 0.
    pub fn clear_features(&mut self, features: std::ops::Range<usize>) {
        self.x.chunks_exact_mut(self.stride).for_each(|row| row[features.clone()].fill(0.0));
    }

    /// Feature after feature, each with a number for every row.
    pub fn columns(&self) -> Vec<Vec<f32>> {
        let column = |feature: usize| self.x.iter().skip(feature).step_by(self.stride).copied().collect();
        (0..self.features).map(column).collect()
    }

    /// Numbers in a row.
    pub fn features(&self) -> usize {
        self.features
    }

    /// Floats from one row to the next in [`Dataset::x`].
    pub fn stride(&self) -> usize {
        self.stride
    }

    /// Rows.
    pub fn len(&self) -> usize {
        self.y.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.y.is_empty()
    }

    /// Checks that the rows have so many features, all finite or missing.
    ///
    /// # Errors
    /// When they do not.
    pub fn check_features(&self, expected: usize) -> Result<()> {
        if self.features != expected {
            return Err(Error::data(format!("expected {expected} features, found {}", self.features)));
        }
        match self.x.iter().position(|x| x.is_infinite()) {
            None => Ok(()),
            Some(at) => Err(Error::data(format!("expected a finite number, found {}", self.x[at]))
                .at_row((at / self.stride) as u64)
                .at(format!("feature {}", at % self.stride))),
        }
    }

    /// All rows, padded; none where they are on disk.
    pub fn x(&self) -> &[f32] {
        &self.x
    }

    /// All targets.
    pub fn y(&self) -> &[f32] {
        &self.y
    }
}

/// Renumbers groups from 0 in the order of their first rows.
fn numbered(groups: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut numbers_of = HashMap::new();
    groups
        .map(|group| {
            let next = numbers_of.len() as u32;
            *numbers_of.entry(group).or_insert(next)
        })
        .collect()
}
