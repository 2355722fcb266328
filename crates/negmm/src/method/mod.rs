//! Responsible for methods: plain configuration that turns a data set into jobs, and trained networks into a predictor.

mod auto;
mod beta_nll;
mod configure;
mod constant;
mod division;
mod ensemble;
mod few_rows;
mod finish;
mod folds;
mod material;
mod mdn;
mod mixture_network;
mod ne_gmm;
mod network_settings;
mod plan;
mod predictor;
mod sample_net;
mod sd_factor;
mod seed;
mod sizes;
mod stacking;

use serde::{Deserialize, Serialize};

pub use auto::Auto;
pub use beta_nll::BetaNll;
pub use constant::Constant;
pub use ensemble::Ensemble;
pub use finish::{FitOutput, OutOfFold};
pub use mdn::Mdn;
pub use mixture_network::MixtureNetwork;
pub use ne_gmm::NeGmm;
pub use network_settings::NetworkSettings;
pub use plan::Plan;
pub use predictor::{Member, Part, Predictor};
pub use sample_net::SampleNet;

pub use crate::standardised::{Pool, Standardised};
pub(crate) use few_rows::LEAST_TRAINED;
pub use negmm_nn::ngboost;
pub use negmm_nn::ngboost::NgBoost;
pub use sizes::Preset;
pub(crate) use stacking::Stacking;

use configure::MEMBER;
use material::FoldData;

use negmm_dist::{Error, Result, near};
use negmm_nn::ngboost::Score;
use negmm_nn::train::NetworkJob;

/// A way to learn a distribution for every row, with its settings.
///
/// ```
/// use negmm::Method;
///
/// let mut method = Method::by_name("ne-gmm")?;
/// method.set("components", "8")?;
/// assert!(method.set("eta", "2").is_err());
/// assert!(Method::by_name("mdn")?.set("eta", "0.5").is_err());
/// # Ok::<(), negmm::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Method {
    /// The default: a calibrated pool of neural Gaussian mixtures.
    Auto(Auto),
    /// A neural Gaussian mixture trained with the hybrid of logarithmic and energy score.
    NeGmm(NeGmm),
    /// A mixture density network: the logarithmic score alone.
    Mdn(Mdn),
    /// One Gaussian, trained with the logarithmic score weighted by variance^beta.
    BetaNll(BetaNll),
    /// Samples, trained with their energy score.
    SampleNet(SampleNet),
    /// Several networks pooled.
    Ensemble(Ensemble),
    /// Boosted trees along natural gradients, one Gaussian.
    #[serde(rename = "ngboost")]
    NgBoost(NgBoost),
    /// The training targets' own mean and sd, whatever the inputs.
    Constant(Constant),
}

impl Default for Method {
    fn default() -> Self {
        Self::Auto(Auto::default())
    }
}

impl Method {
    /// Every method with its default settings.
    pub fn all() -> Vec<Self> {
        vec![
            Self::Auto(Auto::default()),
            Self::NeGmm(NeGmm::default()),
            Self::Mdn(Mdn::default()),
            Self::BetaNll(BetaNll::default()),
            Self::SampleNet(SampleNet::default()),
            Self::Ensemble(Ensemble::default()),
            Self::NgBoost(NgBoost::default()),
            Self::Constant(Constant::default()),
        ]
    }

    /// The method of that name with its default settings.
    pub fn by_name(name: &str) -> Result<Self> {
        Self::all().into_iter().find(|method| method.name() == name).ok_or_else(|| {
            let names: Vec<&str> = Self::all().iter().map(Self::name).collect();
            let near = near::suggestion(name, names.iter().copied());
            Error::options(format!("there is no method {name:?}{near}; the methods are {}", names.join(", ")))
        })
    }

    /// Its name as people type it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Auto(_) => "auto",
            Self::NeGmm(_) => "ne-gmm",
            Self::Mdn(_) => "mdn",
            Self::BetaNll(_) => "beta-nll",
            Self::SampleNet(_) => "sample-net",
            Self::Ensemble(_) => "ensemble",
            Self::NgBoost(_) => "ngboost",
            Self::Constant(_) => "constant",
        }
    }

    /// The same with the defaults for sequences: the LSTM's last state goes straight to the head, without hidden layers.
    #[must_use]
    pub fn for_sequences(mut self) -> Self {
        if let Some(settings) = self.network_settings() {
            settings.hidden = Vec::new();
        }
        self
    }

    /// The settings of its networks, where it has some.
    fn network_settings(&mut self) -> Option<&mut NetworkSettings> {
        match self {
            Self::NeGmm(method) => Some(&mut method.network.settings),
            Self::Mdn(method) => Some(&mut method.network.settings),
            Self::BetaNll(method) => Some(&mut method.settings),
            Self::SampleNet(method) => Some(&mut method.settings),
            Self::Ensemble(method) => method.member.network_settings(),
            Self::Auto(_) | Self::NgBoost(_) | Self::Constant(_) => None,
        }
    }

    /// Whether it trains networks of one kind, so that it has the options of networks and their training.
    pub fn is_neural(&self) -> bool {
        !matches!(self, Self::Auto(_) | Self::NgBoost(_) | Self::Constant(_))
    }

    /// Rows it cannot do without.
    pub fn least_rows(&self) -> usize {
        match self {
            Self::Auto(_) | Self::Constant(_) | Self::NgBoost(_) => 1,
            _ => 2,
        }
    }

    /// Whether it knows what to do with missing numbers, so that they are not filled for it.
    pub fn keeps_missing(&self) -> bool {
        matches!(self, Self::NgBoost(_))
    }

    /// The share of the rows that a network holds out.
    fn validation(&self) -> f64 {
        self.clone().network_settings().map_or(0.0, |settings| settings.training.validation)
    }

    /// The limit of smooth clipping, in standard deviations.
    pub fn soft_clip(&self) -> Option<f64> {
        match self {
            Self::Auto(method) => method.soft_clip(),
            other => other.clone().network_settings().and_then(|settings| settings.soft_clip),
        }
    }

    /// Whether numbers have normal scores as a second copy.
    pub fn normal_scores(&self) -> bool {
        match self {
            Self::Auto(method) => method.normal_scores,
            other => other.clone().network_settings().is_some_and(|settings| settings.normal_scores),
        }
    }

    /// Says why it cannot learn from censored targets, if it cannot: they have no energy score.
    fn check_censored(&self) -> Result<()> {
        let eta_0 = match self {
            Self::NeGmm(method) => method.eta == 0.0,
            Self::Auto(method) => method.eta == 0.0,
            Self::Ensemble(method) => return method.member.check_censored(),
            Self::SampleNet(_) => return Err(Error::options("sample-net cannot learn from censored targets")),
            Self::NgBoost(settings) if settings.score != Score::Log => {
                return Err(Error::options(
                    "ngboost with the CRPS score cannot learn from censored targets; use score log",
                ));
            }
            _ => false,
        };
        if eta_0 {
            let name = self.name();
            return Err(Error::options(format!(
                "{name} with eta 0 cannot learn from censored targets; use a larger eta"
            )));
        }
        Ok(())
    }

    /// One network to train, where the method is one of networks.
    fn network_job(&self, material: &FoldData, seed: u64) -> Result<NetworkJob> {
        match self {
            Self::NeGmm(method) => Ok(method.network.job(material, method.eta, seed)),
            Self::Mdn(method) => Ok(method.network.job(material, 1.0, seed)),
            Self::BetaNll(method) => Ok(method.job(material, seed)),
            Self::SampleNet(method) => Ok(method.job(material, seed)),
            Self::Auto(_) | Self::Ensemble(_) | Self::NgBoost(_) | Self::Constant(_) => {
                Err(Error::options(format!("{} is not one network", self.name())))
            }
        }
    }
}
