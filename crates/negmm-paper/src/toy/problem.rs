//! One sample of a toy problem: training rows, validation rows, test inputs, and the truth.

use std::sync::Arc;

use negmm::Rng;
use negmm::data::{Column, ColumnRoles, Dataset};
use negmm::method::Standardised;
use negmm::{Encoder, Predictions, Result, Table, Toy};

/// Validation rows per training row.
const VALIDATION: f64 = 0.2;
/// Test inputs.
const TEST: usize = 300;
/// The first random stream of the repeats.
const STREAM: u64 = 5000;

/// One sample.
#[derive(Clone, Debug)]
pub struct Problem {
    toy: Toy,
    train: Table,
    validation: Table,
    test: Table,
}

/// The units of inputs and targets in training.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Units {
    /// Inputs and targets with mean 0 and sd 1.
    Standardised,
    /// As sampled.
    Raw,
}

/// Encoded rows, and the scale of the target.
pub(super) struct Encoded {
    pub(super) train: Arc<Dataset>,
    pub(super) validation: Dataset,
    pub(super) test: Dataset,
    shift: f64,
    scale: f64,
}

impl Encoded {
    /// Predictions in the unit of the target.
    pub(super) fn unscaled(&self, predictions: Standardised) -> Predictions {
        predictions.in_unit(self.shift, self.scale)
    }
}

impl Problem {
    /// The sample of a repeat.
    pub fn sample(toy: Toy, repeat: usize, seed: u64) -> Self {
        let rows = match toy {
            Toy::Heteroscedastic => 600,
            Toy::Bimodal => 1000,
        };
        let rng = &mut Rng::new(seed, STREAM + repeat as u64);
        let train = toy.sample(rows, rng);
        let validation = toy.sample((rows as f64 * VALIDATION).round() as usize, rng);
        Self { toy, train, validation, test: toy.sample(TEST, rng) }
    }

    /// The problem.
    pub fn toy(&self) -> Toy {
        self.toy
    }

    /// The training rows.
    pub fn train(&self) -> &Table {
        &self.train
    }

    /// Inputs and targets of the validation rows.
    pub(super) fn validation(&self) -> (&[f64], &[f64]) {
        (column(&self.validation, "x"), column(&self.validation, "y"))
    }

    /// The test inputs.
    pub(super) fn test_inputs(&self) -> &[f64] {
        column(&self.test, "x")
    }

    pub(super) fn encoded(&self, units: Units) -> Result<Encoded> {
        let encoder = Encoder::fit(&self.train, "y", &ColumnRoles::default())?;
        let encode = |table: &Table| -> Result<Dataset> {
            match units {
                Units::Standardised => Ok(encoder.encode(table)?.0),
                Units::Raw => {
                    let mut data = Dataset::new(1);
                    for (x, y) in column(table, "x").iter().zip(column(table, "y")) {
                        data.push(&[*x as f32], *y as f32);
                    }
                    Ok(data)
                }
            }
        };
        let (shift, scale) = match units {
            Units::Standardised => (encoder.target().mean, encoder.target().scale),
            Units::Raw => (0.0, 1.0),
        };
        Ok(Encoded {
            train: Arc::new(encode(&self.train)?),
            validation: encode(&self.validation)?,
            test: encode(&self.test)?,
            shift,
            scale,
        })
    }
}

pub(crate) fn column<'a>(table: &'a Table, name: &str) -> &'a [f64] {
    match table.column(name) {
        Some(Column::Numbers(numbers)) => numbers,
        _ => &[],
    }
}
