//! Naive and seasonal naive forecasts.

use serde::{Deserialize, Serialize};

use super::Series;

/// A naive forecast.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Naive {
    /// The last value.
    Last,
    /// The value of the same step one season before.
    Season(usize),
    /// The last value plus the mean change per step times the steps ahead.
    Drift,
}

impl Naive {
    /// The point forecast for the step `ahead` after `origin`.
    pub(super) fn point(self, series: &Series, origin: usize, ahead: usize) -> f64 {
        let last = series.filled[origin];
        match self {
            Self::Last => last,
            Self::Season(season) => {
                let back = season * ahead.div_ceil(season);
                (origin + ahead).checked_sub(back).map_or(last, |step| series.filled[step])
            }
            Self::Drift => last + ahead as f64 * (last - series.filled[0]) / origin.max(1) as f64,
        }
    }

    /// Steps between the value it copies and the first step that it forecasts.
    pub(super) fn lag(self) -> usize {
        if let Self::Season(season) = self { season } else { 1 }
    }

    /// Its name in tables.
    pub fn name(self) -> String {
        match self {
            Self::Last => "last value".into(),
            Self::Season(season) => format!("seasonal naive ({season})"),
            Self::Drift => "drift".into(),
        }
    }
}
