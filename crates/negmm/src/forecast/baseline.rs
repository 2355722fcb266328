//! Baselines: naive forecasts with an error distribution. One of them is also a member of the pool.

use serde::{Deserialize, Serialize};

use super::changes::law;
use super::local_scale::Measure;
use super::scale::Scale;
use super::{ForecastPoint, Naive, Series, SeriesTransform};
use negmm_dist::Mixtures;

/// Name of the baseline in the pool: the naive forecast with the empirical distribution of scaled changes.
const RECENT: &str = "recent changes";

/// A naive forecast with the distribution of its errors, in units of the local scale.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct Baseline {
    pub(super) name: String,
    measure: Measure,
    weights: Vec<f64>,
    sds: Vec<f64>,
}

impl Baseline {
    /// The baseline that uses the networks' own local scale, with the empirical distribution of these changes.
    pub(super) fn recent(recipe: &SeriesTransform, changes: &[f64]) -> Self {
        let law = law(changes);
        let measure = recipe.measure.clone();
        Self { name: RECENT.into(), measure, weights: law.weights().to_vec(), sds: law.sds().to_vec() }
    }

    /// The other baselines: last value, seasonal naive and drift, each with normal errors of constant scale.
    pub(super) fn all(recipe: &SeriesTransform, series: &[Series]) -> Vec<Self> {
        let seasons = recipe.seasons.iter().map(|season| Naive::Season(*season));
        let naives = [Naive::Last].into_iter().chain(seasons).chain([Naive::Drift]);
        let baseline = |naive: Naive| {
            let scale = Scale { lag: naive.lag(), ..recipe.measure.scale.of_all_times() };
            let measure = Measure::new(naive, scale, series, recipe.roles.horizon);
            Self { name: naive.name(), measure, weights: vec![1.0], sds: vec![1.0] }
        };
        naives.map(baseline).collect()
    }

    /// A function that forecasts points of these series.
    pub(super) fn of<'a>(&'a self, series: &'a [Series]) -> impl Fn(&[ForecastPoint]) -> Mixtures + use<'a> {
        let scales: Vec<Vec<f64>> = series.iter().map(|series| self.measure.scale.at_each(series)).collect();
        move |places| {
            let frame =
                |place: &ForecastPoint| self.measure.frame(&series[place.series], &scales[place.series], *place);
            let frames = places.iter().map(|place| frame(place).shift_and_scale());
            self.law().repeated(places.len()).rescaled_by_row(frames)
        }
    }

    /// The error distribution in units of the local scale, as a single row.
    pub(super) fn law(&self) -> Mixtures {
        let means = vec![0.0; self.sds.len()];
        Mixtures::from_parts_unchecked(self.sds.len(), self.weights.clone(), means, self.sds.clone())
    }

    /// Whether the parameters are valid for this horizon.
    pub(super) fn is_sound(&self, horizon: usize) -> bool {
        let positive = |numbers: &[f64]| numbers.iter().all(|number| number.is_finite() && *number > 0.0);
        let sum: f64 = self.weights.iter().sum();
        let law = self.weights.len() == self.sds.len() && positive(&self.sds) && (sum - 1.0).abs() < 1e-6;
        law && self.weights.iter().all(|weight| *weight >= 0.0) && self.measure.is_sound(horizon)
    }
}
