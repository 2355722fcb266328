//! The checkpoints of a training: predictors after every few epochs or boosting rounds, and with fewer ensemble members.

use std::sync::Arc;

use negmm::data::Dataset;
use negmm::method::{Member, Predictor, Standardised};
use negmm::net::Parameters;
use negmm::train::Isa;
use negmm::train::{Job, JobGroup, Trained};
use negmm::{Method, Result};

/// Ensemble sizes of the paper; one training of the largest gives them all.
const ENSEMBLE_SIZES: [usize; 4] = [3, 5, 8, 10];

/// A training with all of its snapshots.
pub struct TrainingPath {
    predictor: Predictor,
    snapshots: Vec<Vec<Parameters>>,
    interval: usize,
}

/// A checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// Epochs or rounds.
    pub at: usize,
    /// Members of the ensemble, where it is one.
    pub members: Option<usize>,
}

impl TrainingPath {
    /// Trains `method` on all rows of `data`, with a snapshot every `interval` epochs or rounds.
    pub fn undertake(
        method: &Method,
        data: &Arc<Dataset>,
        seed: u64,
        interval: usize,
    ) -> Result<JobGroup<'static, Self>> {
        let plan = method.plan(data, seed)?;
        let mut jobs = plan.jobs();
        for job in &mut jobs {
            if let Job::Network(job) = job {
                job.plan.snapshots = interval;
            }
        }
        let finish = move |mut trained: Vec<Result<Trained>>, _: f64| {
            let mut snapshots = Vec::new();
            for trained in trained.iter_mut().flatten() {
                if let Trained::Network(trained) = trained {
                    snapshots.push(std::mem::take(&mut trained.snapshots));
                }
            }
            Ok(Self { predictor: plan.finish(trained)?.predictor, snapshots, interval })
        };
        Ok(JobGroup { jobs, finish: Box::new(finish) })
    }

    /// All checkpoints.
    pub fn checkpoints(&self) -> Vec<Checkpoint> {
        let count = match &self.predictor {
            Predictor::Trees { boosted, .. } => boosted.rounds.len() / self.interval,
            _ => self.snapshots.iter().map(Vec::len).min().unwrap_or(0),
        };
        let trained = self.snapshots.len();
        let mut sizes: Vec<Option<usize>> =
            ENSEMBLE_SIZES.iter().copied().filter(|size| *size <= trained).map(Some).collect();
        if trained <= 1 || sizes.is_empty() {
            sizes = vec![None];
        }
        let checkpoint =
            |at: usize| sizes.iter().map(move |members| Checkpoint { at: at * self.interval, members: *members });
        (1..=count).flat_map(checkpoint).collect()
    }

    /// The predictions of a checkpoint.
    pub fn predict(&self, checkpoint: Checkpoint, data: &Dataset) -> Result<Standardised> {
        self.predictor(checkpoint).predict(data, Isa::best())
    }

    fn predictor(&self, checkpoint: Checkpoint) -> Predictor {
        let mut predictor = self.predictor.clone();
        match &mut predictor {
            Predictor::Networks { members, .. } => {
                let number = checkpoint.at / self.interval - 1;
                members.truncate(checkpoint.members.unwrap_or(self.snapshots.len()));
                let keep =
                    |(member, kept): (&mut Member, &Vec<Parameters>)| member.parameters.clone_from(&kept[number]);
                members.iter_mut().zip(&self.snapshots).for_each(keep);
            }
            Predictor::Trees { boosted, .. } => boosted.rounds.truncate(checkpoint.at),
            _ => {}
        }
        predictor
    }
}
