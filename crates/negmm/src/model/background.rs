//! The background of explanations: a small weighted sample of the training rows that a model carries.
//!
//! Rows are drawn systematically in the order of their targets, with probabilities in proportion to their weights, so
//! that low, middle and high targets are all there. What is kept is the encoded inputs: no target, no column that is
//! not an input.

use serde::{Deserialize, Serialize};

use super::Model;
use negmm_data::{CellParts, Cells, EncodedTable, Encoder, Table, Warnings};
use negmm_dist::{Error, Result, Rng, streams};
use negmm_nn::tensors::{Flaw, Tensor, Tensors, numbers_of};

/// Rows of the background that a model carries.
pub const BACKGROUND: usize = 32;
/// Rows of a background at most.
pub const MOST_BACKGROUND: usize = 10_000;
/// Features of all rows at most: 2 MB in the file.
const MOST_FEATURES: usize = 1 << 19;
const WEIGHTS: &str = "background.weights";
const FEATURES: &str = "background.features";
const CODES: &str = "background.codes";
const TIMES: &str = "background.times";

/// Weighted rows that explanations compare with.
#[derive(Clone, Debug, PartialEq)]
pub struct Background {
    pub(crate) cells: Cells,
    /// They sum to 1.
    pub(crate) weights: Vec<f64>,
}

/// What a file has of a background beside its tensors.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct BackgroundShape {
    rows: usize,
}

impl Background {
    /// The rows of a table, each as often; of many rows a sample.
    ///
    /// # Errors
    /// When there is no row, or the table cannot be encoded.
    pub fn of_table(model: &Model, table: &Table, rows: usize, seed: u64) -> Result<(Self, Warnings)> {
        if table.rows() == 0 || rows == 0 {
            return Err(table.locate(Error::data("the background has no rows")));
        }
        let mut chosen: Vec<usize> = (0..table.rows()).collect();
        if chosen.len() > rows {
            Rng::new(seed, streams::BACKGROUND).shuffle(&mut chosen);
            chosen.truncate(rows);
            chosen.sort_unstable();
        }
        let (cells, warnings) = model.encoder().cells(&table.select_rows(&chosen))?;
        Ok((Self::of(cells, vec![1.0; chosen.len()]), warnings))
    }

    fn of(cells: Cells, mut weights: Vec<f64>) -> Self {
        let total: f64 = weights.iter().sum();
        weights.iter_mut().for_each(|weight| *weight /= total);
        Self { cells, weights }
    }

    /// A sample of the training rows; `None` where there is nothing to explain: no row, a sequence.
    /// `select` gives rows of the table.
    pub(crate) fn of_training(
        select: impl FnOnce(&[usize]) -> Result<Table>,
        encoded: &EncodedTable,
        rows: usize,
        seed: u64,
    ) -> Result<Option<Self>> {
        let encoder = &encoded.encoder;
        let rows = rows.min(MOST_FEATURES / encoder.features().max(1)).min(MOST_BACKGROUND);
        if encoder.sequence().is_some() || rows == 0 {
            return Ok(None);
        }
        let (chosen, weights) = sampled(&encoded.targets, encoded.weights.as_deref(), rows, seed);
        if chosen.is_empty() {
            return Ok(None);
        }
        let chosen: Vec<usize> = chosen.into_iter().map(|row| encoded.predicted.step(row)).collect();
        let (cells, _) = encoder.cells(&select(&chosen)?)?;
        Ok(Some(Self::of(cells, weights)))
    }

    /// Rows.
    pub fn rows(&self) -> usize {
        self.cells.rows()
    }

    /// The weight of each row; they sum to 1.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    pub(crate) fn write(&self) -> (BackgroundShape, Vec<Tensor>) {
        let rows = self.rows();
        let CellParts { x, codes, seconds } = self.cells.parts();
        let columns = |length: usize| length / rows.max(1);
        let tensors = vec![
            Tensor::new(WEIGHTS, vec![rows], self.weights.iter().copied()),
            Tensor::new(FEATURES, vec![rows, columns(x.len())], x.iter().copied()),
            Tensor::new(CODES, vec![columns(codes.len()), rows], codes.iter().copied()),
            Tensor::new(TIMES, vec![columns(seconds.len()), rows], seconds.iter().copied()),
        ];
        (BackgroundShape { rows }, tensors)
    }

    pub(crate) fn read(
        shape: BackgroundShape,
        encoder: &Encoder,
        tensors: &Tensors<'_>,
    ) -> std::result::Result<Self, Flaw> {
        let rows = shape.rows;
        let weights: Vec<f64> = numbers_of(tensors, WEIGHTS, Some(&[rows]))?;
        let total: f64 = weights.iter().sum();
        let sound =
            rows <= MOST_BACKGROUND && weights.iter().all(|weight| *weight >= 0.0) && (total - 1.0).abs() < 1e-9;
        if !sound || encoder.sequence().is_some() {
            return Err("its background rows have no weights that sum to 1".into());
        }
        let parts = CellParts {
            x: numbers_of(tensors, FEATURES, None)?,
            codes: numbers_of(tensors, CODES, None)?,
            seconds: numbers_of(tensors, TIMES, None)?,
        };
        Ok(Self { cells: encoder.column_blocks().cells_of(rows, parts)?, weights })
    }
}

/// Rows drawn in the order of `targets`, and how often each was drawn; all rows with their weights where there are not
/// more.
fn sampled(targets: &[f64], weights: Option<&[f64]>, count: usize, seed: u64) -> (Vec<usize>, Vec<f64>) {
    let weight = |row: usize| weights.map_or(1.0, |weights| weights[row]);
    let mut order: Vec<usize> = (0..targets.len()).filter(|row| weight(*row) > 0.0).collect();
    // Equal targets in a random order: the order of a file may mean something.
    Rng::new(seed, streams::BACKGROUND).shuffle(&mut order);
    order.sort_by(|a, b| targets[*a].total_cmp(&targets[*b]));
    if order.len() <= count {
        let weights = order.iter().map(|row| weight(*row)).collect();
        return (order, weights);
    }
    let total: f64 = order.iter().map(|row| weight(*row)).sum();
    let (mut chosen, mut times) = (Vec::with_capacity(count), Vec::with_capacity(count));
    let (mut sum, mut next) = (0.0, 0.5 * total / count as f64);
    for row in order {
        sum += weight(row);
        let mut drawn = 0.0;
        while next <= sum && chosen.len() < count {
            drawn += 1.0;
            next += total / count as f64;
        }
        if drawn > 0.0 {
            chosen.push(row);
            times.push(drawn);
        }
    }
    (chosen, times)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_drawn_in_proportion_to_their_weights() {
        let targets: Vec<f64> = (0..100).map(|row| f64::from(row * 37 % 100)).collect();
        let (rows, times) = sampled(&targets, None, 10, 1);
        let drawn: Vec<f64> = rows.iter().map(|row| targets[*row]).collect();
        assert_eq!(drawn, [4.0, 14.0, 24.0, 34.0, 44.0, 54.0, 64.0, 74.0, 84.0, 94.0]);
        assert_eq!(times, [1.0; 10]);
        // A row of half of all weight is half of the sample, and rows without weight are never in it.
        let weights: Vec<f64> = (0..100).map(|row| if row == 3 { 40.0 } else { f64::from(row < 41) }).collect();
        let (rows, times) = sampled(&targets, Some(&weights), 8, 1);
        assert_eq!(times.iter().sum::<f64>(), 8.0);
        assert_eq!(times[rows.iter().position(|row| *row == 3).unwrap()], 4.0);
        assert!(rows.iter().all(|row| *row < 41));
        let (rows, times) = sampled(&targets, Some(&weights), 41, 1);
        assert_eq!((rows.len(), times.iter().sum::<f64>()), (41, 80.0));
    }
}
