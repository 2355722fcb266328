//! The target column: its numbers, its scale and whether it is discrete.

pub(crate) mod atoms;
pub(crate) mod censoring;
pub(crate) mod discrete;
pub(crate) mod moments;
pub(crate) mod specification;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::{Atoms, ColumnType, Table, TargetSpec};

use crate::target::moments::mean_and_sd;
use negmm_dist::CensoredTargets;
use negmm_dist::quote::quoted;
use negmm_dist::weights::weight_of;
use negmm_dist::{Error, Hint, Mixtures, Predictions, Result, Support};
use negmm_nn::net::Bounds;

/// Encoded numbers are clipped here, in standard deviations: far beyond any data, and safe in 32-bit arithmetic.
pub const ENCODED_LIMIT: f64 = 1e6;

/// A constant target is given this scale, relative to its size (absolute below 1), so that scaling stays defined.
const CONSTANT_TARGET_SCALE: f64 = 1e-6;
/// The outer ends of the outermost cells of a grid, standardised: finite, and beyond every prediction.
const FAR: f64 = 1e4;
/// How far from a whole number of steps a value may be.
const WHOLE: f64 = 1e-6;
/// Larger targets are refused: squares of errors, in any sd, would overflow.
const LARGEST_TARGET: f64 = 1e100;
/// No mean and no sd of such targets is larger, but for rounding.
const LARGEST_SCALE: f64 = 1e101;

/// The target column and its scale: networks see (y - mean) / scale.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Target {
    /// The name of the column.
    pub name: String,
    /// Mean in training.
    pub mean: f64,
    /// Standard deviation in training (of the population); a small positive number for a constant target.
    pub scale: f64,
    /// Whether the target was the same in all rows of training.
    pub constant: bool,
    /// The step of the grid that the targets of training lie on, where they are discrete: most
    /// values are repeated. A density is not informative then, see [`negmm_dist::Predictions::mass_nll`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grid: Option<f64>,
    /// Whether it is learnt as a density, and predictions are rounded to the grid: where too few rows repeat a value to learn the
    /// probabilities of cells.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub rounded: bool,
    /// The values that it can have; all numbers in models of before 0.2.
    #[serde(default, skip_serializing_if = "Support::is_whole_line")]
    pub support: Support,
    /// Atoms: values of many rows of an otherwise continuous target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub atoms: Option<Atoms>,
    /// The empirical distribution of the training targets, standardised: weight, mean and sd of each component, those of
    /// atoms first. Older models have none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marginal: Vec<[f64; 3]>,
    /// The column with the censoring indicator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub censored: Option<String>,
    /// The column of upper ends, where the target's own has lower ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upper_end: Option<String>,
    /// The type of the column of the censoring indicator, where it is not plain numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub censored_read_as: Option<ColumnType>,
    /// The type of the column of upper ends, where it is not plain numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upper_end_read_as: Option<ColumnType>,
    /// The type of its column, where it is not plain numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_as: Option<ColumnType>,
}

impl Target {
    /// Learns from the targets of the training table, see [`values`].
    pub(crate) fn learn(
        table: &Table,
        name: &str,
        numbers: &[f64],
        target_spec: &TargetSpec,
        weights: Option<&[f64]>,
    ) -> Result<Self> {
        let Some((mean, sd)) = mean_and_sd(numbers, weights) else {
            return Err(table.locate(Error::data("there is no row to learn from")));
        };
        let constant = sd == 0.0;
        let scale = if constant { CONSTANT_TARGET_SCALE * mean.abs().max(1.0) } else { sd };
        let read_as = table.numbers_type(name);
        let truth = read_as.as_ref().is_some_and(ColumnType::is_truth);
        let shape = Shape::learn(numbers, target_spec, weights, truth).map_err(|error| table.locate(error))?;
        if let (true, Some(step)) = (target_spec.discrete, shape.support.step) {
            let origin = shape.support.origin;
            if let Some(row) = numbers.iter().position(|y| !discrete::on_grid(*y, origin, step)) {
                let from = if origin == 0.0 { String::new() } else { format!(" from {}", short(origin)) };
                let expected = format!("the target must be a whole number of steps of {}{from}", short(step));
                return Err(table.at_cell(Error::data(format!("{expected}, found {}", numbers[row])), row, name));
            }
        }
        let (lower, upper) = shape.support.bounds();
        if let Some(row) = numbers.iter().position(|y| !(lower..=upper).contains(y)) {
            let bound = if numbers[row] < lower { ("least", lower) } else { ("most", upper) };
            let message = format!("the target must be at {} {}, found {}", bound.0, bound.1, numbers[row]);
            return Err(table.at_cell(Error::data(message), row, name));
        }
        Ok(Self {
            name: name.to_string(),
            mean,
            scale,
            constant,
            grid: shape.support.step,
            rounded: shape.rounded,
            support: shape.support,
            atoms: shape.atoms,
            marginal: Vec::new(),
            censored: target_spec.censored.clone(),
            upper_end: target_spec.upper_end.clone(),
            censored_read_as: target_spec.censored.as_ref().and_then(|name| table.numbers_type(name)),
            upper_end_read_as: target_spec.upper_end.as_ref().and_then(|name| table.numbers_type(name)),
            read_as,
        })
    }

    /// Its column and those that describe its censoring, with their types.
    pub(crate) fn columns(&self) -> impl Iterator<Item = (&String, ColumnType)> {
        let own = [(&self.name, &self.read_as)];
        let censored = self.censored.as_ref().map(|name| (name, &self.censored_read_as));
        let upper_end = self.upper_end.as_ref().map(|name| (name, &self.upper_end_read_as));
        let columns = own.into_iter().chain(censored).chain(upper_end);
        columns.map(|(name, read_as)| (name, read_as.clone().unwrap_or_else(ColumnType::number)))
    }

    /// The targets of all rows, standardised.
    pub(crate) fn encode(&self, y: &[f64]) -> Vec<f32> {
        y.iter().map(|y| self.scaled(*y) as f32).collect()
    }

    /// The marginal distribution of the training targets, in the original unit, as one mixture. Of a model without
    /// [`Target::marginal`] it is a normal distribution, and the atoms.
    pub fn marginal_distribution(&self) -> Mixtures {
        if !self.marginal.is_empty() {
            let list = |at: usize| self.marginal.iter().map(|component| component[at]).collect::<Vec<f64>>();
            let standardised = Mixtures::from_parts_unchecked(self.marginal.len(), list(0), list(1), list(2));
            return standardised.rescale(self.mean, self.scale);
        }
        let atoms = self.atoms.as_ref();
        let rest = 1.0 - atoms.map_or(0.0, |atoms| atoms.probabilities.iter().sum());
        let (mean, sd) = atoms.map_or((self.mean, self.scale), |atoms| (atoms.mean, atoms.sd));
        let (values, probabilities) = atoms.map_or((&[][..], &[][..]), |atoms| (&atoms.values, &atoms.probabilities));
        let with = |list: &[f64], last: f64| list.iter().copied().chain([last]).collect::<Vec<f64>>();
        let sds = with(&vec![0.0; values.len()], sd);
        Mixtures::from_parts_unchecked(sds.len(), with(probabilities, rest), with(values, mean), sds)
    }

    /// Whether it may be censored.
    pub fn is_censored(&self) -> bool {
        self.censored.is_some() || self.upper_end.is_some()
    }

    /// Notes about a grid, bounds, atoms and censoring: sentences without a full stop.
    pub fn notes(&self) -> Vec<String> {
        let (lower, upper) = (self.support.lower, self.support.upper);
        let bounds = match (lower, upper) {
            (Some(lower), Some(upper)) => format!("from {} to {}", short(lower), short(upper)),
            (Some(lower), None) => format!("at least {}", short(lower)),
            (None, Some(upper)) => format!("at most {}", short(upper)),
            (None, None) => String::new(),
        };
        let mut words = Vec::new();
        if let Some(step) = self.grid {
            let bounds = if bounds.is_empty() { bounds } else { format!(", {bounds}") };
            words.push(format!("the target is discrete (steps of {}{bounds}): compare mass NLL, not NLL", short(step)));
        } else if !bounds.is_empty() {
            words.push(format!("the target is {bounds}, and so is every prediction"));
        }
        for (value, probability) in self.atoms.iter().flat_map(|atoms| atoms.values.iter().zip(&atoms.probabilities)) {
            words.push(format!(
                "{:.1} % of the targets are {}: a point probability, unless the target is declared continuous",
                100.0 * probability,
                short(*value)
            ));
        }
        if let Some(name) = &self.censored {
            let name = quoted(name);
            words.push(format!("targets with 1 in {name} are only known to be larger, those with -1 to be smaller"));
        }
        if let Some(name) = &self.upper_end {
            words.push(format!("targets are only known to lie below {} where it says so", quoted(name)));
        }
        words
    }

    /// The constant baseline of these predictions: on the grid of the target, where it has one, and not truncated at its bounds.
    pub fn baseline(&self, predictions: Predictions) -> Predictions {
        match self.support.step {
            Some(_) => predictions.with_sound_support(self.support),
            None => predictions,
        }
    }

    /// Its atoms, standardised.
    pub fn scaled_atoms(&self) -> Vec<f32> {
        self.atoms.iter().flat_map(|atoms| &atoms.values).map(|value| self.scaled(*value) as f32).collect()
    }

    /// Its bounds, standardised. A grid has none here: its outermost cells have no outer end.
    pub fn scaled_bounds(&self) -> Bounds {
        if self.support.step.is_some() {
            return Bounds::NONE;
        }
        let scaled = |bound: f64| self.scaled(bound) as f32;
        Bounds { lower: self.support.lower.map(scaled), upper: self.support.upper.map(scaled) }
    }

    /// The interval of each row's target, standardised, where targets are not observed numbers: the cells of a grid, whose
    /// outermost have no outer end, and censoring intervals.
    pub fn intervals(&self, y: &[f64], known: Option<&CensoredTargets>) -> Option<(Vec<f32>, Vec<f32>)> {
        let scaled = |y: f64| ((y - self.mean) / self.scale) as f32;
        if self.rounded {
            return None;
        }
        if let Some(step) = self.support.step {
            let (lowest, highest) = self.support.bounds();
            let end = |y: f64, bound: f64, side: f64| {
                if (y - bound).abs() < 0.5 * step { (side * FAR) as f32 } else { scaled(y + 0.5 * side * step) }
            };
            let lower = y.iter().map(|y| end(*y, lowest, -1.0)).collect();
            return Some((lower, y.iter().map(|y| end(*y, highest, 1.0)).collect()));
        }
        // Nothing lies beyond a bound: the probability of what is censored ends there.
        let (lowest, highest) = self.support.bounds();
        let ends = |ends: &[f64]| ends.iter().map(|end| scaled(end.clamp(lowest, highest))).collect();
        known.map(|known| (ends(&known.lower), ends(&known.upper)))
    }

    /// From the original unit to the standardised one, clipped at ±[`ENCODED_LIMIT`].
    pub fn scaled(&self, y: f64) -> f64 {
        ((y - self.mean) / self.scale).clamp(-ENCODED_LIMIT, ENCODED_LIMIT)
    }

    /// From the standardised unit to the original one.
    pub fn unscaled(&self, y: f64) -> f64 {
        y * self.scale + self.mean
    }

    /// Validates a target from a file.
    ///
    /// # Errors
    /// When a number is out of range.
    pub fn check(&self) -> Result<()> {
        let wrong = |what: &str| Err(Error::model(format!("target {}: {what}", quoted(&self.name))));
        if !(self.mean.abs() <= LARGEST_SCALE && self.scale <= LARGEST_SCALE && self.scale > 0.0) {
            return wrong("mean and scale must be finite and scale positive");
        }
        if self.grid.is_some_and(|step| !(step.is_finite() && step > 0.0)) {
            return wrong("the step of its grid must be finite and positive");
        }
        if self.support.check().is_err() || self.atoms.as_ref().is_some_and(|atoms| !atoms.is_sound()) {
            return wrong("its support or its atoms are out of range");
        }
        let weights: f64 = self.marginal.iter().map(|[weight, ..]| weight).sum();
        let in_range = |[weight, mean, sd]: &[f64; 3]| {
            (0.0..=1.0).contains(weight) && mean.abs() <= ENCODED_LIMIT && (0.0..=ENCODED_LIMIT).contains(sd)
        };
        let sound = self.marginal.iter().all(in_range) && (self.marginal.is_empty() || (weights - 1.0).abs() < 1e-6);
        if !sound {
            return wrong("its marginal distribution is out of range");
        }
        let column_types = [&self.read_as, &self.censored_read_as, &self.upper_end_read_as];
        column_types.into_iter().flatten().try_for_each(ColumnType::check)
    }
}

/// A number as people write it.
fn short(number: f64) -> String {
    if number == 0.0 || (1e-6..1e9).contains(&number.abs()) { number.to_string() } else { format!("{number:e}") }
}

/// The detected support of a target: a grid, atoms, bounds.
struct Shape {
    support: Support,
    atoms: Option<Atoms>,
    /// See [`Target::rounded`].
    rounded: bool,
}

impl Shape {
    /// Detects the support, within the bounds of the specification. A grid without negative values has the lower bound 0, and
    /// one of two values that both repeat has no third. An atom at an end of the range is a bound. Truth values are 0 and 1
    /// alone. Nothing is detected for censored targets, whose cells are not the targets.
    fn learn(numbers: &[f64], target_spec: &TargetSpec, weights: Option<&[f64]>, truth: bool) -> Result<Self> {
        let given = Support { lower: target_spec.lower, upper: target_spec.upper, ..Support::default() };
        if target_spec.continuous || target_spec.is_censored() {
            return Ok(Self { support: given, atoms: None, rounded: false });
        }
        if truth && given.is_whole_line() && target_spec.step.is_none() {
            let support = Support { lower: Some(0.0), upper: Some(1.0), step: Some(1.0), ..given };
            return Ok(Self { support, atoms: None, rounded: false });
        }
        let counting = numbers.iter().enumerate().filter(|(row, _)| weight_of(weights, *row) > 0.0);
        let counting: Vec<f64> = counting.map(|(_, number)| *number).collect();
        let least = counting.iter().copied().fold(f64::INFINITY, f64::min);
        let most = counting.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let step = match (target_spec.discrete, target_spec.step) {
            (false, _) => discrete::step(counting.clone()),
            (true, Some(step)) => Some(step),
            (true, None) => Some(discrete::common_step(counting.clone()).ok_or_else(|| {
                Error::data("the targets share no step of a grid").with_hint(Hint::RelatedOption { option: "step" })
            })?),
        };
        let atoms = Atoms::learn(numbers, weights);
        // A value of many rows beside others that hardly repeat is an atom, unless the grid is stated.
        let repeated = step.is_some_and(|step| discrete::repeats(counting.clone(), step));
        let step = step.filter(|_| target_spec.discrete || repeated || atoms.is_none());
        if let Some(step) = step {
            // Of a stated step that not all are multiples of, most decide.
            let whole = |number: &f64| (number / step - (number / step).round()).abs() < WHOLE;
            let by_zero = whole(&least) || 2 * counting.iter().filter(|number| whole(number)).count() > counting.len();
            let origin = if by_zero { 0.0 } else { least };
            let above = |bound: f64| origin + ((bound - origin) / step - WHOLE).ceil() * step;
            let below = |bound: f64| origin + ((bound - origin) / step + WHOLE).floor() * step;
            let repeats = |end: f64| counting.iter().filter(|number| **number == end).count() > 1;
            let two = least < most && numbers.iter().all(|y| *y == least || *y == most);
            let two = (two && repeats(least) && repeats(most)).then_some((least, most));
            let lower = given.lower.or(two.map(|two| two.0)).or((least >= 0.0).then_some(0.0)).map(above);
            let upper = given.upper.or(two.map(|two| two.1)).map(below);
            let support = Support { lower, upper, step: Some(step), origin };
            return Ok(Self { support, atoms: None, rounded: !repeated && atoms.is_none() });
        }
        let at = |end: f64| atoms.as_ref().is_some_and(|atoms| atoms.values.contains(&end)).then_some(end);
        let support = Support { lower: given.lower.or(at(least)), upper: given.upper.or(at(most)), ..given };
        Ok(Self { support, atoms, rounded: false })
    }
}

/// The target of each row, in the original unit; a missing one is an error.
pub(crate) fn values<'a>(table: &'a Table, name: &str) -> Result<Cow<'a, [f64]>> {
    let absent = || table.locate(Error::data(table.absent(&[name])));
    let numbers = table.numbers(name).ok_or_else(absent)??;
    match numbers.iter().position(|number| number.is_nan()) {
        Some(row) => Err(table.at_cell(Error::data("the target is missing"), row, name)),
        None => Ok(numbers),
    }
}

/// An error where a target is too large to compute with.
pub(crate) fn check_range(table: &Table, name: &str, y: &[f64]) -> Result<()> {
    let Some(row) = y.iter().position(|y| y.abs() > LARGEST_TARGET) else { return Ok(()) };
    let range = format!("between -{LARGEST_TARGET:e} and {LARGEST_TARGET:e}");
    let message = format!("the target must lie {range}, found {:e}", y[row]);
    Err(table.at_cell(Error::data(message), row, name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Column;

    #[test]
    fn rows_of_weight_zero_do_not_hide_a_grid() {
        let y: Vec<f64> = (0..40).map(|row| f64::from(row % 4)).chain([0.123]).collect();
        let table = Table::new(vec![("y", Column::Numbers(y.clone()))]).unwrap();
        let grid =
            |weights: &[f64]| Target::learn(&table, "y", &y, &TargetSpec::default(), Some(weights)).unwrap().grid;
        let mut weights = vec![2.0; 41];
        assert_eq!(grid(&weights), None);
        weights[40] = 0.0;
        assert_eq!(grid(&weights), Some(1.0));
    }

    #[test]
    fn truth_values_have_no_third_value() {
        let y: Vec<f64> = (0..12).map(|row| f64::from(row % 2)).collect();
        let learnt = |y: &[f64], truth| Shape::learn(y, &TargetSpec::default(), None, truth).unwrap().support;
        assert_eq!(learnt(&y, true).bounds(), (0.0, 1.0));
        assert_eq!(learnt(&y, true).step, Some(1.0));
        // As numbers too, and whatever the two are.
        assert_eq!(learnt(&y, false), learnt(&y, true));
        let other: Vec<f64> = y.iter().map(|y| 2.5 - 4.0 * y).collect();
        assert_eq!((learnt(&other, false).bounds(), learnt(&other, false).step), ((-1.5, 2.5), Some(4.0)));
        // A count that was 1 once may be larger, and three values may have a fourth.
        let once: Vec<f64> = (0..12).map(|row| if row == 7 { 1.0 } else { 0.0 }).collect();
        assert_eq!(learnt(&once, false).bounds(), (0.0, f64::INFINITY));
        let three: Vec<f64> = (0..30).map(|row| f64::from(row % 3)).collect();
        assert_eq!(learnt(&three, false).bounds(), (0.0, f64::INFINITY));
        // Bounds that are stated hold.
        // Few rows of many values are learnt as a density, and rounded; many as cells.
        let of_rows = |rows: usize| -> Vec<f64> { (0..rows).map(|row| ((row * row) % 19) as f64).collect() };
        let [few, many] =
            [40, 400].map(|rows| Shape::learn(&of_rows(rows), &TargetSpec::default(), None, false).unwrap());
        assert!(few.rounded && !many.rounded && few.support.step == many.support.step);
        let stated = Shape::learn(&y, &TargetSpec::default().upper(5.0), None, false).unwrap().support;
        assert_eq!(stated.bounds(), (0.0, 5.0));
    }

    #[test]
    fn a_stated_grid_holds() {
        let y = [0.0, 1.5, 3.25, 700.0];
        let table = Table::new(vec![("y", Column::Numbers(y.to_vec()))]).unwrap();
        let learnt = |spec: TargetSpec| Target::learn(&table, "y", &y, &spec, None);
        let discrete = TargetSpec::default().discrete(true);
        assert_eq!(learnt(TargetSpec::default()).unwrap().grid, None);
        assert_eq!(learnt(discrete.clone()).unwrap().grid, Some(0.25));
        assert_eq!(learnt(discrete.clone().step(0.05)).unwrap().grid, Some(0.05));
        let refused = learnt(discrete.clone().step(0.5)).unwrap_err().to_string();
        assert_eq!(refused, "row 3, column \"y\": the target must be a whole number of steps of 0.5, found 3.25");
        let none = Table::new(vec![("y", Column::Numbers(vec![0.0, 1.0, std::f64::consts::PI]))]).unwrap();
        let refused = Target::learn(&none, "y", &[0.0, 1.0, std::f64::consts::PI], &discrete, None).unwrap_err();
        assert!(refused.to_string().starts_with("the targets share no step of a grid"), "{refused}");
        for spec in [discrete.clone().continuous(true), discrete.clone().censored("c"), discrete.step(0.0)] {
            assert!(spec.check().is_err(), "{spec:?}");
        }
        assert!(TargetSpec::default().step(1.0).check().is_err());
    }
}
