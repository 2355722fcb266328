//! Baselines: naive forecasts with an error distribution. One of them is also a member of the pool.

use serde::{Deserialize, Serialize};

use super::changes::error_distribution;
use super::local_scale::LocalScale;
use super::scale::Scale;
use super::{ForecastPoint, Naive, Series, SeriesTransform};
use negmm_dist::Mixtures;

/// Name of the baseline in the pool: the naive forecast with the empirical distribution of scaled changes.
const RECENT: &str = "empirical changes";

/// A naive forecast with the distribution of its errors, in units of the local scale.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct Baseline {
    pub(super) name: String,
    #[serde(rename = "measure")]
    local_scale: LocalScale,
    weights: Vec<f64>,
    sds: Vec<f64>,
}

impl Baseline {
    /// The present name of a baseline that a model file may store under a former one.
    pub(super) fn present_name(stored: &str) -> String {
        match (stored, stored.strip_prefix("season of ")) {
            ("recent changes", _) => RECENT.into(),
            (_, Some(season)) => format!("seasonal naive ({season})"),
            _ => stored.into(),
        }
    }

    /// The baseline that uses the networks' own local scale, with the empirical distribution of these changes.
    pub(super) fn recent(transform: &SeriesTransform, changes: &[f64]) -> Self {
        let errors = error_distribution(changes);
        let local_scale = transform.local_scale.clone();
        Self { name: RECENT.into(), local_scale, weights: errors.weights().to_vec(), sds: errors.sds().to_vec() }
    }

    /// The other baselines: last value, seasonal naive and drift, each with normal errors of constant scale.
    pub(super) fn all(transform: &SeriesTransform, series: &[Series]) -> Vec<Self> {
        let seasons = transform.seasonal_periods.iter().map(|season| Naive::Season(*season));
        let naives = [Naive::Last].into_iter().chain(seasons).chain([Naive::Drift]);
        let baseline = |naive: Naive| {
            let scale = Scale { lag: naive.lag(), ..transform.local_scale.scale.of_all_times() };
            let local_scale = LocalScale::new(naive, scale, series, transform.spec.horizon);
            Self { name: naive.name(), local_scale, weights: vec![1.0], sds: vec![1.0] }
        };
        naives.map(baseline).collect()
    }

    /// A function that forecasts points of these series.
    pub(super) fn of<'a>(&'a self, series: &'a [Series]) -> impl Fn(&[ForecastPoint]) -> Mixtures + use<'a> {
        let scales: Vec<Vec<f64>> = series.iter().map(|series| self.local_scale.scale.at_each(series)).collect();
        move |points| {
            let location_scale = |point: &ForecastPoint| {
                self.local_scale.location_scale(&series[point.series], &scales[point.series], *point)
            };
            let scaling = points.iter().map(|point| location_scale(point).shift_and_scale());
            self.error_distribution().repeated(points.len()).rescaled_by_row(scaling)
        }
    }

    /// The error distribution in units of the local scale, as a single row.
    pub(super) fn error_distribution(&self) -> Mixtures {
        let means = vec![0.0; self.sds.len()];
        Mixtures::from_parts_unchecked(self.sds.len(), self.weights.clone(), means, self.sds.clone())
    }

    /// Whether the parameters are valid for this horizon.
    pub(super) fn is_sound(&self, horizon: usize) -> bool {
        let positive = |numbers: &[f64]| numbers.iter().all(|number| number.is_finite() && *number > 0.0);
        let sum: f64 = self.weights.iter().sum();
        let distribution = self.weights.len() == self.sds.len() && positive(&self.sds) && (sum - 1.0).abs() < 1e-6;
        distribution && self.weights.iter().all(|weight| *weight >= 0.0) && self.local_scale.is_sound(horizon)
    }
}
