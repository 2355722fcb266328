//! Stress tests: random methods with random valid options, fitted to difficult data.

use std::panic::{AssertUnwindSafe, catch_unwind};

use negmm::data::{Column, ColumnRoles, Sequence, TargetSpec};
use negmm::options::ValueKind;
use negmm::train::CpuEngine;
use negmm::{FitOptions, Interval, Method, Model, Rng, Table, fit_with};

/// Kinds of numeric columns, for inputs and targets.
const NUMBERS: [&str; 12] = [
    "plain",
    "constant",
    "huge",
    "tiny",
    "two values",
    "heavy tails",
    "counts",
    "zeros",
    "capped",
    "one large",
    "ramp",
    "missing",
];
/// Values tried for options that do not determine the cost of a fit.
const VALUES: [&str; 16] =
    ["0", "1", "2", "3", "7", "0.5", "0.1", "0.99", "1e-6", "1e-3", "10", "1e3", "1e6", "none", "auto", "1,2"];

/// A random fit, determined by its number.
pub struct StressCase {
    /// Its number, the seed of all random choices.
    pub number: u64,
    /// The method with its settings.
    pub method: Method,
    /// The options that were set.
    pub settings: Vec<(&'static str, String)>,
    /// Kinds of the columns, the target last.
    pub columns: Vec<&'static str>,
    table: Table,
    inputs: ColumnRoles,
}

/// Outcome of a fit.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// A model with finite predictions.
    Trained,
    /// An error, with its message.
    Refused(String),
    /// A panic or an invalid prediction.
    Broken(String),
}

impl StressCase {
    /// The case of that number.
    pub fn new(number: u64) -> Self {
        let mut rng = Rng::new(number, 0);
        let methods = Method::all();
        let mut method = methods[rng.below(methods.len())].clone();
        let settings = settings(&mut method, &mut rng);
        let rows = [2, 3, 5, 12, 40, 80][rng.below(6)];
        let width = 1 + rng.below(4);
        let mut columns: Vec<&'static str> = (0..=width).map(|_| NUMBERS[rng.below(NUMBERS.len())]).collect();
        // A target must not be missing.
        if columns[width] == "missing" {
            columns[width] = "plain";
        }
        let with_text = rng.uniform() < 0.3;
        let mut named: Vec<(String, Column)> =
            columns.iter().enumerate().map(|(at, kind)| (format!("x{at}"), numbers(kind, rows, &mut rng))).collect();
        if with_text {
            let text = text(rows, &mut rng);
            if rng.uniform() < 0.5 {
                named.drain(..width);
            }
            named.push(("text".into(), text));
        }
        let target = format!("x{width}");
        let mut inputs = ColumnRoles::default();
        match rng.below(8) {
            0 => {
                named.push(("weight".into(), Column::Numbers((0..rows).map(|_| rng.below(3) as f64).collect())));
                inputs.weight = Some("weight".into());
            }
            1 => {
                let over = (0..rows).map(|_| f64::from(rng.uniform() < 0.4)).collect();
                named.push(("over".into(), Column::Numbers(over)));
                inputs.target_spec = TargetSpec::default().censored("over");
            }
            2 => inputs.target_spec = TargetSpec::default().lower(-1e200).upper(1e200),
            3 => inputs.target_spec = TargetSpec::default().continuous(true),
            4 => {
                inputs.features = Some(vec![target.clone()]);
                inputs.sequence = Some(Sequence { column: target.clone(), window: 1 + rng.below(4) });
            }
            _ => {}
        }
        let table = Table::new(named).unwrap_or_else(|error| panic!("{error}"));
        Self { number, method, settings, columns, table, inputs }
    }

    /// Fits and predicts; panics become `Broken`.
    pub fn run(&self) -> Outcome {
        let worked = catch_unwind(AssertUnwindSafe(|| self.train()));
        worked.unwrap_or_else(|panic| {
            let message = panic.downcast_ref::<String>().cloned();
            Outcome::Broken(format!(
                "panic: {}",
                message.or(panic.downcast_ref::<&str>().map(|text| text.to_string())).unwrap_or_default()
            ))
        })
    }

    fn train(&self) -> Outcome {
        let target = format!("x{}", self.columns.len() - 1);
        let engine = CpuEngine::new(1);
        let options = FitOptions::default().seed(self.number).inputs(self.inputs.clone()).engine(&engine);
        let fitted = match fit_with(&self.table, &target, &self.method, &options) {
            Ok(fitted) => fitted,
            Err(error) => return Outcome::Refused(error.to_string()),
        };
        match check_predictions(&fitted.model, &self.table) {
            Ok(()) => Outcome::Trained,
            Err(flaw) => Outcome::Broken(flaw),
        }
    }
}

/// Checks that all predictions are finite, of the model after a round trip through its file format.
fn check_predictions(model: &Model, table: &Table) -> Result<(), String> {
    let message_of = |error: negmm::Error| error.to_string();
    let again =
        Model::from_bytes(&model.to_bytes().map_err(message_of)?).map_err(|error| format!("read again: {error}"))?;
    let predictions = again.predict(table).map_err(message_of)?;
    let Interval { lower, upper } = predictions.interval(0.9).map_err(message_of)?;
    let lists =
        [("mean", predictions.mean()), ("sd", predictions.sd()), ("lower", lower.clone()), ("upper", upper.clone())];
    for (name, list) in &lists {
        if let Some(row) = list.iter().position(|number| !number.is_finite()) {
            return Err(format!("{name} of row {row} is {}", list[row]));
        }
    }
    match lower.iter().zip(&upper).position(|(lower, upper)| lower > upper) {
        Some(row) => Err(format!("the interval of row {row} has its lower end above the upper")),
        None => Ok(()),
    }
}

/// Sets random options to random values that they accept, and options that cost time to small values.
fn settings(method: &mut Method, rng: &mut Rng) -> Vec<(&'static str, String)> {
    let mut set = Vec::new();
    for option in method.options() {
        let cheap: &[&str] = match option.name {
            "epochs" => &["1", "2", "3"],
            "steps" => &["5", "20"],
            "hidden" => &["none", "1", "3", "17,5", "8,8,8"],
            "lstm-hidden" => &["1", "5"],
            "ensemble-size" => &["1", "2", "3"],
            "n-estimators" => &["0", "1", "10"],
            "samples" => &["1", "2", "20"],
            "components" => &["1", "2", "9"],
            "adversarial" | "snapshots" | "validation-every" => continue,
            _ if rng.uniform() < 0.7 => continue,
            _ => &VALUES,
        };
        let value = match option.kind {
            ValueKind::Choice(words) => words[rng.below(words.len())].to_string(),
            ValueKind::Bool => ["true", "false"][rng.below(2)].to_string(),
            _ => cheap[rng.below(cheap.len())].to_string(),
        };
        let mut tried = method.clone();
        if tried.set(option.name, &value).is_ok() && tried.check().is_ok() {
            *method = tried;
            set.push((option.name, value));
        }
    }
    set
}

fn numbers(kind: &str, rows: usize, rng: &mut Rng) -> Column {
    let outlier = rng.below(rows);
    let number = |row: usize| {
        let u = 1.0 - rng.uniform();
        match kind {
            "constant" => -7.25,
            "huge" => 1e99 * (u - 0.5),
            "tiny" => 1e-99 * (u - 0.5),
            "two values" => (u + 0.5).floor(),
            "heavy tails" => (u - 0.5) / (u * u * u * u),
            "counts" => (3.0 / u).floor().min(1e6),
            "zeros" => {
                if u < 0.6 {
                    0.0
                } else {
                    u
                }
            }
            "capped" => u.min(0.4),
            "one large" => {
                if row == outlier {
                    1e30
                } else {
                    u
                }
            }
            "ramp" => row as f64,
            "missing" => {
                if u < 0.7 {
                    f64::NAN
                } else {
                    u
                }
            }
            _ => 20.0 + 5.0 * u,
        }
    };
    Column::Numbers((0..rows).map(number).collect())
}

/// Categories, some missing.
fn text(rows: usize, rng: &mut Rng) -> Column {
    let categories = [1, 2, rows][rng.below(3)];
    let cells: Vec<Option<String>> =
        (0..rows).map(|_| (rng.uniform() > 0.2).then(|| format!("level {}", rng.below(categories)))).collect();
    Column::text(cells.iter().map(Option::as_deref))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_fits_do_not_break() {
        let outcomes: Vec<(u64, Outcome)> = (0..150).map(|number| (number, StressCase::new(number).run())).collect();
        for (number, outcome) in &outcomes {
            assert!(!matches!(outcome, Outcome::Broken(_)), "case {number}: {outcome:?}");
        }
        let trained = outcomes.iter().filter(|(_, outcome)| *outcome == Outcome::Trained).count();
        assert!(trained > 75, "{trained}");
    }
}
