//! Explanations of rows: values, bases and contributions, and what they are over all rows.

use crate::{Columns, Error, Result};
use negmm_data::KeptColumn;

/// The contributions of all columns to all answers for all rows. Each row's add up to value minus base. Where the score
/// of a row or of one that it is compared with is infinite, because the model takes the target for impossible, there are
/// none: they are NaN, and so are their errors.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    pub(super) columns: Vec<String>,
    pub(super) answers: Vec<String>,
    pub(super) rows: usize,
    /// rows × answers.
    pub(super) values: Vec<f64>,
    /// rows × answers.
    pub(super) base: Vec<f64>,
    /// rows × answers × columns.
    pub(super) contributions: Vec<f64>,
    /// rows × answers × columns.
    pub(super) errors: Vec<f64>,
    pub(super) exact: bool,
}

impl Explanation {
    /// The columns, in the order of contributions.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// The names of the answers.
    pub fn answers(&self) -> &[String] {
        &self.answers
    }

    /// Rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Whether contributions are exact.
    pub fn is_exact(&self) -> bool {
        self.exact
    }

    /// The answer for a row.
    pub fn value(&self, row: usize, answer: usize) -> f64 {
        self.values[row * self.answers.len() + answer]
    }

    /// The answers: rows × answers.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The mean answer over the background; of a score it depends on the row's target.
    pub fn base(&self, row: usize, answer: usize) -> f64 {
        self.base[row * self.answers.len() + answer]
    }

    /// The contribution of each column.
    pub fn contributions(&self, row: usize, answer: usize) -> &[f64] {
        let columns = self.columns.len();
        &self.contributions[(row * self.answers.len() + answer) * columns..][..columns]
    }

    /// The standard error of each contribution; 0 where it is exact.
    pub fn errors(&self, row: usize, answer: usize) -> &[f64] {
        let columns = self.columns.len();
        &self.errors[(row * self.answers.len() + answer) * columns..][..columns]
    }

    /// Whether a row has contributions to an answer: not where the answer is an infinite score.
    pub fn is_defined(&self, row: usize, answer: usize) -> bool {
        self.contributions(row, answer).iter().all(|value| value.is_finite())
    }

    /// The mean |contribution| of each column over all rows that have some, with weights.
    pub fn mean_absolute(&self, answer: usize, weights: Option<&[f64]>) -> Vec<f64> {
        let weight = |row: usize| weights.map_or(1.0, |weights| weights[row]);
        let rows: Vec<usize> = (0..self.rows).filter(|row| self.is_defined(*row, answer)).collect();
        let total: f64 = rows.iter().map(|row| weight(*row)).sum::<f64>().max(f64::MIN_POSITIVE);
        let mut sums = vec![0.0; self.columns.len()];
        for row in rows {
            let own = self.contributions(row, answer);
            sums.iter_mut().zip(own).for_each(|(sum, value)| *sum += weight(row) * value.abs() / total);
        }
        sums
    }

    /// The root mean square of the standard errors over all columns and all rows that have contributions.
    pub fn typical_error(&self, answer: usize) -> f64 {
        let (mut sum, mut count) = (0.0, 0);
        for row in (0..self.rows).filter(|row| self.is_defined(*row, answer)) {
            sum += self.errors(row, answer).iter().map(|error| error * error).sum::<f64>();
            count += self.columns.len();
        }
        (sum / count.max(1) as f64).sqrt()
    }

    /// The rows of this and then of another explanation of the same answers.
    ///
    /// # Errors
    /// When the answers or columns are others.
    pub fn append(&mut self, other: Self) -> Result<()> {
        if self.columns != other.columns || self.answers != other.answers {
            return Err(Error::data("expected an explanation of the same answers and columns"));
        }
        self.rows += other.rows;
        self.values.extend(other.values);
        self.base.extend(other.base);
        self.contributions.extend(other.contributions);
        self.errors.extend(other.errors);
        self.exact &= other.exact;
        Ok(())
    }

    /// The names of the columns of [`Explanation::output`]: for each answer `sd`, `sd_base`, `sd[age]` …, with errors
    /// `sd[age]_error` … after them.
    pub fn names(answers: &[String], columns: &[String], errors: bool) -> Vec<String> {
        let of = |answer: &String| {
            let own = columns.iter().map(|column| format!("{answer}[{column}]"));
            let error = columns.iter().filter(|_| errors).map(|column| format!("{answer}[{column}]_error"));
            [answer.clone(), format!("{answer}_base")].into_iter().chain(own).chain(error).collect::<Vec<_>>()
        };
        answers.iter().flat_map(of).collect()
    }

    /// The explanation as columns, after kept ones.
    ///
    /// # Errors
    /// When two columns have one name.
    pub fn output<'a>(&self, kept: &'a [KeptColumn], errors: bool) -> Result<Columns<'a>> {
        let names = Self::names(&self.answers, &self.columns, errors);
        let mut values = Vec::with_capacity(names.len() * self.rows);
        for row in 0..self.rows {
            for answer in 0..self.answers.len() {
                values.extend([self.value(row, answer), self.base(row, answer)]);
                values.extend_from_slice(self.contributions(row, answer));
                if errors {
                    values.extend_from_slice(self.errors(row, answer));
                }
            }
        }
        Columns::of_numbers(kept, &names, values)
    }
}
