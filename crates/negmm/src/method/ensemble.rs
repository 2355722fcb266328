//! Responsible for deep ensembles: several networks that differ in nothing but their random start, pooled.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::material::FoldData;
use super::plan::Work;
use super::seed::member_seed;
use super::{MEMBER, Mdn, Method};
use crate::standardised::Pool;
use negmm_dist::{Error, Result};
use negmm_nn::dataset::Dataset;
use negmm_nn::options::{Checked, Kind, Options, Slot, Spec, Word};

/// Members at most.
const MOST_MEMBERS: usize = 1000;
/// What a member may be.
const NEURAL: [&str; 4] = ["ne-gmm", "mdn", "beta-nll", "sample-net"];

/// Several networks, each with its own initial weights and order of rows, pooled with equal weights (Lakshminarayanan et
/// al., 2017).
///
/// As in the original every member sees all rows that train, and the default member is a Gaussian trained with the
/// logarithmic score; adversarial training is the option `adversarial` of any neural method, off by default. Different:
/// the exact mixture is predicted unless `pool` asks for the Gaussian that the original reports, and all members hold out
/// the same validation rows, so that the ensemble's validation score is that of rows which no member has seen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub struct Ensemble {
    /// T.
    pub members: usize,
    /// What each member is.
    pub member: Box<Method>,
    /// How the members become one prediction.
    pub pool: Pool,
}

impl Default for Ensemble {
    fn default() -> Self {
        let mut gaussian = Mdn::default();
        gaussian.network.components = 1;
        Self { members: 5, member: Box::new(Method::Mdn(gaussian)), pool: Pool::Mixture }
    }
}

impl Word for Pool {}

impl Options for Ensemble {
    fn each(&mut self, see: &mut dyn FnMut(&Spec, &mut dyn Slot)) {
        see(
            &Spec::new("Pool of networks", "members", "T", "networks of the ensemble").within(1.0, MOST_MEMBERS as f64),
            &mut self.members,
        );
        see(
            &Spec::word(
                "Pool of networks",
                MEMBER,
                "neural method that each member is; its options are given beside this",
            ),
            &mut self.member,
        );
        see(
            &Spec::word(
                "Pool of networks",
                "pool",
                "what the members become: their exact mixture, or the Gaussian with its mean and variance",
            ),
            &mut self.pool,
        );
        self.member.each(see);
    }

    fn fit_together(&self) -> Checked<()> {
        self.member.fit_together()
    }
}

impl Slot for Box<Method> {
    fn kind(&self) -> Kind {
        Kind::Word(&NEURAL)
    }

    /// The method with its defaults; those for sequences stay.
    fn read(&mut self, _: &Spec, text: &str) -> Result<()> {
        let without_layers = self.network_settings().is_some_and(|settings| settings.hidden.is_empty());
        let method = neural(text.trim())?;
        **self = if without_layers { method.for_sequences() } else { method };
        Ok(())
    }

    fn text(&self, _: &Spec) -> String {
        self.name().to_string()
    }

    fn check(&self, _: &Spec) -> Result<()> {
        neural(self.name()).map(drop)
    }
}

impl Ensemble {
    /// Members that hold out the same rows, so that the ensemble's held-out score means something.
    pub(super) fn plan(&self, data: &Arc<Dataset>, seed: u64) -> Result<Work> {
        let material = FoldData::split(data, self.member.validation(), seed);
        let job = |member| self.member.network_job(&material, member_seed(seed, member));
        let jobs = (0..self.members).map(job).collect::<Result<_>>()?;
        Ok(Work::Networks { jobs, statistics: material.statistics, pool: self.pool })
    }
}

/// The neural method of that name.
fn neural(name: &str) -> Result<Method> {
    let method = Method::by_name(name)?;
    if NEURAL.contains(&name) {
        return Ok(method);
    }
    Err(Error::options(format!("member must be a neural method ({}), found {name:?}", NEURAL.join(", "))))
}
