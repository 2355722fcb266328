//! The series transform: everything about a forecaster that is decided before training.

use serde::{Deserialize, Serialize};

use super::local_scale::{LocalScale, mean_error};
use super::scale::Scale;
use super::{Frequency, Histories, Naive, SeriesSpec, seasons};
use negmm_dist::{Error, Result};

/// Maximum number of steps ahead at which naive forecasts are compared.
const COMPARED: usize = 24;

/// Maps a forecast point to a row of features, and the prediction for that row back to a forecast.
///
/// With the origin T, the step ahead h, the naive forecast b and the scale s at T, the target is
///
/// ```text
/// z = (y_(T+h) - b) / (s · growth_h)
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct SeriesTransform {
    /// Column roles and horizon.
    #[serde(rename = "roles")]
    pub spec: SeriesSpec,
    /// Time between consecutive steps.
    #[serde(rename = "clock")]
    pub frequency: Frequency,
    /// Seasonal periods in steps, shortest first.
    #[serde(rename = "seasons")]
    pub seasonal_periods: Vec<usize>,
    /// Whether there are several series.
    #[serde(rename = "many")]
    pub several: bool,
    #[serde(rename = "measure")]
    pub(super) local_scale: LocalScale,
}

impl SeriesTransform {
    /// Estimates the transform from these series.
    pub(super) fn choose(spec: &SeriesSpec, histories: &Histories) -> Self {
        let Histories { series, frequency, .. } = histories;
        let mut seasonal_periods = spec.seasonal_periods.clone().unwrap_or_else(|| seasons::found(series, *frequency));
        seasonal_periods.sort_unstable();
        seasonal_periods.dedup();
        let steps: Vec<usize> = (1..=spec.horizon).step_by(spec.horizon.div_ceil(COMPARED)).collect();
        let candidates = [Naive::Last].into_iter().chain(seasonal_periods.iter().map(|season| Naive::Season(*season)));
        let naive = candidates
            .map(|naive| (mean_error(series, naive, &steps), naive))
            .min_by(|(a, _), (b, _)| a.total_cmp(b))
            .map_or(Naive::Last, |(_, naive)| naive);
        let local_scale = LocalScale::new(naive, Scale::best(series, naive.lag()), series, spec.horizon);
        let spec = SeriesSpec { local_time: histories.local, ..spec.clone() };
        Self { spec, frequency: *frequency, seasonal_periods, several: series.len() > 1, local_scale }
    }

    /// Checks that the parameters are valid.
    pub(super) fn check(&self) -> Result<()> {
        self.spec.check()?;
        if self.seasonal_periods.iter().any(|season| *season < 2) || !self.local_scale.is_sound(self.spec.horizon) {
            return Err(Error::model("a season or a scale is out of range"));
        }
        Ok(())
    }

    /// The naive forecast.
    pub fn naive(&self) -> Naive {
        self.local_scale.naive
    }

    /// Number of past steps that features use; fewer are enough.
    pub fn reach(&self) -> usize {
        2 * self.seasonal_periods.last().copied().unwrap_or(15) + 3
    }
}
