//! Networks in a graph: stem, layers and clamped raw outputs.

use std::f32::consts::{FRAC_1_PI, TAU};

use negmm::method::Member;
use negmm::net::{Activation, Lstm, Periodic, Stem};

use crate::graph::{Attribute, Graph, Type, Value};

/// Raw outputs are clamped to this range.
const OUTPUT_LIMIT: f64 = 1e18;
/// Embedding size of an input.
const MIXES: usize = 3;
/// Cosines of a periodic embedding.
const COSINES: usize = 16;

/// Raw outputs, rows × outputs, as doubles.
pub fn raw_outputs(graph: &mut Graph, member: &Member, features: &Value) -> Value {
    let network = &member.network;
    let mut level = match &network.stem {
        None => features.clone(),
        Some(Stem::Periodic(periodic)) => embedded(graph, member, periodic, features),
        Some(Stem::Lstm(lstm)) => last_state(graph, member, lstm, features),
    };
    let layers = network.layers();
    for (index, layer) in layers.iter().enumerate() {
        let rows: Vec<&[f32]> = layer.rows(&member.parameters).collect();
        let weights: Vec<f32> = rows.iter().flat_map(|row| &row[..layer.inputs]).copied().collect();
        let biases: Vec<f32> = rows.iter().map(|row| row[layer.inputs]).collect();
        let weights = graph.floats(&[layer.outputs, layer.inputs], &weights);
        let biases = graph.floats(&[layer.outputs], &biases);
        let sums = graph.op_with("Gemm", &[&level, &weights, &biases], &[("transB", Attribute::Integer(1))]);
        if index + 1 == layers.len() {
            level = sums;
            break;
        }
        let units = activated(graph, network.activation, &sums);
        level = if layer.residual { graph.add2(&level, &units) } else { units };
    }
    let outputs = graph.cast(&level, Type::Double);
    graph.within(&outputs, -OUTPUT_LIMIT, OUTPUT_LIMIT)
}

fn activated(graph: &mut Graph, activation: Activation, sums: &Value) -> Value {
    match activation {
        Activation::Relu => graph.op("Relu", &[sums]),
        Activation::Tanh => graph.op("Tanh", &[sums]),
        Activation::Silu => {
            let gate = graph.op("Sigmoid", &[sums]);
            graph.mul(sums, &gate)
        }
    }
}

/// A tensor of a member's stem.
fn tensor(member: &Member, name: &str) -> Vec<f32> {
    let tensors = member.network.stem.as_ref().map_or_else(Vec::new, Stem::tensors);
    let found = tensors.iter().find(|tensor| tensor.name == name);
    found.map_or_else(Vec::new, |tensor| tensor.numbers(&member.parameters))
}

/// The features, then the periodic embeddings.
fn embedded(graph: &mut Graph, member: &Member, periodic: &Periodic, features: &Value) -> Value {
    let count = periodic.embedded.len();
    if count == 0 {
        return features.clone();
    }
    let inputs: Vec<i64> = periodic.embedded.iter().map(|embedded| embedded.input as i64).collect();
    let bound = |of: fn(&negmm::net::EmbeddedInput) -> f32| periodic.embedded.iter().map(of).collect::<Vec<f32>>();
    let (low, high) = (bound(|embedded| embedded.low), bound(|embedded| embedded.high));
    let (inputs, low, high) =
        (graph.integers(&inputs), graph.floats(&[1, count], &low), graph.floats(&[1, count], &high));
    let selected = graph.gather(features, &inputs, 1);
    let selected = graph.op("Max", &[&selected, &low]);
    let selected = graph.op("Min", &[&selected, &high]);
    let frequencies: Vec<f64> = tensor(member, "periodic.frequency").into_iter().map(f64::from).collect();
    // In floats, as in the library.
    let phases = tensor(member, "periodic.phase").into_iter().map(|phase| f64::from(phase * FRAC_1_PI * 0.5));
    let frequencies = graph.doubles(&[1, count, COSINES], &frequencies);
    let phases = graph.doubles(&[1, count, COSINES], &phases.collect::<Vec<_>>());
    // Turns are reduced to their fractional part before they become an angle.
    let selected = graph.cast(&selected, Type::Double);
    let selected = graph.unsqueeze(&selected, 2);
    let product = graph.mul(&selected, &frequencies);
    let turns = graph.add2(&product, &phases);
    let turns = graph.cast(&turns, Type::Float);
    let half = graph.floats(&[], &[0.5]);
    let shifted = graph.add2(&turns, &half);
    let whole = graph.op("Floor", &[&shifted]);
    let rest = graph.sub(&turns, &whole);
    let tau = graph.floats(&[], &[TAU]);
    let angle = graph.mul(&rest, &tau);
    let cosines = graph.op("Cos", &[&angle]);
    let mixes = graph.floats(&[1, count, MIXES, COSINES], &tensor(member, "periodic.mix"));
    let cosines = graph.unsqueeze(&cosines, 3);
    let mixed = graph.op("MatMul", &[&mixes, &cosines]);
    let mixed = graph.reshape(&mixed, &[-1, (count * MIXES) as i64]);
    let offsets = graph.floats(&[1, count * MIXES], &tensor(member, "periodic.offset"));
    let mixed = graph.add2(&mixed, &offsets);
    graph.concat(&[features, &mixed], 1)
}

/// The last layer's hidden state after the last step of a window.
fn last_state(graph: &mut Graph, member: &Member, lstm: &Lstm, features: &Value) -> Value {
    let hidden = lstm.hidden;
    let steps = graph.reshape(features, &[-1, lstm.window as i64, lstm.channels as i64]);
    let mut sequence = graph.op_with("Transpose", &[&steps], &[("perm", Attribute::Integers(&[1, 0, 2]))]);
    let mut state = sequence.clone();
    for layer in 0..lstm.layers {
        let inputs = if layer == 0 { lstm.channels } else { hidden };
        let part = |name: &str, columns: usize| {
            in_onnx_order(&tensor(member, &format!("lstm.{layer}.{name}")), hidden * columns)
        };
        let weights = graph.floats(&[1, 4 * hidden, inputs], &part("weight_ih", inputs));
        let recurrent = graph.floats(&[1, 4 * hidden, hidden], &part("weight_hh", hidden));
        let mut biases = part("bias", 1);
        biases.resize(8 * hidden, 0.0);
        let biases = graph.floats(&[1, 8 * hidden], &biases);
        let last = layer + 1 == lstm.layers;
        let found = graph.outputs_of(
            "LSTM",
            &[&sequence, &weights, &recurrent, &biases],
            &[!last, last],
            &[("hidden_size", Attribute::Integer(hidden as i64))],
        );
        state = found[0].clone();
        if !last {
            // steps × directions × rows × units, of which there is one direction.
            let axes = graph.integers(&[1]);
            sequence = graph.op("Squeeze", &[&state, &axes]);
        }
    }
    let axes = graph.integers(&[0]);
    graph.op("Squeeze", &[&state, &axes])
}

/// Gates i, f, g, o in the order of ONNX: i, o, f, g; `each` numbers per gate.
fn in_onnx_order(gates: &[f32], each: usize) -> Vec<f32> {
    [0, 3, 1, 2].into_iter().flat_map(|gate| &gates[gate * each..][..each]).copied().collect()
}
