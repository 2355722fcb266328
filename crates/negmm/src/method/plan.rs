//! The plan of a fit: the jobs for a method, data and seed, and the assembly of their results.

use std::sync::Arc;

use super::Method;
use super::Predictor;
use super::folds::Folds;
use crate::standardised::Pool;
use negmm_dist::{Error, Mixtures, Result};
use negmm_nn::dataset::{Dataset, TargetEncoding};
use negmm_nn::train::{Job, NetworkJob, TreesJob};

/// The plan of a fit, with every row and seed decided.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The method with every data-dependent setting filled in.
    pub(super) method: Method,
    pub(super) work: Work,
}

/// The jobs, by kind of assembly.
#[derive(Clone, Debug)]
pub(super) enum Work {
    /// None: the targets' own distribution, standardised.
    Constant { distribution: Mixtures },
    /// Networks with the same validation rows.
    Networks { jobs: Vec<NetworkJob>, statistics: Arc<TargetEncoding>, pool: Pool },
    /// Networks and trees of folds.
    Folds(Folds),
    /// Boosted trees.
    Trees { job: TreesJob, statistics: Arc<TargetEncoding> },
}

impl Method {
    /// Plans training on all rows; `seed` determines all random choices.
    ///
    /// # Errors
    /// When a setting is out of range, or the method does not support the censoring of the targets.
    pub fn plan(&self, data: &Arc<Dataset>, seed: u64) -> Result<Plan> {
        self.check()?;
        if data.has_censored() {
            self.settings().check_censored()?;
        }
        if data.is_on_disk() {
            self.settings().check_on_disk()?;
        }
        if data.held_out().is_some() && self.as_auto().is_some() {
            return Err(Error::options(
                "auto holds out every row in turn, fold by fold, and has no rows by which all of it could stop: use ensemble, \
                 ne-gmm, mdn, beta-nll, sample-net or ngboost",
            ));
        }
        self.settings().plan(data, seed)
    }
}

impl Plan {
    /// The method with every data-dependent setting filled in.
    pub fn method(&self) -> &Method {
        &self.method
    }

    /// The same where the networks go on from those of `predictor`, whose target encoding is theirs too; the model's method stays
    /// `method`, whatever the plan's schedule.
    ///
    /// # Errors
    /// When these are not the networks of the plan.
    pub(crate) fn going_on_from(self, predictor: &Predictor, method: &Method) -> Result<Self> {
        let (Work::Networks { mut jobs, pool, .. }, Predictor::Networks { members, .. }) = (self.work, predictor)
        else {
            return Err(Error::options(format!(
                "{} has no networks that go on learning: fit it anew",
                self.method.name()
            )));
        };
        let Some(first) = members.first().filter(|_| members.len() == jobs.len()) else {
            return Err(Error::data("the model has other networks than its method"));
        };
        for (job, member) in jobs.iter_mut().zip(members) {
            job.network = member.network.clone();
            job.initial = Some(member.parameters.clone());
        }
        Ok(Self { method: method.clone(), work: Work::Networks { jobs, statistics: first.statistics.clone(), pool } })
    }

    /// The training jobs; [`Plan::finish`] takes their results in this order.
    pub fn jobs(&self) -> Vec<Job> {
        match &self.work {
            Work::Constant { .. } => Vec::new(),
            Work::Networks { jobs, .. } => jobs.iter().cloned().map(Job::from).collect(),
            Work::Folds(folds) => folds.jobs(),
            Work::Trees { job, .. } => vec![Job::from(job.clone())],
        }
    }
}
