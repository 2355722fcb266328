//! Sample paths through the steps ahead, and aggregates over them.

use super::shared_support::support_of_draws;
use super::{ForecastPoint, Forecaster, Forecasts};
use negmm_dist::Distribution;
use negmm_dist::math::rng::Rng;
use negmm_dist::samples::SampleSets;
use negmm_dist::{Error, Predictions, Result, streams};

/// An aggregate over the steps ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aggregate {
    /// The sum.
    Sum,
    /// The maximum.
    Max,
    /// The minimum.
    Min,
}

impl Forecaster {
    /// Sample paths through the steps ahead of each origin: `count` values per point; the n-th values of all steps of
    /// an origin are one path.
    ///
    /// # Errors
    /// When a quantile cannot be computed.
    pub fn paths(&self, forecasts: &Forecasts, count: usize, seed: u64) -> Result<Vec<f64>> {
        let Forecasts { points, predictions, draws } = forecasts;
        if let Some(draws) = draws {
            return joint_paths(draws, points.len(), count, seed);
        }
        let mut values = vec![0.0; points.len() * count];
        let mut first = 0;
        for origin in points.chunk_by(ForecastPoint::is_beside) {
            let point = origin[0];
            let stream = streams::PATHS + ((point.series as u64) << 32) + point.origin as u64;
            let mut rng = Rng::new(seed, stream);
            let last = origin.iter().map(|point| point.ahead).max().unwrap_or(1);
            for path in 0..count {
                let probabilities = self.copula().path(last, &mut rng);
                for (at, point) in origin.iter().enumerate() {
                    let row = first + at;
                    values[row * count + path] = predictions.row(row).quantile(probabilities[point.ahead - 1]);
                }
            }
            first += origin.len();
        }
        Ok(values)
    }

    /// The distribution of an aggregate over the steps ahead, one per origin, by sample paths.
    ///
    /// # Errors
    /// When a quantile cannot be computed.
    pub fn over(&self, forecasts: &Forecasts, over: Aggregate, paths: usize, seed: u64) -> Result<Forecasts> {
        let values = self.paths(forecasts, paths, seed)?;
        let (mut samples, mut points, mut first, mut most) = (Vec::new(), Vec::new(), 0, 1);
        for origin in forecasts.points.chunk_by(ForecastPoint::is_beside) {
            let of_path = |path: usize| {
                let steps = (0..origin.len()).map(|at| values[(first + at) * paths + path]);
                match over {
                    Aggregate::Sum => steps.sum(),
                    Aggregate::Max => steps.fold(f64::NEG_INFINITY, f64::max),
                    Aggregate::Min => steps.fold(f64::INFINITY, f64::min),
                }
            };
            samples.extend((0..paths).map(of_path));
            points.push(origin[origin.len() - 1]);
            first += origin.len();
            most = most.max(origin.len());
        }
        let summed = over == Aggregate::Sum && most > 1;
        let support = support_of_draws(&forecasts.predictions, self.support(), summed, &samples);
        let predictions = Predictions::from(SampleSets::new(paths, samples, f64::MIN_POSITIVE)?);
        let predictions = predictions.with_sound_support(support);
        Ok(Forecasts { points, predictions, draws: None })
    }
}

/// Some of the joint draws of a hierarchy, in random order.
fn joint_paths(draws: &[f64], rows: usize, count: usize, seed: u64) -> Result<Vec<f64>> {
    let each = draws.len() / rows.max(1);
    if count > each {
        return Err(Error::option("paths", format!("must be at most {each} for a hierarchy, found {count}")));
    }
    let mut order: Vec<usize> = (0..each).collect();
    Rng::new(seed, streams::PATHS).shuffle(&mut order);
    let row = |row: usize| order[..count].iter().map(move |draw| draws[row * each + draw]);
    Ok((0..rows).flat_map(row).collect())
}
