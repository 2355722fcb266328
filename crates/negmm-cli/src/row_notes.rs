//! Sentences about the rows that a model is given: outside the ranges of training, or training rows themselves.

use negmm::data::Warnings;
use negmm::model::SeenRows;

use crate::format::{count, counted};

/// A sentence about the rows outside the ranges of training, where there are some.
pub fn outside(warnings: &Warnings) -> Option<String> {
    let inputs = warnings.outside();
    let (most, _) = inputs.iter().rev().max_by_key(|(_, count)| **count)?;
    let by = if inputs.len() > 1 { "most often by" } else { "by" };
    let (outside, rows) = (count(inputs.values().sum::<u64>() as usize), counted(warnings.rows() as usize, "row"));
    let lie = if outside == "1" { "lies" } else { "lie" };
    Some(format!("{outside} of {rows} {lie} outside the ranges of training ({by} {most})"))
}

/// A sentence about rows (or steps) that the model was fitted to, where there are some; `therefore` is what follows.
pub fn seen(seen: &SeenRows, what: &str, therefore: &str) -> Option<String> {
    let about = if seen.compared < seen.rows { "about " } else { "" };
    let training = seen.training_rows()?;
    let (rows, were) = (counted(seen.rows as usize, what), if training == 1 { "was" } else { "were" });
    Some(format!("{about}{} of {rows} {were} in the training data: {therefore}", count(training as usize)))
}
