//! Responsible for a predictor in a graph: features in, mixtures or samples in units of the standardised target out, pooled and widened.

use negmm::data::{Target, TargetEncoding};
use negmm::method::{Member, Pool, Predictor};
use negmm::net::Head;
use negmm::{Error, Result};

use crate::columns::Features;
use crate::graph::{Graph, Value};
use crate::law::Law;
use crate::samples::Samples;
use crate::{network, trees};

/// What is predicted.
pub enum Predicted {
    Law(Law),
    Samples(Samples),
}

/// One distribution for each row.
///
/// # Errors
/// When the predictor is of a kind that is not known here.
pub fn predicted(graph: &mut Graph, predictor: &Predictor, features: &Features, target: &Target) -> Result<Predicted> {
    let mut rows = Rows { features, last: None };
    let (predicted, pool) = match predictor {
        Predictor::Networks { members, head: Head::Samples(head), pool } => {
            let values: Vec<Value> = members.iter().map(|member| rows.raw(graph, member)).collect();
            let values = graph.concat(&values.iter().collect::<Vec<_>>(), 1);
            let samples = Samples::new(graph, values, members.len() * head.samples, f64::from(head.sd_floor));
            (Predicted::Samples(samples), *pool)
        }
        Predictor::Networks { pool, .. } => (Predicted::Law(rows.law(graph, predictor, target)?), *pool),
        Predictor::Stack { parts } => {
            let mut laws = Vec::new();
            for part in parts {
                laws.push((part.share, rows.law(graph, &part.predictor, target)?));
            }
            (Predicted::Law(Law::side_by_side(graph, &laws)), Pool::Mixture)
        }
        alone => (Predicted::Law(rows.law(graph, alone, target)?), Pool::Mixture),
    };
    let widened = match (predicted, &features.variance) {
        (Predicted::Law(law), Some(variance)) => Predicted::Law(law.widened(graph, variance)),
        (Predicted::Samples(samples), Some(variance)) => Predicted::Samples(samples.widened(graph, variance)),
        (predicted, None) => predicted,
    };
    Ok(match (widened, pool) {
        (Predicted::Law(law), Pool::Gaussian) => Predicted::Law(law.matched(graph)),
        (Predicted::Samples(samples), Pool::Gaussian) => Predicted::Law(samples.matched(graph)),
        (predicted, _) => predicted,
    })
}

/// Rows with the statistics of levels that were filled in last.
struct Rows<'a> {
    features: &'a Features,
    last: Option<(&'a TargetEncoding, Value)>,
}

impl<'a> Rows<'a> {
    fn with(&mut self, graph: &mut Graph, statistics: &'a TargetEncoding) -> Value {
        match &self.last {
            Some((same, rows)) if *same == statistics => rows.clone(),
            _ => {
                let rows = self.features.with(graph, statistics);
                self.last = Some((statistics, rows.clone()));
                rows
            }
        }
    }

    fn raw(&mut self, graph: &mut Graph, member: &'a Member) -> Value {
        let rows = self.with(graph, &member.statistics);
        network::raw_outputs(graph, member, &rows)
    }

    /// The mixture of one part, not yet pooled.
    fn law(&mut self, graph: &mut Graph, predictor: &'a Predictor, target: &Target) -> Result<Law> {
        match predictor {
            Predictor::Constant { law } => Ok(Law::constant(graph, law, target, &self.features.rows)),
            Predictor::Trees { boosted, statistics } => {
                let rows = self.with(graph, statistics);
                let parameters = trees::parameters(graph, boosted, &rows);
                let [first, second] = [0, 1].map(|column| graph.integers(&[column]));
                let (means, log_sds) = (graph.gather(&parameters, &first, 1), graph.gather(&parameters, &second, 1));
                let sds = graph.op("Exp", &[&log_sds]);
                let sds = graph.at_least(&sds, boosted.sigma_min);
                Ok(Law::normal(graph, means, sds))
            }
            Predictor::Networks { members, head, .. } => {
                let share = 1.0 / members.len() as f64;
                let mut laws = Vec::new();
                for member in members {
                    let raw = self.raw(graph, member);
                    laws.push((
                        share,
                        match head {
                            Head::Mixture(head) => Law::of_mixture_head(graph, head, &raw, member.sd_factor, target),
                            Head::Gaussian(head) => Law::of_gaussian_head(graph, head, &raw, member.sd_factor),
                            _ => return Err(Error::options("samples cannot be a part of a mixture")),
                        },
                    ));
                }
                Ok(Law::side_by_side(graph, &laws))
            }
            _ => Err(Error::options("a predictor of this kind cannot be exported")),
        }
    }
}
