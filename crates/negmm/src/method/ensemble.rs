//! Deep ensembles: several networks that differ only in their random initialisation, pooled.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::fold_data::FoldData;
use super::plan::{Plan, Work};
use super::seed::member_seed;
use super::settings::MethodSettings;
use super::{MEMBER, Mdn, Method, NetworkSettings, PredictorKind};
use crate::standardised::Pool;
use negmm_dist::{Error, Result};
use negmm_nn::dataset::Dataset;
use negmm_nn::options::{Choice, OptionSpec, OptionValue, Options, ValueKind, option_list};

/// Maximum number of members.
const MOST_MEMBERS: usize = 1000;
/// Methods that can be members.
const NEURAL: [&str; 4] = ["ne-gmm", "mdn", "beta-nll", "sample-net"];

/// Several networks, each with its own initial weights and order of rows, pooled with equal weights (Lakshminarayanan et
/// al., 2017).
///
/// As in the original, every member is trained on all training rows, and the default member is a Gaussian trained
/// with the logarithmic score; adversarial training is the option `adversarial` of any neural method, off by default.
/// Different: the exact mixture is predicted unless `pool` selects the Gaussian of the original, and all members use
/// the same validation rows, so that the ensemble's validation score is out of sample.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
#[non_exhaustive]
pub struct Ensemble {
    /// Number of networks; called `members` in files.
    #[serde(rename = "members")]
    pub ensemble_size: usize,
    /// The method of each member.
    pub member: Box<Method>,
    /// How the members' predictions are combined.
    pub pool: Pool,
}

impl Default for Ensemble {
    fn default() -> Self {
        let mut gaussian = Mdn::default();
        gaussian.network.components = 1;
        Self { ensemble_size: 5, member: Box::new(Method::Mdn(gaussian)), pool: Pool::Mixture }
    }
}

/// Setters.
impl Ensemble {
    /// Sets `ensemble_size`.
    #[must_use]
    pub fn ensemble_size(self, ensemble_size: usize) -> Self {
        Self { ensemble_size, ..self }
    }

    /// Sets `member`.
    #[must_use]
    pub fn member(self, member: impl Into<Method>) -> Self {
        Self { member: Box::new(member.into()), ..self }
    }

    /// Sets `pool`.
    #[must_use]
    pub fn pool(self, pool: Pool) -> Self {
        Self { pool, ..self }
    }
}

impl Choice for Pool {}

/// Number of networks: of an ensemble, and of each fold of `auto`.
pub(super) const ENSEMBLE_SIZE: OptionSpec =
    OptionSpec::new("Ensemble", "ensemble-size", "N", "number of networks in the ensemble")
        .within(1.0, MOST_MEMBERS as f64);

const MEMBER_METHOD: OptionSpec = OptionSpec::choice(
    "Ensemble",
    MEMBER,
    "neural method of the ensemble's members; its options are options of the ensemble",
);

const POOL: OptionSpec = OptionSpec::choice(
    "Ensemble",
    "pool",
    "how the members are combined: mixture (their equally weighted mixture), or gaussian (the Gaussian with its mean and variance)",
);

impl Options for Ensemble {
    option_list! {
        ensemble_size: ENSEMBLE_SIZE,
        member: MEMBER_METHOD,
        pool: POOL,
        ..member
    }

    fn check_combination(&self) -> Result<()> {
        self.member.check_combination()
    }
}

impl OptionValue for Box<Method> {
    fn kind(&self) -> ValueKind {
        ValueKind::Choice(&NEURAL)
    }

    /// The method with its defaults, or those for sequences where it has them now.
    fn parse(&mut self, _: &OptionSpec, text: &str) -> Result<()> {
        let without_layers = self.settings().network().is_some_and(|network| network.hidden.is_empty());
        let method = neural(text.trim())?;
        **self = if without_layers { method.for_sequences() } else { method };
        Ok(())
    }

    fn text(&self, _: &OptionSpec) -> String {
        self.name().to_string()
    }

    fn check(&self, _: &OptionSpec) -> Result<()> {
        neural(self.name()).map(drop)
    }
}

impl MethodSettings for Ensemble {
    fn name(&self) -> &'static str {
        "ensemble"
    }

    /// All members use the same validation rows, so that the ensemble's validation score is out of sample.
    fn plan(&self, data: &Arc<Dataset>, seed: u64) -> Result<Plan> {
        let validation_fraction = self.network().map_or(0.0, |network| network.training.validation_fraction);
        let fold_data = FoldData::split(data, validation_fraction, seed);
        let not_one_network = || Error::options(format!("{} is not one network", self.member.name()));
        let job = |number| self.member.settings().network_job(&fold_data, member_seed(seed, number));
        let jobs = (0..self.ensemble_size).map(|number| job(number).ok_or_else(not_one_network));
        let work =
            Work::Networks { jobs: jobs.collect::<Result<_>>()?, statistics: fold_data.statistics, pool: self.pool };
        Ok(Plan { method: self.clone().into(), work })
    }

    fn makes(&self, kind: PredictorKind) -> bool {
        self.member.makes(kind)
    }

    fn network(&self) -> Option<&NetworkSettings> {
        self.member.settings().network()
    }

    fn network_mut(&mut self) -> Option<&mut NetworkSettings> {
        self.member.settings_mut().network_mut()
    }

    fn check_censored(&self) -> Result<()> {
        self.member.settings().check_censored()
    }

    fn pool(&self) -> Pool {
        self.pool
    }
}

/// The neural method of that name.
fn neural(name: &str) -> Result<Method> {
    if NEURAL.contains(&name) {
        return Method::by_name(name);
    }
    Err(Error::option(MEMBER, format!("must be a neural method ({}), found {name:?}", NEURAL.join(", "))))
}
