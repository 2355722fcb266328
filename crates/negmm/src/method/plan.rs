//! Responsible for planning: data, a method and a seed become jobs with nothing left to be decided, and the knowledge of what is
//! to be made of them when they are trained.

use std::sync::Arc;

use super::Method;
use super::seed::Seed;
use crate::data::Dataset;
use crate::math::rng::Rng;
use crate::standardised::Pool;
use crate::train::{Estimate, Job, NetworkJob, TreesJob};
use crate::{Result, streams};

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
    Networks { jobs: Vec<NetworkJob>, pool: Pool },
    /// Networks of folds.
    Folds(Folds),
    /// Boosted trees.
    Trees(TreesJob),
}

/// Networks of folds, as many of each, those of the first fold first.
#[derive(Clone, Debug)]
pub(super) struct Folds {
    /// The networks.
    pub(super) jobs: Vec<NetworkJob>,
    /// The rows that each fold holds out.
    pub(super) held_out: Vec<Vec<u32>>,
    /// The rows that are learnt from, which the jobs and folds number from 0.
    pub(super) data: Arc<Dataset>,
    /// What number each of them has among all rows.
    pub(super) numbers: Vec<u32>,
}

impl Method {
    /// Decides everything that learning from all rows takes; `seed` starts all random choices.
    ///
    /// # Errors
    /// When a setting is out of range.
    pub fn plan(&self, data: &Arc<Dataset>, seed: u64) -> Result<Plan> {
        self.check()?;
        let own = |work| Plan { method: self.clone(), work };
        Ok(match self {
            Self::Auto(auto) => auto.plan(data, seed),
            Self::NgBoost(settings) => {
                let (train, validation) = data.holdout(settings.validation, &mut Rng::new(seed, streams::VALIDATION));
                own(Work::Trees(TreesJob { settings: settings.clone(), data: data.clone(), train, validation, seed }))
            }
            Self::Ensemble(ensemble) => own(Work::Networks { jobs: ensemble.jobs(data, seed)?, pool: ensemble.pool }),
            Self::Constant(_) => own(Work::Constant { sd: 1.0 }),
            Self::NeGmm(_) | Self::Mdn(_) | Self::BetaNll(_) | Self::SampleNet(_) => {
                own(Work::Networks { jobs: vec![self.network_job(data, Seed::single(seed))?], pool: Pool::Mixture })
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
            Work::Trees(job) => vec![Job::from(job.clone())],
        }
    }

    /// What the training will take, about.
    pub fn estimate(&self) -> Estimate {
        Estimate::of(&self.jobs())
    }
}
