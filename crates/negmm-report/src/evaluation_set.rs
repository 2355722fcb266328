//! The rows that a report evaluates, with targets and predictions: all rows of a table, or a random sample of a large one, drawn
//! in one pass over a file of any size.

use std::borrow::Cow;
use std::sync::Arc;

use negmm::data::{CensoredTargets, Column, MISSING, Warnings};
use negmm::model::{Fitted, HeldOut};
use negmm::{Error, Model, Predictions, Result, Table};

use crate::reservoir::{Reservoir, sample};

/// Components of all rows together, at most: they bound the time.
const MAX_COMPONENTS: usize = 1_600_000;
/// Cells of all rows together, at most: they bound the memory.
const MAX_CELLS: usize = 8_000_000;
/// Rows, at most: more would not change the plots.
const MAX_ROWS: usize = 100_000;
/// The smallest sample of a larger table.
const MIN_SAMPLE: usize = 10_000;
/// Rows read at once.
const CHUNK: usize = 16_384;
/// Steps at the end of a sequence that are shown one by one.
const LAST_STEPS: usize = 250;

/// Rows with their targets and predictions.
pub struct EvaluationSet {
    /// Rows of the file or table.
    pub(crate) total: usize,
    /// The number of each row in the file, from 1.
    pub(crate) numbers: Vec<usize>,
    /// The inputs of each row; none for a sequence, whose rows are predicted from earlier ones.
    pub(crate) table: Option<Table>,
    pub(crate) y: Vec<f64>,
    /// The censored targets, where the model has some.
    pub(crate) known: Option<CensoredTargets>,
    pub(crate) weights: Option<Vec<f64>>,
    pub(crate) predictions: Predictions,
    /// The last steps of a sequence.
    pub(crate) last_steps: Option<LastSteps>,
    pub(crate) origin: RowOrigin,
    warnings: Warnings,
}

/// How the rows relate to the training of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RowOrigin {
    /// Rows of another file or table.
    Given,
    /// Training rows.
    TrainingConfig,
    /// Rows held out in training.
    HeldOut,
}

/// The last steps of a sequence, without a gap.
pub(crate) struct LastSteps {
    pub numbers: Vec<usize>,
    pub y: Vec<f64>,
    pub predictions: Predictions,
}

impl EvaluationSet {
    /// The rows of `table`; `weight` names the column of sample weights.
    ///
    /// # Errors
    /// When an input or the target is missing, or there is no row.
    pub fn of_table(model: &Model, table: &Table, weight: Option<&str>) -> Result<Self> {
        if table.rows() == 0 {
            return Err(Error::data("expected at least 1 row with a known target, found none"));
        }
        if model.encoder().sequence().is_some() {
            return Self::of_sequence(model, table, weight);
        }
        let rows = sample(table.rows(), max_rows(model));
        let numbers = rows.iter().map(|row| table.row_number(*row)).collect();
        let chosen = model.encoder().with_times(table.select_rows(&rows))?;
        Self::of_sample(model, chosen, weight, numbers, table.rows())
    }

    /// Predictions with their targets, without inputs; `total` rows are in the file.
    pub(crate) fn of_predictions(
        total: usize,
        numbers: Vec<usize>,
        y: Vec<f64>,
        weights: Option<Vec<f64>>,
        predictions: Predictions,
    ) -> Self {
        Self {
            total,
            numbers,
            table: None,
            y,
            known: None,
            weights,
            predictions,
            last_steps: None,
            origin: RowOrigin::Given,
            warnings: Warnings::default(),
        }
    }

    fn of_sample(model: &Model, table: Table, weight: Option<&str>, numbers: Vec<usize>, total: usize) -> Result<Self> {
        let (data, warnings) = model.encoder().encode_features(&table)?;
        let y = model.encoder().targets(&table)?.into_owned();
        let known = model.encoder().censored_targets(&table, &y)?;
        let weights = model.encoder().sample_weights(&table, weight)?.map(Cow::into_owned);
        let predictions = model.predict_encoded(&data)?;
        Ok(Self {
            total,
            numbers,
            table: Some(table),
            y,
            known,
            weights,
            predictions,
            last_steps: None,
            origin: RowOrigin::Given,
            warnings,
        })
    }

    fn of_sequence(model: &Model, table: &Table, weight: Option<&str>) -> Result<Self> {
        let encoder = model.encoder();
        let (data, warnings) = encoder.encode(table)?;
        let y = encoder.targets(table)?;
        let weights = encoder.sample_weights(table, weight)?;
        let predicted = encoder.predicted_rows(table.rows());
        let numbers = |rows: &[usize]| rows.iter().map(|row| predicted.number(*row)).collect();
        let predict = |rows: &[usize]| {
            let rows: Vec<u32> = rows.iter().map(|row| *row as u32).collect();
            model.predict_encoded(&data.select(&rows))
        };
        let take = |numbers: &[f64], rows: &[usize]| rows.iter().map(|row| numbers[*row]).collect::<Vec<_>>();
        let rows = sample(y.len(), max_rows(model));
        let last: Vec<usize> = (y.len().saturating_sub(LAST_STEPS)..y.len()).collect();
        let last_steps = LastSteps { numbers: numbers(&last), y: take(&y, &last), predictions: predict(&last)? };
        Ok(Self {
            total: y.len(),
            numbers: numbers(&rows),
            table: None,
            y: take(&y, &rows),
            known: None,
            weights: weights.map(|weights| take(&weights, &rows)),
            predictions: predict(&rows)?,
            last_steps: Some(last_steps),
            origin: RowOrigin::Given,
            warnings,
        })
    }

    /// The rows of the training table: those that were held out, with their out-of-sample predictions; or all rows where none was
    /// held out, which the report then warns about.
    ///
    /// # Errors
    /// When `table` is not the one that the model was fitted to.
    pub fn of_training(fitted: &Fitted, table: &Table, weight: Option<&str>) -> Result<Self> {
        let (model, held_out) = (&fitted.model, &fitted.held_out);
        if held_out.rows.is_empty() {
            return Ok(Self { origin: RowOrigin::TrainingConfig, ..Self::of_table(model, table, weight)? });
        }
        let HeldOut { rows, y, censored: known, sample_weights: weights, predictions, .. } = held_out;
        // In the order of the table, or a sample of them.
        let mut order: Vec<usize> = (0..rows.len()).collect();
        order.sort_by_key(|at| rows[*at]);
        let chosen: Vec<usize> = sample(order.len(), max_rows(model)).into_iter().map(|at| order[at]).collect();
        let take = |numbers: &[f64], positions: &[usize]| positions.iter().map(|at| numbers[*at]).collect::<Vec<_>>();
        let numbers = |positions: &[usize]| positions.iter().map(|at| table.row_number(rows[*at])).collect();
        let last_steps = model.encoder().sequence().map(|_| {
            let last = &order[order.len().saturating_sub(LAST_STEPS)..];
            LastSteps { numbers: numbers(last), y: take(y, last), predictions: predictions.select(last) }
        });
        let of_table = || {
            let rows = table.select_rows(&chosen.iter().map(|at| rows[*at]).collect::<Vec<_>>());
            model.encoder().with_times(rows)
        };
        let weights = weights.as_ref().map(|weights| take(weights, &chosen));
        Ok(Self {
            total: rows.len(),
            numbers: numbers(&chosen),
            table: last_steps.is_none().then(of_table).transpose()?,
            y: take(y, &chosen),
            known: known.as_ref().map(|known| known.select(&chosen)),
            weights: weights.filter(|weights| weights.iter().any(|weight| *weight > 0.0)),
            predictions: predictions.select(&chosen),
            last_steps,
            origin: RowOrigin::HeldOut,
            warnings: Warnings::default(),
        })
    }

    /// The rows with uncensored targets; `None` where all are.
    ///
    /// # Errors
    /// When there is none.
    pub(crate) fn uncensored(&self) -> Result<Option<Self>> {
        let Some(known) = &self.known else { return Ok(None) };
        let rows = known.values();
        if rows.is_empty() {
            return Err(Error::data("expected at least 1 row with a known target, found none"));
        }
        let take = |numbers: &[f64]| rows.iter().map(|at| numbers[*at]).collect::<Vec<_>>();
        Ok(Some(Self {
            total: self.total,
            numbers: rows.iter().map(|at| self.numbers[*at]).collect(),
            table: self.table.as_ref().map(|table| table.select_rows(&rows)),
            y: take(&self.y),
            known: None,
            weights: self.weights.as_deref().map(take),
            predictions: self.predictions.select(&rows),
            last_steps: None,
            origin: self.origin,
            warnings: self.warnings.clone(),
        }))
    }

    /// The weighted mean of `value` over a group of rows.
    pub(crate) fn mean(&self, group: &[usize], value: impl Fn(usize) -> f64) -> f64 {
        let weight: f64 = group.iter().map(|at| self.weight(*at)).sum();
        group.iter().map(|at| self.weight(*at) * value(*at)).sum::<f64>() / weight
    }

    /// Rows in the set.
    pub fn len(&self) -> usize {
        self.y.len()
    }

    /// Whether the set is empty: never.
    pub fn is_empty(&self) -> bool {
        self.y.is_empty()
    }

    /// Rows of the file or table, of which these may be a sample.
    pub fn total(&self) -> usize {
        self.total
    }

    /// Warnings about the data.
    pub fn warnings(&self) -> &Warnings {
        &self.warnings
    }

    /// The sample weight of row `at`.
    pub(crate) fn weight(&self, at: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |weights| weights[at])
    }
}

/// The size of the sample, bounded by time and memory.
fn max_rows(model: &Model) -> usize {
    // Sample sets are cheap to evaluate.
    let components = model.components().unwrap_or(1).max(1);
    let columns = model.encoder().inputs().len().max(1);
    (MAX_COMPONENTS / components).min(MAX_CELLS / columns).clamp(MIN_SAMPLE, MAX_ROWS)
}

/// Builds an [`EvaluationSet`] from chunks of a file, in memory that does not grow with the file.
pub struct EvaluationSetBuilder<'a> {
    model: &'a Model,
    weight: Option<String>,
    reservoir: Reservoir,
    numbers: Vec<usize>,
    columns: Vec<(String, Cells)>,
}

/// The sampled cells of a column.
enum Cells {
    Numbers(Vec<f64>),
    Times(Vec<f64>),
    Text(Vec<Option<Arc<str>>>),
}

impl<'a> EvaluationSetBuilder<'a> {
    /// An empty set. A sequence must be one table, for [`EvaluationSet::of_table`].
    pub fn new(model: &'a Model, weight: Option<&str>) -> Self {
        let (weight, reservoir) = (weight.map(str::to_string), Reservoir::new(max_rows(model)));
        Self { model, weight, reservoir, numbers: Vec::new(), columns: Vec::new() }
    }

    /// Rows to read at once.
    pub fn chunk(&self) -> usize {
        CHUNK
    }

    /// Adds rows, all with the same columns.
    ///
    /// # Errors
    /// When a target or weight is missing; the message names it.
    pub fn add(&mut self, table: &Table) -> Result<()> {
        // A bad target is an error in every row, sampled or not.
        let targets = self.model.encoder().targets(table)?;
        self.model.encoder().censored_targets(table, &targets)?;
        if let Some(weight) = &self.weight {
            table.sample_weights(weight)?;
        }
        if self.columns.is_empty() {
            let empty = |column: &Column| match column {
                Column::Numbers(_) => Cells::Numbers(Vec::new()),
                Column::Times(_) => Cells::Times(Vec::new()),
                Column::Text { .. } => Cells::Text(Vec::new()),
            };
            self.columns = table.columns().map(|(name, column)| (name.to_string(), empty(column))).collect();
        }
        let mut sampled = Vec::new();
        for row in 0..table.rows() {
            if let Some(slot) = self.reservoir.next_slot() {
                sampled.push((row, slot));
                put(&mut self.numbers, slot, table.row_number(row));
            }
        }
        for (name, cells) in &mut self.columns {
            match (cells, table.column(name)) {
                (Cells::Numbers(cells), Some(Column::Numbers(numbers)))
                | (Cells::Times(cells), Some(Column::Times(numbers))) => {
                    sampled.iter().for_each(|(row, slot)| put(cells, *slot, numbers[*row]));
                }
                (Cells::Text(cells), Some(Column::Text { codes, levels })) => {
                    let mut shared: Vec<Option<Arc<str>>> = vec![None; levels.len()];
                    for (row, slot) in &sampled {
                        let text = (codes[*row] != MISSING).then(|| {
                            let code = codes[*row] as usize;
                            shared[code].get_or_insert_with(|| levels[code].as_str().into()).clone()
                        });
                        put(cells, *slot, text);
                    }
                }
                _ => return Err(Error::data(format!("column {name:?} has another type than in earlier rows"))),
            }
        }
        Ok(())
    }

    /// The sampled rows, in the order of the file.
    ///
    /// # Errors
    /// When there is none.
    pub fn finish(self) -> Result<EvaluationSet> {
        if self.numbers.is_empty() {
            return Err(Error::data("expected at least 1 row with a known target, found none"));
        }
        let mut order: Vec<usize> = (0..self.numbers.len()).collect();
        order.sort_unstable_by_key(|slot| self.numbers[*slot]);
        let columns = self.columns.iter().map(|(name, cells)| {
            let column = match cells {
                Cells::Numbers(cells) => Column::Numbers(order.iter().map(|slot| cells[*slot]).collect()),
                Cells::Times(cells) => Column::Times(order.iter().map(|slot| cells[*slot]).collect()),
                Cells::Text(cells) => Column::text(order.iter().map(|slot| cells[*slot].as_deref())),
            };
            (name.clone(), column)
        });
        let table = Table::new(columns.collect())?;
        let numbers = order.iter().map(|slot| self.numbers[*slot]).collect();
        EvaluationSet::of_sample(self.model, table, self.weight.as_deref(), numbers, self.reservoir.seen())
    }
}

/// Sets a cell, or adds it at the end.
fn put<T>(cells: &mut Vec<T>, slot: usize, cell: T) {
    match cells.get_mut(slot) {
        Some(old) => *old = cell,
        None => cells.push(cell),
    }
}
