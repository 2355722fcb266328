//! Responsible for the path of a training: what would predict after every few epochs or rounds, and with fewer members.

use std::sync::Arc;

use negmm::data::Dataset;
use negmm::method::{Member, Predictor, Standardised};
use negmm::net::Parameters;
use negmm::train::Isa;
use negmm::train::{Job, JobGroup, Trained};
use negmm::{Method, Result};

/// Sizes of ensembles that the paper tries; one training of the largest has them all.
const MEMBERS: [usize; 4] = [3, 5, 8, 10];

/// A training, from its first snapshot to its last.
pub struct Path {
    predictor: Predictor,
    snapshots: Vec<Vec<Parameters>>,
    every: usize,
}

/// A place on a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Epochs or rounds.
    pub at: usize,
    /// Members of the ensemble, where it is one.
    pub members: Option<usize>,
}

impl Path {
    /// Training `method` on all rows of `data`; keeps what would predict after every so many epochs or rounds.
    pub fn undertake(method: &Method, data: &Arc<Dataset>, seed: u64, every: usize) -> Result<JobGroup<'static, Self>> {
        let plan = method.plan(data, seed)?;
        let mut jobs = plan.jobs();
        for job in &mut jobs {
            if let Job::Network(job) = job {
                job.course.snapshots = every;
            }
        }
        let finish = move |mut trained: Vec<Result<Trained>>, _: f64| {
            let mut snapshots = Vec::new();
            for trained in trained.iter_mut().flatten() {
                if let Trained::Network(trained) = trained {
                    snapshots.push(std::mem::take(&mut trained.snapshots));
                }
            }
            Ok(Self { predictor: plan.finish(trained)?.predictor, snapshots, every })
        };
        Ok(JobGroup { jobs, finish: Box::new(finish) })
    }

    /// Every place.
    pub fn places(&self) -> Vec<Place> {
        let count = match &self.predictor {
            Predictor::Trees { boosted, .. } => boosted.rounds.len() / self.every,
            _ => self.snapshots.iter().map(Vec::len).min().unwrap_or(0),
        };
        let trained = self.snapshots.len();
        let mut sizes: Vec<Option<usize>> = MEMBERS.iter().copied().filter(|size| *size <= trained).map(Some).collect();
        if trained <= 1 || sizes.is_empty() {
            sizes = vec![None];
        }
        let place = |at: usize| sizes.iter().map(move |members| Place { at: at * self.every, members: *members });
        (1..=count).flat_map(place).collect()
    }

    /// What is predicted there.
    pub fn predict(&self, place: Place, data: &Dataset) -> Result<Standardised> {
        self.at(place).predict(data, Isa::best())
    }

    fn at(&self, place: Place) -> Predictor {
        let mut predictor = self.predictor.clone();
        match &mut predictor {
            Predictor::Networks { members, .. } => {
                let number = place.at / self.every - 1;
                members.truncate(place.members.unwrap_or(self.snapshots.len()));
                let keep =
                    |(member, kept): (&mut Member, &Vec<Parameters>)| member.parameters.clone_from(&kept[number]);
                members.iter_mut().zip(&self.snapshots).for_each(keep);
            }
            Predictor::Trees { boosted, .. } => boosted.rounds.truncate(place.at),
            _ => {}
        }
        predictor
    }
}
