//! Responsible for planning: data, a method and a seed become jobs with nothing left to be decided, and the knowledge of what is
//! to be made of them when they are trained.

use std::sync::Arc;

use super::Method;
use super::material::Material;
use crate::Result;
use crate::data::{Dataset, LevelStatistics};
use crate::standardised::Pool;
use crate::train::{Job, NetworkJob, TreesJob};

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
    /// Nothing: the target's mean with an sd, in sds of the target.
    Constant { sd: f64 },
    /// Networks that hold out the same rows.
    Networks { jobs: Vec<NetworkJob>, statistics: Arc<LevelStatistics>, pool: Pool },
    /// Networks of folds.
    Folds(Folds),
    /// Boosted trees.
    Trees { job: TreesJob, statistics: Arc<LevelStatistics> },
}

/// Networks of folds, as many of each, those of the first fold first.
#[derive(Clone, Debug)]
pub(super) struct Folds {
    /// The networks.
    pub(super) jobs: Vec<NetworkJob>,
    /// The rows that each fold holds out.
    pub(super) held_out: Vec<Vec<u32>>,
    /// The statistics of levels in the rows that the networks of each fold learn from.
    pub(super) statistics: Vec<Arc<LevelStatistics>>,
    /// The rows that are learnt from, which the jobs and folds number from 0.
    pub(super) data: Arc<Dataset>,
    /// What number each of them has among all rows.
    pub(super) numbers: Vec<u32>,
}

impl Method {
    /// Decides everything that learning from all rows takes; `seed` starts all random choices.
    ///
    /// # Errors
    /// When a setting is out of range, or the method cannot learn from what is known of the targets.
    pub fn plan(&self, data: &Arc<Dataset>, seed: u64) -> Result<Plan> {
        self.check()?;
        if (0..data.len()).any(|row| data.is_censored(row)) {
            self.check_censored()?;
        }
        let own = |work| Plan { method: self.clone(), work };
        Ok(match self {
            Self::Auto(auto) => auto.plan(data, seed),
            Self::NgBoost(settings) => {
                let Material { data, train, validation, statistics } = Material::split(data, settings.validation, seed);
                let job = TreesJob { settings: settings.clone(), data, train, validation, seed };
                own(Work::Trees { job, statistics })
            }
            Self::Ensemble(ensemble) => own(ensemble.plan(data, seed)?),
            Self::Constant(_) => own(Work::Constant { sd: 1.0 }),
            Self::NeGmm(_) | Self::Mdn(_) | Self::BetaNll(_) | Self::SampleNet(_) => {
                let material = Material::split(data, self.validation(), seed);
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
            Work::Folds(folds) => folds.jobs.iter().cloned().map(Job::from).collect(),
            Work::Trees { job, .. } => vec![Job::from(job.clone())],
        }
    }
}
