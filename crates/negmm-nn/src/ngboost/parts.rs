//! A boosted model as flat arrays for files, with validation of arrays that were read.

use super::boosted::{Boosted, LARGEST, Round};
use super::tree::{Node, Tree};
use negmm_dist::{Error, Result};

/// A boosted model as flat arrays. Trees follow each other: mean and log sd of the first round, of the second, …
///
/// The history of the training is not in it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parts {
    /// Mean and log sd before the first round, the learning rate and the smallest sd.
    pub start: [f64; 4],
    /// The scale of each round.
    pub scales: Vec<f32>,
    /// Nodes of each tree: 2 × rounds.
    pub sizes: Vec<u16>,
    /// For each node the feature that decides; 0 in a leaf.
    pub features: Vec<u32>,
    /// For each node its threshold, or a leaf's value.
    pub numbers: Vec<f32>,
    /// For each node its first child, counted from its tree's root; 0 in a leaf.
    pub children: Vec<u16>,
    /// For each node where rows without a value go: 0 to the first child, 1 to the second; 0 in a leaf.
    pub missing: Vec<u16>,
    /// Each feature's importance for the mean, then for log sd: 2 × features.
    pub importance: Vec<f32>,
}

impl Boosted {
    /// The model as flat arrays.
    pub fn to_parts(&self) -> Parts {
        let trees = || self.rounds.iter().flat_map(|round| &round.trees);
        let nodes = || trees().flat_map(|tree| tree.nodes());
        Parts {
            start: [self.start[0], self.start[1], self.learning_rate, self.sigma_min],
            // Powers of two from 2^-n to 512: exact in f32.
            scales: self.rounds.iter().map(|round| round.scale as f32).collect(),
            sizes: trees().map(|tree| tree.nodes().len() as u16).collect(),
            features: nodes().map(|node| node.feature).collect(),
            numbers: nodes().map(|node| node.number).collect(),
            children: nodes().map(|node| node.child).collect(),
            missing: nodes().map(|node| u16::from(node.missing_right)).collect(),
            importance: self.importance.iter().flatten().map(|part| *part as f32).collect(),
        }
    }

    /// The model with `features` features that flat arrays describe.
    ///
    /// # Errors
    /// When they describe none: lengths that do not fit, numbers that are not finite, features that are not there, children
    /// that are not the next nodes.
    pub fn from_parts(parts: &Parts, features: usize) -> Result<Self> {
        let [mean, log_sd, learning_rate, sigma_min] = parts.start;
        let positive = |x: f64| x > 0.0 && x <= LARGEST;
        if !(mean.abs() <= LARGEST && log_sd.abs() <= LARGEST && positive(learning_rate) && positive(sigma_min)) {
            return Err(Error::model(format!("a boosted model cannot start from {:?}", parts.start)));
        }
        let rounds = parts.scales.len();
        let nodes: usize = parts.sizes.iter().map(|size| usize::from(*size)).sum();
        let lengths = [
            ("sizes", parts.sizes.len(), 2 * rounds),
            ("features", parts.features.len(), nodes),
            ("numbers", parts.numbers.len(), nodes),
            ("children", parts.children.len(), nodes),
            ("missing", parts.missing.len(), nodes),
            ("importance", parts.importance.len(), 2 * features),
        ];
        if let Some((name, found, expected)) = lengths.into_iter().find(|(_, found, expected)| found != expected) {
            return Err(Error::model(format!("expected {expected} {name} of trees, found {found}")));
        }
        if let Some(part) = parts.importance.iter().find(|part| !(0.0..=1.0).contains(*part)) {
            return Err(Error::model(format!("expected an importance from 0 to 1, found {part}")));
        }
        let mut first = 0;
        let mut tree = |number: usize| {
            let size = usize::from(parts.sizes[number]);
            let range = first..first + size;
            first += size;
            read_tree(parts, range, features).map_err(|error| error.at(format!("tree {number}")))
        };
        let read_round = |(number, &scale): (usize, &f32)| {
            if !positive(f64::from(scale)) {
                return Err(Error::model(format!("expected a positive scale in round {number}, found {scale}")));
            }
            Ok(Round { scale: f64::from(scale), trees: [tree(2 * number)?, tree(2 * number + 1)?] })
        };
        let rounds = parts.scales.iter().enumerate().map(read_round).collect::<Result<_>>()?;
        let importance = [0, 1].map(|tree| {
            parts.importance[tree * features..(tree + 1) * features].iter().map(|part| f64::from(*part)).collect()
        });
        Ok(Self { start: [mean, log_sd], learning_rate, sigma_min, features, rounds, importance, history: Vec::new() })
    }
}

fn read_tree(parts: &Parts, range: std::ops::Range<usize>, features: usize) -> Result<Tree> {
    if range.is_empty() {
        return Err(Error::model("expected at least 1 node, found 0"));
    }
    let size = range.len();
    // Level by level, every split has the next two nodes for its children: then each node has one parent, before it.
    let mut next_child = 1;
    let mut nodes = Vec::with_capacity(size);
    for (number, at) in range.enumerate() {
        let (feature, threshold, child) = (parts.features[at], parts.numbers[at], parts.children[at]);
        let wrong = |what: &str, found: &dyn std::fmt::Display| {
            Error::model(format!("expected {what}, found {found}")).at(format!("node {number}"))
        };
        if !threshold.is_finite() {
            return Err(wrong("a finite number", &threshold));
        }
        if parts.missing[at] > 1 {
            return Err(wrong("0 or 1 for missing values", &parts.missing[at]));
        }
        if child == 0 {
            if number >= next_child {
                return Err(wrong("a node that has a parent", &"one that has none"));
            }
        } else {
            if usize::from(child) != next_child || next_child + 1 >= size || number >= next_child {
                return Err(wrong(&format!("the child {next_child} of {size} nodes"), &child));
            }
            if feature as usize >= features {
                return Err(wrong(&format!("a feature below {features}"), &feature));
            }
            next_child += 2;
        }
        let feature = if child == 0 { 0 } else { feature };
        nodes.push(Node { feature, number: threshold, child, missing_right: parts.missing[at] == 1 });
    }
    if next_child != size {
        return Err(Error::model(format!("expected {next_child} nodes, found {size}")));
    }
    Ok(Tree { nodes })
}
