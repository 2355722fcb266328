//! Encoding of text columns: one-hot features for few categories and for missing cells, target encoding for many.

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};

use super::{Categories, ColumnEncoding, Features, NumberOptions, ParsedColumn, Unseen};
use crate::Kind;
use negmm_dist::novelty::Beyond;
use negmm_dist::weights::weight_of;
use negmm_dist::{Error, Result};
use negmm_nn::dataset::{NO_CATEGORY, STATISTICS};

/// Levels with a feature of their own, at most.
pub const MAX_CATEGORIES: usize = 64;
/// Rows that have a level, at least, where it has a target encoding and a feature of its own: fewer rows would overfit.
const FREQUENT: f64 = 100.0;

/// A 0/1 feature for each level, one for missing cells if training had some; where this comes to a single feature there is none,
/// as it would be constant. More than [`MAX_CATEGORIES`] levels have target encodings, and the most frequent of them a feature as
/// well, which can interact with other features. Where no two levels have a second row, or rows are steps of a
/// sequence, there are no target encodings: the levels beyond [`MAX_CATEGORIES`] have one feature together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TextEncoding {
    /// The levels with a feature of their own, the most frequent first.
    pub levels: Vec<String>,
    /// Whether the other levels have one feature together.
    pub pooled: bool,
    /// Whether there is a feature for missing cells.
    pub missing: bool,
    /// Levels with statistics of the target: of the whole text, of its first words. None where there are few levels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub statistics: Vec<Categories>,
}

impl TextEncoding {
    /// Learns from the cells of the training table; with `statistics`, many levels have target encodings.
    pub(crate) fn learn(codes: &[u32], levels: &[String], weights: Option<&[f64]>, statistics: bool) -> Self {
        let (mut totals, mut rows) = (vec![0.0; levels.len()], vec![0; levels.len()]);
        let mut missing = false;
        for (row, code) in codes.iter().enumerate() {
            let weight = weight_of(weights, row);
            match totals.get_mut(*code as usize) {
                Some(total) => {
                    *total += weight;
                    rows[*code as usize] += usize::from(weight > 0.0);
                }
                None => missing |= weight > 0.0,
            }
        }
        let mut frequent: Vec<(f64, &String)> =
            totals.into_iter().zip(levels).filter(|(total, _)| *total > 0.0).collect();
        frequent.sort_unstable_by(|(a, x), (b, y)| b.total_cmp(a).then_with(|| x.cmp(y)));
        let too_many = frequent.len() > MAX_CATEGORIES;
        let statistics = match statistics && too_many {
            true => Categories::learn(levels.iter().map(String::as_str).zip(rows.iter().copied())),
            false => Vec::new(),
        };
        // Beside target encodings only frequent levels have a feature of their own; weights are relative to their mean.
        let counted = rows.iter().sum::<usize>() as f64;
        let all: f64 = frequent.iter().map(|(total, _)| *total).sum();
        let least = if statistics.is_empty() { 0.0 } else { FREQUENT * all / counted };
        let own = frequent.into_iter().take(MAX_CATEGORIES).filter(|(total, _)| *total >= least);
        let levels = own.map(|(_, level)| level.clone()).collect();
        Self { levels, pooled: too_many && statistics.is_empty(), missing, statistics }
    }

    /// Whether a level without a feature of its own is new; false where not all levels of training are stored.
    fn is_new(&self, level: &str) -> bool {
        match self.statistics.first() {
            None => !self.pooled,
            Some(all) => all.words.is_none() && all.single == 0 && all.code(level) == NO_CATEGORY,
        }
    }

    /// 0/1 features.
    fn flags(&self) -> usize {
        let count = self.levels.len() + usize::from(self.pooled) + usize::from(self.missing);
        if count > 1 || !self.statistics.is_empty() { count } else { 0 }
    }
}

impl ColumnEncoding for TextEncoding {
    fn kind(&self) -> Kind {
        Kind::Text
    }

    fn features(&self) -> usize {
        self.flags() + STATISTICS * self.statistics.len()
    }

    fn numbers(&self) -> Vec<usize> {
        (self.flags()..self.features()).collect()
    }

    fn names(&self, column: &str) -> Vec<String> {
        let levels = self.levels.iter().map(|level| format!("{column}={level}"));
        let other = self.pooled.then(|| format!("{column}=(other)"));
        let statistics = self.statistics.iter().flat_map(|levels| levels.feature_names(column));
        levels.chain(other).chain(self.missing.then(|| format!("{column} (missing)"))).chain(statistics).collect()
    }

    fn check(&self) -> Result<()> {
        if self.levels.len() > MAX_CATEGORIES {
            return Err(Error::model(format!("expected at most {MAX_CATEGORIES} levels, found {}", self.levels.len())));
        }
        if self.levels.iter().collect::<HashSet<_>>().len() < self.levels.len() {
            return Err(Error::model("a level occurs twice"));
        }
        self.statistics.iter().try_for_each(Categories::check)
    }

    fn encode(&self, column: &ParsedColumn<'_>, mut features: Features<'_>, _options: NumberOptions) -> Unseen {
        let (codes, found) = column.text();
        let other = self.pooled.then_some(self.levels.len());
        let missing = self.missing.then_some(self.levels.len() + usize::from(self.pooled));
        let known: HashMap<&str, usize> = self.levels.iter().map(String::as_str).zip(0..).collect();
        let feature = |level: &String| match known.get(level.as_str()) {
            Some(feature) => (Some(*feature), false),
            None => (other, self.is_new(level)),
        };
        let of_levels: Vec<(Option<usize>, bool)> = found.iter().map(feature).collect();
        let mut unseen = Unseen::default();
        for (row, code) in codes.iter().enumerate() {
            let feature = match of_levels.get(*code as usize) {
                Some((feature, is_new)) => {
                    unseen.categories += u64::from(*is_new);
                    *feature
                }
                None => {
                    unseen.missing += u64::from(missing.is_none());
                    missing
                }
            };
            if let Some(feature) = feature {
                features.set(row, feature, 1.0);
            }
        }
        unseen
    }

    fn beyond(&self, column: &ParsedColumn<'_>, note: &mut dyn FnMut(usize, Beyond)) {
        let (codes, levels) = column.text();
        let known: HashSet<&str> = self.levels.iter().map(String::as_str).collect();
        let is_new = |level: &String| !known.contains(level.as_str()) && self.is_new(level);
        let new: Vec<bool> = levels.iter().map(is_new).collect();
        for (row, code) in codes.iter().enumerate() {
            if new.get(*code as usize).copied().unwrap_or(!self.missing) {
                note(row, Beyond::Unseen);
            }
        }
    }

    fn knows_range(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_come_by_frequency_then_name() {
        let levels: Vec<String> = ["b", "never", "a", "c"].map(String::from).to_vec();
        let encoding = TextEncoding::learn(&[3, 0, 2, 3], &levels, None, true);
        let levels = ["c", "a", "b"].map(String::from).to_vec();
        assert_eq!(encoding, TextEncoding { levels, pooled: false, missing: false, statistics: Vec::new() });
    }

    #[test]
    fn levels_and_missing_cells_count_by_weight() {
        let levels: Vec<String> = ["a", "b", "c"].map(String::from).to_vec();
        let encoding = TextEncoding::learn(&[0, 0, 1, 2, u32::MAX], &levels, Some(&[1.0, 1.0, 3.0, 0.0, 0.0]), true);
        let levels = ["b", "a"].map(String::from).to_vec();
        assert_eq!(encoding, TextEncoding { levels, pooled: false, missing: false, statistics: Vec::new() });
    }

    #[test]
    fn rare_levels_are_pooled() {
        let levels: Vec<String> = (0..70).map(|level| format!("{level:02}")).collect();
        let codes: Vec<u32> = (0..70).chain([69, 69]).collect();
        let TextEncoding { levels, pooled, .. } = TextEncoding::learn(&codes, &levels, None, true);
        assert!(pooled);
        assert_eq!(levels.len(), MAX_CATEGORIES);
        assert_eq!((levels[0].as_str(), levels[63].as_str()), ("69", "62"));
    }
}
