//! Responsible for columns of text: a 0/1 feature for each frequent level, for all others and for missing cells.

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};

use super::{ColumnEncoding, Features, NumberOptions, Unseen};
use crate::data::time::iso;
use crate::data::weights::weight_of;
use crate::data::{Column, Kind};
use crate::{Error, Result};

/// Text columns keep this many of their most frequent levels; the others share one feature.
pub const MAX_LEVELS: usize = 64;

/// A 0/1 feature for each level, one for all other levels if training had more, one for missing cells if training
/// had some. Where this comes to a single feature there is none: it would be constant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TextEncoding {
    /// The levels with a feature of their own, the most frequent first.
    pub levels: Vec<String>,
    /// Whether the other levels share a feature.
    pub pooled: bool,
    /// Whether there is a feature for missing cells.
    pub missing: bool,
}

impl TextEncoding {
    pub(super) fn learn(codes: &[u32], levels: &[String], weights: Option<&[f64]>) -> Self {
        let mut totals = vec![0.0; levels.len()];
        let mut missing = false;
        for (row, code) in codes.iter().enumerate() {
            let weight = weight_of(weights, row);
            match totals.get_mut(*code as usize) {
                Some(total) => *total += weight,
                None => missing |= weight > 0.0,
            }
        }
        let mut frequent: Vec<(f64, &String)> =
            totals.into_iter().zip(levels).filter(|(total, _)| *total > 0.0).collect();
        frequent.sort_unstable_by(|(a, x), (b, y)| b.total_cmp(a).then_with(|| x.cmp(y)));
        let pooled = frequent.len() > MAX_LEVELS;
        let levels = frequent.into_iter().take(MAX_LEVELS).map(|(_, level)| level.clone()).collect();
        Self { levels, pooled, missing }
    }
}

impl ColumnEncoding for TextEncoding {
    fn kind(&self) -> Kind {
        Kind::Text
    }

    fn features(&self) -> usize {
        let count = self.levels.len() + usize::from(self.pooled) + usize::from(self.missing);
        if count > 1 { count } else { 0 }
    }

    fn numbers(&self) -> Vec<usize> {
        Vec::new()
    }

    fn names(&self, column: &str) -> Vec<String> {
        let levels = self.levels.iter().map(|level| format!("{column}={level}"));
        let other = self.pooled.then(|| format!("{column}=(other)"));
        levels.chain(other).chain(self.missing.then(|| format!("{column} (missing)"))).collect()
    }

    fn check(&self) -> Result<()> {
        if self.levels.len() > MAX_LEVELS {
            return Err(Error::model(format!("expected at most {MAX_LEVELS} levels, found {}", self.levels.len())));
        }
        if self.levels.iter().collect::<HashSet<_>>().len() < self.levels.len() {
            return Err(Error::model("a level occurs twice"));
        }
        Ok(())
    }

    fn encode(
        &self,
        column: &Column,
        mut features: Features<'_>,
        _options: NumberOptions,
    ) -> std::result::Result<Unseen, (usize, Error)> {
        let column = match column {
            Column::Numbers(numbers) => &as_text(numbers, |number| number.to_string()),
            Column::Times(times) => &as_text(times, iso),
            text => text,
        };
        let Column::Text { codes, levels: found } = column else { return Ok(Unseen::default()) };
        let other = self.pooled.then_some(self.levels.len());
        let missing = self.missing.then_some(self.levels.len() + usize::from(self.pooled));
        let known: HashMap<&str, usize> = self.levels.iter().map(String::as_str).zip(0..).collect();
        let places: Vec<Option<usize>> =
            found.iter().map(|level| known.get(level.as_str()).copied().or(other)).collect();
        let mut unseen = Unseen::default();
        for (row, code) in codes.iter().enumerate() {
            let (place, unplaced) = match places.get(*code as usize) {
                Some(place) => (*place, &mut unseen.categories),
                None => (missing, &mut unseen.missing),
            };
            match place {
                Some(place) => features.set(row, place, 1.0),
                None => *unplaced += 1,
            }
        }
        Ok(unseen)
    }
}

/// Numbers or times where training had text (a file in which every postcode is a number): each as it is usually written.
fn as_text(cells: &[f64], write: impl Fn(f64) -> String) -> Column {
    let cells: Vec<Option<String>> = cells.iter().map(|cell| (!cell.is_nan()).then(|| write(*cell))).collect();
    Column::text(cells.iter().map(Option::as_deref))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_come_by_frequency_then_name() {
        let levels: Vec<String> = ["b", "never", "a", "c"].map(String::from).to_vec();
        let encoding = TextEncoding::learn(&[3, 0, 2, 3], &levels, None);
        let levels = ["c", "a", "b"].map(String::from).to_vec();
        assert_eq!(encoding, TextEncoding { levels, pooled: false, missing: false });
    }

    #[test]
    fn levels_and_missing_cells_count_by_weight() {
        let levels: Vec<String> = ["a", "b", "c"].map(String::from).to_vec();
        let encoding = TextEncoding::learn(&[0, 0, 1, 2, u32::MAX], &levels, Some(&[1.0, 1.0, 3.0, 0.0, 0.0]));
        let levels = ["b", "a"].map(String::from).to_vec();
        assert_eq!(encoding, TextEncoding { levels, pooled: false, missing: false });
    }

    #[test]
    fn rare_levels_are_pooled() {
        let levels: Vec<String> = (0..70).map(|level| format!("{level:02}")).collect();
        let codes: Vec<u32> = (0..70).chain([69, 69]).collect();
        let TextEncoding { levels, pooled, .. } = TextEncoding::learn(&codes, &levels, None);
        assert!(pooled);
        assert_eq!(levels.len(), MAX_LEVELS);
        assert_eq!((levels[0].as_str(), levels[63].as_str()), ("69", "62"));
    }
}
