//! Responsible for the rows that a report is about: all rows of a table, or a random sample where there are more than a
//! report needs, gathered in one pass over a file of any size.

use std::borrow::Cow;
use std::sync::Arc;

use negmm::data::{Column, Known, MISSING, Warnings};
use negmm::model::{Fitted, HeldOut};
use negmm::{Error, Model, Predictions, Result, Table};

use crate::reservoir::{Reservoir, sample};

/// Components of all rows together at most: what is asked of a mixture takes time for each.
const MOST_COMPONENTS: usize = 1_600_000;
/// Cells of all rows together at most: they are held in memory.
const MOST_CELLS: usize = 8_000_000;
/// More rows than this tell nothing new.
const MOST_ROWS: usize = 100_000;
/// Fewer are never taken on purpose.
const LEAST_ROWS: usize = 10_000;
/// Rows read at once.
const CHUNK: usize = 16_384;
/// Steps of a sequence that are shown one by one.
const END_STEPS: usize = 250;

/// Rows with their targets and predictions.
pub struct Cases {
    /// Rows there were.
    pub(crate) total: usize,
    /// The number in the file of each row here, the first is 1.
    pub(crate) numbers: Vec<usize>,
    /// The inputs of each row; none for a sequence, whose rows are predicted from those before.
    pub(crate) table: Option<Table>,
    pub(crate) y: Vec<f64>,
    /// What is known of the targets, where the model was told that not all are known.
    pub(crate) known: Option<Known>,
    pub(crate) weights: Option<Vec<f64>>,
    pub(crate) predictions: Predictions,
    /// The last rows of a sequence, without a gap: number, target, prediction.
    pub(crate) end: Option<End>,
    pub(crate) origin: Origin,
    warnings: Warnings,
}

/// What the model knows of the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// It may never have seen them.
    Given,
    /// It learnt from them.
    LearntFrom,
    /// They were set aside in training.
    HeldOut,
}

/// The last rows of a sequence.
pub(crate) struct End {
    pub numbers: Vec<usize>,
    pub y: Vec<f64>,
    pub predictions: Predictions,
}

impl Cases {
    /// The rows of `table`; `weight` names the column that says how much each counts.
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
        let rows = sample(table.rows(), most_rows(model));
        let numbers = rows.iter().map(|row| table.row_number(*row)).collect();
        let chosen = model.encoder().with_times(table.select_rows(&rows))?;
        Self::of_rows(model, chosen, weight, numbers, table.rows())
    }

    fn of_rows(model: &Model, table: Table, weight: Option<&str>, numbers: Vec<usize>, total: usize) -> Result<Self> {
        let (data, warnings) = model.encoder().encode_features(&table)?;
        let (y, known) = (model.encoder().targets(&table)?.into_owned(), model.encoder().known(&table)?);
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
            end: None,
            origin: Origin::Given,
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
        let pick = |numbers: &[f64], rows: &[usize]| rows.iter().map(|row| numbers[*row]).collect::<Vec<_>>();
        let rows = sample(y.len(), most_rows(model));
        let last: Vec<usize> = (y.len().saturating_sub(END_STEPS)..y.len()).collect();
        let end = End { numbers: numbers(&last), y: pick(&y, &last), predictions: predict(&last)? };
        Ok(Self {
            total: y.len(),
            numbers: numbers(&rows),
            table: None,
            y: pick(&y, &rows),
            known: None,
            weights: weights.map(|weights| pick(&weights, &rows)),
            predictions: predict(&rows)?,
            end: Some(end),
            origin: Origin::Given,
            warnings,
        })
    }

    /// The rows of the training table: those that were held out with what was predicted for them before the model learnt from
    /// them, or all rows where none was held out, which the report then warns about.
    ///
    /// # Errors
    /// When `table` is not the one that the model was fitted to.
    pub fn of_training(fitted: &Fitted, table: &Table, weight: Option<&str>) -> Result<Self> {
        let (model, held_out) = (&fitted.model, &fitted.held_out);
        if held_out.rows.is_empty() {
            return Ok(Self { origin: Origin::LearntFrom, ..Self::of_table(model, table, weight)? });
        }
        let HeldOut { rows, y, known, sample_weights: weights, predictions, .. } = held_out;
        // From the first to the last, or a sample of them.
        let mut order: Vec<usize> = (0..rows.len()).collect();
        order.sort_by_key(|at| rows[*at]);
        let chosen: Vec<usize> = sample(order.len(), most_rows(model)).into_iter().map(|at| order[at]).collect();
        let pick = |numbers: &[f64], places: &[usize]| places.iter().map(|at| numbers[*at]).collect::<Vec<_>>();
        let numbers = |places: &[usize]| places.iter().map(|at| table.row_number(rows[*at])).collect();
        let end = model.encoder().sequence().map(|_| {
            let last = &order[order.len().saturating_sub(END_STEPS)..];
            End { numbers: numbers(last), y: pick(y, last), predictions: predictions.select(last) }
        });
        let of_table = || {
            let rows = table.select_rows(&chosen.iter().map(|at| rows[*at]).collect::<Vec<_>>());
            model.encoder().with_times(rows)
        };
        let weights = weights.as_ref().map(|weights| pick(weights, &chosen));
        Ok(Self {
            total: rows.len(),
            numbers: numbers(&chosen),
            table: end.is_none().then(of_table).transpose()?,
            y: pick(y, &chosen),
            known: known.as_ref().map(|known| known.select(&chosen)),
            weights: weights.filter(|weights| weights.iter().any(|weight| *weight > 0.0)),
            predictions: predictions.select(&chosen),
            end,
            origin: Origin::HeldOut,
            warnings: Warnings::default(),
        })
    }

    /// The rows whose target is known; nothing where all are.
    ///
    /// # Errors
    /// When there is none.
    pub(crate) fn with_known_targets(&self) -> Result<Option<Self>> {
        let Some(known) = &self.known else { return Ok(None) };
        let rows = known.values();
        if rows.is_empty() {
            return Err(Error::data("expected at least 1 row with a known target, found none"));
        }
        let pick = |numbers: &[f64]| rows.iter().map(|at| numbers[*at]).collect::<Vec<_>>();
        Ok(Some(Self {
            total: self.total,
            numbers: rows.iter().map(|at| self.numbers[*at]).collect(),
            table: self.table.as_ref().map(|table| table.select_rows(&rows)),
            y: pick(&self.y),
            known: None,
            weights: self.weights.as_deref().map(pick),
            predictions: self.predictions.select(&rows),
            end: None,
            origin: self.origin,
            warnings: self.warnings.clone(),
        }))
    }

    /// The weighted mean over a group of rows.
    pub(crate) fn mean(&self, group: &[usize], value: impl Fn(usize) -> f64) -> f64 {
        let weight: f64 = group.iter().map(|at| self.weight(*at)).sum();
        group.iter().map(|at| self.weight(*at) * value(*at)).sum::<f64>() / weight
    }

    /// Rows in the report.
    pub fn len(&self) -> usize {
        self.y.len()
    }

    /// Whether there is no row: never.
    pub fn is_empty(&self) -> bool {
        self.y.is_empty()
    }

    /// Rows that there were, of which these may be a sample.
    pub fn total(&self) -> usize {
        self.total
    }

    /// What was odd about the rows.
    pub fn warnings(&self) -> &Warnings {
        &self.warnings
    }

    /// How much row `at` counts.
    pub(crate) fn weight(&self, at: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |weights| weights[at])
    }
}

/// Rows that are worth their time and memory.
fn most_rows(model: &Model) -> usize {
    // Samples are looked up, not computed with.
    let components = model.components().unwrap_or(1).max(1);
    let columns = model.encoder().inputs().len().max(1);
    (MOST_COMPONENTS / components).min(MOST_CELLS / columns).clamp(LEAST_ROWS, MOST_ROWS)
}

/// Gathers [`Cases`] from chunks of a file in memory that does not grow with the file.
pub struct Gather<'a> {
    model: &'a Model,
    weight: Option<String>,
    reservoir: Reservoir,
    numbers: Vec<usize>,
    columns: Vec<(String, Cells)>,
}

/// The cells of a column that were chosen.
enum Cells {
    Numbers(Vec<f64>),
    Times(Vec<f64>),
    Text(Vec<Option<Arc<str>>>),
}

impl<'a> Gather<'a> {
    /// Begins. A sequence cannot be gathered in chunks: it is one table, for [`Cases::of_table`].
    pub fn new(model: &'a Model, weight: Option<&str>) -> Self {
        let (weight, reservoir) = (weight.map(str::to_string), Reservoir::new(most_rows(model)));
        Self { model, weight, reservoir, numbers: Vec::new(), columns: Vec::new() }
    }

    /// Rows that are read at once.
    pub fn chunk(&self) -> usize {
        CHUNK
    }

    /// Adds rows, all with the same columns.
    ///
    /// # Errors
    /// When a target or weight is missing; the message names it.
    pub fn add(&mut self, table: &Table) -> Result<()> {
        // A target that cannot be used is an error in whatever row it is.
        self.model.encoder().targets(table)?;
        self.model.encoder().known(table)?;
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
        let mut chosen = Vec::new();
        for row in 0..table.rows() {
            if let Some(place) = self.reservoir.place() {
                chosen.push((row, place));
                put(&mut self.numbers, place, table.row_number(row));
            }
        }
        for (name, cells) in &mut self.columns {
            match (cells, table.column(name)) {
                (Cells::Numbers(cells), Some(Column::Numbers(numbers)))
                | (Cells::Times(cells), Some(Column::Times(numbers))) => {
                    chosen.iter().for_each(|(row, place)| put(cells, *place, numbers[*row]));
                }
                (Cells::Text(cells), Some(Column::Text { codes, levels })) => {
                    let mut shared: Vec<Option<Arc<str>>> = vec![None; levels.len()];
                    for (row, place) in &chosen {
                        let text = (codes[*row] != MISSING).then(|| {
                            let code = codes[*row] as usize;
                            shared[code].get_or_insert_with(|| levels[code].as_str().into()).clone()
                        });
                        put(cells, *place, text);
                    }
                }
                _ => return Err(Error::data(format!("column {name:?} is not as in the rows before"))),
            }
        }
        Ok(())
    }

    /// The rows gathered, in the order of the file.
    ///
    /// # Errors
    /// When there is none.
    pub fn finish(self) -> Result<Cases> {
        if self.numbers.is_empty() {
            return Err(Error::data("expected at least 1 row with a known target, found none"));
        }
        let mut order: Vec<usize> = (0..self.numbers.len()).collect();
        order.sort_unstable_by_key(|place| self.numbers[*place]);
        let columns = self.columns.iter().map(|(name, cells)| {
            let column = match cells {
                Cells::Numbers(cells) => Column::Numbers(order.iter().map(|place| cells[*place]).collect()),
                Cells::Times(cells) => Column::Times(order.iter().map(|place| cells[*place]).collect()),
                Cells::Text(cells) => Column::text(order.iter().map(|place| cells[*place].as_deref())),
            };
            (name.clone(), column)
        });
        let table = Table::new(columns.collect())?;
        let numbers = order.iter().map(|place| self.numbers[*place]).collect();
        Cases::of_rows(self.model, table, self.weight.as_deref(), numbers, self.reservoir.seen())
    }
}

/// Sets a cell, or adds it at the end.
fn put<T>(cells: &mut Vec<T>, place: usize, cell: T) {
    match cells.get_mut(place) {
        Some(old) => *old = cell,
        None => cells.push(cell),
    }
}
