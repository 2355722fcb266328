//! One regression tree: its nodes and which leaf a row falls into.

use super::Columns;

/// A node. Children are neighbours: the second follows the first, and both follow their parent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Node {
    /// The feature of the split; 0 in a leaf, so that it may be read there, too.
    pub feature: u32,
    /// The threshold: rows up to and including it go to the first child. In a leaf, its prediction.
    pub number: f32,
    /// The first child; 0 in a leaf.
    pub child: u16,
    /// Whether a row without a value goes to the second child.
    pub missing_right: bool,
}

impl Node {
    /// A node without children that predicts `value`.
    pub fn leaf(value: f32) -> Self {
        Self { feature: 0, number: value, child: 0, missing_right: false }
    }

    /// Whether it has no children.
    pub fn is_leaf(&self) -> bool {
        self.child == 0
    }

    /// Which child a value goes to: 0 or 1.
    #[inline(always)]
    pub(super) fn side(&self, x: f32) -> u16 {
        // A comparison with NaN is false. No branch, since it could not be predicted.
        u16::from((x > self.number) | (x.is_nan() & self.missing_right))
    }
}

/// A regression tree; its nodes are numbered level by level, the root is 0.
#[derive(Clone, Debug, PartialEq)]
pub struct Tree {
    /// The root first.
    pub nodes: Vec<Node>,
}

/// Rows that are processed together.
pub(super) const BLOCK: usize = 512;
/// With more splits each row walks from the root to its leaf; with fewer all rows of a block visit every split, which needs no
/// branches and is vectorised.
const MAX_VISITED_SPLITS: usize = 31;
/// Rows that walk abreast: while one waits for memory, the others go on.
const ABREAST: usize = 16;

impl Tree {
    /// The nodes, root first.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Finds the leaves of the rows from `first` on, as many as `leaves` is long (at most `BLOCK`).
    #[inline(always)]
    pub fn leaves(&self, columns: &Columns<'_>, first: usize, leaves: &mut [u32]) {
        if self.nodes.len() / 2 > MAX_VISITED_SPLITS {
            return self.walk(columns, first, leaves);
        }
        leaves.fill(0);
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

    /// As [`Tree::leaves`], each row from the root to a leaf; `leaves` may have any length.
    pub fn walk(&self, columns: &Columns<'_>, first: usize, leaves: &mut [u32]) {
        self.descend(leaves, |node, row| node.side(columns.column(node.feature as usize)[first + row]));
    }

    /// The same of rows that lie one after the other, each padded to `stride` floats; a missing value goes to the first child.
    pub fn walk_rows(&self, x: &[f32], stride: usize, leaves: &mut [u32]) {
        self.descend(leaves, |node, row| u16::from(x[row * stride + node.feature as usize] > node.number));
    }

    /// Each row from the root to a leaf; `side` gives the child of a node that a row goes to.
    #[inline(always)]
    fn descend(&self, leaves: &mut [u32], side: impl Fn(&Node, usize) -> u16) {
        let nodes = self.nodes();
        leaves.fill(0);
        if nodes[0].is_leaf() {
            return;
        }
        // A step of each row without a branch that depends on it: children come after their parent, and a leaf, whose child is 0, is the
        // later one of itself and 0 or 1.
        let step = |leaf: &mut u32, row: usize| {
            let node = &nodes[*leaf as usize];
            *leaf = u32::from(node.child + side(node, row)).max(*leaf);
            node.child
        };
        let (groups, rest) = leaves.as_chunks_mut::<ABREAST>();
        let first_of_rest = groups.len() * ABREAST;
        for (group, leaves) in groups.iter_mut().enumerate() {
            let mut on_the_way = true;
            while on_the_way {
                let mut children = 0;
                for (at, leaf) in leaves.iter_mut().enumerate() {
                    children |= step(leaf, group * ABREAST + at);
                }
                on_the_way = children != 0;
            }
        }
        for (at, leaf) in rest.iter_mut().enumerate() {
            while step(leaf, first_of_rest + at) != 0 {}
        }
    }
}
