//! Held-out scores of a forecaster, and the origins that they come from.

use serde::{Deserialize, Serialize};

use super::{ForecastPoint, Series};
use negmm_dist::Skill;

/// The origins that held-out scores come from: in the last part of each series, forecast by what was learnt before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub struct ScoredOrigins {
    /// Number of forecasts.
    pub forecasts: usize,
    /// Number of origins, over all series.
    pub origins: usize,
    /// Number of series with such origins.
    pub series: usize,
    /// Shortest and longest last part, in steps.
    pub shortest: usize,
    /// See `shortest`.
    pub longest: usize,
}

impl ScoredOrigins {
    /// Those of these points; `first` has the first step of the last part of each series.
    pub(super) fn of(points: &[ForecastPoint], first: &[usize], series: &[Series]) -> Self {
        let lengths = points.chunk_by(|a, b| a.series == b.series).map(|points| {
            let number = points[0].series;
            series[number].len() - first[number]
        });
        Self {
            forecasts: points.len(),
            origins: points.chunk_by(ForecastPoint::is_beside).count(),
            series: lengths.clone().count(),
            shortest: lengths.clone().min().unwrap_or(0),
            longest: lengths.max().unwrap_or(0),
        }
    }
}

/// Mean scores on held-out steps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Score {
    /// Name of the forecaster or baseline.
    pub name: String,
    /// Mean CRPS, in the target's unit.
    pub crps: f64,
    /// Mean NLL; `None` where it is not finite.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nll: Option<f64>,
    /// Coverage of central 90 % intervals; `None` in files of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coverage90: Option<f64>,
    /// Of the forecaster: how much lower its CRPS is than that of the best baseline, with a standard error by origins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skill: Option<Skill>,
}
