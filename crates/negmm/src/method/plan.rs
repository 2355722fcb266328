//! The plan of a fit: the jobs of a method, data and seed, with nothing left to be decided, and how their results become a model.

use std::sync::Arc;

use super::Method;
use super::folds::Folds;
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
            self.settings().check_censored()?;
        }
        self.settings().plan(data, seed)
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
