//! The plan of a fit: the jobs for a method, data and seed, and the assembly of their results.

use std::sync::Arc;

use super::Method;
use super::folds::Folds;
use crate::standardised::Pool;
use negmm_dist::{Mixtures, Result};
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
        self.settings().plan(data, seed)
    }
}

impl Plan {
    /// The method with every data-dependent setting filled in.
    pub fn method(&self) -> &Method {
        &self.method
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
