//! Responsible for answers: the numbers that questions ask of a batch of predictions, as named columns.

use std::borrow::Cow;

use crate::questions::Question;
use crate::{Predictions, Result};

/// Named columns of numbers, one for each row of a batch of predictions.
#[derive(Clone, Debug)]
pub struct Answers<'a> {
    names: Vec<String>,
    rows: usize,
    blocks: Vec<Block<'a>>,
}

/// Columns that stand side by side: rows × width.
#[derive(Clone, Debug)]
struct Block<'a> {
    width: usize,
    numbers: Cow<'a, [f64]>,
}

impl<'a> Block<'a> {
    fn new(width: usize, numbers: impl Into<Cow<'a, [f64]>>) -> Self {
        Self { width, numbers: numbers.into() }
    }

    fn row(&self, row: usize) -> &[f64] {
        &self.numbers[row * self.width..][..self.width]
    }
}

impl<'a> Answers<'a> {
    pub(crate) fn new(
        names: Vec<String>,
        questions: &[Question<'_>],
        predictions: &'a Predictions,
        first_row: u64,
    ) -> Result<Self> {
        let mut blocks = Vec::with_capacity(questions.len());
        for question in questions {
            blocks.extend(answer(question, predictions, first_row)?);
        }
        Ok(Self { names, rows: predictions.len(), blocks })
    }

    /// The names of the columns.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The numbers of a row, in the order of the columns.
    ///
    /// # Panics
    /// When there is no such row.
    pub fn row(&self, row: usize) -> impl Iterator<Item = f64> {
        assert!(row < self.rows, "there are {} rows", self.rows);
        self.blocks.iter().flat_map(move |block| block.row(row).iter().copied())
    }

    /// The numbers of the column of that name.
    pub fn column(&self, name: &str) -> Option<Vec<f64>> {
        let mut at = self.names.iter().position(|other| other == name)?;
        let block = self.blocks.iter().find(|block| {
            let inside = at < block.width;
            at -= if inside { 0 } else { block.width };
            inside
        })?;
        Some((0..self.rows).map(|row| block.row(row)[at]).collect())
    }
}

/// The columns that answer a question.
fn answer<'a>(question: &Question<'_>, predictions: &'a Predictions, first_row: u64) -> Result<Vec<Block<'a>>> {
    let one = |numbers: Vec<f64>| vec![Block::new(1, numbers)];
    let two = |(first, second): (Vec<f64>, Vec<f64>)| vec![Block::new(1, first), Block::new(1, second)];
    Ok(match *question {
        Question::Mean => one(predictions.mean()),
        Question::Sd => one(predictions.sd()),
        Question::Quantile(level) => one(predictions.quantile(level.value)?),
        Question::Interval(coverage) => two(predictions.interval(coverage.value)?),
        Question::Above(threshold) => one(predictions.above(threshold.value)?),
        Question::Below(threshold) => one(predictions.below(threshold.value)?),
        Question::Shortfall(level) => one(predictions.shortfall(level.value)?),
        Question::VarianceParts => two(predictions.variance_parts()),
        Question::VarianceByMembers => two(predictions.variance_by_members()),
        Question::Components(width) => match predictions.mixtures() {
            Some(mixtures) => {
                [mixtures.weights(), mixtures.means(), mixtures.sds()].map(|part| Block::new(width, part)).into()
            }
            None => Vec::new(),
        },
        Question::Draws { draws, seed } => vec![Block::new(draws, predictions.sample(draws, seed, first_row))],
    })
}
