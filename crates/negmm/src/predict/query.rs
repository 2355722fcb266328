//! What is asked of every prediction: read once from pairs of names and texts, or built in code.

use super::columns::{Columns, Field, unique};
use super::item::Item;
use crate::conformal::{ConformalPredictor, SetKind};
use crate::model::novelty_is_not_known;
use crate::{Error, Model, Predictions, Result};

/// Draws of a row at most.
pub const MOST_DRAWS: usize = 100_000;

/// A number with its text, which names its column: `0.90` and `0.9` ask for the same under two names.
#[derive(Clone, Debug, PartialEq)]
pub struct Number {
    /// As it was written.
    pub text: String,
    /// Its value.
    pub value: f64,
}

impl From<f64> for Number {
    fn from(value: f64) -> Self {
        Self { text: value.to_string(), value }
    }
}

/// A parameter of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name: an option of `negmm predict`, a parameter of a request, an argument in Python.
    pub name: &'static str,
    /// Its values and columns.
    pub help: &'static str,
}

/// All parameters, in the order of their columns.
pub const PARAMETERS: [Parameter; 13] = {
    const fn parameter(name: &'static str, help: &'static str) -> Parameter {
        Parameter { name, help }
    }
    [
        parameter("quantiles", "levels between 0 and 1: columns q0.05 …"),
        parameter("interval", "coverages between 0 and 1: columns lower_0.9 and upper_0.9 …"),
        parameter(
            "region",
            "coverages between 0 and 1: columns region_0.9, the highest-density region as text, and region_0.9_length",
        ),
        parameter("conformal", "true: intervals and regions are conformal prediction sets"),
        parameter("above", "values: columns p_above_50 …, the probability of a target above the value"),
        parameter("below", "values: columns p_below_50 …, the probability of a target below the value"),
        parameter("equal", "values: columns p_equal_0 …, the point probability of the value"),
        parameter("shortfall", "fractions between 0 and 1: columns shortfall_0.05 …, the mean of that lowest fraction"),
        parameter("parts", "true: the parts of the variance"),
        parameter("novelty", "true: how far a row lies outside the ranges of training, and by which input"),
        parameter("components", "true: the mixture itself, weight_1 …, mean_1 …, sd_1 …"),
        parameter("draws", "a count: random draws, draw_1 …"),
        parameter("seed", "a count: the random seed of the draws, 0 by default"),
    ]
};

/// Former names of parameters, which are still read, each with its present name.
pub const RENAMED: [(&str, &str); 2] = [("mass", "equal"), ("guaranteed", "conformal")];

/// What is asked of every prediction beside its mean and sd, which always come first. The columns are in the order of the table.
///
/// | parameter | values | columns |
/// |---|---|---|
/// | | | `mean`, `sd` |
/// | `quantiles` | above 0, below 1 | `q0.05` |
/// | `interval` | above 0, below 1 | `lower_0.9`, `upper_0.9`: the central interval |
/// | `region` | above 0, below 1 | `region_0.9`: the highest-density region as text, `[-3,-1] [2,4]`; `region_0.9_length` |
/// | `above` | any number | `p_above_20`: P(Y > 20) |
/// | `below` | any number | `p_below_20`: P(Y < 20) |
/// | `equal` | any number | `p_equal_20`: P(Y = 20), above 0 at atoms, on grids and of samples; the three sum to 1 |
/// | `shortfall` | above 0, below 1 | `shortfall_0.05`: the mean of that lowest fraction |
/// | `parts` | | `variance_within`, `variance_between` components; `variance_aleatoric`, `variance_epistemic` of several members |
/// | `novelty` | | `novelty`: how many sds outside the ranges of training; `novelty_input`: the input responsible |
/// | `components` | | `weight_1` …, `mean_1` …, `sd_1` … |
/// | `draws` | 0 … 100000 | `draw_1` … |
/// | `seed` | any | none: the random seed of the draws |
/// | `conformal` | | none: intervals and regions are conformal prediction sets ([`crate::conformal`]) |
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Query {
    /// Levels of quantiles.
    pub quantiles: Vec<Number>,
    /// Coverages of central intervals.
    pub interval: Vec<Number>,
    /// Coverages of highest-density regions.
    pub region: Vec<Number>,
    /// Thresholds that a target may lie above.
    pub above: Vec<Number>,
    /// Thresholds that a target may lie below.
    pub below: Vec<Number>,
    /// Values that a target may be equal to.
    pub equal: Vec<Number>,
    /// Fractions of the lowest targets.
    pub shortfall: Vec<Number>,
    /// Whether the parts of the variance are asked for.
    pub parts: bool,
    /// Whether it is asked how far rows lie outside the ranges of training.
    pub novelty: bool,
    /// Whether the components of the mixture are asked for.
    pub components: bool,
    /// Random targets of each row.
    pub draws: usize,
    /// Random seed of the draws.
    pub seed: u64,
    /// Whether intervals and regions are conformal prediction sets.
    pub conformal: bool,
}

/// Setters, for queries built in code.
impl Query {
    /// Asks for quantiles of these levels.
    #[must_use]
    pub fn quantiles(self, levels: impl IntoIterator<Item = impl Into<Number>>) -> Self {
        Self { quantiles: listed(levels), ..self }
    }

    /// Asks for central intervals of these coverages.
    #[must_use]
    pub fn interval(self, coverages: impl IntoIterator<Item = impl Into<Number>>) -> Self {
        Self { interval: listed(coverages), ..self }
    }

    /// Asks for highest-density regions of these coverages.
    #[must_use]
    pub fn region(self, coverages: impl IntoIterator<Item = impl Into<Number>>) -> Self {
        Self { region: listed(coverages), ..self }
    }

    /// Asks for the probability of targets above these values.
    #[must_use]
    pub fn above(self, thresholds: impl IntoIterator<Item = impl Into<Number>>) -> Self {
        Self { above: listed(thresholds), ..self }
    }

    /// Asks for the probability of targets below these values.
    #[must_use]
    pub fn below(self, thresholds: impl IntoIterator<Item = impl Into<Number>>) -> Self {
        Self { below: listed(thresholds), ..self }
    }

    /// Asks for the point probability of these values.
    #[must_use]
    pub fn equal(self, values: impl IntoIterator<Item = impl Into<Number>>) -> Self {
        Self { equal: listed(values), ..self }
    }

    /// Asks for the mean of these lowest fractions.
    #[must_use]
    pub fn shortfall(self, fractions: impl IntoIterator<Item = impl Into<Number>>) -> Self {
        Self { shortfall: listed(fractions), ..self }
    }

    /// Asks for the parts of the variance.
    #[must_use]
    pub fn parts(self, parts: bool) -> Self {
        Self { parts, ..self }
    }

    /// Asks how far rows lie outside the ranges of training.
    #[must_use]
    pub fn novelty(self, novelty: bool) -> Self {
        Self { novelty, ..self }
    }

    /// Asks for the components of the mixture.
    #[must_use]
    pub fn components(self, components: bool) -> Self {
        Self { components, ..self }
    }

    /// Asks for random draws.
    #[must_use]
    pub fn draws(self, draws: usize) -> Self {
        Self { draws, ..self }
    }

    /// SetKind the random seed of the draws.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// Makes intervals and regions conformal prediction sets.
    #[must_use]
    pub fn conformal(self, conformal: bool) -> Self {
        Self { conformal, ..self }
    }
}

fn listed(numbers: impl IntoIterator<Item = impl Into<Number>>) -> Vec<Number> {
    numbers.into_iter().map(Into::into).collect()
}

impl Query {
    /// Reads a query from pairs of a parameter's name and its text: numbers with commas between them, `true` (or nothing) or
    /// `false`, or a count. The last text of a name holds. Former names ([`RENAMED`]) are read too.
    ///
    /// # Errors
    /// When there is no such parameter, or its text makes no sense.
    pub fn from_pairs<N: AsRef<str>, T: AsRef<str>>(pairs: impl IntoIterator<Item = (N, T)>) -> Result<Self> {
        let mut query = Self::default();
        for (name, text) in pairs {
            query.set(name.as_ref(), text.as_ref())?;
        }
        query.check()?;
        Ok(query)
    }

    fn set(&mut self, name: &str, text: &str) -> Result<()> {
        let present = RENAMED.iter().find(|(former, _)| *former == name).map_or(name, |(_, present)| present);
        match present {
            "quantiles" => self.quantiles = numbers(name, text)?,
            "interval" => self.interval = numbers(name, text)?,
            "region" => self.region = numbers(name, text)?,
            "above" => self.above = numbers(name, text)?,
            "below" => self.below = numbers(name, text)?,
            "equal" => self.equal = numbers(name, text)?,
            "shortfall" => self.shortfall = numbers(name, text)?,
            "parts" => self.parts = switch(name, text)?,
            "novelty" => self.novelty = switch(name, text)?,
            "components" => self.components = switch(name, text)?,
            "conformal" => self.conformal = switch(name, text)?,
            "draws" => self.draws = usize::try_from(count(name, text)?).unwrap_or(usize::MAX),
            "seed" => self.seed = count(name, text)?,
            _ => {
                let names = PARAMETERS.map(|parameter| parameter.name);
                return Err(Error::options(format!("there is no parameter {name:?}; there are {}", names.join(", "))));
            }
        }
        Ok(())
    }

    /// Names what is out of range, if something is.
    ///
    /// # Errors
    /// When something is.
    pub fn check(&self) -> Result<()> {
        if self.draws > MOST_DRAWS {
            return Err(Error::option("draws", format!("must be at most {MOST_DRAWS}, found {}", self.draws)));
        }
        check_levels("quantiles", &self.quantiles)?;
        check_levels("interval", &self.interval)?;
        check_levels("region", &self.region)?;
        check_levels("shortfall", &self.shortfall)?;
        if self.conformal && self.interval.is_empty() && self.region.is_empty() {
            return Err(Error::options("conformal prediction sets are intervals and regions: say of which coverage"));
        }
        match self.above.iter().chain(&self.below).chain(&self.equal).find(|threshold| threshold.value.is_nan()) {
            Some(threshold) => Err(Error::options(format!("a threshold must be a number, found {}", threshold.text))),
            None => Ok(()),
        }
    }

    /// The columns of a model's predictions; no two may have one name.
    ///
    /// # Errors
    /// When two do, or the model cannot answer.
    pub fn fields(&self, model: &Model) -> Result<Vec<Field>> {
        self.fields_after(Vec::new(), model)
    }

    /// The names of the columns of a model's predictions.
    ///
    /// # Errors
    /// As [`Query::fields`].
    pub fn names(&self, model: &Model) -> Result<Vec<String>> {
        Ok(self.fields(model)?.into_iter().map(|field| field.name).collect())
    }

    /// All columns of an output that begins with `fields`.
    pub(super) fn fields_after(&self, mut fields: Vec<Field>, model: &Model) -> Result<Vec<Field>> {
        if self.novelty && !model.encoder().knows_ranges() {
            return Err(novelty_is_not_known());
        }
        let items = self.items(model.members(), model.components()).map_err(|error| error.at(model.method().name()))?;
        fields.extend(items.into_iter().flat_map(Item::fields));
        unique(&fields)?;
        Ok(fields)
    }

    /// The columns of predictions that are samples.
    pub(super) fn sample_fields(&self) -> Result<Vec<Field>> {
        Ok(self.items(1, None)?.into_iter().flat_map(Item::fields).collect())
    }

    /// The intervals and regions that are asked for, each with its coverage.
    pub fn sets(&self) -> Vec<(SetKind, f64)> {
        let intervals = self.interval.iter().map(|coverage| (SetKind::Intervals, coverage.value));
        intervals.chain(self.region.iter().map(|coverage| (SetKind::Regions, coverage.value))).collect()
    }

    /// The columns of a batch of predictions, whatever they come from. `first_row` rows come before the batch: with that, draws do
    /// not depend on how rows are divided into batches. Conformal sets need to know the model: [`super::Batch`].
    ///
    /// # Errors
    /// When the predictions cannot answer.
    pub fn columns<'a>(&self, predictions: &'a Predictions, first_row: u64) -> Result<Columns<'a>> {
        if self.conformal {
            return Err(Error::options(
                "conformal prediction sets need a calibration or a sequence, and there is none",
            ));
        }
        self.columns_with(predictions, first_row, None)
    }

    /// The same, with intervals and regions of a conformal predictor where there is one.
    pub(super) fn columns_with<'a>(
        &self,
        predictions: &'a Predictions,
        first_row: u64,
        conformal: Option<ConformalPredictor<'_>>,
    ) -> Result<Columns<'a>> {
        self.check()?;
        let components = predictions.mixtures().map(|mixtures| mixtures.components());
        let items = self.items(predictions.members(), components)?;
        let blocks = Item::blocks(&items, predictions, first_row, conformal)?;
        Columns::new(predictions.len(), items.into_iter().flat_map(Item::fields).collect(), blocks)
    }

    /// Every item in the order of its columns, for predictions of so many members and components (none: samples).
    fn items(&self, members: usize, components: Option<usize>) -> Result<Vec<Item<'_>>> {
        let mut items = vec![Item::Mean, Item::Sd];
        items.extend(self.quantiles.iter().map(Item::Quantile));
        items.extend(self.interval.iter().map(Item::Interval));
        items.extend(self.region.iter().map(Item::Region));
        items.extend(self.above.iter().map(Item::Above));
        items.extend(self.below.iter().map(Item::Below));
        items.extend(self.equal.iter().map(Item::Equal));
        items.extend(self.shortfall.iter().map(Item::Shortfall));
        if self.parts {
            items.push(Item::VarianceParts);
            items.extend((members > 1).then_some(Item::VarianceByMembers));
        }
        if self.novelty {
            items.push(Item::Novelty);
        }
        if self.components {
            let none = || Error::options("predictions that are samples have no components; ask for draws or quantiles");
            items.push(Item::Components(components.ok_or_else(none)?));
        }
        if self.draws > 0 {
            items.push(Item::Draws { draws: self.draws, seed: self.seed });
        }
        Ok(items)
    }
}

/// Numbers with commas between them. Messages call them `name`.
fn numbers(name: &str, text: &str) -> Result<Vec<Number>> {
    let read = |part: &str| match part.trim().parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(Number { text: part.trim().to_string(), value }),
        _ => Err(Error::option(name, format!("must be numbers with commas between them, found {part:?}"))),
    };
    text.split(',').map(read).collect()
}

fn switch(name: &str, text: &str) -> Result<bool> {
    match text {
        "true" | "" => Ok(true),
        "false" => Ok(false),
        _ => Err(Error::option(name, format!("must be true or false, found {text}"))),
    }
}

fn count(name: &str, text: &str) -> Result<u64> {
    text.trim().parse().map_err(|_| Error::option(name, format!("must be a whole number, at least 0, found {text:?}")))
}

fn check_levels(name: &str, levels: &[Number]) -> Result<()> {
    match levels.iter().find(|level| !(level.value > 0.0 && level.value < 1.0)) {
        Some(Number { text, .. }) => {
            Err(Error::option(name, format!("must lie strictly between 0 and 1, found {text}")))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::predict::Value;
    use negmm_dist::Mixtures;
    use negmm_dist::samples::SampleSets;

    fn everything() -> Query {
        let pairs = [
            ("quantiles", "0.05, 0.50"),
            ("interval", "0.9"),
            ("region", "0.5"),
            ("above", "1,-2"),
            ("below", "0"),
            ("equal", "2.5"),
            ("shortfall", "0.05"),
            ("parts", "true"),
            ("novelty", "false"),
            ("components", ""),
            ("draws", "2"),
            ("seed", "3"),
        ];
        Query::from_pairs(pairs).unwrap()
    }

    /// Rows that pool two members of one component each.
    fn predictions(rows: usize) -> Predictions {
        let means = (0..2 * rows).map(|at| at as f64).collect();
        let mixtures = Mixtures::new(2, vec![0.5; 2 * rows], means, vec![2.0; 2 * rows]).unwrap();
        Predictions::from(mixtures).of_members(2)
    }

    #[test]
    fn columns_have_names_and_an_order() {
        let predictions = predictions(3);
        let columns = everything().columns(&predictions, 0).unwrap();
        let expected = "mean sd q0.05 q0.50 lower_0.9 upper_0.9 region_0.5 region_0.5_length p_above_1 p_above_-2 p_below_0 p_equal_2.5 shortfall_0.05 \
            variance_within variance_between variance_aleatoric variance_epistemic \
            weight_1 weight_2 mean_1 mean_2 sd_1 sd_2 draw_1 draw_2";
        assert_eq!(columns.names(), expected.split_whitespace().collect::<Vec<_>>());
        assert_eq!(columns.rows(), 3);
        assert_eq!(columns.floats("mean"), Some(predictions.mean()));
        assert_eq!(columns.floats("q0.50"), Some(predictions.quantile(0.5).unwrap()));
        assert_eq!(columns.floats("upper_0.9"), Some(predictions.interval(0.9).unwrap().1));
        assert_eq!(columns.floats("mean_2"), Some(vec![1.0, 3.0, 5.0]));
        assert!(columns.floats("median").is_none() && columns.floats("region_0.5").is_none());
        for row in 0..3 {
            let values: Vec<Value<'_>> = columns.row(row).collect();
            let of_columns: Vec<Value<'_>> = columns.iter().map(|column| column.values().nth(row).unwrap()).collect();
            assert_eq!(values, of_columns);
            assert_eq!(values[0], Value::Float(columns.floats("mean").unwrap()[row]));
        }
        assert_eq!(Query::default().columns(&predictions, 0).unwrap().names(), ["mean", "sd"]);
    }

    #[test]
    fn draws_do_not_depend_on_batches() {
        let (query, whole) = (everything(), predictions(5));
        let (first, last) = (whole.select(&[0, 1]), whole.select(&[2, 3, 4]));
        let (first, last) = (query.columns(&first, 0).unwrap(), query.columns(&last, 2).unwrap());
        let whole = query.columns(&whole, 0).unwrap();
        for ((whole, first), last) in whole.iter().zip(first.iter()).zip(last.iter()) {
            let joined: Vec<Value<'_>> = first.values().chain(last.values()).collect();
            assert_eq!(whole.values().collect::<Vec<_>>(), joined, "{}", whole.name());
        }
    }

    #[test]
    fn two_columns_cannot_have_one_name() {
        let twice = Query::from_pairs([("above", "1,2,1")]).unwrap();
        let error = twice.columns(&predictions(1), 0).unwrap_err().to_string();
        let expected = "two columns of the output would be called \"p_above_1\": \
            the probability above 1 and the probability above 1";
        assert_eq!(error, expected);
    }

    #[test]
    fn texts_and_setters_make_the_same_query() {
        let set = Query::default().quantiles([0.05]).interval([0.9]).region([0.5]).above([1.0, -2.0]).below([0.0]);
        let set = set.equal([2.5]).shortfall([0.1]).parts(true).novelty(true).components(true).draws(2).seed(3);
        let pairs = [("quantiles", "0.05"), ("interval", "0.9"), ("region", "0.5"), ("above", "1,-2"), ("below", "0")];
        let more = [("mass", "2.5"), ("shortfall", "0.1"), ("parts", ""), ("novelty", "true"), ("components", "true")];
        let last = [("draws", "2"), ("seed", "3"), ("guaranteed", "true")];
        let read = Query::from_pairs(pairs.into_iter().chain(more).chain(last)).unwrap();
        assert_eq!(read, set.conformal(true));
    }

    #[test]
    fn what_has_no_answer_is_refused() {
        let samples = Predictions::from(SampleSets::new(2, vec![1.0, 2.0], 0.1).unwrap());
        assert!(everything().columns(&samples, 0).is_err());
        assert!(everything().components(false).columns(&samples, 0).is_ok());
        let error = Query::default().novelty(true).columns(&samples, 0).unwrap_err().to_string();
        assert!(error.starts_with("novelty is not known for this model"), "{error}");
        let refused = [
            Query::default().draws(MOST_DRAWS + 1),
            Query::default().quantiles([1.0]),
            Query::default().interval([f64::NAN]),
            Query::default().region([0.0]),
            Query::default().below([f64::NAN]),
            Query::default().equal([f64::NAN]),
            Query::default().conformal(true),
        ];
        assert!(refused.iter().all(|query| query.check().is_err()));
        let refused = [
            ("above", "1,,2", "above must be numbers with commas between them, found \"\""),
            ("above", "inf", "above must be numbers with commas between them, found \"inf\""),
            ("interval", "0.5,1.5", "interval must lie strictly between 0 and 1, found 1.5"),
            ("mass", "x", "mass must be numbers with commas between them, found \"x\""),
            ("parts", "1", "parts must be true or false, found 1"),
            ("draws", "-1", "draws must be a whole number, at least 0, found \"-1\""),
        ];
        for (name, text, message) in refused {
            assert_eq!(Query::from_pairs([(name, text)]).unwrap_err().to_string(), message);
        }
        let unknown = Query::from_pairs([("median", "1")]).unwrap_err().to_string();
        assert!(unknown.starts_with("there is no parameter \"median\"; there are quantiles, interval"), "{unknown}");
    }
}
