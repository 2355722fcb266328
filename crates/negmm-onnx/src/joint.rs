//! Models of several targets in a graph: their mixtures over vectors, and the answers of each target.

use negmm::joint::{JointForm, JointLinear};
use negmm::net::JointHead;
use negmm::{Error, JointMixtures, JointModel, Result};
use serde_json::json;

use crate::columns::Features;
use crate::graph::{Attribute, Dimension, Graph, Type, Value};
use crate::mixture::{ComponentKind, Mixture, slice, softplus};
use crate::target_distribution::TargetDistribution;
use crate::{LEVELS, network, trees};

/// Names of outputs.
const OUTPUTS: [&str; 6] = ["weights", "means", "factors", "mean", "sd", "quantiles"];

/// Mixtures over vectors, in units of the standardised targets.
struct JointMixture {
    /// rows × components.
    weights: Value,
    /// rows × components × targets.
    means: Value,
    /// rows × components × packed lower triangles.
    factors: Value,
    components: usize,
}

/// The bytes of an ONNX file with the predictions of a model of several targets: `weights`, `means`, `factors` (Cholesky factors,
/// packed lower triangles row after row) of the mixtures, and `mean`, `sd` (rows × targets) and `quantiles` (rows × targets × levels)
/// of each target.
///
/// # Errors
/// When a graph cannot express a part of the model; the message names it.
pub fn export_joint(model: &JointModel) -> Result<Vec<u8>> {
    let (encoder, targets) = (model.encoder(), model.targets());
    let d = targets.len();
    let reserved = |name: &str| name == LEVELS || OUTPUTS.contains(&name);
    if let Some(input) = encoder.inputs().iter().find(|input| input.encoding.features() > 0 && reserved(&input.name)) {
        let message = "the graph has an input or output of that name itself: rename the column and fit again";
        return Err(Error::options(message).in_column(&input.name));
    }
    if model.direction_scales().is_some() {
        return Err(Error::options(
            "factors of sds along main directions cannot be exported: fit --method ne-gmm, mdn or ensemble, or score with the library",
        ));
    }
    let mut graph = Graph::default();
    let features = Features::new(&mut graph, encoder)?;
    let levels = graph.input(LEVELS, Type::Double, &[Dimension::Symbolic("levels")]);
    let graph = &mut graph;
    let mut parts = Vec::new();
    for part in model.parts() {
        let of_form = of_form(graph, &part.form, &features, model)?;
        parts.push((part.weight, of_form));
    }
    let pooled = concatenated(graph, &parts);
    // Units: means times scale plus shift, rows of factors times scale.
    let scales: Vec<f64> = targets.iter().zip(model.sigma_scales()).map(|(target, own)| target.scale * own).collect();
    let of_rows: Vec<f64> = (0..d).flat_map(|row| vec![scales[row]; row + 1]).collect();
    let own: Vec<f64> = (0..d).flat_map(|row| vec![model.sigma_scales()[row]; row + 1]).collect();
    let (shift, scale) = (
        graph.doubles(&[1, 1, d], &targets.iter().map(|target| target.mean).collect::<Vec<_>>()),
        graph.doubles(&[1, 1, d], &targets.iter().map(|target| target.scale).collect::<Vec<_>>()),
    );
    let means = graph.mul(&pooled.means, &scale);
    let means = graph.add2(&means, &shift);
    let of_rows = graph.doubles(&[1, 1, of_rows.len()], &of_rows);
    let factors = graph.mul(&pooled.factors, &of_rows);
    let (rows, count) = (Dimension::Symbolic("predictions"), Dimension::Fixed(pooled.components));
    graph.output("weights", &pooled.weights, Type::Double, &[rows, count]);
    graph.output("means", &means, Type::Double, &[rows, count, Dimension::Fixed(d)]);
    graph.output("factors", &factors, Type::Double, &[rows, count, Dimension::Fixed(d * (d + 1) / 2)]);
    let own = graph.doubles(&[1, 1, own.len()], &own);
    let standardised = graph.mul(&pooled.factors, &own);
    let (mut all_means, mut all_sds, mut all_quantiles) = (Vec::new(), Vec::new(), Vec::new());
    for (number, target) in targets.iter().enumerate() {
        let marginal = marginal(graph, &pooled, &standardised, number);
        let distribution = TargetDistribution::new(graph, &marginal, target);
        let quantiles = distribution.quantiles(graph, &levels, target);
        all_quantiles.push(graph.unsqueeze(&quantiles, 1));
        all_means.push(distribution.mean);
        all_sds.push(distribution.sd);
    }
    for (name, list) in [("mean", all_means), ("sd", all_sds)] {
        let list = graph.concat(&list.iter().collect::<Vec<_>>(), 1);
        graph.output(name, &list, Type::Double, &[rows, Dimension::Fixed(d)]);
    }
    let quantiles = graph.concat(&all_quantiles.iter().collect::<Vec<_>>(), 1);
    let shape = [rows, Dimension::Fixed(d), Dimension::Symbolic("levels")];
    graph.output("quantiles", &quantiles, Type::Double, &shape);
    let notes = [
        ("negmm.method", model.method().name().to_string()),
        ("negmm.targets", json!(model.names()).to_string()),
        ("negmm.supports", json!(targets.iter().map(|target| target.support).collect::<Vec<_>>()).to_string()),
        ("negmm.inputs", json!(features.notes).to_string()),
    ];
    Ok(std::mem::take(graph).into_bytes(&notes))
}

fn of_form(graph: &mut Graph, form: &JointForm, features: &Features, model: &JointModel) -> Result<JointMixture> {
    let refuse = |what: &str| {
        Err(Error::options(format!(
            "{what} cannot be exported: fit --method ne-gmm, mdn or ensemble, or score with the library"
        )))
    };
    let d = model.targets().len();
    match form {
        JointForm::Networks { members, head } => {
            if head.rank.is_some() {
                return refuse("covariances of a diagonal plus low rank");
            }
            let mut mixtures = Vec::new();
            for member in members {
                let rows = features.with(graph, &member.statistics);
                let raw = network::raw_outputs(graph, member, &rows);
                mixtures.push((1.0 / members.len() as f64, of_head(graph, head, &raw)));
            }
            Ok(concatenated(graph, &mixtures))
        }
        JointForm::Forest { forest, statistics } => {
            let rows = features.with(graph, statistics);
            let (count, packed) = (forest.trees.len(), d * (d + 1) / 2);
            let leaves = trees::joint_leaves(graph, forest, &rows);
            let means = slice(graph, &leaves, 0, count * d);
            let factors = slice(graph, &leaves, count * d, count * (d + packed));
            let weights = graph.doubles(&[1, count], &vec![1.0 / count as f64; count]);
            Ok(JointMixture {
                weights: graph.repeated(&weights, &features.rows),
                means: graph.reshape(&means, &[-1, count as i64, d as i64]),
                factors: graph.reshape(&factors, &[-1, count as i64, packed as i64]),
                components: count,
            })
        }
        JointForm::Linear(linear) if model.encoder().level_counts().is_empty() => of_linear(graph, linear, features, d),
        JointForm::Linear(_) => refuse("a linear part with text inputs of many categories"),
        JointForm::Constant { covariance } => {
            let means = graph.doubles(&[1, d], &vec![0.0; d]);
            let means = graph.repeated(&means, &features.rows);
            of_gaussian(graph, means, covariance, features)
        }
        JointForm::Copula(_) => refuse("a copula over models of single targets"),
        JointForm::Chain(_) => refuse("a chain of models of single targets"),
        _ => refuse("a part of this kind"),
    }
}

/// The mixtures of raw outputs, rows × outputs.
fn of_head(graph: &mut Graph, head: &JointHead, raw: &Value) -> JointMixture {
    let (d, count, each) = (head.targets, head.components, head.entries());
    let logits = slice(graph, raw, 0, count);
    let weights = graph.op_with("Softmax", &[&logits], &[("axis", Attribute::Integer(1))]);
    let means = slice(graph, raw, count, count * (1 + d));
    let means = graph.reshape(&means, &[-1, count as i64, d as i64]);
    let entries = slice(graph, raw, count * (1 + d), head.outputs());
    let entries = graph.reshape(&entries, &[-1, count as i64, each as i64]);
    let mut on = vec![0.0; each];
    (0..d).for_each(|row| on[head.diagonal(row)] = 1.0);
    let off: Vec<f64> = on.iter().map(|on| 1.0 - on).collect();
    let (on, off) = (graph.doubles(&[1, 1, each], &on), graph.doubles(&[1, 1, each], &off));
    let spread = softplus(graph, &entries);
    let spread = graph.plus(&spread, f64::from(head.sd_floor));
    let (diagonal, below) = (graph.mul(&spread, &on), graph.mul(&entries, &off));
    JointMixture { weights, means, factors: graph.add2(&diagonal, &below), components: count }
}

fn of_linear(graph: &mut Graph, linear: &JointLinear, features: &Features, d: usize) -> Result<JointMixture> {
    let x = features.with(graph, &negmm::data::TargetEncoding::default());
    let x = graph.cast(&x, Type::Double);
    let inputs = linear.coefficients.len() / d;
    let transposed: Vec<f64> = (0..inputs)
        .flat_map(|input| (0..d).map(move |target| (target, input)))
        .map(|(target, input)| linear.coefficients[target * inputs + input])
        .collect();
    let coefficients = graph.doubles(&[inputs, d], &transposed);
    let intercepts = graph.doubles(&[1, d], &linear.intercepts);
    let sums = graph.op("MatMul", &[&x, &coefficients]);
    let means = graph.add2(&sums, &intercepts);
    of_gaussian(graph, means, &linear.covariance, features)
}

/// One Gaussian for each row, with one covariance.
fn of_gaussian(graph: &mut Graph, means: Value, covariance: &[f64], features: &Features) -> Result<JointMixture> {
    let d = covariance.len().isqrt();
    let one = JointMixtures::from_covariances(d, 1, vec![1.0], vec![0.0; d], covariance)?;
    let factors = graph.doubles(&[1, one.factors().len()], one.factors());
    let factors = graph.repeated(&factors, &features.rows);
    let weights = graph.doubles(&[1, 1], &[1.0]);
    Ok(JointMixture {
        weights: graph.repeated(&weights, &features.rows),
        means: graph.reshape(&means, &[-1, 1, d as i64]),
        factors: graph.reshape(&factors, &[-1, 1, one.factors().len() as i64]),
        components: 1,
    })
}

/// A pool with these weights.
fn concatenated(graph: &mut Graph, parts: &[(f64, JointMixture)]) -> JointMixture {
    let weights: Vec<Value> = parts.iter().map(|(weight, part)| graph.times(&part.weights, *weight)).collect();
    let of = |graph: &mut Graph, list: Vec<&Value>| graph.concat(&list, 1);
    JointMixture {
        weights: of(graph, weights.iter().collect()),
        means: of(graph, parts.iter().map(|(_, part)| &part.means).collect()),
        factors: of(graph, parts.iter().map(|(_, part)| &part.factors).collect()),
        components: parts.iter().map(|(_, part)| part.components).sum(),
    }
}

/// The mixture of one target: its means, and the lengths of its rows of the factors.
fn marginal(graph: &mut Graph, pooled: &JointMixture, factors: &Value, target: usize) -> Mixture {
    let column = graph.integer(target as i64);
    let means = graph.gather(&pooled.means, &column, 2);
    let first = target * (target + 1) / 2;
    let entries: Vec<i64> = (first..=first + target).map(|entry| entry as i64).collect();
    let entries = graph.integers(&entries);
    let row = graph.gather(factors, &entries, 2);
    let squares = graph.mul(&row, &row);
    let variances = graph.reduced("ReduceSum", &squares, 2, false);
    let sds = graph.op("Sqrt", &[&variances]);
    Mixture { weights: pooled.weights.clone(), means, sds, kinds: vec![ComponentKind::Gaussian; pooled.components] }
}
