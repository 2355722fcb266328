//! A forest as named tensors, with validation on reading.

use super::{Forest, JointForest};
use crate::ngboost::{Node, Tree};
use crate::tensors::{Flaw, Tensor, Tensors, numbers_of};

/// The tensors of trees.
fn write_trees(trees: &[Tree]) -> Vec<Tensor> {
    let nodes = || trees.iter().flat_map(|tree| tree.nodes());
    vec![
        Tensor::list("forest.sizes", &trees.iter().map(|tree| tree.nodes.len() as u32).collect::<Vec<_>>()),
        Tensor::list("forest.features", &nodes().map(|node| node.feature).collect::<Vec<_>>()),
        Tensor::list("forest.numbers", &nodes().map(|node| node.number).collect::<Vec<_>>()),
        Tensor::list("forest.children", &nodes().map(|node| node.child).collect::<Vec<_>>()),
    ]
}

/// The tensors of a forest.
pub fn write_forest(forest: &Forest) -> Vec<Tensor> {
    let components = Tensor::list("forest.components", &forest.components.concat());
    let leaves = [
        Tensor::list("forest.starts", &forest.starts),
        Tensor::list("forest.bins", &forest.bins),
        Tensor::list("forest.weights", &forest.weights),
    ];
    [components].into_iter().chain(write_trees(&forest.trees)).chain(leaves).collect()
}

/// The tensors of a forest of several targets.
pub fn write_joint_forest(forest: &JointForest) -> Vec<Tensor> {
    let leaves = [Tensor::list("forest.means", &forest.means), Tensor::list("forest.factors", &forest.factors)];
    write_trees(&forest.trees).into_iter().chain(leaves).collect()
}

/// The forest that tensors describe, for rows with these numbers of features and targets.
///
/// # Errors
/// When they describe none.
pub fn read_joint_forest(tensors: &Tensors<'_>, features: usize, targets: usize) -> Result<JointForest, Flaw> {
    let means: Vec<f32> = numbers_of(tensors, "forest.means", None)?;
    let leaves = means.len() / targets.max(1);
    let factors: Vec<f32> = numbers_of(tensors, "forest.factors", None)?;
    let packed = targets * (targets + 1) / 2;
    let pivots = (0..targets).map(|row| row * (row + 3) / 2);
    let sound = leaves * targets == means.len()
        && factors.len() == leaves * packed
        && means.iter().chain(&factors).all(|number| number.abs() <= 1e9)
        && factors.chunks_exact(packed.max(1)).all(|factor| pivots.clone().all(|pivot| factor[pivot] > 0.0));
    if !sound {
        return Err("the leaves of its forest are out of range".into());
    }
    let trees = read_trees(tensors, features, leaves)?;
    Ok(JointForest { features, targets, trees, means, factors })
}

/// The forest that tensors describe, for rows with this number of features.
///
/// # Errors
/// When they describe none.
pub fn read_forest(tensors: &Tensors<'_>, features: usize) -> Result<Forest, Flaw> {
    let components: Vec<f64> = numbers_of(tensors, "forest.components", None)?;
    let starts: Vec<u32> = numbers_of(tensors, "forest.starts", None)?;
    let bins: Vec<u16> = numbers_of(tensors, "forest.bins", None)?;
    let weights: Vec<f32> = numbers_of(tensors, "forest.weights", Some(&[bins.len()]))?;
    let (components, rest) = components.as_chunks::<2>();
    let sound = rest.is_empty()
        && !components.is_empty()
        && components.iter().all(|[mean, sd]| mean.abs() <= 1e9 && (*sd == 0.0 || (1e-9..=1e9).contains(sd)))
        && starts.first() == Some(&0)
        && starts.last().is_some_and(|last| *last as usize == bins.len())
        && starts.is_sorted_by(|a, b| a < b)
        && bins.iter().all(|bin| usize::from(*bin) < components.len())
        && weights.iter().all(|weight| *weight > 0.0 && *weight <= 1.0 + 1e-6);
    if !sound {
        return Err("the leaves of its forest are out of range".into());
    }
    let trees = read_trees(tensors, features, starts.len() - 1)?;
    Ok(Forest { features, components: components.to_vec(), trees, starts, bins, weights })
}

/// Trees for rows with this number of features, and with these leaves.
fn read_trees(tensors: &Tensors<'_>, features: usize, leaves: usize) -> Result<Vec<Tree>, Flaw> {
    let sizes: Vec<u32> = numbers_of(tensors, "forest.sizes", None)?;
    let count = sizes.iter().map(|size| *size as usize).sum::<usize>();
    let node_features: Vec<u32> = numbers_of(tensors, "forest.features", Some(&[count]))?;
    let numbers: Vec<f32> = numbers_of(tensors, "forest.numbers", Some(&[count]))?;
    let children: Vec<u16> = numbers_of(tensors, "forest.children", Some(&[count]))?;
    if sizes.is_empty() {
        return Err("its forest has no tree".into());
    }
    let (mut trees, mut first) = (Vec::with_capacity(sizes.len()), 0);
    for size in sizes {
        let size = size as usize;
        let mut next_child = 1;
        let mut nodes = Vec::with_capacity(size);
        for at in first..first + size {
            let (child, number) = (usize::from(children[at]), numbers[at]);
            // Level by level: every split has the next two nodes for its children.
            let sound = if child == 0 {
                number >= 0.0 && (number as usize) < leaves && number.fract() == 0.0
            } else {
                let follows = child == next_child && child > at - first && child + 1 < size;
                next_child += 2;
                follows && number.is_finite() && (node_features[at] as usize) < features
            };
            if !sound {
                return Err("a node of its forest is out of range".into());
            }
            let feature = if child == 0 { 0 } else { node_features[at] };
            nodes.push(Node { feature, number, child: children[at], missing_right: false });
        }
        if size == 0 || next_child != size {
            return Err("a tree of its forest has nodes without a parent".into());
        }
        trees.push(Tree { nodes });
        first += size;
    }
    Ok(trees)
}
