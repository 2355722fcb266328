//! Slopes of predicted means within the training ranges, by input, for extrapolation.
//!
//! ```text
//! slope_i² = mean over rows of ((m(x + h e_i) - m(x)) / h)²        m: predicted mean, standardised; h: STEP sds, inwards at the edge
//! ```

use crate::method::Predictor;
use negmm_data::{Encoder, Extrapolation};
use negmm_dist::Result;
use negmm_dist::math::lanes::Isa;
use negmm_nn::dataset::Dataset;

/// Step of the finite difference, in standard deviations.
const STEP: f32 = 0.5;
/// Approximate number of predictions for the estimate.
const PREDICTIONS: usize = 1 << 14;
/// Minimum and maximum number of rows per slope.
const ROWS: (usize, usize) = (16, 256);
/// Factor of the slopes of a pool: the disagreement of its networks outside the ranges already covers part of the
/// uncertainty (`docs/derivations.md`).
const OF_POOL: f64 = 0.5;

/// The encoder with the slopes of the predictions for the training rows.
pub(super) fn measured(encoder: Encoder, predictor: &Predictor, data: &Dataset) -> Result<Encoder> {
    if matches!(predictor, Predictor::Constant { .. }) || data.is_empty() {
        return Ok(encoder);
    }
    let counts = if predictor.networks().nth(1).is_some() { OF_POOL } else { 1.0 };
    let ranges = encoder.number_ranges();
    let count = (PREDICTIONS / ranges.len().max(1)).clamp(ROWS.0, ROWS.1).min(data.len());
    let rows: Vec<u32> = (0..count).map(|at| (at * data.len() / count) as u32).collect();
    let rows = data.select(&rows);
    let means = predictor.predict(&rows, Isa::best())?.means();
    let slope = |range: &Option<(usize, (f32, f32))>| -> Result<f64> {
        let Some((feature, range)) = *range else { return Ok(0.0) };
        let (moved, steps) = rows.moved(feature, STEP, range);
        let moved = predictor.predict(&moved, Isa::best())?.means();
        let slopes = moved.iter().zip(&means).zip(steps).filter(|(_, step)| *step != 0.0);
        let (sum, count) = slopes.fold((0.0, 0), |(sum, count), ((moved, mean), step)| {
            let slope = (moved - mean) / f64::from(step);
            (sum + slope * slope, count + 1)
        });
        Ok((counts * (sum / f64::from(count.max(1))).sqrt()).min(Extrapolation::MOST_SLOPE))
    };
    let slopes = ranges.iter().map(slope).collect::<Result<Vec<f64>>>()?;
    Ok(encoder.extrapolating(Some(Extrapolation { margin: Extrapolation::MARGIN, slopes })))
}
