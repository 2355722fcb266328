//! Responsible for the path of a training: what would predict after every few epochs or rounds, and with fewer members.

use std::sync::{Mutex, PoisonError};

use negmm::data::Dataset;
use negmm::math::lanes::{Chunk, Isa};
use negmm::method::{Predictor, TrainedNetwork};
use negmm::train::{CpuEngine, Engine, Job, Trained, Watch};
use negmm::{Method, Predictions, Result};

/// Sizes of ensembles that the paper tries; one training of the largest has them all.
const MEMBERS: [usize; 4] = [3, 5, 8, 10];

/// The CPU engine, which also keeps the weights of every few epochs.
struct Recorder {
    every: usize,
    /// For each job its snapshots.
    kept: Mutex<Vec<Vec<Vec<Chunk>>>>,
}

impl Engine for Recorder {
    fn train(&self, jobs: &[Job<'_>], watch: &Watch<'_>) -> Vec<Result<Trained>> {
        let mut jobs = jobs.to_vec();
        jobs.iter_mut().for_each(|job| job.training.snapshots = self.every);
        let mut results = CpuEngine::new(1).train(&jobs, watch);
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        for trained in results.iter_mut().flatten() {
            kept.push(std::mem::take(&mut trained.snapshots));
        }
        results
    }
}

/// A training, from its first snapshot to its last.
pub struct Path {
    predictor: Predictor,
    snapshots: Vec<Vec<Vec<Chunk>>>,
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
    /// Trains `method` on all rows of `data` and keeps what would predict after every so many epochs or rounds.
    pub fn train(method: &Method, data: &Dataset, seed: u64, every: usize) -> Result<Self> {
        let recorder = Recorder { every, kept: Mutex::default() };
        let learnt = method.learn(data, seed, &recorder, &Watch::nothing())?;
        let snapshots = recorder.kept.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(Self { predictor: learnt.predictor, snapshots, every })
    }

    /// Every place.
    pub fn places(&self) -> Vec<Place> {
        let count = match &self.predictor {
            Predictor::Trees(boosted) => boosted.rounds.len() / self.every,
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

    /// What predicts there, in units of the standardised target.
    pub fn predict(&self, place: Place, data: &Dataset) -> Predictions {
        self.at(place).predict(data, Isa::best())
    }

    fn at(&self, place: Place) -> Predictor {
        let number = place.at / self.every - 1;
        let members = place.members.unwrap_or(self.snapshots.len());
        let at = |networks: &[TrainedNetwork]| -> Vec<TrainedNetwork> {
            let pairs = networks.iter().zip(&self.snapshots).take(members);
            let network = |(trained, kept): (&TrainedNetwork, &Vec<Vec<Chunk>>)| TrainedNetwork {
                weights: kept[number].clone(),
                ..trained.clone()
            };
            pairs.map(network).collect()
        };
        match &self.predictor {
            Predictor::Networks { networks, head } => Predictor::Networks { networks: at(networks), head: *head },
            Predictor::Samplers { networks, head } => Predictor::Samplers { networks: at(networks), head: *head },
            Predictor::Trees(boosted) => {
                let mut boosted = boosted.clone();
                boosted.rounds.truncate(place.at);
                Predictor::Trees(boosted)
            }
            other => other.clone(),
        }
    }
}
