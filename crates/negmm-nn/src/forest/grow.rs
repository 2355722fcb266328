//! Growth of the trees: least squares on the targets, best splits among features drawn at each node.

use super::{Forest, ForestConfig, TargetBins};
use crate::dataset::Dataset;
use crate::ngboost::{BINS, BinnedColumn, Node, Tree};
use negmm_dist::math::rng::Rng;
use negmm_dist::streams;

/// Nodes of a tree at most: their numbers have 16 bits.
const MOST_NODES: usize = 65_000;

/// Rows of a node, a range of the tree's list.
struct Open {
    node: usize,
    first: usize,
    end: usize,
}

/// Sums over rows: weights, weighted targets, and the rows.
#[derive(Clone, Copy, Default)]
struct Sums {
    weight: f64,
    target: f64,
    rows: usize,
}

impl Sums {
    fn add(&mut self, other: Self) {
        self.weight += other.weight;
        self.target += other.target;
        self.rows += other.rows;
    }
}

/// The rows that trees are grown from.
struct Rows<'a> {
    columns: Vec<BinnedColumn>,
    y: Vec<f64>,
    weights: Vec<f64>,
    bins: Vec<u16>,
    config: &'a ForestConfig,
}

pub(super) fn forest(config: &ForestConfig, data: &Dataset, train: &[u32], bins: &TargetBins, seed: u64) -> Forest {
    let train: Vec<u32> = train.iter().copied().filter(|row| data.sample_weights()[*row as usize] > 0.0).collect();
    let pick = |list: &[f32]| train.iter().map(|row| f64::from(list[*row as usize])).collect::<Vec<f64>>();
    let column = |feature: usize| {
        let values: Vec<f32> = train.iter().map(|row| data.x()[*row as usize * data.stride() + feature]).collect();
        BinnedColumn::new(&values, None)
    };
    let rows = Rows {
        columns: (0..data.features()).map(column).collect(),
        y: pick(data.y()),
        weights: pick(data.sample_weights()),
        bins: train.iter().map(|row| bins.bin(data.y()[*row as usize])).collect(),
        config,
    };
    let mut forest = Forest {
        features: data.features(),
        components: bins.components.clone(),
        trees: Vec::with_capacity(config.n_estimators),
        starts: vec![0],
        bins: Vec::new(),
        weights: Vec::new(),
    };
    for tree in 0..config.n_estimators {
        let mut rng = Rng::new(seed, streams::FOREST + tree as u64);
        let tree = rows.tree(&mut forest, &mut rng);
        forest.trees.push(tree);
    }
    forest
}

impl Rows<'_> {
    fn tree(&self, forest: &mut Forest, rng: &mut Rng) -> Tree {
        let mut list: Vec<u32> = (0..self.y.len() as u32).collect();
        if list.len() > self.config.max_samples {
            rng.shuffle(&mut list);
            list.truncate(self.config.max_samples);
            list.sort_unstable();
        }
        let mut features: Vec<u32> = (0..self.columns.len() as u32).collect();
        let tried = (self.config.max_features * features.len() as f64).ceil() as usize;
        let mut nodes = vec![Node::leaf(0.0)];
        let mut open = std::collections::VecDeque::from([Open { node: 0, first: 0, end: list.len() }]);
        let mut spare = Vec::new();
        while let Some(Open { node, first, end }) = open.pop_front() {
            let split = if nodes.len() + 2 <= MOST_NODES {
                self.split(&list[first..end], &mut features, tried, rng)
            } else {
                None
            };
            let Some((feature, bin)) = split else {
                nodes[node] = Node::leaf(forest.leaves() as f32);
                self.leaf(forest, &list[first..end]);
                continue;
            };
            let column = &self.columns[feature as usize];
            // Stable: rows keep their order on both sides.
            spare.clear();
            let mut kept = first;
            for at in first..end {
                let row = list[at];
                if column.bin[row as usize] <= bin {
                    list[kept] = row;
                    kept += 1;
                } else {
                    spare.push(row);
                }
            }
            list[kept..end].copy_from_slice(&spare);
            let (lower, upper) = (column.upper[usize::from(bin)], column.lower[usize::from(bin) + 1]);
            let middle = (0.5 * (f64::from(lower) + f64::from(upper))) as f32;
            let threshold = if middle < upper { middle } else { lower };
            let child = nodes.len();
            nodes[node] = Node { feature, number: threshold, child: child as u16, missing_right: false };
            nodes.extend([Node::leaf(0.0); 2]);
            open.push_back(Open { node: child, first, end: kept });
            open.push_back(Open { node: child + 1, first: kept, end });
        }
        Tree { nodes }
    }

    /// The feature of the best split and the last bin on its left.
    fn split(&self, rows: &[u32], features: &mut [u32], tried: usize, rng: &mut Rng) -> Option<(u32, u8)> {
        let least = self.config.min_samples_leaf;
        if rows.len() < 2 * least {
            return None;
        }
        let mut total = Sums::default();
        for row in rows {
            total.add(self.sums(*row));
        }
        if rows.iter().all(|row| self.y[*row as usize] == self.y[rows[0] as usize]) {
            return None;
        }
        let mean = total.target / total.weight;
        let (mut best, mut gain) = (None, 0.0);
        let mut histogram = [Sums::default(); BINS + 1];
        let mut used: Vec<u8> = Vec::new();
        let mut seen = 0;
        // Features are drawn until enough of them vary in the node.
        for at in 0..features.len() {
            if seen == tried {
                break;
            }
            let other = at + rng.below(features.len() - at);
            features.swap(at, other);
            let feature = features[at];
            let bins = &self.columns[feature as usize].bin;
            used.clear();
            for row in rows {
                let bin = bins[*row as usize];
                let sums = &mut histogram[usize::from(bin)];
                if sums.rows == 0 {
                    used.push(bin);
                }
                sums.add(self.sums(*row));
            }
            if used.len() > 1 {
                seen += 1;
                used.sort_unstable();
                let mut left = Sums::default();
                for bin in &used[..used.len() - 1] {
                    left.add(histogram[usize::from(*bin)]);
                    if left.rows < least || rows.len() - left.rows < least {
                        continue;
                    }
                    let difference = left.target - left.weight * mean;
                    let lowered = difference * difference / (left.weight * (total.weight - left.weight));
                    if lowered > gain {
                        (best, gain) = (Some((feature, *bin)), lowered);
                    }
                }
            }
            for bin in &used {
                histogram[usize::from(*bin)] = Sums::default();
            }
        }
        best
    }

    fn sums(&self, row: u32) -> Sums {
        let weight = self.weights[row as usize];
        Sums { weight, target: weight * self.y[row as usize], rows: 1 }
    }

    /// Adds the bins of a leaf's rows.
    fn leaf(&self, forest: &mut Forest, rows: &[u32]) {
        let mut bins: Vec<(u16, f64)> =
            rows.iter().map(|row| (self.bins[*row as usize], self.weights[*row as usize])).collect();
        bins.sort_by_key(|(bin, _)| *bin);
        bins.dedup_by(|next, last| {
            let same = next.0 == last.0;
            if same {
                last.1 += next.1;
            }
            same
        });
        let total: f64 = bins.iter().map(|(_, weight)| weight).sum();
        for (bin, weight) in bins {
            forest.bins.push(bin);
            forest.weights.push((weight / total) as f32);
        }
        forest.starts.push(forest.bins.len() as u32);
    }
}
