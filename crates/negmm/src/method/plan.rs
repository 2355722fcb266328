//! Responsible for planning: data, a method and a seed become jobs with nothing left to be decided, and the knowledge of what is
//! to be made of them when they are trained.

use std::sync::Arc;

use super::folds::Folds;
use super::material::FoldData;
use super::{Method, constant};
use crate::standardised::Pool;
use negmm_dist::{Mixtures, Result};
use negmm_nn::dataset::{Dataset, TargetEncoding};
use negmm_nn::train::{Job, NetworkJob, TreesJob};

/// What a method does with some data, decided to the last row and seed.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The method with every setting that follows from the data filled in.
    pub(super) method: Method,
    pub(super) work: Work,
}

/// What is trained, and how it is put together.
#[derive(Clone, Debug)]
pub(super) enum Work {
    /// Nothing: the targets' own distribution, standardised.
    Constant { law: Mixtures },
    /// Networks that hold out the same rows.
    Networks { jobs: Vec<NetworkJob>, statistics: Arc<TargetEncoding>, pool: Pool },
    /// Networks and trees of folds.
    Folds(Folds),
    /// Boosted trees.
    Trees { job: TreesJob, statistics: Arc<TargetEncoding> },
}

impl Method {
    /// Decides everything that learning from all rows takes; `seed` starts all random choices.
    ///
    /// # Errors
    /// When a setting is out of range, or the method cannot learn from what is known of the targets.
    pub fn plan(&self, data: &Arc<Dataset>, seed: u64) -> Result<Plan> {
        self.check()?;
        if data.has_censored() {
            self.check_censored()?;
        }
        let own = |work| Plan { method: self.clone(), work };
        Ok(match self {
            Self::Auto(auto) => auto.plan(data, seed),
            Self::NgBoost(settings) => {
                let FoldData { data, train, validation, statistics } = FoldData::split(data, settings.validation, seed);
                let job = TreesJob { settings: settings.clone(), data, train, validation, halves: 0, seed };
                own(Work::Trees { job, statistics })
            }
            Self::Ensemble(ensemble) => own(ensemble.plan(data, seed)?),
            Self::Constant(_) => own(Work::Constant { law: constant::law_of_all(data, 1.0) }),
            Self::NeGmm(_) | Self::Mdn(_) | Self::BetaNll(_) | Self::SampleNet(_) => {
                let material = FoldData::split(data, self.validation(), seed);
                let jobs = vec![self.network_job(&material, seed)?];
                own(Work::Networks { jobs, statistics: material.statistics, pool: Pool::Mixture })
            }
        })
    }
}

impl Plan {
    /// The method with every setting that follows from the data filled in.
    pub fn method(&self) -> &Method {
        &self.method
    }

    /// What is to be trained; [`Plan::finish`] takes the results in this order.
    pub fn jobs(&self) -> Vec<Job> {
        match &self.work {
            Work::Constant { .. } => Vec::new(),
            Work::Networks { jobs, .. } => jobs.iter().cloned().map(Job::from).collect(),
            Work::Folds(folds) => folds.jobs(),
            Work::Trees { job, .. } => vec![Job::from(job.clone())],
        }
    }
}
