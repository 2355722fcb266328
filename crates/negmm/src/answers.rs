//! Answers: the numbers that questions ask of a batch of predictions, as named columns.

use std::borrow::Cow;
use std::fmt;

use crate::conformal::ConformalPredictor;
use crate::questions::{Question, novelty_is_not_known};
use negmm_dist::mixture::QuantileLevel;
use negmm_dist::{HighestDensityRegion, Predictions, Result};

/// Named columns of numbers or text, with a cell for each row of a batch of predictions.
#[derive(Clone, Debug)]
pub struct Answers<'a> {
    names: Vec<String>,
    rows: usize,
    blocks: Vec<Block<'a>>,
}

/// What one row has in one column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell<'a> {
    /// A number.
    Number(f64),
    /// A whole number.
    Whole(i64),
    /// A name; empty where there is none.
    Text(&'a str),
}

impl fmt::Display for Cell<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Whole(number) => number.fmt(f),
            Self::Text(text) => f.write_str(text),
        }
    }
}

/// Columns that stand side by side.
#[derive(Clone, Debug)]
enum Block<'a> {
    /// rows × width.
    Numbers { width: usize, numbers: Cow<'a, [f64]> },
    /// One column.
    Whole(Vec<i64>),
    /// One column.
    Text(Vec<Cow<'a, str>>),
}

impl<'a> Block<'a> {
    fn new(width: usize, numbers: impl Into<Cow<'a, [f64]>>) -> Self {
        Self::Numbers { width, numbers: numbers.into() }
    }

    fn width(&self) -> usize {
        match self {
            Self::Numbers { width, .. } => *width,
            Self::Whole(_) | Self::Text(_) => 1,
        }
    }

    fn cell(&self, row: usize, column: usize) -> Cell<'_> {
        match self {
            Self::Numbers { width, numbers } => Cell::Number(numbers[row * width + column]),
            Self::Whole(numbers) => Cell::Whole(numbers[row]),
            Self::Text(text) => Cell::Text(&text[row]),
        }
    }
}

impl<'a> Answers<'a> {
    pub(crate) fn new(
        names: Vec<String>,
        questions: &[Question<'_>],
        predictions: &'a Predictions,
        first_row: u64,
        guard: Option<ConformalPredictor<'_>>,
    ) -> Result<Self> {
        let mut blocks = Vec::with_capacity(questions.len());
        // All at once: who answers them may be far away.
        let mut quantiles = predictions.quantiles(&levels(questions, guard.is_some())).into_iter();
        for question in questions {
            blocks.extend(match (question, guard) {
                (Question::Interval(coverage), Some(guard)) => {
                    let (lower, upper) = guard.intervals(predictions, coverage.value)?;
                    vec![Block::new(1, lower), Block::new(1, upper)]
                }
                (Question::HighestDensityRegion(coverage), Some(guard)) => {
                    of_regions(&guard.regions(predictions, coverage.value)?)
                }
                _ => answer(question, predictions, first_row, &mut quantiles)?,
            });
        }
        Ok(Self { names, rows: predictions.len(), blocks })
    }

    /// The same after a column of whole numbers.
    ///
    /// # Panics
    /// When it has not one for each row.
    #[must_use]
    pub fn after_whole(self, name: impl Into<String>, numbers: Vec<i64>) -> Self {
        assert_eq!(numbers.len(), self.rows);
        self.after(name.into(), Block::Whole(numbers))
    }

    /// The same after a column of text.
    ///
    /// # Panics
    /// When it has not one for each row.
    #[must_use]
    pub fn after_text(self, name: impl Into<String>, texts: Vec<String>) -> Self {
        assert_eq!(texts.len(), self.rows);
        self.after(name.into(), Block::Text(texts.into_iter().map(Cow::Owned).collect()))
    }

    /// The same before columns of numbers, which are rows × names.
    ///
    /// # Panics
    /// When they are not.
    #[must_use]
    pub fn before_numbers(mut self, names: Vec<String>, numbers: Vec<f64>) -> Self {
        assert_eq!(numbers.len(), self.rows * names.len());
        self.blocks.push(Block::new(names.len(), numbers));
        self.names.extend(names);
        self
    }

    fn after(mut self, name: String, block: Block<'a>) -> Self {
        self.names.insert(0, name);
        self.blocks.insert(0, block);
        self
    }

    /// The names of the columns.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The cells of a row, in the order of the columns.
    ///
    /// # Panics
    /// When there is no such row.
    pub fn row(&self, row: usize) -> impl Iterator<Item = Cell<'_>> {
        assert!(row < self.rows, "there are {} rows", self.rows);
        self.blocks.iter().flat_map(move |block| (0..block.width()).map(move |column| block.cell(row, column)))
    }

    /// The numbers of the column of that name, where it has numbers.
    pub fn column(&self, name: &str) -> Option<Vec<f64>> {
        let number = |cell| if let Cell::Number(number) = cell { Some(number) } else { None };
        self.cells(name)?.map(number).collect()
    }

    /// The cells of the column of that name.
    pub fn cells(&self, name: &str) -> Option<impl Iterator<Item = Cell<'_>>> {
        let mut at = self.names.iter().position(|other| other == name)?;
        let block = self.blocks.iter().find(|block| {
            let inside = at < block.width();
            at -= if inside { 0 } else { block.width() };
            inside
        })?;
        Some((0..self.rows).map(move |row| block.cell(row, at)))
    }
}

/// The quantiles that questions ask for, in their order; intervals that are guarded are none.
fn levels(questions: &[Question<'_>], guarded: bool) -> Vec<QuantileLevel> {
    let of = |question: &Question<'_>| match question {
        Question::Quantile(level) => vec![QuantileLevel::Below(level.value)],
        Question::Interval(coverage) if !guarded => QuantileLevel::around(coverage.value).into(),
        _ => Vec::new(),
    };
    questions.iter().flat_map(of).collect()
}

/// The columns that answer a question, quantiles taken from those that were asked for.
fn answer<'a>(
    question: &Question<'_>,
    predictions: &'a Predictions,
    first_row: u64,
    quantiles: &mut impl Iterator<Item = Vec<f64>>,
) -> Result<Vec<Block<'a>>> {
    let one = |numbers: Vec<f64>| vec![Block::new(1, numbers)];
    let two = |(first, second): (Vec<f64>, Vec<f64>)| vec![Block::new(1, first), Block::new(1, second)];
    Ok(match *question {
        Question::Mean => one(predictions.mean()),
        Question::Sd => one(predictions.sd()),
        Question::Quantile(_) => quantiles.take(1).map(|numbers| Block::new(1, numbers)).collect(),
        Question::Interval(_) => quantiles.take(2).map(|numbers| Block::new(1, numbers)).collect(),
        Question::HighestDensityRegion(coverage) => of_regions(&predictions.hdr(coverage.value)?),
        Question::Above(threshold) => one(predictions.above(threshold.value)?),
        Question::Below(threshold) => one(predictions.below(threshold.value)?),
        Question::Mass(value) => one(predictions.point_probability(value.value)?),
        Question::Shortfall(level) => one(predictions.shortfall(level.value)?),
        Question::VarianceParts => two(predictions.variance_parts()),
        Question::VarianceByMembers => two(predictions.variance_by_members()),
        Question::Novelty => {
            let novelty = predictions.novelty().ok_or_else(novelty_is_not_known)?;
            let inputs = novelty.inputs().into_iter().map(|input| Cow::from(input.unwrap_or_default())).collect();
            vec![Block::new(1, novelty.distances()), Block::Text(inputs)]
        }
        Question::Components(width) => match predictions.mixtures() {
            Some(mixtures) => {
                [mixtures.weights(), mixtures.means(), mixtures.sds()].map(|part| Block::new(width, part)).into()
            }
            None => Vec::new(),
        },
        Question::Draws { draws, seed } => vec![Block::new(draws, predictions.sample(draws, seed, first_row))],
    })
}

/// Regions as text, and how long they are.
fn of_regions<'a>(regions: &[HighestDensityRegion]) -> Vec<Block<'a>> {
    let texts = regions.iter().map(|region| Cow::from(region.to_string())).collect();
    vec![Block::Text(texts), Block::new(1, regions.iter().map(HighestDensityRegion::length).collect::<Vec<_>>())]
}
