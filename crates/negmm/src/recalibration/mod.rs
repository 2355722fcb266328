//! Recalibration of anybody's predictions, learnt from rows that the model has not seen.
//!
//! | method | quantile of level u | learnt from the rows |
//! |---|---|---|
//! | `pit` | Q(Φ(T(Φ⁻¹(u)))) | T, the monotone map of the normal scores of the PIT on standard normal ones |
//! | `scale` | m + s (Q(u) - m), m the mean | s, the factor with the smallest CRPS |
//! | `conformal` | the end of the conformal interval with coverage abs(2 u - 1) | tail probabilities of the targets |
//!
//! `pit` is the recalibration of Kuleshov, Fenner and Ermon (2018), in normal scores so that tails keep their precision and go on
//! beyond the rows. All three may be learnt for each group.
//!
//! ```
//! use negmm::recalibration::{RecalibrationMethod, RecalibrationSet};
//! use negmm::{Mixtures, Predictions};
//!
//! let normal = |rows: usize, sd: f64| {
//!     Predictions::from(Mixtures::new(1, vec![1.0; rows], vec![0.0; rows], vec![sd; rows]).unwrap())
//! };
//! // A model whose sd is a third of what it should be.
//! let y = normal(2000, 1.0).sample(1, 7, 0);
//! let mut rows = RecalibrationSet::default();
//! rows.add(&normal(2000, 0.333), &y, &[])?;
//! let recalibration = rows.learn(RecalibrationMethod::Scale, "y", None)?;
//! let quantiles = recalibration.quantiles(&normal(1, 0.333), &[], &[0.05, 0.95])?;
//! assert!((quantiles[1] - 1.645).abs() < 0.1);
//! # Ok::<(), negmm::Error>(())
//! ```

mod map;

use std::collections::BTreeMap;

use negmm_dist::{Distribution, Error, Predictions, Result};
use serde::{Deserialize, Serialize};

use crate::monitor::normal_score;
use map::{Map, factors};

/// The first field of the file, so that other JSON is recognised.
const FORMAT: &str = "negmm recalibration";

/// Maximum number of groups: a column with more is not a grouping.
const MOST_GROUPS: usize = 1000;

/// Smallest number of rows of a group.
const MIN_ROWS: usize = 20;

/// A method of recalibration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RecalibrationMethod {
    /// A monotone map of the PIT.
    Pit,
    /// A factor of the distances from the mean.
    Scale,
    /// Conformal intervals.
    Conformal,
}

impl RecalibrationMethod {
    /// All methods.
    pub const ALL: [Self; 3] = [Self::Pit, Self::Scale, Self::Conformal];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pit => "pit",
            Self::Scale => "scale",
            Self::Conformal => "conformal",
        }
    }

    /// The method of that name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.name() == name)
    }
}

/// Rows that recalibration is learnt from.
#[derive(Clone, Debug, Default)]
pub struct RecalibrationSet {
    rows: u64,
    /// By group: normal scores, tail probabilities, and sums of the CRPS for each factor.
    groups: BTreeMap<String, GroupRows>,
}

#[derive(Clone, Debug, Default)]
struct GroupRows {
    scores: Vec<f64>,
    tails: Vec<f64>,
    crps: Vec<f64>,
}

impl RecalibrationSet {
    /// Adds rows that the model has not seen; `groups` is empty or has the group of each.
    ///
    /// # Errors
    /// When the numbers of rows differ, or a target is NaN.
    pub fn add(&mut self, predictions: &Predictions, y: &[f64], groups: &[String]) -> Result<()> {
        if !groups.is_empty() && groups.len() != y.len() {
            return Err(Error::data(format!("expected {} groups, one for each row, found {}", y.len(), groups.len())));
        }
        let factors = factors();
        let tails = predictions.each_with(y, |row, y| row.interval_tail(y))?;
        let crps = predictions.each_with(y, |row, y| {
            let mean = row.mean();
            // The CRPS of m + s (Y - m) at y is s times that of Y at m + (y - m) / s.
            factors.iter().map(|factor| factor * row.crps(mean + (y - mean) / factor)).collect::<Vec<f64>>()
        })?;
        for (at, (tail, crps)) in tails.into_iter().zip(crps).enumerate() {
            let name = groups.get(at).cloned().unwrap_or_default();
            let group = self.groups.entry(name).or_default();
            group.scores.push(normal_score(predictions.row(at), y[at], 0, self.rows));
            group.tails.push(tail);
            group.crps.resize(factors.len(), 0.0);
            group.crps.iter_mut().zip(crps).for_each(|(sum, own)| *sum += own);
            self.rows += 1;
        }
        Ok(())
    }

    /// Learns the recalibration of predictions of `target`; `by` is the column of groups.
    ///
    /// # Errors
    /// When a group has fewer than 20 rows, or there are too many groups.
    pub fn learn(self, method: RecalibrationMethod, target: &str, by: Option<&str>) -> Result<Recalibration> {
        if self.groups.len() > MOST_GROUPS {
            let (name, found) = (by.unwrap_or_default(), self.groups.len());
            return Err(Error::data(format!("column {name:?} has {found} groups, and {MOST_GROUPS} is the most")));
        }
        if self.groups.is_empty() {
            return Err(Error::data("recalibration needs rows that the model has not seen, found none"));
        }
        let group = |(name, rows): (String, GroupRows)| {
            let count = rows.scores.len();
            if count < MIN_ROWS {
                let of = if by.is_some() { format!("group {name:?} has") } else { "there are".into() };
                return Err(Error::data(format!("recalibration needs at least {MIN_ROWS} rows, and {of} {count}")));
            }
            Ok(Group { name, rows: count, map: Map::learn(method, rows) })
        };
        Ok(Recalibration {
            format: FORMAT.into(),
            version: 1,
            target: target.into(),
            method,
            by: by.map(str::to_string),
            groups: self.groups.into_iter().map(group).collect::<Result<_>>()?,
        })
    }
}

/// A learnt recalibration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recalibration {
    format: String,
    version: u32,
    target: String,
    method: RecalibrationMethod,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    by: Option<String>,
    groups: Vec<Group>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Group {
    name: String,
    rows: usize,
    map: Map,
}

impl Recalibration {
    /// Whether a file with this beginning is a recalibration.
    pub fn is_beginning(bytes: &[u8]) -> bool {
        bytes.starts_with(format!("{{\"format\":{FORMAT:?}").as_bytes())
    }

    /// Reads a file that [`Recalibration::to_json`] made.
    ///
    /// # Errors
    /// When it is another file, or its numbers are out of order.
    pub fn from_json(bytes: &[u8]) -> Result<Self> {
        let not_one = || Error::model("this is not a file of `negmm calibrate --predictions`");
        let read: Self = serde_json::from_slice(bytes).map_err(|error| not_one().with_source(error))?;
        if read.format != FORMAT || read.groups.is_empty() || !read.groups.iter().all(|group| group.map.is_sound()) {
            return Err(not_one());
        }
        Ok(read)
    }

    /// The file: one line of JSON.
    ///
    /// # Errors
    /// Never with numbers that were learnt.
    pub fn to_json(&self) -> Result<Vec<u8>> {
        let mut text = serde_json::to_vec(self).map_err(|error| Error::data(error.to_string()))?;
        text.push(b'\n');
        Ok(text)
    }

    /// The target that it was learnt for.
    pub fn target(&self) -> &str {
        &self.target
    }

    /// Its method.
    pub fn method(&self) -> RecalibrationMethod {
        self.method
    }

    /// The column of groups.
    pub fn by(&self) -> Option<&str> {
        self.by.as_deref()
    }

    /// Number of rows it was learnt from.
    pub fn rows(&self) -> usize {
        self.groups.iter().map(|group| group.rows).sum()
    }

    /// Name, rows and what was learnt of each group, in words.
    pub fn groups(&self) -> impl ExactSizeIterator<Item = (&str, usize, String)> {
        self.groups.iter().map(|group| (group.name.as_str(), group.rows, group.map.to_string()))
    }

    /// The lowest level of a quantile that there are enough rows for; the highest one is 1 minus that.
    pub fn lowest_level(&self) -> f64 {
        self.groups.iter().map(|group| group.map.lowest_level()).fold(0.0, f64::max)
    }

    /// Recalibrated quantiles: rows × levels, not decreasing within a row.
    ///
    /// # Errors
    /// When a level is not strictly between 0 and 1, a group was not seen, or too few rows were for a conformal interval.
    pub fn quantiles(&self, predictions: &Predictions, groups: &[String], levels: &[f64]) -> Result<Vec<f64>> {
        let mut values = self.quantiles_of_rows(predictions, groups, &levels.repeat(predictions.len()))?;
        // The ends of conformal intervals are nested but for rounding.
        values.chunks_mut(levels.len().max(1)).for_each(|row| row.sort_unstable_by(f64::total_cmp));
        Ok(values)
    }

    /// Recalibrated quantiles at levels of each row's own: both rows × levels. At uniform random levels they are draws.
    ///
    /// # Errors
    /// As [`Recalibration::quantiles`].
    pub fn quantiles_of_rows(&self, predictions: &Predictions, groups: &[String], levels: &[f64]) -> Result<Vec<f64>> {
        if let Some(level) = levels.iter().find(|level| !(**level > 0.0 && **level < 1.0)) {
            return Err(Error::options(format!("expected a level strictly between 0 and 1, found {level}")));
        }
        if let Some(by) = &self.by
            && groups.len() != predictions.len()
        {
            return Err(Error::data(format!("the recalibration goes by column {by:?}: each row needs its group")));
        }
        let (rows, found) = (predictions.len(), levels.len());
        if !found.is_multiple_of(rows) {
            return Err(Error::data(format!("expected as many levels for each of {rows} rows, found {found} in all")));
        }
        let mut values = Vec::with_capacity(found);
        let of_rows = levels.chunks_exact((found / rows.max(1)).max(1));
        for (at, (row, levels)) in predictions.rows().zip(of_rows).enumerate() {
            let name = if self.by.is_some() { groups[at].as_str() } else { "" };
            let group = self.groups.binary_search_by(|group| group.name.as_str().cmp(name)).map_err(|_| {
                let known: Vec<&str> = self.groups.iter().map(|group| group.name.as_str()).take(8).collect();
                let message =
                    format!("the group {name:?} was not among those of the calibration ({})", known.join(", "));
                Error::data(message).at_row(at as u64)
            })?;
            for level in levels {
                values.push(self.groups[group].map.quantile(row, *level)?);
            }
        }
        Ok(values)
    }
}
