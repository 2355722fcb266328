//! Writes a fitted model as an ONNX graph: the whole way from named columns to a predictive distribution, for runtimes that know nothing
//! of this library.
//!
//! The inputs are the columns that the model uses, each rows × 1: doubles (NaN is missing) or text ("" is missing), times as seconds
//! since 1970; and `levels`, doubles. The outputs are doubles:
//!
//! | output | shape | meaning |
//! |---|---|---|
//! | `weights`, `means`, `sds` | rows × components | the mixture, in the target's own unit; an sd of 0 is an atom |
//! | `samples` | rows × samples | instead of these, where the method predicts samples |
//! | `mean`, `sd` | rows | of the prediction: bounds, a grid and atoms count |
//! | `quantiles` | rows × levels | of the prediction |
//!
//! The way of a number is the library's own:
//!
//! | from | to | room |
//! |---|---|---|
//! | columns | features, the same bits as the encoder's | `columns`, `calendar` |
//! | features | raw outputs of networks, in floats; sums of trees | `network`, `trees` |
//! | raw outputs | mixtures or samples, standardised, in doubles | `predictor`, `law`, `samples` |
//! | mixtures | mean, sd and quantiles on the target's support | `form`, `rounded`, `curve`, `normal` |
//! | all of it | bytes | `graph`, `proto` |

mod calendar;
mod columns;
mod curve;
mod form;
mod graph;
mod law;
mod network;
mod normal;
mod predictor;
mod proto;
mod rounded;
mod samples;
mod trees;

use negmm::{Error, Model, Result};
use serde_json::json;

use columns::Features;
use form::{Form, in_unit};
use graph::{Graph, Side, Type};
use predictor::Predicted;

/// The name of the input that quantiles are asked by.
const LEVELS: &str = "levels";
/// Names of outputs.
const OUTPUTS: [&str; 7] = ["weights", "means", "sds", "samples", "mean", "sd", "quantiles"];

/// The bytes of an ONNX file that predicts what the model does.
///
/// # Errors
/// When the model has something that no graph can express; the message names it.
pub fn export(model: &Model) -> Result<Vec<u8>> {
    let (encoder, target) = (model.encoder(), model.encoder().target());
    let taken = |name: &str| name == LEVELS || OUTPUTS.contains(&name);
    if let Some(input) = encoder.inputs().iter().find(|input| input.encoding.features() > 0 && taken(&input.name)) {
        let message = "the graph has an input or output of that name itself: rename the column and fit again";
        return Err(Error::options(message).in_column(&input.name));
    }
    let mut graph = Graph::default();
    let features = Features::new(&mut graph, encoder)?;
    let levels = graph.input(LEVELS, Type::Double, &[Side::Open("levels")]);
    let graph = &mut graph;
    let (rows, each) = (Side::Open("predictions"), Side::Open("levels"));
    let (mean, sd, quantiles) = match predictor::predicted(graph, model.predictor(), &features, target)? {
        Predicted::Law(law) => {
            let (means, sds) = in_unit(graph, target, &law.means, &law.sds);
            let side = Side::Of(law.kinds.len());
            for (name, list) in [("weights", &law.weights), ("means", &means), ("sds", &sds)] {
                graph.output(name, list, Type::Double, &[rows, side]);
            }
            let form = Form::new(graph, &law, target);
            let quantiles = form.quantiles(graph, &levels, target);
            (form.mean, form.sd, quantiles)
        }
        Predicted::Samples(samples) => {
            let samples = samples.in_unit(graph, target);
            graph.output("samples", &samples.values, Type::Double, &[rows, Side::Of(samples.count)]);
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
