//! Weighted means of scores over rows, with standard errors.

use crate::{Error, Result};

/// Sums of named scores over rows, from which their means follow.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoreMeans {
    names: Vec<String>,
    rows: u64,
    weight: f64,
    squared_weight: f64,
    /// Mean and sum of squared deviations of each score.
    means: Vec<f64>,
    squares: Vec<f64>,
    infinite: Vec<u64>,
    /// The largest infinite score of each.
    extremes: Vec<f64>,
}

impl ScoreMeans {
    /// Of no row.
    pub fn new(names: Vec<String>) -> Self {
        let zeros = vec![0.0; names.len()];
        let (infinite, extremes) = (vec![0; names.len()], vec![f64::NEG_INFINITY; names.len()]);
        Self {
            names,
            rows: 0,
            weight: 0.0,
            squared_weight: 0.0,
            means: zeros.clone(),
            squares: zeros,
            infinite,
            extremes,
        }
    }

    /// The names of the scores.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Rows added.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Adds the scores of a row, in the order of the names.
    pub fn add(&mut self, scores: &[f64], weight: f64) {
        self.rows += 1;
        self.squared_weight += weight * weight;
        self.weight += weight;
        if weight == 0.0 {
            return;
        }
        for (at, score) in scores.iter().enumerate() {
            if !score.is_finite() {
                self.infinite[at] += 1;
                self.extremes[at] = self.extremes[at].max(if score.is_nan() { f64::INFINITY } else { *score });
                continue;
            }
            // West's update of weighted means.
            let difference = score - self.means[at];
            self.means[at] += difference * weight / self.weight;
            self.squares[at] += weight * difference * (score - self.means[at]);
        }
    }

    /// Name, mean and standard error of each score; an infinite mean has none, and is the worst of infinite scores.
    ///
    /// # Errors
    /// When there is no row, or all weights are 0.
    pub fn means(&self) -> Result<Vec<(String, f64, f64)>> {
        if self.rows == 0 {
            return Err(Error::data("expected at least 1 row with a known target, found none"));
        }
        if self.weight <= 0.0 {
            return Err(Error::data("all weights are 0"));
        }
        let effective = self.weight * self.weight / self.squared_weight;
        let of = |(at, name): (usize, &String)| {
            if self.infinite[at] > 0 {
                return (name.clone(), self.extremes[at], f64::NAN);
            }
            let variance = self.squares[at] / self.weight;
            let se = if effective > 1.0 { (variance / (effective - 1.0)).sqrt() } else { f64::NAN };
            (name.clone(), self.means[at], se)
        };
        Ok(self.names.iter().enumerate().map(of).collect())
    }

    /// How many rows have an infinite score, by name.
    pub fn infinite(&self) -> Vec<(String, u64)> {
        self.names.iter().cloned().zip(self.infinite.iter().copied()).filter(|(_, rows)| *rows > 0).collect()
    }
}
