//! Questions: which numbers are asked of every prediction, what their columns are called and how they are ordered.
//!
//! ```
//! use negmm::{Method, Questions, Toy, fit, questions};
//!
//! let table = Toy::Bimodal.sample(200, &mut negmm::Rng::new(1, 0));
//! let mut method = Method::default();
//! method.set("preset", "fast")?;
//! method.set("steps", "50")?;
//! let model = fit(&table, "y", &method)?;
//!
//! let questions = Questions { intervals: questions::levels("intervals", Some("0.90"))?, ..Questions::default() };
//! assert_eq!(questions.names(&model)?, ["mean", "sd", "lower_0.90", "upper_0.90"]);
//! let predictions = model.predict(&table)?;
//! let answers = questions.answer(&predictions, 0)?;
//! assert_eq!(answers.column("mean"), Some(predictions.mean()));
//! # Ok::<(), negmm::Error>(())
//! ```

use std::collections::HashSet;

use crate::Model;
use crate::answers::Answers;
use crate::conformal::{ConformalPredictor, SetKind};
use negmm_dist::{Error, Predictions, Result};

/// Draws of a row at most.
pub const MOST_DRAWS: usize = 100_000;

/// A number with its text, which names its column: `0.90` and `0.9` are the same question under two names.
#[derive(Clone, Debug, PartialEq)]
pub struct Number {
    /// As it was written.
    pub text: String,
    /// What that means.
    pub value: f64,
}

impl From<f64> for Number {
    fn from(value: f64) -> Self {
        Self { text: value.to_string(), value }
    }
}

/// Numbers with commas between them; none without text. Messages call them `name`.
pub fn numbers(name: &str, text: Option<&str>) -> Result<Vec<Number>> {
    let read = |part: &str| match part.trim().parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(Number { text: part.trim().to_string(), value }),
        _ => Err(Error::options(format!("{name} must be numbers with commas between them, found {part:?}"))),
    };
    text.map_or(Ok(Vec::new()), |text| text.split(',').map(read).collect())
}

/// As [`numbers`], each strictly between 0 and 1.
pub fn levels(name: &str, text: Option<&str>) -> Result<Vec<Number>> {
    let levels = numbers(name, text)?;
    check_levels(name, &levels)?;
    Ok(levels)
}

fn check_levels(name: &str, levels: &[Number]) -> Result<()> {
    match levels.iter().find(|level| !(level.value > 0.0 && level.value < 1.0)) {
        Some(Number { text, .. }) => {
            Err(Error::options(format!("{name} must lie strictly between 0 and 1, found {text}")))
        }
        None => Ok(()),
    }
}

/// What is asked of every prediction beside its mean and sd, which always come first. The columns stand in the order of the
/// fields.
///
/// | field | range of a number | columns |
/// |---|---|---|
/// | | | `mean`, `sd` |
/// | `quantiles` | above 0, below 1 | `q0.05` |
/// | `intervals` | above 0, below 1 | `lower_0.9`, `upper_0.9` |
/// | `regions` | above 0, below 1 | `region_0.9`, the most likely values as text, `[-3,-1] [2,4]`; `region_0.9_length` |
/// | `above` | any | `p_above_20`, the probability of more |
/// | `below` | any | `p_below_20`, the probability of at most so much |
/// | `mass` | any | `p_equal_20`, the probability of exactly so much |
/// | `shortfall` | above 0, below 1 | `shortfall_0.05`, the mean of that lowest share |
/// | `parts` | | `variance_within`, `variance_between` components; `variance_aleatoric`, `variance_epistemic` of several members |
/// | `novelty` | | `novelty`, how many sds outside the ranges of training; `novelty_input`, the input responsible: [`negmm_dist::Novelty`] |
/// | `components` | | `weight_1` …, `mean_1` …, `sd_1` … |
/// | `draws` | 0 … 100000 | `draw_1` … |
/// | `seed` | any | none: it starts the draws |
/// | `guaranteed` | | none: intervals and regions are those of [`Questions::answer_guaranteed`] |
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Questions {
    /// Levels of quantiles.
    pub quantiles: Vec<Number>,
    /// Coverages of central intervals.
    pub intervals: Vec<Number>,
    /// Coverages of regions.
    pub regions: Vec<Number>,
    /// Thresholds that a target may exceed.
    pub above: Vec<Number>,
    /// Thresholds that a target may stay below.
    pub below: Vec<Number>,
    /// Values that a target may have exactly.
    pub mass: Vec<Number>,
    /// Shares of the lowest targets.
    pub shortfall: Vec<Number>,
    /// Whether the parts of the variance are asked for.
    pub parts: bool,
    /// Whether it is asked how far rows lie outside the ranges of training.
    pub novelty: bool,
    /// Whether the components of the mixture are asked for.
    pub components: bool,
    /// Random targets of each row.
    pub draws: usize,
    /// Starts the random choices.
    pub seed: u64,
    /// Whether intervals and regions are to be guaranteed ones: [`crate::conformal`].
    pub guaranteed: bool,
}

/// One question, which is answered by one column or by several that belong together.
#[derive(Clone, Copy)]
pub(crate) enum Question<'a> {
    Mean,
    Sd,
    Quantile(&'a Number),
    Interval(&'a Number),
    HighestDensityRegion(&'a Number),
    Above(&'a Number),
    Below(&'a Number),
    Mass(&'a Number),
    Shortfall(&'a Number),
    VarianceParts,
    VarianceByMembers,
    Novelty,
    Components(usize),
    Draws { draws: usize, seed: u64 },
}

impl Question<'_> {
    fn names(self) -> Vec<String> {
        match self {
            Self::Mean => vec!["mean".into()],
            Self::Sd => vec!["sd".into()],
            Self::Quantile(level) => vec![format!("q{}", level.text)],
            Self::Interval(coverage) => vec![format!("lower_{}", coverage.text), format!("upper_{}", coverage.text)],
            Self::HighestDensityRegion(coverage) => {
                vec![format!("region_{}", coverage.text), format!("region_{}_length", coverage.text)]
            }
            Self::Above(threshold) => vec![format!("p_above_{}", threshold.text)],
            Self::Below(threshold) => vec![format!("p_below_{}", threshold.text)],
            Self::Mass(value) => vec![format!("p_equal_{}", value.text)],
            Self::Shortfall(level) => vec![format!("shortfall_{}", level.text)],
            Self::VarianceParts => vec!["variance_within".into(), "variance_between".into()],
            Self::VarianceByMembers => vec!["variance_aleatoric".into(), "variance_epistemic".into()],
            Self::Novelty => vec!["novelty".into(), "novelty_input".into()],
            Self::Components(count) => {
                let part = |part: &'static str| (1..=count).map(move |component| format!("{part}_{component}"));
                ["weight", "mean", "sd"].into_iter().flat_map(part).collect()
            }
            Self::Draws { draws, .. } => (1..=draws).map(|draw| format!("draw_{draw}")).collect(),
        }
    }
}

impl Questions {
    /// Says what is out of range, if something is.
    pub fn check(&self) -> Result<()> {
        if self.draws > MOST_DRAWS {
            return Err(Error::options(format!("draws must be at most {MOST_DRAWS}, found {}", self.draws)));
        }
        check_levels("quantiles", &self.quantiles)?;
        check_levels("intervals", &self.intervals)?;
        check_levels("regions", &self.regions)?;
        check_levels("shortfall", &self.shortfall)?;
        if self.guaranteed && self.intervals.is_empty() && self.regions.is_empty() {
            return Err(Error::options("guaranteed are intervals and regions: say of which coverage"));
        }
        match self.above.iter().chain(&self.below).chain(&self.mass).find(|threshold| threshold.value.is_nan()) {
            Some(threshold) => Err(Error::options(format!("a threshold must be a number, found {}", threshold.text))),
            None => Ok(()),
        }
    }

    /// The names of the columns, in order; none may occur twice.
    pub fn names(&self, model: &Model) -> Result<Vec<String>> {
        self.names_after(Vec::new(), model)
    }

    /// The names of all columns of an output that begins with `others`; none may occur twice.
    pub fn names_after(&self, others: Vec<String>, model: &Model) -> Result<Vec<String>> {
        if self.novelty && !model.encoder().knows_ranges() {
            return Err(novelty_is_not_known());
        }
        let mut names = others;
        names.extend(
            self.names_of(model.members(), model.components()).map_err(|error| error.at(model.method().name()))?,
        );
        unique(names)
    }

    /// The sets that are asked for, each with its coverage.
    pub fn sets(&self) -> Vec<(SetKind, f64)> {
        let intervals = self.intervals.iter().map(|coverage| (SetKind::Intervals, coverage.value));
        intervals.chain(self.regions.iter().map(|coverage| (SetKind::Regions, coverage.value))).collect()
    }

    /// The answers about a batch of predictions, as columns. `first_row` rows come before the batch: with that, draws do not
    /// depend on how rows are divided into batches.
    pub fn answer<'a>(&self, predictions: &'a Predictions, first_row: u64) -> Result<Answers<'a>> {
        if self.guaranteed {
            return Err(Error::options("guaranteed sets need a calibration or a sequence, and there is none"));
        }
        self.answer_with(predictions, first_row, None)
    }

    /// As [`Questions::answer`], with guaranteed intervals and regions where that is asked for.
    pub fn answer_guaranteed<'a>(
        &self,
        predictions: &'a Predictions,
        first_row: u64,
        guard: ConformalPredictor<'_>,
    ) -> Result<Answers<'a>> {
        self.answer_with(predictions, first_row, Some(guard).filter(|_| self.guaranteed))
    }

    fn answer_with<'a>(
        &self,
        predictions: &'a Predictions,
        first_row: u64,
        guard: Option<ConformalPredictor<'_>>,
    ) -> Result<Answers<'a>> {
        self.check()?;
        let components = predictions.mixtures().map(|mixtures| mixtures.components());
        let names = unique(self.names_of(predictions.members(), components)?)?;
        Answers::new(names, &self.asked(predictions.members(), components)?, predictions, first_row, guard)
    }

    fn names_of(&self, members: usize, components: Option<usize>) -> Result<Vec<String>> {
        Ok(self.asked(members, components)?.into_iter().flat_map(Question::names).collect())
    }

    /// Every question in the order of its columns, for predictions of so many members and components (none: samples).
    fn asked(&self, members: usize, components: Option<usize>) -> Result<Vec<Question<'_>>> {
        let mut asked = vec![Question::Mean, Question::Sd];
        asked.extend(self.quantiles.iter().map(Question::Quantile));
        asked.extend(self.intervals.iter().map(Question::Interval));
        asked.extend(self.regions.iter().map(Question::HighestDensityRegion));
        asked.extend(self.above.iter().map(Question::Above));
        asked.extend(self.below.iter().map(Question::Below));
        asked.extend(self.mass.iter().map(Question::Mass));
        asked.extend(self.shortfall.iter().map(Question::Shortfall));
        if self.parts {
            asked.push(Question::VarianceParts);
            asked.extend((members > 1).then_some(Question::VarianceByMembers));
        }
        if self.novelty {
            asked.push(Question::Novelty);
        }
        if self.components {
            let none = || Error::options("predictions that are samples have no components; ask for draws or quantiles");
            asked.push(Question::Components(components.ok_or_else(none)?));
        }
        if self.draws > 0 {
            asked.push(Question::Draws { draws: self.draws, seed: self.seed });
        }
        Ok(asked)
    }
}

/// The complaint about a model without ranges.
pub(crate) fn novelty_is_not_known() -> Error {
    Error::model(
        "novelty is not known for this model: it was fitted by a version that did not keep the ranges of training",
    )
}

fn unique(names: Vec<String>) -> Result<Vec<String>> {
    let mut seen = HashSet::new();
    match names.iter().find(|name| !seen.insert(name.as_str())) {
        Some(twice) => Err(Error::options(format!("two columns of the output would be called {twice:?}"))),
        None => Ok(names),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Cell;
    use negmm_dist::Mixtures;
    use negmm_dist::samples::SampleSets;

    fn everything() -> Questions {
        Questions {
            quantiles: levels("quantiles", Some("0.05, 0.50")).unwrap(),
            intervals: vec![0.9.into()],
            regions: vec![0.5.into()],
            above: numbers("above", Some("1,-2")).unwrap(),
            below: vec![0.0.into()],
            mass: vec![2.5.into()],
            shortfall: vec![0.05.into()],
            parts: true,
            novelty: false,
            components: true,
            draws: 2,
            seed: 3,
            guaranteed: false,
        }
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
        let answers = everything().answer(&predictions, 0).unwrap();
        let expected = "mean sd q0.05 q0.50 lower_0.9 upper_0.9 region_0.5 region_0.5_length p_above_1 p_above_-2 p_below_0 p_equal_2.5 shortfall_0.05 \
            variance_within variance_between variance_aleatoric variance_epistemic \
            weight_1 weight_2 mean_1 mean_2 sd_1 sd_2 draw_1 draw_2";
        assert_eq!(answers.names(), expected.split_whitespace().collect::<Vec<_>>());
        assert_eq!(answers.rows(), 3);
        assert_eq!(answers.column("mean"), Some(predictions.mean()));
        assert_eq!(answers.column("q0.50"), Some(predictions.quantile(0.5).unwrap()));
        assert_eq!(answers.column("upper_0.9"), Some(predictions.interval(0.9).unwrap().1));
        assert_eq!(answers.column("mean_2"), Some(vec![1.0, 3.0, 5.0]));
        assert_eq!(answers.column("median"), None);
        for row in 0..3 {
            let cells: Vec<Cell<'_>> = answers.row(row).collect();
            let of_columns: Vec<Cell<'_>> =
                answers.names().iter().map(|name| answers.cells(name).unwrap().nth(row).unwrap()).collect();
            assert_eq!(cells, of_columns);
            assert_eq!(cells[0], Cell::Number(answers.column("mean").unwrap()[row]));
        }
        let least = Questions::default();
        assert_eq!(least.answer(&predictions, 0).unwrap().names(), ["mean", "sd"]);
    }

    #[test]
    fn draws_do_not_depend_on_batches() {
        let (questions, whole) = (everything(), predictions(5));
        let (first, last) = (whole.select(&[0, 1]), whole.select(&[2, 3, 4]));
        let (first, last) = (questions.answer(&first, 0).unwrap(), questions.answer(&last, 2).unwrap());
        let whole = questions.answer(&whole, 0).unwrap();
        for name in whole.names() {
            let joined: Vec<Cell<'_>> = first.cells(name).unwrap().chain(last.cells(name).unwrap()).collect();
            assert_eq!(whole.cells(name).unwrap().collect::<Vec<_>>(), joined, "{name}");
        }
    }

    #[test]
    fn two_columns_cannot_have_one_name() {
        let twice = Questions { above: numbers("above", Some("1,2,1")).unwrap(), ..Questions::default() };
        let error = twice.answer(&predictions(1), 0).err().unwrap();
        assert_eq!(error.to_string(), "two columns of the output would be called \"p_above_1\"");
    }

    #[test]
    fn questions_without_an_answer_are_refused() {
        let samples = Predictions::from(SampleSets::new(2, vec![1.0, 2.0], 0.1).unwrap());
        assert!(everything().answer(&samples, 0).is_err());
        let questions = Questions { components: false, ..everything() };
        assert!(questions.answer(&samples, 0).is_ok());
        let novelty = Questions { novelty: true, ..Questions::default() };
        let error = novelty.answer(&samples, 0).err().unwrap().to_string();
        assert!(error.starts_with("novelty is not known for this model"), "{error}");
        let refused = [
            Questions { draws: MOST_DRAWS + 1, ..Questions::default() },
            Questions { quantiles: vec![1.0.into()], ..Questions::default() },
            Questions { intervals: vec![f64::NAN.into()], ..Questions::default() },
            Questions { regions: vec![0.0.into()], ..Questions::default() },
            Questions { below: vec![f64::NAN.into()], ..Questions::default() },
            Questions { mass: vec![f64::NAN.into()], ..Questions::default() },
        ];
        assert!(refused.iter().all(|questions| questions.check().is_err()));
        assert!(numbers("above", Some("1,,2")).is_err() && numbers("above", Some("inf")).is_err());
        assert_eq!(
            levels("interval", Some("0.5,1.5")).unwrap_err().to_string(),
            "interval must lie strictly between 0 and 1, found 1.5"
        );
    }
}
