//! Histogram splits: every column is binned once into at most 255 bins of about equal weight, and only the
//! borders of bins are split candidates.
//!
//! For a column with at most 255 distinct values this is exact. Of two siblings the histogram of the smaller is counted; that of the
//! other is their parent's minus the first.

use super::Columns;
use super::grow::{TreeLevel, TreeTargets};
use super::split::NodeTotal;

/// The number of bins for values; missing values have the next one.
pub const BINS: usize = 255;
/// The bin of missing values.
pub const MISSING: u8 = 255;
/// Bins of a column in a histogram.
const STRIDE: usize = BINS + 1;

/// One column in bins.
pub struct BinnedColumn {
    /// The bin of each row.
    pub bin: Vec<u8>,
    /// The smallest value in each bin.
    pub lower: Vec<f32>,
    /// The largest value in each bin.
    pub upper: Vec<f32>,
    /// Whether values are missing.
    pub missing: bool,
}

/// All columns in bins, and the histograms of the last level.
pub(super) struct HistogramSplits {
    columns: Vec<BinnedColumn>,
    /// For each tree and open node: features × bins.
    histograms: [Vec<Vec<NodeTotal>>; 2],
    spare: Vec<Vec<NodeTotal>>,
    rows: Vec<u32>,
}

impl HistogramSplits {
    pub fn new(columns: &Columns<'_>, weight: Option<&[f64]>) -> Self {
        let columns =
            (0..columns.features()).map(|feature| BinnedColumn::new(columns.column(feature), weight)).collect();
        Self { columns, histograms: [Vec::new(), Vec::new()], spare: Vec::new(), rows: Vec::new() }
    }

    /// Finds the best split of every open node of both trees.
    pub fn find(&mut self, rows: &TreeTargets<'_>, features: &[u32], levels: [&mut TreeLevel; 2]) {
        for (tree, level) in levels.into_iter().enumerate() {
            self.fill(tree, rows, features, level);
            for (best, histogram) in level.bests.iter_mut().zip(&self.histograms[tree]) {
                for (&feature, bins) in features.iter().zip(histogram.chunks_exact(STRIDE)) {
                    let column = &self.columns[feature as usize];
                    let missing = column.missing.then_some(&bins[MISSING as usize]);
                    let (mut left, mut last) = (NodeTotal::default(), f32::INFINITY);
                    for ((&lower, &upper), bin) in column.lower.iter().zip(&column.upper).zip(bins) {
                        if bin.rows == 0.0 {
                            continue;
                        }
                        if lower > last && (missing.is_some() || best.to_beat.is_passed(left.sum, left.weight)) {
                            best.consider(feature, &left, missing, last, Some(lower));
                        }
                        left.add(bin);
                        last = upper;
                    }
                    if missing.is_some_and(|missing| missing.rows > 0.0) {
                        best.consider(feature, &left, missing, last, None);
                    }
                }
            }
        }
    }

    /// The histograms of all open nodes of a tree, from those of their parents.
    fn fill(&mut self, tree: usize, rows: &TreeTargets<'_>, features: &[u32], level: &TreeLevel) {
        let size = features.len() * STRIDE;
        if level.bests.is_empty() {
            return;
        }
        let starts = self.sort_rows(tree, rows, level);
        let mut parents = std::mem::take(&mut self.histograms[tree]);
        if level.parents.is_empty() {
            self.spare.append(&mut parents);
            let root = self.counted(tree, rows, features, starts[0]..starts[1]);
            self.histograms[tree].push(root);
            return;
        }
        for (pair, &parent) in level.parents.iter().enumerate() {
            let (first, second) = (2 * pair, 2 * pair + 1);
            let first_smaller = level.bests[first].total().rows <= level.bests[second].total().rows;
            let smaller = if first_smaller { first } else { second };
            let counted = self.counted(tree, rows, features, starts[smaller]..starts[smaller + 1]);
            let mut other = std::mem::take(&mut parents[parent as usize]);
            for (other, counted) in other[..size].iter_mut().zip(&counted) {
                other.sum -= counted.sum;
                other.weight -= counted.weight;
                other.rows -= counted.rows;
            }
            self.histograms[tree].extend(if first_smaller { [counted, other] } else { [other, counted] });
        }
        self.spare.extend(parents.into_iter().filter(|histogram| !histogram.is_empty()));
    }

    /// Sorts the rows of positive weight by their open nodes. Returns where each node starts and where the last one ends.
    fn sort_rows(&mut self, tree: usize, rows: &TreeTargets<'_>, level: &TreeLevel) -> Vec<usize> {
        let open = level.bests.len();
        let mut starts = vec![0];
        starts.extend(level.bests.iter().scan(0, |end, best| {
            *end += best.total().rows as usize;
            Some(*end)
        }));
        let mut next = starts.clone();
        self.rows.resize(rows.node.len(), 0);
        for (row, nodes) in rows.node.iter().enumerate() {
            let closed = rows.weight.is_some_and(|weight| weight[row] == 0.0);
            let slot = (nodes[tree].wrapping_sub(level.first) as usize).min(open);
            let slot = if closed { open } else { slot };
            self.rows[next[slot]] = row as u32;
            next[slot] += 1;
        }
        starts
    }

    /// The histogram of some of the sorted rows.
    fn counted(
        &mut self,
        tree: usize,
        rows: &TreeTargets<'_>,
        features: &[u32],
        range: std::ops::Range<usize>,
    ) -> Vec<NodeTotal> {
        let mut histogram = self.spare.pop().unwrap_or_default();
        histogram.clear();
        histogram.resize(features.len() * STRIDE, NodeTotal::default());
        let members = &self.rows[range];
        for (&feature, bins) in features.iter().zip(histogram.as_chunks_mut::<STRIDE>().0) {
            let bin = &self.columns[feature as usize].bin;
            match rows.weight {
                None => {
                    for &row in members {
                        let total = &mut bins[bin[row as usize] as usize];
                        total.sum += rows.gradient[row as usize][tree];
                        total.rows += 1.0;
                    }
                    bins.iter_mut().for_each(|total| total.weight = total.rows);
                }
                Some(weight) => {
                    for &row in members {
                        let (sum, weight) = (rows.gradient[row as usize][tree], weight[row as usize]);
                        bins[bin[row as usize] as usize].add(&NodeTotal { sum, weight, rows: 1.0 });
                    }
                }
            }
        }
        histogram
    }
}

impl BinnedColumn {
    /// Of a column whose rows count by their weights.
    pub fn new(column: &[f32], weight: Option<&[f64]>) -> Self {
        let (mut order, missing): (Vec<u32>, Vec<u32>) =
            (0..column.len() as u32).partition(|&row| !column[row as usize].is_nan());
        order.sort_by(|&a, &b| column[a as usize].total_cmp(&column[b as usize]));
        let value = |at: usize| column[order[at] as usize];
        let different = 1 + (1..order.len()).filter(|&at| value(at) > value(at - 1)).count();
        let mut bin = vec![MISSING; column.len()];
        let (mut lower, mut upper): (Vec<f32>, Vec<f32>) = (Vec::new(), Vec::new());
        let weight = |at: usize| weight.map_or(1.0, |weight| weight[order[at] as usize]);
        let total: f64 = (0..order.len()).map(weight).sum();
        let (mut below, mut end) = (0.0, 0.0);
        for at in 0..order.len() {
            let new_value = at == 0 || value(at) > value(at - 1);
            // A bin is full when it has an equal part of the weight that the bins before it left.
            if new_value && (different <= BINS || below >= end) && lower.len() < BINS {
                end = below + (total - below) / (BINS - lower.len()) as f64;
                lower.push(value(at));
                upper.push(value(at));
            }
            if let Some(upper) = upper.last_mut() {
                *upper = value(at);
            }
            bin[order[at] as usize] = (lower.len() - 1) as u8;
            below += weight(at);
        }
        Self { bin, lower, upper, missing: !missing.is_empty() }
    }
}
