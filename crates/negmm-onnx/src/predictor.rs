//! Predictors in a graph: from features to mixtures or samples in units of the standardised target, pooled and widened.

use negmm::data::{Target, TargetEncoding};
use negmm::method::{Member, Pool, Predictor};
use negmm::net::Head;
use negmm::{Error, Result};

use crate::columns::Features;
use crate::graph::{Graph, Value};
use crate::mixture::Mixture;
use crate::samples::Samples;
use crate::{network, trees};

/// Predictions in a graph.
pub enum Predicted {
    Mixture(Mixture),
    Samples(Samples),
}

/// One distribution for each row.
///
/// # Errors
/// When the predictor cannot be exported.
pub fn predicted(graph: &mut Graph, predictor: &Predictor, features: &Features, target: &Target) -> Result<Predicted> {
    let bounds = match predictor {
        Predictor::Stack { bounds, .. } => *bounds,
        _ => None,
    };
    let mut rows = Rows { features, filled: Vec::new(), bounds };
    let (predicted, pool) = match predictor {
        Predictor::Networks { members, head: Head::Samples(head), pool } => {
            let values: Vec<Value> = members.iter().map(|member| rows.raw(graph, member)).collect();
            let values = graph.concat(&values.iter().collect::<Vec<_>>(), 1);
            let samples = Samples::new(graph, values, members.len() * head.samples, f64::from(head.sd_floor));
            (Predicted::Samples(samples), *pool)
        }
        Predictor::Networks { pool, .. } => (Predicted::Mixture(rows.mixture(graph, predictor, target)?), *pool),
        Predictor::Stack { parts, tilt, tails, .. } => {
            let (mut mixtures, mut sizes) = (Vec::new(), Vec::new());
            for part in parts {
                let (members, components) = (part.predictor.members(), part.predictor.components().unwrap_or(0));
                sizes.extend(vec![components / members; members]);
                mixtures.push((part.weight, rows.mixture(graph, &part.predictor, target)?));
            }
            let mut stacked = Mixture::concatenated(graph, &mixtures);
            if bounds.is_some() {
                stacked = stacked.normalised(graph);
            }
            if let Some(tilt) = tilt {
                stacked = stacked.tilted(graph, tilt, &sizes);
            }
            let stacked = stacked.with_tails(graph, tails);
            (Predicted::Mixture(stacked), Pool::Mixture)
        }
        single => (Predicted::Mixture(rows.mixture(graph, single, target)?), Pool::Mixture),
    };
    let widened = match (predicted, &features.variance) {
        (Predicted::Mixture(mixture), Some(variance)) => Predicted::Mixture(mixture.widened(graph, variance)),
        (Predicted::Samples(samples), Some(variance)) => Predicted::Samples(samples.widened(graph, variance)),
        (predicted, None) => predicted,
    };
    Ok(match (widened, pool) {
        (Predicted::Mixture(mixture), Pool::Gaussian) => Predicted::Mixture(mixture.moment_matched(graph)),
        (Predicted::Samples(samples), Pool::Gaussian) => Predicted::Mixture(samples.moment_matched(graph)),
        (predicted, _) => predicted,
    })
}

/// The encoded rows, and the same with each target encoding that was filled in.
struct Rows<'a> {
    features: &'a Features,
    filled: Vec<(&'a TargetEncoding, Value)>,
    /// The bounds between which each model of a stack is truncated.
    bounds: Option<[f64; 2]>,
}

impl<'a> Rows<'a> {
    fn with(&mut self, graph: &mut Graph, statistics: &'a TargetEncoding) -> Value {
        // Members of a pool that are trained on the same rows share them.
        if let Some((_, rows)) = self.filled.iter().find(|(same, _)| *same == statistics) {
            return rows.clone();
        }
        let rows = self.features.with(graph, statistics);
        self.filled.push((statistics, rows.clone()));
        rows
    }

    fn raw(&mut self, graph: &mut Graph, member: &'a Member) -> Value {
        let rows = self.with(graph, &member.statistics);
        network::raw_outputs(graph, member, &rows)
    }

    /// The mixture of one model, weighted for a pool of truncated models where there are bounds.
    fn of_model(&self, graph: &mut Graph, mixture: Mixture) -> Mixture {
        match self.bounds {
            Some(bounds) => mixture.divided_by_inside(graph, bounds),
            None => mixture,
        }
    }

    /// The mixture of one predictor, before pooling.
    fn mixture(&mut self, graph: &mut Graph, predictor: &'a Predictor, target: &Target) -> Result<Mixture> {
        match predictor {
            Predictor::Constant { distribution } => {
                let constant = Mixture::constant(graph, distribution, target, &self.features.rows);
                Ok(self.of_model(graph, constant))
            }
            Predictor::Trees { boosted, statistics } => {
                let rows = self.with(graph, statistics);
                let parameters = trees::parameters(graph, boosted, &rows);
                let [first, second] = [0, 1].map(|column| graph.integers(&[column]));
                let (means, log_sds) = (graph.gather(&parameters, &first, 1), graph.gather(&parameters, &second, 1));
                let sds = graph.op("Exp", &[&log_sds]);
                let sds = graph.at_least(&sds, boosted.sigma_min);
                let normal = Mixture::normal(graph, means, sds);
                Ok(self.of_model(graph, normal))
            }
            Predictor::Forest { forest, statistics } => {
                let rows = self.with(graph, statistics);
                let weights = trees::component_weights(graph, forest, &rows);
                let list = |at: usize| forest.components.iter().map(|component| component[at]).collect::<Vec<f64>>();
                let mixture = Mixture::of_weights(graph, weights, &list(0), &list(1), target);
                Ok(self.of_model(graph, mixture))
            }
            Predictor::Networks { members, head, .. } => {
                let weight = 1.0 / members.len() as f64;
                let mut mixtures = Vec::new();
                for member in members {
                    let raw = self.raw(graph, member);
                    let mixture = match head {
                        Head::Mixture(head) => Mixture::of_mixture_head(graph, head, &raw, member.sigma_scale, target),
                        Head::Gaussian(head) => Mixture::of_gaussian_head(graph, head, &raw, member.sigma_scale),
                        _ => return Err(Error::options("samples cannot be a part of a mixture")),
                    };
                    mixtures.push((weight, self.of_model(graph, mixture)));
                }
                Ok(Mixture::concatenated(graph, &mixtures))
            }
            _ => Err(Error::options("a predictor of this kind cannot be exported")),
        }
    }
}
