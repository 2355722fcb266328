//! Responsible for the file of held-out predictions that `negmm fit --held-out` writes.

use std::fmt::Write as _;

use negmm::model::HeldOut;
use negmm::{Error, Table};

/// CSV with a line for each held-out row: its number in the data (from 1), its target, and what networks say of it that have
/// not learnt from it.
pub fn csv(held_out: &HeldOut, table: &Table) -> Result<String, Error> {
    let HeldOut { rows, y, predictions, .. } = held_out;
    let (mean, sd, pit) = (predictions.mean(), predictions.sd(), predictions.pit(y)?);
    let (lower, upper) = predictions.interval(0.95)?;
    let mut text = String::from("row,target,mean,sd,lower_0.95,upper_0.95,pit\n");
    for (at, row) in rows.iter().enumerate() {
        let (row, target, mean, sd) = (table.row_number(*row), y[at], mean[at], sd[at]);
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{row},{target},{mean},{sd},{},{},{}", lower[at], upper[at], pit[at]);
    }
    Ok(text)
}
