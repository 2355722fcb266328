//! The explainer: a model, its background and the answers that are explained.

use rayon::prelude::*;

use super::game::{Game, Row};
use super::shapley::Comparison;
use super::{Answer, Background, Explanation};
use crate::{Error, Model, Result, Rng};
use negmm_data::{Cells, ColumnBlocks, Table, Warnings};
use negmm_dist::streams;

/// Columns up to which all subsets are possible.
pub const MOST_EXACT: usize = 16;
/// Columns up to which all subsets are taken of themselves.
const EXACT: usize = 10;
/// Predictions of all rows up to which automatic effort takes all subsets, or more permutations.
const EVALUATIONS: usize = 1 << 19;
/// Pairs of walks for each background row at most, of themselves and altogether.
const PAIRS: usize = 16;
const MOST_PAIRS: usize = 1000;
/// Predictions that are one task of a thread.
const TASK: usize = 256;

/// How many mixed rows are predicted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Effort {
    /// All subsets of up to 10 columns where that is at most half a million predictions for all rows; otherwise as many
    /// permutations as these allow, up to 16 for each background row.
    #[default]
    Automatic,
    /// All subsets of the columns.
    Exact,
    /// This many permutations for each background row, each walked in both directions.
    Permutations(usize),
}

/// Explains rows of one model.
#[derive(Clone, Debug)]
pub struct Explainer<'m> {
    model: &'m Model,
    blocks: ColumnBlocks<'m>,
    background: Background,
    answers: Vec<Answer>,
    /// Background rows × answers; NaN where the answer needs a target.
    base: Vec<f64>,
    effort: Effort,
    seed: u64,
}

impl<'m> Explainer<'m> {
    /// An explainer of these answers.
    ///
    /// # Errors
    /// When there is no answer, or the model does not have one of them.
    pub fn new(model: &'m Model, background: Background, answers: Vec<Answer>) -> Result<Self> {
        if answers.is_empty() {
            return Err(Error::options("there is no answer to explain"));
        }
        if let Some(answer) = answers.iter().find(|answer| answer.needs_members() && model.members() < 2) {
            let method = model.method().name();
            return Err(Error::options(format!(
                "the answer {} needs several members that can disagree, and {method} has one here",
                answer.name()
            )));
        }
        let target = model.encoder().target();
        if let Some(answer) = answers.iter().find(|answer| answer.needs_density() && target.atoms.is_some()) {
            return Err(Error::options(format!(
                "the answer {} needs a density, and the target {:?} has values with a probability of their own",
                answer.name(),
                target.name
            )));
        }
        if let Some(answer) = answers.iter().find(|answer| answer.needs_target() && target.is_censored()) {
            return Err(Error::options(format!("the answer {} is not available for censored targets", answer.name())));
        }
        let mut explainer = Self {
            model,
            blocks: model.encoder().column_blocks(),
            background,
            answers,
            base: Vec::new(),
            effort: Effort::Automatic,
            seed: 0,
        };
        let own = explainer.without_target();
        let game = Game { answers: &own, ..explainer.game() };
        let values = game.values_of(&explainer.background.cells, None)?;
        let mut values = values.chunks(own.len().max(1));
        let rows = explainer.background.rows();
        let row = |values: &[f64]| {
            let mut values = values.iter();
            let of =
                |answer: &Answer| if answer.needs_target() { f64::NAN } else { *values.next().unwrap_or(&f64::NAN) };
            explainer.answers.iter().map(of).collect::<Vec<f64>>()
        };
        explainer.base = (0..rows).flat_map(|_| row(values.next().unwrap_or(&[]))).collect();
        Ok(explainer)
    }

    /// The same with another effort.
    ///
    /// # Errors
    /// When all subsets of too many columns are asked for, or no permutation or too many.
    pub fn with_effort(self, effort: Effort) -> Result<Self> {
        let columns = self.blocks.names().len();
        match effort {
            Effort::Exact if columns > MOST_EXACT => Err(Error::options(format!(
                "exact contributions are possible for up to {MOST_EXACT} columns, and there are {columns}: use permutations"
            ))),
            Effort::Permutations(pairs) if !(1..=MOST_PAIRS).contains(&pairs) => {
                Err(Error::option("permutations", format!("must be from 1 to {MOST_PAIRS}, found {pairs}")))
            }
            effort => Ok(Self { effort, ..self }),
        }
    }

    /// The same with what automatic effort is for this number of rows, so that parts of them are explained alike.
    #[must_use]
    pub fn for_rows(self, rows: usize) -> Self {
        Self { effort: self.effort_for(rows), ..self }
    }

    /// The same with another seed of the permutations.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// The columns, in the order of contributions.
    pub fn columns(&self) -> &[&'m str] {
        self.blocks.names()
    }

    /// The answers, in their order.
    pub fn answers(&self) -> &[Answer] {
        &self.answers
    }

    /// The effort for this number of rows: exact, or so many permutations.
    pub fn effort_for(&self, rows: usize) -> Effort {
        if self.effort != Effort::Automatic {
            return self.effort;
        }
        let (columns, all) = (self.blocks.names().len(), rows.max(1).saturating_mul(self.background.rows()));
        if columns <= EXACT && all.saturating_mul((1 << columns) - 1) <= EVALUATIONS {
            return Effort::Exact;
        }
        let walk = all.saturating_mul(2 * columns.saturating_sub(1).max(1));
        Effort::Permutations((EVALUATIONS / walk).clamp(1, PAIRS))
    }

    /// Explains all rows of a table; it needs the target where an answer is a score of it.
    ///
    /// # Errors
    /// When the table cannot be encoded, or a target is missing.
    pub fn explain(&self, table: &Table) -> Result<(Explanation, Warnings)> {
        let (cells, warnings) = self.model.encoder().cells(table)?;
        let y =
            self.answers.iter().any(Answer::needs_target).then(|| self.model.encoder().targets(table)).transpose()?;
        Ok((self.explain_cells(&cells, y.as_deref())?, warnings))
    }

    /// Explains the background rows themselves, against each other.
    ///
    /// # Errors
    /// When an answer needs a target.
    pub fn explain_background(&self) -> Result<Explanation> {
        self.explain_cells(&self.background.cells, None)
    }

    /// The answers that need no target.
    fn without_target(&self) -> Vec<Answer> {
        self.answers.iter().filter(|answer| !answer.needs_target()).cloned().collect()
    }

    pub(super) fn game(&self) -> Game<'_> {
        Game { model: self.model, blocks: &self.blocks, background: &self.background.cells, answers: &self.answers }
    }

    /// The model.
    pub fn model(&self) -> &'m Model {
        self.model
    }

    pub(super) fn random_seed(&self) -> u64 {
        self.seed
    }

    /// The background.
    pub fn background(&self) -> &Background {
        &self.background
    }

    /// Explains encoded rows.
    pub(super) fn explain_cells(&self, cells: &Cells, y: Option<&[f64]>) -> Result<Explanation> {
        let (rows, answers, columns) = (cells.rows(), self.answers.len(), self.blocks.names().len());
        let pairs = self.permutations(rows);
        let values = self.game().values_of(cells, y)?;
        let bases: Vec<Vec<f64>> = (0..rows)
            .into_par_iter()
            .map(|row| self.background_values(y.map(|y| y[row])))
            .collect::<Result<Vec<_>>>()?;
        let row = |row: usize| Row { cells, row, y: y.map(|y| y[row]) };
        // Tasks are numbered by row and then by background row, and their sums are taken in this order.
        let tasks: Vec<(usize, Vec<Comparison>)> =
            (0..rows).into_par_iter().flat_map_iter(|at| self.tasks(row(at), pairs.as_deref())).collect();
        let done: Vec<(usize, Vec<f64>)> = tasks
            .into_par_iter()
            .with_max_len(1)
            .map(|(at, comparisons)| {
                let all = &values[at * answers..][..answers];
                self.contributions(row(at), &comparisons, &bases[at], all).map(|sums| (at, sums))
            })
            .collect::<Result<Vec<_>>>()?;
        let mut contributions = vec![0.0; rows * answers * columns];
        let mut errors = contributions.clone();
        for (row, sums) in done {
            let (of_values, of_variances) = sums.split_at(answers * columns);
            let first = row * answers * columns;
            contributions[first..].iter_mut().zip(of_values).for_each(|(sum, value)| *sum += value);
            errors[first..].iter_mut().zip(of_variances).for_each(|(sum, variance)| *sum += variance);
        }
        errors.iter_mut().for_each(|variance| *variance = variance.sqrt());
        // An infinite score cannot be divided among the columns.
        for (own, errors) in contributions.chunks_mut(columns.max(1)).zip(errors.chunks_mut(columns.max(1))) {
            if own.iter().chain(&*errors).any(|number| !number.is_finite()) {
                own.fill(f64::NAN);
                errors.fill(f64::NAN);
            }
        }
        let weights = self.background.weights();
        let mean = |values: &Vec<f64>| -> Vec<f64> {
            let of = |answer: usize| {
                (values.iter().skip(answer).step_by(answers)).zip(weights).map(|(value, weight)| value * weight)
            };
            (0..answers).map(|answer| of(answer).sum()).collect()
        };
        Ok(Explanation {
            columns: self.blocks.names().iter().map(|name| name.to_string()).collect(),
            answers: self.answers.iter().map(|answer| answer.name().to_string()).collect(),
            rows,
            values,
            base: bases.iter().flat_map(mean).collect(),
            contributions,
            errors,
            exact: pairs.is_none(),
        })
    }

    /// For each background row the permutations; `None`: all subsets.
    fn permutations(&self, rows: usize) -> Option<Vec<Vec<Vec<usize>>>> {
        let Effort::Permutations(pairs) = self.effort_for(rows) else { return None };
        let columns = self.blocks.names().len();
        let of = |other: usize| {
            let mut rng = Rng::new(self.seed, streams::EXPLANATIONS.wrapping_add(other as u64));
            let permutation = |_| {
                let mut order: Vec<usize> = (0..columns).collect();
                rng.shuffle(&mut order);
                order
            };
            (0..pairs).map(permutation).collect()
        };
        Some((0..self.background.rows()).map(of).collect())
    }

    /// The answers of all background rows, with the target of the explained row: background rows × answers.
    fn background_values(&self, y: Option<f64>) -> Result<Vec<f64>> {
        if y.is_none() || !self.answers.iter().any(Answer::needs_target) {
            return Ok(self.base.clone());
        }
        let columns = self.blocks.names().len();
        let others: Vec<u32> = (0..self.background.rows() as u32).collect();
        let row = Row { cells: &self.background.cells, row: 0, y };
        self.game().values(row, &others, &vec![false; others.len() * columns])
    }

    /// The comparisons of a row with all background rows, in tasks of about equal size.
    fn tasks(&self, row: Row<'_>, pairs: Option<&[Vec<Vec<usize>>]>) -> Vec<(usize, Vec<Comparison>)> {
        let (mut tasks, mut size) = (vec![(row.row, Vec::<Comparison>::new())], 0);
        for other in 0..self.background.rows() {
            let differs = self.blocks.different((row.cells, row.row), (&self.background.cells, other));
            let differing = (0..differs.len()).filter(|column| differs[*column]).collect();
            let comparison = Comparison::new(other as u32, differing, pairs.map(|pairs| &pairs[other][..]));
            let more = comparison.evaluations();
            // Errors of single pairs of walks are found by comparing two background rows.
            let even = tasks.last().is_some_and(|(_, task)| task.len() % 2 == 0);
            if size > 0 && size + more > TASK && even {
                tasks.push((row.row, Vec::new()));
                size = 0;
            }
            size += more;
            if let Some((_, task)) = tasks.last_mut() {
                task.push(comparison);
            }
        }
        tasks
    }

    /// The weighted sums of the contributions, and then of their squared standard errors: each answers × columns.
    fn contributions(&self, row: Row<'_>, comparisons: &[Comparison], bases: &[f64], all: &[f64]) -> Result<Vec<f64>> {
        let (answers, columns) = (self.answers.len(), self.blocks.names().len());
        let (mut others, mut masks) = (Vec::new(), Vec::new());
        for comparison in comparisons {
            others.resize(others.len() + comparison.evaluations(), comparison.other);
            comparison.masks(columns, &mut masks);
        }
        let mixed = self.game().values(row, &others, &masks)?;
        let mut mixed = &mixed[..];
        let size = answers * columns;
        let mut sums = vec![0.0; 2 * size];
        // Those of one pair of walks.
        let mut parts = Vec::new();
        for comparison in comparisons {
            let (own, rest) = mixed.split_at(comparison.evaluations() * answers);
            mixed = rest;
            let other = comparison.other as usize;
            let weight = self.background.weights[other];
            let found = comparison.contributions(&bases[other * answers..][..answers], all, own);
            let mut part = vec![0.0; size];
            for answer in 0..answers {
                for (at, column) in comparison.differing.iter().enumerate() {
                    let (from, to) = (answer * comparison.differing.len() + at, answer * columns + column);
                    part[to] = weight * found.values[from];
                    sums[to] += part[to];
                    sums[size + to] += found.variances.as_ref().map_or(0.0, |found| weight * weight * found[from]);
                }
            }
            if found.variances.is_none() {
                parts.push(part);
            }
        }
        squared_errors(&mut sums[size..], &parts);
        Ok(sums)
    }
}

/// The squared standard errors of the sums of parts, each estimated once by one pair of walks.
pub(super) fn squared_errors(sums: &mut [f64], parts: &[Vec<f64>]) {
    let none = vec![0.0; sums.len()];
    for pair in parts.chunks_exact(2) {
        add_squares(sums, 1.0, &pair[0], &pair[1]);
    }
    match parts {
        [alone] => add_squares(sums, 1.0, alone, &none),
        [.., other, alone] if parts.len() % 2 == 1 => add_squares(sums, 0.5, alone, other),
        _ => {}
    }
}

/// Adds `factor` (a - b)²: with a factor of 1 the variances of two parts of a sum that are estimated once each, and the
/// square of how their expectations differ (collapsed strata: Cochran, 1977, section 5A.12).
fn add_squares(sums: &mut [f64], factor: f64, a: &[f64], b: &[f64]) {
    sums.iter_mut().zip(a.iter().zip(b)).for_each(|(sum, (a, b))| *sum += factor * (a - b) * (a - b));
}
