//! SampleNet: a network whose outputs are samples, trained with their energy score.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::fold_data::FoldData;
use super::plan::Plan;
use super::settings::{MethodSettings, plan_one_network};
use super::{NetworkSettings, PredictorKind};
use negmm_dist::{Error, Result};
use negmm_nn::dataset::Dataset;
use negmm_nn::loss::sinkhorn::{Prior, Sinkhorn};
use negmm_nn::net::{MAX_SAMPLES, MIN_SAMPLES, SampleHead};
use negmm_nn::options::{OptionSpec, Options, option_list, out_of_range};
use negmm_nn::train::{NetworkJob, Objective, Selection};

/// Largest weight of the regulariser: beyond it the energy score would be lost in rounding.
const MOST_SINKHORN: f64 = 1000.0;

/// M equally likely samples for each row, without a parametric distribution, trained with the energy score and an
/// optional regulariser towards a prior (Harakeh et al., 2023).
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
#[non_exhaustive]
pub struct SampleNet {
    /// Number of samples M.
    pub samples: usize,
    /// Weight of the regulariser.
    pub sinkhorn: f64,
    /// The prior of the regulariser.
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

/// Setters.
impl SampleNet {
    /// Sets `samples`.
    #[must_use]
    pub fn samples(self, samples: usize) -> Self {
        Self { samples, ..self }
    }

    /// Sets `sinkhorn`.
    #[must_use]
    pub fn sinkhorn(self, sinkhorn: f64) -> Self {
        Self { sinkhorn, ..self }
    }

    /// Sets `prior`.
    #[must_use]
    pub fn prior(self, prior: Prior) -> Self {
        Self { prior, ..self }
    }

    /// Sets `settings`.
    #[must_use]
    pub fn settings(self, settings: NetworkSettings) -> Self {
        Self { settings, ..self }
    }
}

const SAMPLES: OptionSpec = OptionSpec::new("sample-net", "samples", "M", "number of samples predicted per row")
    .within(MIN_SAMPLES as f64, MAX_SAMPLES as f64);

const SINKHORN: OptionSpec = OptionSpec::new(
    "sample-net",
    "sinkhorn",
    "WEIGHT",
    "weight of the regulariser: Sinkhorn divergence between samples and prior; 0: off (training is many times slower with it)",
)
.within(0.0, MOST_SINKHORN);

const PRIOR: OptionSpec = OptionSpec::choice("sample-net", "prior", "prior distribution of the Sinkhorn regulariser");

impl Options for SampleNet {
    option_list! {
        samples: SAMPLES,
        sinkhorn: SINKHORN,
        prior: PRIOR,
        ..settings
    }

    fn check_combination(&self) -> Result<()> {
        if self.settings.training.select == Selection::Calibrated {
            return Err(out_of_range("select", "nll or crps for samples", "\"calibrated\""));
        }
        self.settings.check_combination()
    }
}

impl MethodSettings for SampleNet {
    fn name(&self) -> &'static str {
        "sample-net"
    }

    fn plan(&self, data: &Arc<Dataset>, seed: u64) -> Result<Plan> {
        Ok(plan_one_network(self, data, seed))
    }

    fn makes(&self, kind: PredictorKind) -> bool {
        kind == PredictorKind::Samplers
    }

    fn network(&self) -> Option<&NetworkSettings> {
        Some(&self.settings)
    }

    fn network_mut(&mut self) -> Option<&mut NetworkSettings> {
        Some(&mut self.settings)
    }

    fn network_job(&self, fold_data: &FoldData, seed: u64) -> Option<NetworkJob> {
        let head = SampleHead { samples: self.samples, sd_floor: self.settings.sigma_min as f32 };
        let sinkhorn = Sinkhorn { prior: self.prior, weight: self.sinkhorn as f32 };
        let sinkhorn = (self.sinkhorn > 0.0).then_some(sinkhorn);
        Some(self.settings.job(fold_data, Objective::SampleEnergy { head, sinkhorn }, seed))
    }

    fn check_censored(&self) -> Result<()> {
        Err(Error::options("sample-net cannot learn from censored targets"))
    }
}
