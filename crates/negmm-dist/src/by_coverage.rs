//! Scores of central intervals, one for each nominal coverage.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Nominal coverages of the central intervals that are scored.
pub const COVERAGES: [f64; 3] = [0.5, 0.9, 0.95];

/// One number for the central interval of each of [`COVERAGES`]. In JSON it is an object whose keys are the coverages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ByCoverage {
    values: [f64; COVERAGES.len()],
}

impl ByCoverage {
    pub(crate) fn new(values: [f64; COVERAGES.len()]) -> Self {
        Self { values }
    }

    /// The number of the interval with this coverage, if it is one of [`COVERAGES`].
    pub fn get(&self, coverage: f64) -> Option<f64> {
        COVERAGES.iter().position(|known| *known == coverage).map(|at| self.values[at])
    }

    /// The numbers, in the order of [`COVERAGES`].
    pub fn values(&self) -> [f64; COVERAGES.len()] {
        self.values
    }
}

impl Serialize for ByCoverage {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(COVERAGES.iter().map(f64::to_string).zip(self.values))
    }
}

impl<'de> Deserialize<'de> for ByCoverage {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let named = BTreeMap::<String, f64>::deserialize(deserializer)?;
        let expected = COVERAGES.map(|coverage| coverage.to_string());
        if !named.keys().eq(&expected) {
            let message = format!("expected the coverages {}", expected.join(", "));
            return Err(serde::de::Error::custom(message));
        }
        Ok(Self { values: expected.map(|name| named[&name]) })
    }
}
