//! Responsible for the file of held-out predictions that `negmm fit --held-out` writes.

use std::fmt::Write as _;

use negmm::method::HeldOut;
use negmm::{Error, Model, Table};

/// CSV with a line for each held-out row: its number in the data (from 1), its target, and what networks say of it that have
/// not learnt from it.
pub fn csv(held_out: &HeldOut, model: &Model, table: &Table) -> Result<String, Error> {
    let HeldOut { rows, predictions } = held_out;
    let targets = model.encoder().targets(table)?;
    let predicted = model.encoder().predicted_rows(table.rows());
    let y: Vec<f64> = rows.iter().map(|row| targets[*row as usize]).collect();
    let (mean, sd, pit) = (predictions.mean(), predictions.sd(), predictions.pit(&y)?);
    let (lower, upper) = predictions.interval(0.95)?;
    let mut text = String::from("row,target,mean,sd,lower_0.95,upper_0.95,pit\n");
    for (at, row) in rows.iter().enumerate() {
        let row = predicted.number(*row as usize);
        let (target, mean, sd) = (y[at], mean[at], sd[at]);
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{row},{target},{mean},{sd},{},{},{}", lower[at], upper[at], pit[at]);
    }
    Ok(text)
}
