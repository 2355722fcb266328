//! Responsible for methods: plain configuration that turns a data set into jobs, and trained networks into a predictor.

mod constant;
mod mdn;
mod mixture_network;
mod ne_gmm;
pub mod ngboost;
mod option;
mod predictor;

use serde::{Deserialize, Serialize};

pub use constant::Constant;
pub use mdn::Mdn;
pub use mixture_network::MixtureNetwork;
pub use ne_gmm::NeGmm;
pub use ngboost::NgBoost;
pub use predictor::{Predictor, TrainedNetwork};

use crate::data::Dataset;
use crate::train::{Job, Trained};
use crate::{Error, Result};

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
pub enum Method {
    /// A neural Gaussian mixture trained with the hybrid of logarithmic and energy score.
    NeGmm(NeGmm),
    /// A mixture density network: the logarithmic score alone.
    Mdn(Mdn),
    /// The training targets' own mean and sd, whatever the inputs.
    Constant(Constant),
}

impl Default for Method {
    fn default() -> Self {
        Self::NeGmm(NeGmm::default())
    }
}

impl Method {
    /// Every method with its default settings.
    pub fn all() -> Vec<Self> {
        vec![Self::NeGmm(NeGmm::default()), Self::Mdn(Mdn::default()), Self::Constant(Constant::default())]
    }

    /// The method of that name with its default settings.
    pub fn by_name(name: &str) -> Result<Self> {
        Self::all().into_iter().find(|method| method.name() == name).ok_or_else(|| {
            let names: Vec<&str> = Self::all().iter().map(Self::name).collect();
            Error::options(format!("there is no method {name:?}; the methods are {}", names.join(", ")))
        })
    }

    /// Its name as people type it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::NeGmm(_) => "ne-gmm",
            Self::Mdn(_) => "mdn",
            Self::Constant(_) => "constant",
        }
    }

    /// Sets one option by its name on the command line. Says which methods have it when this one does not.
    pub fn set(&mut self, option: &str, value: &str) -> Result<()> {
        if self.try_set(option, value)? {
            return Ok(());
        }
        let having: Vec<&str> =
            Self::all().iter().filter(|method| method.has(option)).map(|method| method.name()).collect();
        Err(Error::options(if having.is_empty() {
            format!("there is no option {option:?}")
        } else {
            format!("method {} has no option {option:?}; methods that have it: {}", self.name(), having.join(", "))
        }))
    }

    /// Whether it has an option of that name.
    pub fn has(&self, option: &str) -> bool {
        // An empty value is refused by every option there is.
        !matches!(self.clone().try_set(option, ""), Ok(false))
    }

    fn try_set(&mut self, option: &str, value: &str) -> Result<bool> {
        let known = match self {
            Self::NeGmm(method) => method.set(option, value),
            Self::Mdn(method) => method.network.set(option, value),
            Self::Constant(_) => Ok(false),
        }?;
        if known {
            self.check()?;
        }
        Ok(known)
    }

    /// Says which setting is out of range, if one is.
    pub fn check(&self) -> Result<()> {
        match self {
            Self::NeGmm(method) => method.check(),
            Self::Mdn(method) => method.network.check(),
            Self::Constant(_) => Ok(()),
        }
    }

    /// Rows it cannot do without.
    pub fn least_rows(&self) -> usize {
        match self {
            Self::NeGmm(_) | Self::Mdn(_) => 2,
            Self::Constant(_) => 1,
        }
    }

    /// The networks to train; `seed` starts all random choices.
    pub fn jobs<'a>(&self, data: &'a Dataset, seed: u64) -> Vec<Job<'a>> {
        match self {
            Self::NeGmm(method) => vec![method.network.job(data, method.eta, seed)],
            Self::Mdn(method) => vec![method.network.job(data, 1.0, seed)],
            Self::Constant(_) => vec![],
        }
    }

    /// What predicts, from the jobs and what training left behind.
    pub fn predictor(&self, jobs: &[Job<'_>], trained: Vec<Trained>) -> Predictor {
        match jobs.first() {
            None => Predictor::Constant,
            Some(job) => Predictor::Networks {
                networks: trained
                    .into_iter()
                    .map(|trained| TrainedNetwork { network: job.network.clone(), weights: trained.weights })
                    .collect(),
                head: job.objective.head,
            },
        }
    }
}
