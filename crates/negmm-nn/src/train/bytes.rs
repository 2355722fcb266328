//! Jobs and their results as bytes, so that a job can be trained in another process or on another machine and give the same bits.
//!
//! Both are safetensors: lists of numbers as tensors, everything else as JSON, some fields by former names. The data of a job are
//! sent separately, see [`Dataset::to_bytes`], once for all jobs that use them.

use std::sync::Arc;

use safetensors::tensor::SafeTensors;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{
    ForestJob, History, Job, LinearJob, NetworkJob, Objective, Trained, TrainedNetwork, TrainingPlan, TreesJob,
};
use crate::dataset::Dataset;
use crate::forest::{ForestConfig, read_forest, write_forest};
use crate::net::{MixtureHead, Network, Parameters};
use crate::ngboost::{Boosted, NgBoost, RoundScore, TrainedTrees, read_trees, write_trees};
use crate::tensors::{self, Flaw, Tensor, Tensors, numbers_of, text_of};
use negmm_dist::{Error, Result};

/// The names of the descriptions among the tensors.
const JOB: &str = "negmm-job";
const TRAINED: &str = "negmm-trained";

#[derive(Serialize, Deserialize)]
struct JobDescription {
    /// Of the data.
    fingerprint: u64,
    seed: u64,
    work: Work,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Work {
    Network {
        network: Network,
        objective: Objective,
        #[serde(rename = "course")]
        plan: TrainingPlan,
    },
    Trees {
        settings: NgBoost,
        #[serde(rename = "halves")]
        cross_fitting_split: usize,
    },
    Linear {
        head: MixtureHead,
    },
    Forest {
        config: ForestConfig,
        components: usize,
    },
}

impl Job {
    /// The job as bytes, without its data.
    ///
    /// # Errors
    /// When memory is exhausted.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let (seed, work) = match self {
            Self::Network(NetworkJob { network, objective, plan, seed, .. }) => {
                (*seed, Work::Network { network: network.clone(), objective: *objective, plan: plan.clone() })
            }
            Self::Trees(TreesJob { settings, cross_fitting_split, seed, .. }) => {
                (*seed, Work::Trees { settings: settings.clone(), cross_fitting_split: *cross_fitting_split })
            }
            Self::Linear(LinearJob { head, .. }) => (0, Work::Linear { head: *head }),
            Self::Forest(ForestJob { config, components, seed, .. }) => {
                (*seed, Work::Forest { config: *config, components: *components })
            }
        };
        let description = JobDescription { fingerprint: self.data().fingerprint(), seed, work };
        let mut lists = vec![Tensor::list("train", self.train()), Tensor::list("validation", self.validation())];
        if let Self::Network(NetworkJob { initial: Some(initial), .. }) = self {
            lists.push(Tensor::list("initial", initial.numbers()));
        }
        written(JOB, &description, &lists)
    }

    /// Reads a job from the bytes of [`Job::to_bytes`] and its data.
    ///
    /// # Errors
    /// When the bytes are no valid job, or a job with other data.
    pub fn from_bytes(bytes: &[u8], data: &Arc<Dataset>) -> Result<Self> {
        let (JobDescription { fingerprint, seed, work }, train, validation, initial) = read("job", || {
            let file = tensors_of(bytes)?;
            let tensors = Tensors::new(&file, "");
            let is_given = file.names().into_iter().any(|name| name == "initial");
            Ok((
                described(bytes, JOB)?,
                numbers_of(&tensors, "train", None)?,
                numbers_of(&tensors, "validation", None)?,
                if is_given { Some(numbers_of::<f32>(&tensors, "initial", None)?) } else { None },
            ))
        })?;
        if fingerprint != data.fingerprint() {
            return Err(Error::data("this job is of other rows"));
        }
        let data = data.clone();
        let (train, validation): (Arc<[u32]>, Arc<[u32]>) = (Vec::into(train), Vec::into(validation));
        let job = match work {
            Work::Network { network, objective, plan } => {
                let initial = initial.map(|numbers| Parameters::from_numbers(&numbers)).transpose()?;
                Self::Network(NetworkJob { network, objective, data, train, validation, plan, seed, initial })
            }
            Work::Trees { settings, cross_fitting_split } => {
                Self::Trees(TreesJob { settings, data, train, validation, cross_fitting_split, seed })
            }
            Work::Linear { head } => Self::Linear(LinearJob { head, data, train }),
            Work::Forest { config, components } => Self::Forest(ForestJob { config, components, data, train, seed }),
        };
        job.check()?;
        Ok(job)
    }
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum TrainedDescription {
    Network {
        history: History,
        snapshots: usize,
        #[serde(rename = "crossed", default, skip_serializing_if = "std::ops::Not::not")]
        cross_fitted: bool,
    },
    Trees {
        features: usize,
        held_out: bool,
    },
    Forest {
        features: usize,
    },
}

impl Trained {
    /// The result as bytes.
    ///
    /// # Errors
    /// When memory is exhausted.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        match self {
            Self::Network(TrainedNetwork { parameters, history, snapshots, cross_fitted }) => {
                let lists = [parameters].into_iter().chain(snapshots).chain(cross_fitted.iter().flatten()).enumerate();
                let lists = lists.map(|(number, list)| Tensor::list(&parameters_name(number), list.numbers()));
                let (history, snapshots, cross_fitted) = (history.clone(), snapshots.len(), cross_fitted.is_some());
                let description = TrainedDescription::Network { history, snapshots, cross_fitted };
                written(TRAINED, &description, &lists.collect::<Vec<_>>())
            }
            Self::Trees(TrainedTrees { boosted, held_out }) => {
                let mut tensors = write_trees(&boosted.to_parts());
                // In double precision; model files have them in single precision.
                tensors.push(Tensor::list("importance", &boosted.importance.concat()));
                let round = |round: &RoundScore| [round.train, round.validation.unwrap_or(f64::NAN)];
                tensors.push(Tensor::list("history", &boosted.history.iter().flat_map(round).collect::<Vec<_>>()));
                if let Some((means, sds)) = held_out {
                    tensors.extend([Tensor::list("means", means), Tensor::list("sds", sds)]);
                }
                let description =
                    TrainedDescription::Trees { features: boosted.features, held_out: held_out.is_some() };
                written(TRAINED, &description, &tensors)
            }
            Self::Forest(forest) => {
                let description = TrainedDescription::Forest { features: forest.features };
                written(TRAINED, &description, &write_forest(forest))
            }
        }
    }

    /// Reads a result from the bytes of [`Trained::to_bytes`].
    ///
    /// # Errors
    /// When the bytes are no valid result.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        read("training's result", || {
            let file = tensors_of(bytes)?;
            let tensors = Tensors::new(&file, "");
            match described(bytes, TRAINED)? {
                TrainedDescription::Network { history, snapshots, cross_fitted } => {
                    let read = |number: usize| {
                        let numbers: Vec<f32> = numbers_of(&tensors, &parameters_name(number), None)?;
                        Parameters::from_numbers(&numbers).map_err(|error| error.to_string())
                    };
                    let parameters = read(0)?;
                    let cross_fitted = match cross_fitted {
                        true => Some([read(snapshots + 1)?, read(snapshots + 2)?]),
                        false => None,
                    };
                    let snapshots = (1..=snapshots).map(read).collect::<std::result::Result<_, _>>()?;
                    Ok(Self::Network(TrainedNetwork { parameters, history, snapshots, cross_fitted }))
                }
                TrainedDescription::Trees { features, held_out } => read_boosted(&tensors, features, held_out),
                TrainedDescription::Forest { features } => read_forest(&tensors, features).map(Self::Forest),
            }
        })
    }
}

fn read_boosted(tensors: &Tensors<'_>, features: usize, held_out: bool) -> std::result::Result<Trained, Flaw> {
    let mut boosted = Boosted::from_parts(&read_trees(tensors)?, features).map_err(|error| error.to_string())?;
    let importance: Vec<f64> = numbers_of(tensors, "importance", Some(&[2 * features]))?;
    boosted.importance = [importance[..features].to_vec(), importance[features..].to_vec()];
    let history: Vec<f64> = numbers_of(tensors, "history", None)?;
    let (rounds, rest) = history.as_chunks::<2>();
    if !rest.is_empty() {
        return Err("its history is not pairs of scores".into());
    }
    // NaN encodes a missing score: neither can select a round.
    let round = |[train, validation]: &[f64; 2]| RoundScore {
        train: *train,
        validation: Some(*validation).filter(|score| !score.is_nan()),
    };
    boosted.history = rounds.iter().map(round).collect();
    let held_out = match held_out {
        true => Some((numbers_of(tensors, "means", None)?, numbers_of(tensors, "sds", None)?)),
        false => None,
    };
    Ok(Trained::Trees(TrainedTrees { boosted, held_out }))
}

/// Tensor names: 0 is the best checkpoint, then the snapshots, then the two of cross-fitting.
fn parameters_name(number: usize) -> String {
    format!("parameters.{number}")
}

fn written(key: &str, description: &impl Serialize, list: &[Tensor]) -> Result<Vec<u8>> {
    let text = serde_json::to_string(description).map_err(|error| error.to_string());
    let bytes = text.and_then(|text| tensors::to_bytes(key, text, list));
    bytes.map_err(|error| Error::data(format!("this cannot be written: {error}")))
}

fn read<T>(what: &str, read: impl FnOnce() -> std::result::Result<T, Flaw>) -> Result<T> {
    read().map_err(|flaw| Error::data(format!("these bytes are no {what} of negmm: {flaw}")))
}

fn tensors_of(bytes: &[u8]) -> std::result::Result<SafeTensors<'_>, Flaw> {
    SafeTensors::deserialize(bytes).map_err(|error| error.to_string())
}

fn described<T: DeserializeOwned>(bytes: &[u8], key: &str) -> std::result::Result<T, Flaw> {
    let text = text_of(bytes, key).ok_or("they have no description")?;
    serde_json::from_str(&text).map_err(|error| error.to_string())
}
