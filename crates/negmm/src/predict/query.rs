//! The prediction query: the columns of every prediction beside its mean and sd.

use super::columns::{Block, Columns, Field, unique};
use super::item::Item;
use super::parameter::Number;
use crate::conformal::{ConformalPredictor, SetSpec};
use crate::model::novelty_is_not_known;
use crate::{Error, Model, Predictions, Result};
use negmm_nn::dataset::Dataset;

/// Draws of a row at most.
pub const MOST_DRAWS: usize = 100_000;

/// The columns of every prediction beside its mean and sd, which always come first, in the order of the table. It is
/// read from pairs of names and texts ([`Query::from_pairs`]) or built in code with the setters.
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
    /// Whether to add the parts of the variance.
    pub parts: bool,
    /// Whether to add the distance of rows from the ranges of the training data.
    pub novelty: bool,
    /// Whether to add the components of the mixture.
    pub components: bool,
    /// Random targets of each row.
    pub draws: usize,
    /// Random seed of the draws.
    pub seed: u64,
    /// Whether intervals and regions are conformal prediction sets.
    pub conformal: bool,
}

impl Query {
    /// Checks the ranges.
    ///
    /// # Errors
    /// When a value is out of range.
    pub fn check(&self) -> Result<()> {
        if self.draws > MOST_DRAWS {
            return Err(Error::option("draws", format!("must be at most {MOST_DRAWS}, found {}", self.draws)));
        }
        check_levels("quantiles", &self.quantiles)?;
        check_levels("interval", &self.interval)?;
        check_levels("region", &self.region)?;
        check_levels("shortfall", &self.shortfall)?;
        if self.conformal && self.interval.is_empty() && self.region.is_empty() {
            return Err(Error::options("conformal prediction sets are intervals and regions: name a coverage"));
        }
        match self.above.iter().chain(&self.below).chain(&self.equal).find(|threshold| threshold.value.is_nan()) {
            Some(threshold) => Err(Error::options(format!("a threshold must be a number, found {}", threshold.text))),
            None => Ok(()),
        }
    }

    /// The columns of a model's predictions; their names are unique.
    ///
    /// # Errors
    /// When two columns have the same name, or the model lacks one of them.
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
        let items = self
            .items(model.predictor().predicted_members(), model.components())
            .map_err(|error| error.at(model.method().name()))?;
        fields.extend(items.into_iter().flat_map(Item::fields));
        unique(&fields)?;
        Ok(fields)
    }

    /// The columns of predictions that are samples.
    pub(super) fn sample_fields(&self) -> Result<Vec<Field>> {
        Ok(self.items(1, None)?.into_iter().flat_map(Item::fields).collect())
    }

    /// The intervals and regions of the query.
    pub fn sets(&self) -> Vec<SetSpec> {
        let intervals = self.interval.iter().map(|coverage| SetSpec::intervals(coverage.value));
        intervals.chain(self.region.iter().map(|coverage| SetSpec::regions(coverage.value))).collect()
    }

    /// The columns of a batch of predictions from any source. `first_row` rows come before the batch, so that draws do not
    /// depend on the batches. Conformal sets need the model: [`super::Batch`].
    ///
    /// # Errors
    /// When the predictions lack a column.
    pub fn columns<'a>(&self, predictions: &'a Predictions, first_row: u64) -> Result<Columns<'a>> {
        if self.conformal {
            return Err(no_calibration());
        }
        self.columns_with(predictions, first_row, None)
    }

    /// The columns of a model's predictions of encoded rows; few distributions are in memory at a time. `first_row` rows came before
    /// these, for the random draws.
    ///
    /// # Errors
    /// When the model lacks a column, or the rows have other features.
    pub fn answer(&self, model: &Model, data: &Dataset, first_row: u64) -> Result<Columns<'static>> {
        self.check()?;
        if self.conformal {
            return Err(no_calibration());
        }
        if data.is_empty() {
            return Columns::empty(self.fields(model)?);
        }
        let items = self.items(model.predictor().predicted_members(), model.components())?;
        let (mut rows, mut whole): (usize, Vec<Block<'static>>) = (0, Vec::new());
        model.predict_in_blocks(data, |first, predictions| {
            rows += predictions.len();
            let blocks = Item::blocks(&items, predictions, first_row + first as u64, None)?;
            let blocks = blocks.into_iter().map(Block::into_owned);
            if whole.is_empty() {
                whole.extend(blocks);
            } else {
                whole.iter_mut().zip(blocks).for_each(|(whole, block)| whole.append(block));
            }
            Ok(())
        })?;
        Columns::new(rows, items.into_iter().flat_map(Item::fields).collect(), whole)
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

    /// All items in the order of their columns; `components` is `None` for samples.
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

fn no_calibration() -> Error {
    Error::options("conformal prediction sets need a calibration or a sequence, and there is none")
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
        assert_eq!(columns.floats("upper_0.9"), Some(predictions.interval(0.9).unwrap().upper));
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
