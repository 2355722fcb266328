//! Exact splits: columns are sorted once, then each level of both trees takes one pass
//! over every column, with running sums for each node.

use super::Columns;
use super::grow::{TreeLevel, TreeTargets};
use super::split::{BestSplit, NodeTotal, Threshold};

/// The rows in the order of one column.
struct SortedColumn {
    /// Rows with a value, ascending by value, then the rows without.
    order: Vec<u32>,
    /// Their values, ascending.
    values: Vec<f32>,
}

/// All columns, sorted.
pub(super) struct ExactSplits {
    columns: Vec<SortedColumn>,
}

/// The sums of a node during a scan of a column: one cache line.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct RunningSums {
    left: NodeTotal,
    to_beat: Threshold,
    /// The value of the last row; infinite before the first.
    last: f32,
}

impl ExactSplits {
    pub fn new(columns: &Columns<'_>) -> Self {
        let sort = |column: &[f32]| {
            let (mut order, missing): (Vec<u32>, Vec<u32>) =
                (0..column.len() as u32).partition(|&row| !column[row as usize].is_nan());
            order.sort_by(|&a, &b| column[a as usize].total_cmp(&column[b as usize]));
            let values = order.iter().map(|&row| column[row as usize]).collect();
            order.extend(missing);
            SortedColumn { order, values }
        };
        Self { columns: (0..columns.features()).map(|feature| sort(columns.column(feature))).collect() }
    }

    /// Finds the best split of every open node of both trees.
    pub fn find(&self, rows: &TreeTargets<'_>, features: &[u32], levels: [&mut TreeLevel; 2]) {
        let [mean, log_sd] = levels;
        let mut scan = ColumnScan::new([mean, log_sd]);
        for &feature in features {
            let column = &self.columns[feature as usize];
            let missing = column.values.len() < column.order.len();
            match (rows.weight.is_some(), missing) {
                (false, false) => scan.run::<false, false>(column, feature, rows),
                (false, true) => scan.run::<false, true>(column, feature, rows),
                (true, false) => scan.run::<true, false>(column, feature, rows),
                (true, true) => scan.run::<true, true>(column, feature, rows),
            }
        }
        scan.write([mean, log_sd]);
    }
}

/// The open nodes of both trees, and one more slot in each for rows that already are in a leaf.
struct ColumnScan {
    first: [u16; 2],
    open: [u16; 2],
    nodes: [Vec<RunningSums>; 2],
    bests: [Vec<BestSplit>; 2],
    missing: [Vec<NodeTotal>; 2],
}

impl ColumnScan {
    fn new(levels: [&TreeLevel; 2]) -> Self {
        // No comparison with NaN is true: no split improves the slot of closed rows.
        let closed = BestSplit::none(NodeTotal { sum: f64::NAN, weight: 0.0, rows: 0.0 }, 1);
        Self {
            first: levels.map(|level| level.first),
            open: levels.map(|level| level.bests.len() as u16),
            nodes: levels.map(|level| {
                let running = |best: &BestSplit| RunningSums {
                    left: NodeTotal::default(),
                    to_beat: best.to_beat,
                    last: f32::INFINITY,
                };
                level.bests.iter().chain([&closed]).map(running).collect()
            }),
            bests: levels.map(|level| level.bests.iter().copied().chain([closed]).collect()),
            missing: levels.map(|level| vec![NodeTotal::default(); level.bests.len() + 1]),
        }
    }

    fn write(self, levels: [&mut TreeLevel; 2]) {
        for (level, bests) in levels.into_iter().zip(self.bests) {
            level.bests.iter_mut().zip(bests).for_each(|(best, found)| *best = found);
        }
    }

    fn run<const WEIGHTED: bool, const MISSING: bool>(
        &mut self,
        column: &SortedColumn,
        feature: u32,
        rows: &TreeTargets<'_>,
    ) {
        for node in self.nodes.iter_mut().flatten() {
            (node.left, node.last) = (NodeTotal::default(), f32::INFINITY);
        }
        if MISSING {
            self.add_missing::<WEIGHTED>(&column.order[column.values.len()..], rows);
        }
        if self.open == [1, 1] && self.first == [0, 0] {
            // At the root no slot is looked up, and the running sums stay in registers.
            let mut nodes = [self.nodes[0][0], self.nodes[1][0]];
            for (&row, &value) in column.order.iter().zip(&column.values) {
                let Some(parts) = parts::<WEIGHTED>(rows, row) else { continue };
                for tree in 0..2 {
                    let missing = MISSING.then(|| &self.missing[tree][0]);
                    step::<WEIGHTED>(&mut nodes[tree], &mut self.bests[tree][0], &parts[tree], value, feature, missing);
                }
            }
            (self.nodes[0][0], self.nodes[1][0]) = (nodes[0], nodes[1]);
        } else {
            for (&row, &value) in column.order.iter().zip(&column.values) {
                let Some(parts) = parts::<WEIGHTED>(rows, row) else { continue };
                let nodes = rows.node[row as usize];
                for tree in 0..2 {
                    let slot = nodes[tree].wrapping_sub(self.first[tree]).min(self.open[tree]) as usize;
                    let missing = MISSING.then(|| &self.missing[tree][slot]);
                    let (node, best) = (&mut self.nodes[tree][slot], &mut self.bests[tree][slot]);
                    step::<WEIGHTED>(node, best, &parts[tree], value, feature, missing);
                }
            }
        }
        if MISSING {
            for tree in 0..2 {
                for ((node, best), missing) in
                    self.nodes[tree].iter_mut().zip(&mut self.bests[tree]).zip(&self.missing[tree])
                {
                    if missing.rows > 0.0 {
                        best.consider(feature, &node.left::<WEIGHTED>(), Some(missing), node.last, None);
                        node.to_beat = best.to_beat;
                    }
                }
            }
        }
    }

    fn add_missing<const WEIGHTED: bool>(&mut self, order: &[u32], rows: &TreeTargets<'_>) {
        self.missing.iter_mut().flatten().for_each(|missing| *missing = NodeTotal::default());
        for &row in order {
            let Some(parts) = parts::<WEIGHTED>(rows, row) else { continue };
            for (tree, part) in parts.iter().enumerate() {
                let slot = rows.node[row as usize][tree].wrapping_sub(self.first[tree]).min(self.open[tree]);
                self.missing[tree][slot as usize].add(part);
            }
        }
    }
}

/// What a row adds to the sums of each tree; nothing when its weight is 0.
#[inline(always)]
fn parts<const WEIGHTED: bool>(rows: &TreeTargets<'_>, row: u32) -> Option<[NodeTotal; 2]> {
    let gradient = rows.gradient[row as usize];
    let weight = match rows.weight {
        Some(weight) if WEIGHTED => weight[row as usize],
        _ => 1.0,
    };
    (!WEIGHTED || weight > 0.0).then(|| gradient.map(|sum| NodeTotal { sum, weight, rows: 1.0 }))
}

impl RunningSums {
    /// The sums of the rows below. Rows are counted separately only if weights are not all 1.
    #[inline(always)]
    fn left<const WEIGHTED: bool>(&self) -> NodeTotal {
        if WEIGHTED { self.left } else { NodeTotal { rows: self.left.weight, ..self.left } }
    }
}

/// Considers the split before a row, then adds the row.
#[inline(always)]
fn step<const WEIGHTED: bool>(
    node: &mut RunningSums,
    best: &mut BestSplit,
    part: &NodeTotal,
    value: f32,
    feature: u32,
    missing: Option<&NodeTotal>,
) {
    if value > node.last && (missing.is_some() || node.to_beat.is_passed(node.left.sum, node.left.weight)) {
        best.consider(feature, &node.left::<WEIGHTED>(), missing, node.last, Some(value));
        node.to_beat = best.to_beat;
    }
    node.left.sum += part.sum;
    node.left.weight += part.weight;
    if WEIGHTED {
        node.left.rows += part.rows;
    }
    node.last = value;
}
