//! The file of held-out predictions that `negmm fit --held-out` writes.

use std::fmt::Write as _;

use negmm::model::HeldOut;
use negmm::{Error, Interval, Table};

/// CSV with a line for each held-out row: its number in the data (from 1), its target, and its out-of-sample prediction. For censored
/// targets also the upper bound, and the PIT only of observed ones.
pub fn csv(held_out: &HeldOut, table: &Table) -> Result<String, Error> {
    let HeldOut { rows, y, censored: known, predictions, .. } = held_out;
    let (mean, sd, pit) = (predictions.mean(), predictions.sd(), predictions.pit(y)?);
    let Interval { lower, upper } = predictions.interval(0.95)?;
    let upper_end = if known.is_some() { ",target_upper" } else { "" };
    let mut text = format!("row,target{upper_end},mean,sd,lower_0.95,upper_0.95,pit\n");
    for (at, row) in rows.iter().enumerate() {
        let (row, target, mean, sd) = (table.row_number(*row), y[at], mean[at], sd[at]);
        let upper_end = known.as_ref().map_or(String::new(), |known| format!(",{}", known.upper[at]));
        let is_known = known.as_ref().is_none_or(|known| known.is_value(at));
        let pit = if is_known { pit[at].to_string() } else { String::new() };
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{row},{target}{upper_end},{mean},{sd},{},{},{pit}", lower[at], upper[at]);
    }
    Ok(text)
}
