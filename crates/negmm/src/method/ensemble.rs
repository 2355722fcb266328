//! Responsible for deep ensembles: several networks that differ in nothing but their random start, pooled.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::option::{out_of_range, parse, parse_word};
use super::seed::Seed;
use super::{Mdn, Method};
use crate::data::Dataset;
use crate::standardised::Pool;
use crate::train::NetworkJob;
use crate::{Error, Result};

/// Members at most.
const MOST_MEMBERS: usize = 1000;

/// Several networks, each with its own initial weights and order of rows, pooled with equal weights (Lakshminarayanan et
/// al., 2017).
///
/// | field | default | range | meaning |
/// |---|---|---|---|
/// | `members` | 5 | 1 … 1000 | T, networks to train |
/// | `member` | mdn with 1 component | a neural method | what each member is; its options are given beside these |
/// | `pool` | mixture | mixture, gaussian | the exact mixture of T members (of samples: all of them), or the Gaussian with its mean and variance |
///
/// As in the original every member sees all rows that train, and the default member is a Gaussian trained with the
/// logarithmic score; adversarial training is the option `adversarial` of any neural method, off by default. Different:
/// the exact mixture is predicted unless `pool` asks for the Gaussian that the original reports, and all members hold out
/// the same validation rows, so that the ensemble's validation score is that of rows which no member has seen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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

impl Ensemble {
    pub(super) fn set(&mut self, name: &str, value: &str) -> Result<bool> {
        match name {
            "members" => self.members = parse(name, value)?,
            "member" => *self.member = neural(value)?,
            "pool" => self.pool = parse_word(name, value, "mixture, gaussian")?,
            _ => return self.member.try_set(name, value),
        }
        Ok(true)
    }

    pub(super) fn check(&self) -> Result<()> {
        if self.members == 0 || self.members > MOST_MEMBERS {
            return Err(out_of_range("members", "from 1 to 1000", self.members));
        }
        neural(self.member.name())?;
        self.member.check()
    }

    pub(super) fn jobs(&self, data: &Arc<Dataset>, seed: u64) -> Result<Vec<NetworkJob>> {
        (0..self.members).map(|member| self.member.network_job(data, Seed::single(seed).member(member))).collect()
    }
}

/// The neural method of that name.
fn neural(name: &str) -> Result<Method> {
    let method = Method::by_name(name)?;
    match method {
        Method::NeGmm(_) | Method::Mdn(_) | Method::BetaNll(_) | Method::SampleNet(_) => Ok(method),
        _ => Err(Error::options(format!(
            "member must be a neural method (ne-gmm, mdn, beta-nll, sample-net), found {name:?}"
        ))),
    }
}
