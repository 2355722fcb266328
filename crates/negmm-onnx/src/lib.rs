//! Export of fitted models as ONNX graphs, from named columns to the predictive distribution.
//!
//! The inputs are the columns that the model uses, each rows × 1: doubles (NaN is missing) or text ("" is missing), times as seconds
//! since 1970; and `levels`, doubles. The outputs are doubles:
//!
//! | output | shape | meaning |
//! |---|---|---|
//! | `weights`, `means`, `sds` | rows × components | the mixture, in the target's own unit; an sd of 0 is an atom |
//! | `samples` | rows × samples | instead of these, if the method predicts samples |
//! | `mean`, `sd` | rows | of the prediction, with bounds, grid and atoms |
//! | `quantiles` | rows × levels | of the prediction |
//!
//! Of several targets ([`export_joint`]) there are `weights`, `means` and `factors` of mixtures over vectors, and `mean`, `sd` and
//! `quantiles` of each target.
//!
//! The data flow is that of the library:
//!
//! | from | to | module |
//! |---|---|---|
//! | columns | features, the same bits as the encoder's | `columns`, `calendar` |
//! | features | raw outputs of networks, in floats; sums of boosted trees and forests | `network`, `trees` |
//! | raw outputs | mixtures or samples, standardised, in doubles | `predictor`, `mixture`, `samples` |
//! | mixtures | mean, sd and quantiles on the target's support | `target_distribution`, `rounded`, `cdf`, `normal` |
//! | all of it | bytes | `graph`, `proto` |

mod between;
mod calendar;
mod cdf;
mod columns;
mod graph;
mod joint;
mod mixture;
mod network;
mod normal;
mod predictor;
mod proto;
mod rounded;
mod samples;
mod target_distribution;
mod trees;

use negmm::{Error, Model, Result};
use serde_json::json;

use columns::Features;
use graph::{Dimension, Graph, Type};
pub use joint::export_joint;
use predictor::Predicted;
use target_distribution::{TargetDistribution, in_unit};

/// The name of the input of quantile levels.
const LEVELS: &str = "levels";
/// Names of outputs.
const OUTPUTS: [&str; 7] = ["weights", "means", "sds", "samples", "mean", "sd", "quantiles"];

/// The bytes of an ONNX file with the predictions of the model.
///
/// # Errors
/// When a graph cannot express a part of the model; the message names it.
pub fn export(model: &Model) -> Result<Vec<u8>> {
    let (encoder, target) = (model.encoder(), model.encoder().target());
    let reserved = |name: &str| name == LEVELS || OUTPUTS.contains(&name);
    if let Some(input) = encoder.inputs().iter().find(|input| input.encoding.features() > 0 && reserved(&input.name)) {
        let message = "the graph has an input or output of that name itself: rename the column and fit again";
        return Err(Error::options(message).in_column(&input.name));
    }
    let mut graph = Graph::default();
    let features = Features::new(&mut graph, encoder)?;
    let levels = graph.input(LEVELS, Type::Double, &[Dimension::Symbolic("levels")]);
    let graph = &mut graph;
    let (rows, each) = (Dimension::Symbolic("predictions"), Dimension::Symbolic("levels"));
    let (mean, sd, quantiles) = match predictor::predicted(graph, model.predictor(), &features, target)? {
        Predicted::Mixture(mixture) => {
            let (means, sds) = in_unit(graph, target, &mixture.means, &mixture.sds);
            let side = Dimension::Fixed(mixture.kinds.len());
            for (name, list) in [("weights", &mixture.weights), ("means", &means), ("sds", &sds)] {
                graph.output(name, list, Type::Double, &[rows, side]);
            }
            let distribution = TargetDistribution::new(graph, &mixture, target);
            let quantiles = distribution.quantiles(graph, &levels, target);
            (distribution.mean, distribution.sd, quantiles)
        }
        Predicted::Samples(samples) => {
            let samples = samples.in_unit(graph, target);
            graph.output("samples", &samples.values, Type::Double, &[rows, Dimension::Fixed(samples.count)]);
            let (mean, sd) = samples.moments(graph);
            (mean, sd, samples.quantiles(graph, &levels, &target.support))
        }
    };
    for (name, list) in [("mean", mean), ("sd", sd)] {
        let flat = graph.reshape(&list, &[-1]);
        graph.output(name, &flat, Type::Double, &[rows]);
    }
    graph.output("quantiles", &quantiles, Type::Double, &[rows, each]);
    let notes = [
        ("negmm.method", model.method().name().to_string()),
        ("negmm.target", target.name.clone()),
        ("negmm.support", json!(target.support).to_string()),
        ("negmm.window", json!(encoder.sequence().map(|sequence| sequence.window)).to_string()),
        ("negmm.inputs", json!(features.notes).to_string()),
    ];
    Ok(std::mem::take(graph).into_bytes(&notes))
}
