//! Encoding of numeric columns: standardised, with an indicator of missing cells.

use serde::{Deserialize, Serialize};

use super::{ColumnEncoding, Features, ParsedColumn, QuantileTransform, Unseen};
use crate::Kind;
use crate::target::ENCODED_LIMIT;
use crate::target::moments::mean_and_sd;
use negmm_dist::novelty::Beyond;
use negmm_dist::weights::weight_of;
use negmm_dist::{Error, Result};

/// (x - mean) / sd, or 0 where x is missing, then a 0/1 flag for missing cells if training had some, then the quantile transform
/// where there is one. With sd 0 (a column that was constant or missing throughout) the first of these is left out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NumberEncoding {
    /// Mean of the cells that are not missing.
    pub mean: f64,
    /// Their standard deviation (of the population: divided by n); 0 where they are all the same.
    pub sd: f64,
    /// Whether there is a flag for missing cells.
    pub missing_flag: bool,
    /// The smallest and the largest of them; `None` in models of versions that did not store it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<(f64, f64)>,
    /// A second copy of the number, see [`QuantileTransform`].
    #[serde(rename = "normal_scores", default, skip_serializing_if = "Option::is_none")]
    pub quantile_transform: Option<QuantileTransform>,
}

/// Options of all numeric features.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NumberOptions {
    /// Missing numbers stay missing (NaN).
    pub keeps_missing: bool,
    /// The limit of smooth clipping, in standard deviations.
    pub soft_clip: Option<f64>,
    /// Numbers are clipped this far outside the training range, in standard deviations; `None`: they are not clipped.
    pub margin: Option<f64>,
}

impl NumberOptions {
    /// The feature of a missing number.
    pub fn of_missing(self) -> f32 {
        if self.keeps_missing { f32::NAN } else { 0.0 }
    }
}

impl NumberEncoding {
    pub(crate) fn learn(numbers: &[f64], weights: Option<&[f64]>) -> Self {
        let missing_flag = (0..numbers.len()).any(|row| numbers[row].is_nan() && weight_of(weights, row) > 0.0);
        match mean_and_sd(numbers, weights) {
            Some((mean, sd)) => {
                Self { mean, sd, missing_flag, range: range(numbers, weights), quantile_transform: None }
            }
            None => Self { mean: 0.0, sd: 0.0, missing_flag: false, range: None, quantile_transform: None },
        }
    }

    /// The same with a quantile transform as a second copy, where the column has enough different numbers.
    pub(crate) fn with_quantile_transform(mut self, numbers: &[f64], weights: Option<&[f64]>) -> Self {
        self.quantile_transform = if self.varies() { QuantileTransform::learn(numbers, weights) } else { None };
        self
    }

    pub(crate) fn varies(&self) -> bool {
        self.sd > 0.0
    }

    /// A number that is not missing, in standard deviations.
    pub(crate) fn standardised(&self, number: f64, options: NumberOptions) -> f32 {
        let number = match (self.range, options.margin) {
            (Some((low, high)), Some(margin)) => number.clamp(low - margin * self.sd, high + margin * self.sd),
            _ => number,
        };
        smoothly_clipped((number - self.mean) / self.sd, options.soft_clip) as f32
    }
}

/// The smallest and the largest of the numbers that are not missing and have a weight.
fn range(numbers: &[f64], weights: Option<&[f64]>) -> Option<(f64, f64)> {
    let counted = numbers.iter().enumerate().filter(|(row, number)| !number.is_nan() && weight_of(weights, *row) > 0.0);
    counted.map(|(_, number)| (*number, *number)).reduce(|(low, high), (number, _)| (low.min(number), high.max(number)))
}

impl ColumnEncoding for NumberEncoding {
    fn kind(&self) -> Kind {
        Kind::Number
    }

    fn features(&self) -> usize {
        usize::from(self.varies()) + usize::from(self.missing_flag) + usize::from(self.quantile_transform.is_some())
    }

    fn numbers(&self) -> Vec<usize> {
        let score = self.quantile_transform.is_some().then(|| self.features() - 1);
        self.varies().then_some(0).into_iter().chain(score).collect()
    }

    fn names(&self, column: &str) -> Vec<String> {
        let number = self.varies().then(|| column.to_string());
        let missing = self.missing_flag.then(|| format!("{column} (missing)"));
        let score = self.quantile_transform.is_some().then(|| format!("{column} (normal score)"));
        number.into_iter().chain(missing).chain(score).collect()
    }

    fn check(&self) -> Result<()> {
        if !(self.mean.is_finite() && self.sd.is_finite() && self.sd >= 0.0) {
            return Err(Error::model("mean and sd must be finite and sd not negative"));
        }
        if self.range.is_some_and(|(low, high)| !(low.is_finite() && low <= high && high.is_finite())) {
            return Err(Error::model("a range must be two finite numbers, the smaller first"));
        }
        self.quantile_transform.as_ref().map_or(Ok(()), QuantileTransform::check)
    }

    fn beyond(&self, column: &ParsedColumn<'_>, note: &mut dyn FnMut(usize, Beyond)) {
        let Some((low, high)) = self.range.filter(|_| self.varies()) else { return };
        for (row, number) in column.numbers().iter().enumerate() {
            if number.is_nan() && !self.missing_flag {
                note(row, Beyond::Unseen);
            } else if *number < low || *number > high {
                let distance = (low - number).max(number - high) / self.sd;
                note(row, Beyond::By(distance.min(ENCODED_LIMIT)));
            }
        }
    }

    fn knows_range(&self) -> bool {
        self.range.is_some() || !self.varies()
    }

    fn encode(&self, column: &ParsedColumn<'_>, mut features: Features<'_>, options: NumberOptions) -> Unseen {
        let numbers = column.numbers();
        if self.varies() {
            let missing = options.of_missing();
            for (x, number) in features.column(0).zip(numbers) {
                *x = if number.is_nan() { missing } else { self.standardised(*number, options) };
            }
        }
        if let Some(transform) = &self.quantile_transform {
            for (x, number) in features.column(self.features() - 1).zip(numbers) {
                *x = if number.is_nan() { options.of_missing() } else { transform.score(*number) as f32 };
            }
        }
        if !self.missing_flag {
            let missing = numbers.iter().filter(|number| number.is_nan()).count() as u64;
            return Unseen { missing, ..Unseen::default() };
        }
        for (x, number) in features.column(usize::from(self.varies())).zip(numbers) {
            *x = f32::from(u8::from(number.is_nan()));
        }
        Unseen::default()
    }
}

/// A number of standard deviations, clipped at [`ENCODED_LIMIT`] and smoothly at `limit`, where there is one.
fn smoothly_clipped(z: f64, limit: Option<f64>) -> f64 {
    let z = z.clamp(-ENCODED_LIMIT, ENCODED_LIMIT);
    limit.map_or(z, |limit| z / (1.0 + (z / limit) * (z / limit)).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_cells_count_by_weight() {
        let flag = |weight| NumberEncoding::learn(&[1.0, 2.0, f64::NAN], Some(&[1.0, 1.0, weight])).missing_flag;
        assert_eq!((flag(0.0), flag(0.5)), (false, true));
    }
}
