//! Beta-NLL: one Gaussian per row, trained with the logarithmic score weighted by a power of the variance.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::fold_data::FoldData;
use super::plan::Plan;
use super::settings::{MethodSettings, plan_one_network};
use super::{NetworkSettings, PredictorKind};
use negmm_dist::Result;
use negmm_nn::dataset::Dataset;
use negmm_nn::net::GaussianHead;
use negmm_nn::options::{OptionSpec, Options, option_list, out_of_range};
use negmm_nn::train::{NetworkJob, Objective};

/// Largest variance, in units of the standardised target squared (the original's).
const VARIANCE_CEILING: f32 = 100.0;

/// One Gaussian for each row, trained with the logarithmic score weighted by variance^beta (Seitzer et al., 2022).
///
/// As in the original the variance is parametrised (softplus, 1 at the start, at most 100). Different: the floor is
/// `sigma_min`² = 1e-6 like that of every neural method here, not 1e-8; and network, batches and schedule are those of
/// [`NetworkSettings`], so that methods are compared on equal terms. The loss that is reported has the constant ln(2 pi)/2.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
#[non_exhaustive]
pub struct BetaNll {
    /// The power of the variance.
    pub beta: f64,
    /// The network and its training.
    #[serde(flatten)]
    pub settings: NetworkSettings,
}

impl Default for BetaNll {
    fn default() -> Self {
        Self { beta: 0.5, settings: NetworkSettings::default() }
    }
}

/// Setters.
impl BetaNll {
    /// Sets `beta`.
    #[must_use]
    pub fn beta(self, beta: f64) -> Self {
        Self { beta, ..self }
    }

    /// Sets `settings`.
    #[must_use]
    pub fn settings(self, settings: NetworkSettings) -> Self {
        Self { settings, ..self }
    }
}

const BETA: OptionSpec = OptionSpec::new(
    "beta-nll",
    "beta",
    "BETA",
    "exponent of the variance that weights each row's loss (0: plain NLL; 1: the mean is trained as with squared error)",
)
.within(0.0, 1.0);

impl Options for BetaNll {
    option_list! {
        beta: BETA,
        ..settings
    }

    fn check_combination(&self) -> Result<()> {
        if self.settings.sigma_min >= 1.0 {
            return Err(out_of_range("sigma-min", "below 1", self.settings.sigma_min));
        }
        self.settings.check_combination()
    }
}

impl MethodSettings for BetaNll {
    fn name(&self) -> &'static str {
        "beta-nll"
    }

    fn plan(&self, data: &Arc<Dataset>, seed: u64) -> Result<Plan> {
        Ok(plan_one_network(self, data, seed))
    }

    fn makes(&self, kind: PredictorKind) -> bool {
        kind == PredictorKind::Networks
    }

    fn network(&self) -> Option<&NetworkSettings> {
        Some(&self.settings)
    }

    fn network_mut(&mut self) -> Option<&mut NetworkSettings> {
        Some(&mut self.settings)
    }

    fn network_job(&self, fold_data: &FoldData, seed: u64) -> Option<NetworkJob> {
        let floor = self.settings.sigma_min as f32;
        let head = GaussianHead { variance_floor: floor * floor, variance_ceiling: VARIANCE_CEILING };
        Some(self.settings.job(fold_data, Objective::BetaNll { head, beta: self.beta as f32 }, seed))
    }
}
