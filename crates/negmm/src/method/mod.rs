//! Methods: configuration that turns a data set into jobs, and trained networks into a predictor.

mod auto;
mod auto_settings;
mod beta_nll;
mod configure;
mod constant;
mod ensemble;
mod few_rows;
mod finish;
mod fold_data;
mod fold_rows;
mod folds;
mod joint;
mod mdn;
mod member_kind;
mod member_predictions;
mod mixture_network;
mod ne_gmm;
mod network_settings;
mod ng_boost;
mod plan;
mod pool_scale;
mod predictor;
mod sample_net;
mod seed;
mod settings;
mod sigma_scale;
mod sizes;
mod stack;
mod stacking;
mod tails;
mod tilt;
mod truncated_pool;
mod whole_pool;

use serde::{Deserialize, Serialize};

pub use auto_settings::Auto;
pub use beta_nll::BetaNll;
pub use constant::Constant;
pub use ensemble::Ensemble;
pub use finish::{FitOutput, OutOfFold};
pub(crate) use joint::{JointNetworks, joint_forest};
pub use mdn::Mdn;
pub use member_kind::MemberKind;
pub use mixture_network::MixtureNetwork;
pub use ne_gmm::NeGmm;
pub use network_settings::NetworkSettings;
pub use plan::Plan;
pub use predictor::{Member, Part, Predictor};
pub(crate) use predictor::{PredictorKind, raw_outputs};
pub use sample_net::SampleNet;

pub use crate::standardised::{Pool, Standardised};
pub use few_rows::LEAST_TRAINED;
pub use negmm_nn::ngboost::NgBoost;
pub use sizes::Preset;
pub use tails::Tail;
pub use tilt::{Centre, Tilt};

use configure::MEMBER;
use settings::MethodSettings;

use negmm_dist::{Error, Result, suggestion};

/// A method for fitting predictive distributions, with its settings.
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
    /// The constant baseline: mean and sd of the training targets.
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
            let similar = suggestion(name, names.iter().copied()).map(|similar| format!(" (did you mean {similar}?)"));
            let similar = similar.unwrap_or_default();
            Error::options(format!("there is no method {name:?}{similar}; the methods are {}", names.join(", ")))
        })
    }

    /// Its name on the command line and in files.
    pub fn name(&self) -> &'static str {
        self.settings().name()
    }

    /// The same with the defaults for sequences: the LSTM's last state goes directly to the head, without hidden
    /// layers.
    #[must_use]
    pub fn for_sequences(mut self) -> Self {
        if let Some(network) = self.settings_mut().network_mut() {
            network.hidden = Vec::new();
        }
        self
    }

    /// Whether it trains networks of one kind, and so has the options of networks and their training.
    pub fn is_neural(&self) -> bool {
        self.settings().network().is_some()
    }

    /// The smallest number of rows that it can be fitted to.
    pub fn least_rows(&self) -> usize {
        if self.is_neural() { 2 } else { 1 }
    }

    /// Whether it handles missing numbers itself, so that they are not imputed.
    pub fn keeps_missing(&self) -> bool {
        self.settings().keeps_missing()
    }

    /// The limit of smooth clipping of numeric inputs, in sds.
    pub fn soft_clip(&self) -> Option<f64> {
        self.settings().soft_clip()
    }

    /// Whether numeric inputs have a second copy, quantile-transformed to a normal distribution.
    pub fn quantile_transform(&self) -> bool {
        self.settings().quantile_transform()
    }

    /// The settings of `auto`, where it is that method.
    pub fn as_auto(&self) -> Option<&Auto> {
        self.settings().as_auto()
    }

    /// Whether it is the baseline that ignores the inputs.
    pub fn is_baseline(&self) -> bool {
        self.settings().is_baseline()
    }

    /// How the predictions of its networks are combined.
    pub(crate) fn pool(&self) -> Pool {
        self.settings().pool()
    }

    /// Whether its models, or their parts, can have a predictor of that kind.
    pub(crate) fn makes(&self, kind: PredictorKind) -> bool {
        self.settings().makes(kind)
    }

    /// Its settings: this and [`Method::settings_mut`] are the only matches over all methods.
    fn settings(&self) -> &dyn MethodSettings {
        match self {
            Self::Auto(settings) => settings,
            Self::NeGmm(settings) => settings,
            Self::Mdn(settings) => settings,
            Self::BetaNll(settings) => settings,
            Self::SampleNet(settings) => settings,
            Self::Ensemble(settings) => settings,
            Self::NgBoost(settings) => settings,
            Self::Constant(settings) => settings,
        }
    }

    /// As [`Method::settings`], mutable.
    /// The training settings of its networks, where it has networks of one kind.
    pub(crate) fn training_mut(&mut self) -> Option<&mut negmm_nn::train::TrainingConfig> {
        self.settings_mut().network_mut().map(|network| &mut network.training)
    }

    fn settings_mut(&mut self) -> &mut dyn MethodSettings {
        match self {
            Self::Auto(settings) => settings,
            Self::NeGmm(settings) => settings,
            Self::Mdn(settings) => settings,
            Self::BetaNll(settings) => settings,
            Self::SampleNet(settings) => settings,
            Self::Ensemble(settings) => settings,
            Self::NgBoost(settings) => settings,
            Self::Constant(settings) => settings,
        }
    }
}

impl From<Auto> for Method {
    fn from(settings: Auto) -> Self {
        Self::Auto(settings)
    }
}

impl From<NeGmm> for Method {
    fn from(settings: NeGmm) -> Self {
        Self::NeGmm(settings)
    }
}

impl From<Mdn> for Method {
    fn from(settings: Mdn) -> Self {
        Self::Mdn(settings)
    }
}

impl From<BetaNll> for Method {
    fn from(settings: BetaNll) -> Self {
        Self::BetaNll(settings)
    }
}

impl From<SampleNet> for Method {
    fn from(settings: SampleNet) -> Self {
        Self::SampleNet(settings)
    }
}

impl From<Ensemble> for Method {
    fn from(settings: Ensemble) -> Self {
        Self::Ensemble(settings)
    }
}

impl From<NgBoost> for Method {
    fn from(settings: NgBoost) -> Self {
        Self::NgBoost(settings)
    }
}

impl From<Constant> for Method {
    fn from(settings: Constant) -> Self {
        Self::Constant(settings)
    }
}
