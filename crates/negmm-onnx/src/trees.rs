//! Boosted trees and forests in a graph: one tree ensemble, with a target for each parameter or component.

use negmm::forest::{Forest, JointForest};
use negmm::ngboost::{Boosted, Tree};

use crate::graph::{Attribute, Graph, Type, Value};

/// The nodes and leaves of all trees.
struct Ensemble {
    /// What each target has before any tree.
    start: Vec<f64>,
    count: i64,
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

impl Ensemble {
    fn new(start: Vec<f64>) -> Self {
        Self {
            start,
            count: 0,
            trees: Vec::new(),
            nodes: Vec::new(),
            features: Vec::new(),
            thresholds: Vec::new(),
            modes: Vec::new(),
            first: Vec::new(),
            second: Vec::new(),
            missing_first: Vec::new(),
            leaf_trees: Vec::new(),
            leaf_nodes: Vec::new(),
            targets: Vec::new(),
            weights: Vec::new(),
        }
    }

    /// Adds a tree; `leaf` gives the targets of the leaf with a number and what it adds to each.
    fn add<L: Iterator<Item = (usize, f64)>>(&mut self, tree: &Tree, leaf: impl Fn(f32) -> L) {
        // A tree without a split is a constant.
        if let [only] = tree.nodes() {
            leaf(only.number).for_each(|(target, weight)| self.start[target] += weight);
            return;
        }
        for (at, node) in tree.nodes().iter().enumerate() {
            let is_leaf = node.is_leaf();
            self.trees.push(self.count);
            self.nodes.push(at as i64);
            self.features.push(i64::from(node.feature));
            self.thresholds.push(if is_leaf { 0.0 } else { f64::from(node.number) });
            self.modes.push(if is_leaf { "LEAF" } else { "BRANCH_LEQ" }.into());
            self.first.push(i64::from(node.child));
            self.second.push(if is_leaf { 0 } else { i64::from(node.child) + 1 });
            self.missing_first.push(i64::from(!is_leaf && !node.missing_right));
            if is_leaf {
                for (target, weight) in leaf(node.number) {
                    self.leaf_trees.push(self.count);
                    self.leaf_nodes.push(at as i64);
                    self.targets.push(target as i64);
                    self.weights.push(weight);
                }
            }
        }
        self.count += 1;
    }

    /// rows × targets, doubles: the sums over all trees.
    fn sums(&self, graph: &mut Graph, features: &Value) -> Value {
        if self.count == 0 {
            let start = graph.doubles(&[1, self.start.len()], &self.start);
            return graph.repeated(&start, features);
        }
        // Doubles inside, for precise sums over many trees; the operator's output is a float.
        let features = graph.cast(features, Type::Double);
        let sums = graph.ml(
            "TreeEnsembleRegressor",
            &features,
            &[
                ("n_targets", Attribute::Integer(self.start.len() as i64)),
                ("nodes_treeids", Attribute::Integers(&self.trees)),
                ("nodes_nodeids", Attribute::Integers(&self.nodes)),
                ("nodes_featureids", Attribute::Integers(&self.features)),
                ("nodes_values_as_tensor", Attribute::Doubles(&self.thresholds)),
                ("nodes_modes", Attribute::Texts(&self.modes)),
                ("nodes_truenodeids", Attribute::Integers(&self.first)),
                ("nodes_falsenodeids", Attribute::Integers(&self.second)),
                ("nodes_missing_value_tracks_true", Attribute::Integers(&self.missing_first)),
                ("target_treeids", Attribute::Integers(&self.leaf_trees)),
                ("target_nodeids", Attribute::Integers(&self.leaf_nodes)),
                ("target_ids", Attribute::Integers(&self.targets)),
                ("target_weights_as_tensor", Attribute::Doubles(&self.weights)),
                ("base_values_as_tensor", Attribute::Doubles(&self.start)),
            ],
        );
        graph.cast(&sums, Type::Double)
    }
}

/// rows × 2, doubles: mean and logarithm of the sd of rows × features.
pub fn parameters(graph: &mut Graph, boosted: &Boosted, features: &Value) -> Value {
    let mut all = Ensemble::new(boosted.start.to_vec());
    for round in &boosted.rounds {
        let step = boosted.learning_rate * round.scale;
        for (target, tree) in round.trees.iter().enumerate() {
            all.add(tree, |number| std::iter::once((target, -step * f64::from(number))));
        }
    }
    all.sums(graph, features)
}

/// rows × components, doubles: the weights of the components of rows × features, which sum to 1.
pub fn component_weights(graph: &mut Graph, forest: &Forest, features: &Value) -> Value {
    let mut all = Ensemble::new(vec![0.0; forest.components.len()]);
    let share = 1.0 / forest.trees.len() as f64;
    for tree in &forest.trees {
        all.add(tree, |leaf| {
            let range = forest.starts[leaf as usize] as usize..forest.starts[leaf as usize + 1] as usize;
            let entries = forest.bins[range.clone()].iter().zip(&forest.weights[range]);
            entries.map(|(bin, weight)| (usize::from(*bin), share * f64::from(*weight)))
        });
    }
    let sums = all.sums(graph, features);
    let total = graph.sum(&sums, 1);
    graph.div(&sums, &total)
}

/// rows × (trees × targets + trees × packed), doubles: the means of each tree's leaf, then the factors.
pub fn joint_leaves(graph: &mut Graph, forest: &JointForest, features: &Value) -> Value {
    let (count, d) = (forest.trees.len(), forest.targets);
    let packed = d * (d + 1) / 2;
    let mut all = Ensemble::new(vec![0.0; count * (d + packed)]);
    for (number, tree) in forest.trees.iter().enumerate() {
        all.add(tree, |leaf| {
            let leaf = leaf as usize;
            let means = forest.means[leaf * d..][..d].iter().enumerate();
            let factors = forest.factors[leaf * packed..][..packed].iter().enumerate();
            let means = means.map(move |(at, mean)| (number * d + at, f64::from(*mean)));
            means.chain(factors.map(move |(at, entry)| (count * d + number * packed + at, f64::from(*entry))))
        });
    }
    all.sums(graph, features)
}
