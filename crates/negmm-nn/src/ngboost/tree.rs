//! Responsible for one regression tree: its nodes and which leaf a row falls into.

use super::Columns;

/// A node. Children are neighbours: the second follows the first, and both follow their parent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Node {
    /// The feature that decides; 0 in a leaf.
    pub feature: u32,
    /// Up to and including this a row goes to the first child; in a leaf, what it predicts.
    pub number: f32,
    /// The first child; 0 in a leaf.
    pub child: u16,
    /// Whether a row without a value goes to the second child.
    pub missing_right: bool,
}

impl Node {
    /// A node without children that predicts `value`.
    pub(super) fn leaf(value: f32) -> Self {
        Self { feature: 0, number: value, child: 0, missing_right: false }
    }

    /// Whether it has no children.
    pub fn is_leaf(&self) -> bool {
        self.child == 0
    }

    /// Which child a value goes to: 0 or 1.
    #[inline(always)]
    pub(super) fn side(&self, x: f32) -> u16 {
        // A comparison with NaN is false. No branch: where a row goes cannot be foreseen.
        u16::from((x > self.number) | (x.is_nan() & self.missing_right))
    }
}

/// A regression tree; its nodes are numbered level by level, the root is 0.
#[derive(Clone, Debug, PartialEq)]
pub struct Tree {
    pub(super) nodes: Vec<Node>,
}

/// Rows that a tree visits together.
pub(super) const BLOCK: usize = 512;
/// Above as many splits a row walks from the root to its leaf; below, all rows of a block visit every split, which has no
/// branches and runs on vectors.
const MOST_VISITED_SPLITS: usize = 31;

impl Tree {
    /// The nodes, root first.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Finds the leaves of the rows from `first` on, as many as `leaves` is long (at most [`BLOCK`]).
    #[inline(always)]
    pub(super) fn leaves(&self, columns: &Columns<'_>, first: usize, leaves: &mut [u32]) {
        leaves.fill(0);
        if self.nodes.len() / 2 > MOST_VISITED_SPLITS {
            return self.walk(columns, first, leaves);
        }
        for (number, node) in self.nodes.iter().enumerate().filter(|(_, node)| !node.is_leaf()) {
            let (number, child, threshold) = (number as u32, u32::from(node.child), node.number);
            let column = &columns.column(node.feature as usize)[first..first + leaves.len()];
            if node.missing_right {
                for (leaf, &x) in leaves.iter_mut().zip(column) {
                    let next = child + 1 - u32::from(x <= threshold);
                    *leaf = if *leaf == number { next } else { *leaf };
                }
            } else {
                for (leaf, &x) in leaves.iter_mut().zip(column) {
                    let next = child + u32::from(x > threshold);
                    *leaf = if *leaf == number { next } else { *leaf };
                }
            }
        }
    }

    fn walk(&self, columns: &Columns<'_>, first: usize, leaves: &mut [u32]) {
        for (at, leaf) in leaves.iter_mut().enumerate() {
            let mut node = &self.nodes[0];
            while !node.is_leaf() {
                let next = node.child + node.side(columns.column(node.feature as usize)[first + at]);
                *leaf = u32::from(next);
                node = &self.nodes[next as usize];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use negmm_dist::math::rng::Rng;

    #[test]
    fn visiting_all_splits_and_walking_find_the_same_leaves() {
        let mut rng = Rng::new(1, 0);
        let split = |feature, number, child, missing_right| Node { feature, number, child, missing_right };
        let tree = Tree {
            nodes: vec![
                split(0, 0.5, 1, true),
                split(1, 0.3, 3, false),
                split(0, 0.75, 5, false),
                Node::leaf(1.0),
                split(1, 0.6, 7, true),
                Node::leaf(2.0),
                Node::leaf(3.0),
                Node::leaf(4.0),
                Node::leaf(5.0),
            ],
        };
        let mut draw = || if rng.below(5) == 0 { f32::NAN } else { rng.uniform() as f32 };
        let columns: Vec<Vec<f32>> = (0..2).map(|_| (0..300).map(|_| draw()).collect()).collect();
        let columns = Columns::new(&columns, 300).unwrap();
        let (mut visited, mut walked) = ([0; 200], [0; 200]);
        tree.leaves(&columns, 50, &mut visited);
        tree.walk(&columns, 50, &mut walked);
        assert_eq!(visited, walked);
        assert!((3..9).filter(|leaf| *leaf != 4).all(|leaf| walked.contains(&leaf)));
    }
}
