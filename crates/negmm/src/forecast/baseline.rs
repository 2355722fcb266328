//! Baselines: forecasts without learning, as distributions. One of them is a member of the pool. One of them stands
//! beside the networks in the pool.

use serde::{Deserialize, Serialize};

use super::changes::law;
use super::local_scale::Measure;
use super::scale::Scale;
use super::{ForecastPoint, Naive, Series, SeriesTransform};
use negmm_dist::Mixtures;

/// What the rival is called that is measured as the networks are: the naive forecast with the law of recent changes.
const RECENT: &str = "recent changes";

/// A naive forecast with the law of what it misses, in units of its measure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct Baseline {
    pub(super) name: String,
    measure: Measure,
    weights: Vec<f64>,
    sds: Vec<f64>,
}

impl Baseline {
    /// The one that is measured as networks are, with the law of these changes.
    pub(super) fn recent(recipe: &SeriesTransform, changes: &[f64]) -> Self {
        let law = law(changes);
        let measure = recipe.measure.clone();
        Self { name: RECENT.into(), measure, weights: law.weights().to_vec(), sds: law.sds().to_vec() }
    }

    /// All others: the last value, the seasons, the drift, each with a normal law that does not look at when.
    pub(super) fn all(recipe: &SeriesTransform, series: &[Series]) -> Vec<Self> {
        let seasons = recipe.seasons.iter().map(|season| Naive::Season(*season));
        let naives = [Naive::Last].into_iter().chain(seasons).chain([Naive::Drift]);
        let rival = |naive: Naive| {
            let scale = Scale { lag: naive.lag(), ..recipe.measure.scale.of_all_times() };
            let measure = Measure::new(naive, scale, series, recipe.roles.horizon);
            Self { name: naive.name(), measure, weights: vec![1.0], sds: vec![1.0] }
        };
        naives.map(rival).collect()
    }

    /// What forecasts places of these series.
    pub(super) fn of<'a>(&'a self, series: &'a [Series]) -> impl Fn(&[ForecastPoint]) -> Mixtures + use<'a> {
        let scales: Vec<Vec<f64>> = series.iter().map(|series| self.measure.scale.at_each(series)).collect();
        move |places| {
            let frame =
                |place: &ForecastPoint| self.measure.frame(&series[place.series], &scales[place.series], *place);
            let frames = places.iter().map(|place| frame(place).shift_and_scale());
            self.law().repeated(places.len()).rescaled_by_row(frames)
        }
    }

    /// The law in units of the measure, one row.
    pub(super) fn law(&self) -> Mixtures {
        let means = vec![0.0; self.sds.len()];
        Mixtures::from_parts_unchecked(self.sds.len(), self.weights.clone(), means, self.sds.clone())
    }

    /// Whether it can be of so many steps ahead, and its numbers can be.
    pub(super) fn is_sound(&self, horizon: usize) -> bool {
        let positive = |numbers: &[f64]| numbers.iter().all(|number| number.is_finite() && *number > 0.0);
        let sum: f64 = self.weights.iter().sum();
        let law = self.weights.len() == self.sds.len() && positive(&self.sds) && (sum - 1.0).abs() < 1e-6;
        law && self.weights.iter().all(|weight| *weight >= 0.0) && self.measure.is_sound(horizon)
    }
}
