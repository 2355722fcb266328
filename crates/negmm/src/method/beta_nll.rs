//! Responsible for beta-NLL: one Gaussian for each row, trained with a logarithmic score that does not give up on hard rows.

use serde::{Deserialize, Serialize};

use super::NetworkSettings;
use super::material::FoldData;
use negmm_nn::net::GaussianHead;
use negmm_nn::options::{Checked, Options, Refused, Slot, Spec};
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

impl Options for BetaNll {
    fn each(&mut self, see: &mut dyn FnMut(&Spec, &mut dyn Slot)) {
        see(
            &Spec::new(
                "beta-nll",
                "beta",
                "B",
                "power of the variance that weighs each row in the loss: 0 is the plain logarithmic score, 1 learns the mean as squared error does",
            )
            .within(0.0, 1.0),
            &mut self.beta,
        );
        self.settings.each(see);
    }

    fn fit_together(&self) -> Checked<()> {
        if self.settings.sigma_min >= 1.0 {
            return Err(Refused::new("sigma-min", "below 1", self.settings.sigma_min));
        }
        self.settings.fit_together()
    }
}

impl BetaNll {
    pub(super) fn job(&self, material: &FoldData, seed: u64) -> NetworkJob {
        let floor = self.settings.sigma_min as f32;
        let head = GaussianHead { variance_floor: floor * floor, variance_ceiling: VARIANCE_CEILING };
        self.settings.job(material, Objective::BetaNll { head, beta: self.beta as f32 }, seed)
    }
}
