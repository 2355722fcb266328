//! The file of held-out predictions that `negmm fit --held-out` writes.

use negmm::joint::FittedJoint;
use negmm::model::HeldOut;
use negmm::{Error, Interval, Table};

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

/// The same of several targets: for each its value, its out-of-sample mean and sd, and its PIT, then the joint log density.
pub fn joint_csv(fitted: &FittedJoint, table: &Table) -> Result<Vec<u8>, Error> {
    let FittedJoint { model, held_out, predictions, .. } = fitted;
    let y = model.observed(&table.select_rows(held_out))?;
    let d = model.targets().len();
    let failed = |error: csv::Error| Error::data(format!("cannot be written as CSV: {error}"));
    let mut writer = csv::Writer::from_writer(Vec::new());
    let of_target =
        |name: &str| [name.to_string(), format!("{name}_mean"), format!("{name}_sd"), format!("{name}_pit")];
    let names = model.names().into_iter().flat_map(of_target);
    let names = std::iter::once("row".to_string()).chain(names).chain(["log_density".to_string()]);
    writer.write_record(names).map_err(failed)?;
    let mut columns = Vec::with_capacity(4 * d);
    for target in 0..d {
        let own: Vec<f64> = y.iter().skip(target).step_by(d).copied().collect();
        let marginal = predictions.marginal(target);
        let known: Vec<f64> = own.iter().map(|y| if y.is_nan() { 0.0 } else { *y }).collect();
        let pit = marginal.pit(&known)?.into_iter().zip(&own).map(|(pit, y)| if y.is_nan() { *y } else { pit });
        let pit = pit.collect();
        columns.extend([own, marginal.mean(), marginal.sd(), pit]);
    }
    let text = |number: f64| if number.is_nan() { String::new() } else { format!("{number:?}") };
    for (at, row) in held_out.iter().enumerate() {
        let y = &y[at * d..][..d];
        let density = if y.iter().any(|y| y.is_nan()) { f64::NAN } else { predictions.mixtures().row(at).log_pdf(y) };
        let line = columns.iter().map(|column| text(column[at])).chain([text(density)]);
        writer.write_record(std::iter::once(table.row_number(*row).to_string()).chain(line)).map_err(failed)?;
    }
    writer.into_inner().map_err(|error| failed(error.into_error().into()))
}
