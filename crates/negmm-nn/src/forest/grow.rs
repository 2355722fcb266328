//! Growth of the trees: least squares on the targets, best splits among features drawn at each node.

use super::{Forest, ForestConfig, JointForest, TargetBins};
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
#[derive(Clone, Copy)]
struct Sums<const D: usize> {
    weight: f64,
    targets: [f64; D],
    rows: usize,
}

impl<const D: usize> Sums<D> {
    const ZERO: Self = Self { weight: 0.0, targets: [0.0; D], rows: 0 };

    fn add(&mut self, other: &Self) {
        self.weight += other.weight;
        self.targets.iter_mut().zip(&other.targets).for_each(|(sum, more)| *sum += more);
        self.rows += other.rows;
    }
}

/// The sums of a node: of each of its rows, and of the rows in each bin of a feature, which are zeros between two features.
struct NodeSums<const D: usize> {
    rows: Vec<Sums<D>>,
    histogram: Box<[Sums<D>; BINS + 1]>,
}

/// The bins that rows of a node are in.
#[derive(Clone, Copy, Default)]
struct UsedBins([u64; (BINS + 1) / 64]);

impl UsedBins {
    fn insert(&mut self, bin: u8) {
        self.0[usize::from(bin >> 6)] |= 1 << (bin & 63);
    }

    fn len(self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    /// In ascending order.
    fn iter(self) -> impl Iterator<Item = u8> {
        self.0.into_iter().zip(0_u8..).flat_map(|(word, at)| {
            let rest = std::iter::successors(Some(word), |word| Some(word & word.wrapping_sub(1)));
            rest.take_while(|word| *word != 0).map(move |word| (at << 6) | word.trailing_zeros() as u8)
        })
    }
}

/// The rows that trees are grown from, with D targets each.
struct Rows<'a, const D: usize> {
    columns: Vec<BinnedColumn>,
    y: Vec<[f64; D]>,
    weights: Vec<f64>,
    config: &'a ForestConfig,
}

pub(super) fn forest(config: &ForestConfig, data: &Dataset, train: &[u32], bins: &TargetBins, seed: u64) -> Forest {
    let train = weighted(data, train);
    let rows = Rows::<1>::new(config, data, &train, |row, y| y[0] = f64::from(data.y()[row]));
    let own: Vec<u16> = train.iter().map(|row| bins.bin(data.y()[*row as usize])).collect();
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
        let tree = rows.tree(&mut rng, |list| leaf(&mut forest, &rows.weights, &own, list));
        forest.trees.push(tree);
    }
    forest
}

/// A forest of several targets, of which at most 64 are used for splits; rows in which one is unknown are left out.
pub(super) fn joint_forest(config: &ForestConfig, data: &Dataset, train: &[u32], seed: u64) -> JointForest {
    match data.joint_targets().map_or(1, |targets| targets.targets()) {
        0..=2 => joint::<2>(config, data, train, seed),
        3..=4 => joint::<4>(config, data, train, seed),
        5..=8 => joint::<8>(config, data, train, seed),
        9..=16 => joint::<16>(config, data, train, seed),
        _ => joint::<64>(config, data, train, seed),
    }
}

/// Each row has its targets, and zeros up to D.
fn joint<const D: usize>(config: &ForestConfig, data: &Dataset, train: &[u32], seed: u64) -> JointForest {
    let (targets, values) = data.joint_targets().map_or((1, data.y()), |all| (all.targets(), all.values()));
    let of_row = |row: u32| &values[row as usize * targets..][..targets];
    let train: Vec<u32> =
        weighted(data, train).into_iter().filter(|row| of_row(*row).iter().all(|y| !y.is_nan())).collect();
    let rows = Rows::<D>::new(config, data, &train, |row, y| {
        y.iter_mut().zip(of_row(row as u32)).for_each(|(y, own)| *y = f64::from(*own));
    });
    let (mut trees, mut leaves) = (Vec::with_capacity(config.n_estimators), Vec::new());
    for tree in 0..config.n_estimators {
        let mut rng = Rng::new(seed, streams::FOREST + tree as u64);
        trees.push(rows.tree(&mut rng, |list| {
            leaves.push(rows.moments(list, targets));
            leaves.len() - 1
        }));
    }
    JointForest::of_leaves(data.features(), targets, trees, &leaves)
}

/// The rows with a weight above 0.
fn weighted(data: &Dataset, train: &[u32]) -> Vec<u32> {
    train.iter().copied().filter(|row| data.sample_weights()[*row as usize] > 0.0).collect()
}

impl<'a, const D: usize> Rows<'a, D> {
    fn new(config: &'a ForestConfig, data: &Dataset, train: &[u32], targets: impl Fn(usize, &mut [f64; D])) -> Self {
        let column = |feature: usize| {
            let values: Vec<f32> = train.iter().map(|row| data.x()[*row as usize * data.stride() + feature]).collect();
            BinnedColumn::new(&values, None)
        };
        let of_row = |row: &u32| {
            let mut y = [0.0; D];
            targets(*row as usize, &mut y);
            y
        };
        Self {
            columns: (0..data.features()).map(column).collect(),
            y: train.iter().map(of_row).collect(),
            weights: train.iter().map(|row| f64::from(data.sample_weights()[*row as usize])).collect(),
            config,
        }
    }

    /// A tree; `leaf` is given the rows of each leaf and returns its number.
    fn tree(&self, rng: &mut Rng, mut leaf: impl FnMut(&[u32]) -> usize) -> Tree {
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
        let mut sums = NodeSums { rows: Vec::new(), histogram: Box::new([Sums::ZERO; BINS + 1]) };
        while let Some(Open { node, first, end }) = open.pop_front() {
            let split = if nodes.len() + 2 <= MOST_NODES {
                self.split(&list[first..end], &mut features, tried, &mut sums, rng)
            } else {
                None
            };
            let Some((feature, bin)) = split else {
                nodes[node] = Node::leaf(leaf(&list[first..end]) as f32);
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
    fn split(
        &self,
        rows: &[u32],
        features: &mut [u32],
        tried: usize,
        sums: &mut NodeSums<D>,
        rng: &mut Rng,
    ) -> Option<(u32, u8)> {
        let least = self.config.min_samples_leaf;
        if rows.len() < 2 * least || rows.iter().all(|row| self.y[*row as usize] == self.y[rows[0] as usize]) {
            return None;
        }
        let NodeSums { rows: own, histogram } = sums;
        own.clear();
        own.extend(rows.iter().map(|row| self.sums(*row)));
        let mut total = Sums::ZERO;
        own.iter().for_each(|row| total.add(row));
        let mean = total.targets.map(|target| target / total.weight);
        let (mut best, mut gain) = (None, 0.0);
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
            let mut used = UsedBins::default();
            for (row, own) in rows.iter().zip(&*own) {
                let bin = bins[*row as usize];
                used.insert(bin);
                histogram[usize::from(bin)].add(own);
            }
            seen += usize::from(used.len() > 1);
            let mut left = Sums::ZERO;
            for bin in used.iter() {
                left.add(&std::mem::replace(&mut histogram[usize::from(bin)], Sums::ZERO));
                if left.rows < least || rows.len() - left.rows < least {
                    continue;
                }
                let squares: f64 = left.targets.iter().zip(&mean).fold(0.0, |sum, (target, mean)| {
                    let difference = target - left.weight * mean;
                    sum + difference * difference
                });
                let lowered = squares / (left.weight * (total.weight - left.weight));
                if lowered > gain {
                    (best, gain) = (Some((feature, bin)), lowered);
                }
            }
        }
        best
    }

    fn sums(&self, row: u32) -> Sums<D> {
        let weight = self.weights[row as usize];
        Sums { weight, targets: self.y[row as usize].map(|y| weight * y), rows: 1 }
    }

    /// The moments of a leaf's targets.
    fn moments(&self, rows: &[u32], targets: usize) -> LeafMoments {
        let weight: f64 = rows.iter().map(|row| self.weights[*row as usize]).sum();
        let mean_of = |of: &dyn Fn(&[f64; D]) -> f64| {
            rows.iter().map(|row| self.weights[*row as usize] * of(&self.y[*row as usize])).sum::<f64>() / weight
        };
        let mean: Vec<f64> = (0..targets).map(|target| mean_of(&|y| y[target])).collect();
        let mut covariance = vec![0.0; targets * targets];
        for first in 0..targets {
            for second in 0..=first {
                let entry = mean_of(&|y| (y[first] - mean[first]) * (y[second] - mean[second]));
                covariance[first * targets + second] = entry;
                covariance[second * targets + first] = entry;
            }
        }
        LeafMoments { rows: rows.len(), mean, covariance }
    }
}

/// The moments of a leaf's targets.
pub(super) struct LeafMoments {
    pub(super) rows: usize,
    pub(super) mean: Vec<f64>,
    pub(super) covariance: Vec<f64>,
}

/// Adds the bins of a leaf's rows; the number of the leaf.
fn leaf(forest: &mut Forest, weights: &[f64], of_row: &[u16], rows: &[u32]) -> usize {
    let mut bins: Vec<(u16, f64)> = rows.iter().map(|row| (of_row[*row as usize], weights[*row as usize])).collect();
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
    forest.leaves() - 1
}
