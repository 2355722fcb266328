//! The settings common to NE-GMM and MDN: a network whose outputs are a Gaussian mixture.

use serde::{Deserialize, Serialize};

use super::NetworkSettings;
use super::fold_data::FoldData;
use negmm_dist::{Hint, Result};
use negmm_nn::dataset::Dataset;
use negmm_nn::net::{Atom, Atoms, Bounds, MAX_COMPONENTS, MixtureHead};
use negmm_nn::options::{OptionSpec, Options, option_list, out_of_range};
use negmm_nn::train::{NetworkJob, Objective};

/// Training uses a bound where at least this fraction of targets lies within this distance, in sds.
const SHARE_AT_BOUND: f64 = 0.01;
const NEAR_BOUND: f32 = 0.05;

/// A network whose outputs are a Gaussian mixture, and its training.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
#[non_exhaustive]
pub struct MixtureNetwork {
    /// Number of mixture components K.
    pub components: usize,
    /// Largest sd.
    pub sigma_max: Option<f64>,
    /// Largest absolute mean.
    pub mean_bound: Option<f64>,
    /// The network and its training.
    #[serde(flatten)]
    pub settings: NetworkSettings,
}

impl Default for MixtureNetwork {
    fn default() -> Self {
        Self { components: 8, sigma_max: None, mean_bound: None, settings: NetworkSettings::default() }
    }
}

/// Setters.
impl MixtureNetwork {
    /// Sets `components`.
    #[must_use]
    pub fn components(self, components: usize) -> Self {
        Self { components, ..self }
    }

    /// Sets `sigma_max`.
    #[must_use]
    pub fn sigma_max(self, sigma_max: impl Into<Option<f64>>) -> Self {
        Self { sigma_max: sigma_max.into(), ..self }
    }

    /// Sets `mean_bound`.
    #[must_use]
    pub fn mean_bound(self, mean_bound: impl Into<Option<f64>>) -> Self {
        Self { mean_bound: mean_bound.into(), ..self }
    }

    /// Sets `settings`.
    #[must_use]
    pub fn settings(self, settings: NetworkSettings) -> Self {
        Self { settings, ..self }
    }
}

pub(super) const COMPONENTS: OptionSpec = OptionSpec::new("Mixture", "components", "K", "number of mixture components")
    .within(1.0, MAX_COMPONENTS as f64)
    .basic();

const SIGMA_MAX: OptionSpec = OptionSpec::new(
    "Mixture",
    "sigma-max",
    "SD",
    "upper bound of a component's sd, in sds of the target; must be larger than sigma-min",
)
.within(1e-6, 1e6);

const MEAN_BOUND: OptionSpec = OptionSpec::new(
    "Mixture",
    "mean-bound",
    "SD",
    "upper bound of the distance between a component's mean and the target's mean, in sds of the target",
)
.within(1e-6, 1e6);

impl Options for MixtureNetwork {
    option_list! {
        components: COMPONENTS,
        sigma_max: SIGMA_MAX,
        mean_bound: MEAN_BOUND,
        ..settings
    }

    fn check_combination(&self) -> Result<()> {
        match self.sigma_max {
            // Compared in the network's precision.
            Some(most) if most as f32 <= self.settings.sigma_min as f32 => {
                let refused = out_of_range("sigma-max", &format!("larger than {}", self.settings.sigma_min), most);
                Err(refused.with_hint(Hint::RelatedOption { option: "sigma-min" }))
            }
            _ => self.settings.check_combination(),
        }
    }
}

impl MixtureNetwork {
    /// The loss, with `eta` as the weight of the logarithmic score. The atoms are those of all rows, so that all
    /// networks of a pool have the same.
    fn objective(&self, data: &Dataset, eta: f64) -> Objective {
        let head = self.head(data);
        // The energy score needs known targets, and where some are censored the known ones are not representative.
        Objective::Hybrid { head, eta: if data.has_censored() { 1.0 } else { eta as f32 } }
    }

    /// The outputs. The atoms are those of all rows, so that all networks of a pool have the same.
    pub(super) fn head(&self, data: &Dataset) -> MixtureHead {
        let atom = |value: &f32| Atom { value: *value, probability: data.fraction_equal_to(*value) as f32 };
        MixtureHead {
            components: self.components,
            sd_floor: self.settings.sigma_min as f32,
            sd_ceiling: self.sigma_max.map(|most| most as f32),
            mean_bound: self.mean_bound.map(|bound| bound as f32),
            atoms: Atoms::new(data.atoms().iter().map(atom)),
            bounds: bounds_to_learn(data),
        }
    }

    /// The network to train.
    pub(super) fn job(&self, fold_data: &FoldData, eta: f64, seed: u64) -> NetworkJob {
        self.settings.job(fold_data, self.objective(&fold_data.data, eta), seed)
    }
}

/// The bounds used in training; predictions respect all of them. A likelihood truncated at a bound lets components
/// drift beyond it, which is a loss where hardly any target is near. Interval and censored targets always use their
/// bounds: otherwise the probability beyond the bound would be missing from theirs, and from that of an atom at the
/// bound.
pub(super) fn bounds_to_learn(data: &Dataset) -> Bounds {
    let near = |end: f32| data.y().iter().filter(|y| (**y - end).abs() < NEAR_BOUND).count() as f64;
    let counts = |end: &f32| data.intervals().is_some() || near(*end) >= SHARE_AT_BOUND * data.len() as f64;
    let Bounds { lower, upper } = data.bounds();
    Bounds { lower: lower.filter(counts), upper: upper.filter(counts) }
}
