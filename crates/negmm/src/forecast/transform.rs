//! The series transform: everything about a forecast that is decided before training.

use serde::{Deserialize, Serialize};

use super::local_scale::{Measure, missed};
use super::scale::Scale;
use super::{Frequency, Histories, Naive, SeriesSpec, seasons};
use negmm_dist::{Error, Result};

/// Steps ahead at which naive forecasts are compared, at most.
const COMPARED: usize = 24;

/// How a place in time becomes a row of numbers, and a prediction for that row a forecast.
///
/// With T the origin, h the steps ahead, b the naive forecast and s the scale after T, what is learnt is
///
/// ```text
/// z = (y_(T+h) - b) / (s · growth_h)
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct SeriesTransform {
    /// What the columns are.
    pub roles: SeriesSpec,
    /// How steps follow one another.
    pub clock: Frequency,
    /// Steps after which things repeat, the shortest first.
    pub seasons: Vec<usize>,
    /// Whether there are many series.
    pub many: bool,
    pub(super) measure: Measure,
}

impl SeriesTransform {
    /// The one that suits these histories.
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

    /// Says what cannot be, if something cannot.
    pub(super) fn check(&self) -> Result<()> {
        self.roles.check()?;
        if self.seasons.iter().any(|season| *season < 2) || !self.measure.is_sound(self.roles.horizon) {
            return Err(Error::model("a season or a scale is out of range"));
        }
        Ok(())
    }

    /// What forecasts are measured from.
    pub fn naive(&self) -> Naive {
        self.measure.naive
    }

    /// Steps of the past that a forecast wants to see; with fewer it makes do.
    pub fn reach(&self) -> usize {
        2 * self.seasons.last().copied().unwrap_or(15) + 3
    }
}
