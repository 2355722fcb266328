//! Warnings about new data: categories and missing cells that training had not seen, cells that do not fit,
//! rows outside the ranges of training.

use std::collections::BTreeMap;

use negmm_dist::Novelty;
use negmm_dist::quote::quoted;

/// Counts of odd cells for each column; counts of chunks add up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Warnings {
    new_categories: BTreeMap<String, u64>,
    new_missing: BTreeMap<String, u64>,
    odd: BTreeMap<String, u64>,
    rows: u64,
    outside: BTreeMap<String, u64>,
}

impl Warnings {
    /// Whether nothing was odd. That rows lie outside the ranges of training is not: in many tables some do.
    pub fn is_empty(&self) -> bool {
        self.new_categories.is_empty() && self.new_missing.is_empty() && self.odd.is_empty()
    }

    /// For each column how many cells hold a category that training had not seen.
    pub fn new_categories(&self) -> &BTreeMap<String, u64> {
        &self.new_categories
    }

    /// For each column how many cells are missing though none was in training.
    pub fn new_missing(&self) -> &BTreeMap<String, u64> {
        &self.new_missing
    }

    /// For each column how many cells are neither a number as in training nor a usual word for missing, and count as missing.
    pub fn odd(&self) -> &BTreeMap<String, u64> {
        &self.odd
    }

    /// Rows of which it is known whether they lie outside the ranges of training.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// For each input how many rows lie outside the ranges of training, farthest by it.
    pub fn outside(&self) -> &BTreeMap<String, u64> {
        &self.outside
    }

    /// Counts the rows that lie outside.
    pub fn count_outside(&mut self, novelty: &Novelty) {
        self.rows += novelty.len() as u64;
        novelty.responsible().for_each(|(_, input)| add(&mut self.outside, input, 1));
    }

    /// Adds the counts of `other`.
    pub fn merge(&mut self, other: &Self) {
        for (column, count) in &other.new_categories {
            self.count_new_categories(column, *count);
        }
        for (column, count) in &other.new_missing {
            self.count_new_missing(column, *count);
        }
        for (column, count) in &other.odd {
            self.count_odd(column, *count);
        }
        self.rows += other.rows;
        for (input, count) in &other.outside {
            add(&mut self.outside, input, *count);
        }
    }

    /// One short sentence for each column and oddity.
    pub fn sentences(&self) -> Vec<String> {
        let cells = |count: &u64, one, many| format!("{count} {}", if *count == 1 { one } else { many });
        let categories = self.new_categories.iter().map(|(column, count)| {
            let cells = cells(count, "cell holds", "cells hold");
            format!("column {}: {cells} a category never seen in training", quoted(column))
        });
        let missing = self.new_missing.iter().map(|(column, count)| {
            let cells = cells(count, "cell is", "cells are");
            format!("column {}: {cells} missing, none was in training", quoted(column))
        });
        let odd = self.odd.iter().map(|(column, count)| {
            let cells = cells(count, "cell is no number and counts", "cells are no numbers and count");
            format!("column {}: {cells} as missing", quoted(column))
        });
        categories.chain(missing).chain(odd).collect()
    }

    pub(crate) fn count_new_categories(&mut self, column: &str, count: u64) {
        add(&mut self.new_categories, column, count);
    }

    pub(crate) fn count_new_missing(&mut self, column: &str, count: u64) {
        add(&mut self.new_missing, column, count);
    }

    pub(crate) fn count_odd(&mut self, column: &str, count: u64) {
        add(&mut self.odd, column, count);
    }
}

fn add(counts: &mut BTreeMap<String, u64>, column: &str, count: u64) {
    if count > 0 {
        *counts.entry(column.to_string()).or_default() += count;
    }
}
