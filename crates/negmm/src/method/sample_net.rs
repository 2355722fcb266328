//! Responsible for SampleNet: a network whose outputs are samples, trained with their energy score.

use serde::{Deserialize, Serialize};

use super::NetworkSettings;
use super::material::FoldData;
use negmm_nn::loss::sinkhorn::{Prior, Sinkhorn};
use negmm_nn::net::{LEAST_SAMPLES, MOST_SAMPLES, SampleHead};
use negmm_nn::options::{Checked, Options, Refused, Slot, Spec};
use negmm_nn::train::{NetworkJob, Objective, Selection};

/// Largest weight of the regulariser: far beyond it the energy score would be lost in rounding.
const MOST_SINKHORN: f64 = 1000.0;

/// M equally likely samples for each row, with no assumption about their shape, trained with the energy score and, where
/// asked for, a pull of that shape towards a prior (Harakeh et al., 2023).
///
/// The Sinkhorn divergence is between a row's scaled samples and draws from the prior. It costs about M² steps a row where the
/// energy score costs M (log M)², so training is about 14 times slower with M = 100.
///
/// As in the original the loss is the energy score with all pairs (divided by M²), the regulariser is geomloss's with
/// its few updates, draws from the prior are fresh in every step and shared by its rows, and the logarithmic score is that of
/// the normal distribution with the samples' mean and unbiased variance. Different:
///
/// - Pairs are summed by sorting, and all M samples take part: no random subset of them.
/// - `sigma_min` is a floor of that normal distribution's sd: samples that collapse onto a point would otherwise have a
///   logarithmic score without bound. With the floor that score may choose the epoch, as for every method here: it
///   sees a collapse that the CRPS hardly minds. (On five UCI sets the CRPS as the choice gains at most 2 % of test CRPS
///   and loses 0.02 to 0.28 of test NLL.)
/// - Network, batches and schedule are those of [`NetworkSettings`], so that methods are compared on equal terms; there is
///   no first half that learns the mean alone.
/// - The regulariser is off by default: it is costly, the original tunes its weight for each data set, and weights of 0.01 and
///   0.1 changed neither NLL nor CRPS on boston and concrete by more than their standard errors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub struct SampleNet {
    /// M.
    pub samples: usize,
    /// Weight of the regulariser.
    pub sinkhorn: f64,
    /// What the samples' shape is drawn towards.
    pub prior: Prior,
    /// The network and its training.
    #[serde(flatten)]
    pub settings: NetworkSettings,
}

impl Default for SampleNet {
    fn default() -> Self {
        Self { samples: 100, sinkhorn: 0.0, prior: Prior::Uniform, settings: NetworkSettings::default() }
    }
}

impl Options for SampleNet {
    fn each(&mut self, see: &mut dyn FnMut(&Spec, &mut dyn Slot)) {
        see(
            &Spec::new("sample-net", "samples", "M", "samples that are predicted for each row")
                .within(LEAST_SAMPLES as f64, MOST_SAMPLES as f64),
            &mut self.samples,
        );
        see(
            &Spec::new(
                "sample-net",
                "sinkhorn",
                "W",
                "weight of the Sinkhorn divergence that draws the samples' shape towards the prior; 0: off (on, training is many times slower)",
            )
            .within(0.0, MOST_SINKHORN),
            &mut self.sinkhorn,
        );
        see(&Spec::word("sample-net", "prior", "what the samples' shape is drawn towards"), &mut self.prior);
        self.settings.each(see);
    }

    fn fit_together(&self) -> Checked<()> {
        if self.settings.training.select == Selection::Calibrated {
            return Err(Refused::new("select", "nll or crps for samples", "\"calibrated\""));
        }
        self.settings.fit_together()
    }
}

impl SampleNet {
    pub(super) fn job(&self, material: &FoldData, seed: u64) -> NetworkJob {
        let head = SampleHead { samples: self.samples, sd_floor: self.settings.sigma_min as f32 };
        let sinkhorn = Sinkhorn { prior: self.prior, weight: self.sinkhorn as f32 };
        let sinkhorn = (self.sinkhorn > 0.0).then_some(sinkhorn);
        self.settings.job(material, Objective::SampleEnergy { head, sinkhorn }, seed)
    }
}
