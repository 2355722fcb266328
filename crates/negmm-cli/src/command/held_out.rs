//! The file of held-out predictions that `negmm fit --held-out` writes.

use negmm::model::HeldOut;
use negmm::{Error, Interval};

/// CSV with a line for each held-out row: its number in the data (from 1), its target, and its out-of-sample prediction. For censored
/// targets the lower and the upper bound, and the PIT only of observed ones. Numbers have the text that `negmm predict` gives them.
pub fn csv(held_out: &HeldOut, number: impl Fn(usize) -> usize) -> Result<Vec<u8>, Error> {
    let HeldOut { rows, y, censored, predictions, .. } = held_out;
    let (mean, sd, pit) = (predictions.mean(), predictions.sd(), predictions.pit(y)?);
    let Interval { lower, upper } = predictions.interval(0.95)?;
    let failed = |error: csv::Error| Error::data(format!("cannot be written as CSV: {error}"));
    let mut writer = csv::Writer::from_writer(Vec::new());
    let target_upper = censored.is_some().then_some("target_upper");
    let names = ["row", "target"].into_iter().chain(target_upper);
    writer.write_record(names.chain(["mean", "sd", "lower_0.95", "upper_0.95", "pit"])).map_err(failed)?;
    let text = |number: f64| format!("{number:?}");
    for (at, row) in rows.iter().enumerate() {
        let is_observed = censored.as_ref().is_none_or(|censored| censored.is_value(at));
        let target = censored.as_ref().map_or(y[at], |censored| censored.lower[at]);
        let mut line = vec![number(*row).to_string(), text(target)];
        line.extend(censored.as_ref().map(|censored| text(censored.upper[at])));
        line.extend([mean[at], sd[at], lower[at], upper[at]].map(text));
        line.push(if is_observed { text(pit[at]) } else { String::new() });
        writer.write_record(line).map_err(failed)?;
    }
    writer.into_inner().map_err(|error| failed(error.into_error().into()))
}
