//! Responsible for SampleNet: a network whose outputs are samples, trained with their energy score.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::NetworkSettings;
use super::option::{out_of_range, parse, parse_word};
use super::seed::Seed;
use crate::Result;
use crate::data::Dataset;
use crate::net::{LEAST_SAMPLES, MOST_SAMPLES, SampleHead};
use crate::score::sinkhorn::{Prior, Sinkhorn};
use crate::train::{NetworkJob, Objective, Selection};

/// Largest weight of the regulariser: far beyond it the energy score would be lost in rounding.
const MOST_SINKHORN: f64 = 1000.0;

/// M equally likely samples for each row, with no assumption about their shape, trained with the energy score and, where
/// asked for, a pull of that shape towards a prior (Harakeh et al., 2023).
///
/// | field | default | range | meaning |
/// |---|---|---|---|
/// | `samples` | 100 | 2 … 1000 | M, outputs of the network |
/// | `sinkhorn` | 0 | 0 … 1000 | weight of the Sinkhorn divergence between a row's scaled samples and draws from the prior; 0: off. It costs about M² steps a row where the energy score costs M (log M)², so training is about 14 times slower with M = 100 |
/// | `prior` | uniform | uniform, normal | what the samples' shape is drawn towards |
/// | `settings` | | | see [`NetworkSettings`] |
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

impl SampleNet {
    pub(super) fn set(&mut self, name: &str, value: &str) -> Result<bool> {
        match name {
            "samples" => self.samples = parse(name, value)?,
            "sinkhorn" => self.sinkhorn = parse(name, value)?,
            "prior" => self.prior = parse_word(name, value, "uniform, normal")?,
            _ => return self.settings.set(name, value),
        }
        Ok(true)
    }

    pub(super) fn check(&self) -> Result<()> {
        if !(LEAST_SAMPLES..=MOST_SAMPLES).contains(&self.samples) {
            return Err(out_of_range("samples", "from 2 to 1000", self.samples));
        }
        if !(0.0..=MOST_SINKHORN).contains(&self.sinkhorn) {
            return Err(out_of_range("sinkhorn", "from 0 to 1000", self.sinkhorn));
        }
        if self.settings.training.select == Selection::Calibrated {
            return Err(out_of_range("select", "nll or crps for samples", "\"calibrated\""));
        }
        self.settings.check()
    }

    pub(super) fn job(&self, data: &Arc<Dataset>, seed: Seed) -> NetworkJob {
        let head = SampleHead { samples: self.samples, sd_floor: self.settings.sigma_min as f32 };
        let sinkhorn = Sinkhorn { prior: self.prior, weight: self.sinkhorn as f32 };
        let sinkhorn = (self.sinkhorn > 0.0).then_some(sinkhorn);
        self.settings.job(data, Objective::SampleEnergy { head, sinkhorn }, seed)
    }
}
