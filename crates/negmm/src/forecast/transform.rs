//! The series transform: everything about a forecaster that is decided before training.

use serde::{Deserialize, Serialize};

use super::local_scale::{Measure, missed};
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
    pub roles: SeriesSpec,
    /// Time between consecutive steps.
    pub clock: Frequency,
    /// Seasonal periods in steps, shortest first.
    pub seasons: Vec<usize>,
    /// Whether there are several series.
    pub many: bool,
    pub(super) measure: Measure,
}

impl SeriesTransform {
    /// Estimates the transform from these series.
    pub(super) fn choose(roles: &SeriesSpec, histories: &Histories) -> Self {
        let Histories { series, clock, .. } = histories;
        let mut seasons = roles.seasons.clone().unwrap_or_else(|| seasons::found(series, *clock));
        seasons.sort_unstable();
        seasons.dedup();
        let steps: Vec<usize> = (1..=roles.horizon).step_by(roles.horizon.div_ceil(COMPARED)).collect();
        let candidates = [Naive::Last].into_iter().chain(seasons.iter().map(|season| Naive::Season(*season)));
        let naive = candidates
            .map(|naive| (missed(series, naive, &steps), naive))
            .min_by(|(a, _), (b, _)| a.total_cmp(b))
            .map_or(Naive::Last, |(_, naive)| naive);
        let measure = Measure::new(naive, Scale::best(series, naive.lag()), series, roles.horizon);
        Self { roles: roles.clone(), clock: *clock, seasons, many: series.len() > 1, measure }
    }

    /// Checks that the parameters are valid.
    pub(super) fn check(&self) -> Result<()> {
        self.roles.check()?;
        if self.seasons.iter().any(|season| *season < 2) || !self.measure.is_sound(self.roles.horizon) {
            return Err(Error::model("a season or a scale is out of range"));
        }
        Ok(())
    }

    /// The naive forecast.
    pub fn naive(&self) -> Naive {
        self.measure.naive
    }

    /// Number of past steps that features use; fewer are enough.
    pub fn reach(&self) -> usize {
        2 * self.seasons.last().copied().unwrap_or(15) + 3
    }
}
