//! The parts of a forecaster beside its networks, as they are in a model file.

use std::collections::BTreeMap;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::atoms::{Components, constant, has_atoms, replace_rows};
use super::baseline::Baseline;
use super::classical::Classical;
use super::coherent::Coherent;
use super::copula::Copula;
use super::ends::Ends;
use super::holidays::HolidayEffects;
use super::intermittent::Intermittent;
use super::supports::OwnSupport;
use super::{ForecastPoint, Score, ScoredOrigins, Series, SeriesTransform};
use negmm_dist::{Mixtures, Support};

/// Weights that sum to 1 do so up to this.
pub(super) const WEIGHT_ROUNDING: f64 = 1e-9;

/// The parts of a forecaster in a model file, beside the networks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ForecastParts {
    #[serde(rename = "recipe")]
    pub(super) transform: SeriesTransform,
    pub(super) rest: Rest,
}

/// The fitted parts beside the networks and the series transform.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct Rest {
    /// Stacking weight of the networks.
    #[serde(rename = "share")]
    pub(super) network_weight: f64,
    /// That of the classical combination; the remainder belongs to the baseline of recent changes.
    #[serde(default)]
    pub(super) classical_weight: f64,
    /// Weights of the classical combination and of the networks in series that have their own, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) own_weights: BTreeMap<String, [f64; 2]>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) classical: Option<Classical>,
    /// Distributions of intermittent series, where they are better than the pool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) intermittent: Option<Intermittent>,
    /// The probabilities of zeros and of bounds, where series have them and the pool forecasts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) ends: Option<Ends>,
    /// Whether series may have grids of their own; `None` in models of earlier versions, in which none has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) own_grids: Option<bool>,
    /// Whether a constant history is forecast by an atom; not so in models of earlier versions.
    #[serde(default)]
    pub(super) constants: bool,
    /// The number of networks whose pool is given the spread of the errors of their mean; `None` where each has been
    /// scaled for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) single_networks: Option<usize>,
    /// Whether the members of the pool are moved to their common mean; not so in models of earlier versions.
    #[serde(default)]
    pub(super) centred: bool,
    /// Factor of the spread of each pooled distribution around its mean.
    #[serde(default = "no_factor")]
    pub(super) spread: f64,
    pub(super) recent: Baseline,
    #[serde(rename = "rivals")]
    pub(super) baselines: Vec<Baseline>,
    pub(super) copula: Copula,
    /// Effects of holidays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) holidays: Option<HolidayEffects>,
    /// The dependence between the series of a hierarchy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) coherent: Option<Coherent>,
    #[serde(default)]
    pub(super) support: Support,
    /// The origins of the scores; `None` where there are none, or the file is of an earlier version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) scored: Option<ScoredOrigins>,
    /// Mean CRPS and NLL on the last parts of the series, of the forecaster first and then of the baselines.
    pub(super) scores: Vec<Score>,
}

impl Rest {
    /// Whether the parts are valid, and fit together.
    pub(super) fn is_sound(&self, transform: &SeriesTransform) -> bool {
        let horizon = transform.spec.horizon;
        let weight = self.network_weight + self.classical_weight;
        (0.0..=1.0).contains(&self.network_weight)
            && (0.0..=1.0 + WEIGHT_ROUNDING).contains(&weight)
            && self.classical_weight >= 0.0
            && self.own_weights.values().all(|[classical, networks]| {
                *classical >= 0.0 && *networks >= 0.0 && classical + networks <= 1.0 + WEIGHT_ROUNDING
            })
            && self.spread > 0.0
            && self.spread.is_finite()
            && (self.classical_weight == 0.0 || self.classical.is_some())
            && self.intermittent.as_ref().is_none_or(Intermittent::is_sound)
            && self.ends.as_ref().is_none_or(|ends| ends.is_sound(&transform.seasonal_periods))
            && self.classical.as_ref().is_none_or(|classical| classical.is_sound(horizon))
            && self.copula.is_sound()
            && self.holidays.as_ref().is_none_or(HolidayEffects::is_sound)
            && self.coherent.as_ref().is_none_or(Coherent::is_sound)
            && self.coherent.is_some() != transform.spec.hierarchy.is_empty()
            && self.baselines.iter().chain([&self.recent]).all(|baseline| baseline.is_sound(horizon))
            && !self.scores.iter().any(|score| score.crps.is_nan())
    }

    /// The pooled distributions with those of intermittent and of constant histories in their place.
    pub(super) fn with_atoms(&self, pooled: Mixtures, series: &[&Series], points: &[ForecastPoint]) -> Mixtures {
        let mut replaced = match &self.intermittent {
            Some(intermittent) => intermittent.components(series, points),
            None => vec![None; points.len()],
        };
        if self.constants {
            for (point, replaced) in points.iter().zip(&mut replaced).filter(|(_, replaced)| replaced.is_none()) {
                *replaced = constant(series[point.series].history(point.origin));
            }
        }
        replace_rows(pooled, &replaced)
    }

    /// The distributions with the probabilities of zeros and bounds, and on the grids of single series. Those that have
    /// atoms already keep them.
    pub(super) fn on_supports(
        &self,
        mixtures: Mixtures,
        (series, own): (&[&Series], &[&OwnSupport]),
        points: &[ForecastPoint],
        periods: &[usize],
    ) -> Mixtures {
        let each = |replace: &(dyn Fn(usize, &ForecastPoint) -> Option<Components> + Sync)| -> Vec<_> {
            points.par_iter().enumerate().map(|(row, point)| replace(row, point)).collect()
        };
        let mut mixtures = mixtures;
        if let Some(ends) = &self.ends {
            let replaced = each(&|row, point| match has_atoms(&mixtures, row) {
                true => None,
                false => ends.components(own[point.series], (series, periods), *point, &mixtures, row),
            });
            mixtures = replace_rows(mixtures, &replaced);
        }
        if own.iter().any(|own| own.grid.is_some()) {
            let replaced = each(&|row, point| own[point.series].on_grid(&mixtures, row));
            mixtures = replace_rows(mixtures, &replaced);
        }
        mixtures
    }
}

/// The spread factor of models without one.
fn no_factor() -> f64 {
    1.0
}
