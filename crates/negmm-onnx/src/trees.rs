//! Boosted trees in a graph: one tree ensemble with two targets.

use negmm::ngboost::Boosted;

use crate::graph::{Attribute, Graph, Type, Value};

/// The nodes and leaves of all trees.
#[derive(Default)]
struct Ensemble {
    trees: Vec<i64>,
    nodes: Vec<i64>,
    features: Vec<i64>,
    thresholds: Vec<f64>,
    modes: Vec<String>,
    first: Vec<i64>,
    second: Vec<i64>,
    missing_first: Vec<i64>,
    leaf_trees: Vec<i64>,
    leaf_nodes: Vec<i64>,
    targets: Vec<i64>,
    weights: Vec<f64>,
}

/// rows × 2, doubles: mean and logarithm of the sd of rows × features.
pub fn parameters(graph: &mut Graph, boosted: &Boosted, features: &Value) -> Value {
    let mut all = Ensemble::default();
    let mut start = boosted.start;
    for round in &boosted.rounds {
        let step = boosted.learning_rate * round.scale;
        for (target, tree) in round.trees.iter().enumerate() {
            // A tree without a split is a constant.
            if let [leaf] = tree.nodes() {
                start[target] -= step * f64::from(leaf.number);
                continue;
            }
            let number = all.leaf_trees.last().map_or(0, |last| last + 1);
            for (at, node) in tree.nodes().iter().enumerate() {
                let leaf = node.is_leaf();
                all.trees.push(number);
                all.nodes.push(at as i64);
                all.features.push(i64::from(node.feature));
                all.thresholds.push(if leaf { 0.0 } else { f64::from(node.number) });
                all.modes.push(if leaf { "LEAF" } else { "BRANCH_LEQ" }.into());
                all.first.push(i64::from(node.child));
                all.second.push(if leaf { 0 } else { i64::from(node.child) + 1 });
                all.missing_first.push(i64::from(!leaf && !node.missing_right));
                if leaf {
                    all.leaf_trees.push(number);
                    all.leaf_nodes.push(at as i64);
                    all.targets.push(target as i64);
                    all.weights.push(-step * f64::from(node.number));
                }
            }
        }
    }
    if all.trees.is_empty() {
        let start = graph.doubles(&[1, 2], &start);
        return graph.repeated(&start, features);
    }
    // Doubles inside, for precise sums over many trees; the operator's output is a float.
    let features = graph.cast(features, Type::Double);
    let sums = graph.ml(
        "TreeEnsembleRegressor",
        &features,
        &[
            ("n_targets", Attribute::Integer(2)),
            ("nodes_treeids", Attribute::Integers(&all.trees)),
            ("nodes_nodeids", Attribute::Integers(&all.nodes)),
            ("nodes_featureids", Attribute::Integers(&all.features)),
            ("nodes_values_as_tensor", Attribute::Doubles(&all.thresholds)),
            ("nodes_modes", Attribute::Texts(&all.modes)),
            ("nodes_truenodeids", Attribute::Integers(&all.first)),
            ("nodes_falsenodeids", Attribute::Integers(&all.second)),
            ("nodes_missing_value_tracks_true", Attribute::Integers(&all.missing_first)),
            ("target_treeids", Attribute::Integers(&all.leaf_trees)),
            ("target_nodeids", Attribute::Integers(&all.leaf_nodes)),
            ("target_ids", Attribute::Integers(&all.targets)),
            ("target_weights_as_tensor", Attribute::Doubles(&all.weights)),
            ("base_values_as_tensor", Attribute::Doubles(&start)),
        ],
    );
    graph.cast(&sums, Type::Double)
}
