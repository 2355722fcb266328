//! Tree growth: the two trees of a round, level by level, by least squares.

use super::Columns;
use super::exact::ExactSplits;
use super::histogram::HistogramSplits;
use super::split::{BestSplit, NodeTotal};
use super::tree::{Node, Tree};

/// The rows that the trees of a round are fitted to.
#[derive(Clone, Copy)]
pub(super) struct TreeTargets<'a> {
    /// For each row and tree the gradient times the row's weight.
    pub gradient: &'a [[f64; 2]],
    /// Not negative; rows of weight 0 are ignored. `None`: all are 1.
    pub weight: Option<&'a [f64]>,
    /// The node that each row is in.
    pub node: &'a [[u16; 2]],
}

/// The open nodes of a tree: `first` and those that follow.
pub(super) struct TreeLevel {
    pub first: u16,
    pub bests: Vec<BestSplit>,
    /// For each pair of siblings the index of their parent in the level before; empty at the root.
    pub parents: Vec<u16>,
}

/// How splits are found.
pub(super) enum SplitFinder {
    Exact(ExactSplits),
    Histogram(HistogramSplits),
}

/// A tree with the gains of its splits.
pub struct Grown {
    /// The tree.
    pub tree: Tree,
    /// For each split its feature, and by how much it lowers the weighted sum of squares.
    pub gains: Vec<(u32, f64)>,
}

/// Grows trees on the same columns, round after round.
pub struct Grower<'a> {
    columns: &'a Columns<'a>,
    finder: SplitFinder,
    depth: usize,
    min_samples_leaf: usize,
    /// The node that each row is in; the leaf, once the trees are grown.
    pub node: Vec<[u16; 2]>,
}

/// A tree while it grows.
struct Growing {
    nodes: Vec<Node>,
    totals: Vec<NodeTotal>,
    level: TreeLevel,
    gains: Vec<(u32, f64)>,
}

impl<'a> Grower<'a> {
    /// A grower for trees on these columns.
    pub fn new(
        columns: &'a Columns<'a>,
        weight: Option<&[f64]>,
        histogram: bool,
        depth: usize,
        min_samples_leaf: usize,
    ) -> Self {
        let finder = if histogram {
            SplitFinder::Histogram(HistogramSplits::new(columns, weight))
        } else {
            SplitFinder::Exact(ExactSplits::new(columns))
        };
        Self { columns, finder, depth, min_samples_leaf, node: vec![[0; 2]; columns.rows()] }
    }

    /// Two trees that predict the two gradients from `features`. Rows of weight 0 are assigned to leaves too.
    pub fn grow(&mut self, gradient: &[[f64; 2]], weight: Option<&[f64]>, features: &[u32]) -> [Grown; 2] {
        self.node.fill([0; 2]);
        let root = |tree: usize| {
            let mut total = NodeTotal::default();
            for (row, gradient) in gradient.iter().enumerate() {
                let weight = weight.map_or(1.0, |weight| weight[row]);
                total.add(&NodeTotal { sum: gradient[tree], weight, rows: f64::from(u8::from(weight > 0.0)) });
            }
            Growing {
                nodes: vec![Node::leaf(0.0)],
                totals: vec![total],
                level: TreeLevel {
                    first: 0,
                    bests: vec![BestSplit::none(total, self.min_samples_leaf)],
                    parents: Vec::new(),
                },
                gains: Vec::new(),
            }
        };
        let mut trees = [root(0), root(1)];
        for _ in 0..self.depth {
            let rows = TreeTargets { gradient, weight, node: &self.node };
            let [mean, log_sd] = &mut trees;
            let levels = [&mut mean.level, &mut log_sd.level];
            match &mut self.finder {
                SplitFinder::Exact(exact) => exact.find(&rows, features, levels),
                SplitFinder::Histogram(histogram) => histogram.find(&rows, features, levels),
            }
            for (number, tree) in trees.iter_mut().enumerate() {
                let first = tree.split();
                self.descend(number, tree, first, gradient, weight);
                tree.open(first, self.min_samples_leaf);
            }
            if trees.iter().all(|tree| tree.level.bests.is_empty()) {
                break;
            }
        }
        trees.map(Growing::finish)
    }

    /// Moves the rows of the open nodes to their children, which start at number `children`, and adds up their totals.
    fn descend(
        &mut self,
        number: usize,
        tree: &mut Growing,
        children: u16,
        gradient: &[[f64; 2]],
        weight: Option<&[f64]>,
    ) {
        let first = tree.level.first;
        let open: Vec<(Node, &[f32])> = tree.nodes[first as usize..children as usize]
            .iter()
            .map(|node| (*node, if node.is_leaf() { &[][..] } else { self.columns.column(node.feature as usize) }))
            .collect();
        if open.iter().all(|(node, _)| node.is_leaf()) {
            return;
        }
        for (row, nodes) in self.node.iter_mut().enumerate() {
            let node = &mut nodes[number];
            let Some((split, column)) = open.get(node.wrapping_sub(first) as usize) else { continue };
            if split.is_leaf() {
                continue;
            }
            *node = split.child + split.side(column[row]);
            let total = &mut tree.totals[*node as usize];
            let weight = weight.map_or(1.0, |weight| weight[row]);
            total.sum += gradient[row][number];
            total.weight += weight;
            total.rows += f64::from(u8::from(weight > 0.0));
        }
    }
}

impl Growing {
    /// Gives two children to every open node that has a split. Returns the number of the first child.
    fn split(&mut self) -> u16 {
        let children = self.nodes.len() as u16;
        let mut parents = Vec::new();
        for (slot, best) in self.level.bests.iter().enumerate() {
            let Some((split, gain)) = best.found() else { continue };
            let child = self.nodes.len() as u16;
            self.nodes[self.level.first as usize + slot] =
                Node { feature: split.feature, number: split.threshold, child, missing_right: split.missing_right };
            self.nodes.extend([Node::leaf(0.0); 2]);
            self.totals.extend([NodeTotal::default(); 2]);
            self.gains.push((split.feature, gain));
            parents.push(slot as u16);
        }
        self.level.parents = parents;
        children
    }

    /// Makes the nodes from `first` on the open ones.
    fn open(&mut self, first: u16, min_samples_leaf: usize) {
        self.level.first = first;
        self.level.bests =
            self.totals[first as usize..].iter().map(|total| BestSplit::none(*total, min_samples_leaf)).collect();
    }

    fn finish(mut self) -> Grown {
        for (node, total) in self.nodes.iter_mut().zip(&self.totals).filter(|(node, _)| node.is_leaf()) {
            let mean = (total.sum / total.weight) as f32;
            node.number = if mean.is_finite() { mean } else { 0.0 };
        }
        Grown { tree: Tree { nodes: self.nodes }, gains: self.gains }
    }
}
